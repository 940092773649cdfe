/** payments M11, S13–S15 on the real schema: which lent addresses rest, and which of them may be lent on. */
import test from 'ava';
import { createAccountEntity } from '../../../actors/account/account.ts';
import { createChainBook } from '../../../actors/account/chain-book.ts';
import { lentRound } from '../../../actors/payment/rounds.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import type { LentBefore } from '../../../model/account/payment.ts';
import type { Accounts } from '../../../model/ports/accounts.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import type { PaymentLinkRow, PaymentRow } from '../../../model/rows/payment.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { AccountId, LedgerId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { lentRow, linkRow, paymentRow } from '../../support/payment-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  appendOf,
  newOrganization,
  nextSerial,
  NOW_MS,
  openStores,
  transferTo,
  write,
} from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
const entity = createAccountEntity({ book: createChainBook([]) });
const NETWORKS: readonly Chain[] = ['eth', 'bsc', 'polygon', 'avax', 'base'];
const DAY_MS = 86_400_000;

test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

const CLOSED = {
  status: 'closed',
  closedReason: 'manual',
  closedAtMs: NOW_MS,
  closedAtHeight: 100,
  monitorUntilMs: NOW_MS + DAY_MS,
} as const;

/** Every EVM network is followed to `height`, and its nodes are at `head`. */
async function followed(height: number, head: number): Promise<void> {
  await database.owner`delete from unresolved_height`;
  await database.owner`delete from chain_cursor`;
  await database.owner`delete from chain_head`;
  for (const ledger of NETWORKS) {
    await database.owner`insert into chain_cursor (ledger, height, hash) values (${ledger}, ${height}, '0x1')`;
    await database.owner`insert into chain_head (ledger, height, at) values (${ledger}, ${head}, now())`;
  }
}

interface Opened {
  readonly live: AccountId;
  readonly address: AddressRow;
  readonly link: PaymentLinkRow;
  readonly payment: PaymentRow;
}

/** A payment whose time is over by the clock, with an address of its own. */
async function opened(live: AccountId, more: Partial<PaymentLinkRow> = {}, expiresAtMs = NOW_MS - 1): Promise<Opened> {
  const link = linkRow(live, more),
    index = nextSerial(),
    address = addressRow(live, { tag: 'checkout', label: link.id, index, userRef: null }),
    payment = paymentRow(link, address, { expiresAtMs, payerKey: `payer ${index}` });
  await write(stores, live, [
    { table: 'address', row: address },
    { table: 'payment_link', row: link },
    { table: 'payment', row: payment },
    { table: 'checkout_address', row: { ...lentRow(link, payment, address), id: `${payment.id}/${address.id}` } },
  ]);
  return { live, link, address, payment };
}

const resting = (live: AccountId, sinceMs: number, fromIndex = 0, ledgers: readonly LedgerId[] = NETWORKS) =>
  stores.read.restingAddress(live, { chain: 'eth', fromIndex, sinceMs, ledgers });
const counted = async (live: AccountId): Promise<number> =>
  (await database.owner`select from resting_address where account_id = ${live}`).length;

/** Indexes below are a retired identity's from now on. */
const retiredBelow = (live: AccountId, ...next: readonly object[]) =>
  database.owner`
    update account set state = jsonb_set(state, '{retired}', ${JSON.stringify(
      next.map((one) => ({ fingerprint: '0011223344556677', atMs: NOW_MS, next: one })),
    )}::text::jsonb) where account_id = ${live}`;

/** What the next payer of another link is lent. */
async function lendOn({ live, link }: Pick<Opened, 'live' | 'link'>, { address, holder, payment }: LentBefore) {
  const row = paymentRow(link, { ...addressRow(live), ...address } as never, {
    addressReused: true,
    payerKey: `payer ${nextSerial()}`,
    expiresAtMs: NOW_MS + DAY_MS,
  });
  const rows: RowWrite[] = [
    { table: 'payment', row: { ...payment!, version: payment!.version + 1, status: 'expired' } },
    ...(holder.releasedAtMs === null
      ? [{ table: 'checkout_address', row: { ...holder, releasedAtMs: NOW_MS + 1 } } as const]
      : []),
    { table: 'payment', row },
    {
      table: 'checkout_address',
      row: {
        ...holder,
        id: `${row.id}/${address.id}`,
        linkId: link.id,
        paymentId: row.id,
        reused: true,
        lentAtMs: NOW_MS + 2,
        releasedAtMs: null,
      },
    },
  ];
  return { row, rows };
}

