/** Deletes in pages: a busy day's rows in one statement would run into its limit of time, and none would be removed. */
import type { Fragment, Sql } from './sql.ts';

const DELETED_AT_ONCE = 10_000;

/**
 * Deletes the rows of a table whose `age` is before an instant, oldest first, each page in a statement of its own.
 * `age` has an index. Answers how many. What is not over by the database's clock stays: a node that is ahead would
 * forget a nonce that is still good.
 */
export async function deleteOlder(sql: Sql, table: Fragment, age: Fragment, beforeMs: number): Promise<number> {
  const before = sql`least(${beforeMs}::timestamptz, statement_timestamp())`;
  for (let gone = 0; ;) {
    const { count } = await sql`
      delete from ${table} g where g.ctid = any (array(
          select o.ctid from ${table} o where o.${age} < ${before} order by o.${age} limit ${DELETED_AT_ONCE}))
         and g.${age} < ${before}`;
    gone += count;
    if (count < DELETED_AT_ONCE) return gone;
  }
}
