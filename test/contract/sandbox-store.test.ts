/** One suite for every store of simulated ledgers and of the audit: PostgreSQL and their memory twins. */
import test from 'ava';
import { createMemoryAuditStore } from '../../persistence/memory/audit-store.ts';
import { createMemorySandboxStore } from '../../persistence/memory/sandbox-store.ts';
import { createMemoryWatchStore } from '../../persistence/memory/watch-store.ts';
import type { AuditStore, DiscrepancyRow } from '../../model/ports/audit-store.ts';
import type { BehindPlace, SandboxBlock, SandboxStore, SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import type { WatchStore } from '../../model/ports/watch-store.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { accountIdOf, chainOfLedger, type AccountId, type LedgerId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import {
  addressRow,
  linksAfter,
  newOrganization,
  nextSerial,
  NOW_MS,
  openStores,
  resetSandbox,
  recordOf,
  transferTo,
  withdrawalRow,
  write,
} from '../support/store-rows.ts';

interface Bench {
  sandbox: SandboxStore;
  watch: WatchStore;
  audit: AuditStore;
  fresh(): Promise<{ ledger: LedgerId; accountId: AccountId; address: AddressRow }>;
  saveWithdrawal(row: WithdrawalRow): Promise<void>;
  reset(accountId: AccountId): Promise<void>;
}

let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

const twin = createMemoryWatchStore(() => NOW_MS);
const twinSandbox = createMemorySandboxStore(twin.state);

const benches: Record<string, () => Bench> = {
  memory: () => ({
    sandbox: twinSandbox,
    watch: twin,
    audit: createMemoryAuditStore(twin.state),
    async fresh() {
      const accountId = accountIdOf(newId('org', NOW_MS), 'sandbox');
      const address = addressRow(accountId);
      twin.addAddress(
        {
          addressKey: address.addressKey,
          addressId: address.id,
          accountId,
          address: address.address,
          purpose: 'deposit',
        },
        'sandbox',
        NOW_MS,
      );
      return { ledger: `eth@${accountId}`, accountId, address };
    },
    async saveWithdrawal(row) {
      twin.saveWithdrawal(row);
    },
    reset: async (accountId) => void (await twinSandbox.resetStep(accountId, 1_000)),
  }),
  postgres: () => ({
    sandbox: stores.sandbox,
    watch: stores.watch,
    audit: stores.audit,
    async fresh() {
      const { sandbox } = await newOrganization(stores);
      const address = addressRow(sandbox);
      await write(stores, sandbox, [{ table: 'address', row: address }]);
      return { ledger: `eth@${sandbox}`, accountId: sandbox, address };
    },
    async saveWithdrawal(row) {
      await write(stores, row.accountId, [{ table: 'withdrawal', row }]);
    },
    reset: (accountId) => resetSandbox(stores, accountId),
  }),
};

function pays(to: string, amount: bigint, more: Partial<SandboxTransaction> = {}): SandboxTransaction {
  return {
    txid: `0x${nextSerial()}`,
    success: true,
    reason: null,
    fee: '0',
    from: null,
    nonce: null,
    transfers: [{ outputIndex: -1, to, amount: amount.toString(), tokenContract: null }],
    ...more,
  };
}

function blocksAfter(
  ledger: LedgerId,
  height: number,
  parentHash: string,
  ...contents: SandboxTransaction[][]
): SandboxBlock[] {
  const links = linksAfter({ height, hash: parentHash }, contents.length, `s${nextSerial()}-`);
  return links.map((link, index) => ({
    ledger,
    height: link.height,
    hash: link.hash,
    parentHash: link.parentHash,
    timeMs: NOW_MS,
    transactions: contents[index]!,
  }));
}

