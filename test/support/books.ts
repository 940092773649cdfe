/** The global checker that every fault test ends with: ledger, events, publications and what the receiver got agree. */
import type { Receiver } from '../../gateway/cli/webhook-receiver.ts';
import type { Sql } from '../../persistence/postgres/sql.ts';
import { EVENT_CATALOGUE } from '../../protocol/schema/events.ts';
import type { EventName } from '../../protocol/slugs.ts';

/** A payment of the test's model. */
export interface Paid {
  readonly address: string;
  readonly amount: bigint;
  readonly survives: boolean;
}

interface DepositLine {
  txid: string;
  address: string;
  amount: bigint;
  status: string;
  credited: bigint;
  credits: number;
  reversals: number;
}

/** Everything that is wrong, as sentences; empty when the books are right. `paid` is keyed by txid. */
export async function problemsOfBooks({
  sql,
  accountId,
  paid,
  receiver,
}: {
  sql: Sql;
  accountId: string;
  paid: ReadonlyMap<string, Paid>;
  receiver: Receiver;
}): Promise<string[]> {
  return [
    ...(await problemsOfLedger(sql, accountId, paid)),
    ...(await problemsOfPublications(sql, accountId, receiver)),
    ...problemsOfReceiver(paid, receiver),
  ];
}

async function problemsOfLedger(sql: Sql, accountId: string, paid: ReadonlyMap<string, Paid>): Promise<string[]> {
  const problems: string[] = [];
  const lines = await sql<DepositLine[]>`
    select d.txid, d.address, d.amount, d.status,
           coalesce(sum(l.amount) filter (where l.kind in ('credit', 'reversal')), 0)::numeric as credited,
           count(*) filter (where l.kind = 'credit')::int as credits,
           count(*) filter (where l.kind = 'reversal')::int as reversals
      from flock.deposit d left join flock.ledger_entry l on l.deposit_id = d.id and l.account_id = d.account_id
     where d.account_id = ${accountId} group by d.account_id, d.id, d.txid, d.address, d.amount, d.status`;
  const byTxid = new Map(lines.map((line) => [line.txid, line]));
  if (byTxid.size !== lines.length) problems.push(`${lines.length} deposits for ${byTxid.size} transactions`);
  for (const line of lines) if (!paid.has(line.txid)) problems.push(`deposit of an unknown transaction ${line.txid}`);
  for (const [txid, { address, amount, survives }] of paid) {
    const line = byTxid.get(txid);
    if (!survives) {
      if (line !== undefined && line.credited !== 0n)
        problems.push(`${txid} left the chain and is credited ${line.credited}`);
      continue;
    }
    if (line === undefined) problems.push(`${txid} to ${address} was missed`);
    else if (
      line.status !== 'confirmed' ||
      line.credited !== amount ||
      line.credits - line.reversals !== 1 ||
      line.address !== address
    ) {
      problems.push(
        `${txid} is ${line.status}, credited ${line.credited} of ${amount} (${line.credits} credits, ${line.reversals} reversals)`,
      );
    }
  }
  return problems;
}

async function problemsOfPublications(sql: Sql, accountId: string, receiver: Receiver): Promise<string[]> {
  const problems: string[] = [];
  const published = await sql<{ eventId: string; body: string }[]>`
    select event_id, body from flock.publication where account_id = ${accountId}`;
  const bodies = new Map(published.map(({ eventId, body }) => [eventId, body]));
  const got = new Map<string, Set<string>>();
  for (const { id, raw } of receiver.received) got.set(id, (got.get(id) ?? new Set()).add(raw));
  for (const id of bodies.keys()) if (!got.has(id)) problems.push(`event ${id} was published and never delivered`);
  for (const [id, raws] of got) {
    if (!bodies.has(id)) problems.push(`event ${id} was delivered and never published`);
    if (raws.size > 1) problems.push(`event ${id} came with ${raws.size} different bodies`);
  }
  const [left] = await sql<{ inbox: number; open: number; orphans: number }[]>`
    select (select count(*)::int from flock.inbox where account_id = ${accountId}) as inbox,
           (select count(*)::int from flock.delivery where account_id = ${accountId} and status <> 'delivered') as open,
           -- A deposit that comes back is detected again and was told of before: decisions 5.
           (select count(*)::int from flock.ledger_entry l where l.account_id = ${accountId}
              and not (l.kind = 'detected' and l.incarnation > 1 and l.event_id is null)
              and not exists (select 1 from flock.publication p where p.account_id = l.account_id and p.event_id = l.event_id)) as orphans`;
  if (left!.inbox > 0) problems.push(`${left!.inbox} facts still wait in the inbox`);
  if (left!.open > 0) problems.push(`${left!.open} deliveries are not delivered`);
  if (left!.orphans > 0) problems.push(`${left!.orphans} ledger entries without their event`);
  return problems;
}

/** What a customer who credits by `event.id` and txid + outputIndex would have in the end. */
function problemsOfReceiver(paid: ReadonlyMap<string, Paid>, receiver: Receiver): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  const credited = new Map<string, bigint>();
  for (const { id, event, data } of receiver.received) {
    const shape = EVENT_CATALOGUE[event as EventName]?.data.safeParse(data);
    if (shape?.success !== true)
      problems.push(
        `${event} ${id} is not as the catalogue has it: ${shape?.error?.issues[0]?.path.join('.') ?? 'unknown event'}`,
      );
    if (seen.has(id) || (event !== 'deposit_confirmed' && event !== 'deposit_reversed')) continue;
    seen.add(id);
    const txid = String(data['txid']);
    const wasConfirmed = event === 'deposit_confirmed' || data['reversedFrom'] === 'confirmed';
    if (!wasConfirmed) continue;
    const sign = event === 'deposit_confirmed' ? 1n : -1n;
    credited.set(txid, (credited.get(txid) ?? 0n) + sign * BigInt(String(data['amount'])));
  }
  return problems.concat(
    [...paid].flatMap(([txid, { amount, survives }]) => {
      const expected = survives ? amount : 0n;
      const got = credited.get(txid) ?? 0n;
      return got === expected ? [] : [`a customer would have credited ${got} for ${txid}, expected ${expected}`];
    }),
  );
}
