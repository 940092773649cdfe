import test from 'ava';
import { ChainUnavailable } from '../../../chains/chain.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { createWatcher } from '../../../chain-watchers/watcher.ts';
import { SimulatedChain, simulatedNetwork } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching, watchSettings, type Watching } from '../../support/watching.ts';

const withdrawal = (partial: Partial<WithdrawalRow> = {}): WithdrawalRow => ({
  id: 'txn_1',
  accountId: ACCOUNT,
  ledger: 'eth',
  chain: 'eth',
  from: '@a',
  to: '@shop',
  amount: 3n,
  decimals: 18,
  tokenContract: null,
  tokenSymbol: 'ETH',
  userRef: null,
  tag: null,
  status: 'broadcast',
  unsigned: {
    chain: 'eth',
    payload: 'unsigned',
    from: '@a',
    fromPath: 'm/0',
    to: '@shop',
    amount: 3n,
    tokenContract: null,
    tag: null,
    kind: 'payment',
    sendAll: false,
    feeMax: 21n,
    fee: {},
    replayKey: { kind: 'nonce', value: 7 },
    readAtHeight: 0,
  },
  versions: [{ txid: 'out1', signedPayload: 'signed1', payload: 'unsigned1' }],
  txid: null,
  height: null,
  blockHash: null,
  fee: null,
  failure: null,
  createdAtMs: 0,
  updatedAtMs: 0,
  ...partial,
});

const told = (self: Watching) =>
  self.store
    .inbox(ACCOUNT)
    .map(({ fact }) => ('withdrawalId' in fact ? `${fact.kind} ${fact.txid} ${fact.height}` : fact.kind));

async function started(row: WithdrawalRow = withdrawal(), settings = watchSettings) {
  const chain = new SimulatedChain();
  const client = chain.client();
  const self = watching({ client, settings });
  self.issue('@a');
  await self.watcher.tick();
  self.store.saveWithdrawal(row);
  return { chain, client, self };
}

/** What the account makes of an inclusion. */
function include(self: Watching, txid: string, row: WithdrawalRow = withdrawal()): void {
  const fact = self.store
    .inbox(ACCOUNT)
    .map((entry) => entry.fact)
    .findLast((one) => 'withdrawalId' in one && one.kind === 'withdrawal_included');
  if (fact === undefined || !('withdrawalId' in fact)) throw new Error('no inclusion');
  self.store.saveWithdrawal({ ...row, status: 'confirming', txid, height: fact.height, blockHash: fact.blockHash });
  self.store.takeInbox(self.store.inbox(ACCOUNT).map(({ id }) => id));
}

test('G25 G26 the same bytes are submitted until there is proof, ever more slowly, and never rebuilt', async (t) => {
  const { chain, self } = await started();
  for (let round = 0; round < 40; round += 1) {
    await self.watcher.tick();
    chain.mempool.clear(); // evicted, forgotten, lost
    self.nowMs += 60_000;
  }
  t.true(chain.submits.length >= 8);
  t.true(chain.submits.length < 20, 'the pause grows to 5 minutes');
  t.deepEqual([...new Set(chain.submits)], ['signed1']);
});

test('G26 what is pending at the node is not submitted again; what nobody knows is', async (t) => {
  const { chain, client, self } = await started();
  chain.mempool.add('out1');
  await self.watcher.tick();
  t.deepEqual(chain.submits, []);
  client.unknownFates = true;
  self.nowMs += 10_000;
  await self.watcher.tick();
  t.deepEqual(chain.submits, ['signed1']);
});

test('G26 the tracker leaves the first submit to the gateway', async (t) => {
  const { chain, self } = await started(withdrawal({ status: 'signing', updatedAtMs: 1_700_000_000_000 }));
  await self.watcher.tick();
  t.deepEqual(chain.submits, []);
  self.nowMs += 2_000;
  await self.watcher.tick();
  t.deepEqual(chain.submits, ['signed1']);
  t.like(self.asked[0], {
    accountId: ACCOUNT,
    command: { type: 'note_broadcast', txid: 'out1', result: { kind: 'accepted' } },
  });
});

