/** Sweeps over PostgreSQL: what can be swept, jobs and their operations. */
import type { OpenJob, SweepCandidate, SweepStore } from '../../model/ports/sweep-store.ts';
import type { SweepJobRow, SweepOperationRow } from '../../model/rows/sweep.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';
import { createLists, type Lists } from './list-pool.ts';
import { listPage } from './list.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { asTenant, oneOf } from './tenant.ts';

/** Operations of one job; the schema of a plan has fewer. */
const OPERATIONS_MAX = 1_000;

/** Lists at once where they have no pool of their own. */
const SHARED_SLOTS = 8;

export function createSweepStore(sql: Sql, lists: Lists = createLists(sql, { slots: SHARED_SLOTS })): SweepStore {
  return {
    async candidates(accountId, { chain, token }, floor, from, most) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select s.address, s.amount as credited, a.derivation_path as path, a.user_ref, o.id as open_operation_id
            from sweepable s cross join lateral (
                   select * from address x where x.address = s.address and x.account_id = t.account
                      and x.family = ${FAMILY_OF[chain]} and x.purpose = 'deposit'
                    order by x.chain = ${chain} desc, x.status = 'active' desc, x.created_at, x.id limit 1) a
            left join sweep_operation o on o.account_id = t.account and o.chain = ${chain} and o.address = s.address
                  and o.state in ('PLANNED', 'FUNDING', 'SIGNING', 'BROADCAST')
           where s.account_id = t.account and s.chain = ${chain} and s.token_contract = ${token ?? ''}
             and s.amount >= ${String(floor)}::amount
           order by s.amount desc, s.address limit ${most} offset ${from}`,
        )}`;
      return rows as unknown as SweepCandidate[];
    },
    job: (accountId, id) =>
      oneOf(sql, accountId, sql`select * from sweep_job where account_id = t.account and id = ${id}`, jobOf),
    jobs(accountId, { policyId }, page) {
      const of = lists.sql`${policyId === undefined ? lists.sql`` : lists.sql`and x.policy_id = ${policyId}`}`;
      return listPage(
        lists,
        accountId,
        {
          list: 'sweep-jobs',
          order: 'time',
          sources: [
            { pairs: [['', '']], range: () => lists.sql`from sweep_job x where x.account_id = t.account ${of}` },
          ],
          kept: null,
          shape: jobOf,
          rows: (keys) => lists.sql`
          with k as materialized (${keys})
          select x.*, k.at as key_time, k.id as key_id from k join sweep_job x on x.account_id = t.account and x.id = k.id`,
        },
        page,
      );
    },
    async operations(accountId, jobId) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`select * from sweep_operation where account_id = t.account and job_id = ${jobId} order by id limit ${OPERATIONS_MAX}`,
        )} order by v.id`;
      return rows.map(operationOf);
    },
    openOperation: (accountId, chain, address) =>
      oneOf(
        sql,
        accountId,
        sql`
        select * from sweep_operation where account_id = t.account and chain = ${chain} and address = ${address}
           and state in ('PLANNED', 'FUNDING', 'SIGNING', 'BROADCAST')`,
        operationOf,
      ),
    async openJobs(behind, most) {
      const rows = await sql<OpenJob[]>`
        select * from open_sweep_jobs(${behind?.accountId ?? ''}, ${behind?.id ?? ''}, ${most})`;
      return [...rows];
    },
  };
}

function jobOf(row: Columns): SweepJobRow {
  return {
    id: row.id,
    version: Number(row['version']),
    policyId: row['policyId'],
    chain: row.chain,
    tokenContract: row.tokenContract,
    trigger: row['trigger'],
    state: row['state'],
    run: row['run'],
    settings: row['settings'],
    blocked: row['blocked'],
    createdAtMs: row.createdAt,
    updatedAtMs: row.updatedAt,
    endedAtMs: row['endedAt'],
  } as SweepJobRow;
}

function operationOf(row: Columns): SweepOperationRow {
  return {
    id: row.id,
    jobId: row['jobId'],
    version: Number(row['version']),
    chain: row.chain,
    address: row.address,
    state: row['state'],
    reason: row['reason'],
    attempt: row['attempt'],
    amount: row.amount,
    estimate: row['estimate'],
    funding: row['funding'],
    paid: row['paid'],
    fundId: row['fundId'],
    sweepId: row['sweepId'],
    details: row['details'],
    createdAtMs: row.createdAt,
    updatedAtMs: row.updatedAt,
  } as SweepOperationRow;
}
