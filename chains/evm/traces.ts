/**
 * Internal native transfers from call traces (V6), in both shapes that nodes offer:
 *   callTracer   one tree per transaction: { type, from, to, value, error?, calls?: [...] }
 *   trace_block  one flat list in depth-first order: { action, result?, error?, traceAddress, transactionHash }
 *
 * The ordinal of a payment is its place, in call order, among the frames below the top one that move value to another
 * address and succeeded with all their ancestors (G2). Clients list different frames beside those (one that failed at
 * once, calls of precompiles), and a key must not depend on which of them was asked. F21. Nor on the order of a list:
 * its frames are brought into call order by their `traceAddress`.
 */
import { ChainUnavailable, MalformedReply, type Network } from '../chain.ts';
import { bigintOf, isSameHex } from './quantity.ts';

export interface InternalCall {
  readonly ordinal: number;
  /** Its depth-first place among all frames but those of precompiles: the key of versions that counted them. */
  readonly place: number;
  readonly from: string; // lower case
  readonly to: string; // lower case
  readonly value: bigint;
}

interface Frame {
  readonly type: string;
  readonly from?: string | null;
  readonly to?: string | null;
  readonly value?: string | null;
  readonly error?: unknown;
  readonly revertReason?: unknown;
  readonly calls?: readonly unknown[] | null;
}

interface FlatTrace {
  readonly type: string;
  readonly action: {
    readonly callType?: string | null;
    readonly from?: string | null;
    readonly to?: string | null;
    readonly value?: string | null;
    readonly address?: string | null;
    readonly refundAddress?: string | null;
    readonly balance?: string | null;
  };
  readonly result?: { readonly address?: string | null } | null;
  readonly error?: unknown;
  readonly revertReason?: unknown;
  readonly traceAddress: readonly number[];
  readonly transactionHash?: string | null;
}

/** Frames of a call tree that are looked at; a block's gas allows fewer. */
const FRAMES_MAX = 1_000_000;

/** Highest address that the protocol may answer itself. Source: EIP-7951 (0x100) is the highest today. */
const PRECOMPILE_MAX = 0x1ffn;

const PRECOMPILE_ZEROS = `0x${'0'.repeat(36)}`;

function isPrecompile(address: string | undefined | null): boolean {
  return (
    typeof address === 'string' &&
    address.startsWith(PRECOMPILE_ZEROS) &&
    bigintOf(address, 'address of a frame') <= PRECOMPILE_MAX
  );
}

