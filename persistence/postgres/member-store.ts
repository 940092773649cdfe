/** Members of organizations, over PostgreSQL: each write is one statement, with its entry in the audit log. */
import type { MemberOutcome, MemberStore } from '../../model/ports/member-store.ts';
import type { OrgRole } from '../../protocol/slugs.ts';
import { recordingOf } from './audit-log-store.ts';
import { constraintOf, type Fragment, type Sql } from './sql.ts';

export function createMemberStore(sql: Sql): MemberStore {
  const outcomeOf = async (statement: Fragment): Promise<MemberOutcome> => {
    try {
      return (await statement).count > 0 ? 'done' : 'unknown';
    } catch (error) {
      if (constraintOf(error) === 'organization_has_owner') return 'last_owner';
      if (constraintOf(error) === 'break_glass_kept') return 'break_glass';
      throw error;
    }
  };
  return {
    async organizationsOf(userId) {
      const rows = await sql<{ id: string; name: string; createdAt: number; role: OrgRole }[]>`
        select o.id, o.name, o.created_at, m.role from membership m join organization o on o.id = m.organization_id
         where m.user_id = ${userId} order by o.id`;
      return rows.map(({ createdAt, ...row }) => ({ ...row, createdAtMs: createdAt }));
    },
    async roleOf(organizationId, userId) {
      const [row] = await sql<{ role: OrgRole }[]>`
        select role from membership where user_id = ${userId} and organization_id = ${organizationId}`;
      return row?.role ?? null;
    },
    changeRole: (organizationId, userId, role, audit) =>
      outcomeOf(sql`
        with changed as materialized (
          update membership set role = ${role} where user_id = ${userId} and organization_id = ${organizationId}
          returning user_id
        )
        select ${recordingOf(sql, audit)} from changed`),
    remove: (organizationId, userId, audit) =>
      outcomeOf(sql`
        with removed as materialized (
          delete from membership where user_id = ${userId} and organization_id = ${organizationId} returning user_id
        )
        select ${recordingOf(sql, audit)} from removed`),
    async rename(organizationId, name, audit) {
      await sql`
        with renamed as materialized (
          update organization o set name = ${name} where o.id = ${organizationId} returning o.id
        )
        select ${recordingOf(sql, audit)} from renamed`;
    },
    async keysMintedBy(organizationId, userId) {
      const [row] = await sql<{ count: number }[]>`
        select count(*) as count from (
          select k.created_by, k.revoked_at from api_key k where k.organization_id = ${organizationId} offset 0) o
         where o.created_by = ${userId} and o.revoked_at is null`;
      return row!.count;
    },
    transfer: (organizationId, from, to, then, audit) =>
      outcomeOf(sql`
        with next as materialized (
          update membership m set role = 'owner' from console_user u
           where m.organization_id = ${organizationId} and m.user_id = ${to} and m.user_id <> ${from}
             and u.id = m.user_id
             and (u.totp_confirmed or exists (select from passkey p where p.user_id = u.id))
             and exists (select from membership f where f.organization_id = ${organizationId} and f.user_id = ${from}
                            and f.role = 'owner')
          returning m.user_id
        ), stayed as (
          update membership m set role = ${then === 'leave' ? 'viewer' : then} from next n
           where m.organization_id = ${organizationId} and m.user_id = ${from} and ${then !== 'leave'}
        ), gone as (
          delete from membership m using next n
           where m.organization_id = ${organizationId} and m.user_id = ${from} and ${then === 'leave'}
        )
        select ${recordingOf(sql, audit)} from next`),
  };
}
