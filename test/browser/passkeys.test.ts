/** Passkeys in a real browser with a virtual authenticator. Console A24, C22. */
import test from 'ava';
import type { Page } from 'playwright-core';
import { accessibility, openBrowser, picture, visit } from '../support/browser/browser.ts';
import { hasCome, signIn } from '../support/browser/console.ts';
import { codeOf, startTestCloud } from '../support/gateway.ts';
import { freePort } from '../../developer/ports.ts';

const port = await freePort();
const ORIGIN = `http://localhost:${port}`;
const [cloud, browser] = await Promise.all([
  startTestCloud({ PUBLIC_URL: ORIGIN, CLOUD_PORT: String(port) }),
  openBrowser(),
]);
test.after.always(async () => {
  await browser.close();
  await cloud.stop();
});

/** A device that keeps passkeys and always verifies its person. */
async function withAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

test('console A24, A22: a passkey is added in the profile, signs in without a password, and proves a change of the email', async (t) => {
  const { owner } = await cloud.organization();
  const visitor = await visit(browser, ORIGIN);
  const { page, context } = visitor;
  await withAuthenticator(page);
  await page.goto('/console/');
  await signIn(page, owner);
  await page.goto('/console/profile');
  await hasCome(page);
  await page.getByLabel('Name of the passkey').fill('This laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  // Loading the page again turned the token, which has no fresh factor any more.
  await page.getByRole('dialog').getByLabel('Code of your authenticator app').fill(codeOf(owner, 1));
  await page.keyboard.press('Enter');
  await page.getByText('The passkey is added.').waitFor();
  await page.getByRole('cell', { name: 'This laptop' }).waitFor();
  await picture(page, 'passkeys-profile');
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  await picture(page, 'passkeys-sign-in');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.locator('.frame h1').waitFor();
  await hasCome(page);
  await page.goto('/console/profile');
  await hasCome(page);
  await page.getByText('Change the email', { exact: true }).first().click();
  await page.getByLabel('New email').fill(`new-${owner.email}`);
  await page.getByRole('button', { name: 'Change the email' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Use a passkey' }).waitFor();
  await picture(page, 'passkeys-dialog');
  await page.getByRole('dialog').getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('A letter is on its way to the new mailbox.').waitFor();
  t.deepEqual(visitor.soundness(), []);
  // The look of axe ends the virtual authenticator, so it comes last.
  await page.keyboard.press('Escape');
  t.deepEqual(await accessibility(page), []);
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  t.deepEqual(await accessibility(page), []);
  await context.close();
});
