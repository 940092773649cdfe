/** What must agree before a withdrawal is told as included or as matured, and before its bytes leave. */
import test, { type ExecutionContext } from 'ava';
import type { ChainClient, Fate, Network } from '../../../chains/chain.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { SimulatedChain, simulatedNetwork } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching, type Watching } from '../../support/watching.ts';

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

const told = (self: Watching) => self.store.inbox(ACCOUNT).map(({ fact }) => fact.kind);

/**
 * A withdrawal in block 1, at the threshold under the chain's own head, whose account has taken that it is included.
 */
async function deepEnough(options: { network?: Network; witnesses?: number } = {}) {
  const chain = new SimulatedChain(),
    client = chain.client();
  const witnesses = Array.from({ length: options.witnesses ?? 0 }, () => chain.client());
  const self = watching({ client, witnesses, ...(options.network === undefined ? {} : { network: options.network }) });
  await self.watcher.tick();
  chain.mempool.add('out1');
  const block = chain.mine([], { withMempool: true });
  await self.watcher.tick();
  self.store.saveWithdrawal(
    withdrawal({ status: 'confirming', txid: 'out1', height: block.height, blockHash: block.hash }),
  );
  chain.mineEmpty(simulatedNetwork.threshold - 1);
  return { chain, client, witnesses, self, block };
}

async function maturesOnlyWithout(t: ExecutionContext, self: Watching, repair: () => void): Promise<void> {
  await self.watcher.tick();
  t.deepEqual(told(self), []);
  repair();
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_matured']);
}

test('reliability 4.1-12 a withdrawal matures on the word of two living endpoints, each deep enough under its own head', async (t) => {
  const { self, witnesses } = await deepEnough({ witnesses: 2 });
  witnesses[1]!.lag = 1;
  await maturesOnlyWithout(t, self, () => {
    witnesses[1]!.lag = 0;
  });
});

test('G19 a withdrawal matures only while the endpoint that is asked holds its block, whatever the others hold', async (t) => {
  const { self, client, witnesses } = await deepEnough({ witnesses: 2 });
  client.lies.set(1, 'f'.repeat(64));
  t.is(witnesses.length, 2);
  await maturesOnlyWithout(t, self, () => client.lies.clear());
});

test('G19 an outcome of another block matures no withdrawal', async (t) => {
  const { self, client } = await deepEnough();
  const outcomeOf: ChainClient['getOutcome'] = client.getOutcome.bind(client);
  client.getOutcome = async (txid) => ({ ...(await outcomeOf(txid))!, height: 1, hash: 'e'.repeat(64) });
  await maturesOnlyWithout(t, self, () => {
    client.getOutcome = outcomeOf as typeof client.getOutcome;
  });
});

test('chains.md 2 the gate of a network holds a withdrawal that is deep enough and not final', async (t) => {
  const { self, client } = await deepEnough({
    network: { ...simulatedNetwork, gate: { kind: 'finalized', stallDepth: null } },
  });
  client.finalizedDepth = 6;
  await maturesOnlyWithout(t, self, () => {
    client.finalizedDepth = 2;
  });
});

test('an inclusion in a block that our ledger does not hold at that height is not told', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client(),
    self = watching({ client });
  await self.watcher.tick();
  chain.mineEmpty(2);
  await self.watcher.tick();
  self.store.saveWithdrawal(withdrawal());
  const outcome = { txid: 'out1', success: true, reason: null, fee: 21n };
  client.getFate = async () => ({ kind: 'included', height: 1, hash: 'd'.repeat(64), outcome });
  await self.watcher.tick();
  t.deepEqual(told(self), []);
  client.getFate = async () => ({ kind: 'included', height: 1, hash: chain.blockAt(1)!.hash, outcome });
  self.nowMs += 600_000;
  await self.watcher.tick();
  t.deepEqual(told(self), ['withdrawal_included']);
});

