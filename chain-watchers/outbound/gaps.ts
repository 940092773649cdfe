/**
 * Senders whose signed transactions wait behind a counter value that nobody used: nothing of theirs lands until it is.
 * The next build takes it (`actors/outgoing/counters.ts`); here it is found, shown and said once.
 *
 *   the chain would take 11 next · ours wait under 30, 31    → a gap
 *   the chain would take 11 next · ours wait under 11, 12    → none: they wait for a block
 *   endpoints name different values, or none                 → nothing new is known
 */
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { Run } from '../memory.ts';
import { countsNow, orNull } from '../follow/quorum.ts';

/**
 * How long the lowest of a sender must wait before its chain is asked, and between two looks at a sender. Milliseconds.
 */
export const GAP_LOOK_MS = 60_000;
/** Senders that one tick asks about. */
const SENDERS_PER_TICK = 4;

export interface GapWatch {
  /** One look at senders that are due, of the open withdrawals. */
  look(open: readonly WithdrawalRow[]): Promise<void>;
}

interface Sender {
  readonly waiting: readonly WithdrawalRow[];
  readonly held: ReadonlySet<bigint>;
}

/** A watch over the senders of one ledger. */
export function createGapWatch(run: Run): GapWatch {
  const { parts } = run,
    lookedAtMs = new Map<string, number>(),
    gaps = new Map<string, bigint>();
  const become = (from: string, gap: bigint | null, { waiting }: Sender): void => {
    const before = gaps.get(from) ?? null,
      named = { ledger: parts.ledger, from };
    if (gap === null) gaps.delete(from);
    else gaps.set(from, gap);
    if (before === null && gap !== null) {
      parts.log.error(
        { ...named, counter: gap.toString(), waiting: waiting.map(({ id }) => id).slice(0, 20) },
        'signed withdrawals wait behind a counter value that nobody used: the next build from this address takes it',
      );
    }
    if (before !== null && gap === null)
      parts.log.info(named, 'no signed withdrawal of the address waits behind an unused counter value any more');
  };
  return {
    async look(open) {
      const senders = sendersIn(open),
        elapsedMs = parts.elapsedMs();
      for (const from of gaps.keys()) if (!senders.has(from)) become(from, null, { waiting: [], held: new Set() });
      for (const from of lookedAtMs.keys()) if (!senders.has(from)) lookedAtMs.delete(from);
      for (const [from, { waiting }] of senders) {
        if (lookedAtMs.has(from)) continue;
        const waitedMs = Math.max(0, parts.nowMs() - Math.min(...waiting.map(({ updatedAtMs }) => updatedAtMs)));
        lookedAtMs.set(from, elapsedMs - Math.min(GAP_LOOK_MS, waitedMs));
      }
      const due = [...senders].filter(([from]) => elapsedMs - lookedAtMs.get(from)! >= GAP_LOOK_MS);
      for (const [from, sender] of due.slice(0, SENDERS_PER_TICK)) {
        lookedAtMs.set(from, elapsedMs);
        const next = await nextOf(run, sender.waiting[0]!);
        if (next !== null) become(from, gapOf(sender, next), sender);
      }
      parts.metrics.set('svc_outbound_gaps', { chain: parts.network.slug }, gaps.size);
    },
  };
}

const valueOf = ({ unsigned: { replayKey } }: WithdrawalRow): bigint | null =>
  replayKey?.kind === 'nonce' || replayKey?.kind === 'sequence' ? BigInt(replayKey.value) : null;

/** Senders with something signed that is in no block. */
function sendersIn(open: readonly WithdrawalRow[]): Map<string, Sender> {
  const senders = new Map<string, { waiting: WithdrawalRow[]; held: Set<bigint> }>();
  for (const row of open) {
    const value = valueOf(row),
      one = senders.get(row.from) ?? { waiting: [], held: new Set() };
    if (value === null) continue;
    one.held.add(value);
    if (row.height === null) one.waiting.push(row);
    senders.set(row.from, one);
  }
  return new Map([...senders].filter(([, { waiting }]) => waiting.length > 0));
}

/** The lowest value from the chain's next on that nothing of ours has, where something signed waits above it. */
function gapOf({ waiting, held }: Sender, next: bigint): bigint | null {
  let gap = next;
  while (held.has(gap)) gap += 1n;
  return waiting.some((row) => valueOf(row)! > gap) ? gap : null;
}

/**
 * What the chain would take next of a sender, as all endpoints say it that are alive and answer; null where they do not
 * agree.
 */
async function nextOf(run: Run, { chain, unsigned }: WithdrawalRow): Promise<bigint | null> {
  const { parts } = run,
    { from, fromPath, to, amount, tokenContract, tag, kind } = unsigned;
  const token = tokenContract === null ? null : (parts.catalogue.get(tokenContract) ?? null);
  const clients =
    parts.witnesses.length === 0 ? [parts.client] : parts.witnesses.filter((_, index) => countsNow(run, index));
  const reported = await Promise.all(
    clients.map((client) =>
      orNull(
        client
          .fetchBuildInputs({ chain, from, fromPath, to, amount, token, tag, kind })
          .then((inputs) => parts.module.nextReplayValue(inputs)),
      ),
    ),
  );
  const values = new Set(reported.flatMap((value) => (value === null ? [] : [BigInt(value)])));
  return values.size === 1 ? [...values][0]! : null;
}
