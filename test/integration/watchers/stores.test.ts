/**
 * One suite for the watchers' stores, over their memory twins and over PostgreSQL: the twins are honest, or it says so.
 */
import test, { type ExecutionContext } from 'ava';
import { createMemoryAuditStore } from '../../../persistence/memory/audit-store.ts';
import { createMemorySandboxStore } from '../../../persistence/memory/sandbox-store.ts';
import { createMemoryWatchStore } from '../../../persistence/memory/watch-store.ts';
import type { AuditStore } from '../../../model/ports/audit-store.ts';
import type { BlockLink, BlockRecord, WatchStore } from '../../../model/ports/watch-store.ts';
import type { SandboxBlock, SandboxStore } from '../../../model/ports/sandbox-store.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import type { Fact } from '../../../model/rows/inbox.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { accountIdOf, ledgerOf, type AccountId, type LedgerId } from '../../../protocol/ids.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  adopt,
  linksAfter,
  newOrganization,
  NOW_MS,
  openStores,
  resetSandbox,
  recordOf,
  transferTo,
  withdrawalRow,
  write,
} from '../../support/store-rows.ts';

interface Harness {
  watch: WatchStore;
  audit: AuditStore;
  sandbox: SandboxStore;
  live: AccountId;
  box: AccountId;
  issue(accountId: AccountId): Promise<AddressRow>;
  /** An address of an import. */
  adopt(accountId: AccountId): Promise<AddressRow>;
  inbox(accountId: AccountId): Promise<Fact[]>;
  save(row: WithdrawalRow): Promise<void>;
  reset(accountId: AccountId): Promise<void>;
  close(): Promise<void>;
}

async function overMemory(): Promise<Harness> {
  const watch = createMemoryWatchStore(() => NOW_MS);
  const sandbox = createMemorySandboxStore(watch.state);
  const entered = (accountId: AccountId, adopted: boolean): AddressRow => {
    const row = addressRow(accountId);
    const { addressKey, id, address, purpose } = row;
    const environment = accountId.endsWith('_live') ? 'live' : 'sandbox';
    watch.addAddress({ addressKey, addressId: id, accountId, address, purpose }, environment, row.createdAtMs, adopted);
    return row;
  };
  return {
    watch,
    audit: createMemoryAuditStore(watch.state),
    sandbox,
    reset: async (accountId) => void (await sandbox.resetStep(accountId, 1_000)),
    live: accountIdOf('org_x', 'live'),
    box: accountIdOf('org_x', 'sandbox'),
    issue: async (accountId) => entered(accountId, false),
    adopt: async (accountId) => entered(accountId, true),
    inbox: async (accountId) => watch.inbox(accountId).map(({ fact }) => fact),
    save: async (row) => watch.saveWithdrawal(row),
    close: async () => undefined,
  };
}

async function overPostgres(): Promise<Harness> {
  const database = await createTestDatabase();
  const stores = await openStores(database);
  const { live, sandbox } = await newOrganization(stores);
  return {
    watch: stores.watch,
    audit: stores.audit,
    sandbox: stores.sandbox,
    reset: (accountId) => resetSandbox(stores, accountId),
    live,
    box: sandbox,
    async issue(accountId) {
      const row = addressRow(accountId);
      await write(stores, accountId, [{ table: 'address', row }]);
      return row;
    },
    adopt: (accountId) => adopt(database, accountId),
    inbox: async (accountId) => (await stores.inbox.inboxOf(accountId, 1_000)).inbox.map(({ fact }) => fact),
    save: (row) => write(stores, row.accountId, [{ table: 'withdrawal', row }]),
    close: () => database.close(),
  };
}

function holds(title: string, check: (t: ExecutionContext, harness: Harness) => Promise<void>): void {
  for (const [name, open] of [
    ['memory', overMemory],
    ['postgres', overPostgres],
  ] as const) {
    test(`${name}: ${title}`, async (t) => {
      const harness = await open();
      try {
        await check(t, harness);
      } finally {
        await harness.close();
      }
    });
  }
}

const GENESIS: BlockLink = { height: 100, hash: 'g100', parentHash: 'g99', parentHeight: 99, timeMs: NOW_MS };
const told = (facts: readonly Fact[]) =>
  facts.map((fact) => `${fact.kind} ${'deposit' in fact ? fact.deposit.txid : fact.txid}`);

