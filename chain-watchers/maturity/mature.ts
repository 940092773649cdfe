/** Facts that reached their threshold, read again just before they become `matured`. G18, G19. */
import type { SeenTransfer } from '../../model/rows/inbox.ts';
import { confirmationsOf, gatePassed } from './confirmations.ts';
import { chainFailure } from '../../chains/failure.ts';
import { countedHeight } from '../follow/head.ts';
import type { Run } from '../memory.ts';
import { finalityOf, quorumOf, type Quorum } from '../follow/quorum.ts';
import { inParallel } from '../follow/read-ahead.ts';
import { askWitnesses, recordAgain, type Agreement } from './agreement.ts';
import { retryAfterMs } from '../follow/unresolved.ts';

/** Facts that one tick looks at. */
const FACTS_PER_TICK = 1_000;
/** Facts that may be stepped over; the look begins anew beyond. */
const STEPPED_OVER_MAX = 16_000;
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
 * the transaction succeeded in it, and living endpoints reported the same movement. A transaction that now failed in
 * the same block is refuted (C2-22); one that is not there any more waits for the reorg path; one that was reported
 * falsely is recorded again.
 */
export async function matureFacts(run: Run): Promise<Matured> {
  const { parts, memory, waker } = run;
  const { ledger, network, store } = parts;
  if (memory.head === null) return { matured: 0, refuted: 0, reason: null };
  const headHeight = countedHeight(memory.head);
  const finality = finalityOf(run);
  const page = (await store.immature(ledger, headHeight, memory.matureAfter + FACTS_PER_TICK)).slice(
    memory.matureAfter,
  );
  const due = page.filter((fact) => gatePassed(network, fact.height, headHeight, finality));
  const byHeight = Object.values(Object.groupBy(due, (fact) => `${fact.height}:${fact.blockHash}`)) as SeenTransfer[][];
  const quorum = byHeight.length === 0 ? null : await quorumOf(run);
  const reads =
    quorum === null ? [] : await inParallel(REREADS_AT_ONCE, byHeight, (facts) => reread(run, facts, quorum));
  const confirmed = reads.flatMap(({ confirmed: facts }) => facts);
  const refuted = reads.flatMap(({ refuted: facts }) => facts);
  if (confirmed.length > 0) {
    waker.wake(
      await store.mature(
        ledger,
        confirmed.map(({ txid, outputIndex, blockHash, height }) => ({
          txid,
          outputIndex,
          blockHash,
          confirmations: confirmationsOf(headHeight, height),
        })),
      ),
    );
    parts.metrics.add('svc_facts_matured_total', { chain: network.slug }, confirmed.length);
  }
  if (refuted.length > 0) {
    const keys = refuted.map(({ txid, outputIndex, blockHash }) => ({ txid, outputIndex, blockHash }));
    waker.wake(await store.refute(ledger, keys));
    parts.metrics.add('svc_facts_refuted_total', { chain: network.slug }, refuted.length);
    const txids = refuted.map(({ txid }) => txid).slice(0, TXIDS_LOGGED_MAX);
    parts.log.warn({ ledger, txids }, 'transactions failed after they were seen to succeed');
  }
  const settled = confirmed.length + refuted.length;
  if (memory.matureAfter === 0 && page.length < FACTS_PER_TICK) forgetSettled(run, due);
  stepOver(run, page.length, settled);
  noteWaiting(run, due.length - settled);
  const reason = reads.find((read) => read.reason !== null)?.reason ?? null;
  for (const { corrected } of reads) {
    if (corrected === null) continue;
    await recordAgain(run, corrected);
    memory.contradicted.delete(corrected.hash);
  }
  return { matured: confirmed.length, refuted: refuted.length, reason };
}

/**
 * What waits of a full page is stepped over by the next look, so that facts which can never mature do not hold up those
 * behind them; after the last page the first comes again.
 */
function stepOver({ memory }: Run, found: number, settled: number): void {
  const next = memory.matureAfter + found - settled;
  memory.matureAfter = found < FACTS_PER_TICK || next > STEPPED_OVER_MAX ? 0 : next;
}

