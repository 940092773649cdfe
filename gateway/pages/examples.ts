/** Examples for the API description, read from the schemas: what a client may send or get, whole and valid. */
import { type ErrorCode, ERRORS } from '../../protocol/errors.ts';
import type { Details } from '../../protocol/schema/details.ts';

const UUID7 = 'aqd3fn2tk5pgvmzyx7w6r4o2ei';
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const INSTANT = '2026-11-27T09:30:00.000Z';

/** Fields whose schema is free text and whose meaning is not. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  id: `adr_${UUID7}`,
  address: ADDRESS,
  from: ADDRESS,
  to: '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  destination: ADDRESS,
  derivationPath: "m/44'/60'/0'/0/42",
  userRef: 'customer-42',
  tag: 'deposits',
  label: 'main',
  txid: `0x${'4e'.repeat(32)}`,
  blockHash: `0x${'9c'.repeat(32)}`,
  hash: `0x${'9c'.repeat(32)}`,
  url: 'https://example.com/webhooks',
  email: 'ada@example.com',
  password: 'a long password',
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  key: `loc_test_${UUID7}`,
  name: 'Example Ltd',
  tokenSymbol: 'ETH',
  symbol: 'USDC',
  tokenContract: null,
  asset: 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
  explorerUrl: `https://example.com/tx/0x${'4e'.repeat(32)}`,
  organizationId: `org_${UUID7}`,
  accountId: `org_${UUID7}_live`,
  webhookId: '0198c1f2-7d3a-7b5e-9a41-5c6d7e8f9a0b',
  sessionId: `ses_${UUID7}`,
  eventId: `evt_${UUID7}`,
  transactionId: `txn_${UUID7}`,
  requestId: `req_${UUID7}`,
};
const DEPTH_MAX = 8;

/** A value that a JSON schema takes. `parts` resolves `$ref` names. */
export function exampleOfSchema(schema: Json, parts: Readonly<Record<string, Json>>, name = '', depth = 0): unknown {
  const {
    $ref,
    examples,
    const: fixed,
    default: standard,
    enum: choices,
    anyOf,
    oneOf,
    allOf,
    type,
  } = schema as {
    $ref?: string;
    examples?: unknown[];
    const?: unknown;
    default?: unknown;
    enum?: unknown[];
    anyOf?: Json[];
    oneOf?: Json[];
    allOf?: Json[];
    type?: string;
  };
  if ($ref !== undefined) return exampleOfSchema(parts[$ref.split('/').at(-1)!] ?? {}, parts, name, depth + 1);
  if (examples !== undefined && examples.length > 0) return examples[0];
  if ('const' in schema) return fixed;
  if (choices !== undefined) return choices[0];
  if (standard !== undefined) return standard;
  const options = anyOf ?? oneOf;
  if (options !== undefined) {
    if (Object.hasOwn(BY_NAME, name) && BY_NAME[name] === null && options.some((option) => option['type'] === 'null'))
      return null;
    return exampleOfSchema(options.find((option) => option['type'] !== 'null') ?? options[0]!, parts, name, depth + 1);
  }
  if (allOf !== undefined)
    return Object.assign({}, ...allOf.map((part) => exampleOfSchema(part, parts, name, depth + 1)));
  if (type === 'array') return arrayExample(schema, parts, name, depth);
  if (type === 'object' || 'properties' in schema) return objectExample(schema, parts, depth);
  return scalarExample(schema, name);
}

function arrayExample(schema: Json, parts: Readonly<Record<string, Json>>, name: string, depth: number): unknown[] {
  const { items, prefixItems } = schema as { items?: Json; prefixItems?: Json[] };
  if (prefixItems !== undefined) return prefixItems.map((item) => exampleOfSchema(item, parts, name, depth + 1));
  return depth > DEPTH_MAX || items === undefined
    ? []
    : [exampleOfSchema(items, parts, name.replace(/s$/, ''), depth + 1)];
}

function objectExample(schema: Json, parts: Readonly<Record<string, Json>>, depth: number): Json {
  const { properties = {} } = schema as { properties?: Record<string, Json> };
  return Object.fromEntries(
    Object.entries(properties).map(([field, part]) => [field, exampleOfSchema(part, parts, field, depth + 1)]),
  );
}