test('G26 G27 that a submit begins is durable before the bytes leave, so that no later refusal ends what a node may have', async (t) => {
  const { chain, client, self } = await started(withdrawal({ status: 'signing' }));
  client.unknownFates = true;
  const submit = client.broadcast.bind(client);
  client.broadcast = async () => {
    const {
      rows: [row],
    } = await self.store.openWithdrawals('eth', 0, 1);
    t.true(row!.versions[0]!.doubtful, 'marked before it is sent');
    throw new ChainUnavailable('eth', 'no answer within 20000 ms');
  };
  await self.watcher.tick();
  t.like(self.asked[0], {
    accountId: ACCOUNT,
    command: { type: 'note_broadcast', txid: 'out1', result: { kind: 'unknown' }, sole: true },
  });
  client.broadcast = submit;
  chain.refusesBroadcast.add('out1');
  self.nowMs += 60_000;
  await self.watcher.tick();
  t.like(self.asked[1], { command: { type: 'note_broadcast', result: { kind: 'rejected_final' } } });
  t.false('sole' in self.asked[1]!.command, 'it is not the only submit any more');
  t.is(self.asked.length, 2);
});

test('G26 a final refusal ends a withdrawal that was never accepted; after an acceptance only proof does', async (t) => {
  const first = await started(withdrawal({ status: 'signing' }));
  first.chain.refusesBroadcast.add('out1');
  await first.self.watcher.tick();
  t.like(first.self.asked[0], { command: { type: 'note_broadcast', result: { kind: 'rejected_final' }, sole: true } });
  const later = await started(withdrawal({ status: 'broadcast' }));
  later.chain.refusesBroadcast.add('out1');
  await later.self.watcher.tick();
  t.deepEqual(later.self.asked, []);
  t.deepEqual(told(later.self), []);
});

const REFUSED = { txid: 'out1', signedPayload: 'signed1', payload: 'unsigned1', watched: true } as const;
const refusal = { status: 'failed', versions: [REFUSED], failure: { code: 'CHAIN_REJECTED', reason: 'no' } } as const;

test('found F3, G27: what every node refused is followed: where it lands later that is told, and it is not sent again', async (t) => {
  const { chain, self } = await started(withdrawal({ ...refusal, versions: [REFUSED] }));
  self.nowMs += 60_000;
  await self.watcher.tick();
  t.deepEqual([chain.submits, told(self)], [[], []]);
  chain.mempool.add('out1');
  chain.mine([], { withMempool: true });
  await self.watcher.tick();
  t.deepEqual([chain.submits, told(self)], [[], ['withdrawal_included out1 1']]);
});

test('found F3, G27: what every node refused is followed until its chain proves that it cannot land', async (t) => {
  const { chain, self } = await started(withdrawal({ ...refusal, versions: [REFUSED] }));
  chain.dead.set('out1', 'nonce 7 is used by 0xother');
  self.nowMs += 60_000;
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_dead out1 0']);
  const ended = withdrawal({
    ...refusal,
    versions: [{ txid: 'out1', signedPayload: 'signed1', payload: 'unsigned1' }],
  });
  const proven = await started(ended);
  proven.chain.dead.set('out1', 'nonce 7 is used by 0xother');
  proven.self.nowMs += 60_000;
  await proven.self.watcher.tick();
  t.deepEqual(told(proven.self), [], 'and no longer');
});

test('a withdrawal in a block is told with the block, matures at the threshold, and is told once', async (t) => {
  const { chain, self } = await started();
  await self.watcher.tick();
  chain.mine([], { withMempool: true });
  await self.watcher.tick();
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_included out1 1']);
  include(self, 'out1');
  chain.mineEmpty(2);
  await self.watcher.tick();
  t.deepEqual(told(self), []);
  chain.mine();
  await self.watcher.tick();
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_matured out1 1']);
  t.like(self.store.inbox(ACCOUNT)[0]!.fact, { success: true, fee: '21' });
});

