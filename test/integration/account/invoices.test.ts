/** Invoices on the real schema: their numbers under concurrency, what the tables refuse, and the links of letters. */
import { createHash } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { createAccountEntity } from '../../../actors/account/account.ts';
import { createChainBook } from '../../../actors/account/chain-book.ts';
import { sendDueMail } from '../../../gateway/mail/sender.ts';
import type { Letter } from '../../../gateway/mail/letters.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import type { Fact, SeenTransfer } from '../../../model/rows/inbox.ts';
import type { PaymentLinkRow, PaymentRow } from '../../../model/rows/payment.ts';
import { constraintOf } from '../../../persistence/postgres/sql.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import { organizationOf, type AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { lentRow, linkRow, paymentRow } from '../../support/payment-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
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
const BLOCK = { height: 100, hash: '0xb100', parentHeight: 99, parentHash: '0xb99', timeMs: NOW_MS };
const NEW_YEAR = Date.UTC(2027, 0, 1);

test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

interface Opened {
  readonly link: PaymentLinkRow;
  readonly payment: PaymentRow;
  readonly address: AddressRow;
}

async function opened(live: AccountId, more: Partial<PaymentLinkRow> = {}, by: Partial<PaymentRow> = {}) {
  const link = linkRow(live, { collectEmail: true, ...more }),
    address = addressRow(live, { tag: 'checkout', label: link.id }),
    payment = paymentRow(link, address, { customerEmail: 'ada@example.com', language: 'de', ...by });
  await write(stores, live, [
    { table: 'address', row: address },
    { table: 'payment_link', row: link },
    { table: 'payment', row: payment },
    { table: 'checkout_address', row: lentRow(link, payment, address) },
  ]);
  return { link, payment, address } as Opened;
}

const post = (accountId: AccountId, kinds: readonly Fact['kind'][], transfer: SeenTransfer) =>
  database.owner`select post_facts(${JSON.stringify(
    kinds.map((kind) => ({
      accountId,
      fact: { kind, deposit: { ...transfer, confirmations: kind === 'matured' ? 12 : 1 } },
    })),
  )}::text::jsonb)`;

/** Takes what waits in the inbox as the actor of a node does. Answers whether the append was the account's. */
async function decide(accountId: AccountId, nowMs = NOW_MS, facts = 200): Promise<string> {
  const loaded = (await stores.accounts.load(accountId))!;
  const read = await stores.inbox.inboxOf(accountId, facts);
  const depositIds = read.inbox.map(() => newId('dep', NOW_MS + nextSerial()));
  const decision = entity.decide(loaded.state, { type: 'apply_facts', ...read, depositIds }, nowMs);
  if (!decision.ok) throw new Error(decision.code);
  const { events, rows } = decision;
  const state = events.reduce((before, event) => entity.evolve(before, event), loaded.state);
  const outcome = await stores.accounts.append({
    entityId: accountId,
    ownerEpoch: loaded.ownerEpoch,
    expectedVersion: loaded.version,
    events,
    state,
    rows: [...rows] as RowWrite[],
  });
  return outcome.kind;
}

async function paid(live: AccountId, nowMs = NOW_MS, more: Partial<PaymentLinkRow> = {}): Promise<Opened> {
  const one = await opened(live, more);
  await post(live, ['seen', 'matured'], transferTo(one.address, BLOCK));
  if ((await decide(live, nowMs)) !== 'appended') throw new Error('not appended');
  return one;
}

const numbersOf = async (live: AccountId): Promise<string[]> =>
  (
    await database.owner`select invoice_number from payment where account_id = ${live} and invoice_number is not null
      order by invoice_number`
  ).map((row) => row['invoiceNumber'] as string);
const invoiceOf = async ({ payment }: Opened): Promise<{ id: string; number: number; year: number }> =>
  (await database.owner`select id, number, year from invoice where payment_id = ${payment.id}`)[0] as never;

async function refused(t: ExecutionContext, constraint: string, work: () => Promise<unknown>): Promise<void> {
  const error = await t.throwsAsync(async () => work());
  t.true(constraintOf(error) === constraint || String(error).includes(constraint), `${constraint}: ${String(error)}`);
}

