/** What payers ask, who have no credential. */
import type { Route } from '../route.ts';
import * as payments from '../schema/payments.ts';
import { anyDocument } from '../schema/platform.ts';
import { GET, open, POST } from './kinds.ts';

const PUBLIC = ['NOT_FOUND', 'RATE_LIMIT_EXCEEDED'] as const;
const OPENING = [
  'ACCOUNT_SUSPENDED',
  'INVALID_AMOUNT',
  'NO_SUBSCRIPTION',
  'MERCHANT_NOT_ACTIVE',
  'ORIGIN_NOT_REGISTERED',
  'PAYMENT_SESSION_LIMIT_EXCEEDED',
  'CHAIN_NOT_READY',
  'ADDRESS_LIMIT_EXCEEDED',
  'MERCHANT_SCOPE_VIOLATION',
  'CONFLICT',
] as const;

export const CHECKOUT_ROUTES = {
  getCheckoutLink: {
    ...open('Checkout'),
    method: GET,
    path: '/v1/checkout/links/{slug}',
    params: payments.slugParams,
    reply: payments.checkoutLink,
    refusals: [...PUBLIC, 'ORIGIN_NOT_REGISTERED'],
    summary: 'What a payer sees of a link; opens nothing',
  },
  openCheckoutSession: {
    ...open('Checkout'),
    method: POST,
    path: '/v1/checkout/links/{slug}/sessions',
    params: payments.slugParams,
    body: payments.openSessionBody,
    reply: payments.session,
    status: 201,
    again: 200,
    refusals: [...PUBLIC, ...OPENING],
    summary: 'Open a payment towards a fixed link; the open one of the same payer is answered with 200',
  },
  donate: {
    ...open('Checkout'),
    method: POST,
    path: '/v1/checkout/links/{slug}/donate',
    params: payments.slugParams,
    body: payments.donateBody,
    reply: payments.session,
    status: 201,
    again: 200,
    refusals: [...PUBLIC, ...OPENING],
    summary: 'Open a donation: an address for this donor, or the one of a shared link',
  },
  getCheckoutSession: {
    ...open('Checkout'),
    method: GET,
    path: '/v1/checkout/sessions/{id}',
    params: payments.sessionParams,
    reply: payments.session,
    refusals: [...PUBLIC, 'ORIGIN_NOT_REGISTERED'],
    summary: 'What a payer sees of a payment',
  },
  listenSession: {
    ...open('Checkout'),
    method: GET,
    path: '/v1/checkout/sessions/{id}/events',
    params: payments.sessionParams,
    reply: anyDocument,
    bare: 'text/event-stream',
    refusals: [...PUBLIC, 'ORIGIN_NOT_REGISTERED'],
    summary:
      'What a payer sees of a payment, as it changes, as server-sent events: `data` is what `GET /v1/checkout/sessions/{id}` answers, whole, at once and with each change. `Last-Event-ID` goes on where a stream broke off. A stream ends after ten minutes at the latest; where none is given, ask from time to time',
  },
} as const satisfies Record<string, Route>;
