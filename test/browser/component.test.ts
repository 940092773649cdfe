/**
 * `<flock-pay>` in a page of a merchant, under a strict policy: what it shows of an honest cloud, and that of a hostile
 * one no address is shown. payments part 6, B3.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { chromium, type Page } from 'playwright-core';
import { createClient } from '../../protocol/client.ts';
import { attestedText } from '../../protocol/attestation.ts';
import { keptElements } from '../../gateway/pages/embed/serve.ts';
import { attestingEdge } from '../support/attesting.ts';
import { eventually, startTestCloud } from '../support/gateway.ts';
import { FIXED, merchant } from '../support/payments.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9' });
const PLACES = [process.env['CHROMIUM'] ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser'];
const browser = await chromium.launch({
  executablePath: PLACES.find((path) => existsSync(path))!,
  args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
});
const guide = readFileSync(new URL('../../docs/payments.md', import.meta.url), 'utf8');
const { path: SCRIPT, integrity: INTEGRITY } = keptElements().find(({ path }) => guide.includes(path))!;
/** The page of the merchant has in it what its address says. */
const site = createServer(({ url }, response) => {
  const asked = new URL(url ?? '/', 'http://localhost').searchParams,
    [attributes, integrity] = [asked.get('with') ?? '', asked.get('integrity') ?? INTEGRITY],
    frame = asked.get('frame');
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; img-src data:; script-src ${cloud.url}; connect-src ${cloud.url}; frame-src ${cloud.url}; require-trusted-types-for 'script'`,
  });
  response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,">
<script src="${cloud.url}${SCRIPT}" integrity="${integrity}" crossorigin></script>
<h1>Shop</h1>${frame === null ? `<flock-pay ${attributes}></flock-pay>` : `<iframe src="${frame}"></iframe>`}`);
});
await new Promise<void>((resolve) => void site.listen(0, 'localhost', resolve));
const ORIGIN = `http://localhost:${(site.address() as AddressInfo).port}`;
test.after.always(async () => {
  await browser.close();
  site.close();
  await cloud.stop();
});
const SHOTS = process.env['PAY_SHOTS'];
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
/** What the whole document has in it, with what is in the element. */
const SHOWN = `document.querySelector('flock-pay').shadowRoot.innerHTML + document.querySelector('flock-pay').outerHTML`;
const REPORTS = `globalThis.told = [];
for (const name of ['flock-state', 'flock-error'])
  document.addEventListener(name, ({ detail }) => globalThis.told.push({ name, ...detail }));
document.addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.blockedURI));`;
const NO_ED25519 = `const imports = crypto.subtle.importKey.bind(crypto.subtle);
crypto.subtle.importKey = (form, key, kind, ...more) =>
  kind === 'Ed25519' ? Promise.reject(new Error('not here')) : imports(form, key, kind, ...more);`;

async function shop() {
  const { sandbox, owner } = await cloud.organization();
  const edge = await attestingEdge(cloud, sandbox);
  const asOwner = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(owner), environment: 'sandbox' });
  await asOwner.must('putPaymentSettings', { body: { active: true, displayName: 'Shop', origins: [ORIGIN] } });
  await edge.look();
  const ask = merchant(cloud, sandbox);
  const made = await ask('POST', '/v1/payments/links', { ...FIXED, title: '<img src=x onerror=alert(1)>\u202eOrder' });
  return { sandbox, edge, slug: (made.json.data as { slug: string }).slug };
}

type Session = Record<string, any>;
/** A page with the element; `lie` changes what the cloud answers of a payment. */
async function visit(
  { slug, identity, more = '', integrity = INTEGRITY }: Record<'slug' | 'identity', string> & Record<string, string>,
  { lie, init = '' }: { lie?: (session: Session) => unknown; init?: string } = {},
) {
  const attributes = `link="${slug}" environment="sandbox" identity="${identity}" ${more}`;
  const context = await browser.newContext({ viewport: { width: 420, height: 800 } });
  const faults: string[] = [];
  await context.addInitScript({ content: REPORTS + init });
  context.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  context.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && origin !== cloud.url && origin !== ORIGIN) faults.push(`another origin: ${origin}`);
  });
  const page = await context.newPage();
  if (lie !== undefined)
    await page.route(/\/v1\/checkout\/(links\/[^/]+\/sessions|sessions\/)/, async (route) => {
      if (route.request().method() === 'OPTIONS') return route.continue();
      const url = route.request().url(),
        isStream = url.endsWith('/events');
      const answer = await route.fetch({ url: url.replace(/\/events$/, '') }).catch(() => null),
        said = (await answer?.json().catch(() => null)) as { data: Session | null } | null | undefined;
      if (answer === null || said == null) return; // the page was closed meanwhile
      if (said.data !== null) await lie(said.data);
      if (!isStream) return route.fulfill({ response: answer, json: said });
      // It lies over the stream too.
      const headers = { ...answer.headers(), 'content-type': 'text/event-stream' };
      delete (headers as Record<string, string>)['content-length'];
      return route.fulfill({ status: 200, headers, body: `retry: 600000\ndata: ${JSON.stringify(said.data)}\n\n` });
    });
  await page.goto(`${ORIGIN}/?${new URLSearchParams({ with: attributes, integrity }).toString()}`);
  return { page, faults, context };
}
const reaches = (page: Page, state: string) => page.waitForSelector(`flock-pay[data-state="${state}"]`);
const open = (page: Page) => page.click('flock-pay button[type=submit]');
const shown = (page: Page): Promise<string> => page.evaluate(SHOWN);

