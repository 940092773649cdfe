/**
 * Every statement of the stores, called once with arguments of a busy day on the databases of scale.ts and
 * scale-beside.ts. The key names the methods of `createStores` that it calls, or rows of an append.
 */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { createClusterStore } from '../../persistence/postgres/cluster-store.ts';
import { createSealedSecrets, createUnreadableHooks } from '../../persistence/postgres/sealed-secrets.ts';
import type { Sql } from '../../persistence/postgres/sql.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import type { RowWrite } from '../../model/account/capabilities.ts';
import type { TokenKind } from '../../model/ports/people-store.ts';
import type { BlockRecord } from '../../model/ports/watch-store.ts';
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import { eventId, newId, newUuid } from '../../protocol/node/ids.ts';
import { SCALE_USERS, SCALE_WEBHOOKS } from './scale.ts';
import { claimOf } from '../../actors/webhook/flights.ts';
import { closed } from '../../actors/payment/closing.ts';
import { invoiceNumberOf } from '../../actors/payment/invoices.ts';
import { CHECKOUT_TAG } from '../../model/rows/payment.ts';
import { moved as movedTransfer, transferWrite } from '../../actors/bridge/moves.ts';
import { jobWrite, moved, operationWrite } from '../../actors/sweep/moves.ts';
import { eventually } from './postgres.ts';
import { invoiceRow, lentRow, linkRow, paymentRow } from './payment-rows.ts';
import { bridgeTransferRow } from './bridge-rows.ts';
import { sweepJobRow, sweepOperationRow } from './sweep-rows.ts';
import {
  addressRow,
  appendOf,
  depositRow,
  depositWrites,
  entryRow,
  linksAfter,
  newOrganization,
  nextSerial,
  PLAN,
  publicationRow,
  recordOf,
  transferTo,
  webhookRow,
  withdrawalRow,
  write,
} from './store-rows.ts';

export interface PlanWorld {
  readonly stores: Stores;
  readonly sql: Sql;
  readonly live: AccountId;
  readonly sandbox: AccountId;
  readonly userId: string;
  readonly organizationId: string;
}
type Work = (world: PlanWorld) => Promise<unknown>;

const LEDGER: LedgerId = 'eth';
/** The indexes of the large account end below. */
const issued: typeof addressRow = (accountId, more) => {
  const index = 1_000_000_000 + nextSerial();
  return addressRow(accountId, { index, derivationPath: `m/44'/60'/0'/0/${index}`, ...more });
};
const soon = (): number => Date.now() + 60_000;
const fresh = (): string => newUuid(Date.now());

/** An address, and a block above the cursor with what pays it. */
async function nextBlock({ stores, live }: PlanWorld, more: Partial<BlockRecord> = {}, ledger: LedgerId = LEDGER) {
  const row = issued(live);
  await write(stores, live, [{ table: 'address', row }]);
  const previous = await stores.watch.cursor(ledger);
  const [link] = linksAfter(previous ?? { height: 9_999_999, hash: 'start' }, 1, `n${fresh()}`);
  const transfer = { ...transferTo(row, link!), ledger };
  await stores.watch.recordBlock(ledger, recordOf(link!, [transfer], { previous, ...more }));
  return { row, link: link!, transfer, at: { height: link!.height, hash: link!.hash } };
}

const factOf = ({ txid, outputIndex, blockHash }: BlockRecord['transfers'][number]) => ({
  txid,
  outputIndex,
  blockHash,
});
/** A withdrawal in a block, and what a watcher says of it. */
async function included({ stores, live }: PlanWorld, height: number): Promise<BlockRecord['withdrawals'][number]> {
  const from = issued(live);
  const row = withdrawalRow(from, {
    status: 'broadcast',
    versions: [{ txid: `0x${fresh()}`, signedPayload: '0x', payload: '0x' }],
    txid: `0x${fresh()}`,
  });
  await write(stores, live, [
    { table: 'address', row: from },
    { table: 'withdrawal', row },
  ]);
  return {
    accountId: live,
    fact: {
      kind: 'withdrawal_included',
      withdrawalId: row.id,
      txid: row.txid!,
      height,
      blockHash: 'x',
      success: true,
      reason: null,
      fee: '1',
    },
  };
}

const WATCH: Record<string, Work> = {
  'watch.chainStart beginChain noteChainStart tokenCode noteTokenCode': async ({ stores: { watch } }) => {
    await watch.noteTokenCode('eth', 'a contract', 'code');
    await watch.tokenCode('eth', 'a contract');
    await watch.beginChain(LEDGER, Date.now());
    await watch.noteChainStart(LEDGER, 100);
    await watch.chainStart(LEDGER);
  },
  'watch.cursor links recordBlock coverage noteHead noteHeard watched tokenStarts': async (world) => {
    const {
      stores: { watch },
    } = world;
    const { row, at } = await nextBlock(world);
    const told = await included(world, at.height + 1);
    await nextBlock(world, { withdrawals: [told] });
    await nextBlock(world, {}, 'base');
    await watch.recordBlock(
      'polygon',
      recordOf(linksAfter({ height: 1, hash: 'start' }, 1, 'p')[0]!, [], { previous: null }),
    );
    await watch.links(LEDGER, at.height + 1, 20);
    await watch.noteHead(LEDGER, at.height, Date.now());
    await watch.noteHeard(LEDGER, Date.now());
    await watch.coverage(LEDGER);
    await watch.tokenStarts(LEDGER);
    await watch.watched('live', [row.addressKey]);
  },
  'watch.resolveHeight reopenHeight noteUnresolved unresolvedHeights': async (world) => {
    const {
      stores: { watch },
    } = world;
    const { link, transfer, at } = await nextBlock(world, { unresolved: 'unproven' });
    await watch.noteUnresolved(LEDGER, link.height, 'still');
    await watch.unresolvedHeights(LEDGER, 10);
    await watch.resolveHeight(LEDGER, recordOf(link, [transfer]));
    await watch.reopenHeight(LEDGER, at, 'again');
    await watch.resolveHeight(LEDGER, recordOf(link, [transfer]));
  },
  'watch: a ledger with thousands of heights that nobody could prove': async (world) => {
    const {
      stores: { watch },
    } = world;
    const { link, transfer } = await nextBlock(world, { unresolved: 'unproven' }, 'avax');
    await watch.unresolvedHeights('avax', 10);
    await watch.resolveHeight('avax', recordOf(link, [transfer]));
  },
  'watch.coverage of such a ledger': ({ stores: { watch } }) => watch.coverage('avax'),
  'watch.recordLate correctBlock': async (world) => {
    const {
      stores: { watch },
    } = world;
    const { row, link, transfer, at } = await nextBlock(world);
    await watch.recordLate(LEDGER, at, [
      transfer,
      transferTo(row, link),
      transferTo(row, link, { outputIndex: -5 }),
      transferTo(row, link, { txid: 'former', outputIndex: -3 }),
    ]);
    await watch.correctBlock(LEDGER, at, [transfer]);
  },
  'watch.recordReorg': async (world) => {
    const {
      stores: { watch },
    } = world;
    const fork = await nextBlock(world);
    await nextBlock(world); // what it pays is in no block of the new branch
    const gone = await nextBlock(world);
    const told = await included(world, gone.link.height);
    // fork_was_recorded
    await watch.recordReorg(LEDGER, { height: fork.at.height, hash: 'never' }, gone.at, []).catch(() => undefined);
    const branch = linksAfter(fork.at, 2, `r${fresh()}`);
    await watch.recordReorg(LEDGER, fork.at, gone.at, [
      recordOf(branch[0]!, [transferTo(gone.row, branch[0]!, { txid: gone.transfer.txid })], {
        unresolved: 'unproven',
      }),
      recordOf(branch[1]!, [], { withdrawals: [told] }),
    ]);
    await watch.resolveHeight(LEDGER, recordOf(branch[0]!, []));
  },
  'watch.immature mature refute': async (world) => {
    const {
      stores: { watch },
    } = world;
    const one = await nextBlock(world),
      two = await nextBlock(world);
    await watch.noteHead(LEDGER, one.at.height + 20, Date.now());
    await watch.immature(LEDGER, one.at.height + 20, 50);
    await watch.immature('bsc', 1e9, 50);
    await watch.mature(LEDGER, [{ ...factOf(one.transfer), confirmations: 12 }]);
    await watch.refute(LEDGER, [factOf(two.transfer)]);
  },
  'watch.openWithdrawals noteWithdrawalFact': async (world) => {
    const {
      stores: { watch },
    } = world;
    let page = await watch.openWithdrawals(LEDGER, 10_000_000, 20);
    for (let n = 0; n < 3 && page.next !== null; n += 1)
      page = await watch.openWithdrawals(LEDGER, 10_000_000, 20, page.next);
    await watch.openWithdrawals('base', 0, 20);
    const { accountId, fact } = await included(world, 5);
    await watch.noteWithdrawalFact(accountId, fact);
  },
  // Of all that there are: a watcher that was away for long.
  'watch.addressesSince': async ({ stores: { watch } }) => {
    const { addresses } = await watch.addressesSince('live', 0, { most: 40 });
    await watch.addressesSince('sandbox', 0, { most: 40 });
    await watch.addressesSince('live', 0, { keys: addresses.map(({ addressKey }) => addressKey) });
  },
};

const AUDIT: Record<string, Work> = {
  'audit.ledgerBalances': async (world) => {
    const {
      stores: { audit },
    } = world;
    const { row, at } = await nextBlock(world);
    await audit.ledgerBalances(LEDGER, { addressKeys: [row.addressKey] }, at.height, 20);
    await audit.ledgerBalances(LEDGER, { afterKey: null }, at.height, 20);
    await audit.ledgerBalances(LEDGER, { afterKey: '80000000-0000-0000-0000-000000000000' }, at.height, 20);
  },
  'audit.count': async (world) => {
    const { row, at } = await nextBlock(world);
    const sides = [{ side: 'received' as const, subject: row.addressKey }];
    await world.stores.audit.count(LEDGER, { addressKey: row.addressKey, sides }, at.height);
  },
  'audit: an address that moved more than is read at once, counted and counted again': async (world) => {
    const {
      stores: { audit },
      sql,
    } = world;
    const { row, at } = await nextBlock(world),
      { link } = await nextBlock(world);
    await world.stores.watch.recordLate(LEDGER, { height: link.height, hash: link.hash }, [transferTo(row, link)]);
    const count = () => sql`select count_audit_total(${LEDGER}, 'received', ${row.addressKey}, ${link.height}, 1)`;
    for (let n = 0; n < 2; n += 1) await count();
    // Other tests' databases are of this server too, and what is under way there holds it up.
    const isReady = async () => {
      const [total] = await sql<{ isReady: boolean }[]>`
        select t.ready <= pg_snapshot_xmin(pg_current_snapshot()) as is_ready from audit_total t
         where t.ledger = ${LEDGER} and t.side = 'received' and t.subject = ${row.addressKey}`;
      return total!.isReady;
    };
    await eventually('what was under way has ended', isReady);
    for (let n = 0; n < 3; n += 1) await count();
    // What is paid at a height that was counted corrects it.
    await world.stores.watch.recordLate(LEDGER, at, [transferTo(row, { ...link, ...at })]);
    for (let n = 0; n < 6; n += 1) await sql`select * from recount_audit_total(${LEDGER}, 1)`;
    await audit.recount(LEDGER);
  },
  'audit.recordDiscrepancy discrepancies': async (world) => {
    const {
      stores: { audit },
      live,
    } = world;
    const { row, at } = await nextBlock(world);
    await audit.recordDiscrepancy({
      id: newId('dep', Date.now()),
      ledger: LEDGER,
      accountId: live,
      addressId: row.id,
      address: row.address,
      tokenContract: null,
      kind: 'unattributed',
      amount: 1n,
      expected: 0n,
      found: 1n,
      height: at.height,
      evidence: {},
      atMs: Date.now(),
    });
    await audit.discrepancies('tron', 20);
  },
};

