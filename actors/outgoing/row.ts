/** Shared facts of withdrawal rows: which row is the newest, what it holds, how its events read. */
import type { Network } from '../../chains/chain.ts';
import type { Clocked, RowWrite } from '../../model/account/capabilities.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { formatAmount } from '../../protocol/money.ts';
import type { EventName, OperationRole } from '../../protocol/slugs.ts';
import { holdOf } from './counters.ts';
import { eventIdAt, publish } from '../account/events-body.ts';
import type { Hold, OutgoingState } from '../../model/account/outgoing.ts';

/**
 * Refuses: CONFLICT for a row that is not the newest (it was read before another change) or that changes no more. The
 * actor keeps of each open withdrawal only the instant of its last change, which grows with every change.
 */
export function notNewest(state: Pick<OutgoingState, 'withdrawals'>, known: WithdrawalRow): Refusal | null {
  const newest = state.withdrawals[known.id];
  if (newest === undefined) return closed(known);
  return newest === known.updatedAtMs ? null : refuse('CONFLICT', { reason: 'changed_meanwhile' });
}

/**
 * The refusal of a withdrawal that changes no more, with what to do; `signed` says whether signed bytes of it were ever
 * here.
 */
export function closed({ id, status, versions }: Pick<WithdrawalRow, 'id' | 'status' | 'versions'>): Refusal {
  // A version that no node took is dropped; the withdrawal failed with it.
  const signed = versions.length > 0 || status === 'failed',
    ended = status === 'built' ? 'expired' : status;
  return refuse(
    'CONFLICT',
    {
      reason: 'closed',
      status: ended,
      signed,
      next: signed
        ? `read it: GET /v1/transactions/${id}`
        : 'build it again: POST /v1/transactions/unsigned, and broadcast the id of that answer',
    },
    signed
      ? `this withdrawal is ${ended} and changes no more`
      : `this build is ${ended}: it was never signed or sent, and can be no more; build it again`,
  );
}

/**
 * A build that was given up: nothing of it was signed, and nothing can be. A counter that is used by now is bound anew.
 */
export function isDead({ status, versions }: Pick<WithdrawalRow, 'status' | 'versions'>): boolean {
  return versions.length === 0 && (status === 'expired' || status === 'failed');
}

/** The instant of a change: now, and after the change before. */
export function changedAtMs(known: { updatedAtMs: number }, nowMs: number): number {
  return Math.max(nowMs, known.updatedAtMs + 1);
}

/** What the version of this txid pays, smallest unit; the row's own amount where versions of before did not keep it. */
export function amountOf({ versions, amount }: Pick<WithdrawalRow, 'versions' | 'amount'>, txid: string): bigint {
  const own = versions.find((version) => version.txid === txid)?.amount;
  return own === undefined ? amount : BigInt(own);
}

/**
 * Whether a row's counter value is only a proposal: of a sender with a counter nothing is held before the broadcast
 * binds it.
 */
export function isUnbound({ status, versions, unsigned: { replayKey, boundAtMs } }: WithdrawalRow): boolean {
  const isCounter = replayKey.kind === 'nonce' || replayKey.kind === 'sequence';
  return isCounter && status === 'built' && versions.length === 0 && boundAtMs === undefined;
}

/** Counter values, or coins, that the row's transaction holds. */
export function holdOfRow(row: WithdrawalRow): Hold | null {
  return isUnbound(row) ? null : usedBy(row);
}

/** What the row's transaction uses up when it lands. */
export function usedBy({ chain, from, unsigned }: WithdrawalRow): Hold | null {
  return holdOf(chain, from, unsigned.replayKey);
}

/** A value that the row holds and another withdrawal has. Refuses: CONFLICT. */
export function clashOf(state: Pick<OutgoingState, 'counters'>, row: WithdrawalRow): Refusal | null {
  const hold = usedBy(row);
  const clash = hold?.values.find((value) => {
    const flight = state.counters[hold.key]?.inFlight[value];
    return flight !== undefined && flight.id !== row.id;
  });
  return clash === undefined ? null : refuse('CONFLICT', { reason: 'inputs_in_flight', value: clash });
}

export type WithdrawalEventName = Extract<EventName, `withdrawal_${string}`>;

/**
 * Publication of a transition; `position` is the place of its event in the decision, from one. What is announced of a
 * block has matured there: it has the threshold's confirmations, at least.
 */
export function announceWithdrawal(
  state: Clocked,
  event: WithdrawalEventName,
  row: WithdrawalRow,
  { threshold }: Pick<Network, 'threshold'>,
  position: number,
  atMs: number,
): RowWrite[] {
  // A sweep is announced by its job alone (treasury S23).
  if (row.kind === 'sweep') return [];
  const {
    id,
    chain,
    txid,
    from,
    to,
    amount,
    decimals,
    tokenContract,
    tokenSymbol,
    userRef,
    tag,
    height,
    blockHash,
    fee,
    failure,
  } = row;
  const published = publish(state, {
    event,
    id: eventIdAt(state, position, event),
    confirmations: height === null ? 0 : threshold,
    threshold,
    atMs: atMs + state.aheadMs,
    orderKey: from,
    data: {
      transactionId: id,
      chain,
      txid,
      from,
      to,
      amount: String(amount),
      amountFormatted: formatAmount(amount, decimals),
      decimals,
      tokenContract,
      tokenSymbol,
      userRef,
      tag,
      chainTag: row.unsigned.tag,
      height,
      blockHash,
      fee: fee === null ? null : String(fee),
      failure,
    },
  });
  return [published];
}

/** What the transaction of each arrow of an operation, or of a bridge transfer, does. Treasury 5.3, H5. */
export const ROLE_OF = {
  FUNDING: 'fund',
  SIGNING: 'sweep',
  APPROVING: 'approve',
  BURNING: 'burn',
  MINTING: 'mint',
} as const satisfies Record<string, OperationRole>;

/** What its events say of a transaction that is never settled. */
export const unbilled = ({ kind }: Pick<WithdrawalRow, 'kind'>): { unbilled?: true } =>
  kind === 'sweep' ? { unbilled: true } : {};
