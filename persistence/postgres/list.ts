/**
 * Pages of one tenant's lists. A list is the union of ranges, each of which one index holds in the list's order: a
 * filter that an index names and a request leaves out has few values, and there is a range for each. The ranges are
 * merged, so a page reads what it shows (and what its number skips), whatever else the account holds. Indexes:
 * tables/0049_beginning.
 */
import {
  COUNTED_ROWS_MAX,
  pageNumberOf,
  pageOf,
  SKIPPED_ROWS_MAX,
  type Page,
  type PageAsk,
} from '../../protocol/page.ts';
import { cursorText, type ListName } from '../../protocol/cursor.ts';
import { Refused, refuse } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { Lists } from './list-pool.ts';
import type { Columns } from './row-shapes.ts';
import type { Fragment, Sql } from './sql.ts';
import { asTenant } from './tenant.ts';

/** A list by its ids alone, newest first, or by (`created_at`, `id`), newest first. */
type Order = 'id' | 'time';

/** The ranges of one table. */
export interface Source {
  /** The two values by which ranges differ: one pair for each range. */
  readonly pairs: readonly (readonly [string, string])[];
  /** `from … where …` of a range, over a table that is called `x`; it may name `t.account`. */
  readonly range: (first: Fragment, second: Fragment) => Fragment;
}

/** Every pair of two sets of values; a single value is a set of its own. */
export function pairsOf(
  first: string | readonly string[],
  second: string | readonly string[],
): (readonly [string, string])[] {
  return [first].flat().flatMap((one) => [second].flat().map((other) => [one, other] as const));
}

export interface ListOf<T> {
  readonly list: ListName;
  readonly order: Order;
  readonly sources: readonly Source[];
  /** Tables whose kept counts are the length of the list; null for a filtered one, which is counted up to a limit. */
  readonly kept: readonly string[] | null;
  /** Rows of the keys `k` (`at`, `id`), in any order; it may name `t.account`. */
  readonly rows: (keys: Fragment) => Fragment;
  readonly shape: (row: Columns) => T;
}

/**
 * A page that skips more than this merges its ranges one entry at a time: the statement is longer, what it reads is
 * not.
 */
const EACH_RANGE_MAX = 1_000;

const TIME_KEY = /^([0-9]{1,16})\.([a-z]{3}_[a-z2-7]{26})$/;

function behind(sql: Sql, order: Order, ask: PageAsk): Fragment {
  if (!('after' in ask)) return sql``;
  if (order === 'id') return sql`and x.id < ${ask.after.key}`;
  const [, micros, id] = TIME_KEY.exec(ask.after.key)!;
  // Whole microseconds: an instant in milliseconds could precede its own row.
  return sql`and (x.created_at, x.id) < (timestamptz 'epoch' + ${micros!}::text::bigint * interval '1 microsecond', ${id!})`;
}

/** Selects joined by `union all`. */
function union(sql: Sql, parts: readonly Fragment[]): Fragment {
  return sql`${parts.map((part, n) => (n === 0 ? sql`(${part})` : sql`union all (${part})`))}`;
}

/** `columns` of every range of a source, each ending in `tail`, in one lateral join. */
function joined(sql: Sql, { pairs, range }: Source, columns: Fragment, tail: Fragment): Fragment {
  return sql`
    select r.* from unnest(${pairs.map(([first]) => first)}::text[], ${pairs.map(([, second]) => second)}::text[]) v(a, b)
     cross join lateral (select ${columns} ${range(sql`v.a`, sql`v.b`)} ${tail}) r`;
}

/** The same as a select for each range, whose order the planner can merge. */
function apart(sql: Sql, { pairs, range }: Source, columns: Fragment, tail: Fragment): Fragment[] {
  return pairs.map(([first, second]) => sql`select ${columns} ${range(sql`${first}`, sql`${second}`)} ${tail}`);
}

