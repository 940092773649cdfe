/**
 * Routes of a bridge in a real browser: an administrator proposes one, another publishes it with two signatures, and a
 * customer sees it open. Console 5.4, C8, C9; treasury K7–K10, H1–H5.
 */
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { Page } from 'playwright-core';
import type { Registry } from '../../chains/catalogue.ts';
import { registrySigningText } from '../../chains/registry-signature.ts';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { newId } from '../../protocol/node/ids.ts';
import { freePort } from '../../developer/ports.ts';
import { isSound, openBrowser, visit } from '../support/browser/browser.ts';
import { deciding, hasCome, signIn, turnTo } from '../support/browser/console.ts';
import { REGISTRY_KEYS } from '../support/edge/registry.ts';
import { enrol, eventually, startTestCloud, type Person } from '../support/gateway.ts';

const port = await freePort();
const ORIGIN = `http://localhost:${port}`;
const [cloud, browser] = await Promise.all([
  startTestCloud({
    PUBLIC_URL: ORIGIN,
    CLOUD_PORT: String(port),
    REGISTRY_KEYS: REGISTRY_KEYS.map(({ publicKey }) => publicKey).join(),
    // Endpoints that nobody serves: these chains are switched on, and nothing of them is read.
    ETH_RPC_URLS: 'http://127.0.0.1:9',
    BASE_RPC_URLS: 'http://127.0.0.1:9',
  }),
  openBrowser(),
]);
const [one, two] = [await cloud.person({ admin: true }), await cloud.person({ admin: true })];
const decide = deciding(cloud);
test.after.always(async () => {
  await browser.close();
  await cloud.stop();
});

const REGISTRY = '/console/admin/registry';
const BUSY = {
  success: false,
  data: null,
  error: { code: 'SERVICE_UNAVAILABLE', message: 'late', details: {}, requestId: 'req_x' },
};
/** A page that somebody is signed in on. */
async function signedIn(who: Person, path = REGISTRY) {
  const visitor = await visit(browser, ORIGIN);
  await visitor.page.goto(path);
  await signIn(visitor.page, who);
  return visitor;
}
const dialogOf = (page: Page) => page.getByRole('dialog');
const signed = (content: string): string =>
  REGISTRY_KEYS.slice(0, 2)
    .map((key) => key.sign(registrySigningText(JSON.parse(content) as Registry)).toString('hex'))
    .join('\n');

test.serial(
  'console 5.4, C8, C9; treasury K7, K8, K10, H1: a route is proposed by one administrator, read against the version in force, and published by another with two signatures; a proposal is taken back with its reason',
  async (t) => {
    const faults: string[] = [];
    const [proposing, publishing] = [await signedIn(one), await signedIn(two)];
    const { page } = proposing;
    await page.getByText('No change was proposed').waitFor();
    faults.push(...(await isSound(page, proposing, 'admin-registry-empty')));
    await page.getByRole('button', { name: 'Propose a change' }).click();
    await page.getByRole('button', { name: 'Add the route' }).click();
    const dialog = dialogOf(page);
    await dialog.getByText('USDC from eth to base: open').waitFor();
    // What may not be is refused by its field, and stays to be mended.
    await dialog.getByLabel('From', { exact: true }).selectOption('sol');
    await dialog.getByRole('button', { name: 'Add the route' }).click();
    await dialog.getByText('A token on a chain').click();
    await dialog.getByLabel('Chain', { exact: true }).selectOption('avax');
    await dialog.getByLabel('Contract', { exact: true }).fill('0xd586E7F844cEa2F87f50152665BCbc2C279D8d70');
    await dialog.getByLabel('Deprecated', { exact: true }).selectOption('yes');
    await dialog.getByLabel('Say its hazards anew').check();
    await dialog.getByLabel('Pausable', { exact: true }).check();
    await dialog.getByRole('button', { name: 'Add it' }).click();
    await dialog.getByText('deprecated true; hazards Pausable').waitFor();
    faults.push(...(await isSound(page, proposing, 'admin-registry-propose')));
    await decide(page, one, 'Propose it', () => dialog.getByRole('alert').getByText('INVALID_INPUT').waitFor());
    await dialog.getByRole('button', { name: 'Leave out: USDC from sol to base: open' }).click();
    await decide(page, one, 'Propose it', () => page.locator('.status', { hasText: 'Proposed' }).waitFor());

    // Who proposed it reads it, and publishes nothing.
    const change = { name: /0xd586E7/ };
    await page.getByRole('button', change).click();
    await dialog.getByText('You proposed it').waitFor();
    t.is(await dialog.getByLabel('Two signatures').count(), 0);
    faults.push(...(await isSound(page, proposing, 'admin-registry-own')));
    await page.keyboard.press('Escape');

    const other = publishing.page;
    await other.reload();
    await other.getByRole('button', change).click();
    await dialogOf(other).getByLabel('Two signatures').waitFor();
    const row = dialogOf(other).locator('tr', { hasText: 'USDC, eth to base' });
    t.regex(await row.innerText(), /Route\s+closed\s+open/);
    faults.push(...(await isSound(other, publishing, 'admin-registry-publish')));
    const [file] = await Promise.all([
      other.waitForEvent('download'),
      dialogOf(other).getByRole('button', { name: 'Download what is signed' }).click(),
    ]);
    const content = readFileSync((await file.path())!, 'utf8');
    await dialogOf(other).getByLabel('Content that was signed').fill(content);
    await dialogOf(other)
      .getByLabel('Two signatures')
      .fill(`${'0'.repeat(128)}\n${'1'.repeat(128)}`);
    await decide(other, two, 'Publish version 2', () =>
      dialogOf(other).getByRole('alert').getByText('two different keys').waitFor(),
    );
    await dialogOf(other).getByLabel('Two signatures').fill(signed(content));
    await decide(other, two, 'Publish version 2', () => other.locator('.status', { hasText: 'Published' }).waitFor());

    const staff = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(await cloud.person({ admin: true })) });
    await staff.must('proposeRegistryVersion', {
      body: { deployments: [], routes: [{ symbol: 'USDC', from: 'eth', to: 'base', status: 'closed' }] },
    });
    await page.reload();
    await hasCome(page);
    await page.getByRole('button', { name: 'USDC from eth to base: closed' }).click();
    await dialog.getByLabel('Reason').fill('the issuer <b>keeps</b> it');
    await decide(page, one, 'Withdraw', () => page.locator('.status', { hasText: 'Withdrawn' }).waitFor());
    await page.getByRole('button', { name: 'USDC from eth to base: closed' }).click();
    await dialog.getByText('the issuer <b>keeps</b> it').waitFor();
    faults.push(...(await isSound(page, proposing, 'admin-registry-withdrawn')));
    t.deepEqual(faults, []);
    await Promise.all([proposing.context.close(), publishing.context.close()]);
  },
);

