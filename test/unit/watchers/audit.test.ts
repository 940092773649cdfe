import test from 'ava';
import { amountOf } from '../../../actors/outgoing/row.ts';
import { createAudit } from '../../../chain-watchers/audit/audit.ts';
import { createRepeatProofs } from '../../../chain-watchers/maturity/repeat-proof.ts';
import type { WrongTotal } from '../../../model/ports/audit-store.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import type { Block, Catalogue, ChainModule, Network } from '../../../chains/chain.ts';
import { SimulatedChain, simulatedModule, simulatedNetwork, type SimulatedRaw } from '../../support/simulated-chain.ts';
import { ACCOUNT, watching } from '../../support/watching.ts';

const pay = (txid: string, to = '@a', amount = 5n) => ({ txid, outputIndex: 0, to, amount });

async function started(reconcilePerBlock: number | null) {
  const chain = new SimulatedChain();
  const client = chain.client();
  const self = watching({ client, ...(reconcilePerBlock === null ? {} : { reconcilePerBlock }) });
  for (const name of ['@a', '@b', '@c']) self.issue(name);
  await self.watcher.tick();
  return { chain, client, self, findings: () => self.audit.discrepancies('eth', 10) };
}

test('a difference is one only when it is found again, unchanged, deeper than a payment needs', (t) => {
  const repeats = createRepeatProofs(12);
  t.false(repeats.note('a', 5n, 100));
  t.deepEqual(repeats.due(111, 10), []);
  t.false(repeats.note('a', 5n, 111));
  t.deepEqual(repeats.due(112, 10), ['a']);
  t.true(repeats.note('a', 5n, 112));
  t.false(repeats.note('a', 5n, 200), 'forgotten once it is proven');
  t.false(repeats.note('a', 6n, 220), 'another amount begins again');
  t.false(repeats.note('a', 0n, 240));
  t.is(repeats.waiting, 0);
});

test('V7 G24 growth without a transfer becomes `unattributed` with its evidence, once, and is never credited', async (t) => {
  const { chain, client, self, findings } = await started(10);
  chain.mine([pay('known')]);
  await self.watcher.tick();
  client.hidden.set('@b', 7n);
  for (let round = 0; round < simulatedNetwork.threshold; round += 1) {
    chain.mine();
    await self.watcher.tick();
    t.deepEqual(await findings(), []);
  }
  chain.mine();
  await self.watcher.tick();
  t.like((await findings())[0], {
    kind: 'unattributed',
    address: '@b',
    accountId: ACCOUNT,
    amount: 7n,
    expected: 0n,
    found: 7n,
    tokenContract: null,
  });
  t.regex(JSON.stringify((await findings())[0]!.evidence), /reconciliation without traces/);
  for (let round = 0; round < 12; round += 1) {
    chain.mine();
    await self.watcher.tick();
  }
  t.is((await findings()).length, 1, 'what is explained by the finding is no new growth');
  t.deepEqual(
    self.store.facts('eth').map(({ transfer }) => transfer.txid),
    ['known'],
    'G24: no fact, so no credit',
  );
  t.is(self.recorder.counters.get('svc_discrepancies_total'), 1);
});

test('found: V7 growth that one of two endpoints invents, or hides, is no finding and no fault; two that tell it are believed', async (t) => {
  for (const liars of [[0], [1], [0, 1]]) {
    const chain = new SimulatedChain(),
      witnesses = [chain.client(), chain.client()],
      client = chain.client();
    const self = watching({ client, witnesses, reconcilePerBlock: 10 });
    for (const name of ['@a', '@b']) self.issue(name);
    for (const liar of liars) witnesses[liar]!.hidden.set('@b', 7n);
    client.hidden.set('@b', 7n); // whichever endpoint it happens to ask
    for (let round = 0; round < simulatedNetwork.threshold + 2; round += 1) {
      chain.mine();
      await self.watcher.tick();
    }
    const found = await self.audit.discrepancies('eth', 10);
    t.deepEqual(
      found.map(({ address, amount }) => [address, amount]),
      liars.length === 2 ? [['@b', 7n]] : [],
      liars.join(),
    );
  }
});