/** Records a first block and then one block per list of transfers. */
async function follow(
  watch: WatchStore,
  ledger: LedgerId,
  branch: string,
  contents: (readonly BlockRecord['transfers'][number][])[] = [],
): Promise<BlockLink[]> {
  if ((await watch.cursor(ledger)) === null) await watch.recordBlock(ledger, recordOf(GENESIS, [], { previous: null }));
  const cursor = (await watch.cursor(ledger))!;
  const links = linksAfter(cursor, contents.length, branch);
  for (const [index, link] of links.entries()) {
    const transfers = contents[index]!.map((transfer) => ({ ...transfer, height: link.height, blockHash: link.hash }));
    await watch.recordBlock(ledger, recordOf(link, transfers));
  }
  return links;
}

holds('G7 the cursor moves by compare-and-set, and a second watcher is refused', async (t, { watch }) => {
  t.is(await watch.cursor('eth'), null);
  t.like(await watch.recordBlock('eth', recordOf(GENESIS, [], { previous: null })), { recorded: true });
  t.like(await watch.recordBlock('eth', recordOf(GENESIS, [], { previous: null })), { recorded: false });
  const [next, other] = [linksAfter(GENESIS, 1, 'a')[0]!, linksAfter(GENESIS, 1, 'b')[0]!];
  t.like(await watch.recordBlock('eth', recordOf(next)), { recorded: true });
  t.like(await watch.recordBlock('eth', recordOf(other)), { recorded: false });
  t.deepEqual(await watch.cursor('eth'), { height: 101, hash: 'a101' });
  t.is(await watch.cursor('base'), null, 'ledgers are apart');
});

holds('links run from newest to oldest below a height', async (t, { watch }) => {
  await follow(watch, 'eth', 'a', [[], [], []]);
  t.deepEqual(
    (await watch.links('eth', 103, 2)).map(({ hash }) => hash),
    ['a102', 'a101'],
  );
  t.deepEqual((await watch.links('eth', 1_000, 10)).at(-1), { ...GENESIS, parentHeight: 99 });
});

holds(
  'facts and inbox rows come with their block; the same transfer again is nothing',
  async (t, { watch, issue, inbox, live }) => {
    const address = await issue(live);
    const transfer = transferTo(address, GENESIS, { txid: '0x01' });
    await follow(watch, 'eth', 'a', [[transfer]]);
    t.deepEqual(told(await inbox(live)), ['seen 0x01']);
    t.deepEqual(
      await watch.recordLate('eth', { height: 101, hash: 'a101' }, [{ ...transfer, height: 101, blockHash: 'a101' }]),
      [],
    );
    t.deepEqual(told(await inbox(live)), ['seen 0x01']);
  },
);

holds(
  'design 5: late transfers are recorded in their block, and not in a replaced one',
  async (t, { watch, issue, inbox, live }) => {
    const address = await issue(live);
    const [link] = await follow(watch, 'eth', 'a', [[]]);
    t.deepEqual(
      await watch.recordLate('eth', { height: 101, hash: 'zz' }, [transferTo(address, link!, { txid: '0x01' })]),
      [],
    );
    t.deepEqual(
      await watch.recordLate('eth', { height: 101, hash: 'a101' }, [transferTo(address, link!, { txid: '0x01' })]),
      [live],
    );
    t.deepEqual(told(await inbox(live)), ['seen 0x01']);
  },
);

holds(
  'C3-31 a reorg moves what is on both branches, orphans what is absent, sees what is new; a return is seen again',
  async (t, { watch, issue, inbox, live }) => {
    const address = await issue(live);
    const [stays, goes, comes] = ['0x01', '0x02', '0x03'].map((txid) => transferTo(address, GENESIS, { txid }));
    await follow(watch, 'eth', 'a', [[stays!], [goes!]]);
    const branch = linksAfter(GENESIS, 3, 'b');
    const records = branch.map((link, index) =>
      recordOf(
        link,
        index === 1 ? [stays!, comes!].map((one) => ({ ...one, height: link.height, blockHash: link.hash })) : [],
      ),
    );
    t.like(await watch.recordReorg('eth', GENESIS, { height: 102, hash: 'zz' }, records), { recorded: false });
    t.deepEqual(await watch.recordReorg('eth', { height: 100, hash: 'g100' }, { height: 102, hash: 'a102' }, records), {
      recorded: true,
      accounts: [live],
    });
    t.deepEqual(told(await inbox(live)), ['seen 0x01', 'seen 0x02', 'moved 0x01', 'seen 0x03', 'orphaned 0x02']);
    t.deepEqual(await watch.cursor('eth'), { height: 103, hash: 'b103' });
    t.deepEqual(
      (await watch.links('eth', 104, 9)).map(({ hash }) => hash),
      ['b103', 'b102', 'b101', 'g100'],
    );
    await follow(watch, 'eth', 'b', [[goes!]]);
    t.is(told(await inbox(live)).at(-1), 'seen 0x02');
  },
);