/** Only a look at all facts shows which contradicted blocks are gone. */
function forgetSettled({ memory }: Run, due: readonly SeenTransfer[]): void {
  const waiting = new Set(due.map(({ blockHash }) => blockHash));
  for (const hash of memory.contradicted.keys()) if (!waiting.has(hash)) memory.contradicted.delete(hash);
}

function noteWaiting({ parts, memory }: Run, waiting: number): void {
  const chain = parts.network.slug;
  parts.metrics.set('svc_facts_waiting', { chain }, waiting);
  const contradicted = [...memory.contradicted.values()].reduce((sum, { facts }) => sum + facts, 0);
  parts.metrics.set('svc_facts_contradicted', { chain }, contradicted);
}

interface Reread {
  confirmed: SeenTransfer[];
  refuted: SeenTransfer[];
  corrected: Agreement['corrected'];
  reason: string | null;
}

/** What the chain reports now about the facts of one block. */
async function reread(run: Run, facts: readonly SeenTransfer[], quorum: Quorum): Promise<Reread> {
  const {
    parts: { client, elapsedMs },
    memory,
  } = run;
  const result: Reread = { confirmed: [], refuted: [], corrected: null, reason: null };
  const { height, blockHash } = facts[0]!;
  const waits = (reason: string): Reread => ({ ...result, reason: `block ${height} ${reason}` });
  if (elapsedMs() < (memory.contradicted.get(blockHash)?.retryAtMs ?? 0))
    return waits('is reported otherwise by other endpoints');
  const succeeded: SeenTransfer[] = [];
  // No single one of several living endpoints refutes a fact: a reported failure is checked with two, like the content
  // of the block.
  const failed: SeenTransfer[] = [];
  try {
    if ((await client.getBlockHash(height)) !== blockHash) return waits('is not on the chain');
    const threshold = Math.max(...facts.map((fact) => fact.threshold));
    if (!(await quorum.confirms(height, blockHash, threshold))) return waits('is not confirmed by the other endpoints');
    for (const [txid, ofTransaction] of Map.groupBy(facts, (fact) => fact.txid)) {
      const outcome = await client.getOutcome(txid, { height, hash: blockHash });
      if (outcome === null || outcome.height !== height || outcome.hash !== blockHash) {
        result.reason ??= `block ${height} is not reported to hold ${txid}`;
      } else (outcome.success ? succeeded : failed).push(...ofTransaction);
    }
  } catch (error) {
    const reason = chainFailure(error);
    if (reason === null) throw error;
    result.reason = reason; // What was read before the failure counts.
  }
  // Two endpoints reported this block alike when it was recorded: it is the same block.
  const isProven = memory.agreed.has(blockHash) && failed.length === 0;
  const heard = isProven ? null : await askWitnesses(run, [...succeeded, ...failed]);
  const { confirmed, contradicted, corrected } = heard ?? { confirmed: succeeded, contradicted: [], corrected: null };
  if (heard?.alone === true) return { ...result, confirmed: succeeded, refuted: failed };
  noteContradiction(run, blockHash, contradicted.length);
  const silent = succeeded.length + failed.length - confirmed.length - contradicted.length;
  const reason =
    contradicted.length > 0
      ? 'is reported otherwise by other endpoints'
      : silent > 0
        ? 'is not reported by a second endpoint'
        : null;
  return {
    ...result,
    confirmed: [...confirmed],
    corrected,
    reason: reason === null ? result.reason : `block ${height} ${reason}`,
  };
}

/** Endpoints disagree about this block: retry with growing delays. */
function noteContradiction({ parts, memory }: Run, blockHash: string, facts: number): void {
  const tries = (memory.contradicted.get(blockHash)?.tries ?? 0) + 1;
  if (facts === 0) memory.contradicted.delete(blockHash);
  else memory.contradicted.set(blockHash, { facts, tries, retryAtMs: parts.elapsedMs() + retryAfterMs(tries) });
}
