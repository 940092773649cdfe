/**
 * What the clock does: payments without money expire, and links are closed when their date comes. Beside it, so that it
 * holds up neither: shared links get an address of the present identity, and the addresses of a link that was reported
 * long enough are archived where they received, and rest where they did not. Asked again, it changes nothing.
 * payments S12, S14, S17, M11, 3.2.
 */
import type { Accounts } from '../../model/ports/accounts.ts';
import type { DueLink, PaymentStore } from '../../model/ports/payment-store.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import { newId } from '../../protocol/node/ids.ts';
import { ledgerOf, type AccountId } from '../../protocol/ids.ts';

/** Rows of one page; of payments and of what rested the others come with the next look. */
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
  readonly log: { warn(facts: object, text: string): void };
}

/**
 * Does `work` for the links of this node's accounts, in all pages: those of another node, or that do not go on, hide
 * none.
 */
async function each(
  { isMine, log }: Pick<RoundParts, 'isMine' | 'log'>,
  page: (behind: DueLink | null) => Promise<DueLink[]>,
  work: (link: DueLink) => Promise<void>,
): Promise<void> {
  for (let behind: DueLink | null = null; ;) {
    const found: DueLink[] = await page(behind);
    for (const link of found.filter(({ accountId }) => isMine(accountId))) {
      try {
        await work(link);
      } catch (error) {
        log.warn({ err: error, accountId: link.accountId, linkId: link.id }, 'a link could not go on');
      }
    }
    if (found.length < AT_ONCE) return;
    behind = found.at(-1)!;
  }
}

/** Answers how many payments expired and how many links were closed. A link that moved meanwhile is due again. */
export async function paymentRound(parts: RoundParts): Promise<{ expired: number; closed: number }> {
  const { payments, nowMs } = parts,
    atMs = nowMs();
  const expired = (await payments.expire(atMs, AT_ONCE)) + (await expireEnded(parts));
  let closed = 0;
  await each(
    parts,
    (behind) => payments.due(atMs, behind, AT_ONCE),
    async ({ accountId, id }) => {
      if (await closeDue(parts, accountId, id)) closed += 1;
    },
  );
  await payments.erase(nowMs() - ERASED_AFTER_MS, AT_ONCE);
  return { expired, closed };
}

/** Pages of one look: what was closed with more than those waits for the next look, and holds up nothing of others. */
const ENDED_PAGES = 10;
/** Links and accounts that may fail in one look, beside its pages. */
const ENDED_FAILURES = 200;

/** What is behind closed links and retired identities, page by page; what fails is passed over. P11, S17. */
async function expireEnded({ payments, log }: Pick<RoundParts, 'payments' | 'log'>): Promise<number> {
  const passed: string[] = [];
  let expired = 0;
  for (let page = 0; page < ENDED_PAGES && passed.length < ENDED_FAILURES;) {
    const ended = await payments.expireEnded(AT_ONCE, passed);
    if (ended === null) break;
    const { subject, trouble } = ended;
    if (trouble === null) page += 1;
    else {
      passed.push(subject);
      log.warn({ what: subject, reason: trouble }, 'payments of a closed link or a retired identity could not expire');
    }
    expired += ended.expired;
  }
  return expired;
}

/** Closes a link whose date has come, by its account. False where it is none, or is closed. */
export async function closeDue(
  { reads, accounts }: Pick<RoundParts, 'accounts'> & { readonly reads: Pick<ReadStore, 'paymentLink' | 'headOf'> },
  accountId: AccountId,
  id: string,
): Promise<boolean> {
  const known = await reads.paymentLink(accountId, id);
  if (known === null) return false;
  const head = await reads.headOf(ledgerOf(known.chain, accountId));
  const answer = await accounts.ask(accountId, { type: 'close_due_link', known, head });
  return answer.ok === true && answer.reply.closed;
}

/** Answers how many links were released. What an account refuses is asked again with the next look. */
export async function lentRound(parts: RoundParts): Promise<{ released: number }> {
  await relendShared(parts);
  await parts.payments.forgetResting(AT_ONCE);
  return { released: await releaseMonitored(parts) };
}

/** S17: a shared link whose identity was rotated gets an address of the new one. */
async function relendShared(parts: RoundParts): Promise<void> {
  const { payments, reads, accounts, nowMs } = parts;
  await each(
    parts,
    (behind) => payments.retired(behind, AT_ONCE),
    async ({ accountId, id }) => {
      const known = await reads.paymentLink(accountId, id);
      if (known !== null)
        await accounts.ask(accountId, { type: 'relend_link', known, addressId: newId('adr', nowMs()) });
    },
  );
}

/** Addresses of one link that one look archives; the others come with the next one. */
const ARCHIVED_AT_ONCE = 100;

/** M11. Answers how many links were released. */
async function releaseMonitored(parts: RoundParts): Promise<number> {
  const { payments, nowMs } = parts,
    atMs = nowMs();
  let released = 0;
  await each(
    parts,
    (behind) => payments.monitored(atMs, behind, AT_ONCE),
    async ({ accountId, id }) => {
      if (await archivePaid(parts, accountId, id, nowMs())) released += 1;
    },
  );
  return released;
}

/** The paid addresses of a link that was reported long enough are archived; with the last of them the others rest. */
export async function archivePaid(
  {
    payments,
    reads,
    accounts,
  }: Pick<RoundParts, 'accounts'> & {
    readonly payments: Pick<PaymentStore, 'release'>;
    readonly reads: Pick<ReadStore, 'paidAddresses'>;
  },
  accountId: AccountId,
  id: string,
  atMs: number,
): Promise<boolean> {
  for (const known of await reads.paidAddresses(accountId, id, ARCHIVED_AT_ONCE))
    await accounts.ask(accountId, {
      type: 'set_address_status',
      known,
      status: 'archived',
      alone: true,
      monitored: true,
    });
  return payments.release(accountId, id, atMs);
}
