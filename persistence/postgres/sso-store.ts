/** Single sign-on over PostgreSQL: each write is one statement. */
import type { SsoConnectionRow, SsoDomainRow, SsoFlow, SsoStore } from '../../model/ports/sso-store.ts';
import { DOMAIN_WEEK_MS, DOMAINS_MAX, MISSED_MAX, PROVEN_MS, type Enforced } from '../../model/ports/sso-store.ts';
import { recordingOf, recordingOfUser } from './audit-log-store.ts';
import { deleteOlder } from './pages.ts';
import { constraintOf, type Sql } from './sql.ts';

/** How long before a provider's last certificate ends its organization is mailed. Console A39. */
const CERTIFICATE_WARNED_MS = 30 * 86_400_000;

/** Of one round; the next one is an hour later. */
const LOOKED_AT_ONCE = 100;
const DAY_MS = 86_400_000;

type ConnectionColumns = Omit<SsoConnectionRow, 'createdAtMs' | 'changedAtMs' | 'enforcedAtMs'> & {
  createdAt: number;
  changedAt: number;
  enforcedAt: number | null;
};
const connectionOf = ({ createdAt, changedAt, enforcedAt, ...row }: ConnectionColumns): SsoConnectionRow => ({
  ...row,
  createdAtMs: createdAt,
  changedAtMs: changedAt,
  enforcedAtMs: enforcedAt,
});

