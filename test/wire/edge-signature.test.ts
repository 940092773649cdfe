import { randomBytes } from 'node:crypto';
import { createConnection } from 'node:net';
import test from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import { contentDigestOf } from '../../protocol/node/http-signature.ts';
import { newId } from '../../protocol/node/ids.ts';
import {
  enrol,
  eventually,
  jsonOf,
  newEvmKey,
  newSigner,
  raw,
  startTestCloud,
  testEdge,
  type RawAnswer,
  type TestEdge,
} from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const RESUME = '/v1/edge/resume';
const bodyOf = (edge: TestEdge) => JSON.stringify({ edgeVersion: EDGE_VERSION, sessionId: edge.sessionId });
const syncBodyOf = (edge: TestEdge) => ({
  edgeVersion: EDGE_VERSION,
  sessionId: edge.sessionId,
  keys: [newEvmKey()],
  pools: [],
});
const code = (answer: RawAnswer) => [answer.status, answer.json.error?.code];

async function enrolled() {
  const { sandbox } = await cloud.organization();
  const edge = await enrol(cloud, sandbox);
  /** One resume; what a test changes is changed after signing. */
  const resume = (
    options: { nonce?: string; nowMs?: number; headers?: Record<string, string>; body?: string; path?: string } = {},
  ) => {
    const body = bodyOf(edge);
    const signed = edge.sign({ method: 'POST', url: `${cloud.url}${RESUME}`, body }, options);
    return raw(cloud.url, 'POST', options.path ?? RESUME, {
      headers: jsonOf(sandbox.apiKey, { ...signed, ...options.headers }),
      body: options.body ?? body,
    });
  };
  return { sandbox, edge, resume };
}

test('§3.7 first sync enrols, a later one with nothing new is ALREADY_ENROLLED, resume answers readiness', async (t) => {
  const { sandbox } = await cloud.organization();
  const edge = testEdge(cloud, sandbox.apiKey);
  t.like(await edge.client.call('resumeEdge', { body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId } }), {
    code: 'RESYNC_REQUIRED',
  });
  const key = newEvmKey();
  const sync = (keys: (typeof key)[]) =>
    edge.client.call('syncEdge', { body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId, keys, pools: [] } });
  const first = await sync([key]);
  t.false(isRefusal(first));
  t.like(first, { outcome: 'enrolled' });
  t.like(await sync([key]), { code: 'ALREADY_ENROLLED' });
  t.like(await sync([newEvmKey()]), { code: 'KEY_SOURCE_MISMATCH' });
  const resumed = await edge.client.must('resumeEdge', {
    body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId },
  });
  t.deepEqual(
    resumed.readiness.filter(({ state }) => state === 'ready').map(({ chain }) => chain),
    ['eth', 'bsc', 'polygon', 'avax', 'base'],
  );
  t.regex(resumed.readiness.find(({ chain }) => chain === 'eth')!.xpub!, /^xpub.{4}….{4}$/);
  const readiness = await sandbox.client.must('getEdgeReadiness');
  t.deepEqual(
    readiness.content.map(({ chain }) => chain),
    ['btc', 'eth', 'bsc', 'polygon', 'avax', 'base', 'tron', 'sol', 'xrp', 'xlm'],
  );
  const tanks = await sandbox.client.must('listGasTanks');
  t.deepEqual(new Set(tanks.content.map(({ address }) => address)).size, 1);
  t.true(tanks.content.every(({ derivationPath }) => derivationPath === "m/44'/60'/0'/1/0"));
});

test('§9.4 an edge whose version is not accepted is told so', async (t) => {
  const { edge } = await enrolled();
  for (const edgeVersion of ['0.9.9', '0.0.1', 'one', '']) {
    t.like(
      await edge.client.call('resumeEdge', { body: { edgeVersion, sessionId: edge.sessionId } }),
      { code: 'EDGE_VERSION_UNSUPPORTED' },
      edgeVersion,
    );
  }
});

test('§5.3 a clock 301 s off is EDGE_SIGNATURE_SKEW, 299 s is not', async (t) => {
  const { resume } = await enrolled();
  t.deepEqual(code(await resume({ nowMs: Date.now() - 302_000 })), [401, 'EDGE_SIGNATURE_SKEW']);
  t.deepEqual(code(await resume({ nowMs: Date.now() + 303_000 })), [401, 'EDGE_SIGNATURE_SKEW']);
  t.deepEqual(code(await resume({ nowMs: Date.now() - 295_000 })), [200, undefined]);
  t.deepEqual(code(await resume({ nowMs: Date.now() + 295_000 })), [200, undefined]);
});

