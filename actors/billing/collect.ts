/**
 * Payments of statements by a provider. Console B17, B18. A look at one statement:
 *
 *   the row says `open` ──▶ what the provider has now ──▶ the account takes what was paid (`take_payment`)
 *      └─ it is about another sum than what is left (an administrator recorded a payment) ──▶ it is withdrawn first
 *   nothing left ──▶ closed
 *   else         ──▶ opened, for exactly what is left, and looked at again in hours, or when the provider rings
 *
 * What is open at the provider for a statement is never two things at once, and never more than was left when it was
 * opened. A look that ends anywhere is done again from the start; the provider makes nothing twice of it.
 */
import type { Accounts } from '../../model/ports/accounts.ts';
import { ProviderFault, type Collector, type Opened } from '../../model/ports/billing-provider.ts';
import type { BillingStore, CollectionRequest, Statement, StatementRef } from '../../model/ports/billing-store.ts';
import { DUE_MS } from '../../protocol/plans.ts';
import type { Logger } from 'pino';

const HOUR_MS = 3_600_000;
/** What is open is looked at without a ring too: rings get lost. */
const LOOK_MS = 6 * HOUR_MS;
/** After a provider that says no, or nothing. */
const AGAIN_MS = 10 * 60_000;
/** Statements that are looked at together: a provider bounds its callers. */
const AT_ONCE = 8;