holds('a rollback to a recorded block leaves the cursor there', async (t, { watch, issue, inbox, live }) => {
  const address = await issue(live);
  await follow(watch, 'eth', 'a', [[], [transferTo(address, GENESIS, { txid: '0x01' })]]);
  t.like(await watch.recordReorg('eth', { height: 101, hash: 'a101' }, { height: 102, hash: 'a102' }, []), {
    recorded: true,
  });
  t.deepEqual(await watch.cursor('eth'), { height: 101, hash: 'a101' });
  t.deepEqual(told(await inbox(live)), ['seen 0x01', 'orphaned 0x01']);
});

holds(
  'C3-31 a branch with an unproven block orphans nothing until it is proven',
  async (t, { watch, issue, inbox, live }) => {
    const address = await issue(live);
    const [inside, gone] = ['0x01', '0x02'].map((txid) => transferTo(address, GENESIS, { txid }));
    await follow(watch, 'eth', 'a', [[inside!, gone!]]);
    const [first, second] = linksAfter(GENESIS, 2, 'b');
    await watch.recordReorg('eth', { height: 100, hash: 'g100' }, { height: 101, hash: 'a101' }, [
      recordOf(first!, [], { unresolved: 'receipts' }),
      recordOf(second!),
    ]);
    t.deepEqual(told(await inbox(live)), ['seen 0x01', 'seen 0x02']);
    t.deepEqual(await watch.immature('eth', 10_000, 10), [], 'nothing matures in a replaced block');
    t.like(await watch.resolveHeight('eth', recordOf(first!, [{ ...inside!, height: 101, blockHash: 'b101' }])), {
      recorded: true,
    });
    t.deepEqual(told(await inbox(live)), ['seen 0x01', 'seen 0x02', 'moved 0x01', 'orphaned 0x02']);
  },
);

holds(
  'decisions 5: unresolved heights are kept, counted and resolved once; the least tried comes first',
  async (t, { watch, issue, inbox, live }) => {
    const address = await issue(live);
    await watch.recordBlock('eth', recordOf(GENESIS, [], { previous: null }));
    const links = linksAfter(GENESIS, 3, 'a');
    for (const [index, link] of links.entries())
      await watch.recordBlock('eth', recordOf(link, [], { unresolved: index < 2 ? 'receipts' : null }));
    await watch.noteUnresolved('eth', 101, 'still');
    t.deepEqual(await watch.unresolvedHeights('eth', 10), [
      { height: 102, hash: 'a102', tries: 1 },
      { height: 101, hash: 'a101', tries: 2 },
    ]);
    await watch.noteHead('eth', 107, NOW_MS);
    t.like(await watch.coverage('eth'), {
      completeHeight: 100,
      headHeight: 107,
      headAtMs: NOW_MS,
      unresolved: [{ height: 101, reason: 'still' }, { height: 102 }],
    });
    t.like(await watch.resolveHeight('eth', recordOf({ ...links[0]!, hash: 'zz' })), { recorded: false });
    t.like(await watch.resolveHeight('eth', recordOf(links[0]!, [transferTo(address, links[0]!, { txid: '0x01' })])), {
      recorded: true,
      accounts: [live],
    });
    t.like(await watch.resolveHeight('eth', recordOf(links[0]!)), { recorded: false });
    t.is((await watch.coverage('eth')).completeHeight, 101);
    t.deepEqual(told(await inbox(live)), ['seen 0x01']);
  },
);

