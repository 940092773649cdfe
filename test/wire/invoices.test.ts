/** Invoices over the wire: lists, resend, the page of one, its letter. payments part 7. */
import test from 'ava';
import { PAY_POLICY } from '../../gateway/pages/pay/serve.ts';
import { LANGUAGES } from '../../gateway/pages/pay/words.ts';
import { newId } from '../../protocol/node/ids.ts';
import { enrol, eventually, jsonOf, raw, startTestCloud } from '../support/gateway.ts';
import { mailbox } from '../support/letters.ts';
import { FIXED, merchant, payer } from '../support/payments.ts';

const letters = mailbox();
const cloud = await startTestCloud({
  ETH_RPC_URLS: 'http://127.0.0.1:9',
  POLYGON_RPC_URLS: 'http://127.0.0.1:9',
  MAIL_DIR: letters.directory,
  TRUSTED_PROXIES: '127.0.0.1',
});
test.after.always(() => cloud.stop());

const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const INVOICES = '/v1/payments/invoices';
const pay = payer(cloud);
const page = (path: string, headers = {}) => raw(cloud.url, 'GET', path, { headers });
const pathOf = (url: string): string => new URL(url).pathname;

async function shop() {
  const organization = await cloud.organization(),
    { sandbox } = organization;
  await enrol(cloud, sandbox);
  const ask = merchant(cloud, sandbox);
  /** A link that collects e-mails, and a payment of it with its invoice. */
  const paid = async (more: object = {}, by: object = {}, amount = '25') => {
    const link = (await ask('POST', '/v1/payments/links', { ...FIXED, collectEmail: true, ...more })).json.data;
    const body = { email: 'payer@example.com', name: 'Ada', ...by };
    const opened = (await pay('POST', `/v1/checkout/links/${link.slug}/sessions`, body)).json.data;
    const { txid } = await sandbox.client.must('simulateDeposit', {
      body: { address: opened.address, chain: 'eth', amount, tokenContract: USDC } as never,
    });
    await sandbox.client.must('simulateConfirmation', { body: { chain: 'eth', txid, confirmations: 12 } });
    const { content } = await eventually(
      'the invoice is there',
      async () => (await ask('GET', `/v1/payments/links/${link.id}/invoices`)).json.data,
      (found) => found.content.length === 1,
    );
    return { link, txid, invoice: content[0], paymentId: opened.id as string };
  };
  const bearer = await cloud.signIn(organization.owner);
  /** What payers see of the shop. */
  const settings = (more: object = {}) =>
    raw(cloud.url, 'PUT', '/v1/settings/payments', {
      headers: { authorization: `Bearer ${bearer}`, 'x-environment': 'sandbox', 'content-type': 'application/json' },
      body: JSON.stringify({
        active: true,
        displayName: 'Ada & Co',
        supportEmail: 'help@shop.example',
        timeZone: 'Asia/Tokyo',
        invoice: { name: 'Ada <b>& Co</b> KK', address: '1-1 Chiyoda\nTokyo', taxId: 'T123' },
        ...more,
      }),
    });
  const resend = (id: string, headers = {}) => ask('POST', `${INVOICES}/${id}/resend`, {}, headers);
  return { ...organization, ask, paid, resend, settings };
}

