import test from 'ava';
import { Contradicted } from '../../../chain-watchers/follow/movements.ts';
import { createWatcher } from '../../../chain-watchers/watcher.ts';
import { SimulatedChain, simulatedNetwork } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching, type Watching } from '../../support/watching.ts';

const pay = (txid: string, to = '@a', amount = 5n) => ({ txid, outputIndex: 0, to, amount });
const told = (self: Watching) =>
  self.store.inbox(ACCOUNT).map(({ fact }) => `${fact.kind} ${'deposit' in fact ? fact.deposit.txid : fact.txid}`);

async function started(options: { witnesses?: number; secondReadMs?: number; contentTries?: number } = {}) {
  const chain = new SimulatedChain();
  const client = chain.client();
  const witnesses = Array.from({ length: options.witnesses ?? 0 }, () => chain.client());
  const self = watching({
    client,
    witnesses,
    settings: { secondReadMs: options.secondReadMs ?? 0, contentTries: options.contentTries ?? 3 },
  });
  self.issue('@a');
  await self.watcher.tick();
  return { chain, client, witnesses, self };
}

test('G15 C3-30 a replaced block is seen by its parent link alone: absent payments are orphaned, moved ones keep their fact', async (t) => {
  const { chain, self } = await started();
  chain.mineEmpty(3);
  chain.mine([pay('stays'), pay('goes')]);
  await self.watcher.tick();
  const before = self.store.facts('eth').find(({ transfer }) => transfer.txid === 'stays')!.transfer;
  chain.fork(1, [[], [pay('stays'), pay('new')]]);
  const report = await self.watcher.tick();
  t.is(report.reorgDepth, 1);
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen stays', 'seen goes', 'moved stays', 'seen new', 'orphaned goes']);
  t.not(
    before.blockHash,
    self.store.facts('eth').find(({ transfer }) => transfer.txid === 'stays')!.transfer.blockHash,
  );
});

test('G15 the new branch is read up to the old head first, so that a payment that moved up is moved, not reversed', async (t) => {
  const { chain, self } = await started();
  chain.mineEmpty(2);
  chain.mine([pay('moves')]);
  chain.mineEmpty(2);
  await self.watcher.tick();
  chain.fork(4, [[], [], [], [pay('moves')], []]);
  t.like(await self.watcher.tick(), { reorgDepth: 4 });
  t.deepEqual(told(self), ['seen moves', 'moved moves']);
  t.is(self.store.facts('eth')[0]!.transfer.height, 5);
});

test('reliability 4.1-15 -16: every depth from 1 to beyond the threshold orphans what is absent, matured or not', async (t) => {
  for (let depth = 1; depth <= simulatedNetwork.threshold + 5; depth += 1) {
    const { chain, self } = await started();
    chain.mineEmpty(1);
    chain.mine([pay('tx')]);
    chain.mineEmpty(depth - 1);
    await self.watcher.tick();
    const confirmed = depth >= simulatedNetwork.threshold;
    t.is(told(self).includes('matured tx'), confirmed, `depth ${depth}`);
    chain.fork(
      depth,
      Array.from({ length: depth + 1 }, () => []),
    );
    t.is((await self.watcher.tick()).reorgDepth, depth);
    t.deepEqual(told(self), ['seen tx', ...(confirmed ? ['matured tx'] : []), 'orphaned tx'], `depth ${depth}`);
    chain.mine([pay('tx')]);
    await self.watcher.tick();
    t.is(told(self).at(-1), 'seen tx', 'it comes back as the same fact');
    t.is(self.store.facts('eth').length, 1, 'C3-31: marked, never deleted');
  }
});

test('G10 one endpoint must say the same again after one block time before anything is replaced', async (t) => {
  const { chain, self } = await started({ secondReadMs: 12_000 });
  chain.mine([pay('tx')]);
  await self.watcher.tick();
  chain.fork(1, [[], []]);
  t.like(await self.watcher.tick(), { reorgDepth: 0 });
  self.nowMs += 11_999;
  t.like(await self.watcher.tick(), { reorgDepth: 0 });
  t.deepEqual(told(self), ['seen tx']);
  self.nowMs += 1;
  t.like(await self.watcher.tick(), { reorgDepth: 1 });
});

