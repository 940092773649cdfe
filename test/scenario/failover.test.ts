/**
 * PostgreSQL goes: a standby takes over, synchronous or not; a backup is restored to a point in time. Two cloud nodes
 * in this process, servers of their own.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startAnvil } from '../../developer/anvil.ts';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { CHECKS, KEY, type Books, type Issued } from '../support/cluster/checks.ts';
import type { Answer } from '../support/cluster/linearizable.ts';
import { Recorder } from '../support/cluster/recorder.ts';
import { enrol, startTestCloud, type TestAccountKey, type TestCloud } from '../support/gateway.ts';
import { patiently } from '../support/patience.ts';
import { PostgresServers, type PostgresServer } from '../support/postgres-pair.ts';
import { FaultProxy } from '../support/replicas/fault-proxy.ts';

const CLUSTER = { CLUSTER_SECRET: randomBytes(32).toString('hex'), INTERNAL_PORT: '0', NODE_LEASE_SECONDS: '3' };
const CALL_MS = 4_000;
const CLIENTS = 3;
const CONFIRMATIONS = 3;

/** A way to whichever server serves, and the URL of its superuser over it. */
async function wayTo(t: ExecutionContext, server: PostgresServer): Promise<{ way: FaultProxy; url: string }> {
  const way = await FaultProxy.start(server.url);
  t.teardown(() => way.close());
  const url = new URL(server.url);
  url.port = new URL(way.url).port;
  return { way, url: url.href };
}

/** Clients that issue addresses at both nodes, each under a key of its own. */
function issuing(recorder: Recorder, urls: readonly string[], { apiKey }: TestAccountKey) {
  let going = true,
    made = 0;
  const issue = async (by: string, key: string): Promise<Issued | null> => {
    const operation = recorder.invoke<{ body: string }, Answer<Issued>>(`${KEY}${key}`, { body: key }, by);
    const baseUrl = urls[recorder.operations.length % urls.length]!;
    const answer = await createClient({ baseUrl, apiKey, timeoutMs: CALL_MS }).call('createAddress', {
      body: { chain: 'eth', userRef: key },
      idempotencyKey: key,
    });
    if (isRefusal(answer)) return null;
    const { id, address } = answer;
    recorder.ok(operation, { reply: { id, address } });
    return { id, address };
  };
  const work = Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      while (going) await issue(`client ${client}`, `k${(made += 1)}`);
    }),
  );
  return {
    acknowledged: () => recorder.operations.filter(({ outcome }) => outcome === 'ok').length,
    async end() {
      going = false;
      await work;
    },
    /** What nobody knows is asked again. */
    async settle() {
      for (const [subject, operations] of recorder.bySubject())
        if (operations.every(({ outcome }) => outcome !== 'ok'))
          await patiently(
            'an answer',
            () => issue('settling', subject.slice(KEY.length)),
            (issued) => issued !== null,
          );
    },
  };
}

async function addressesOf({ database }: TestCloud, { accountId }: TestAccountKey): Promise<Books['addresses']> {
  return database.admin<Books['addresses'][number][]>`
    select id, address, user_ref, status from flock.address where account_id = ${accountId} and user_ref is not null`;
}

/** The standby hears nothing for a while, then the primary is gone and the standby serves. */
async function failOver(t: ExecutionContext, isSynchronous: boolean): Promise<string[]> {
  const servers = new PostgresServers();
  t.teardown(() => servers.close());
  const primary = await servers.primary();
  const { way: stream, url: streamUrl } = await wayTo(t, primary);
  const standby = await servers.copyOf(primary);
  servers.begins(standby, 'standby');
  const upstream = new URL(streamUrl);
  await standby.start({
    primary_conninfo: `host=127.0.0.1 port=${upstream.port} user=postgres application_name=second`,
  });
  await patiently(
    'the stream',
    () => primary.ask((sql) => sql`select 1 from pg_stat_replication where state = 'streaming'`),
    (rows) => rows.length === 1,
  );
  if (isSynchronous) {
    await primary.ask((sql) => sql`alter system set synchronous_standby_names = 'second'`);
    await primary.ask((sql) => sql`select pg_reload_conf()`);
  }
  const { way, url } = await wayTo(t, primary);
  const cloud = await startTestCloud({ ...CLUSTER, NODE_NAME: 'a' }, { server: url });
  t.teardown(() => cloud.stop());
  const second = await cloud.another('b');
  t.teardown(() => second.stop());
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const recorder = new Recorder();
  const clients = issuing(recorder, [cloud.url, second.url], sandbox);
  await patiently(
    'some writes',
    async () => clients.acknowledged(),
    (count) => count > 20,
  );
  stream.mode = 'hole';
  const before = clients.acknowledged();
  // Where it is not waited for, more is acknowledged that the standby never hears of.
  if (!isSynchronous)
    await patiently(
      'writes without a standby',
      async () => clients.acknowledged(),
      (count) => count > before + 20,
    );
  else
    await patiently(
      'a write that hangs',
      () =>
        primary.ask(
          (sql) => sql`
    select 1 from pg_stat_activity where wait_event = 'SyncRep'`,
        ),
      (rows) => rows.length > 0,
    );
  await primary.kill();
  await standby.promote();
  way.leadTo(standby.url);
  await clients.end();
  await patiently(
    'the nodes to serve',
    async () => fetch(`${cloud.url}/health/ready`),
    ({ status }) => status === 200,
  );
  // The control is judged by what was acknowledged before: a key that is lost is simply free again.
  if (isSynchronous) await clients.settle();
  const books: Books = {
    addresses: await addressesOf(cloud, sandbox),
    deposits: [],
    published: new Map(),
    arrivals: [],
    epochs: [],
    open: [],
  };
  t.log(`${clients.acknowledged()} acknowledged, ${books.addresses.length} there`);
  return [CHECKS.linearizable, CHECKS.nothingLost, CHECKS.nothingTwice].flatMap((check) =>
    check(recorder.operations, books),
  );
}