test('§5.3 a nonce is used once, also when twenty ask at the same time', async (t) => {
  const { resume } = await enrolled();
  const nonce = randomBytes(12).toString('base64url');
  t.deepEqual(code(await resume({ nonce })), [200, undefined]);
  t.deepEqual(code(await resume({ nonce })), [401, 'EDGE_NONCE_REPLAY']);
  const another = randomBytes(12).toString('base64url');
  const answers = await Promise.all(Array.from({ length: 20 }, () => resume({ nonce: another })));
  t.is(answers.filter(({ status }) => status === 200).length, 1);
  t.is(answers.filter(({ json }) => json.error?.code === 'EDGE_NONCE_REPLAY').length, 19);
});

test('§5.3 anything that was changed after signing is EDGE_SIGNATURE_INVALID', async (t) => {
  const { edge, resume, sandbox } = await enrolled();
  t.deepEqual(code(await resume({ path: '/v1/edge/resync' })), [401, 'EDGE_SIGNATURE_INVALID'], 'another path');
  t.deepEqual(code(await resume({ path: `${RESUME}?x=1` })), [401, 'EDGE_SIGNATURE_INVALID'], 'a query');
  t.deepEqual(code(await resume({ body: `${bodyOf(edge)} ` })), [401, 'EDGE_SIGNATURE_INVALID'], 'another body');
  t.deepEqual(
    code(await resume({ body: '{"broken":' })),
    [401, 'EDGE_SIGNATURE_INVALID'],
    'the digest comes before parsing',
  );
  t.deepEqual(
    code(await resume({ headers: { 'content-digest': contentDigestOf(Buffer.from('x')) } })),
    [401, 'EDGE_SIGNATURE_INVALID'],
    'another digest',
  );
  for (const name of ['signature', 'signature-input', 'content-digest']) {
    t.deepEqual(code(await resume({ headers: { [name]: '' } })), [401, 'EDGE_SIGNATURE_INVALID'], `no ${name}`);
  }
  t.deepEqual(
    code(await raw(cloud.url, 'POST', RESUME, { headers: jsonOf(sandbox.apiKey), body: bodyOf(edge) })),
    [401, 'EDGE_SIGNATURE_INVALID'],
    'unsigned',
  );
  const other = testEdge(cloud, sandbox.apiKey);
  t.like(
    await other.client.call('resumeEdge', { body: { edgeVersion: EDGE_VERSION, sessionId: other.sessionId } }),
    { code: 'EDGE_SIGNATURE_INVALID' },
    'not the pinned key',
  );
});

test('decisions 2: API key, skew, signature, nonce, body: the first that is wrong is what is told', async (t) => {
  const { edge, resume } = await enrolled();
  const nonce = randomBytes(12).toString('base64url');
  await resume({ nonce });
  const old = Date.now() - 400_000;
  const broken = { signature: `sig=:${Buffer.alloc(64).toString('base64')}:` };
  t.deepEqual(code(await resume({ nonce, nowMs: old, headers: { ...broken, 'x-api-key': 'flk_test_x' }, body: '{' })), [
    401,
    'UNAUTHORIZED',
  ]);
  t.deepEqual(code(await resume({ nonce, nowMs: old, headers: broken, body: '{' })), [401, 'EDGE_SIGNATURE_SKEW']);
  t.deepEqual(code(await resume({ nonce, headers: broken, body: '{' })), [401, 'EDGE_SIGNATURE_INVALID']);
  t.deepEqual(code(await resume({ nonce, body: '{' })), [401, 'EDGE_NONCE_REPLAY']);
  const phrase = JSON.stringify({
    note: 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
  });
  t.deepEqual(
    code(await resume({ body: phrase })),
    [401, 'EDGE_SIGNATURE_INVALID'],
    'a body that was not signed is not even looked through',
  );
  const signed = edge.sign({ method: 'POST', url: `${cloud.url}${RESUME}`, body: phrase });
  t.deepEqual(
    code(
      await raw(cloud.url, 'POST', RESUME, {
        headers: jsonOf('x', { ...signed, 'x-api-key': (await enrolled()).sandbox.apiKey }),
        body: phrase,
      }),
    ),
    [401, 'EDGE_SIGNATURE_INVALID'],
    "another account's key",
  );
});

