/**
 * What the audit counts of an address that moved more than it reads at once. V7.
 */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { createAuditStore } from '../../../persistence/postgres/audit-store.ts';
import { createLists } from '../../../persistence/postgres/list-pool.ts';
import { createStores } from '../../../persistence/postgres/stores.ts';
import { initialAccount } from '../../../model/account/state.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import type { LedgerBalance, Uncounted } from '../../../model/ports/audit-store.ts';
import type { LedgerId } from '../../../protocol/ids.ts';
import { eventually } from '../../support/gateway.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { openWatched } from '../../support/plans.ts';
import { addressRow, newOrganization, openStores, withdrawalRow, write } from '../../support/store-rows.ts';

const FACTS = 60_000;
const WITHDRAWALS = 45_000;
/** What is read beside totals of a few addresses with three sides; and a step with its look ahead. */
const PAGE_ROWS = 20_000;
const STEP_ROWS = 90_000;

const database = await createTestDatabase();
const stores = await openStores(database),
  { live } = await newOrganization(stores);
const { owner, admin } = database;
const audit = createAuditStore(database.sql);
let serial = 0;
test.after.always(() => database.close());

async function issue(): Promise<AddressRow> {
  const row = addressRow(live);
  await write(stores, live, [{ table: 'address', row }]);
  return row;
}

interface Move {
  readonly height: number;
  readonly amount: number;
  readonly token?: string | null;
}

async function pay(
  { addressKey }: AddressRow,
  { height, amount, token = null }: Move,
  ledger = 'eth',
): Promise<string> {
  const txid = `0x${(serial += 1)}`;
  const transfer = { amount: String(amount), tokenContract: token, threshold: 1 };
  await owner`
    insert into fact (ledger, txid, output_index, account_id, address_key, status, height, block_hash, transfer)
      values (${ledger}, ${txid}, 0, ${live}, ${addressKey}, 'seen', ${height}, ${`a${height}`}, ${JSON.stringify(transfer)}::text::jsonb)`;
  return txid;
}

async function send(
  from: AddressRow,
  { height, amount, token = null }: Move,
  ledger: LedgerId = 'eth',
): Promise<string> {
  const txid = `0x${(serial += 1)}`;
  const row = withdrawalRow(from, {
    ledger,
    status: 'confirmed',
    amount: BigInt(amount),
    tokenContract: token,
    fee: 3n,
    txid,
    height,
    blockHash: `a${height}`,
    unsigned: { ...withdrawalRow(from).unsigned, replayKey: { kind: 'nonce', value: serial } },
    versions: [{ txid, signedPayload: 's', payload: 'p' }],
  });
  await write(stores, live, [{ table: 'withdrawal', row }]);
  return row.id;
}

type Shape = readonly [token: string | null, received: bigint, sent: bigint, unattributed: bigint];
const shape = (rows: readonly Pick<LedgerBalance, 'tokenContract' | 'received' | 'sent' | 'unattributed'>[]): Shape[] =>
  rows.map(({ tokenContract, received, sent, unattributed }) => [tokenContract, received, sent, unattributed]);

/** By every row, as releases before read them. Assets of which nothing is left are not told. */
async function byRows({ addressKey }: AddressRow, through: number): Promise<Shape[]> {
  const rows = await owner<LedgerBalance[]>`
    select * from audited_balances('eth', 'live', null, 'evm', null, ${[addressKey]}::uuid[], ${through}, 10, 10)`;
  return shape(rows);
}

/** Beside totals; `null` where more than `most` rows are not counted. */
async function byTotals({ addressKey }: AddressRow, through: number, most: number): Promise<Shape[] | null> {
  const rows = await owner<(LedgerBalance & { uncounted: unknown })[]>`
    select * from balances_of_facts('eth', 'live', null, 'evm', null, ${[addressKey]}::uuid[], ${through}, 10, 10, ${most})`;
  return rows.some(({ uncounted }) => uncounted !== null) ? null : shape(rows);
}

const count = (side: string, subject: string, upto: number, most: number) =>
  owner`select count_audit_total('eth', ${side}, ${subject}, ${upto}, ${most})`;
/** Counted that far: a total waits for every transaction of the server that began before it, whoever's it is. */
const counted = (side: string, subject: string, upto: number) =>
  eventually(
    'the total is counted',
    async () => {
      await count(side, subject, upto, 100);
      const [total] = await owner<{ through: number }[]>`
        select through from audit_total where ledger = 'eth' and side = ${side} and subject = ${subject}`;
      return total?.through ?? -1;
    },
    (through) => through >= upto,
  );
