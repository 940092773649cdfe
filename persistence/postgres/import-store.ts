/** Batches of imports over PostgreSQL: each write is one statement. Migration M-I1–M-I16. */
import type { AdoptedRow, Batch, CatchUp, ImportStore, Issue, ObservedCounts } from '../../model/ports/import-store.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { Columns } from './row-shapes.ts';
import { createLists, DOWNLOAD_WAIT_MS, SHARED_SLOTS, type Lists } from './list-pool.ts';
import { writtenWithin, type Sql } from './sql.ts';
import { asTenant } from './tenant.ts';

/** Rows that one call of forget_staged removes. */
const FORGOTTEN_PAGE = 10_000;

export function createImportStore(sql: Sql, lists: Lists = createLists(sql, { slots: SHARED_SLOTS })): ImportStore {
  return { ...batches(sql), ...staged(sql), ...work(sql), ...watched(sql, lists), ...adoptedOf(lists) };
}

function batches(
  sql: Sql,
): Pick<
  ImportStore,
  'createBatch' | 'batch' | 'batchesOf' | 'beginCheck' | 'moveBatch' | 'claimImports' | 'forgetStaged'
> {
  return {
    async createBatch(batch, most) {
      const { id, accountId, projectId, chain, includeChange, createdAtMs } = batch;
      const isFew = sql`(select count(*) from import_batch b where b.account_id = ${accountId}) < ${most}::int`;
      if ('scanId' in batch) {
        const making = sql`
          insert into import_batch (account_id, id, project_id, scan_id, chain, with_change, created_at)
            select ${accountId}, ${id}, ${projectId}, s.id, s.chain, ${includeChange}, ${createdAtMs}::timestamptz
              from scan s
             where s.account_id = ${accountId} and s.id = ${batch.scanId} and s.state = 'completed' and ${isFew}`;
        return (await writtenWithin('import_batch_limit', making)) > 0;
      }
      const making = sql`
        with taken as (
          update upload u set state = 'used'
           where u.id = ${batch.uploadId} and u.account_id = ${accountId} and u.state = 'complete' and ${isFew}
          returning u.id
        )
        insert into import_batch (account_id, id, project_id, upload_id, chain, with_change, created_at)
          select ${accountId}, ${id}, ${projectId}, t.id, ${chain}, ${includeChange}, ${createdAtMs}::timestamptz from taken t`;
      return (await writtenWithin('import_batch_limit', making)) > 0;
    },
    async batch(accountId, id) {
      const [row] = await sql<Columns[]>`
        select b.*, r.id as review_id, r.state as review_state, r.conflicts as review_conflicts from import_batch b
          left join import_review r on r.account_id = b.account_id and r.batch_id = b.id
         where b.account_id = ${accountId} and b.id = ${id}`;
      return row === undefined ? null : batchOf(row);
    },
    async batchesOf(accountId, projectId) {
      const rows = await sql<Columns[]>`
        select b.*, r.id as review_id, r.state as review_state, r.conflicts as review_conflicts from import_batch b
          left join import_review r on r.account_id = b.account_id and r.batch_id = b.id
         where b.account_id = ${accountId} and b.project_id = ${projectId}`;
      return rows.map(batchOf).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },
    async beginCheck(accountId, id, run, { sinceMs, most }) {
      const [row] = await sql<{ outcome: 'begun' | 'waits' | 'not' }[]>`
        select begin_import_check(${accountId}, ${id}, ${run}, ${sinceMs}::timestamptz, ${most}::int) as outcome`;
      return row!.outcome;
    },
    async moveBatch(accountId, id, from, change) {
      failpoint('move_import.before');
      const [row] = await sql<{ moved: boolean }[]>`
        select move_import(${accountId}, ${id}, ${from as string[]}::text[], ${sql.json(change as never)}) as moved`;
      failpoint('move_import.after');
      return row!.moved;
    },
    async forgetStaged(olderThanMs) {
      let rows = 0;
      for (;;) {
        const [page] = await sql<{ gone: number }[]>`
          select forget_staged(${olderThanMs}::timestamptz, ${FORGOTTEN_PAGE}::int)::int as gone`;
        if (page!.gone === 0) return rows;
        rows += page!.gone;
      }
    },
    async claimImports(most) {
      const rows = await sql<Columns[]>`select * from claim_imports(${most}::int)`;
      return rows.map(({ accountId, id, state, dryRunId }) => ({ accountId, id, state, dryRunId })) as Awaited<
        ReturnType<ImportStore['claimImports']>
      >;
    },
  };
}