test('§5.3 authentication fails before the payload is read', async (t) => {
  const { hostname, port } = new URL(cloud.url);
  const answer = await new Promise<string>((resolve, reject) => {
    // The head announces a body that never comes: whoever waits for it would never answer.
    const socket = createConnection(Number(port), hostname, () =>
      socket.write(
        `POST ${RESUME} HTTP/1.1\r\nHost: x\r\nX-Api-Key: flk_test_nothing\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
      ),
    );
    socket.on('data', (chunk) => {
      resolve(chunk.toString());
      socket.destroy();
    });
    socket.on('error', reject);
  });
  t.regex(answer, /^HTTP\/1\.1 401 /);
  t.regex(answer, /UNAUTHORIZED/);
});

test('found F13: a signature over another host is refused with the setting to change, whatever Host says', async (t) => {
  const { sandbox, edge } = await enrolled();
  const { hostname, port, host } = new URL(cloud.url);
  const ask = (signedFor: string, asked: string) =>
    new Promise<string>((resolve, reject) => {
      const body = bodyOf(edge),
        signed = edge.sign({ method: 'POST', url: `http://${signedFor}${RESUME}`, body });
      const lines = Object.entries({
        host: asked,
        connection: 'close',
        'content-length': String(body.length),
        ...jsonOf(sandbox.apiKey, { ...signed }),
      }).map(([name, value]) => `${name}: ${value}\r\n`);
      let answer = '';
      const socket = createConnection(Number(port), hostname, () =>
        socket.write(`POST ${RESUME} HTTP/1.1\r\n${lines.join('')}\r\n${body}`),
      );
      socket
        .on('data', (chunk) => {
          answer += chunk.toString();
        })
        .on('close', () => resolve(answer))
        .on('error', reject);
    });
  t.regex(await ask(host, host), /^HTTP\/1\.1 200 /);
  for (const [signedFor, asked] of [
    ['evil.example', 'evil.example'],
    ['evil.example:8080', 'evil.example:8080'],
    [host, 'evil.example'],
    ['evil.example', host],
  ] as const) {
    const answer = await ask(signedFor, asked);
    t.regex(answer, /^HTTP\/1\.1 401 /);
    t.regex(answer, asked === host ? /"reason":"signature"/ : /"reason":"authority".*"setting":"CLOUD_URL"/);
  }
});

test('decisions 2: a signature on an application path is verified too, never ignored', async (t) => {
  const { sandbox, edge } = await enrolled();
  const get = (headers: Record<string, string>) =>
    raw(cloud.url, 'GET', '/v1/addresses?size=1', { headers: { 'x-api-key': sandbox.apiKey, ...headers } });
  const signed = () => edge.sign({ method: 'GET', url: `${cloud.url}/v1/addresses?size=1` });
  t.deepEqual(code(await get(signed())), [200, undefined]);
  t.deepEqual(code(await get({ ...signed(), 'content-digest': contentDigestOf(Buffer.from('x')) })), [
    401,
    'EDGE_SIGNATURE_INVALID',
  ]);
  t.deepEqual(
    code(await get(testEdge(cloud, sandbox.apiKey).sign({ method: 'GET', url: `${cloud.url}/v1/addresses?size=1` }))),
    [401, 'EDGE_SIGNATURE_INVALID'],
  );
  t.deepEqual(code(await get({ signature: 'sig=:AAAA:' })), [401, 'EDGE_SIGNATURE_INVALID']);
});

test('§5.7 another identity is held back: the sync is EDGE_SIGNATURE_INVALID, later calls IDENTITY_ROTATION_PENDING', async (t) => {
  const organization = await cloud.organization();
  const { sandbox } = organization;
  const edge = await enrol(cloud, sandbox);
  const other = testEdge(cloud, sandbox.apiKey);
  t.like(await other.client.call('syncEdge', { body: syncBodyOf(other) }), { code: 'EDGE_SIGNATURE_INVALID' });
  for (const { client, sessionId } of [edge, other]) {
    t.like(await client.call('resumeEdge', { body: { edgeVersion: EDGE_VERSION, sessionId } }), {
      code: 'IDENTITY_ROTATION_PENDING',
    });
  }
  t.like(await other.client.call('syncEdge', { body: syncBodyOf(other) }), { code: 'IDENTITY_ROTATION_PENDING' });
  const readiness = await sandbox.client.must('getEdgeReadiness');
  t.is(readiness.content.find(({ chain }) => chain === 'eth')!.state, 'quarantined');
  t.like(await sandbox.client.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } }), {
    code: 'CHAIN_NOT_READY',
  });
});

