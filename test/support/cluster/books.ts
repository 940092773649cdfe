/** The database and the receivers of a cluster, as the checks of a story read them. */
import type { Books } from './checks.ts';
import type { TestCluster } from './cluster.ts';

const LOOK_EVERY_MS = 150;

/** Looks at every epoch and version until it is ended. */
export function watchEpochs({ sql }: Pick<TestCluster, 'sql'>): { end(): Promise<Books['epochs']> } {
  const looks: ReadonlyMap<string, number>[] = [];
  let going = true;
  const watching = (async () => {
    while (going) {
      const rows = await sql<{ name: string; epoch: string }[]>`
        select 'shard ' || id as name, epoch from flock.shard
        union all select 'chain ' || chain, epoch from flock.chain_follower
        union all select 'owner of ' || account_id, owner_epoch from flock.account
        union all select 'version of ' || account_id, version from flock.account
        union all select 'lease of ' || account_id, coalesce((state -> 'lease' -> 'epoch')::bigint, 0) from flock.account`.catch(
        () => [], // the server crashed just now
      );
      looks.push(new Map(rows.map(({ name, epoch }) => [name, Number(epoch)])));
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  })();
  return {
    async end() {
      going = false;
      await watching;
      return looks;
    },
  };
}

/** What a story made, by its seed; `marks`: how much the receivers had when it began. */
export async function openBooks(
  { sql, fleets }: TestCluster,
  { seed, marks }: { seed: number; marks: readonly number[] },
): Promise<Books> {
  const accounts = fleets.map(({ accountId }) => accountId);
  const addresses = await sql<{ id: string; address: string; userRef: string; status: string }[]>`
    select id, address, user_ref as "userRef", status from flock.address
     where account_id = any (${accounts}::text[]) and user_ref like ${`s${seed}-%`}`;
  const deposits = await sql<Books['deposits'][number][]>`
    select d.txid, d.amount::text, d.status,
           array(select l.amount::text from flock.ledger_entry l where l.deposit_id = d.id and l.kind = 'credit') as credits,
           coalesce((select json_agg(json_build_object('eventId', p.event_id, 'event', p.event, 'attempts',
                  (select coalesce(sum(v.attempts), 0) from flock.delivery v where v.account_id = p.account_id and v.event_id = p.event_id))
                  order by p.seq) from flock.publication p
              where p.account_id = d.account_id and p.body::json -> 'data' ->> 'txid' = d.txid), '[]') as events
      from flock.deposit d
     where d.account_id = any (${accounts}::text[]) and d.address_id = any (${addresses.map(({ id }) => id)}::text[])`;
  const arrivals = fleets.flatMap(({ receiver }, at) => receiver.arrivals.slice(marks[at]));
  const ids = [
    ...new Set([
      ...arrivals.map(({ eventId }) => eventId),
      ...deposits.flatMap(({ events }) => events.map(({ eventId }) => eventId)),
    ]),
  ];
  const published = await sql<{ eventId: string; body: string }[]>`
    select event_id as "eventId", body from flock.publication
     where account_id = any (${accounts}::text[]) and event_id = any (${ids}::text[])`;
  const [left] = await sql<{ facts: number; unpublished: number; open: number }[]>`
    select (select count(*) from flock.inbox)::int as facts,
           (select count(*) from flock.publication where completed_at is null)::int as unpublished,
           (select count(*) from flock.delivery where status <> 'delivered')::int as open`;
  const arrived = new Set(arrivals.map(({ eventId }) => eventId));
  const events = deposits.flatMap(({ events: own }) => own);
  const leaders = await Promise.all(
    fleets.map(async ({ replicas }) => {
      const leading = await Promise.all(replicas.map((replica) => replica.metric('svc_edge_leader ')));
      return leading.filter((leads) => leads === 1).length;
    }),
  );
  const open = [
    left!.facts > 0 ? `${left!.facts} facts wait` : '',
    left!.unpublished > 0 ? `${left!.unpublished} publications are incomplete` : '',
    left!.open > 0 ? `${left!.open} deliveries are not delivered` : '',
    ...deposits.filter(({ status }) => status !== 'confirmed').map(({ txid, status }) => `${txid} is ${status}`),
    ...events.filter(({ eventId }) => !arrived.has(eventId)).map(({ event }) => `${event} has not arrived`),
    ...leaders.flatMap((count, at) => (count === 1 ? [] : [`account ${at} has ${count} leaders`])),
  ].filter((text) => text !== '');
  return {
    addresses,
    deposits,
    published: new Map(published.map(({ eventId, body }) => [eventId, body])),
    arrivals,
    epochs: [],
    open,
  };
}