/** A transfer from the inbox to the append. */
async function deposited(live: AccountId, transfer: ReturnType<typeof transferTo>): Promise<readonly RowWrite[]> {
  const entries = [{ accountId: live, fact: { kind: 'seen', deposit: { ...transfer, confirmations: 1 } } }];
  await database.owner`select post_facts(${JSON.stringify(entries)}::text::jsonb)`;
  const read = await stores.inbox.inboxOf(live, 200);
  const { state } = (await stores.accounts.load(live))!;
  const depositIds = read.inbox.map(() => newId('dep', NOW_MS + nextSerial()));
  const decision = entity.decide(state, { type: 'apply_facts', ...read, depositIds }, NOW_MS);
  if (!decision.ok) throw new Error(decision.code);
  await write(stores, live, [...decision.rows], decision.events);
  return decision.rows;
}
const BLOCK = { height: 100, hash: '0xb100', parentHeight: 99, parentHash: '0xb99', timeMs: NOW_MS };

test.serial(
  'payments S14: an address rests from its expiry on, and is lent on once every network of it was followed to its head of then, without a hole',
  async (t) => {
    const { live } = await newOrganization(stores);
    await followed(90, 100);
    const { address, payment } = await opened(live);
    await stores.payments.expire(NOW_MS, 500);
    t.is(await resting(live, NOW_MS - 1), null, 'it did not rest long enough');
    t.is(await resting(live, NOW_MS), null, 'the networks are behind their heads');
    await database.owner`delete from chain_cursor`;
    for (const ledger of NETWORKS.slice(0, 4))
      await database.owner`insert into chain_cursor (ledger, height, hash) values (${ledger}, 100, '0x2')`;
    t.is(await resting(live, NOW_MS), null, 'one of five is not known');
    await database.owner`insert into chain_cursor (ledger, height, hash) values ('base', 100, '0x2')`;
    await database.owner`insert into unresolved_height (ledger, height, hash, reason) values ('polygon', 100, '0x1', 'test')`;
    t.is(await resting(live, NOW_MS), null, 'a height of it was never read whole');
    await database.owner`delete from unresolved_height`;
    t.like(await resting(live, NOW_MS), { address: { id: address.id }, payment: { id: payment.id } });
    t.is(await resting(live, NOW_MS, address.index! + 1), null, 'of a retired identity');
    t.is(await counted(live), 1);
  },
);

test.serial(
  'payments P23: how many addresses rest is counted by family, to a limit, of this account alone',
  async (t) => {
    const [{ live }, { live: other }] = [await newOrganization(stores), await newOrganization(stores)];
    await followed(100, 100);
    for (const owner of [live, live, live, other]) await opened(owner);
    await opened(live, {}, NOW_MS + DAY_MS);
    await stores.payments.expire(NOW_MS, 500);
    const of = async (limit: number) => [...(await stores.read.restingCounts(live, limit))].toSorted();
    t.deepEqual(await of(10), [
      ['btc', 0],
      ['evm', 3],
      ['tron', 0],
    ]);
    t.is((await stores.read.restingCounts(live, 2)).get('evm'), 2);
    await database.owner`update resting_address set chain = 'base' where account_id = ${live}`;
    t.is((await stores.read.restingCounts(live, 10)).get('evm'), 3, 'whichever network it was made for');
  },
);

