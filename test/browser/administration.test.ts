/**
 * What administrators decide, in a real browser: statements and what was paid, imports in conflict, scans that go far,
 * tokens that were asked for; and the settings of an organization. Console 5.4, B17, C8, C9.
 */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { factsOf, networkOf } from '../../chains/registry.ts';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { newId } from '../../protocol/node/ids.ts';
import { isSound, openBrowser, visit } from '../support/browser/browser.ts';
import { deciding, hasCome, signIn } from '../support/browser/console.ts';
import { eventually, jsonOf, raw, startTestCloud, type TestAccountKey } from '../support/gateway.ts';
import { mailbox } from '../support/letters.ts';
import { freePort } from '../../developer/ports.ts';

const letters = mailbox();
const port = await freePort();
const ORIGIN = `http://localhost:${port}`;
const [cloud, browser] = await Promise.all([
  startTestCloud({ PUBLIC_URL: ORIGIN, CLOUD_PORT: String(port), MAIL_DIR: letters.directory }),
  openBrowser(),
]);
test.after.always(async () => {
  await browser.close();
  await cloud.stop();
});

const decide = deciding(cloud);
const ok = async (answer: ReturnType<typeof raw>): Promise<any> => {
  const { status, json } = await answer;
  if (status >= 300) throw new Error(JSON.stringify(json.error));
  return json.data;
};
/** An import of addresses, whole in one file. */
async function imported({ apiKey }: TestAccountKey, addresses: readonly string[], commits: boolean): Promise<void> {
  const post = (path: string, body: object = {}) =>
    ok(raw(cloud.url, 'POST', path, { headers: jsonOf(apiKey), body: JSON.stringify(body) }));
  const { id: projectId } = await post('/v1/migration/projects', { name: 'old wallet' });
  const { uploadId, uploadUrl } = await post('/v1/migration/uploads', { filename: 'f.csv' });
  const { pathname, search } = new URL(uploadUrl);
  const text = `address,chain,user ref\n${addresses.map((address, at) => `${address},eth,u-${at}\n`).join('')}`;
  await ok(raw(cloud.url, 'PUT', `${pathname}${search}`, { body: text, headers: {} }));
  await post(`/v1/migration/uploads/${uploadId}/complete`);
  const { id } = await post(`/v1/migration/projects/${projectId}/imports`, { uploadId });
  const { dryRunId } = await post(`/v1/migration/imports/${id}/validate`);
  if (commits) await post(`/v1/migration/imports/${id}/commit`, { dryRunId });
}
function addresses(count: number): string[] {
  return Array.from({ length: count }, () => {
    const read = factsOf('eth').parseAddress(networkOf('eth'), `0x${randomBytes(20).toString('hex')}`);
    if (isRefusal(read)) throw new Error('no address');
    return read.canonical;
  });
}

test.serial(
  'console B17, C8; migration M-I7, M-D2; treasury Q5: administrators see what waits for them, decide it with a factor, and record what was paid',
  async (t) => {
    const admin = await cloud.person({ admin: true });
    const visitor = await visit(browser, ORIGIN);
    const { page, context } = visitor;
    await page.goto('/console/admin');
    await signIn(page, admin);
    const faults: string[] = [];
    const open = async (path: string, name = path) => {
      await page.goto(`/console/admin/${path}`);
      await hasCome(page);
      if (name !== '') faults.push(...(await isSound(page, visitor, `admin-${name}`)));
    };
    for (const path of ['import-conflicts', 'scan-limits', 'token-requests', 'statements', 'accounts', 'facts'])
      await open(path, `${path}-empty`);

    const [{ sandbox }, { sandbox: other }, company] = await Promise.all([
      cloud.organization(),
      cloud.organization(),
      cloud.organization({ tier: 'premium', band: 'launch' }),
    ]);
    const claimed = addresses(2);
    await imported(other, claimed, true);
    await imported(sandbox, [...addresses(3), ...claimed], false);
    await open('import-conflicts');
    await page.locator('td button.link').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(claimed[0]!.slice(0, 8)).waitFor();
    faults.push(...(await isSound(page, visitor, 'admin-import-conflict')));
    await decide(page, admin, 'Decide', () => page.getByText('No import waits for a decision').waitFor());
    t.is(await dialog.count(), 0);

    const { owner } = cloud.database;
    const scanId = newId('scn', Date.now());
    await owner`insert into migration_project (account_id, id, name, state, created_at)
      values (${sandbox.accountId}, 'mig_far', 'far', 'draft', now())`;
    await owner`insert into scan (account_id, id, project_id, key_source_id, chain, max_scan, requested_max, review, lanes,
                                  due_at, worked_until, created_at)
      values (${sandbox.accountId}, ${scanId}, 'mig_far', 'ks_x', 'btc', 10000, 20000, 'pending', '[]',
              'infinity', 'infinity', now())`;
    await open('scan-limits');
    await page.getByText('20,000').waitFor();
    await decide(page, admin, 'Decline', () => page.getByText('No scan waits for a decision').waitFor());

    const contractAddress = `0x${randomBytes(20).toString('hex')}`;
    const token = { body: { chain: 'eth' as const, contractAddress, symbol: 'EURX', decimals: 6 } };
    await sandbox.client.must('simulateToken', token);
    await sandbox.client.must('requestToken', token);
    await eventually(
      'the contract is read',
      async () => (await sandbox.client.must('listTokenRequests')).content[0]!,
      ({ onChain }) => onChain !== null,
    );
    await open('token-requests');
    await page.getByRole('button', { name: 'EURX (6)' }).click();
    await dialog.getByText('The contract says').waitFor();
    faults.push(...(await isSound(page, visitor, 'admin-token-request')));
    await dialog.getByLabel('Reason').fill('nobody stands behind it');
    await decide(page, admin, 'Decline', () => page.locator('.status', { hasText: 'Declined' }).waitFor());

    // A month that is over, and what is recorded of it.
    const now = new Date();
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 10)).toISOString().slice(0, 7);
    await owner`update account set state = state || ${owner.json({
      openPeriod: { month, base: { tier: 'premium', band: 'launch', feeCents: '9900' }, charges: [] },
    })} where account_id = ${company.live.accountId}`;
    const staff = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(await cloud.person({ admin: true })) });
    await staff.must('setPlan', { params: { accountId: company.live.accountId }, body: { band: 'growth' } });
    await open('statements', '');
    await page.getByLabel('Account').fill(company.live.accountId);
    await page.getByRole('button', { name: 'Show its statements' }).click();
    await page.getByRole('button', { name: 'Record', exact: true }).click();
    await dialog.getByLabel('Amount (USD)').fill('40.00');
    await dialog.getByLabel('Where it came in').fill('bank');
    await dialog.getByLabel('Reference of the payment').fill('wire-1');
    faults.push(...(await isSound(page, visitor, 'admin-collection')));
    await decide(page, admin, 'Record it', () => page.locator('td', { hasText: '59.00' }).waitFor());
    faults.push(...(await isSound(page, visitor, 'admin-statements')));
    t.deepEqual(faults, []);
    await context.close();
  },
);

