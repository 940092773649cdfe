/** Withdrawals under any story: what must hold whatever comes in which order. */
import test from 'ava';
import fc from 'fast-check';
import type { AccountCommand } from '../../../actors/account/messages.ts';
import type { BroadcastResult } from '../../../chains/chain.ts';
import { refuse } from '../../../protocol/errors.ts';
import { rowsOf } from '../../support/account.ts';
import { inputsOf } from '../../support/evm-inputs.ts';
import { Sender } from '../../support/sender.ts';

type Act = 'build' | 'submit' | 'begin' | 'accept' | 'reject' | 'unknown' | 'reprice' | 'abandon' | 'include' | 'mature' | 'orphan' | 'die';
interface Step { act: Act; which: number; count: number }
const FACTS = {
  include: 'withdrawal_included', mature: 'withdrawal_matured', orphan: 'withdrawal_orphaned', die: 'withdrawal_dead',
} as const;
const story = (...acts: Act[]) => fc.array(
  fc.record({ act: fc.constantFrom(...acts), which: fc.nat({ max: 30 }), count: fc.nat({ max: 12 }) }) as fc.Arbitrary<Step>, { maxLength: 40 });

/** One step of a story; what is refused changes nothing. */
function tell(sender: Sender, { act, which, count }: Step): void {
  const ids = [...sender.rows.keys()], row = sender.rows.get(ids[which % Math.max(1, ids.length)] ?? '');
  const tryTo = (command: AccountCommand) => { if (sender.account.decide(command).ok) sender.do(command); };
  if (act === 'build') return tryTo(sender.build(7 + count));
  if (row === undefined) return;
  if (act in FACTS) {
    if (row.txid !== null) sender.fact(row.id, FACTS[act as keyof typeof FACTS]);
    return;
  }
  const txid = row.txid ?? '';
  const note = (result: BroadcastResult) => tryTo({ type: 'note_broadcast', known: row, txid, result });
  switch (act) {
    case 'submit': return tryTo(sender.submit(row.id));
    case 'begin': return tryTo({ type: 'begin_submit', known: row, txid });
    case 'reprice': return tryTo({ type: 'reprice_withdrawal', known: row, inputs: inputsOf() });
    case 'abandon': return tryTo({ type: 'abandon_withdrawal', known: row });
    case 'accept': return note({ kind: 'accepted', txid });
    case 'reject': return note({ kind: 'rejected_final', refusal: refuse('CHAIN_REJECTED') });
    default: return note({ kind: 'unknown', reason: 'timeout' });
  }
}

test('V39, V40 before any block no nonce is held twice and no more than the limit are open', (t) => {
  const steps = story('build', 'submit', 'begin', 'accept', 'reject', 'unknown', 'reprice', 'abandon');
  const purposes = fc.constantFrom<['deposit' | 'gas_tank', number]>(['deposit', 16], ['gas_tank', 16]);
  t.notThrows(() => fc.assert(fc.property(purposes, steps, ([purpose, limit], acts) => {
    const sender = new Sender({}, purpose);
    for (const act of acts) {
      tell(sender, act);
      const open = Object.keys(sender.account.state.withdrawals);
      const nonces = open.map((id) => sender.nonceOf(id));
      const held = Object.values(sender.account.state.counters).flatMap(({ inFlight }) => Object.keys(inFlight));
      const built = open.filter((id) => sender.status(id) === 'built');
      if (open.length > limit || built.length > 1 || new Set(nonces).size !== open.length || held.length !== open.length) return false;
    }
    return true;
  }), { numRuns: 150 }));
});

test('C10-74 under any story with blocks the events fold to the state, and what is signed is settled at most once', (t) => {
  const steps = story(
    'build', 'submit', 'begin', 'accept', 'reject', 'unknown', 'reprice', 'abandon', 'include', 'mature', 'orphan', 'die',
  );
  t.notThrows(() => fc.assert(fc.property(steps, (acts) => {
    const sender = new Sender({}, 'gas_tank');
    for (const act of acts) tell(sender, act);
    const billed = rowsOf(sender.account.rows, 'billable').map(({ withdrawalId }) => withdrawalId);
    const confirmed = sender.account.published().filter(
      ({ event }) => event === 'withdrawal_confirmed',
    ).map(({ data }) => data.transactionId);
    return JSON.stringify(sender.account.folded()) === JSON.stringify(sender.account.state)
      && new Set(billed).size === billed.length && billed.length === sender.account.state.settled.count
      && JSON.stringify(confirmed) === JSON.stringify(billed);
  }), { numRuns: 150 }));
});
