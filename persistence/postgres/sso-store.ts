/** Single sign-on over PostgreSQL: each write is one statement. */
import type { SsoConnectionRow, SsoDomainRow, SsoFlow, SsoStore } from '../../model/ports/sso-store.ts';
import { DOMAINS_MAX } from '../../model/ports/sso-store.ts';
import { recordingOf, recordingOfUser } from './audit-log-store.ts';
import { constraintOf, type Sql } from './sql.ts';

type ConnectionColumns = Omit<SsoConnectionRow, 'createdAtMs'> & { createdAt: number };
const connectionOf = ({ createdAt, ...row }: ConnectionColumns): SsoConnectionRow => ({
  ...row,
  createdAtMs: createdAt,
});

type DomainColumns = Omit<SsoDomainRow, 'createdAtMs' | 'verifiedAtMs'> & {
  createdAt: number;
  verifiedAt: number | null;
};
const domainOf = ({ createdAt, verifiedAt, ...row }: DomainColumns): SsoDomainRow => ({
  ...row,
  createdAtMs: createdAt,
  verifiedAtMs: verifiedAt,
});

/** Runs a statement; answers by the constraint that it would break. */
async function unless<T extends string>(
  statement: Promise<unknown>,
  constraints: Readonly<Record<string, T>>,
): Promise<'done' | T> {
  try {
    await statement;
    return 'done';
  } catch (error) {
    const known = constraints[constraintOf(error) ?? ''];
    if (known === undefined) throw error;
    return known;
  }
}

export function createSsoStore(sql: Sql): SsoStore {
  return { ...connections(sql), ...domains(sql), ...flows(sql), ...identities(sql) };
}

function connections(
  sql: Sql,
): Pick<SsoStore, 'connectionOf' | 'connection' | 'putConnection' | 'removeConnection' | 'connectionOfDomain'> {
  const columns = sql`c.id, c.organization_id, c.issuer, c.client_id, c.sealed_secret, c.jit_role, c.created_at`;
  return {
    async connectionOf(organizationId) {
      const [row] = await sql<ConnectionColumns[]>`
        select ${columns} from sso_connection c where c.organization_id = ${organizationId}`;
      return row === undefined || row.organizationId !== organizationId ? null : connectionOf(row);
    },
    async connection(id) {
      const [row] = await sql<ConnectionColumns[]>`select ${columns} from sso_connection c where c.id = ${id}`;
      // Whose it is must not rest on the driver pairing answers with questions.
      return row === undefined || row.id !== id ? null : connectionOf(row);
    },
    async putConnection({ id, organizationId, issuer, clientId, sealedSecret, jitRole, createdAtMs }, audit) {
      const [row] = await sql<{ id: string }[]>`
        with put as materialized (
          insert into sso_connection (id, organization_id, issuer, client_id, sealed_secret, jit_role, created_at)
            values (${id}, ${organizationId}, ${issuer}, ${clientId}, ${sealedSecret}, ${jitRole}, ${createdAtMs}::timestamptz)
          on conflict (organization_id) do update
             set issuer = excluded.issuer, client_id = excluded.client_id, sealed_secret = excluded.sealed_secret,
                 jit_role = excluded.jit_role
          returning id
        ), forgotten as (
          delete from sso_identity i using put p where i.connection_id = p.id and i.issuer <> ${issuer}
        )
        select p.id, (${recordingOf(sql, audit)})::text as noted from put p`;
      return row!.id;
    },
    async removeConnection(organizationId, id, audit) {
      const { count } = await sql`
        with gone as materialized (
          delete from sso_connection c where c.id = ${id} and c.organization_id = ${organizationId} returning c.id
        )
        select ${recordingOf(sql, audit)} from gone`;
      return count === 1;
    },
    async connectionOfDomain(domain) {
      const [row] = await sql<ConnectionColumns[]>`
        select ${columns} from sso_domain d join sso_connection c on c.organization_id = d.organization_id
         where d.domain = ${domain} and d.verified_at is not null`;
      return row === undefined ? null : connectionOf(row);
    },
  };
}

