/** Payments on the real schema: what deposits on lent addresses make of them, and what the tables refuse. */
import test, { type ExecutionContext } from 'ava';
import { createAccountEntity } from '../../../actors/account/account.ts';
import { createChainBook } from '../../../actors/account/chain-book.ts';
import { closed } from '../../../actors/payment/closing.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import type { Fact, SeenTransfer } from '../../../model/rows/inbox.ts';
import type { PaymentLinkRow } from '../../../model/rows/payment.ts';
import { constraintOf } from '../../../persistence/postgres/sql.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { eventId, newId } from '../../../protocol/node/ids.ts';
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

test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

/** An account with a link, and a payment whose address is lent. */
async function opened(more: Partial<PaymentLinkRow> = {}) {
  const { live } = await newOrganization(stores),
    link = linkRow(live, more),
    address = addressRow(live, { tag: 'checkout', label: link.id }),
    payment = paymentRow(link, address);
  await write(stores, live, [
    { table: 'address', row: address },
    { table: 'payment_link', row: link },
    { table: 'payment', row: payment },
    { table: 'checkout_address', row: lentRow(link, payment, address) },
  ]);
  return { live, link, address, payment };
}

const BLOCK = { height: 100, hash: '0xb100', parentHeight: 99, parentHash: '0xb99', timeMs: NOW_MS };

/** Facts of one transfer, from the inbox to the append. */
async function apply(
  accountId: AccountId,
  kinds: readonly Fact['kind'][],
  transfer: SeenTransfer,
): Promise<RowWrite[]> {
  const entries = kinds.map((kind) => ({
    accountId,
    fact: { kind, deposit: { ...transfer, confirmations: kind === 'matured' ? 12 : 1 } },
  }));
  await database.owner`select post_facts(${JSON.stringify(entries)}::text::jsonb)`;
  const read = await stores.inbox.inboxOf(accountId, 200);
  const { state } = (await stores.accounts.load(accountId))!;
  const depositIds = read.inbox.map(() => newId('dep', NOW_MS + nextSerial()));
  const decision = entity.decide(state, { type: 'apply_facts', ...read, depositIds }, NOW_MS);
  if (!decision.ok) throw new Error(decision.code);
  await write(stores, accountId, [...decision.rows], decision.events);
  return [...decision.rows];
}

const linkOf = async (id: string) =>
  (
    await database.owner`select status, closed_reason, amount_raised::text as raised, payment_count, uses from payment_link where id = ${id}`
  )[0];
const paymentOf = async (id: string) =>
  (
    await database.owner`select status, seen::text as seen, confirmed::text as confirmed from payment where id = ${id}`
  )[0];

async function refused(t: ExecutionContext, constraint: string, work: () => Promise<unknown>): Promise<void> {
  const error = await t.throwsAsync(async () => work());
  t.true(
    constraintOf(error) === constraint || String(error).includes(constraint),
    `${constraint}: ${String(error)} ${constraintOf(error)}`,
  );
}

test('payments M1, M5, M8, V6: a deposit, its payment and its link are written in one append; a reorg takes back exactly what it gave and opens nothing', async (t) => {
  const { live, link, address, payment } = await opened();
  const { live: other, link: others } = await opened();
  const transfer = transferTo(address, BLOCK);
  const rows = await apply(live, ['seen'], transfer);
  t.like(await paymentOf(payment.id), { status: 'detected', seen: '1000', confirmed: '0' });
  t.like(await linkOf(link.id), { status: 'active', raised: '0', paymentCount: 0, uses: 1 });
  const more = [...rows, ...(await apply(live, ['matured'], transfer))];
  t.like(await paymentOf(payment.id), { status: 'confirmed', confirmed: '1000' });
  t.like(await linkOf(link.id), { status: 'closed', closedReason: 'paid', raised: '1000', paymentCount: 1 });
  t.deepEqual(
    more.flatMap((one) => (one.table === 'publication' ? [one.row.event] : [])),
    ['deposit_detected', 'payment_detected', 'deposit_confirmed', 'payment_confirmed', 'payment_link_closed'],
  );
  await apply(live, ['orphaned'], transfer);
  t.like(await paymentOf(payment.id), { status: 'expired', seen: '0', confirmed: '0' });
  t.like(await linkOf(link.id), { status: 'closed', raised: '0', paymentCount: 0, uses: 0 });
  await apply(live, ['seen', 'matured'], { ...transfer, height: 101, blockHash: '0xb101' });
  t.like(await linkOf(link.id), { status: 'closed', raised: '1000', paymentCount: 1, uses: 1 });
  t.like(await linkOf(others.id), { status: 'active', raised: '0' });
  t.truthy(other);
  const [entries] =
    await database.owner`select array_agg(kind || incarnation || ':' || amount order by recorded_at) as all
    from payment_entry where payment_id = ${payment.id}`;
  t.deepEqual(entries?.['all'], ['counted1:1000', 'reversed1:-1000', 'counted2:1000']);
});