test.serial(
  '4.1 row 6, PostgreSQL fails over to a synchronous standby: what was acknowledged is there, once',
  async (t) => {
    t.timeout(600_000);
    t.deepEqual(await failOver(t, true), []);
  },
);

test.serial(
  '4.1 row 6, the control: an asynchronous standby that was behind loses acknowledged writes, and the checker finds them',
  async (t) => {
    t.timeout(600_000);
    const problems = await failOver(t, false);
    t.true(
      problems.some((problem) => problem.startsWith('lost: address')),
      problems.join('\n'),
    );
  },
);

test.serial(
  '4.1 row 33, a backup restored to a point in time: blocks are read again, and every event has the id that it had',
  async (t) => {
    t.timeout(600_000);
    const servers = new PostgresServers();
    t.teardown(() => servers.close());
    const archive = servers.folder('archive');
    const primary = await servers.primary({
      archive_mode: 'on',
      archive_command: `cp "%p" "${archive}/%f.part" && mv "${archive}/%f.part" "${archive}/%f"`,
    });
    const anvil = await startAnvil({ chainId: 1, automine: false });
    t.teardown(() => anvil.stop());
    const { way, url } = await wayTo(t, primary);
    const cloud = await startTestCloud(
      {
        NODE_NAME: 'a',
        NODE_LEASE_SECONDS: '3',
        ETH_RPC_URLS: anvil.url,
        ETH_POLL_MS: '50',
        ETH_SECOND_READ_MS: '200',
        ETH_CONFIRMATIONS: String(CONFIRMATIONS),
        ETH_START_HEIGHT: '0',
      },
      { server: url },
    );
    t.teardown(() => cloud.stop());
    const { live } = await cloud.organization();
    await enrol(cloud, live);
    const [payer] = await anvil.rpc<string[]>('eth_accounts');
    await anvil.rpc('anvil_mine', ['0x14']);
    const { address } = await live.client.must('createAddress', { body: { chain: 'eth', userRef: 'customer' } });
    const eventsOf = async () => {
      const rows = await cloud.database.admin<{ eventId: string; name: string }[]>`
      select event_id, event || ' ' || (body::json -> 'data' ->> 'txid') as name from flock.publication
       where account_id = ${live.accountId} and event like 'deposit%' order by seq`;
      return new Map(rows.map(({ eventId, name }) => [name, eventId]));
    };
    const pay = async (): Promise<string> => {
      const txid = await anvil.rpc<string>('eth_sendTransaction', [
        { from: payer, to: address, value: '0xde0b6b3a7640000' },
      ]);
      await anvil.rpc('anvil_mine', [`0x${(CONFIRMATIONS + 1).toString(16)}`]);
      await patiently('the credit', eventsOf, (events) => events.has(`deposit_confirmed ${txid}`));
      return txid;
    };
    const copy = await servers.copyOf(primary);
    await pay();
    await primary.ask((sql) => sql`select pg_create_restore_point('before the accident')`);
    await pay();
    await pay();
    const before = await eventsOf();
    t.is(before.size, 6);
    const [{ file }] = (await primary.ask(
      (sql) => sql`select pg_walfile_name(pg_switch_wal()) as file`,
    )) as unknown as [{ file: string }];
    await patiently(
      'the archive',
      async () => existsSync(join(archive, file)),
      (isThere) => isThere,
    );
    await primary.kill();
    servers.begins(copy, 'recovery');
    await copy.start({
      restore_command: `cp "${archive}/%f" "%p"`,
      recovery_target_name: 'before the accident',
      recovery_target_action: 'promote',
    });
    await patiently(
      'the restore',
      () => copy.ask((sql) => sql<{ standby: boolean }[]>`select pg_is_in_recovery() as standby`),
      ([row]) => row?.standby === false,
    );
    const restored = await copy.ask(
      (sql) => sql<{ name: string }[]>`select datname as name from pg_database where datname like 'flock_test%'`,
    );
    t.is(restored.length, 1);
    way.leadTo(copy.url);
    const after = await patiently('the blocks to be read again', eventsOf, (events) => events.size === before.size);
    t.deepEqual([...after].sort(), [...before].sort());
    const [books] = await cloud.database.admin`
    select count(*)::int as credits, count(distinct deposit_id)::int as deposits from flock.ledger_entry
     where account_id = ${live.accountId} and kind = 'credit'`;
    t.deepEqual({ ...books }, { credits: 3, deposits: 3 });
  },
);
