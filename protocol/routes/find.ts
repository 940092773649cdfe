/** What is found by a text, and one event as it was signed. */
import type { Route } from '../route.ts';
import * as find from '../schema/find.ts';
import { GET, reads } from './kinds.ts';

export const FIND_ROUTES = {
  search: {
    ...reads('Transactions'),
    where: 'cloud',
    method: GET,
    path: '/v1/search',
    query: find.searchQuery,
    reply: find.searchResult,
    refusals: [],
    summary: 'Find an address, transaction, event or delivery by its id, its text, a userRef or how a label begins',
  },
  getEvent: {
    ...reads('Webhooks'),
    where: 'cloud',
    method: GET,
    path: '/v1/events/{id}',
    params: find.eventParams,
    reply: find.eventRecord,
    refusals: [],
    summary: 'One event with its body as it was signed, and its deliveries',
  },
} as const satisfies Record<string, Route>;
