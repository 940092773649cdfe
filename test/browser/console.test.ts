/**
 * The console in a real browser, on a real cloud, database and edge. After every page: nothing in the browser's
 * console, nothing thrown, no policy broken, no other host asked, no operation beside the description. Console C2, C3,
 * C8, C9, C19, C20, C22.
 */
import test, { type ExecutionContext } from 'ava';
import type { Request } from 'playwright-core';
import { accessibility, isSound, openBrowser, picture, visit, type Visitor } from '../support/browser/browser.ts';
import { hasCome, signIn, turnTo, unspentCode } from '../support/browser/console.ts';
import { openDeveloper } from '../support/developer.ts';

const [developer, browser] = await Promise.all([openDeveloper(), openBrowser()]);
const { deployment, receiver, atEdge } = developer;
const { record, cloudUrl } = deployment;
/** What the band of the sandbox is painted with: not by its colour alone. */
const PATTERN = `getComputedStyle(document.querySelector('.sandbox-band')).backgroundImage`;
/** A page without a stream reads again after this time. console/app. */
const POLLED_MS = 30_000;

test.after.always(async () => {
  await browser.close();
  await developer.close();
});

/** What a sandbox has after its first hour. */
async function inhabit(): Promise<void> {
  const events = ['deposit_detected', 'deposit_confirmed', 'withdrawal_broadcast', 'withdrawal_confirmed'] as const;
  await atEdge.must('createWebhook', {
    body: { url: `http://127.0.0.1:${receiver.port}/webhooks`, events: [...events] },
  });
  const from = await developer.fund('2');
  await atEdge.must('createAddress', { body: { chain: 'btc', userRef: '<b>customer</b> \u202e2', label: '=1+1' } });
  const to = '0x52908400098527886E0F7030069857D2E4169EE7';
  const { id } = await atEdge.must('buildTransaction', { body: { chain: 'eth', from, to, amount: '1000' } });
  await atEdge.must('broadcastTransaction', { params: { id } });
}

test.serial(
  'console C2, C3, C19, C20, C22: the pages of whoever is not signed in are sound in both themes and widths; a theme that was chosen is there before the first paint',
  async (t) => {
    const visitor = await visit(browser, cloudUrl);
    const { page, context } = visitor;
    for (const path of ['', 'sso', 'sign-up', 'forgot', 'verify#x', 'reset#x', 'invitation#x', 'email#x']) {
      await page.goto(`/console/${path}`);
      await hasCome(page);
      t.deepEqual(await isSound(page, visitor, path.replace('#x', '') || 'sign-in'), []);
    }
    const painted = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const light = await painted();
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await painted();
    t.not(light, dark, 'C20: by the system');
    await page.evaluate("localStorage.setItem('flock-theme', 'dark')");
    await page.emulateMedia({ colorScheme: 'light' });
    const first = await page.locator('script[src]').first().getAttribute('src');
    await context.route('**/console/*.js', (route) =>
      route.request().url().endsWith(first!) ? route.continue() : route.abort(),
    );
    await page.goto('/console/');
    t.is(await page.locator('h1').count(), 0, 'the app has not begun');
    t.is(await painted(), dark, 'C20: by choice, before the app runs');
    await context.close();
  },
);

/** Each format says what it would leave out, and is saved where it can say all. */
async function exports(visitor: Visitor): Promise<string[]> {
  const { page } = visitor;
  const format = page.getByLabel('Format of the addresses'),
    saved = page.getByRole('button', { name: 'Save the addresses', exact: true }),
    says = (name: string, text: string) => page.locator('dl.facts div', { hasText: name }).getByText(text).waitFor();
  for (const [word, file] of [
    ['CSV', 'addresses.csv'],
    ['JSONL', 'addresses.jsonl'],
  ] as const) {
    await format.selectOption(word);
    await says('Left out of the file', 'Nothing');
    const [download] = await Promise.all([page.waitForEvent('download'), saved.click()]);
    if (download.suggestedFilename() !== file) return [`${word} is saved as ${download.suggestedFilename()}`];
  }
  for (const [word, why] of [
    ['DESCRIPTORS', '1: their chain has no such format'],
    ['KEY_VALUE', '1: nobody has derived them'],
  ] as const) {
    await format.selectOption(word);
    await says('Not in this format', why);
    await says('Left out of the file', 'customer references');
    if (await saved.isVisible()) return [`${word} is offered although it cannot say all`];
  }
  return isSound(page, visitor, 'migration-formats');
}

