/**
 * What every field of every record says, by schema: presence, type, and the value that the ledger itself has. Each
 * table names all fields of its schema; a field that is added to a schema and to no table is a problem.
 */
import { z } from 'zod';
import { networkOf } from '../../chains/registry.ts';
import { formatAmount } from '../../protocol/money.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import * as addresses from '../../protocol/schema/addresses.ts';
import { envelopeOf } from '../../protocol/schema/events.ts';
import { coverage } from '../../protocol/schema/platform.ts';
import * as transactions from '../../protocol/schema/transactions.ts';
import { delivery } from '../../protocol/schema/webhooks.ts';
import type { Chain, Environment, EventName } from '../../protocol/slugs.ts';

type Shape = {
  properties?: Record<string, Shape>;
  items?: Shape;
  anyOf?: Shape[];
  oneOf?: Shape[];
  type?: string | string[];
  description?: string;
};
type Fields = Readonly<Record<string, unknown>>;
/** True where the value at a path is right; `record` is the whole of it. */
export type Table<Truth> = Readonly<Record<string, (value: unknown, truth: Truth, record: Fields) => boolean>>;

const shapeOf = (schema: z.ZodType): Shape => z.toJSONSchema(schema, { io: 'output' }) as Shape;

/** Paths of a schema: `failure.code`, `versions.*.at`. What is keyed freely has no paths of its own. */
export function pathsOf(schema: z.ZodType): Map<string, Shape> {
  const found = new Map<string, Shape>();
  const walk = (shape: Shape, prefix: string): void => {
    for (const one of [...(shape.anyOf ?? []), ...(shape.oneOf ?? [])]) walk(one, prefix);
    if (shape.items !== undefined) walk(shape.items, `${prefix}*.`);
    for (const [name, child] of Object.entries(shape.properties ?? {})) {
      found.set(`${prefix}${name}`, child);
      walk(child, `${prefix}${name}.`);
    }
  };
  walk(shapeOf(schema), '');
  return found;
}

/** Whether a schema lets a value be null. */
export function isNullable({ anyOf = [], type }: Shape): boolean {
  return anyOf.some(isNullable) || type === 'null' || (Array.isArray(type) && type.includes('null'));
}

function valuesAt(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return [value];
  if (value === null) return [];
  if (step === '*') return (value as unknown[]).flatMap((one) => valuesAt(one, rest));
  return valuesAt((value as Fields)[step], rest);
}

/** What is wrong with a record; nothing when every field is there and right. */
export function problemsOf<Truth>(
  what: string,
  schema: z.ZodType,
  table: Table<Truth>,
  record: object,
  truth: Truth,
): string[] {
  const paths = pathsOf(schema),
    problems: string[] = [];
  for (const path of paths.keys()) if (table[path] === undefined) problems.push(`${path} has no expectation`);
  for (const path of Object.keys(table)) if (!paths.has(path)) problems.push(`${path} is no field of it`);
  for (const name of Object.keys(record))
    if (!paths.has(name)) problems.push(`${name} is in the record and not in its schema`);
  const parsed = schema.safeParse(record);
  if (!parsed.success) problems.push(z.prettifyError(parsed.error));
  for (const [path, isRight] of Object.entries(table)) {
    for (const value of valuesAt(record, path.split('.'))) {
      if (!isRight(value, truth, record as Fields)) problems.push(`${path} is ${JSON.stringify(value)}`);
    }
  }
  return problems.map((problem) => `${what}: ${problem}`);
}

// ── What is true ─────────────────────────────────────────────────────────────────────────────────────────────────

export interface Holder {
  readonly chain: Chain;
  readonly environment: Environment;
  readonly address: string;
  readonly userRef: string;
  readonly tag: string | null;
  readonly label: string | null;
}
export interface Asset {
  readonly contract: string | null;
  readonly symbol: string;
  readonly decimals: number;
}