test('V7 a block costs a bounded number of balances; touched addresses come first, then a rotation through all', async (t) => {
  const { chain, client, self } = await started(1);
  const asked: string[][] = [];
  const exact = client.fetchBalancesAt.bind(client);
  client.fetchBalancesAt = (addresses, block) => {
    asked.push([...addresses]);
    return exact(addresses, block);
  };
  self.restart();
  for (let round = 0; round < 6; round += 1) {
    chain.mine(round === 3 ? [pay('touch', '@c')] : []);
    await self.watcher.tick();
  }
  t.true(asked.every((addresses) => addresses.length <= 1));
  t.deepEqual(asked.slice(0, 3).flat().sort(), ['@a', '@b', '@c']);
  t.deepEqual(asked[3], ['@c']);
  t.true(self.recorder.gauges.has('svc_reconcile_pass_seconds'), 'the lag is shown');
});

test('V7 a payment that is only not recorded yet, or that a reorg takes back, is no growth', async (t) => {
  const { chain, client, self, findings } = await started(10);
  chain.mine([pay('unread')]);
  client.contentMissing.add(1);
  for (let round = 0; round < 12; round += 1) {
    chain.mine();
    await self.watcher.tick();
  }
  client.contentMissing.clear();
  self.nowMs += 120_000;
  chain.mine([pay('orphan', '@b')]);
  await self.watcher.tick();
  chain.fork(1, [[], []]);
  for (let round = 0; round < 12; round += 1) {
    chain.mine();
    await self.watcher.tick();
  }
  t.deepEqual(await findings(), []);
});

test('decisions 5: the audit compares every asset in both directions and names a difference', async (t) => {
  const { chain, client, self, findings } = await started(null);
  const audit = createAudit(self.parts);
  const spent: Pick<WithdrawalRow, 'from' | 'amount' | 'fee' | 'height' | 'status'> = {
    from: '@a',
    amount: 2n,
    fee: 1n,
    height: 2,
    status: 'confirmed',
  };
  chain.mine([pay('in')]);
  chain.mine([pay('in2', '@b', 4n)]);
  await self.watcher.tick();
  t.like(await audit.round(10), { compared: 3, unread: 0, passDone: true });
  self.store.saveWithdrawal({
    id: 'txn_1',
    accountId: ACCOUNT,
    ledger: 'eth',
    tokenContract: null,
    versions: [],
    ...spent,
  } as unknown as WithdrawalRow);
  client.hidden.set('@c', 9n);
  for (let round = 0; round < 3; round += 1) {
    chain.mineEmpty(simulatedNetwork.threshold);
    await self.watcher.tick();
    await audit.round(10);
  }
  t.deepEqual(
    (await findings()).map(({ address, kind, amount }) => [address, kind, amount]).sort(),
    [
      ['@a', 'unattributed', 3n],
      ['@c', 'unattributed', 9n],
    ],
    'the withdrawal is recorded and the simulated chain still holds its coins',
  );
  client.hidden.set('@b', -1n);
  for (let round = 0; round < 3; round += 1) {
    chain.mineEmpty(simulatedNetwork.threshold);
    await self.watcher.tick();
    await audit.round(10);
  }
  t.like(
    (await findings()).find(({ kind }) => kind === 'shortfall'),
    { address: '@b', amount: 1n, expected: 4n, found: 3n },
  );
});

