/** What routes have in common: methods, who may call them, and refusals that go together. */
import { wholeQuery } from '../envelope.ts';
import type { Tag } from '../route.ts';

export const GET = 'GET',
  POST = 'POST',
  PUT = 'PUT',
  PATCH = 'PATCH',
  DELETE = 'DELETE';
export const LIST = { method: GET, query: wholeQuery } as const; // a short one: whole, unless a page is asked for

/** Read and write of an application, on both deployments. */
export const reads = (tag: Tag) =>
  ({ tag, where: 'both', credential: 'application', role: 'viewer', status: 200 }) as const;
export const writes = (tag: Tag) =>
  ({
    tag,
    where: 'both',
    credential: 'application',
    role: 'editor',
    status: 200,
    idempotent: 'actor',
  }) as const;
/** A question whose terms are a body: it changes nothing, so that its answer is not kept and a viewer may ask it. */
export const asks = (tag: Tag) => ({ ...reads(tag), method: POST }) as const;
export const creates = (tag: Tag) => ({ ...writes(tag), status: 201 }) as const;
/** What the edge answers without the cloud: it keeps no answers, least of all one with a key in it. */
export const alone = (tag: Tag) => ({ tag, where: 'edge', credential: 'application', status: 200 }) as const;
export const sandbox = { ...writes('Sandbox'), sandboxOnly: true, idempotent: 'claimed' } as const;
export const portal = (tag: Tag, role: 'owner' | 'editor' | 'viewer' | null) =>
  ({
    tag,
    where: 'cloud',
    credential: 'bearer',
    role,
    status: 200,
  }) as const;
export const open = (tag: Tag) =>
  ({
    tag,
    where: 'cloud',
    credential: 'none',
    role: null,
    status: 200,
    refusals: [],
  }) as const;
export const admin = { tag: 'Administration', where: 'cloud', credential: 'admin', role: null, status: 200 } as const;
/** What an administrator changes needs a fresh second factor. Console 2.1. */
export const adminWrites = { ...admin, fresh: true } as const;

/** What a chain, or its module, says of a payment that it does not take. */
export const NOT_PAYABLE = [
  'INVALID_ADDRESS',
  'INVALID_AMOUNT',
  'INSUFFICIENT_FUNDS',
  'INSUFFICIENT_GAS',
  'INSUFFICIENT_RESERVE',
  'DESTINATION_OPT_IN_REQUIRED',
  'CHAIN_REJECTED',
] as const;
/**
 * What an edge says of bytes that its policy or its caps do not let it sign: at the build already, and at the
 * broadcast.
 */
export const NOT_SIGNED = ['SIGNED_BATCH_REJECTED', 'AMOUNT_CAP_EXCEEDED'] as const;
export const BUILD = [
  'INVALID_CHAIN',
  'NOT_FOUND',
  'TOKEN_NOT_SUPPORTED',
  'TOKEN_NOT_ON_CHAIN',
  'ACCOUNT_SUSPENDED',
  'CHAIN_NOT_READY',
  ...NOT_PAYABLE,
  ...NOT_SIGNED,
  'CHAIN_UNAVAILABLE',
  'ADDRESS_IN_OBSERVE_MODE',
  'ADDRESS_WATCH_ONLY',
  'TIER_FEATURE_LOCKED',
  'CONFLICT',
  'COMPLIANCE_REJECTED',
] as const;
export const SIMULATE = ['SANDBOX_ONLY', 'INVALID_CHAIN', 'CHAIN_UNAVAILABLE'] as const;
