import test from 'ava';
import { judgeMovement } from '../../../chain-watchers/testimony.ts';
import type { Token } from '../../../chains/chain.ts';
import { SimulatedChain, simulatedNetwork, type SimulatedClient, type SimulatedPayment } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching, type Watching } from '../../support/watching.ts';

const TRUE_AMOUNT = 5n;
const pay = (txid: string, partial: Partial<SimulatedPayment> = {}): SimulatedPayment =>
  ({ txid, outputIndex: 0, to: '@a', amount: TRUE_AMOUNT, ...partial });
const told = (self: Watching) => self.store.inbox(ACCOUNT).map(({ fact }) =>
  ('deposit' in fact ? `${fact.kind} ${fact.deposit.txid} ${fact.deposit.amount}` : fact.kind));
const token = (contract: string): Token => ({ chain: 'eth', contract, symbol: contract, decimals: 18 });
const blocksAsked = (client: SimulatedClient, height: number) => client.calls.filter((call) => call === `block ${height}`).length;

/** A watcher that reads from `client` alone, beside which `count` endpoints are asked. */
async function started(count: number) {
  const chain = new SimulatedChain(), client = chain.client(), witnesses = Array.from({ length: count }, () => chain.client());
  const self = watching({ client, witnesses, catalogue: new Map(['A', 'B'].map((name) => [name, token(name)])) });
  for (const name of ['@a', '@b']) self.issue(name);
  await self.watcher.tick();
  const mature = async (payments: readonly SimulatedPayment[]) => {
    chain.mine(payments);
    await self.watcher.tick();
    chain.mineEmpty(simulatedNetwork.threshold - 1);
    return self.watcher.tick();
  };
  return { chain, client, witnesses, self, mature };
}

test('reliability 4.1-12 two endpoints must tell the movement, and more than tell otherwise; whoever cannot know is not waited for', (t) => {
  t.is(judgeMovement('x', [], 2), 'waits');
  t.is(judgeMovement('x', ['x'], 2), 'waits');
  t.is(judgeMovement('x', ['x', 'x'], 2), 'confirmed');
  t.is(judgeMovement('x', ['x', 'y'], 2), 'contradicted');
  t.is(judgeMovement('x', ['x', 'y', 'x'], 3), 'confirmed');
  t.is(judgeMovement('x', ['x', 'y', 'y'], 3), 'refuted');
  t.is(judgeMovement('x', ['y', 'z'], 3), 'contradicted', 'two that differ prove nothing');
  t.is(judgeMovement('x', ['y', 'y', 'x', 'x'], 4), 'contradicted');
  t.is(judgeMovement('x', ['x', null], 2), 'confirmed', 'the only one that can know');
  t.is(judgeMovement('x', ['y', null], 2), 'contradicted');
  t.is(judgeMovement('x', [null, null], 2), 'confirmed');
});

const LIES: readonly (readonly [string, (payment: SimulatedPayment) => SimulatedPayment])[] = [
  ['amount', (payment) => ({ ...payment, amount: 500n })],
  ['payee', (payment) => ({ ...payment, to: '@b' })],
  ['token', (payment) => ({ ...payment, tokenContract: 'B' })],
  ['output', (payment) => ({ ...payment, outputIndex: 7 })],
];

for (const [what, lie] of LIES) {
  test(`reliability 4.1-12 G19 another ${what} under the true hash matures on no endpoint's word alone; the facts beside it go on`, async (t) => {
    const { chain, client, witnesses, self, mature } = await started(2);
    const lies = (payment: SimulatedPayment) => (payment.txid === 'altered' ? lie(payment) : payment);
    client.alters = lies;
    witnesses[0]!.alters = lies;
    const report = await mature([pay('altered', { tokenContract: 'A' }), pay('plain')]);
    t.regex(report.failures[0]!.reason, /block 1 is told otherwise by other endpoints/);
    t.deepEqual(told(self).filter((line) => line.startsWith('matured')), ['matured plain 5']);
    t.is(self.recorder.gauges.get('svc_facts_contradicted'), 1);
    t.is(self.recorder.gauges.get('svc_facts_waiting'), 1);
    t.is(self.recorder.lines.filter(({ level }) => level === 'error').length, 1);

    // The endpoint is well again: what it told is taken back, and the payment counts as it is.
    client.alters = null;
    witnesses[0]!.alters = null;
    const asked = blocksAsked(witnesses[1]!, 1);
    await self.watcher.tick();
    t.is(blocksAsked(witnesses[1]!, 1), asked, 'it is looked at again later');
    for (let round = 0; round < 3; round += 1) {
      self.nowMs += 1_001;
      chain.mine();
      await self.watcher.tick();
    }
    const standing = self.store.facts('eth').filter(({ status }) => status === 'matured').map(({ transfer }) => transfer);
    t.deepEqual(standing.map(({ txid, amount, address, tokenContract, outputIndex }) => [txid, amount, address, tokenContract, outputIndex]).sort(),
      [['altered', '5', '@a', 'A', 0], ['plain', '5', '@a', null, 0]]);
    t.is(told(self).filter((line) => line.startsWith('matured altered')).length, 1);
    t.is(told(self).filter((line) => line.startsWith('matured plain')).length, 1, 'what stood is not told again');
    t.is(self.recorder.counters.get('svc_reorgs_total'), undefined, 'no other block is touched');
    t.is(self.recorder.gauges.get('svc_facts_contradicted'), 0);
    t.is(self.recorder.gauges.get('svc_facts_waiting'), 0);
  });
}

