/**
 * The pay page in a real browser: what it shows, that it follows a payment by itself, with and without scripts, in
 * narrow and wide windows, light and dark, from left to right and from right to left. payments B3.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'ava';
import { chromium, type BrowserContextOptions, type Page } from 'playwright-core';
import { modelOf, type Session } from '../../gateway/pages/pay/model.ts';
import { paymentPage } from '../../gateway/pages/pay/page.ts';
import { PAY_POLICY } from '../../gateway/pages/pay/serve.ts';
import { sayIn } from '../../gateway/pages/pay/words.ts';
import { enrol, eventually, startTestCloud } from '../support/gateway.ts';
import { DONATION, FIXED, merchant } from '../support/payments.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9', POLYGON_RPC_URLS: 'http://127.0.0.1:9' });
const PLACES = [process.env['CHROMIUM'] ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser'];
const browser = await chromium.launch({
  executablePath: PLACES.find((path) => existsSync(path))!,
  args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
});
test.after.always(async () => {
  await browser.close();
  await cloud.stop();
});
/** A broken policy is written to the page's console, which is collected. */
const REPORTS = `document.addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.blockedURI))`;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Where pictures go for a person to look at; none where it is not set. */
const SHOTS = process.env['PAY_SHOTS'];

async function shop() {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const ask = merchant(cloud, sandbox);
  return {
    sandbox,
    ask,
    link: async (body: object): Promise<{ id: string; slug: string }> => {
      const made = await ask('POST', '/v1/payments/links', body);
      if (made.status !== 201) throw new Error(made.text);
      return made.json.data;
    },
    deposit: (address: string, amount: string, more: object = {}) =>
      sandbox.client.must('simulateDeposit', { body: { address, chain: 'eth', amount, ...more } as never }) as Promise<{
        txid: string;
      }>,
  };
}

/** A payer's window; what a page must not do is collected. */
async function payer(options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 768, height: 900 }, ...options });
  const faults: string[] = [];
  if (options.javaScriptEnabled !== false) await context.addInitScript({ content: REPORTS });
  context.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  context.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
  context.on('request', (request) => {
    if (new URL(request.url()).origin !== cloud.url) faults.push(`another origin: ${request.url()}`);
  });
  const page = await context.newPage();
  return { context, page, faults };
}

const sideways = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations: found } = (await page.evaluate(
    '(async () => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] }))()',
  )) as { violations: { id: string; nodes: { html: string }[] }[] };
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
async function look(page: Page, name: string): Promise<void> {
  if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
}

const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

test('payments H1, H5, H7, H11, F31, F37: an open page follows its payment from waiting to paid by itself, and asks no other origin', async (t) => {
  const { link, deposit, sandbox } = await shop();
  const { slug } = await link({ ...FIXED, successUrl: 'https://shop.example/thanks', description: 'One order' });
  const { page, faults, context } = await payer();
  await page.goto(`${cloud.url}/pay/${slug}`);
  t.deepEqual(await violations(page), []);
  await look(page, 'open');
  await page.click('button[type=submit]');
  await page.waitForSelector('#ask:not([hidden])');
  const path = page.url();
  t.regex(await page.innerText('#ask'), /Send only USDC on Ethereum/);
  t.is((await page.innerText('#amount')).trim(), '25', 'F26: digits and a dot');
  await page.locator('#time', { hasText: /[0-9]+:[0-9]{2}/ }).waitFor();
  t.deepEqual(await violations(page), []);
  await look(page, 'waiting');
  const address = (await page.innerText('.address')).replace(/\s/g, '');
  t.regex(address, /^0x[0-9A-Fa-f]{40}$/);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: cloud.url });
  await page.click('[data-copy]');
  t.is(await page.evaluate('navigator.clipboard.readText()'), address);
  t.regex(await page.innerText('#said'), /Copied/);
  await page.click('[data-copy-amount]');
  t.is(await page.evaluate('navigator.clipboard.readText()'), '25', 'F26');
  await page.click('[data-copy-link]');
  t.is(await page.evaluate('navigator.clipboard.readText()'), path.split('?')[0]);
  t.regex(await page.innerText('#said'), /Copied: http/, 'H5: said in text');
  await page.evaluate('globalThis.stayed = true');
  await deposit(address, '10', { tokenContract: USDC });
  const reaches = (status: string) => page.waitForSelector(`#pay[data-status="${status}"]`, { timeout: 60_000 });
  const first = await deposit(address, '15', { tokenContract: USDC });
  await reaches('detected');
  t.regex(await page.innerText('#transfers'), /of 12 confirmations/);
  t.deepEqual(await violations(page), []);
  await look(page, 'detected');
  await sandbox.client.must('simulateConfirmation', { body: { chain: 'eth', txid: first.txid, confirmations: 12 } });
  await reaches('confirmed');
  t.is(await page.innerText('#state'), 'Paid');
  t.false(await page.isVisible('#ask'), 'nobody pays twice');
  t.regex((await page.getAttribute('#shop', 'href'))!, /^https:\/\/shop\.example\/thanks\?payment=pay_/);
  t.is(await page.evaluate('globalThis.stayed'), true, 'without a reload');
  t.is(page.url(), path);
  t.deepEqual(await violations(page), []);
  await look(page, 'paid');
  t.deepEqual(faults, []);
});