test('G19 a withdrawal that turned out to have failed matures as failed', async (t) => {
  const { chain, self } = await started();
  await self.watcher.tick();
  chain.mine([], { withMempool: true });
  await self.watcher.tick();
  include(self, 'out1');
  chain.failTransaction('out1');
  chain.mineEmpty(3);
  await self.watcher.tick();
  t.like(self.store.inbox(ACCOUNT)[0]!.fact, { kind: 'withdrawal_matured', success: false, reason: 'reverted' });
});

test('a withdrawal submitted after its block was read is found by its fate', async (t) => {
  const { chain, self } = await started(withdrawal({ versions: [] }));
  chain.mempool.add('out1');
  chain.mine([], { withMempool: true });
  await self.watcher.tick();
  t.deepEqual(told(self), []);
  self.store.saveWithdrawal(withdrawal());
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_included out1 1']);
});

test('found F70: a simulated ledger, on which no later block comes by itself, finds it in the next tick; bytes still wait for the gateway', async (t) => {
  const { chain, self } = await started(withdrawal({ versions: [] }), { ...watchSettings, asksAtEachTick: true });
  chain.mempool.add('out1');
  chain.mine([], { withMempool: true });
  await self.watcher.tick();
  self.store.saveWithdrawal(withdrawal({ updatedAtMs: self.nowMs }));
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_included out1 1']);
  self.store.saveWithdrawal(
    withdrawal({
      id: 'txn_2',
      updatedAtMs: self.nowMs,
      versions: [{ txid: 'out2', signedPayload: 'signed2', payload: 'unsigned2' }],
    }),
  );
  await self.watcher.tick();
  t.deepEqual(chain.submits, []);
});

test('C3-34 of a repriced withdrawal whichever version lands counts, and it alone', async (t) => {
  const row = withdrawal({
    versions: [
      { txid: 'out1', signedPayload: 'signed1', payload: 'unsigned1' },
      { txid: 'out2', signedPayload: 'signed2', payload: 'unsigned2' },
    ],
  });
  const { chain, self } = await started(row);
  await self.watcher.tick();
  t.deepEqual(chain.submits, ['signed2'], 'the newest version is submitted');
  chain.mempool.clear();
  chain.mempool.add('out1');
  chain.mine([], { withMempool: true });
  chain.dead.set('out2', 'nonce 7 is used by out1');
  self.nowMs += 60_000;
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_included out1 1']);
});

test('found F70: a repriced version is submitted at once while the old one is in a pool, and again until a node has it; the old one is only watched', async (t) => {
  const old = { txid: 'out1', signedPayload: 'signed1', payload: 'unsigned1', taken: true };
  const { chain, self } = await started(withdrawal({ versions: [old] }));
  chain.mempool.add('out1');
  for (let round = 0; round < 12; round += 1) {
    await self.watcher.tick();
    self.nowMs += 60_000;
  }
  t.deepEqual(chain.submits, [], 'a node has it');
  const repriced = withdrawal({
    versions: [old, { txid: 'out2', signedPayload: 'signed2', payload: 'unsigned2', taken: false }],
    updatedAtMs: self.nowMs,
  });
  self.store.saveWithdrawal(repriced);
  await self.watcher.tick();
  t.deepEqual(chain.submits, [], 'the first submit is the gateway’s');
  self.nowMs += 2_000;
  await self.watcher.tick();
  t.deepEqual(
    chain.submits,
    ['signed2'],
    'it does not wait out the pause of the old one, nor for the old one to leave the pool',
  );
  t.like(self.asked[0], {
    command: { type: 'note_broadcast', txid: 'out2', result: { kind: 'accepted' }, sole: true },
  });
  chain.mempool.delete('out2'); // evicted; the old one is there again
  self.nowMs += 10_000;
  await self.watcher.tick();
  t.deepEqual(chain.submits, ['signed2', 'signed2']);
  chain.mempool.delete('out2');
  chain.mine([], { withMempool: true });
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_included out1 1'], 'the old one won');
});

