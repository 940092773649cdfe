/** Withdrawals under any story: what must hold whatever comes in which order. */
import test from 'ava';
import fc from 'fast-check';
import { rowsOf } from '../../support/account.ts';
import { Sender } from '../../support/sender.ts';
import { ALL_ACTS, COMMAND_ACTS, tell, type Act, type Step } from '../../support/withdrawal-story.ts';

const story = (...acts: readonly Act[]) =>
  fc.array(
    fc.record({
      act: fc.constantFrom(...acts),
      which: fc.nat({ max: 30 }),
      count: fc.nat({ max: 12 }),
    }) as fc.Arbitrary<Step>,
    { maxLength: 40 },
  );

test('V39, V40 before any block no nonce is held twice and no more than the limit are open', (t) => {
  const steps = story(...COMMAND_ACTS);
  const purposes = fc.constantFrom<['deposit' | 'gas_tank', number]>(['deposit', 16], ['gas_tank', 16]);
  t.notThrows(() =>
    fc.assert(
      fc.property(purposes, steps, ([purpose, limit], acts) => {
        const sender = new Sender({}, purpose);
        for (const act of acts) {
          tell(sender, act);
          const flights = Object.values(sender.account.state.counters).flatMap(({ inFlight }) =>
            Object.entries(inFlight),
          );
          const signed = flights.filter(([, { stage }]) => stage !== 'built'),
            bound = flights.filter(([, { stage }]) => stage === 'built');
          const ids = new Set(flights.map(([, { id }]) => id));
          const isOwn = flights.every(([value, { id }]) => value === String(sender.nonceOf(id)));
          if (signed.length > limit || bound.length > 1 || ids.size !== flights.length || !isOwn) return false;
        }
        return true;
      }),
      { numRuns: 150 },
    ),
  );
});

const changed = (sender: Sender): number =>
  rowsOf(sender.account.rows, 'billable_change').reduce((sum, { change }) => sum + change, 0);

test('C10-74 under any story with blocks the events fold to the state, and what is signed is settled at most once', (t) => {
  const steps = story(...ALL_ACTS);
  t.notThrows(() =>
    fc.assert(
      fc.property(steps, (acts) => {
        const sender = new Sender({}, 'gas_tank');
        for (const act of acts) tell(sender, act);
        const billed = rowsOf(sender.account.rows, 'billable').map(({ withdrawalId }) => withdrawalId);
        const confirmed = sender.account
          .published()
          .filter(({ event }) => event === 'withdrawal_confirmed')
          .map(({ data }) => ({ id: data['transactionId'], txid: data['txid'] }));
        // Told again is only another version that a reorg put in the place of the one that was told.
        const toldTwice = confirmed.some(({ id, txid }, index) => {
          const before = confirmed.slice(0, index).findLast((one) => one.id === id);
          return before !== undefined && before.txid === txid;
        });
        return (
          !toldTwice &&
          JSON.stringify(sender.account.folded()) === JSON.stringify(sender.account.state) &&
          new Set(billed).size === billed.length &&
          billed.length + changed(sender) === sender.account.state.settled.count &&
          JSON.stringify([...new Set(confirmed.map(({ id }) => id))]) === JSON.stringify(billed)
        );
      }),
      { numRuns: 150 },
    ),
  );
});
