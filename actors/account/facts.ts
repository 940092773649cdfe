/** Facts from the inbox, decided in the order in which they arose. */
import { accept, type AccountDecision, type Deciding } from './decision.ts';
import { DepositBook } from '../deposit/decide.ts';
import { turnOfDay } from '../address/peak.ts';
import { PaymentBook } from '../payment/book.ts';
import { WithdrawalBook } from '../outgoing/settlement.ts';
import type { AccountEvent } from '../../model/account/capabilities.ts';
import { NO_CHECKOUT } from '../../model/rows/payment.ts';

/**
 * Applies what waits; facts that were applied leave the inbox in the same statement. Refuses nothing: facts are facts.
 */
export function applyFacts({
  state,
  command,
  book,
  pay,
  nowMs: realMs,
}: Deciding<'apply_facts'>): AccountDecision<'apply_facts'> {
  const { inbox, depositIds } = command;
  const events: AccountEvent[] = [];
  const nowMs = realMs + state.aheadMs;
  const payments = new PaymentBook(
    state,
    turnOfDay(state, realMs),
    command.checkout ?? NO_CHECKOUT,
    pay,
    nowMs,
    events,
  );
  // Whatever a deposit means beside itself is a line here. House 2.2.
  const deposits = new DepositBook(state, command, nowMs, events, [payments]);
  const withdrawals = new WithdrawalBook(state, command.withdrawals, book, realMs, events);
  // A project was cut over after this was read: what pays its addresses waits for another reading.
  const stale = new Set(
    command.adoptions?.flatMap(({ addressId, cutovers }) => (cutovers === state.cutovers ? [] : [addressId])),
  );
  const taken: string[] = [];
  inbox.forEach(({ id, fact }, position) => {
    if ('deposit' in fact && stale.has(fact.deposit.addressId)) return;
    if ('deposit' in fact) deposits.apply(fact.kind, fact.deposit, depositIds[position]!);
    else if (!withdrawals.apply(fact)) return;
    taken.push(id);
  });
  const announced = [...deposits.announced, ...payments.announced, ...withdrawals.announced];
  const reply = { applied: taken.length, deferred: inbox.length - taken.length, events: announced };
  if (taken.length === 0) return accept(reply);
  return accept(reply, events, [
    ...deposits.rows,
    ...payments.rows,
    ...withdrawals.rows,
    { table: 'inbox_taken', ids: taken },
  ]);
}
