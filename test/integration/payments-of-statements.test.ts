/** Payments of statements by a provider, against what speaks Stripe's API over HTTP. Console B17, B18; fault 27. */
import test from 'ava';
import { collectionRound, lookAt, type Collecting } from '../../actors/billing/collect.ts';
import { createStripe } from '../../gateway/billing-provider/stripe.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { driveAccounts, type DrivenAccounts } from '../support/driven-accounts.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { newOrganization, openStores } from '../support/store-rows.ts';
import { STRIPE_KEY, STRIPE_WEBHOOK_SECRET, StripeStandIn } from '../support/stripe.ts';

const DAY_MS = 86_400_000;
const JULY_MS = Date.UTC(2026, 6, 1);
let nowMs = JULY_MS;
let database: TestDatabase, stores: Stores, accounts: DrivenAccounts;
const stripe = new StripeStandIn();
const lines: { level: string; message: string; facts: object }[] = [];
let of: Collecting;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  accounts = driveAccounts(stores, () => nowMs);
  const collector = createStripe({
    secretKey: STRIPE_KEY,
    webhookSecrets: [STRIPE_WEBHOOK_SECRET],
    apiUrl: await stripe.listen(),
  });
  const log = Object.fromEntries(
    ['info', 'warn', 'error'].map((level) => [
      level,
      (facts: object, message: string) => void lines.push({ level, message, facts }),
    ]),
  ) as never;
  of = { stores, accounts, collector, nowMs: () => nowMs, log };
});
test.after.always(async () => {
  await accounts.stop();
  await stripe.close();
  await database.close();
});
test.beforeEach(() => {
  nowMs = JULY_MS;
  stripe.fault = null;
  stripe.tax = 0;
  stripe.balance = 0;
  lines.length = 0;
});

const round = () => collectionRound(of, { signal: new AbortController().signal });
const later = (ms: number) => {
  nowMs += ms;
};

/** A statement of 99.00 for June, in July. */
async function billed(): Promise<{ live: AccountId; statementId: string; name: string }> {
  nowMs = Date.UTC(2026, 5, 10);
  const { live, organizationId } = await newOrganization(stores);
  await accounts.must(live, { type: 'change_plan', plan: { tier: 'premium', band: 'launch' } });
  await database.owner`update account set state = state || ${database.owner.json({
    openPeriod: { month: '2026-06', base: { tier: 'premium', band: 'launch', feeCents: '9900' }, charges: [] },
  })} where account_id = ${live}`;
  await accounts.stop();
  accounts = driveAccounts(stores, () => nowMs);
  of = { ...of, accounts };
  nowMs = JULY_MS + 3_600_000;
  await accounts.must(live, { type: 'close_periods' });
  const [statement] = await stores.billing.statements(live);
  return { live, statementId: statement!.id, name: organizationId };
}
const statementOf = async ({ live, statementId }: { live: AccountId; statementId: string }) =>
  (await stores.billing.statement(live, statementId))!;
const byHand = ({ live, statementId }: { live: AccountId; statementId: string }, cents: string) =>
  accounts.must(live, {
    type: 'record_collection',
    id: `col_${cents.padStart(26, '0')}`,
    statementId,
    cents,
    byUser: 'usr_1',
    reason: 'transfer',
  });
const refOf = ({ live, statementId }: { live: AccountId; statementId: string }) => ({ accountId: live, statementId });
const invoicesOf = ({ statementId }: { statementId: string }) =>
  [...stripe.invoices.values()].filter(({ metadata }) => metadata['statement'] === statementId);

test.serial(
  'console B18: a statement is opened with our lines and its sum, once, and is paid when the provider says so',
  async (t) => {
    const bill = await billed();
    await round();
    const [invoice, ...more] = invoicesOf(bill);
    t.deepEqual(more, []);
    t.like(invoice, {
      status: 'open',
      total: 9_900,
      currency: 'usd',
      auto_advance: false,
      due_date: (JULY_MS + 14 * DAY_MS) / 1_000,
      lines: [{ amount: 9_900, description: 'Base fee: premium, launch' }],
    });
    t.like((await statementOf(bill)).request, {
      status: 'open',
      reference: invoice!.id,
      page: invoice!.hosted_invoice_url!,
    });
    const asked = stripe.calls.length;
    await round();
    t.is(stripe.calls.length, asked, 'what is open is left alone for hours');
    stripe.pay(invoice!.id);
    later(6 * 3_600_000);
    await round();
    t.like(await statementOf(bill), { paidCents: '9900', request: { status: 'closed', takenCents: '9900' } });
    t.deepEqual((await accounts.must(bill.live, { type: 'inspect' })).owed, {});
    later(30 * DAY_MS);
    await round();
    t.is(invoicesOf(bill).length, 1);
  },
);