test.serial(
  'payments S13, S15: it is lent to one, the longest resting first; what was decided on a row that moved is refused, and what comes is the new holder’s',
  async (t) => {
    const { live } = await newOrganization(stores);
    await followed(100, 100);
    const first = await opened(live);
    await stores.payments.expire(NOW_MS - 10, 500);
    t.is(await counted(live), 0, 'its time is not over');
    await stores.payments.expire(NOW_MS - 1, 500);
    await opened(live);
    await stores.payments.expire(NOW_MS, 500);
    t.is(await counted(live), 2);
    const found = (await resting(live, NOW_MS))!;
    t.is(found.address.id, first.address.id);
    const other = linkRow(live);
    await write(stores, live, [{ table: 'payment_link', row: other }]);
    const [one, two] = [await lendOn({ live, link: other }, found), await lendOn({ live, link: other }, found)];
    await write(stores, live, one.rows);
    t.is(await counted(live), 1);
    const again = await stores.accounts.append(await appendOf(stores, live, two.rows));
    t.like(again, { kind: 'refused', refusal: { details: { reason: 'payments_moved' } } });
    const rows = await deposited(live, transferTo(first.address, BLOCK));
    const paid = rows.flatMap((row) => (row.table === 'payment_transfer' ? [row.row] : []));
    t.like(paid, [{ linkId: other.id, paymentId: one.row.id, role: 'counted' }]);
    const told = rows.flatMap((row) => (row.table === 'publication' ? [JSON.parse(row.row.body)] : []));
    t.like(told.find(({ event }) => event === 'payment_detected').data, { addressReused: true, paymentId: one.row.id });
    // What received is never lent again, whatever a reader saw before.
    const third = linkRow(live);
    await write(stores, live, [{ table: 'payment_link', row: third }]);
    const forced = await lendOn(
      { live, link: third },
      { ...found, payment: { ...found.payment!, version: 3 }, holder: { ...found.holder, releasedAtMs: NOW_MS } },
    );
    t.is((await stores.accounts.append(await appendOf(stores, live, forced.rows))).kind, 'refused');
  },
);

test.serial(
  'payments S14: what received, in whatever asset on whatever network, does not rest; a deposit that is decided beside a lending is decided anew',
  async (t) => {
    const { live } = await newOrganization(stores);
    await followed(100, 100);
    const { address } = await opened(live);
    await deposited(live, transferTo(address, BLOCK, { tokenContract: '0xdead', tokenSymbol: 'XYZ' } as never));
    await stores.payments.expire(NOW_MS, 500);
    t.is(await counted(live), 0);
    t.is(await resting(live, NOW_MS + DAY_MS), null);
  },
);

test.serial(
  'payments M11: when a closed link was reported long enough, its paid addresses are archived and the others rest',
  async (t) => {
    const { live } = await newOrganization(stores);
    await followed(100, 100);
    const closed = {
      status: 'closed',
      closedReason: 'manual',
      closedAtMs: NOW_MS - DAY_MS,
      closedAtHeight: 100,
      monitorUntilMs: NOW_MS,
    } as const;
    const paid = await opened(live, {}, NOW_MS + DAY_MS);
    await deposited(live, transferTo(paid.address, BLOCK));
    const shared = linkRow(live),
      lent = addressRow(live, { tag: 'checkout', label: shared.id, index: nextSerial(), userRef: null });
    await write(stores, live, [
      { table: 'address', row: lent },
      { table: 'payment_link', row: shared },
      {
        table: 'checkout_address',
        row: { ...lentRow(shared, paid.payment, lent), id: `${shared.id}/${lent.id}`, paymentId: null },
      },
    ]);
    for (const { id } of [paid.link, shared]) {
      const row = (await stores.read.paymentLink(live, id))!;
      await write(stores, live, [{ table: 'payment_link', row: { ...row, ...closed, version: row.version + 1 } }]);
    }
    const asked: string[] = [];
    const accounts: Pick<Accounts, 'ask'> = {
      ask: async (accountId, command) => {
        asked.push(command.type);
        const { state } = (await stores.accounts.load(accountId))!;
        const decision = entity.decide(state, command, NOW_MS);
        if (!decision.ok) return decision as never;
        await write(stores, accountId, [...decision.rows], decision.events);
        return { ok: true, reply: decision.reply } as never;
      },
    };
    const round = (nowMs: number) =>
      lentRound({
        payments: stores.payments,
        reads: stores.read,
        accounts,
        nowMs: () => nowMs,
        isMine: (accountId) => accountId === live,
        log: { warn: (facts) => t.fail(String((facts as { err: unknown }).err)) },
      });
    t.is((await round(NOW_MS - 1)).released, 0, 'its time is not over');
    t.like(await round(NOW_MS), { released: 2 });
    t.deepEqual(asked, ['set_address_status']);
    t.is((await stores.read.address(live, paid.address.id))!.status, 'archived');
    t.is((await stores.read.address(live, lent.id))!.status, 'active');
    t.like(await resting(live, NOW_MS), { address: { id: lent.id }, payment: null });
    t.is((await round(NOW_MS + DAY_MS)).released, 0, 'once');
    t.is(asked.length, 1);
  },
);

