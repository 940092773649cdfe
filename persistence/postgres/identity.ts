/** Who signs in: users, memberships, organizations, API keys, signing keys. */
import type { AccountState } from '../../model/account/capabilities.ts';
import type { Plan } from '../../model/account/plan.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import { accountIdOf, type AccountId } from '../../protocol/ids.ts';
import { shardOf } from '../../protocol/node/ids.ts';
import { ENVIRONMENTS, type Environment } from '../../protocol/slugs.ts';
import type { ApiKeyRow, IdentityStore, KnownUser, OrganizationRow } from '../../model/ports/identity-store.ts';
import { recordingOf, recordingOfUser } from './audit-log-store.ts';
import { ssoRequired } from './login-store.ts';
import { notice, noting } from './people-store.ts';
import { onlyFirst } from './first-answer.ts';
import type { Columns } from './row-shapes.ts';
import { constraintOf, type Sql } from './sql.ts';

/** First snapshot of an account: the account room decides what it is (`initialAccount`). */
export type InitialAccount = (account: {
  accountId: AccountId;
  organizationId: string;
  environment: Environment;
  plan: Plan;
}) => AccountState;

/** Decisions 2: five wrong codes lock the factor for 15 minutes. */
const TOTP_FAILURES_MAX = 5;
const TOTP_LOCK_MS = 900_000;
/** One write a minute for a key that is used all the time. Console A33. */
const KEY_USE_MS = 60_000;
/** The sign-in store over PostgreSQL. */
export function createIdentityStore(sql: Sql, initialAccount: InitialAccount): IdentityStore {
  return {
    ...apiKeys(sql),
    ...users(sql),
    ...secondFactor(sql),
    ...signingKeys(sql),
    ...organizations(sql, initialAccount),
  };
}

function apiKeyOf(row: Columns): ApiKeyRow {
  return {
    id: row.id,
    accountId: row.accountId,
    organizationId: row.organizationId,
    environment: row.environment,
    label: row.label,
    hash: row.hash,
    maskedPrefix: row.maskedPrefix,
    createdAtMs: row.createdAt,
    revokedAtMs: row.revokedAt,
    ...(row.createdBy === null ? {} : { createdBy: row.createdBy }),
    role: row.role,
    ...(row.expiresAt === null ? {} : { expiresAtMs: row.expiresAt }),
    ...(row.lastUsedAt === null ? {} : { lastUsedAtMs: row.lastUsedAt }),
  } as ApiKeyRow;
}

/** Keys of an organization that work no more and are still shown. */
const ENDED_KEYS_MAX = 200;

function apiKeys(
  sql: Sql,
): Pick<IdentityStore, 'apiKeyByHash' | 'insertApiKey' | 'revokeApiKey' | 'apiKeys' | 'noteKeyUse'> {
  return {
    async apiKeyByHash(hash) {
      const [row] = await sql<Columns[]>`select * from api_key where hash = ${hash}`;
      // Who somebody is must not rest on the driver pairing answers with questions.
      return row === undefined || row.hash !== hash ? null : apiKeyOf(row);
    },
    async insertApiKey(row, answer, audit) {
      failpoint('insert_api_key.before');
      const minting = sql`
        with minted as materialized (
        insert into api_key (id, account_id, organization_id, environment, label, hash, masked_prefix, created_at, revoked_at, created_by, role,
                             expires_at)
          select ${row.id}, ${row.accountId}, ${row.organizationId}, ${row.environment}, ${row.label}, ${row.hash},
                 ${row.maskedPrefix}, ${row.createdAtMs}::timestamptz, ${row.revokedAtMs}::timestamptz, ${row.createdBy ?? null},
                 ${row.role ?? 'editor'}, ${row.expiresAtMs ?? null}::timestamptz
            from ${onlyFirst(sql, answer)}
          returning id
        )
        select ${recordingOf(sql, audit)} from minted`;
      try {
        const { count } = await minting;
        failpoint('insert_api_key.after');
        return count === 1;
      } catch (error) {
        if (constraintOf(error) === 'api_key_limit') return 'limit';
        throw error;
      }
    },
    async noteKeyUse(id, nowMs) {
      await sql`
        update api_key set last_used_at = ${nowMs}::timestamptz
         where id = ${id} and revoked_at is null
           and (last_used_at is null or last_used_at <= ${nowMs - KEY_USE_MS}::timestamptz)`;
    },
    async revokeApiKey(organizationId, id, atMs, audit) {
      const { count } = await sql`
        with revoked as materialized (
          update api_key set revoked_at = ${atMs}::timestamptz
           where id = ${id} and organization_id = ${organizationId} and revoked_at is null
          returning id
        )
        select ${recordingOf(sql, audit)} from revoked`;
      return count === 1;
    },
    async apiKeys(organizationId) {
      const accounts = ENVIRONMENTS.map((environment) => accountIdOf(organizationId, environment));
      // As many as there may be that work (api_key_limit), and the newest of those that work no more.
      const rows = await sql<Columns[]>`
        select * from (
          select * from api_key where account_id = any(${accounts}::text[]) and revoked_at is null
             and (expires_at is null or expires_at > clock_timestamp())
          union all
          (select * from api_key where organization_id = ${organizationId}
              and (revoked_at is not null or expires_at <= clock_timestamp())
            order by created_at desc, id desc limit ${ENDED_KEYS_MAX})) k
         order by created_at desc, id desc`;
      return rows.map(apiKeyOf);
    },
  };
}