function scalarExample({ type: types, format, pattern, minimum, minLength, maxLength }: Json, name: string): unknown {
  const type = Array.isArray(types) ? types.find((one) => one !== 'null') : types;
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return Math.max(Number(minimum ?? 0), name === 'decimals' ? 18 : 1);
  if (type === 'null') return null;
  if (format === 'date-time') return INSTANT;
  if (format === 'date') return INSTANT.slice(0, 10);
  if (format === 'uuid') return BY_NAME['webhookId'];
  if (format === 'email') return BY_NAME['email'];
  if (format === 'uri') return BY_NAME['url'];
  if (typeof pattern === 'string') return matching(pattern, name);
  const known = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : 'text';
  const text = typeof known === 'string' ? known : 'text';
  return text.padEnd(Number(minLength ?? 0), '-').slice(0, Number(maxLength ?? text.length + Number(minLength ?? 0)));
}

/** Texts for the patterns that the schemas use; the test of the description tries each against its schema. */
function matching(pattern: string, name: string): string {
  const candidates = [
    BY_NAME[name],
    /^\^([a-z]+)_\[a-z2-7\]/.exec(pattern)?.[1]?.concat('_', UUID7),
    BY_NAME['accountId'],
    '1500000',
    '123456',
    '1.5',
    '4e'.repeat(32),
    '4e'.repeat(64),
    '4e'.repeat(8),
    "m/44'/60'/0'",
    'ZmxvY2s=',
    'name',
    '0x1',
    '0',
  ];
  return (
    candidates.find((text): text is string => typeof text === 'string' && new RegExp(pattern, 'u').test(text)) ?? 'text'
  );
}

/** The failure envelope of a code. `details` of codes that always have some are shown as they come. */
export function exampleOfFailure(code: ErrorCode): Json {
  return {
    success: false,
    data: null,
    error: { code, message: ERRORS[code][1], details: Object.hasOwn(DETAILS, code) ? DETAILS[code]! : {} },
    meta: { requestId: BY_NAME['requestId'], timestamp: INSTANT },
  };
}

const DETAILS: { readonly [C in ErrorCode]?: Details[C] } = {
  UNAUTHORIZED: {
    reason: 'unknown_key',
    next: 'the key is mistyped, revoked or of another deployment: have one minted',
  },
  INVALID_INPUT: {
    field: 'user_ref',
    known: ['chain', 'userRef', 'tag', 'label'],
    nearest: 'userRef',
    problems: [
      { field: 'user_ref', message: 'unknown field; did you mean userRef? known: chain, userRef, tag, label' },
    ],
  },
  INVALID_AMOUNT: {
    field: 'amount',
    problems: [
      {
        field: 'amount',
        message: 'amounts are whole numbers above zero in the smallest unit of the asset, as a string',
      },
    ],
    example: { amount: '1500000000000000000', is: '1.5 ETH', unit: 'wei', decimals: 18 },
  },
  NOT_FOUND: { what: 'transaction', id: `txn_${UUID7}`, environment: 'sandbox' },
  METHOD_NOT_ALLOWED: { allowed: ['GET', 'POST'] },
  IDEMPOTENCY_CONFLICT: {
    key: 'payout-42',
    method: 'POST',
    path: '/v1/addresses',
    differs: 'body',
    next: 'send the first body again for its answer, or a new Idempotency-Key for another request',
  },
  RATE_LIMIT_EXCEEDED: { retryAfterSeconds: 12 },
  SERVICE_UNAVAILABLE: { reason: 'pool_refill', retryAfterSeconds: 1 },
  CHAIN_UNAVAILABLE: {
    chain: 'eth',
    permanent: false,
    retryAfterSeconds: 5,
    reason: 'eth-1: connection failed: ECONNREFUSED',
    status: 'unavailable',
    found: 'eth-1: down, connection failed: ECONNREFUSED',
    setting: 'ETH_RPC_URLS',
    next: 'start the node of entry 1 of ETH_RPC_URLS, or correct host and port there; it is asked again by itself',
  },
  CHAIN_NOT_READY: { chain: 'eth', state: 'not_ready' },
  CHAIN_REJECTED: { chain: 'eth', reason: 'nonce too low' },
  TIER_FEATURE_LOCKED: { feature: 'chain', chain: 'xlm' },
  DESTINATION_OPT_IN_REQUIRED: {
    chain: 'xlm',
    asset: BY_NAME['asset'] as string,
    destination: 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
  },
  PAYLOAD_TOO_LARGE: { maxBytes: 16_384 },
  UNSUPPORTED_MEDIA_TYPE: { expected: 'application/json' },
  SIGNED_BATCH_REJECTED: { reason: 'no_instruction' },
};

export type Json = Record<string, unknown>;