test('reliability 4.1-12 of three endpoints one that lies neither credits nor holds up: what it told is recorded again by the others\' word', async (t) => {
  const { chain, client, witnesses, self, mature } = await started(3);
  const lie = (payment: SimulatedPayment) => ({ ...payment, amount: 500n });
  client.alters = lie;
  witnesses[1]!.alters = lie;
  await mature([pay('tx')]);
  chain.mine();
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx 500', 'orphaned tx 500', 'seen tx 5', 'matured tx 5']);

  client.alters = null; // the honest ones recorded it, and the liar contradicts them
  await mature([pay('second')]);
  t.deepEqual(told(self).slice(4), ['seen second 5', 'matured second 5']);
});

test('reliability 4.1-12 a payment that was made up is taken back', async (t) => {
  const { chain, client, self, mature } = await started(2);
  client.alters = (payment) => ({ ...payment, to: '@a' });
  await mature([pay('strange', { to: '@elsewhere' })]);
  chain.mine();
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen strange 5', 'orphaned strange 5']);
});

test('reliability 4.1-13 honest endpoints are read once per height each, and no more of them than two', async (t) => {
  const { client, witnesses, self, mature } = await started(3);
  t.like(await mature([pay('tx'), pay('other')]), { matured: 2, failures: [] });
  t.is(witnesses.reduce((sum, witness) => sum + blocksAsked(witness, 1), 0), 2);
  t.is(blocksAsked(client, 1), 1);
  t.deepEqual(self.recorder.lines.filter(({ level }) => level === 'error'), []);
});

test('reliability 4.1-13 G11 an endpoint that cannot tell is no contradiction: another is asked, or it is waited for until it is dead', async (t) => {
  const { chain, witnesses, self, mature } = await started(2);
  witnesses[0]!.contentMissing.add(1);
  t.regex((await mature([pay('tx')])).failures[0]!.reason, /block 1 is not told by a second endpoint/);
  t.is(self.recorder.gauges.get('svc_facts_contradicted'), 0);
  t.is(self.recorder.gauges.get('svc_facts_waiting'), 1);
  t.deepEqual(told(self), ['seen tx 5']);
  witnesses[0]!.down = true;
  self.nowMs += 30_001;
  chain.mine();
  t.like(await self.watcher.tick(), { matured: 1 });

  const three = await started(3);
  three.witnesses[0]!.contentMissing.add(1);
  three.witnesses[1]!.contentMissing.add(5);
  t.like(await three.mature([pay('tx')]), { matured: 1 }, 'the third one tells it');
});

test('an endpoint that serves no blocks, or knows no internal payments, is no witness of them; one endpoint is believed as before', async (t) => {
  const index = await started(2);
  Object.assign(index.witnesses[0]!, { servesBlocks: async () => false });
  t.like(await index.mature([pay('tx')]), { matured: 1 });
  t.is(blocksAsked(index.witnesses[0]!, 1), 0);

  const traces = await started(2);
  Object.assign(traces.witnesses[0]!, { seesInternal: async () => false });
  traces.witnesses[0]!.alters = (payment) => (payment.txid === 'tx' ? { ...payment, amount: 0n } : payment);
  t.like(await traces.mature([pay('inner', { outputIndex: -2 }), pay('tx')]), { matured: 1 }, 'the call\'s own value is known to all');
  traces.witnesses[0]!.alters = (payment) => ({ ...payment, amount: 0n });
  traces.chain.mine([pay('inside', { outputIndex: -3 })]);
  traces.chain.mineEmpty(3);
  await traces.self.watcher.tick();
  await traces.self.watcher.tick();
  t.true(told(traces.self).includes('matured inside 5'));

  const alone = await started(0);
  t.like(await alone.mature([pay('tx')]), { matured: 1 });
  t.is(blocksAsked(alone.client, 1), 1);
});
