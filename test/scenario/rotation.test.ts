/**
 * A rotation while a real edge leads: nothing is signed until the owner decided, and nothing that was asked is lost.
 * Spec §5.7.
 */
import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { eventually, startTestEdge } from '../support/edge/edges.ts';
import { startReceiver } from '../support/edge/receivers.ts';
import { codeOf, startTestCloud, testEdge } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());
const LONG_MS = 60_000;

test('§5.7 the pinned edge goes on relaying, tells its endpoints of the rotation, and broadcasts nothing until the owner rejected it', async (t) => {
  const {
    owner,
    sandbox: { client, apiKey, accountId },
  } = await cloud.organization();
  const edge = await startTestEdge(t, cloud.url, {
    environment: 'sandbox',
    phrase: generateMnemonic(wordlist),
    env: { API_KEY: apiKey, EDGE_CHAINS: 'eth', EDGE_ROTATION_CHECK: '1' },
  });
  await eventually(
    'the edge leads',
    async () => (await client.must('listEdgeSessions')).content.some(({ role }) => role === 'leader'),
    LONG_MS,
  );
  const receiver = await startReceiver(t);
  await client.must('createWebhook', { body: { url: receiver.url, events: ['deposit_confirmed'] } });
  const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } });
  await client.must('simulateDeposit', { body: { chain: 'eth', address, amount: '1', autoConfirm: true } });
  await eventually('the deposit is told', () => receiver.hits.length >= 1, LONG_MS);
  const body = { chain: 'eth', from: address, to: '0x52908400098527886E0F7030069857D2E4169EE7', amount: '1000' };
  const { data: built } = await edge.ask('POST', '/v1/transactions/unsigned', body);
  const broadcast = () => edge.ask('POST', `/v1/transactions/${String(built!['id'])}/broadcast`);

  await testEdge(cloud, apiKey).sync();
  await eventually(
    'the rotation is told to an endpoint that did not ask for it',
    () => receiver.hits.some(({ body: text }) => text.includes('"identity_rotation_detected"')),
    LONG_MS,
  );
  const refused = await broadcast();
  t.like(refused.error, { code: 'IDENTITY_ROTATION_PENDING' });
  t.not(refused.error!.details['signed'], true, 'the edge did not even sign');
  t.true(
    edge.logged.some(({ event, msg }) => [event, msg].includes('rotation_pending')),
    JSON.stringify(edge.logged.at(-1)),
  );
  const atCloud = await client.call('broadcastTransaction', { params: { id: String(built!['id']) } });
  t.like(atCloud, { code: 'IDENTITY_ROTATION_PENDING' });
  const [row] = await cloud.database.owner<
    { versions: unknown[] }[]
  >`select versions from withdrawal where account_id = ${accountId}`;
  t.deepEqual(row!.versions, []);

  const asOwner = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(owner), environment: 'sandbox' });
  const [rotation] = (await asOwner.must('listRotations')).content;
  await asOwner.must('rejectRotation', { params: { id: rotation!.id }, body: { totp: codeOf(owner, 1) } });
  let last: unknown = null;
  await eventually(
    'it is broadcast',
    async () => {
      const answer = await broadcast();
      last = answer.error ?? answer.data;
      return answer.status === 200;
    },
    LONG_MS,
  ).catch((error: Error) => t.fail(`${error.message}: ${JSON.stringify(last)}`));
  t.like(await client.must('getTransaction', { params: { id: String(built!['id']) } }), { direction: 'out' });
});

