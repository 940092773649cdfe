/**
 * Call traces of a block where some endpoint offers them. Traces are addressed by the block's hash, so they may come
 * from another endpoint than the block did.
 *
 * An endpoint's ability is learnt from its first answer and asked again after every identity check. Where one is known
 * to be able and none answers now, the block is not whole: an internal payment that nobody looked for is lost for good
 * (C1-4). An endpoint that was never seen to trace and is down does not hold up the block, unless the operator requires
 * traces: then a block that none traces is not whole.
 */
import { ChainUnavailable, type Block, type Endpoint, type Transport } from '../chain.ts';
import type { EvmRaw } from './raw.ts';
import { doubtOfTraces } from './contradictions.ts';
import type { EvmNetwork, TraceMethod } from './network.ts';
import { atHeight, call, isMethodMissing, resultOf, tryAsk } from './node.ts';

/** Transactions of a block whose trace is asked for again, one by one, after the block's answer lacked it. */
const RETRIES_PER_BLOCK = 20;
const CALL_TRACER = { tracer: 'callTracer' };

interface Traced {
  readonly height: number;
  readonly hash: string;
  readonly txids: readonly string[];
}

export interface TraceReader {
  /**
   * Traces of every transaction of the block, or null where no endpoint offers any and none is required. Throws:
   * ChainUnavailable.
   */
  read(first: Endpoint, unit: Block<EvmRaw>): Promise<readonly unknown[] | null>;
  /** Whether any endpoint traces this block; those that were never asked are. */
  isOffered(block: { readonly height: number; readonly hash: string }): Promise<boolean>;
  /** Forgets which endpoints had none, or have none any more. */
  forget(): void;
}

export function createTraceReader(network: EvmNetwork, transport: Transport): TraceReader {
  const methods = new Map<Endpoint, TraceMethod | 'none'>();
  /** Endpoints that traced and now say that nobody may: a plan that ran out, say. */
  const withdrawn = new Set<Endpoint>();
  /** The same, until they trace again: endpoints already reported as lost. */
  const lost = new Set<Endpoint>();

  const report = (endpoint: Endpoint, offered: boolean): void => {
    if (lost.has(endpoint) !== offered) return;
    if (offered) lost.delete(endpoint);
    else lost.add(endpoint);
    transport.reportTraces?.(endpoint, offered);
  };

  const readBy = async (endpoint: Endpoint, method: TraceMethod, block: Traced): Promise<readonly unknown[] | null> => {
    const asked =
      method === 'trace_block' ? call(method, atHeight(block.height)) : call(method, block.hash, CALL_TRACER);
    const answer = await tryAsk(network, endpoint, asked);
    if (!answer.ok && isMethodMissing(answer.error)) return null;
    const traces = resultOf(network, asked, answer);
    if (!Array.isArray(traces)) throw new ChainUnavailable(network.slug, `${method}: no list of traces`);
    methods.set(endpoint, method);
    withdrawn.delete(endpoint);
    report(endpoint, true);
    return method === 'trace_block' ? ofThisBlock(network, block, traces) : completed(network, endpoint, block, traces);
  };

  const readFrom = async (endpoint: Endpoint, block: Traced): Promise<readonly unknown[] | null> => {
    const known = methods.get(endpoint);
    for (const method of known === undefined ? network.traceMethods : known === 'none' ? [] : [known]) {
      const traces = await readBy(endpoint, method, block);
      if (traces !== null) return traces;
    }
    if (known !== undefined && known !== 'none') {
      withdrawn.add(endpoint);
      report(endpoint, false);
      throw new ChainUnavailable(network.slug, `${known} is offered no more`);
    }
    methods.set(endpoint, 'none');
    return null;
  };

  const read: TraceReader['read'] = async (first, unit) => {
    if (network.traceMethods.length === 0) return null;
    const { height, hash } = unit,
      block = { height, hash, txids: unit.raw.block.transactions.map((one) => one.hash) };
    if (block.txids.length === 0) return [];
    const failures: string[] = [];
    for (const endpoint of [first, ...transport.endpoints.filter((one) => one !== first)]) {
      try {
        const traces = await readFrom(endpoint, block),
          doubt = traces === null ? null : doubtOfTraces(network, unit, traces);
        // Traced again later, here or elsewhere: what the receipt denies is not proven (G8).
        if (doubt !== null) throw new ChainUnavailable(network.slug, doubt);
        if (traces !== null) return traces;
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        const able = (methods.get(endpoint) ?? 'none') !== 'none';
        if (able || endpoint === first) failures.push(`${endpoint.name}: ${error.reason}`);
      }
    }
    if (failures.length === 0 && network.tracesRequired !== true) return null;
    if (failures.length === 0) failures.push('no endpoint offers any, and they are required');
    throw new ChainUnavailable(network.slug, `block ${height} has no traces: ${failures.join('; ')}`);
  };

  const isOffered: TraceReader['isOffered'] = async ({ height, hash }) => {
    for (const endpoint of transport.endpoints.filter((one) => !methods.has(one))) {
      try {
        await readFrom(endpoint, { height, hash, txids: [] });
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error; // not known then, and asked again
      }
    }
    return [...methods.values()].some((method) => method !== 'none');
  };

  return {
    read,
    isOffered,
    forget() {
      for (const [endpoint, method] of methods)
        if (method === 'none' || withdrawn.has(endpoint)) methods.delete(endpoint);
      withdrawn.clear();
    },
  };
}

/** `trace_block` takes a height only; each of its entries names the block that it belongs to. */
function ofThisBlock(network: EvmNetwork, { hash, height }: Traced, traces: readonly unknown[]): readonly unknown[] {
  const foreign = traces.some((trace) => (trace as { blockHash?: unknown } | null)?.blockHash !== hash);
  if (foreign) throw new ChainUnavailable(network.slug, `traces of another block at ${height}`);
  return traces;
}

/** C1-4: one transaction's tracer that failed is asked again alone. */
async function completed(
  network: EvmNetwork,
  endpoint: Endpoint,
  { txids }: Traced,
  traces: readonly unknown[],
): Promise<readonly unknown[]> {
  const lacking = txids.flatMap((_, i) =>
    (traces[i] as { result?: unknown } | null)?.result === undefined ? [i] : [],
  );
  if (lacking.length === 0 || traces.length !== txids.length) return traces;
  if (lacking.length > RETRIES_PER_BLOCK) {
    throw new ChainUnavailable(network.slug, `${lacking.length} traces are missing`);
  }
  const whole = [...traces];
  for (const i of lacking) {
    const txid = txids[i]!,
      asked = call('debug_traceTransaction', txid, CALL_TRACER);
    whole[i] = { txHash: txid, result: resultOf(network, asked, await tryAsk(network, endpoint, asked)) };
  }
  return whole;
}