const ACCOUNTS: Record<string, Work> = {
  'several nodes: join beat owners claim release sharing leave': async ({ sql }) => {
    const nodes = createClusterStore(sql),
      about = { version: '1.0.0', protocol: 1, roles: ['gateway'], chains: ['eth' as const] };
    await nodes.clusterId('plans');
    await nodes.join('several', 'http://several', about, ['proof']);
    await nodes.describe('several', about);
    await nodes.beat('several', 30);
    await nodes.releaseShards('several', [...(await nodes.claimShards('several', [1_022, 1_023], 30)).keys()]);
    await nodes.releaseChains('several', [...(await nodes.claimChains('several', ['eth'], 30)).keys()]);
    await nodes.owners(30);
    await nodes.nodes(30);
    await nodes.sharing(30);
    await nodes.leave('several');
  },
  'jobs.claim renew finish postpone': async ({ stores: { jobs } }) => {
    const job = fresh();
    const claim = (await jobs.claim(job, 'plans', 86_400, 60))!;
    await jobs.renew(job, 'plans', 60);
    await jobs.postpone(job, 'plans', claim, 0);
    await jobs.finish(job, 'plans', (await jobs.claim(job, 'plans', 86_400, 60))!);
  },
  'accounts.load holds append ownership.claimVacantShards renewNode': async ({
    stores: { accounts, ownership },
    live,
  }) => {
    await ownership.renewNode('plans', 30);
    await ownership.claimVacantShards('plans', 30);
    accounts.holds?.(live, (await accounts.load(live))!.ownerEpoch);
  },
  'rows: addresses of a pair on two networks, and their status': async ({ stores, live }) => {
    const { read } = stores;
    const row = issued(live, { userRef: SCALE_USERS.most, tag: 'hot' });
    await write(stores, live, [{ table: 'address', row }]);
    const twin = {
      ...issued(live),
      chain: 'base' as const,
      userRef: row.userRef,
      tag: row.tag,
      index: row.index,
      address: row.address,
      addressKey: row.addressKey,
    };
    await read.unpairedIndexes([{ accountId: live, chain: 'base', userRef: SCALE_USERS.most, tag: 'hot' }]);
    await write(stores, live, [{ table: 'address_status', id: row.id, status: 'archived', alone: true }]);
    await write(stores, live, [{ table: 'address_status', id: row.id, status: 'active', alone: true }]);
    await read.isAlone(live, row);
    await write(stores, live, [{ table: 'address', row: { ...twin, userRef: 'pair', tag: null } }]).catch(
      () => undefined,
    );
    const own = issued(live, { userRef: fresh() });
    await write(stores, live, [{ table: 'address', row: own }]);
    await write(stores, live, [
      { table: 'address', row: { ...own, id: newId('adr', Date.now()), chain: 'base' }, paired: true },
    ]);
  },
  'rows: own addresses, keys, pools, identity, peaks, statements, entries': async ({ stores, live }) => {
    const index = 1_000_000 + nextSerial();
    const statementId = newId('stm', Date.now());
    await write(stores, live, [
      { table: 'address', row: issued(live, { purpose: 'gas_tank', index: null, derivationPath: 'm/1/0' }) },
      {
        table: 'account_keys',
        row: {
          family: 'evm',
          xpub: `xpub-evm-${live}`,
          accountPath: "m/44'/60'/0'",
          fingerprint: 'evm00',
          status: 'active',
        },
        key: 'evm/evm00',
      },
      { table: 'pool_address', row: { chain: 'sol', index, address: `p${index}`, path: 'm', addressKey: fresh() } },
      { table: 'identities', row: { publicKey: fresh() }, key: '' },
      { table: 'address_peak', day: '2026-06-01', active: 5 },
      {
        table: 'statements',
        key: fresh(),
        row: {
          id: statementId,
          period: `${String(nextSerial() % 2_000).padStart(4, '0')}-06`, // of a month that is over
          lines: [{ kind: 'base', tier: 'premium', band: 'launch', cents: '9900' }],
          totalCents: '9900',
          settled: 0,
          issuedAtMs: Date.now(),
        },
      },
      {
        table: 'collections',
        key: fresh(),
        row: {
          id: newId('col', Date.now()),
          statementId,
          amountCents: '1',
          byUser: 'usr_1',
          reason: 'a transfer',
          collectedAtMs: Date.now(),
        },
      },
      {
        table: 'audit_notes',
        key: fresh(),
        row: {
          note: {
            ...{ actor: { kind: 'user', id: 'usr_1' }, via: 'console', action: 'changePlan', target: null },
            ...{ outcome: 'done', changes: null, ip: null, client: null, requestId: null },
          },
        },
      },
    ]);
  },
  'rows: a deposit credited and reversed': async ({ stores, live }) => {
    const row = issued(live);
    await write(stores, live, [{ table: 'address', row }]);
    await write(stores, live, depositWrites(row, 'reversed', { ledger: LEDGER }).rows);
  },
  'rows: a link that a transfer pays, closes and leaves again': async ({ stores, live, sandbox }) => {
    for (const account of [live, sandbox]) {
      const link = linkRow(account),
        address = issued(account, { tag: CHECKOUT_TAG, label: link.id }),
        payment = paymentRow(link, address),
        ended = closed(link, 'manual', 1, Date.now(), 30);
      await write(stores, account, [
        { table: 'address', row: address },
        { table: 'payment_link', row: link },
        { table: 'payment', row: payment },
        { table: 'checkout_address', row: lentRow(link, payment, address) },
      ]);
      const ledger = account === live ? LEDGER : (`eth@${account}` as LedgerId);
      const { deposit, rows } = depositWrites(address, 'reversed', { ledger }),
        transfer = {
          depositId: deposit.id,
          incarnation: 1,
          accountId: account,
          linkId: link.id,
          paymentId: payment.id,
        },
        entry = { ...transfer, amount: deposit.amount };
      await write(stores, account, [
        ...rows,
        { table: 'payment', row: { ...payment, version: 2, status: 'expired' } },
        { table: 'payment_transfer', row: { ...transfer, role: 'counted' } },
        { table: 'payment_entry', row: { ...entry, kind: 'counted' } },
        { table: 'payment_entry', row: { ...entry, kind: 'reversed', amount: -deposit.amount } },
        { table: 'payment_link', row: { ...ended, version: 2 } },
        { table: 'payments_expired', linkId: link.id },
      ]);
      await write(stores, account, [
        {
          table: 'payment',
          row: { ...payment, version: 3, status: 'underpaid', seen: 1n },
        },
        { table: 'payment_link', row: { ...ended, version: 3, uses: 1 } },
      ]);
    }
  },
  'sweeps: candidates sums job jobs operations openOperation promised isPaying openJobs duePolicies, rows': async ({
    stores,
    live,
    sandbox,
  }) => {
    for (const account of [live, sandbox]) {
      const row = issued(account),
        job = sweepJobRow(),
        operation = sweepOperationRow(job.id, { address: row.address });
      await write(stores, account, [{ table: 'address', row }]);
      const policy = {
        id: job.policyId,
        chain: 'eth' as const,
        tokenContract: '',
        minAmount: 1n,
        nextRunAtMs: null,
        heldUntilMs: null,
        seen: 0,
        again: true,
        fires: true,
        isGone: false,
      };
      await write(stores, account, [{ table: 'sweep_policies', key: policy.id, row: policy }]);
      await write(stores, account, depositWrites(row, 'confirmed', { ledger: LEDGER }).rows);
      await write(stores, account, [jobWrite(job), operationWrite(operation)]);
      await stores.sweeps.candidates(account, { chain: 'eth', token: null }, 1n, 0, 20);
      const place = { amount: '5', address: row.address };
      await stores.sweeps.candidates(account, { chain: 'eth', token: null }, 1n, place, 20);
      await stores.sweeps.sums(account, { chain: 'eth', token: null }, 2n, 20);
      await stores.sweeps.job(account, job.id);
      await stores.sweeps.jobs(account, {}, { page: 0, size: 20 });
      await stores.sweeps.jobs(account, { policyId: job.policyId }, { page: 0, size: 20 });
      await stores.sweeps.operations(account, job.id);
      await stores.sweeps.openOperation(account, 'eth', row.address);
      await stores.sweeps.isPaying(account, 'eth', row.address);
      await stores.sweeps.isPaying(account, 'tron', row.address);
      await stores.sweeps.promised(account, 'eth');
      await stores.sweeps.openJobs(null, 100);
      const due = await stores.sweeps.duePolicies(Date.now(), 0, null, 100);
      await stores.sweeps.duePolicies(Date.now(), 0, due.at(-1) ?? null, 100);
      const sent = withdrawalRow(row, {
        id: operation.sweepId,
        kind: 'sweep',
        ledger: account === live ? LEDGER : (`eth@${account}` as LedgerId),
      });
      const out = { ...sent, txid: `0x${fresh()}`, status: 'broadcast' as const };
      const versions = [{ txid: out.txid, signedPayload: 's', payload: 'p', amount: String(sent.amount) }];
      await write(stores, account, [{ table: 'withdrawal', row: sent }]);
      await write(stores, account, [{ table: 'withdrawal', row: { ...out, versions } }]);
      const landed = { height: 5, blockHash: '0xb', fee: 1n, status: 'confirmed' as const };
      await write(stores, account, [{ table: 'withdrawal', row: { ...out, versions, ...landed } }]);
      await write(stores, account, [{ table: 'withdrawal', row: { ...out, versions } }]); // by a reorg
      const { version } = (await stores.sweeps.job(account, job.id))!;
      await write(stores, account, [
        operationWrite(moved(operation, 'SKIPPED', { reason: 'dust' }, Date.now())),
        jobWrite({ ...job, version: version + 1, state: 'COMPLETED', endedAtMs: Date.now() }),
        { table: 'sweep_policies', key: policy.id, row: { ...policy, isGone: true } },
      ]);
    }
  },
  'bridges: transfer transfers dueTransfers, rows': async ({ stores, live, sandbox }) => {
    for (const account of [live, sandbox]) {
      const row = bridgeTransferRow();
      await write(stores, account, [transferWrite(row)]);
      await stores.bridges.transfer(account, row.id);
      await stores.bridges.transfers(account, {}, { page: 0, size: 20 });
      await stores.bridges.transfers(account, { policyId: row.policyId }, { page: 0, size: 20 });
      const due = await stores.bridges.dueTransfers(Date.now() + 1_000, null, 100);
      await stores.bridges.dueTransfers(Date.now() + 1_000, due.at(-1) ?? null, 100);
      await write(stores, account, [transferWrite(movedTransfer(row, 'FAILED', { reason: 'fee' }, Date.now()))]);
    }
  },
  'inbox: a deposit on a lent address': async (world) => {
    const { stores, live } = world,
      { row: address, link: block } = await nextBlock(world),
      link = linkRow(live, { collectEmail: true }),
      lendable = issued(live, { tag: CHECKOUT_TAG, label: link.id }),
      payment = paymentRow(link, lendable, { due: 10n ** 30n, customerEmail: 'ada@example.com' });
    await write(stores, live, [
      { table: 'address', row: lendable },
      { table: 'payment_link', row: link },
      { table: 'payment', row: payment },
      { table: 'checkout_address', row: lentRow(link, payment, lendable) },
    ]);
    const part = depositWrites(lendable, 'confirmed', { ledger: LEDGER, amount: 1n }),
      ids = { depositId: part.deposit.id, incarnation: 1, accountId: live, linkId: link.id, paymentId: payment.id },
      amount = part.deposit.amount;
    await write(stores, live, [
      ...part.rows,
      { table: 'payment', row: { ...payment, version: 2, status: 'underpaid', seen: amount, confirmed: amount } },
      { table: 'payment_transfer', row: { ...ids, role: 'counted' } },
      { table: 'payment_entry', row: { ...ids, kind: 'counted', amount } },
    ]);
    const [next] = linksAfter(block, 1, `p${fresh()}`);
    const known = depositWrites(lendable, 'detected', { ledger: LEDGER });
    await write(stores, live, [...known.rows]);
    const { txid, outputIndex } = known.deposit;
    const transfer = { ...transferTo(lendable, next!, { txid, outputIndex }), ledger: LEDGER };
    await stores.watch.recordBlock(LEDGER, recordOf(next!, [transfer], { previous: block }));
    const { inbox } = await stores.inbox.inboxOf(live, 1_000);
    if (inbox.length === 0) throw new Error(`no fact waits for ${address.id}`);
  },
  'rows: a deposit of an archived address, which nobody is told of': async ({ stores, live }) => {
    const row = issued(live, { status: 'archived' });
    const deposit = depositRow(row, { ledger: LEDGER, announced: false });
    await write(stores, live, [{ table: 'address', row }]);
    await write(stores, live, [
      { table: 'deposit', row: deposit },
      { table: 'ledger_entry', row: entryRow(deposit, 'detected', null) },
    ]);
  },
  'rows: of several accounts together, with an event each': async ({ stores, live, sandbox }) => {
    const more = await newOrganization(stores);
    const accounts = [live, sandbox, more.live, more.sandbox];
    const appends = await Promise.all(
      accounts.map((id) => appendOf(stores, id, [], [{ type: 'peak_noted', day: '2026-06-01', active: 1 }])),
    );
    await Promise.all(appends.map((one) => stores.accounts.append(one)));
  },
  'rows: a withdrawal built, sent and billed': async ({ stores, live }) => {
    const from = issued(live);
    const row = withdrawalRow(from);
    await write(stores, live, [
      { table: 'address', row: from },
      { table: 'withdrawal', row },
    ]);
    await write(stores, live, [{ table: 'withdrawal', row: { ...row, status: 'signing' } }]);
    await write(stores, live, [{ table: 'billable', withdrawalId: row.id, kind: 'withdrawal', period: '2026-06' }]);
    await write(stores, live, [{ table: 'billable_change', withdrawalId: row.id, period: '2026-06', change: -1 }]);
    const dead = withdrawalRow(from);
    await write(stores, live, [{ table: 'withdrawal', row: dead }]);
    await write(stores, live, [
      { table: 'withdrawal_status', id: dead.id, status: 'expired', updatedAtMs: Date.now() },
    ]);
  },
  'rows: endpoints, publications, replays': async ({ stores, live }) => {
    const hook = webhookRow(live);
    await write(stores, live, [{ table: 'webhook', row: hook }]);
    const told = publicationRow(live, { createdAtMs: Date.now() }),
      rotated = publicationRow(live, { event: 'identity_rotation_detected', toAll: true, createdAtMs: Date.now() });
    await write(stores, live, [
      { table: 'publication', row: told },
      { table: 'publication', row: rotated },
    ]);
    const {
      content: [delivery],
    } = await stores.read.deliveries(live, { webhookId: hook.id, status: 'pending' }, { page: 0, size: 1 });
    await write(stores, live, [
      { table: 'replay', deliveryId: delivery!.id, newDeliveryId: newId('dlv', Date.now()), nowMs: Date.now() },
    ]);
    await write(stores, live, [{ table: 'webhook', row: { ...hook, status: 'disabled' } }]);
    await write(stores, live, [{ table: 'webhook', row: { ...hook, sealedSecrets: ['other'], status: 'enabled' } }]);
  },
  'inbox.inboxOf': async (world) => {
    const { stores, live } = world;
    await nextBlock(world);
    const { accountId, fact } = await included(world, 5);
    await stores.watch.noteWithdrawalFact(accountId, fact);
    const { inbox } = await stores.inbox.inboxOf(live, 50);
    await write(stores, live, [{ table: 'inbox_taken', ids: inbox.map(({ id }) => id) }], []);
  },
  'inbox.accountsWithInbox setAside factsSetAside countSetAside retryFacts': async (world) => {
    const {
      stores: { inbox },
      live,
    } = world;
    await nextBlock(world);
    await inbox.accountsWithInbox(soon(), 10);
    const {
      inbox: [one],
    } = await inbox.inboxOf(live, 1);
    await inbox.setAside(live, one!.id, 'no', { firstMs: 1_000, longestMs: 60_000 });
    await inbox.factsSetAside('0', 10);
    await inbox.countSetAside();
    await inbox.retryFacts({ accountId: live, id: one!.id });
    await inbox.retryFacts({ accountId: live, id: null });
    await inbox.retryFacts({ accountId: null, id: null });
  },
};