test.serial(
  'console 5.4, C8, C9, C10; treasury H1–H5, H11: a customer sees which routes are open and why the others are not, sets limits, and reads where a transfer is and why it does not go on; a viewer changes nothing',
  async (t) => {
    const organization = await cloud.organization();
    const { live, sandbox } = organization;
    await enrol(cloud, live);
    // Both accounts are awake before somebody looks: on a busy machine the first answer may be late.
    await eventually(
      'the sandbox answers',
      () => sandbox.client.call('listBridgePolicies'),
      (page) => !isRefusal(page),
    );
    for (const chain of ['eth', 'base'] as const)
      await live.client.must('createTreasuryWallet', { body: { chain, source: 'derived', label: `of ${chain}` } });
    const path = `/console/o/${organization.id}/live/bridges`;
    const faults: string[] = [];
    const visitor = await signedIn(organization.owner);
    const { page } = visitor;
    await turnTo(page, `/console/o/${organization.id}/sandbox/bridges`);
    await page.getByText('No route is open in this environment').waitFor();
    faults.push(...(await isSound(page, visitor, 'bridges-sandbox')));
    // What a busy node did not answer is asked again, without anybody pressing a button (C8, C15).
    let refused = 0;
    await page.route('**/v1/treasury/routes', (route) =>
      refused++ === 0 ? route.fulfill({ status: 503, json: BUSY }) : route.continue(),
    );
    await turnTo(page, path);
    const row = (name: RegExp) => page.getByRole('row', { name });
    await row(/^eth base about 19 min/).waitFor();
    t.regex(await row(/^base – eth/).innerText(), /not opened by the platform/);
    t.regex(await row(/^eth base/).innerText(), /xrp: the issuer has no bridge there/);

    await page.getByRole('button', { name: 'New policy' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('At once, most (USDC)').fill('1000.5');
    await dialog.getByLabel('On its way, most (USDC)').fill('900');
    faults.push(...(await isSound(page, visitor, 'bridges-new-policy')));
    await dialog.getByRole('button', { name: 'Create it' }).click();
    await dialog.getByRole('alert').getByText('INVALID_INPUT').waitFor();
    await dialog.getByLabel('On its way, most (USDC)').fill('3000');
    await dialog.getByRole('button', { name: 'Create it' }).click();
    await row(/^eth to base 1,000\.5 USDC/).waitFor();
    const [policy] = (await live.client.must('listBridgePolicies')).content;
    t.like(policy, {
      maxSingleTransfer: '1000500000',
      maxInFlightValue: '3000000000',
      maxInFlightCount: 3,
      enabled: true,
    });
    await page.getByRole('button', { name: 'Bridge', exact: true }).click();
    await dialog.getByLabel('Amount (USDC)').fill('1000.5');
    await dialog.getByRole('button', { name: 'Bridge it' }).click();
    await dialog.getByRole('alert').getByText('CHAIN_UNAVAILABLE').waitFor();
    faults.push(...(await isSound(page, visitor, 'bridges-refused')));
    await page.keyboard.press('Escape');

    // One of each kind, which nobody looks at meanwhile.
    const { owner } = cloud.database;
    for (const [state, more] of [
      ['COMPLETED', { received: '1000000000', endedAt: new Date() }],
      ['FAILED', { reason: 'funding_wallet_low', endedAt: new Date() }],
      ['ATTESTING', { stalledReason: 'attestation', stalledAt: new Date() }],
    ] as const) {
      const {
        received = null,
        endedAt = null,
        reason = null,
        stalledReason = null,
        stalledAt = null,
      } = more as {
        [name in 'received' | 'reason' | 'stalledReason']?: string;
      } & { endedAt?: Date; stalledAt?: Date };
      await owner`insert into flock.bridge_transfer (account_id, id, version, policy_id, from_chain, to_chain,
          token_contract, source, recipient, amount, state, reason, stalled_reason, stalled_at, approve_id, burn_id,
          mint_id, look_at, received, created_at, updated_at, ended_at)
        values (${live.accountId}, ${newId('brt', Date.now())}, 1, ${policy!.id}, 'eth', 'base', ${policy!.token},
          '0x9858EfFD232B4033E47d90003D41EC34EcaEda94', '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0', 1000000000,
          ${state}, ${reason}, ${stalledReason}, ${stalledAt}, ${newId('txn', Date.now())}, ${newId('txn', Date.now())},
          ${newId('txn', Date.now())}, 'infinity', ${received}, now(), now(), ${endedAt})`;
    }
    await turnTo(page, `/console/o/${organization.id}/live/chains`);
    await turnTo(page, path);
    await row(/Failed Funding wallet low/).waitFor();
    faults.push(...(await isSound(page, visitor, 'bridges')));
    await row(/Stalled the attestation service/)
      .getByRole('button')
      .click();
    await dialog.getByText('Nothing is ever burnt again').waitFor();
    faults.push(...(await isSound(page, visitor, 'bridges-stalled')));
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    t.is(await page.getByRole('button', { name: 'Bridge', exact: true }).count(), 0);

    const viewer = await cloud.person();
    await cloud.join(viewer, organization, 'viewer');
    const theirs = await signedIn(viewer, path);
    await theirs.page.getByRole('row', { name: /^eth to base/ }).waitFor();
    t.is(await theirs.page.locator('main form').count(), 0);
    t.is(await theirs.page.getByRole('button', { name: 'New policy' }).count(), 0);
    t.deepEqual(faults, []);
    await Promise.all([visitor.context.close(), theirs.context.close()]);
  },
);

test.serial(
  'console C8; treasury Q5–Q7: what another administrator accepted is read against the version in force, and published with two signatures as soon as its chain says it again',
  async (t) => {
    const { live } = await cloud.organization();
    const contractAddress = '0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c';
    const { id: requested } = await live.client.must('requestToken', {
      body: { chain: 'eth', contractAddress, symbol: 'EURC', decimals: 6 },
    });
    // As the chain's contract says of itself; no node of the chain is asked here.
    const facts = { symbol: 'EURC', name: 'Euro Coin', decimals: 6, hazards: ['blocklist'] };
    await cloud.database
      .owner`update flock.token_review set facts = ${cloud.database.owner.json(facts)}, read_at = now(),
      state = 'accepted', accepted_by = ${one.id}, hazards_known = '{blocklist}', next_read_at = 'infinity'
      where id = (select review_id from flock.token_request where id = ${requested})`;
    const another = await cloud.person({ admin: true });
    const visitor = await signedIn(another);
    const { page } = visitor;
    await page.goto('/console/admin/token-requests');
    await page.getByRole('button', { name: 'EURC (6)' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Kind').selectOption('bridged');
    await dialog.getByRole('row', { name: /Kind – bridged/ }).waitFor();
    const faults = await isSound(page, visitor, 'admin-token-publish');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download what is signed' }).click(),
    ]);
    const content = readFileSync((await file.path())!, 'utf8');
    await dialog.getByLabel('Content that was signed').fill(content);
    await dialog.getByLabel('Two signatures').fill(signed(content));
    await dialog.getByLabel('Blocklist').check();
    await decide(page, another, /^Publish version/, () =>
      dialog.getByRole('alert').getByText('CHAIN_UNAVAILABLE').waitFor(),
    );
    t.is(await dialog.getByLabel('Content that was signed').inputValue(), content, 'C9: what was typed stays');
    t.deepEqual(faults, []);
    await visitor.context.close();
  },
);