test('payments E1, E2, E6, E7, T7: a page of the merchant shows an address that verified, follows its payment, and needs nothing of another origin', async (t) => {
  const { sandbox, edge, slug } = await shop();
  const { page, faults, context } = await visit({ slug, identity: edge.publicKey });
  await reaches(page, 'opening');
  t.regex(await page.innerText('flock-pay .pay'), /<img src=x onerror=alert\(1\)>Order/, 'text is text');
  await open(page);
  await reaches(page, 'awaiting_payment');
  const address = (await page.innerText('flock-pay .address')).replace(/\s/g, '');
  t.regex(address, /^0x[0-9A-Fa-f]{40}$/);
  t.regex(await page.innerText('flock-pay .pay'), /Send only USDC on Ethereum/);
  t.regex(await page.innerText('flock-pay .amount'), /^25 USDC$/);
  t.is(await page.locator('flock-pay svg.qr path').count(), 1);
  if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/component-waiting.png`, fullPage: true });
  await sandbox.client.must('simulateDeposit', {
    body: { address, chain: 'eth', amount: '25', tokenContract: USDC, autoConfirm: true } as never,
  });
  await reaches(page, 'confirmed');
  t.false((await shown(page)).includes('0x'), 'nobody pays twice');
  const told = (await page.evaluate('globalThis.told')) as { name: string; status?: string; paymentId: string }[];
  t.deepEqual([...new Set(told.map(({ name }) => name))], ['flock-state']);
  t.deepEqual(Object.keys(told[0]!).toSorted(), ['amountPaid', 'amountRemaining', 'name', 'paymentId', 'status']);
  t.deepEqual([told[0]!.status, told.at(-1)!.status], ['awaiting_payment', 'confirmed']);
  t.deepEqual(faults, []);
  await context.close();
});

test('payments H7, F18: the element is told by the stream as its payment changes, asks by itself where no stream comes through, and holds none once it is paid', async (t) => {
  for (const way of ['stream', 'asking'] as const) {
    const { sandbox, edge, slug } = await shop();
    const { page, context } = await visit({ slug, identity: edge.publicKey });
    const asked: string[] = [];
    await page.route(/\/v1\/checkout\/sessions\//, (route) => {
      const isStream = route.request().url().endsWith('/events');
      asked.push(isStream ? 'stream' : 'asking');
      return isStream === (way === 'stream') ? route.continue() : route.abort();
    });
    await reaches(page, 'opening');
    await open(page);
    await reaches(page, 'awaiting_payment');
    const address = (await page.innerText('flock-pay .address')).replace(/\s/g, '');
    const body = { address, chain: 'eth', amount: '25', tokenContract: USDC, autoConfirm: true } as never;
    await sandbox.client.must('simulateDeposit', { body });
    // Without a stream the next look is seconds away: being online again makes it one of now.
    const state = () => page.getAttribute('flock-pay', 'data-state');
    await eventually(
      `confirmed by ${way}`,
      async () => {
        if (way === 'asking') await page.evaluate("dispatchEvent(new Event('online'))");
        return state();
      },
      (now) => now === 'confirmed',
    );
    t.true(asked.includes(way), way);
    const before = asked.length;
    await page.evaluate("dispatchEvent(new Event('online'))");
    t.is(asked.length, before, 'what is paid is followed no more');
    await context.close();
  }
});

test('payments E6: a cloud that swaps address, signature, dates, environment, family, key or nothing at all has no address shown', async (t) => {
  const { edge, slug } = await shop(),
    { keystore, publicKey } = edge,
    other = await attestingEdge(cloud, (await cloud.organization()).sandbox);
  const ownOther = '0x00000000000000000000000000000000000000AA';
  /** Signed by an honest key about something else. */
  const signed = (by: typeof keystore, session: Session, change: object) => {
    const { address, attestation } = session;
    const text = attestedText({ environment: 'sandbox', family: 'evm', address, ...attestation, ...change });
    return { ...attestation, ...change, signature: by.identity.sign(Buffer.from(text)).toString('base64url') };
  };
  const at = (days: number) => `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19)}Z`;
  const lies: Readonly<Record<string, (session: Session) => unknown>> = {
    'another address': (one) => (one['address'] = ownOther),
    'no statement': (one) => (one['attestation'] = null),
    'a signature of another key': (one) => (one['attestation'] = signed(other.keystore, one, {})),
    'a signature that was changed': (one) =>
      (one['attestation'].signature =
        `${one['attestation'].signature.slice(0, -2)}${one['attestation'].signature.endsWith('A') ? 'Q' : 'A'}A`),
    'a signature of zeros': (one) => (one['attestation'].signature = 'A'.repeat(86)),
    'other dates': (one) => (one['attestation'].validUntil = at(29)),
    'dates that are over': (one) =>
      (one['attestation'] = signed(keystore, one, { issuedAt: at(-31), validUntil: at(-1) })),
    'dates without an end': (one) =>
      (one['attestation'] = signed(keystore, one, { issuedAt: at(0), validUntil: at(400) })),
    'dates to come': (one) => (one['attestation'] = signed(keystore, one, { issuedAt: at(3), validUntil: at(20) })),
    'the other environment': (one) => (one['attestation'] = signed(keystore, one, { environment: 'live' })),
    'another family': (one) => (one['chain'] = 'tron'),
    'a chain that has no statements': (one) => (one['chain'] = 'sol'),
    'an inherited name for a chain': (one) => (one['chain'] = 'constructor'),
    'another version': (one) => (one['attestation'].v = 2),
  };
  for (const init of ['', NO_ED25519]) {
    let lie: (session: Session) => unknown = () => undefined;
    const { page, context } = await visit(
      { slug, identity: `${'ab'.repeat(32)} ${publicKey}` },
      { lie: (one) => lie(one), init },
    );
    /** The element begins anew, and is asked for the payment. */
    const begin = async (state: string) => {
      await page.evaluate(`globalThis.told = []; document.querySelector('flock-pay').setAttribute('link', '${slug}')`);
      await reaches(page, 'opening');
      await open(page);
      await reaches(page, state);
    };
    await begin('awaiting_payment'); // of either of two pinned keys, both ways of verifying take the truth
    for (const [name, told] of Object.entries(lies)) {
      lie = told;
      await begin('unverified');
      t.notRegex(await shown(page), /0x[0-9A-Fa-f]{4}|<svg|href=|bitcoin:|ethereum:/, name);
      t.deepEqual(await page.evaluate('globalThis.told'), [{ name: 'flock-error', code: 'unverified' }], name);
    }
    lie = () => undefined;
    await begin('awaiting_payment');
    await context.close();
  }
});

test('payments E6: an address that was shown is taken away once the cloud says another, and a wallet link is one of this address alone', async (t) => {
  const { sandbox, edge } = await shop();
  const ask = merchant(cloud, sandbox);
  const { slug } = (await ask('POST', '/v1/payments/links', { ...FIXED, asset: 'ETH', amount: '1' })).json.data;
  let turn = 0;
  // The other address comes once the first was looked at: a state that passes at once is seen by chance alone.
  const looked = Promise.withResolvers<void>();
  const { page, context } = await visit(
    { slug, identity: edge.publicKey },
    {
      lie: async (one) => {
        turn += 1;
        if (turn === 1) one['uri'] = 'ethereum:0x00000000000000000000000000000000000000AA@1?value=1';
        else {
          await looked.promise;
          one['address'] = '0x00000000000000000000000000000000000000AA';
        }
      },
    },
  );
  await open(page);
  await reaches(page, 'awaiting_payment');
  t.is(await page.locator('flock-pay a').count(), 0, 'a link that pays somebody else');
  looked.resolve();
  await reaches(page, 'unverified');
  t.notRegex(await shown(page), /0x[0-9A-Fa-f]{4}|<svg/);
  if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/component-unverified.png`, fullPage: true });
  await context.close();
  const honest = await visit({ slug, identity: edge.publicKey, more: 'lang="ar" theme="dark"' });
  await open(honest.page);
  await reaches(honest.page, 'awaiting_payment');
  const address = (await honest.page.innerText('flock-pay .address')).replace(/\s/g, '');
  t.is(await honest.page.getAttribute('flock-pay a', 'href'), `ethereum:${address}@1?value=1000000000000000000`);
  t.is(await honest.page.getAttribute('flock-pay .pay', 'dir'), 'rtl');
  if (SHOTS !== undefined) await honest.page.screenshot({ path: `${SHOTS}/component-dark.png`, fullPage: true });
  await honest.context.close();
});

