/**
 * Internal native transfers from call traces (V6), in both shapes that nodes offer:
 *   callTracer   one tree per transaction: { type, from, to, value, error?, calls?: [...] }
 *   trace_block  one flat list in depth-first order: { action, result?, error?, traceAddress, transactionHash }
 *
 * The ordinal of a payment is its place, in call order, among the frames below the top one that move value to another
 * address and succeeded with all their ancestors (G2). Clients list different frames beside those (one that failed at
 * once, calls of precompiles), and a key must not depend on which of them was asked. F21.
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
  readonly error?: string;
  readonly calls?: readonly unknown[] | null;
}

interface FlatTrace {
  readonly type: string;
  readonly action: {
    readonly callType?: string;
    readonly from?: string | null;
    readonly to?: string | null;
    readonly value?: string | null;
    readonly address?: string | null;
    readonly refundAddress?: string | null;
    readonly balance?: string | null;
  };
  readonly result?: { readonly address?: string | null } | null;
  readonly error?: string;
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
    !isObject(trace.action)
  ) {
    return malformed('entry of trace_block', value);
  }
  const { from, to, value: amount, address, refundAddress, balance } = trace.action,
    { address: created } = trace.result ?? {};
  return [from, to, amount, address, refundAddress, balance, created].every(isTextOrNone)
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
  const stack: { frame: Frame; reverted: boolean }[] = childrenOf(top, top.error !== undefined);
  let place = 0;
  for (let visited = 0; stack.length > 0; visited++) {
    if (visited > FRAMES_MAX) throw new MalformedReply('call trace', `more than ${FRAMES_MAX} frames`);
    const { frame, reverted } = stack.pop()!;
    if (isPrecompile(frame.to)) continue;
    const failed = reverted || frame.error !== undefined;
    const value = failed || !movesValue(frame.type) ? 0n : bigintOf(frame.value ?? '0x0', 'value of a frame');
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

/** DELEGATECALL repeats its parent's value and CALLCODE pays oneself: neither moves anything to another address. */
function movesValue(type: string): boolean {
  return type === 'CALL' || type === 'CREATE' || type === 'CREATE2' || type === 'SELFDESTRUCT';
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
      if (list[0]?.traceAddress.length !== 0) throw new ChainUnavailable(network.slug, `no trace of ${hash}`);
      return [hash, ofFlatList(list)];
    }),
  );
}

/** The list is depth-first, so the frames under a failed one follow it directly and are deeper. */
function ofFlatList([top, ...frames]: readonly FlatTrace[]): InternalCall[] {
  const found: InternalCall[] = [];
  let failedDepth = top!.error === undefined ? Infinity : 0;
  let place = 0;
  for (const frame of frames) {
    if (frame.type === 'call' && isPrecompile(frame.action.to)) continue;
    const depth = frame.traceAddress.length;
    if (depth <= failedDepth) failedDepth = frame.error === undefined ? Infinity : depth;
    const moved = failedDepth === Infinity ? moveOf(frame) : null;
    if (moved !== null && moved.value > 0n && moved.from !== moved.to)
      found.push({ ordinal: found.length, place, ...moved });
    place++;
  }
  return found;
}

function moveOf({ type, action, result }: FlatTrace): Omit<InternalCall, 'ordinal' | 'place'> | null {
  const [from, to, value] =
    type === 'suicide'
      ? [action.address, action.refundAddress, action.balance]
      : type === 'create'
        ? [action.from, result?.address, action.value]
        : type === 'call' && action.callType === 'call'
          ? [action.from, action.to, action.value]
          : [];
  if (typeof from !== 'string' || typeof to !== 'string' || typeof value !== 'string') return null;
  return { from: from.toLowerCase(), to: to.toLowerCase(), value: bigintOf(value, 'value of a trace') };
}