for (const call of ['POST /v1/customers', 'POST /v1/invoices', 'add_lines', 'finalize'])
  for (const keys of ['kept', 'forgotten'])
    test.serial(
      `console B18: an answer of ${call} that is lost charges nobody twice, idempotency keys ${keys}`,
      async (t) => {
        const bill = await billed();
        stripe.fault = { call: new RegExp(`${call}$`), how: 'lost' };
        await round();
        t.true(stripe.isWell, 'it was lost');
        t.is(lines.filter(({ level }) => level === 'warn').length, 1);
        t.is((await statementOf(bill)).request!.status, 'due');
        if (keys === 'forgotten') stripe.forgetKeys();
        later(10 * 60_000);
        await round();
        const invoices = invoicesOf(bill);
        t.is(invoices.length, 1);
        t.like(invoices[0], { status: 'open', total: 9_900, lines: [{ amount: 9_900 }] });
        t.like((await statementOf(bill)).request, { status: 'open', reference: invoices[0]!.id, round: 1 });
      },
    );

test.serial(
  'console B18 (fault 27): what the provider says is taken when it is more, never back, in whatever order it comes',
  async (t) => {
    const bill = await billed();
    await round();
    const { reference } = (await statementOf(bill)).request!;
    const say = (paidCents: string) =>
      accounts.must(bill.live, {
        type: 'take_payment',
        statementId: bill.statementId,
        provider: 'stripe',
        reference: reference!,
        paidCents,
      });
    t.deepEqual(await say('4000'), { left: '5900' });
    t.deepEqual(await say('4000'), { left: '5900' });
    t.deepEqual(await say('0'), { left: '5900' });
    t.deepEqual(await Promise.all([say('9900'), say('9900'), say('4000')]), [
      { left: '0' },
      { left: '0' },
      { left: '0' },
    ]);
    t.deepEqual(await say('0'), { left: '0' });
    t.like(await statementOf(bill), { paidCents: '9900' });
  },
);

test.serial(
  'console B17, B18: what was paid by hand is not asked for again; never are two things open for one statement',
  async (t) => {
    const bill = await billed();
    await round();
    await byHand(bill, '4000');
    await lookAt(of, { accountId: bill.live, statementId: bill.statementId });
    const states = () => invoicesOf(bill).map(({ status, total }) => ({ status, total }));
    t.deepEqual(states(), [
      { status: 'void', total: 9_900 },
      { status: 'open', total: 5_900 },
    ]);
    t.deepEqual(invoicesOf(bill)[1]!.lines.at(-1), { amount: -4_000, description: 'Paid by another way' });
    await byHand(bill, '5900');
    await lookAt(of, { accountId: bill.live, statementId: bill.statementId });
    t.deepEqual(
      states().map(({ status }) => status),
      ['void', 'void'],
    );
    t.is((await statementOf(bill)).request!.status, 'closed');
  },
);

test.serial(
  'console B18: a payment at the page that crosses one by hand is taken up to what is left, and people are told',
  async (t) => {
    const bill = await billed();
    await round();
    const [invoice] = invoicesOf(bill);
    await accounts.must(bill.live, {
      type: 'record_collection',
      id: `col_${'1'.repeat(26)}`,
      statementId: bill.statementId,
      cents: '4000',
      byUser: 'usr_1',
      reason: 'transfer',
    });
    stripe.pay(invoice!.id);
    await lookAt(of, { accountId: bill.live, statementId: bill.statementId });
    t.like(await statementOf(bill), { paidCents: '9900', request: { status: 'closed', takenCents: '5900' } });
    t.like(
      lines.find(({ level }) => level === 'error'),
      { facts: { amount: '4000' } },
    );
    t.is(invoicesOf(bill).length, 1);
  },
);