test('payments H3, H14, F27, F30, F38: in each width, theme and direction the address is whole, the code is dark on white, and nothing scrolls sideways', async (t) => {
  const { link } = await shop();
  const { slug } = await link({ ...DONATION, minAmount: '0.5', title: 'A very long title '.repeat(6) });
  for (const [width, colorScheme, lang] of [
    [320, 'light', 'en'],
    [320, 'dark', 'ar'],
    [768, 'light', 'fa'],
    [768, 'dark', 'he'],
    [1280, 'light', 'de'],
    [1280, 'dark', 'ja'],
  ] as const) {
    const name = `${width}-${colorScheme}-${lang}`;
    const { page, faults } = await payer({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(`${cloud.url}/pay/${slug}?lang=${lang}`);
    t.false(await sideways(page), name);
    t.deepEqual(await violations(page), [], name);
    await page.fill('#email', `${name}@example.com`);
    await page.fill('#amount', '0.75');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#ask:not([hidden])');
    t.is(await page.getAttribute('html', 'dir'), ['ar', 'he', 'fa'].includes(lang) ? 'rtl' : 'ltr');
    t.false(await sideways(page), name);
    t.deepEqual(await violations(page), [], name);
    t.is((await page.innerText('#amount')).trim(), '0.75');
    const box = (await page.locator('svg.qr').first().boundingBox())!;
    t.true(box.width >= 240, `${name}: ${box.width}`);
    t.is(await page.evaluate(`getComputedStyle(document.querySelector('.address')).direction`), 'ltr');
    await look(page, name);
    t.deepEqual(faults, [], name);
    await page.context().close();
  }
});

test('payments F39, H1: with scripts off a payer opens, pays and sees it paid', async (t) => {
  const { link, deposit } = await shop();
  const { slug } = await link(FIXED);
  const { page } = await payer({ javaScriptEnabled: false });
  await page.goto(`${cloud.url}/pay/${slug}`);
  await page.click('button[type=submit]');
  const address = (await page.innerText('.address')).replace(/\s/g, '');
  t.false(await page.isVisible('[data-copy]'), 'a button that does nothing is not there');
  await look(page, 'without-scripts');
  await deposit(address, '25', { tokenContract: USDC, autoConfirm: true });
  const path = page.url();
  await eventually(
    'it is paid',
    async () => {
      await page.goto(path);
      return page.innerText('#state');
    },
    (state) => state === 'Paid',
  );
});

test('payments H7, F17, F18: a page that was away reads at once when it is back', async (t) => {
  const { link, deposit } = await shop();
  const { slug } = await link(FIXED);
  const { page, context } = await payer();
  await page.goto(`${cloud.url}/pay/${slug}`);
  await page.click('button[type=submit]');
  await page.waitForSelector('#ask:not([hidden])');
  const address = (await page.innerText('.address')).replace(/\s/g, '');
  await context.setOffline(true);
  await deposit(address, '25', { tokenContract: USDC });
  await context.setOffline(false);
  await page.waitForSelector('#pay[data-status="detected"]', { timeout: 60_000 });
  t.pass();
});

test('payments I3, H14, H16: an invoice can be read in every width, theme and direction, without scripts, and is one sheet of A4 and of Letter', async (t) => {
  const { ask, link, deposit, sandbox } = await shop();
  const { id, slug } = await link({ ...FIXED, collectEmail: true, description: 'Two lines\nof text' });
  const opened = await fetch(`${cloud.url}/v1/checkout/links/${slug}/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', name: 'Ada' }),
  });
  const { address } = ((await opened.json()) as { data: { address: string } }).data;
  const { txid } = await deposit(address, '25', { tokenContract: USDC });
  await sandbox.client.must('simulateConfirmation', { body: { chain: 'eth', txid, confirmations: 12 } });
  const { content } = await eventually(
    'the invoice is there',
    async () => (await ask('GET', `/v1/payments/links/${id}/invoices`)).json.data,
    (found) => found.content.length === 1,
  );
  const resent = (await ask('POST', `/v1/payments/invoices/${content[0].id}/resend`, {})).json.data;
  const url = cloud.url + new URL(resent.url).pathname;
  for (const [width, colorScheme, lang] of [
    [320, 'light', 'en'],
    [768, 'dark', 'de'],
    [1280, 'light', 'ar'],
    [320, 'dark', 'fa'],
  ] as const) {
    const { page, faults, context } = await payer({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(`${url}?lang=${lang}`);
    const name = `invoice ${width} ${colorScheme} ${lang}`;
    t.deepEqual(await violations(page), [], name);
    t.false(await sideways(page), name);
    t.deepEqual(faults, [], name);
    await look(page, name.replaceAll(' ', '-'));
    await context.close();
  }
  const { page, context } = await payer({ javaScriptEnabled: false });
  await page.goto(url);
  t.true((await page.locator('main').innerText()).includes(content[0].number));
  for (const format of ['A4', 'Letter'] as const)
    t.is(
      sheetsOf(await page.pdf({ format, ...(SHOTS === undefined ? {} : { path: `${SHOTS}/invoice-${format}.pdf` }) })),
      1,
      format,
    );
  await context.close();
});

test('payments H16: a waiting page is one sheet of paper with amount, network, address and code', async (t) => {
  const { link } = await shop();
  const { slug } = await link({ ...FIXED, description: 'A long description. '.repeat(40) });
  const { page, context } = await payer();
  await page.goto(`${cloud.url}/pay/${slug}`);
  await page.getByRole('button').click();
  await page.waitForSelector('#qr');
  await page.emulateMedia({ media: 'print' });
  for (const part of ['h1', '.amount', '.network', '.address', '.qr'])
    t.true(await page.locator(part).first().isVisible(), part);
  t.false(await page.locator('button').first().isVisible(), 'nothing to press on paper');
  await look(page, 'waiting-on-paper');
  for (const format of ['A4', 'Letter'] as const) t.is(sheetsOf(await page.pdf({ format })), 1, format);
  await context.close();
});

/** A wallet that a browser has, as its extension puts it into a page. */
const WALLET = `(() => {
  globalThis.asked = [];
  globalThis.at = '0x1';
  const provider = {
    async request({ method, params }) {
      globalThis.asked.push({ method, params });
      if (method === 'eth_requestAccounts') return ['0x000000000000000000000000000000000000dEaD'];
      if (method === 'wallet_switchEthereumChain') globalThis.at = globalThis.stuck ?? params[0].chainId;
      if (method === 'eth_chainId') return globalThis.at;
      return '0x00';
    },
  };
  const detail = { info: { uuid: 'u', name: 'Fox <b>', icon: 'x', rdns: 'x' }, provider };
  const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  addEventListener('eip6963:requestProvider', announce);
})()`;

test('payments H10: a wallet of the browser pays what the page asks for once, by its name as text, and not on another network', async (t) => {
  const session = {
    ...EXAMPLE,
    chain: 'polygon',
    network: 'Polygon',
    asset: 'POL',
    tokenContract: null,
    decimals: 18,
    amount: '1.5',
    amountRemaining: '1.5',
  } as Session;
  const reader = { language: 'en', say: sayIn('en'), environment: 'live', frame: null } as const;
  const { page, context, faults } = await payer();
  await context.addInitScript({ content: WALLET });
  await page.route('**/pay/order/pay_1**', (route) =>
    route.request().url().includes('/now')
      ? route.fulfill({ json: modelOf(session, reader.say, 'live') })
      : route.fulfill({
          body: paymentPage(session, '/pay/order/pay_1', reader),
          headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAY_POLICY },
        }),
  );
  // A payment that is none of the cloud's: nothing is heard of it.
  await page.route('**/v1/checkout/sessions/**', (route) =>
    route.fulfill({ headers: { 'content-type': 'text/event-stream' }, body: ': here\n\n' }),
  );
  await page.goto(`${cloud.url}/pay/order/pay_1`);
  const button = page.locator('#wallets button');
  t.is(await button.innerText(), 'Pay with Fox <b>');
  t.deepEqual(await violations(page), []);
  await look(page, 'wallet');
  await page.evaluate("globalThis.stuck = '0x1'");
  await button.click();
  await page.locator('#said', { hasText: /^The wallet did not send it\.$/ }).waitFor();
  const asked = () => page.evaluate('globalThis.asked.map(({ method }) => method)') as Promise<string[]>;
  t.false((await asked()).includes('eth_sendTransaction'), 'F31: nothing is sent on another network');
  await page.evaluate('globalThis.stuck = undefined; globalThis.asked = []');
  await button.click();
  await page.locator('#said', { hasText: /^The wallet sent it/ }).waitFor();
  t.deepEqual(await asked(), [
    'eth_requestAccounts',
    'wallet_switchEthereumChain',
    'eth_chainId',
    'eth_sendTransaction',
  ]);
  t.deepEqual(await page.evaluate('globalThis.asked[3].params'), [
    { from: '0x000000000000000000000000000000000000dEaD', to: EXAMPLE.address, value: '0x14d1120d7b160000' },
  ]);
  t.true(await button.isDisabled(), 'not twice by a second press');
  t.is(await page.getAttribute('#pay', 'data-status'), 'awaiting_payment', 'what a wallet says changes no state');
  t.deepEqual(faults, []);
  await context.close();
});

/** A payment that waits, as the page gets it. */
const EXAMPLE: Partial<Session> = {
  id: 'pay_1',
  paymentId: 'pay_1',
  status: 'awaiting_payment',
  link: { slug: 'order', mode: 'fixed', title: 'Order 1001', description: null },
  merchant: { name: 'Ada & Co', supportEmail: null, supportUrl: null },
  address: '0x52908400098527886E0F7030069857D2E4169EE7',
  amountDue: '1.5',
  amountPaid: '0',
  amountConfirmed: '0',
  amountOverpaid: '0',
  amountShort: '0',
  transfers: [],
  notices: [],
  uri: null,
  attestation: null,
  expiresAt: null,
  serverTime: '2026-01-01T00:00:00.000Z',
  successUrl: null,
};

/** Pages of a PDF. */
const sheetsOf = (pdf: Buffer): number =>
  Number(/\/Type\s*\/Pages[^>]*?\/Count\s+([0-9]+)/.exec(pdf.toString('latin1'))?.[1] ?? 0);