type DomainColumns = Omit<SsoDomainRow, 'createdAtMs' | 'verifiedAtMs' | 'lapsedAtMs'> & {
  createdAt: number;
  verifiedAt: number | null;
  lapsedAt: number | null;
};
const domainOf = ({ createdAt, verifiedAt, lapsedAt, ...row }: DomainColumns): SsoDomainRow => ({
  ...row,
  createdAtMs: createdAt,
  verifiedAtMs: verifiedAt,
  lapsedAtMs: lapsedAt,
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
  return { ...connections(sql), ...enforcement(sql), ...domains(sql), ...flows(sql), ...identities(sql) };
}

function connections(
  sql: Sql,
): Pick<
  SsoStore,
  | 'connectionOf'
  | 'connection'
  | 'putConnection'
  | 'removeConnection'
  | 'connectionOfDomain'
  | 'connectionToAsk'
  | 'writeCertificateLetters'
> {
  const columns = sql`c.id, c.organization_id, c.issuer, c.client_id, c.sealed_secret, c.jit_role, c.created_at, c.changed_at,
    c.saml, c.enforced_at, array(select m.user_id from membership m where m.organization_id = c.organization_id and m.break_glass
                          order by m.user_id) as break_glass`;
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
    async putConnection(row, nowMs, audit) {
      const { id, organizationId, issuer, clientId, sealedSecret, jitRole, createdAtMs, saml, certificateEndsAtMs } =
        row;
      const [put] = await sql<{ id: string }[]>`
        with put as materialized (
          insert into sso_connection as c (id, organization_id, issuer, client_id, sealed_secret, jit_role, created_at, changed_at,
                                            kind, saml, certificate_ends_at)
            values (${id}, ${organizationId}, ${issuer}, ${clientId}, ${sealedSecret}, ${jitRole}, ${createdAtMs}::timestamptz,
                    ${nowMs}::timestamptz, ${saml === null ? 'oidc' : 'saml'},
                    ${saml === null ? null : JSON.stringify(saml)}::text::jsonb,
                    ${certificateEndsAtMs ?? null}::timestamptz)
          on conflict (organization_id) do update
             set issuer = excluded.issuer, client_id = excluded.client_id, sealed_secret = excluded.sealed_secret,
                 jit_role = excluded.jit_role, kind = excluded.kind, saml = excluded.saml,
                 certificate_ends_at = excluded.certificate_ends_at,
                 enforced_at = case when (c.issuer, c.client_id) = (excluded.issuer, excluded.client_id)
                                    then c.enforced_at end,
                 changed_at = case when (c.issuer, c.client_id) = (excluded.issuer, excluded.client_id)
                                    and c.sealed_secret is not distinct from excluded.sealed_secret
                                    and c.saml is not distinct from excluded.saml
                                   then c.changed_at else excluded.changed_at end
          returning id
        ), forgotten as (
          delete from sso_identity i using put p where i.connection_id = p.id and i.issuer <> ${issuer}
        )
        select p.id, (${recordingOf(sql, audit)})::text as noted from put p`;
      return put!.id;
    },
    async removeConnection(organizationId, id, audit) {
      const { count } = await sql`
        with gone as materialized (
          delete from sso_connection c where c.id = ${id} and c.organization_id = ${organizationId} returning c.id
        )
        select ${recordingOf(sql, audit)} from gone`;
      return count === 1;
    },
    async writeCertificateLetters(nowMs) {
      const { count } = await sql`
        insert into letter (id, kind, recipient, user_id, organization_id, facts, created_at, next_attempt_at)
          select 'sso_certificate|' || c.id || '|' || extract(epoch from c.certificate_ends_at)::bigint || '|' || u.id,
                 'sso_certificate', u.email, u.id, c.organization_id,
                 jsonb_build_object('organization', o.name,
                   'endsAt', to_char(c.certificate_ends_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')),
                 ${nowMs}::timestamptz, clock_timestamp()
            from sso_connection c
            join organization o on o.id = c.organization_id
            join membership m on m.organization_id = c.organization_id and m.role = 'owner'
            join console_user u on u.id = m.user_id
           where c.certificate_ends_at > ${nowMs}::timestamptz
             and c.certificate_ends_at <= ${nowMs + CERTIFICATE_WARNED_MS}::timestamptz
          on conflict (id) do nothing`;
      return count;
    },
    async connectionToAsk(domain) {
      const [row] = await sql<ConnectionColumns[]>`
        select ${columns} from sso_domain d join sso_connection c on c.organization_id = d.organization_id
         where d.domain = ${domain} and (d.verified_at is not null or d.lapsed_at is not null)
         order by d.verified_at is null, d.lapsed_at desc, d.id limit 1`;
      return row === undefined ? null : connectionOf(row);
    },
    async connectionOfDomain(domain) {
      const [row] = await sql<ConnectionColumns[]>`
        select ${columns} from sso_domain d join sso_connection c on c.organization_id = d.organization_id
         where d.domain = ${domain} and d.verified_at is not null`;
      return row === undefined ? null : connectionOf(row);
    },
  };
}