test('G27 only proof for every version makes a withdrawal dead; the proof goes along', async (t) => {
  const row = withdrawal({
    versions: [
      { txid: 'out1', signedPayload: 'signed1', payload: 'unsigned1' },
      { txid: 'out2', signedPayload: 'signed2', payload: 'unsigned2' },
    ],
  });
  const { chain, self } = await started(row);
  chain.dead.set('out1', 'nonce 7 is final elsewhere');
  await self.watcher.tick();
  t.deepEqual(told(self), []);
  chain.dead.set('out2', 'nonce 7 is final elsewhere');
  chain.mempool.clear();
  for (let round = 0; round < 3; round += 1) {
    self.nowMs += 600_000;
    await self.watcher.tick();
  }
  t.deepEqual(told(self), ['withdrawal_dead out2 0'], 'told once while it waits');
  t.regex(JSON.stringify(self.store.inbox(ACCOUNT)[0]!.fact), /nonce 7 is final elsewhere/);
});

test('G15 a withdrawal whose block left the chain is orphaned, submitted again as the same bytes, and included again', async (t) => {
  const { chain, self } = await started();
  await self.watcher.tick();
  chain.mine([], { withMempool: true });
  await self.watcher.tick();
  include(self, 'out1');
  chain.fork(1, [[], []]);
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_orphaned out1 1']);
  self.store.saveWithdrawal(withdrawal());
  self.store.takeInbox(self.store.inbox(ACCOUNT).map(({ id }) => id));
  chain.mempool.clear();
  self.nowMs += 600_000;
  await self.watcher.tick();
  t.deepEqual(new Set(chain.submits), new Set(['signed1']));
  chain.mine([], { withMempool: true });
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_included out1 3']);
});

test('G16 a confirmed withdrawal that a deep reorg takes out is told too', async (t) => {
  const { chain, self } = await started();
  await self.watcher.tick();
  chain.mine([], { withMempool: true });
  await self.watcher.tick();
  const fact = self.store.inbox(ACCOUNT)[0]!.fact;
  chain.mineEmpty(5);
  await self.watcher.tick();
  if (!('withdrawalId' in fact)) return t.fail();
  self.store.saveWithdrawal(
    withdrawal({ status: 'confirmed', txid: 'out1', height: fact.height, blockHash: fact.blockHash }),
  );
  self.store.takeInbox(self.store.inbox(ACCOUNT).map(({ id }) => id));
  await self.watcher.tick();
  t.deepEqual(told(self), []);
  chain.fork(
    6,
    Array.from({ length: 7 }, () => []),
  );
  await self.watcher.tick();
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_orphaned out1 1']);
});

test('found: settled withdrawals are asked for from the reorg window below our newest block on, at each start and however far the head is', async (t) => {
  const chain = new SimulatedChain(),
    asked: number[] = [],
    window = simulatedNetwork.reorgWindow;
  const self = watching({
    client: chain.client(),
    settings: { blocksPerTick: 64 },
    wrap: (store) => ({
      ...store,
      openWithdrawals: async (ledger, sinceHeight, ...more) => {
        asked.push(sinceHeight);
        return store.openWithdrawals(ledger, sinceHeight, ...more);
      },
    }),
  });
  await self.watcher.tick();
  t.deepEqual(asked, [Number.MAX_SAFE_INTEGER], 'where no block is followed, none can be replaced');
  chain.mineEmpty(200);
  while ((await self.watcher.tick()).more);
  t.like(await self.store.cursor('eth'), { height: 200 });
  self.restart();
  asked.length = 0;
  await self.watcher.tick();
  t.deepEqual(asked, [200 - window]);
  chain.mineEmpty(500);
  self.restart();
  asked.length = 0;
  for (let n = 0; n < 2; n += 1) await self.watcher.tick();
  t.deepEqual(asked, [200 - window, 264 - window], 'the head is no measure: a branch is replaced where our blocks are');
});