const DELIVERIES: Record<string, Work> = {
  'deliveries.claimDue standing recordAttempts releaseClaims holdUnreadable': async ({
    stores: { deliveries },
    live,
  }) => {
    const now = Date.now();
    const claimed = await deliveries.claimDue([live], 4, now, 30_000, []);
    const [one, two] = claimed.map(({ delivery: { id } }) => id) as [string, string];
    await deliveries.standing(live, [claimed[0]!.delivery]);
    const attempt = { accountId: live, attempt: 1, statusCode: 410, durationMs: 5, error: null, atMs: now };
    await deliveries.recordAttempts([
      {
        ...attempt,
        deliveryId: one,
        postedTo: 'https://nowhere.example/',
        next: { status: 'failed', nextAttemptAtMs: now + 60_000, disableEndpoint: true },
      },
    ]);
    await deliveries.holdUnreadable([{ deliveryId: two, sealedSecrets: ['others'] }]);
    await deliveries.releaseClaims([claimOf(claimed[2]!)]);
  },
  'deliveries.workBacklog': async ({ stores, live }) => {
    const hook = webhookRow(live);
    await write(stores, live, [
      { table: 'webhook', row: hook },
      { table: 'publication', row: publicationRow(live) },
    ]);
    await stores.deliveries.workBacklog();
  },
  'deliveries.releaseAbandoned': ({ stores: { deliveries } }) =>
    deliveries.releaseAbandoned(
      'plans',
      Array.from({ length: 64 }, (_, shard) => shard),
    ),
  'deliveries.purge': ({ stores: { deliveries } }) => deliveries.purge(Date.UTC(2025, 0, 1)),
  'deliveries.incompletePublications': ({ stores: { deliveries } }) => deliveries.incompletePublications(),
  'deliveries.purgeBodies': ({ stores: { deliveries } }) => deliveries.purgeBodies(Date.UTC(2025, 0, 1)),
  'mail.claimDue record': async ({ stores: { mail } }) => {
    for (const { eventId: event, userId } of await mail.claimDue(5, Date.now(), 30_000))
      await mail.record({ eventId: event, userId }, { atMs: Date.now(), againAtMs: null, error: null });
  },
  'mail.claimLetters recordLetter': async ({ stores: { mail } }) => {
    for (const { id } of await mail.claimLetters(5, Date.now(), 30_000))
      await mail.recordLetter(id, { atMs: Date.now(), againAtMs: null, error: null });
  },
  'people.write writeKeyLetters open token register reset suspend changePassword rehash changeEmail restoreEmail':
    async ({ stores: { people, identity }, userId }) => {
      const note = {
        ...{ actor: { kind: 'user' as const, id: null }, via: 'console' as const, action: 'resetPassword' as const },
        ...{ target: null, outcome: 'done' as const, changes: null, ip: null, client: null, requestId: null },
      };
      const email = (await identity.userById(userId))!.email;
      const letter = { id: fresh(), kind: 'known' as const, recipient: email, userId, sealedToken: null, facts: {} };
      await people.write(letter, Date.now());
      await people.writeKeyLetters(Date.now());
      const opened = async (kind: TokenKind, of: string | null, to = email) => {
        const hash = fresh()
          .replace(/[^0-9a-f]/g, '0')
          .padEnd(64, '0')
          .slice(-64);
        const token = { hash, kind, subject: of ?? to, email: to, userId: of, expiresAtMs: soon() };
        await people.open(token, { ...letter, id: fresh() }, Date.now());
        return hash;
      };
      const mailbox = `${fresh()}@example.com`;
      const verify = await opened('verify', null, mailbox);
      await people.token(verify);
      await people.register(verify, { id: newId('usr', Date.now()), passwordHash: 'x' }, Date.now());
      const { id } = (await identity.userByEmail(mailbox))!;
      await people.reset(await opened('reset', id), 'y', fresh(), Date.now(), note);
      await people.suspend(id, true, Date.now(), note);
      await people.suspend(id, false, Date.now(), note);
      await people.changePassword({ id, from: 'y', to: 'z', loginId: null }, fresh(), Date.now(), note);
      await people.rehash(id, 'z', 'y');
      const undo = {
        hash: fresh()
          .replace(/[^0-9a-f]/g, '0')
          .padEnd(64, '0')
          .slice(-64),
        expiresAtMs: soon(),
      };
      const change = await opened('email', id, `${fresh()}@example.com`);
      await people.changeEmail(change, { ...undo, letterId: fresh(), sealed: 'x' }, Date.now(), note);
      await people.restoreEmail(undo.hash, fresh(), Date.now(), note);
    },
  'invitations.invite renew revoke list byLink one accept join': async ({ stores }) => {
    const { organizationId, userId } = await newOrganization(stores);
    const { invitations, identity } = stores;
    const other = await newOrganization(stores);
    const email = (await identity.userById(other.userId))!.email;
    const hashOf = () =>
      fresh()
        .replace(/[^0-9a-f]/g, '0')
        .padEnd(64, '0')
        .slice(-64);
    const invite = async (to: string) => {
      const [id, hash] = [newId('ivt', Date.now()), hashOf()];
      const row = { id, organizationId, email: to, role: 'viewer' as const, invitedBy: userId };
      await invitations.invite({ ...row, createdAtMs: Date.now(), expiresAtMs: soon() }, hash, null);
      return { id, hash };
    };
    const first = await invite(email);
    await invitations.list(organizationId);
    await invitations.one(organizationId, first.id);
    await invitations.byLink(first.hash);
    const hash = hashOf();
    await invitations.renew(organizationId, first.id, { hash, expiresAtMs: soon() }, null, Date.now());
    await invitations.accept(hash, other.userId, Date.now());
    const second = await invite(`${fresh()}@example.com`);
    await invitations.join(second.hash, { id: newId('usr', Date.now()), passwordHash: 'x' }, Date.now());
    await invitations.revoke(organizationId, (await invite(`${fresh()}@example.com`)).id, Date.now());
  },
  'factorResets.ask confirm cancel byId list expire carryOut': async ({ stores }) => {
    const { factorResets, identity } = stores;
    const at = Date.now();
    const person = async () => {
      const id = newId('usr', at);
      const email = `${id}@example.com`;
      await identity.insertUser({
        ...{ id, email, passwordHash: 'x', platformRole: null },
        sealedTotpSecret: 'x',
        totpConfirmed: true,
      });
      return id;
    };
    const [userId, one, two] = [await person(), await person(), await person()];
    const letterOf = (id: string, n: number) => ({
      letter: { id: `${id}.${n}`, sealedToken: 'x', facts: {} },
      ...{ linkHash: 'a'.repeat(64), atMs: at },
    });
    const note = {
      ...{ actor: { kind: 'admin' as const, id: null }, via: 'job' as const, action: 'resetFactors' as const },
      ...{ target: null, outcome: 'done' as const, changes: null, ip: null, client: null, requestId: null },
    };
    for (const ends of ['cancelled', 'done']) {
      const id = newId('frs', at);
      await factorResets.ask({ id, userId, reason: 'x', askedBy: one, askedAtMs: at }, letterOf(id, 0), note);
      await factorResets.confirm({ id, by: two, atMs: at, dueAtMs: at + 259_200_000 }, [letterOf(id, 1)], note);
      await factorResets.byId(id);
      if (ends === 'cancelled') await factorResets.cancel(id, one, at, note);
    }
    await factorResets.carryOut(at + 259_200_000, fresh(), note);
    await factorResets.list(null, 10);
    await factorResets.expire(0, at);
  },
  'devices.begin approve poll purge': async ({ stores }) => {
    const { organizationId, userId } = await newOrganization(stores);
    const { devices } = stores;
    const id = newId('dvc', Date.now());
    const userCode = Array.from({ length: 8 }, () => 'BCDFGHJKLMNPQRSTVWXZ'[randomInt(20)]).join('');
    await devices.begin({ id, secretHash: 'a'.repeat(64), userCode, expiresAtMs: soon() });
    await devices.poll(id, 'b'.repeat(64), Date.now());
    await devices.poll(id, 'a'.repeat(64), Date.now());
    const approval = { userId, organizationId, environment: 'sandbox' as const, role: 'viewer' as const };
    await devices.approve(userCode, approval, Date.now());
    await devices.poll(id, 'a'.repeat(64), Date.now() + 60_000);
    await devices.purge(0);
  },
  'support.allowAccess accessUntil begin standing list end': async ({ stores }) => {
    const { organizationId, userId } = await newOrganization(stores);
    const { support } = stores;
    const at = Date.now();
    await support.allowAccess(organizationId, soon(), at);
    await support.accessUntil(organizationId);
    const id = newId('sup', at);
    const row = {
      id,
      organizationId,
      environment: 'live' as const,
      adminId: userId,
      loginId: 'x',
      reason: 'x',
      createdAtMs: at,
    };
    await support.begin({ ...row, endsAtMs: at + 60_000 }, {});
    await support.standing(id, at);
    await support.list(organizationId);
    await support.end(organizationId, id, at);
    await support.allowAccess(organizationId, null, at);
  },
  'wipes.newest due step writeLetters': async ({ stores }) => {
    const { live, userId } = await newOrganization(stores),
      { wipes } = stores;
    const [address, at] = [addressRow(live), Date.now()];
    await write(stores, live, [{ table: 'address', row: address }]);
    await write(stores, live, depositWrites(address, 'confirmed').rows);
    await write(stores, live, [
      { table: 'webhook', row: webhookRow(live) },
      {
        table: 'quota_warnings',
        row: { period: '2026-07', quota: 'webhooks', threshold: 80, used: 20, of: 25 },
        key: '',
      },
    ]);
    // It was asked for 72 hours ago.
    const row = { id: newId('wip', at), userId, scheduledForMs: at, atMs: at - 72 * 3_600_000 };
    const to = (status: 'scheduled' | 'closing' | 'running' | 'done') =>
      write(stores, live, [{ table: 'wipes', row: { ...row, status }, key: row.id }]);
    await to('scheduled');
    await wipes.writeLetters(row.scheduledForMs - 1);
    await wipes.newest(live);
    while (await wipes.step(live, 20));
    await wipes.due(row.scheduledForMs, '', 9);
    await to('closing');
    await to('running');
    await write(stores, live, depositWrites(address, 'detected', { userRef: 'late' }).rows);
    while (await wipes.step(live, 1));
    await wipes.step(live, 1);
    await to('done');
  },
  'mail.unsent purgeSent': async ({ stores: { mail } }) => {
    await mail.unsent();
    await mail.purgeSent(0);
  },
};