test.serial('console B17: a provider that makes a price of its own is not followed: nobody can pay it', async (t) => {
  const bill = await billed();
  stripe.tax = 100;
  await round();
  t.deepEqual(
    stripe.payable().filter(({ metadata }) => metadata['statement'] === bill.statementId),
    [],
  );
  t.like((await statementOf(bill)).request, { status: 'due', reference: null });
  t.like(
    lines.find(({ level }) => level === 'warn'),
    { facts: { code: 'another_sum' } },
  );
  stripe.tax = 0;
  later(10 * 60_000);
  await round();
  t.like((await statementOf(bill)).request, { status: 'open' });
  t.deepEqual(
    invoicesOf(bill).map(({ status, total }) => [status, total]),
    [['open', 9_900]],
  );
});

test.serial('console B18: two nodes that look at once open one thing', async (t) => {
  const bill = await billed();
  await Promise.all([round(), round(), round()]);
  t.is(invoicesOf(bill).length, 1);
  t.like(invoicesOf(bill)[0], { status: 'open', total: 9_900, lines: { length: 1 } });
  t.like((await statementOf(bill)).request, { status: 'open', round: 1 });
});

test.serial(
  'console B18: while the provider is away statements wait, and their month is closed all the same',
  async (t) => {
    const bill = await billed();
    stripe.fault = { call: /./, how: 'before' };
    await round();
    t.like((await statementOf(bill)).request, { status: 'due', round: 0 });
    const asked = stripe.calls.length;
    await round();
    t.is(stripe.calls.length, asked, 'not asked again at once');
    later(10 * 60_000);
    await round();
    t.like((await statementOf(bill)).request, { status: 'open' });
  },
);

test.serial(
  'console B18: the row of a request is moved by the account of its statement alone, and not back',
  async (t) => {
    const bill = await billed();
    const ref = { accountId: bill.live, statementId: bill.statementId };
    const request = (await statementOf(bill)).request!;
    const open = { ...request, status: 'open' as const, provider: 'stripe', reference: 'in_x', round: 1 };
    t.true(await stores.billing.writeRequest(ref, 0, open, nowMs));
    t.false(await stores.billing.writeRequest(ref, 0, { ...open, reference: 'in_y' }, nowMs), 'another round');
    t.deepEqual(await stores.billing.ringRequest('stripe', 'in_x', nowMs), ref);
    t.is(await stores.billing.ringRequest('stripe', 'in_y', nowMs), null);
    t.true(await stores.billing.writeRequest(ref, 1, { ...open, status: 'closed' }, nowMs));
    t.is(await stores.billing.ringRequest('stripe', 'in_x', nowMs), null);
    t.false(await stores.billing.writeRequest(ref, 1, open, nowMs), 'closed');
    await t.throwsAsync(
      () => database.owner`
    update collection_request set status = 'open', reference = null where account_id = ${bill.live}`,
      {
        message: /collection_request_open/,
      },
    );
  },
);

test.serial(
  'console B18: what a provider has of a payer beside our invoices stops neither their statement nor those of others',
  async (t) => {
    const [one, two] = [await billed(), await billed()];
    await round();
    const [invoice] = invoicesOf(one);
    stripe.byHand(invoice!.customer, 'eur');
    await byHand(one, '4000');
    await byHand(two, '4000');
    later(6 * 3_600_000);
    await round();
    for (const bill of [one, two])
      t.deepEqual(
        invoicesOf(bill).map(({ status, total }) => [status, total]),
        [
          ['void', 9_900],
          ['open', 5_900],
        ],
      );
  },
);

test.serial('console B18: an answer that is none of Stripe holds up its own statement alone', async (t) => {
  const odd = await billed();
  await round();
  const [invoice] = invoicesOf(odd);
  invoice!.currency = 'eur';
  later(6 * 3_600_000);
  const at = nowMs;
  const other = await billed();
  nowMs = at;
  await round();
  t.like((await statementOf(other)).request, { status: 'open' });
  t.like(
    lines.find(({ level }) => level === 'warn'),
    { facts: { code: 'shape', names: [odd.statementId] } },
  );
  const asked = stripe.calls.length;
  await round();
  t.is(stripe.calls.length, asked, 'not asked again at once');
});