test('a fact about a block counts only when our own ledger holds that block', async (t) => {
  const { chain, client, self } = await started();
  chain.mempool.add('out1');
  chain.mine([], { withMempool: true });
  client.contentMissing.add(1);
  await self.watcher.tick();
  t.deepEqual(told(self), [], 'the node knows it, our cursor is below it');
});

test('found: signed withdrawals that wait behind a counter value that nobody used are shown and said once; what waits for a block is none', async (t) => {
  const { client, self } = await started(
    withdrawal({ unsigned: { ...withdrawal().unsigned, replayKey: { kind: 'nonce', value: 30 } } }),
  );
  let next = 11;
  client.fetchBuildInputs = async () => ({ readAtHeight: 0 });
  const parts = { ...self.parts, module: { ...self.parts.module, nextReplayValue: () => next } };
  const watcher = createWatcher(parts);
  const look = async (held: number, passMs = 60_000) => {
    self.store.saveWithdrawal(
      withdrawal({ unsigned: { ...withdrawal().unsigned, replayKey: { kind: 'nonce', value: held } } }),
    );
    self.nowMs += passMs;
    await watcher.tick();
    return self.recorder.gauges.get('svc_outbound_gaps');
  };
  const said = () =>
    self.recorder.lines.filter(({ message }) => message.includes('counter value')).map(({ level }) => level);
  t.deepEqual([await look(30), await look(30), said()], [1, 1, ['error']]);
  next = 30;
  t.is(await look(30, 1_000), 1, 'a sender is looked at once a minute');
  t.deepEqual([await look(30), said()], [0, ['error', 'info']]);
  next = 29;
  t.deepEqual([await look(30), said().length], [1, 3]);
});

test('found F54: many withdrawals that are in blocks cost one question about those blocks, and a replaced one is still found', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client();
  let asked = 0;
  const self = watching({
    client,
    wrap: (store) => ({
      ...store,
      links: async (...args) => {
        asked += 1;
        return store.links(...args);
      },
    }),
  });
  self.issue('@a');
  await self.watcher.tick();
  for (let n = 0; n < 20; n += 1) {
    chain.mempool.add(`out${n}`);
    const { height, hash } = chain.mine([], { withMempool: true });
    self.store.saveWithdrawal(
      withdrawal({
        id: `txn_${n}`,
        status: 'confirmed',
        txid: `out${n}`,
        versions: [{ txid: `out${n}`, signedPayload: 's', payload: 'u' }],
        height,
        blockHash: hash,
        createdAtMs: n,
      }),
    );
  }
  for (let round = 0; round < 2; round += 1) await self.watcher.tick();
  self.store.takeInbox(self.store.inbox(ACCOUNT).map(({ id }) => id));
  asked = 0;
  await self.watcher.tick();
  t.true(asked <= 3, `${asked} questions`);
  t.deepEqual(told(self), []);
  chain.fork(3, [[], [], [], []]);
  chain.mempool.clear();
  for (let round = 0; round < 2; round += 1) await self.watcher.tick();
  t.deepEqual(
    new Set(told(self).map((one) => one.split(' ').slice(0, 2).join(' '))),
    new Set(['withdrawal_orphaned out17', 'withdrawal_orphaned out18', 'withdrawal_orphaned out19']),
  );
});

