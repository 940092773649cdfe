/** Facts that reached their threshold, read again just before they become `matured`. G18, G19. */
import type { SeenTransfer } from '../persistence/rows.ts';
import { confirmationsOf, gatePassed } from './confirmations.ts';
import { chainFailure } from './content.ts';
import { finalityOf } from './head.ts';
import type { Run } from './memory.ts';
import { quorumOf, type Quorum } from './quorum.ts';
import { inParallel } from './read-ahead.ts';

/** Facts that one tick looks at. */
const FACTS_PER_TICK = 1_000;
/** Re-reads in flight. */
const REREADS_AT_ONCE = 8;
const TXIDS_LOGGED_MAX = 20;

export interface Matured {
  readonly matured: number;
  readonly refuted: number;
  /** Why some could not be read again, or null. */
  readonly reason: string | null;
}

/**
 * Matures what is deep enough and passes the network's gate, after the chain said once more that the block is on it and
 * the transaction succeeded in it. A transaction that now failed in the same block is refuted (C2-22); one that is not
 * there any more waits for the reorg path.
 */
export async function matureFacts(run: Run): Promise<Matured> {
  const { parts, memory, bell } = run;
  const { ledger, network, store } = parts;
  if (memory.head === null) return { matured: 0, refuted: 0, reason: null };
  const headHeight = memory.head.head.height;
  const finality = finalityOf(memory.head, parts.nowMs());
  const deepEnough = await store.immature(ledger, headHeight, FACTS_PER_TICK);
  const due = deepEnough.filter((fact) => gatePassed(network, fact.height, headHeight, finality));
  const byHeight = Object.values(Object.groupBy(due, (fact) => `${fact.height}:${fact.blockHash}`)) as SeenTransfer[][];
  if (byHeight.length === 0) return { matured: 0, refuted: 0, reason: null };
  const quorum = await quorumOf(run);
  const reads = await inParallel(REREADS_AT_ONCE, byHeight, (facts) => reread(run, facts, quorum));
  const confirmed = reads.flatMap(({ confirmed: facts }) => facts);
  const refuted = reads.flatMap(({ refuted: facts }) => facts);
  if (confirmed.length > 0) {
    bell.ring(await store.mature(ledger, confirmed.map(({ txid, outputIndex, blockHash, height }) =>
      ({ txid, outputIndex, blockHash, confirmations: confirmationsOf(headHeight, height) }))));
    parts.metrics.add('svc_facts_matured_total', { chain: network.slug }, confirmed.length);
  }
  if (refuted.length > 0) {
    const keys = refuted.map(({ txid, outputIndex, blockHash }) => ({ txid, outputIndex, blockHash }));
    bell.ring(await store.refute(ledger, keys));
    parts.metrics.add('svc_facts_refuted_total', { chain: network.slug }, refuted.length);
    const txids = refuted.map(({ txid }) => txid).slice(0, TXIDS_LOGGED_MAX);
    parts.log.warn({ ledger, txids }, 'transactions failed after they were seen to succeed');
  }
  const reason = reads.find((read) => read.reason !== null)?.reason ?? null;
  return { matured: confirmed.length, refuted: refuted.length, reason };
}

interface Reread { confirmed: SeenTransfer[]; refuted: SeenTransfer[]; reason: string | null }

/** The chain's word of today about the facts of one block. */
async function reread(run: Run, facts: readonly SeenTransfer[], quorum: Quorum): Promise<Reread> {
  const { client } = run.parts;
  const result: Reread = { confirmed: [], refuted: [], reason: null };
  const { height, blockHash } = facts[0]!;
  try {
    const waits = (reason: string): Reread => ({ ...result, reason: `block ${height} is not ${reason}` });
    if (await client.getBlockHash(height) !== blockHash) return waits('on the chain');
    const threshold = Math.max(...facts.map((fact) => fact.threshold));
    if (!await quorum.confirms(height, blockHash, threshold)) return waits('confirmed by the other endpoints');
    for (const [txid, ofTransaction] of Map.groupBy(facts, (fact) => fact.txid)) {
      const outcome = await client.getOutcome(txid, { height, hash: blockHash });
      if (outcome === null || outcome.height !== height || outcome.hash !== blockHash) continue;
      (outcome.success ? result.confirmed : result.refuted).push(...ofTransaction);
    }
    return result;
  } catch (error) {
    const reason = chainFailure(error);
    if (reason === null) throw error;
    return { ...result, reason }; // What was read before the failure is proven and counts.
  }
}