test('§5.7 an edge with a new phrase waits for the owner, takes over when the rotation is approved, and the old one acts no more', async (t) => {
  const {
    owner,
    sandbox: { client, apiKey },
  } = await cloud.organization();
  const phrases = [generateMnemonic(wordlist), generateMnemonic(wordlist)] as const;
  const start = (phrase: string) =>
    startTestEdge(t, cloud.url, {
      environment: 'sandbox',
      phrase,
      env: { API_KEY: apiKey, EDGE_CHAINS: 'eth,sol', EDGE_ROTATION_CHECK: '1' },
    });
  const stateOf = async (chain: string) =>
    (await client.must('getEdgeReadiness')).content.find((row) => row.chain === chain)!.state;
  const old = await start(phrases[0]);
  await eventually(
    'the old edge leads',
    async () => (await client.must('listEdgeSessions')).content.some(({ role }) => role === 'leader'),
    LONG_MS,
  );
  const before = await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } });
  const pooled = await client.must('createAddress', { body: { chain: 'sol', userRef: 'customer-1' } });
  const fresh = await start(phrases[1]);
  await eventually(
    'the chains are quarantined',
    async () => (await stateOf('eth')) === 'quarantined' && (await stateOf('sol')) === 'quarantined',
    LONG_MS,
  );
  t.is((await fresh.ask('GET', '/v1/addresses')).error?.code, 'EDGE_NOT_SYNCED');

  const asOwner = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(owner), environment: 'sandbox' });
  const [rotation] = (await asOwner.must('listRotations')).content;
  await asOwner.must('approveRotation', { params: { id: rotation!.id }, body: { totp: codeOf(owner, 1) } });
  await eventually(
    'the new edge leads',
    async () =>
      (await fresh.ask('GET', '/v1/edge/readiness')).status === 200 &&
      (await client.must('listEdgeSessions')).content.some(
        ({ role, liveness }) => role === 'leader' && liveness === 'live',
      ),
    LONG_MS,
  );
  await eventually(
    'both chains are ready',
    async () => (await stateOf('eth')) === 'ready' && (await stateOf('sol')) === 'ready',
    LONG_MS,
  );
  // Through the new edge, which derives each of them itself.
  const issue = async (chain: string) =>
    (await fresh.ask('POST', '/v1/addresses', { chain, userRef: 'customer-1' })).data as { derivationPath: string };
  const [after, pooledAfter] = [await issue('eth'), await issue('sol')];
  t.deepEqual(
    [before, after].map(({ derivationPath }) => derivationPath),
    ["m/44'/60'/0'/0/0", "m/44'/60'/0'/0/1"],
  );
  t.deepEqual(
    [pooled, pooledAfter].map(({ derivationPath }) => derivationPath),
    ["m/44'/501'/0'/0'", "m/44'/501'/1'/0'"],
  );
  const listed = (await client.must('listAddresses')).content;
  t.is(listed.length, 4, 'the old addresses are there');
  // Of the old identity nothing can be signed, and their paths say so; the new edge hands them on.
  const atEdge = ((await fresh.ask('GET', '/v1/addresses')).data as { content: typeof listed }).content;
  t.deepEqual(
    atEdge.map(({ id }) => id),
    listed.map(({ id }) => id),
  );
  for (const { address, path } of [
    { address: before.address, path: /^\[[0-9a-f]{16}\/44'\/60'\/0'\/0\/0\]$/ },
    { address: pooled.address, path: /^\[[0-9a-f]{16}\/44'\/501'\/0'\/0'\]$/ },
  ]) {
    t.regex(atEdge.find((one) => one.address === address)!.derivationPath!, path);
  }
  t.like(await fresh.ask('POST', `/v1/addresses/${before.id}/archive`), {
    error: null,
    data: { address: before.address, status: 'archived' },
  });
  const tanks = (await fresh.ask('GET', '/v1/edge/gas-tanks')).data as {
    content: { chain: string; address: string }[];
  };
  t.is(
    new Set(tanks.content.map(({ chain }) => chain)).size,
    tanks.content.length,
    'one gas tank a chain: that of the new identity',
  );
  const refused = await client.call('buildTransaction', {
    body: { chain: 'eth', from: before.address, to: '0x52908400098527886E0F7030069857D2E4169EE7', amount: '1' },
  });
  t.like(refused, { code: 'ADDRESS_WATCH_ONLY', details: { reason: 'identity_retired' } });
  await eventually(
    'the old edge is refused',
    async () => (await old.ask('GET', '/v1/addresses')).error?.code === 'EDGE_NOT_SYNCED',
    LONG_MS,
  );
});