test('found: more stuck withdrawals than a tick carries hold back nobody: each tick goes on from where the last one ended', async (t) => {
  for (const count of [999, 1_000, 1_001, 2_000]) {
    const { chain, client, self } = await started(
      withdrawal({
        id: 'txn_last',
        createdAtMs: count,
        versions: [{ txid: 'last', signedPayload: 'last', payload: 'u' }],
      }),
    );
    for (let n = 0; n < count; n += 1) {
      const named = { id: `txn_${n}`, accountId: accountIdOf(`org_${n}`, 'live'), createdAtMs: n };
      self.store.saveWithdrawal(
        withdrawal({ ...named, versions: [{ txid: `stuck${n}`, signedPayload: `stuck${n}`, payload: 'u' }] }),
      );
      chain.mempool.add(`stuck${n}`);
    }
    const ticks = Math.ceil((count + 1) / 1_000);
    for (let n = 0; n < ticks; n += 1) await self.watcher.tick();
    t.deepEqual(chain.submits, ['last'], `${count}`);
    const looks = () => client.calls.filter((call) => call.includes('stuck0')).length,
      before = looks();
    for (let n = 0; n < ticks; n += 1) await self.watcher.tick();
    t.is(looks(), before, 'the pause of one that is out of turn goes on');
    self.nowMs += 600_000;
    for (let n = 0; n < ticks + 1; n += 1) await self.watcher.tick();
    t.true(looks() > before, 'after the last one the first comes again');
  }
});

test('found: a confirmed withdrawal that only moved is asked about once for each move, and still told when it leaves the chain', async (t) => {
  const { chain, client, self } = await started();
  chain.mempool.add('out1');
  const { height, hash } = chain.mine([], { withMempool: true });
  chain.mineEmpty(5);
  self.store.saveWithdrawal(withdrawal({ status: 'confirmed', txid: 'out1', height, blockHash: hash }));
  await self.watcher.tick();
  self.store.takeInbox(self.store.inbox(ACCOUNT).map(({ id }) => id));
  const fates = () => client.calls.filter((call) => call === 'fate out1').length;
  for (const depth of [6, 4]) {
    chain.rollback(depth);
    chain.mempool.delete('out1');
    chain.mineEmpty(2);
    if (depth === 6) chain.mempool.add('out1');
    chain.mine([], { withMempool: true });
    chain.mineEmpty(depth);
    for (let n = 0; n < 2; n += 1) await self.watcher.tick();
    const asked = fates();
    if (depth === 6) t.true(asked > 0, 'its block was replaced');
    for (let n = 0; n < 5; n += 1) await self.watcher.tick();
    t.is(fates(), asked, 'nothing is asked again');
    const placed = self.store.inbox(ACCOUNT).flatMap(({ fact }) => ('height' in fact ? [fact.height] : []));
    t.is(placed.length, 1, 'its new block is told once');
    t.false(told(self).some((one) => one.startsWith('withdrawal_orphaned')));
  }
  chain.fork(
    11,
    Array.from({ length: 14 }, () => []),
  );
  chain.mempool.clear();
  for (let n = 0; n < 2; n += 1) await self.watcher.tick();
  t.true(
    told(self).some((one) => one.startsWith('withdrawal_orphaned out1')),
    told(self).join(),
  );
});

test('found F70: another version in the place of a confirmed one is no move: the confirmed one is told as orphaned first', async (t) => {
  const { chain, self } = await started();
  chain.mempool.add('out1');
  const { height, hash } = chain.mine([], { withMempool: true });
  chain.mineEmpty(5);
  const versions = ['out1', 'out2'].map((txid) => ({ txid, signedPayload: txid, payload: txid, taken: true }));
  self.store.saveWithdrawal(withdrawal({ status: 'confirmed', txid: 'out1', height, blockHash: hash, versions }));
  await self.watcher.tick();
  self.store.takeInbox(self.store.inbox(ACCOUNT).map(({ id }) => id));
  chain.rollback(6);
  chain.mempool.clear();
  chain.mempool.add('out2');
  chain.mine([], { withMempool: true });
  chain.mineEmpty(8);
  for (let n = 0; n < 3; n += 1) await self.watcher.tick();
  t.true(
    told(self).some((one) => one.startsWith('withdrawal_orphaned out1')),
    told(self).join(),
  );
});

