/** Reads of the gateway: lists and single rows of one tenant, and the answers kept for Idempotency-Keys. */
import type { AccountId } from '../../protocol/ids.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import { ADDRESS_STATUSES, CHAINS, FAMILY_OF } from '../../protocol/slugs.ts';
import type { AccountState } from '../../model/account/capabilities.ts';
import type { IdempotencyRow } from '../../model/rows/idempotency.ts';
import type { UsedValue } from '../../model/rows/withdrawal.ts';
import type { DayPeak, ReadStore } from '../../model/ports/read-store.ts';
import { addressPairs } from './address-pairs.ts';
import { deliveryReads } from './delivery-reads.ts';
import { addressOf, webhookOf, withdrawalOf, type Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { paymentReads } from './payment-reads.ts';
import { savingOf } from './first-answer.ts';
import { listPage, pairsOf, type Source } from './list.ts';
import { createLists, SHARED_SLOTS, type Lists } from './list-pool.ts';
import { asTenant, oneOf } from './tenant.ts';
import { transactionReads } from './transaction-reads.ts';

/** Lists at once over a pool that they share, as in tests. */
/** Answers that one call of purge_idempotent takes. */
const PURGED_AT_ONCE = 10_000;

/**
 * The gateway's reads over PostgreSQL. Lists have a pool of their own, so that they never hold a connection of an
 * append.
 */
export function createReadStore(sql: Sql, lists: Lists = createLists(sql, { slots: SHARED_SLOTS })): ReadStore {
  return {
    ...idempotency(sql),
    ...addresses(sql),
    ...addressPairs(sql),
    ...addressList(lists),
    ...transactionReads(sql, lists),
    ...webhooks(sql),
    ...deliveryReads(sql, lists),
    ...paymentReads(sql, lists),
  };
}

function idempotency(
  sql: Sql,
): Pick<ReadStore, 'idempotent' | 'saveIdempotent' | 'forgetIdempotent' | 'purgeIdempotent'> {
  return {
    async idempotent(owner, method, path, key) {
      return oneOf(
        sql,
        owner,
        sql`
        select * from idempotency where account_id = t.account and method = ${method} and path = ${path} and key = ${key}
           and created_at > clock_timestamp() - interval '24 hours'`,
        (row) => ({ key, method, path, bodyHash: row.bodyHash, status: row.status, body: row.body }) as IdempotencyRow,
      );
    },
    async saveIdempotent(owner, row) {
      failpoint('save_idempotent.before');
      const [saved] = await sql<{ isFirst: boolean }[]>`select ${savingOf(sql, { ...row, owner })} as is_first`;
      failpoint('save_idempotent.after');
      return saved!.isFirst;
    },
    async forgetIdempotent(owner, { method, path, key }, deadId) {
      failpoint('forget_idempotent.before');
      await sql`select forget_idempotent(${owner}, ${method}, ${path}, ${key}, ${deadId})`;
      failpoint('forget_idempotent.after');
    },
    async purgeIdempotent(olderThanMs) {
      let gone = 0;
      for (;;) {
        const [row] = await sql<{ gone: number }[]>`select purge_idempotent(${olderThanMs}::timestamptz) as gone`;
        gone += row!.gone;
        if (row!.gone < PURGED_AT_ONCE) return gone;
      }
    },
  };
}

/** Where an address `x` was found to come from after it was adopted, as `origin`. Migration M-K2. */
const newestOrigin = (sql: Sql) => sql`(select o.path from address_origin o
  where o.account_id = x.account_id and o.address_id = x.id order by o.nth desc limit 1) as origin`;

/**
 * An adopted address is seen while its batch is open: never before its last row is there. Migration M-I14. No EXISTS,
 * of which behind an OR the planner makes a table of all batches of all accounts.
 */
const isOpen = (sql: Sql) => sql`(x.batch_id is null or coalesce((
  select o.state = 'committed' from import_batch o where o.account_id = x.account_id and o.id = x.batch_id), false))`;

/**
 * Batches whose rows are there and not seen: asked for before a list, which has no condition of its own for them. While
 * there are none, and that is nearly always, its pages come out of the indexes alone.
 */
async function hiddenBatches(sql: Sql, accountId: AccountId): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from import_batch where account_id = ${accountId} and state in ('committing', 'rolling_back')`;
  return rows.map(({ id }) => id);
}

/** The project of an adopted address `x`, as `m`. */
const ofProject = (sql: Sql) => sql`left join lateral (
  select b.project_id, p.state as project_state, b.state = 'committed' as is_open from import_batch b
    join migration_project p on p.account_id = b.account_id and p.id = b.project_id
   where b.account_id = x.account_id and b.id = x.batch_id offset 0) m on true`;

function addressList(lists: Lists): Pick<ReadStore, 'addresses'> {
  return {
    async addresses(accountId, { chain, userRef, tag, status }, page) {
      const { sql } = lists;
      const hidden = await hiddenBatches(sql, accountId);
      const isWhole = chain === undefined && userRef === undefined && tag === undefined && status === undefined;
      const own = sql`${userRef === undefined ? sql`` : sql`and x.user_ref = ${userRef}`} ${tag === undefined ? sql`` : sql`and x.tag = ${tag}`}`;
      // Own addresses have neither a user nor a tag.
      const from = sql`from address x where x.account_id = t.account ${userRef === undefined && tag === undefined ? sql`and x.purpose = 'deposit'` : own} ${isWhole ? sql`and x.status <> 'released'` : sql``} ${hidden.length === 0 ? sql`` : sql`and (x.batch_id is null or x.batch_id <> all (${hidden}::text[]))`}`;
      const source: Source = isWhole
        ? { pairs: [['', '']], range: () => from }
        : {
            pairs: pairsOf(chain ?? CHAINS, status ?? ADDRESS_STATUSES),
            range: (one, state) => sql`${from} and x.chain = ${one} and x.status = ${state}`,
          };
      return listPage(
        lists,
        accountId,
        {
          // ids sort by their time
          list: 'addresses',
          order: 'id',
          sources: [source],
          kept: isWhole ? ['address'] : null,
          shape: addressOf,
          rows: (keys) => sql`
          with k as materialized (${keys})
          select x.*, ${newestOrigin(sql)}, m.project_id, m.project_state, null::timestamptz as key_time, k.id as key_id
            from k join address x on x.account_id = t.account and x.id = k.id ${ofProject(sql)}
           where x.batch_id is null or m.is_open`,
        },
        page,
      );
    },
  };
}

function addresses(
  sql: Sql,
): Pick<
  ReadStore,
  | 'address'
  | 'retiredIdentities'
  | 'addressByText'
  | 'addressesAmong'
  | 'ownAddresses'
  | 'unissuedPool'
  | 'addressPeaks'
> {
  return {
    async address(accountId, id) {
      return oneOf(
        sql,
        accountId,
        sql`
        select x.*, ${newestOrigin(sql)}, m.project_id, m.project_state from address x ${ofProject(sql)}
         where x.account_id = t.account and x.id = ${id} and x.status <> 'released' and ${isOpen(sql)}`,
        addressOf,
      );
    },
    async retiredIdentities(accountId) {
      const retired = await oneOf(
        sql,
        accountId,
        sql`select state -> 'retired' as retired from account where account_id = t.account`,
        (row) => row['retired'] as AccountState['retired'] | null,
      );
      return { retired: retired ?? [] };
    },
    // An EVM address receives on all five networks, so it is found by any of them: by its row there, else its oldest
    // active one.
    async addressByText(accountId, chain, address) {
      return oneOf(
        sql,
        accountId,
        sql`
        select x.*, ${newestOrigin(sql)}, m.project_id, m.project_state from address x ${ofProject(sql)}
         where x.account_id = t.account and x.address = ${address} and x.family = ${FAMILY_OF[chain]}
           and x.status <> 'released' and ${isOpen(sql)}
         order by x.chain = ${chain} desc, x.status = 'active' desc, x.created_at, x.id limit 1`,
        addressOf,
      );
    },
    async addressesAmong(accountId, chain, addresses) {
      const rows = await sql<{ address: string }[]>`
        select v.address from ${asTenant(
          sql,
          accountId,
          sql`
          
          select a.address from unnest(${[...new Set(addresses)]}::text[]) asked(address) cross join lateral (
            select o.address from address o where o.address = asked.address and o.account_id = t.account and o.family = ${FAMILY_OF[chain]} and o.status <> 'released' limit 1) a`,
        )}`;
      return rows.map(({ address }) => address);
    },
    async ownAddresses(accountId, purpose) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(sql, accountId, sql`select * from address where account_id = t.account and purpose = ${purpose} and purpose <> 'deposit'`)}
         order by v.created_at, v.id`;
      return rows.map(addressOf);
    },
    async unissuedPool(accountId, chain, limit) {
      // What is below the pool's `next` was issued, or belongs to an identity that was rotated away.
      const rows = await sql<{ index: number; address: string; path: string }[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select index, address, path from pool_address p where account_id = t.account and chain = ${chain}
             and index >= coalesce((select (a.state -> 'pools' -> ${chain}::text ->> 'next')::bigint from account a where a.account_id = t.account), 0)
           order by index limit ${limit}`,
        )} order by v.index`;
      return rows.map(({ index, address, path }) => ({ index, address, path }));
    },
    async addressPeaks(accountId, period) {
      const first = `${period}-01`;
      const rows = await sql<DayPeak[]>`
        select v.day::text, v.active from ${asTenant(
          sql,
          accountId,
          sql`
          select day, active from address_peak where account_id = t.account
             and day >= ${first}::text::date and day < ${first}::text::date + interval '1 month'`,
        )} order by v.day`;
      return rows.map(({ day, active }) => ({ day, active }));
    },
  };
}