const sidesOf = ({ addressKey, address, id }: AddressRow): [string, string][] => [
  ['received', addressKey],
  ['sent', address],
  ['unattributed', id],
];
/** Begun, and past the transactions of before. */
async function begin(row: AddressRow): Promise<void> {
  for (const [side, subject] of sidesOf(row)) for (let n = 0; n < 2; n += 1) await count(side, subject, -1, 5);
}

const sameBalances = (t: ExecutionContext, found: Shape[] | null, expected: Shape[], what: string) =>
  t.deepEqual(
    found?.filter(([token, received]) => token === null || received !== 0n) ?? null,
    expected.filter(([token, received]) => token === null || received !== 0n),
    what,
  );

const HEIGHT = fc.integer({ min: 0, max: 30 }),
  AMOUNT = fc.integer({ min: 1, max: 1_000 }),
  TOKEN = fc.constantFrom(null, '0xT', '0xU'),
  WHICH = fc.nat(40);
const STEP = fc.oneof(
  fc.record({ kind: fc.constant('pay' as const), height: HEIGHT, amount: AMOUNT, token: TOKEN }),
  fc.record({ kind: fc.constant('send' as const), height: HEIGHT, amount: AMOUNT, token: TOKEN }),
  fc.record({ kind: fc.constant('find' as const), height: HEIGHT, amount: AMOUNT, token: TOKEN }),
  fc.record({
    kind: fc.constant('status' as const),
    which: WHICH,
    status: fc.constantFrom('orphaned', 'seen', 'displaced'),
  }),
  fc.record({ kind: fc.constant('move' as const), which: WHICH, height: HEIGHT }),
  fc.record({ kind: fc.constant('retell' as const), which: WHICH, amount: AMOUNT, token: TOKEN }),
  fc.record({ kind: fc.constant('settle' as const), which: WHICH, height: fc.option(HEIGHT), fee: AMOUNT }),
  fc.record({
    kind: fc.constant('count' as const),
    side: fc.nat(2),
    upto: HEIGHT,
    most: fc.integer({ min: 1, max: 6 }),
  }),
  fc.record({ kind: fc.constant('recount' as const), most: fc.integer({ min: 1, max: 6 }) }),
);

test.serial(
  'V7 found: whatever happens to facts, withdrawals and findings while they are counted, totals are what the rows say',
  async (t) => {
    t.timeout(300_000);
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 20, maxLength: 60 }), async (steps) => {
        const row = await issue();
        await begin(row);
        const facts: string[] = [],
          sent: string[] = [];
        for (const step of steps) {
          if (step.kind === 'pay') facts.push(await pay(row, step));
          else if (step.kind === 'send') sent.push(await send(row, step));
          else if (step.kind === 'find')
            await owner`
              insert into discrepancy (id, ledger, account_id, address_id, address, token_contract, kind, amount, expected, found, height, evidence, recorded_at)
                values (${`dsc_${(serial += 1)}`}, 'eth', ${live}, ${row.id}, ${row.address}, ${step.token}, 'unattributed', ${step.amount}, 0, 0, ${step.height}, '{}', now())
              on conflict do nothing`;
          else if (step.kind === 'count') {
            const [side, subject] = sidesOf(row)[step.side]!;
            await count(side, subject, step.upto, step.most);
          } else if (step.kind === 'recount') {
            t.deepEqual([...(await owner`select * from recount_audit_total('eth', ${step.most})`)], []);
          } else if (step.kind === 'settle') {
            // A reorganization takes it out of its block, and the block that takes it again asks another fee.
            const id = sent[step.which % Math.max(sent.length, 1)];
            await owner`
              update withdrawal set status = case when ${step.height}::bigint is null then 'broadcast' else 'confirmed' end,
                  height = ${step.height}::bigint, fee = case when ${step.height}::bigint is null then null else ${step.fee}::numeric end
               where id = ${id ?? ''}`;
          } else {
            const txid = facts[step.which % Math.max(facts.length, 1)] ?? '';
            if (step.kind === 'status')
              await owner`update fact set status = ${step.status}, was = case ${step.status} when 'displaced' then 'seen' end where txid = ${txid}`;
            else if (step.kind === 'move') await owner`update fact set height = ${step.height} where txid = ${txid}`;
            else
              await owner`update fact set transfer = transfer || ${JSON.stringify({ amount: String(step.amount), tokenContract: step.token })}::text::jsonb where txid = ${txid}`;
          }
        }
        for (const through of [0, 7, 15, 30])
          sameBalances(t, await byTotals(row, through, 1_000), await byRows(row, through), `through ${through}`);
        await owner`delete from audit_total`;
      }),
      { numRuns: 60, includeErrorInReport: true },
    );
  },
);