/** A movement at one moment of its life. */
export interface Movement {
  readonly holder: Holder;
  readonly asset: Asset;
  readonly direction: 'in' | 'out';
  readonly status: string;
  readonly id: string;
  readonly txid: string | null;
  readonly outputIndex: number | null;
  readonly counterparty: string | null;
  readonly amount: bigint;
  readonly inBlock: boolean;
  readonly confirmations: (count: number) => boolean;
  readonly threshold: number;
  /** What the sender paid beside the amount, by its balances; null while that cannot be said. */
  readonly fee: bigint | null;
  readonly versions: readonly { txid: string; at: string }[];
  readonly explorerUrl: string | null;
  /** How often a deposit came into being; once, if left out. */
  readonly incarnation?: (count: number) => boolean;
  /** The block, or a node, refused it. */
  readonly failed?: boolean;
  /** The instant before the movement began, by our clock. */
  readonly sinceMs: number;
  /** The record as it was before. */
  readonly before: ReplyOf<'getTransaction'> | null;
}

const same =
  (wanted: unknown) =>
  (value: unknown): boolean =>
    JSON.stringify(value) === JSON.stringify(wanted);
const atMs = (value: unknown): number => Date.parse(String(value));
const isText = (value: unknown): boolean => typeof value === 'string' && value.length > 0;
const isHash = (value: unknown): boolean =>
  typeof value === 'string' && /^(0x)?[0-9a-f]{64}$|^[0-9A-F]{64}$|^[1-9A-HJ-NP-Za-km-z]{32,88}$/.test(value);
const isHeight = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const isInstant = (value: unknown): boolean =>
  !Number.isNaN(atMs(value)) && new Date(atMs(value)).toISOString() === value;
const isCode = (value: unknown): boolean => /^[A-Z_]{3,}$/.test(String(value));
const never = (): boolean => false;

const money = {
  amount: (value: unknown, { amount }: Pick<Movement, 'amount'>) => value === amount.toString(),
  amountFormatted: (value: unknown, { amount, asset }: Pick<Movement, 'amount' | 'asset'>) =>
    value === formatAmount(amount, asset.decimals),
  decimals: (value: unknown, { asset }: Pick<Movement, 'asset'>) => value === asset.decimals,
};
const ofHolder = {
  chain: (value: unknown, { holder }: Pick<Movement, 'holder'>) => value === holder.chain,
  userRef: (value: unknown, { holder }: Pick<Movement, 'holder'>) => value === holder.userRef,
  tag: (value: unknown, { holder }: Pick<Movement, 'holder'>) => value === holder.tag,
};
const ofAsset = {
  tokenContract: (value: unknown, { asset }: Pick<Movement, 'asset'>) => value === asset.contract,
  tokenSymbol: (value: unknown, { asset }: Pick<Movement, 'asset'>) => value === asset.symbol,
};

