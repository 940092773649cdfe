/** What is allowed once, or so many times, over all nodes: codes, wrong codes, nonces, keys, logins. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { createApiKeys } from '../../../gateway/http/auth/api-keys.ts';
import { createStandings } from '../../../gateway/http/auth/standings.ts';
import { createLoginStore } from '../../../persistence/postgres/login-store.ts';
import { createClient } from '../../../protocol/client.ts';
import { EDGE_VERSION } from '../../../protocol/frames.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { codeOf, enrol, startTestCloud, type TestCloud } from '../../support/gateway.ts';
import { startRedis } from '../../support/redis.ts';

const CLUSTER = { CLUSTER_SECRET: randomBytes(32).toString('hex'), INTERNAL_PORT: '0', NODE_LEASE_SECONDS: '10' };

let cloud: TestCloud;
let urls: readonly string[];
let stop: () => Promise<void>;
const closes: (() => Promise<void>)[] = [];
test.before(async () => {
  // Each of the tests signs in ten times at most as one person: what a network may in a minute, over all nodes.
  const redis = await startRedis({ teardown: (close) => void closes.push(close) });
  cloud = await startTestCloud({ ...CLUSTER, REDIS_URL: redis.url, NODE_NAME: 'a' });
  const second = await cloud.another('b');
  urls = [cloud.url, second.url];
  stop = async () => {
    await second.stop();
    await cloud.stop();
    for (const close of closes) await close();
  };
});
test.after.always(() => stop());

test.serial('a code is taken once, and five wrong ones lock the factor, whichever nodes they come to', async (t) => {
  const { owner } = await cloud.organization();
  const reason = async (node: number, totp: string) => {
    const answer = await createClient({ baseUrl: urls[node]! }).call('login', {
      body: { email: owner.email, password: owner.password, totp },
    });
    return isRefusal(answer) ? answer.details['reason'] : 'signed in';
  };
  const code = codeOf(owner);
  const both = await Promise.all([reason(0, code), reason(1, code)]);
  t.deepEqual(both.sort(), ['signed in', 'used']);
  t.is(await reason(1, code), 'used');
  for (let failure = 0; failure < 5; failure += 1) await reason(failure % 2, codeOf(owner, 5 + failure));
  t.is(await reason(0, codeOf(owner, 1)), 'locked');
  t.is(await reason(1, codeOf(owner, 1)), 'locked');
});

test.serial('a nonce of an edge is taken once, whichever node it comes to first', async (t) => {
  const { sandbox } = await cloud.organization();
  const edge = await enrol(cloud, sandbox);
  const resume = async (node: number, nonce: string) => {
    const client = createClient({
      baseUrl: urls[node]!,
      apiKey: sandbox.apiKey,
      sign: (request) => edge.sign(request, { nonce }),
    });
    const answer = await client.call('resumeEdge', { body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId } });
    return isRefusal(answer) ? answer.code : 'taken';
  };
  const nonces = Array.from({ length: 4 }, () => randomBytes(16).toString('base64url'));
  for (const nonce of nonces) {
    const answers = await Promise.all([resume(0, nonce), resume(1, nonce), resume(0, nonce), resume(1, nonce)]);
    t.deepEqual(answers.sort(), ['EDGE_NONCE_REPLAY', 'EDGE_NONCE_REPLAY', 'EDGE_NONCE_REPLAY', 'taken']);
  }
});

test.serial(
  'a key that one node revokes is refused by another within 15 s, with what it remembers and without Redis',
  async (t) => {
    const { live, id } = await cloud.organization();
    let elapsedMs = 0;
    // The memories of two nodes, over the database of both.
    const [here, there] = [
      createApiKeys(cloud.identity, () => elapsedMs),
      createApiKeys(cloud.identity, () => elapsedMs),
    ];
    t.truthy(await here.authenticate(live.apiKey));
    t.truthy(await there.authenticate(live.apiKey));
    const row = (await here.authenticate(live.apiKey))!;
    await cloud.identity.revokeApiKey(row.organizationId, row.id, Date.now());
    here.forget(id);
    t.is(await here.authenticate(live.apiKey), null);
    elapsedMs = 14_999;
    t.truthy(await there.authenticate(live.apiKey), 'its memory is not over yet');
    elapsedMs = 15_000;
    t.is(await there.authenticate(live.apiKey), null);
  },
);

test.serial(
  'console A13, issue 10.6: a login that one node ends is refused there at once, and by another node within 15 s, with what it remembers and without Redis',
  async (t) => {
    const { owner, id: organizationId } = await cloud.organization();
    const at = (node: number, bearer: string) => createClient({ baseUrl: urls[node]!, bearer });
    const token = await cloud.signIn(owner, { organizationId });
    const { id: loginId } = (await at(0, token).must('listLogins')).content.find(({ current }) => current)!;
    let elapsedMs = 0;
    const there = createStandings(createLoginStore(cloud.database.sql), Date.now, () => elapsedMs);
    const isOpen = async () => (await there.of({ userId: owner.id, loginId, organizationId }))?.open;
    t.true(await isOpen());
    t.deepEqual(await at(1, token).must('endLogin', { params: { id: loginId } }), { ended: 1 });
    t.like(await at(1, token).call('listLogins'), { code: 'UNAUTHORIZED', details: { reason: 'invalid_token' } });
    elapsedMs = 14_999;
    t.true(await isOpen(), 'its memory is not over yet');
    elapsedMs = 15_000;
    t.false(await isOpen());
  },
);
