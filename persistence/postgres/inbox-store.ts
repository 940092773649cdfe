/** Facts that wait for an account, with the rows that a decision about them needs. */
import type { AccountId } from '../../protocol/ids.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { Fact, InboxRow, SeenTransfer } from '../../model/rows/inbox.ts';
import type { FactSetAside, InboxStore } from '../../model/ports/inbox-store.ts';
import type { AddressRow, Adoption } from '../../model/rows/address.ts';
import { NO_CHECKOUT } from '../../model/rows/payment.ts';
import { checkoutOf } from './checkout-reads.ts';
import { addressOf, depositOf, withdrawalOf, type Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { asTenant } from './tenant.ts';

/** Facts of a page of retry_facts, and the pages of one command: facts that fail again at once end it all the same. */
const RETRIED_PAGE = 1_000;
const RETRIED_PAGES_MAX = 1_000;

const NOTHING = {
  deposits: [],
  withdrawals: [],
  addresses: [],
  adoptions: [],
  ownTxids: [],
  checkout: NO_CHECKOUT,
};

/** The actors' inbox over PostgreSQL. What is read here is changed by the account's actor only, which is the reader. */
export function createInboxStore(sql: Sql): InboxStore {
  /** Where the last sweep over the accounts ended: with more than one asks for, the next goes on behind them. */
  let sweptTo = '';
  return {
    async inboxOf(accountId, limit) {
      const rows = await sql<{ id: number; fact: Fact }[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select id, fact from inbox i
           where account_id = t.account and (retry_at is null or retry_at <= clock_timestamp()) and not exists (
             select from inbox b where b.account_id = i.account_id and b.subject = i.subject and b.id < i.id
                and b.retry_at > clock_timestamp())
           order by id limit ${limit}`,
        )} order by v.id`;
      const inbox: InboxRow[] = rows.map(({ id, fact }) => ({ id: String(id), accountId, fact }));
      if (inbox.length === 0) return { inbox, ...NOTHING };
      const [deposits, withdrawals, addresses, ownTxids] = await Promise.all([
        depositsOf(sql, accountId, inbox),
        withdrawalsOf(sql, accountId, inbox),
        addressesOf(sql, accountId, inbox),
        ownTxidsOf(sql, accountId, inbox),
      ]);
      const ledgers = [...new Set(transfersOf(inbox).map(({ ledger }) => ledger))];
      const checkout = await checkoutOf(sql, accountId, addresses, deposits, ledgers);
      const adoptions = await adoptionsOf(sql, accountId, addresses);
      return { inbox, deposits, withdrawals, addresses, adoptions, ownTxids, checkout };
    },
    async accountsWithInbox(olderThanMs, limit) {
      const rows = await sql<{ account: AccountId }[]>`
        select account from accounts_with_due_facts(${sweptTo}, ${olderThanMs}::timestamptz, ${limit}) account`;
      const found = rows.map(({ account }) => account);
      sweptTo = found.length < limit ? '' : found.at(-1)!;
      return found;
    },
    async setAside(accountId, id, trouble, { firstMs, longestMs }) {
      failpoint('set_aside.before');
      const [row] = await sql<{ tries: number | null }[]>`
        select set_aside_fact(${accountId}, ${id}::text::bigint, ${trouble}, ${firstMs}::int, ${longestMs}::int) as tries`;
      failpoint('set_aside.after');
      return row!.tries;
    },
    async factsSetAside(afterId, limit) {
      const rows = await sql<Columns[]>`select * from facts_set_aside(${afterId}::text::bigint, ${limit})`;
      return rows.map(
        (row) =>
          ({
            id: String(row.id),
            accountId: row.accountId,
            subject: row.subject,
            fact: row.fact,
            tries: row.tries,
            trouble: row.trouble,
            behind: row.behind,
            recordedAtMs: row.createdAt,
            retryAtMs: row.retryAt,
          }) as FactSetAside,
      );
    },
    async countSetAside() {
      const [row] = await sql<{ count: number }[]>`select count_facts_set_aside() as count`;
      return row!.count;
    },
    async retryFacts({ accountId, id }) {
      const accounts = new Set<AccountId>();
      for (let page = 0; page < RETRIED_PAGES_MAX; page += 1) {
        const rows = await sql<
          { account: AccountId }[]
        >`select account from retry_facts(${accountId}, ${id}::text::bigint) account`;
        for (const { account } of rows) accounts.add(account);
        if (rows.length < RETRIED_PAGE) break;
      }
      return [...accounts];
    },
  };
}

/** Transfers whose credit key can be looked up: a fact of another shape is the account's to refuse. */
function transfersOf(inbox: readonly InboxRow[]): SeenTransfer[] {
  return inbox.flatMap(({ fact }) => {
    const { deposit } = Object(fact) as { deposit?: SeenTransfer };
    return Number.isSafeInteger(deposit?.outputIndex) ? [deposit!] : [];
  });
}

async function depositsOf(sql: Sql, accountId: AccountId, inbox: readonly InboxRow[]) {
  const keys = transfersOf(inbox);
  if (keys.length === 0) return [];
  const rows = await sql<Columns[]>`
    select v.* from ${asTenant(
      sql,
      accountId,
      sql`
      select d.* from unnest(${keys.map(({ ledger }) => ledger)}::text[], ${keys.map(({ txid }) => txid)}::text[],
                    ${keys.map(({ outputIndex }) => String(outputIndex))}::text[]::bigint[]) k(ledger, txid, output_index)
       cross join lateral (
         select o.* from deposit o
          where o.txid = k.txid and o.output_index = k.output_index and o.ledger = k.ledger
            and o.account_id = t.account offset 0) d`,
    )}`;
  return [...new Map(rows.map((row) => [row.id, depositOf(row)])).values()];
}

async function withdrawalsOf(sql: Sql, accountId: AccountId, inbox: readonly InboxRow[]) {
  const ids = [...new Set(inbox.flatMap(({ fact }) => (Object(fact) as { withdrawalId?: string }).withdrawalId ?? []))];
  if (ids.length === 0) return [];
  const rows = await sql<Columns[]>`
    select v.* from ${asTenant(sql, accountId, sql`select * from withdrawal where account_id = t.account and id = any(${ids}::text[])`)}`;
  return rows.map(withdrawalOf);
}

/**
 * The addresses paid, on every network that they have a row for, and the account's own ones (G20); looked up one by
 * one.
 */
async function addressesOf(sql: Sql, accountId: AccountId, inbox: readonly InboxRow[]) {
  const ids = [...new Set(transfersOf(inbox).map(({ addressId }) => addressId))];
  const rows = await sql<Columns[]>`
    select v.* from ${asTenant(
      sql,
      accountId,
      sql`
      select n.* from unnest(${ids}::text[]) i(id) cross join lateral (
        select a.* from address a where a.account_id = t.account and a.id = i.id offset 0) n
      union
      select n.* from unnest(${ids}::text[]) i(id) cross join lateral (
        select a.index from address a where a.account_id = t.account and a.id = i.id and a.purpose = 'deposit' and a.family = 'evm' offset 0) a
       cross join lateral (
        select s.* from address s where s.account_id = t.account and s.family = 'evm' and s.index = a.index and s.index is not null offset 0) n
      union
      select * from address where account_id = t.account and purpose <> 'deposit'`,
    )}`;
  return rows.map(addressOf);
}

/** Those transactions of facts that operations and bridge transfers of the treasury made. S24. */
async function ownTxidsOf(sql: Sql, accountId: AccountId, inbox: readonly InboxRow[]): Promise<string[]> {
  const txids = [...new Set(transfersOf(inbox).map(({ txid }) => txid))];
  if (txids.length === 0) return [];
  const rows = await sql<{ txid: string }[]>`
    select v.* from ${asTenant(
      sql,
      accountId,
      sql`
      select n.txid from unnest(${txids}::text[]) i(txid) cross join lateral (
        select w.txid from withdrawal w where w.txid = i.txid and w.account_id = t.account and w.kind = 'sweep'
         limit 1) n`,
    )}`;
  return rows.map(({ txid }) => txid);
}

/** What decides whether deposits to adopted addresses are announced; read together with the count of cutovers. */
async function adoptionsOf(sql: Sql, accountId: AccountId, addresses: readonly AddressRow[]): Promise<Adoption[]> {
  const ids = addresses.flatMap(({ id, batchId }) => (batchId === undefined ? [] : [id]));
  if (ids.length === 0) return [];
  const rows = await sql<Columns[]>`
    select v.* from ${asTenant(
      sql,
      accountId,
      sql`
      select a.id, p.state = 'active' as is_active, b.heights, p.activated,
             (select (o.state ->> 'cutovers')::int from account o where o.account_id = t.account) as cutovers
        from unnest(${ids}::text[]) i(id) cross join lateral (
          select o.id, o.batch_id from address o where o.account_id = t.account and o.id = i.id offset 0) a
        join import_batch b on b.account_id = t.account and b.id = a.batch_id
        join migration_project p on p.account_id = t.account and p.id = b.project_id`,
    )}`;
  return rows.map(
    ({ id, isActive, heights, activated, cutovers }) =>
      ({
        addressId: id,
        mode: isActive === true ? 'active' : 'observe',
        cutovers: Number(cutovers ?? 0),
        recorded: heights,
        activated,
      }) as Adoption,
  );
}
