import test from 'ava';
import { createWatchStore } from '../../../persistence/postgres/watch-store.ts';
import { openDatabase, sqlstateOf } from '../../../persistence/postgres/sql.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  linksAfter,
  newOrganization,
  openStores,
  recordOf,
  transferTo,
  withdrawalRow,
  write,
} from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

const BLOCKS = 150;

test.serial(
  'reliability 1.4: three watchers race over one ledger while backends are killed: each block and fact is recorded once',
  async (t) => {
    const { sandbox } = await newOrganization(stores);
    const address = addressRow(sandbox);
    await write(stores, sandbox, [{ table: 'address', row: address }]);
    const ledger = `eth@${sandbox}` as const;
    const links = linksAfter({ height: 0, hash: 'a0' }, BLOCKS, 'a');
    const transfers = links.map((link) => [transferTo(address, link), transferTo(address, link)]);
    const pools = [0, 1, 2].map((n) => openDatabase({ url: database.url, connections: 1, name: `racer-${n}` }));
    let refused = 0,
      unknown = 0,
      running = true;
    const watchers = pools.map(async (pool) => {
      const store = createWatchStore(pool);
      for (;;) {
        try {
          const cursor = await store.cursor(ledger);
          const next = cursor?.height ?? 0;
          if (next >= BLOCKS) return;
          const { recorded } = await store.recordBlock(
            ledger,
            recordOf(links[next]!, transfers[next]!, cursor === null ? { previous: null } : {}),
          );
          if (!recorded) refused += 1;
        } catch (error) {
          if (!/^57|^null$/.test(String(sqlstateOf(error)))) throw error;
          unknown += 1;
        }
      }
    });
    let killed = 0;
    const nemesis = (async () => {
      while (running) {
        const height = (await stores.watch.cursor(ledger))?.height ?? 0;
        if (height < killed * 6) continue;
        await database.admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'racer-%' and datname = current_database() and state = 'active' limit 1`;
        killed += 1;
      }
    })();
    await Promise.all(watchers);
    running = false;
    await nemesis;
    await Promise.all(pools.map((pool) => pool.end({ timeout: 5 })));
    t.log(`${refused} lost races, ${unknown} outcomes unknown, ${killed} kills`);
    t.true(refused > 0 && unknown > 0, 'the race and the fault were really felt');
    const [facts] =
      await database.owner`select count(*) as facts, count(distinct txid) as transactions from fact where ledger = ${ledger}`;
    t.deepEqual({ ...facts }, { facts: 2 * BLOCKS, transactions: 2 * BLOCKS });
    const [inbox] = await database.owner`select count(*) as words from inbox where account_id = ${sandbox}`;
    t.is(inbox!.words, 2 * BLOCKS);
    t.deepEqual(await stores.watch.cursor(ledger), { height: BLOCKS, hash: `a${BLOCKS}` });
  },
);

test.serial('a fact that is lost on its way to the actor is found again in the inbox', async (t) => {
  const { sandbox } = await newOrganization(stores);
  const from = addressRow(sandbox),
    sent = withdrawalRow(from);
  await write(stores, sandbox, [
    { table: 'address', row: from },
    { table: 'withdrawal', row: sent },
  ]);
  await stores.watch.noteWithdrawalFact(sandbox, {
    kind: 'withdrawal_dead',
    withdrawalId: sent.id,
    txid: '0x',
    height: 1,
    blockHash: 'b',
    success: false,
    reason: 'dead',
    fee: null,
  });
  t.false((await stores.inbox.accountsWithInbox(Date.now() - 60_000, 100)).includes(sandbox), 'not old enough');
  t.true((await stores.inbox.accountsWithInbox(Date.now() + 60_000, 100)).includes(sandbox));
});

test.serial(
  'treasury S24: an account decides with the rows that its facts are about, and with its own addresses and transactions (G20)',
  async (t) => {
    const { sandbox } = await newOrganization(stores);
    const [paid, other] = [addressRow(sandbox), addressRow(sandbox)];
    const tank = addressRow(sandbox, { purpose: 'gas_tank', index: null, derivationPath: "m/44'/60'/0'/1/0" });
    await write(
      stores,
      sandbox,
      [paid, other, tank].map((row) => ({ table: 'address', row })),
    );
    const ledger = `eth@${sandbox}` as const;
    const [link] = linksAfter({ height: 0, hash: 'a0' }, 1, 'a');
    const transfers = [transferTo(paid, link!), transferTo(paid, link!), transferTo(paid, link!)],
      [funding, payment] = transfers.map(({ txid }) => txid) as [string, string];
    const sent = (txid: string) =>
      ({
        status: 'broadcast',
        txid,
        versions: [{ txid, signedPayload: '0x', payload: '0x' }],
      }) satisfies Partial<WithdrawalRow>;
    await write(stores, sandbox, [
      { table: 'withdrawal', row: withdrawalRow(tank, { ...sent(funding), kind: 'sweep' }) },
      { table: 'withdrawal', row: withdrawalRow(other, sent(payment)) },
    ]);
    await stores.watch.recordBlock(ledger, recordOf(link!, transfers, { previous: null }));
    const asked = await stores.inbox.inboxOf(sandbox, 10);
    t.deepEqual(
      asked.inbox.map(({ fact }) => fact.kind),
      ['seen', 'seen', 'seen'],
    );
    t.deepEqual(asked.ownTxids, [funding], 'what the treasury made, and not what a caller did');
    t.deepEqual(asked.addresses.map(({ id }) => id).sort(), [paid.id, tank.id].sort());
    t.deepEqual(asked.deposits, []);
    t.deepEqual((await stores.inbox.inboxOf(sandbox, 0)).inbox, []);
    await write(stores, sandbox, [{ table: 'inbox_taken', ids: asked.inbox.map(({ id }) => id) }]);
    t.deepEqual((await stores.inbox.inboxOf(sandbox, 10)).inbox, []);
  },
);
