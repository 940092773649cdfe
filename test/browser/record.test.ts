/**
 * The audit log and what staff reads, in a real browser: filters, what changed, whether the log is whole, a checkpoint
 * and an export as files; consent of an owner, the session of an administrator with its band, and its end.
 */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { isSound, openBrowser, picture, visit } from '../support/browser/browser.ts';
import { hasCome, signIn, unspentCode } from '../support/browser/console.ts';
import { openDeveloper } from '../support/developer.ts';

const [developer, browser] = await Promise.all([openDeveloper(), openBrowser()]);
const { record, cloudUrl } = developer.deployment;
const owner = await visit(browser, cloudUrl);
test.after.always(async () => {
  await browser.close();
  await developer.close();
});

const below = `/console/o/${record.organizationId}`;

test.serial(
  'console U4, U6, C8: the audit log is read by filter, an entry shows what changed, the log is verified, kept and exported',
  async (t) => {
    const visitor = owner;
    const { page } = owner;
    await page.goto('/console/');
    await signIn(page, record.owner);
    await page.goto(`${below}/sandbox/keys`);
    await hasCome(page);
    await page.goto(`${below}/live/audit-log`);
    await hasCome(page);
    t.true((await page.locator('td button.link').allInnerTexts()).includes('Login'));
    const faults = await isSound(page, visitor, 'audit-log');
    await page.goto(`${below}/live/audit-log?action=login`);
    await hasCome(page);
    t.deepEqual([...new Set(await page.locator('td button.link').allInnerTexts())], ['Login']);
    await page.locator('td button.link').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    t.true((await dialog.innerText()).includes(record.owner.email));
    faults.push(...(await isSound(page, visitor, 'audit-entry')));
    await page.keyboard.press('Escape');
    await page.getByLabel('Outcome').selectOption('failed');
    await page.getByText('No entry matches these filters').waitFor();
    // The log is whole; a checkpoint is saved, and taken again.
    const files = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save a checkpoint' }).click();
    const kept = readFileSync((await (await files).path())!, 'utf8');
    t.is(JSON.parse(kept).organization, record.organizationId);
    await page.getByLabel('A checkpoint from earlier').fill(kept.trim());
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/^Whole: \d/).waitFor();
    await page.getByLabel('A checkpoint from earlier').fill('x');
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('This is no checkpoint').waitFor();
    faults.push(...(await isSound(page, visitor, 'audit-verified')));
    t.deepEqual(faults, []);
  },
);

test.serial(
  'console A48: an owner reads what a wipe deletes and keeps, and schedules it with the name of the organization and a code alone',
  async (t) => {
    const visitor = owner;
    const { page } = owner;
    await page.goto(`${below}/sandbox/wipe`);
    await hasCome(page);
    t.true((await page.locator('main').innerText()).includes('Your recovery phrase. It is at your edge alone'));
    const faults = await isSound(page, visitor, 'wipe');
    await page.getByRole('button', { name: 'Wipe this environment' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    faults.push(...(await isSound(page, visitor, 'wipe-asked')));
    await dialog.getByLabel('Name of the organization').fill('another');
    await dialog.getByRole('button', { name: 'Schedule the wipe' }).click();
    const code = page.getByRole('dialog').getByRole('textbox');
    await code.last().fill(await unspentCode(page, record.owner));
    await page.keyboard.press('Enter');
    await page.getByText('another text than the name of the organization').waitFor();
    await picture(page, 'wipe-refused');
    faults.push(...visitor.soundness().filter((fault) => !fault.includes('400') && !fault.includes('403')));
    visitor.forget();
    t.deepEqual(faults, []);
  },
);

test.serial(
  'console A45: an owner allows staff to read, sees who did, and ends it; the tab of the reader says on every page whom it reads',
  async (t) => {
    const [viewer, staff] = [await visit(browser, cloudUrl), await visit(browser, cloudUrl)];
    await viewer.page.goto('/console/');
    await signIn(viewer.page, record.viewer);
    await viewer.page.goto(`${below}/live/support`);
    await hasCome(viewer.page);
    t.is(await viewer.page.locator('main form').count(), 0, 'C9: a viewer decides nothing');
    await owner.page.goto(`${below}/live/support`);
    await hasCome(owner.page);
    const faults = await isSound(owner.page, owner, 'support-off');
    await owner.page.getByRole('button', { name: 'Allow', exact: true }).click();
    await owner.page.getByText('Staff may read until').waitFor();

    const { page } = staff;
    await page.goto('/console/');
    await signIn(page, record.admin);
    await page.goto('/console/admin/support');
    await hasCome(page);
    faults.push(...(await isSound(page, staff, 'admin-support')));
    await page.getByLabel('Organization').fill(record.organizationId);
    await page.getByLabel('Environment').selectOption('sandbox');
    await page.getByLabel('Reason').fill('ticket 4711');
    await page.getByRole('button', { name: 'Read it' }).click();
    const band = page.getByRole('region', { name: 'Support session' });
    const code = page.getByRole('dialog').getByRole('textbox');
    await band.or(code).first().waitFor();
    if ((await code.count()) > 0) {
      await code.fill(await unspentCode(page, record.admin));
      await page.keyboard.press('Enter');
    }
    await band.waitFor();
    await hasCome(page);
    for (const name of ['Addresses', 'Deliveries', 'Members', 'API keys']) {
      await page.getByRole('link', { name, exact: true }).click();
      await hasCome(page);
      t.true((await band.innerText()).includes(record.organizationId), name);
      const changes = (await page.locator('main button').allInnerTexts()).filter((text) =>
        /issue|register|make|replay|invite|change|revoke|delete|mint/i.test(text),
      );
      t.deepEqual(changes, [], `${name}: staff changes nothing`);
    }
    faults.push(...(await isSound(page, staff, 'support-reading')));
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByText('IMPERSONATION_FORBIDDEN').waitFor();

    await owner.page.reload();
    await hasCome(owner.page);
    await owner.page.getByText('ticket 4711').waitFor();
    faults.push(...(await isSound(owner.page, owner, 'support-on')));
    await owner.page.getByRole('button', { name: 'End', exact: true }).click();
    await owner.page.getByText('Over', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await page.getByText('The session is over').waitFor();
    t.is(await band.count(), 0);
    await Promise.all([owner, viewer, staff].map(({ context }) => context.close()));
    t.deepEqual(faults, []);
  },
);