test.serial(
  'payments S17, S23: a rotation expires what has no money and ends every rest; who opened an expired payment is forgotten after its time',
  async (t) => {
    const { live } = await newOrganization(stores),
      { live: other } = await newOrganization(stores);
    await followed(100, 100);
    await opened(live);
    await stores.payments.expire(NOW_MS, 500);
    t.is(await counted(live), 1);
    const waiting = await opened(live, {}, NOW_MS + DAY_MS),
      theirs = await opened(other, {}, NOW_MS + DAY_MS);
    const marked = { customerEmail: 'ada@example.com', clientKey: 'c', version: 2 };
    for (const { live: of, payment } of [waiting, theirs])
      await write(stores, of, [{ table: 'payment', row: { ...payment, ...marked } }]);
    const before = addressRow(live, { tag: 'checkout' });
    const shared = linkRow(live, {
      mode: 'donation',
      addressMode: 'shared',
      amount: null,
      thresholdAmount: 5n,
      addressId: before.id,
      address: before.address,
      derivationPath: before.derivationPath,
    });
    await write(stores, live, [
      { table: 'address', row: before },
      { table: 'payment_link', row: shared },
    ]);
    await retiredBelow(live, { evm: waiting.address.index! + 1 });
    await write(stores, live, [{ table: 'payments_retired' }]);
    t.is((await stores.read.restingCounts(live, 10)).get('evm'), 0, 'found F55: also before their rows are gone');
    await stores.payments.forgetResting(500);
    t.is(await counted(live), 0);
    t.is((await stores.read.payment(live, waiting.payment.id))!.status, 'expired');
    t.is((await stores.read.payment(other, theirs.payment.id))!.status, 'awaiting_payment', 'of no other account');
    t.deepEqual(
      (await stores.payments.retired(null, 10)).map(({ accountId, id }) => ({ accountId, id })),
      [{ accountId: live, id: shared.id }],
    );
    const [first] = await stores.payments.retired(null, 10);
    t.deepEqual(await stores.payments.retired(first!, 10), [], 'none behind it');
    t.is((await stores.payments.retired({ ...first!, id: 'lnk_' }, 10)).length, 1, 'in the order of their ids');
    const lent = addressRow(live, { tag: 'checkout' });
    await write(stores, live, [
      { table: 'address', row: lent },
      {
        table: 'payment_link',
        row: { ...shared, version: 2, addressId: lent.id, address: lent.address, derivationPath: lent.derivationPath },
      },
    ]);
    t.deepEqual(await stores.payments.retired(null, 10), [], 'it has one of the present identity');
    t.is(await stores.payments.erase(NOW_MS - DAY_MS, 10), 0, 'its time is not over');
    t.is(await stores.payments.erase(Date.now() + DAY_MS, 10), 0, 'found F56: nor by a clock that is ahead');
    await database.owner`update payment set updated_at = now() - interval '31 days' where status = 'expired'`;
    t.true((await stores.payments.erase(Date.now() + DAY_MS, 10)) >= 1);
    t.like(await stores.read.payment(live, waiting.payment.id), {
      customerEmail: null,
      payerKey: null,
      clientKey: null,
      version: 4,
    });
    t.is((await stores.read.payment(other, theirs.payment.id))!.customerEmail, 'ada@example.com');
  },
);

