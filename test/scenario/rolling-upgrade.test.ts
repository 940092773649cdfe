/**
 * Issue 10 point 7: the release before this one on this one's schema, beside it, and back. Two nodes are replaced one
 * after the other, then one of them goes back, while callers send requests and a customer is paid.
 */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { Child } from '../../developer/children.ts';
import { openCompany, patiently, CONFIRMATIONS } from '../support/company.ts';
import { partEntries } from '../support/built-parts.ts';
import { evidenceOf } from '../support/evidence.ts';
import { holdingClient } from '../support/holding-client.ts';
import { cloudOfReleaseBefore } from '../support/release-before.ts';

const CALLERS = 16;
/** Requests of all callers together, in a second, where the machine can. */
const PER_SECOND = 200;

test.serial('a rolling upgrade and a step back lose no request and no payment', async (t) => {
  t.timeout(600_000);
  const before = cloudOfReleaseBefore(),
    now = (await partEntries()).cloud;
  const company = await openCompany({
    cloud: before,
    cloudEnv: { CLUSTER_SECRET: randomBytes(32).toString('hex'), INTERNAL_PORT: '0', NODE_LEASE_SECONDS: '10' },
  });
  t.teardown(() => company.close());
  const { deployment, sql, receiver, pay, mine } = company;
  const shared = (owners: number) =>
    patiently(
      `${owners} nodes to have their shares`,
      async () => {
        const [row] = await sql`select count(distinct owner)::int as owners,
          count(*) filter (where owner is null)::int as free from flock.shard`;
        return row!['owners'] === owners && row!['free'] === 0;
      },
      (is) => is,
    );
  let second = await deployment.addCloud({ NODE_NAME: 'cloud-2' }, before);
  await shared(2);
  const isReady = new Set([deployment.cloudUrl, second.url]);
  // A stop of that release closes connections on which a request has just arrived; this one reads what has arrived.
  const isBefore = new Set(isReady);

  const failures: unknown[] = [],
    made: string[] = [];
  let goesOn = true;
  t.teardown(() => {
    goesOn = false;
  });
  const beganAt = performance.now();
  let asked = 0;
  /** The next request's moment. */
  const turn = () =>
    new Promise((resolve) => {
      setTimeout(resolve, Math.max(0, beganAt + ((asked += 1) * 1_000) / PER_SECOND - performance.now()));
    });
  const callers = Array.from({ length: CALLERS }, async (_, at) => {
    const caller = holdingClient(
      () => [...isReady],
      (url) => isBefore.has(url),
    );
    const client = createClient({
      baseUrl: deployment.cloudUrl,
      apiKey: deployment.record.live.cloudApiKey,
      fetch: caller.fetch,
    });
    for (let n = 0; goesOn; n += 1) {
      const userRef = `caller-${at}-${n}`;
      await turn();
      const startedAt = performance.now();
      const issued = await client.call('createAddress', {
        body: { chain: 'eth', userRef },
        idempotencyKey: userRef,
      });
      await turn();
      const answers = [issued, await client.call('listAddresses', { query: { userRef } })];
      const failed = answers.filter((answer) => isRefusal(answer));
      if (failed.length > 0)
        failures.push({ failed, tookMs: performance.now() - startedAt, at: new Date().toISOString() });
      made.push(userRef);
    }
    await caller.close();
  });
  const enough = (count: number) =>
    patiently(
      'requests',
      async () => made.length >= count,
      (is) => is,
    );
  const paid: string[] = [];
  /** A node stops, another release of it starts; a payment is seen before and confirmed after. */
  const replace = async (what: string, url: string, stop: Child, start: () => Promise<unknown>): Promise<void> => {
    const address = await patiently(
      'an address',
      () => company.client.call('createAddress', { body: { chain: 'eth', userRef: `paid-${what}` } }),
      (answer) => !isRefusal(answer),
    );
    const txid = await pay((address as { address: string }).address, 10n ** 17n);
    paid.push(txid);
    await mine(1);
    await receiver.next(({ event, raw }) => event === 'deposit_detected' && raw.includes(txid));
    isReady.delete(url);
    stop.kill('SIGTERM');
    t.is(await stop.exited, 0, what);
    await mine(CONFIRMATIONS);
    await start();
    if (what !== 'step back') isBefore.delete(url);
    await shared(2);
    isReady.add(url);
    await receiver.next(({ event, raw }) => event === 'deposit_confirmed' && raw.includes(txid));
    await enough(made.length + CALLERS);
  };
  const restart = (entry: string) => () => deployment.restartCloud({}, entry);
  await enough(CALLERS);
  await replace('first upgrade', deployment.cloudUrl, deployment.cloud, restart(now));
  const { port } = new URL(second.url);
  await replace('second upgrade', second.url, second.child, async () => {
    second = await deployment.addCloud({ NODE_NAME: 'cloud-2', CLOUD_PORT: port }, now);
  });
  await replace('step back', deployment.cloudUrl, deployment.cloud, restart(before));
  goesOn = false;
  await Promise.all(callers);
  t.log(`${asked} requests, ${Math.round((asked * 1_000) / (performance.now() - beganAt))} a second`);
  if (failures.length > 0) t.log(JSON.stringify(failures), await evidenceOf(company));
  t.deepEqual(failures, []);
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from flock.address where account_id = ${company.accountId} and user_ref like 'caller-%'`;
  t.is(row!.count, made.length, 'each answer of a request is there once');
  const announced = await sql<{ txid: string; count: number }[]>`
    select p.body::json -> 'data' ->> 'txid' as txid, count(*)::int as count from flock.publication p
     where p.account_id = ${company.accountId} and p.body::json ->> 'event' = 'deposit_confirmed' group by 1`;
  t.deepEqual(announced.map(({ txid, count }) => `${txid} ${count}`).sort(), paid.map((txid) => `${txid} 1`).sort());
});
