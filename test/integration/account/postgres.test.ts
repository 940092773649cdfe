/**
 * The account actor on the real store: what it decides is what the schema takes, and what it leaves to the store is
 * refused there.
 */
import test from 'ava';
import { createAccountEntity, type AccountReply } from '../../../actors/account/account.ts';
import { createChainBook } from '../../../actors/account/chain-book.ts';
import type {
  AccountCommand,
  AccountEvent,
  AccountReplies,
  AccountState,
  RowWrite,
} from '../../../model/account/capabilities.ts';
import { ask, createSystem, systemClock, type ActorSystem, type Outcome } from '../../../actors/kernel/index.ts';
import { createPublisher } from '../../../actors/webhook/publisher.ts';
import type { Delivery, DeliveryStreams } from '../../../actors/webhook/ports.ts';
import { evm } from '../../../chains/evm/index.ts';
import type { ChainModule } from '../../../chains/chain.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import type { SeenTransfer } from '../../../model/rows/inbox.ts';
import type { Cursor } from '../../../model/ports/watch-store.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { accountIdOf, type AccountId } from '../../../protocol/ids.ts';
import { newId, shardOf } from '../../../protocol/node/ids.ts';
import { restartPolicy } from '../../../actors/kernel/restart-policy.ts';
import { eventually } from '../../support/gateway.ts';
import { commands, IDENTITY, pushedKey, pushedPool, txn } from '../../support/account.ts';
import { inputsOf, RECIPIENT } from '../../support/evm-inputs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { linksAfter, NOW_MS, openStores, PLAN, recordOf, transferTo, webhookRow } from '../../support/store-rows.ts';
import { RESTARTS } from '../../actors/kernel/node.ts';

let database: TestDatabase;
let stores: Stores;
let system: ActorSystem;
let send: <C extends AccountCommand>(accountId: AccountId, command: C) => Promise<Outcome<AccountReplies[C['type']]>>;

test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  const policy = restartPolicy(RESTARTS);
  const write = () => {};
  system = createSystem({
    clock: systemClock,
    random: () => 0,
    policies: { entity: policy, worker: policy },
    log: { warn: write, error: write },
    hooks: {},
  });
  const accounts = system.entities<AccountState, AccountCommand, AccountEvent, RowWrite, AccountReply>({
    entity: createAccountEntity({ book: createChainBook([evm as ChainModule]) }),
    store: stores.accounts,
    shardOf,
  });
  send = ((accountId, command) => ask(accounts.address(accountId), command)) as typeof send;
});
test.after.always(async () => {
  await system.stop(2_000);
  await database.close();
});

async function accepted<C extends AccountCommand>(
  accountId: AccountId,
  command: C,
): Promise<AccountReplies[C['type']]> {
  const outcome = await send(accountId, command);
  if (outcome.ok !== true) throw new Error(`${command.type}: ${JSON.stringify(outcome)}`);
  return outcome.reply;
}

async function refused(accountId: AccountId, command: AccountCommand): Promise<Refusal> {
  const outcome = await send(accountId, command);
  if (outcome.ok !== false) throw new Error(`${command.type} was accepted`);
  return outcome;
}

/** An organization and its two accounts, nothing enrolled. */
async function newOrganization(): Promise<{ live: AccountId; sandbox: AccountId }> {
  const userId = newId('usr', NOW_MS),
    organizationId = newId('org', NOW_MS);
  await stores.identity.insertUser({
    id: userId,
    email: `${userId}@example.com`,
    passwordHash: 'x',
    sealedTotpSecret: null,
    totpConfirmed: false,
    platformRole: null,
  });
  await stores.identity.createOrganization({ id: organizationId, name: 'Test', createdAtMs: NOW_MS }, userId, PLAN);
  return { live: accountIdOf(organizationId, 'live'), sandbox: accountIdOf(organizationId, 'sandbox') };
}