holds(
  "G18 G19 maturity: by each fact's own threshold, in its own block, once; a refuted one is orphaned",
  async (t, { watch, issue, inbox, live }) => {
    const address = await issue(live);
    const transfers = [
      ['0x01', 12],
      ['0x02', 101],
      ['0x03', 12],
    ].map(([txid, threshold]) => transferTo(address, GENESIS, { txid: String(txid), threshold: Number(threshold) }));
    await follow(watch, 'eth', 'a', [transfers]);
    t.deepEqual(await watch.immature('eth', 111, 10), []);
    t.deepEqual((await watch.immature('eth', 112, 10)).map(({ txid }) => txid).sort(), ['0x01', '0x03']);
    t.is((await watch.immature('eth', 201, 10)).length, 3);
    await watch.noteHead('eth', 201, 1);
    t.deepEqual(await watch.mature('eth', [{ txid: '0x01', outputIndex: -1, blockHash: 'zz', confirmations: 12 }]), []);
    t.deepEqual(await watch.mature('eth', [{ txid: '0x01', outputIndex: -1, blockHash: 'a101', confirmations: 12 }]), [
      live,
    ]);
    t.deepEqual(
      await watch.mature('eth', [{ txid: '0x01', outputIndex: -1, blockHash: 'a101', confirmations: 12 }]),
      [],
    );
    t.deepEqual(await watch.refute('eth', [{ txid: '0x03', outputIndex: -1, blockHash: 'a101' }]), [live]);
    const facts = await inbox(live);
    t.deepEqual(told(facts).slice(3), ['matured 0x01', 'orphaned 0x03']);
    t.true('deposit' in facts[3]! && facts[3].deposit.confirmations === 12);
    t.is((await watch.immature('eth', 201, 10)).length, 1);
  },
);

holds('addresses are found by key within their environment, and by age', async (t, { watch, issue, live, box }) => {
  const [one, two, boxed] = [await issue(live), await issue(live), await issue(box)];
  const found = await watch.watched('live', [one.addressKey, boxed.addressKey]);
  t.deepEqual(found, [
    { addressKey: one.addressKey, addressId: one.id, accountId: live, address: one.address, purpose: 'deposit' },
  ]);
  t.is((await watch.watched('sandbox', [boxed.addressKey])).length, 1);
  const { addresses: since } = await watch.addressesSince('live', two.createdAtMs, { most: 10_000 });
  t.true(since.some(({ addressId }) => addressId === two.id));
  t.false(since.some(({ addressId }) => addressId === one.id || addressId === boxed.id));
});

holds(
  'migration M-X3, M-X8, M-O7 an adopted address is watched from its first block on, is not matched again as a young one, and is in no audit',
  async (t, { watch, audit, issue, adopt, live }) => {
    const [issued, adopted] = [await issue(live), await adopt(live)];
    t.is((await watch.watched('live', [adopted.addressKey])).length, 1);
    for (const ask of [{ most: 10_000 }, { keys: [issued.addressKey, adopted.addressKey] }]) {
      const { addresses } = await watch.addressesSince('live', Math.min(issued.createdAtMs, adopted.createdAtMs), ask);
      t.deepEqual(
        addresses.map(({ addressId }) => addressId),
        [issued.id],
      );
    }
    await follow(watch, 'eth', 'a', [[transferTo(adopted, GENESIS)]]);
    for (const ask of [{ afterKey: null }, { addressKeys: [issued.addressKey, adopted.addressKey] }]) {
      const { balances } = await audit.ledgerBalances('eth', ask, 1_000, 10);
      t.deepEqual(
        balances.map(({ addressId }) => addressId),
        [issued.id],
      );
    }
  },
);

