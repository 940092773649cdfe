/**
 * The node that follows a chain dies while it writes a reorganisation, right before and right after the statement;
 * another node takes the chain. What the new branch holds is credited once, what it lost is not.
 */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { openCompany, patiently, CONFIRMATIONS, type Company } from '../support/company.ts';

const LEASE_SECONDS = 3;
const SIGKILLED = null;

const followerOf = async ({ sql }: Company): Promise<string | null> =>
  (
    await sql<{ owner: string | null }[]>`
    select split_part(owner, '/', 1) as owner from flock.chain_follower where chain = 'eth'`
  )[0]?.owner ?? null;

async function addressFor({ client }: Company, userRef: string): Promise<string> {
  const reply = await patiently(
    'an address',
    () => client.call('createAddress', { body: { chain: 'eth', userRef } }),
    (answer) => !isRefusal(answer),
  );
  return (reply as { address: string }).address;
}

test('4.1 row 17: the node that follows a chain is killed in the middle of a reorganisation, another one goes on: the same end as without', async (t) => {
  t.timeout(600_000);
  const company = await openCompany({
    cloudEnv: {
      CLUSTER_SECRET: randomBytes(32).toString('hex'),
      INTERNAL_PORT: '0',
      NODE_LEASE_SECONDS: String(LEASE_SECONDS),
    },
  });
  t.teardown(() => company.close());
  const { deployment, anvil, sql, accountId, pay, mine, receiver } = company;
  const stays: string[] = [],
    goes: string[] = [];
  for (const [at, place] of ['record_reorg.before', 'record_reorg.after'].entries()) {
    const armed = `armed-${at}`;
    const { child } = await deployment.addCloud({ NODE_NAME: armed, FLOCK_FAILPOINTS: `kill:${place}:1` });
    // Each start of the first node is another node to the hash.
    while ((await followerOf(company)) !== armed) {
      await deployment.cloud.stop();
      await patiently(
        'the chain to move',
        () => followerOf(company),
        (follower) => follower === armed,
      );
      await deployment.restartCloud();
      await patiently(
        'shares',
        async () => (await sql`select count(distinct owner)::int as owners from flock.shard`)[0]!['owners'] as number,
        (owners) => owners === 2,
      );
    }
    const [stay, go] = [await addressFor(company, `stays ${place}`), await addressFor(company, `goes ${place}`)];
    const kept = await pay(stay, 10n ** 17n),
      lost = await pay(go, 10n ** 17n);
    stays.push(kept);
    goes.push(lost);
    await mine(1);
    for (const txid of [kept, lost])
      await receiver.next(({ event, raw }) => event === 'deposit_detected' && raw.includes(txid));
    t.is(await followerOf(company), armed, 'it is still the follower');
    const raw = await anvil.rpc<string>('eth_getRawTransactionByHash', [kept]);
    await anvil.rpc('anvil_reorg', [1, [[raw, 0]]]);
    await mine(1);
    t.is(await child.exited, SIGKILLED, place);
    await mine(CONFIRMATIONS);
    await receiver.next(({ event, raw: body }) => event === 'deposit_confirmed' && body.includes(kept));
    t.is(await followerOf(company), 'cloud-1');
    await receiver.next(({ event, raw: body }) => event === 'deposit_reversed' && body.includes(lost));
    const facts = await patiently(
      'both to be decided',
      () => sql<{ txid: string; status: string }[]>`
        select txid, status from flock.fact where txid = any (${[kept, lost]}::text[]) order by txid = ${lost}`,
      (rows) => rows[1]?.status === 'orphaned',
    );
    t.deepEqual(
      facts.map(({ status }) => status),
      ['matured', 'orphaned'],
      place,
    );
  }
  const events = await sql<{ txid: string; event: string; count: number }[]>`
    select p.body::json -> 'data' ->> 'txid' as txid, p.event, count(*)::int as count from flock.publication p
     where p.account_id = ${accountId} and p.event like 'deposit_%' group by 1, 2`;
  t.deepEqual(
    events.map(({ txid, event, count }) => `${event} ${txid} ${count}`).sort(),
    [
      ...[...stays, ...goes].map((txid) => `deposit_detected ${txid} 1`),
      ...stays.map((txid) => `deposit_confirmed ${txid} 1`),
      ...goes.map((txid) => `deposit_reversed ${txid} 1`),
    ].sort(),
    'each event once; what is not on the chain is taken back, and was never confirmed',
  );
  const credited = await sql<{ txid: string }[]>`
    select d.txid from flock.ledger_entry l join flock.deposit d on d.id = l.deposit_id
     where l.account_id = ${accountId} and l.kind in ('credit', 'reversal')`;
  t.deepEqual(credited.map(({ txid }) => txid).sort(), stays.toSorted());
});
