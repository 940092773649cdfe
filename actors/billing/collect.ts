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
  const { round } = statement.request;
  try {
    const now = await requestOf(of, ref, statement, statement.request);
    return await stores.billing.writeRequest(ref, round, now, nowMs() + (now.status === 'due' ? AGAIN_MS : LOOK_MS));
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    log.warn(
      { err: error, kind: collector.name, accountId: ref.accountId, names: [ref.statementId], code: error.code },
      'the provider of payments was not asked for a statement; it is asked again',
    );
    return stores.billing.writeRequest(ref, round, statement.request, nowMs() + AGAIN_MS);
  }
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
  if (leftCents <= 0n) return { ...before, status: 'closed' };
  const payer = await payerOf(of, ref);
  if (payer === null) return { ...before, status: 'due' };
  const round = before.round + 1;
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
  if (opened.cents !== asking.leftCents) {
    // A provider that computed a price of its own: nobody is to pay it.
    await collector.withdraw(opened.reference);
    throw new ProviderFault(collector.name, 0, 'another_sum');
  }
  const { reference, page } = opened;
  return { ...before, status: 'open', provider: collector.name, reference, page, round };
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
