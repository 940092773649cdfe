/**
 * Pairs of answers about one transaction that must say the same: its receipt, its trace and itself. What one of them
 * proves and another denies is not proven (G8): neither credited nor taken as "nothing happened". docs/chains/pairs.md
 * lists them.
 */
import type { Block, Network } from '../chain.ts';
import type { EvmRaw, RawReceipt, RawTransaction } from './raw.ts';
import { evmOf } from './network.ts';
import { isSameHex } from './quantity.ts';
import { hasFailed, isStated } from './traces.ts';

/** What a trace states of its whole transaction. */
interface TopFrame {
  readonly failed: boolean;
  readonly from: unknown;
  readonly to: unknown;
  readonly value: unknown;
  readonly creates: boolean;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
/** Digits of a quantity without what a node may put before them. */
const digitsOf = (value: unknown): string => (isStated(value) ? String(value).toLowerCase().replace(/^0x0*/, '') : '');

function topOfTree(entry: unknown): TopFrame | null {
  const frame = isObject(entry) ? entry['result'] : null;
  if (!isObject(frame)) return null;
  const { type, from, to, value } = frame;
  return {
    failed: hasFailed(frame),
    from,
    to,
    value,
    creates: type === 'CREATE' || type === 'CREATE2',
  };
}

function topOfList(entry: Readonly<Record<string, unknown>>): TopFrame | null {
  const { action, type } = entry;
  if (!isObject(action)) return null;
  return {
    failed: hasFailed(entry),
    from: action['from'],
    to: action['to'],
    value: action['value'],
    creates: type === 'create',
  };
}

/** Receipt, transaction and trace of one transaction; what they say differently, or null. */
function doubtOfTop(transaction: RawTransaction, receipt: RawReceipt, top: TopFrame): string | null {
  if (top.failed === (receipt.status === '0x1')) {
    return `the receipt says ${top.failed ? 'success' : 'failure'} and the trace ${top.failed ? 'failure' : 'success'}`;
  }
  if (isStated(top.from) && !isSameHex(String(top.from), transaction.from)) return 'the trace names another sender';
  const creates = transaction.to === null || transaction.to === undefined;
  if (creates !== top.creates) return 'the trace differs on what kind of transaction it is';
  if (!creates && isStated(top.to) && !isSameHex(transaction.to, String(top.to)))
    return 'the trace names another recipient';
  return digitsOf(top.value) === digitsOf(transaction.value) ? null : 'the trace names another value';
}

/**
 * The first contradiction between traces and the rest of their block, or null. A trace that is missing is none of
 * these.
 */
export function doubtOfTraces(
  network: Network,
  { height, hash, raw }: Block<EvmRaw>,
  traces: readonly unknown[],
): string | null {
  const {
    block: { transactions },
    receipts,
  } = raw;
  const at = (i: number, top: TopFrame | null) => {
    const transaction = transactions[i]!;
    const doubt = top === null ? null : doubtOfTop(transaction, receipts[i]!, top);
    return doubt === null ? null : `${transaction.hash}: ${doubt}`;
  };
  if (evmOf(network).nativeTransferLog !== null) return null; // its logs show native transfers; traces are not read
  if (!traces.some((entry) => isObject(entry) && 'action' in entry)) {
    if (traces.length !== transactions.length) return null;
    for (let i = 0; i < traces.length; i++) {
      const doubt = at(i, topOfTree(traces[i]));
      if (doubt !== null) return doubt;
    }
    return null;
  }
  const places = new Map(transactions.map((transaction, i) => [transaction.hash.toLowerCase(), i]));
  for (const entry of traces) {
    if (!isObject(entry)) continue;
    const doubt = doubtOfEntry(entry, { height, hash }, places);
    if (doubt !== null) return doubt;
    const place = places.get(String(entry['transactionHash']).toLowerCase());
    const isTop = Array.isArray(entry['traceAddress']) && entry['traceAddress'].length === 0;
    const topDoubt = place === undefined || !isTop ? null : at(place, topOfList(entry));
    if (topDoubt !== null) return topDoubt;
  }
  return null;
}

/** Every entry of `trace_block` names its block, and the place of its transaction in it. */
function doubtOfEntry(
  { blockHash, blockNumber, transactionHash, transactionPosition }: Readonly<Record<string, unknown>>,
  { height, hash }: { readonly height: number; readonly hash: string },
  places: ReadonlyMap<string, number>,
): string | null {
  if (isStated(blockHash) && !isSameHex(String(blockHash), hash)) return 'a trace of another block';
  if (isStated(blockNumber) && Number(blockNumber) !== height) return 'a trace of another height';
  const place = places.get(String(transactionHash).toLowerCase());
  if (place === undefined || !isStated(transactionPosition)) return null;
  return Number(transactionPosition) === place ? null : 'a trace names another place of its transaction';
}

/**
 * What a receipt says that its transaction or its block denies, or null. Fields that a node leaves out deny nothing.
 */
export function doubtOfReceipt(
  network: Network,
  { number }: { readonly number: string },
  transaction: RawTransaction,
  receipt: RawReceipt,
): string | null {
  const { from, to, blockNumber, status, logs, transactionHash } = receipt as RawReceipt & {
    readonly to?: string | null;
  };
  if (isStated(blockNumber) && Number(blockNumber) !== Number(number)) return 'names another height';
  if (isStated(from) && !isSameHex(from, transaction.from)) return 'names another sender';
  if (isStated(to) && !isSameHex(transaction.to, String(to))) return 'names another recipient';
  const native = evmOf(network).nativeTransferLog;
  let before = -1;
  for (const log of logs) {
    // A failed execution leaves no log, save the one in which Polygon writes its fee.
    if (status === '0x0' && (native === null || !isSameHex(log.address, native.emitter)))
      return 'says failure and has logs';
    const { transactionHash: owner, logIndex } = log as typeof log & {
      readonly transactionHash?: unknown;
      readonly logIndex?: unknown;
    };
    // Their order is the key of what they pay (G2). Clients count from the block or from the receipt.
    if (isStated(logIndex)) {
      if (!(Number(logIndex) > before)) return 'has logs out of order';
      before = Number(logIndex);
    }
    if (isStated(owner) && !isSameHex(String(owner), transactionHash)) return 'has a log of another transaction';
  }
  return null;
}
