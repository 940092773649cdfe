/** Facts that wait for an account, with the rows that a decision about them needs. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Fact, InboxRow } from '../rows.ts';
import type { InboxStore } from '../ports.ts';
import { addressOf, depositOf, withdrawalOf, type Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { asTenant } from './tenant.ts';

/** The actors' inbox over PostgreSQL. What is read here is changed by the account's actor only, which is the reader. */
export function createInboxStore(sql: Sql): InboxStore {
  return {
    async inboxOf(accountId, limit) {
      const rows = await sql<{ id: number; fact: Fact }[]>`
        select v.* from ${asTenant(sql, accountId, sql`
          select id, fact from inbox where account_id = t.account order by id limit ${limit}`)} order by v.id`;
      const inbox: InboxRow[] = rows.map(({ id, fact }) => ({ id: String(id), accountId, fact }));
      if (inbox.length === 0) return { inbox, deposits: [], withdrawals: [], addresses: [] };
      const [deposits, withdrawals, addresses] = await Promise.all([
        depositsOf(sql, accountId, inbox), withdrawalsOf(sql, accountId, inbox), addressesOf(sql, accountId, inbox),
      ]);
      return { inbox, deposits, withdrawals, addresses };
    },
    async accountsWithInbox(olderThanMs, limit) {
      const rows = await sql<{ account: AccountId }[]>`select account from accounts_with_inbox(${olderThanMs}::timestamptz, ${limit}) account`;
      return rows.map(({ account }) => account);
    },
  };
}

async function depositsOf(sql: Sql, accountId: AccountId, inbox: readonly InboxRow[]) {
  const keys = inbox.flatMap(({ fact }) => ('deposit' in fact ? [fact.deposit] : []));
  if (keys.length === 0) return [];
  const rows = await sql<Columns[]>`
    select v.* from ${asTenant(sql, accountId, sql`
      select d.* from deposit d
        join unnest(${keys.map(({ ledger }) => ledger)}::text[], ${keys.map(({ txid }) => txid)}::text[],
                    ${keys.map(({ outputIndex }) => String(outputIndex))}::text[]::bigint[]) k(ledger, txid, output_index)
          on d.ledger = k.ledger and d.txid = k.txid and d.output_index = k.output_index
       where d.account_id = t.account`)}`;
  return [...new Map(rows.map((row) => [row.id, depositOf(row)])).values()];
}

async function withdrawalsOf(sql: Sql, accountId: AccountId, inbox: readonly InboxRow[]) {
  const ids = [...new Set(inbox.flatMap(({ fact }) => ('withdrawalId' in fact ? [fact.withdrawalId] : [])))];
  if (ids.length === 0) return [];
  const rows = await sql<Columns[]>`
    select v.* from ${asTenant(sql, accountId, sql`select * from withdrawal where account_id = t.account and id = any(${ids}::text[])`)}`;
  return rows.map(withdrawalOf);
}

/** The addresses paid, and the account's own ones (G20). */
async function addressesOf(sql: Sql, accountId: AccountId, inbox: readonly InboxRow[]) {
  const ids = [...new Set(inbox.flatMap(({ fact }) => ('deposit' in fact ? [fact.deposit.addressId] : [])))];
  const rows = await sql<Columns[]>`
    select v.* from ${asTenant(sql, accountId, sql`
      select * from address where account_id = t.account and id = any(${ids}::text[])
      union
      select * from address where account_id = t.account and purpose <> 'deposit'`)}`;
  return rows.map(addressOf);
}
