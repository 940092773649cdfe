import test from 'ava';
import { CANNOT_TELL_MS } from '../../../chain-watchers/follow/movements.ts';
import { SILENT_MS } from '../../../chain-watchers/follow/quorum.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import {
  SimulatedChain,
  simulatedModule,
  simulatedNetwork,
  type SimulatedClient,
  type SimulatedPayment,
  type SimulatedRaw,
} from '../../support/simulated-chain.ts';
import type { Block, ChainModule, Network } from '../../../chains/chain.ts';
import { ACCOUNT, watching, type Watching } from '../../support/watching.ts';

const pay = (txid: string, partial: Partial<SimulatedPayment> = {}): SimulatedPayment => ({
  txid,
  outputIndex: 0,
  to: '@a',
  amount: 5n,
  ...partial,
});
const told = (self: Watching) =>
  self.store
    .inbox(ACCOUNT)
    .map(({ fact }) =>
      'deposit' in fact ? `${fact.kind} ${fact.deposit.txid} ${fact.deposit.amount}` : `${fact.kind} ${fact.txid}`,
    );
const asked = (client: SimulatedClient, what: RegExp) => client.calls.filter((call) => what.test(call)).length;

async function started(count: number) {
  const chain = new SimulatedChain(),
    client = chain.client(),
    witnesses = Array.from({ length: count }, () => chain.client());
  const self = watching({ client, witnesses });
  for (const name of ['@a', '@b']) self.issue(name);
  await self.watcher.tick();
  const rounds = async (ticks: number, stepMs = 1_001) => {
    for (let round = 0; round < ticks; round += 1) {
      self.nowMs += stepMs;
      await self.watcher.tick();
    }
  };
  return { chain, client, witnesses, self, rounds };
}

/** How one endpoint may report a payment falsely; null leaves it out. */
const LIES: Readonly<Record<string, (payment: SimulatedPayment) => SimulatedPayment | null>> = {
  'another amount': (payment) => ({ ...payment, amount: 500n }),
  'another payee': (payment) => ({ ...payment, to: payment.to === '@a' ? '@b' : '@a' }),
  'another token': (payment) => ({ ...payment, tokenContract: '@token' }),
  'another sender': (payment) => ({ ...payment, from: ['@tank'] }),
  'a threshold of its own': (payment) => ({ ...payment, threshold: 101 }),
  'another transaction': (payment) => ({ ...payment, txid: `not-${payment.txid}` }),
  nothing: () => null,
};

for (const [what, lie] of Object.entries(LIES)) {
  for (const liar of [0, 1]) {
    test(`found F73: endpoint ${liar + 1} of two reports ${what}: nothing is announced before both agree, and then once`, async (t) => {
      const { chain, witnesses, self, rounds } = await started(2);
      const altered = (payment: SimulatedPayment) => (payment.txid === 'tx' ? lie(payment) : payment);
      Object.assign(witnesses[liar]!, {
        alters: (payment: SimulatedPayment) => altered(payment) ?? { ...payment, amount: 0n },
      });
      chain.mine([pay('tx', { from: ['@payer'] })]);
      chain.mine([pay('next')]);
      await rounds(12);
      t.deepEqual(told(self), ['seen next 5'], 'later blocks go on');
      t.is((await self.store.coverage('eth')).unresolved.length, 1);
      t.is(self.recorder.lines.filter(({ level }) => level === 'error').length, 1, 'the operator is told once');
      t.like(self.recorder.lines.find(({ level }) => level === 'error')!.fields, { height: 1, endpoints: [1, 2] });
      witnesses[liar]!.alters = null;
      chain.mineEmpty(simulatedNetwork.threshold);
      await rounds(12, 61_000);
      t.deepEqual(told(self).sort(), ['matured next 5', 'matured tx 5', 'seen next 5', 'seen tx 5']);
    });
  }

  test(`found F73: of three endpoints one reports ${what}: the other two announce the truth, and it is named`, async (t) => {
    const { chain, witnesses, self, rounds } = await started(3);
    Object.assign(witnesses[1]!, { alters: (payment: SimulatedPayment) => lie(payment) ?? { ...payment, amount: 0n } });
    for (let height = 1; height <= 3; height += 1) chain.mine([pay(`tx${height}`, { from: ['@payer'] })]);
    chain.mineEmpty(simulatedNetwork.threshold);
    await rounds(3);
    t.deepEqual(told(self), [1, 2, 3].map((n) => `seen tx${n} 5`).concat([1, 2, 3].map((n) => `matured tx${n} 5`)));
    const named = self.recorder.lines
      .filter(({ level }) => level === 'error')
      .map(({ fields }) => (fields as { endpoints: number[] }).endpoints);
    t.true(
      named.length > 0 && named.every((endpoints) => endpoints.includes(2) || endpoints.length === 1),
      JSON.stringify(named),
    );
  });
}