test.serial('console B18: an account that does not answer holds up its own statement alone', async (t) => {
  const [odd, other] = [await billed(), await billed()];
  await round();
  for (const bill of [odd, other]) stripe.pay(invoicesOf(bill)[0]!.id);
  later(6 * 3_600_000);
  const ask = ((accountId: AccountId, command: never) =>
    accountId === odd.live ? Promise.reject(new Error('no answer')) : accounts.ask(accountId, command)) as never;
  await collectionRound({ ...of, accounts: { ask } }, { signal: new AbortController().signal });
  t.like(await statementOf(other), { paidCents: '9900', request: { status: 'closed' } });
  t.is(lines.filter(({ level }) => level === 'error').length, 1);
  later(10 * 60_000);
  await round();
  t.like(await statementOf(odd), { paidCents: '9900', request: { status: 'closed' } });
});

for (const isPaid of [true, false])
  for (const cents of ['4000', '9900'])
    test.serial(
      `console B18: of an invoice that nobody wrote down ${isPaid ? 'a payment is taken' : 'nothing can be paid'}, with ${cents} paid by hand since`,
      async (t) => {
        const bill = await billed();
        stripe.fault = { call: /finalize$/, how: 'lost' };
        await round();
        const [invoice] = invoicesOf(bill);
        t.is(invoice!.status, 'open');
        await byHand(bill, cents);
        if (isPaid) stripe.pay(invoice!.id);
        for (let n = 0; n < 3; n += 1) {
          later(10 * 60_000);
          await round();
        }
        const payable = invoicesOf(bill).filter(({ status }) => status === 'open');
        if (isPaid) {
          t.like(await statementOf(bill), { paidCents: '9900', request: { status: 'closed' } });
          t.true(lines.some(({ level, facts }) => level === 'error' && (facts as { amount: string }).amount === cents));
          t.deepEqual(payable, []);
        } else
          t.deepEqual(
            payable.map(({ total }) => total),
            cents === '9900' ? [] : [5_900],
          );
      },
    );

test.serial(
  'console B18: what one node opens while another closes the statement is withdrawn: nobody pays it twice',
  async (t) => {
    const bill = await billed();
    const slow = {
      ...of.collector,
      open: async (asking: Parameters<typeof of.collector.open>[0]) => {
        await byHand(bill, '9900');
        await lookAt(of, refOf(bill));
        return of.collector.open(asking);
      },
    };
    await lookAt({ ...of, collector: slow }, refOf(bill));
    t.is((await statementOf(bill)).request!.status, 'closed');
    t.deepEqual(
      invoicesOf(bill).map(({ status }) => status),
      ['void'],
    );
  },
);

for (const balance of [-5_000, 5_000, -9_900])
  test.serial(
    `console B17: what is due at the provider is what is left, not less or more by a balance there (${balance})`,
    async (t) => {
      const bill = await billed();
      stripe.balance = balance;
      await round();
      t.deepEqual(
        invoicesOf(bill).filter(({ status }) => status === 'open' || status === 'paid'),
        [],
      );
      t.like((await statementOf(bill)).request, { status: 'due' });
      t.like(
        lines.find(({ level }) => level === 'warn'),
        { facts: { code: 'another_sum' } },
      );
    },
  );

test.serial(
  'console B17: less than the provider charges is not asked for there: it would carry it over, each time anew',
  async (t) => {
    const bill = await billed();
    await byHand(bill, '9851');
    await round();
    t.deepEqual(invoicesOf(bill), []);
    t.like((await statementOf(bill)).request, { status: 'due' });
    t.is(stripe.balance, 0);
  },
);

test.serial('console B18: a ring during a look is not lost in what the look writes', async (t) => {
  const bill = await billed();
  await round();
  const { reference } = (await statementOf(bill)).request!;
  const slow = {
    ...of.collector,
    state: async (what: string) => {
      const before = await of.collector.state(what);
      later(1_000);
      stripe.pay(what);
      t.deepEqual(await stores.billing.ringRequest('stripe', what, nowMs), refOf(bill));
      later(1_000);
      return before;
    },
  };
  later(6 * 3_600_000);
  await lookAt({ ...of, collector: slow }, refOf(bill));
  t.is((await statementOf(bill)).request!.reference, reference);
  await round();
  t.like(await statementOf(bill), { paidCents: '9900', request: { status: 'closed' } });
});
