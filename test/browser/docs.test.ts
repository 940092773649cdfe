/** The documentation in a real browser: no request of another host, no fault, sound on a desk and on a phone. */
import test from 'ava';
import type { Browser } from 'playwright-core';
import Fastify from 'fastify';
import { buildSite } from '../../docs/site/build.ts';
import { serveDocs } from '../../gateway/pages/docs.ts';
import { isSound, openBrowser, picture, visit } from '../support/browser/browser.ts';

const { files, pages } = await buildSite();
const app = Fastify();
serveDocs(app, async () => (name) => {
  const text = files.get(name);
  return text === undefined ? undefined : Buffer.from(text);
});
const home = await app.listen({ host: '127.0.0.1', port: 0 });
let browser: Browser;
test.before(async () => {
  browser = await openBrowser();
});
test.after.always(async () => {
  await browser.close();
  await app.close();
});

/** One page of each kind is looked at closely. */
const CLOSELY = [
  'index',
  'guides/quickstart-typescript',
  'api/index',
  'api/createAddress',
  'events/deposit_confirmed',
  'errors/INVALID_INPUT',
  'runbooks/edge-offline',
  'operate/configuration',
];

test('ecosystem X37, X45, XA5 each kind of page is sound: axe, no width beyond 320 px, light and dark, nothing of another host', async (t) => {
  const visitor = await visit(browser, home);
  t.teardown(() => visitor.context.close());
  for (const path of CLOSELY) {
    await visitor.page.goto(`/docs/${path}.html`);
    t.deepEqual(await isSound(visitor.page, visitor, path.replaceAll('/', '-')), []);
    await visitor.page.setViewportSize({ width: 320, height: 700 });
    const beyond = await visitor.page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    t.is(beyond, 0, `${path} at 320 px`);
    await visitor.page.setViewportSize({ width: 1_280, height: 860 });
  }
});

test('ecosystem X37, XA5 pages of every part load under their policy, and asks this host alone', async (t) => {
  const visitor = await visit(browser, home);
  t.teardown(() => visitor.context.close());
  const { page } = visitor;
  // What a page is made of is looked at for all of them by test/unit/docs/site.test.ts.
  const crawled = pages.filter(({ part }, at) => part === 'guides' || part === 'operate' || at % 8 === 0);
  for (const { path, title } of crawled) {
    await page.goto(`/docs/${path}.html`, { waitUntil: 'domcontentloaded' });
    t.true((await page.title()).includes(title) || path === 'index', path);
  }
  t.deepEqual(visitor.soundness(), []);
  t.true(visitor.asked.length >= crawled.length);
});

test('ecosystem X42, X45 the search and the tabs by the keyboard alone', async (t) => {
  const visitor = await visit(browser, home);
  t.teardown(() => visitor.context.close());
  const { page } = visitor;
  await page.goto('/docs/');
  await page.keyboard.press('/');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.type('deposit_confirmed');
  await page.locator('#hit-0').waitFor();
  await picture(page, 'docs-search');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/events/deposit_confirmed.html');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.press('Escape');
  t.false(await page.locator('dialog').evaluate((dialog) => (dialog as { open?: boolean }).open === true));
  await page.goto('/docs/#createAddress'); // as errors of clients name it
  await page.waitForURL('**/api/createAddress.html');
  await page.getByRole('tab', { name: 'curl' }).focus();
  await page.keyboard.press('ArrowRight');
  t.is(await page.getByRole('tab', { name: 'TypeScript' }).getAttribute('aria-selected'), 'true');
  await page.goto('/docs/api/listAddresses.html');
  t.is(await page.getByRole('tab', { name: 'TypeScript' }).getAttribute('aria-selected'), 'true', 'kept');
  t.deepEqual(visitor.soundness(), []);
});

test('ecosystem X37 without scripts every page is read, and every example is shown', async (t) => {
  const visitor = await visit(browser, home, { javaScriptEnabled: false });
  t.teardown(() => visitor.context.close());
  const { page } = visitor;
  await page.goto('/docs/api/createAddress.html');
  t.true((await page.locator('.tabs figure:visible').count()) >= 6);
  t.true(await page.locator('.side nav').isVisible());
  t.deepEqual(visitor.soundness(), []);
});