const EDGE: Record<string, Work> = {
  'edge.saveSessions sessions reapSessions': async ({ stores: { edge }, live }) => {
    const at = Date.now();
    await edge.saveSessions([
      {
        id: newId('ses', at),
        accountId: live,
        role: 'leader',
        edgeVersion: '1',
        liveness: 'live',
        leaseEpoch: 1,
        outboxMode: 'normal',
        outboxDepth: 0,
        outboxPoisoned: false,
        podHint: null,
        lastHeartbeatAtMs: at,
        startedAtMs: at,
        endedAtMs: null,
      },
    ]);
    await edge.sessions(live);
    await edge.reapSessions(0);
  },
  'edge.openSessions': ({ stores: { edge } }) => edge.openSessions(),
  'edge.claimNonce purgeNonces': async ({ stores: { edge } }) => {
    await edge.claimNonce('k', fresh(), soon());
    await edge.purgeNonces(0);
  },
  'edge.saveLocalKeys localKeys edgeKeys askToRevoke keysToRevoke': async ({ stores: { edge }, live }) => {
    const record = {
      id: newId('ek', Date.now()),
      environment: 'live' as const,
      hash: 'h',
      label: 'l',
      prefix: 'p',
      createdAtMs: 1,
      revokedAtMs: null,
      signature: 's',
    };
    await edge.saveLocalKeys(live, [record as never]);
    await edge.localKeys(live);
    await edge.edgeKeys(live, record.id, 20);
    await edge.askToRevoke(live, record.id, Date.now());
    await edge.keysToRevoke(live);
  },
  'edge.saveKeySet keySets': async ({ stores: { edge }, live }) => {
    await edge.saveKeySet(live, {
      replica: 'one',
      version: nextSerial(),
      covers: [{ replica: 'other', version: 1 }],
    } as never);
    await edge.keySets(live);
  },
  'edge.saveInstructions instruction reapInstructions': async ({ stores, live }) => {
    const from = issued(live),
      row = withdrawalRow(from);
    await write(stores, live, [
      { table: 'address', row: from },
      { table: 'withdrawal', row },
    ]);
    await stores.edge.saveInstructions(live, [{ transactionId: row.id, askedAtMs: Date.now() } as never]);
    await stores.edge.instruction(live, row.id);
    await stores.edge.reapInstructions(0);
  },
};