function domains(sql: Sql): Pick<SsoStore, 'domains' | 'addDomain' | 'verifyDomain' | 'removeDomain'> {
  return {
    async domains(organizationId) {
      const rows = await sql<DomainColumns[]>`
        select id, organization_id, domain, token, verified_at, created_at from sso_domain
         where organization_id = ${organizationId} order by domain limit ${DOMAINS_MAX}`;
      return rows.map(domainOf);
    },
    async addDomain({ id, organizationId, domain, token, createdAtMs }, audit) {
      let count = 0;
      const outcome = await unless(
        sql`
        with added as materialized (
          insert into sso_domain (id, organization_id, domain, token, created_at)
            select ${id}, ${organizationId}, ${domain}, ${token}, ${createdAtMs}::timestamptz
             where (select count(*) from sso_domain d where d.organization_id = ${organizationId}) < ${DOMAINS_MAX}
          returning id
        )
        select ${recordingOf(sql, audit)} from added`.then((rows) => {
          count = rows.count;
        }),
        { sso_domain_once_each: 'known' as const },
      );
      return outcome === 'done' && count === 0 ? 'limit' : outcome;
    },
    verifyDomain: (organizationId, id, nowMs, audit) =>
      unless(
        sql`
        with verified as materialized (
          update sso_domain d set verified_at = ${nowMs}::timestamptz
           where d.id = ${id} and d.organization_id = ${organizationId} and d.verified_at is null
          returning d.id
        )
        select ${recordingOf(sql, audit)} from verified`,
        { sso_domain_verified_once: 'taken' as const },
      ),
    async removeDomain(organizationId, id, audit) {
      const { count } = await sql`
        with gone as materialized (
          delete from sso_domain d where d.id = ${id} and d.organization_id = ${organizationId} returning d.id
        )
        select ${recordingOf(sql, audit)} from gone`;
      return count === 1;
    },
  };
}

function flows(sql: Sql): Pick<SsoStore, 'openFlow' | 'takeFlow' | 'purgeFlows'> {
  return {
    async openFlow({ hash, browser, connectionId, sealed, expiresAtMs }) {
      await sql`
        insert into sso_flow (hash, browser, connection_id, sealed, expires_at)
          values (${hash}, ${browser}, ${connectionId}, ${sealed}, ${expiresAtMs}::timestamptz)`;
    },
    async takeFlow(hash, browser, nowMs) {
      const [row] = await sql<(Omit<SsoFlow, 'expiresAtMs'> & { expiresAt: number })[]>`
        delete from sso_flow f where f.hash = ${hash} and f.browser = ${browser}
        returning f.hash, f.browser, f.connection_id, f.sealed, f.expires_at`;
      if (row === undefined || row.hash !== hash || row.expiresAt <= nowMs) return null;
      const { expiresAt, ...flow } = row;
      return { ...flow, expiresAtMs: expiresAt };
    },
    async purgeFlows(nowMs) {
      const { count } = await sql`
        delete from sso_flow where hash in (
          select f.hash from sso_flow f where f.expires_at <= ${nowMs}::timestamptz order by f.expires_at limit 10000)`;
      return count;
    },
  };
}

function identities(sql: Sql): Pick<SsoStore, 'userOf' | 'join' | 'link'> {
  const KNOWN = {
    console_user_email_once: 'known',
    sso_identity_pkey: 'known',
    membership_limit: 'limit',
  } as const;
  return {
    async userOf({ connectionId, issuer, subject }) {
      const [row] = await sql<{ userId: string; subject: string }[]>`
        select user_id, subject from sso_identity
         where connection_id = ${connectionId} and issuer = ${issuer} and subject = ${subject}`;
      return row === undefined || row.subject !== subject ? null : row.userId;
    },
    join: ({ connectionId, issuer, subject }, user, { organizationId, role }, nowMs, audit) =>
      unless(
        sql`
        with made as materialized (
          insert into console_user (id, email, password_hash) values (${user.id}, ${user.email}, ${user.passwordHash}) returning id
        ), member as (
          insert into membership (user_id, organization_id, role) select m.id, ${organizationId}, ${role} from made m
        ), linked as materialized (
          insert into sso_identity (connection_id, issuer, subject, user_id, created_at)
            select ${connectionId}, ${issuer}, ${subject}, m.id, ${nowMs}::timestamptz from made m
          returning user_id
        )
        select ${recordingOf(sql, audit)} from linked`,
        KNOWN,
      ),
    link: ({ connectionId, issuer, subject }, userId, { organizationId, role }, nowMs, audit) =>
      unless(
        sql`
        with member as (
          insert into membership (user_id, organization_id, role) values (${userId}, ${organizationId}, ${role})
          on conflict (user_id, organization_id) do nothing
        ), linked as materialized (
          insert into sso_identity (connection_id, issuer, subject, user_id, created_at)
            values (${connectionId}, ${issuer}, ${subject}, ${userId}, ${nowMs}::timestamptz)
          returning user_id
        )
        select ${recordingOfUser(sql, userId, audit)} from linked`,
        KNOWN,
      ),
  };
}