test('G10 a second endpoint that agrees decides at once; one that lags or holds ours does not', async (t) => {
  const { chain, witnesses, self } = await started({ witnesses: 2, secondReadMs: 12_000 });
  chain.mine([pay('tx')]);
  await self.watcher.tick();
  const ours = chain.tip;
  witnesses[1]!.frozenAt = ours;
  chain.fork(1, [[], []]);
  t.like(await self.watcher.tick(), { reorgDepth: 0 }, 'the other endpoint holds our block');
  witnesses[1]!.frozenAt = null;
  witnesses[1]!.lag = 2;
  t.like(await self.watcher.tick(), { reorgDepth: 0 }, 'the other endpoint is below it');
  witnesses[1]!.lag = 0;
  t.like(await self.watcher.tick(), { reorgDepth: 1 });
});

test('G10 reliability 4.1-13: an endpoint that lies about one hash changes nothing', async (t) => {
  const { chain, client, witnesses, self } = await started({ witnesses: 2 });
  chain.mine([pay('tx')]);
  await self.watcher.tick();
  client.lies.set(1, 'f'.repeat(64));
  witnesses[0]!.lies.set(1, 'f'.repeat(64));
  for (let round = 0; round < 5; round += 1) t.like(await self.watcher.tick(), { reorgDepth: 0 });
  t.deepEqual(told(self), ['seen tx']);
});

test('C3-31 a branch that cannot be read whole changes nothing; it is read on from where it ended', async (t) => {
  const { chain, client, self } = await started({ contentTries: 100 });
  chain.mine([pay('tx')]);
  chain.mineEmpty(4);
  await self.watcher.tick();
  const cursor = await self.store.cursor('eth');
  chain.fork(5, [[], [], [pay('tx')], [], [], []]);
  for (const unread of [client.missing, client.contentMissing]) {
    unread.add(4);
    for (let round = 0; round < 5; round += 1) t.like(await self.watcher.tick(), { reorgDepth: 0 });
    unread.clear();
  }
  t.deepEqual(await self.store.cursor('eth'), cursor);
  t.deepEqual(told(self), ['seen tx', 'matured tx']);
  client.calls = [];
  t.like(await self.watcher.tick(), { reorgDepth: 5 });
  t.false(client.calls.slice(0, client.calls.indexOf('block 4')).includes('block 2'), 'what was read is kept');
  t.deepEqual(told(self), ['seen tx', 'matured tx', 'moved tx']);
});

test('C3-31 a block of the new branch without content orphans nothing; when it is proven the payment is where it is', async (t) => {
  const { chain, client, self } = await started();
  chain.mine([pay('inside'), pay('gone')]);
  await self.watcher.tick();
  chain.fork(1, [[pay('inside')], []]);
  client.contentMissing.add(1);
  for (let round = 0; round < 4; round += 1) await self.watcher.tick();
  t.deepEqual(told(self), ['seen inside', 'seen gone']);
  t.is((await self.store.cursor('eth'))!.height, 2, 'the chain goes on meanwhile');
  client.contentMissing.clear();
  self.nowMs += 60_000;
  await self.watcher.tick();
  t.deepEqual(told(self).sort(), ['moved inside', 'orphaned gone', 'seen gone', 'seen inside']);
});

test('C1-12 a lower head on another branch is no rollback before it has stood for long, whoever agrees', async (t) => {
  const { chain, self } = await started({ witnesses: 2 });
  chain.mine([pay('tx')]);
  chain.mineEmpty(3);
  await self.watcher.tick();
  chain.fork(4, [[], []]);
  self.nowMs += 29_999;
  for (let round = 0; round < 3; round += 1) {
    t.like(await self.watcher.tick(), { reorgDepth: 0 });
    self.nowMs += 10_000;
  }
  t.deepEqual(told(self), ['seen tx', 'matured tx']);
  self.nowMs += 30_000;
  t.like(await self.watcher.tick(), { reorgDepth: 4 });
  t.deepEqual(told(self), ['seen tx', 'matured tx', 'orphaned tx']);
});

