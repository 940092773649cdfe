/**
 * Three real processes of the cloud on one database, an edge that reached one of them, a chain, a receiver. The node
 * that owns the account dies between a payment and its confirmation, and the one after it is stopped.
 */
import { randomBytes } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import type { Child } from '../../developer/children.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { openCompany, patiently, CONFIRMATIONS, type Company } from '../support/company.ts';

const LEASE_SECONDS = 3;

async function ownerOf({ sql, accountId }: Company): Promise<string | null> {
  const [row] = await sql<{ owner: string | null }[]>`
    select split_part(s.owner, '/', 1) as owner from flock.shard s join flock.account a on a.shard_id = s.id
     where a.account_id = ${accountId}`;
  return row!.owner;
}

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

async function confirms(t: ExecutionContext, { receiver }: Company, txid: string): Promise<void> {
  await receiver.next(({ event, raw }) => event === 'deposit_confirmed' && raw.includes(txid));
  t.pass();
}

test.serial(
  'the owner of an account is killed between a payment and its confirmation, the next one is stopped: nothing is missed or doubled',
  async (t) => {
    t.timeout(600_000);
    const company = await openCompany({
      cloudEnv: {
        CLUSTER_SECRET: randomBytes(32).toString('hex'),
        INTERNAL_PORT: '0',
        NODE_LEASE_SECONDS: String(LEASE_SECONDS),
      },
    });
    t.teardown(() => company.close());
    const { deployment, sql, accountId, pay, mine, receiver } = company;
    const others = new Map<string, Child>();
    const add = async (): Promise<void> => {
      const name = `cloud-${others.size + 2}`;
      const { child } = await deployment.addCloud({ NODE_NAME: name });
      others.set(name, child);
    };
    await add();
    await add();
    const isShared = async () => {
      const [row] =
        await sql`select count(distinct owner)::int as owners, count(*) filter (where owner is null)::int as none from flock.shard`;
      return row!['owners'] === others.size + 1 && row!['none'] === 0;
    };
    await patiently('every node to have its share', isShared, (shared) => shared);
    // Each start of the first node is another node to the hash.
    while ((await ownerOf(company)) === 'cloud-1') {
      await deployment.cloud.stop();
      await deployment.restartCloud();
      await patiently('every node to have its share', isShared, (shared) => shared);
    }
    const owner = (await ownerOf(company))!;
    t.true(others.has(owner), 'the account lives on a node that the edge did not reach');

    const first = await pay(await addressFor(company, 'before'), 10n ** 17n);
    await mine(CONFIRMATIONS);
    await confirms(t, company, first);

    const second = await pay(await addressFor(company, 'while it dies'), 10n ** 17n);
    await mine(1);
    await receiver.next(({ event, raw }) => event === 'deposit_detected' && raw.includes(second));
    const dead = [...new Set([owner, (await followerOf(company))!])].filter((name) => others.has(name));
    for (const name of dead) others.get(name)!.kill('SIGKILL');
    for (const name of dead) others.delete(name);
    await mine(CONFIRMATIONS);
    await confirms(t, company, second);
    const next = (await ownerOf(company))!;
    t.not(next, owner);

    const third = await addressFor(company, 'after');
    if (others.has(next)) {
      await others.get(next)!.stop();
      others.delete(next);
    }
    const last = await pay(third, 10n ** 17n);
    await mine(CONFIRMATIONS);
    await confirms(t, company, last);

    const announced = await sql<{ txid: string; count: number }[]>`
    select p.body::json -> 'data' ->> 'txid' as txid, count(*)::int as count from flock.publication p
     where p.account_id = ${accountId} and p.body::json ->> 'event' = 'deposit_confirmed' group by 1`;
    t.deepEqual(
      announced.map(({ txid, count }) => `${txid} ${count}`).sort(),
      [first, second, last].map((txid) => `${txid} 1`).sort(),
    );
    const [credited] = await sql`
    select count(*)::int as entries, count(distinct deposit_id)::int as deposits from flock.ledger_entry
     where account_id = ${accountId} and kind = 'credit'`;
    t.deepEqual({ ...credited }, { entries: 3, deposits: 3 });
  },
);