let phrases = 0;
/** An enrolled account of a new organization; each has a phrase of its own, as far as the vectors reach. */
async function enrolledAccount(
  environment: 'live' | 'sandbox' = 'live',
  identity = newId('key', NOW_MS).slice(4).padEnd(64, '0'),
): Promise<{ accountId: AccountId; other: AccountId }> {
  const organization = await newOrganization();
  const accountId = organization[environment],
    other = organization[environment === 'live' ? 'sandbox' : 'live'];
  await accepted(
    accountId,
    commands.enrol({ publicKey: identity, keys: [pushedKey('evm', phrases)], addressIds: ids() }),
  );
  phrases += 1;
  return { accountId, other };
}

const ids = () => Array.from({ length: 10 }, () => newId('adr', NOW_MS));
const address = (accountId: AccountId) => accepted(accountId, commands.createAddress({ id: newId('adr', NOW_MS) }));
const unissued = async (accountId: AccountId) => stores.read.unissuedPool(accountId, 'sol', 64);

/** Applies what waits in the inbox, as `actors/account/port.ts` does. */
async function wake(accountId: AccountId) {
  const waiting = await stores.inbox.inboxOf(accountId, 200);
  return accepted(accountId, {
    type: 'apply_facts',
    ...waiting,
    depositIds: waiting.inbox.map(() => newId('dep', NOW_MS)),
  });
}

/** Records a block that pays an address, on top of the ledger's cursor. */
async function pay(row: AddressRow): Promise<{ transfer: SeenTransfer; before: Cursor; cursor: Cursor }> {
  let before = await stores.watch.cursor('eth');
  if (before === null) {
    const [root] = linksAfter({ height: 999, hash: 'root' }, 1, 'a');
    await stores.watch.recordBlock('eth', recordOf(root!, [], { previous: null }));
    before = { height: root!.height, hash: root!.hash };
  }
  const [link] = linksAfter(before, 1, 'b');
  const transfer = transferTo(row, link!);
  await stores.watch.recordBlock('eth', recordOf(link!, [transfer]));
  return { transfer, before, cursor: { height: link!.height, hash: link!.hash } };
}

/** Facts mature below a head that was noted. */
async function matureBelow(
  ...[ledger, facts]: Parameters<Stores['watch']['mature']>
): ReturnType<Stores['watch']['mature']> {
  await stores.watch.noteHead(ledger, 1_000_000, Date.now());
  return stores.watch.mature(ledger, facts);
}

test.serial(
  '§3.6 from a recorded block to deposit, ledger, publication and delivery; archived meanwhile it is told to its end; mined again is confirmed again',
  async (t) => {
    const { accountId } = await enrolledAccount();
    const hook = webhookRow(accountId, { events: ['deposit_detected', 'deposit_confirmed', 'deposit_reversed'] });
    await accepted(accountId, { type: 'create_webhook', row: hook });
    const paid = await address(accountId);
    const { transfer, before, cursor } = await pay(paid);
    t.like(await wake(accountId), { applied: 1, deferred: 0, events: ['deposit_detected'] });
    await matureBelow('eth', [
      { txid: transfer.txid, outputIndex: transfer.outputIndex, blockHash: transfer.blockHash, confirmations: 12 },
    ]);
    t.deepEqual((await wake(accountId)).events, ['deposit_confirmed']);
    const branch = linksAfter(before, 2, 'c');
    await stores.watch.recordReorg(
      'eth',
      before,
      cursor,
      branch.map((link) => recordOf(link)),
    );
    t.deepEqual((await wake(accountId)).events, ['deposit_reversed']);
    const head = branch.at(-1)!;
    const [next] = linksAfter(head, 1, 'd');
    const again = { ...transfer, accountId, addressKey: paid.addressKey, height: next!.height, blockHash: next!.hash };
    await stores.watch.recordBlock('eth', recordOf(next!, [again]));
    t.deepEqual((await wake(accountId)).events, []);
    await accepted(accountId, { type: 'set_address_status', known: paid, status: 'archived', alone: true });
    await matureBelow('eth', [
      { txid: transfer.txid, outputIndex: transfer.outputIndex, blockHash: next!.hash, confirmations: 12 },
    ]);
    t.deepEqual((await wake(accountId)).events, ['deposit_confirmed']);
    const entries =
      await database.owner`select kind, incarnation, amount::text, event_id is null as quiet from ledger_entry where account_id = ${accountId} order by recorded_at, incarnation, kind desc`;
    t.deepEqual(
      entries.map(({ kind, incarnation, amount, quiet }) => [kind, incarnation, amount, quiet]).sort(),
      [
        ['detected', 1, '1000', false],
        ['credit', 1, '1000', false],
        ['reversal', 1, '-1000', false],
        ['detected', 2, '1000', true],
        ['credit', 2, '1000', false],
      ].sort(),
    );
    t.is((await stores.read.deliveries(accountId, {}, { page: 0, size: 20 })).totalElements, 4);
    t.like((await stores.read.transactions(accountId, {}, { page: 0, size: 20 })).content[0], {
      status: 'confirmed',
      incarnation: 2,
    });
  },
);

