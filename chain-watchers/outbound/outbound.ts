/**
 * Withdrawals after their signature: the same bytes are submitted again and again until the chain proves what became of
 * them (G25, G26). Facts go to the inbox; the account decides what they mean.
 *
 *   signed, not in a block   fate included → `withdrawal_included` · pending → wait · unknown → submit the same bytes
 *                            fate dead for every version (G27, with the chain's proof) → `withdrawal_dead`
 *   refused by every node    as before, and submitted no more: looked for until it is included or dead
 *   in a block               deep enough, gate passed, re-read (G19) → `withdrawal_matured`
 *                            its block left our ledger → included elsewhere, or `withdrawal_orphaned` and submit again
 *
 * A repriced transaction has several versions that exclude each other: the newest is submitted, also while an older one
 * is in a pool (that is what it is for), the older ones are watched, and whichever lands counts. Whose word is
 * believed: fate.ts.
 */
import { isUntaken, isWatched, submitNewest } from '../../actors/outgoing/submit.ts';
import type { Fate, Network, Unsigned } from '../../chains/chain.ts';
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';
import type { BlockLink, Cursor } from '../../model/ports/watch-store.ts';
import type { Fact } from '../../model/rows/inbox.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { confirmationsOf, gatePassed } from '../maturity/confirmations.ts';
import { chainFailure } from '../../chains/failure.ts';
import { feePaid, inclusionOf, takenOf } from '../follow/content.ts';
import { fateOf, outcomeAt } from './fate.ts';
import { createGapWatch } from './gaps.ts';
import { countedHeight } from '../follow/head.ts';
import type { Run } from '../memory.ts';
import { finalityOf, quorumOf } from '../follow/quorum.ts';
import { inParallel } from '../follow/read-ahead.ts';

const WITHDRAWALS_AT_ONCE = 8;
/** Heights from which on their blocks are read in one question. */
const LINKS_AT_ONCE_MIN = 8;
/** The gateway submits first, at once; the tracker begins after the first pause. */
const LOOKS: Backoff = { firstMs: 2_000, mostMs: 300_000 };

export interface Outbound {
  /** One look at every open withdrawal that is due. Throws: ChainUnavailable when none could be looked at. */
  tick(cursor: Cursor): Promise<void>;
}

/** Where confirmed withdrawals are whose block was replaced, by id, and the block that their rows name. */
type Moves = Map<
  string,
  { readonly from: string; readonly txid: string; readonly height: number; readonly blockHash: string }
>;

/**
 * A confirmed withdrawal that moved is looked at in the block that holds it now: its fate is asked once for each move.
 */
function placedNow(row: WithdrawalRow, moved: Moves): WithdrawalRow {
  const at = moved.get(row.id);
  if (at === undefined || row.status !== 'confirmed' || row.blockHash !== at.from) return row;
  return { ...row, txid: at.txid, height: at.height, blockHash: at.blockHash };
}

interface Patience {
  tries: number;
  nextMs: number;
}

/** Pause after `tries` looks at a withdrawal, in milliseconds: 2 s, 4 s, 8 s … 5 min, or always the network's own. */
export function pauseAfterLooks(tries: number, { resubmitMs }: Pick<Network, 'resubmitMs'> = {}): number {
  return resubmitMs ?? backoffMs(tries, LOOKS);
}

/** What every node refused may wait for its proof for ever, and its blocks are read anyway: it is asked for seldom. */
const WATCHED_LOOKS: Backoff = { firstMs: LOOKS.firstMs, mostMs: 3_600_000 };

/** A tracker of the withdrawals of one ledger. */
export function createOutbound(run: Run): Outbound {
  const patience = new Map<string, Patience>(),
    round = new Set<string>(),
    moved: Moves = new Map(),
    gaps = createGapWatch(run);
  return {
    async tick(cursor) {
      const { parts, memory } = run;
      const open = memory.open.filter(({ versions }) => versions.length > 0).map((row) => placedNow(row, moved));
      if (memory.isFirstOpen) round.clear();
      for (const row of open) round.add(patienceKey(row)).add(row.id);
      // Only a full pass shows which are gone.
      if (memory.openAfter === null)
        for (const kept of [patience, moved]) for (const key of kept.keys()) if (!round.has(key)) kept.delete(key);
      const notInBlock = open.filter(({ height }) => height === null).length;
      parts.metrics.set('svc_outbound_open', { chain: parts.network.slug }, notInBlock);
      const linkAt = await linksOf(run, open);
      let reason: string | null = null;
      await inParallel(WITHDRAWALS_AT_ONCE, open, async (row) => {
        try {
          if (row.height === null) await carry(run, row, cursor, patience);
          else await follow(run, row, cursor, { linkAt, moved });
        } catch (error) {
          reason = chainFailure(error);
          if (reason === null) throw error;
        }
      });
      if (reason !== null) parts.log.warn({ ledger: parts.ledger, reason }, 'some withdrawals could not be looked at');
      // Of each account the oldest come first: behind them a lower value may be out of sight.
      if (memory.isFirstOpen) await gaps.look(open);
    },
  };
}

