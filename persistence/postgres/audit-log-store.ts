/** The audit log over PostgreSQL. Entries are written by `record_audit`, within the statement of what they record. */
import type { AuditEntryRow, AuditFilter, AuditLogStore } from '../../model/ports/audit-log-store.ts';
import type { AuditNote, AuditRecord } from '../../model/rows/audit.ts';
import { TIER_TERMS } from '../../protocol/plans.ts';
import { TIERS } from '../../protocol/slugs.ts';
import { accountIdOf } from '../../protocol/ids.ts';
import { createLists, DOWNLOAD_WAIT_MS, SHARED_SLOTS, type Lists } from './list-pool.ts';
import type { Fragment, Sql } from './sql.ts';
import { asTenant } from './tenant.ts';

/** Entries of one index that a page looks at for its further filters. */
const LOOKED_AT_MAX = 5_000;
const TRIMMED_ORGANIZATIONS = 100;
const TRIMMED_AT_ONCE = 5_000;

/** Days that a log keeps its texts, by tier. Spec §8. */
const DAYS = Object.fromEntries(TIERS.map((tier) => [tier, TIER_TERMS[tier].auditDays]));

/** Call that records; nothing where there is no note. */
export const recordingOf = (sql: Sql, ...records: (AuditRecord | undefined)[]): Fragment =>
  sql`record_audit(${JSON.stringify(records.filter((record) => record !== undefined))}::text::jsonb)`;

/** The same in the log of the organization of an account, which a statement knows. */
export const recordingInAccount = (sql: Sql, account: Fragment, note: AuditNote): Fragment =>
  sql`record_audit(jsonb_build_array(${JSON.stringify(note)}::text::jsonb || jsonb_build_object(
        'organizationId', split_part(${account}, '_', 1) || '_' || split_part(${account}, '_', 2))))`;

/** The same in the log of every organization of a user. */
export const recordingOfUser = (sql: Sql, userId: string, note: AuditNote): Fragment =>
  sql`record_audit_of_user(${userId}, ${JSON.stringify(note)}::text::jsonb)`;

interface Found {
  seq: number;
  hash: string;
  text: string | null;
}

export function createAuditLogStore(sql: Sql, lists: Lists = createLists(sql, { slots: SHARED_SLOTS })): AuditLogStore {
  /** What is read page by page holds no connection of an append. Found F53. */
  const listed = <T>(organizationId: string, work: (sql: Sql) => Promise<T>, waitMs?: number): Promise<T> =>
    lists.run(accountIdOf(organizationId, 'live'), () => work(lists.sql), waitMs);
  const of = (organizationId: string, inner: Fragment, on = sql) =>
    asTenant(on, `organization:${organizationId}`, inner);
  return {
    async record(...records) {
      await sql`select ${recordingOf(sql, ...records)}`;
    },
    async recordOfUser(userId, note) {
      await sql`select ${recordingOfUser(sql, userId, note)}`;
    },
    async page(organizationId, filter, { below, size }) {
      const [leading, ...others] = conditionsOf(lists.sql, filter);
      const scanned = others.length === 0 ? size + 1 : LOOKED_AT_MAX;
      const read = async (sql: Sql) => sql<(Found & { fits: boolean })[]>`
        select v.seq, encode(v.hash, 'hex') as hash, v.text, v.fits from ${of(
          organizationId,
          sql`select e.seq, e.hash, case when e.fits then (
                 select a.text from audit_entry a where a.organization_id = ${organizationId} and a.seq = e.seq) end as text, e.fits
                from (select x.seq, x.hash, ${others.length === 0 ? sql`true` : joined(sql, others)} as fits from audit_entry x
                       where x.organization_id = ${organizationId} ${leading ?? sql``}
                         and x.seq < ${below ?? Number.MAX_SAFE_INTEGER} ${timeOf(sql, organizationId, filter)}
                       order by x.seq desc limit ${scanned}) e`,
          sql,
        )} order by v.seq desc`;
      const rows = await listed(organizationId, read);
      const fitting = rows.filter(({ fits }) => fits);
      const shown = fitting.slice(0, size);
      const isMore = fitting.length > size || rows.length === scanned;
      const last = fitting.length >= size ? shown.at(-1) : rows.at(-1);
      return { rows: shown.map(entryOf), below: isMore && last !== undefined ? last.seq : null };
    },
    async chain(organizationId, behind, most) {
      const read = async (sql: Sql) => sql<Found[]>`
        select v.seq, encode(v.hash, 'hex') as hash, v.text from ${of(
          organizationId,
          sql`select e.seq, e.hash, e.text from audit_entry e where e.organization_id = ${organizationId} and e.seq > ${behind}
               order by e.seq limit ${most}`,
          sql,
        )} order by v.seq`;
      const rows = await listed(organizationId, read, DOWNLOAD_WAIT_MS);
      return rows.map(entryOf);
    },
    async head(organizationId) {
      const [row] = await sql<Found[]>`
        select v.seq, encode(v.hash, 'hex') as hash from ${of(
          organizationId,
          sql`select h.seq, h.hash from audit_head h where h.organization_id = ${organizationId}`,
        )}`;
      return row === undefined || row.seq === 0 ? null : { seq: row.seq, hash: row.hash };
    },
    async trim(days = DAYS) {
      let gone = 0;
      for (let after = ''; ;) {
        const rows = await sql<{ organizationId: string; trimmed: number }[]>`
          select organization_id, trimmed from trim_audit(${after}, ${JSON.stringify(days)}::text::jsonb,
                 ${TRIMMED_ORGANIZATIONS}, ${TRIMMED_AT_ONCE})`;
        gone += rows.reduce((sum, { trimmed }) => sum + trimmed, 0);
        const unfinished = rows.findIndex(({ trimmed }) => trimmed === TRIMMED_AT_ONCE);
        if (unfinished === -1 && rows.length < TRIMMED_ORGANIZATIONS) return gone;
        // One with more to drop is looked at again: from the one before it on.
        if (unfinished === -1) after = rows.at(-1)!.organizationId;
        else if (unfinished > 0) after = rows[unfinished - 1]!.organizationId;
      }
    },
  };
}

const entryOf = ({ seq, hash, text }: Found): AuditEntryRow => ({ seq, hash, text });

/** Equalities of a filter: the one whose index the page walks comes first. */
function conditionsOf(sql: Sql, { target, actor, action, outcome }: AuditFilter): Fragment[] {
  return [
    ...(target === undefined ? [] : [sql`and x.target = ${target}`]),
    ...(actor === undefined ? [] : [sql`and x.actor = ${actor}`]),
    ...(action === undefined ? [] : [sql`and x.action = ${action}`]),
    ...(outcome === undefined ? [] : [sql`and x.outcome = ${outcome}`]),
  ];
}

const joined = (sql: Sql, conditions: readonly Fragment[]): Fragment =>
  conditions.reduce((all, condition) => sql`${all} ${condition}`, sql`true`);

/** A time as a range of `seq`: instants of a chain never fall. */
function timeOf(sql: Sql, organizationId: string, { fromMs, toMs }: AuditFilter): Fragment {
  const first = (atMs: number) => sql`
    coalesce((select t.seq from audit_entry t where t.organization_id = ${organizationId} and t.at_ms >= ${atMs}
               order by t.at_ms, t.seq limit 1), ${Number.MAX_SAFE_INTEGER})`;
  // Entries whose text is gone are the oldest, and have no instant.
  return sql`and x.seq >= ${first(fromMs ?? 0)} ${toMs === undefined ? sql`` : sql`and x.seq < ${first(toMs)}`}`;
}
