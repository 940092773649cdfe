/** payments S18 on the real schema: the longest run of issued indexes without a transfer. */
import test from 'ava';
import fc from 'fast-check';
import { walkUnusedRuns } from '../../../actors/address/rounds.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { Chain, Family } from '../../../protocol/slugs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { addressRow, depositRow, newOrganization, openStores, write } from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

/** What a wallet of each phrase steps over that began at 0 or at one of `bounds`, counted one by one. */
function counted(issued: readonly number[], used: ReadonlySet<number>, bounds: readonly number[]): number {
  const end = Math.max(...issued) + 1,
    begins = [0, ...bounds.filter((at) => at < end)];
  let longest = 0;
  for (const from of begins) {
    const until = Math.min(end, ...bounds.filter((at) => at > from));
    let run = 0;
    for (let index = 0; index < until; index += 1) {
      run = index >= from && used.has(index) ? 0 : run + 1;
      longest = Math.max(longest, run);
    }
  }
  return longest;
}

async function issue(live: AccountId, indexes: readonly { index: number; chains: readonly Chain[]; used: boolean }[]) {
  const rows = indexes.flatMap(({ index, chains, used }) => {
    const first = addressRow(live, { index, chain: chains[0]!, derivationPath: `m/44'/60'/0'/0/${index}` });
    return chains.map((chain, at) => ({
      address: at === 0 ? first : { ...first, id: addressRow(live).id, chain },
      nth: at,
      // On the last of its networks.
      used: used && at === chains.length - 1,
    }));
  });
  // A further network of an address comes with a later append.
  for (const [, written] of Map.groupBy(rows, ({ nth }) => nth))
    await write(
      stores,
      live,
      written.flatMap(({ address, nth, used }) => [
        { table: 'address' as const, row: address, ...(nth === 0 ? {} : { paired: true as const }) },
        ...(used ? [{ table: 'deposit' as const, row: depositRow(address) }] : []),
      ]),
    );
  return rows.map(({ address }) => address);
}

const retiredAt = (live: AccountId, bounds: readonly number[]) =>
  database.owner`
    update account set state = jsonb_set(state, '{retired}', ${JSON.stringify(
      bounds.map((evm) => ({ fingerprint: '0011223344556677', atMs: 0, next: { evm } })),
    )}::text::jsonb) where account_id = ${live}`;

const now = async (live: AccountId, bounds: readonly number[], family: Family = 'evm') =>
  (await stores.read.unusedRuns(live, [{ family, isSmall: true, bounds }])).get(family);
const kept = async (live: AccountId) =>
  (await stores.read.unusedRuns(live, [{ family: 'evm', isSmall: false, bounds: [] }])).get('evm');

/** The round as the clock makes it, with small pages. */
const walked = (begunMs: number, rows: number, signal = new AbortController().signal) =>
  walkUnusedRuns(stores.payments, { periodMs: begunMs, signal }, rows);

test.serial('payments S18: small accounts are read exactly, large ones walked to the same', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          skip: fc.integer({ min: 1, max: 4 }),
          networks: fc.integer({ min: 1, max: 5 }),
          used: fc.boolean(),
        }),
        {
          minLength: 1,
          maxLength: 14,
        },
      ),
      fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 2 }),
      fc.integer({ min: 6, max: 12 }),
      async (steps, retired, rows) => {
        const { live } = await newOrganization(stores),
          bounds = retired.toSorted((a, b) => a - b);
        let index = -1;
        const indexes = steps.map(({ skip, networks, used }) => ({
          index: (index += skip),
          chains: (['eth', 'bsc', 'polygon', 'avax', 'base'] as const).slice(0, networks),
          used,
        }));
        await issue(live, indexes);
        await retiredAt(live, bounds);
        const wanted = counted(
          indexes.map((one) => one.index),
          new Set(indexes.filter(({ used }) => used).map((one) => one.index)),
          bounds,
        );
        t.is((await now(live, bounds))?.run, wanted);
        t.is(await kept(live), undefined, 'not walked yet');
        await walked(Date.now(), rows);
        t.is((await kept(live))?.run, wanted, 'page by page');
      },
    ),
    { numRuns: 25, includeErrorInReport: true },
  );
});

test.serial('payments S18: what a reorg took back is unused again, and a walk is made once a period', async (t) => {
  const { live } = await newOrganization(stores),
    addresses = await issue(
      live,
      [0, 1, 2, 3].map((index) => ({ index, chains: ['eth'] as const, used: false })),
    );
  t.is((await now(live, []))?.run, 4);
  const deposit = depositRow(addresses[2]!);
  await write(stores, live, [{ table: 'deposit', row: deposit }]);
  t.is((await now(live, []))?.run, 2);
  const begunMs = Date.now() - 1_000;
  await walked(begunMs, 100);
  const first = (await kept(live))!;
  t.is(first.run, 2);
  t.true(first.countedAtMs! >= begunMs);
  await write(stores, live, [{ table: 'deposit', row: { ...deposit, status: 'reversed' } }]);
  t.is((await now(live, []))?.run, 4);
  await walked(begunMs, 100);
  t.deepEqual(await kept(live), first, 'counted in this period');
  await walked(Date.now() + 60_000, 100);
  t.is((await kept(live))?.run, 4);
  t.is(await now(live, [], 'btc').then((found) => found?.run), 0, 'nothing was issued');
});

test.serial('payments S18: a walk that was left goes on where it was', async (t) => {
  const { live } = await newOrganization(stores);
  await issue(
    live,
    Array.from({ length: 40 }, (_, index) => ({ index, chains: ['eth'] as const, used: index === 5 || index === 30 })),
  );
  const stop = new AbortController(),
    begunMs = Date.now() + 120_000;
  const until = async (after: string, limit: number, begun: number) => {
    const step = await stores.payments.walkUnused(after, limit, begun);
    if (step?.accountId === live) stop.abort();
    return step;
  };
  await walkUnusedRuns({ walkUnused: until }, { periodMs: begunMs, signal: stop.signal }, 10);
  const [left] = await database.owner`select next_index, last_used from unused_run where account_id = ${live}`;
  t.deepEqual({ ...left }, { nextIndex: 9, lastUsed: 5 } as never);
  await walked(begunMs, 10);
  t.is((await kept(live))?.run, 24);
});
