/**
 * What is owed, in a real browser: a statement leads to what it counts and says how it is paid; warnings are seen. The
 * pages hold at 320 px and in forced colours too. Console B11, B16, B17, C19.
 */
import test from 'ava';
import { accessibility, isSound, openBrowser, picture, visit } from '../support/browser/browser.ts';
import { hasCome, signIn, turnTo } from '../support/browser/console.ts';
import { createClient } from '../../protocol/client.ts';
import { enrol, startTestCloud, type TestOrganization } from '../support/gateway.ts';
import { newId } from '../../protocol/node/ids.ts';
import { freePort } from '../../developer/ports.ts';
import { STRIPE_KEY, STRIPE_WEBHOOK_SECRET, StripeStandIn } from '../support/stripe.ts';

const port = await freePort();
const ORIGIN = `http://localhost:${port}`;
const stripe = new StripeStandIn();
const [cloud, browser] = await Promise.all([
  startTestCloud({
    PUBLIC_URL: ORIGIN,
    CLOUD_PORT: String(port),
    STRIPE_SECRET_KEY: STRIPE_KEY,
    STRIPE_WEBHOOK_SECRET,
    STRIPE_API_URL: await stripe.listen(),
    BANK_DETAILS: 'Example Bank, IBAN GB33BUKB20201555555555',
  }),
  openBrowser(),
]);
test.after.always(async () => {
  await browser.close();
  await cloud.stop();
  await stripe.close();
});

/** The month before, and 1,003 settled withdrawals of it, of which three were above what the band includes. */
async function lastMonth({ live: { accountId } }: TestOrganization): Promise<{ first: string }> {
  const { owner } = cloud.database;
  const now = new Date();
  const atMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 10);
  const month = new Date(atMs).toISOString().slice(0, 7);
  const ids = Array.from({ length: 1_003 }, (_, n) => newId('txn', atMs + n));
  await owner`
    insert into withdrawal (account_id, id, ledger, chain, from_address, to_address, amount, decimals, token_symbol,
                            status, unsigned, versions, txid, created_at, updated_at)
      select ${accountId}, id, 'eth', 'eth', '0xa', '0xb', 1, 18, 'ETH', 'confirmed', '{}', '[{}]', id,
             ${new Date(atMs)}, ${new Date(atMs)} from unnest(${ids}::text[]) id`;
  await owner`
    insert into billable (account_id, withdrawal_id, kind, period)
      select ${accountId}, id, 'withdrawal', ${month} from unnest(${ids}::text[]) id`;
  await owner`
    update account set state = state || ${owner.json({
      openPeriod: { month, base: { tier: 'premium', band: 'launch', feeCents: '9900' }, charges: [] },
      settledBy: { [month]: 1_003 },
      plan: { tier: 'premium', band: 'launch', subscription: 'active', paymentsActive: true },
    })} where account_id = ${accountId}`;
  return { first: ids.toSorted()[0]! };
}

test.serial(
  'console B11, B16, B17: a statement in the console leads to what it counts, page after page, and to where it is paid; a warning is seen before a limit',
  async (t) => {
    // Free until its month is there: the round of statements begins a month for whom it finds on a band.
    const organization = await cloud.organization({ tier: 'free', band: 'launch' });
    const { first } = await lastMonth(organization);
    for (let n = 0; n < 20; n += 1)
      await organization.live.client.must('createWebhook', {
        body: { url: `https://hooks.example.com/${n}`, events: ['deposit_confirmed'] },
      });
    // Whatever decides next ends the months that are over.
    const admin = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(await cloud.person({ admin: true })) });
    await admin.must('setPlan', { params: { accountId: organization.live.accountId }, body: { tier: 'premium' } });
    const visitor = await visit(browser, ORIGIN);
    const { page, context } = visitor;
    await page.goto('/console/');
    await signIn(page, organization.owner);
    const billing = `/console/o/${organization.id}/live/billing`;
    await page.goto(billing);
    await hasCome(page);
    t.regex(await page.locator('main').innerText(), /webhooks[^]*80\s?%/i, 'B16');
    const faults: string[] = await accessibility(page);
    await page.getByRole('button', { name: /^FLK-/ }).waitFor();
    await page.getByRole('button', { name: /^FLK-/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('99.24 USD').first().waitFor();
    t.regex(
      await dialog.innerText(),
      /Left to pay[^]*99\.24 USD[^]*Example Bank, IBAN GB33BUKB20201555555555, naming FLK-/,
    );
    await dialog.getByRole('link', { name: /3 withdrawals above 1,000/ }).click();
    await dialog.getByRole('table', { name: 'Settled withdrawals of the month' }).waitFor();
    t.regex(page.url(), /\?statement=stm_[a-z2-7]{26}&show=transactions$/, 'C6: a link that keeps it');
    t.is(
      await dialog.getByRole('link', { name: /txn_/ }).first().getAttribute('href'),
      `/console/o/${organization.id}/live/transactions/${first}`,
    );
    await dialog.getByRole('button', { name: 'Older' }).click();
    await dialog.locator(`a[href$="${first}"]`).waitFor({ state: 'detached' });
    await hasCome(page);
    t.is(await dialog.getByRole('link', { name: /txn_/ }).count(), 50);
    t.regex(page.url(), /&after=/);
    const downloading = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Save as CSV' }).click();
    t.regex((await downloading).suggestedFilename(), /^FLK-\d{4}-\d{6}\.csv$/);
    const printing = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Save to print' }).click();
    t.regex((await printing).suggestedFilename(), /^FLK-\d{4}-\d{6}\.html$/);
    await page.reload();
    await dialog.waitFor();
    await hasCome(page);
    for (const [width, forcedColors] of [
      [1_280, 'none'],
      [320, 'none'],
      [390, 'active'],
    ] as const) {
      await page.setViewportSize({ width, height: 860 });
      await page.emulateMedia({ forcedColors });
      faults.push(...(await accessibility(page)));
      await picture(page, `statement-${width}-${forcedColors}`);
    }
    await page.keyboard.press('Escape');
    t.is(await dialog.count(), 0);
    t.is(new URL(page.url()).search, '', 'closed, it is out of the address too');
    t.deepEqual([...faults, ...visitor.soundness()], []);
    await context.close();
  },
);

