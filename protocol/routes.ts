/**
 * THE route table: what both deployments serve, in the order of the documents. Validation, the OpenAPI document, the
 * docs page, the typed client and the tests are all read from it.
 */
import type { z } from 'zod';
import type { Route } from './route.ts';
import { ADDRESSES_ROUTES } from './routes/addresses.ts';
import { BILLING_ROUTES } from './routes/billing.ts';
import { AUDIT_LOG_ROUTES } from './routes/audit-log.ts';
import { CHAINS_ROUTES } from './routes/chains.ts';
import { DEVICE_ROUTES } from './routes/device.ts';
import { EDGE_ROUTES } from './routes/edge-signed.ts';
import { EDGES_ROUTES } from './routes/edges.ts';
import { FACTOR_RESET_ROUTES } from './routes/factor-resets.ts';
import { FIND_ROUTES } from './routes/find.ts';
import { CUTOVER_ROUTES } from './routes/cutover.ts';
import { MIGRATION_ROUTES } from './routes/migration.ts';
import { OPERATION_ROUTES } from './routes/operation.ts';
import { CHECKOUT_ROUTES } from './routes/checkout.ts';
import { PAYMENTS_ROUTES } from './routes/payments.ts';
import { SANDBOX_ROUTES } from './routes/sandbox.ts';
import { IMPORT_REVIEW_ROUTES } from './routes/import-reviews.ts';
import { SCAN_ROUTES } from './routes/scans.ts';
import { SETTINGS_ROUTES } from './routes/settings.ts';
import { SUPPORT_ROUTES } from './routes/support.ts';
import { WIPE_ROUTES } from './routes/wipe.ts';
import { PASSKEY_ROUTES } from './routes/passkeys.ts';
import { SSO_ROUTES } from './routes/sso.ts';
import { SIGN_IN_ROUTES } from './routes/sign-in.ts';
import { REGISTRY_PROPOSAL_ROUTES } from './routes/registry-proposals.ts';
import { TOKENS_ROUTES } from './routes/tokens.ts';
import { TRANSACTIONS_ROUTES } from './routes/transactions.ts';
import { BRIDGES_ROUTES } from './routes/bridges.ts';
import { TREASURY_ROUTES } from './routes/treasury.ts';
import { WEBHOOKS_ROUTES } from './routes/webhooks.ts';

export const ROUTES = {
  ...ADDRESSES_ROUTES,
  ...TRANSACTIONS_ROUTES,
  ...FIND_ROUTES,
  ...WEBHOOKS_ROUTES,
  ...EDGES_ROUTES,
  ...EDGE_ROUTES,
  ...CHAINS_ROUTES,
  ...PAYMENTS_ROUTES,
  ...CHECKOUT_ROUTES,
  ...TREASURY_ROUTES,
  ...BRIDGES_ROUTES,
  ...TOKENS_ROUTES,
  ...REGISTRY_PROPOSAL_ROUTES,
  ...MIGRATION_ROUTES,
  ...SCAN_ROUTES,
  ...IMPORT_REVIEW_ROUTES,
  ...CUTOVER_ROUTES,
  ...SANDBOX_ROUTES,
  ...SIGN_IN_ROUTES,
  ...PASSKEY_ROUTES,
  ...FACTOR_RESET_ROUTES,
  ...DEVICE_ROUTES,
  ...SSO_ROUTES,
  ...SETTINGS_ROUTES,
  ...SUPPORT_ROUTES,
  ...WIPE_ROUTES,
  ...BILLING_ROUTES,
  ...AUDIT_LOG_ROUTES,
  ...OPERATION_ROUTES,
} as const satisfies Record<string, Route>;

export type OperationId = keyof typeof ROUTES;
type Table = typeof ROUTES;
type Part<O extends OperationId, K extends string> = Table[O] extends Record<K, infer S extends z.ZodType> ? S : never;

export type ParamsOf<O extends OperationId> = z.output<Part<O, 'params'>>;
export type QueryOf<O extends OperationId> = z.output<Part<O, 'query'>>;
export type BodyOf<O extends OperationId> = z.output<Part<O, 'body'>>;
export type ReplyOf<O extends OperationId> = z.output<Part<O, 'reply'>>;
/** What a caller writes: defaults may be left out, numbers of a query are text. */
export type SentOf<O extends OperationId, K extends 'params' | 'query' | 'body'> = z.input<Part<O, K>>;

/** The table as a list, in its order. */
export const ROUTE_LIST: readonly (Route & { readonly operationId: OperationId })[] = Object.entries(ROUTES).map(
  ([operationId, route]) => ({ operationId: operationId as OperationId, ...route }),
);

export function routeOf(operationId: OperationId): Route {
  return ROUTES[operationId];
}