function staged(
  sql: Sql,
): Pick<ImportStore, 'beginAttempt' | 'stage' | 'reportSkips' | 'issues' | 'checkClaims' | 'staged'> {
  return {
    async beginAttempt(accountId, id, run) {
      const [row] = await sql<{ attempt: number | null }[]>`
        select begin_import_attempt(${accountId}, ${id}, ${run}) as attempt`;
      return row!.attempt;
    },
    async stage(accountId, id, attempt, { rows, issues }) {
      const staged = rows.map((row) => ({
        n: row.n,
        line: row.line,
        chain: row.chain,
        family: row.family,
        address: row.address,
        address_key: row.addressKey,
        derivation_path: row.derivationPath,
        user_ref: row.userRef,
        tag: row.tag,
        label: row.label,
        address_id: row.addressId,
      }));
      const found = issues.map((issue) => ({ ...issue, col: issue.column }));
      failpoint('stage.before');
      const [row] = await sql<{ isNewest: boolean }[]>`
        select stage_import(${accountId}, ${id}, ${attempt}::int, ${sql.json(staged as never)},
               ${sql.json(found as never)}) as is_newest`;
      failpoint('stage.after');
      return row!.isNewest;
    },
    async reportSkips(accountId, id, attempt, most) {
      await sql`select report_skips(${accountId}, ${id}, ${attempt}::int, ${most}::int)`;
    },
    async issues(accountId, id, after, limit) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select n, phase, severity, code, line, col as column, field, message from import_issue
           where account_id = t.account and batch_id = ${id} and n > ${after}::int order by n limit ${limit}::int`,
        )} order by v.n`;
      return rows.map((row) => ({ ...row }) as unknown as Issue);
    },
    async checkClaims(accountId, id, after, most) {
      const [row] = await sql<{ lastN: number | null; codes: Record<string, number> }[]>`
        select * from check_import(${accountId}, ${id}, ${after}::int, ${most}::int)`;
      return row!;
    },
    async staged(accountId, id) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select r.chain, case when r.derivation_path like 'm/%' then 'm' else substr(r.derivation_path, 2, 16) end as origin,
                 count(*) as rows
            from import_row r
           where r.account_id = t.account and r.batch_id = ${id} and r.skip is null group by 1, 2`,
        )}`;
      return rows.map(({ chain, origin, rows: count }) => ({ chain, origin, rows: Number(count) })) as Awaited<
        ReturnType<ImportStore['staged']>
      >;
    },
  };
}

function work(sql: Sql): Pick<ImportStore, 'fill' | 'release'> {
  return {
    async fill(accountId, id, most) {
      failpoint('fill_import.before');
      const [row] = await sql<{ outcome: string }[]>`
        select fill_import(${accountId}, ${id}, ${most}::int) as outcome`;
      failpoint('fill_import.after');
      return row!.outcome as Awaited<ReturnType<ImportStore['fill']>>;
    },
    async release(accountId, id, most) {
      failpoint('release_import.before');
      const [row] = await sql<{ released: number }[]>`
        select release_import(${accountId}, ${id}, ${most}::int) as released`;
      failpoint('release_import.after');
      return row!.released;
    },
  };
}

/**
 * Batch by batch, so that a page reads what it shows however many batches a project has; what is silent is counted of
 * the page alone.
 */
function adoptedOf(lists: Lists): Pick<ImportStore, 'adopted'> {
  const { sql } = lists;
  return {
    async adopted(accountId, projectId, after, limit) {
      const { batchId, id } = after ?? { batchId: '', id: '' };
      const read = async () => sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select p.*, s.observed, s.historical, s.straddling from (
            select a.id, a.address, a.chain, a.derivation_path, a.user_ref, a.tag, a.label, a.batch_id,
                   (b.heights ->> a.chain)::bigint as recorded_height
              from (select o.id, o.heights from import_batch o
                     where o.account_id = t.account and o.project_id = ${projectId} and o.state = 'committed'
                       and o.id >= ${batchId}
                     order by o.id offset 0) b
             cross join lateral (
                select o.* from address o where o.account_id = t.account and o.batch_id = b.id
                   and o.id > case when b.id = ${batchId} then ${id} else '' end
                   and o.status <> 'released' order by o.id limit ${limit}::int) a
             limit ${limit}::int) p
           cross join lateral (
              select count(*) filter (where d.silence = 'observed' and d.status <> 'reversed') as observed,
                     count(*) filter (where d.silence = 'historical' and d.status <> 'reversed') as historical,
                     count(*) filter (where d.silence = 'observed' and d.status = 'detected') as straddling
                from deposit d where d.account_id = t.account and d.address_id = p.id and d.silence is not null) s`,
        )} order by v.batch_id, v.id`;
      const rows = await lists.run(accountId, read, DOWNLOAD_WAIT_MS);
      return rows.map(
        (row) =>
          ({
            ...row,
            recordedHeight: row['recordedHeight'] === null ? null : Number(row['recordedHeight']),
            observed: Number(row['observed']),
            historical: Number(row['historical']),
            straddling: Number(row['straddling']),
          }) as unknown as AdoptedRow,
      );
    },
  };
}