test('G7 a block that does not continue the new branch ends its reading: nothing of two branches is recorded as one', async (t) => {
  const { chain, client, self } = await started();
  chain.mineEmpty(2);
  await self.watcher.tick();
  chain.fork(2, [[pay('first')], [pay('second')], []]);
  const other = chain.rollback(3);
  chain.mine();
  const foreign = chain.mine([pay('foreign')]);
  chain.fork(
    2,
    other.map((block) => block.raw.payments),
  );
  const blockOf = client.getBlock.bind(client);
  let asked = 0;
  client.getBlock = async (height) => (height === foreign.height && (asked += 1) === 1 ? foreign : blockOf(height));
  for (let round = 0; round < 4; round += 1) await self.watcher.tick();
  t.true(asked > 1);
  t.deepEqual(told(self), ['seen first', 'seen second']);
  t.is((await self.store.cursor('eth'))!.hash, chain.tip.hash);
});

test('a branch that moves again while it is read is read anew', async (t) => {
  const { chain, client, self } = await started();
  chain.mineEmpty(5);
  await self.watcher.tick();
  chain.fork(5, [[], [], [pay('first')], [], [], []]);
  client.missing.add(5);
  await self.watcher.tick();
  client.missing.clear();
  chain.fork(5, [[], [pay('second')], [], [], []]);
  await self.watcher.tick();
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen second', 'matured second']);
  t.is((await self.store.cursor('eth'))!.hash, chain.tip.hash);
});

test('G17 C3-33 deeper than the window: the chain stops, says so, pages a person and never resumes by itself', async (t) => {
  const { chain, self } = await started();
  const window = simulatedNetwork.reorgWindow;
  for (let height = 1; height <= window + 8; height += 1) chain.mine(height === 5 ? [pay('old')] : []);
  await self.watcher.tick();
  chain.fork(
    window + 6,
    Array.from({ length: window + 10 }, () => []),
  );
  const report = await self.watcher.tick();
  t.regex(report.stopped!, /no common ancestor within 32/);
  t.is(self.recorder.gauges.get('svc_chain_stopped'), 1);
  t.is(self.recorder.lines.at(-1)!.level, 'error');
  const cursor = await self.store.cursor('eth');
  chain.mineEmpty(10);
  t.like(await self.watcher.tick(), { recorded: 0, stopped: report.stopped });
  self.restart();
  t.truthy((await self.watcher.tick()).stopped, 'a restart finds the same');
  t.deepEqual(await self.store.cursor('eth'), cursor);
  t.deepEqual(told(self), ['seen old', 'matured old'], 'nothing was reversed on the way');
  t.like(
    await self.watcher.rebuildAbove(2),
    { kind: 'reorg' },
    "by a person's order the branch is replaced, however deep",
  );
  t.deepEqual(told(self).at(-1), 'orphaned old');
  t.like(await self.watcher.tick(), { stopped: null });
});

test('C3-33 what is no rebuild is refused by its name, and changes nothing', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client();
  const self = watching({ client });
  const refusal = async (height: number) => {
    const rebuilt = await self.watcher.rebuildAbove(height);
    return rebuilt.kind === 'refused' ? rebuilt.refusal : rebuilt.kind;
  };
  t.is(await refusal(0), 'nothing_followed');
  chain.mineEmpty(3);
  await self.watcher.tick();
  chain.mineEmpty(60);
  await self.watcher.tick();
  t.is(await refusal(2), 'same_branch');
  t.like(await self.watcher.parting(), { nothing: 'same_branch', cursor: { height: 63 }, common: { height: 63 } });
  client.lag = 5;
  t.is(await refusal(2), 'head_is_behind');
  client.lag = 0;
  const stale = chain.tip;
  chain.fork(5, [[]]);
  client.frozenAt = chain.tip;
  chain.fork(1, [[], [], [], [], []]);
  t.is(await refusal(58), 'head_is_behind', 'a stale newest block of a node that lags is no branch');
  client.frozenAt = stale;
  t.is(await refusal(58), 'same_branch');
  client.frozenAt = null;
  const cursor = await self.store.cursor('eth');
  chain.fork(
    50,
    Array.from({ length: 55 }, () => []),
  );
  t.truthy((await self.watcher.tick()).stopped);
  t.like(await self.watcher.parting(), { nothing: null, common: { height: 13 } });
  t.is(await refusal(14), 'above_common');
  t.is(await refusal(12), 'below_common', 'a block that both hold keeps what was found in it');
  t.is(await refusal(2), 'below_common', 'the ledger began at height 3');
  client.wrongNetwork = true;
  await t.throwsAsync(self.watcher.rebuildAbove(13), { message: /another network/ });
  client.wrongNetwork = false;
  t.deepEqual(await self.store.cursor('eth'), cursor);
  t.is(await refusal(13), 'reorg');
  t.is((await self.store.cursor('eth'))!.hash, chain.tip.hash);
  const other = new SimulatedChain(7);
  other.mineEmpty(80);
  const elsewhere = createWatcher({ ...self.parts, client: other.client() });
  t.like(await elsewhere.rebuildAbove(13), { refusal: 'nothing_common' });
});