test('payments E2, E8, E9: other bytes do not run, another origin is not served, and another merchant’s link opens nothing', async (t) => {
  const { edge, slug } = await shop(),
    stranger = await shop();
  const changed = await visit({ slug, identity: edge.publicKey, integrity: `sha384-${'A'.repeat(64)}` });
  t.is(await changed.page.evaluate(`customElements.get('flock-pay') === undefined`), true);
  await changed.context.close();
  const another = await visit({ slug: stranger.slug, identity: edge.publicKey });
  await open(another.page);
  await reaches(another.page, 'error');
  t.deepEqual(await another.page.evaluate('globalThis.told'), [
    { name: 'flock-error', code: 'MERCHANT_SCOPE_VIOLATION' },
  ]);
  await another.context.close();
  t.is((await cloud.database.owner`select from payment where account_id = ${stranger.sandbox.accountId}`).length, 0);
  const unregistered = await cloud.organization();
  await attestingEdge(cloud, unregistered.sandbox);
  const { slug: closed } = (await merchant(cloud, unregistered.sandbox)('POST', '/v1/payments/links', FIXED)).json.data;
  const refused = await visit({ slug: closed, identity: edge.publicKey });
  await reaches(refused.page, 'error');
  t.notRegex(await shown(refused.page), /0x[0-9A-Fa-f]{4}/);
  await refused.context.close();
});