test('§5.8 the same identity in live and sandbox is CROSS_ENVIRONMENT_IDENTITY', async (t) => {
  const { live, sandbox } = await cloud.organization();
  const signer = newSigner();
  const [one, two] = [testEdge(cloud, sandbox.apiKey, signer), testEdge(cloud, live.apiKey, signer)];
  t.false(isRefusal(await one.sync()));
  t.like(await two.sync(), { code: 'CROSS_ENVIRONMENT_IDENTITY' });
});

test("§5.8 an enrolled account that the other one's phrase comes to is told so: no rotation begins and nothing is quarantined", async (t) => {
  const { live, sandbox } = await cloud.organization();
  const signer = newSigner();
  t.false(isRefusal(await testEdge(cloud, sandbox.apiKey, signer).sync()));
  t.false(isRefusal(await testEdge(cloud, live.apiKey).sync()));
  t.like(await testEdge(cloud, live.apiKey, signer).sync(), { code: 'CROSS_ENVIRONMENT_IDENTITY' });
  t.is((await live.client.must('getEdgeReadiness')).content.find(({ chain }) => chain === 'eth')!.state, 'ready');
});

test('§4.3 a heartbeat over REST makes a session that is live; lease and outbox are told', async (t) => {
  const { sandbox, edge } = await enrolled();
  t.deepEqual(await sandbox.client.must('getEdgeLease'), { state: 'vacant', epoch: 0, holder: null, expiresAt: null });
  const beat = {
    sessionId: edge.sessionId,
    edgeVersion: EDGE_VERSION,
    outboxDepth: 3,
    outboxPoisoned: true,
    outboxMode: 'durable' as const,
    podHint: 'pod-1',
  };
  const answered = await edge.client.must('heartbeatEdge', { body: beat });
  t.like(answered, { leaseTtlMs: 30_000 });
  t.true(Math.abs(answered.serverTimeMs - Date.now()) < 5_000);
  t.like(await edge.client.call('heartbeatEdge', { body: { ...beat, outboxDepth: -1 } }), { code: 'INVALID_INPUT' });
  const [session] = await eventually(
    'the session is stored',
    async () => (await sandbox.client.must('listEdgeSessions')).content,
    (rows) => rows.length === 1,
  );
  t.like(session, {
    id: edge.sessionId,
    liveness: 'live',
    edgeVersion: EDGE_VERSION,
    outboxDepth: 3,
    outboxPoisoned: true,
    podHint: 'pod-1',
    endedAt: null,
  });
  t.deepEqual(await sandbox.client.must('getEdgeOutbox'), {
    outboxDepth: 3,
    outboxPoisoned: true,
    outboxMode: 'durable',
  });
  t.like(
    await edge.client.call('submitSigned', {
      params: { id: newId('txn', Date.now()) },
      body: { signedPayload: '0x', txid: 'x', sessionId: edge.sessionId, leaseEpoch: 1 },
    }),
    { code: 'NOT_FOUND' },
  );
});

test('reliability 3.10: text that cannot be stored is refused, so that no edge keeps the sessions of others from being saved', async (t) => {
  const hostile = await cloud.organization(),
    other = await cloud.organization();
  const bad = await enrol(cloud, hostile.sandbox),
    good = await enrol(cloud, other.sandbox);
  const beat = {
    sessionId: newId('ses', Date.now()),
    edgeVersion: EDGE_VERSION,
    outboxDepth: 0,
    outboxPoisoned: false,
    outboxMode: 'durable',
    podHint: null,
  } as const;
  for (const nonsense of [
    { podHint: 'a\u0000b' },
    { podHint: '\ud800' },
    { sessionId: 'ses_\u0000' },
    { edgeVersion: '1.0.0-\u0000' },
  ]) {
    t.like(
      await bad.client.call('heartbeatEdge', { body: { ...beat, ...nonsense } }),
      { code: 'INVALID_INPUT' },
      JSON.stringify(nonsense),
    );
  }
  t.like(await good.client.call('heartbeatEdge', { body: beat }), { role: 'follower' });
  const saved = () =>
    cloud.database.owner`select from flock.edge_session where account_id = ${other.sandbox.accountId}`;
  t.is((await eventually('its session is saved', saved, (rows) => rows.length > 0)).length, 1);
});
