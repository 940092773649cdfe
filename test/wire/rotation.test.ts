/**
 * Identity rotation from outside: what an edge, an application and the owner meet. Spec §3.1, §5.5, §5.7; issue 4.3.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import { envelopeOf } from '../../protocol/schema/events.ts';
import { codeOf, enrol, eventually, newEvmKey, startTestCloud, testEdge, type TestEdge } from '../support/gateway.ts';

const mailDirectory = mkdtempSync(join(tmpdir(), 'flock-rotation-'));
const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9', MAIL_DIR: mailDirectory });
test.after.always(async () => {
  await cloud.stop();
  rmSync(mailDirectory, { recursive: true, force: true });
});

const sync = (edge: TestEdge) =>
  edge.client.call('syncEdge', {
    body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId, keys: [newEvmKey()], pools: [] },
  });
const resumeBody = (edge: TestEdge) => ({ edgeVersion: EDGE_VERSION, sessionId: edge.sessionId });

/**
 * A sandbox account with an address, a built withdrawal, an endpoint for deposits only, and another identity at the
 * door.
 */
async function rotated() {
  const organization = await cloud.organization();
  const { sandbox } = organization,
    { client } = sandbox;
  const first = await enrol(cloud, sandbox);
  const { address, id: addressId } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'u1' } });
  await client.must('simulateDeposit', { body: { chain: 'eth', address, amount: '5', autoConfirm: true } });
  await eventually(
    'the deposit is confirmed',
    () => client.must('listTransactions', { query: { direction: 'in' } }),
    ({ content }) => content[0]?.status === 'confirmed',
  );
  const to = '0x52908400098527886E0F7030069857D2E4169EE7';
  const built = await client.must('buildTransaction', { body: { chain: 'eth', from: address, to, amount: '1000' } });
  const hook = await client.must('createWebhook', {
    body: { url: 'https://example.com/hooks', events: ['deposit_detected'] },
  });
  const second = testEdge(cloud, sandbox.apiKey);
  const refused = await sync(second);
  return { organization, sandbox, client, first, second, refused, address, addressId, built, hook, to };
}

const stateOf = async (client: Awaited<ReturnType<typeof rotated>>['client'], chain: string) =>
  (await client.must('getEdgeReadiness')).content.find((row) => row.chain === chain)!;

test('§5.7 another identity on sync: EDGE_SIGNATURE_INVALID, keys held back, chains quarantined, told whatever the subscription, owner mailed', async (t) => {
  const { organization, client, refused, second, hook, sandbox } = await rotated();
  t.like(refused, { code: 'EDGE_SIGNATURE_INVALID' });
  t.is((await stateOf(client, 'eth')).state, 'quarantined');
  t.is((await stateOf(client, 'btc')).state, 'not_ready', 'a chain without a key is not affected');
  const keys = await cloud.database.owner<
    { status: string }[]
  >`select status from account_key where account_id = ${sandbox.accountId} order by status`;
  t.deepEqual(
    keys.map(({ status }) => status),
    ['active', 'held'],
  );
  const told = await client.must('listWebhookDeliveries', {
    params: { webhookId: hook.id },
    query: { event: 'identity_rotation_detected' },
  });
  t.is(told.totalElements, 1);
  const [{ body }] = await cloud.database.owner<
    [{ body: string }]
  >`select body from publication where account_id = ${sandbox.accountId} and event = 'identity_rotation_detected'`;
  const event = envelopeOf('identity_rotation_detected').parse(JSON.parse(body)) as { data: { rotationId: string } };
  t.false(body.includes(second.signer.keyId), 'by fingerprint');
  const letters = await eventually(
    'the owner is mailed',
    async () => {
      await stateOf(client, 'eth'); // a round trip between two looks
      return readdirSync(mailDirectory)
        .filter((name) => name.endsWith('.eml'))
        .map((name) => readFileSync(join(mailDirectory, name), 'utf8'))
        .filter((text) => text.includes(organization.owner.email));
    },
    (found) => found.length > 0,
  );
  t.is(letters.length, 1);
  t.true(letters[0]!.includes(event.data.rotationId));
  t.notRegex(letters[0]!, /[0-9a-f]{64}|xpub|whsec_|flk_(?:live|test)_/);
});