function watched(
  sql: Sql,
  lists: Lists,
): Pick<ImportStore, 'observed' | 'catchUps' | 'firstAdopted' | 'stagedRow' | 'simulateClaim' | 'dropClaims'> {
  return {
    async observed(accountId, projectId) {
      // Of a batch from before they were kept, years of deposits: a list, which no append waits for.
      const read = async () => lists.sql<Columns[]>`
        select v.* from ${asTenant(
          lists.sql,
          accountId,
          lists.sql`
          select c.chain, c.silence, coalesce(sum(c.rows) filter (where c.status = 'confirmed'), 0) as confirmed,
                 coalesce(sum(c.rows) filter (where c.status = 'detected'), 0) as pending,
                 coalesce(sum(c.rows) filter (where c.status = 'reversed'), 0) as reversed
            from import_batch b cross join lateral (
              select s.chain, s.silence, s.status, s.rows from import_silent s
               where b.counts_silent and s.account_id = t.account and s.batch_id = b.id
              union all
              select d.chain, d.silence, d.status, count(*) from address a
                join deposit d on d.account_id = t.account and d.address_id = a.id and d.silence is not null
               where not b.counts_silent and a.account_id = t.account and a.batch_id = b.id and a.status <> 'released'
               group by d.chain, d.silence, d.status) c
           where b.account_id = t.account and b.project_id = ${projectId} and b.state = 'committed'
           group by c.chain, c.silence`,
        )}`;
      const rows = await lists.run(accountId, read);
      return rows.map(
        ({ chain, silence, confirmed, pending, reversed }) =>
          ({
            chain,
            silence,
            confirmed: Number(confirmed),
            pending: Number(pending),
            reversed: Number(reversed),
          }) as ObservedCounts,
      );
    },
    async catchUps(accountId, projectId) {
      const rows = await sql<Columns[]>`
        select c.account_id, c.batch_id, c.chain, c.next_height, c.done_at is not null as is_done
          from import_batch b join import_catch_up c on c.account_id = b.account_id and c.batch_id = b.id
         where b.account_id = ${accountId} and b.project_id = ${projectId} and b.state = 'committed'`;
      return rows.map(catchUpOf);
    },
    async stagedRow(accountId, batchId, address) {
      const [row] = await sql<{ address: string; addressKey: string }[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select r.address, r.address_key from import_row r
           where r.account_id = t.account and r.batch_id = ${batchId}
             and (${address}::text is null or r.address = ${address}::text) order by r.n limit 1`,
        )}`;
      return row ?? null;
    },
    async simulateClaim(accountId, addressKey) {
      await sql`
        insert into simulated_claim (account_id, address_key) values (${accountId}, ${addressKey}::uuid)
        on conflict do nothing`;
    },
    async dropClaims(accountId) {
      await sql`delete from simulated_claim where account_id = ${accountId}`;
    },
    async firstAdopted(accountId, projectId, which) {
      const some =
        typeof which === 'number'
          ? sql`order by r.batch_id, r.n limit ${which}::int`
          : sql`and r.address = any (${[...which]}::text[]) order by r.batch_id, r.n limit 1000`;
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select r.n, r.address, r.chain, r.batch_id from import_batch b
            join import_row r on r.account_id = b.account_id and r.batch_id = b.id and r.skip is null
           where b.account_id = t.account and b.project_id = ${projectId} and b.state = 'committed' ${some}`,
        )} order by v.batch_id, v.n`;
      return rows.map(({ address, chain, batchId }) => ({ address, chain, batchId })) as Pick<
        AdoptedRow,
        'address' | 'chain' | 'batchId'
      >[];
    },
  };
}

function catchUpOf(row: Columns): CatchUp {
  return {
    accountId: row.accountId,
    batchId: row.batchId,
    chain: row.chain,
    nextHeight: Number(row.nextHeight),
    isDone: row.isDone,
  } as CatchUp;
}

function batchOf(row: Columns): Batch {
  return {
    id: row.id,
    accountId: row.accountId,
    projectId: row.projectId,
    uploadId: row.uploadId,
    scanId: row.scanId,
    chain: row.chain,
    includeChange: row.withChange,
    state: row.state,
    dryRunId: row.dryRunId,
    dryRunAtMs: row.dryRunAt,
    report: row.report,
    adopting: Number(row.adopting),
    heights: row.heights,
    review:
      row.reviewId === null
        ? null
        : { reviewId: row.reviewId, state: row.reviewState, conflicts: Number(row.reviewConflicts) },
    committedAtMs: row.committedAt,
    createdAtMs: row.createdAt,
  } as Batch;
}
