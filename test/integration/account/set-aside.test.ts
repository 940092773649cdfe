/** One fact that an account cannot take holds up no other: it is set aside, seen, and taken when it can be. */
import test from 'ava';
import { createAccountEntity, type AccountReply } from '../../../actors/account/account.ts';
import { createChainBook } from '../../../actors/account/chain-book.ts';
import type { AccountCommand, AccountEvent, AccountState, RowWrite } from '../../../model/account/capabilities.ts';
import { createSystem, systemClock } from '../../../actors/kernel/index.ts';
import { loadModule } from '../../../chains/registry.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import type { SeenTransfer } from '../../../model/rows/inbox.ts';
import { accountIdOf, type AccountId } from '../../../protocol/ids.ts';
import { newId, shardOf } from '../../../protocol/node/ids.ts';
import { createAccounts } from '../../../actors/account/port.ts';
import { ENTITY_RESTARTS, restartPolicy, WORKER_RESTARTS } from '../../../actors/kernel/restart-policy.ts';
import { commands } from '../../support/account.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { linksAfter, NOW_MS, openStores, PLAN, recordOf, transferTo } from '../../support/store-rows.ts';
import { Recorder } from '../../support/watching.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database.close());

type Logged = { fields: Record<string, unknown>; message: string };

test('issue 2.3 a fact that its account can never take is set aside alone: the good ones pass, nothing is lost', async (t) => {
  const stores = await openStores(database);
  const accountId = await newAccount(stores);
  const logged: Logged[] = [];
  const write = (fields: Record<string, unknown>, message: string): void => {
    logged.push({ fields, message });
  };
  const log = Object.assign(new Recorder(), { error: write, warn: write }) as never;
  const system = createSystem({
    log,
    clock: systemClock,
    random: Math.random,
    policies: { entity: restartPolicy(ENTITY_RESTARTS), worker: restartPolicy(WORKER_RESTARTS) },
  });
  t.teardown(async () => {
    await system.stop(2_000);
  });
  const entities = system.entities<AccountState, AccountCommand, AccountEvent, RowWrite, AccountReply>({
    entity: createAccountEntity({ book: createChainBook([await loadModule('eth')]) }),
    store: stores.accounts,
    shardOf,
  });
  const accounts = createAccounts({
    entities,
    inbox: stores.inbox,
    nowMs: () => NOW_MS,
    log,
    onPublished: () => undefined,
    onPoolUsed: () => undefined,
    setAsidePause: { firstMs: 3_600_000, longestMs: 86_400_000 }, // longer than the test, on any machine
  });
  const enrolled = await accounts.ask(
    accountId,
    commands.enrol({ addressIds: Array.from({ length: 10 }, () => newId('adr', NOW_MS)) }),
  );
  if (enrolled.ok !== true) throw new Error(JSON.stringify(enrolled));
  const created = await accounts.ask(accountId, commands.createAddress({ id: newId('adr', NOW_MS) }));
  if (created.ok !== true) throw new Error(JSON.stringify(created));
  const transfers = await payments(stores, created.reply, 40);
  const plant = planter(accountId);
  // Three kinds: what the schema must never hold, what cannot be decided on, and what is no fact at all.
  await plant(transfers[3]!, { amount: '-5' });
  await plant(transfers[17]!, { amount: 'a lot' });
  await plant(transfers[30]!, null);

  await accounts.wake(accountId);

  const deposits = async () => (await stores.read.transactions(accountId, {}, { page: 0, size: 100 })).content.length;
  t.is(await deposits(), 37);
  t.like(system.inspect(entities.address(accountId).path)!, { phase: 'live', restarts: 0 });
  const aside = await stores.inbox.factsSetAside('0', 10);
  t.deepEqual(
    aside.map(({ accountId: of, tries, behind, trouble }) => [of === accountId, tries, behind, trouble]),
    [
      [true, 1, 0, 'append refused: 23514 deposit_amount_positive'],
      [true, 1, 0, 'Cannot convert a lot to a BigInt'],
      [true, 1, 0, aside[2]!.trouble],
    ],
  );
  t.is(await stores.inbox.countSetAside(), 3);
  t.is(logged.filter(({ message }) => message.startsWith('a fact was set aside')).length, 3);
  const waiting = await stores.inbox.accountsWithInbox(Date.now() + 60_000, 100);
  t.false(waiting.includes(accountId), 'nobody is woken for them before their time');

  // What is told of the same transfer later waits behind it, and what is told of another does not.
  const [good, bad] = [transfers[0]!, transfers[3]!];
  await stores.watch.mature(
    'eth',
    [good, bad].map(({ txid, outputIndex, blockHash }) => ({ txid, outputIndex, blockHash, confirmations: 12 })),
  );
  await accounts.wake(accountId);
  t.deepEqual(
    (await stores.inbox.factsSetAside('0', 1)).map(({ behind }) => behind),
    [1],
  );
  t.is((await credits(accountId)).length, 1);

  // A person mends what was wrong and has it tried: nothing is lost, in its order.
  await database.owner`update flock.inbox set fact = ${JSON.stringify({ kind: 'seen', deposit: bad })}::text::jsonb where id = ${aside[0]!.id}::text::bigint`;
  t.deepEqual(await stores.inbox.retryFacts({ accountId: null, id: aside[0]!.id }), [accountId]);
  await accounts.wake(accountId);
  t.deepEqual([await deposits(), (await credits(accountId)).length, await stores.inbox.countSetAside()], [38, 2, 2]);

  // Tried again before it is mended, it is set aside for longer.
  t.deepEqual(await stores.inbox.retryFacts({ accountId, id: null }), [accountId]);
  await accounts.wake(accountId);
  t.deepEqual(
    (await stores.inbox.factsSetAside('0', 10)).map(({ tries }) => tries),
    [2, 2],
  );
});

