/** Reads of the gateway: lists and single rows of one tenant, and the answers kept for Idempotency-Keys. */
import { failpoint } from '../../protocol/failpoint.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';
import type { AccountState } from '../../actors/account/messages.ts';
import type { IdempotencyRow, UsedValue } from '../rows.ts';
import type { ReadStore } from '../ports.ts';
import { addressPairs } from './address-pairs.ts';
import { deliveryReads } from './delivery-reads.ts';
import { addressOf, webhookOf, withdrawalOf, type Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { savingOf } from './first-answer.ts';
import { asTenant, oneOf, pageRows } from './tenant.ts';
import { transactionReads } from './transaction-reads.ts';

/** The gateway's reads over PostgreSQL. */
export function createReadStore(sql: Sql): ReadStore {
  return { ...idempotency(sql), ...addresses(sql), ...addressPairs(sql), ...transactionReads(sql), ...webhooks(sql), ...deliveryReads(sql) };
}

function idempotency(sql: Sql): Pick<ReadStore, 'idempotent' | 'saveIdempotent' | 'forgetIdempotent' | 'purgeIdempotent'> {
  return {
    async idempotent(owner, method, path, key) {
      return oneOf(sql, owner, sql`
        select * from idempotency where account_id = t.account and method = ${method} and path = ${path} and key = ${key}
           and created_at > clock_timestamp() - interval '24 hours'`,
      (row) => ({ key, method, path, bodyHash: row.bodyHash, status: row.status, body: row.body }) as IdempotencyRow);
    },
    async saveIdempotent(owner, row) {
      failpoint('save_idempotent.before');
      await sql`select ${savingOf(sql, { ...row, owner })}`;
      failpoint('save_idempotent.after');
    },
    async forgetIdempotent(owner, { method, path, key }, deadId) {
      failpoint('forget_idempotent.before');
      await sql`select forget_idempotent(${owner}, ${method}, ${path}, ${key}, ${deadId})`;
      failpoint('forget_idempotent.after');
    },
    async purgeIdempotent(olderThanMs) {
      const [row] = await sql<{ gone: number }[]>`select purge_idempotent(${olderThanMs}::timestamptz) as gone`;
      return row!.gone;
    },
  };
}

function addresses(
  sql: Sql,
): Pick<ReadStore, 'addresses' | 'address' | 'retiredIdentities' | 'addressByText' | 'addressesAmong' | 'ownAddresses' | 'unissuedPool' | 'addressPeak'> {
  return {
    async addresses(accountId, { chain, userRef, tag, status }, page) {
      const matching = sql`
        select * from address where account_id = t.account and purpose = 'deposit'
          ${chain === undefined ? sql`` : sql`and chain = ${chain}`} ${userRef === undefined ? sql`` : sql`and user_ref = ${userRef}`}
          ${tag === undefined ? sql`` : sql`and tag = ${tag}`} ${status === undefined ? sql`` : sql`and status = ${status}`}`;
      return pageRows(sql, accountId, { matching, order: sql`id desc` }, page, addressOf); // ids sort by their time
    },
    async address(accountId, id) {
      return oneOf(sql, accountId, sql`select * from address where account_id = t.account and id = ${id}`, addressOf);
    },
    async retiredIdentities(accountId) {
      const retired = await oneOf(sql, accountId, sql`select state -> 'retired' as retired from account where account_id = t.account`,
        (row) => row['retired'] as AccountState['retired'] | null);
      return retired == null ? {} : { retired };
    },
    // An EVM address receives on all five networks, so it is found by any of them: by its row there, else its oldest active one.
    async addressByText(accountId, chain, address) {
      return oneOf(sql, accountId, sql`
        select * from address where account_id = t.account and address = ${address} and family = ${FAMILY_OF[chain]}
         order by chain = ${chain} desc, status = 'active' desc, created_at, id limit 1`, addressOf);
    },
    async addressesAmong(accountId, chain, addresses) {
      const rows = await sql<{ address: string }[]>`
        select v.address from ${asTenant(sql, accountId, sql`
          select address from address where account_id = t.account and family = ${FAMILY_OF[chain]} and address = any (${addresses as string[]})`)}`;
      return rows.map(({ address }) => address);
    },
    async ownAddresses(accountId, purpose) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(sql, accountId, sql`select * from address where account_id = t.account and purpose = ${purpose}`)}
         order by v.created_at, v.id`;
      return rows.map(addressOf);
    },
    async unissuedPool(accountId, chain, limit) {
      // What is below the pool's `next` was issued, or belongs to an identity that was rotated away.
      const rows = await sql<{ index: number; address: string; path: string }[]>`
        select v.* from ${asTenant(sql, accountId, sql`
          select index, address, path from pool_address p where account_id = t.account and chain = ${chain}
             and index >= coalesce((select (a.state -> 'pools' -> ${chain}::text ->> 'next')::bigint from account a where a.account_id = t.account), 0)
           order by index limit ${limit}`)} order by v.index`;
      return rows.map(({ index, address, path }) => ({ index, address, path }));
    },
    async addressPeak(accountId, period) {
      const first = `${period}-01`;
      return oneOf(sql, accountId, sql`
        select max(active) as peak from address_peak where account_id = t.account
           and day >= ${first}::text::date and day < ${first}::text::date + interval '1 month'`, ({ peak }) => peak as number | null);
    },
  };
}

function webhooks(sql: Sql): Pick<ReadStore, 'webhooks' | 'webhook' | 'withdrawal' | 'usedValue'> {
  return {
    async withdrawal(accountId, id) {
      return oneOf(sql, accountId, sql`select * from withdrawal where account_id = t.account and id = ${id}`, withdrawalOf);
    },
    async usedValue(accountId, ledger, from) {
      return oneOf(sql, accountId, sql`
        select unsigned -> 'replayKey' ->> 'value' as value, height from withdrawal
         where account_id = t.account and ledger = ${ledger} and from_address = ${from}
           and height is not null and unsigned -> 'replayKey' ->> 'kind' in ('nonce', 'sequence')
         order by (unsigned -> 'replayKey' ->> 'value')::numeric desc limit 1`,
      ({ value, height }): UsedValue => ({ value: String(value), height: Number(height) }));
    },
    async webhooks(accountId) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(sql, accountId, sql`select * from webhook where account_id = t.account and status <> 'deleted'`)}
         order by v.created_at desc, v.id desc`;
      return rows.map(webhookOf);
    },
    async webhook(accountId, id) {
      return oneOf(sql, accountId, sql`select * from webhook where account_id = t.account and id = ${id} and status <> 'deleted'`, webhookOf);
    },
  };
}
