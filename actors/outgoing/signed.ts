/**
 * From signed bytes to a node: the bytes are durable before the first submit (G25), and so is that it begins: a process
 * that dies between a submit and its answer leaves bytes that a node may have. What a node says falls in four classes
 * (G26). What it may have is submitted again, the same bytes, and is ended by no refusal, only by proof (G27); the one
 * refusal that ends a version answers its first submit while no other was begun, which every `begin_submit` sees by the
 * row that it changes.
 */
import { notFound, refuse } from '../../protocol/errors.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { rotationPending, suspended } from '../account/guards.ts';
import { inFlightLimit } from './settled-limit.ts';
import { mayLead } from '../edge-link/lease.ts';
import type { AccountEvent } from '../../model/account/capabilities.ts';
import { amountOf, announceWithdrawal, changedAtMs, clashOf, holdOfRow, notNewest, unbilled } from './row.ts';

/**
 * Signed versions of one withdrawal that may be kept. Choice: a repricing raises the fee by 10 %; 16 of them by 4.6.
 */
const VERSIONS_MAX = 16;

/**
 * Takes signed bytes once; the same bytes again change nothing.
 * Refuses: IDENTITY_ROTATION_PENDING, ACCOUNT_SUSPENDED, TIER_FEATURE_LOCKED, SIGNED_BATCH_REJECTED, LEASE_HELD,
 * LEASE_EPOCH_STALE, CONFLICT, EDGE_NO_LEADER, CHAIN_UNAVAILABLE.
 */
export function submitSigned({
  state,
  command,
  book,
  nowMs,
}: Deciding<'submit_signed'>): AccountDecision<'submit_signed'> {
  const { known, signed, sessionId, leaseEpoch } = command;
  const stored = known.versions.find(({ txid }) => txid === signed.txid);
  if (stored !== undefined && stored.signedPayload === signed.payload) return accept(known);
  const module = book.module(known.chain);
  const no = firstRefusal(
    rotationPending(state),
    suspended(state),
    mayLead(state, sessionId, leaseEpoch),
    notNewest(state, known),
    inFlightLimit(state, known, nowMs),
    clashOf(state, known),
    known.height === null ? null : refuse('CONFLICT', { reason: 'in_a_block', status: known.status }),
    known.versions.length < VERSIONS_MAX
      ? null
      : refuse('CONFLICT', { reason: 'too_many_versions', limit: VERSIONS_MAX }),
    module === null
      ? refuse('CHAIN_UNAVAILABLE', { chain: known.chain, permanent: true })
      : module.matchSigned(book.network(known.chain), known.unsigned, signed),
  );
  if (no !== null) return no;
  const atMs = changedAtMs(known, nowMs);
  const { boundAtMs: _, ...unsigned } = known.unsigned;
  const row: WithdrawalRow = {
    ...known,
    unsigned,
    amount: unsigned.amount,
    txid: signed.txid,
    status: known.status === 'built' ? 'signing' : known.status,
    updatedAtMs: atMs,
    versions: [
      ...known.versions,
      {
        txid: signed.txid,
        signedPayload: signed.payload,
        payload: unsigned.payload,
        amount: String(unsigned.amount),
        taken: false,
      },
    ],
  };
  return accept(
    row,
    [{ type: 'withdrawal_signed', id: row.id, atMs, txid: signed.txid, hold: holdOfRow(row), ...unbilled(row) }],
    [{ table: 'withdrawal', row }],
  );
}

/**
 * A submit that is about to be made, of a version that no node took yet. `sole` when it is the first of this version.
 * Refuses: NOT_FOUND (a txid that is no version of it), CONFLICT (an older row).
 */
export function beginSubmit({
  state,
  command: { known, txid },
  nowMs,
}: Deciding<'begin_submit'>): AccountDecision<'begin_submit'> {
  const begun = known.versions.find((version) => version.txid === txid);
  const no = firstRefusal(
    begun === undefined ? notFound('signed version', txid, { txid }) : null,
    notNewest(state, known),
  );
  if (no !== null) return no;
  const waits = known.status === 'signing' || (known.status === 'broadcast' && begun!.taken === false);
  if (!waits) return accept({ row: known, sole: false });
  const { row, event } = doubted(known, txid, nowMs);
  return accept({ row, sole: begun!.doubtful !== true }, [event], [{ table: 'withdrawal', row }]);
}