test('C3-33 nodes that resynchronise on another branch reverse nothing before they are as high as our newest block', async (t) => {
  const { chain, client, self } = await started();
  chain.mineEmpty(3);
  chain.mine([pay('paid')]);
  chain.mineEmpty(299);
  while ((await self.watcher.tick()).more);
  await self.watcher.tick();
  t.deepEqual(told(self), ['seen paid', 'matured paid']);
  const cursor = await self.store.cursor('eth');
  t.is(cursor!.height, 303);
  const ours = chain.tip;
  chain.fork(300, [[pay('theirs')], ...Array.from({ length: 199 }, () => [])]);
  t.like(await self.watcher.parting(), {
    nothing: 'head_is_behind',
    cursor: { height: 303 },
    headHeight: 203,
    common: { height: 3 },
  });
  t.like(await self.watcher.rebuildAbove(3), { kind: 'refused', refusal: 'head_is_behind' });
  chain.mineEmpty(99);
  t.like(await self.watcher.rebuildAbove(3), { refusal: 'head_is_behind' }, 'one block below ours is behind');
  t.deepEqual(await self.store.cursor('eth'), cursor);
  t.deepEqual(told(self), ['seen paid', 'matured paid']);
  chain.mine();
  client.frozenAt = ours;
  t.like(await self.watcher.rebuildAbove(3), { refusal: 'same_branch' }, 'the node caught up, and holds what is ours');
  client.frozenAt = null;
  t.like(await self.watcher.rebuildAbove(3), { kind: 'reorg', depth: 300, cursor: { height: 303 } });
  t.deepEqual(told(self).slice(2), ['seen theirs', 'orphaned paid']);
});

test('C3-33 nodes below every block that is kept are behind, and no other history', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client();
  chain.mineEmpty(40);
  const self = watching({ client });
  await self.watcher.tick();
  client.lag = 10;
  t.like(await self.watcher.rebuildAbove(30), { refusal: 'head_is_behind' });
});

test('C3-33 a rebuild loses to a watcher that followed the chain meanwhile', async (t) => {
  const chain = new SimulatedChain();
  let meanwhile: () => Promise<unknown> = async () => undefined;
  const self = watching({
    client: chain.client(),
    wrap: (store) => ({
      ...store,
      async recordReorg(...words) {
        await meanwhile();
        return store.recordReorg(...words);
      },
    }),
  });
  await self.watcher.tick();
  chain.mineEmpty(60);
  await self.watcher.tick();
  chain.fork(
    50,
    Array.from({ length: 55 }, () => []),
  );
  const other = createWatcher({ ...self.parts, store: self.store });
  meanwhile = async () => t.like(await other.rebuildAbove(10), { kind: 'reorg' });
  t.like(await self.watcher.rebuildAbove(10), { kind: 'lost_race' });
});

test('F21 C3-33 endpoints that contradict each other about a block are told apart from those that do not answer', async (t) => {
  const { chain, witnesses, self } = await started({ witnesses: 2 });
  chain.mineEmpty(60);
  await self.watcher.tick();
  const cursor = await self.store.cursor('eth');
  chain.fork(
    50,
    Array.from({ length: 55 }, () => [pay('new')]),
  );
  witnesses[1]!.alters = (payment) => ({ ...payment, amount: 50n });
  await self.watcher.look();
  await t.throwsAsync(self.watcher.rebuildAbove(10), { instanceOf: Contradicted, message: /contradict each other/ });
  t.deepEqual(await self.store.cursor('eth'), cursor);
});

test('G14 another network behind an endpoint is no deep reorg', async (t) => {
  const { chain, client, self } = await started();
  chain.mineEmpty(simulatedNetwork.reorgWindow + 8);
  await self.watcher.tick();
  chain.fork(
    simulatedNetwork.reorgWindow + 6,
    Array.from({ length: 50 }, () => []),
  );
  client.wrongNetwork = true;
  const report = await self.watcher.tick();
  t.is(report.stopped, null);
  t.is(report.failures[0]!.reason, 'another network');
});