type LinkAt = (height: number) => Promise<BlockLink | undefined>;

/**
 * Our newest block at or below a height. Of many withdrawals in blocks those of the window are read at once: a
 * confirmed one is looked at in each tick until it is out of the window.
 */
async function linksOf({ parts: { store, ledger, network } }: Run, open: readonly WithdrawalRow[]): Promise<LinkAt> {
  const alone: LinkAt = async (height) => (await store.links(ledger, height + 1, 1))[0];
  const heights = new Set(open.flatMap(({ height }) => height ?? []));
  if (heights.size < LINKS_AT_ONCE_MIN) return alone;
  const links = await store.links(ledger, Math.max(...heights) + 1, network.reorgWindow + 1);
  const byHeight = new Map(links.map((link) => [link.height, link]));
  return async (height) => byHeight.get(height) ?? links.find((link) => link.height < height) ?? alone(height);
}

/** A new version is looked at like a new withdrawal: it does not wait out the pause of the one before. */
const patienceKey = ({ id, versions }: WithdrawalRow): string => `${id} ${versions.at(-1)?.txid ?? ''}`;

type Included = Extract<Fate, { kind: 'included' }>;

const versionOf = (row: WithdrawalRow, payload: string): Unsigned => ({ ...row.unsigned, payload });

/** A withdrawal that is in no block: what became of it, and the same bytes again where nobody knows. */
async function carry(run: Run, row: WithdrawalRow, cursor: Cursor, patience: Map<string, Patience>): Promise<void> {
  const { parts } = run;
  const elapsedMs = parts.elapsedMs(),
    agedMs = parts.nowMs() - row.updatedAtMs;
  // The first submit is the gateway's. A row that another node's clock dates into the future waits no longer than that.
  const waited = patience.get(patienceKey(row)) ?? {
    tries: 0,
    nextMs: elapsedMs + LOOKS.firstMs - Math.min(LOOKS.firstMs, Math.max(0, agedMs)),
  };
  const due = elapsedMs >= waited.nextMs;
  const tries = waited.tries + (due ? 1 : 0);
  patience.set(patienceKey(row), {
    tries,
    nextMs: !due
      ? waited.nextMs
      : elapsedMs + (isWatched(row) ? backoffMs(tries, WATCHED_LOOKS) : pauseAfterLooks(tries, parts.network)),
  });
  if (!due && (isWatched(row) || !parts.settings.asksAtEachTick)) return;
  const fates: Fate[] = [];
  for (const version of row.versions.toReversed()) {
    const fate = await fateOf(run, versionOf(row, version.payload), version.txid, cursor.height);
    if (fate.kind === 'included') return noteIncluded(run, row, fate, cursor);
    fates.push(fate);
  }
  if (!due) return;
  if (fates.every((fate) => fate.kind === 'dead')) {
    const proof = fates.map((fate) => (fate.kind === 'dead' ? fate.proof : '')).join(' · ');
    // The transaction is in no block, so the fact names none; reported twice it is the same fact.
    return note(run, row, {
      kind: 'withdrawal_dead',
      txid: row.versions.at(-1)!.txid,
      height: 0,
      blockHash: '',
      success: false,
      reason: proof,
      fee: null,
    });
  }
  const [newest] = fates;
  if (isWatched(row)) return;
  if (newest!.kind === 'dead' || (newest!.kind === 'pending' && !isUntaken(row))) return;
  await submit(run, row);
}

/** Facts of a block count only when our ledger recorded that block: the watcher may still be behind it. */
async function noteIncluded(run: Run, row: WithdrawalRow, fate: Included, cursor: Cursor): Promise<void> {
  const { store } = run.parts;
  if (!(await isRecorded(run, fate, cursor))) return;
  const { accountId, fact } = inclusionOf(run.parts.module, row, fate.outcome, fate);
  await store.noteWithdrawalFact(accountId, fact);
  run.waker.wake([accountId]);
}