test.serial('no fact is decided twice: the same inbox rows a second time are stale and change nothing', async (t) => {
  const { accountId } = await enrolledAccount();
  await pay(await address(accountId));
  const waiting = await stores.inbox.inboxOf(accountId, 200);
  const command = { type: 'apply_facts' as const, ...waiting, depositIds: [newId('dep', NOW_MS)] };
  t.is((await accepted(accountId, command)).applied, 1);
  t.is((await send(accountId, { ...command, depositIds: [newId('dep', NOW_MS)] })).ok, false);
  const [{ count }] = await database.owner<
    [{ count: number }]
  >`select count(*)::int as count from deposit where account_id = ${accountId}`;
  t.is(count, 1);
});

test.serial(
  '§5.8 the same identity in live and sandbox: CROSS_ENVIRONMENT_IDENTITY, also when both come at once',
  async (t) => {
    const { live, sandbox } = await newOrganization();
    const sync = (accountId: AccountId) =>
      send(accountId, commands.enrol({ publicKey: IDENTITY, keys: [], addressIds: [] }));
    const outcomes = await Promise.all([sync(live), sync(sandbox)]);
    t.deepEqual(outcomes.map((outcome) => (outcome.ok === false ? outcome.code : 'ok')).sort(), [
      'CROSS_ENVIRONMENT_IDENTITY',
      'ok',
    ]);
  },
);

test.serial('I9 an address that another account holds: ADDRESS_CONFLICT', async (t) => {
  const one = await newOrganization(),
    two = await newOrganization();
  const key = pushedKey('tron');
  await accepted(one.live, commands.enrol({ publicKey: 'd'.repeat(64), keys: [key], addressIds: ids() }));
  t.is(
    (await refused(two.live, commands.enrol({ publicKey: 'e'.repeat(64), keys: [key], addressIds: ids() }))).code,
    'ADDRESS_CONFLICT',
  );
});