holds(
  'open withdrawals are those that may land, and those in recent blocks; a fact waits once',
  async (t, { watch, issue, save, inbox, live }) => {
    const version = [{ txid: '0x0a', signedPayload: 's', payload: 'p' }];
    const inBlock = { versions: version, txid: '0x0a', height: 50, blockHash: 'h50' };
    const rows = [
      withdrawalRow(await issue(live)),
      withdrawalRow(await issue(live), { status: 'signing', versions: version }),
      withdrawalRow(await issue(live), { status: 'broadcast', versions: version }),
      withdrawalRow(await issue(live), { status: 'confirming', ...inBlock, height: 10 }),
      withdrawalRow(await issue(live), { status: 'confirmed', ...inBlock }),
      withdrawalRow(await issue(live), { status: 'failed', ...inBlock, height: 49 }),
      withdrawalRow(await issue(live), { status: 'expired', versions: version }),
    ];
    for (const row of rows) await save(row);
    t.deepEqual(
      (await watch.openWithdrawals('eth', 50, 10)).rows.map(({ id }) => id),
      [1, 2, 3, 4].map((index) => rows[index]!.id),
    );
    t.deepEqual(
      (await watch.openWithdrawals('eth', 51, 2)).rows.map(({ id }) => id),
      [1, 2].map((index) => rows[index]!.id),
    );
    t.deepEqual((await watch.openWithdrawals('eth', 0, 10)).rows[0], rows[1]!);
    const fact = {
      kind: 'withdrawal_included',
      withdrawalId: rows[2]!.id,
      txid: '0x0a',
      height: 5,
      blockHash: 'h5',
      success: true,
      reason: null,
      fee: '1',
    } as const;
    await watch.noteWithdrawalFact(live, fact);
    await watch.noteWithdrawalFact(live, fact);
    t.deepEqual(await inbox(live), [fact]);
  },
);

holds(
  'a withdrawal whose block is replaced is told as orphaned, one that is on the new branch is not',
  async (t, { watch, issue, save, inbox, live }) => {
    const address = await issue(live);
    const [link] = await follow(watch, 'eth', 'a', [[]]);
    const version = (txid: string) => ({
      versions: [{ txid, signedPayload: 's', payload: 'p' }],
      txid,
      height: 101,
      blockHash: link!.hash,
      status: 'confirming' as const,
    });
    const [lost, kept] = [withdrawalRow(address, version('0x0a')), withdrawalRow(address, version('0x0b'))];
    await save(lost);
    await save(kept);
    const [next] = linksAfter(GENESIS, 1, 'b');
    const included = {
      kind: 'withdrawal_included',
      withdrawalId: kept.id,
      txid: '0x0b',
      height: 101,
      blockHash: 'b101',
      success: true,
      reason: null,
      fee: null,
    } as const;
    await watch.recordReorg('eth', { height: 100, hash: 'g100' }, { height: 101, hash: 'a101' }, [
      recordOf(next!, [], { withdrawals: [{ accountId: live, fact: included }] }),
    ]);
    t.deepEqual(told(await inbox(live)).sort(), ['withdrawal_included 0x0b', 'withdrawal_orphaned 0x0a']);
  },
);

