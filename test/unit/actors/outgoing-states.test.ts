/** Every state of an outgoing transaction × every fact. docs/outgoing.md */
import test from 'ava';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { movesForward } from '../../../persistence/memory/withdrawal-moves.ts';
import { refuse } from '../../../protocol/errors.ts';
import { inputsOf } from '../../support/evm-inputs.ts';
import { Sender } from '../../support/sender.ts';
import { ALL_ACTS, tell, type Act } from '../../support/withdrawal-story.ts';

/** How an account comes to a transaction in each state. */
const STATES = {
  proposed: (sender) => sender.built(),
  bound: (sender) => sender.bound(),
  expired: (sender) => sender.do({ type: 'abandon_withdrawal', known: sender.built() }),
  signed: (sender) => signed(sender),
  unknown: (sender) => sender.begun(signed(sender)),
  known: (sender) => sender.sent(),
  repriced: (sender) => repriced(sender),
  newer: (sender) => sender.do(sender.submit(repriced(sender))),
  in_block: (sender) => sender.fact(sender.sent().id, 'withdrawal_included'),
  confirmed: (sender) => confirmed(sender),
  orphaned: (sender) => sender.fact(confirmed(sender), 'withdrawal_orphaned'),
  refused: (sender) => sender.noted(signed(sender), { kind: 'rejected_final', refusal: refuse('CHAIN_REJECTED') }),
  dead: (sender) => sender.fact(sender.sent().id, 'withdrawal_dead'),
  reverted: (sender) => sender.fact(sender.sent().id, 'withdrawal_matured', { success: false, reason: 'reverted' }),
} as const satisfies Record<string, (sender: Sender) => unknown>;
type State = keyof typeof STATES;

function signed(sender: Sender): string {
  const { id } = sender.bound();
  sender.do(sender.submit(id));
  return id;
}
function repriced(sender: Sender): string {
  const { id } = sender.sent();
  sender.do({ type: 'reprice_withdrawal', known: sender.rows.get(id)!, inputs: inputsOf() });
  return id;
}
function confirmed(sender: Sender): string {
  const { id } = sender.sent();
  sender.fact(id, 'withdrawal_included');
  sender.fact(id, 'withdrawal_matured');
  return id;
}

/** The status after each fact; what is not named leaves the row as it is. */
const MOVES: Record<State, Partial<Record<Act, string>>> = {
  proposed: { bind: 'built', reprice: 'built', submit: 'signing', abandon: 'expired' },
  bound: { bind: 'built', reprice: 'built', submit: 'signing', abandon: 'expired' },
  expired: {},
  signed: { ...open('signing'), begin: 'signing', accept: 'broadcast', reject: 'failed' },
  unknown: { ...beyondDoubt('signing'), begin: 'signing', accept: 'broadcast' },
  known: open('broadcast'),
  repriced: { ...open('broadcast'), submit: 'broadcast' },
  newer: { ...open('broadcast'), begin: 'broadcast', accept: 'broadcast', reject: 'broadcast' },
  in_block: { mature: 'confirmed', orphan: 'broadcast' },
  confirmed: { orphan: 'broadcast' },
  orphaned: open('broadcast'),
  refused: { include: 'confirming', mature: 'confirmed', die: 'failed' },
  dead: { include: 'confirming', mature: 'confirmed' },
  reverted: { include: 'confirming', orphan: 'broadcast' },
};

function open(same: string): Partial<Record<Act, string>> {
  return { reprice: same, unknown: same, include: 'confirming', mature: 'confirmed', die: 'failed' };
}

/** A node may have it: that an answer says nothing is nothing new. */
function beyondDoubt(same: string): Partial<Record<Act, string>> {
  const { unknown: _, ...moves } = open(same);
  return moves;
}

for (const state of Object.keys(STATES) as State[]) {
  test(`house 5: ${state} × every fact: the status of the table, nothing that was signed is lost, a closed one has no say`, (t) => {
    for (const act of ALL_ACTS) {
      if (act === 'build') continue;
      const sender = new Sender();
      STATES[state](sender);
      const [before] = [...sender.rows.values()] as [WithdrawalRow],
        saidBefore = sender.told.length;
      tell(sender, { act, which: 0, count: 0 });
      const after = sender.rows.get(before.id)!,
        what = `${state} × ${act}`;
      const moved = MOVES[state][act];
      if (moved === undefined) t.deepEqual(after, before, what);
      else t.true(after.status === moved && after !== before, `${what}: ${after.status}`);
      t.true(movesForward(before, after), what);
      t.is(after.height === null, after.blockHash === null, what);
      t.true(after.txid === null || after.versions.some(({ txid }) => txid === after.txid), what);
      t.true(sender.told.length - saidBefore <= 1, what);
      // The same fact once more is no second event.
      const said = sender.told.length;
      tell(sender, { act, which: 0, count: 0 });
      t.is(sender.told.length, said, `${what} twice`);
    }
  });
}