test('§5.7 until the owner decides nothing is registered, built, signed or issued, for neither identity: IDENTITY_ROTATION_PENDING', async (t) => {
  const { client, first, second, built, address, to } = await rotated();
  for (const edge of [first, second]) {
    const { client: signed } = edge;
    const pool = {
      chain: 'sol' as const,
      addresses: [],
      gasTank: { address: '11111111111111111111111111111111', path: "m/44'/501'/0'/1'/0'" },
    };
    t.like(await sync(edge), { code: 'IDENTITY_ROTATION_PENDING' });
    t.like(await signed.call('resumeEdge', { body: resumeBody(edge) }), { code: 'IDENTITY_ROTATION_PENDING' });
    t.like(await signed.call('resyncEdge', { body: resumeBody(edge) }), { code: 'IDENTITY_ROTATION_PENDING' });
    t.like(await signed.call('pushPool', { body: { pool } as never }), { code: 'IDENTITY_ROTATION_PENDING' });
    const signedPayload = `0x02${'ab'.repeat(60)}`;
    t.like(
      await signed.call('submitSigned', {
        params: { id: built.id },
        body: { signedPayload, txid: `0x${'cd'.repeat(32)}`, sessionId: edge.sessionId, leaseEpoch: 1 } as never,
      }),
      { code: 'IDENTITY_ROTATION_PENDING' },
    );
  }
  t.like(await client.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } }), {
    code: 'CHAIN_NOT_READY',
    details: { state: 'quarantined' },
  });
  t.like(await client.call('buildTransaction', { body: { chain: 'eth', from: address, to, amount: '1' } }), {
    code: 'IDENTITY_ROTATION_PENDING',
  });
  t.like(await client.call('repriceTransaction', { params: { id: built.id } }), { code: 'IDENTITY_ROTATION_PENDING' });
  t.like(await client.call('broadcastTransaction', { params: { id: built.id } }), {
    code: 'IDENTITY_ROTATION_PENDING',
  });
});

test('§2.3 addresses of the earlier keys stay watched, before the decision and after it', async (t) => {
  const { organization, client, address } = await rotated();
  const pay = async () => {
    const { txid } = await client.must('simulateDeposit', {
      body: { chain: 'eth', address, amount: '0.25', autoConfirm: true },
    });
    return eventually(
      'it is credited',
      () => client.must('listTransactions', { query: { direction: 'in' } }),
      ({ content }) => content.some((row) => row.txid === txid && row.status === 'confirmed'),
    );
  };
  await t.notThrowsAsync(pay);
  const console_ = createClient({
    baseUrl: cloud.url,
    bearer: await cloud.signIn(organization.owner),
    environment: 'sandbox',
  });
  const [rotation] = (await console_.must('listRotations')).content;
  await console_.must('approveRotation', {
    params: { id: rotation!.id },
    body: { totp: codeOf(organization.owner, 1) },
  });
  t.is((await stateOf(client, 'eth')).state, 'ready');
  await t.notThrowsAsync(pay);
  const next = await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } });
  t.not(next.address, address);
  t.is(next.derivationPath, "m/44'/60'/0'/0/1", 'indexes go on');
});

test('§5.5 console A22 only an owner decides, with a fresh code: an editor is FORBIDDEN, an owner without one gets TOTP_REQUIRED', async (t) => {
  const { organization, client, second } = await rotated();
  const editor = await cloud.person();
  await cloud.join(editor, organization, 'editor');
  const asEditor = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(editor), environment: 'sandbox' });
  const asOwner = createClient({
    baseUrl: cloud.url,
    bearer: await cloud.signIn(organization.owner),
    environment: 'sandbox',
  });
  const [rotation] = (await asOwner.must('listRotations')).content;
  const params = { id: rotation!.id };
  for (const operation of ['approveRotation', 'rejectRotation'] as const) {
    t.like(await asEditor.call(operation, { params, body: { totp: codeOf(editor, 1) } }), { code: 'FORBIDDEN' });
    t.like(await asOwner.call(operation, { params, body: { totp: codeOf(organization.owner, 9) } }), {
      code: 'TOTP_REQUIRED',
    });
  }
  t.is((await stateOf(client, 'eth')).state, 'quarantined', 'nothing was decided');
  // A step-up of before does not decide: the code is made for this.
  t.like(await asOwner.call('rejectRotation', { params, body: {} }), {
    code: 'TOTP_REQUIRED',
    details: { reason: 'missing', accepts: ['totp'] },
  });
  await asOwner.must('rejectRotation', { params, body: { totp: codeOf(organization.owner, 1) } });
  t.is((await stateOf(client, 'eth')).state, 'ready');
  const other = await cloud.person();
  await cloud.join(other, organization, 'owner');
  const asOther = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(other), environment: 'sandbox' });
  const late = await asOther.call('approveRotation', { params, body: { totp: codeOf(other, 1) } });
  t.like(late, { code: 'NOT_FOUND' }, 'decided once');
  t.like(await second.client.call('resumeEdge', { body: resumeBody(second) }), { code: 'EDGE_SIGNATURE_INVALID' });
});