/** The live account of a new organization, nothing enrolled. */
async function newAccount({ identity }: Awaited<ReturnType<typeof openStores>>): Promise<AccountId> {
  const userId = newId('usr', NOW_MS),
    organizationId = newId('org', NOW_MS);
  await identity.insertUser({
    id: userId,
    email: `${userId}@example.com`,
    passwordHash: 'x',
    sealedTotpSecret: null,
    totpConfirmed: false,
    platformRole: null,
  });
  await identity.createOrganization({ id: organizationId, name: 'Test', createdAtMs: NOW_MS }, userId, PLAN);
  return accountIdOf(organizationId, 'live');
}

/** Payments to an address, one a block, recorded as a watcher does. */
async function payments(
  stores: Awaited<ReturnType<typeof openStores>>,
  address: AddressRow,
  count: number,
): Promise<SeenTransfer[]> {
  const [root, ...links] = linksAfter({ height: 999, hash: 'root' }, count + 1, 'a');
  await stores.watch.recordBlock('eth', recordOf(root!, [], { previous: null }));
  const transfers: SeenTransfer[] = [];
  for (const link of links) {
    const { accountId: _account, addressKey: _key, ...transfer } = transferTo(address, link);
    await stores.watch.recordBlock(
      'eth',
      recordOf(link, [{ ...transfer, accountId: address.accountId, addressKey: address.addressKey }]),
    );
    transfers.push(transfer);
  }
  return transfers;
}

/** Spoils the inbox row of a transfer: fields of it said otherwise, or all of it replaced by a text. */
function planter(accountId: AccountId) {
  return async (transfer: SeenTransfer, more: Partial<SeenTransfer> | null): Promise<void> => {
    const fact = more === null ? 'nonsense' : { kind: 'seen', deposit: { ...transfer, ...more } };
    const { count } = await database.owner`
      update flock.inbox set fact = ${JSON.stringify(fact)}::text::jsonb
       where account_id = ${accountId} and fact -> 'deposit' ->> 'txid' = ${transfer.txid}`;
    if (count !== 1) throw new Error(`${count} rows of ${transfer.txid}`);
  };
}

async function credits(accountId: AccountId): Promise<string[]> {
  const rows = await database.owner<{ depositId: string }[]>`
    select deposit_id from flock.ledger_entry where account_id = ${accountId} and kind = 'credit'`;
  return rows.map(({ depositId }) => depositId);
}