/** Whether a node says something in a field: some write null or an empty text where others leave it out. */
export const isStated = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Whether a frame, of either shape, says that it failed. */
export function hasFailed({
  error,
  revertReason,
}: {
  readonly error?: unknown;
  readonly revertReason?: unknown;
}): boolean {
  return isStated(error) || isStated(revertReason);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isTextOrNone = (value: unknown): boolean => value === undefined || value === null || typeof value === 'string';

function malformed(what: string, value: unknown): never {
  throw new MalformedReply(what, JSON.stringify(value) ?? 'undefined');
}

/** A frame of a call tree as it must be; its amount is read where it moves. Throws: MalformedReply. */
function frameOf(value: unknown): Frame {
  const frame = value as Frame;
  const fine =
    isObject(value) &&
    typeof frame.type === 'string' &&
    isTextOrNone(frame.from) &&
    isTextOrNone(frame.to) &&
    isTextOrNone(frame.value) &&
    (frame.calls === undefined || frame.calls === null || Array.isArray(frame.calls));
  return fine ? frame : malformed('frame of a call trace', value);
}

/** An entry of `trace_block` as it must be. Throws: MalformedReply. */
function flatTraceOf(value: unknown): FlatTrace {
  const trace = value as FlatTrace;
  if (
    !isObject(value) ||
    typeof trace.type !== 'string' ||
    !Array.isArray(trace.traceAddress) ||
    !trace.traceAddress.every((place) => Number.isSafeInteger(place) && place >= 0) ||
    !isObject(trace.action)
  ) {
    return malformed('entry of trace_block', value);
  }
  const { callType, from, to, value: amount, address, refundAddress, balance } = trace.action,
    { address: created } = trace.result ?? {};
  return [callType, from, to, amount, address, refundAddress, balance, created].every(isTextOrNone)
    ? trace
    : malformed('entry of trace_block', value);
}

/**
 * Internal transfers of every transaction by its hash, in the order of the block.
 * Throws: ChainUnavailable when a transaction has no trace or an error in place of one (C1-4: never read as empty).
 */
export function internalCallsOf(
  network: Network,
  traces: readonly unknown[],
  hashes: readonly string[],
): ReadonlyMap<string, readonly InternalCall[]> {
  const flat = isObject(traces[0]) && 'action' in traces[0];
  return flat ? ofFlatTraces(network, traces, hashes) : ofCallTrees(network, traces, hashes);
}

function ofCallTrees(
  network: Network,
  traces: readonly unknown[],
  hashes: readonly string[],
): Map<string, InternalCall[]> {
  if (traces.length !== hashes.length) {
    throw new ChainUnavailable(network.slug, `${traces.length} traces for ${hashes.length} transactions`);
  }
  return new Map(
    hashes.map((hash, i) => {
      const entry = traces[i] as { txHash?: unknown; result?: unknown; error?: unknown } | null;
      if (!isObject(entry?.result) || !('type' in entry.result)) {
        throw new ChainUnavailable(network.slug, `no trace of ${hash}: ${reasonOf(entry?.error)}`);
      }
      if (entry.txHash !== undefined && !isSameHex(String(entry.txHash), hash)) {
        throw new ChainUnavailable(network.slug, 'traces out of order');
      }
      return [hash, ofCallTree(frameOf(entry.result))];
    }),
  );
}

const reasonOf = (error: unknown): string => (typeof error === 'string' ? error.slice(0, 100) : 'empty');

/** Depth-first without recursion: a malicious call depth must not become ours. */
function ofCallTree(top: Frame): InternalCall[] {
  const found: InternalCall[] = [];
  const stack: { frame: Frame; reverted: boolean }[] = childrenOf(top, hasFailed(top));
  let place = 0;
  for (let visited = 0; stack.length > 0; visited++) {
    if (visited > FRAMES_MAX) throw new MalformedReply('call trace', `more than ${FRAMES_MAX} frames`);
    const { frame, reverted } = stack.pop()!;
    if (isPrecompile(frame.to)) continue;
    const failed = reverted || hasFailed(frame);
    const value = failed ? 0n : movedBy(frame.type, frame.value);
    const from = frame.from ?? null,
      to = frame.to ?? null;
    if (value > 0n && from !== null && to !== null && !isSameHex(from, to)) {
      found.push({ ordinal: found.length, place, from: from.toLowerCase(), to: to.toLowerCase(), value });
    }
    place++;
    stack.push(...childrenOf(frame, failed));
  }
  return found;
}

function childrenOf(frame: Frame, reverted: boolean): { frame: Frame; reverted: boolean }[] {
  return (frame.calls ?? []).map((child) => ({ frame: frameOf(child), reverted })).reverse();
}

/**
 * Which frames move their value to another address: DELEGATECALL repeats its parent's, and CALLCODE pays oneself.
 * `suicide` is what `trace_block` calls SELFDESTRUCT.
 */
const MOVES: Readonly<Record<string, boolean>> = {
  CALL: true,
  CREATE: true,
  CREATE2: true,
  SELFDESTRUCT: true,
  SUICIDE: true,
  DELEGATECALL: false,
  CALLCODE: false,
  STATICCALL: false,
};

/**
 * What a frame that succeeded moves. Throws: MalformedReply for a kind of call that is not known and names a value: a
 * payment may be what it is.
 */
function movedBy(type: string, value: string | null | undefined): bigint {
  const kind = type.toUpperCase(),
    moves = Object.hasOwn(MOVES, kind) ? MOVES[kind] : undefined;
  if (moves === false) return 0n;
  const amount = bigintOf(value ?? '0x0', 'value of a frame');
  return moves === undefined && amount > 0n ? malformed('frame of an unknown kind that moves value', type) : amount;
}

function ofFlatTraces(
  network: Network,
  traces: readonly unknown[],
  hashes: readonly string[],
): Map<string, InternalCall[]> {
  const byHash = new Map<string, FlatTrace[]>(hashes.map((hash) => [hash, []]));
  for (const trace of traces.map(flatTraceOf)) {
    if (trace.type === 'reward' || typeof trace.transactionHash !== 'string') continue;
    const list = byHash.get(trace.transactionHash);
    if (list === undefined) throw new ChainUnavailable(network.slug, 'a trace of another block');
    list.push(trace);
  }
  return new Map(
    [...byHash].map(([hash, list]) => {
      const doubt = doubtOfOrder(list.sort(byAddress));
      if (doubt !== null) throw new ChainUnavailable(network.slug, `${doubt} ${hash}`);
      return [hash, ofFlatList(list)];
    }),
  );
}

/** Call order: a frame before those that it called, and these one after the other. */
function byAddress({ traceAddress: a }: FlatTrace, { traceAddress: b }: FlatTrace): number {
  for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

/** Why frames in call order are not those of one whole transaction, or null. */
function doubtOfOrder(frames: readonly FlatTrace[]): string | null {
  if (frames[0]?.traceAddress.length !== 0) return 'no trace of';
  const listed = new Set<string>();
  for (const { traceAddress } of frames) {
    const own = traceAddress.join();
    if (listed.has(own)) return 'a frame twice in the trace of';
    if (traceAddress.length > 0 && !listed.has(traceAddress.slice(0, -1).join()))
      return 'a frame without its caller in';
    listed.add(own);
  }
  return null;
}

/** In call order the frames under a failed one follow it directly and are deeper. */
function ofFlatList([top, ...frames]: readonly FlatTrace[]): InternalCall[] {
  const found: InternalCall[] = [];
  let failedDepth = hasFailed(top!) ? 0 : Infinity;
  let place = 0;
  for (const frame of frames) {
    if (frame.type.toUpperCase() === 'CALL' && isPrecompile(frame.action.to)) continue;
    const depth = frame.traceAddress.length;
    if (depth <= failedDepth) failedDepth = hasFailed(frame) ? depth : Infinity;
    const moved = failedDepth === Infinity ? moveOf(frame) : null;
    if (moved !== null && moved.value > 0n && moved.from !== moved.to)
      found.push({ ordinal: found.length, place, ...moved });
    place++;
  }
  return found;
}

function moveOf({ type, action, result }: FlatTrace): Omit<InternalCall, 'ordinal' | 'place'> | null {
  const kind = type.toUpperCase() === 'CALL' ? (action.callType ?? type) : type;
  const [from, to, value] =
    kind.toUpperCase() === 'SUICIDE' || kind.toUpperCase() === 'SELFDESTRUCT'
      ? [action.address, action.refundAddress, action.balance]
      : kind.toUpperCase() === 'CREATE'
        ? [action.from, result?.address, action.value]
        : [action.from, action.to, action.value];
  const amount = movedBy(kind, value);
  if (typeof from !== 'string' || typeof to !== 'string') return null;
  return { from: from.toLowerCase(), to: to.toLowerCase(), value: amount };
}