test('a ledger younger than its window whose first block is replaced begins again at its start', async (t) => {
  const { chain, self } = await started();
  chain.mine([pay('tx')]);
  const young = watching({ client: chain.client(), settings: { start: 1 } });
  young.issue('@a');
  await young.watcher.tick();
  chain.fork(1, [[], []]);
  t.like(await young.watcher.tick(), { reorgDepth: 1 });
  t.deepEqual(
    young.store.facts('eth').map(({ status }) => status),
    ['orphaned'],
  );
  t.is((await self.watcher.tick()).failures.length, 0);
});

test('G14 another network behind an endpoint is no new beginning of a young ledger: nothing is reversed, nothing of it is taken', async (t) => {
  const { chain } = await started();
  chain.mine([pay('ours')]);
  const client = chain.client();
  const young = watching({ client, settings: { start: 1 } });
  young.issue('@a');
  await young.watcher.tick();
  chain.fork(1, [[pay('theirs')], []]);
  client.wrongNetwork = true;
  const report = await young.watcher.tick();
  t.is(report.failures[0]?.reason, 'another network');
  t.deepEqual(told(young), ['seen ours']);
});

test('G14 another network is found out at the first block of it, not after a second read', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client();
  chain.mineEmpty(3);
  const self = watching({ client, settings: { start: 1, secondReadMs: 12_000 } });
  for (let round = 0; round < 2; round += 1) await self.watcher.tick();
  chain.fork(2, [[], [], []]);
  client.wrongNetwork = true;
  t.is((await self.watcher.tick()).failures[0]?.reason, 'another network');
  client.lag = 1_000;
  t.is((await self.watcher.tick()).failures[0]?.reason, 'another network', 'nor when its head is far below');
});

test('G14 one of two endpoints that shows another network reverses nothing and stops nothing: it is left out, the other one is asked', async (t) => {
  for (const blocks of [3, simulatedNetwork.reorgWindow + 8]) {
    const ours = new SimulatedChain(),
      theirs = new SimulatedChain(1);
    for (const chain of [ours, theirs]) chain.mineEmpty(blocks);
    ours.mine([pay('ours')]);
    const own = ours.client(),
      foreign = theirs.client();
    let swapped = false,
      excluded = false;
    const client = new Proxy(own, {
      get(target, name) {
        // As the failover does: whoever is of another network is not asked once an identity check has found it out.
        if (name === 'checkIdentity')
          return async () => {
            excluded = true;
          };
        const from = swapped && !excluded ? foreign : target;
        const value = Reflect.get(from, name) as unknown;
        return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(from) : value;
      },
    });
    const self = watching({ client, settings: { start: 1, blocksPerTick: blocks + 8 } });
    self.issue('@a');
    await self.watcher.tick();
    await self.watcher.tick();
    theirs.mine([pay('theirs')]);
    theirs.mineEmpty(8);
    swapped = true;
    const report = await self.watcher.tick();
    t.is(report.stopped, null, `${blocks} blocks`);
    t.is(report.reorgDepth, 0);
    ours.mine([pay('next')]);
    await self.watcher.tick();
    t.deepEqual(
      told(self).filter((word) => word.startsWith('seen')),
      ['seen ours', 'seen next'],
    );
    t.false(told(self).some((word) => word.startsWith('orphaned')));
  }
});

test('L19 a cursor whose height the new branch skipped is replaced too', async (t) => {
  const { chain, self } = await started();
  chain.mine([pay('tx')]);
  await self.watcher.tick();
  chain.rollback(1);
  chain.mine([], { skip: 1 });
  chain.mine();
  t.like(await self.watcher.tick(), { reorgDepth: 1 });
  t.deepEqual(told(self), ['seen tx', 'orphaned tx']);
});