export interface Collecting {
  readonly stores: {
    readonly billing: Pick<
      BillingStore,
      'statement' | 'requestsDue' | 'ringRequest' | 'writeRequest' | 'payer' | 'keepPayer'
    >;
  };
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly collector: Collector;
  readonly nowMs: () => number;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Where no provider is set nobody is asked: administrators record what came in. */
export interface MayCollect {
  readonly collector: Collector | null;
}

/** Every statement that is due. A provider that fails for one is asked for the others all the same. */
export async function collectionRound(
  { collector, ...parts }: Omit<Collecting, 'collector'> & MayCollect,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  if (collector === null) return;
  const of = { ...parts, collector },
    { billing } = of.stores;
  for (let found: StatementRef[] = []; !signal.aborted;) {
    found = await billing.requestsDue(of.nowMs(), AT_ONCE);
    const moved = await Promise.all(found.map((ref) => lookAt(of, ref)));
    // What does not move stays due; it is not asked about without an end.
    if (found.length < AT_ONCE || moved.includes(false)) break;
  }
}

/** One statement, now; false where its row did not move. A fault of the provider is no fault of the round. */
export async function lookAt(of: Collecting, ref: StatementRef): Promise<boolean> {
  const { stores, collector, nowMs, log } = of;
  const statement = await stores.billing.statement(ref.accountId, ref.statementId);
  if (statement?.request == null || statement.request.status === 'closed') return true;
  const before = statement.request,
    beganMs = nowMs();
  try {
    const now = await requestOf(of, ref, statement, before);
    const nextMs = nowMs() + (now.status === 'due' ? AGAIN_MS : LOOK_MS);
    const isWritten = await stores.billing.writeRequest(ref, before.round, now, nextMs, beganMs);
    if (!isWritten && now.reference !== null && now.reference !== before.reference) await undo(of, ref, now.reference);
    // Found there, with a payment: it is taken now.
    return isWritten && now.status === 'open' && now.page === null && before.status !== 'open'
      ? await lookAt(of, ref)
      : isWritten;
  } catch (error) {
    const facts = { err: error, kind: collector.name, accountId: ref.accountId, names: [ref.statementId] };
    if (error instanceof ProviderFault)
      log.warn(
        { ...facts, code: error.code },
        'the provider of payments was not asked for a statement; it is asked again',
      );
    else log.error(facts, 'a payment of a statement was not looked at; it is looked at again');
    return stores.billing.writeRequest(ref, before.round, before, nowMs() + AGAIN_MS, beganMs);
  }
}

/** Another node moved the row, or closed it, while this one opened something: nobody is to pay that. */
async function undo(of: Collecting, ref: StatementRef, reference: string): Promise<void> {
  const { stores, collector, log } = of;
  const now = (await stores.billing.statement(ref.accountId, ref.statementId))?.request;
  // Another node wrote the same down: it is that one's.
  if (now?.reference === reference) return;
  const ended = await collector.withdraw(reference);
  if (!ended.isOpen && ended.paidCents === '0') return;
  await take(of, ref, ended);
  log.error(
    {
      kind: collector.name,
      accountId: ref.accountId,
      names: [ref.statementId, reference],
      amount: ended.paidCents,
    },
    'a customer paid something that was being withdrawn, in cents: settle it with them',
  );
}

async function requestOf(
  of: Collecting,
  ref: StatementRef,
  statement: Statement,
  before: CollectionRequest,
): Promise<CollectionRequest> {
  const { collector } = of;
  if (before.reference !== null && before.provider === collector.name && before.status === 'open') {
    const opened = await collector.state(before.reference);
    const left = await take(of, ref, opened);
    if (opened.isOpen && left === remainingOf(opened)) return { ...before, page: opened.page };
    const ended = opened.isOpen ? await collector.withdraw(before.reference) : opened;
    if (opened.isOpen) await take(of, ref, ended);
    if (ended.isOpen) throw new ProviderFault(collector.name, 0, 'not_withdrawn');
    await reportExcess(of, ref, ended);
  }
  const { totalCents, paidCents } = (await of.stores.billing.statement(ref.accountId, ref.statementId))!;
  const leftCents = BigInt(totalCents) - BigInt(paidCents);
  const round = before.round + 1;
  if (leftCents < BigInt(collector.leastCents)) {
    // Too little to ask for, or nothing: what an earlier look opened and did not write down asks for more.
    const known = (await of.stores.billing.payer(ref.accountId, collector.name))?.reference ?? null;
    const begun = known === null ? null : await collector.begun({ payer: known, statementId: ref.statementId, round });
    const paid = begun === null ? null : await endedOf(of, begun);
    if (paid !== null) return { ...before, status: 'open', provider: collector.name, ...paid, round };
    return { ...before, status: leftCents <= 0n ? 'closed' : 'due' };
  }
  const payer = await payerOf(of, ref);
  if (payer === null) return { ...before, status: 'due' };
  const { number, lines, issuedAtMs } = statement,
    dueAtMs = issuedAtMs + DUE_MS;
  const asking = {
    statementId: ref.statementId,
    number,
    lines,
    paidCents,
    leftCents: String(leftCents),
    dueAtMs: dueAtMs > of.nowMs() ? dueAtMs : null,
    round,
    payer,
  };
  const opened = await collector.open(asking);
  const { reference, page } = opened;
  if (opened.isOpen && remainingOf(opened) === leftCents)
    return { ...before, status: 'open', provider: collector.name, reference, page, round };
  // A price of the provider's own, or what an earlier look opened for another sum: nobody is to pay it.
  const paid = await endedOf(of, opened);
  if (paid === null) throw new ProviderFault(collector.name, 0, 'another_sum');
  return { ...before, status: 'open', provider: collector.name, ...paid, round };
}

/** Withdraws what is not written down; what was paid of it is to be written down first, and then taken. */
async function endedOf(
  { collector }: Pick<Collecting, 'collector'>,
  opened: Opened,
): Promise<Pick<CollectionRequest, 'reference' | 'page'> | null> {
  const ended = opened.isOpen ? await collector.withdraw(opened.reference) : opened;
  if (ended.paidCents === '0' && !ended.isOpen) return null;
  if (ended.paidCents === '0') throw new ProviderFault(collector.name, 0, 'not_withdrawn');
  return { reference: ended.reference, page: null };
}

const remainingOf = ({ cents, paidCents }: Opened): bigint => BigInt(cents) - BigInt(paidCents);

/** What is left of the statement after what the provider took. */
async function take(
  { accounts, collector }: Collecting,
  { accountId, statementId }: StatementRef,
  { reference, paidCents }: Opened,
): Promise<bigint> {
  const command = { type: 'take_payment', statementId, provider: collector.name, reference, paidCents } as const;
  const answer = await accounts.ask(accountId, command);
  if (answer.ok !== true) throw new Error(`${accountId} did not take what was paid of ${statementId}`);
  return BigInt(answer.reply.left);
}

/** A payment by the provider and one by another way may cross: people settle that with the customer. */
async function reportExcess(
  { stores, collector, log }: Collecting,
  { accountId, statementId }: StatementRef,
  { reference, paidCents }: Opened,
): Promise<void> {
  const statement = await stores.billing.statement(accountId, statementId);
  const excess = BigInt(paidCents) - BigInt(statement?.request?.takenCents ?? paidCents);
  if (excess > 0n)
    log.error(
      { kind: collector.name, accountId, names: [statementId, reference], amount: String(excess) },
      'a customer paid more than was left of a statement, in cents: return it, or settle it with them',
    );
}

/** Named at the provider, once. */
async function payerOf(
  { stores: { billing }, collector }: Collecting,
  { accountId }: StatementRef,
): Promise<string | null> {
  const found = await billing.payer(accountId, collector.name);
  if (found === null) return null;
  if (found.reference !== null) return found.reference;
  const named = await collector.namePayer(accountId, { name: found.name, email: found.email });
  return billing.keepPayer(accountId, collector.name, named);
}
