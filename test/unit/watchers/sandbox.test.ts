import { tokensWith } from '../../support/tokens.ts';
import { setImmediate } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { HDNodeWallet } from 'ethers/wallet';
import { Transaction } from 'ethers/transaction';
import type { ChainModule, Intent, Network, Unsigned } from '../../../chains/chain.ts';
import { catalogueOf } from '../../../chains/catalogue.ts';
import { decodeUnsigned, encodeUnsigned, type EvmTransaction } from '../../../chains/evm/envelope.ts';
import { evm } from '../../../chains/evm/index.ts';
import { evmNetworks } from '../../../chains/evm/network.ts';
import { createChainAccess } from '../../../chain-watchers/chain-access.ts';
import { simulatedFamilyOf } from '../../../chain-watchers/sandbox/families.ts';
import { append } from '../../../chain-watchers/sandbox/ledger.ts';
import { createSandbox } from '../../../chain-watchers/sandbox/sandbox.ts';
import { createMemoryAuditStore } from '../../../persistence/memory/audit-store.ts';
import { createMemorySandboxStore } from '../../../persistence/memory/sandbox-store.ts';
import { createMemoryWatchStore } from '../../../persistence/memory/watch-store.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { accountIdOf, type AccountId } from '../../../protocol/ids.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { CHAINS, FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';
import { ModelAccount } from '../../support/model-account.ts';
import { Recorder } from '../../support/watching.ts';

const ACCOUNT = accountIdOf('org_box', 'sandbox');
const wallet = HDNodeWallet.fromPhrase('test test test test test test test test test test test junk');
const ADDRESS = wallet.address;
const PAYEE = '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0';

function box(accounts: readonly AccountId[] = [ACCOUNT]) {
  const self = { nowMs: 1_700_000_000_000, asked: [] as unknown[], slowly: async () => {} };
  const watch = createMemoryWatchStore(() => self.nowMs);
  const former = new Set<string>(),
    sandboxStore = createMemorySandboxStore(watch.state, former);
  const models = new Map(accounts.map((id) => [id, new ModelAccount()]));
  const deps = {
    sandbox: sandboxStore,
    watch,
    audit: createMemoryAuditStore(watch.state),
    nowMs: () => self.nowMs,
    elapsedMs: () => self.nowMs,
    log: new Recorder(),
    tokens: tokensWith(catalogueOf),
    accounts: {
      async wake(accountId: AccountId) {
        await self.slowly();
        const rows = watch.inbox(accountId);
        models.get(accountId)!.take(rows);
        watch.takeInbox(rows.map(({ id }) => id));
      },
      async ask(_accountId: AccountId, command: unknown) {
        self.asked.push(command);
        return { ok: 'duplicate' } as const;
      },
    },
    networkOf: (chain: Chain): Network =>
      evmNetworks.find(({ slug }) => slug === chain) ?? { ...evmNetworks[0]!, slug: chain },
    isEnabled: () => true,
    loadModule: async () => evm as ChainModule,
  };
  for (const [index, accountId] of accounts.entries()) {
    const bytes = Buffer.from(ADDRESS.slice(2), 'hex');
    watch.addAddress(
      {
        addressKey: index === 0 ? addressKeyOf('sandbox', 'evm', bytes) : `other-${index}`,
        addressId: 'adr_1',
        accountId,
        address: ADDRESS,
        purpose: 'deposit',
      },
      'sandbox',
      self.nowMs,
    );
  }
  let sandbox = createSandbox(deps);
  const access = createChainAccess(
    new Map(),
    {
      isEnabled: (chain) => sandbox.ledgers.isEnabled(chain),
      open: (id, chain) => sandbox.ledgers.open(id, chain),
      downUntilMs: (id, chain) => sandbox.ledgers.downUntilMs(id, chain),
    },
    () => evmNetworks[0]!,
    tokensWith(catalogueOf),
  );
  return Object.assign(self, {
    watch,
    sandboxStore,
    former,
    models,
    account: models.get(ACCOUNT)!,
    access,
    deps,
    get sandbox() {
      return sandbox;
    },
    restart() {
      sandbox = createSandbox(deps);
    },
    deposit: (partial: object = {}) =>
      sandbox.control.simulateDeposit(ACCOUNT, {
        chain: 'eth',
        address: ADDRESS,
        amount: '1.5',
        tokenContract: null,
        autoConfirm: false,
        confirmAfterSeconds: null,
        ...partial,
      }),
  });
}

const events = (account: ModelAccount) => account.events.map(({ event, incarnation }) => `${event} ${incarnation}`);

function ok<T>(t: ExecutionContext, value: T): Exclude<T, { ok: false }> {
  if (isRefusal(value)) t.fail(JSON.stringify(value));
  return value as Exclude<T, { ok: false }>;
}

test('§4.7 simulate-deposit mines one confirmation: detected, not confirmed', async (t) => {
  const self = box();
  const deposit = ok(t, await self.deposit());
  t.like(deposit, { outputIndex: -1, height: 1 });
  t.deepEqual(events(self.account), ['deposit_detected 1']);
  t.is(self.account.deposits.get(`${deposit.txid}:-1`)!.transfer.amount, '1500000000000000000');
});

test('§4.7 simulate-deposit with autoConfirm delivers a detected event, then a confirmed event, on all five networks', async (t) => {
  for (const network of evmNetworks) {
    const self = box();
    ok(t, await self.deposit({ chain: network.slug, autoConfirm: true }));
    t.deepEqual(events(self.account), ['deposit_detected 1', 'deposit_confirmed 1'], network.slug);
  }
});

test('§4.7 confirmAfterSeconds confirms by a durable timer, also after a restart', async (t) => {
  const self = box();
  ok(t, await self.deposit({ autoConfirm: true, confirmAfterSeconds: 30 }));
  self.nowMs += 29_999;
  await self.sandbox.sweep();
  t.deepEqual(events(self.account), ['deposit_detected 1']);
  self.restart();
  self.nowMs += 1;
  await self.sandbox.sweep();
  t.deepEqual(events(self.account), ['deposit_detected 1', 'deposit_confirmed 1']);
  self.nowMs += 60_000;
  t.is(await self.sandbox.sweep(), 0, 'the timer is finished');
});

test('§4.7 simulate-confirmation mines to the target and fires every threshold crossed', async (t) => {
  const self = box();
  const { txid } = ok(t, await self.deposit());
  const ask = (confirmations: number) =>
    self.sandbox.control.simulateConfirmation(ACCOUNT, { chain: 'eth', txid, confirmations });
  t.deepEqual(await ask(11), { confirmations: 11 });
  t.deepEqual(events(self.account), ['deposit_detected 1']);
  t.deepEqual(await ask(5), { confirmations: 11 }, 'never back');
  t.deepEqual(await ask(12), { confirmations: 12 });
  t.deepEqual(events(self.account), ['deposit_detected 1', 'deposit_confirmed 1']);
  t.like(await self.sandbox.control.simulateConfirmation(ACCOUNT, { chain: 'eth', txid: '0xnone', confirmations: 3 }), {
    ok: false,
    code: 'NOT_FOUND',
  });
  t.like(await ask(1_001), { ok: false, code: 'INVALID_INPUT' });
});

test('decisions 8: simulate-reorg takes the payment back, confirmed or not, and the ledger goes on', async (t) => {
  const self = box();
  ok(t, await self.deposit({ autoConfirm: true }));
  t.deepEqual(await self.sandbox.control.simulateReorg(ACCOUNT, { chain: 'eth', depth: 12 }), { depth: 12 });
  t.deepEqual(events(self.account), ['deposit_detected 1', 'deposit_confirmed 1', 'deposit_reversed 1']);
  t.is(await self.sandboxStore.balance('eth@org_box_sandbox', ADDRESS, null), 0n);
  ok(t, await self.deposit({ autoConfirm: true }));
  t.is(self.account.credited().size, 1);
  t.like(await self.sandbox.control.simulateReorg(ACCOUNT, { chain: 'eth', depth: 1_000 }), {
    ok: false,
    code: 'INVALID_INPUT',
  });
});

test('decisions 8: simulate-chain-down answers CHAIN_UNAVAILABLE and shows in the status of the chain; what was paid meanwhile is found afterwards (C1-14)', async (t) => {
  const self = box();
  const binding = ok(t, await self.access.bind(ACCOUNT, 'eth'));
  const down = ok(t, await self.sandbox.control.simulateChainDown(ACCOUNT, { chain: 'eth', seconds: 60 }));
  t.is(down.untilMs, self.nowMs + 60_000);
  await t.throwsAsync(binding.client.fetchBalance(ADDRESS, null), { name: 'ChainUnavailable' });
  const until = new Date(down.untilMs).toISOString();
  t.like(await self.access.condition(ACCOUNT, 'eth'), {
    status: 'unavailable',
    reason: `simulated outage until ${until}`,
    setting: null,
  });
  t.is((await self.access.condition(ACCOUNT, 'bsc')).status, 'ok', 'another chain is not down');
  ok(t, await self.deposit({ autoConfirm: true }));
  t.deepEqual(events(self.account), []);
  self.nowMs += 60_000;
  t.like(await self.access.condition(ACCOUNT, 'eth'), { status: 'ok', reason: null, next: null });
  await self.sandbox.control.simulateChainDown(ACCOUNT, { chain: 'eth', seconds: 60 });
  t.is((await self.access.condition(ACCOUNT, 'eth')).status, 'unavailable');
  await self.sandbox.control.simulateChainDown(ACCOUNT, { chain: 'eth', seconds: 0 });
  t.is((await self.access.condition(ACCOUNT, 'eth')).status, 'ok', 'it is ended at once');
  await self.sandbox.sweep();
  t.deepEqual(events(self.account), ['deposit_detected 1', 'deposit_confirmed 1']);
  t.is((await binding.client.fetchBalance(ADDRESS, null)).amount, 1_500_000_000_000_000_000n);
});

test('a block that was mined by a process that died before its tick is found by the sweep', async (t) => {
  const self = box();
  ok(t, await self.deposit());
  const { parts } = await self.sandbox.ledgers.open(ACCOUNT, 'eth');
  const payment = ok(
    t,
    parts.family.deposit(parts.network, {
      to: ADDRESS,
      amount: 5n,
      token: null,
      seed: new Uint8Array(32).fill(7),
      balance: 0n,
    }),
  );
  await append<never>(parts, async () => [[payment]]);
  t.deepEqual(events(self.account), ['deposit_detected 1']);
  self.restart();
  t.is(await self.sandbox.sweep(), 1);
  t.deepEqual(events(self.account), ['deposit_detected 1', 'deposit_detected 1']);
  t.is(await self.sandbox.sweep(), 0);
});

test('a token deposit carries the decimals of its deployment (G5); other tokens are refused by their code', async (t) => {
  const self = box();
  const token = [...catalogueOf('bsc').values()].find(({ decimals }) => decimals === 18)!;
  const deposit = ok(
    t,
    await self.deposit({ chain: 'bsc', tokenContract: token.contract, amount: '2.5', autoConfirm: true }),
  );
  const known = self.account.deposits.get(`${deposit.txid}:0`)!;
  t.like(known, {
    status: 'confirmed',
    transfer: { amount: '2500000000000000000', decimals: 18, tokenContract: token.contract, tokenSymbol: token.symbol },
  });
  t.like(await self.deposit({ tokenContract: token.contract }), { ok: false, code: 'TOKEN_NOT_ON_CHAIN' });
  t.like(await self.deposit({ tokenContract: 'nonsense' }), { ok: false, code: 'TOKEN_NOT_SUPPORTED' });
  t.like(
    await self.deposit({ tokenContract: PAYEE }),
    { ok: false, code: 'TOKEN_NOT_SUPPORTED' },
    'a contract of no chain',
  );
});

test('amounts are refused, never rounded (§2.2)', async (t) => {
  const self = box();
  for (const amount of ['0', '-1', '1e3', '1.0000000000000000001', '', '1,5']) {
    t.like(await self.deposit({ amount }), { ok: false, code: 'INVALID_AMOUNT' }, amount);
  }
  t.is(await self.sandboxStore.head('eth@org_box_sandbox'), null);
});

const intent = (partial: Partial<Intent> = {}): Intent => ({
  chain: 'eth',
  from: ADDRESS,
  fromPath: "m/44'/60'/0'/0/0",
  to: PAYEE,
  amount: 1_000_000_000_000_000n,
  token: null,
  tag: null,
  ...partial,
});

async function signed(unsigned: Unsigned) {
  const raw = Transaction.from(unsigned.payload);
  const payload = await wallet.signTransaction(raw);
  return { chain: unsigned.chain, payload, txid: Transaction.from(payload).hash! };
}

function transactionOf({ payload }: Unsigned): EvmTransaction {
  const decoded = decodeUnsigned(payload);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.transaction;
}

async function built(t: ExecutionContext, self: ReturnType<typeof box>, wanted: Intent = intent()) {
  const { client, network, module } = ok(t, await self.access.bind(ACCOUNT, wanted.chain));
  const inputs = await client.fetchBuildInputs(wanted);
  const unsigned = ok(t, module.buildUnsigned(network, inputs, wanted, null));
  return { client, network, module, unsigned, signed: await signed(unsigned) };
}

test('build, sign, broadcast and confirm run through the real code of the family, with real signed bytes', async (t) => {
  const self = box();
  ok(t, await self.deposit({ autoConfirm: true }));
  const { client, unsigned, signed: bytes, module, network } = await built(t, self);
  t.is(module.matchSigned(network, unsigned, bytes), null);
  t.deepEqual(await client.broadcast(bytes), { kind: 'accepted', txid: bytes.txid });
  t.deepEqual(await client.broadcast(bytes), { kind: 'already_known', txid: bytes.txid }, 'G26');
  const fate = await client.getFate(unsigned, bytes.txid);
  if (fate.kind !== 'included') return t.fail();
  t.true(fate.outcome.success && fate.outcome.fee! > 0n && fate.outcome.fee! <= unsigned.feeMax);
  const balance = await client.fetchBalance(ADDRESS, null);
  t.is(balance.amount, 1_500_000_000_000_000_000n - unsigned.amount - fate.outcome.fee!);
  t.is((await client.fetchBalance(PAYEE, null)).amount, unsigned.amount);
  const block = await client.getBlock(fate.height);
  t.like(
    module.outcomesIn(network, block, new Set([bytes.txid]))[0],
    { success: true, fee: fate.outcome.fee },
    'the real reader finds the same fee',
  );
});

function withdrawalOf(
  self: { nowMs: number },
  unsigned: Unsigned,
  bytes: { txid: string; payload: string },
): WithdrawalRow {
  return {
    id: 'txn_1',
    accountId: ACCOUNT,
    ledger: 'eth@org_box_sandbox',
    chain: 'eth',
    from: ADDRESS,
    to: PAYEE,
    amount: unsigned.amount,
    decimals: 18,
    tokenContract: null,
    tokenSymbol: 'ETH',
    userRef: null,
    tag: null,
    status: 'broadcast',
    unsigned,
    versions: [{ txid: bytes.txid, signedPayload: bytes.payload, payload: unsigned.payload }],
    txid: null,
    height: null,
    blockHash: null,
    fee: null,
    failure: null,
    createdAtMs: self.nowMs,
    updatedAtMs: self.nowMs,
  };
}

test('a withdrawal is told as included when its block is mined, and matures by simulate-confirmation', async (t) => {
  const self = box();
  ok(t, await self.deposit({ autoConfirm: true }));
  const { client, unsigned, signed: bytes } = await built(t, self);
  self.watch.saveWithdrawal(withdrawalOf(self, unsigned, bytes));
  await client.broadcast(bytes);
  await self.sandbox.sweep();
  const included = self.account.withdrawalFacts[0]!;
  t.like(included, { kind: 'withdrawal_included', txid: bytes.txid, success: true });
  self.watch.saveWithdrawal({
    ...self.watch.state.withdrawals.get('txn_1')!,
    status: 'confirming',
    txid: bytes.txid,
    height: included.height,
    blockHash: included.blockHash,
  });
  await self.sandbox.control.simulateConfirmation(ACCOUNT, { chain: 'eth', txid: bytes.txid, confirmations: 12 });
  t.is(self.account.withdrawalFacts.at(-1)!.kind, 'withdrawal_matured');
});

test('§4.7 simulate-confirmation right after a broadcast confirms it, however late the account takes that it is in a block', async (t) => {
  const self = box();
  ok(t, await self.deposit({ autoConfirm: true }));
  const { client, unsigned, signed: bytes } = await built(t, self);
  self.watch.saveWithdrawal(withdrawalOf(self, unsigned, bytes));
  const known = new Set<string>();
  self.slowly = async () => {
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    const row = self.watch.state.withdrawals.get('txn_1')!;
    for (const { id, fact } of self.watch.inbox(ACCOUNT)) {
      if (known.has(String(id)) || fact.kind !== 'withdrawal_included') continue;
      known.add(String(id));
      self.watch.saveWithdrawal({
        ...row,
        status: 'confirming',
        txid: fact.txid,
        height: fact.height,
        blockHash: fact.blockHash,
      });
    }
  };
  await client.broadcast(bytes);
  await self.sandbox.control.simulateConfirmation(ACCOUNT, { chain: 'eth', txid: bytes.txid, confirmations: 12 });
  t.is(self.account.withdrawalFacts.at(-1)?.kind, 'withdrawal_matured');
});

test('a withdrawal that a simulated reorg takes out is submitted again by the sweep, as the same bytes', async (t) => {
  const self = box();
  ok(t, await self.deposit({ autoConfirm: true }));
  const { client, unsigned, signed: bytes } = await built(t, self);
  await client.broadcast(bytes);
  const row = {
    id: 'txn_1',
    accountId: ACCOUNT,
    ledger: 'eth@org_box_sandbox',
    chain: 'eth',
    from: ADDRESS,
    unsigned,
    status: 'broadcast',
    versions: [{ txid: bytes.txid, signedPayload: bytes.payload, payload: unsigned.payload }],
    height: null,
    updatedAtMs: 0,
    createdAtMs: 0,
  } as unknown as WithdrawalRow;
  await self.sandbox.control.simulateReorg(ACCOUNT, { chain: 'eth', depth: 1 });
  t.is(await self.sandboxStore.blockOf('eth@org_box_sandbox', bytes.txid), null);
  self.watch.saveWithdrawal(row);
  t.is(await self.sandbox.sweep(), 1);
  t.truthy(await self.sandboxStore.blockOf('eth@org_box_sandbox', bytes.txid));
});

test('found F70: a stuck ledger takes a version only for a tenth more in both fields, as a node does, and knows which it has', async (t) => {
  const self = box();
  ok(t, await self.deposit({ autoConfirm: true }));
  const { client, signed: bytes, unsigned } = await built(t, self);
  ok(t, await self.sandbox.control.simulateStuck(ACCOUNT, { chain: 'eth', stuck: true }));
  t.deepEqual(await client.broadcast(bytes), { kind: 'accepted', txid: bytes.txid });
  t.deepEqual(await client.broadcast(bytes), { kind: 'already_known', txid: bytes.txid }, 'G26');
  t.deepEqual(await client.getFate(unsigned, bytes.txid), { kind: 'pending' });
  const at = async (feePercent: bigint, tipPercent: bigint) => {
    const raw = Transaction.from(unsigned.payload);
    raw.maxFeePerGas = (raw.maxFeePerGas! * feePercent + 99n) / 100n;
    raw.maxPriorityFeePerGas = (raw.maxPriorityFeePerGas! * tipPercent + 99n) / 100n;
    const payload = await wallet.signTransaction(raw),
      txid = Transaction.from(payload).hash!;
    return { txid, result: await client.broadcast({ chain: 'eth', payload, txid }) };
  };
  for (const [fee, tip] of [
    [100n, 110n],
    [110n, 100n],
    [109n, 109n],
    [109n, 120n],
  ] as const) {
    t.like(
      (await at(fee, tip)).result,
      { kind: 'rejected_final', refusal: { details: { reason: 'replacement transaction underpriced' } } },
      `${fee} ${tip}`,
    );
  }
  const newer = await at(110n, 110n);
  t.is(newer.result.kind, 'accepted');
  t.deepEqual(await client.getFate(unsigned, newer.txid), { kind: 'pending' });
  t.like(await client.getFate(unsigned, bytes.txid), { kind: 'unknown' }, 'a miner may still have it');
  t.like(await client.broadcast(bytes), { kind: 'rejected_final' }, 'the older one does not come back for less');
  t.is((await client.fetchBalance(PAYEE, null)).amount, 0n);
  ok(t, await self.sandbox.control.simulateConfirmation(ACCOUNT, { chain: 'eth', txid: bytes.txid, confirmations: 1 }));
  t.like(await client.getFate(unsigned, newer.txid), { kind: 'dead' }, 'G27: its counter value is used');
  t.is(await self.sandboxStore.pooled('eth@org_box_sandbox', newer.txid), null);
  t.is((await client.fetchBalance(PAYEE, null)).amount, unsigned.amount);
});

test('found F10: the ledger takes a payment for itself only; what was signed before it had an id of its own still lands', async (t) => {
  for (const stuck of [false, true]) {
    const self = box();
    ok(t, await self.deposit({ autoConfirm: true }));
    const { client, unsigned, module, network } = await built(t, self);
    ok(t, await self.sandbox.control.simulateStuck(ACCOUNT, { chain: 'eth', stuck }));
    const live = { ...unsigned, payload: encodeUnsigned({ ...transactionOf(unsigned), chainId: 1 }) },
      bytes = await signed(live);
    t.like(await client.broadcast(bytes), {
      kind: 'rejected_final',
      refusal: { details: { reason: 'invalid chain id for signer' } },
    });
    self.former.add(bytes.txid);
    t.deepEqual(await client.broadcast(bytes), { kind: 'accepted', txid: bytes.txid });
    const repriced = module.reprice(network, live, await client.fetchBuildInputs(intent()));
    if (isRefusal(repriced)) t.false(stuck, 'its nonce is used where it is in a block');
    else {
      t.is(transactionOf(repriced).chainId, transactionOf(unsigned).chainId, 'a version from now on is of the ledger');
      const newer = await signed(repriced);
      t.deepEqual(await client.broadcast(newer), { kind: 'accepted', txid: newer.txid });
    }
    ok(
      t,
      await self.sandbox.control.simulateConfirmation(ACCOUNT, { chain: 'eth', txid: bytes.txid, confirmations: 1 }),
    );
    t.is((await client.getFate(live, bytes.txid)).kind, 'included');
    ok(t, await self.sandbox.control.simulateReorg(ACCOUNT, { chain: 'eth', depth: 1 }));
  }
});

test('found F70: a pool that a process did not let go of to the end is let go of by the sweep', async (t) => {
  const self = box();
  ok(t, await self.deposit({ autoConfirm: true }));
  const { client, signed: bytes } = await built(t, self);
  ok(t, await self.sandbox.control.simulateStuck(ACCOUNT, { chain: 'eth', stuck: true }));
  await client.broadcast(bytes);
  const { heldInPool } = self.sandboxStore;
  self.sandboxStore.heldInPool = async () => {
    throw new Error('killed');
  };
  await t.throwsAsync(self.sandbox.control.simulateStuck(ACCOUNT, { chain: 'eth', stuck: false }), {
    message: 'killed',
  });
  self.sandboxStore.heldInPool = heldInPool;
  self.restart();
  t.is(await self.sandboxStore.blockOf('eth@org_box_sandbox', bytes.txid), null);
  self.nowMs += 60_000;
  await self.sandbox.sweep();
  t.truthy(await self.sandboxStore.blockOf('eth@org_box_sandbox', bytes.txid));
});

test('ecosystem X76 a stuck ledger lets its pool go after so many blocks more, also where the process died behind the last one', async (t) => {
  for (const dies of [false, true]) {
    const self = box();
    ok(t, await self.deposit({ autoConfirm: true }));
    const { client, signed: bytes } = await built(t, self);
    const mined = async () => (await self.sandboxStore.blockOf('eth@org_box_sandbox', bytes.txid)) !== null;
    ok(t, await self.sandbox.control.simulateStuck(ACCOUNT, { chain: 'eth', stuck: true, blocks: 2 }));
    await client.broadcast(bytes);
    ok(t, await self.sandbox.control.advance(ACCOUNT, 'eth'));
    t.false(await mined());
    const { heldInPool } = self.sandboxStore;
    if (dies)
      self.sandboxStore.heldInPool = async () => {
        throw new Error('killed');
      };
    const last = self.sandbox.control.advance(ACCOUNT, 'eth');
    if (dies) {
      await t.throwsAsync(last, { message: 'killed' });
      self.sandboxStore.heldInPool = heldInPool;
      self.restart();
      t.false(await mined());
      self.nowMs += 60_000;
      await self.sandbox.sweep();
    } else ok(t, await last);
    t.true(await mined());
    t.is(await self.sandboxStore.stuckUntil('eth@org_box_sandbox'), null);
  }
});

test('ecosystem X76 a ledger that is stuck until somebody pays more mines the version that took the place of another', async (t) => {
  const self = box();
  ok(t, await self.deposit({ autoConfirm: true }));
  const { client, unsigned, module, network, signed: bytes } = await built(t, self);
  ok(t, await self.sandbox.control.simulateStuck(ACCOUNT, { chain: 'eth', stuck: true, untilRepriced: true }));
  await client.broadcast(bytes);
  t.is((await client.getFate(unsigned, bytes.txid)).kind, 'pending');
  const newer = await signed(ok(t, module.reprice(network, unsigned, await client.fetchBuildInputs(intent()))));
  t.deepEqual(await client.broadcast(newer), { kind: 'accepted', txid: newer.txid });
  t.is((await client.getFate(unsigned, newer.txid)).kind, 'included');
  t.is((await client.getFate(unsigned, bytes.txid)).kind, 'dead');
  t.like(await self.sandbox.control.simulateStuck(ACCOUNT, { chain: 'eth', stuck: false, blocks: 1 }), {
    code: 'INVALID_INPUT',
    details: { field: 'blocks' },
  });
});

test('ecosystem X76 simulate-replaced: another transaction has the counter value, and what waited in the pool is dead', async (t) => {
  const self = box();
  ok(t, await self.deposit({ autoConfirm: true }));
  const { client, unsigned, signed: bytes } = await built(t, self);
  const replace = (txid: string) => self.sandbox.control.simulateReplaced(ACCOUNT, { chain: 'eth', txid });
  t.like(await replace(bytes.txid), { code: 'NOT_FOUND', details: { field: 'txid' } });
  ok(t, await self.sandbox.control.simulateStuck(ACCOUNT, { chain: 'eth', stuck: true }));
  await client.broadcast(bytes);
  const before = await self.sandboxStore.balance('eth@org_box_sandbox', ADDRESS, null);
  const rival = ok(t, await replace(bytes.txid));
  t.not(rival.txid, bytes.txid);
  t.is((await client.getFate(unsigned, bytes.txid)).kind, 'dead');
  const paid = before - (await self.sandboxStore.balance('eth@org_box_sandbox', ADDRESS, null));
  t.true(paid > 0n && paid < unsigned.amount, 'its fee and nothing else');
  t.like(await replace(rival.txid), { code: 'CONFLICT', details: { field: 'txid' } });
});

test('ecosystem X76 the failures of an endpoint are so many attempts, each counted once, and end after a day; edges are away until their time', async (t) => {
  const self = box();
  const { control } = self.sandbox;
  const take = async (...ids: string[]) =>
    [
      ...(await control.takeEndpointFailures(ids.map((deliveryId) => ({ webhookId: 'hook', deliveryId, attempt: 1 })))),
    ].map(([id, failure]) => [id, failure]);
  t.deepEqual(await take('a'), []);
  await control.simulateEndpointFailure(ACCOUNT, { webhookId: 'hook', attempts: 2, status: 500 });
  t.deepEqual(await take('a'), [['a', { status: 500 }]]);
  self.restart();
  t.deepEqual(
    await take('a', 'b', 'c'),
    [
      ['a', { status: 500 }],
      ['b', { status: 500 }],
    ],
    'a is the same attempt, c is one too many',
  );
  await control.simulateEndpointFailure(ACCOUNT, { webhookId: 'hook', attempts: 1, delaySeconds: 3 });
  t.deepEqual(await take('d'), [['d', { delayMs: 3_000 }]]);
  await control.simulateEndpointFailure(ACCOUNT, { webhookId: 'hook', attempts: 0 });
  t.deepEqual(await take('e'), []);
  await control.simulateEndpointFailure(ACCOUNT, { webhookId: 'hook', attempts: 9, status: 500 });
  t.deepEqual(await control.simulateEdgeOffline(ACCOUNT, 60), { untilMs: self.nowMs + 60_000 });
  t.is(await control.edgeOfflineUntilMs(ACCOUNT), self.nowMs + 60_000);
  self.nowMs += 60_000;
  t.is(await control.edgeOfflineUntilMs(ACCOUNT), null);
  self.nowMs += 86_400_000;
  await self.sandbox.sweep();
  t.deepEqual(await take('f'), []);
  await control.simulateEdgeOffline(ACCOUNT, 60);
  await control.simulateEdgeOffline(ACCOUNT, 0);
  t.is(await control.edgeOfflineUntilMs(ACCOUNT), null);
});

test("G28 the ledger refuses what a node refuses: chain id, nonce, balance, signature, a txid that is not the bytes'", async (t) => {
  const self = box();
  ok(t, await self.deposit({ autoConfirm: true }));
  ok(t, await self.deposit({ chain: 'base', autoConfirm: true }));
  const { client, signed: bytes, unsigned } = await built(t, self);
  const other = ok(t, await self.access.bind(ACCOUNT, 'base'));
  t.like(await other.client.broadcast({ ...bytes, chain: 'base' }), {
    kind: 'rejected_final',
    refusal: { code: 'CHAIN_REJECTED', details: { reason: 'invalid chain id for signer' } },
  });
  t.like(await client.broadcast({ ...bytes, txid: `0x${'0'.repeat(64)}` }), {
    kind: 'rejected_final',
    refusal: { details: { reason: 'the txid is not the hash of the payload' } },
  });
  t.like(await client.broadcast({ ...bytes, payload: unsigned.payload }), { kind: 'rejected_final' }, 'not signed');
  const rewritten = async (change: (raw: Transaction) => void) => {
    const raw = Transaction.from(unsigned.payload);
    change(raw);
    const payload = await wallet.signTransaction(raw);
    return client.broadcast({ chain: 'eth', payload, txid: Transaction.from(payload).hash! });
  };
  t.like(
    await rewritten((raw) => {
      raw.nonce = 5;
    }),
    { kind: 'unknown', reason: 'nonce too high: next 0, got 5' },
  );
  t.like(
    await rewritten((raw) => {
      raw.value = 10n ** 20n;
    }),
    { kind: 'rejected_final', refusal: { code: 'INSUFFICIENT_FUNDS' } },
  );
  t.like(
    await rewritten((raw) => {
      raw.value = 1_500_000_000_000_000_000n;
    }),
    { kind: 'rejected_final', refusal: { code: 'INSUFFICIENT_GAS' } },
  );
  t.like(
    await rewritten((raw) => {
      raw.gasLimit = 20_999n;
    }),
    { kind: 'rejected_final', refusal: { details: { reason: 'intrinsic gas too low' } } },
  );
  t.like(
    await rewritten((raw) => {
      raw.maxFeePerGas = 5n;
      raw.maxPriorityFeePerGas = 1n;
    }),
    { kind: 'rejected_final' },
  );
  t.is((await client.broadcast(bytes)).kind, 'accepted');
  t.like(
    await rewritten((raw) => {
      raw.value = 7n;
    }),
    { kind: 'rejected_final', refusal: { details: { reason: 'nonce too low' } } },
  );
  t.like(await client.getFate({ ...unsigned }, '0xother'), { kind: 'dead' }, 'G27: the nonce is used by another hash');
});

test('a token withdrawal moves the token and pays its fee in the native coin; without tokens it is mined as failed', async (t) => {
  const self = box();
  const token = [...catalogueOf('eth').values()][0]!;
  ok(t, await self.deposit({ autoConfirm: true }));
  ok(t, await self.deposit({ tokenContract: token.contract, amount: '10', autoConfirm: true }));
  const unit = 10n ** BigInt(token.decimals);
  const { client, signed: bytes, unsigned } = await built(t, self, intent({ token, amount: 4n * unit }));
  t.is((await client.broadcast(bytes)).kind, 'accepted');
  t.is((await client.fetchBalance(ADDRESS, token)).amount, 6n * unit);
  t.is((await client.fetchBalance(PAYEE, token)).amount, 4n * unit);
  const again = Transaction.from(unsigned.payload);
  again.nonce = 1;
  again.data = again.data.slice(0, -64) + (7n * unit).toString(16).padStart(64, '0');
  const payload = await wallet.signTransaction(again);
  const txid = Transaction.from(payload).hash!;
  t.is((await client.broadcast({ chain: 'eth', payload, txid })).kind, 'accepted');
  t.like(await client.getOutcome(txid), { success: false, reason: 'reverted' });
  t.is((await client.fetchBalance(ADDRESS, token)).amount, 6n * unit);
});

test("a sandbox ledger is its account's own: no other sandbox account is paid or moved", async (t) => {
  const other = accountIdOf('org_neighbour', 'sandbox');
  const self = box([ACCOUNT, other]);
  ok(t, await self.deposit({ autoConfirm: true }));
  t.is(self.models.get(other)!.events.length, 0);
  t.is(await self.sandboxStore.head('eth@org_neighbour_sandbox'), null);
});

test('§4.7 reset forgets blocks, balances, timers and what was watched; the ledger begins anew', async (t) => {
  const self = box();
  ok(t, await self.deposit({ confirmAfterSeconds: 5 }));
  await self.sandbox.control.reset(ACCOUNT);
  t.is(await self.sandboxStore.head('eth@org_box_sandbox'), null);
  t.is(await self.watch.cursor('eth@org_box_sandbox'), null);
  self.nowMs += 10_000;
  t.is(await self.sandbox.sweep(), 0);
  t.like(ok(t, await self.deposit({ autoConfirm: true })), { height: 1 });
});

test('chains without a simulated ledger answer CHAIN_UNAVAILABLE for good; live chains are those that are configured', async (t) => {
  const self = box();
  const simulated = (chain: Chain) => simulatedFamilyOf(FAMILY_OF[chain]) !== null;
  t.deepEqual(self.access.enabled(ACCOUNT), CHAINS.filter(simulated));
  for (const chain of CHAINS.filter((slug) => !simulated(slug))) {
    t.like(await self.access.bind(ACCOUNT, chain), {
      ok: false,
      code: 'CHAIN_UNAVAILABLE',
      details: { permanent: true },
    });
    t.like(await self.deposit({ chain }), { ok: false, code: 'CHAIN_UNAVAILABLE', details: { permanent: true } });
  }
  const live = accountIdOf('org_box', 'live');
  t.deepEqual(self.access.enabled(live), []);
  t.like(await self.access.bind(live, 'eth'), { ok: false, code: 'CHAIN_UNAVAILABLE', details: { permanent: true } });
  let stopped: string | null = null;
  const { binding } = await self.sandbox.ledgers.open(ACCOUNT, 'eth');
  let begun = false;
  const access = createChainAccess(
    new Map([['eth', { ...binding, stopped: () => stopped, begun: async () => begun, endpointViews: () => [] }]]),
    self.sandbox.ledgers,
    () => evmNetworks[0]!,
    tokensWith(catalogueOf),
  );
  t.like(
    await access.notBegun(live, 'eth'),
    { ok: false, code: 'CHAIN_UNAVAILABLE', details: { chain: 'eth', permanent: false } },
    'found F51',
  );
  begun = true;
  t.is(await access.notBegun(live, 'eth'), null);
  t.is(await access.notBegun(live, 'bsc'), null, 'whether it is enabled is another question');
  t.is(await access.notBegun(ACCOUNT, 'eth'), null, 'a simulated ledger begins at its first block');
  t.like(await access.bind(live, 'eth'), { network: { slug: 'eth' } });
  stopped = 'no common ancestor';
  t.like(
    await access.bind(live, 'eth'),
    { ok: false, code: 'CHAIN_UNAVAILABLE', details: { permanent: false } },
    'G17',
  );
});

test('of many payments that are simulated at once each is mined, and one that is refused holds up no other', async (t) => {
  const made = box();
  const answers = await Promise.all(
    Array.from({ length: 120 }, (_, at) => made.deposit(at % 7 === 3 ? { amount: '0' } : { autoConfirm: false })),
  );
  const mined = answers.filter((answer) => !isRefusal(answer));
  t.is(mined.length, answers.filter((_, at) => at % 7 !== 3).length);
  t.is(new Set(mined.map((answer) => (answer as { txid: string }).txid)).size, mined.length);
  t.is(made.account.deposits.size, mined.length);
});
