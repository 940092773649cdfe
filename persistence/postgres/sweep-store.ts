/** Sweeps over PostgreSQL: what can be swept, jobs and their operations. */
import type { DuePolicy, OpenJob, SweepCandidate, SweepStore, SweepSum } from '../../model/ports/sweep-store.ts';
import type { SweepPlace } from '../../model/account/sweep.ts';
import type { SweepJobRow, SweepOperationRow } from '../../model/rows/sweep.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { createLists, type Lists } from './list-pool.ts';
import { listPage } from './list.ts';
import type { Columns } from './row-shapes.ts';
import type { Fragment, Sql } from './sql.ts';
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
          select s.address, s.amount as credited, coalesce(a.origin, a.derivation_path) as path, a.user_ref,
                 o.id as open_operation_id, a.batch_id is not null and p.id is null as is_observed,
                 s.address = any (w.senders) as is_paying
            from sweepable s cross join (
                   select coalesce(array_agg(distinct y.from_address), '{}') as senders
                     from (${payingIn(sql, chain)}) y) w
           cross join lateral (
                   select x.*, (select n.path from address_origin n where n.account_id = x.account_id
                             and n.address_id = x.id order by n.nth desc limit 1) as origin
                     from (select o.* from address o where o.address = s.address offset 0) x
                    where x.account_id = t.account and x.family = ${FAMILY_OF[chain]} and x.purpose = 'deposit'
                    order by x.chain = ${chain} desc, x.status = 'active' desc, x.created_at, x.id limit 1) a
            left join import_batch b on b.account_id = t.account and b.id = a.batch_id and b.state = 'committed'
            left join migration_project p on p.account_id = t.account and p.id = b.project_id and p.state = 'active'
            left join sweep_operation o on o.account_id = t.account and o.chain = ${chain} and o.address = s.address
                  and o.state in ('PLANNED', 'FUNDING', 'SIGNING', 'BROADCAST')
           where s.account_id = t.account and s.chain = ${chain} and s.token_contract = ${token ?? ''}
             and s.amount >= ${String(floor)}::amount
             ${typeof from === 'number' ? sql`` : behindOf(sql, from)}
           order by s.amount desc, s.address limit ${most} offset ${typeof from === 'number' ? from : 0}`,
        )}`;
      return rows as unknown as SweepCandidate[];
    },
    async sums(accountId, { chain, token }, dustFloor, most) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select d.decision, count(*)::int as count, sum(d.amount) as amount from (
            select k.amount, case
                     when u.ids is not null and exists (select from address x
                            where x.address = k.address and x.account_id = t.account and x.family = ${FAMILY_OF[chain]}
                              and x.batch_id = any (u.ids)) then 'observe_mode'
                     when exists (select from sweep_operation o
                            where o.account_id = t.account and o.chain = ${chain} and o.address = k.address
                              and o.state in ('PLANNED', 'FUNDING', 'SIGNING', 'BROADCAST')) then 'sweep_in_flight'
                     when k.amount < ${String(dustFloor)}::amount then 'dust' else 'take' end as decision
              from (select s.amount, s.address from sweepable s
                     where s.account_id = t.account and s.chain = ${chain} and s.token_contract = ${token ?? ''}
                       and s.amount > 0 order by s.amount desc, s.address limit ${most}) k
             cross join (select array_agg(b.id) as ids from import_batch b
                           join migration_project p on p.account_id = b.account_id and p.id = b.project_id
                          where b.account_id = t.account and (p.state <> 'active' or b.state <> 'committed')) u) d
           group by d.decision`,
        )} order by v.decision`;
      return rows as unknown as SweepSum[];
    },
    async isPaying(accountId, chain, address) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`select 1 as found from (${payingIn(sql, chain)}) y where y.from_address = ${address} limit 1`,
        )}`;
      return rows.length > 0;
    },
    async promised(accountId, chain) {
      const rows = await sql<{ promised: bigint }[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select coalesce(sum(o.promised), 0)::amount as promised from sweep_operation o
           where o.account_id = t.account and o.chain = ${chain} and o.promised > 0
             and o.state in ('PLANNED', 'FUNDING', 'SIGNING', 'BROADCAST')
             and not exists (select from withdrawal w where w.account_id = o.account_id and w.height is not null
                     and w.id = case when o.state in ('SIGNING', 'BROADCAST') and o.funding is null then o.sweep_id
                                     else o.fund_id end)`,
        )}`;
      return BigInt(rows[0]!.promised);
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
    async duePolicies(atMs, debounceMs, behind, most) {
      const rows = await sql<DuePolicy[]>`
        select * from due_sweep_policies(${atMs}::timestamptz, ${debounceMs}::int * interval '1 millisecond',
            ${behind?.due ?? '-infinity'}::text::timestamptz, ${behind?.accountId ?? ''}, ${behind?.id ?? ''}, ${most})`;
      return [...rows];
    },
  };
}

/** Smaller than an address that was looked at, or as large and behind it. */
const behindOf = (sql: Sql, { amount, address }: SweepPlace): Fragment =>
  sql`and s.amount <= ${amount}::amount and (s.amount < ${amount}::amount or s.address > ${address})`;

/**
 * Senders of withdrawals of `t.account` that may still take what lies on their address: on their way, or built lately.
 * What leaves of its own, a sweep, is another question while its operation is open; one that a reorg took back after
 * its operation had ended may land again (treasury S22).
 */
function payingIn(sql: Sql, chain: Chain): Fragment {
  return sql`
    select i.from_address from withdrawal i where i.account_id = t.account and i.chain = ${chain}
       and i.status in ('signing', 'broadcast', 'confirming')
       and (i.kind <> 'sweep' or not exists (
             select from sweep_operation o where o.account_id = i.account_id and o.chain = i.chain
                and o.address = i.from_address and o.state in ('PLANNED', 'FUNDING', 'SIGNING', 'BROADCAST')
                and o.sweep_id = i.id))
    union all
    select i.from_address from withdrawal i where i.account_id = t.account and i.chain = ${chain}
       and i.status = 'built' and i.kind <> 'sweep' and i.updated_at > now() - interval '10 minutes'
    ${FAMILY_OF[chain] === 'tron' ? mayLandIn(sql, chain) : sql``}`;
}

/**
 * Ends of a sweep's signed transactions that nodes refused: anybody with the bytes may submit them until they expire,
 * beside what a next cycle would build. T15.
 */
function mayLandIn(sql: Sql, chain: Chain): Fragment {
  return sql`
    union all
    select unnest(array[i.from_address, i.to_address]) from withdrawal i
     where i.account_id = t.account and i.chain = ${chain} and i.status = 'failed' and i.kind = 'sweep'
       and i.height is null and i.created_at > now() - interval '1 hour' and i.unsigned -> 'replayKey' ->> 'kind' = 'expiry'
       and (i.unsigned -> 'replayKey' ->> 'value')::numeric > extract(epoch from now()) * 1000`;
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
    takenBack: row['takenBack'] === true,
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
    promised: row['promised'],
    paid: row['paid'],
    fundId: row['fundId'],
    sweepId: row['sweepId'],
    firstFundId: row['firstFundId'],
    details: row['details'],
    createdAtMs: row.createdAt,
    updatedAtMs: row.updatedAt,
  } as SweepOperationRow;
}
