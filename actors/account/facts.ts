/** Facts from the inbox, decided in the order in which they arose. */
import { accept, type AccountDecision, type Deciding } from './decision.ts';
import { DepositBook } from '../deposit/decide.ts';
import { WithdrawalBook } from '../outgoing/settlement.ts';
import type { AccountEvent } from '../../model/account/capabilities.ts';

/**
 * Applies what waits; facts that were applied leave the inbox in the same statement. Refuses nothing: facts are facts.
 */
export function applyFacts({ state, command, book, nowMs }: Deciding<'apply_facts'>): AccountDecision<'apply_facts'> {
  const { inbox, depositIds } = command;
  const events: AccountEvent[] = [];
  const deposits = new DepositBook(state, command, nowMs, events);
  const withdrawals = new WithdrawalBook(state, command.withdrawals, book, nowMs, events);
  const taken: string[] = [];
  inbox.forEach(({ id, fact }, position) => {
    if ('deposit' in fact) deposits.apply(fact.kind, fact.deposit, depositIds[position]!);
    else if (!withdrawals.apply(fact)) return;
    taken.push(id);
  });
  const announced = [...deposits.announced, ...withdrawals.announced];
  const reply = { applied: taken.length, deferred: inbox.length - taken.length, events: announced };
  if (taken.length === 0) return accept(reply);
  return accept(reply, events, [...deposits.rows, ...withdrawals.rows, { table: 'inbox_taken', ids: taken }]);
}
