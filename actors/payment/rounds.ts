/**
 * What the clock does: payments without money expire, links are closed when their date comes, and the addresses of a
 * link that was reported long enough are archived where they received, and rest where they did not. Asked again, it
 * changes nothing. payments S12, S14, M11, 3.2.
 */
import type { Accounts } from '../../model/ports/accounts.ts';
import type { PaymentStore } from '../../model/ports/payment-store.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import { newId } from '../../protocol/node/ids.ts';
import { ledgerOf, type AccountId } from '../../protocol/ids.ts';

/** Rows of one look; what is left comes with the next one. */
const AT_ONCE = 500;
/** How long the e-mail of a payer who never paid is kept. payments S23. */
const ERASED_AFTER_MS = 30 * 86_400_000;

export interface RoundParts {
  readonly payments: PaymentStore;
  readonly reads: Pick<ReadStore, 'paymentLink' | 'headOf' | 'paidAddresses'>;
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly nowMs: () => number;
  /** Each owner closes the links of its own accounts. */
  readonly isMine: (accountId: AccountId) => boolean;
}

/** Answers how many payments expired and how many links were closed. A link that moved meanwhile is due again. */
export async function paymentRound(parts: RoundParts): Promise<{ expired: number; closed: number; released: number }> {
  const { payments, reads, accounts, nowMs, isMine } = parts;
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
  await payments.erase(nowMs() - ERASED_AFTER_MS, AT_ONCE);
  await relendShared(parts);
  return { expired, closed, released: await releaseMonitored(parts) };
}

/** S17: a shared link whose identity was rotated gets an address of the new one. */
async function relendShared({ payments, reads, accounts, nowMs, isMine }: RoundParts): Promise<void> {
  for (const { accountId, id } of await payments.retired(AT_ONCE)) {
    if (!isMine(accountId)) continue;
    const known = await reads.paymentLink(accountId, id);
    if (known !== null) await accounts.ask(accountId, { type: 'relend_link', known, addressId: newId('adr', nowMs()) });
  }
}

/** Addresses of one link that one look archives; the others come with the next one. */
const ARCHIVED_AT_ONCE = 100;

/** M11. Answers how many links were released. */
async function releaseMonitored({ payments, reads, accounts, nowMs, isMine }: RoundParts): Promise<number> {
  let released = 0;
  for (const { accountId, id } of await payments.monitored(nowMs(), AT_ONCE)) {
    if (!isMine(accountId)) continue;
    for (const known of await reads.paidAddresses(accountId, id, ARCHIVED_AT_ONCE))
      await accounts.ask(accountId, {
        type: 'set_address_status',
        known,
        status: 'archived',
        alone: true,
        monitored: true,
      });
    if (await payments.release(accountId, id, nowMs())) released += 1;
  }
  return released;
}