test('V7 an address that takes many rounds to count holds no other up: a part of it each round, its balance once it is counted', async (t) => {
  const { chain, client, self, findings } = await started(null);
  const { balances: all } = await self.audit.ledgerBalances('eth', { afterKey: null }, 0, 10);
  const [a, b] = ['@a', '@b'].map((address) => all.find((row) => row.address === address)!.addressKey);
  const parts = new Map([
    [a, 6],
    [b, 4],
  ]);
  const asked: string[] = [];
  const audit = createAudit({
    ...self.parts,
    audit: {
      ...self.audit,
      async ledgerBalances(ledger, ask, height, limit) {
        const { balances, next } = await self.audit.ledgerBalances(ledger, ask, height, limit);
        const uncounted = [...new Set(balances.map(({ addressKey }) => addressKey))].filter(
          (key) => (parts.get(key) ?? 0) > 0,
        );
        return {
          balances: balances.filter(({ addressKey }) => !uncounted.includes(addressKey)),
          uncounted: uncounted.map((addressKey) => ({ addressKey, sides: [] })),
          next,
        };
      },
      async count(_ledger, { addressKey }) {
        asked.push(addressKey);
        parts.set(addressKey, parts.get(addressKey)! - 1);
        return parts.get(addressKey) === 0;
      },
    },
  });
  client.hidden.set('@c', 7n).set('@b', 2n);
  const looked: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    chain.mineEmpty(simulatedNetwork.threshold);
    await self.watcher.tick();
    const { compared, passDone } = await audit.round(10);
    t.true(passDone, 'the walk waits for nobody');
    looked.push(compared);
    if (round === 8) {
      t.is(parts.get(a)! + parts.get(b)!, 2, 'one part a round, from the second on');
      t.deepEqual(
        (await findings()).map(({ address }) => address),
        ['@c'],
        'others are audited meanwhile',
      );
      t.false(self.recorder.gauges.has('svc_audit_pass_seconds'), 'no walk has looked at all of them yet');
    }
  }
  t.deepEqual(asked.slice(0, 6), [a, b, a, b, a, b], 'in turn');
  t.is(asked.length, 10);
  t.deepEqual((await findings()).map(({ address }) => address).sort(), ['@b', '@c']);
  t.true(self.recorder.gauges.has('svc_audit_pass_seconds'));
  t.is(looked.at(-1), 3);
});

for (const { name, landed, fee, shown, found } of [
  { name: 'the new version', landed: 'new', fee: 2n, shown: null, found: [] },
  { name: 'the old version', landed: 'old', fee: 1n, shown: null, found: [] },
  {
    name: 'the old version, shown with the amount of the new one',
    landed: 'old',
    fee: 1n,
    shown: 3n,
    found: [['shortfall', 1n]],
  },
  {
    name: 'the new version, shown with the amount of the old one',
    landed: 'new',
    fee: 2n,
    shown: 4n,
    found: [['unattributed', 1n]],
  },
] as const) {
  test(`found F70: the audit of a send-all that was repriced, all of 5 sent: ${name} in the chain`, async (t) => {
    const { chain, client, self, findings } = await started(null);
    const audit = createAudit(self.parts);
    const versions = [
      { txid: 'old', signedPayload: '', payload: '', amount: '4' },
      { txid: 'new', signedPayload: '', payload: '', amount: '3' },
    ];
    chain.mine([pay('in')]);
    await self.watcher.tick();
    self.store.saveWithdrawal({
      id: 'txn_1',
      accountId: ACCOUNT,
      ledger: 'eth',
      tokenContract: null,
      from: '@a',
      versions: [], // nothing of it is under way
      txid: landed,
      amount: shown ?? amountOf({ versions, amount: 3n }, landed),
      fee,
      height: 1,
      status: 'confirmed',
    } as unknown as WithdrawalRow);
    client.hidden.set('@a', -5n); // nothing is left
    for (let round = 0; round < 3; round += 1) {
      chain.mineEmpty(simulatedNetwork.threshold);
      await self.watcher.tick();
      await audit.round(10);
    }
    t.deepEqual(
      (await findings()).map(({ kind, amount }) => [kind, amount]),
      found as never,
    );
  });
}

test('found F50: a height that stays unreadable stops neither the audit nor the reconciliation; only growth that its block may have paid waits', async (t) => {
  const { chain, client, self, findings } = await started(10);
  const audit = createAudit(self.parts);
  chain.mine([pay('unread')]);
  client.contentMissing.add(1);
  chain.mine([pay('read', '@b')]);
  const rounds = async (count: number) => {
    for (let round = 0; round < count; round += 1) {
      self.nowMs += 61_000;
      chain.mine();
      await self.watcher.tick();
      await audit.round(10);
    }
  };
  await rounds(12);
  t.is((await self.store.coverage('eth')).completeHeight, 0);
  t.deepEqual(await findings(), [], 'the chain holds 5 more of @a than the facts say, and the unread block paid them');
  client.hidden.set('@b', -2n);
  client.hidden.set('@c', 7n);
  await rounds(12);
  t.deepEqual((await findings()).map(({ address, kind, amount }) => `${address} ${kind} ${amount}`).sort(), [
    '@b shortfall 2',
    '@c unattributed 7',
  ]);
  client.contentMissing.clear();
  self.nowMs += 120_000;
  await rounds(12);
  t.is((await findings()).length, 2, 'what the block paid is a fact now');
});