function webhooks(sql: Sql): Pick<ReadStore, 'webhooks' | 'webhook' | 'withdrawal' | 'usedValue'> {
  return {
    async withdrawal(accountId, id) {
      return oneOf(
        sql,
        accountId,
        sql`select * from withdrawal where account_id = t.account and id = ${id}`,
        withdrawalOf,
      );
    },
    async usedValue(accountId, ledger, from) {
      return oneOf(
        sql,
        accountId,
        sql`
        select unsigned -> 'replayKey' ->> 'value' as value, height from withdrawal
         where account_id = t.account and ledger = ${ledger} and from_address = ${from}
           and height is not null and unsigned -> 'replayKey' ->> 'kind' in ('nonce', 'sequence')
         order by (unsigned -> 'replayKey' ->> 'value')::numeric desc limit 1`,
        ({ value, height }): UsedValue => ({ value: String(value), height: Number(height) }),
      );
    },
    async webhooks(accountId) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(sql, accountId, sql`select * from webhook where account_id = t.account and status <> 'deleted'`)}
         order by v.created_at desc, v.id desc`;
      return rows.map(webhookOf);
    },
    async webhook(accountId, id, { deletedToo } = { deletedToo: false }) {
      return oneOf(
        sql,
        accountId,
        sql`select * from webhook
             where account_id = t.account and id = ${id} and (${deletedToo}::boolean or status <> 'deleted')`,
        webhookOf,
      );
    },
  };
}