const PEOPLE: Record<string, Work> = {
  'identity.apiKeyByHash insertApiKey apiKeys revokeApiKey noteKeyUse': async ({
    stores: { identity },
    live,
    organizationId,
  }) => {
    const row = {
      id: newId('key', Date.now()),
      accountId: live,
      organizationId,
      environment: 'live' as const,
      label: 'x',
      hash: fresh(),
      maskedPrefix: 'flk',
      createdAtMs: 1,
      revokedAtMs: null,
    };
    await identity.insertApiKey(row, {
      owner: live,
      key: fresh(),
      method: 'POST',
      path: '/x',
      bodyHash: 'h',
      status: 201,
      body: {},
    });
    await identity.apiKeyByHash(row.hash);
    await identity.apiKeys(organizationId);
    await identity.noteKeyUse(row.id, 2);
    await identity.revokeApiKey(organizationId, row.id, 2);
  },
  'identity.userByEmail userById enrolTotp confirmTotp spendTotpStep noteTotpFailure totpLockedUntil': async ({
    stores: { identity },
    userId,
  }) => {
    await identity.userByEmail(`${userId}@example.com`);
    await identity.userById(userId);
    await identity.enrolTotp(userId, 'sealed');
    await identity.confirmTotp(userId, 'sealed', { letterId: fresh(), nowMs: Date.now() });
    await identity.spendTotpStep(userId, nextSerial(), Date.now());
    await identity.noteTotpFailure(userId, { letterId: fresh(), nowMs: Date.now() });
    await identity.totpLockedUntil(userId);
  },
  'factors.spendRecoveryCode replaceRecoveryCodes recoveryCodesLeft disableTotp': async ({ stores }) => {
    const { userId } = await newOrganization(stores);
    const letter = () => ({ letterId: fresh(), nowMs: Date.now() });
    await stores.identity.enrolTotp(userId, 'sealed');
    await stores.identity.confirmTotp(userId, 'sealed', letter());
    await stores.factors.replaceRecoveryCodes(userId, ['a'.repeat(64), 'b'.repeat(64)], letter());
    await stores.factors.recoveryCodesLeft(userId);
    await stores.factors.spendRecoveryCode(userId, 'a'.repeat(64), letter());
    await stores.factors.disableTotp(userId, letter());
  },
  'passkeys.openChallenge spendChallenge purgeChallenges passkeys byCredential add noteUse remove': async ({
    stores: { passkeys },
    userId,
  }) => {
    const letter = () => ({ letterId: fresh(), nowMs: Date.now() });
    const of = { purpose: 'sign_in' as const, userId: null, loginId: null, boundTo: null };
    await passkeys.openChallenge('c'.repeat(64), of, soon());
    await passkeys.spendChallenge('c'.repeat(64), of, Date.now());
    await passkeys.purgeChallenges(0);
    const [id, credential] = [newId('psk', Date.now()), fresh()];
    const row = { id, userId, credential, publicKey: 'x', counter: 5, name: 'x', createdAtMs: 1, lastUsedAtMs: null };
    await passkeys.add(row, letter());
    await passkeys.passkeys(userId);
    await passkeys.byCredential(credential);
    const note = {
      ...{ actor: { kind: 'user' as const, id: null }, via: 'console' as const, action: 'passkeyCounter' as const },
      ...{ target: null, outcome: 'done' as const, changes: null, ip: null, client: null, requestId: null },
    };
    await passkeys.noteUse(id, 3, Date.now(), note);
    await passkeys.remove(userId, id, letter());
  },
  'sso.connectionOf connection putConnection writeCertificateLetters removeConnection enforce countEnforced relax keepsEmail domains addDomain verifyDomain domainsDue noteLook removeDomain connectionOfDomain connectionToAsk openFlow takeFlow bring spendAssertion purgeFlows userOf join link':
    async ({ stores }) => {
      const { sso } = stores;
      const { organizationId, userId } = await newOrganization(stores);
      const note = {
        ...{ actor: { kind: 'user' as const, id: null }, via: 'console' as const, action: 'linkSso' as const },
        ...{ target: null, outcome: 'done' as const, changes: null, ip: null, client: null, requestId: null },
      };
      const id = newId('sso', Date.now());
      const terms = {
        issuer: 'https://x.example',
        clientId: 'x',
        sealedSecret: null,
        saml: null,
        jitRole: 'viewer' as const,
      };
      await sso.putConnection({ id, organizationId, ...terms, createdAtMs: Date.now() }, Date.now());
      await sso.connectionOf(organizationId);
      await sso.writeCertificateLetters(Date.now());
      await sso.connection(id);
      const domain = { id: newId('dmn', Date.now()), domain: `${fresh()}.example`, token: 'x' };
      await sso.addDomain({ ...domain, organizationId, verifiedAtMs: null, createdAtMs: Date.now() });
      await sso.verifyDomain(organizationId, domain.id, Date.now());
      await sso.domains(organizationId);
      await sso.connectionOfDomain(domain.domain);
      await sso.connectionToAsk(domain.domain);
      await sso.domainsDue(Date.now());
      await sso.noteLook(domain.id, true, Date.now());
      await sso.keepsEmail(userId, domain.domain);
      await sso.openFlow({ hash: 'd'.repeat(64), browser: 'b', connectionId: id, sealed: 'x', expiresAtMs: soon() });
      await sso.bring('d'.repeat(64), 'x', Date.now());
      await sso.spendAssertion(id, 'd'.repeat(64), soon());
      await sso.takeFlow('d'.repeat(64), 'b', Date.now());
      await sso.purgeFlows(0);
      const membership = { organizationId, role: 'viewer' as const };
      const user = { id: newId('usr', Date.now()), email: `${fresh()}@example.com`, passwordHash: 'x' };
      const one = { connectionId: id, issuer: 'x' };
      await sso.join({ ...one, subject: fresh() }, user, membership, Date.now(), { ...note, organizationId });
      const subject = fresh();
      await sso.link({ ...one, subject }, userId, membership, Date.now(), note);
      await sso.userOf({ ...one, subject });
      await stores.identity.enrolTotp(userId, 'x');
      await stores.identity.confirmTotp(userId, 'x', { letterId: fresh(), nowMs: Date.now() });
      const [loginId, family] = [newId('lgn', Date.now()), fresh()];
      const login = { id: loginId, userId, method: 'sso' as const, connectionId: id, client: 'x', ip: '127.0.0.1' };
      const times = { createdAtMs: Date.now(), endsAtMs: soon() };
      await stores.logins.begin({ ...login, ...times }, { family, hash: `${family}1` }, organizationId);
      const enforced = await sso.enforce(organizationId, id, { userId, breakGlass: [userId] }, Date.now());
      if (enforced !== 'done') throw new Error(`not enforced: ${enforced}`);
      await stores.logins.standing(userId, null, organizationId, Date.now());
      await sso.countEnforced('oidc', 1_000);
      await sso.relax(organizationId, id);
      await sso.removeDomain(organizationId, domain.id);
      await sso.removeConnection(organizationId, id);
    },
  'logins.begin turn choose open endFamily end standing purge': async ({
    stores: { logins },
    userId,
    organizationId,
  }) => {
    const browser = { client: 'x', ip: '127.0.0.1' };
    const begin = async () => {
      const [id, family] = [newId('lgn', Date.now()), fresh()];
      const row = { id, userId, method: 'password' as const, ...browser, createdAtMs: Date.now(), endsAtMs: soon() };
      await logins.begin(row, { family, hash: `${family}1` }, organizationId);
      return { id, family };
    };
    const { id, family } = await begin();
    const next = { hash: `${family}2`, loginId: newId('lgn', Date.now()), ...browser };
    await logins.turn({ family, hash: `${family}1` }, next, Date.now());
    await logins.turn({ family, hash: `${family}1` }, next, soon());
    await logins.choose(id, organizationId);
    await logins.open(userId, Date.now());
    await logins.standing(userId, id, organizationId, Date.now());
    await logins.endFamily((await begin()).family, 'logout', Date.now());
    await logins.end(userId, { id: (await begin()).id }, 'ended', Date.now());
    await logins.end(userId, { but: null }, 'ended', Date.now());
    await logins.purge(0, 0);
  },
  'auditLog.record recordOfUser page chain head trim': async ({ stores, userId, organizationId }) => {
    const { auditLog } = stores;
    const young = (await newOrganization(stores)).organizationId;
    const note = {
      ...{ actor: { kind: 'user' as const, id: userId }, via: 'console' as const, action: 'login' as const },
      ...{ target: null, outcome: 'done' as const, changes: null, ip: null, client: null, requestId: null },
    };
    await auditLog.record({ ...note, organizationId });
    await auditLog.recordOfUser(userId, note);
    const filters = [{}, { target: 'key_1', outcome: 'done' }, { actor: userId }, { action: 'login', actor: 'usr_2' }];
    for (const filter of [...filters, { fromMs: Date.now() - 1_000, toMs: Date.now() }, { outcome: 'failed' }])
      await auditLog.page(organizationId, filter, { below: null, size: 20 });
    await auditLog.chain(organizationId, 0, 20);
    await auditLog.head(organizationId);
    // A first look, a plan that keeps less, and one that keeps all again.
    await auditLog.record({ ...note, organizationId: young });
    for (const ultimate of [90, 7, null]) await auditLog.trim({ free: 7, premium: 90, ultimate });
  },
  'changes.since': ({ stores: { changes }, live, sandbox }) =>
    changes.since(
      new Map([
        [live, { version: 0, delivery: 0, entry: 0 }],
        [sandbox, { version: 0, delivery: 0, entry: 0 }],
      ]),
      20,
    ),
  'timeline.events entries published': async ({ stores: { timeline }, live }) => {
    await timeline.events(live, 'txn_x', 200);
    await timeline.entries(live, 'dep_x', 200);
    await timeline.published(live, [eventId('none', 1, 'none')], 20);
  },
  'find.find event events': async ({ stores: { find }, live }) => {
    await find.find(live, { addresses: ['0xa', 'b'], txids: ['0xc'], userRef: 'u', label: 'l' }, 20);
    await find.event(live, eventId('none', 1, 'none'));
    for (const since of [undefined, null, eventId('none', 1, 'none')]) await find.events(live, 20, since);
  },
  'tokenRequests.ask ofAccount reviews review askedBy takeUnread record accept decline sandbox': async ({
    stores: { tokenRequests },
    live,
    sandbox,
    userId,
  }) => {
    const ask = (contract: string, decimals = 6) =>
      tokenRequests.ask(live, {
        id: newId('tkr', Date.now()),
        ledger: null,
        chain: 'eth',
        contract,
        symbol: 'T',
        decimals,
        listedVersion: null,
        openMax: 100,
        allMax: 1_000_000,
      });
    const facts = { symbol: 'T', name: 'T', decimals: 6, hazards: [] };
    const [read, absent] = [await ask(fresh()), await ask(fresh(), 18)].map((asked) =>
      asked.outcome === 'limit' ? null : asked.request,
    );
    await tokenRequests.takeUnread(0, 20);
    await tokenRequests.recordTrouble(read!.review.id, 'away');
    await tokenRequests.recordFacts(read!.review.id, facts, 'other decimals');
    await tokenRequests.recordAbsent(absent!.review.id, 'no contract');
    await tokenRequests.ofAccount(live);
    await tokenRequests.reviews(null, '', 20);
    await tokenRequests.reviews('under_review', '', 20);
    await tokenRequests.review(read!.id);
    await tokenRequests.askedBy(read!.review.id);
    await tokenRequests.accept(read!.review.id, userId, [], []);
    await tokenRequests.decline(read!.review.id, userId, 'not known', []);
    const token = { chain: 'eth' as const, contract: fresh(), symbol: 'T', decimals: 6, hazards: [] };
    await tokenRequests.saveSandboxToken(sandbox, token, 1_000_000);
    await tokenRequests.sandboxToken(sandbox, 'eth', token.contract);
  },
  'registry.newestAbove published publish propose proposal proposals withdraw': async ({
    stores: { registry, tokenRequests },
    live,
    userId,
  }) => {
    const asked = await tokenRequests.ask(live, {
      ...{ id: newId('tkr', Date.now()), ledger: null, chain: 'eth', contract: fresh(), symbol: 'T', decimals: 6 },
      ...{ listedVersion: null, openMax: 100, allMax: 1_000_000 },
    });
    if (asked.outcome === 'limit') throw new Error('no room for a request');
    const { review } = asked.request;
    await tokenRequests.recordFacts(review.id, { symbol: 'T', name: 'T', decimals: 6, hazards: [] }, '');
    await tokenRequests.accept(review.id, userId, [], []);
    const version = ((await registry.newestAbove(1))?.version ?? 1) + 1,
      content = JSON.stringify({ version });
    const offered = {
      ...{ version, content, hash: createHash('sha256').update(content).digest('hex') },
      tokens: [{ chain: 'eth' as const, contract: review.contract }],
      signatures: ['a', 'b'].map((digit) => ({ key: digit.repeat(64), signature: digit.repeat(128) })),
    };
    await registry.publish({ ...offered, by: null, of: { reviewId: review.id } }, []);
    await registry.published(version);
    const proposal = { id: newId('rgp', Date.now()), change: { deployments: [], routes: [] }, against: 1 };
    await registry.propose({ ...proposal, proposedBy: userId }, []);
    await registry.proposal(proposal.id);
    await registry.proposals(null, 20);
    await registry.proposals(proposal.id, 20);
    // Who proposed it does not publish it.
    await registry.publish({ ...offered, version: version + 1, by: userId, of: { proposalId: proposal.id } }, []);
    await registry.withdraw(proposal.id, { by: userId, reason: 'none' }, []);
  },
  'rates.rate rates save': async ({ stores: { rates }, userId }) => {
    const of = { chain: 'eth' as const, contract: fresh(), numerator: 1n, denominator: 2n };
    await rates.save({ ...of, observedAtMs: Date.now() }, userId);
    await rates.rate(of.chain, of.contract);
    await rates.rates();
  },
  'members.organizationsOf roleOf changeRole remove rename keysMintedBy transfer': async ({ stores }) => {
    const { organizationId, userId } = await newOrganization(stores);
    const other = (await newOrganization(stores)).userId;
    const { members, identity } = stores;
    await identity.insertMembership({ userId: other, organizationId, role: 'viewer' });
    await identity.enrolTotp(other, 'sealed');
    await identity.confirmTotp(other, 'sealed', { letterId: fresh(), nowMs: Date.now() });
    await members.organizationsOf(userId);
    await members.roleOf(organizationId, userId);
    await members.changeRole(organizationId, other, 'editor');
    await members.transfer(organizationId, userId, other, 'viewer');
    await members.transfer(organizationId, other, userId, 'leave');
    await members.rename(organizationId, 'y');
    await members.keysMintedBy(organizationId, userId);
    await members.remove(organizationId, userId);
  },
  'identity.insertUser createOrganization organization members insertMembership ownership.claimShards leaveNode':
    async ({ stores }) => {
      const { organizationId, userId } = await newOrganization(stores);
      await stores.ownership.claimShards('guest', []);
      await stores.ownership.leaveNode('guest');
      await stores.identity.organization(organizationId);
      await stores.identity.members(organizationId);
      await stores.identity.insertMembership({ userId, organizationId, role: 'owner' });
      await stores.identity.createOrganization(
        { id: newId('org', Date.now()), name: 'x', createdAtMs: 1 },
        userId,
        PLAN,
        { owner: `user:${userId}`, key: fresh(), method: 'POST', path: '/x', bodyHash: 'h', status: 201, body: {} },
      );
    },
  'identity.signingKeys insertSigningKey': async ({ stores: { identity } }) => {
    await identity.insertSigningKey({ kid: fresh(), sealedPrivateJwk: 'x', publicJwk: {}, createdAtMs: 1 });
    await identity.signingKeys();
  },
};

