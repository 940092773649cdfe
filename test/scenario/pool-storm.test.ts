/** The pool of a chain under load, through a real edge, its stream and a real cloud. */
import test from 'ava';
import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { createClient, type Client } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { startTestCloud } from '../support/gateway.ts';
import { startTestEdge } from '../support/edge/edges.ts';

const ADDRESSES = 2_600;
const AT_ONCE = 15;

async function inParallel(count: number, atOnce: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let n = next++; n < count; n = next++) await work(n);
    }),
  );
}

test('found pool storm: fifteen callers take 2,600 addresses of sol and of xlm: every request is answered, each index is pushed once, others are served', async (t) => {
  const cloud = await startTestCloud({ SANDBOX_REQUESTS_PER_MINUTE: '10000000' });
  t.teardown(() => cloud.stop());
  const { sandbox } = await cloud.organization();
  const edge = await startTestEdge(t, cloud.url, {
    environment: 'sandbox',
    phrase: generateMnemonic(wordlist),
    env: { API_KEY: sandbox.apiKey, EDGE_CHAINS: 'eth,sol,xlm' },
  });
  await edge.edge.registered;
  const client = createClient({ baseUrl: edge.url, apiKey: edge.localKey });
  const slowestMs = { edge: 0, cloud: 0 };
  const over = new AbortController();
  const watch = async (of: 'edge' | 'cloud', other: Client): Promise<void> => {
    while (!over.signal.aborted) {
      const atMs = performance.now();
      await other.must('listTransactions');
      slowestMs[of] = Math.max(slowestMs[of], performance.now() - atMs);
    }
  };
  const beganMs = performance.now();
  const watching = [watch('edge', client), watch('cloud', sandbox.client)];
  for (const chain of ['sol', 'xlm'] as const) {
    const taken = new Set<string>(),
      refused: unknown[] = [];
    await inParallel(ADDRESSES, AT_ONCE, async (n) => {
      const answer = await client.call('createAddress', { body: { chain, userRef: `customer-${n}` } });
      if (isRefusal(answer)) refused.push(answer);
      else taken.add(answer.address);
    });
    t.deepEqual(refused.slice(0, 3), [], `${chain}: ${refused.length} of ${ADDRESSES} were refused`);
    t.is(taken.size, ADDRESSES);
  }
  over.abort();
  const stormMs = performance.now() - beganMs;
  await Promise.all(watching);
  const [pushed] = await cloud.database.owner<{ rows: number; last: number; events: number; lows: number }[]>`
    select (select count(*) from pool_address where account_id = ${sandbox.accountId})::int as rows,
           (select sum(last + 1) from (select max(index) as last from pool_address where account_id = ${sandbox.accountId} group by chain) m)::int as last,
           (select count(*) from event where account_id = ${sandbox.accountId} and body ->> 'type' = 'pool_pushed')::int as events,
           (select count(*) from publication where account_id = ${sandbox.accountId} and event = 'pool_low')::int as lows`;
  t.is(pushed!.rows, pushed!.last, 'no hole');
  t.true(pushed!.lows <= 2 * 4, `pool_low was announced ${pushed!.lows} times`);
  const posts = cloud.lines.filter((line) => line.includes('"pushPool"') || line.includes('/v1/edge/pools')).length;
  t.true(
    posts > 0 && posts <= pushed!.events,
    `${posts} pushes, ${pushed!.events} with the sync brought something new`,
  );
  t.true(pushed!.rows < 2 * (ADDRESSES + 12_000), `${pushed!.rows} addresses were derived`);
  // Whoever waited for the storm's pools would wait for the most of it.
  t.true(slowestMs.edge < stormMs / 4 && slowestMs.cloud < stormMs / 4, JSON.stringify({ ...slowestMs, stormMs }));
  t.log({ ...pushed, posts, slowestMs });
});
