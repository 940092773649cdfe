/** From a sign-up to the first webhook in the browser, with a real edge. Console C18, C19. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { startChild } from '../../developer/children.ts';
import { openBrowser, picture, visit } from '../support/browser/browser.ts';
import { hasCome, pressing, signIn } from '../support/browser/console.ts';
import { partEntries } from '../support/built-parts.ts';
import { openDeveloper } from '../support/developer.ts';
import { codeOf } from '../support/gateway.ts';
import { mailbox } from '../support/letters.ts';
import { ROOT } from '../support/tree.ts';

const letters = mailbox();
const home = mkdtempSync(join(tmpdir(), 'flock-first-run-'));
const [developer, browser] = await Promise.all([
  openDeveloper({ cloudEnv: { SIGN_UP: 'open', MAIL_DIR: letters.directory } }),
  openBrowser(),
]);
const { deployment, receiver } = developer;
test.after.always(async () => {
  await browser.close();
  await developer.close();
  for (const made of [home, letters.directory]) rmSync(made, { recursive: true, force: true });
});

const CLICKS_MAX = 15;
const MACHINE_MS = 90_000;

/** The edge of the command that the page shows, as a process of its own. */
async function startEdge(apiKey: string, name: string) {
  const folder = join(home, name);
  mkdirSync(folder);
  const phraseFile = join(folder, 'phrase');
  writeFileSync(phraseFile, `${generateMnemonic(wordlist, 256)}\n`, { mode: 0o600 });
  const { edge } = await partEntries();
  return startChild(
    name,
    edge,
    {
      API_KEY: apiKey,
      CLOUD_URL: deployment.cloudUrl,
      EDGE_PORT: '0',
      EDGE_DATA_DIR: folder,
      MNEMONIC_FILE: phraseFile,
      EDGE_WEBHOOK_ALLOWLIST: `127.0.0.1:${receiver.port}`,
    },
    join(home, `${name}.log`),
  );
}

/** What docs/first-webhook.md has in bold, in its order. */
const PAGE = readFileSync(join(ROOT, 'docs/first-webhook.md'), 'utf8');
const BOLD = [...PAGE.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name]) => name!);

test.serial(
  'console C18: docs/first-webhook.md is what somebody presses from npm start to the first webhook',
  async (t) => {
    const visitor = await visit(browser, deployment.cloudUrl);
    const { page } = visitor;
    const { press, presses } = pressing(page, 'keyboard');
    await page.goto('/console/');
    await signIn(page, deployment.record.owner);
    const fields: Readonly<Record<string, readonly [string, string]>> = {
      Issue: ['Customer', 'customer-1'],
      Register: ['URL', `http://127.0.0.1:${receiver.port}/webhooks`],
    };
    t.is(BOLD.length, 8);
    for (const name of BOLD) {
      const field = fields[name];
      if (field !== undefined) await page.getByRole('dialog').getByLabel(field[0]).fill(field[1]);
      if (name === 'Pay it')
        await page.getByLabel('Address').locator('option', { hasText: 'customer-1' }).waitFor({ state: 'attached' });
      const role = /^(?:Issue an|Register one|Simulate|See)/.test(name) ? 'link' : 'button';
      await press(role, name);
    }
    await page.locator('tr', { hasText: 'Deposit confirmed' }).getByText('Delivered').waitFor();
    t.true(presses() <= CLICKS_MAX);
    t.deepEqual(visitor.soundness(), []);
    await visitor.context.close();
  },
);

/** What the browser asks next, which is answered so. */
const answering = (page: Page, answer: 'accept' | 'dismiss'): Promise<string> =>
  new Promise((resolve) => {
    page.once('dialog', (dialog) => {
      resolve(dialog.message());
      void dialog[answer]();
    });
  });