function enforcement(sql: Sql): Pick<SsoStore, 'enforce' | 'relax' | 'keepsEmail' | 'countEnforced'> {
  return {
    async keepsEmail(userId, domain) {
      const [row] = await sql<{ keeps: boolean }[]>`
        select exists (
          select from membership m join sso_connection c on c.organization_id = m.organization_id
           where m.user_id = ${userId} and c.enforced_at is not null
             and not exists (select from sso_identity i where i.user_id = m.user_id and i.connection_id = c.id)
             and not exists (select from sso_domain d where d.organization_id = c.organization_id
                                and d.domain = ${domain} and (d.verified_at is not null or d.lapsed_at is not null))
             and sso_required(m.user_id, m.organization_id)) as keeps`;
      return row!.keeps;
    },
    async countEnforced(kind, most) {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count
          from (select from sso_connection c where c.kind = ${kind} and c.enforced_at is not null limit ${most}) found`;
      return row!.count;
    },
    async enforce(organizationId, id, { userId, breakGlass }, nowMs, audit) {
      const named = [...new Set(breakGlass)];
      // Members before their connection: what takes one of them away locks in the same order.
      const enforcing = sql<{ outcome: Enforced }[]>`
        with look as materialized (
          select c.id,
                 exists (select from sso_domain d
                          where d.organization_id = c.organization_id and d.verified_at is not null) as has_domain,
                 exists (select from login l join sso_identity i on i.user_id = l.user_id and i.connection_id = c.id
                          where l.user_id = ${userId} and l.ended_at is null and l.method = 'sso' and l.connection_id = c.id
                            and l.created_at >= greatest(c.changed_at, ${nowMs - PROVEN_MS}::timestamptz)) as came,
                 (select count(*) from membership m join console_user u on u.id = m.user_id
                   where m.organization_id = c.organization_id and m.role = 'owner' and m.user_id = any(${named}::text[])
                     and u.has_password
                     and (u.totp_confirmed or exists (select from passkey p where p.user_id = u.id))
                 ) = ${named.length} and ${named.length > 0} as ready
            from sso_connection c where c.id = ${id} and c.organization_id = ${organizationId}
        ), fit as materialized (
          select l.id from look l where l.has_domain and l.came and l.ready
        ), named as materialized (
          update membership m set break_glass = m.user_id = any(${named}::text[]) from fit
           where m.organization_id = ${organizationId} and m.break_glass <> (m.user_id = any(${named}::text[]))
          returning m.user_id
        ), enforced as materialized (
          update sso_connection c set enforced_at = coalesce(c.enforced_at, ${nowMs}::timestamptz) from fit f
           where c.id = f.id and (select count(*) from named) >= 0
          returning c.id
        )
        select case when not l.has_domain then 'domain' when not l.came then 'sign_in' when not l.ready then 'break_glass'
                    else 'done' end as outcome,
               (select (${recordingOf(sql, audit)})::text from enforced) as noted
          from look l`;
      try {
        return (await enforcing)[0]?.outcome ?? 'unknown';
      } catch (error) {
        if (constraintOf(error) === 'break_glass_kept') return 'break_glass';
        throw error;
      }
    },
    async relax(organizationId, id, audit) {
      const { count } = await sql`
        with relaxed as materialized (
          update sso_connection c set enforced_at = null where c.id = ${id} and c.organization_id = ${organizationId}
          returning c.id
        )
        select ${recordingOf(sql, audit)} from relaxed`;
      return count === 1;
    },
  };
}

function domains(
  sql: Sql,
): Pick<SsoStore, 'domains' | 'addDomain' | 'verifyDomain' | 'domainsDue' | 'noteLook' | 'removeDomain'> {
  return {
    async domains(organizationId) {
      const rows = await sql<DomainColumns[]>`
        select id, organization_id, domain, token, verified_at, lapsed_at, created_at from sso_domain
         where organization_id = ${organizationId} order by domain limit ${DOMAINS_MAX}`;
      return rows.map(domainOf);
    },
    async addDomain({ id, organizationId, domain, token, createdAtMs }, audit) {
      return unless(
        sql`
        with added as materialized (
          insert into sso_domain (id, organization_id, domain, token, created_at)
            values (${id}, ${organizationId}, ${domain}, ${token}, ${createdAtMs}::timestamptz)
          returning id
        )
        select ${recordingOf(sql, audit)} from added`,
        { sso_domain_once_each: 'known', sso_domain_limit: 'limit' } as const,
      );
    },
    verifyDomain: (organizationId, id, nowMs, audit) =>
      unless(
        sql`
        with verified as materialized (
          update sso_domain d set verified_at = ${nowMs}::timestamptz, checked_at = ${nowMs}::timestamptz, missed = 0,
                 lapsed_at = null
           where d.id = ${id} and d.organization_id = ${organizationId} and d.verified_at is null
          returning d.id
        )
        select ${recordingOf(sql, audit)} from verified`,
        { sso_domain_verified_once: 'taken' as const },
      ),
    async domainsDue(nowMs) {
      const rows = await sql<Pick<SsoDomainRow, 'id' | 'domain' | 'token'>[]>`
        select id, domain, token from sso_domain
         where verified_at is not null and checked_at <= ${nowMs - DOMAIN_WEEK_MS}::timestamptz
         order by checked_at limit ${LOOKED_AT_ONCE}`;
      return [...rows];
    },
    async noteLook(id, found, nowMs) {
      const [row] = await sql<{ lapsed: boolean }[]>`
        with looked as materialized (
          update sso_domain d set
              checked_at = ${found === null ? nowMs - DOMAIN_WEEK_MS + DAY_MS : nowMs}::timestamptz,
              missed = case when ${found === null} then d.missed when ${found === true} then 0 else d.missed + 1 end,
              verified_at = case when ${found === false} and d.missed + 1 >= ${MISSED_MAX} then null else d.verified_at end,
              lapsed_at = case when ${found === false} and d.missed + 1 >= ${MISSED_MAX} then ${nowMs}::timestamptz end
           where d.id = ${id} and d.verified_at is not null
             and d.checked_at <= ${nowMs - DOMAIN_WEEK_MS}::timestamptz
          returning d.id, d.organization_id, d.domain, d.lapsed_at
        ), letters as (
          insert into letter (id, kind, recipient, user_id, organization_id, facts, created_at, next_attempt_at)
            select 'domain_lapsed|' || l.id || '|' || ${nowMs}::bigint || '|' || u.id, 'domain_lapsed', u.email, u.id,
                   l.organization_id, jsonb_build_object('domain', l.domain, 'organization', o.name),
                   ${nowMs}::timestamptz, clock_timestamp()
              from looked l join organization o on o.id = l.organization_id
              join membership m on m.organization_id = l.organization_id and m.role = 'owner'
              join console_user u on u.id = m.user_id
             where l.lapsed_at is not null
        )
        select l.lapsed_at is not null as lapsed from looked l`;
      return row?.lapsed === true;
    },
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

function flows(sql: Sql): Pick<SsoStore, 'openFlow' | 'takeFlow' | 'bring' | 'spendAssertion' | 'purgeFlows'> {
  return {
    async openFlow({ hash, browser, connectionId, sealed, expiresAtMs }) {
      await sql`
        insert into sso_flow (hash, browser, connection_id, sealed, expires_at)
          values (${hash}, ${browser}, ${connectionId}, ${sealed}, ${expiresAtMs}::timestamptz)`;
    },
    async takeFlow(hash, browser, nowMs) {
      const [row] = await sql<(Omit<SsoFlow, 'expiresAtMs'> & { expiresAt: number })[]>`
        delete from sso_flow f where f.hash = ${hash} and f.browser = ${browser}
        returning f.hash, f.browser, f.connection_id, f.sealed, f.expires_at, f.response`;
      if (row === undefined || row.hash !== hash || row.expiresAt <= nowMs) return null;
      const { expiresAt, ...flow } = row;
      return { ...flow, expiresAtMs: expiresAt };
    },
    async bring(hash, response, nowMs) {
      const { count } = await sql`
        update sso_flow set response = ${response}
         where hash = ${hash} and response is null and expires_at > ${nowMs}::timestamptz`;
      return count === 1;
    },
    async spendAssertion(connectionId, hash, expiresAtMs) {
      const { count } = await sql`
        insert into sso_assertion (connection_id, hash, expires_at)
          values (${connectionId}, ${hash}, ${expiresAtMs}::timestamptz) on conflict do nothing`;
      return count === 1;
    },
    async purgeFlows(nowMs) {
      const spent = await deleteOlder(sql, sql`sso_assertion`, sql`expires_at`, nowMs + 1);
      const { count } = await sql`
        delete from sso_flow where hash in (
          select f.hash from sso_flow f where f.expires_at <= ${nowMs}::timestamptz order by f.expires_at limit 10000)`;
      return count + spent;
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
          insert into console_user (id, email, password_hash, has_password)
            values (${user.id}, ${user.email}, ${user.passwordHash}, false) returning id
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