test.serial(
  'console A25: one administrator asks for the reset of lost factors, another confirms it, and its person keeps them by the link of a letter',
  async (t) => {
    const [admin, another] = [await cloud.person({ admin: true }), await cloud.person({ admin: true })];
    const { owner } = await cloud.organization();
    const visitor = await visit(browser, ORIGIN);
    const { page, context } = visitor;
    await page.goto('/console/admin/factor-resets');
    await signIn(page, admin);
    await page.getByText('Nobody has lost all of their factors.').waitFor();
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Reason').fill('ticket 4711, called back');
    const row = page.locator('tr', { hasText: owner.email });
    await decide(page, admin, 'Ask for it', () => row.waitFor());
    await page.getByRole('button', { name: 'Confirm', exact: true }).click();
    await page.getByText('neither asked for it').waitFor();
    const staff = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(another) });
    const [open] = (await staff.must('listFactorResets')).content;
    await staff.must('confirmFactorReset', { params: { id: open!.id } });
    await page.reload();
    await row.getByText('Scheduled').waitFor();
    const faults = await isSound(page, visitor, 'admin-factor-resets');

    const [letter] = await letters.to(owner.email, 'will be taken away');
    const person = await visit(browser, ORIGIN);
    await person.page.goto(`/console/keep-factors#${letter!.token!}`);
    await person.page.getByRole('button', { name: 'Keep them' }).waitFor();
    t.false(person.page.url().includes('#'));
    faults.push(...(await isSound(person.page, person, 'keep-factors')));
    await person.page.getByRole('button', { name: 'Keep them' }).click();
    await person.page.getByText(owner.email).waitFor();
    t.like((await staff.must('listFactorResets')).content[0], { status: 'cancelled', cancelledBy: 'user' });
    t.deepEqual(faults, []);
    await Promise.all([context.close(), person.context.close()]);
  },
);

test.serial(
  'console 5.4, C9, C16: an owner gives the organization another name on the page of settings, from which the rest is reached; a viewer reads it; members are found by their email',
  async (t) => {
    const organization = await cloud.organization();
    const viewer = await cloud.person();
    await cloud.join(viewer, organization, 'viewer');
    const settings = `/console/o/${organization.id}/live/settings`;
    const faults: string[] = [];
    const visitor = await visit(browser, ORIGIN);
    const { page, context } = visitor;
    await page.goto(settings);
    await signIn(page, organization.owner);
    await page.goto(settings);
    await hasCome(page);
    faults.push(...(await isSound(page, visitor, 'settings')));
    for (const link of ['Provider and domains', 'Consent and sessions', 'What it does'])
      t.is(await page.getByRole('link', { name: link }).count(), 1, link);
    await page.getByLabel('Another name').fill('Acme <b>Ltd</b>');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByText('It is called Acme <b>Ltd</b> now.').waitFor();
    await page.locator('option', { hasText: 'Acme <b>Ltd</b>' }).waitFor({ state: 'attached' });
    const box = page.getByRole('searchbox', { name: /^Search/ });
    await box.fill(viewer.email.slice(0, 20) + viewer.email.slice(20));
    await box.press('Enter');
    await page.getByRole('link', { name: viewer.email }).click();
    await hasCome(page);
    t.deepEqual(await page.locator('tbody tr').count(), 1);
    faults.push(...(await isSound(page, visitor, 'member-found')));
    await context.close();
    const theirs = await visit(browser, ORIGIN);
    await theirs.page.goto(settings);
    await signIn(theirs.page, viewer);
    await theirs.page.goto(settings);
    await hasCome(theirs.page);
    t.is(await theirs.page.locator('main form').count(), 0, 'C9: a viewer changes nothing');
    faults.push(...(await isSound(theirs.page, theirs, 'settings-viewer')));
    await theirs.context.close();
    t.deepEqual(faults, []);
  },
);