test.serial(
  'payments S14: an address is lent on only while each network of it is followed near its present head: what its former payer sent is not found after the lending',
  async (t) => {
    const { live } = await newOrganization(stores);
    await followed(100, 100);
    const { address } = await opened(live);
    await stores.payments.expire(NOW_MS, 500);
    const lent = async () => (await resting(live, NOW_MS))?.address.id ?? null;
    t.is(await lent(), address.id);
    await database.owner`update chain_head set height = 130 where ledger = 'base'`;
    t.is(await lent(), null, 'the watcher of one stalls behind its head, although it passed that of the expiry');
    await database.owner`
      insert into block_link (ledger, height, hash, parent_hash, parent_height, time)
        values ('base', 100, '0x1', '0x0', 99, now() - interval '1 minute')`;
    t.is(await lent(), address.id, 'a quick chain: the newest block that is known is a minute old');
    await database.owner`update block_link set time = now() - interval '1 hour' where ledger = 'base'`;
    t.is(await lent(), null);
    await database.owner`update chain_head set height = 100 where ledger = 'base'`;
    t.is(await lent(), address.id);
    await database.owner`update chain_head set at = now() - interval '1 hour' where ledger = 'base'`;
    t.is(await lent(), null, 'no node of it answers, so nobody knows its head');
    await database.owner`update chain_head set heard_at = now() where ledger = 'base'`;
    t.is(await lent(), address.id, 'it was heard, and has not risen');
    await database.owner`insert into unresolved_height (ledger, height, hash, reason) values ('base', 101, '0x1', 'test')`;
    t.is(await lent(), null, 'a height of it that is not read whole');
    t.is((await resting(live, NOW_MS, 0, ['eth']))?.address.id, address.id, 'a network that is not run any more');
    await database.owner`delete from unresolved_height`;
    await database.owner`delete from block_link`;
    await database.owner`delete from chain_cursor where ledger = 'bsc'`;
    t.is(await lent(), null, 'one that is run and was never followed');
    const { sandbox } = await newOrganization(stores),
      ledger: LedgerId = `eth@${sandbox}`;
    const tried = await opened(sandbox);
    await stores.payments.expire(NOW_MS, 500);
    const simulated = async () => (await resting(sandbox, NOW_MS, 0, [ledger]))?.address.id ?? null;
    t.is(await simulated(), tried.address.id, 'nothing was mined there yet');
    await database.owner`insert into chain_cursor (ledger, height, hash) values (${ledger}, 5, '0x5')`;
    await database.owner`insert into chain_head (ledger, height, at) values (${ledger}, 6, now() - interval '1 day')`;
    t.is(await simulated(), null, 'a block that is mined and not followed');
    await database.owner`update chain_head set height = 5 where ledger = ${ledger}`;
    t.is(await simulated(), tried.address.id, 'it mines by order, so an old head is its head');
  },
);

test.serial(
  'payments S13, S17: addresses of a retired identity do not rest when their link is released, and those that do hide none behind them',
  async (t) => {
    const { live } = await newOrganization(stores);
    await followed(100, 100);
    const old: Opened[] = [];
    for (let n = 0; n < 51; n += 1) old.push(await opened(live));
    await stores.payments.expire(NOW_MS, 500);
    await retiredBelow(live, { evm: old.at(-1)!.address.index! + 1 });
    await write(stores, live, [{ table: 'payments_retired' }]);
    await stores.payments.forgetResting(500);
    t.is(await counted(live), 0);
    const fresh = await opened(live, {}, NOW_MS + 1),
      from = fresh.address.index!;
    await database.owner`
      update payment_link set status = 'closed', closed_reason = 'manual', closed_at = now(), closed_at_height = 100,
             monitor_until = ${NOW_MS}::timestamptz
       where account_id = ${live} and id <> ${fresh.link.id}`;
    await retiredBelow(live, { evm: from }, { btc: from + 1_000 });
    t.true(await stores.payments.release(live, old.pop()!.link.id, NOW_MS + 1));
    t.is(await counted(live), 0, 'it is not lent again, so it does not rest');
    await retiredBelow(live);
    old.push(await opened(live));
    for (const { link } of old) await stores.payments.release(live, link.id, NOW_MS + 1);
    t.is(await counted(live), 50);
    await stores.payments.expire(NOW_MS + 2, 500);
    t.true((await counted(live)) > 50);
    t.like(await resting(live, NOW_MS + DAY_MS, from), { address: { id: fresh.address.id } });
  },
);

test.serial('payments M11: a link is released while a transfer of it is written', async (t) => {
  const { live } = await newOrganization(stores);
  await followed(100, 100);
  const { link } = await opened(live);
  await database.owner`
    update payment_link set status = 'closed', closed_reason = 'manual', closed_at = now(), closed_at_height = 100,
           monitor_until = ${NOW_MS}::timestamptz
     where account_id = ${live}`;
  await database.owner.begin(async (sql) => {
    // As the foreign key of a row that names the link.
    await sql`select from payment_link where account_id = ${live} and id = ${link.id} for key share`;
    t.true(await stores.payments.release(live, link.id, NOW_MS + 1));
  });
});