test('found F73: a payment that only one of two reports is never announced', async (t) => {
  const { chain, witnesses, self, rounds } = await started(2);
  witnesses[1]!.alters = (payment) => ({ ...payment, to: '@a' });
  chain.mine([pay('strange', { to: '@elsewhere' })]);
  await rounds(12);
  t.deepEqual(told(self), []);
});

test('found F21: endpoints are compared by what moved: another key for the same movement is no contradiction', async (t) => {
  const { chain, witnesses, self, rounds } = await started(2);
  witnesses[1]!.alters = (payment) => ({ ...payment, outputIndex: payment.outputIndex - 5 });
  chain.mine([pay('tx', { outputIndex: -2 }), pay('twice', { outputIndex: -2 }), pay('twice', { outputIndex: -3 })]);
  await rounds(2);
  t.deepEqual(told(self).sort(), ['seen twice 5', 'seen twice 5', 'seen tx 5']);
  // The same value once instead of twice is one.
  const other = await started(2);
  other.witnesses[1]!.alters = (payment) => (payment.outputIndex === -3 ? { ...payment, amount: 0n } : payment);
  other.chain.mine([pay('twice', { outputIndex: -2 }), pay('twice', { outputIndex: -3 })]);
  await other.rounds(12);
  t.deepEqual(told(other.self), []);
});

test('found F73: a forged reorganisation of one of two endpoints reverses nothing, however high its head', async (t) => {
  const { chain, client, witnesses, self, rounds } = await started(2);
  chain.mine([pay('tx')]);
  chain.mineEmpty(simulatedNetwork.threshold);
  await rounds(2);
  const forged = chain.rollback(3),
    honest = forged.at(-1)!;
  chain.mineEmpty(8);
  for (const one of [client, witnesses[0]!]) one.frozenAt = honest;
  // The honest one rises too, on its own branch.
  await rounds(200);
  t.deepEqual(told(self), ['seen tx 5', 'matured tx 5']);
  t.is(self.recorder.counters.get('svc_reorgs_total'), undefined);
});

test('found F73: a withdrawal that one of two endpoints reports in a block, or failed there, is not believed', async (t) => {
  for (const [what, outcome] of Object.entries({
    failed: [{ txid: 'out', success: false, reason: null, fee: null }],
    absent: [],
  })) {
    const chain = new SimulatedChain(),
      liars = new WeakSet<Block<SimulatedRaw>>(),
      honest = chain.client(),
      liar = chain.client();
    const getBlock = liar.getBlock.bind(liar);
    liar.getBlock = async (height) => {
      const block = { ...(await getBlock(height)) };
      liars.add(block);
      return block;
    };
    const module = {
      ...simulatedModule,
      outcomesIn: (network: Network, block: Block<SimulatedRaw>, wanted: ReadonlySet<string>) =>
        liars.has(block) && block.raw.sent.length > 0 ? outcome : simulatedModule.outcomesIn(network, block, wanted),
    } as ChainModule;
    const self = watching({ client: honest, witnesses: [honest, liar], module });
    self.store.saveWithdrawal({
      id: 'txn_1',
      accountId: ACCOUNT,
      ledger: 'eth',
      from: '@a',
      status: 'broadcast',
      createdAtMs: 0,
      height: null,
      unsigned: { from: '@a', replayKey: { kind: 'nonce', value: 7 } },
      versions: [{ txid: 'out', signedPayload: '0x', payload: '0x' }],
    } as unknown as WithdrawalRow);
    await self.watcher.tick();
    chain.mempool.add('out');
    chain.mine([], { withMempool: true });
    for (let round = 0; round < 6; round += 1) await self.watcher.tick();
    t.deepEqual(
      (await self.store.coverage('eth')).unresolved.map(({ height }) => height),
      [1],
      what,
    );
  }
});