test('payments I1, I2, I7, V3: the append of the first payment_confirmed takes the number; a reorg keeps it and says it, and the money that returns has no second one', async (t) => {
  const { live } = await newOrganization(stores);
  const one = await opened(live);
  const transfer = transferTo(one.address, BLOCK);
  await post(live, ['seen'], transfer);
  await decide(live);
  t.deepEqual(await numbersOf(live), [], 'not at the detection');
  await post(live, ['matured'], transfer);
  await decide(live);
  t.deepEqual(await numbersOf(live), ['INV-2026-000001']);
  await post(live, ['orphaned'], transfer);
  await decide(live);
  await post(live, ['seen', 'matured'], { ...transfer, height: 101, blockHash: '0xb101' });
  await decide(live);
  t.deepEqual(await numbersOf(live), ['INV-2026-000001']);
  const told = await database.owner`
    select event, body::json -> 'data' ->> 'invoiceNumber' as number from publication
     where account_id = ${live} and event like 'payment%' order by seq`;
  t.deepEqual(
    told.map(({ event, number }) => [event, number]),
    [
      ['payment_detected', null],
      ['payment_confirmed', 'INV-2026-000001'],
      ['payment_link_closed', null],
      ['payment_reversed', 'INV-2026-000001'],
      ['payment_confirmed', 'INV-2026-000001'],
    ],
  );
  const shared = await newOrganization(stores);
  for (const [more, by] of [
    [{ collectEmail: false }, {}],
    [{}, { customerEmail: null }],
  ] as const) {
    const other = await opened(shared.live, more, by);
    await post(shared.live, ['seen', 'matured'], transferTo(other.address, BLOCK));
    t.is(await decide(shared.live), 'appended');
  }
  t.deepEqual(await numbersOf(shared.live), [], 'nobody to write to, or none is wanted');
});

test('payments I3, F10: an invoice says what came, in all its parts, also those that were confirmed before', async (t) => {
  const { live } = await newOrganization(stores);
  const one = await opened(live);
  const parts = ['400', '500', '200'].map((amount) => transferTo(one.address, BLOCK, { amount }));
  for (const part of parts) {
    await post(live, ['seen', 'matured'], part);
    await decide(live);
  }
  const [row] = await database.owner`select paid::text, overpaid::text, short::text, transfers from invoice
    where payment_id = ${one.payment.id}`;
  t.like(row, { paid: '1100', overpaid: '100', short: '0' });
  const named = JSON.parse(row!['transfers'] as string) as { txid: string; amount: string }[];
  t.deepEqual(
    named.map(({ txid, amount }) => [txid, amount]).toSorted(),
    parts.map(({ txid, amount }) => [txid, amount]).toSorted(),
  );
});

test('payments I2, F43: 200 payments that two nodes decide at once are 000001 to 000200, whoever of both wins each time', async (t) => {
  const { live } = await newOrganization(stores);
  for (let n = 0; n < 200; n += 1) {
    const one = await opened(live);
    await post(live, ['seen', 'matured'], transferTo(one.address, BLOCK));
  }
  const outcomes = { appended: 0, stale: 0 };
  const node = async (facts: number): Promise<void> => {
    for (;;) {
      const read = await stores.inbox.inboxOf(live, 1);
      if (read.inbox.length === 0) return;
      const kind = await decide(live, NOW_MS, facts);
      outcomes[kind as keyof typeof outcomes] += 1;
    }
  };
  await Promise.all([node(14), node(10)]);
  t.true(outcomes.stale > 0, 'both decided on the same account');
  t.deepEqual(
    await numbersOf(live),
    Array.from({ length: 200 }, (_, n) => `INV-2026-${String(n + 1).padStart(6, '0')}`),
  );
});

test('payments I2, F44: New Year in Kiritimati is 000001 once, whatever clock and zone do afterwards; an append that is refused leaves no gap', async (t) => {
  const { live } = await newOrganization(stores);
  const { state } = (await stores.accounts.load(live))!;
  const inZone = async (timeZone: string, nowMs: number) => {
    const loaded = (await stores.accounts.load(live))!;
    const event = { type: 'payment_settings_changed' as const, settings: { ...state.paymentSettings, timeZone } };
    await stores.accounts.append({
      entityId: live,
      ownerEpoch: loaded.ownerEpoch,
      expectedVersion: loaded.version,
      events: [event],
      state: entity.evolve(loaded.state, event),
      rows: [],
    });
    return paid(live, nowMs);
  };
  await inZone('UTC', NEW_YEAR - 20 * 3_600_000);
  const first = await inZone('Pacific/Kiritimati', NEW_YEAR - 14 * 3_600_000);
  await inZone('Pacific/Niue', NEW_YEAR - 14 * 3_600_000);
  await inZone('UTC', NEW_YEAR - 400 * 86_400_000);
  t.deepEqual(await numbersOf(live), ['INV-2026-000001', 'INV-2027-000001', 'INV-2027-000002', 'INV-2027-000003']);
  // The number of an append that is refused is the next one's.
  const { id } = await invoiceOf(first);
  const taken = await opened(live);
  await refused(t, 'invoice_of_its_payment', () =>
    database.owner`insert into invoice select account_id, 'inv_x', ${taken.link.id}, ${taken.payment.id}, year, 4, issued_at,
      time_zone, language, chain, asset, token_contract, decimals, address, amount, paid, overpaid, short, seller_name,
      seller_address, seller_tax_id, support_email, customer_email, customer_name, title, description, transfers
      from invoice where id = ${id}`.then(),
  );
  await paid(live, NEW_YEAR);
  t.is((await numbersOf(live)).at(-1), 'INV-2027-000004');
});