test.serial(
  'found: a total is begun before it is counted, and no write that began without seeing it is missed',
  async (t) => {
    const row = await issue(),
      key = row.addressKey;
    await pay(row, { height: 1, amount: 5 });
    const writer = await admin.reserve();
    const total = async () =>
      (
        await owner`select through, sums from audit_total where ledger = 'eth' and side = 'received' and subject = ${key}`
      )[0];
    try {
      await writer.unsafe(`begin; set local search_path = flock;
      insert into fact (ledger, txid, output_index, account_id, address_key, status, height, block_hash, transfer)
        values ('eth', '0xlate', 0, '${live}', '${key}', 'seen', 1, 'a1', '{"amount": "7", "tokenContract": null, "threshold": 1}')`);
      for (let n = 0; n < 4; n += 1) await count('received', key, 9, 100);
      t.is((await total())!['through'], -1, 'a transaction of before is still under way');
      await writer.unsafe('commit');
      await counted('received', key, 9);
      t.deepEqual({ ...(await total()) }, { through: 9, sums: { '': 12 } });
      // One that sees it keeps whoever counts waiting until it ended.
      await writer.unsafe(
        `begin; set local search_path = flock; update fact set status = 'orphaned' where txid = '0xlate'`,
      );
      const counting = count('received', key, 20, 100);
      await pay(row, { height: 30, amount: 1 }, 'base');
      await writer.unsafe('commit');
      await counting;
      t.deepEqual({ ...(await total()) }, { through: 20, sums: { '': 5 } });
    } finally {
      await writer.unsafe('rollback').catch(() => undefined);
      writer.release();
      await owner`delete from audit_total`;
    }
  },
);

/** As of a server whose transactions this one has not reached: pg_restore. */
test.serial('a total that was restored from another server is counted all the same', async (t) => {
  const row = await issue();
  await pay(row, { height: 1, amount: 5 });
  await begin(row);
  await owner`update audit_total set ready = '999999999999'::xid8`;
  await counted('received', row.addressKey, 9);
  const [total] = await owner`select through from audit_total where side = 'received' and subject = ${row.addressKey}`;
  t.is(total!['through'], 9);
  await owner`delete from audit_total`;
});

/** One address with tens of thousands of rows on each side, as the superuser, without triggers. */
async function fillOne(row: AddressRow): Promise<void> {
  await send(row, { height: 1, amount: 2 });
  const [columns] = await admin<{ names: string; values: string }[]>`
    select string_agg(quote_ident(attname), ',' order by attnum) as names,
           string_agg(case attname when 'id' then '''txn_hot_'' || n' when 'height' then 'n' when 'txid' then '''0xw'' || n'
             when 'unsigned' then 'jsonb_set(unsigned, ''{replayKey,value}'', to_jsonb(n + 1000000))'
             else quote_ident(attname) end, ',' order by attnum) as values
      from pg_attribute
     where attrelid = 'flock.withdrawal'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`;
  const filler = await admin.reserve();
  try {
    await filler.unsafe(`begin; set local session_replication_role = replica; set local search_path = flock;
      insert into fact (ledger, txid, output_index, account_id, address_key, status, height, block_hash, transfer)
        select 'eth', '0xf' || n, 0, '${live}', '${row.addressKey}', 'seen', n / 7, 'a',
               jsonb_build_object('amount', '10', 'threshold', 1, 'tokenContract', case when n % 2 = 0 then '0xT' end)
          from generate_series(1, ${FACTS}) n;
      insert into withdrawal (${columns!.names})
        select ${columns!.values} from withdrawal cross join generate_series(2, ${WITHDRAWALS}) n
         where from_address = '${row.address}' and height = 1;
      analyze fact; analyze withdrawal; commit`);
  } finally {
    filler.release();
  }
}