test('reliability 4.1-13 how deep a branch is replaced is no single endpoint’s word: one that denies all, or holds what was replaced, neither stops the chain nor holds it up', async (t) => {
  const old = 40,
    depth = 3;
  const lies: Readonly<Record<string, (height: number, was: string) => string | null>> = {
    'denies all of our blocks': (height) => (height <= old - depth ? 'f'.repeat(64) : null),
    'holds two of the replaced blocks': (height, was) => (height === old - 2 || height === old - 1 ? was : null),
    'denies ten blocks more than were replaced': (height) =>
      height <= old - depth && height > old - depth - 10 ? 'f'.repeat(64) : null,
  };
  for (const [what, lie] of Object.entries(lies)) {
    const { chain, client, witnesses, self } = await started({ witnesses: 2 });
    for (let height = 1; height <= old; height += 1) chain.mine(height === old - 1 ? [pay('gone')] : []);
    for (let round = 0; round < 2; round += 1) await self.watcher.tick();
    const was = new Map(Array.from({ length: old }, (_, index) => [index + 1, chain.blockAt(index + 1)!.hash]));
    chain.fork(
      depth,
      Array.from({ length: depth + 1 }, () => []),
    );
    for (const [height, hash] of was) {
      const told = lie(height, hash);
      for (const liar of told === null ? [] : [client, witnesses[1]!]) liar.lies.set(height, told!);
    }
    const { stopped, reorgDepth } = await self.watcher.tick();
    t.is(stopped, null, what);
    t.is(reorgDepth, what.includes('ten') ? depth + 10 : depth, what);
    t.is((await self.store.cursor('eth'))!.hash, chain.tip.hash, what);
    t.deepEqual(told(self).at(-1), 'orphaned gone', what);
  }
});

test('G17 two endpoints that hold none of our blocks within the window stop the chain; one that cannot tell has no say', async (t) => {
  const { chain, witnesses, self } = await started({ witnesses: 3 });
  chain.mineEmpty(simulatedNetwork.reorgWindow + 8);
  for (let round = 0; round < 2; round += 1) await self.watcher.tick();
  chain.fork(
    simulatedNetwork.reorgWindow + 6,
    Array.from({ length: simulatedNetwork.reorgWindow + 10 }, () => []),
  );
  witnesses[2]!.down = true;
  t.regex((await self.watcher.tick()).stopped!, /no common ancestor within 32/);
});

test('found: a new branch is read up to the old head, whichever answers about the head are behind', async (t) => {
  for (const witnesses of [0, 2, 3]) {
    for (let late = 1; late <= 12; late += 1) {
      const { chain, client, witnesses: others, self } = await started({ witnesses });
      chain.mineEmpty(3);
      chain.mine([pay('stays')]);
      await self.watcher.tick();
      chain.fork(1, [[pay('stays')], []]);
      // One URL with several nodes behind it: one answer comes from a node that is two blocks late.
      let heads = 0;
      for (const one of [client, others[0] ?? client]) {
        const getHead = one.getHead.bind(one);
        one.getHead = async () => {
          heads += 1;
          one.lag = heads === late ? 2 : 0;
          return getHead().finally(() => {
            one.lag = 0;
          });
        };
      }
      for (let round = 0; round < 8; round += 1) {
        self.nowMs += 1_000;
        await self.watcher.tick();
      }
      t.deepEqual(told(self), ['seen stays', 'moved stays'], `${witnesses} witnesses, answer ${late}`);
    }
  }
});

test('found: one endpoint alone neither stops the chain nor replaces a block while the other one that is alive gives no answer for a moment', async (t) => {
  for (const forged of ['of another history', 'on another branch'] as const) {
    const chain = new SimulatedChain(),
      honest = chain.client(),
      liar = chain.client();
    const self = watching({
      client: liar,
      witnesses: [honest, liar],
      network: { ...simulatedNetwork, reorgWindow: 4 },
      settings: { secondReadMs: 0, contentTries: 3 },
    });
    self.issue('@a');
    await self.watcher.tick();
    chain.mineEmpty(8);
    chain.mine([pay('tx')]);
    await self.watcher.tick();
    const cursor = (await self.store.cursor('eth'))!;
    for (let height = forged === 'of another history' ? 0 : cursor.height; height <= cursor.height; height += 1)
      liar.lies.set(height, height.toString(16).padStart(64, 'f'));
    honest.down = true;
    for (let round = 0; round < 6; round += 1) {
      self.nowMs += 1_000;
      await self.watcher.tick();
    }
    honest.down = false;
    t.deepEqual(
      [self.watcher.stopped(), told(self), (await self.store.cursor('eth'))!],
      [null, ['seen tx'], cursor],
      forged,
    );
    t.is(self.recorder.counters.get('svc_reorgs_total'), undefined);
  }
});