/** The keys of a page and one more, newest first. */
function keysOf<T>(sql: Sql, { order, sources }: ListOf<T>, ask: PageAsk, skipped: number): Fragment {
  const wanted = ask.size + 1;
  const [columns, sorted, merged] =
    order === 'id'
      ? [sql`null::timestamptz as at, x.id`, sql`x.id desc`, sql`id desc`]
      : [sql`x.created_at as at, x.id`, sql`x.created_at desc, x.id desc`, sql`at desc, id desc`];
  const tail = sql`${behind(sql, order, ask)} order by ${sorted} limit ${skipped + wanted}`;
  const parts = sources.flatMap((source) =>
    source.pairs.length === 1 || skipped > EACH_RANGE_MAX
      ? apart(sql, source, columns, tail)
      : [sql`${joined(sql, source, columns, tail)} order by ${merged} limit ${skipped + wanted}`],
  );
  return sql`select * from (${union(sql, parts)}) m order by ${merged} limit ${wanted} offset ${skipped}`;
}

/** Rows of the list; of a filtered one at most one more than COUNTED_ROWS_MAX. */
async function countOf<T>(sql: Sql, accountId: AccountId, { sources, kept }: ListOf<T>): Promise<number> {
  const counted =
    kept === null
      ? sql`select count(*) as total from (${union(
          sql,
          sources.map((source) => joined(sql, source, sql`1`, sql`limit ${COUNTED_ROWS_MAX + 1}`)),
        )} limit ${COUNTED_ROWS_MAX + 1}) n`
      : sql`select coalesce(sum(c.rows), 0)::bigint as total from list_count c where c.account_id = t.account and c.list = any (${kept as string[]}::text[])`;
  const [row] = await sql<{ total: number }[]>`select v.total from ${asTenant(sql, accountId, counted)}`;
  return row!.total;
}

/**
 * One page with the length of the list. Page and count are two statements: the count may be a moment newer.
 * Throws: Refused (INVALID_INPUT) for a page too far behind the newest row.
 */
export function listPage<T>(lists: Lists, accountId: AccountId, list: ListOf<T>, ask: PageAsk): Promise<Page<T>> {
  return lists.run(accountId, () => pageFrom(lists.sql, accountId, list, ask));
}

async function pageFrom<T>(sql: Sql, accountId: AccountId, list: ListOf<T>, ask: PageAsk): Promise<Page<T>> {
  const { size } = ask;
  const page = pageNumberOf(ask);
  const countedTo = list.kept === null ? COUNTED_ROWS_MAX : Infinity;
  const skipped = 'after' in ask ? 0 : page * size;
  if (list.sources.length === 0) return pageOf<T>([], { page, size, total: 0, next: null });
  if (skipped >= Math.min(countedTo, SKIPPED_ROWS_MAX)) {
    const total = await countOf(sql, accountId, list);
    if (total <= skipped && total <= countedTo) return pageOf<T>([], { page, size, total, next: null });
    const max = Math.floor((Math.min(countedTo, SKIPPED_ROWS_MAX) - 1) / size);
    throw new Refused(
      refuse('INVALID_INPUT', {
        field: 'query.page',
        max,
        reason: 'this page is too far behind the newest row: walk the list with `after`, which has no such bound',
      }),
    );
  }
  const rows = await rowsOf(sql, accountId, list, ask, skipped);
  const total = await countOf(sql, accountId, list);
  const shown = rows.slice(0, size);
  const last = rows.length > size ? shown.at(-1)! : null;
  const next =
    last === null
      ? null
      : cursorText(list.list, {
          page: page + 1,
          key: list.order === 'id' ? String(last.keyId) : `${last.keyAt}.${last.keyId}`,
        });
  return pageOf(shown.map(list.shape), { page, size, total, next, countedTo });
}

async function rowsOf<T>(
  sql: Sql,
  accountId: AccountId,
  list: ListOf<T>,
  ask: PageAsk,
  skipped: number,
): Promise<readonly Columns[]> {
  return sql<Columns[]>`
    select v.*, (extract(epoch from v.key_time) * 1000000)::bigint as key_at
      from ${asTenant(sql, accountId, list.rows(keysOf(sql, list, ask, skipped)))}
     order by v.key_time desc, v.key_id desc`;
}
