/** One suite for every watchers' store: PostgreSQL and its memory twin. */
import test from 'ava';
import { createMemoryWatchStore } from '../../persistence/memory/watch-store.ts';
import type { BlockRecord, Cursor, WatchStore } from '../../model/ports/watch-store.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { Fact } from '../../model/rows/inbox.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { accountIdOf, type AccountId, type LedgerId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import {
  addressRow,
  linksAfter,
  newOrganization,
  nextSerial,
  NOW_MS,
  openStores,
  recordOf,
  transferTo,
  withdrawalRow,
  write,
} from '../support/store-rows.ts';

interface Bench {
  store: WatchStore;
  /** A ledger of its own with an account that has an issued address; the live one is everybody's. */
  fresh(live?: boolean): Promise<{ ledger: LedgerId; accountId: AccountId; address: AddressRow }>;
  saveWithdrawal(row: WithdrawalRow): Promise<void>;
  inbox(accountId: AccountId): Promise<Fact[]>;
}

const kindsOf = (facts: readonly Fact[]) => facts.map((fact) => fact.kind);
/** A ledger of two accounts, of one test alone. */
const LIVE = 'avax' as const;
const START: Cursor = { height: 100, hash: 'a100' };

async function startLedger(
  store: WatchStore,
  ledger: LedgerId,
  count: number,
  transfers: (links: ReturnType<typeof linksAfter>) => Record<number, BlockRecord['transfers']> = () => ({}),
) {
  const links = linksAfter(START, count, 'a');
  const byHeight = transfers(links);
  for (const [index, link] of links.entries()) {
    const record = recordOf(link, byHeight[link.height] ?? [], index === 0 ? { previous: null } : {});
    const { recorded } = await store.recordBlock(ledger, record);
    if (!recorded) throw new Error(`block ${link.height} was not recorded`);
  }
  return links;
}

/** Facts mature below a head that was noted. */
async function matureBelow(
  store: WatchStore,
  ledger: LedgerId,
  facts: Parameters<WatchStore['mature']>[1],
): ReturnType<WatchStore['mature']> {
  await store.noteHead(ledger, 400, NOW_MS);
  return store.mature(ledger, facts);
}

let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

const memory = createMemoryWatchStore(() => NOW_MS);

const benches: Record<string, () => Bench> = {
  memory: () => ({
    store: memory,
    async fresh(live = false) {
      const accountId = accountIdOf(newId('org', NOW_MS), live ? 'live' : 'sandbox');
      const address = addressRow(accountId);
      memory.addAddress(
        {
          addressKey: address.addressKey,
          addressId: address.id,
          accountId,
          address: address.address,
          purpose: 'deposit',
        },
        live ? 'live' : 'sandbox',
        address.createdAtMs,
      );
      return { ledger: live ? LIVE : `eth@${accountId}`, accountId, address };
    },
    async saveWithdrawal(row) {
      memory.saveWithdrawal(row);
    },
    async inbox(accountId) {
      return memory.inbox(accountId).map(({ fact }) => fact);
    },
  }),
  postgres: () => ({
    store: stores.watch,
    async fresh(isLive = false) {
      const { live, sandbox } = await newOrganization(stores),
        accountId = isLive ? live : sandbox;
      const address = addressRow(accountId);
      await write(stores, accountId, [{ table: 'address', row: address }]);
      return { ledger: isLive ? LIVE : `eth@${sandbox}`, accountId, address };
    },
    async saveWithdrawal(row) {
      await write(stores, row.accountId, [{ table: 'withdrawal', row }]);
    },
    async inbox(accountId) {
      return (await stores.inbox.inboxOf(accountId, 1_000)).inbox.map(({ fact }) => fact);
    },
  }),
};

for (const [name, bench] of Object.entries(benches)) {
  test(`${name}: G7 blocks advance the cursor, each once; links and coverage follow`, async (t) => {
    const { store, fresh } = bench();
    const { ledger } = await fresh();
    t.is(await store.cursor(ledger), null);
    t.deepEqual(await store.coverage(ledger), {
      ledger,
      completeHeight: null,
      headHeight: null,
      headAtMs: null,
      heardAtMs: null,
      unresolved: [],
      unresolvedCount: 0,
    });
    const links = await startLedger(store, ledger, 3);
    t.deepEqual(await store.cursor(ledger), { height: 103, hash: 'a103' });
    t.deepEqual(
      await store.recordBlock(ledger, recordOf(links[2]!)),
      { recorded: false, accounts: [] },
      'another watcher was first',
    );
    t.deepEqual(await store.recordBlock(ledger, recordOf(links[0]!, [], { previous: null })), {
      recorded: false,
      accounts: [],
    });
    t.deepEqual(await store.links(ledger, 104, 2), [links[2]!, links[1]!]);
    t.deepEqual(await store.links(ledger, 103, 9), [links[1]!, links[0]!]);
    await store.noteHead(ledger, 110, NOW_MS);
    t.deepEqual(await store.coverage(ledger), {
      ledger,
      completeHeight: 103,
      headHeight: 110,
      headAtMs: NOW_MS,
      heardAtMs: NOW_MS,
      unresolved: [],
      unresolvedCount: 0,
    });
    await store.noteHeard(ledger, NOW_MS - 5_000);
    t.is((await store.coverage(ledger)).heardAtMs, NOW_MS, 'whoever noted the head had heard a node');
    await store.noteHeard(ledger, NOW_MS + 5_000);
    t.is((await store.coverage(ledger)).heardAtMs, NOW_MS + 5_000);
    await store.noteHead(ledger, 111, NOW_MS + 7_000);
    t.is((await store.coverage(ledger)).heardAtMs, NOW_MS + 7_000, 'found F72: nothing is heard before its head');
  });

  test(`${name}: found: a head further ahead than any chain mines is not noted; a first one is any safe integer`, async (t) => {
    const { store, fresh } = bench();
    const { ledger: simulated } = await fresh();
    await store.noteHead(simulated, 100, NOW_MS);
    await store.noteHead(simulated, 10 ** 9, NOW_MS);
    t.is((await store.coverage(simulated)).headHeight, 10 ** 9, 'a simulated ledger mines by order');
    const ledger = 'base' as const;
    const atMs = NOW_MS - 3_600_000,
      at = async () => (await store.coverage(ledger)).headHeight;
    const note = async (height: number, afterMs: number) => {
      await store.noteHead(ledger, height, atMs + afterMs);
      return at();
    };
    t.is(await note(2 ** 53, 0), null);
    t.is(await note(1_000_000, 0), 1_000_000);
    t.is(await note(2_000_000, 0), 1_000_000, 'without a block of our own');
    await startLedger(store, ledger, 3);
    for (const height of [2 ** 53, 2 ** 53 - 1, 10 ** 9, 1_001_026]) t.is(await note(height, 1_000), 1_000_000);
    t.is(await note(1_001_025, 1_000), 1_001_025, '1,000 at once and 25 in a second');
    t.is(await note(1_002_026, 1_000), 1_001_025);
    t.is(await note(1_002_025, 1_000), 1_002_025);
    t.is(await note(500, 2_000), 500, 'a lower one may be where the chain is');
    t.is(await note(1_526, 2_000), 500);
    t.is(await note(1_525, 3_000), 1_525);
  });

  test(`${name}: a transfer is seen, matures at its own threshold and is told once each`, async (t) => {
    const { store, fresh, inbox } = bench();
    const { ledger, accountId, address } = await fresh();
    let paid!: BlockRecord['transfers'][number];
    const links = linksAfter(START, 1, 'a');
    paid = transferTo(address, links[0]!, { threshold: 3 });
    t.deepEqual(await store.recordBlock(ledger, recordOf(links[0]!, [paid], { previous: null })), {
      recorded: true,
      accounts: [accountId],
    });
    t.deepEqual(kindsOf(await inbox(accountId)), ['seen']);
    t.deepEqual(await store.immature(ledger, 102, 10), []);
    const [due] = await store.immature(ledger, 103, 10);
    t.is(due?.txid, paid.txid);
    t.deepEqual(
      await matureBelow(store, ledger, [{ ...paid, blockHash: 'elsewhere', confirmations: 3 }]),
      [],
      'it is not in that block any more',
    );
    t.deepEqual(
      await matureBelow(store, ledger, [{ ...paid, confirmations: 10 ** 12 }]),
      [],
      'no depth beyond the head, and no fault either',
    );
    t.deepEqual(await matureBelow(store, ledger, [{ ...paid, confirmations: 3 }]), [accountId]);
    t.deepEqual(await matureBelow(store, ledger, [{ ...paid, confirmations: 4 }]), [], 'matured already');
    const facts = await inbox(accountId);
    t.deepEqual(kindsOf(facts), ['seen', 'matured']);
    t.like(facts[1], { deposit: { txid: paid.txid, confirmations: 3, amount: '1000', blockHash: links[0]!.hash } });
    t.false('addressKey' in (facts[1] as Extract<Fact, { deposit: unknown }>).deposit);
    t.deepEqual(await store.immature(ledger, 999, 10), []);
  });

  test(`${name}: G19 a fact that its own block refutes is orphaned; when it comes back it is seen again`, async (t) => {
    const { store, fresh, inbox } = bench();
    const { ledger, accountId, address } = await fresh();
    const links = linksAfter(START, 2, 'a');
    const paid = transferTo(address, links[0]!);
    await store.recordBlock(ledger, recordOf(links[0]!, [paid], { previous: null }));
    t.deepEqual(await store.refute(ledger, [{ ...paid, blockHash: 'x' }]), []);
    t.deepEqual(await store.refute(ledger, [paid]), [accountId]);
    await store.recordBlock(ledger, recordOf(links[1]!, [{ ...paid, height: 102, blockHash: 'a102' }]));
    t.deepEqual(kindsOf(await inbox(accountId)), ['seen', 'orphaned', 'seen']);
  });

  test(`${name}: decisions 5: in a reorg what is on both branches moves, what is absent is orphaned, what is new is seen`, async (t) => {
    const { store, fresh, inbox } = bench();
    const { ledger, accountId, address } = await fresh();
    const paid = (link: { height: number; hash: string }) => transferTo(address, link as never);
    let kept!: BlockRecord['transfers'][number], gone!: typeof kept, below!: typeof kept;
    await startLedger(store, ledger, 4, ([first, second, third]) => {
      [below, kept, gone] = [paid(first!), paid(second!), paid(third!)];
      return { 101: [below], 102: [kept], 103: [gone] };
    });
    await matureBelow(store, ledger, [{ ...kept, confirmations: 12 }]);
    const branch = linksAfter({ height: 101, hash: 'a101' }, 4, 'b');
    const added = paid(branch[3]!);
    const records = branch.map((link) =>
      recordOf(
        link,
        link.height === 104 ? [{ ...kept, height: 104, blockHash: 'b104' }] : link.height === 105 ? [added] : [],
      ),
    );
    t.deepEqual(
      await store.recordReorg(ledger, { height: 101, hash: 'a101' }, { height: 103, hash: 'a103' }, records),
      { recorded: false, accounts: [] },
      'not our head',
    );
    t.deepEqual(
      await store.recordReorg(ledger, { height: 101, hash: 'a101' }, { height: 104, hash: 'a104' }, records),
      { recorded: true, accounts: [accountId] },
    );
    t.deepEqual(await store.cursor(ledger), { height: 105, hash: 'b105' });
    t.deepEqual(
      (await store.links(ledger, 999, 9)).map(({ hash }) => hash),
      ['b105', 'b104', 'b103', 'b102', 'a101'],
    );
    const facts = (await inbox(accountId)).slice(4) as Extract<Fact, { deposit: unknown }>[];
    t.deepEqual(
      facts.map(({ kind, deposit }) => [kind, deposit.txid, deposit.blockHash]).sort(),
      [
        ['moved', kept.txid, 'b104'],
        ['orphaned', gone.txid, 'a103'],
        ['seen', added.txid, 'b105'],
      ].sort(),
    );
    // Matured before and after: nothing of it is immature again.
    t.deepEqual((await store.immature(ledger, 999, 9)).map(({ txid }) => txid).sort(), [below.txid, added.txid].sort());
    t.deepEqual(
      await matureBelow(store, ledger, [{ ...gone, confirmations: 12 }]),
      [],
      'an orphaned fact does not mature',
    );
  });

  test(`${name}: decisions 5: while a block of the new branch is unproven nothing is known to be absent`, async (t) => {
    const { store, fresh, inbox } = bench();
    const { ledger, accountId, address } = await fresh();
    let kept!: BlockRecord['transfers'][number], gone!: typeof kept;
    await startLedger(store, ledger, 3, ([, second, third]) => {
      [kept, gone] = [transferTo(address, second!), transferTo(address, third!)];
      return { 102: [kept], 103: [gone] };
    });
    const branch = linksAfter({ height: 101, hash: 'a101' }, 3, 'b');
    const records = branch.map((link) =>
      recordOf(link, [], { unresolved: link.height === 103 ? 'receipts missing' : null }),
    );
    await store.recordReorg(ledger, { height: 101, hash: 'a101' }, { height: 103, hash: 'a103' }, records);
    t.deepEqual(kindsOf(await inbox(accountId)), ['seen', 'seen'], 'no word yet');
    t.deepEqual(await store.immature(ledger, 999, 9), [], 'and nothing matures meanwhile');
    t.is((await store.coverage(ledger)).completeHeight, 102);

    const proven = recordOf(branch[1]!, [{ ...kept, height: 103, blockHash: 'b103' }]);
    t.deepEqual(await store.resolveHeight(ledger, { ...proven, link: { ...proven.link, hash: 'a103' } }), {
      recorded: false,
      accounts: [],
    });
    t.deepEqual(await store.resolveHeight(ledger, proven), { recorded: true, accounts: [accountId] });
    t.deepEqual(await store.resolveHeight(ledger, proven), { recorded: false, accounts: [] }, 'resolved already');
    const facts = (await inbox(accountId)).slice(2) as Extract<Fact, { deposit: unknown }>[];
    t.deepEqual(
      facts.map(({ kind, deposit }) => [kind, deposit.txid]).sort(),
      [
        ['moved', kept.txid],
        ['orphaned', gone.txid],
      ].sort(),
    );
    t.is((await store.coverage(ledger)).completeHeight, 104);
  });

  test(`${name}: found F50: an unproven height holds back only what its own branch replaced`, async (t) => {
    // Unresolved heights before, in and after the branch of a reorg; a later reorg reaches into the branch, or does
    // not.
    for (const { unresolved, later, settles } of [
      { unresolved: [102], later: null, settles: 'at once' }, // below the fork
      { unresolved: [102, 106], later: null, settles: 'when 106 is proven' },
      { unresolved: [106], later: { fork: 106, until: 109 }, settles: 'when 106 is proven' },
      // 106 is abandoned, all of the new branch is proven
      { unresolved: [106], later: { fork: 105, until: 109 }, settles: 'at once' },
      { unresolved: [109], later: null, settles: 'at once' }, // beyond the branch
      { unresolved: [106, 109], later: { fork: 108, until: 110 }, settles: 'when 106 is proven' },
    ] as const) {
      const { store, fresh, inbox } = bench();
      const { ledger, accountId, address } = await fresh();
      let gone!: BlockRecord['transfers'][number];
      const says = (height: number) => ((unresolved as readonly number[]).includes(height) ? 'receipts missing' : null);
      const links = linksAfter(START, 6, 'a');
      for (const [index, link] of links.entries()) {
        if (link.height === 105) gone = transferTo(address, link);
        await store.recordBlock(
          ledger,
          recordOf(link, link.height === 105 ? [gone] : [], {
            ...(index === 0 ? { previous: null } : {}),
            unresolved: link.height < 104 ? says(link.height) : null,
          }),
        );
      }
      await matureBelow(store, ledger, [{ ...gone, confirmations: 12 }]);
      const branch = linksAfter({ height: 104, hash: 'a104' }, 3, 'b').map((link) =>
        recordOf(link, [], { unresolved: says(link.height) }),
      );
      await store.recordReorg(ledger, { height: 104, hash: 'a104' }, { height: 106, hash: 'a106' }, branch);
      let head = { height: 107, hash: 'b107' };
      for (const link of linksAfter(head, 2, 'b')) {
        await store.recordBlock(ledger, recordOf(link, [], { unresolved: says(link.height) }));
        head = link;
      }
      if (later !== null) {
        const fork = { height: later.fork, hash: `b${later.fork}` };
        await store.recordReorg(
          ledger,
          fork,
          head,
          linksAfter(fork, later.until - later.fork, 'c').map((link) => recordOf(link)),
        );
      }
      const what = JSON.stringify({ unresolved, later });
      t.deepEqual(
        kindsOf(await inbox(accountId)),
        ['seen', 'matured', ...(settles === 'at once' ? ['orphaned'] : [])],
        what,
      );
      if (settles === 'at once') continue;
      t.true((await store.resolveHeight(ledger, branch[1]!)).recorded, what);
      t.deepEqual(kindsOf(await inbox(accountId)), ['seen', 'matured', 'orphaned'], what);
    }
  });

  test(`${name}: C2 included again with another amount or payee, the old movement is orphaned and the new one must mature anew`, async (t) => {
    const { store, fresh, inbox } = bench();
    const { ledger, accountId, address } = await fresh(true);
    const other = await fresh(true);
    let less!: BlockRecord['transfers'][number], elsewhere!: typeof less;
    await startLedger(store, ledger, 2, ([, second]) => {
      [less, elsewhere] = [transferTo(address, second!, { ledger }), transferTo(address, second!, { ledger })];
      return { 102: [less, elsewhere] };
    });
    await matureBelow(store, ledger, [
      { ...less, confirmations: 12 },
      { ...elsewhere, confirmations: 12 },
    ]);
    const [b102] = linksAfter({ height: 101, hash: 'a101' }, 1, 'b');
    const lessNow = { ...less, amount: '1', blockHash: 'b102' };
    const { txid, outputIndex } = elsewhere;
    const elsewhereNow = { ...transferTo(other.address, b102!), ledger, txid, outputIndex };
    const { accounts } = await store.recordReorg(ledger, { height: 101, hash: 'a101' }, { height: 102, hash: 'a102' }, [
      recordOf(b102!, [lessNow, elsewhereNow]),
    ]);
    t.deepEqual([...accounts].sort(), [accountId, other.accountId].sort());
    const words = async (account: AccountId) =>
      ((await inbox(account)) as Extract<Fact, { deposit: unknown }>[]).map(({ kind, deposit }) => [
        kind,
        deposit.txid,
        deposit.amount,
        deposit.blockHash,
      ]);
    t.deepEqual((await words(accountId)).slice(4), [
      ['orphaned', less.txid, '1000', 'a102'],
      ['seen', less.txid, '1', 'b102'],
      ['orphaned', elsewhere.txid, '1000', 'a102'],
    ]);
    t.deepEqual(await words(other.accountId), [['seen', elsewhere.txid, '1000', 'b102']]);
    t.is((await store.immature(ledger, 999, 9)).length, 2, 'neither is matured by what stood there before');
    t.deepEqual(await matureBelow(store, ledger, [{ ...elsewhereNow, confirmations: 12 }]), [other.accountId]);
  });

  test(`${name}: C2 the same block told with another amount: the false movement is orphaned, the true one seen, its neighbour hears nothing`, async (t) => {
    const { store, fresh, inbox } = bench();
    const { ledger, accountId, address } = await fresh();
    let altered!: BlockRecord['transfers'][number], beside!: typeof altered;
    const links = await startLedger(store, ledger, 2, ([, second]) => {
      [altered, beside] = [transferTo(address, second!), transferTo(address, second!)];
      return { 102: [altered, beside] };
    });
    await matureBelow(store, ledger, [{ ...beside, confirmations: 12 }]);
    const before = (await inbox(accountId)).length;
    const truly = { ...altered, amount: '1' };
    await store.recordReorg(ledger, { height: 101, hash: 'a101' }, { height: 102, hash: 'a102' }, [
      recordOf(links.at(-1)!, [truly, beside]),
    ]);
    const words = ((await inbox(accountId)) as Extract<Fact, { deposit: unknown }>[]).slice(before);
    t.deepEqual(
      words.map(({ kind, deposit }) => [kind, deposit.txid, deposit.amount, deposit.blockHash]),
      [
        ['orphaned', altered.txid, '1000', 'a102'],
        ['seen', altered.txid, '1', 'a102'],
      ],
    );
    t.deepEqual(
      (await store.immature(ledger, 999, 9)).map(({ txid, amount }) => [txid, amount]),
      [[altered.txid, '1']],
    );
  });

  test(`${name}: C2 the facts of a block are set right alone: what was told falsely is orphaned, what is there is seen, the rest hears nothing`, async (t) => {
    const { store, fresh, inbox } = bench();
    const { ledger, accountId, address } = await fresh();
    let first!: BlockRecord['transfers'], second!: BlockRecord['transfers'];
    const links = await startLedger(store, ledger, 2, ([one, two]) => {
      first = Array.from({ length: 4 }, () => transferTo(address, one!));
      second = [transferTo(address, two!)];
      return { 101: first, 102: second };
    });
    const [altered, madeUp, matured, same] = first as [
      (typeof first)[0],
      (typeof first)[0],
      (typeof first)[0],
      (typeof first)[0],
    ];
    await matureBelow(store, ledger, [{ ...matured, confirmations: 12 }]);
    const before = (await inbox(accountId)).length,
      missed = transferTo(address, links[0]!);
    const truly = [
      { ...altered, amount: '1' },
      { ...matured, amount: '1' },
      same,
      missed,
      { ...second[0]!, height: 101, blockHash: 'a101' },
    ];
    t.deepEqual(await store.correctBlock(ledger, { height: 101, hash: 'other' }, truly), []);
    t.deepEqual(await store.correctBlock(ledger, { height: 101, hash: 'a101' }, truly), [accountId]);
    const words = ((await inbox(accountId)) as Extract<Fact, { deposit: unknown }>[]).slice(before);
    t.deepEqual(
      words.map(({ kind, deposit }) => [kind, deposit.txid, deposit.amount, deposit.blockHash]),
      [
        ['orphaned', altered.txid, '1000', 'a101'],
        ['seen', altered.txid, '1', 'a101'],
        ['seen', missed.txid, '1000', 'a101'],
        ['orphaned', madeUp.txid, '1000', 'a101'],
      ],
    );
    t.deepEqual(
      (await store.immature(ledger, 999, 9)).map(({ txid, amount, height }) => `${txid} ${amount} ${height}`).sort(),
      [
        `${altered.txid} 1 101`,
        `${same.txid} 1000 101`,
        `${missed.txid} 1000 101`,
        `${second[0]!.txid} 1000 102`,
      ].sort(),
    );
    t.deepEqual(await store.correctBlock(ledger, { height: 101, hash: 'a101' }, truly), [], 'once');
  });

  test(`${name}: a reorg back to the first branch finds its facts again`, async (t) => {
    const { store, fresh, inbox } = bench();
    const { ledger, accountId, address } = await fresh();
    let paid!: BlockRecord['transfers'][number];
    const links = await startLedger(store, ledger, 2, ([, second]) => {
      paid = transferTo(address, second!);
      return { 102: [paid] };
    });
    const [b102] = linksAfter({ height: 101, hash: 'a101' }, 1, 'b');
    await store.recordReorg(ledger, { height: 101, hash: 'a101' }, { height: 102, hash: 'a102' }, [recordOf(b102!)]);
    await store.recordReorg(ledger, { height: 101, hash: 'a101' }, { height: 102, hash: 'b102' }, [
      recordOf(links[1]!, [paid]),
    ]);
    t.deepEqual(await store.cursor(ledger), { height: 102, hash: 'a102' });
    // All three words wait, although the first and the last are the same.
    t.deepEqual(kindsOf(await inbox(accountId)), ['seen', 'orphaned', 'seen']);
    t.deepEqual(
      (await store.immature(ledger, 999, 9)).map(({ txid }) => txid),
      [paid.txid],
    );
    // To the fork point alone: the chain has lost its newest blocks and has no others yet.
    await store.recordReorg(ledger, { height: 101, hash: 'a101' }, { height: 102, hash: 'a102' }, []);
    t.deepEqual(await store.cursor(ledger), { height: 101, hash: 'a101' });
  });

  test(`${name}: found G17: a ledger never stands below its first block`, async (t) => {
    const { store, fresh } = bench();
    const { ledger } = await fresh();
    await store.recordBlock(ledger, recordOf(linksAfter(START, 1, 'a')[0]!, [], { previous: null }));
    const below = { height: START.height - 3, hash: 'z' },
      head = { height: 101, hash: 'a101' };
    await t.throwsAsync(async () => store.recordReorg(ledger, below, head, []), { message: /no branch begins there/ });
    await t.throwsAsync(
      async () =>
        store.recordReorg(
          ledger,
          below,
          head,
          linksAfter(below, 6, 'z').map((link) => recordOf(link)),
        ),
      { message: /no branch begins there/ },
    );
    t.deepEqual(await store.cursor(ledger), head);
    t.deepEqual(
      (await store.links(ledger, 102, 9)).map(({ hash }) => hash),
      ['a101'],
    );
  });

  test(`${name}: unresolved heights wait with their tries; others advance`, async (t) => {
    const { store, fresh } = bench();
    const { ledger } = await fresh();
    const links = linksAfter(START, 3, 'a');
    await store.recordBlock(ledger, recordOf(links[0]!, [], { previous: null, unresolved: 'no receipts' }));
    await store.recordBlock(ledger, recordOf(links[1]!, [], { unresolved: 'no traces' }));
    await store.recordBlock(ledger, recordOf(links[2]!));
    await store.noteUnresolved(ledger, 101, 'still none');
    await store.noteUnresolved(ledger, 555, 'never recorded');
    t.deepEqual(await store.unresolvedHeights(ledger, 9), [
      { height: 102, hash: 'a102', tries: 1 },
      { height: 101, hash: 'a101', tries: 2 },
    ]);
    const { completeHeight, unresolved, unresolvedCount } = await store.coverage(ledger);
    t.deepEqual([completeHeight, unresolvedCount], [100, 2]);
    t.deepEqual(
      unresolved.map(({ height, reason, tries }) => [height, reason, tries]),
      [
        [101, 'still none', 2],
        [102, 'no traces', 1],
      ],
    );
    t.true(unresolved.every(({ sinceMs }) => Number.isInteger(sinceMs)));
  });

  test(`${name}: design 5: a block is matched again for addresses younger than it; known facts are left alone`, async (t) => {
    const { store, fresh, inbox } = bench();
    const { ledger, accountId, address } = await fresh();
    let known!: BlockRecord['transfers'][number];
    const links = await startLedger(store, ledger, 1, ([first]) => ({ 101: [(known = transferTo(address, first!))] }));
    const late = transferTo(address, links[0]!);
    t.deepEqual(await store.recordLate(ledger, { height: 101, hash: 'other' }, [late]), []);
    t.deepEqual(await store.recordLate(ledger, { height: 101, hash: 'a101' }, [{ ...known, amount: '7' }, late]), [
      accountId,
    ]);
    t.deepEqual(kindsOf(await inbox(accountId)), ['seen', 'seen']);
    const { createdAtMs, addressKey } = address;
    for (const ask of [{ most: 10_000 }, { keys: [addressKey, addressRow(accountId).addressKey] }]) {
      const since = async (environment: 'sandbox' | 'live', sinceMs: number) => {
        const { addresses, isAll } = await store.addressesSince(environment, sinceMs, ask);
        t.true(isAll);
        return addresses.filter(({ addressId }) => addressId === address.id).length;
      };
      t.is(await since('sandbox', createdAtMs), 1);
      t.is(await since('sandbox', createdAtMs + 1), 0);
      t.is(await since('live', createdAtMs), 0);
    }
    await fresh();
    t.like(await store.addressesSince('sandbox', createdAtMs, { most: 1 }), { isAll: false });
    t.deepEqual(await store.addressesSince('sandbox', createdAtMs, { keys: [] }), { addresses: [], isAll: true });
  });

  test(`${name}: watched addresses are found by their keys, in their environment only`, async (t) => {
    const { store, fresh } = bench();
    const issued = await Promise.all([fresh(), fresh(), fresh()]);
    const misses = Array.from({ length: 700 }, () => addressRow(issued[0]!.accountId).addressKey);
    const found = await store.watched('sandbox', [...misses, ...issued.map(({ address }) => address.addressKey)]);
    t.deepEqual(found.map(({ address }) => address).sort(), issued.map(({ address }) => address.address).sort());
    t.like(
      found.find(({ addressId }) => addressId === issued[0]!.address.id),
      { accountId: issued[0]!.accountId, purpose: 'deposit' },
    );
    t.deepEqual(
      await store.watched(
        'live',
        issued.map(({ address }) => address.addressKey),
      ),
      [],
    );
    t.deepEqual(await store.watched('live', []), []);
  });

  test(`${name}: withdrawals that may still land are listed; what leaves with a branch is told`, async (t) => {
    const { store, fresh, saveWithdrawal, inbox } = bench();
    const { ledger, accountId, address } = await fresh();
    await startLedger(store, ledger, 3);
    let nonce = 100;
    const signed = (status: WithdrawalRow['status'], height: number | null): WithdrawalRow => {
      const txid = `0x${nextSerial()}`;
      nonce += 1;
      return withdrawalRow(address, {
        unsigned: { ...withdrawalRow(address).unsigned, replayKey: { kind: 'nonce', value: nonce } },
        status,
        versions: [{ txid, signedPayload: '0x', payload: '0x' }],
        txid,
        height,
        blockHash: height === null ? null : `a${height}`,
        fee: height === null ? null : 5n,
      });
    };
    const rows = {
      built: withdrawalRow(address),
      broadcast: signed('broadcast', null),
      included: signed('confirming', 103),
      moved: signed('confirming', 102),
      old: signed('confirmed', 50),
      recent: signed('confirmed', 102),
      failed: signed('failed', 101),
      ended: signed('failed', null),
      refused: signed('failed', null),
    };
    rows.refused.versions[0]!.watched = true;
    for (const row of Object.values(rows)) await saveWithdrawal(row);
    const { rows: open, next: none } = await store.openWithdrawals(ledger, 101, 99);
    t.is(none, null);
    t.deepEqual(
      open.map(({ id }) => id),
      [rows.broadcast, rows.included, rows.moved, rows.failed, rows.recent, rows.refused].map(({ id }) => id),
      'what every node refused comes last, until it is proven dead',
    );
    t.deepEqual(open[1], rows.included);
    const pages = async (limit: number) => {
      const found = [];
      let page = await store.openWithdrawals(ledger, 101, limit);
      for (; page.next !== null; page = await store.openWithdrawals(ledger, 101, limit, page.next)) {
        t.is(page.rows.length, limit);
        found.push(...page.rows);
      }
      return [...found, ...page.rows];
    };
    for (const limit of [1, 2, 3, 4, 5, 6]) t.deepEqual(await pages(limit), open, 'it goes on behind the page before');
    const newest = signed('broadcast', null);
    await saveWithdrawal(newest);
    t.deepEqual(
      (await store.openWithdrawals(ledger, 101, 4)).rows.map(({ id }) => id),
      [rows.broadcast, rows.included, rows.moved, newest].map(({ id }) => id),
      'settled ones take no place of it',
    );

    const other = await fresh(),
      txid = `0x${nextSerial()}`;
    const theirs = withdrawalRow(other.address, {
      ledger,
      status: 'broadcast',
      versions: [{ txid, signedPayload: '0x', payload: '0x' }],
      txid,
    });
    await saveWithdrawal(theirs);
    t.deepEqual(
      (await store.openWithdrawals(ledger, 101, 2)).rows.map(({ id }) => id),
      [rows.broadcast, theirs].map(({ id }) => id),
      'accounts take turns',
    );

    const included: Fact = {
      kind: 'withdrawal_included',
      withdrawalId: rows.moved.id,
      txid: rows.moved.txid!,
      height: 102,
      blockHash: 'b102',
      success: true,
      reason: null,
      fee: '5',
    };
    const [b102] = linksAfter({ height: 101, hash: 'a101' }, 1, 'b');
    await store.recordReorg(ledger, { height: 101, hash: 'a101' }, { height: 103, hash: 'a103' }, [
      recordOf(b102!, [], { withdrawals: [{ accountId, fact: included }] }),
    ]);
    const facts = (await inbox(accountId)) as Extract<Fact, { withdrawalId: string }>[];
    t.deepEqual(
      facts.map(({ kind, withdrawalId }) => [kind, withdrawalId]).sort(),
      [
        ['withdrawal_included', rows.moved.id],
        ['withdrawal_orphaned', rows.included.id],
        ['withdrawal_orphaned', rows.recent.id],
      ].sort(),
    );

    const dead: Fact = { ...included, kind: 'withdrawal_dead', withdrawalId: rows.broadcast.id };
    await store.noteWithdrawalFact(accountId, dead);
    await store.noteWithdrawalFact(accountId, dead);
    t.is((await inbox(accountId)).length, 4, 'the same fact waits once');
  });

  test(`${name}: C3-33 what was settled above a fork is told as orphaned first, unless the new branch holds the same`, async (t) => {
    const { store, fresh, saveWithdrawal, inbox } = bench();
    const { ledger, accountId, address } = await fresh(),
      other = await fresh();
    await startLedger(store, ledger, 3);
    let nonce = 7_000;
    const settled = async (status: 'confirmed' | 'failed', height: number | null, of = { ledger, address }) => {
      nonce += 1;
      const plain = withdrawalRow(of.address),
        txid = `0x${nextSerial()}`;
      const row = withdrawalRow(of.address, {
        ledger: of.ledger,
        unsigned: { ...plain.unsigned, replayKey: { kind: 'nonce', value: nonce } },
        status,
        versions: [`${txid}b`, txid].map((one) => ({ txid: one, signedPayload: '0x', payload: '0x' })),
        txid,
        height,
        blockHash: height === null ? null : `a${height}`,
        fee: height === null ? null : 5n,
      });
      await saveWithdrawal(row);
      return row;
    };
    const gone = await settled('confirmed', 102),
      reverted = await settled('failed', 103),
      moved = await settled('confirmed', 103),
      movedFailed = await settled('failed', 102),
      nowReverted = await settled('confirmed', 102),
      otherVersion = await settled('confirmed', 102);
    await settled('confirmed', 101);
    await settled('failed', null);
    await settled('confirmed', 103, other);
    const included = (row: WithdrawalRow, more: { txid?: string; success?: boolean } = {}) => ({
      accountId,
      fact: {
        kind: 'withdrawal_included' as const,
        withdrawalId: row.id,
        txid: row.txid!,
        height: 102,
        blockHash: 'b102',
        success: true,
        reason: null,
        fee: '5',
        ...more,
      },
    });
    const [b102] = linksAfter({ height: 101, hash: 'a101' }, 1, 'b');
    await store.recordReorg(ledger, { height: 101, hash: 'a101' }, { height: 103, hash: 'a103' }, [
      recordOf(b102!, [], {
        withdrawals: [
          included(moved),
          included(movedFailed, { success: false }),
          included(nowReverted, { success: false }),
          included(otherVersion, { txid: `${otherVersion.txid}b` }),
        ],
      }),
    ]);
    const facts = (await inbox(accountId)) as Extract<Fact, { withdrawalId: string }>[];
    const toldOf = (row: WithdrawalRow) =>
      facts.flatMap(({ kind, withdrawalId, txid }) => (withdrawalId === row.id ? [`${kind} ${txid}`] : []));
    t.deepEqual(toldOf(gone), [`withdrawal_orphaned ${gone.txid}`]);
    t.deepEqual(toldOf(reverted), [`withdrawal_orphaned ${reverted.txid}`]);
    t.deepEqual(toldOf(moved), [`withdrawal_included ${moved.txid}`]);
    t.deepEqual(toldOf(movedFailed), [`withdrawal_included ${movedFailed.txid}`]);
    const { txid } = nowReverted;
    t.deepEqual(toldOf(nowReverted), [`withdrawal_orphaned ${txid}`, `withdrawal_included ${txid}`]);
    t.deepEqual(toldOf(otherVersion), [
      `withdrawal_orphaned ${otherVersion.txid}`,
      `withdrawal_included ${otherVersion.txid}b`,
    ]);
    t.is(facts.length, 8, 'what is below the fork, or in no block, is left alone');
    t.deepEqual(await inbox(other.accountId), [], 'and what is on another ledger');
  });

  test(`${name}: found F70: what is signed stays signed, and what is in a block pays what its version was signed for`, async (t) => {
    const { fresh, saveWithdrawal } = bench();
    const { ledger, address } = await fresh();
    let nonce = 4_700;
    const version = (txid: string, amount: string | null) => ({
      txid,
      signedPayload: '0x',
      payload: '0x',
      ...(amount === null ? {} : { amount }),
    });
    const two = [version('0xfa', '90'), version('0xfb', '70')],
      older = [version('0xfa', null), version('0xfb', null)],
      at = { height: 50, blockHash: 'b50', fee: 10n };
    type Change = Partial<WithdrawalRow> & { readonly builds?: bigint };
    const moved = async (from: Change, to: Change): Promise<boolean> => {
      nonce += 1;
      const { builds = from.amount ?? 70n, ...first } = from,
        { builds: next = builds, ...then } = to;
      const plain = withdrawalRow(address, { ledger, status: 'broadcast', amount: 70n, versions: two, txid: '0xfb' });
      const unsigned = { ...plain.unsigned, amount: builds, replayKey: { kind: 'nonce', value: nonce } } as const;
      const row: WithdrawalRow = { ...plain, ...first, unsigned };
      await saveWithdrawal(row);
      return saveWithdrawal({ ...row, ...then, unsigned: { ...unsigned, amount: next } }).then(
        () => true,
        (error: unknown) => {
          if (!String(error).includes('withdrawal_moves_forward')) throw error;
          return false;
        },
      );
    };
    const landed = { ...at, txid: '0xfa', status: 'confirming' } as const,
      confirmed = { ...landed, amount: 90n, status: 'confirmed' } as const;
    const built: Change = { status: 'built', versions: [], txid: null };
    for (const [from, to, isTaken] of [
      [{}, { amount: 90n }, true],
      [{}, { amount: 89n }, false],
      [{}, { amount: 91n }, false],
      [{}, { amount: 60n }, false],
      [{}, { amount: 60n, builds: 60n }, true],
      [{}, { amount: 61n, builds: 60n }, false],
      [{}, { ...landed, amount: 90n }, true],
      [{}, { ...landed, amount: 70n }, false],
      [{}, { ...landed, amount: 80n }, false],
      [{}, { ...landed, amount: 60n, builds: 60n }, false],
      [{}, { ...landed, txid: '0xfb' }, true],
      [{}, { ...landed, txid: '0xfb', amount: 90n }, false],
      [{}, { versions: [version('0xfa', '91'), two[1]!], amount: 91n }, false],
      [{}, { versions: [...two, version('0xfc', '95')], amount: 95n }, false],
      [{}, { versions: [...two, version('0xfc', '60')], amount: 60n, builds: 60n }, true],
      [{}, { versions: [two[1]!] }, false],
      [{}, { versions: [two[1]!, two[1]!] }, false],
      [{}, { ...built }, false],
      [built, { ...built, amount: 99n }, true],
      [built, { ...built, versions: two }, false],
      [confirmed, { ...confirmed, height: 51, blockHash: 'b51', fee: 11n }, true],
      [confirmed, { status: 'broadcast', height: null, blockHash: null, fee: null }, true],
      [confirmed, { status: 'confirming', height: 51, blockHash: 'b51' }, false],
      [confirmed, { txid: '0xfb', amount: 70n }, false],
      [confirmed, { status: 'failed' }, false],
      // Rows of before know no amount of a version.
      [{ versions: older }, { ...landed }, true],
      [{ versions: older }, { ...landed, amount: 90n }, false],
      [{ versions: older }, { versions: [version('0xfa', null), version('0xfb', '70')] }, true],
    ] satisfies readonly (readonly [from: Change, to: Change, isTaken: boolean])[]) {
      t.is(
        await moved(from, to),
        isTaken,
        JSON.stringify([from, to], (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one)),
      );
    }
  });
}