test('payments I1, I6, I8, F46: a paid order has an invoice; resend makes a link, and ends the one before with the page of a link that nobody ever had', async (t) => {
  const { paid, ask, resend, sandbox } = await shop();
  const { link, invoice, txid, paymentId } = await paid({}, {}, '25.5');
  t.like(invoice, {
    number: `INV-${new Date().getUTCFullYear()}-000001`,
    status: 'paid',
    linkId: link.id,
    paymentId,
    amount: '25',
    amountPaid: '25.5',
    amountOverpaid: '0.5',
    amountShort: '0',
    customerEmail: 'payer@example.com',
    customerName: 'Ada',
    title: 'Order 1001',
  });
  t.like(invoice.transfers, [{ txid, amount: '25.5' }]);
  t.deepEqual((await ask('GET', `${INVOICES}/${invoice.id}`)).json.data, invoice);
  t.deepEqual((await ask('GET', INVOICES)).json.data.content, [invoice]);
  t.false((await ask('GET', INVOICES)).text.includes('/invoices/'), 'I8: no link is ever listed');
  const [payment] = (await ask('GET', `/v1/payments/links/${link.id}/payments`)).json.data.content;
  t.like(payment, { invoiceId: invoice.id, invoiceNumber: invoice.number });
  const second = (await paid()).invoice;
  t.regex(second.number, /-000002$/);

  const first = await resend(invoice.id, { 'idempotency-key': 'once' });
  t.is(first.status, 200, first.text);
  t.like(first.json.data, { id: invoice.id, number: invoice.number });
  const again = await resend(invoice.id, { 'idempotency-key': 'once' });
  t.is(again.json.data.url, first.json.data.url, 'a repetition is the first answer, and no further link');
  t.is(again.headers.get('idempotent-replayed'), 'true');
  const kept = await cloud.database
    .owner`select body::text as body from idempotency where account_id = ${sandbox.accountId} and key = 'once'`;
  t.regex(kept[0]!['body'] as string, /"sealed"/);
  t.false((kept[0]!['body'] as string).includes('/invoices/'), 'I6: the answer is kept sealed');
  const one = pathOf(first.json.data.url);
  t.regex(one, /^\/invoices\/[a-z2-7]{32}$/);
  t.is((await page(one)).status, 200);
  const stored = await cloud.database
    .owner`select row_to_json(l)::text as row from invoice_link l where invoice_id = ${invoice.id}`;
  t.false((stored[0]!['row'] as string).includes(one.split('/').at(-1)!), 'I4: its hash alone');
  const next = pathOf((await resend(invoice.id)).json.data.url);
  const gone = await page(one),
    never = await page(`/invoices/${'a'.repeat(32)}`),
    malformed = await page('/invoices/..%2F%00');
  t.is((await page(next)).status, 200);
  t.is(gone.status, 404);
  t.is(never.text, gone.text);
  t.is(malformed.status, 404);
  t.is(malformed.text, gone.text);
  for (const path of [one, next]) {
    const { headers } = await page(path);
    t.is(headers.get('content-security-policy'), PAY_POLICY);
    t.is(headers.get('x-robots-tag'), 'noindex, nofollow', 'F45');
    t.is(headers.get('cache-control'), 'no-store');
    t.is(headers.get('referrer-policy'), 'no-referrer');
  }
  for (let n = 3; n <= 5; n += 1) t.is((await resend(invoice.id)).status, 200);
  const often = await resend(invoice.id);
  t.is(often.status, 429);
  t.like(often.json.error, { code: 'RATE_LIMIT_EXCEEDED', details: { limit: 5, windowSeconds: 3_600 } });
  t.true(Number(often.headers.get('retry-after')) > 3_000);
  t.is((await resend(second.id)).status, 200, 'of one invoice, not of all');
});