for (const [name, bench] of Object.entries(benches)) {
  test.serial(
    `${name}: B19 what an address received and sent is its history, oldest first, with the bytes that were stored`,
    async (t) => {
      const { sandbox, fresh } = bench();
      const { ledger } = await fresh();
      const got = pays('a', 100n, { raw: '0102' }),
        other = pays('c', 1n),
        sent = pays('b', 30n, { from: 'a', fee: '5' });
      const first = blocksAfter(ledger, 0, 'genesis', [got, other], [], [sent]);
      t.true(await sandbox.mine(ledger, null, first));
      t.deepEqual(await sandbox.transactionsOf(ledger, 'a'), [
        { height: 1, transaction: got },
        { height: 3, transaction: sent },
      ]);
      t.deepEqual(await sandbox.transactionsOf(ledger, 'b'), [{ height: 3, transaction: sent }]);
      t.deepEqual(await sandbox.transactionsOf(ledger, 'nobody'), []);
      t.deepEqual((await sandbox.touched(ledger, ['nobody', 'b', 'a'])).toSorted(), ['a', 'b']);
      t.deepEqual(await sandbox.touched((await fresh()).ledger, ['a']), []);
      await sandbox.unmine(ledger, 1);
      t.deepEqual(await sandbox.transactionsOf(ledger, 'a'), [{ height: 1, transaction: got }]);
      t.deepEqual(await sandbox.transactionsOf((await fresh()).ledger, 'a'), [], 'of this ledger only');
    },
  );
  test.serial(
    `${name}: migration M-S1: a block that is there takes further transactions, and keeps its hash; one that is not takes none`,
    async (t) => {
      const { sandbox, fresh } = bench();
      const { ledger } = await fresh();
      const blocks = blocksAfter(ledger, 0, 'genesis', [pays('a', 100n)], []);
      await sandbox.mine(ledger, null, blocks);
      const late = pays('b', 7n);
      t.true(await sandbox.amend(ledger, 1, [late]));
      t.false(await sandbox.amend(ledger, 9, [pays('b', 1n)]));
      t.is(await sandbox.balance(ledger, 'b', null), 7n);
      const { hash, height } = blocks[0]!;
      t.deepEqual(await sandbox.blockOf(ledger, late.txid), { height, hash, transaction: late });
      t.deepEqual((await sandbox.head(ledger))!.hash, blocks[1]!.hash);
      await sandbox.unmine(ledger, 2);
      t.is(await sandbox.balance(ledger, 'b', null), 0n);
    },
  );
  test.serial(
    `${name}: found F44: a transaction is seen by its chain and txid, whoever's ledger it is on, with its block and the head`,
    async (t) => {
      const { sandbox, fresh } = bench();
      const { ledger } = await fresh(),
        chain = chainOfLedger(ledger),
        other = chain === 'eth' ? ('bsc' as const) : ('eth' as const);
      const seen = pays('a', 100n);
      const [block, next] = blocksAfter(ledger, 0, 'genesis', [pays('c', 1n), seen], []);
      await sandbox.mine(ledger, null, [block!, next!]);
      const { height, hash, timeMs } = block!;
      t.deepEqual(await sandbox.sighting(chain, seen.txid), {
        height,
        hash,
        timeMs,
        headHeight: next!.height,
        transaction: seen,
      });
      t.is(await sandbox.sighting(other, seen.txid), null);
      t.is(await sandbox.sighting(chain, 'nothing'), null);
      await sandbox.unmine(ledger, 2);
      t.is(await sandbox.sighting(chain, seen.txid), null, 'a reorg took it out');
    },
  );

  test.serial(
    `${name}: decisions 8: a simulated ledger mines on its head, and balances move with its transactions`,
    async (t) => {
      const { sandbox, fresh } = bench();
      const { ledger } = await fresh();
      t.is(await sandbox.head(ledger), null);
      t.is(await sandbox.balance(ledger, 'a', null), 0n);
      const first = blocksAfter(ledger, 0, 'genesis', [pays('a', 100n)], []);
      t.true(await sandbox.mine(ledger, null, first));
      t.false(await sandbox.mine(ledger, null, first), 'the ledger moved meanwhile');
      t.deepEqual(await sandbox.head(ledger), { height: 2, hash: first[1]!.hash });
      const sent = pays('b', 30n, { from: 'a', nonce: 0, fee: '5' });
      const failed = pays('b', 1n, { from: 'a', nonce: 1, fee: '2', success: false, reason: 'reverted' });
      const token = pays('b', 0n, {
        from: 'a',
        nonce: 2,
        transfers: [{ outputIndex: 0, to: 'b', amount: '1', tokenContract: '0xt' }],
        success: false,
        reason: 'no token',
      });
      const second = blocksAfter(ledger, 2, first[1]!.hash, [sent, failed, token]);
      t.true(await sandbox.mine(ledger, { height: 2, hash: first[1]!.hash }, second));
      t.deepEqual(await Promise.all(['a', 'b'].map((address) => sandbox.balance(ledger, address, null))), [63n, 30n]);
      t.is(await sandbox.balance(ledger, 'b', '0xt'), 0n);
      t.is(await sandbox.nonce(ledger, 'a'), 3);
      t.is(await sandbox.nonce(ledger, 'b'), 0);
      t.deepEqual(await sandbox.blocks(ledger, 2, 9), [first[1]!, second[0]!]);
      t.deepEqual(await sandbox.blocks(ledger, 1, 1), [first[0]!]);
      t.deepEqual(await sandbox.blockOf(ledger, failed.txid), {
        height: 3,
        hash: second[0]!.hash,
        transaction: failed,
      });
      t.is(await sandbox.blockOf(ledger, 'nowhere'), null);
    },
  );

  test.serial(`${name}: simulate-reorg takes blocks and their movements back, newest first`, async (t) => {
    const { sandbox, fresh } = bench();
    const { ledger } = await fresh();
    const mined = blocksAfter(
      ledger,
      0,
      'genesis',
      [pays('a', 10n)],
      [pays('b', 4n, { from: 'a', nonce: 0, fee: '1' })],
      [pays('a', 4n, { from: 'b', nonce: 0 })],
    );
    await sandbox.mine(ledger, null, mined);
    t.deepEqual(await sandbox.unmine(ledger, 2), [mined[2]!, mined[1]!]);
    t.deepEqual(await sandbox.head(ledger), { height: 1, hash: mined[0]!.hash });
    t.deepEqual(
      await Promise.all([
        sandbox.balance(ledger, 'a', null),
        sandbox.balance(ledger, 'b', null),
        sandbox.nonce(ledger, 'a'),
      ]),
      [10n, 0n, 0],
    );
    t.is(await sandbox.blockOf(ledger, mined[1]!.transactions[0]!.txid), null);
    t.is((await sandbox.unmine(ledger, 9)).length, 1);
    t.is(await sandbox.head(ledger), null);
    t.deepEqual(await sandbox.unmine(ledger, 9), []);
  });

  test.serial(`${name}: a block that does not follow, or spends what is not there, is refused whole`, async (t) => {
    const { sandbox, fresh } = bench();
    const { ledger } = await fresh();
    const [one] = blocksAfter(ledger, 0, 'genesis', [pays('a', 1n)]);
    await sandbox.mine(ledger, null, [one!]);
    await t.throwsAsync(sandbox.mine(ledger, { height: 1, hash: one!.hash }, blocksAfter(ledger, 5, one!.hash, [])));
    await t.throwsAsync(sandbox.mine(ledger, { height: 1, hash: one!.hash }, blocksAfter(ledger, 1, 'elsewhere', [])));
    if (name === 'postgres') {
      await t.throwsAsync(
        sandbox.mine(
          ledger,
          { height: 1, hash: one!.hash },
          blocksAfter(ledger, 1, one!.hash, [pays('b', 2n, { from: 'a', nonce: 0 })]),
        ),
        { message: /sandbox_balance_not_negative/ },
      );
      t.deepEqual(await sandbox.head(ledger), { height: 1, hash: one!.hash });
    }
  });

  test.serial(`${name}: timers are leased and come back unless they are finished`, async (t) => {
    const { sandbox, fresh } = bench();
    const { accountId } = await fresh();
    const at = NOW_MS + nextSerial() * 1e9;
    for (const [id, dueAtMs] of [
      ['late', at + 50],
      ['first', at],
      ['second', at + 1],
    ] as const) {
      await sandbox.schedule({ id: `${accountId}-${id}`, accountId, dueAtMs, task: { id } });
    }
    const mine = async (nowMs: number) =>
      (await sandbox.takeDue(nowMs, 30_000, 100))
        .filter((row) => row.accountId === accountId)
        .map(({ task }) => (task as { id: string }).id);
    t.deepEqual(await mine(at + 1), ['first', 'second']);
    t.deepEqual(await mine(at + 1), []);
    await sandbox.finish(`${accountId}-first`);
    t.deepEqual(await mine(at + 30_001), ['late', 'second']);
    await sandbox.finish(`${accountId}-first`);
  });

  test.serial(`${name}: ecosystem X76 of two that change a task in one moment one does`, async (t) => {
    const { sandbox, fresh } = bench();
    const { accountId } = await fresh();
    const id = `${accountId}-changed`,
      task = { kind: 'some', taken: [] as string[] };
    t.is(await sandbox.task(id), null);
    t.false(await sandbox.changeTask(id, task, {}), 'there is none');
    await sandbox.schedule({ id, accountId, dueAtMs: NOW_MS + 1e12, task });
    t.deepEqual(await sandbox.task(id), task);
    const both = await Promise.all(['a', 'b'].map((one) => sandbox.changeTask(id, task, { ...task, taken: [one] })));
    t.is(both.filter(Boolean).length, 1);
    t.deepEqual(await sandbox.task(id), { ...task, taken: [both[0] === true ? 'a' : 'b'] });
    await sandbox.finish(id);
    t.is(await sandbox.task(id), null);
  });

  test.serial(`${name}: a ledger can be down for a time, and one with work left is found`, async (t) => {
    const { sandbox, watch, fresh, saveWithdrawal } = bench();
    const { ledger, address } = await fresh();
    const { ledger: waiting, address: from } = await fresh();
    t.is(await sandbox.downUntil(ledger), null);
    await sandbox.setDown(ledger, NOW_MS + 5);
    t.is(await sandbox.downUntil(ledger), NOW_MS + 5);
    t.is(await sandbox.head(ledger), null);
    t.false((await sandbox.behind(1_000)).ledgers.includes(ledger));
    const mined = blocksAfter(ledger, 0, 'genesis', [pays(address.address, 1n)]);
    await sandbox.mine(ledger, null, mined);
    t.true((await sandbox.behind(1_000)).ledgers.includes(ledger));
    await watch.recordBlock(ledger, recordOf({ ...mined[0]!, parentHeight: 0 }, [], { previous: null }));
    t.false((await sandbox.behind(1_000)).ledgers.includes(ledger));
    await saveWithdrawal(withdrawalRow(from));
    t.false((await sandbox.behind(1_000)).ledgers.includes(waiting), 'unsigned');
    await saveWithdrawal(
      withdrawalRow(from, {
        status: 'signing',
        txid: '0x1',
        versions: [{ txid: '0x1', signedPayload: '0x', payload: '0x' }],
      }),
    );
    t.true((await sandbox.behind(1_000)).ledgers.includes(waiting));
  });

  test.serial(
    `${name}: found F63: ledgers that stay behind hide no other one: they are named page by page`,
    async (t) => {
      const { sandbox, fresh, saveWithdrawal } = bench();
      const mined = await Promise.all([fresh(), fresh(), fresh()]);
      for (const { ledger, address } of mined)
        await sandbox.mine(ledger, null, blocksAfter(ledger, 0, 'genesis', [pays(address.address, 1n)]));
      const signed = await Promise.all([fresh(), fresh(), fresh()]);
      for (const [n, { address }] of signed.entries())
        for (const nonce of [0, 1, 2]) {
          const row = withdrawalRow(address),
            txid = `0x${n}${nonce}`;
          await saveWithdrawal({
            ...row,
            status: 'signing',
            txid,
            unsigned: { ...row.unsigned, replayKey: { kind: 'nonce', value: nonce } },
            versions: [{ txid, signedPayload: '0x', payload: '0x' }],
          });
        }
      const expected = [...mined, ...signed].map(({ ledger }) => ledger).sort();
      for (const limit of [1, 2, 5]) {
        const found = new Set<string>();
        let pages = 0;
        for (let place: BehindPlace | null = null, first = true; first || place !== null; first = false, pages += 1) {
          const { ledgers, next }: Awaited<ReturnType<typeof sandbox.behind>> = await sandbox.behind(limit, place);
          for (const ledger of ledgers) found.add(ledger);
          place = next;
        }
        t.deepEqual(
          expected.filter((ledger) => !found.has(ledger)),
          [],
          `${limit} at a time`,
        );
        t.true(pages > 1 && pages < 2_000, `${pages} pages`);
      }
    },
  );

  test.serial(
    `${name}: found F70: the pool of a stuck ledger holds one version of each payment; a block takes all of them out`,
    async (t) => {
      const { sandbox, fresh, saveWithdrawal } = bench();
      const { ledger, accountId, address } = await fresh();
      const [one] = blocksAfter(ledger, 0, 'genesis', [pays('a', 100n)]);
      await sandbox.mine(ledger, null, [one!]);
      const head = { height: 1, hash: one!.hash };
      const entry = (more: Partial<SandboxTransaction>) => {
        const transaction = pays('b', 1n, { from: 'a', ...more });
        return {
          txid: transaction.txid,
          from: 'a',
          payload: `bytes of ${transaction.txid}`,
          transaction,
          sinceMs: NOW_MS,
        };
      };
      const [old, newer, behind] = [entry({ nonce: 0 }), entry({ nonce: 0 }), entry({ nonce: 1 })];
      t.false(await sandbox.isStuck(ledger));
      t.false(await sandbox.takePooled(ledger, head, old, []), 'not stuck');
      await sandbox.setStuck(ledger, { height: null, repriced: false });
      t.true(await sandbox.isStuck(ledger));
      t.deepEqual(await sandbox.stuckUntil(ledger), { height: null, repriced: false });
      await sandbox.setStuck(ledger, { height: 1, repriced: true });
      t.false(await sandbox.isStuck(ledger), 'ecosystem X76 it is at the height of its end');
      t.deepEqual(await sandbox.stuckUntil(ledger), { height: 1, repriced: true }, 'its pool is still to be mined');
      t.false(await sandbox.takePooled(ledger, head, old, []));
      await sandbox.setStuck(ledger, { height: 2, repriced: false });
      t.true(await sandbox.isStuck(ledger));
      t.false(await sandbox.takePooled(ledger, { height: 1, hash: 'moved' }, old, []), 'it moved');
      t.true(await sandbox.takePooled(ledger, head, behind, []));
      t.true(await sandbox.takePooled(ledger, head, old, []));
      t.false(await sandbox.takePooled(ledger, head, newer, []), 'its counter value is taken');
      t.true(await sandbox.takePooled(ledger, head, newer, [old.txid]));
      t.deepEqual(await sandbox.pooled(ledger, old.txid), { ...old, replacedBy: newer.txid });
      t.deepEqual(await sandbox.pooledSighting('eth', newer.txid), { ...newer, replacedBy: null });
      t.deepEqual(
        (await sandbox.heldInPool(ledger, 9)).map(({ txid }) => txid),
        [newer.txid, behind.txid],
        'in the order of their counter values',
      );
      t.deepEqual(
        (await sandbox.heldInPool(ledger, 1)).map(({ txid }) => txid),
        [newer.txid],
      );
      t.is((await sandbox.pooledOf(ledger, 'a')).length, 3);
      t.deepEqual(await sandbox.pooledOf(ledger, 'b'), []);
      const [coin, again, child] = [
        entry({ spends: ['x:0', 'x:1'] }),
        entry({ spends: ['x:1'] }),
        entry({ spends: ['y:0'] }),
      ];
      for (const output of [coin, child]) t.true(await sandbox.takePooled(ledger, head, output, []));
      t.false(await sandbox.takePooled(ledger, head, again, []), 'its output is spent in the pool');
      await saveWithdrawal(
        withdrawalRow(address, {
          status: 'broadcast',
          txid: newer.txid,
          versions: [{ txid: newer.txid, signedPayload: '0x', payload: '0x' }],
        }),
      );
      await bench().watch.recordBlock(ledger, recordOf({ ...one!, parentHeight: 0 }, [], { previous: null }));
      t.false(
        (await sandbox.behind(1_000)).ledgers.includes(ledger),
        'what waits in the pool keeps no other ledger waiting',
      );
      t.true(await sandbox.mine(ledger, head, blocksAfter(ledger, 1, one!.hash, [old.transaction, again.transaction])));
      t.deepEqual(
        (await sandbox.pooledOf(ledger, 'a')).map(({ txid }) => txid).sort(),
        [behind.txid, child.txid].sort(),
      );
      t.true((await sandbox.behind(1_000)).ledgers.includes(ledger));
      await sandbox.dropPooled(ledger, child.txid);
      t.is(await sandbox.pooled(ledger, child.txid), null);
      await bench().reset(accountId);
      t.deepEqual([await sandbox.isStuck(ledger), await sandbox.pooled(ledger, behind.txid)], [false, null]);
    },
  );

  test.serial(`${name}: spec §4.7 reset removes the ledgers of one account with their watch state`, async (t) => {
    const { sandbox, watch, fresh } = bench();
    const [one, other] = [await fresh(), await fresh()];
    for (const { ledger, address, accountId } of [one, other]) {
      const mined = blocksAfter(ledger, 0, 'genesis', [pays(address.address, 1n)]);
      await sandbox.mine(ledger, null, mined);
      const link = { ...mined[0]!, parentHeight: 0 };
      await watch.recordBlock(ledger, recordOf(link, [transferTo(address, link)], { previous: null }));
      await sandbox.schedule({ id: `task-${accountId}`, accountId, dueAtMs: NOW_MS, task: 1 });
    }
    await bench().reset(one.accountId);
    t.deepEqual(
      [
        await sandbox.head(one.ledger),
        await watch.cursor(one.ledger),
        await sandbox.balance(one.ledger, one.address.address, null),
      ],
      [null, null, 0n],
    );
    t.deepEqual(await watch.immature(one.ledger, 999, 9), []);
    t.is((await watch.immature(other.ledger, 999, 9)).length, 1);
    const due = await sandbox.takeDue(NOW_MS, 1, 1_000);
    t.deepEqual(
      [one, other].map(({ accountId }) => due.some((row) => row.accountId === accountId)),
      [false, true],
    );
  });

  test.serial(
    `${name}: V7 a balance by the facts counts what is on the chain, less what left with its fees`,
    async (t) => {
      const { watch, audit, fresh, saveWithdrawal } = bench();
      const { ledger, address, accountId } = await fresh();
      const links = linksAfter({ height: 0, hash: 'a0' }, 4, 'a');
      const token = (amount: string) => ({ amount, tokenContract: '0xt', tokenSymbol: 'T', outputIndex: nextSerial() });
      const contents = [
        [transferTo(address, links[0]!, { amount: '100' })],
        [transferTo(address, links[1]!, token('7')), transferTo(address, links[1]!, { amount: '20' })],
        [transferTo(address, links[2]!, { amount: '1000' })],
        [],
      ];
      for (const [index, link] of links.entries())
        await watch.recordBlock(ledger, recordOf(link, contents[index]!, index === 0 ? { previous: null } : {}));
      await watch.refute(ledger, [contents[0]![0]!]);
      const sent = (more: Partial<WithdrawalRow>) =>
        withdrawalRow(address, {
          txid: '0x',
          versions: [{ txid: '0x', signedPayload: '0x', payload: '0x' }],
          height: 2,
          blockHash: 'a2',
          fee: 3n,
          ...more,
        });
      await saveWithdrawal(sent({ status: 'confirming', amount: 5n }));
      await saveWithdrawal(sent({ status: 'failed', amount: 50n }));
      await saveWithdrawal(sent({ status: 'confirmed', amount: 2n, tokenContract: '0xt' }));
      await saveWithdrawal(sent({ status: 'confirmed', amount: 900n, height: 3 }));
      const known = {
        addressKey: address.addressKey,
        addressId: address.id,
        accountId,
        address: address.address,
        purpose: 'deposit',
      };
      const expected = [
        { ...known, tokenContract: null, received: 20n, sent: 5n + 3n + 3n + 3n, unattributed: 0n },
        { ...known, tokenContract: '0xt', received: 7n, sent: 2n, unattributed: 0n },
      ];
      t.deepEqual(
        (await audit.ledgerBalances(ledger, { addressKeys: [address.addressKey] }, 2, 99)).balances,
        expected as never,
      );
      t.deepEqual(
        (await audit.ledgerBalances(ledger, { afterKey: null }, 2, 99)).balances,
        expected as never,
        'only the account of a simulated ledger',
      );
      const [first, end] = [
        await audit.ledgerBalances(ledger, { afterKey: null }, 2, 1),
        await audit.ledgerBalances(ledger, { afterKey: address.addressKey }, 2, 99),
      ];
      t.deepEqual(
        [first.next, first.balances, end.next, end.balances],
        [address.addressKey, expected as never, null, []],
      );
    },
  );

  test.serial(`${name}: G24 a discrepancy is recorded once; a shortfall is one finding that is updated`, async (t) => {
    const { audit, fresh } = bench();
    const { ledger, address, accountId } = await fresh();
    const row = (more: Partial<DiscrepancyRow>): DiscrepancyRow => ({
      id: `d${nextSerial()}`,
      ledger,
      accountId,
      addressId: address.id,
      address: address.address,
      tokenContract: null,
      kind: 'unattributed',
      amount: 5n,
      expected: 10n,
      found: 15n,
      height: 7,
      evidence: { reads: [1, 2] },
      atMs: NOW_MS + nextSerial(),
      ...more,
    });
    const [growth, later] = [row({}), row({ height: 8, amount: 2n })];
    t.true(await audit.recordDiscrepancy(growth));
    t.false(await audit.recordDiscrepancy({ ...growth, id: 'again', amount: 99n }));
    t.true(await audit.recordDiscrepancy(later));
    const shortfall = row({ kind: 'shortfall', found: 9n, amount: 1n });
    t.true(await audit.recordDiscrepancy(shortfall));
    const worse = row({ kind: 'shortfall', found: 6n, amount: 4n, height: 20 });
    t.false(await audit.recordDiscrepancy(worse));
    t.true(await audit.recordDiscrepancy(row({ kind: 'shortfall', tokenContract: '0xt' })));
    const found = await audit.discrepancies(ledger, 9);
    t.is(found.length, 4);
    t.deepEqual(
      found.find(({ id }) => id === shortfall.id),
      { ...worse, id: shortfall.id },
    );
    t.deepEqual(
      found.find(({ id }) => id === growth.id),
      growth,
    );
    t.is((await audit.discrepancies(ledger, 2)).length, 2);
    const {
      balances: [balance],
    } = await audit.ledgerBalances(ledger, { addressKeys: [address.addressKey] }, 99, 9);
    t.is(balance!.unattributed, 7n);
  });
}