test('found F50: a credited payment that a reorg displaced is a shortfall while an unproven block of the new branch holds its reversal back', async (t) => {
  const { chain, client, self, findings } = await started(null);
  const audit = createAudit(self.parts);
  const kinds = () => self.store.inbox(ACCOUNT).map(({ fact }) => fact.kind);
  chain.mine([pay('gone')]);
  chain.mineEmpty(simulatedNetwork.threshold);
  await self.watcher.tick();
  chain.fork(
    simulatedNetwork.threshold + 1,
    Array.from({ length: simulatedNetwork.threshold + 2 }, () => []),
  );
  client.contentMissing.add(3);
  for (let round = 0; round < 12; round += 1) {
    await self.watcher.tick();
    chain.mine();
    await audit.round(10);
  }
  t.deepEqual(kinds(), ['seen', 'matured']);
  t.like((await findings())[0], { kind: 'shortfall', address: '@a', amount: 5n, expected: 5n, found: 0n });
  client.contentMissing.clear();
  self.nowMs += 120_000;
  await self.watcher.tick();
  t.deepEqual(kinds(), ['seen', 'matured', 'orphaned']);
});

test('G23 a token that left the catalogue is not compared any more', async (t) => {
  const { chain, self, findings } = await started(null);
  const audit = createAudit(self.parts);
  chain.mine([{ ...pay('token'), tokenContract: '@gone' }]);
  for (let round = 0; round < 3; round += 1) {
    chain.mineEmpty(simulatedNetwork.threshold);
    await self.watcher.tick();
    t.like(await audit.round(10), { unread: 0, compared: 4 });
  }
  t.deepEqual(await findings(), []);
});

test('G8 a balance that cannot be read is unread, never a zero and never a difference', async (t) => {
  const { chain, client, self, findings } = await started(null);
  const audit = createAudit(self.parts);
  chain.mine([pay('in')]);
  await self.watcher.tick();
  client.down = true;
  for (let round = 0; round < 4; round += 1) t.like(await audit.round(10), { compared: 0, unread: 3 });
  t.deepEqual(await findings(), []);
});

test('V10 G24 growth that a block itself shows without a payer is kept for an operator', async (t) => {
  const chain = new SimulatedChain();
  const self = watching({
    client: chain.client(),
    module: {
      ...simulatedModule,
      transfersIn: (network: Network, block: Block<SimulatedRaw>, catalogue: Catalogue) => ({
        ...simulatedModule.transfersIn(network, block, catalogue),
        unattributed: [
          ['@a', 3n],
          ['@tank', 9n],
          ['@a', 4n],
          ['@nobody', 8n],
        ].map(([to, amount], index) => ({
          to: to as string,
          amount: amount as bigint,
          tokenContract: null,
          reason: 'validator withdrawal',
          evidence: `withdrawal ${index}`,
        })),
      }),
    } as ChainModule,
  });
  self.issue('@a');
  self.issue('@tank', undefined, 'gas_tank');
  await self.watcher.tick();
  const found = await self.audit.discrepancies('eth', 10);
  t.is(found.length, 1, "growth of a gas tank is nobody's deposit");
  t.like(found[0], { kind: 'unattributed', amount: 7n, height: 0, address: '@a' });
  t.deepEqual(self.store.facts('eth'), []);
});

test('V7 found: sums that were kept of an address and are not those of its rows are an error line, once', async (t) => {
  const { chain, self } = await started(null);
  chain.mine([pay('known')]);
  await self.watcher.tick();
  let wrong: readonly WrongTotal[] = [{ side: 'received', subject: 'key', counted: '{"": 5}', byRows: '{"": 6}' }];
  const audit = createAudit({
    ...self.parts,
    audit: {
      ...self.audit,
      recount: async () => {
        const [one = null] = wrong;
        wrong = [];
        return one;
      },
    },
  });
  for (let round = 0; round < 3; round += 1) t.true((await audit.round(10)).passDone);
  const lines = self.recorder.lines.filter(({ message }) => message.startsWith('sums that were kept'));
  t.deepEqual(
    lines.map(({ level, fields }) => [level, fields]),
    [['error', { ledger: 'eth', side: 'received', subject: 'key', counted: '{"": 5}', byRows: '{"": 6}' }]],
  );
});
