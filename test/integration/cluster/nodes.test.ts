/** Several nodes of one database: who owns what, requests and streams that reach any of them, joining and leaving. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { createClient } from '../../../protocol/client.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { shardOf } from '../../../protocol/node/ids.ts';
import { enrol, startTestCloud, type TestCloud } from '../../support/gateway.ts';
import { eventually } from '../../support/edge/edges.ts';
import { holdingClient } from '../../support/holding-client.ts';
import type { CloudNode } from '../../../supervision/node.ts';

const CLUSTER = { CLUSTER_SECRET: randomBytes(32).toString('hex'), INTERNAL_PORT: '0', NODE_LEASE_SECONDS: '10' };

async function owners({ database }: TestCloud): Promise<Map<string, number>> {
  const rows = await database.admin<{ owner: string | null; count: number }[]>`
    select split_part(owner, '/', 1) as owner, count(*)::int as count from flock.shard group by 1`;
  return new Map(rows.map(({ owner, count }) => [owner ?? 'nobody', count]));
}

async function shared(cloud: TestCloud, nodes: number): Promise<void> {
  await eventually('every node has its share', async () => {
    const found = await owners(cloud);
    return found.size === nodes && !found.has('nobody') && Math.min(...found.values()) > 100;
  });
}

async function nodes(t: {
  teardown(work: () => Promise<void>): void;
}): Promise<{ cloud: TestCloud; b: CloudNode; c: CloudNode }> {
  const cloud = await startTestCloud({ ...CLUSTER, NODE_NAME: 'a' });
  const b = await cloud.another('b');
  const c = await cloud.another('c');
  t.teardown(async () => {
    await Promise.all([b.stop(), c.stop()]);
    await cloud.stop();
  });
  await shared(cloud, 3);
  return { cloud, b, c };
}

test.serial(
  'any node answers any request, and every account has one owner; as few shards move as the hash allows',
  async (t) => {
    const { cloud, b, c } = await nodes(t);
    const { sandbox: live } = await cloud.organization();
    await enrol(cloud, live);
    const urls = [cloud.url, b.url, c.url];
    for (const [at, url] of urls.entries()) {
      const client = createClient({ baseUrl: url, apiKey: live.apiKey });
      const address = await client.must('createAddress', { body: { chain: 'eth', userRef: `user-${at}` } });
      t.is(address.userRef, `user-${at}`);
    }
    const addresses = await Promise.all(
      urls.map((url) => createClient({ baseUrl: url, apiKey: live.apiKey }).must('listAddresses', {})),
    );
    for (const page of addresses) t.is(page.content.length, 3);
    const [row] = await cloud.database.admin`
    select a.version::int as version, s.owner from flock.account a join flock.shard s on s.id = a.shard_id
     where a.account_id = ${live.accountId}`;
    t.true(row!['version'] >= 4);

    const before = await cloud.database.admin<{ id: number; owner: string }[]>`select id, owner from flock.shard`;
    const d = await cloud.another('d');
    await shared(cloud, 4);
    const after = new Map(
      (await cloud.database.admin<{ id: number; owner: string }[]>`select id, owner from flock.shard`).map(
        ({ id, owner }) => [id, owner],
      ),
    );
    for (const { id, owner } of before) t.true(after.get(id) === owner || after.get(id)!.startsWith('d/'));
    await d.stop();
    await shared(cloud, 3);
    const back = await cloud.database.admin<{ id: number; owner: string }[]>`select id, owner from flock.shard`;
    t.deepEqual(back.map(({ id, owner }) => [id, owner]).sort(), before.map(({ id, owner }) => [id, owner]).sort());
  },
);

test.serial('a node that stops hands its accounts over without failing one request', async (t) => {
  const { cloud, b, c } = await nodes(t);
  const { sandbox: live } = await cloud.organization();
  await enrol(cloud, live);
  const extra = await cloud.another('d');
  await shared(cloud, 4);
  const clients = [cloud.url, b.url, c.url].map((baseUrl) => createClient({ baseUrl, apiKey: live.apiKey }));
  let stopping = true,
    made = 0;
  const failures: unknown[] = [];
  const traffic = clients.map(async (client, at) => {
    for (let n = 0; stopping || n < 5; n += 1) {
      const answer = await client.call('createAddress', { body: { chain: 'eth', userRef: `user-${at}-${n}` } });
      if ('ok' in answer) failures.push(answer);
      else made += 1;
    }
  });
  await extra.stop();
  await shared(cloud, 3);
  stopping = false;
  await Promise.all(traffic);
  t.deepEqual(failures, []);
  const [row] = await cloud.database.admin`
    select count(*)::int as count from flock.address where account_id = ${live.accountId} and user_ref is not null`;
  t.is(row!['count'], made);
  t.true(shardOf(live.accountId) >= 0);
});

test.serial('a client that holds its connection open to a node that stops sees no request fail', async (t) => {
  const { cloud, b } = await nodes(t);
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const extra = await cloud.another('d');
  await shared(cloud, 4);
  const failures: unknown[] = [];
  let goesOn = true,
    made = 0;
  const callers = Array.from({ length: 6 }, async (_, at) => {
    const caller = holdingClient(() => [extra.url, b.url]);
    const client = createClient({ baseUrl: extra.url, apiKey: sandbox.apiKey, fetch: caller.fetch });
    for (let n = 0, after = 0; after < 5; n += 1) {
      const answer = await client.call('createAddress', { body: { chain: 'eth', userRef: `user-${at}-${n}` } });
      if (isRefusal(answer)) failures.push(answer);
      else made += 1;
      if (!goesOn) after += 1;
    }
    t.true(caller.refused() > 0, 'it went on at another node');
    await caller.close();
  });
  await eventually('requests under way', async () => made > 12);
  await extra.stop();
  goesOn = false;
  await Promise.all(callers);
  t.deepEqual(failures, []);
  const [row] = await cloud.database.admin`
    select count(*)::int as count from flock.address where account_id = ${sandbox.accountId} and user_ref is not null`;
  t.is(row!['count'], made);
});

test.serial('an administrator sees every node and the actors of any of them, from any of them', async (t) => {
  const { cloud, b } = await nodes(t);
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const admin = await cloud.person({ admin: true });
  const bearer = await cloud.signIn(admin);
  const client = createClient({ baseUrl: b.url, bearer });
  const { self, nodes: seen } = await client.must('listNodes', {});
  t.true(self.startsWith('b/'));
  t.deepEqual(
    seen.map(({ id, alive, version }) => [id.split('/')[0], alive, version]),
    [
      ['a', true, '1.0.0'],
      ['b', true, '1.0.0'],
      ['c', true, '1.0.0'],
    ],
  );
  t.is(
    seen.reduce((sum, { shards }) => sum + shards, 0),
    1_024,
  );
  const shard = String(shardOf(sandbox.accountId)).padStart(4, '0');
  const [{ owner }] = (await cloud.database.admin`
    select owner from flock.shard where id = ${shardOf(sandbox.accountId)}`) as unknown as [{ owner: string }];
  const path = `shards/${shard}`;
  t.like(await client.must('getActor', { params: { path }, query: { node: owner } }), { path, childCount: 1 });
  t.deepEqual(await client.must('restartActor', { params: { path }, query: { node: owner } }), {
    path,
    restarted: true,
  });
  t.like(await client.call('getActor', { params: { path }, query: { node: 'nobody/1' } }), {
    code: 'NOT_FOUND',
    details: { what: 'node' },
  });
  const other = seen.find(({ id }) => id !== owner)!.id;
  t.like(await client.call('getActor', { params: { path: `${path}/none` }, query: { node: other } }), {
    code: 'NOT_FOUND',
    details: { what: 'actor' },
  });
  // What a node knows of the others is as old as its last beat: one that is late looks gone until then.
  await eventually('no shard without an owner', async () =>
    /^svc_shards_unowned 0$/m.test(await (await fetch(`${b.url}/metrics`)).text()),
  );
});

test.serial(
  'a node that cannot have its internal port, or has another secret, does not start and names the setting',
  async (t) => {
    const cloud = await startTestCloud({ ...CLUSTER, NODE_NAME: 'a' });
    t.teardown(() => cloud.stop());
    await t.throwsAsync(cloud.another('alone', { CLUSTER_SECRET: '' }), {
      code: 'cluster_secret_missing',
      message: /CLUSTER_SECRET: nodes share this database \(a\) and this one has none: give it theirs/,
    });
    const [{ url }] = (await cloud.database.admin`select url from flock.cloud_node`) as unknown as [{ url: string }];
    await t.throwsAsync(cloud.another('b', { INTERNAL_PORT: new URL(url).port }), {
      message: /INTERNAL_PORT: port \d+ is in use/,
    });
    await t.throwsAsync(cloud.another('d', { INTERNAL_HOST: 'no-such-host.invalid' }), { message: /INTERNAL_HOST: / });
    // One that cannot serve becomes no member: the others would make room for it and wait for its lease.
    await t.throwsAsync(cloud.another('e', { CLOUD_PORT: new URL(cloud.url).port }), {
      message: /CLOUD_PORT: port \d+ is in use/,
    });
    await t.throwsAsync(cloud.another('f', { HOST: '192.0.2.1' }), { message: /HOST: is no address of this machine/ });
    t.deepEqual(
      (
        await cloud.database.admin`select split_part(id, '/', 1) as name from flock.cloud_node where left_at is null`
      ).map(({ name }) => name as string),
      ['a'],
    );
    await t.throwsAsync(cloud.another('c', { CLUSTER_SECRET: 'x'.repeat(32) }), { code: 'cluster_secret_other' });
  },
);
