import test from 'ava';
import { SILENT_MS } from '../../../chain-watchers/follow/quorum.ts';
import { judgeMovement } from '../../../chain-watchers/maturity/agreement.ts';
import type { Token } from '../../../chains/chain.ts';
import {
  SimulatedChain,
  simulatedNetwork,
  type SimulatedClient,
  type SimulatedPayment,
} from '../../support/simulated-chain.ts';
import { ACCOUNT, watching, type Watching } from '../../support/watching.ts';

const TRUE_AMOUNT = 5n;
const pay = (txid: string, partial: Partial<SimulatedPayment> = {}): SimulatedPayment => ({
  txid,
  outputIndex: 0,
  to: '@a',
  amount: TRUE_AMOUNT,
  ...partial,
});
const told = (self: Watching) =>
  self.store
    .inbox(ACCOUNT)
    .map(({ fact }) => ('deposit' in fact ? `${fact.kind} ${fact.deposit.txid} ${fact.deposit.amount}` : fact.kind));
const token = (contract: string): Token => ({ chain: 'eth', contract, symbol: contract, decimals: 18 });
const blocksAsked = (client: SimulatedClient, height: number) =>
  client.calls.filter((call) => call === `block ${height}`).length;

/** A watcher that records while only the first of `count` endpoints is alive, and matures when all are. */
async function started(count: number) {
  const chain = new SimulatedChain(),
    client = chain.client(),
    witnesses = Array.from({ length: count }, () => chain.client());
  const self = watching({ client, witnesses, catalogue: new Map(['A', 'B'].map((name) => [name, token(name)])) });
  for (const name of ['@a', '@b']) self.issue(name);
  await self.watcher.tick();
  const mature = async (payments: readonly SimulatedPayment[]) => {
    chain.mine(payments);
    for (const other of witnesses.slice(1)) other.down = true;
    for (let look = 0; look < 2; look += 1) {
      await self.watcher.tick();
      self.nowMs += SILENT_MS;
    }
    await self.watcher.tick();
    for (const other of witnesses.slice(1)) other.down = false;
    for (const witness of witnesses) witness.calls = [];
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
];

for (const [what, lie] of LIES) {
  test(`reliability 4.1-12 G19 another ${what} under the true hash matures on no endpoint's word alone; the facts beside it go on`, async (t) => {
    const { chain, client, witnesses, self, mature } = await started(2);
    const lies = (payment: SimulatedPayment) => (payment.txid === 'altered' ? lie(payment) : payment);
    client.alters = lies;
    witnesses[0]!.alters = lies;
    const report = await mature([pay('altered', { tokenContract: 'A' }), pay('plain')]);
    t.regex(report.failures[0]!.reason, /block 1 is reported otherwise by other endpoints/);
    t.deepEqual(
      told(self).filter((line) => line.startsWith('matured')),
      ['matured plain 5'],
    );
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
    const standing = self.store
      .facts('eth')
      .filter(({ status }) => status === 'matured')
      .map(({ transfer }) => transfer);
    t.deepEqual(
      standing
        .map(({ txid, amount, address, tokenContract, outputIndex }) => [
          txid,
          amount,
          address,
          tokenContract,
          outputIndex,
        ])
        .sort(),
      [
        ['altered', '5', '@a', 'A', 0],
        ['plain', '5', '@a', null, 0],
      ],
    );
    t.is(told(self).filter((line) => line.startsWith('matured altered')).length, 1);
    t.is(told(self).filter((line) => line.startsWith('matured plain')).length, 1, 'what stood is not told again');
    t.is(self.recorder.counters.get('svc_reorgs_total'), undefined, 'no other block is touched');
    t.is(self.recorder.gauges.get('svc_facts_contradicted'), 0);
    t.is(self.recorder.gauges.get('svc_facts_waiting'), 0);
  });
}

test("reliability 4.1-12 of three endpoints one that lies neither credits nor holds up: what it reported is recorded again by the others' word", async (t) => {
  const { chain, witnesses, self, mature } = await started(3);
  witnesses[0]!.alters = (payment) => ({ ...payment, amount: 500n });
  await mature([pay('tx')]);
  chain.mine();
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx 500', 'orphaned tx 500', 'seen tx 5', 'matured tx 5']);
});

test('reliability 4.1-12 a payment that was made up is taken back', async (t) => {
  const { chain, witnesses, self, mature } = await started(3);
  witnesses[0]!.alters = (payment) => ({ ...payment, to: '@a' });
  await mature([pay('strange', { to: '@elsewhere' })]);
  chain.mine();
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen strange 5', 'orphaned strange 5']);
});

test('found F73: of several living endpoints none takes a payment back alone by saying that its transaction failed', async (t) => {
  const { chain, client, witnesses, self, mature } = await started(2);
  const outcomeOf = client.getOutcome.bind(client);
  client.getOutcome = async (txid) => ({ ...(await outcomeOf(txid))!, success: false });
  t.like(await mature([pay('tx')]), { matured: 1, refuted: 0 }, 'two report the movement in the block');
  const other = await started(2);
  other.chain.mine([pay('flips')]);
  await other.self.watcher.tick();
  other.chain.failTransaction('flips');
  other.chain.mineEmpty(simulatedNetwork.threshold);
  await other.self.watcher.tick();
  t.deepEqual(told(other.self), ['seen flips 5', 'orphaned flips 5'], 'two say that it failed');
  t.is(witnesses.length + chain.tip.height, 6);
  t.true(self.recorder.counters.get('svc_facts_refuted_total') === undefined);
});

test('reliability 4.1-13 honest endpoints are read once per height each, and no more of them than two', async (t) => {
  const { client, witnesses, self, mature } = await started(3);
  t.like(await mature([pay('tx'), pay('other')]), { matured: 2, failures: [] });
  t.is(
    witnesses.reduce((sum, witness) => sum + blocksAsked(witness, 1), 0),
    2,
  );
  t.is(blocksAsked(client, 1), 0);
  t.deepEqual(
    self.recorder.lines.filter(({ level }) => level === 'error'),
    [],
  );
});

test('reliability 4.1-13 G11 an endpoint that cannot tell is no contradiction: another is asked, or it is waited for until it is dead', async (t) => {
  const { chain, witnesses, self, mature } = await started(2);
  witnesses[1]!.contentMissing.add(1);
  t.regex((await mature([pay('tx')])).failures[0]!.reason, /block 1 is not reported by a second endpoint/);
  t.is(self.recorder.gauges.get('svc_facts_contradicted'), 0);
  t.is(self.recorder.gauges.get('svc_facts_waiting'), 1);
  t.deepEqual(told(self), ['seen tx 5']);
  witnesses[1]!.down = true;
  chain.mine();
  t.like(await self.watcher.tick(), { matured: 0 });
  self.nowMs += SILENT_MS;
  t.like(await self.watcher.tick(), { matured: 1 });

  const three = await started(3);
  three.witnesses[1]!.contentMissing.add(1);
  t.like(await three.mature([pay('tx')]), { matured: 1 }, 'the third one tells it');
});

test('an endpoint that serves no blocks, or knows no internal payments, is no witness of them; one endpoint is believed as before', async (t) => {
  const index = await started(2);
  Object.assign(index.witnesses[1]!, { servesBlocks: async () => false });
  t.like(await index.mature([pay('tx')]), { matured: 1 });
  t.is(blocksAsked(index.witnesses[1]!, 1), 0);

  const traces = await started(2);
  Object.assign(traces.witnesses[1]!, { seesInternal: async () => false });
  traces.witnesses[1]!.alters = (payment) => (payment.outputIndex < -1 ? { ...payment, amount: 0n } : payment);
  t.like(await traces.mature([pay('inner', { outputIndex: -2 }), pay('tx')]), { matured: 2 });

  const alone = await started(0);
  alone.chain.mine([pay('tx')]);
  alone.chain.mineEmpty(simulatedNetwork.threshold);
  t.like(await alone.self.watcher.tick(), { matured: 1 });
  t.is(blocksAsked(alone.client, 1), 1);
});
