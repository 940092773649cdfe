/**
 * Reads of one tenant. Row-level security shows the rows of the account in the setting `flock.account`, and none
 * without it. Setting and query are one statement: the setting is the outer side of a lateral join, and the inner query
 * takes its account from there and is fenced by OFFSET 0, so that the planner can neither run it first nor melt it into
 * the outer one (a scan that ran before the setting would see no rows). It cannot ask for another account than the one
 * it named.
 */
import type { KeyOwner } from '../../model/ports/identity-store.ts';
import type { Columns } from './row-shapes.ts';
import type { Fragment, Sql } from './sql.ts';

/** An account, a user who works without one, or an organization with its audit log. */
export type Tenant = KeyOwner | `organization:${string}`;

/** `from` clause of a tenant's read: `t.account` is the account; `inner` must be limited by it. */
export function asTenant(sql: Sql, accountId: Tenant, inner: Fragment): Fragment {
  return sql`(select set_config('flock.account', ${accountId}, true) as account offset 0) t cross join lateral (select * from (${inner}) i offset 0) v`;
}

/** First row of a tenant's read, shaped; null when there is none. */
export async function oneOf<T>(
  sql: Sql,
  accountId: KeyOwner,
  inner: Fragment,
  shape: (row: Columns) => T,
): Promise<T | null> {
  const [row] = await sql<Columns[]>`select v.* from ${asTenant(sql, accountId, inner)} limit 1`;
  return row === undefined ? null : shape(row);
}