test.serial(
  'payments 1, P4, P10, P21, P24, H2, I6, S7, console C8, C9: an owner switches payments on, makes a link beside what payers will see, follows its payment to the invoice, and closes it; a viewer reads it',
  async (t) => {
    const organization = await cloud.organization(),
      { sandbox } = organization;
    await enrol(cloud, sandbox);
    const visitor = await visit(browser, ORIGIN);
    const { page, context } = visitor;
    const faults: string[] = [];
    const below = `/console/o/${organization.id}/sandbox`;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const sound = async (name: string) => faults.push(...(await isSound(page, visitor, name)));
    const open = async (path: string, name = '') => {
      await turnTo(page, `${below}${path}`);
      if (name !== '') await sound(name);
    };
    await page.goto('/console/');
    await signIn(page, organization.owner);
    await open('/payments', 'payments-empty');
    for (const path of ['payment-links', 'invoices']) await open(`/${path}`, `${path}-empty`);
    t.regex(await page.locator('main').innerText(), /No invoice yet/);

    await open('/payment-settings', 'payment-settings');
    await page.getByLabel('Take payments').check();
    await button('Save').click();
    await page.getByText('displayName: needed to be active').waitFor();
    t.is(await page.getByLabel('Name that payers see').getAttribute('aria-invalid'), 'true', 'C9: the wrong field');
    await page.getByLabel('Name that payers see').fill('Ada <b>& Co</b>');
    await page.getByLabel('Accepted shortfall').fill('0.5');
    await page.getByLabel('Origins').fill('https://shop.example\nhttp://localhost:8080');
    await button('Save').click();
    await page.getByText('Saved. Payments are taken.').waitFor();
    await open('/payment-readiness', 'payment-readiness');

    await open('/payment-links/new');
    await page.getByLabel('Network').selectOption('eth');
    await page.getByLabel('Asset').selectOption('USDC');
    await page.getByLabel('Amount').fill('2');
    await page.getByLabel('Title').fill('Order <i>1001</i>');
    await page.getByLabel('Metadata').fill('{"order": 1001');
    t.regex(await page.getByLabel('Preview').innerText(), /Ada <b>& Co<\/b>[^]*Order <i>1001<\/i>[^]*2 USDC/);
    await button('Create the link').click();
    await page.getByText('metadata: a JSON object').waitFor();
    await page.getByLabel('Metadata').fill('{"order": "1001"}');
    await button('Create the link').click();
    await page.getByText('INVALID_AMOUNT').waitFor();
    await sound('payment-link-refused');
    await page.getByLabel('Amount').fill('25');
    await page.getByLabel('Ask payers for their e-mail').check();
    await sound('payment-link-new');
    await button('Create the link').click();
    await page.getByRole('heading', { name: 'Order <i>1001</i>' }).waitFor();
    await hasCome(page);
    t.regex(await page.locator('main').innerText(), /shows what this service says/, 'T1 stands beside the link');
    const linkId = /lnk_[a-z2-7]{26}/.exec(page.url())![0];
    const { slug } = await sandbox.client.must('getPaymentLink', { params: { id: linkId } });
    await page.getByText('In your own page').click();
    await sound('payment-link');

    await button('Pause').click();
    await button('Pause the link').click();
    await button('Resume').click();
    await button('Resume the link').click();
    await button('Edit').click();
    await sound('payment-link-edit');
    await page.getByLabel('Title').fill('Order 1001');
    await button('Save').click();
    await page.getByRole('heading', { name: 'Order 1001' }).waitFor();

    const opened = await sandbox.client.must('openCheckoutSession', {
      params: { slug },
      body: { email: 'ada@example.com', name: 'Ada' },
    });
    await open('/payments?status=awaiting_payment', 'payments-waiting');
    await open(`/payments/${opened.paymentId!}`, 'payment-waiting');
    await button('Pay it in the sandbox').click();
    await page.getByText('Fulfil the order').waitFor();
    await page.locator('td', { hasText: '12 of 12' }).waitFor();
    await sound('payment-confirmed');
    await page.getByRole('link', { name: /^INV-/ }).click();
    await page.getByRole('heading', { name: /^INV-/ }).waitFor();
    await sound('invoice');
    await button('Send it again').click();
    await button('Send').click();
    const document = page.getByRole('link', { name: 'Open the invoice' });
    await document.waitFor();
    await sound('invoice-sent');
    t.is((await fetch((await document.getAttribute('href'))!)).status, 200);
    await open('/payments', 'payments');
    await page.locator('td', { hasText: 'Confirmed' }).waitFor();
    await open('/invoices', 'invoices');
    await open(`/payment-links/${linkId}`);
    await page.getByText('It was paid').waitFor();
    await sound('payment-link-paid');
    t.is((await button('Close').count()) + (await button('Pause').count()), 0, 'P10: closed for ever');
    await open('/payment-links', 'payment-links');
    await open('/chains?chain=eth', 'chains');
    await open('/sandbox', 'sandbox-tools');
    const stuck = page.locator('.panel', { has: page.getByRole('heading', { name: 'Stuck', exact: true }) });
    await stuck.getByRole('button', { name: 'Set' }).click();
    await stuck.getByText('No block takes what is broadcast.').waitFor();
    await stuck.getByLabel('Until').selectOption('now');
    await stuck.getByRole('button', { name: 'Set' }).click();
    await stuck.getByText('0 left the pool.').waitFor();
    await open(`/search?q=${opened.paymentId!}`);
    await page.getByRole('heading', { name: '25 USDC' }).waitFor();
    await context.close();

    const viewer = await cloud.person();
    await cloud.join(viewer, organization, 'viewer');
    const theirs = await visit(browser, ORIGIN);
    await theirs.page.goto('/console/');
    await signIn(theirs.page, viewer);
    for (const path of [
      'payments',
      'payment-links',
      `payment-links/${linkId}`,
      'payment-links/new',
      'payment-settings',
    ]) {
      await turnTo(theirs.page, `${below}/${path}`);
      t.is(await theirs.page.locator('main form:not(.filter)').count(), 0, `C9: a viewer changes nothing at ${path}`);
      t.is(await theirs.page.getByRole('button', { name: /Edit|Pause|Create/ }).count(), 0);
    }
    faults.push(...(await isSound(theirs.page, theirs, 'payment-settings-viewer')));
    await theirs.context.close();
    t.deepEqual(faults, []);
  },
);

test.serial('console C19: at 320 px no page is wider than the screen, in forced colours too', async (t) => {
  const organization = await cloud.organization({ tier: 'free', band: 'launch' });
  const visitor = await visit(browser, ORIGIN, { viewport: { width: 320, height: 700 }, forcedColors: 'active' });
  const { page, context } = visitor;
  await page.goto('/console/');
  await signIn(page, organization.owner);
  const faults: string[] = [];
  for (const name of [
    '',
    '/addresses',
    '/transactions',
    '/webhooks?new=1',
    '/edge/setup',
    '/members',
    '/keys',
    '/billing',
    '/audit-log',
    '/sso',
    '/settings',
    '/payments',
    '/payment-links/new',
    '/payment-readiness',
    '/payment-settings',
  ]) {
    await turnTo(page, `/console/o/${organization.id}/live${name}`);
    const beyond = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    if (beyond !== 0) faults.push(`${name}: ${String(beyond)} px beyond 320`);
    await picture(page, `narrow${name.replaceAll(/[^a-z]+/g, '-')}`);
  }
  t.deepEqual([...faults, ...visitor.soundness()], []);
  await context.close();
});
