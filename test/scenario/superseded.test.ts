/** Two real processes of the cloud on one database: one serves, and the other goes on when that one is gone. */
import test, { type ExecutionContext } from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { watchLateness } from '../support/lateness.ts';
import { patientFetch } from '../support/patience.ts';
import { openCompany, patiently, CONFIRMATIONS, type Company } from '../support/company.ts';

const LEASE_SECONDS = 3;
/** What a caller is answered within, whoever serves. */
const ANSWER_MS = 2_000;

async function answer(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; retryAfter: string | null; body: string; tookMs: number }> {
  const begunMs = performance.now();
  const response = await patientFetch(`${url}${path}`, { headers });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: await response.text(),
    tookMs: performance.now() - begunMs,
  };
}

/** A payment that is credited and told, by whichever node serves. */
async function paysThrough(t: ExecutionContext, company: Company, userRef: string): Promise<void> {
  const { client, receiver, pay, mine } = company;
  const { address } = (await patiently(
    'an address',
    () => client.call('createAddress', { body: { chain: 'eth', userRef } }),
    (reply) => !isRefusal(reply),
  )) as { address: string };
  const txid = await pay(address, 10n ** 17n);
  await mine(CONFIRMATIONS);
  await receiver.next(({ event, raw }) => event === 'deposit_confirmed' && raw.includes(txid));
  t.pass();
}

for (const ending of ['stops', 'is killed'] as const) {
  test.serial(
    `found F52: a second node starts and ${ending}; the first says that it does not serve, then serves again by itself`,
    async (t) => {
      t.timeout(600_000);
      const company = await openCompany({ cloudEnv: { NODE_LEASE_SECONDS: String(LEASE_SECONDS) } });
      t.teardown(() => company.close());
      const {
        deployment: { cloudUrl, record, addCloud },
        sql,
      } = company;
      const lateness = watchLateness(cloudUrl);
      t.teardown(() => lateness.end());
      const key = { 'x-api-key': record.live.cloudApiKey };
      await paysThrough(t, company, 'before');

      const second = await addCloud();
      await patiently(
        'the first to stand back',
        () => answer(cloudUrl, '/health/ready'),
        ({ status }) => status === 503,
      );
      const askedMs = performance.now();
      const refused = await answer(cloudUrl, '/v1/addresses', key);
      t.is(refused.status, 503);
      t.is(refused.retryAfter, '1');
      t.true(refused.tookMs - lateness.since(askedMs) < ANSWER_MS);
      t.like(JSON.parse(refused.body), { error: { code: 'SERVICE_UNAVAILABLE', details: { reason: 'superseded' } } });
      t.is((await answer(second.url, '/v1/addresses', key)).status, 200);
      t.is((await answer(cloudUrl, '/health/live')).status, 200, 'it runs: nobody needs to restart it');

      if (ending === 'stops') await second.child.stop();
      else second.child.kill('SIGKILL');
      const goneMs = performance.now();
      await patiently(
        'the first to serve',
        () => answer(cloudUrl, '/health/ready'),
        ({ status }) => status === 200,
      );
      const tookMs = performance.now() - goneMs - lateness.since(goneMs);
      t.true(tookMs < (LEASE_SECONDS + 12) * 1_000, 'within the lease and a few heartbeats');
      await paysThrough(t, company, 'after');
      const [owners] = await sql<{ owners: number; behind: number }[]>`
      select count(distinct owner)::int as owners, (select count(*)::int from flock.inbox) as behind from flock.shard`;
      t.deepEqual(owners, { owners: 1, behind: 0 });
    },
  );
}