test.serial(
  'found F55, payments P11: a link with thousands of open payments closes with a page of them, and the others expire page by page behind it',
  async (t) => {
    const { live } = await newOrganization(stores),
      many = 1_250;
    await followed(100, 100);
    const { link, payment } = await opened(live, {}, NOW_MS + DAY_MS);
    await database.admin.unsafe(`
      set local session_replication_role = replica;
      create temporary table more on commit drop as
        select p.* from flock.payment p, generate_series(1, ${many}) where p.id = '${payment.id}';
      update more set id = 'pay_' || ctid::text;
      insert into flock.payment select * from more`);
    const waiting = async (): Promise<number> =>
      (await database.owner`select from payment where account_id = ${live} and status = 'awaiting_payment'`).length;
    t.is(await waiting(), many + 1);
    await write(stores, live, [
      {
        table: 'payment_link',
        row: { ...link, ...CLOSED, version: 2 },
      },
      { table: 'payments_expired', linkId: link.id },
    ]);
    t.is(await waiting(), many + 1 - 500, 'a page in what other accounts wait for');
    const pages: number[] = [];
    for (let now = 400; now === 400;) pages.push((now = (await stores.payments.expireEnded(400, []))!.expired));
    t.deepEqual([pages, await waiting()], [[400, 351], 0]);
    t.not((await stores.payments.expireEnded(400, []))?.subject, link.id, 'nothing is behind it');
    t.is(await counted(live), 1);
  },
);

test.serial(
  'payments P11, S17: a link and an account whose payments cannot expire hold up nobody else’s',
  async (t) => {
    const accounts = (await Promise.all([1, 2, 3, 4].map(() => newOrganization(stores)))).map(({ live }) => live);
    await followed(100, 100);
    const [faulty, , retired, other] = accounts as [AccountId, AccountId, AccountId, AccountId];
    const subjects = new Set<string>();
    for (const live of accounts) {
      const found = await opened(live, {}, NOW_MS + DAY_MS);
      if (live === retired || live === other) {
        await database.owner`update payment set client_key = 'c' where account_id = ${live}`;
        await database.owner`update account set ending_until = now() + interval '1 day' where account_id = ${live}`;
        await retiredBelow(live, { evm: nextSerial() });
        subjects.add(live);
      } else {
        await database.owner`update payment_link set ending = true where account_id = ${live}`;
        subjects.add(found.link.id);
      }
    }
    await database.owner.unsafe(`
      create function fails() returns trigger language plpgsql as $$ begin raise 'this row is broken'; end $$;
      create trigger fails before update on payment for each row
        when (old.account_id in ('${faulty}', '${retired}')) execute function fails()`);
    t.teardown(() => database.owner.unsafe('drop trigger fails on payment; drop function fails'));
    const passed: string[] = [],
      expired: number[] = [];
    for (;;) {
      const page = await stores.payments.expireEnded(10, passed);
      if (page === null) break;
      if (!subjects.has(page.subject)) continue; // another test's
      if (page.trouble !== null) passed.push(page.subject);
      else expired.push(page.expired);
    }
    t.deepEqual([passed.length, passed.includes(retired)], [2, true]);
    t.deepEqual(expired, [1, 1]);
    const still = await database.owner<{ accountId: string }[]>`
      select account_id as "accountId" from payment
       where account_id = any (${accounts}) and status = 'awaiting_payment'`;
    t.deepEqual(still.map(({ accountId }) => accountId).toSorted(), [faulty, retired].toSorted());
    t.is((await database.owner`select from payment_link where account_id = ${faulty} and ending`).length, 1);
  },
);

test.serial(
  'payments M11: the addresses of a link are released page by page, and it is done with the last',
  async (t) => {
    const { live } = await newOrganization(stores);
    await followed(100, 100);
    const { link } = await opened(live);
    await database.owner`
    update payment_link set status = 'closed', closed_reason = 'manual', closed_at = now(), closed_at_height = 100,
           monitor_until = ${NOW_MS}::timestamptz
     where account_id = ${live}`;
    await database.admin.unsafe(`
    set local session_replication_role = replica;
    create temporary table more on commit drop as
      select c.* from flock.checkout_address c, generate_series(1, 2500) where c.account_id = '${live}';
    update more set id = 'chk_' || ctid::text, address_id = 'adr_' || ctid::text;
    insert into flock.checkout_address select * from more`);
    const lent = async (): Promise<number> =>
      (await database.owner`select from checkout_address where account_id = ${live} and released_at is null`).length;
    t.is(await lent(), 2_501);
    t.false(await stores.payments.release(live, link.id, NOW_MS + 1));
    t.is(await lent(), 501);
    t.true(await stores.payments.release(live, link.id, NOW_MS + 1));
    t.is(await lent(), 0);
  },
);

