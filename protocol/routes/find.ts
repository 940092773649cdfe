/** What is found by a text, one event as it was signed, and what happens as it happens. */
import type { Route } from '../route.ts';
import * as find from '../schema/find.ts';
import { anyDocument } from '../schema/platform.ts';
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
  listEvents: {
    ...reads('Webhooks'),
    where: 'cloud',
    method: GET,
    path: '/v1/events',
    query: find.eventsQuery,
    reply: find.eventsList,
    refusals: ['NOT_FOUND'],
    summary: 'Events as they were published, in that order and without a gap, whatever endpoints there are',
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
  openStream: {
    ...reads('Transactions'),
    where: 'cloud',
    method: GET,
    path: '/v1/stream',
    reply: anyDocument,
    bare: 'text/event-stream',
    refusals: ['CONFLICT'],
    summary:
      'What happens in the account, as server-sent events. Each is a hint, after which you read again: `event` is the topic (address, deposit, transaction, delivery, webhook, readiness, edge, rotation, usage, payment, sweep, import; for people also member and key), `data` is `{id, status}`. `Last-Event-ID` goes on where a stream broke off; `resync` says to read everything again',
  },
} as const satisfies Record<string, Route>;