test('found: where the open withdrawals cannot be read the chain is followed all the same, and the fault is told at the end', async (t) => {
  const chain = new SimulatedChain();
  let isRefused = true;
  const self = watching({
    client: chain.client(),
    wrap: (store) => ({
      ...store,
      openWithdrawals: async (...ask) => {
        if (isRefused) throw new Error('canceling statement due to statement timeout');
        return store.openWithdrawals(...ask);
      },
    }),
  });
  self.issue('@a');
  await t.throwsAsync(self.watcher.tick(), { message: /statement timeout/ });
  chain.mine([{ txid: 'in', outputIndex: 0, to: '@a', amount: 5n }]);
  chain.mineEmpty(simulatedNetwork.threshold);
  self.store.saveWithdrawal(withdrawal());
  chain.mempool.add('out1');
  const { height } = chain.mine([], { withMempool: true });
  await t.throwsAsync(self.watcher.tick(), { message: /statement timeout/ });
  t.like(await self.store.cursor('eth'), { height: chain.tip.height });
  t.deepEqual(told(self), ['seen', 'matured']);
  isRefused = false;
  await self.watcher.tick();
  t.is(told(self).at(-1), `withdrawal_included out1 ${height}`, 'what passed unseen meanwhile is found by its fate');
});

test('found: a confirmed withdrawal that reverts in the block that it moved to is no move: it is told as orphaned first', async (t) => {
  const { chain, self } = await started();
  chain.mempool.add('out1');
  const { height } = chain.mine([], { withMempool: true });
  chain.failTransaction('out1');
  self.store.saveWithdrawal(withdrawal({ status: 'confirmed', txid: 'out1', height, blockHash: 'replaced' }));
  self.store.takeInbox(self.store.inbox(ACCOUNT).map(({ id }) => id));
  chain.mineEmpty(2);
  while ((await self.watcher.tick()).more);
  t.is(told(self).at(-1), `withdrawal_orphaned out1 ${height}`);
});

test('found C3-33 of a rebuild deeper than the window, what the new branch holds only moved and what it does not is told as orphaned, however many are settled', async (t) => {
  const { chain, self } = await started();
  const window = simulatedNetwork.reorgWindow,
    of = (n: number, more: Partial<WithdrawalRow>) =>
      self.store.saveWithdrawal(
        withdrawal({
          id: `txn_${n}`,
          status: 'confirmed',
          txid: `out${n}`,
          versions: [{ txid: `out${n}`, signedPayload: `s${n}`, payload: `u${n}` }],
          createdAtMs: n,
          ...more,
        }),
      );
  chain.mempool.add('out1');
  await self.watcher.tick();
  const old = chain.mine([], { withMempool: true });
  self.store.saveWithdrawal(withdrawal({ status: 'confirmed', txid: 'out1', height: old.height, blockHash: old.hash }));
  for (let n = 10; n < 1_060; n += 1) of(n, { height: old.height, blockHash: old.hash });
  for (const txid of ['out2', 'out3']) chain.mempool.add(txid);
  const { height, hash: blockHash } = chain.mine([], { withMempool: true });
  of(2, { height, blockHash, createdAtMs: 5_000 });
  of(3, { height, blockHash, createdAtMs: 5_001 });
  of(4, { height, blockHash, createdAtMs: 5_002, status: 'failed' });
  chain.mineEmpty(window + 6);
  while ((await self.watcher.tick()).more);
  self.store.takeInbox(self.store.inbox(ACCOUNT).map(({ id }) => id));
  chain.rollback(window + 7);
  chain.mempool.clear();
  chain.mineEmpty(3);
  chain.mempool.add('out2');
  const moved = chain.mine([], { withMempool: true });
  chain.mineEmpty(window + 8);
  t.regex((await self.watcher.tick()).stopped!, /no common ancestor/);
  t.deepEqual(told(self), []);
  self.restart();
  t.like(await self.watcher.rebuildAbove(old.height), { kind: 'reorg' });
  t.deepEqual(told(self).toSorted(), [
    `withdrawal_included out2 ${moved.height}`,
    `withdrawal_orphaned out3 ${height}`,
    `withdrawal_orphaned out4 ${height}`,
  ]);
});