function userOf(row: Columns | undefined): KnownUser | null {
  if (row === undefined) return null;
  return {
    id: row.id,
    email: row.email,
    passwordHash: row.passwordHash,
    sealedTotpSecret: row.sealedTotpSecret,
    totpConfirmed: row.totpConfirmed,
    // A release before kept a secret that is not confirmed in the place of the factor.
    pendingTotpSecret: row.sealedTotpPending ?? (row.totpConfirmed === true ? null : row.sealedTotpSecret),
    platformRole: row.platformRole,
    memberships: row.memberships,
    passkeys: row.passkeys,
    isSuspended: (row['suspendedAt'] ?? null) !== null,
  } as KnownUser;
}

function users(sql: Sql): Pick<IdentityStore, 'userByEmail' | 'userById' | 'insertUser'> {
  const memberships = sql`
    coalesce((select jsonb_agg(jsonb_build_object('userId', m.user_id, 'organizationId', m.organization_id, 'role', m.role,
                       'ssoRequired', ${ssoRequired(sql, sql`m.user_id`, sql`m.organization_id`)}) order by m.organization_id)
                from membership m where m.user_id = u.id), '[]') as memberships,
    (select count(*)::int from passkey p where p.user_id = u.id) as passkeys`;
  return {
    async userByEmail(email) {
      const [row] = await sql<Columns[]>`select u.*, ${memberships} from console_user u where email = lower(${email})`;
      return userOf(row);
    },
    async userById(id) {
      const [row] = await sql<Columns[]>`select u.*, ${memberships} from console_user u where id = ${id}`;
      return userOf(row);
    },
    async insertUser(row) {
      await sql`
        insert into console_user (id, email, password_hash, sealed_totp_secret, totp_confirmed, platform_role)
          values (${row.id}, lower(${row.email}), ${row.passwordHash}, ${row.sealedTotpSecret}, ${row.totpConfirmed}, ${row.platformRole})`;
    },
  };
}

function secondFactor(
  sql: Sql,
): Pick<IdentityStore, 'enrolTotp' | 'confirmTotp' | 'spendTotpStep' | 'noteTotpFailure' | 'totpLockedUntil'> {
  return {
    async enrolTotp(userId, sealedSecret, audit) {
      await sql`
        with changed as materialized (
          update console_user set sealed_totp_pending = ${sealedSecret} where id = ${userId}
          returning id
        )
        select ${audit === undefined ? sql`id` : recordingOfUser(sql, userId, audit)} from changed`;
    },
    async confirmTotp(userId, sealedSecret, { letterId, nowMs }, audit) {
      const { count } = await sql`
        with changed as materialized (
          update console_user set sealed_totp_secret = ${sealedSecret}, totp_confirmed = true, sealed_totp_pending = null
           where id = ${userId}
             and coalesce(sealed_totp_pending, case when not totp_confirmed then sealed_totp_secret end) = ${sealedSecret}
          returning id, email as recipient
        ), noticed as (${notice(sql, letterId, 'factor_added', nowMs)})
        select c.id, ${noting(sql, audit)} as noted from changed c`;
      return count === 1;
    },
    async spendTotpStep(userId, step, nowMs) {
      failpoint('spend_totp.before');
      const { count } = await sql`
        update console_user set totp_last_step = ${step}, totp_failures = 0
         where id = ${userId} and totp_last_step < ${step} and (totp_locked_until is null or totp_locked_until <= ${nowMs}::timestamptz)`;
      failpoint('spend_totp.after');
      return count === 1;
    },
    async noteTotpFailure(userId, { letterId, nowMs }, audit) {
      // The count begins again with the lock, so that the next code after it has its five tries. Guesses that came
      // together with the fifth are none of the next ones.
      const [row] = await sql<{ lockedUntil: number | null }[]>`
        with who as materialized (
          select u.id, u.email, u.totp_failures + 1 >= ${TOTP_FAILURES_MAX} as locks, u.totp_locked_until,
                 coalesce(u.totp_locked_until > ${nowMs}::timestamptz, false) as locked
            from console_user u where u.id = ${userId} for update
        ), counted as materialized (
          update console_user u set
            totp_locked_until = case when w.locks then ${nowMs + TOTP_LOCK_MS}::timestamptz else u.totp_locked_until end,
            totp_failures = case when w.locks then 0 else u.totp_failures + 1 end
            from who w where u.id = w.id and not w.locked
          returning u.id, w.email as recipient, w.locks, u.totp_locked_until
        ), changed as materialized (select id, recipient from counted where locks),
        noticed as (${notice(sql, letterId, 'factor_locked', nowMs)})
        select coalesce(n.totp_locked_until, w.totp_locked_until) as locked_until,
               (select (${noting(sql, audit)})::text from changed c) as noted
          from who w left join counted n on true`;
      return { lockedUntilMs: row?.lockedUntil ?? null };
    },
    async totpLockedUntil(userId) {
      const [row] = await sql<
        { lockedUntil: number | null }[]
      >`select totp_locked_until as locked_until from console_user where id = ${userId}`;
      return row?.lockedUntil ?? null;
    },
  };
}