test('payments M2: what was decided on rows that moved meanwhile is refused, in one append and in two, and nothing of it is written', async (t) => {
  const { live, link, payment } = await opened();
  const paused: RowWrite = { table: 'payment_link', row: { ...link, version: 2, status: 'paused' } };
  const twice = await stores.accounts.append(await appendOf(stores, live, [paused, paused]));
  t.like(twice, { kind: 'refused', refusal: { code: 'SERVICE_UNAVAILABLE', details: { reason: 'payments_moved' } } });
  await write(stores, live, [paused]);
  const again = await stores.accounts.append(await appendOf(stores, live, [paused]));
  t.is(again.kind, 'refused');
  const ghost: RowWrite = { table: 'payment', row: { ...payment, id: newId('pay', NOW_MS), version: 7 } };
  t.is((await stores.accounts.append(await appendOf(stores, live, [ghost]))).kind, 'refused');
});

test('payments P6: a slug is nobody else’s, in no account', async (t) => {
  const { link } = await opened(),
    { live } = await newOrganization(stores);
  const taken = await stores.accounts.append(
    await appendOf(stores, live, [{ table: 'payment_link', row: linkRow(live, { slug: link.slug }) }]),
  );
  t.like(taken, { kind: 'refused', refusal: { code: 'CONFLICT', details: { field: 'slug', reason: 'taken' } } });
});

test('payments M8, P11: closing expires what has no money in the same append, and a closed link stays closed', async (t) => {
  const { live, link, payment } = await opened();
  const row = { ...closed(link, 'manual', 100, NOW_MS, 30), version: 2 };
  await write(stores, live, [
    { table: 'payment_link', row },
    { table: 'payments_expired', linkId: link.id },
  ]);
  t.like(await paymentOf(payment.id), { status: 'expired' });
  await refused(t, 'payment_link_stays_closed', () =>
    write(stores, live, [{ table: 'payment_link', row: { ...link, version: 3 } }]),
  );
});

test('payments M3, M4, M5: no statement counts money twice, counts what is late, or moves a sum by hand, not even the owner’s', async (t) => {
  const { live, link, address, payment } = await opened();
  await apply(live, ['seen', 'matured'], transferTo(address, BLOCK));
  const owner = database.owner;
  const [entry] = await owner`select * from payment_entry where payment_id = ${payment.id}`;
  const { depositId } = entry as unknown as { depositId: string };
  await refused(t, 'payment_entry_once', () =>
    owner`insert into payment_entry (account_id, deposit_id, incarnation, kind, link_id, payment_id, amount)
      values (${live}, ${depositId}, 1, 'counted', ${link.id}, ${payment.id}, 1000)`.then(),
  );
  await refused(t, 'payment_entry_of_ledger', () =>
    owner`insert into payment_entry (account_id, deposit_id, incarnation, kind, link_id, payment_id, amount)
      values (${live}, ${depositId}, 1, 'reversed', ${link.id}, ${payment.id}, -1000)`.then(),
  );
  await refused(t, 'payment_entry_append_only', () =>
    owner`delete from payment_entry where payment_id = ${payment.id}`.then(),
  );
  await refused(t, 'payment_transfer_append_only', () =>
    owner`update payment_transfer set role = 'late' where payment_id = ${payment.id}`.then(),
  );
  await refused(t, 'payment_link_sums_derived', () =>
    owner`update payment_link set amount_raised = 5 where id = ${link.id}`.then(),
  );
  await refused(t, 'payment_link_sums_derived', () =>
    owner`update payment_link set payment_count = 9, uses = 9 where id = ${link.id}`.then(),
  );
  await refused(t, 'payment_confirmed_derived', () =>
    owner`update payment set confirmed = 5 where id = ${payment.id}`.then(),
  );
  await refused(t, 'payment_status_of_sums', () =>
    owner`update payment set status = 'expired' where id = ${payment.id}`.then(),
  );
  await refused(t, 'payment_link_immutable', () =>
    owner`update payment_link set amount = 5 where id = ${link.id}`.then(),
  );
  await refused(t, 'checkout_address_lent_once', () =>
    owner`insert into checkout_address (account_id, id, address_id, link_id, reused, lent_at)
      values (${live}, 'chk_x', ${address.id}, ${link.id}, false, now())`.then(),
  );
  await refused(t, 'pay_slug_append_only', () => owner`delete from pay_slug where link_id = ${link.id}`.then());
  for (const table of ['payment_link', 'payment', 'checkout_address', 'payment_transfer', 'payment_entry', 'pay_slug'])
    await refused(t, 'permission denied', () => database.sql.unsafe(`delete from ${table}`));
});

