import test from 'ava';
import type { Network } from '../../../chains/chain.ts';
import { SimulatedChain, simulatedNetwork } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching, type Watching } from '../../support/watching.ts';

const pay = (txid: string, partial: { outputIndex?: number; threshold?: number } = {}) => ({
  txid,
  outputIndex: 0,
  to: '@a',
  amount: 5n,
  ...partial,
});
const told = (self: Watching) =>
  self.store.inbox(ACCOUNT).map(({ fact }) => `${fact.kind} ${'deposit' in fact ? fact.deposit.txid : fact.txid}`);

async function started(network: Network = simulatedNetwork) {
  const chain = new SimulatedChain();
  const client = chain.client();
  const self = watching({ client, network });
  self.issue('@a');
  await self.watcher.tick();
  return { chain, client, self };
}

test('G18 §3.6 a payment is seen at 1 and matures at its threshold, not one block before', async (t) => {
  const { chain, self } = await started();
  chain.mine([pay('tx')]);
  await self.watcher.tick();
  chain.mineEmpty(2);
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx']);
  chain.mine();
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx', 'matured tx']);
  const fact = self.store.inbox(ACCOUNT)[1]!.fact;
  t.true('deposit' in fact && fact.deposit.confirmations === 4);
});

test('G18 several thresholds crossed in one step tell each fact once, in order', async (t) => {
  const { chain, self } = await started({ ...simulatedNetwork, threshold: 1 });
  chain.mine([pay('tx')]);
  await self.watcher.tick();
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx', 'matured tx']);
});

test('B3 a coinbase matures at 101, its neighbours do not wait for it', async (t) => {
  const { chain, self } = await started();
  chain.mine([pay('reward', { threshold: 101 }), pay('plain')]);
  chain.mineEmpty(99);
  for (let round = 0; round < 3; round += 1) await self.watcher.tick();
  t.deepEqual(told(self), ['seen reward', 'seen plain', 'matured plain']);
  chain.mine();
  await self.watcher.tick();
  t.is(told(self).at(-1), 'matured reward');
});

test('G19 C2-22 a receipt that says success first and failure later is refuted before it is confirmed', async (t) => {
  const { chain, self } = await started();
  chain.mine([pay('flips'), pay('holds')]);
  await self.watcher.tick();
  chain.failTransaction('flips');
  chain.mineEmpty(3);
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen flips', 'seen holds', 'matured holds', 'orphaned flips']);
  t.is(self.recorder.counters.get('svc_facts_refuted_total'), 1);
});

test('G19 nothing matures on the word of an endpoint that holds another block there, or none', async (t) => {
  const { chain, client, self } = await started();
  chain.mine([pay('tx')]);
  chain.mineEmpty(2);
  await self.watcher.tick();
  chain.mine();
  client.lies.set(1, 'f'.repeat(64));
  t.regex((await self.watcher.tick()).failures[0]!.reason, /block 1 is not on the chain/);
  client.lies.clear();
  client.missing.add(1);
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx']);
  client.missing.clear();
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx', 'matured tx']);
});

test('G19 an outcome that the node tells of another block matures nothing', async (t) => {
  const { chain, client, self } = await started();
  const block = chain.mine([pay('tx')]);
  chain.mineEmpty(3);
  const outcomeOf = client.getOutcome.bind(client);
  for (const at of [
    { height: block.height, hash: 'e'.repeat(64) },
    { height: block.height + 1, hash: block.hash },
  ]) {
    client.getOutcome = async (txid) => ({ ...(await outcomeOf(txid))!, ...at });
    await self.watcher.tick();
    t.deepEqual(told(self), ['seen tx']);
  }
  client.getOutcome = outcomeOf;
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx', 'matured tx']);
});

test('B3 reliability 4.1-12 a coinbase needs the other endpoints as deep as itself, not as its neighbours', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client(),
    witnesses = [chain.client(), chain.client()];
  const self = watching({ client, witnesses });
  self.issue('@a');
  await self.watcher.tick();
  chain.mine([pay('reward', { threshold: 101 }), pay('plain')]);
  chain.mineEmpty(100);
  witnesses[1]!.lag = 1;
  for (let round = 0; round < 3; round += 1) await self.watcher.tick();
  t.false(told(self).includes('matured reward'), 'a hundred deep for one of two');
  witnesses[1]!.lag = 0;
  await self.watcher.tick();
  t.true(told(self).includes('matured reward') && told(self).includes('matured plain'));
});

test('G18 C2-18 a lagging endpoint counts from its own head: no confirmation before the threshold there', async (t) => {
  const { chain, client, self } = await started();
  chain.mine([pay('tx')]);
  await self.watcher.tick();
  chain.mineEmpty(3);
  client.lag = 1;
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx']);
  client.lag = 0;
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx', 'matured tx']);
});

test('chains.md 2: a gate of finality holds what is deep enough, and a stall of over 60 s falls back to depth', async (t) => {
  const { chain, client, self } = await started({ ...simulatedNetwork, gate: { kind: 'finalized', stallDepth: 10 } });
  client.finalizedDepth = 6;
  chain.mine([pay('tx')]);
  chain.mineEmpty(5);
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx'], '6 confirmations, not final');
  chain.mine();
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx', 'matured tx'], 'final');

  chain.mine([pay('second')]);
  client.finalizedDepth = null; // the tag stopped answering
  chain.mineEmpty(9);
  await self.watcher.tick();
  t.deepEqual(told(self).slice(2), ['seen second']);
  self.nowMs += 60_001;
  await self.watcher.tick();
  t.deepEqual(told(self).slice(2), ['seen second', 'matured second']);
});