async function isRecorded(
  { parts: { store, ledger } }: Run,
  { height, hash }: Included,
  cursor: Cursor,
): Promise<boolean> {
  if (height > cursor.height) return false;
  const [link] = await store.links(ledger, height + 1, 1);
  // A block below the kept links is older than the ledger's window and is taken as the chain reports it.
  return link === undefined || link.height !== height || link.hash === hash;
}

/** The newest version once more. G26: never a rebuild. */
async function submit(run: Run, row: WithdrawalRow): Promise<void> {
  const { parts } = run;
  const submitted = await submitNewest({ client: parts.client, accounts: parts.accounts, place: 'submit' }, row);
  if (submitted === null) return;
  const { txid, result, sole } = submitted,
    named = { withdrawalId: row.id, txid };
  parts.metrics.add('svc_resubmissions_total', { chain: parts.network.slug, result: result.kind });
  if (result.kind === 'unknown') {
    parts.log.warn({ ...named, reason: result.reason }, 'outcome of a submit is unknown; the same bytes go again');
  }
  // A refusal after an acceptance, or of what may be out, proves nothing: only the fate, with its proof, ends it (G27).
  if (result.kind === 'rejected_final' && !sole) {
    parts.log.warn({ ...named, code: result.refusal.code }, 'a submitted withdrawal is refused now; waiting for proof');
  }
}

/** A withdrawal that is in a block: matures, or lost its block. */
async function follow(
  run: Run,
  row: WithdrawalRow,
  cursor: Cursor,
  { linkAt, moved }: { linkAt: LinkAt; moved: Moves },
): Promise<void> {
  const { parts, memory } = run;
  const { height, blockHash, txid } = row;
  if (height === null || blockHash === null || txid === null || memory.head === null) return;
  const link = await linkAt(height);
  const replaced =
    height > cursor.height || (link !== undefined && (link.height !== height || link.hash !== blockHash));
  if (replaced) return refollow(run, row, cursor, { height, blockHash, txid, moved });
  if (row.status !== 'confirming') return;
  const headHeight = countedHeight(memory.head);
  if (confirmationsOf(headHeight, height) < parts.network.threshold) return;
  if (!gatePassed(parts.network, height, headHeight, finalityOf(run))) return;
  if ((await parts.client.getBlockHash(height)) !== blockHash) return;
  if (!(await (await quorumOf(run)).confirms(height, blockHash, parts.network.threshold))) return;
  const outcome = await outcomeAt(run, txid, { height, hash: blockHash });
  if (outcome === null) return;
  await note(run, row, {
    kind: 'withdrawal_matured',
    txid,
    height,
    blockHash,
    success: outcome.success,
    reason: outcome.reason,
    fee: feePaid(run.parts.module, row, outcome),
    ...takenOf(outcome),
  });
}

/**
 * Our ledger replaced the block of a withdrawal: it landed elsewhere (any version), or it is out and is submitted
 * again.
 */
async function refollow(
  run: Run,
  row: WithdrawalRow,
  cursor: Cursor,
  { moved, ...old }: { height: number; blockHash: string; txid: string; moved: Moves },
): Promise<void> {
  for (const version of row.versions.toReversed()) {
    const fate = await fateOf(run, versionOf(row, version.payload), version.txid, cursor.height);
    if (fate.kind !== 'included') continue;
    if (row.status !== 'confirmed') return noteIncluded(run, row, fate, cursor);
    // Another version in the place of the confirmed one, or a revert: what was confirmed left the chain.
    if (fate.outcome.txid !== old.txid || !fate.outcome.success) break;
    // One that only moved is confirmed all the same; its row names the new block.
    const from = moved.get(row.id)?.from ?? old.blockHash;
    if (!(await isRecorded(run, fate, cursor))) return;
    moved.set(row.id, { from, txid: old.txid, height: fate.height, blockHash: fate.hash });
    return noteIncluded(run, row, fate, cursor);
  }
  const reason = 'its block left the chain';
  await note(run, row, { kind: 'withdrawal_orphaned', ...old, success: false, reason, fee: null });
}

type WithdrawalFact = Exclude<Fact, { deposit: unknown }>;

async function note(run: Run, row: WithdrawalRow, fact: Omit<WithdrawalFact, 'withdrawalId'>): Promise<void> {
  await run.parts.store.noteWithdrawalFact(row.accountId, { ...fact, withdrawalId: row.id });
  run.waker.wake([row.accountId]);
}