for (const way of ['mouse', 'keyboard'] as const) {
  test.serial(
    `console C11 (faults 39), C18, C19, D3: from a sign-up to the first webhook by ${way}${way === 'keyboard' ? ' at 390 px' : ''}, with a real edge`,
    async (t) => {
      const began = performance.now();
      const visitor = await visit(
        browser,
        deployment.cloudUrl,
        way === 'keyboard' ? { viewport: { width: 390, height: 800 } } : {},
      );
      const { page } = visitor;
      const { press, presses } = pressing(page, way);
      const email = `first-${way}@example.com`;
      await page.goto('/console/');
      await press('link', 'Sign up');
      await page.getByLabel('Email').fill(email);
      await press('button', 'Send the letter');
      const [letter] = await letters.to(email, '');
      await page.goto(`/console/verify#${letter!.token}`);
      await page.getByLabel('Password').fill('seventeen horses under a bridge');
      await press('button', 'Set it and sign in');
      await page.getByLabel('Name').fill('First & <b>Co</b>');
      await press('button', 'Found it');
      await press('button', 'Set up an authenticator app');
      const secret = await page.locator('.address-card code').getAttribute('title');
      await page.getByLabel('The code that it shows').fill(codeOf({ totpSecret: secret! }));
      await press('button', 'Confirm');
      await page.getByLabel('The code that it shows').waitFor({ state: 'detached' });
      await press('button', 'Make a key');
      const key = await page.locator('.secret code').innerText();
      t.regex(key, /^flk_test_/);
      t.true((await page.locator('.command pre').first().innerText()).includes(key), 'the command has it filled in');
      await picture(page, `first-run-${way}-key`);
      if (way === 'mouse') {
        const asked = answering(page, 'dismiss');
        await page.getByRole('navigation').getByRole('link', { name: 'Addresses', exact: true }).click();
        t.regex(await asked, /shown only now/, 'leaving asks');
        t.is(await page.locator('.secret code').innerText(), key);
      }
      const edge = await startEdge(key, way);
      t.teardown(() => edge.stop());
      await press('link', 'Issue the first address');
      await page.getByRole('dialog').getByLabel('Customer').fill('customer-1');
      await press('button', 'Issue');
      await press('link', 'Register one');
      await page.getByRole('dialog').getByLabel('URL').fill(`http://127.0.0.1:${receiver.port}/${way}`);
      await press('button', 'Register');
      const signing = await page.locator('.secret code').innerText();
      t.regex(signing, /^whsec_/);
      if (way === 'mouse') {
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('dialog').getByRole('button', { name: 'Download' }).click(),
        ]);
        t.is(readFileSync((await file.path())!, 'utf8').trim(), signing);
        const asked = answering(page, 'dismiss');
        await page.keyboard.press('Escape');
        t.regex(await asked, /Did you keep the secret/);
        t.is(await page.locator('.secret code').innerText(), signing, 'it is still there');
      }
      await press('button', 'I have kept it');
      await page.locator('.secret').waitFor({ state: 'detached' });
      t.false((await page.content()).includes(signing), 'it is shown once');
      await press('link', 'Simulate a deposit');
      await page.getByLabel('Address').locator('option', { hasText: 'customer-1' }).waitFor({ state: 'attached' });
      await press('button', 'Pay it');
      await press('link', 'See what was posted');
      await page.locator('tr', { hasText: 'Deposit confirmed' }).getByText('Delivered').waitFor();
      t.notRegex(await page.locator('main').innerText(), /\bin \d+ (?:s|min)\b/, 'nothing has happened in the future');
      await picture(page, `first-run-${way}-delivered`);
      const took = performance.now() - began;
      t.log(`${presses()} presses, ${Math.round(took / 1_000)} s`);
      t.true(presses() <= CLICKS_MAX, `${presses()} presses`);
      t.true(took <= MACHINE_MS, `${took} ms`);
      // What was left is found again, by whoever goes on: it is read from what exists.
      await page.goto('/console/');
      await hasCome(page);
      t.is(await page.getByText('First steps').count(), 0, 'nothing is left to do');
      t.deepEqual(visitor.soundness(), []);
      await visitor.context.close();
    },
  );
}
