/** Searches of one tenant over PostgreSQL: each part reads a few entries of one index. Console C16, C17. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Found, FindStore, PublishedEvent } from '../../model/ports/find-store.ts';
import { createLists, type Lists } from './list-pool.ts';
import type { Columns } from './row-shapes.ts';
import type { Fragment, Sql } from './sql.ts';
import { asTenant, oneOf } from './tenant.ts';

/** Searches at once over a pool that is shared, as in tests. */
const SLOTS = 4;
/** Behind every text that begins with another one: no label holds it. */
const LAST = '\u{10FFFF}';

/** Searches have the slots of lists, so that they hold no connection of an append. */
export function createFindStore(own: Sql, lists: Lists = createLists(own, { slots: SLOTS })): FindStore {
  const { sql } = lists;
  const shown = sql`x.id, x.chain, x.status, x.address as text, x.user_ref, x.label, x.created_at`;
  const read = async (accountId: AccountId, inner: Fragment): Promise<PublishedEvent[]> => {
    const rows = await lists.run(
      accountId,
      async () => sql<Columns[]>`select v.* from ${asTenant(sql, accountId, inner)} order by v.seq`,
    );
    return rows.map(publishedOf);
  };
  return {
    async find(accountId, { addresses: texts, txids, userRef, label }, limit) {
      // Each text by itself, so that no other index is walked for it.
      const each = (texts: readonly string[], rows: Fragment) =>
        sql`unnest(${texts as string[]}::text[]) w(text) cross join lateral (${rows} limit ${limit}) x`;
      const paid = (table: Fragment) =>
        sql`select * from ${table} p where p.txid = w.text collate "C" and p.account_id = t.account`;
      const inner = sql`
        (select 0 as rank, 'address' as kind, ${shown} from ${each(
          texts,
          sql`select * from address a where a.address = w.text collate "C" and a.account_id = t.account`,
        )})
        union all
        (select 0, 'deposit', x.id, x.chain, x.status, x.txid, x.user_ref, null, x.created_at
           from ${each(txids, paid(sql`deposit`))})
        union all
        (select 0, 'withdrawal', x.id, x.chain, x.status, x.txid, x.user_ref, null, x.created_at
           from ${each(txids, paid(sql`withdrawal`))})
        union all
        (select 1, 'address', ${shown} from address x where x.account_id = t.account and x.user_ref = ${userRef}
          order by x.chain, x.status, x.id limit ${limit})
        union all
        (select 2, 'address', ${shown} from address x
          where x.account_id = t.account and x.purpose = 'deposit' and x.label is not null and ${label} <> ''
            and x.label collate "C" >= ${label} and x.label collate "C" < ${label + LAST}
          order by x.label collate "C" limit ${limit})`;
      const rows = await lists.run(
        accountId,
        async () =>
          sql<Columns[]>`select v.* from ${asTenant(sql, accountId, inner)} order by v.rank, v.created_at desc, v.id`,
      );
      const found = new Map(rows.map((row) => [row['id'] as string, foundOf(row)]));
      return [...found.values()].slice(0, limit);
    },
    event: (accountId, id) =>
      oneOf(
        own,
        accountId,
        own`select event_id, event, body, created_at from publication where account_id = t.account and event_id = ${id}`,
        publishedOf,
      ),
    async events(accountId, limit, since) {
      const all = sql`select x.event_id, x.event, x.body, x.created_at, x.seq from publication x where x.account_id = t.account`;
      if (since === undefined) return read(accountId, sql`${all} order by x.seq desc limit ${limit}`);
      if (since === null) return read(accountId, sql`${all} order by x.seq limit ${limit}`);
      // With its own row before them: without that the account has no such event.
      const [own, ...behind] = await read(
        accountId,
        sql`${all} and x.seq >= (select s.seq from publication s where s.account_id = t.account and s.event_id = ${since})
             order by x.seq limit ${limit + 1}`,
      );
      return own === undefined ? null : behind;
    },
  };
}

const publishedOf = ({ eventId, event, body, createdAt }: Columns): PublishedEvent =>
  ({ id: eventId, event, body, createdAtMs: createdAt }) as PublishedEvent;

const foundOf = ({ kind, id, chain, status, text, userRef, label, createdAt }: Columns): Found =>
  ({ kind, id, chain, status, text, userRef, label, createdAtMs: createdAt }) as Found;