test('payments I2, I7: no statement skips, repeats or changes a number, not even the owner’s', async (t) => {
  const { live } = await newOrganization(stores);
  const one = await paid(live),
    { owner } = database;
  const other = await opened(live);
  const insert = (year: number, number: number, id: string) =>
    owner`insert into invoice select account_id, ${id}, ${other.link.id}, ${other.payment.id}, ${year}, ${number},
      issued_at, time_zone, language, chain, asset, token_contract, decimals, address, amount, paid, overpaid, short,
      seller_name, seller_address, seller_tax_id, support_email, customer_email, customer_name, title, description,
      transfers from invoice where payment_id = ${one.payment.id}`.then();
  for (const [year, number] of [
    [2026, 1],
    [2026, 3],
    [2025, 2],
    [2027, 2],
    [2026, 0],
  ] as const)
    await refused(t, 'invoice_in_turn', () => insert(year, number, 'inv_x'));
  await refused(t, 'invoice_append_only', () => owner`update invoice set paid = 5 where account_id = ${live}`.then());
  await refused(t, 'invoice_append_only', () => owner`delete from invoice where account_id = ${live}`.then());
  await refused(t, 'payment_invoice_kept', () =>
    owner`update payment set invoice_number = 'INV-2026-000009' where id = ${one.payment.id}`.then(),
  );
  await refused(t, 'payment_invoice_numbered', () =>
    owner`update payment set invoice_number = 'INV-2026-000009' where id = ${other.payment.id}`.then(),
  );
  for (const table of ['invoice', 'invoice_link'])
    await refused(t, 'permission denied', () => database.sql.unsafe(`delete from ${table}`));
});

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const tokenIn = ({ text }: Letter): string => /https:\/\/pay\.example\.com\/invoices\/([a-z2-7]{32})\n/.exec(text)![1]!;

/** A sender of one node: what it hands over is kept, or it dies in the middle. */
function sender(taken: Letter[], nowMs: () => number, dies = false) {
  return sendDueMail({
    store: stores.mail,
    invoices: { mint: stores.invoices.mint, payUrl: 'https://pay.example.com' },
    secrets: { open: (sealed: string) => sealed },
    transport: {
      async send(letter) {
        if (dies) throw new Error('the process ended here');
        taken.push(letter);
      },
      close: () => undefined,
    },
    publicUrl: 'https://cloud.example.com',
    metrics: { add: () => undefined },
    nowMs,
    log: { info: () => undefined, warn: () => undefined },
  });
}

