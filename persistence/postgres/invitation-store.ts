/** Invitations over PostgreSQL: each write is one statement, with its letter and its entry in the audit log. */
import type { InvitationRow, InvitationStore } from '../../model/ports/invitation-store.ts';
import type { NewLetter } from '../../model/ports/people-store.ts';
import { recordingOf } from './audit-log-store.ts';
import { letterRow } from './people-store.ts';
import { constraintOf, type Fragment, type Sql } from './sql.ts';

const LISTED_MAX = 200;

type Columns = Omit<InvitationRow, 'createdAtMs' | 'expiresAtMs'> & { createdAt: number; expiresAt: number };
const rowOf = ({ createdAt, expiresAt, ...row }: Columns): InvitationRow => ({
  ...row,
  createdAtMs: createdAt,
  expiresAtMs: expiresAt,
});

/** Runs a statement; `limit` where the organization is full. */
async function within<T>(statement: Promise<T>): Promise<T | 'limit'> {
  try {
    return await statement;
  } catch (error) {
    const constraint = constraintOf(error);
    if (constraint === 'membership_limit' || constraint === 'invitation_limit') return 'limit';
    throw error;
  }
}

export function createInvitationStore(sql: Sql): InvitationStore {
  return { ...ofOwners(sql), ...ofInvited(sql) };
}

const columns = (sql: Sql): Fragment =>
  sql`i.id, i.organization_id, i.email, i.role, i.invited_by, i.created_at, i.expires_at, i.why`;
const withLetter = (sql: Sql, letter: NewLetter | null, nowMs: number, from: Fragment): Fragment =>
  letter === null ? sql`select 1 ${from}` : letterRow(sql, letter, nowMs, from);

function ofOwners(sql: Sql): Pick<InvitationStore, 'invite' | 'renew' | 'revoke' | 'list' | 'one'> {
  return {
    async invite(row, hash, letter, audit) {
      const { id, organizationId, email, role, invitedBy, createdAtMs, expiresAtMs } = row;
      const made = await within(sql`
        with replaced as materialized (
          update invitation i set ended_at = ${createdAtMs}::timestamptz, why = 'replaced'
           where i.organization_id = ${organizationId} and i.email = ${email} and i.ended_at is null
          returning i.id
        ), made as materialized (
          insert into invitation (id, organization_id, email, role, hash, invited_by, created_at, expires_at)
            select ${id}, ${organizationId}, ${email}, ${role}, ${hash}, ${invitedBy}, ${createdAtMs}::timestamptz,
                   ${expiresAtMs}::timestamptz where (select count(*) from replaced) >= 0
          returning id
        ), written as (${withLetter(sql, letter, createdAtMs, sql`from made`)})
        select ${recordingOf(sql, audit)} from made`);
      return made === 'limit' ? 'limit' : 'done';
    },
    async renew(organizationId, id, { hash, expiresAtMs }, letter, nowMs, audit) {
      const [row] = await sql<Columns[]>`
        with renewed as materialized (
          update invitation i set hash = ${hash}, expires_at = ${expiresAtMs}::timestamptz
           where i.id = ${id} and i.organization_id = ${organizationId} and i.ended_at is null
          returning ${columns(sql)}
        ), written as (${withLetter(sql, letter, nowMs, sql`from renewed`)})
        select ${columns(sql)}, ${recordingOf(sql, audit)} as noted from renewed i`;
      return row === undefined ? null : rowOf(row);
    },
    async revoke(organizationId, id, nowMs, audit) {
      const { count } = await sql`
        with revoked as materialized (
          update invitation i set ended_at = ${nowMs}::timestamptz, why = 'revoked'
           where i.id = ${id} and i.organization_id = ${organizationId} and i.ended_at is null
          returning i.id
        )
        select ${recordingOf(sql, audit)} from revoked`;
      return count === 1;
    },
    async list(organizationId) {
      const rows = await sql<Columns[]>`
        select ${columns(sql)} from invitation i where i.organization_id = ${organizationId}
         order by i.created_at desc, i.id desc limit ${LISTED_MAX}`;
      return rows.map(rowOf);
    },
    async one(organizationId, id) {
      const [row] = await sql<Columns[]>`
        select ${columns(sql)} from invitation i where i.id = ${id} and i.organization_id = ${organizationId}`;
      return row === undefined ? null : rowOf(row);
    },
  };
}

function ofInvited(sql: Sql): Pick<InvitationStore, 'byLink' | 'accept' | 'join'> {
  const open = (hash: string, nowMs: number): Fragment =>
    sql`i.hash = ${hash} and i.ended_at is null and i.expires_at > ${nowMs}::timestamptz`;
  return {
    async byLink(hash) {
      const [row] = await sql<(Columns & { hash: string })[]>`
        select ${columns(sql)}, i.hash from invitation i where i.hash = ${hash}`;
      // Whose an invitation is must not rest on the driver pairing answers with questions.
      return row === undefined || row.hash !== hash ? null : rowOf(row);
    },
    async accept(hash, userId, nowMs, audit) {
      const done = await within(sql`
        with accepted as materialized (
          update invitation i set ended_at = ${nowMs}::timestamptz, why = 'accepted' from console_user u
           where ${open(hash, nowMs)} and u.id = ${userId} and u.email = i.email
          returning i.organization_id, i.role, u.id as user_id
        ), joined as (
          insert into membership (user_id, organization_id, role) select user_id, organization_id, role from accepted
          on conflict (user_id, organization_id) do update -- who came by a provider meanwhile: the higher of the two
             set role = case when 'owner' in (membership.role, excluded.role) then 'owner'
                             when 'editor' in (membership.role, excluded.role) then 'editor' else 'viewer' end
        )
        select ${recordingOf(sql, audit)} from accepted`);
      return done === 'limit' ? done : done.count === 1 ? 'done' : null;
    },
    async join(hash, { id, passwordHash }, nowMs, audit) {
      try {
        const done = await within(sql`
          with accepted as materialized (
            update invitation i set ended_at = ${nowMs}::timestamptz, why = 'accepted' where ${open(hash, nowMs)}
            returning i.organization_id, i.role, i.email
          ), made as materialized (
            insert into console_user (id, email, password_hash) select ${id}, email, ${passwordHash} from accepted
            returning id
          ), joined as (
            insert into membership (user_id, organization_id, role)
              select m.id, a.organization_id, a.role from accepted a, made m
          )
          select ${recordingOf(sql, audit)} from made`);
        return done === 'limit' ? done : done.count === 1 ? 'done' : null;
      } catch (error) {
        if (constraintOf(error) === 'console_user_email_once') return 'known';
        throw error;
      }
    },
  };
}