holds(
  'G24 balances by the facts, page by page, and differences once',
  async (t, { watch, audit, issue, save, live }) => {
    const [one, two] = [await issue(live), await issue(live)].sort((a, b) =>
      a.addressKey < b.addressKey ? -1 : 1,
    ) as [AddressRow, AddressRow];
    await follow(watch, 'eth', 'a', [
      [
        transferTo(one, GENESIS, { txid: '0x01', amount: '1000' }),
        transferTo(one, GENESIS, { txid: '0x02', amount: '70', tokenContract: '0xT', outputIndex: 0 }),
      ],
      [transferTo(one, GENESIS, { txid: '0x03', amount: '5' })],
    ]);
    await save(
      withdrawalRow(one, {
        status: 'confirmed',
        amount: 100n,
        fee: 7n,
        txid: '0x0a',
        height: 102,
        blockHash: 'a102',
        versions: [{ txid: '0x0a', signedPayload: 's', payload: 'p' }],
      }),
    );
    await save(
      withdrawalRow(one, {
        status: 'failed',
        amount: 100n,
        fee: 3n,
        txid: '0x0b',
        height: 102,
        blockHash: 'a102',
        versions: [{ txid: '0x0b', signedPayload: 's', payload: 'p' }],
      }),
    );
    const shape = ({ balances }: Awaited<ReturnType<AuditStore['ledgerBalances']>>) =>
      balances.map(({ addressId, tokenContract, received, sent, unattributed }) => [
        addressId,
        tokenContract,
        received,
        sent,
        unattributed,
      ]);
    t.deepEqual(shape(await audit.ledgerBalances('eth', { addressKeys: [one.addressKey] }, 102, 10)), [
      [one.id, null, 1005n, 110n, 0n],
      [one.id, '0xT', 70n, 0n, 0n],
    ]);
    t.deepEqual(shape(await audit.ledgerBalances('eth', { addressKeys: [one.addressKey] }, 101, 10)), [
      [one.id, null, 1000n, 0n, 0n],
      [one.id, '0xT', 70n, 0n, 0n],
    ]);
    const page = await audit.ledgerBalances('eth', { afterKey: null }, 102, 1);
    t.deepEqual(
      shape(page).map(([id]) => id),
      [one.id, one.id],
      'the last address comes whole',
    );
    t.deepEqual(shape(await audit.ledgerBalances('eth', { afterKey: page.next }, 102, 10)), [
      [two.id, null, 0n, 0n, 0n],
    ]);
    const finding = {
      id: 'dsc_1',
      ledger: 'eth',
      accountId: live,
      addressId: two.id,
      address: two.address,
      tokenContract: null,
      kind: 'unattributed',
      amount: 9n,
      expected: 0n,
      found: 9n,
      height: 102,
      evidence: { a: 1 },
      atMs: NOW_MS,
    } as const;
    t.true(await audit.recordDiscrepancy(finding));
    t.false(await audit.recordDiscrepancy(finding));
    t.deepEqual(await audit.discrepancies('eth', 10), [finding]);
    t.deepEqual(shape(await audit.ledgerBalances('eth', { addressKeys: [two.addressKey] }, 102, 10)), [
      [two.id, null, 0n, 0n, 9n],
    ]);
    const shortfall = { ...finding, id: 'dsc_2', kind: 'shortfall', amount: 4n } as const;
    t.true(await audit.recordDiscrepancy(shortfall));
    t.false(await audit.recordDiscrepancy({ ...shortfall, id: 'dsc_3', amount: 5n, height: 110 }));
    t.is((await audit.discrepancies('eth', 10)).find(({ kind }) => kind === 'shortfall')!.amount, 5n);
  },
);

const blockOf = (
  ledger: LedgerId,
  height: number,
  branch: string,
  transactions: SandboxBlock['transactions'] = [],
): SandboxBlock => ({
  ledger,
  height,
  hash: `${branch}${height}`,
  parentHash: height === 0 ? 'none' : `${branch}${height - 1}`,
  timeMs: NOW_MS,
  transactions,
});

holds('the simulated ledger keeps blocks, balances and counters, and takes them back', async (t, { sandbox, box }) => {
  const ledger = ledgerOf('eth', box);
  t.is(await sandbox.head(ledger), null);
  const paid = {
    txid: '0x01',
    success: true,
    reason: null,
    fee: '21',
    from: null,
    nonce: null,
    transfers: [
      { outputIndex: -1, to: 'a', amount: '1000', tokenContract: null },
      { outputIndex: 0, to: 'a', amount: '50', tokenContract: 'T' },
    ],
  };
  const spent = {
    txid: '0x02',
    success: true,
    reason: null,
    fee: '21',
    from: 'a',
    nonce: 0,
    transfers: [{ outputIndex: 0, to: 'b', amount: '30', tokenContract: 'T' }],
  };
  const failed = { txid: '0x03', success: false, reason: 'reverted', fee: '5', from: 'a', nonce: 1, transfers: [] };
  t.true(await sandbox.mine(ledger, null, [blockOf(ledger, 0, 'a'), blockOf(ledger, 1, 'a', [paid])]));
  t.false(await sandbox.mine(ledger, { height: 0, hash: 'a0' }, [blockOf(ledger, 1, 'b')]));
  t.true(await sandbox.mine(ledger, { height: 1, hash: 'a1' }, [blockOf(ledger, 2, 'a', [spent, failed])]));
  const balances = async () => [
    await sandbox.balance(ledger, 'a', null),
    await sandbox.balance(ledger, 'a', 'T'),
    await sandbox.balance(ledger, 'b', 'T'),
    BigInt(await sandbox.nonce(ledger, 'a')),
  ];
  t.deepEqual(await balances(), [974n, 20n, 30n, 2n]);
  t.deepEqual(await sandbox.blockOf(ledger, '0x02'), { height: 2, hash: 'a2', transaction: spent });
  t.deepEqual(
    (await sandbox.blocks(ledger, 1, 10)).map(({ height }) => height),
    [1, 2],
  );
  t.deepEqual(
    (await sandbox.unmine(ledger, 1)).map(({ hash }) => hash),
    ['a2'],
  );
  t.deepEqual(await balances(), [1000n, 50n, 0n, 0n]);
  t.is(await sandbox.blockOf(ledger, '0x02'), null);
  t.deepEqual(await sandbox.head(ledger), { height: 1, hash: 'a1' });
  t.true(
    await sandbox.mine(ledger, { height: 1, hash: 'a1' }, [{ ...blockOf(ledger, 2, 'b', [spent]), parentHash: 'a1' }]),
  );
  t.deepEqual(await balances(), [979n, 20n, 30n, 1n]);
});