const READS: Record<string, Work> = {
  'read.idempotent saveIdempotent forgetIdempotent': async ({ stores: { read }, live }) => {
    const row = { key: fresh(), method: 'POST', path: '/v1/addresses', bodyHash: 'h', status: 201, body: { id: 'x' } };
    await read.saveIdempotent(live, row);
    await read.idempotent(live, row.method, row.path, row.key);
    await read.forgetIdempotent(live, row, 'x');
  },
  'rows: an answer': ({ stores, live }) =>
    write(stores, live, [
      {
        table: 'idempotency',
        row: { key: fresh(), method: 'POST', path: '/v1/addresses', bodyHash: 'h', status: 201, body: {} },
      },
    ] as RowWrite[]),
  'read.purgeIdempotent': ({ stores: { read } }) => read.purgeIdempotent(Date.now() - 24.999 * 3_600_000),
  'read.address retiredIdentities addressByText addressesAmong ownAddresses': async ({ stores, live }) => {
    const row = issued(live);
    await write(stores, live, [{ table: 'address', row }]);
    const { read } = stores;
    await read.address(live, row.id);
    await read.addresses(live, { userRef: SCALE_USERS.one }, { page: 0, size: 1 });
    await read.retiredIdentities(live);
    await read.addressByText(live, 'base', row.address);
    await read.addressesAmong(live, 'eth', [row.address, 'none']);
    await read.ownAddresses(live, 'gas_tank');
  },
  'read.paymentLinks paymentLink paymentLinksAmong headOf': async ({ stores, live }) => {
    const links = Array.from({ length: 40 }, () => linkRow(live));
    await write(
      stores,
      live,
      links.map((row) => ({ table: 'payment_link', row })),
    );
    const { read } = stores,
      page = { page: 0, size: 5 },
      [one] = links as [(typeof links)[0]];
    await read.paymentLink(live, one.id);
    await read.paymentLinksAmong(
      live,
      links.map(({ id }) => id),
    );
    await read.paymentLinks(live, {}, page);
    await read.paymentLinks(live, { status: 'active', mode: 'fixed' }, page);
    await read.paymentLinks(live, { slug: one.slug, chain: 'eth' }, page);
    await read.headOf(LEDGER);
  },
  'read.payments': async ({ stores, live }) => {
    const { read } = stores,
      page = { page: 0, size: 5 };
    await read.payments(live, { statuses: ['awaiting_payment', 'confirmed'] }, page);
    await read.payments(live, { linkId: linkRow(live).id, statuses: ['awaiting_payment', 'confirmed'] }, page);
  },
  'changes.paymentMarks read.checkout openings payment paymentTransfers restingAddress restingCounts paidAddresses payments.expire due monitored release retired erase expireEnded forgetResting':
    async ({ stores, live }) => {
      const link = linkRow(live),
        address = issued(live, { tag: CHECKOUT_TAG, label: link.id }),
        payment = paymentRow(link, address, { payerKey: 'me', clientKey: 'client', expiresAtMs: soon() });
      await write(stores, live, [
        { table: 'address', row: address },
        { table: 'payment_link', row: link },
        { table: 'payment', row: payment },
        { table: 'checkout_address', row: { ...lentRow(link, payment, address), id: `${payment.id}/${address.id}` } },
      ]);
      const { read, payments } = stores;
      await read.checkout({ slug: link.slug });
      await read.checkout({ paymentId: payment.id });
      await read.openings(link, { payerKey: 'me', email: 'ada@example.com', clientKey: 'client' }, 20, Date.now());
      await read.payment(live, payment.id);
      await read.paymentTransfers(live, [payment.id]);
      await stores.changes.paymentMarks([payment.id]);
      await read.restingAddress(live, { chain: 'eth', fromIndex: 0, sinceMs: Date.now(), ledgers: ['eth', 'base'] });
      await read.paidAddresses(live, link.id, 10);
      await payments.due(Date.now(), null, 10);
      await payments.expire(Date.now(), 10);
      await payments.monitored(Date.now(), null, 10);
      const atMs = Date.now() - 60_000,
        [over, kept] = [issued(live, { tag: CHECKOUT_TAG }), issued(live, { tag: CHECKOUT_TAG })] as const;
      const ended = linkRow(live, {
        status: 'closed',
        closedReason: 'manual',
        closedAtMs: atMs,
        closedAtHeight: 1,
        monitorUntilMs: atMs,
      });
      const [first, second] = [
        paymentRow(link, over, { payerKey: 'them', clientKey: 'theirs', expiresAtMs: atMs }),
        paymentRow(ended, kept, { status: 'expired', expiresAtMs: atMs }),
      ] as const;
      await write(stores, live, [
        { table: 'address', row: over },
        { table: 'address', row: kept },
        { table: 'payment_link', row: ended },
        { table: 'payment', row: first },
        { table: 'payment', row: second },
        { table: 'checkout_address', row: lentRow(link, first, over) },
        { table: 'checkout_address', row: lentRow(ended, second, kept) },
      ]);
      await payments.expire(Date.now(), 10);
      await read.restingAddress(live, { chain: 'eth', fromIndex: 0, sinceMs: Date.now(), ledgers: ['eth', 'base'] });
      await read.restingCounts(live, 10_000);
      await payments.release(live, ended.id, Date.now());
      await payments.erase(Date.now() + 60_000, 10);
      await payments.retired(null, 10);
      await write(stores, live, [{ table: 'payments_retired' }]);
      await payments.expireEnded(10, []);
      await payments.forgetResting(10);
    },
  'payments.expireEnded of a link that was closed': async ({ stores, live }) => {
    const link = linkRow(live),
      address = issued(live, { tag: CHECKOUT_TAG, label: link.id });
    const open = Array.from({ length: 501 }, () => paymentRow(link, address, { expiresAtMs: soon() }));
    await write(stores, live, [
      { table: 'address', row: address },
      { table: 'payment_link', row: link },
      ...open.map((row) => ({ table: 'payment', row }) as const),
    ]);
    await write(stores, live, [{ table: 'payments_expired', linkId: link.id }]);
    await stores.payments.expireEnded(10, []);
  },
  'read.unusedRuns payments.walkUnused': async ({ stores, live }) => {
    const asked = { family: 'evm', isSmall: true, bounds: [3] } as const;
    await stores.read.unusedRuns(live, [asked, { ...asked, family: 'btc', isSmall: false }]);
    // A page of the largest account, and all of a small one.
    await stores.payments.walkUnused(live.slice(0, -1), 500, Date.now());
    await stores.payments.walkUnused('', 500, Date.now());
  },
  'rows: a clock that was moved; clocks.due isDelivering expirePayment claim': async ({ stores, live, sandbox }) => {
    const event = { type: 'clock_advanced', aheadMs: 60_000 } as const;
    const row = { table: 'sandbox_clocks', row: { aheadMilliseconds: 60_000 }, key: '' } as const;
    await stores.accounts.append(await appendOf(stores, sandbox, [row], [event]));
    await stores.clocks.due(live, Date.now() + 60_000, 10);
    await stores.clocks.isDelivering(live, Date.now() + 60_000);
    await stores.clocks.expirePayment(live, 'pay_none', Date.now());
    await stores.clocks.claim(10);
  },
  'read.attestedReach unattested attestation payments.keepAttestations': async ({ stores, live }) => {
    const link = linkRow(live),
      address = issued(live, { tag: CHECKOUT_TAG, label: link.id }),
      payment = paymentRow(link, address),
      nowMs = Date.now();
    await write(stores, live, [
      { table: 'address', row: address },
      { table: 'payment_link', row: link },
      { table: 'payment', row: payment },
      { table: 'checkout_address', row: lentRow(link, payment, address) },
    ]);
    const publicKey = 'a'.repeat(64),
      none = { btc: 0, evm: address.index!, tron: 0 };
    await stores.payments.keepAttestations(live, {
      family: 'evm',
      publicKey,
      issuedAtMs: nowMs,
      validUntilMs: nowMs + 86_400_000,
      rows: [{ index: address.index!, address: address.address, signature: 'a'.repeat(86) }],
    });
    await stores.read.attestedReach(live, publicKey, none);
    await stores.read.unattested(live, { publicKey, untilMs: nowMs, from: none, present: none });
    await stores.read.attestation(live, { family: 'evm', index: address.index!, address: address.address }, nowMs);
  },
  'read.invoices invoice invoices.of mint resend': async ({ stores, live }) => {
    const link = linkRow(live, { collectEmail: true }),
      address = issued(live, { tag: CHECKOUT_TAG, label: link.id }),
      [newest] = await stores.read.invoices(live, {}, { page: 0, size: 1 }).then(({ content }) => content),
      [year, number] = newest === undefined ? [2026, 1] : [newest.year, newest.number + 1],
      id = newId('inv', Date.now());
    const payment = paymentRow(link, address, {
      customerEmail: 'ada@example.com',
      invoiceId: id,
      invoiceNumber: invoiceNumberOf({ year, number }),
    });
    await write(stores, live, [
      { table: 'address', row: address },
      { table: 'payment_link', row: link },
      { table: 'payment', row: payment },
      { table: 'checkout_address', row: lentRow(link, payment, address) },
      { table: 'invoice', row: { ...invoiceRow(link, payment), id, year, number } },
    ]);
    const { read, invoices } = stores,
      page = { page: 0, size: 5 };
    await read.invoices(live, {}, page);
    await read.invoices(live, { linkId: link.id }, page);
    await read.invoice(live, id);
    const hash = (): string => randomBytes(32).toString('hex');
    const token = hash();
    await invoices.mint(id, token, Date.now());
    await invoices.of(token);
    const letter = { hash: hash(), letterId: newId('inv', Date.now()), sealed: 'sealed' };
    await invoices.resend(live, id, letter, { most: 5, windowSeconds: 3_600 }, undefined, undefined, Date.now());
  },
  'read.unissuedPool addressPeaks unpairedIndexes isAlone': async ({ stores: { read }, live }) => {
    await read.unissuedPool(live, 'sol', 20);
    await read.addressPeaks(live, '2026-06');
    await read.unpairedIndexes([
      { accountId: live, chain: 'base', userRef: SCALE_USERS.most, tag: 'hot' },
      { accountId: live, chain: 'eth', userRef: 'nobody', tag: null },
    ]);
  },
  'read.transaction withdrawal usedValue webhooks webhook delivery': async ({ stores: { read }, live }) => {
    const {
      content: [transaction],
    } = await read.transactions(live, {}, { page: 0, size: 1 });
    await read.transaction(live, transaction!.id);
    await read.withdrawal(live, 'txn_none');
    await read.usedValue(live, LEDGER, 'address-7');
    await read.webhooks(live);
    await read.webhook(live, SCALE_WEBHOOKS.busy);
    const {
      content: [delivery],
    } = await read.deliveries(live, {}, { page: 0, size: 1 });
    await read.delivery(live, delivery!.id);
    await read.deliveries(live, { eventId: eventId(live, nextSerial()) }, { page: 0, size: 20 });
  },
  'operators.counterGaps accountsWithAddresses accountsWithPendingBand databaseState': async ({
    stores: { operators },
  }) => {
    await operators.databaseState();
    await operators.counterGaps();
    await operators.deadBuilds(Date.now(), null, 20);
    await operators.accountsWithAddresses('', 16);
    await operators.accountsWithPendingBand(Date.now(), '', 16);
  },
  'billing.statements statement accountsWithOpenPeriod isCollected writeLetters requests payer': async ({
    stores,
    live,
  }) => {
    await stores.billing.statements(live);
    await stores.billing.statement(live, 'stm_1');
    await stores.billing.billedOf(live, '2026-06', null, 51);
    await stores.billing.billedOf(live, '2026-06', `${newId('txn', Date.now())}.0`, 51);
    await stores.billing.isCollected(live, 'col_1');
    await stores.billing.writeLetters(Date.now());
    await stores.billing.accountsWithOpenPeriod('2026-08', '', 16);
    await stores.billing.requestsDue(Date.now(), 8);
    await stores.billing.ringRequest('stripe', 'in_1', Date.now());
    const request = { status: 'due', provider: null, reference: null, page: null, round: 0, takenCents: '0' } as const;
    await stores.billing.writeRequest({ accountId: live, statementId: 'stm_1' }, 0, request, Date.now());
    await stores.billing.payer(live, 'stripe');
    await stores.billing.keepPayer(live, 'stripe', 'cus_1');
  },
};