/** A file of an old wallet becomes addresses that are watched, and an owner cuts over; what was unsound. */
async function migrates(visitor: Visitor, path: string): Promise<string[]> {
  const { page } = visitor;
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const text = 'address,chain,user ref\n0x8617E340B3D01FA5F11F306F4090FD50E238070D,eth,=1+1\n';
  const faults: string[] = [];
  await page.goto(path);
  await hasCome(page);
  await button('New project').click();
  await page.getByLabel('Name').fill('<b>old</b> wallet');
  await button('Create').click();
  await button('Add a file').click();
  const file = { name: 'old.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
  const secret = { ...file, buffer: Buffer.from('address,seed\nx,y\n') };
  await page.getByLabel('File', { exact: true }).setInputFiles(secret);
  await button('Upload and check').click();
  await page.locator('dialog .failure, dialog [role=alert]').first().waitFor();
  visitor.forget(); // a refusal is an error to the browser
  await page.getByLabel('File', { exact: true }).setInputFiles(file);
  await button('Upload and check').click();
  await button('Commit').waitFor();
  faults.push(...(await isSound(page, visitor, 'migration-file')));
  await button('Commit').click();
  await button('Take it back').waitFor();
  await page.keyboard.press('Escape');
  await page.reload();
  await hasCome(page);
  faults.push(...(await isSound(page, visitor, 'migration-project')));
  await button('Cut over').click();
  faults.push(...(await isSound(page, visitor, 'migration-cutover')));
  await button('Cut over now').click();
  const code = page.getByRole('dialog').getByRole('textbox').last();
  await Promise.race([code.waitFor(), button('Back to observe').waitFor()]);
  if (await code.isVisible()) {
    await code.fill(await unspentCode(page, record.owner));
    await page.keyboard.press('Enter');
  }
  await button('Back to observe').waitFor();
  return [...faults, ...(await exports(visitor))];
}

test.serial(
  'console C1, C4, C6, C7 (faults 37), C19, C22, migration M-I4, M-O5, M-O8, M-E2: every page of the sandbox, of live and about oneself is sound, says which it is in band, word, pattern and title, and stays signed in when it is loaded again',
  async (t) => {
    await inhabit();
    const visitor = await visit(browser, cloudUrl);
    const { page, context } = visitor;
    await page.goto('/console/');
    await signIn(page, record.owner);
    const first = async (link: string): Promise<string> =>
      (await page.locator(link).first().getAttribute('href')) ?? '';
    const below = `/console/o/${record.organizationId}`;
    const names = [
      ...['', '/addresses', '/addresses?new=1', '/transactions', '/webhooks', '/webhooks?new=1', '/deliveries'],
      ...[
        '/dead-letters',
        '/signature',
        '/edge',
        '/edge/setup',
        '/rotations',
        '/sandbox',
        '/migration',
        '/keys',
        '/members',
        '/sso',
        '/billing',
        '/settings',
      ],
    ];
    const paths = [
      ...names.map((name) => `${below}/sandbox${name}`),
      ...['', '/addresses', '/billing', '/sandbox'].map((name) => `${below}/live${name}`),
      '/console/profile',
      `${below}/sandbox/nowhere`,
    ];
    for (const name of ['addresses', 'transactions', 'webhooks']) {
      await page.goto(`${below}/sandbox/${name}`);
      await hasCome(page);
      const link = await first('td a[href]');
      t.regex(link, new RegExp(`/${name}`));
      paths.push(link);
    }
    await page.goto(paths.find((path) => /transactions\/(?:dep|txn)_/.test(path))!);
    const event = page.locator('a[href*="/events/evt_"]').first();
    await event.waitFor();
    paths.push(
      (await event.getAttribute('href'))!,
      `${below}/sandbox/signature?event=${(await event.getAttribute('href'))!.split('/').at(-1)}`,
    );
    // C16: what names nothing, and what may be a key.
    paths.push(`${below}/sandbox/search?q=nobody`, `${below}/sandbox/search?q=${'ab'.repeat(32)}`);
    const faults: string[] = [];
    for (const [at, path] of paths.entries()) {
      // A load costs as much as the rest of it: some are loaded, the others are gone to.
      if (at % 8 === 0) await page.goto(path);
      else await turnTo(page, path);
      await hasCome(page);
      t.is(await page.getByRole('heading', { name: 'Sign in', exact: true }).count(), 0, `${path}: still signed in`);
      const title = await page.title();
      const isSandbox = path.startsWith(`${below}/sandbox`),
        band = page.locator('.sandbox-band');
      t.is(title.startsWith('[Sandbox] '), isSandbox, `C7: ${title}`);
      t.is(await band.count(), isSandbox ? 1 : 0, path);
      if (isSandbox) {
        t.regex(await band.innerText(), /^sandbox/i, path);
        t.regex(String(await page.evaluate(PATTERN)), /repeating-linear-gradient/, path);
      } else {
        const tests = page.locator('main').getByRole('button', { name: /simulate|pay it|reset|confirm/i });
        t.is(await tests.count(), 0, `${path}: actions of tests do not exist in live`);
      }
      faults.push(...(await isSound(page, visitor, path.replaceAll(/[^a-z0-9]+/g, '-'))));
    }
    await page.goto(`${below}/sandbox/deliveries`);
    await page.locator('td button.link').first().click();
    await page.getByRole('dialog').waitFor();
    await hasCome(page);
    faults.push(...(await isSound(page, visitor, 'delivery')));
    await page.keyboard.press('Escape');
    t.is(await page.getByRole('dialog').count(), 0);
    t.regex(
      await page.evaluate(`document.activeElement.outerHTML.slice(0, 200)`),
      /class="link"/,
      'C19: the focus is back',
    );
    faults.push(...(await migrates(visitor, `${below}/sandbox/migration`)));
    t.deepEqual(faults, []);
    // C4: the token is in memory alone.
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])');
    t.false(/eyJ|whsec|flk_|loc_/.test(String(kept)), String(kept));
    await context.close();
  },
);

