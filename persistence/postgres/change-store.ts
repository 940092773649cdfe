/** What happened in accounts, over PostgreSQL. Console C14. */
import type { AccountMoves, ChangeStore } from '../../model/ports/change-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { Sql } from './sql.ts';

interface Row {
  readonly accountId: AccountId;
  readonly version: number | bigint;
  readonly delivery: number | bigint;
  readonly entry: number | bigint;
  readonly changes: Pick<AccountMoves, 'events' | 'entries'>;
}

export function createChangeStore(sql: Sql): ChangeStore {
  return {
    async since(places, most) {
      const known = [...places.values()];
      const rows = await sql<Row[]>`
        select account_id, version, delivery, entry, changes
          from account_changes(${[...places.keys()]}::text[], ${known.map(({ version }) => String(version))}::text[]::bigint[],
                               ${known.map(({ delivery }) => String(delivery))}::text[]::bigint[],
                               ${known.map(({ entry }) => String(entry))}::text[]::bigint[], ${most})`;
      return rows.map(({ accountId, version, delivery, entry, changes }) => ({
        accountId,
        version: Number(version),
        delivery: Number(delivery),
        entry: Number(entry),
        ...changes,
      }));
    },
    async paymentMarks(ids) {
      return sql<{ id: string; mark: string }[]>`select id, mark from checkout_marks(${[...ids]}::text[])`;
    },
  };
}