const MIGRATION: Record<string, Work> = {
  'origins: beginPass countUntraced recordOrigins endPass passes': async ({ stores: { origins }, live }) => {
    const source = newId('ks', Date.now());
    await origins.beginPass(live, source, 60_000);
    for (const family of ['evm', 'btc'] as const)
      await origins.countUntraced(live, source, [source], { family, after: '' }, 60_000);
    const found = Array.from({ length: 20 }, () => ({ key: fresh(), path: `[${'a'.repeat(16)}/0/0]` }));
    await origins.recordOrigins(live, source, [source], found, 60_000);
    await origins.endPass(live, source);
    await origins.passes(live);
  },
  'uploads: projects, a file from its URL to its end': async ({ stores: { uploads }, live }) => {
    const project = { id: newId('mig', Date.now()), name: 'old', createdAtMs: Date.now() };
    await uploads.createProject(live, project, 200);
    await uploads.projects(live);
    await uploads.project(live, project.id);
    const [first, second] = [1, 2].map(() => newId('upl', Date.now()));
    for (const id of [first!, second!]) {
      const upload = { id, accountId: live, filename: 'f', declaredBytes: 1, declaredSha256: 'x', maxBytes: 9 };
      const more = { urlKey: Buffer.alloc(32), deadlineMs: soon(), createdAtMs: Date.now() };
      await uploads.openUpload({ ...upload, ...more }, 1_000);
      const attempt = (await uploads.beginContent(id))!;
      await uploads.storeChunk(id, attempt, 0, Buffer.from('x'));
      await uploads.endContent(id, { stored: attempt, bytes: 1, sha256: 'x', format: 'csv' });
      await uploads.dropContent(id, attempt);
      await uploads.upload(id);
      await uploads.chunks(id, attempt, -1, 10);
    }
    await uploads.completeUpload(first!);
    await uploads.rejectUpload(second!);
    await uploads.eraseUploads(Date.now() - 1_000);
  },
};

/** A batch with rows, from its file to its end. */
/** A batch of a file that is being validated. */
async function validatingOf({ stores, live }: Pick<PlanWorld, 'stores' | 'live'>): Promise<[string, string]> {
  const { uploads, imports } = stores;
  const project = { id: newId('mig', Date.now()), name: 'old', createdAtMs: Date.now() },
    uploadId = newId('upl', Date.now()),
    id = newId('imp', Date.now());
  await uploads.createProject(live, project, 1_000);
  const upload = { accountId: live, filename: 'f', declaredBytes: null, declaredSha256: null, maxBytes: 9 };
  const more = { urlKey: Buffer.alloc(32), deadlineMs: soon(), createdAtMs: Date.now() };
  await uploads.openUpload({ id: uploadId, ...upload, ...more }, 1_000);
  const attempt = (await uploads.beginContent(uploadId))!;
  await uploads.endContent(uploadId, { stored: attempt, bytes: 1, sha256: 'x', format: 'csv' });
  await uploads.completeUpload(uploadId);
  const batch = { id, accountId: live, projectId: project.id, uploadId, chain: null, includeChange: false };
  await imports.createBatch({ ...batch, createdAtMs: Date.now() }, 1_000);
  await imports.moveBatch(live, id, ['created'], { state: 'validating', dryRunId: `dry_${id}` });
  return [project.id, id];
}

async function importOf({ stores, live }: PlanWorld, rows: number): Promise<[string, string, string]> {
  const { imports } = stores,
    [projectId, id] = await validatingOf({ stores, live });
  const attempt = (await imports.beginAttempt(live, id, `dry_${id}`))!;
  const staged = Array.from({ length: rows }, (_, n) => {
    const { address, addressKey, id: addressId } = issued(live);
    const where = { chain: 'eth' as const, family: 'evm' as const, address, addressKey, derivationPath: '[]' };
    return { n: n + 1, line: n + 1, ...where, userRef: 'u', tag: null, label: null, addressId };
  });
  const issue = { n: 1, phase: 'derivation', severity: 'warning', code: 'untraced', line: 1, field: null } as const;
  await imports.stage(live, id, attempt, { rows: staged, issues: [{ ...issue, column: null, message: 'x' }] });
  await imports.checkClaims(live, id, 0, 100);
  await imports.reportSkips(live, id, attempt, 100);
  await imports.staged(live, id);
  await imports.issues(live, id, 0, 100);
  await imports.moveBatch(live, id, ['validating'], { state: 'valid', adopting: rows });
  const reserved = { id, dryRunId: `dry_${id}`, adopting: rows, heights: { eth: 1 } };
  await write(stores, live, [{ table: 'imports_reserved', row: reserved, key: id }]);
  while ((await imports.fill(live, id, 100)) === 'filling');
  return [projectId, id, staged[0]!.addressId];
}

const SCANS: Record<string, Work> = {
  'scans: from their beginning to a batch': async ({ stores: { scans, uploads, imports }, sandbox: live }) => {
    const projectId = newId('mig', Date.now()),
      id = newId('scn', Date.now());
    await uploads.createProject(live, { id: projectId, name: 'old', createdAtMs: Date.now() }, 1_000);
    const lane = { keys: [{ xpub: 'x', path: "m/44'/60'/0'" }], branch: 0, script: null, next: 0, gap: 0 } as const;
    const lanes = [{ ...lane, lastUsed: null, largestGap: 0, done: null }];
    const limits = { gapLimit: 20, maxScan: 100, requestedMaxScan: 20_000, review: 'pending' } as const;
    const mapping = [{ index: 1, userRef: 'u' }];
    const of = { accountId: live, projectId, keySourceId: 'ks_x', chain: 'eth' } as const;
    const scan = { ...of, ...limits, tokens: [], lanes, mappedTo: 1, mapping, createdAtMs: Date.now() };
    await scans.begin({ ...scan, id }, 4);
    await scans.begin({ ...scan, id: newId('scn', Date.now()) }, 4);
    const [claimed] = (await scans.claimScans(1_000)).filter((one) => one.id === id);
    await scans.hold(claimed!);
    const rows = [0, 1, 2].map((index) => ({ lane: 0, index, address: `0x${fresh()}`, used: index === 1 }));
    const ended = [{ ...lanes[0]!, next: 3, lastUsed: 1, done: 'max_scan' as const }];
    const read = { unread: 0, tries: 0, reason: null, pauseMs: 0, paceMs: 1 } as const;
    const seen = { ...read, found: 1, evidence: 'state', headHeight: 5 } as const;
    await scans.advance(claimed!, { ...seen, state: 'completed', lanes: ended, stoppedBy: 'max_scan' }, rows);
    await scans.scan(live, id);
    await scans.rows(live, id, null, 100);
    await scans.rows(live, id, { lane: 0, index: 0 }, 100);
    const batch = { id: newId('imp', Date.now()), accountId: live, projectId, chain: null, includeChange: false };
    await imports.createBatch({ ...batch, scanId: id, createdAtMs: Date.now() }, 1_000);
    await scans.underReview('', 100);
    await scans.review(id, 'approved');
    await scans.cancel(live, id);
    await scans.forget(0);
  },
};