holds('timers are leased until they are finished; an outage is remembered', async (t, { sandbox, box }) => {
  const ledger = ledgerOf('eth', box);
  await sandbox.mine(ledger, null, [blockOf(ledger, 0, 'a')]);
  await sandbox.schedule({ id: 'one', accountId: box, dueAtMs: NOW_MS + 10, task: { kind: 'tick' } });
  t.deepEqual(await sandbox.takeDue(NOW_MS, 100, 10), []);
  t.deepEqual(await sandbox.takeDue(NOW_MS + 10, 100, 10), [{ id: 'one', accountId: box, task: { kind: 'tick' } }]);
  t.deepEqual(await sandbox.takeDue(NOW_MS + 10, 100, 10), []);
  t.is((await sandbox.takeDue(NOW_MS + 110, 100, 10)).length, 1, 'a process that died left it unfinished');
  await sandbox.finish('one');
  t.deepEqual(await sandbox.takeDue(NOW_MS + 1_000, 100, 10), []);
  t.is(await sandbox.downUntil(ledger), null);
  await sandbox.setDown(ledger, NOW_MS + 5);
  t.is(await sandbox.downUntil(ledger), NOW_MS + 5);
});

holds(
  'ledgers with work left are named: not read to the head, or with a signed withdrawal in no block',
  async (t, { sandbox, watch, issue, save, box }) => {
    const ledger = ledgerOf('eth', box);
    t.deepEqual(await sandbox.behind(10), { ledgers: [], next: null });
    await sandbox.mine(ledger, null, [blockOf(ledger, 0, 'a')]);
    t.deepEqual(await sandbox.behind(10), { ledgers: [ledger], next: null });
    await watch.recordBlock(
      ledger,
      recordOf({ height: 0, hash: 'a0', parentHash: 'none', parentHeight: -1, timeMs: null }, [], { previous: null }),
    );
    t.deepEqual(await sandbox.behind(10), { ledgers: [], next: null });
    const address = await issue(box);
    await save(
      withdrawalRow(address, { status: 'signing', versions: [{ txid: '0x0a', signedPayload: 's', payload: 'p' }] }),
    );
    t.deepEqual(await sandbox.behind(10), { ledgers: [ledger], next: null });
  },
);

holds(
  '§4.7 reset takes the ledgers of one sandbox account with what was watched of them',
  async (t, { sandbox, watch, box, issue, reset }) => {
    const ledger = ledgerOf('eth', box);
    await sandbox.mine(ledger, null, [blockOf(ledger, 0, 'a')]);
    const address = await issue(box);
    await watch.recordBlock(
      ledger,
      recordOf(
        { height: 0, hash: 'a0', parentHash: 'none', parentHeight: -1, timeMs: null },
        [
          transferTo(
            address,
            { height: 0, hash: 'a0', parentHash: '', parentHeight: -1, timeMs: null },
            { txid: '0x01' },
          ),
        ],
        { previous: null },
      ),
    );
    await watch.recordBlock('eth', recordOf(GENESIS, [], { previous: null }));
    await sandbox.schedule({ id: 'one', accountId: box, dueAtMs: NOW_MS, task: {} });
    await reset(box);
    t.is(await sandbox.head(ledger), null);
    t.is(await watch.cursor(ledger), null);
    t.deepEqual(await watch.immature(ledger, 1_000, 10), []);
    t.deepEqual(await sandbox.takeDue(NOW_MS + 1, 10, 10), []);
    t.deepEqual(await watch.cursor('eth'), { height: 100, hash: 'g100' });
  },
);
