/** Work that must happen once over all nodes: docs/jobs.md. Issue 10 point 5. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { systemClock } from '../../../actors/kernel/index.ts';
import { createJobStore } from '../../../persistence/postgres/job-store.ts';
import { jobsOf } from '../../../supervision/schedules.ts';
import { once, type OnceDeps } from '../../../cluster/once.ts';
import { eventually } from '../../support/edge/edges.ts';
import { startTestCloud } from '../../support/gateway.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database.close());

const DAY = 86_400;
const silent = { debug: () => undefined, warn: () => undefined };
const node = (nodeId: string): OnceDeps => ({
  jobs: createJobStore(database.sql),
  nodeId,
  clock: systemClock,
  log: silent,
});

test('of eight nodes that try at once one does the work of a period; the next period is anybody’s', async (t) => {
  const job = { job: 'eight', everySeconds: DAY };
  let done = 0;
  const all = () =>
    Promise.all(Array.from({ length: 8 }, (_, at) => once(node(`n${at}`), job, async () => void (done += 1))));
  t.is((await all()).filter(Boolean).length, 1);
  t.is((await all()).filter(Boolean).length, 0);
  t.is(done, 1);
  await database.owner`update flock.background_job set period = period - interval '1 day' where name = 'eight'`;
  t.is((await all()).filter(Boolean).length, 1);
  t.is(done, 2);
});

test('work that fails waits for its pause, and another node does it; its period is not lost', async (t) => {
  const job = { job: 'fails', everySeconds: DAY };
  const tried: string[] = [];
  const run = (name: string, fails: boolean) =>
    once(node(name), job, async () => {
      tried.push(name);
      if (fails) throw new Error('as a test wants it');
    });
  t.false(await run('a', true));
  t.false(await run('b', false), 'it waits');
  await database.owner`update flock.background_job set claimed_until = '-infinity' where name = 'fails'`;
  t.true(await run('b', false));
  t.deepEqual(tried, ['a', 'b']);
});

test('a node that died is replaced when its claim is over; a slow one that lost it is aborted and ends nothing', async (t) => {
  const job = { job: 'slow', everySeconds: DAY };
  const fires: (() => void)[] = [];
  const clock = { setTimer: (_ms: number, fire: () => void) => fires.push(fire), clearTimer: () => undefined };
  let signal: AbortSignal | undefined;
  const blocked = Promise.withResolvers<void>();
  const slow = once({ ...node('slow'), clock }, job, async (run) => {
    ({ signal } = run);
    await blocked.promise;
  });
  await eventually('the claim', async () => signal !== undefined);
  t.false(await once(node('quick'), job, async () => t.fail('it is claimed')));
  await database.owner`update flock.background_job set claimed_until = '-infinity' where name = 'slow'`;
  const release = Promise.withResolvers<void>();
  let begun = false;
  const quick = once(node('quick'), job, async () => {
    begun = true;
    await release.promise;
  });
  await eventually('the other node', async () => begun);
  fires[0]!();
  await eventually('the slow one notices', async () => signal!.aborted);
  blocked.resolve();
  t.false(await slow);
  const [row] = await database.owner`select node from flock.background_job where name = 'slow'`;
  t.is(row!['node'], 'quick', 'the claim is left alone');
  release.resolve();
  t.true(await quick);
});

test('a node that stops gives its claim back at once', async (t) => {
  const job = { job: 'stops', everySeconds: DAY };
  const stopping = new AbortController();
  t.false(await once(node('a'), job, async () => stopping.abort(), stopping.signal));
  t.true(await once(node('b'), job, async () => undefined));
});

test('two nodes: each job is done once in a period, by one of them; one without gateway owns no account', async (t) => {
  const cluster = { CLUSTER_SECRET: randomBytes(32).toString('hex'), INTERNAL_PORT: '0', NODE_LEASE_SECONDS: '10' };
  const cloud = await startTestCloud({ ...cluster, NODE_NAME: 'a' });
  t.teardown(() => cloud.stop());
  const b = await cloud.another('b', { ROLES: 'watchers,publisher,schedules' });
  t.teardown(() => b.stop());
  const done = () =>
    cloud.lines
      .map((line) => JSON.parse(line) as { msg: string; job: string; period: string })
      .filter(({ msg }) => msg === 'a job is done')
      .map(({ job, period }) => `${job} ${period}`);
  const names = () => [...new Set(done().map((text) => text.split(' ')[0]!))].sort();
  const all = jobsOf({} as Parameters<typeof jobsOf>[0]).map(({ job }) => job);
  await eventually('every job to be done', async () => names().length === all.length);
  t.is(new Set(done()).size, done().length, done().join('\n'));
  t.deepEqual(names(), all.toSorted());
  await eventually('every account to have an owner', async () => {
    const [row] = await cloud.database.admin`select count(owner)::int as owned from flock.shard`;
    return row!['owned'] === 1_024;
  });
  const owners = await cloud.database.admin`select distinct split_part(owner, '/', 1) as name from flock.shard`;
  t.deepEqual(
    owners.map(({ name }) => name as string),
    ['a'],
  );
});
