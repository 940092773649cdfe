/** Reviews of conflicts over PostgreSQL. They are opened by the schema when a batch becomes `conflict`. */
import type { ClaimedRow, ConflictStore, ImportReview } from '../../model/ports/conflict-store.ts';
import { recordingOf } from './audit-log-store.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';

export function createConflictStore(sql: Sql): ConflictStore {
  const reviewsOf = (some: ReturnType<Sql>) => sql<Columns[]>`
    select r.*, b.project_id, b.adopting from import_review r
      join import_batch b on b.account_id = r.account_id and b.id = r.batch_id
     where ${some}`;
  return {
    async reviews(state, after, limit) {
      const rows = await reviewsOf(
        sql`r.state = ${state} and r.id > ${after} order by r.state, r.id limit ${limit}::int`,
      );
      return rows.map(reviewOf);
    },
    async review(id) {
      const [row] = await reviewsOf(sql`r.id = ${id}`);
      return row === undefined ? null : reviewOf(row);
    },
    async claims(id, after, limit) {
      const rows = await sql<Columns[]>`select * from claims_of_review(${id}, ${after}::int, ${limit}::int)`;
      return rows.map((row) => ({ ...row, claimedAtMs: row['claimedAt'] }) as unknown as ClaimedRow);
    },
    async decide(id, decision, by, audit) {
      const [row] = await sql<{ done: boolean }[]>`
        select d.done, case when d.done then ${recordingOf(sql, audit)} end
          from (select decide_import_review(${id}, ${decision}, ${by}) as done offset 0) d`;
      return row!.done;
    },
    async waiting(accountId, sinceMs, most) {
      const [row] = await sql<{ id: string | null }[]>`
        select min(v.id) filter (where v.state = 'open') as id from (
          select r.id, r.state from import_review r
           where r.account_id = ${accountId} and r.opened_at >= ${sinceMs}::timestamptz
           order by r.opened_at limit 1000) v
        having count(*) >= ${most}::int`;
      return row?.id ?? null;
    },
  };
}

function reviewOf(row: Columns): ImportReview {
  return {
    id: row.id,
    accountId: row.accountId,
    projectId: row.projectId,
    batchId: row.batchId,
    state: row.state,
    conflicts: Number(row.conflicts),
    adoptable: Number(row.adopting),
    openedAtMs: row.openedAt,
    decidedAtMs: row.decidedAt,
    decidedBy: row.decidedBy,
  } as ImportReview;
}