test('C2-17 C2-18 a payment that is mined again after a double spend and a reorg is one fact', async (t) => {
  const { chain, self } = await started();
  chain.mine([pay('original')]);
  await self.watcher.tick();
  chain.fork(1, [[pay('replacement')], []]);
  await self.watcher.tick();
  chain.fork(2, [[], [pay('replacement')], []]);
  await self.watcher.tick();
  chain.mineEmpty(4);
  await self.watcher.tick();
  t.deepEqual(told(self), [
    'seen original',
    'seen replacement',
    'orphaned original',
    'moved replacement',
    'matured replacement',
  ]);
  t.deepEqual(
    self.store.facts('eth').map(({ status }) => status),
    ['orphaned', 'matured'],
  );
});

test('C1-11 a wake that fails loses nothing: the inbox keeps the facts, the failure is counted', async (t) => {
  const chain = new SimulatedChain();
  const self = watching({ client: chain.client(), onWake: () => Promise.reject(new Error('broker down')) });
  self.issue('@a');
  await self.watcher.tick();
  chain.mine([pay('tx')]);
  await self.watcher.tick();
  await self.watcher.settled();
  t.deepEqual(told(self), ['seen tx']);
  t.is(self.recorder.counters.get('svc_wake_failures_total'), 1);
});

test('a block never waits for an account, and an account rung during its wake is woken once more', async (t) => {
  const chain = new SimulatedChain();
  const release: (() => void)[] = [];
  const self = watching({ client: chain.client(), onWake: () => new Promise((resolve) => release.push(resolve)) });
  self.issue('@a');
  await self.watcher.tick();
  for (let round = 0; round < 5; round += 1) {
    chain.mine([pay(`tx${round}`)]);
    await self.watcher.tick();
  }
  t.is((await self.store.cursor('eth'))!.height, 5);
  t.is(self.wakes.length, 1);
  const settled = self.watcher.settled();
  release[0]!();
  await new Promise((resolve) => setImmediate(resolve));
  t.is(self.wakes.length, 2);
  release[1]!();
  await settled;
});

test('G19 a transaction that the node does not know any more says why it waits, and is counted until it is settled', async (t) => {
  const { chain, client, self } = await started();
  chain.mine([pay('gone'), pay('there')]);
  chain.mineEmpty(3);
  const outcomeOf = client.getOutcome.bind(client);
  client.getOutcome = async (txid) => (txid === 'gone' ? null : outcomeOf(txid));
  await self.watcher.tick();
  const report = await self.watcher.tick();
  t.deepEqual(report.failures, [{ job: 'mature', reason: 'block 1 is not reported to hold gone' }]);
  t.is(self.recorder.gauges.get('svc_facts_waiting'), 1);
  client.getOutcome = outcomeOf;
  t.deepEqual((await self.watcher.tick()).failures, []);
  t.is(self.recorder.gauges.get('svc_facts_waiting'), 0);
});

test('G19 a thousand facts that can never mature do not hold up those behind them, and are looked at again', async (t) => {
  const { chain, client, self } = await started();
  chain.mine(Array.from({ length: 1_000 }, (_, index) => pay(`stuck${index}`)));
  chain.mine([pay('behind')]);
  chain.mineEmpty(3);
  const outcomeOf = client.getOutcome.bind(client);
  let stuck = true;
  client.getOutcome = async (txid) => (stuck && txid.startsWith('stuck') ? null : outcomeOf(txid));
  for (let round = 0; round < 2; round += 1) await self.watcher.tick();
  t.true(told(self).includes('matured behind'));
  stuck = false;
  for (let round = 0; round < 2; round += 1) await self.watcher.tick();
  t.is(told(self).filter((line) => line.startsWith('matured stuck')).length, 1_000);
});

test("found: a head that one endpoint invents neither holds facts back nor opens a gate, and is nobody's confirmations", async (t) => {
  for (const [gate, depth] of [
    [{ kind: 'depth' }, 4],
    [{ kind: 'finalized', stallDepth: 80 }, 80],
  ] as const) {
    const chain = new SimulatedChain(),
      client = chain.client(),
      witnesses = [chain.client(), chain.client()];
    const self = watching({ client, witnesses, network: { ...simulatedNetwork, gate } });
    self.issue('@a');
    await self.watcher.tick();
    for (const one of [client, witnesses[0]!]) one.ahead = 5_000_000_000; // the one that the client asks
    chain.mine([pay('tx')]);
    // Nothing is called final: after a minute of that the depth decides.
    for (let second = 0; second < 100; second += 1) {
      self.nowMs += 1_000;
      await self.watcher.tick();
      const fact = self.store
        .inbox(ACCOUNT)
        .map((entry) => entry.fact)
        .find(({ kind }) => kind === 'matured');
      t.is(
        fact === undefined || !('deposit' in fact) ? null : fact.deposit.confirmations,
        chain.tip.height < depth ? null : depth,
        `${gate.kind} ${chain.tip.height}`,
      );
      chain.mine();
    }
  }
});