test.serial(
  'console C13, C14, C15: a committed deposit comes to the screen by the stream, in every tab, over one stream of the browser; without it a note, and the page goes on by the clock',
  async (t) => {
    const visitor = await visit(browser, cloudUrl);
    const { page, context } = visitor;
    await page.goto('/console/');
    await signIn(page, record.owner);
    const list = `/console/o/${record.organizationId}/sandbox/transactions`;
    const streams = new Set<Request>();
    const isStream = (request: Request): boolean => request.url().endsWith('/v1/stream');
    context.on('request', (request) => isStream(request) && streams.add(request));
    for (const over of ['requestfinished', 'requestfailed'] as const)
      context.on(over as 'requestfailed', (request) => streams.delete(request));
    const tabs = [page, ...(await Promise.all([1, 2, 3].map(() => context.newPage())))];
    for (const tab of tabs) {
      await tab.goto(list);
      await hasCome(tab);
    }
    const took: number[] = [];
    for (let nth = 0; nth < 5; nth += 1) {
      const to = await atEdge.must('createAddress', { body: { chain: 'eth', userRef: `live-${nth}` } });
      await atEdge.must('simulateDeposit', { body: { chain: 'eth', address: to.address, amount: `0.0${nth + 1}7` } });
      for (;;) {
        const { content } = await atEdge.must('listTransactions', { query: { userRef: `live-${nth}` } });
        if (content.length > 0) break;
      }
      const committed = performance.now();
      // What is seen is brought to the front: a tab that nobody sees reads when it is seen.
      const tab = tabs[nth % tabs.length]!;
      await tab.bringToFront();
      await tab.locator('tr', { hasText: `live-${nth}` }).waitFor();
      took.push(performance.now() - committed);
    }
    t.log(`${took.map(Math.round).join(', ')} ms`);
    t.true(Math.max(...took) < POLLED_MS / 2, `${took.map(Math.round).join(', ')} ms: by the stream, not by the clock`);
    t.is(streams.size, 1, 'fault 35: one stream of a browser, whatever tabs there are');
    t.is(await page.locator('.not-live').count(), 0);
    await context.route('**/v1/stream', (route) => route.abort());
    for (const tab of tabs.slice(1)) await tab.close();
    await page.reload();
    await page.locator('.not-live').waitFor({ timeout: 30_000 });
    t.deepEqual(await accessibility(page), []);
    await picture(page, 'not-live');
    await context.unroute('**/v1/stream');
    await page.locator('.not-live').waitFor({ state: 'detached', timeout: 60_000 });
    await context.close();
  },
);