function signingKeys(sql: Sql): Pick<IdentityStore, 'signingKeys' | 'insertSigningKey'> {
  return {
    async signingKeys() {
      const rows = await sql<{ kid: string; sealedPrivateJwk: string; publicJwk: object; createdAt: number }[]>`
        select * from signing_key order by created_at desc, kid`;
      return rows.map(({ kid, sealedPrivateJwk, publicJwk, createdAt }) => ({
        kid,
        sealedPrivateJwk,
        publicJwk,
        createdAtMs: createdAt,
      }));
    },
    async insertSigningKey({ kid, sealedPrivateJwk, publicJwk, createdAtMs }) {
      await sql`
        insert into signing_key (kid, sealed_private_jwk, public_jwk, created_at)
          values (${kid}, ${sealedPrivateJwk}, ${JSON.stringify(publicJwk)}::text::jsonb, ${createdAtMs}::timestamptz)`;
    },
  };
}

function organizations(
  sql: Sql,
  initialAccount: InitialAccount,
): Pick<IdentityStore, 'createOrganization' | 'organization' | 'members' | 'insertMembership'> {
  return {
    async createOrganization({ id, name, createdAtMs, createdBy = null }, ownerUserId, plan, answer, audit) {
      const accounts = ENVIRONMENTS.map((environment) => {
        const accountId = accountIdOf(id, environment);
        return {
          account_id: accountId,
          environment,
          shard_id: shardOf(accountId),
          state: initialAccount({ accountId, organizationId: id, environment, plan }),
        };
      });
      const organization = { id, name, created_at: new Date(createdAtMs).toISOString(), created_by: createdBy };
      failpoint('create_organization.before');
      const creating = sql`
        select create_organization(${JSON.stringify(organization)}::text::jsonb, ${ownerUserId}, ${JSON.stringify(accounts)}::text::jsonb),
               ${recordingOf(sql, audit)}
          from ${onlyFirst(sql, answer)}`;
      try {
        const { count } = await creating;
        failpoint('create_organization.after');
        return count === 1;
      } catch (error) {
        if (constraintOf(error) === 'organization_limit') return 'limit';
        throw error;
      }
    },
    async organization(id) {
      const [row] = await sql<Columns[]>`select * from organization where id = ${id}`;
      return row === undefined ? null : ({ id: row.id, name: row.name, createdAtMs: row.createdAt } as OrganizationRow);
    },
    async members(organizationId) {
      const rows = await sql<Columns[]>`
        select m.user_id, u.email, m.role, u.totp_confirmed from membership m join console_user u on u.id = m.user_id
         where m.organization_id = ${organizationId} order by u.email`;
      return rows.map(
        ({ userId, email, role, totpConfirmed }) =>
          ({ userId, email, role, totpConfirmed }) as Awaited<ReturnType<IdentityStore['members']>>[number],
      );
    },
    async insertMembership({ userId, organizationId, role }) {
      await sql`
        insert into membership (user_id, organization_id, role) values (${userId}, ${organizationId}, ${role})
        on conflict (user_id, organization_id) do update set role = excluded.role`;
    },
  };
}
