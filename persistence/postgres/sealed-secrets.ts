/**
 * Secrets at rest by the key that sealed them: what `flock secrets reseal` reads and writes again, each in one
 * statement.
 */
import type { Sql } from './sql.ts';

/** One row with sealed secrets; `account` is empty where the row belongs to no account. */
export interface SealedRow {
  readonly account: string;
  readonly id: string;
  readonly sealed: readonly string[];
}

export interface SealedColumn {
  /** Rows with a secret that does not begin with the prefix, by (account, id), after one. */
  sealedOtherwise(prefix: string, after: Pick<SealedRow, 'account' | 'id'>, limit: number): Promise<SealedRow[]>;
  /** False when the row changed since it was read. */
  replace(row: SealedRow, resealed: readonly string[]): Promise<boolean>;
}

/** Endpoints whose deliveries are held because no secret of theirs opened. */
export interface UnreadableHooks {
  /** By (account, id), after one. */
  list(after: Pick<SealedRow, 'account' | 'id'>, limit: number): Promise<SealedRow[]>;
  /** Their deliveries are due again; answers how many. */
  release(row: Pick<SealedRow, 'account' | 'id'>): Promise<number>;
}

export function createUnreadableHooks(sql: Sql): UnreadableHooks {
  return {
    async list(after, limit) {
      return (
        await sql<{ accountId: string; id: string; sealedSecrets: string[] }[]>`
        select * from webhooks_with_unreadable(${after.account}, ${after.id}, ${limit})`
      ).map(({ accountId, id, sealedSecrets }) => ({ account: accountId, id, sealed: sealedSecrets }));
    },
    async release({ account, id }) {
      const [row] = await sql<{ count: number }[]>`select release_unreadable(${account}, ${id}) as count`;
      return row!.count;
    },
  };
}

export type SealedKind = 'webhooks' | 'totp' | 'signingKeys';

/** The three columns that hold sealed secrets for longer than a day. */
export function createSealedSecrets(sql: Sql): Record<SealedKind, SealedColumn> {
  return {
    webhooks: {
      async sealedOtherwise(prefix, after, limit) {
        return (
          await sql<{ accountId: string; id: string; sealedSecrets: string[] }[]>`
          select * from webhooks_sealed_otherwise(${prefix}, ${after.account}, ${after.id}, ${limit})`
        ).map(({ accountId, id, sealedSecrets }) => ({ account: accountId, id, sealed: sealedSecrets }));
      },
      async replace({ account, id, sealed }, resealed) {
        const [row] = await sql<{ done: boolean }[]>`
          select reseal_webhook(${account}, ${id}, ${[...sealed]}::text[], ${[...resealed]}::text[]) as done`;
        return row!.done;
      },
    },
    totp: {
      async sealedOtherwise(prefix, after, limit) {
        return (
          await sql<{ id: string; sealed: string[] }[]>`
          select id, array_remove(array[sealed_totp_secret, sealed_totp_pending], null) as sealed from console_user
           where id > ${after.id}
             and (not starts_with(sealed_totp_secret, ${prefix}) or not starts_with(sealed_totp_pending, ${prefix}))
           order by id limit ${limit}`
        ).map(({ id, sealed }) => ({ account: '', id, sealed }));
      },
      async replace({ id, sealed }, resealed) {
        const { count } = await sql`
          update console_user set
            sealed_totp_secret = (${[...resealed]}::text[])[array_position(${[...sealed]}::text[], sealed_totp_secret)],
            sealed_totp_pending = (${[...resealed]}::text[])[array_position(${[...sealed]}::text[], sealed_totp_pending)]
           where id = ${id} and array_remove(array[sealed_totp_secret, sealed_totp_pending], null) = ${[...sealed]}::text[]`;
        return count === 1;
      },
    },
    signingKeys: {
      async sealedOtherwise(prefix, after, limit) {
        return (
          await sql<{ kid: string; sealed: string }[]>`
          select kid, sealed_private_jwk as sealed from signing_key
           where kid > ${after.id} and not starts_with(sealed_private_jwk, ${prefix}) order by kid limit ${limit}`
        ).map(({ kid, sealed }) => ({ account: '', id: kid, sealed: [sealed] }));
      },
      async replace({ id, sealed: [before = ''] }, [resealed = '']) {
        const { count } = await sql`
          update signing_key set sealed_private_jwk = ${resealed} where kid = ${id} and sealed_private_jwk = ${before}`;
        return count === 1;
      },
    },
  };
}
