/** Payments of statements by Stripe, over HTTP: webhooks, what customers and administrators see. Console B17, B18. */
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { raw, startTestCloud, type Person } from '../support/gateway.ts';
import { STRIPE_KEY, STRIPE_WEBHOOK_SECRET, StripeStandIn } from '../support/stripe.ts';

const PATH = '/v1/billing/provider/webhook';
const stripe = new StripeStandIn();
const BANK = 'Example Bank, IBAN GB33BUKB20201555555555';
const cloud = await startTestCloud({
  STRIPE_SECRET_KEY: STRIPE_KEY,
  STRIPE_WEBHOOK_SECRET: `${STRIPE_WEBHOOK_SECRET}, whsec_theFormerOne12345`,
  STRIPE_API_URL: await stripe.listen(),
  BANK_DETAILS: BANK,
});
const as = async (who: Person) => createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(who) });
const admin = await as(await cloud.person({ admin: true }));
test.after.always(async () => {
  await cloud.stop();
  await stripe.close();
});

const call = (body: string, headers: Record<string, string>) =>
  raw(cloud.url, 'POST', PATH, { headers: { 'content-type': 'application/json', ...headers }, body });
const ring = (type: string, object: object, atMs = Date.now(), secret?: string) => {
  const { body, signature } = stripe.event(type, object, atMs, secret);
  return call(body, { 'stripe-signature': signature });
};

/** An owner with one unpaid statement, which is open at the provider. */
async function billed() {
  const { owner, live } = await cloud.organization({ tier: 'premium', band: 'launch' });
  const client = await as(owner);
  await cloud.database.owner`
    update account set state = state || ${cloud.database.owner.json({
      openPeriod: {
        month: new Date(Date.now() - 32 * 86_400_000).toISOString().slice(0, 7),
        base: { tier: 'premium', band: 'launch', feeCents: '9900' },
        charges: [],
      },
    })} where account_id = ${live.accountId}`;
  await admin.must('setPlan', { params: { accountId: live.accountId }, body: { tier: 'premium' } });
  const { content } = await client.must('listStatements');
  return { client, live, statement: content.at(-1)! };
}
const read = async ({ client, statement: { id } }: Awaited<ReturnType<typeof billed>>) =>
  client.must('getStatement', { params: { id } });
/** What the job `collections` does each minute, for one statement: an administrator records a cent of it. */
const collect = (of: Awaited<ReturnType<typeof billed>>, amount: string, reference: string) =>
  admin.must('recordCollection', {
    params: { accountId: of.live.accountId, id: of.statement.id },
    body: { amount, reference, reason: 'transfer' },
  });
const invoiceOf = ({ statement: { id } }: { statement: { id: string } }) =>
  [...stripe.invoices.values()].findLast(({ metadata }) => metadata['statement'] === id)!;

