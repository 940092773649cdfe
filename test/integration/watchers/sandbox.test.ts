/** The sandbox from lever to ledger entry: real account actors, real signed bytes, PostgreSQL. */
import { tokensWith } from '../../support/tokens.ts';
import test, { type ExecutionContext } from 'ava';
import { HDNodeWallet } from 'ethers/wallet';
import { Transaction } from 'ethers/transaction';
import { createAccountEntity, type AccountReply } from '../../../actors/account/account.ts';
import { createChainBook } from '../../../actors/account/chain-book.ts';
import type {
  AccountCommand,
  AccountEvent,
  AccountReplies,
  AccountState,
  RowWrite,
} from '../../../model/account/capabilities.ts';
import { createSystem, systemClock } from '../../../actors/kernel/index.ts';
import { catalogueOf } from '../../../chains/catalogue.ts';
import { isEnabled, loadModule, networkOf } from '../../../chains/registry.ts';
import { createChainAccess } from '../../../chain-watchers/chain-access.ts';
import { createSandbox } from '../../../chain-watchers/sandbox/sandbox.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { accountIdOf, type AccountId } from '../../../protocol/ids.ts';
import { newId, shardOf } from '../../../protocol/node/ids.ts';
import { createAccounts } from '../../../actors/account/port.ts';
import { ENTITY_RESTARTS, restartPolicy, WORKER_RESTARTS } from '../../../actors/kernel/restart-policy.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { NOW_MS, openStores, PLAN } from '../../support/store-rows.ts';
import { Recorder } from '../../support/watching.ts';

const wallet = HDNodeWallet.fromPhrase(
  'test test test test test test test test test test test junk',
  '',
  "m/44'/60'/0'",
);
const PAYEE = '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0';

async function world(t: ExecutionContext) {
  const database = await createTestDatabase();
  const stores = await openStores(database);
  const userId = newId('usr', NOW_MS),
    organizationId = newId('org', NOW_MS);
  await stores.identity.insertUser({
    id: userId,
    email: 'owner@example.com',
    passwordHash: 'x',
    sealedTotpSecret: null,
    totpConfirmed: false,
    platformRole: null,
  });
  await stores.identity.createOrganization({ id: organizationId, name: 'Box', createdAtMs: NOW_MS }, userId, PLAN);
  const accountId = accountIdOf(organizationId, 'sandbox');
  const self = { nowMs: NOW_MS };
  const nowMs = () => self.nowMs;
  const log = Object.assign(new Recorder(), { debug: () => undefined, fatal: () => undefined }) as never;
  const system = createSystem({
    log,
    clock: systemClock,
    random: Math.random,
    policies: { entity: restartPolicy(ENTITY_RESTARTS), worker: restartPolicy(WORKER_RESTARTS) },
  });
  t.teardown(async () => {
    await system.stop(5_000);
    await database.close();
  });
  const evm = await loadModule('eth');
  const entities = system.entities<AccountState, AccountCommand, AccountEvent, RowWrite, AccountReply>({
    entity: createAccountEntity({ book: createChainBook([evm]) }),
    store: stores.accounts,
    shardOf,
    residentsMax: 100,
    summarise: () => ({}),
  });
  const accounts = createAccounts({
    entities,
    inbox: stores.inbox,
    nowMs,
    log,
    onPublished: () => undefined,
    onPoolUsed: () => undefined,
  });
  const sandbox = createSandbox({
    sandbox: stores.sandbox,
    watch: stores.watch,
    audit: stores.audit,
    accounts,
    networkOf,
    isEnabled,
    loadModule,
    tokens: tokensWith(catalogueOf),
    nowMs,
    elapsedMs: nowMs,
    log,
  });
  const access = createChainAccess(new Map(), sandbox.ledgers, networkOf, tokensWith(catalogueOf));
  const ask = async <C extends AccountCommand>(command: C): Promise<AccountReplies[C['type']]> => {
    const answer = await accounts.ask(accountId, command);
    if (answer.ok !== true) throw new Error(`${command.type}: ${JSON.stringify(answer)}`);
    return answer.reply;
  };
  await ask({
    type: 'enrol',
    publicKey: 'ab'.repeat(32),
    keys: [{ family: 'evm', xpub: wallet.neuter().extendedKey, accountPath: "m/44'/60'/0'" }],
    pools: [],
    rotationId: newId('rot', NOW_MS),
    addressIds: Array.from({ length: 12 }, () => newId('adr', NOW_MS)),
  });
  const address = await ask({
    type: 'create_address',
    id: newId('adr', NOW_MS),
    chain: 'eth',
    userRef: 'customer-1',
    tag: null,
    label: null,
    paired: null,
    unissued: [],
  });
  return Object.assign(self, {
    database,
    stores,
    accountId,
    accounts,
    sandbox,
    access,
    ask,
    address,
    transactions: () => transactionsOf(stores, accountId),
  });
}

async function transactionsOf(stores: Awaited<ReturnType<typeof openStores>>, accountId: AccountId): Promise<string[]> {
  const { content } = await stores.read.transactions(accountId, {}, { page: 0, size: 50 });
  return content.map(({ direction, status, amount, incarnation }) =>
    [direction, status, amount, incarnation].join(' '),
  );
}

function ok<T>(value: T): Exclude<T, { ok: false }> {
  if (isRefusal(value)) throw new Error(JSON.stringify(value));
  return value as Exclude<T, { ok: false }>;
}