test.serial(
  'found F55: a rotation takes one row of the account however many addresses rest; those of before go in pages, and the present ones stay',
  async (t) => {
    const { live } = await newOrganization(stores),
      { live: other } = await newOrganization(stores);
    await followed(100, 100);
    const [tron, theirs] = [await opened(live), await opened(other)] as const;
    for (let n = 0; n < 5; n += 1) await opened(live);
    await stores.payments.expire(NOW_MS, 500);
    await database.owner`update resting_address set chain = 'tron' where address_id = ${tron.address.id}`;
    const from = nextSerial();
    await retiredBelow(live, { evm: from, tron: from });
    await write(stores, live, [{ table: 'payments_retired' }]);
    t.is(await counted(live), 6, 'nothing of them in what other accounts wait for');
    const fresh = await opened(live);
    await stores.payments.expire(NOW_MS, 500);
    t.like(await resting(live, NOW_MS, from), { address: { id: fresh.address.id } }, 'none of them is lent on');
    const went: number[] = [];
    for (let gone = 4; gone === 4;) went.push((gone = await stores.payments.forgetResting(4)));
    t.deepEqual(went, [4, 2]);
    t.is(await stores.payments.forgetResting(4), 0, 'no account has any behind it');
    t.like(await resting(live, NOW_MS, 0), { address: { id: fresh.address.id } });
    t.like(await resting(other, NOW_MS, 0), { address: { id: theirs.address.id } });
  },
);

test.serial(
  'found F56: a node whose clock is ahead expires no payment, releases no link and closes none before its time',
  async (t) => {
    const { live } = await newOrganization(stores);
    await followed(100, 100);
    const soonMs = Date.now() + DAY_MS,
      aheadMs = soonMs + DAY_MS;
    const { link, payment } = await opened(live, { closesAtMs: soonMs }, soonMs);
    await stores.payments.expire(aheadMs, 500);
    t.is((await stores.read.payment(live, payment.id))!.status, 'awaiting_payment');
    t.false(await stores.clocks.expirePayment(live, payment.id, aheadMs));
    t.is(await counted(live), 0, 'its address is lent to nobody else');
    const mine = (links: readonly { accountId: AccountId }[]) => links.filter(({ accountId }) => accountId === live);
    t.deepEqual(mine(await stores.payments.due(aheadMs, null, 500)), []);
    await database.owner`
      update payment_link set status = 'closed', closed_reason = 'manual', closed_at = now(), closed_at_height = 100,
             monitor_until = ${soonMs}::timestamptz where account_id = ${live}`;
    t.deepEqual(mine(await stores.payments.monitored(aheadMs, null, 500)), []);
    t.false(await stores.payments.release(live, link.id, aheadMs));
  },
);

test.serial(
  'found F56: whom an address was lent to last has it, although the node that lent it before was ahead; what comes is this one’s',
  async (t) => {
    const { live } = await newOrganization(stores);
    await followed(100, 100);
    const before = await opened(live);
    await database.owner`update checkout_address set lent_at = lent_at + interval '1 hour' where account_id = ${live}`;
    await stores.payments.expire(NOW_MS, 500);
    const lent = (await resting(live, NOW_MS))!,
      { link } = await opened(live, {}, NOW_MS + DAY_MS),
      { row, rows } = await lendOn({ live, link }, lent);
    t.is(lent.address.id, before.address.id);
    await write(stores, live, [...rows]);
    const after = await deposited(live, transferTo(before.address, BLOCK));
    t.is(after.find((one) => one.table === 'payment_transfer')?.row.paymentId, row.id);
    const holders = await database.owner`
      select payment_id from checkout_address where account_id = ${live} and address_id = ${before.address.id}
       order by lent_at desc limit 1`;
    t.is(holders[0]!['paymentId'], row.id);
  },
);
