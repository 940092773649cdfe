/** Scans over PostgreSQL: each write is one statement. Migration M-D1–M-D10. */
import type { FoundRow, NewScan, Scan, ScanStore } from '../../model/ports/scan-store.ts';
import { recordingInAccount } from './audit-log-store.ts';
import type { Columns } from './row-shapes.ts';
import { constraintOf, type Sql } from './sql.ts';

/** Rows that one call of forget_scans removes. */
const FORGOTTEN_PAGE = 10_000;

export function createScanStore(sql: Sql): ScanStore {
  /** Whether the scan is there; not where one of its keys runs, or every slot is taken, or was taken just now. */
  async function inserted(scan: NewScan, most: number): Promise<boolean> {
    const { accountId, mapping } = scan;
    const references = mapping.map(({ index, userRef }) => ({ n: index, user_ref: userRef }));
    const { count } = await sql`
        with begun as (
          insert into scan (account_id, id, project_id, key_source_id, chain, state, gap_limit, max_scan, requested_max,
              review, tokens, lanes, mapped_to, due_at, created_at, slot)
            select ${accountId}, ${scan.id}, ${scan.projectId}, ${scan.keySourceId}, ${scan.chain}, 'queued',
                   ${scan.gapLimit}::int, ${scan.maxScan}::int, ${scan.requestedMaxScan}::int, ${scan.review},
                   ${sql.json(scan.tokens as never)}, ${sql.json(scan.lanes as never)}, ${scan.mappedTo}::int,
                   clock_timestamp(), ${scan.createdAtMs}::timestamptz, free.slot
              from generate_series(0, ${most}::int - 1) free(slot)
             where not exists (
               select from scan o where o.account_id = ${accountId} and o.ended_at is null and o.slot = free.slot)
             order by free.slot limit 1
          on conflict do nothing returning account_id, id
        ), mapped as (
          insert into scan_reference (account_id, scan_id, n, user_ref)
            select b.account_id, b.id, r.n, r.user_ref
              from begun b, jsonb_to_recordset(${sql.json(references as never)}) r(n int, user_ref text)
        )
        select from begun`;
    return count > 0;
  }
  return {
    async begin(scan, most) {
      const { accountId } = scan;
      // A slot that another request took meanwhile is not free at the next look.
      for (let tries = 0; tries <= most; tries += 1) {
        if (await inserted(scan, most)) return 'begun';
        const running = await sql`
          select from scan where account_id = ${accountId} and project_id = ${scan.projectId}
             and key_source_id = ${scan.keySourceId} and chain = ${scan.chain} and ended_at is null`;
        if (running.length > 0) return 'running';
      }
      return 'many';
    },
    async scan(accountId, id) {
      const [row] = await sql<Columns[]>`select * from scan where account_id = ${accountId} and id = ${id}`;
      return row === undefined ? null : scanOf(row);
    },
    async cancel(accountId, id) {
      const { count } = await sql`
        update scan set state = 'cancelled', ended_at = clock_timestamp(), unread = 0, version = version + 1
         where account_id = ${accountId} and id = ${id} and ended_at is null`;
      return count > 0;
    },
    async rows(accountId, id, after, limit) {
      return sql<FoundRow[]>`
        select r.lane, r.n as index, r.address, r.used, m.user_ref
          from scan s
          join scan_row r on r.account_id = s.account_id and r.scan_id = s.id
          left join scan_reference m
            on m.account_id = r.account_id and m.scan_id = r.scan_id and m.n = r.n and r.lane = 0
         where s.account_id = ${accountId} and s.id = ${id}
           and (r.lane, r.n) > (${after?.lane ?? -1}::int, ${after?.index ?? -1}::int)
           and r.n <= greatest((s.lanes -> r.lane ->> 'lastUsed')::int, case r.lane when 0 then s.mapped_to end)
         order by r.lane, r.n limit ${limit}::int`;
    },
    async claimScans(most) {
      const rows = await sql<Columns[]>`select * from claim_scans(${most}::int)`;
      return rows.map(scanOf);
    },
    async hold({ accountId, id, version }) {
      await sql`
        update scan set worked_until = clock_timestamp() + interval '60 seconds'
         where account_id = ${accountId} and id = ${id} and version = ${version}::int and ended_at is null`;
    },
    async advance({ accountId, id, version, chain }, change, rows) {
      const {
        state,
        lanes,
        found = 0,
        evidence,
        headHeight,
        stoppedBy,
        unread,
        tries,
        reason,
        pauseMs,
        paceMs = 0,
      } = change;
      const values = rows.map(({ lane, index, address, used }) => ({ lane, n: index, address, used }));
      const { count } = await sql`
        with moved as (
          update scan s set state = ${state},
              lanes = coalesce(${lanes === undefined ? null : sql.json(lanes as never)}::jsonb, s.lanes),
              found = s.found + ${found}::int, evidence = coalesce(${evidence ?? null}, s.evidence),
              head_height = coalesce(${headHeight ?? null}::bigint, s.head_height), stopped_by = ${stoppedBy ?? null},
              unread = ${unread}::int, tries = ${tries}::int, reason = ${reason}, version = s.version + 1,
              worked_until = '-infinity', due_at = clock_timestamp() + ${pauseMs}::int * interval '1 millisecond',
              ended_at = case when ${state} in ('completed', 'failed') then clock_timestamp() end
           where s.account_id = ${accountId} and s.id = ${id} and s.version = ${version}::int and s.ended_at is null
          returning s.account_id, s.id
        ), kept as (
          insert into scan_row (account_id, scan_id, lane, n, address, used)
            select m.account_id, m.id, r.lane, r.n, r.address, r.used
              from moved m, jsonb_to_recordset(${sql.json(values as never)}) r(lane int, n int, address text, used boolean)
          on conflict do nothing
        ), paced as (
          insert into scan_pace as p (chain, next_at)
            select ${chain}, clock_timestamp() + ${paceMs}::int * interval '1 millisecond' where ${paceMs}::int > 0
          on conflict (chain) do update
            set next_at = greatest(p.next_at, clock_timestamp()) + ${paceMs}::int * interval '1 millisecond'
        )
        select from moved`;
      return count > 0;
    },
    async underReview(after, limit) {
      const rows = await sql<Columns[]>`
        select * from scan where review = 'pending' and (ended_at is null or stopped_by = 'max_scan') and id > ${after}
         order by id limit ${limit}::int`;
      return rows.map(scanOf);
    },
    async review(id, review, audit) {
      const decided = sql<Columns[]>`
        with decided as (update scan s set review = ${review}, slot = case when s.ended_at is null then s.slot end,
            max_scan = case when ${review} = 'approved' then s.requested_max else s.max_scan end,
            state = case when ${review} = 'approved' and s.stopped_by = 'max_scan' then 'queued' else s.state end,
            ended_at = case when ${review} = 'approved' and s.stopped_by = 'max_scan' then null else s.ended_at end,
            stopped_by = case when ${review} = 'approved' and s.stopped_by = 'max_scan' then null else s.stopped_by end,
            lanes = case when ${review} = 'declined' then s.lanes else (
              select coalesce(jsonb_agg(case l.lane ->> 'done' when 'max_scan' then l.lane || '{"done": null}' else l.lane end
                  order by l.n), '[]')
                from jsonb_array_elements(s.lanes) with ordinality l(lane, n)) end,
            due_at = clock_timestamp(), version = s.version + 1
         where s.id = ${id} and s.review = 'pending' and (s.ended_at is null or s.stopped_by = 'max_scan')
           and not exists (
             select from scan o where o.account_id = s.account_id and o.project_id = s.project_id and o.id <> s.id
                and o.key_source_id = s.key_source_id and o.chain = s.chain and o.ended_at is null)
        returning *)
        select d.*, ${audit === undefined ? sql`null` : recordingInAccount(sql, sql`d.account_id`, audit)} as noted from decided d`;
      const [row] = await decided.catch((error: unknown) => {
        // Another scan of its keys began meanwhile.
        if (constraintOf(error) === 'scan_running_once') return [];
        throw error;
      });
      if (row !== undefined) return scanOf(row);
      return (await sql`select from scan where id = ${id}`).length > 0 ? 'none_waits' : 'unknown';
    },
    async forget(olderThanMs) {
      let rows = 0;
      for (;;) {
        const [page] = await sql<{ gone: number }[]>`
          select forget_scans(${olderThanMs}::timestamptz, ${FORGOTTEN_PAGE}::int)::int as gone`;
        if (page!.gone === 0) return rows;
        rows += page!.gone;
      }
    },
  };
}

function scanOf(row: Columns): Scan {
  return {
    id: row.id,
    accountId: row.accountId,
    projectId: row.projectId,
    keySourceId: row.keySourceId,
    chain: row.chain,
    state: row.state,
    gapLimit: row.gapLimit,
    maxScan: row.maxScan,
    requestedMaxScan: row.requestedMax,
    review: row.review,
    tokens: row.tokens,
    lanes: row.lanes,
    mappedTo: row.mappedTo,
    found: row.found,
    evidence: row.evidence,
    headHeight: row.headHeight === null ? null : Number(row.headHeight),
    stoppedBy: row.stoppedBy,
    unread: row.unread,
    tries: row.tries,
    reason: row.reason,
    version: row.version,
    createdAtMs: row.createdAt,
    endedAtMs: row.endedAt,
  } as Scan;
}