test('G25 G26 no bytes leave where the account did not take that a submit begins: the row is another one by now', async (t) => {
  const chain = new SimulatedChain(),
    client = chain.client(),
    self = watching({ client });
  await self.watcher.tick();
  self.store.saveWithdrawal(withdrawal({ status: 'signing' }));
  const take = self.parts.accounts.ask;
  self.parts.accounts.ask = async () => ({ ok: false }) as never;
  await self.watcher.tick();
  t.deepEqual(chain.submits, []);
  self.parts.accounts.ask = take;
  self.nowMs += 600_000;
  await self.watcher.tick();
  t.deepEqual(chain.submits, ['signed1']);
});

const success = { txid: 'out1', success: true, reason: null, fee: 21n };

/**
 * A withdrawal that is out, before endpoints whose words about it are given. The client over all says what the first
 * one says.
 */
async function heardOf(fates: readonly (readonly Fate[])[]) {
  const chain = new SimulatedChain(),
    client = chain.client(),
    witnesses = fates[0]!.map(() => chain.client());
  const self = watching({ client, witnesses });
  await self.watcher.tick();
  chain.mineEmpty(2);
  await self.watcher.tick();
  self.store.saveWithdrawal(withdrawal());
  const rounds: string[][] = [];
  for (const round of fates) {
    [round[0]!, ...round].forEach((fate, index) => {
      [client, ...witnesses][index]!.getFate = async () =>
        fate.kind === 'included' ? { ...fate, hash: chain.blockAt(1)!.hash } : fate;
    });
    await self.watcher.tick();
    rounds.push(told(self));
    self.nowMs += 600_000;
  }
  return { chain, self, rounds };
}

const dead: Fate = { kind: 'dead', proof: 'nonce 7 is final elsewhere' };
const unknown: Fate = { kind: 'unknown', reason: 'not found' },
  pending: Fate = { kind: 'pending' };
const landed: Fate = { kind: 'included', height: 1, hash: '', outcome: success };
const reverted: Fate = { ...landed, outcome: { ...success, success: false, reason: 'reverted' } };

for (const [first, second, third, becomes] of [
  [dead, unknown, null, null],
  [dead, pending, null, null],
  [dead, landed, null, null],
  [landed, dead, null, null],
  [landed, reverted, null, null],
  [landed, pending, null, null],
  [dead, dead, null, 'withdrawal_dead'],
  [landed, landed, null, 'withdrawal_included'],
  [landed, { ...landed, outcome: { ...success, fee: null } }, null, 'withdrawal_included'],
  [landed, { ...landed, outcome: { ...success, fee: 22n } }, null, null],
  [dead, landed, landed, 'withdrawal_included'],
  [dead, pending, dead, 'withdrawal_dead'],
  [landed, dead, dead, 'withdrawal_dead'],
] as const satisfies readonly (readonly [Fate, Fate, Fate | null, string | null])[]) {
  const words = [first, second, ...(third === null ? [] : [third])];
  const said = words
    .map((one) => (one.kind === 'included' ? `landed ${one.outcome.success} ${one.outcome.fee ?? 'no fee'}` : one.kind))
    .join(' · ');
  test(`G27, reliability 4.1-13: no endpoint alone says what became of a withdrawal: ${said} → ${becomes ?? 'waits'}`, async (t) => {
    const { chain, self, rounds } = await heardOf([words]);
    t.deepEqual(rounds, [becomes === null ? [] : [becomes]]);
    if (becomes === null) t.deepEqual(chain.submits, ['signed1'], 'the same bytes go again, whatever one says');
    const proven = new Set(said.split(' · ').filter((word) => word !== 'pending' && word !== 'unknown'));
    const quarrel = self.recorder.lines.filter(({ message }) => message.includes('what became of a withdrawal'));
    t.is(quarrel.length, Number(proven.size > 1 && !said.includes('no fee')), 'an operator is told whom to look at');
  });
}

test('G27 a withdrawal is dead on one endpoint’s word where no other one is alive, and when the second agrees at last', async (t) => {
  const { rounds } = await heardOf([
    [dead, unknown],
    [dead, unknown],
    [dead, dead],
  ]);
  t.deepEqual(rounds, [[], [], ['withdrawal_dead']]);
  const alone = await heardOf([[dead]]);
  t.deepEqual(alone.rounds, [['withdrawal_dead']]);
});

