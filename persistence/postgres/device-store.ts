/** Logins of command lines over PostgreSQL: each write is one statement, so that a code is good once over all nodes. */
import {
  DEVICE_KEPT_MS,
  DEVICE_POLL_MS,
  type DeviceApproval,
  type DevicePolled,
  type DeviceStore,
} from '../../model/ports/device-store.ts';
import { recordingOf } from './audit-log-store.ts';
import { deleteOlder } from './pages.ts';
import type { Sql } from './sql.ts';

type Polled = { id: string; outcome: DevicePolled['outcome'] } & DeviceApproval;

export function createDeviceStore(sql: Sql): DeviceStore {
  return {
    async begin({ id, secretHash, userCode, expiresAtMs }) {
      await sql`
        insert into device_login (id, secret_hash, user_code, expires_at)
          values (${id}, ${secretHash}, ${userCode}, ${expiresAtMs}::timestamptz)`;
    },
    async approve(userCode, { userId, organizationId, environment, role }, nowMs, audit) {
      const [row] = await sql<{ approved: boolean }[]>`
        with found as materialized (
          select d.id, d.user_id is null as is_open from device_login d
           where d.user_code = ${userCode} and d.expires_at > ${nowMs}::timestamptz for update
        ), approved as materialized (
          update device_login d set user_id = ${userId}, organization_id = ${organizationId},
                 environment = ${environment}, role = ${role}
            from found f where d.id = f.id and f.is_open returning d.id
        ), noted as materialized (select ${recordingOf(sql, audit)} from approved)
        select f.is_open and (select count(*) from noted) = 1 as approved from found f`;
      return row === undefined ? 'unknown' : row.approved ? 'approved' : 'used';
    },
    async poll(id, secretHash, nowMs) {
      const [row] = await sql<Polled[]>`
        with found as materialized (
          select d.id, d.user_id, d.organization_id, d.environment, d.role,
                 case when d.secret_hash <> ${secretHash} then 'another_poller'
                      when d.spent_at is not null then 'used'
                      when d.expires_at <= ${nowMs}::timestamptz then 'expired'
                      when d.polled_at > ${nowMs - DEVICE_POLL_MS}::timestamptz then 'slow_down'
                      when d.user_id is null then 'pending' else 'ready' end as outcome
            from device_login d where d.id = ${id} for update
        ), polled as (
          update device_login d set polled_at = ${nowMs}::timestamptz,
                 spent_at = case when f.outcome = 'ready' then ${nowMs}::timestamptz end
            from found f where d.id = f.id and f.outcome in ('pending', 'ready')
        )
        select id, outcome, user_id, organization_id, environment, role from found`;
      // Whose a key becomes must not rest on the driver pairing answers with questions.
      if (row === undefined || row.id !== id) return { outcome: 'unknown' };
      const { outcome, userId, organizationId, environment, role } = row;
      return outcome === 'ready' ? { outcome, userId, organizationId, environment, role } : { outcome };
    },
    purge: (nowMs) => deleteOlder(sql, sql`device_login`, sql`expires_at`, nowMs - DEVICE_KEPT_MS),
  };
}