test.serial(
  'C2 a transaction that pays another account when it is included again: each account has the truth, none is stuck',
  async (t) => {
    const ours = await enrolledAccount(),
      theirs = await enrolledAccount();
    const paid = await address(ours.accountId),
      other = await address(theirs.accountId);
    const { transfer, before, cursor } = await pay(paid);
    await wake(ours.accountId);
    const mature = (blockHash: string) =>
      matureBelow('eth', [{ txid: transfer.txid, outputIndex: transfer.outputIndex, blockHash, confirmations: 12 }]);
    await mature(transfer.blockHash);
    await wake(ours.accountId);
    const [link] = linksAfter(before, 1, 'e');
    const now = { ...transferTo(other, link!), txid: transfer.txid, outputIndex: transfer.outputIndex, amount: '7' };
    await stores.watch.recordReorg('eth', before, cursor, [recordOf(link!, [now])]);
    // The payee's actor may be the first of the two.
    t.deepEqual((await wake(theirs.accountId)).events, ['deposit_detected']);
    await mature(link!.hash);
    await t.throwsAsync(wake(theirs.accountId), undefined, 'never two credits of one movement');
    t.deepEqual((await wake(ours.accountId)).events, ['deposit_reversed']);
    t.deepEqual((await wake(theirs.accountId)).events, ['deposit_confirmed']);
    const sums = await database.owner<{ accountId: AccountId; sum: string }[]>`
    select e.account_id, sum(e.amount)::text as sum from ledger_entry e join deposit d on d.account_id = e.account_id and d.id = e.deposit_id
     where d.txid = ${transfer.txid} and e.kind <> 'detected' group by e.account_id`;
    t.deepEqual(
      Object.fromEntries(sums.map((row) => [row.accountId, row.sum])),
      { [ours.accountId]: '0', [theirs.accountId]: '7' },
      'in whatever order',
    );
    // And back again, with a third amount.
    const { cursor: head } = { cursor: (await stores.watch.cursor('eth'))! };
    const [third] = linksAfter(before, 1, 'f');
    await stores.watch.recordReorg('eth', before, head, [
      recordOf(third!, [
        { ...transferTo(paid, third!), txid: transfer.txid, outputIndex: transfer.outputIndex, amount: '3' },
      ]),
    ]);
    t.deepEqual((await wake(theirs.accountId)).events, ['deposit_reversed']);
    t.deepEqual((await wake(ours.accountId)).events, ['deposit_detected']);
    t.like((await stores.read.transactions(ours.accountId, {}, { page: 0, size: 20 })).content[0], {
      amount: 3n,
      incarnation: 2,
      status: 'detected',
    });
  },
);

test.serial('an address that was archived meanwhile is not archived twice: CONFLICT, counted once', async (t) => {
  const { accountId } = await enrolledAccount();
  const known = await address(accountId);
  const outcomes = await Promise.all(
    [1, 2, 3].map(() => send(accountId, { type: 'set_address_status', known, status: 'archived', alone: true })),
  );
  t.deepEqual(outcomes.map((outcome) => (outcome.ok === false ? outcome.code : 'ok')).sort(), [
    'CONFLICT',
    'CONFLICT',
    'ok',
  ]);
  t.is((await accepted(accountId, { type: 'inspect' })).activeAddresses, 0);
});

test.serial('pool addresses come from the store, in their turn, under concurrency', async (t) => {
  const { live: accountId } = await newOrganization();
  await accepted(
    accountId,
    commands.enrol({ publicKey: 'f'.repeat(64), keys: [], pools: [pushedPool('sol', 5)], addressIds: ids() }),
  );
  const window = await unissued(accountId);
  const rows = await Promise.all(
    [1, 2, 3].map(() =>
      accepted(accountId, commands.createAddress({ id: newId('adr', NOW_MS), chain: 'sol', unissued: window })),
    ),
  );
  t.deepEqual(
    rows.map(({ index }) => index),
    [0, 1, 2],
  );
  t.deepEqual(
    (await unissued(accountId)).map(({ index }) => index),
    [3, 4],
  );
});