const IMPORTS: Record<string, Work> = {
  'conflicts: reviews of imports': async ({ stores, live }) => {
    const { conflicts, imports } = stores,
      [, id] = await validatingOf({ stores, live }),
      reviewId = `rvw${id.slice(3)}`;
    await imports.moveBatch(live, id, ['validating'], { state: 'conflict' });
    await imports.forgetStaged(0);
    await conflicts.reviews('open', '', 100);
    await conflicts.review(reviewId);
    await conflicts.claims(reviewId, 0, 100);
    await conflicts.waiting(live, Date.now() - 60_000, 3);
    await conflicts.decide(reviewId, 'dropped', 'usr_x');
    await imports.beginCheck(live, id, `dry_${id}`, { sinceMs: 0, most: 1000 });
    await imports.moveBatch(live, id, ['validating'], { state: 'conflict' });
    await imports.moveBatch(live, id, ['conflict'], { state: 'created' });
  },
  'imports: a batch from its file to its cutover, and back': async (world) => {
    const { stores, live } = world,
      { imports, watch } = stores;
    const [projectId, id, addressId] = await importOf(world, 20);
    const at = new Date().toISOString();
    await write(stores, live, [{ table: 'imports_opened', row: { id, adopting: 20, at }, key: id }]);
    const paid = await stores.read.address(live, addressId),
      previous = await watch.cursor(LEDGER);
    const [link] = linksAfter(previous!, 1, `n${fresh()}`);
    const transfer = { ...transferTo(paid!, link!), ledger: LEDGER };
    await watch.recordBlock(LEDGER, recordOf(link!, [transfer], { previous }));
    const quiet = depositRow(paid!, { ledger: LEDGER, silence: 'observed', announced: false });
    for (const status of ['detected', 'confirmed'] as const)
      await write(stores, live, [{ table: 'deposit', row: { ...quiet, status } }]);
    await imports.batch(live, id);
    await imports.batchesOf(live, projectId);
    await imports.observed(live, projectId);
    await imports.catchUps(live, projectId);
    await imports.adopted(live, projectId, null, 100);
    await imports.firstAdopted(live, projectId, 10);
    await imports.firstAdopted(live, projectId, ['0x']);
    await imports.stagedRow(live, id, null);
    await imports.stagedRow(live, id, '0x');
    for (const one of await watch.adoptedBehind(LEDGER, 10))
      await watch.noteAdopted(LEDGER, { ...one, readFrom: one.nextHeight, isDone: true });
    for (const state of ['active', 'observe'])
      await write(stores, live, [
        { table: 'projects_cut_over', row: { id: projectId, state, heights: { eth: 2 } }, key: id },
      ]);
    const hook = webhookRow(live);
    await write(stores, live, [
      { table: 'webhook', row: hook },
      { table: 'publication', row: publicationRow(live, { orderKey: paid!.address }) },
    ]);
    // Held, and resumed.
    await stores.deliveries.claimDue([live], 10, Date.now(), 30_000, []);
    await write(stores, live, [
      { table: 'projects_cut_over', row: { id: projectId, state: 'active', heights: { eth: 2 } }, key: id },
    ]);
    await stores.deliveries.workBacklog();
    await write(stores, live, [
      { table: 'projects_cut_over', row: { id: projectId, state: 'observe', heights: null }, key: id },
    ]);
    const [, second] = await importOf(world, 20);
    await write(stores, live, [{ table: 'imports_opened', row: { id: second, adopting: 20, at }, key: second }]);
    await write(stores, live, [
      { table: 'imports_undone', row: { id: second, adopting: 20, becomes: 'rolled_back' }, key: second },
    ]);
    while ((await imports.release(live, second, 100)) > 0);
    await imports.claimImports(10);
    await imports.simulateClaim(world.sandbox, paid!.addressKey);
    await imports.dropClaims(world.sandbox);
  },
};

const SANDBOX: Record<string, Work> = {
  'sandbox.head mine unmine blocks blockOf sighting balance nonce transactionsOf setDown downUntil': async ({
    stores: { sandbox },
    sandbox: accountId,
  }) => {
    const ledger: LedgerId = `eth@${accountId}`;
    const head = await sandbox.head(ledger);
    const height = (head?.height ?? 0) + 1,
      from = `0x${fresh()}`;
    const txid = `0x${fresh()}`;
    await sandbox.mine(ledger, head, [
      {
        ledger,
        height,
        hash: `h${height}`,
        parentHash: head?.hash ?? 'h0',
        timeMs: Date.now(),
        transactions: [
          {
            txid,
            success: true,
            reason: null,
            fee: '0',
            from: null,
            nonce: null,
            transfers: [{ outputIndex: 0, to: from, amount: '10', tokenContract: null }],
          },
        ],
      },
    ]);
    await sandbox.amend(ledger, height, [
      {
        txid: `${txid}1`,
        success: true,
        reason: null,
        fee: '0',
        from: null,
        nonce: null,
        transfers: [{ outputIndex: 0, to: from, amount: '1', tokenContract: null }],
      },
    ]);
    await sandbox.blocks(ledger, height, 5);
    await sandbox.blockOf(ledger, txid);
    await sandbox.sighting('eth', txid);
    await sandbox.isFormer(ledger, txid);
    await sandbox.balance(ledger, from, null);
    await sandbox.nonce(ledger, from);
    await sandbox.unmine(ledger, 1);
    await sandbox.setDown(ledger, Date.now());
    await sandbox.downUntil(ledger);
  },
  'sandbox.transactionsOf': async ({ stores: { sandbox } }) => {
    const [ledger] = (await sandbox.blocks(BUSY_SANDBOX, 1, 1)).map((block) => block.ledger);
    await sandbox.transactionsOf(ledger!, 'payee-7');
    await sandbox.touched(ledger!, ['payee-7', 'nobody']);
    await sandbox.nonce(ledger!, 'sender');
  },
  'sandbox.behind': async ({ stores: { sandbox } }) => {
    const { next } = await sandbox.behind(20);
    await sandbox.behind(20, next);
  },
  'sandbox.setStuck stuckUntil isStuck pooled pooledOf heldInPool takePooled dropPooled pooledSighting': async ({
    stores: { sandbox },
    sandbox: accountId,
  }) => {
    const ledger: LedgerId = `base@${accountId}`;
    await sandbox.mine(ledger, null, [
      { ledger, height: 1, hash: 'h1', parentHash: 'h0', timeMs: Date.now(), transactions: [] },
    ]);
    await sandbox.setStuck(ledger, { height: 1_000, repriced: true });
    await sandbox.stuckUntil(ledger);
    await sandbox.isStuck(ledger);
    const one = {
      txid: fresh(),
      from: 'a',
      payload: 'x',
      sinceMs: 1,
      transaction: { txid: 'x', success: true, reason: null, fee: '0', from: 'a', nonce: 1, transfers: [] },
    };
    await sandbox.takePooled(ledger, { height: 1, hash: 'h1' }, one, ['other']);
    await sandbox.pooled(ledger, one.txid);
    await sandbox.pooledOf(ledger, 'a');
    await sandbox.heldInPool(ledger, 20);
    await sandbox.pooledSighting('base', one.txid);
    await sandbox.dropPooled(ledger, one.txid);
  },
  'sandbox.schedule task changeTask takeDue finish': async ({ stores: { sandbox }, sandbox: accountId }) => {
    const id = fresh();
    await sandbox.schedule({ id, accountId, dueAtMs: 0, task: {} });
    await sandbox.task(id);
    await sandbox.changeTask(id, {}, { changed: true });
    await sandbox.takeDue(Date.now(), 30_000, 20);
    await sandbox.finish(id);
  },
  'sandbox.resetStep dueResets: a sandbox account begun anew': async ({ stores }) => {
    const { sandbox } = await newOrganization(stores);
    const row = issued(sandbox),
      hook = webhookRow(sandbox);
    await write(stores, sandbox, [
      { table: 'address', row },
      { table: 'webhook', row: hook },
    ]);
    await write(stores, sandbox, depositWrites(row, 'reversed').rows);
    const sent = withdrawalRow(row);
    await write(stores, sandbox, [{ table: 'withdrawal', row: sent }]);
    await write(stores, sandbox, [{ table: 'billable', withdrawalId: sent.id, kind: 'withdrawal', period: '2026-06' }]);
    const { content } = await stores.read.deliveries(sandbox, {}, { page: 0, size: 5 });
    await stores.deliveries.recordAttempts(
      content.map(({ id }) => ({
        accountId: sandbox,
        deliveryId: id,
        attempt: 1,
        statusCode: 200,
        durationMs: 5,
        error: null,
        atMs: Date.now(),
        next: { status: 'delivered' as const, nextAttemptAtMs: null, disableEndpoint: false },
      })),
    );
    await write(stores, sandbox, [{ table: 'sandbox_resets_begun', row: {}, key: '' }]);
    await stores.sandbox.dueResets('', 20);
    while (await stores.sandbox.resetStep(sandbox, 20));
    await stores.sandbox.resetStep(sandbox, 20);
    await write(stores, sandbox, [{ table: 'sandbox_reset' }]);
  },
  'secrets: webhooks': async ({ sql }) => {
    const { webhooks } = createSealedSecrets(sql);
    const [row] = await webhooks.sealedOtherwise('other', { account: '', id: '' }, 5);
    await webhooks.replace(row!, row!.sealed);
  },
  'secrets: unreadable': async ({ sql }) => {
    const hooks = createUnreadableHooks(sql);
    await hooks.list({ account: '', id: '' }, 5);
    await hooks.release({ account: 'none', id: 'none' });
  },
  maintain: ({ stores }) => stores.maintain(Date.now()),
  purgeOnce: ({ stores }) => stores.purgeOnce(0),
  writeLetters: ({ stores }) => stores.writeLetters(0),
};

/** The ledger of scale-beside.ts that has all the blocks. */
const BUSY_SANDBOX: LedgerId = `eth@org_3${'2'.repeat(24)}3_sandbox`;

export const PLAN_WORK: Readonly<Record<string, Work>> = {
  ...WATCH,
  ...AUDIT,
  ...ACCOUNTS,
  ...DELIVERIES,
  ...EDGE,
  ...PEOPLE,
  ...READS,
  ...SANDBOX,
  ...MIGRATION,
  ...SCANS,
  ...IMPORTS,
};