interface Published {
  readonly eventId: string;
  readonly event: string;
  readonly orderKey: string;
  readonly body: string;
}
const publishedOf = async (accountId: AccountId): Promise<Published[]> =>
  (await database.owner`select event_id, event, order_key, body::text as body from publication
    where account_id = ${accountId} and event like 'payment%' order by seq`) as unknown as Published[];

test('payments V1, V2, V5, V7: an event has the id of its fact, the confirmations of its transfer, and the order of its address; time that runs out is no event', async (t) => {
  const { live, link, address, payment } = await opened({ amount: 1_500n });
  const part = transferTo(address, BLOCK),
    rest = transferTo(address, BLOCK, { amount: '500' });
  await apply(live, ['seen', 'matured'], part);
  await apply(live, ['seen', 'matured'], rest);
  await apply(live, ['orphaned'], rest);
  const told = await publishedOf(live);
  t.deepEqual(
    told.map(({ event, body }) => {
      const { confirmations, threshold } = JSON.parse(body) as { confirmations: number; threshold: number };
      return [event, confirmations, threshold];
    }),
    [
      ['payment_detected', 1, 12],
      ['payment_underpaid', 12, 12],
      ['payment_detected', 1, 12],
      ['payment_confirmed', 12, 12],
      ['payment_link_closed', null, null],
      ['payment_reversed', 0, 12],
    ],
  );
  const idOf = (of: SeenTransfer, event: string) => eventId(of.ledger, of.txid, of.outputIndex, 1, event);
  t.deepEqual(
    told.filter(({ event }) => event !== 'payment_link_closed').map((one) => one.eventId),
    [
      idOf(part, 'payment_detected'),
      idOf(part, 'payment_underpaid'),
      idOf(rest, 'payment_detected'),
      idOf(rest, 'payment_confirmed'),
      idOf(rest, 'payment_reversed'),
    ],
  );
  t.true(
    told.every(({ orderKey }) => orderKey === address.address),
    'V7: the closing that a payment caused comes after it',
  );
  t.truthy([link, payment]);
  const { live: other, payment: waiting } = await opened();
  await database.owner`update payment set expires_at = '2020-01-01' where id = ${waiting.id}`;
  t.true((await stores.payments.expire(NOW_MS, 500)) >= 1);
  t.like(await paymentOf(waiting.id), { status: 'expired' });
  t.is((await publishedOf(other)).length, 0, 'V5: bots would write them');
});

test('payments V8: an archived address is silent, and what it receives counts all the same; the longest event has less than 20 kB', async (t) => {
  const metadata = JSON.stringify(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, '"'.repeat(36)]))),
    longest = '\u{1F600}'.repeat(60);
  const { live, address, payment } = await opened({ metadata, title: longest, collectEmail: true });
  await database.owner`update payment set customer_email = ${`a@${'b'.repeat(240)}.example`}, customer_name = ${longest}
    where id = ${payment.id}`;
  await apply(live, ['seen', 'matured'], transferTo(address, BLOCK));
  const told = await publishedOf(live);
  t.is(told.length, 3);
  for (const { event, body } of told) t.true(Buffer.byteLength(body) < 20_000, `${event}: ${Buffer.byteLength(body)}`);
  t.true(Buffer.byteLength(told[0]!.body) > 4_000);
  const silent = await opened();
  await database.owner`update address set status = 'archived' where id = ${silent.address.id}`;
  await apply(silent.live, ['seen', 'matured'], transferTo(silent.address, BLOCK));
  t.deepEqual(await publishedOf(silent.live).then((all) => all.map(({ event }) => event)), ['payment_link_closed']);
  t.like(await paymentOf(silent.payment.id), { status: 'confirmed', confirmed: '1000' });
});