test('payments I3, I4, I7, H13, T7: the page says what was paid, by whom and for what, as it was then; a reorg says so and keeps the number', async (t) => {
  const { paid, ask, resend, sandbox, settings } = await shop();
  t.is((await settings({})).status, 200);
  const { invoice, txid } = await paid(
    { title: '<script>alert(1)</script>', description: 'Two\nlines' },
    { name: '"Ada" \u202e', lang: 'de' },
  );
  t.is((await settings({ displayName: 'Another', invoice: {} })).status, 200);
  const path = pathOf((await resend(invoice.id)).json.data.url);
  const { text } = await page(path);
  t.regex(text, /<html lang="de" dir="ltr">/, "the payer's language");
  t.regex(text, new RegExp(`Rechnung ${invoice.number}`));
  t.regex(text, /Ada &#60;b&#62;&#38; Co&#60;\/b&#62; KK\n1-1 Chiyoda\nTokyo/, 'as it was then');
  t.false(text.includes('Another'));
  t.regex(text, /&#34;Ada&#34; \npayer@example\.com/, 'text is text, and turns nothing around');
  t.false(/<script|style="| on[a-z]+=/.test(text), 'no script at all');
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Tokyo' }).format(Date.parse(invoice.issuedAt));
  t.true(text.includes(`<bdi dir="ltr">${day}</bdi>`), 'the day of the account');
  t.true(text.includes(txid) && text.includes('25 USDC') && text.includes('Ethereum') && text.includes('T123'));
  t.regex(text, /Dies ist ein Test mit simuliertem Geld/);
  for (const lang of Object.keys(LANGUAGES))
    t.regex(
      (await page(`${path}?lang=${lang}`)).text,
      new RegExp(`<html lang="${lang}" dir="${['ar', 'he', 'fa'].includes(lang) ? 'rtl' : 'ltr'}">`),
    );
  for (const url of text.match(/(?:href|src|action)="[^"#]*"/g) ?? [])
    t.regex(
      url,
      /="(?:\/pay\/assets\/|mailto:|http:\/\/127\.0\.0\.1:[0-9]+\/sandbox\/explorer\/)/,
      'F49: no other origin',
    );

  await sandbox.client.must('simulateReorg', { body: { chain: 'eth', depth: 12 } });
  const status = async () =>
    (await ask('GET', `${INVOICES}/${invoice.id}`)).json.data as { status: string; number: string };
  const reversed = await eventually('it is reversed', status, (one) => one.status === 'reversed');
  t.is(reversed.number, invoice.number);
  t.regex((await page(path)).text, /Das Netzwerk hat diese Zahlung zurückgenommen/);
  t.false((await page(path)).text.includes('>Bezahlt</p>'));
});

test('payments I5, T9: in a sandbox, where money costs nothing, a letter goes to members alone; its link is the one that works', async (t) => {
  const { paid, owner, settings } = await shop();
  t.is((await settings({ displayName: 'Ada & Co', invoice: {} })).status, 200);
  const stranger = `stranger-${Date.now()}@example.com`;
  await paid({}, { email: stranger });
  const { invoice } = await paid({ title: 'Order\u00a01001' }, { email: owner.email, lang: 'fr' });
  const [letter] = await letters.to(owner.email, 'Facture');
  t.is(letter!.subject, `Facture ${invoice.number} de Ada & Co`);
  const path = /(\/invoices\/[a-z2-7]{32})/.exec(letter!.text)![1]!;
  const shown = await page(path);
  t.is(shown.status, 200);
  t.true(shown.text.includes(invoice.number));
  t.is((await cloud.database.owner`select from letter where recipient = ${stranger}`).length, 0);
});

test('console A49: an invoice whose payer a wipe took away stays, and is sent to nobody: CONFLICT wiped', async (t) => {
  const { paid, ask, resend, sandbox } = await shop();
  const { invoice } = await paid();
  const letters = () => cloud.database.owner`select from letter where facts ->> 'invoiceId' = ${invoice.id}`;
  const before = (await letters()).length;
  await cloud.database.owner.begin(async (sql) => {
    await sql`select set_config('flock.wipe', ${sandbox.accountId}, true)`;
    await sql`update invoice set customer_email = '', customer_name = null where id = ${invoice.id}`;
    await sql`select write_invoice_letter(${sandbox.accountId}, ${invoice.id}, 'ltr_x', 'sealed', now())`;
  });
  t.is((await letters()).length, before);
  t.like((await resend(invoice.id)).json.error, { code: 'CONFLICT', details: { reason: 'wiped' } });
  const { data } = (await ask('GET', `${INVOICES}/${invoice.id}`)).json;
  t.like(data, { number: invoice.number, amountPaid: '25', customerEmail: '', customerName: null });
});

test('payments I6, S20, T11: who may resend, and how often tokens are guessed', async (t) => {
  const { paid, id: organizationId, sandbox, ask } = await shop();
  const { invoice } = await paid();
  const other = await shop();
  t.is((await other.resend(invoice.id)).json.error!.code, 'NOT_FOUND');
  t.is((await other.ask('GET', `${INVOICES}/${invoice.id}`)).json.error!.code, 'NOT_FOUND');
  t.is((await ask('GET', `/v1/payments/links/${newId('lnk', 1)}/invoices`)).json.error!.code, 'NOT_FOUND');
  t.is((await ask('POST', `${INVOICES}/inv_x/resend`, {})).json.error!.code, 'NOT_FOUND');
  const viewer = await cloud.person();
  await cloud.join(viewer, { id: organizationId } as never, 'viewer');
  const bearer = await cloud.signIn(viewer);
  const asViewer = (method: string, path: string) =>
    raw(cloud.url, method, path, {
      headers: { authorization: `Bearer ${bearer}`, 'x-environment': 'sandbox', 'content-type': 'application/json' },
      ...(method === 'POST' ? { body: '{}' } : {}),
    });
  t.is((await asViewer('GET', `${INVOICES}/${invoice.id}`)).status, 200);
  t.like((await asViewer('POST', `${INVOICES}/${invoice.id}/resend`)).json.error, {
    code: 'FORBIDDEN',
    details: { needs: 'editor' },
  });
  t.is(
    (await raw(cloud.url, 'POST', `${INVOICES}/${invoice.id}/resend`, { headers: jsonOf(sandbox.apiKey), body: '{}' }))
      .status,
    200,
  );
  const noted = await cloud.database.owner`
    select text from audit_entry where organization_id = ${organizationId} and text::jsonb ->> 'action' = 'resendInvoice'
       and text::jsonb ->> 'outcome' = 'done'`;
  t.deepEqual(
    noted.map(({ text }) => (JSON.parse(text as string) as { target: string }).target),
    [invoice.id],
  );
  let slow = null;
  for (let n = 0; n < 40 && slow === null; n += 1) {
    const token = String(n)
      .padStart(32, 'c')
      .replace(/[0189]/g, 'd');
    const { status, headers } = await page(`/invoices/${token}`, { 'x-forwarded-for': '203.0.113.9' });
    if (status === 429) slow = headers.get('retry-after');
    else t.is(status, 404);
  }
  t.true(Number(slow) >= 1, 'I4: thirty a minute');
});