export const ADDRESS: Table<Holder> = {
  id: (value) => /^adr_[a-z2-7]{26}$/.test(String(value)),
  chain: (value, { chain }) => value === chain,
  address: (value, { address }) => value === address,
  derivationPath: (value) => /^m(\/[0-9]+'?)+$/.test(String(value)),
  environment: (value, { environment }) => value === environment,
  userRef: (value, { userRef }) => value === userRef,
  tag: (value, { tag }) => value === tag,
  label: (value, { label }) => value === label,
  status: same('active'),
  reserveDrops: (value, { chain }) =>
    value === (chain === 'xlm' ? String(networkOf(chain).firstDepositMin) : undefined),
  createdAt: isInstant,
  // No migration adopted it.
  projectId: same(undefined),
  batchId: same(undefined),
  mode: same(undefined),
  spendable: same(undefined),
};

export interface Holding {
  readonly holder: Holder;
  readonly asset: Asset;
  readonly amount: bigint;
  readonly exists: boolean | null;
}
export const BALANCE: Table<Holding> = {
  ...money,
  ...ofAsset,
  chain: ofHolder.chain,
  address: (value, { holder }) => value === holder.address,
  reserved: (value, { amount }) => BigInt(String(value)) >= 0n && BigInt(String(value)) <= amount,
  available: (value, { amount }, record) => BigInt(String(value)) === amount - BigInt(String(record['reserved'])),
  accountExists: (value, { exists }) => typeof value === 'boolean' && (exists === null || value === exists),
};

export const TRANSACTION: Table<Movement> = {
  ...money,
  ...ofHolder,
  ...ofAsset,
  id: (value, { id, direction }) => value === id && String(value).startsWith(direction === 'in' ? 'dep_' : 'txn_'),
  direction: (value, { direction }) => value === direction,
  environment: (value, { holder }) => value === holder.environment,
  status: (value, { status }) => value === status,
  txid: (value, { txid }) => value === txid,
  outputIndex: (value, { outputIndex }) => value === outputIndex,
  address: (value, { holder }) => value === holder.address,
  counterparty: (value, { counterparty, direction }) =>
    direction === 'out' ? value === counterparty : value === null || isText(value),
  kind: (value, { direction }) => value === (direction === 'out' ? 'withdrawal' : null),
  role: same(null),
  operationId: same(null),
  chainTag: same(null),
  height: (value, { inBlock, before }) =>
    inBlock ? isHeight(value) && (before?.height ?? value) === value : value === null,
  blockHash: (value, { inBlock, before }) =>
    inBlock ? isHash(value) && (before?.blockHash ?? value) === value : value === null,
  confirmations: (value, { confirmations }) => Number.isSafeInteger(value) && confirmations(value as number),
  threshold: (value, { threshold }) => value === threshold,
  incarnation: (value, { direction, incarnation = (count) => count === 1 }) =>
    direction === 'in' ? incarnation(value as number) : value === null,
  fee: (value, { fee, direction, inBlock }) =>
    direction === 'in' || !inBlock
      ? value === null
      : fee === null
        ? /^[1-9][0-9]*$/.test(String(value))
        : value === fee.toString(),
  failure: (value, { failed = false }) => (value !== null) === failed,
  'failure.code': isCode,
  'failure.reason': isText,
  versions: (value, { versions }) => same(versions)(value),
  'versions.*.txid': isText,
  'versions.*.at': isText,
  explorerUrl: (value, { explorerUrl }) => value === explorerUrl,
  createdAt: (value, { sinceMs, before }) =>
    isInstant(value) && atMs(value) >= sinceMs - 2_000 && (before?.createdAt ?? value) === value,
  updatedAt: (value, { before }, { createdAt }) =>
    isInstant(value) && atMs(value) >= atMs(createdAt) && atMs(value) >= atMs(before?.updatedAt ?? createdAt),
};

/** An event beside the record that the API has of the same movement at the same moment. */
export interface Told {
  readonly movement: Movement;
  readonly record: ReplyOf<'getTransaction'>;
  readonly event: EventName;
  readonly counted: (count: number) => boolean;
}
const told =
  (name: keyof ReplyOf<'getTransaction'>) =>
  (value: unknown, { record }: Told): boolean =>
    same(record[name])(value);
const envelope = {
  event: (value: unknown, { event }: Told) => value === event,
  id: (value: unknown) => /^evt_[a-z2-7]{26}$/.test(String(value)),
  environment: told('environment'),
  confirmations: (value: unknown, { counted }: Told) => Number.isSafeInteger(value) && counted(value as number),
  threshold: told('threshold'),
  timestamp: (value: unknown, { record }: Told) =>
    isInstant(value) && atMs(value) >= atMs(record.createdAt) && atMs(value) <= atMs(record.updatedAt),
  data: (value: unknown) => typeof value === 'object' && value !== null,
};
const toldMovement = Object.fromEntries(
  (
    [
      'amount',
      'amountFormatted',
      'decimals',
      'chain',
      'txid',
      'tokenContract',
      'tokenSymbol',
      'userRef',
      'tag',
      'chainTag',
      'height',
      'blockHash',
    ] as const
  ).map((name) => [`data.${name}`, told(name)]),
);
const DEPOSIT_EVENT: Table<Told> = {
  ...envelope,
  ...toldMovement,
  'data.depositId': told('id'),
  'data.address': told('address'),
  'data.outputIndex': told('outputIndex'),
  'data.incarnation': told('incarnation'),
  // Of ordinary addresses.
  'data.paymentId': (value) => value === null,
  'data.linkId': (value) => value === null,
};
const WITHDRAWAL_EVENT: Table<Told> = {
  ...envelope,
  ...toldMovement,
  'data.transactionId': told('id'),
  'data.from': told('address'),
  'data.to': told('counterparty'),
  'data.fee': told('fee'),
  'data.failure': told('failure'),
  'data.failure.code': isCode,
  'data.failure.reason': isText,
};
const REVERSED_EVENT: Table<Told> = {
  ...DEPOSIT_EVENT,
  'data.reversedFrom': (value, { movement }) => value === movement.before?.status,
  'data.depth': (value, { movement }) => value === movement.before?.confirmations,
};

export interface Priced {
  readonly chain: Chain;
}
const priceOf =
  (name: 'fee' | 'feeMax') =>
  (value: unknown, { chain }: Priced, record: Fields) =>
    value === formatAmount(BigInt(String(record[name])), networkOf(chain).nativeDecimals);
export const FEE: Table<Priced> = {
  chain: (value, { chain }) => value === chain,
  symbol: (value, { chain }) => value === networkOf(chain).nativeSymbol,
  decimals: (value, { chain }) => value === networkOf(chain).nativeDecimals,
  fee: (value) => BigInt(String(value)) > 0n,
  feeFormatted: priceOf('fee'),
  feeMax: (value, _truth, { fee }) => BigInt(String(value)) >= BigInt(String(fee)),
  feeMaxFormatted: priceOf('feeMax'),
  parts: (value) => Object.keys(value as object).length > 0,
};

export interface Covered {
  readonly chain: Chain;
  readonly head: number;
  readonly sinceMs: number;
}
export const COVERAGE: Table<Covered> = {
  chain: (value, { chain }) => value === chain,
  completeHeight: (value, { head }) => (value as number) >= head,
  headHeight: (value, _truth, { completeHeight }) => (value as number) >= (completeHeight as number),
  headAt: (value, { sinceMs }) => isInstant(value) && atMs(value) >= sinceMs - 2_000,
  heardAt: (value, _truth, { headAt }) => isInstant(value) && atMs(value) >= atMs(headAt),
  ageSeconds: (value) => (value as number) >= 0 && (value as number) < 600,
  lag: (value, _truth, { headHeight, completeHeight }) => value === (headHeight as number) - (completeHeight as number),
  unresolved: same([]),
  'unresolved.*.height': never,
  'unresolved.*.reason': never,
  'unresolved.*.tries': never,
  'unresolved.*.since': never,
  endpoints: same([]),
  'endpoints.*.endpoint': never,
  'endpoints.*.state': never,
  'endpoints.*.reason': never,
  'endpoints.*.next': never,
  'endpoints.*.since': never,
  'endpoints.*.nextLookAt': never,
};

export interface Delivered {
  readonly eventId: string;
  readonly event: EventName;
  readonly url: string;
  readonly webhookId: string;
}
export const DELIVERY: Table<Delivered> = {
  id: (value) => /^dlv_[a-z2-7]{26}$/.test(String(value)),
  eventId: (value, { eventId }) => value === eventId,
  event: (value, { event }) => value === event,
  webhookId: (value, { webhookId }) => value === webhookId,
  url: (value, { url }) => value === url,
  replay: same(0),
  status: same('delivered'),
  heldReason: same(null),
  nextAttemptAt: same(null),
  createdAt: isInstant,
  attempts: (value) => (value as unknown[]).length >= 1,
  'attempts.*.attempt': (value) => (value as number) >= 1,
  'attempts.*.statusCode': (value) => value === 200,
  'attempts.*.durationMs': (value) => (value as number) >= 0,
  'attempts.*.error': same(null),
  'attempts.*.at': (value, _truth, { createdAt }) => isInstant(value) && atMs(value) >= atMs(createdAt),
};

/** An unsigned build. `feeMax` bounds what the block will say. */
export const BUILT: Table<Movement> = {
  ...money,
  ...ofAsset,
  chain: ofHolder.chain,
  id: TRANSACTION['id']!,
  status: same('built'),
  from: (value, { holder }) => value === holder.address,
  to: (value, { counterparty }) => value === counterparty,
  chainTag: same(null),
  // bandwidth may be free
  feeEstimate: (value) => value !== null,
  'feeEstimate.fee': (value, { holder }) => BigInt(String(value)) > (holder.chain === 'tron' ? -1n : 0n),
  'feeEstimate.feeMax': (value, _truth, { feeEstimate }) =>
    BigInt(String(value)) >= BigInt((feeEstimate as { fee: string }).fee),
  'feeEstimate.parts': (value) => Object.keys(value as object).length > 0,
  unsigned: (value) => value !== null,
  'unsigned.chain': ofHolder.chain,
  'unsigned.payload': isText,
  'unsigned.from': (value, { holder }) => value === holder.address,
  'unsigned.fromPath': (value) => /^m(\/[0-9]+'?)+$/.test(String(value)),
  'unsigned.to': (value, { counterparty }) => value === counterparty,
  'unsigned.amount': money.amount,
  'unsigned.tokenContract': ofAsset.tokenContract,
  'unsigned.tag': same(null),
  'unsigned.kind': same('payment'),
  'unsigned.sendAll': same(false),
  'unsigned.feeMax': (value, _truth, { feeEstimate }) =>
    value === (feeEstimate as { feeMax: string }).feeMax || BigInt(String(value)) > 0n,
  'unsigned.fee': (value) => Object.keys(value as object).length > 0,
  'unsigned.replayKey': (value) => value !== null,
  'unsigned.replayKey.kind': isText,
  'unsigned.replayKey.value': (value) => value !== undefined && value !== null,
  'unsigned.readAtHeight': (value) => Number.isSafeInteger(value),
  createdAt: isInstant,
  updatedAt: (value, _truth, { createdAt }) => isInstant(value) && atMs(value) >= atMs(createdAt),
};

/** The schema of each record with its table, by name. */
export const CONTRACT = {
  address: { schema: addresses.address, table: ADDRESS },
  balance: { schema: addresses.balance, table: BALANCE },
  fee: { schema: addresses.fee, table: FEE },
  transaction: { schema: transactions.transaction, table: TRANSACTION },
  built: { schema: transactions.built, table: BUILT },
  coverage: { schema: coverage, table: COVERAGE },
  delivery: { schema: delivery, table: DELIVERY },
} as const;
const EVENTS_TOLD = {
  deposit_detected: DEPOSIT_EVENT,
  deposit_confirmed: DEPOSIT_EVENT,
  address_activated: DEPOSIT_EVENT,
  deposit_reversed: REVERSED_EVENT,
  withdrawal_broadcast: WITHDRAWAL_EVENT,
  withdrawal_confirmed: WITHDRAWAL_EVENT,
  withdrawal_failed: WITHDRAWAL_EVENT,
} as const satisfies Partial<Record<EventName, Table<Told>>>;
export type ToldEvent = keyof typeof EVENTS_TOLD;

/** What is wrong with an event, beside the record of the API. */
export function problemsOfEvent(body: object, truth: Told & { event: ToldEvent }): string[] {
  return problemsOf(
    `${truth.movement.holder.chain} ${truth.event}`,
    envelopeOf(truth.event),
    EVENTS_TOLD[truth.event],
    body,
    truth,
  );
}