test.serial(
  'console B17, B18: a customer sees where to pay; a webhook of the provider makes it paid at once; one that is not its own moves nothing',
  async (t) => {
    const of = await billed();
    t.like((await read(of)).payment, { provider: 'stripe', bankDetails: BANK });
    t.like(await collect(of, '9.00', 'r1'), { paid: '9.00', left: '90.00' });
    const invoice = invoiceOf(of);
    t.like(invoice, { status: 'open', total: 9_000 });
    t.is((await read(of)).payment.page, invoice.hosted_invoice_url);
    const html = String(
      await of.client.must('exportStatement', { params: { id: of.statement.id }, query: { format: 'html' } }),
    );
    t.true(html.includes(invoice.hosted_invoice_url!) && html.includes(BANK));
    // A webhook that says "paid" of what is not paid is a ring and no more.
    t.is((await ring('invoice.paid', { ...invoice, status: 'paid', amount_paid: 9_000 })).status, 204);
    t.is((await read(of)).left, '90.00');
    stripe.pay(invoice.id);
    const { body, signature } = stripe.event('invoice.paid', invoice, Date.now());
    const refusals = {
      unsigned: await call(body, {}),
      changed: await call(body.replace('"total": 9000', '"total": 9001'), { 'stripe-signature': signature }),
      otherSecret: await ring('invoice.paid', invoice, Date.now(), 'whsec_somebodyElse1234'),
      noHex: await call(body, { 'stripe-signature': 't=1,v1=zz' }),
      noTime: await call(body, { 'stripe-signature': signature.replace(/^t=\d+,/, '') }),
      stale: await ring('invoice.paid', invoice, Date.now() - 301_000),
      early: await ring('invoice.paid', invoice, Date.now() + 301_000),
    };
    for (const [name, answer] of Object.entries(refusals)) {
      t.is(answer.status, 401, name);
      t.is((answer.json as any).error.code, 'UNAUTHORIZED');
      const reason = name === 'stale' || name === 'early' ? 'stale' : 'signature';
      t.is((answer.json as any).error.details.reason, reason, name);
    }
    t.is((await read(of)).left, '90.00', 'none of them moved anything');
    t.is((await call(body, { 'stripe-signature': signature })).status, 204);
    t.like(await read(of), { paid: '99.00', left: '0.00', payment: { page: null } });
    // The same again, an older one after it, one signed by the former secret: nothing more.
    t.is((await call(body, { 'stripe-signature': signature })).status, 204);
    const late = { ...invoice, status: 'open', amount_paid: 0 };
    t.is((await ring('invoice.finalized', late, Date.now(), 'whsec_theFormerOne12345')).status, 204);
    t.like(await read(of), { paid: '99.00', left: '0.00' });
  },
);

test.serial('console B18: a ring while the provider is away is kept, and is looked at later', async (t) => {
  const of = await billed();
  await collect(of, '9.00', 'r1');
  const invoice = invoiceOf(of);
  stripe.pay(invoice.id);
  stripe.fault = { call: /GET/, how: 'before' };
  t.is((await ring('invoice.paid', invoice)).status, 204);
  t.is((await read(of)).left, '90.00');
  const [due] = await cloud.database.owner<{ inMs: number }[]>`
    select extract(epoch from next_at - now())::int * 1000 as in_ms from collection_request
     where statement_id = ${of.statement.id}`;
  t.true(due!.inMs <= 600_000, 'in ten minutes, where nothing rings before');
  t.is((await ring('invoice.paid', invoice)).status, 204);
  t.is((await read(of)).left, '0.00');
});

test.serial('console B18: what is signed and is about nothing of ours, or is no event, moves nothing', async (t) => {
  for (const object of [
    { object: 'invoice', id: 'in_of_somebody' },
    { object: 'charge', id: 'ch_1' },
    { object: 'invoice' },
  ])
    t.is((await ring('x', object)).status, 204);
  const { signature: _, body } = stripe.event('x', {}, Date.now());
  const text = '{"data": []}';
  const other = new StripeStandIn();
  t.is((await call(body, { 'stripe-signature': other.event('y', {}, Date.now()).signature })).status, 401);
  const { createHmac } = await import('node:crypto');
  const seconds = Math.floor(Date.now() / 1_000);
  const mac = createHmac('sha256', STRIPE_WEBHOOK_SECRET).update(`${seconds}.${text}`).digest('hex');
  const answer = await call(text, { 'stripe-signature': `t=${seconds},v1=${mac}` });
  t.is(answer.status, 400);
  t.is((answer.json as any).error.code, 'INVALID_INPUT');
});

test.serial('console B18: without a provider its path is unknown, and statements say so', async (t) => {
  const plain = await startTestCloud({});
  try {
    const answer = await raw(plain.url, 'POST', PATH, { headers: { 'content-type': 'application/json' }, body: '{}' });
    t.is(answer.status, 404);
  } finally {
    await plain.stop();
  }
});