test.serial(
  'V7 found: the audit of an address with tens of thousands of rows is counted in steps, each bounded, and sums as before',
  async (t) => {
    t.timeout(300_000);
    const [before, row, after] = [await issue(), await issue(), await issue()];
    await Promise.all([pay(before, { height: 3, amount: 1 }), pay(after, { height: 3, amount: 2 })]);
    await fillOne(row);
    const watched = await openWatched(database.url);
    try {
      const { audit: looked } = createStores({
        sql: watched.sql,
        lists: createLists(watched.lists, { slots: 2 }),
        nowMs: Date.now,
        initialAccount,
        epochOf: () => undefined,
      });
      const told = new Map<string, Shape[]>(),
        most = { page: 0, step: 0 };
      const through = 1_000_000;
      const ask = async (how: Parameters<typeof looked.ledgerBalances>[1]) => {
        const { answer, statements } = await watched.ran(() => looked.ledgerBalances('eth', how, through, 25));
        for (const { text, rowsRead, sequentialScans } of statements) {
          t.deepEqual(sequentialScans, [], text);
          const kind = text.includes('looked') || text.includes('balances_of_facts') ? 'page' : 'step';
          most[kind] = Math.max(most[kind], rowsRead);
        }
        for (const balance of answer.balances)
          told.set(balance.addressKey, [...(told.get(balance.addressKey) ?? []), ...shape([balance])]);
        return answer;
      };
      const uncounted: Uncounted[] = [];
      for (let afterKey: string | null = null, pages = 0; pages === 0 || afterKey !== null; pages += 1) {
        const page: Awaited<ReturnType<typeof ask>> = await ask({ afterKey });
        uncounted.push(...page.uncounted);
        afterKey = page.next;
      }
      t.deepEqual(
        uncounted.map(({ addressKey }) => addressKey),
        [row.addressKey],
      );
      t.deepEqual(told.get(before.addressKey), [[null, 1n, 0n, 0n]]);
      t.deepEqual(told.get(after.addressKey), [[null, 2n, 0n, 0n]], 'nobody waits for it');
      t.false(told.has(row.addressKey));
      // One that waits for older transactions of the server, of whatever database, counts nothing and is no step.
      let steps = 0;
      await eventually(
        'it is counted',
        async () => {
          const { answer, statements } = await watched.ran(() => looked.count('eth', uncounted[0]!, through));
          const read = Math.max(...statements.map(({ rowsRead }) => rowsRead));
          most.step = Math.max(most.step, read);
          if (read > 1_000) steps += 1;
          return answer;
        },
        Boolean,
      );
      t.deepEqual((await ask({ addressKeys: [row.addressKey] })).uncounted, []);
      t.true(steps >= 3 && steps < 30, `${steps} steps`);
      t.true(most.page < PAGE_ROWS && most.step < STEP_ROWS && most.step > 10_000, JSON.stringify(most));
      const expected = await byRows(row, through);
      t.deepEqual(expected, [
        [null, BigInt(FACTS) * 5n, BigInt(WITHDRAWALS) * 5n, 0n],
        ['0xT', BigInt(FACTS) * 5n, 0n, 0n],
      ]);
      t.deepEqual(told.get(row.addressKey), expected);
      // And by its key, as growth that is looked at a second time is asked for.
      const again = await watched.ran(() =>
        looked.ledgerBalances('eth', { addressKeys: [row.addressKey] }, through, 25),
      );
      t.deepEqual(shape(again.answer.balances), expected);
      t.true(
        again.statements.every(({ rowsRead }) => rowsRead < 3_100),
        'what was not counted, of three sides',
      );
    } finally {
      await watched.close();
    }
  },
);

test.serial(
  'V7 found: planted, a row that is changed past the triggers is what its total says until it is counted again, and then it is told',
  async (t) => {
    const row = await issue();
    const txid = await pay(row, { height: 1, amount: 5 });
    await owner`delete from audit_total`;
    await begin(row);
    for (const [side, subject] of sidesOf(row)) await counted(side, subject, 9);
    const plant = await admin.reserve();
    await plant.unsafe(`begin; set local session_replication_role = replica;
      update flock.fact set transfer = transfer || '{"amount": "6"}' where txid = '${txid}'; commit`);
    plant.release();
    sameBalances(t, await byTotals(row, 9, 100), [[null, 5n, 0n, 0n]], 'the sum that was counted');
    const told = [];
    for (let n = 0; n < 4; n += 1) told.push(await audit.recount('eth'));
    t.deepEqual(
      told.filter((one) => one !== null),
      [{ side: 'received', subject: row.addressKey, counted: '{"": 5}', byRows: '{"": 6}' }],
    );
    sameBalances(t, await byTotals(row, 9, 100), [[null, 6n, 0n, 0n]], 'what the rows say');
    // A total that somebody falsified is put right the same way.
    await owner`update audit_total set sums = '{"": 1}' where side = 'received' and subject = ${row.addressKey}`;
    for (let n = 0; n < 4; n += 1) told.push(await audit.recount('eth'));
    t.is(told.filter((one) => one !== null).length, 2);
    sameBalances(t, await byTotals(row, 9, 100), [[null, 6n, 0n, 0n]], 'what the rows say');
  },
);
