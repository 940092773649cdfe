/** Deposits and withdrawals as one list. */
import type { ReadStore, TransactionView } from '../ports.ts';
import type { Columns } from './row-shapes.ts';
import type { Fragment, Sql } from './sql.ts';
import { oneOf, pageRows } from './tenant.ts';

function viewOf(row: Columns): TransactionView {
  return {
    id: row.id, direction: row.direction, chain: row.chain, status: row.status, txid: row.txid, outputIndex: row.outputIndex,
    address: row.address, counterparty: row.counterparty, amount: row.amount, decimals: row.decimals,
    tokenContract: row.tokenContract, tokenSymbol: row.tokenSymbol, userRef: row.userRef, tag: row.tag, chainTag: row.chainTag,
    height: row.height, confirmations: row.confirmations, threshold: row.threshold, incarnation: row.incarnation, fee: row.fee,
    failure: row.failure, versions: row['versions'] ?? [], createdAtMs: row.createdAt, updatedAtMs: row.updatedAt,
  } as TransactionView;
}

/** Confirmations by the watcher's own cursor: head − height + 1, zero for what is in no block (G18). */
const confirmations = (sql: Sql, inBlock: Fragment) => sql`
  case when ${inBlock} then greatest(coalesce((select c.height from chain_cursor c where c.ledger = x.ledger), 0) - x.height + 1, 0) else 0 end`;

function deposits(sql: Sql, where: Fragment): Fragment {
  return sql`
    select x.id, 'in' as direction, x.chain, x.status, x.txid, x.output_index, x.address,
           (select f.transfer -> 'from' ->> 0 from fact f
             where f.ledger = x.ledger and f.txid = x.txid and f.output_index = x.output_index) as counterparty,
           x.amount, x.decimals, x.token_contract, x.token_symbol, x.user_ref, x.tag, x.chain_tag, x.height,
           ${confirmations(sql, sql`x.status <> 'reversed'`)} as confirmations, x.threshold, x.incarnation,
           null::amount as fee, null::jsonb as failure, null::jsonb as versions, x.created_at, x.updated_at
      from deposit x where x.account_id = t.account ${where}`;
}

/** The threshold of a withdrawal is its network's, which the gateway knows: 0 here. */
function withdrawals(sql: Sql, where: Fragment): Fragment {
  return sql`
    select x.id, 'out', x.chain, x.status, x.txid, null::bigint, x.from_address, x.to_address, x.amount, x.decimals,
           x.token_contract, x.token_symbol, x.user_ref, x.tag, x.unsigned ->> 'tag', x.height,
           ${confirmations(sql, sql`x.height is not null`)}, 0, null::int, x.fee, x.failure,
           (select jsonb_agg(v.value - 'signedPayload' - 'payload' order by v.n) from jsonb_array_elements(x.versions) with ordinality v(value, n)),
           x.created_at, x.updated_at
      from withdrawal x where x.account_id = t.account ${where}`;
}

/** The part of `ReadStore` about transactions. */
export function transactionReads(sql: Sql): Pick<ReadStore, 'transactions' | 'transaction'> {
  return {
    async transactions(accountId, { chain, userRef, tag, status, direction }, page) {
      const where = sql`
        ${chain === undefined ? sql`` : sql`and x.chain = ${chain}`} ${userRef === undefined ? sql`` : sql`and x.user_ref = ${userRef}`}
        ${tag === undefined ? sql`` : sql`and x.tag = ${tag}`} ${status === undefined ? sql`` : sql`and x.status = ${status}`}`;
      const matching = direction === 'in' ? deposits(sql, where)
        : direction === 'out' ? sql`select * from (${deposits(sql, sql`and false`)}) none union all ${withdrawals(sql, where)}`
          : sql`${deposits(sql, where)} union all ${withdrawals(sql, where)}`;
      return pageRows(sql, accountId, { matching, order: sql`created_at desc, id desc` }, page, viewOf);
    },
    async transaction(accountId, id) {
      const where = sql`and x.id = ${id}`;
      return oneOf(sql, accountId, sql`${deposits(sql, where)} union all ${withdrawals(sql, where)}`, viewOf);
    },
  };
}