test.serial(
  'console C12 (faults 38): while a list is read further down new rows wait behind a button, none is doubled, and those that are there stay in their places',
  async (t) => {
    const pay = async (userRef: string) => {
      const { address } = await atEdge.must('createAddress', { body: { chain: 'eth', userRef } });
      await atEdge.must('simulateDeposit', { body: { chain: 'eth', address, amount: '0.02' } });
    };
    for (const userRef of ['was-1', 'was-2', 'was-3', 'was-4']) await pay(userRef);
    const visitor = await visit(browser, cloudUrl, { viewport: { width: 390, height: 400 } });
    const { page, context } = visitor;
    await page.goto('/console/');
    await signIn(page, record.owner);
    await page.goto(`/console/o/${record.organizationId}/sandbox/transactions`);
    await hasCome(page);
    await page.locator('tr', { hasText: 'was-4' }).waitFor();
    const rows = async () => (await page.locator('tbody tr').allInnerTexts()).length;
    const [before, first] = [await rows(), await page.locator('tbody tr').first().innerText()];
    await page.evaluate('window.scrollTo(0, 200)');
    await pay('waits-1');
    const held = page.getByRole('button', { name: '1 new', exact: true });
    await held.waitFor();
    t.is(await rows(), before);
    t.is(
      (await page.locator('tbody tr').first().innerText()).split('\n').at(-1),
      first.split('\n').at(-1),
      'the first row is the one that was',
    );
    await pay('waits-2');
    await page.getByRole('button', { name: '2 new', exact: true }).click();
    await page.locator('tr', { hasText: 'waits-2' }).waitFor();
    for (const name of ['waits-1', 'waits-2']) t.is(await page.locator('tr', { hasText: name }).count(), 1, name);
    t.is(await rows(), before + 2);
    await pay('waits-3');
    await page.locator('tr', { hasText: 'waits-3' }).waitFor();
    t.is(await held.count(), 0, 'at the top of the list they come at once');
    t.deepEqual([...(await accessibility(page)), ...visitor.soundness()], []);
    await context.close();
  },
);

/** C16: the one box finds what a text names, and sends no phrase. */
async function searches(t: ExecutionContext, visitor: Visitor): Promise<void> {
  const { page } = visitor;
  const box = page.getByRole('searchbox', { name: /^Search addresses/ });
  const made = await atEdge.must('createAddress', { body: { chain: 'eth', userRef: 'found-by-box' } });
  await box.fill(made.address);
  await box.press('Enter');
  await page.waitForURL(`**/addresses/${made.id}`);
  await hasCome(page);
  visitor.forget();
  await box.fill('abandon '.repeat(11) + 'about');
  await box.press('Enter');
  await page.getByText('It was not sent, and is cleared.').waitFor();
  t.is(await box.inputValue(), '');
  t.false(
    visitor.asked.some(({ url }) => url.includes('abandon')),
    'nothing of it is asked',
  );
  t.false(page.url().includes('abandon'), 'nor kept in the address');
}

test.serial(
  'console C9, C16: to a viewer no control of a change is shown, on any page; one box finds what a text names, and sends no phrase',
  async (t) => {
    const visitor = await visit(browser, cloudUrl);
    const { page, context } = visitor;
    await page.goto('/console/');
    await signIn(page, record.viewer);
    await searches(t, visitor);
    const below = `/console/o/${record.organizationId}/sandbox`;
    for (const name of [
      '/addresses?new=1',
      '/webhooks?new=1',
      '/deliveries',
      '/edge/setup',
      '/sandbox',
      '/keys',
      '/members',
    ]) {
      await turnTo(page, `${below}${name}`);
      const words = await page.locator('main button').allInnerTexts();
      const changes = words.filter((text) =>
        /issue|register|make|replay|invite|change|revoke|pay|reset|delete/i.test(text),
      );
      t.deepEqual(changes, [], name);
      t.is(await page.locator('dialog').count(), 0, name);
      t.deepEqual(await isSound(page, visitor, `viewer${name.replaceAll(/[^a-z0-9]+/g, '-')}`), []);
    }
    await context.close();
  },
);

test.serial(
  'ecosystem X21, X36: an endpoint is tested on its page, which says what it does wrong in the words of the command line',
  async (t) => {
    const { id } = await atEdge.must('createWebhook', {
      body: { url: `http://127.0.0.1:${receiver.port}/tested`, events: ['edge_offline'] },
    });
    const visitor = await visit(browser, cloudUrl);
    const { page, context } = visitor;
    await page.goto('/console/');
    await signIn(page, record.owner);
    await turnTo(page, `/console/o/${record.organizationId}/sandbox/webhooks/${id}`);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('dialog').getByText('Good signature', { exact: true }).waitFor();
    const said = await page.getByRole('dialog').getByRole('status').innerText();
    t.regex(said, /Good signature/);
    t.regex(said, /Broken signature/);
    t.regex(said, /a (?:good|broken) signature is|The endpoint takes what is yours/);
    t.deepEqual(await isSound(page, visitor, 'webhook-test'), []);
    await turnTo(page, `/console/o/${record.organizationId}/sandbox/edge`);
    const checks = page.getByRole('table', { name: 'Checks of the set-up' });
    await checks.getByText('an edge leads (epoch', { exact: false }).waitFor();
    t.regex(await checks.innerText(), /leader[^]*endpoints[^]*deliveries[^]*secret_rotation/);
    await context.close();
  },
);
