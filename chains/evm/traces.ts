/**
 * Internal native transfers from call traces (V6), in both shapes that nodes offer:
 *   callTracer   one tree per transaction: { type, from, to, value, error?, calls?: [...] }
 *   trace_block  one flat list in depth-first order: { action, result?, error?, traceAddress, transactionHash }
 *
 * The ordinal of a frame is its depth-first place below the top frame (G2). Calls of precompiles are not counted: the
 * flat shape leaves them out, and a key must not depend on which endpoint was asked.
 */
import { ChainUnavailable, MalformedReply, type Network } from '../chain.ts';
import { isSameHex } from './quantity.ts';

export interface InternalCall {
  readonly ordinal: number;
  readonly from: string; // lower case
  readonly to: string; // lower case
  readonly value: bigint;
}

interface Frame {
  readonly type: string;
  readonly from?: string;
  readonly to?: string;
  readonly value?: string;
  readonly error?: string;
  readonly calls?: readonly Frame[];
}

interface FlatTrace {
  readonly type: string;
  readonly action: {
    readonly callType?: string; readonly from?: string; readonly to?: string; readonly value?: string;
    readonly address?: string; readonly refundAddress?: string; readonly balance?: string;
  };
  readonly result?: { readonly address?: string } | null;
  readonly error?: string;
  readonly traceAddress: readonly number[];
  readonly transactionHash?: string | null;
}

/** Frames of a call tree that are looked at; a block's gas allows fewer. */
const FRAMES_MAX = 1_000_000;

/** Highest address that the protocol may answer itself. Source: EIP-7951 (0x100) is the highest today. */
const PRECOMPILE_MAX = 0x1ffn;

const PRECOMPILE_ZEROS = `0x${'0'.repeat(36)}`;

function isPrecompile(address: string | undefined): boolean {
  return address !== undefined && address.startsWith(PRECOMPILE_ZEROS) && BigInt(address) <= PRECOMPILE_MAX;
}

/**
 * Internal transfers of every transaction by its hash, in the order of the block.
 * Throws: ChainUnavailable when a transaction has no trace or an error in place of one (C1-4: never read as empty).
 */
export function internalCallsOf(
  network: Network, traces: readonly unknown[], hashes: readonly string[],
): ReadonlyMap<string, readonly InternalCall[]> {
  const flat = traces.length > 0 && typeof traces[0] === 'object' && traces[0] !== null && 'action' in traces[0];
  return flat ? ofFlatTraces(network, traces as FlatTrace[], hashes) : ofCallTrees(network, traces, hashes);
}

function ofCallTrees(
  network: Network, traces: readonly unknown[], hashes: readonly string[],
): Map<string, InternalCall[]> {
  if (traces.length !== hashes.length) {
    throw new ChainUnavailable(network.slug, `${traces.length} traces for ${hashes.length} transactions`);
  }
  return new Map(hashes.map((hash, i) => {
    const entry = traces[i] as { txHash?: string; result?: Frame; error?: string } | null;
    if (entry?.result === undefined || typeof entry.result.type !== 'string') {
      throw new ChainUnavailable(network.slug, `no trace of ${hash}: ${String(entry?.error ?? 'empty').slice(0, 100)}`);
    }
    if (entry.txHash !== undefined && !isSameHex(entry.txHash, hash)) {
      throw new ChainUnavailable(network.slug, 'traces out of order');
    }
    return [hash, ofCallTree(entry.result)];
  }));
}

/** Depth-first without recursion: a malicious call depth must not become ours. */
function ofCallTree(top: Frame): InternalCall[] {
  const found: InternalCall[] = [];
  const stack: { frame: Frame; reverted: boolean }[] = childrenOf(top, top.error !== undefined);
  let ordinal = 0;
  for (let visited = 0; stack.length > 0; visited++) {
    if (visited > FRAMES_MAX) throw new MalformedReply('call trace', `more than ${FRAMES_MAX} frames`);
    const { frame, reverted } = stack.pop()!;
    if (isPrecompile(frame.to)) continue;
    const failed = reverted || frame.error !== undefined;
    const value = failed || !movesValue(frame.type) ? 0n : BigInt(frame.value ?? '0x0');
    if (value > 0n && frame.from !== undefined && frame.to !== undefined && !isSameHex(frame.from, frame.to)) {
      found.push({ ordinal, from: frame.from.toLowerCase(), to: frame.to.toLowerCase(), value });
    }
    ordinal++;
    stack.push(...childrenOf(frame, failed));
  }
  return found;
}

function childrenOf(frame: Frame, reverted: boolean): { frame: Frame; reverted: boolean }[] {
  return (frame.calls ?? []).map((child) => ({ frame: child, reverted })).reverse();
}

/** DELEGATECALL repeats its parent's value and CALLCODE pays oneself: neither moves anything to another address. */
function movesValue(type: string): boolean {
  return type === 'CALL' || type === 'CREATE' || type === 'CREATE2' || type === 'SELFDESTRUCT';
}

function ofFlatTraces(
  network: Network, traces: readonly FlatTrace[], hashes: readonly string[],
): Map<string, InternalCall[]> {
  const byHash = new Map<string, FlatTrace[]>(hashes.map((hash) => [hash, []]));
  for (const trace of traces) {
    if (trace.type === 'reward' || typeof trace.transactionHash !== 'string') continue;
    const list = byHash.get(trace.transactionHash);
    if (list === undefined) throw new ChainUnavailable(network.slug, 'a trace of another block');
    list.push(trace);
  }
  return new Map([...byHash].map(([hash, list]) => {
    if (list[0]?.traceAddress.length !== 0) throw new ChainUnavailable(network.slug, `no trace of ${hash}`);
    return [hash, ofFlatList(list)];
  }));
}

/** The list is depth-first, so what stands under a failed frame follows it directly and is deeper. */
function ofFlatList([top, ...frames]: readonly FlatTrace[]): InternalCall[] {
  const found: InternalCall[] = [];
  let failedDepth = top!.error === undefined ? Infinity : 0;
  let ordinal = 0;
  for (const frame of frames) {
    if (frame.type === 'call' && isPrecompile(frame.action.to)) continue;
    const depth = frame.traceAddress.length;
    if (depth <= failedDepth) failedDepth = frame.error === undefined ? Infinity : depth;
    const moved = failedDepth === Infinity ? moveOf(frame) : null;
    if (moved !== null && moved.value > 0n && moved.from !== moved.to) found.push({ ordinal, ...moved });
    ordinal++;
  }
  return found;
}

function moveOf({ type, action, result }: FlatTrace): Omit<InternalCall, 'ordinal'> | null {
  const [from, to, value] = type === 'suicide' ? [action.address, action.refundAddress, action.balance]
    : type === 'create' ? [action.from, result?.address, action.value]
      : type === 'call' && action.callType === 'call' ? [action.from, action.to, action.value] : [];
  if (from === undefined || to === undefined || value === undefined) return null;
  return { from: from.toLowerCase(), to: to.toLowerCase(), value: BigInt(value) };
}