test.serial('a withdrawal from build to billing, and builds beside each other, as the rows say it', async (t) => {
  const { accountId } = await enrolledAccount();
  const from = await address(accountId);
  const build = (): Extract<AccountCommand, { type: 'build_withdrawal' }> => ({
    type: 'build_withdrawal',
    id: txn(),
    inputs: inputsOf(),
    from,
    tokenSymbol: 'ETH',
    decimals: 18,
    intent: {
      chain: 'eth',
      from: from.address,
      fromPath: from.derivationPath,
      to: RECIPIENT,
      amount: 1_000n,
      token: null,
      tag: null,
    },
  });
  const first = await accepted(accountId, build()),
    second = await accepted(accountId, build());
  t.like(await stores.read.withdrawal(accountId, first.id), {
    status: 'built',
    unsigned: { replayKey: second.unsigned.replayKey },
  });
  const known = (await stores.read.withdrawal(accountId, second.id))!;
  t.like(known, { status: 'built', unsigned: second.unsigned, updatedAtMs: second.updatedAtMs });
  const repriced = await accepted(accountId, { type: 'reprice_withdrawal', known, inputs: inputsOf() });
  t.is((await refused(accountId, { type: 'abandon_withdrawal', known })).code, 'CONFLICT');
  t.is(
    (
      await accepted(accountId, {
        type: 'abandon_withdrawal',
        known: (await stores.read.withdrawal(accountId, repriced.id))!,
      })
    ).status,
    'expired',
  );
  t.deepEqual((await accepted(accountId, { type: 'inspect' })).counters, {});
});

test.serial('§6 from the append to the recorded attempt: the publisher claims what the actor published', async (t) => {
  const { accountId } = await enrolledAccount();
  const hook = webhookRow(accountId, { events: ['edge_offline', 'edge_online'] });
  await accepted(accountId, { type: 'create_webhook', row: hook });
  await accepted(accountId, { type: 'note_liveness', liveness: 'live' });
  const sent: Delivery[] = [];
  const streams: DeliveryStreams = {
    leaders: () => new Set([accountId]),
    deliver: async (_accountId, deliveries) => {
      sent.push(...deliveries);
      return { ok: true };
    },
  };
  const publisher = createPublisher({
    node: 'node-a',
    store: stores.deliveries,
    streams,
    clock: systemClock,
    random: () => 0,
    log: {
      warn: (_fields, message) => t.log(message),
    },
    secrets: { open: () => `whsec_${Buffer.alloc(24).toString('base64')}` },
  });
  publisher.start();
  await accepted(accountId, { type: 'note_liveness', liveness: 'down' });
  await accepted(accountId, { type: 'note_liveness', liveness: 'live' });
  publisher.ring(accountId);
  const waitFor = (count: number) =>
    eventually(
      `${count} are sent`,
      async () => sent.length,
      (length) => length >= count,
    );
  await waitFor(1);
  t.deepEqual(
    sent.map(({ body }) => (JSON.parse(body) as { event: string }).event),
    ['edge_offline'],
  );
  const answered = ({ deliveryId, attempt }: Delivery) => ({
    deliveryId,
    attempt,
    statusCode: 204,
    durationMs: 7,
    retryAfterSeconds: null,
    outcome: 'answered' as const,
  });
  await publisher.report(accountId, [answered(sent[0]!)]);
  await waitFor(2);
  await publisher.report(accountId, [answered(sent[1]!)]);
  const { content } = await stores.read.deliveries(accountId, {}, { page: 0, size: 20 });
  t.deepEqual(
    content
      .map(({ event, status, attempts }) => [
        event,
        status,
        attempts.map(({ statusCode, durationMs }) => [statusCode, durationMs]),
      ])
      .sort(),
    [
      ['edge_offline', 'delivered', [[204, 7]]],
      ['edge_online', 'delivered', [[204, 7]]],
    ],
  );
  t.is(await stores.deliveries.incompletePublications(), 0);
  await publisher.stop();
});

test.serial('§4.7 a sandbox reset leaves keys and own addresses, and issues the first address again', async (t) => {
  const { accountId } = await enrolledAccount('sandbox');
  const first = await address(accountId);
  await accepted(accountId, { type: 'begin_reset' });
  while (await stores.sandbox.resetStep(accountId, 1_000));
  await accepted(accountId, { type: 'reset_sandbox' });
  t.is((await stores.read.addresses(accountId, {}, { page: 0, size: 20 })).totalElements, 0);
  t.is((await stores.read.ownAddresses(accountId, 'gas_tank')).length, 1);
  t.is((await address(accountId)).address, first.address);
});