test('payments E10, F42: a frame opens and follows a payment, speaks to the registered page that frames it alone, and is empty in any other', async (t) => {
  const { sandbox, slug } = await shop();
  /** A page that frames a path, and what it is posted. */
  const framing = async (path: string, of = ORIGIN) => {
    const context = await browser.newContext({ viewport: { width: 420, height: 800 } });
    await context.addInitScript({
      content: `globalThis.posted = [];
        if (parent === window) addEventListener('message', ({ origin, data }) => globalThis.posted.push({ origin, ...data }));`,
    });
    const page = await context.newPage();
    await page.goto(`${of}/?${new URLSearchParams({ frame: `${cloud.url}${path}` }).toString()}`);
    return { context, page, posted: () => page.evaluate('globalThis.posted') as Promise<Session[]> };
  };
  const path = `/embed/frame/${slug}?origin=${encodeURIComponent(ORIGIN)}`;
  const { page, context, posted } = await framing(path);
  const frame = page.frameLocator('iframe');
  await frame.locator('button[type=submit]').click();
  await frame.locator('#pay[data-status="awaiting_payment"]').waitFor();
  const address = (await frame.locator('.address').first().innerText()).replace(/\s/g, '');
  t.is(await frame.locator('[data-copy-link]').count(), 0, 'its own address is no link to pass on');
  if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/component-frame.png`, fullPage: true });
  await sandbox.client.must('simulateDeposit', {
    body: { address, chain: 'eth', amount: '25', tokenContract: USDC, autoConfirm: true } as never,
  });
  const said = await eventually('the page is told', posted, (all) => all.some(({ status }) => status === 'confirmed'));
  t.true(said.every(({ origin, source, v }) => origin === cloud.url && source === 'flock-pay' && v === 1));
  t.deepEqual(
    said
      .filter(({ type }) => type === 'state')
      .map(({ paymentId, status }) => [/^pay_/.test(paymentId), status])
      .at(0),
    [true, 'awaiting_payment'],
  );
  t.true(said.some(({ type, height }) => type === 'height' && height > 100));
  await context.close();
  const answered = (asked: string) => fetch(`${cloud.url}${asked}`);
  t.regex((await answered(path)).headers.get('content-security-policy')!, new RegExp(`frame-ancestors ${ORIGIN}(;|$)`));
  t.is((await answered(path)).headers.get('x-robots-tag'), 'noindex, nofollow');
  for (const asked of [
    `/embed/frame/${slug}?origin=https%3A%2F%2Fevil.example`,
    `/embed/frame/${slug}`,
    `/pay/${slug}`,
  ])
    t.regex((await answered(asked)).headers.get('content-security-policy')!, /frame-ancestors 'none'/, asked);
  t.is((await answered(`/embed/frame/${slug}?origin=*`)).status, 403);
  t.is((await answered('/embed/frame/nobody-has-this?origin=x')).status, 404);
  // Another page that names the registered origin is not that origin: the browser shows it nothing.
  const another = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<iframe src="${cloud.url}${path}"></iframe>`),
  );
  await new Promise<void>((resolve) => void another.listen(0, 'localhost', resolve));
  const elsewhere = await framing(path, `http://localhost:${(another.address() as AddressInfo).port}`);
  t.is(await elsewhere.page.frameLocator('iframe').locator('form').count(), 0);
  t.deepEqual(await elsewhere.posted(), []);
  await elsewhere.context.close();
  another.close();
});
