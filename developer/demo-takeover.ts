/** What the demo shows with several nodes: the owner of an account dies between a deposit and its confirmation. */
import { openDatabase } from '../persistence/postgres/sql.ts';
import { isRefusal } from '../protocol/errors.ts';
import type { Deployment } from './deployment.ts';
import { check, of, until, type StoryParts } from './demo-story.ts';

/** Throws at the first check that does not hold. */
export async function showTakeover(parts: StoryParts, deployment: Deployment): Promise<void> {
  const { chain, stage, client, receiver, say } = parts;
  const { fleet, record, databaseUrl } = deployment;
  const sql = openDatabase({ url: databaseUrl, connections: 1, name: 'demo', role: null });
  const ownerOf = async (): Promise<string> => {
    const [row] = await sql<{ owner: string | null }[]>`
      select split_part(s.owner, '/', 1) as owner from flock.shard s join flock.account a on a.shard_id = s.id
       where a.account_id = ${`${record.organizationId}_live`}`;
    return row!.owner ?? '';
  };
  const issued = (userRef: string) =>
    until(
      'an address',
      () => client.call('createAddress', { body: { chain, userRef }, idempotencyKey: userRef }),
      (answer) => !isRefusal(answer),
      60_000,
    );
  try {
    const { address } = (await issued('customer-43')) as { address: string };
    const paid = await stage.pay(address, (stage.unit ?? 10n ** BigInt(stage.decimals)) / 5n);
    await receiver.next(of('deposit_detected', paid.txid));
    const owner = await until('an owner', ownerOf, (name) => fleet!.nodes.has(name));
    fleet!.nodes.get(owner)!.kill('SIGKILL');
    const killedAt = performance.now();
    await stage.mine(stage.threshold);
    const next = await until('another owner', ownerOf, (name) => name !== owner && fleet!.nodes.has(name), 60_000);
    await issued('customer-44');
    const tookMs = performance.now() - killedAt;
    await receiver.next(of('deposit_confirmed', paid.txid));
    const [row] = await sql<{ credits: number }[]>`
      select count(*)::int as credits from flock.ledger_entry e join flock.deposit d on d.id = e.deposit_id and d.account_id = e.account_id
       where d.txid = ${paid.txid} and e.kind = 'credit'`;
    check(row!.credits === 1, `the deposit is credited once, got ${row!.credits}`);
    const same = new Set(receiver.received.filter(of('deposit_confirmed', paid.txid)).map(({ id }) => id));
    check(same.size === 1, 'one deposit_confirmed');
    say(
      `+. ${owner}, which owned the account, is killed after deposit_detected: ${next} answers the next request ${Math.round(tookMs)} ms later,`,
    );
    say('   and deposit_confirmed arrives, credited once: nothing is missed.');
  } finally {
    await sql.end({ timeout: 5 });
  }
}