test('G27 of four endpoints two that say the same are not more than the two that do not', async (t) => {
  const { rounds } = await heardOf([
    [dead, dead, pending, landed],
    [dead, dead, dead, landed],
  ]);
  t.deepEqual(rounds, [[], ['withdrawal_dead']]);
});

for (const alive of [1, 0]) {
  test(`G27 of two endpoints ${alive} count as alive: the word of one that does not, which the client over both asked, ends nothing`, async (t) => {
    const chain = new SimulatedChain(),
      client = chain.client(),
      witnesses = [chain.client(), chain.client()];
    const self = watching({ client, witnesses });
    chain.mineEmpty(40);
    await self.watcher.tick();
    for (const one of witnesses.slice(alive)) one.lag = 30; // on a branch of its own, say
    self.nowMs += 10_000;
    await self.watcher.tick();
    self.nowMs += 60_000;
    await self.watcher.tick();
    t.deepEqual(
      witnesses.map((_, index) => self.watcher.conditionOf(index)),
      [alive === 1 ? 'alive' : 'behind', 'behind'],
    );
    self.store.saveWithdrawal(withdrawal());
    client.getFate = async () => dead;
    witnesses[1]!.getFate = async () => dead;
    witnesses[0]!.getFate = async () => (alive === 1 ? pending : dead);
    await self.watcher.tick();
    t.deepEqual(told(self), []);
    for (const one of witnesses) Object.assign(one, { lag: 0, getFate: async () => dead });
    self.nowMs += 600_000;
    await self.watcher.tick();
    t.deepEqual(told(self), ['withdrawal_dead'], 'two that are alive say so');
  });
}

test('G19 whether a withdrawal succeeded is the word of two endpoints: one that calls it failed, or names another fee, holds it back', async (t) => {
  for (const lie of [{ success: false, reason: 'reverted' }, { fee: 9n }]) {
    const { self, witnesses } = await deepEnough({ witnesses: 2 });
    const outcomeOf: ChainClient['getOutcome'] = witnesses[0]!.getOutcome.bind(witnesses[0]);
    witnesses[0]!.getOutcome = async (txid) => ({ ...(await outcomeOf(txid))!, ...lie });
    await maturesOnlyWithout(t, self, () => {
      witnesses[0]!.getOutcome = outcomeOf as (typeof witnesses)[0]['getOutcome'];
    });
  }
  const { self, client, witnesses } = await deepEnough({ witnesses: 3 });
  for (const liar of [client, witnesses[1]!]) {
    const outcomeOf: ChainClient['getOutcome'] = liar.getOutcome.bind(liar);
    liar.getOutcome = async (txid) => ({ ...(await outcomeOf(txid))!, success: false, reason: 'reverted' });
  }
  await self.watcher.tick();
  t.like(self.store.inbox(ACCOUNT)[0]!.fact, { kind: 'withdrawal_matured', success: true, fee: '21' });
});

test('chains.md 2 what is final is the word of two endpoints: one that calls everything final opens no gate, one that calls nothing final closes none', async (t) => {
  const gated = { ...simulatedNetwork, gate: { kind: 'finalized', stallDepth: null } } as const;
  const { self, client, witnesses } = await deepEnough({ network: gated, witnesses: 2 });
  client.finalizedDepth = 0;
  witnesses[0]!.finalizedDepth = 0;
  witnesses[1]!.finalizedDepth = 6;
  await maturesOnlyWithout(t, self, () => {
    witnesses[1]!.finalizedDepth = null;
    self.nowMs += 10_000;
  });
  const two = await deepEnough({ network: gated, witnesses: 2 });
  two.client.finalizedDepth = 6;
  for (const one of two.witnesses) one.finalizedDepth = 2;
  await two.self.watcher.tick();
  t.deepEqual(told(two.self), ['withdrawal_matured']);
});