test('found F73: a movement to nobody that endpoints report differently is read again once its payee is issued', async (t) => {
  for (const liar of [0, 1]) {
    const { chain, witnesses, self, rounds } = await started(2);
    witnesses[liar]!.alters = (payment) => (payment.to === '@young' ? { ...payment, amount: 500n } : payment);
    chain.mine([pay('tx', { to: '@young' }), pay('beside')]);
    await rounds(2);
    t.deepEqual(told(self), ['seen beside 5'], 'it holds up nobody meanwhile');
    self.issue('@young');
    await rounds(4);
    t.deepEqual(told(self), ['seen beside 5']);
    t.is((await self.store.coverage('eth')).unresolved.length, 1);
    witnesses[liar]!.alters = null;
    await rounds(2, 61_000);
    t.deepEqual(told(self).sort(), ['seen beside 5', 'seen tx 5']);
    await rounds(3, 3_000);
    t.is(told(self).length, 2);
  }
});

test('found F73: an endpoint that has not reached a block is waited for without a failure', async (t) => {
  const { chain, witnesses, self } = await started(2);
  witnesses[1]!.lag = 2;
  chain.mineEmpty(2);
  chain.mine([pay('tx')]);
  for (let round = 0; round < 20; round += 1) t.like(await self.watcher.tick(), { failures: [] });
  t.deepEqual(told(self), []);
  t.is((await self.store.coverage('eth')).unresolved.length, 0, 'and its height is not given up');
  witnesses[1]!.lag = 0;
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen tx 5']);
});

test('V6 payments from inside contracts are the word of those that trace; where only another endpoint does, the block waits for it (C1-4)', async (t) => {
  const inner = pay('inner', { outputIndex: -2 });
  const { chain, witnesses, self, rounds } = await started(2);
  Object.assign(witnesses[1]!, {
    seesInternal: async () => false,
    alters: (payment: SimulatedPayment) => (payment.outputIndex < -1 ? { ...payment, amount: 0n } : payment),
  });
  chain.mine([inner, pay('plain')]);
  await rounds(2);
  t.deepEqual(told(self).sort(), ['seen inner 5', 'seen plain 5']);

  // Neither of the two that are alive traces; a third one did and is down.
  const blind = await started(2);
  for (const witness of blind.witnesses) {
    Object.assign(witness, {
      seesInternal: async () => false,
      alters: (payment: SimulatedPayment) => (payment.outputIndex < -1 ? { ...payment, amount: 0n } : payment),
    });
  }
  Object.assign(blind.client, { seesInternal: async () => true });
  blind.client.contentMissing.add(1);
  blind.chain.mine([inner]);
  await blind.rounds(6);
  t.deepEqual(told(blind.self), []);
  blind.client.contentMissing.clear();
  await blind.rounds(2, 61_000);
  t.deepEqual(told(blind.self), ['seen inner 5']);
});

test('found F74: one that fails on one height and serves the others is waited for there for ten minutes; worst wait', async (t) => {
  const { chain, witnesses, self, rounds } = await started(2);
  witnesses[1]!.contentMissing.add(1);
  chain.mine([pay('tx')]);
  const mineAnd = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 5_000) {
      if (passed % 25_000 === 0) chain.mine();
      await rounds(1, 5_000);
    }
  };
  await mineAnd(CANNOT_TELL_MS - 10_000);
  t.deepEqual(told(self), []);
  await mineAnd(130_000);
  t.deepEqual(told(self), ['seen tx 5', 'matured tx 5']);
});

test('found F74: one that proves no block at all is not waited for after 30 s, and counts again once it does', async (t) => {
  const { chain, witnesses, self, rounds } = await started(2);
  const getBlock = witnesses[1]!.getBlock.bind(witnesses[1]);
  witnesses[1]!.getBlock = async (height) => {
    witnesses[1]!.contentMissing.add(height);
    return getBlock(height);
  };
  chain.mine([pay('tx')]);
  await rounds(25);
  t.deepEqual(told(self), []);
  await rounds(10);
  chain.mine([pay('second')]);
  await rounds(62);
  t.deepEqual(
    told(self)
      .map((line) => line.split(' ')[1])
      .sort(),
    ['second', 'tx'],
    'by the other alone',
  );
  // Well again: its word counts, a lie of the other is found.
  witnesses[1]!.getBlock = getBlock;
  witnesses[1]!.contentMissing.clear();
  for (let height = 0; height < 3; height += 1) {
    chain.mine();
    await rounds(1, SILENT_MS);
  }
  witnesses[0]!.alters = (payment) => ({ ...payment, amount: 500n });
  chain.mine([pay('lie')]);
  await rounds(5);
  t.false(told(self).some((line) => line.includes('lie')));
});