test('§4.7 §3.6 simulate-deposit becomes a deposit that is detected, confirmed, reversed by simulate-reorg, and reset', async (t) => {
  const self = await world(t);
  const { control } = self.sandbox;
  const deposit = (more: object) =>
    control.simulateDeposit(self.accountId, {
      chain: 'eth',
      address: self.address.address,
      amount: '1.5',
      tokenContract: null,
      autoConfirm: false,
      confirmAfterSeconds: null,
      ...more,
    });
  ok(await deposit({}));
  t.deepEqual(await self.transactions(), ['in detected 1500000000000000000 1']);
  const { txid } = ok(await deposit({ autoConfirm: true, amount: '2' }));
  t.deepEqual((await self.transactions()).sort(), [
    'in confirmed 1500000000000000000 1',
    'in confirmed 2000000000000000000 1',
  ]);
  ok(await control.simulateReorg(self.accountId, { chain: 'eth', depth: 12 }));
  t.deepEqual((await self.transactions()).sort(), [
    'in confirmed 1500000000000000000 1',
    'in reversed 2000000000000000000 1',
  ]);
  t.is(await self.stores.sandbox.blockOf(`eth@${self.accountId}`, txid), null);
  await self.ask({ type: 'begin_reset' });
  t.true(await control.reset(self.accountId));
  await self.ask({ type: 'reset_sandbox' });
  t.deepEqual(await self.transactions(), []);
});

test('spec §4.7, reliability 4: a reset that was left between two steps is ended by the sweep, once', async (t) => {
  const self = await world(t);
  const { accountId, address, stores, sandbox, database } = self;
  const { control, sweep } = sandbox;
  const deposit = { chain: 'eth', address: address.address, amount: '1', tokenContract: null } as const;
  for (let n = 0; n < 3; n += 1)
    ok(await control.simulateDeposit(accountId, { ...deposit, autoConfirm: true, confirmAfterSeconds: null }));
  await self.ask({ type: 'begin_reset' });
  t.true(await stores.sandbox.resetStep(accountId, 2), 'whoever began it is gone, and rows are left');
  await sweep();
  t.not((await self.ask({ type: 'inspect' })).resetting, false, 'it may be at work yet');
  await database.owner`update sandbox_reset set began_at = began_at - interval '1 minute'`;
  await sweep();
  t.is((await self.ask({ type: 'inspect' })).resetting, false);
  t.deepEqual(await self.transactions(), []);
  t.is(await stores.sandbox.head(`eth@${accountId}`), null);
  const { version } = await self.ask({ type: 'inspect' });
  await self.ask({ type: 'reset_sandbox' });
  await sweep();
  t.is((await self.ask({ type: 'inspect' })).version, version, 'whoever ends it second changes nothing');
});

test('issue 2.9 a withdrawal in the sandbox is built, signed, submitted, orphaned by a reorg, submitted again and confirmed', async (t) => {
  const self = await world(t);
  ok(
    await self.sandbox.control.simulateDeposit(self.accountId, {
      chain: 'eth',
      address: self.address.address,
      amount: '1',
      tokenContract: null,
      autoConfirm: true,
      confirmAfterSeconds: null,
    }),
  );
  const { client } = ok(await self.access.bind(self.accountId, 'eth'));
  const intent = {
    chain: 'eth',
    from: self.address.address,
    fromPath: self.address.derivationPath,
    to: PAYEE,
    amount: 10n ** 17n,
    token: null,
    tag: null,
  } as const;
  const inputs = await client.fetchBuildInputs(intent);
  const built = await self.ask({
    type: 'build_withdrawal',
    id: newId('txn', NOW_MS),
    intent,
    inputs,
    from: self.address,
    tokenSymbol: 'ETH',
    decimals: 18,
  });
  const { epoch } = await self.ask({ type: 'claim_lease', sessionId: 'ses_1', liveSessions: ['ses_1'] });
  const signer = wallet.derivePath('0/0');
  t.is(signer.address, self.address.address);
  const payload = await signer.signTransaction(Transaction.from(built.unsigned.payload));
  const signed = { chain: 'eth', payload, txid: Transaction.from(payload).hash! } as const;
  const known = (await self.stores.read.withdrawal(self.accountId, built.id))!;
  await self.ask({ type: 'submit_signed', known, signed, sessionId: 'ses_1', leaseEpoch: epoch });
  const submitted = (await self.stores.read.withdrawal(self.accountId, built.id))!;
  await self.ask({
    type: 'note_broadcast',
    known: submitted,
    txid: signed.txid,
    result: await client.broadcast(signed),
  });
  const statusOf = async () => (await self.stores.read.withdrawal(self.accountId, built.id))!.status;
  await self.sandbox.sweep();
  await self.accounts.wake(self.accountId); // A fact that was deferred behind `note_broadcast` waits for the next wake.
  t.is(await statusOf(), 'confirming');
  ok(await self.sandbox.control.simulateReorg(self.accountId, { chain: 'eth', depth: 1 }));
  t.is(await statusOf(), 'broadcast');
  for (let round = 0; round < 4 && (await statusOf()) === 'broadcast'; round += 1) {
    self.nowMs += 10_000;
    const { ledgers } = self.sandbox;
    await ledgers.tick(await ledgers.open(self.accountId, 'eth'));
  }
  t.is(await statusOf(), 'confirming', 'the same bytes were submitted again');
  ok(
    await self.sandbox.control.simulateConfirmation(self.accountId, {
      chain: 'eth',
      txid: signed.txid,
      confirmations: 12,
    }),
  );
  t.is(await statusOf(), 'confirmed');
  const fee = (await self.stores.read.withdrawal(self.accountId, built.id))!.fee!;
  t.is((await client.fetchBalance(self.address.address, null)).amount, 10n ** 18n - 10n ** 17n - fee);
});
