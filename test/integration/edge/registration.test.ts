import test from 'ava';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { ask, eventually, startTestEdge } from '../../support/edge/edges.ts';
import { newDirectory } from '../../support/edge/disk.ts';

async function newCloud(t: import('ava').ExecutionContext): Promise<HostileCloud> {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  return cloud;
}

test('§3.7 the first sync enrols with one extended key a family and one pool for each Ed25519 chain; later boots resume', async (t) => {
  const cloud = await newCloud(t);
  const dataDir = newDirectory();
  const first = await startTestEdge(t, cloud.url, { dataDir });
  await first.edge.registered;
  await eventually('the stream is up', () => cloud.streams === 1);
  const [sync] = cloud.syncs;
  t.deepEqual(sync!.keys.map(({ family, accountPath }) => `${family} ${accountPath}`).sort(), [
    "btc m/84'/0'/0'",
    "evm m/44'/60'/0'",
    "tron m/44'/195'/0'",
    "xrp m/44'/144'/0'",
  ]);
  t.deepEqual(
    sync!.pools.map(({ chain, addresses }) => `${chain} ${addresses.length}`),
    ['sol 1000', 'xlm 1000'],
  );
  t.is(sync!.pools[0]!.addresses[0]!.address, 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk');
  t.notRegex(JSON.stringify(sync), /xprv|abandon/);
  await first.edge.stop();
  const second = await startTestEdge(t, cloud.url, { dataDir });
  await second.edge.registered;
  t.is(cloud.countOf('POST /v1/edge/sync'), 1);
  t.is(cloud.countOf('POST /v1/edge/resume'), 1);
  t.is(cloud.badSignatures, 0);
  t.true(cloud.seen.every(({ signed }) => signed));
});

test('§3.7 ALREADY_ENROLLED makes the edge resume by itself', async (t) => {
  const cloud = await newCloud(t);
  cloud.enrolled = true;
  const { edge } = await startTestEdge(t, cloud.url);
  await edge.registered;
  t.is(cloud.countOf('POST /v1/edge/sync'), 1);
  t.is(cloud.countOf('POST /v1/edge/resume'), 1);
});

test('§3.7 RESYNC_REQUIRED, on resume or any later call, makes the edge drop its cache and enrol again', async (t) => {
  const cloud = await newCloud(t);
  const dataDir = newDirectory();
  const first = await startTestEdge(t, cloud.url, { dataDir });
  await first.edge.registered;
  await first.edge.stop();
  cloud.enrolled = false;
  const second = await startTestEdge(t, cloud.url, { dataDir });
  await second.edge.registered;
  t.is(cloud.syncs.length, 2);
  // The epochs of the new enrolment begin anew: a lower one is believed.
  cloud.enrolled = false;
  cloud.leaseEpoch = 7;
  cloud.on('GET /v1/addresses', () => ({ code: 'RESYNC_REQUIRED' }));
  t.is((await second.ask('GET', '/v1/addresses')).error?.code, 'RESYNC_REQUIRED');
  await eventually('it enrolled a third time', () => cloud.syncs.length === 3 && cloud.streams === 1);
});

test('§7 until the registration is confirmed paths of the application answer EDGE_NOT_SYNCED; the page, health and local keys work', async (t) => {
  const edge = await startTestEdge(t, 'http://127.0.0.1:9');
  const refused = await edge.ask('POST', '/v1/addresses', { chain: 'eth', userRef: 'u' });
  t.is(refused.status, 503);
  t.is(refused.error?.code, 'EDGE_NOT_SYNCED');
  t.is(
    (await edge.ask('POST', '/v1/transactions/txn_22222222222222222222222222/broadcast')).error?.code,
    'EDGE_NOT_SYNCED',
  );
  t.is((await ask(edge.url, { method: 'GET', path: '/v1/edge/health' })).status, 200);
  t.is((await edge.ask('GET', '/v1/edge/outbox')).data?.['outboxDepth'], 0);
  t.is((await edge.ask('POST', '/v1/edge/keys', { label: 'x' })).status, 201);
  t.is((await ask(edge.url, { method: 'GET', path: '/health/ready' })).status, 503);
  const page = await ask(edge.url, { method: 'GET', path: '/' });
  t.is(page.status, 200);
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.regex(page.text, /Not registered yet/);
  t.regex(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  t.notRegex(page.text, /<script|src=|loc_|flk_|0x[0-9a-f]{40}/i);
});

test('§7 EDGE_SIGNATURE_INVALID is not repeated: the edge waits for the owner, and goes on when the chains are free again', async (t) => {
  const cloud = await newCloud(t);
  let state = 'quarantined';
  cloud.on('POST /v1/edge/sync', () => ({ code: 'EDGE_SIGNATURE_INVALID' }));
  cloud.on('GET /v1/edge/readiness', () => ({
    data: {
      content: [{ chain: 'eth', state, reason: null, xpub: null, poolLevelPercent: null }],
      page: 0,
      size: 1,
      totalElements: 1,
      totalPages: 1,
    },
  }));
  const edge = await startTestEdge(t, cloud.url, { env: { EDGE_ROTATION_CHECK: '1' } });
  await eventually('the readiness was read', () => cloud.countOf('GET /v1/edge/readiness') === 1);
  const watch = cloud.seen.find(({ path }) => path === '/v1/edge/readiness')!;
  t.false(watch.signed, 'a read with the API key alone is no second try of the refused identity');
  t.is(watch.headers['x-api-key'], 'flk_live_aaaaaaaaaaaaaaaaaaaaaaaa');
  t.is(cloud.countOf('POST /v1/edge/sync'), 1);
  t.is(cloud.countOf('POST /v1/edge/resume'), 0);
  const refused = await edge.ask('GET', '/v1/addresses');
  t.is(refused.error?.code, 'EDGE_NOT_SYNCED');
  t.is(refused.error?.details['reason'], 'EDGE_SIGNATURE_INVALID');
  t.regex((await ask(edge.url, { method: 'GET', path: '/' })).text, /Waiting for the account owner/);
  cloud.enrolled = true; // The owner approved.
  state = 'ready';
  await edge.edge.registered;
  t.is(cloud.countOf('POST /v1/edge/sync'), 1);
  t.is(cloud.countOf('POST /v1/edge/resume'), 1);
});

test('§5.7 a rotation that was decided before the first look at the chains halts nobody for ever', async (t) => {
  const cloud = await newCloud(t);
  let pending = true;
  cloud.on('POST /v1/edge/sync', () =>
    pending ? { code: 'IDENTITY_ROTATION_PENDING' } : { code: 'ALREADY_ENROLLED' },
  );
  cloud.on('GET /v1/edge/readiness', () => {
    pending = false;
    cloud.enrolled = true;
    return {
      data: {
        content: [{ chain: 'eth', state: 'ready', reason: null, xpub: null, poolLevelPercent: null }],
        page: 0,
        size: 1,
        totalElements: 1,
        totalPages: 1,
      },
    };
  });
  const edge = await startTestEdge(t, cloud.url, { env: { EDGE_ROTATION_CHECK: '1' } });
  await edge.edge.registered;
  t.is(cloud.countOf('POST /v1/edge/resume'), 1);
});

test('§5.7 an identity that the owner rejected is tried no further', async (t) => {
  const cloud = await newCloud(t);
  let state = 'quarantined';
  cloud.on('POST /v1/edge/sync', () => ({ code: 'EDGE_SIGNATURE_INVALID' }));
  cloud.on('POST /v1/edge/resume', () => ({ code: 'EDGE_SIGNATURE_INVALID' }));
  cloud.on('GET /v1/edge/readiness', () => ({
    data: {
      content: [{ chain: 'eth', state, reason: null, xpub: null, poolLevelPercent: null }],
      page: 0,
      size: 1,
      totalElements: 1,
      totalPages: 1,
    },
  }));
  await startTestEdge(t, cloud.url, { env: { EDGE_ROTATION_CHECK: '1' } });
  await eventually('the readiness was read', () => cloud.countOf('GET /v1/edge/readiness') === 1);
  state = 'ready';
  await eventually('it was read twice more', () => cloud.countOf('GET /v1/edge/readiness') === 4);
  t.is(cloud.countOf('POST /v1/edge/resume'), 1);
  t.is(cloud.countOf('POST /v1/edge/sync'), 1);
});

test('§3.1 the leader derives more pool addresses when the cloud asks, under the epoch that holds', async (t) => {
  const cloud = await newCloud(t);
  const { logged } = await startTestEdge(t, cloud.url, { env: { EDGE_CHAINS: 'sol,xlm' } });
  await eventually('the edge is welcomed', () => logged.some(({ msg }) => msg === 'welcomed'));
  t.deepEqual(cloud.syncs[0]!.keys, []);
  cloud.on('POST /v1/edge/pools', () => ({ data: { size: 1_002, unused: 1_002 } }));
  cloud.push('replenish', { leaseEpoch: cloud.leaseEpoch - 1, chain: 'sol', from: 9_000, count: 2 });
  cloud.push('replenish', { leaseEpoch: cloud.leaseEpoch, chain: 'xlm', from: 1_000, count: 2 });
  await eventually('they were pushed', () => cloud.countOf('POST /v1/edge/pools') === 1);
  const { pool } = JSON.parse(cloud.seen.find(({ path }) => path === '/v1/edge/pools')!.body) as {
    pool: { chain: string; addresses: { index: number; path: string }[] };
  };
  t.is(pool.chain, 'xlm');
  t.deepEqual(
    pool.addresses.map(({ index, path }) => `${index} ${path}`),
    ["1000 m/44'/148'/1000'", "1001 m/44'/148'/1001'"],
  );
});

test('a phrase that changed is registered by sync, not resumed', async (t) => {
  const cloud = await newCloud(t);
  const dataDir = newDirectory();
  const first = await startTestEdge(t, cloud.url, { dataDir });
  await first.edge.registered;
  await first.edge.stop();
  cloud.on('POST /v1/edge/sync', () => ({ code: 'EDGE_SIGNATURE_INVALID' }));
  await startTestEdge(t, cloud.url, {
    dataDir,
    phrase: 'legal winner thank year wave sausage worth useful legal winner thank yellow',
  });
  await eventually('a sync was tried', () => cloud.countOf('POST /v1/edge/sync') === 2);
  t.is(cloud.countOf('POST /v1/edge/resume'), 0);
});

test('POST /v1/edge/resync registers anew', async (t) => {
  const cloud = await newCloud(t);
  const edge = await startTestEdge(t, cloud.url);
  await edge.edge.registered;
  cloud.enrolled = false;
  t.is((await edge.ask('POST', '/v1/edge/resync')).status, 202);
  await eventually('it enrolled again', () => cloud.syncs.length === 2 && cloud.streams === 1);
  t.is(cloud.countOf('POST /v1/edge/resync'), 1);
});

test('a handshake refused with RESYNC_REQUIRED registers anew; refused for another reason it is tried again', async (t) => {
  const cloud = await newCloud(t);
  cloud.refuseHandshake = 'TIER_FEATURE_LOCKED';
  const { edge, logged } = await startTestEdge(t, cloud.url);
  await edge.registered;
  await eventually(
    'it was refused twice',
    () => logged.filter(({ msg, code }) => msg === 'cloud_refused' && code === 'TIER_FEATURE_LOCKED').length >= 2,
  );
  cloud.enrolled = false;
  cloud.refuseHandshake = 'RESYNC_REQUIRED';
  await eventually('it enrolled again', () => cloud.syncs.length === 2);
  cloud.refuseHandshake = null;
  await eventually('the stream is up', () => cloud.streams === 1);
  t.is(cloud.badSignatures, 0);
});