test('found F74: an endpoint whose block was not proven because it went down counts at once when it is back', async (t) => {
  const { chain, witnesses, self, rounds } = await started(2);
  const getBlock = witnesses[1]!.getBlock.bind(witnesses[1]);
  witnesses[1]!.getBlock = async (height) => {
    witnesses[1]!.down = true;
    return getBlock(height);
  };
  chain.mine([pay('tx')]);
  await rounds(40);
  t.deepEqual(told(self), ['seen tx 5'], 'by the other alone');
  t.deepEqual(
    [0, 1].map((index) => self.watcher.conditionOf(index)),
    ['alive', 'silent'],
  );
  Object.assign(witnesses[1]!, { getBlock, down: false });
  witnesses[0]!.alters = (payment) => ({ ...payment, amount: 500n });
  chain.mine([pay('lie')]);
  await rounds(2, 6_000);
  t.deepEqual(
    [0, 1].map((index) => self.watcher.conditionOf(index)),
    ['alive', 'alive'],
  );
  t.false(
    told(self).some((line) => line.includes('lie')),
    'its word is needed again',
  );
});

test('found F74: while no block may be asked for, endpoints are looked at: the first that is back is not held up by one that stays away', async (t) => {
  const { chain, witnesses, self, rounds } = await started(2);
  for (const one of witnesses) one.down = true;
  for (let second = 0; second <= 40; second += 10) {
    self.nowMs += 10_000;
    await self.watcher.look();
  }
  t.deepEqual(
    [0, 1].map((index) => self.watcher.conditionOf(index)),
    ['silent', 'silent'],
  );
  witnesses[0]!.down = false;
  chain.mine([pay('tx')]);
  await rounds(1);
  t.deepEqual(told(self), ['seen tx 5']);
});

test('found F73: with one endpoint alive its word alone announces; with none nothing does', async (t) => {
  const { chain, witnesses, self, rounds } = await started(2);
  witnesses[1]!.down = true;
  chain.mine([pay('tx')]);
  await rounds(1);
  t.deepEqual(told(self), []);
  await rounds(1, SILENT_MS);
  t.deepEqual(told(self), ['seen tx 5']);
  witnesses[0]!.down = true;
  chain.mine([pay('second')]);
  await rounds(3, SILENT_MS);
  t.deepEqual(told(self), ['seen tx 5']);
});

test('the price: a block is read by two endpoints, a third one only where they differ; a tick with new blocks asks each for its head', async (t) => {
  for (const count of [1, 2, 3]) {
    const { chain, client, witnesses, self } = count === 1 ? await started(0) : await started(count);
    chain.mineEmpty(12);
    for (const one of [client, ...witnesses]) one.calls = [];
    await self.watcher.tick();
    const reads = (what: RegExp) => [client, ...witnesses].reduce((sum, one) => sum + asked(one, what), 0);
    t.is(reads(/^block/), count === 1 ? 12 : 24, `${count} endpoints`);
    t.is(reads(/^head/), count === 1 ? 1 : 1 + count);
    for (const one of [client, ...witnesses]) one.calls = [];
    for (let quiet = 0; quiet < 10; quiet += 1) await self.watcher.tick();
    t.is(reads(/^block/), 0);
    t.true(reads(/^head/) <= 10 + count, 'nothing new: one head a tick, as ever');
  }
  const { chain, witnesses, self } = await started(3);
  witnesses[0]!.alters = (payment) => ({ ...payment, amount: 500n });
  chain.mine([pay('tx')]);
  for (const one of witnesses) one.calls = [];
  await self.watcher.tick();
  t.true(witnesses.reduce((sum, one) => sum + asked(one, /^block/), 0) <= 3);
});

test('found F74: one block that no endpoint proves does not make them count as unreadable, however often it is asked for again', async (t) => {
  const chain = new SimulatedChain(),
    witnesses = [chain.client(), chain.client()];
  const self = watching({ client: chain.client(), witnesses, settings: { start: 0 } });
  await self.watcher.tick();
  chain.mine();
  for (const one of witnesses) one.contentMissing.add(chain.tip.height);
  for (let round = 0; round < 4; round += 1) await self.watcher.tick();
  chain.mine();
  await self.watcher.tick();
  t.is((await self.store.cursor('eth'))!.height, chain.tip.height, 'the chain goes on');
  for (let minutes = 0; minutes < 20; minutes += 1) {
    self.nowMs += 60_000;
    await self.watcher.tick();
  }
  t.true(witnesses[0]!.calls.filter((call) => call === 'block 1').length > 5, 'it is asked for again');
  t.deepEqual(
    self.recorder.lines.filter(({ fields }) => 'condition' in fields),
    [],
  );
  chain.mine();
  await self.watcher.tick();
  t.is((await self.store.cursor('eth'))!.height, chain.tip.height);
});