/** What a node said to signed bytes. Refuses: NOT_FOUND (a txid that is no version of it), CONFLICT (an older row). */
export function noteBroadcast(deciding: Deciding<'note_broadcast'>): AccountDecision<'note_broadcast'> {
  const {
    state,
    command: { known, txid, result },
    book,
    nowMs,
  } = deciding;
  const no = firstRefusal(
    known.versions.some((version) => version.txid === txid) ? null : notFound('signed version', txid, { txid }),
    notNewest(state, known),
  );
  if (no !== null) return no;
  const inBlock = known.height !== null;
  switch (result.kind) {
    case 'accepted':
    case 'already_known': {
      const isNew =
        known.status === 'broadcast' &&
        known.versions.some((version) => version.txid === txid && version.taken === false);
      if (known.status !== 'signing' && !isNew) return accept(known);
      const atMs = changedAtMs(known, nowMs);
      const versions = known.versions.map((version) => (version.txid === txid ? { ...version, taken: true } : version));
      const row: WithdrawalRow = { ...known, status: 'broadcast', versions, updatedAtMs: atMs };
      // A newer version at another fee is the same broadcast: announced once.
      const announced = isNew
        ? []
        : announceWithdrawal(
            state,
            'withdrawal_broadcast',
            // The version that a node has: a newer one may be signed or built by now.
            { ...row, txid, amount: amountOf(row, txid) },
            book.network(row.chain),
            1,
            nowMs,
          );
      return accept(
        row,
        [{ type: 'withdrawal_broadcast', id: row.id, atMs, txid }],
        [{ table: 'withdrawal', row }, ...announced],
      );
    }
    case 'rejected_final': {
      const mayBeOut = (isDoubtful(deciding) || wasTaken(deciding)) && deciding.command.sole !== true;
      return inBlock || mayBeOut ? accept(known) : dropVersion(deciding);
    }
    case 'unknown': {
      if (inBlock || isDoubtful(deciding)) return accept(known);
      const { row, event } = doubted(known, txid, nowMs);
      return accept(row, [event], [{ table: 'withdrawal', row }]);
    }
  }
}

function isDoubtful({ command: { known, txid } }: Deciding<'note_broadcast'>): boolean {
  return known.versions.some((version) => version.txid === txid && version.doubtful === true);
}

/** Also of a row from before it was kept, which shows its broadcast only. */
function wasTaken({ command: { known, txid } }: Deciding<'note_broadcast'>): boolean {
  return (
    known.status !== 'signing' && known.versions.some((version) => version.txid === txid && version.taken !== false)
  );
}

/** A version that a node may have, from now on. */
function doubted(known: WithdrawalRow, txid: string, nowMs: number): { row: WithdrawalRow; event: AccountEvent } {
  const atMs = changedAtMs(known, nowMs);
  const versions = known.versions.map((version) =>
    version.txid === txid ? { ...version, doubtful: true as const } : version,
  );
  return {
    row: { ...known, versions, updatedAtMs: atMs },
    event: { type: 'withdrawal_doubted', id: known.id, atMs, txid },
  };
}

/**
 * A version that no node will take. The withdrawal fails with its last one; an older one may still land, and is the
 * newest again. What was signed stays signed (G25): the refused one stays among those that are watched, before them,
 * and is submitted no more. So does the last one: its refusal is the nodes' word, and proves nothing.
 */
function dropVersion({
  state,
  command: { known, txid, result },
  book,
  nowMs,
}: Deciding<'note_broadcast'>): AccountDecision<'note_broadcast'> {
  const { code, details } = result.kind === 'rejected_final' ? result.refusal : refuse('CHAIN_REJECTED');
  const others = known.versions.filter((version) => version.txid !== txid),
    refused = known.versions.filter((version) => version.txid === txid);
  const atMs = changedAtMs(known, nowMs);
  const newest = others.findLast(({ refused }) => refused !== true);
  if (newest !== undefined) {
    const versions = [...refused.map((version) => ({ ...version, refused: true as const })), ...others];
    const row: WithdrawalRow = {
      ...known,
      versions,
      txid: newest.txid,
      amount: amountOf(known, newest.txid),
      updatedAtMs: atMs,
    };
    return accept(
      row,
      [{ type: 'withdrawal_version_dropped', id: row.id, atMs, txid }],
      [{ table: 'withdrawal', row }],
    );
  }
  const reason = typeof details.reason === 'string' ? details.reason : code;
  const versions = known.versions.map((version) =>
    version.txid === txid ? { ...version, watched: true as const } : version,
  );
  const row: WithdrawalRow = { ...known, versions, status: 'failed', failure: { code, reason }, updatedAtMs: atMs };
  const hold = holdOfRow(row);
  return accept(
    row,
    [{ type: 'withdrawal_failed', id: row.id, reason, hold: hold === null ? null : { ...hold, reusable: true } }],
    [
      { table: 'withdrawal', row },
      ...announceWithdrawal(state, 'withdrawal_failed', row, book.network(row.chain), 1, nowMs),
    ],
  );
}