test.serial(
  'payments I4, I5, I6, F46: a letter carries a link that begins to work as it leaves; a second copy has the newer one; a resend ends both, and what was about to leave stays',
  async (t) => {
    const { live } = await newOrganization(stores);
    const one = await paid(live),
      { id } = await invoiceOf(one);
    let nowMs = NOW_MS + 1_000;
    const [due] =
      await database.owner`select kind, recipient, sealed_token, facts::text as facts from letter where id = ${id}`;
    t.like(due, { kind: 'invoice', recipient: 'ada@example.com', sealedToken: null });
    t.is(
      (await database.owner`select from invoice_link where invoice_id = ${id}`).length,
      0,
      'no link before the letter',
    );
    const taken: Letter[] = [];
    // A node dies between the mint and the transport: its claim runs out, and another one goes on.
    await sender(taken, () => nowMs, true);
    const [lost] = await database.owner`select hash from invoice_link where invoice_id = ${id}`;
    nowMs += 3_600_000;
    t.is(await sender(taken, () => nowMs), 1);
    t.is(taken.length, 1);
    t.is(taken[0]!.to, 'ada@example.com');
    t.regex(taken[0]!.subject, /^Rechnung INV-2026-000001 von /);
    const first = tokenIn(taken[0]!);
    t.deepEqual(await stores.invoices.of(hashOf(first)), { accountId: live, invoiceId: id });
    t.is(await stores.invoices.of(lost!['hash'] as string), null, 'the link that nobody got works no more');
    t.is(await sender(taken, () => nowMs), 0, 'once');
    // While a further copy is due, the merchant asks for another link: the copy is not sent any more.
    await database.owner`update letter set sent_at = null, next_attempt_at = ${nowMs}::timestamptz where id = ${id}`;
    const token = 'b'.repeat(32);
    const resend = (letterId: string, of = token) =>
      stores.invoices.resend(
        live,
        id,
        { hash: hashOf(of), letterId, sealed: of },
        { most: 5, windowSeconds: 3_600 },
        undefined,
        undefined,
        nowMs,
      );
    t.is(await resend('letter-1'), 'done');
    t.is(await stores.invoices.of(hashOf(first)), null);
    await sender(taken, () => nowMs);
    t.deepEqual(taken.slice(1).map(tokenIn), [token], 'the letter of the answer, and no other');
    t.deepEqual(await stores.invoices.of(hashOf(token)), { accountId: live, invoiceId: id });
    t.is(
      Number(
        (
          await database.owner`select count(*) as n from letter where facts ->> 'invoiceId' = ${id} and sent_at is null`
        )[0]!['n'],
      ),
      0,
    );
    // Five an hour, counted by the database.
    for (const n of [2, 3, 4, 5]) t.is(await resend(`letter-${n}`, String(n).repeat(32)), 'done');
    t.deepEqual(await resend('letter-6', '6'.repeat(32)), { afterSeconds: 3_600 });
    t.deepEqual(
      await stores.invoices.of(hashOf('5'.repeat(32))),
      { accountId: live, invoiceId: id },
      'nothing changed',
    );
    nowMs += 3_600_000;
    t.is(await resend('letter-6', '6'.repeat(32)), 'done');
    t.is(
      await stores.invoices.resend(
        live,
        'inv_none',
        { hash: hashOf('x'), letterId: 'x', sealed: 'x' },
        { most: 5, windowSeconds: 1 },
        undefined,
        undefined,
        nowMs,
      ),
      null,
    );
  },
);

/** What a statement of a resend has written when its server process ends: nothing, however far it came. */
const STEPS: readonly (readonly [table: string, what: string])[] = [
  ['idempotency', 'its answer is kept'],
  ['invoice_link', 'the other link is in place'],
  ['letter', 'the letter is due'],
  ['audit_entry', 'its entry is written'],
];
for (const [table, what] of STEPS)
  test.serial(
    `payments I6, F46: a resend that is killed when ${what} left the link before as it was, and may be asked again`,
    async (t) => {
      const { live } = await newOrganization(stores),
        organizationId = organizationOf(live);
      const one = await paid(live),
        { id } = await invoiceOf(one);
      const tokenOf = (n: number): string => hashOf(`${table} ${n}`).slice(0, 32);
      const resend = (n: number) => {
        const token = tokenOf(n),
          reply = { id, number: 'INV-2026-000001', url: `https://pay.example.com/invoices/${token}` };
        return stores.invoices.resend(
          live,
          id,
          { hash: hashOf(token), letterId: `${table}-${n}-${id}`, sealed: token },
          { most: 5, windowSeconds: 3_600 },
          {
            ...{ owner: live, key: `resend-${table}`, method: 'POST', path: `/v1/payments/invoices/${id}/resend` },
            ...{ bodyHash: 'b', status: 200, body: reply },
          },
          {
            ...{ actor: { kind: 'key', id: 'key_1' }, via: 'api_key', action: 'invoice_resent', target: id },
            ...{ outcome: 'done', changes: null, ip: null, client: null, requestId: null, organizationId },
          } as never,
          NOW_MS + n * 1_000,
        );
      };
      const state = () => database.owner`
        select (select jsonb_agg(k order by k.invoice_id) from invoice_link k where k.invoice_id = ${id}) as links,
               (select count(*)::int from letter l where l.facts ->> 'invoiceId' = ${id}) as letters,
               (select count(*)::int from idempotency i where i.account_id = ${live}) as answers,
               (select count(*)::int from audit_entry e where e.organization_id = ${organizationId}) as entries`;
      const before = await state();
      await database.owner.unsafe(`
        create function ends_here() returns trigger language plpgsql as $$
          begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(60); return null; end $$;
        create trigger ends_here after insert or update on ${table} for each row execute function ends_here()`);
      t.teardown(() => database.owner.unsafe(`drop function if exists ends_here cascade`));
      await t.throwsAsync(resend(1), { message: /terminat|CONNECTION/i });
      t.deepEqual(await state(), before, table);
      await database.owner.unsafe('drop function ends_here cascade');
      t.is(await resend(2), 'done', 'the same key, since no answer was kept');
      t.is(await resend(3), 'used');
      t.deepEqual(await stores.invoices.of(hashOf(tokenOf(2))), { accountId: live, invoiceId: id });
    },
  );
