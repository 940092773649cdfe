import test from 'ava';
import { confirmedBy, isAlive, type Opinion } from '../../../chain-watchers/quorum.ts';
import { SimulatedChain } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching } from '../../support/watching.ts';

const holds = (confirmations: number): Opinion => ({ confirmations, holds: true });
const other = (confirmations: number): Opinion => ({ confirmations, holds: false });

test('reliability 4.1-12 with several endpoints none confirms alone, each counts from its own head (G18)', (t) => {
  t.false(confirmedBy([], 12));
  t.true(confirmedBy([holds(12)], 12), 'the only one alive');
  t.false(confirmedBy([holds(11)], 12));
  t.false(confirmedBy([holds(12), holds(11)], 12), 'the other one counts 11');
  t.true(confirmedBy([holds(12), holds(12)], 12));
  t.false(confirmedBy([holds(12), other(0)], 12), 'the other one is below or cannot tell');
  t.false(confirmedBy([holds(12), other(3)], 12), 'the other one holds another block');
  t.true(confirmedBy([holds(12), holds(15), other(3)], 12));
  t.false(confirmedBy([holds(12), holds(15), other(3), other(5)], 12));
});

test('G11 an endpoint is dead after silence or standing still below another for long, not after one failure', (t) => {
  const witness = { answeredAtMs: 100_000, roseAtMs: 100_000, highestHeight: 50 };
  t.true(isAlive(witness, 50, 130_000, 30_000));
  t.false(isAlive(witness, 50, 130_001, 30_000), 'it answered nothing');
  const stuck = { ...witness, answeredAtMs: 200_000 };
  t.true(isAlive(stuck, 50, 200_000, 30_000), 'the whole chain stands still');
  t.false(isAlive(stuck, 51, 200_000, 30_000));
  t.true(isAlive({ ...stuck, roseAtMs: 180_000 }, 51, 200_000, 30_000), 'it is catching up');
});

test('reliability 4.1-13 never confirmed on the word of one of several endpoints; a dead one is not waited for', async (t) => {
  const chain = new SimulatedChain();
  const [client, first, second] = [chain.client(), chain.client(), chain.client()];
  const self = watching({ client, witnesses: [first, second] });
  self.issue('@a');
  await self.watcher.tick();
  chain.mine([{ txid: 'tx', outputIndex: 0, to: '@a', amount: 5n }]);
  chain.mineEmpty(3);
  second.down = true;
  t.regex((await self.watcher.tick()).failures[0]!.reason, /not confirmed by the other endpoints/);
  second.down = false;
  second.lag = 1;
  t.like(await self.watcher.tick(), { matured: 0 });
  second.down = true;
  self.nowMs += 30_001;
  t.like(await self.watcher.tick(), { matured: 1 });
  t.deepEqual(self.store.inbox(ACCOUNT).map(({ fact }) => fact.kind), ['seen', 'matured']);
});
