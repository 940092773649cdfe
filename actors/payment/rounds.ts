/**
 * What the clock does: payments without money expire, links are closed when their date comes. Asked again, it changes
 * nothing. payments S12, 3.2.
 */
import type { Accounts } from '../../model/ports/accounts.ts';
import type { PaymentStore } from '../../model/ports/payment-store.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import { ledgerOf, type AccountId } from '../../protocol/ids.ts';

/** Rows of one look; what is left comes with the next one. */
const AT_ONCE = 500;

export interface RoundParts {
  readonly payments: PaymentStore;
  readonly reads: Pick<ReadStore, 'paymentLink' | 'headOf'>;
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly nowMs: () => number;
  /** Each owner closes the links of its own accounts. */
  readonly isMine: (accountId: AccountId) => boolean;
}

/** Answers how many payments expired and how many links were closed. A link that moved meanwhile is due again. */
export async function paymentRound({
  payments,
  reads,
  accounts,
  nowMs,
  isMine,
}: RoundParts): Promise<{ expired: number; closed: number }> {
  const expired = await payments.expire(nowMs(), AT_ONCE);
  let closed = 0;
  for (const { accountId, id } of await payments.due(nowMs(), AT_ONCE)) {
    if (!isMine(accountId)) continue;
    const known = await reads.paymentLink(accountId, id);
    if (known === null) continue;
    const head = await reads.headOf(ledgerOf(known.chain, accountId));
    const answer = await accounts.ask(accountId, { type: 'close_due_link', known, head });
    if (answer.ok === true && answer.reply.closed) closed += 1;
  }
  return { expired, closed };
}
