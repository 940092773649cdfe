/** Deposits and withdrawals as one list. */
import { CHAINS, DEPOSIT_STATUSES, WITHDRAWAL_STATUSES } from '../../protocol/slugs.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import type { TransactionFilter, TransactionView } from '../../model/ports/transaction-view.ts';
import type { Lists } from './list-pool.ts';
import { listPage, pairsOf, type Source } from './list.ts';
import type { Columns } from './row-shapes.ts';
import type { Fragment, Sql } from './sql.ts';
import { oneOf } from './tenant.ts';

function viewOf(row: Columns): TransactionView {
  return {
    id: row.id,
    direction: row.direction,
    kind: row['kind'],
    role: row['role'],
    operationId: row['operationId'],
    chain: row.chain,
    status: row.status,
    txid: row.txid,
    outputIndex: row.outputIndex,
    address: row.address,
    counterparty: row.counterparty,
    amount: row.amount,
    decimals: row.decimals,
    tokenContract: row.tokenContract,
    tokenSymbol: row.tokenSymbol,
    userRef: row.userRef,
    tag: row.tag,
    chainTag: row.chainTag,
    height: row.height,
    blockHash: row.blockHash,
    confirmations: row.confirmations,
    threshold: row.threshold,
    incarnation: row.incarnation,
    fee: row.fee,
    failure: row.failure,
    versions: row['versions'] ?? [],
    createdAtMs: row.createdAt,
    updatedAtMs: row.updatedAt,
  } as TransactionView;
}

/** Confirmations by the watcher's own cursor: head − height + 1, zero for what is in no block (G18). */
const confirmations = (sql: Sql, inBlock: Fragment) => sql`
  case when ${inBlock} then greatest(coalesce((select c.height from chain_cursor c where c.ledger = x.ledger), 0) - x.height + 1, 0) else 0 end`;

const depositColumns = (sql: Sql) => sql`
  x.id, 'in' as direction, null as kind, null as role, null as operation_id, x.chain, x.status, x.txid, x.output_index, x.address,
  (select f.transfer -> 'from' ->> 0 from fact f
    where f.ledger = x.ledger and f.txid = x.txid and f.output_index = x.output_index) as counterparty,
  x.amount, x.decimals, x.token_contract, x.token_symbol, x.user_ref, x.tag, x.chain_tag, x.height, x.block_hash,
  ${confirmations(sql, sql`x.status <> 'reversed'`)} as confirmations, x.threshold, x.incarnation,
  null::amount as fee, null::jsonb as failure, null::jsonb as versions, x.created_at, x.updated_at`;

/** The threshold of a withdrawal is its network's, which the gateway knows: 0 here. */
const withdrawalColumns = (sql: Sql) => sql`
  x.id, 'out', x.kind, x.role, x.operation_id, x.chain, x.status, x.txid, null::bigint, x.from_address, x.to_address,
  x.amount, x.decimals, x.token_contract, x.token_symbol, x.user_ref, x.tag, x.unsigned ->> 'tag', x.height, x.block_hash,
  ${confirmations(sql, sql`x.height is not null`)}, 0, null::int, x.fee, x.failure,
  (select jsonb_agg(v.value - 'signedPayload' - 'payload' order by v.n) from jsonb_array_elements(x.versions) with ordinality v(value, n)),
  x.created_at, x.updated_at`;

const isWhole = ({ chain, userRef, tag, status, kind }: TransactionFilter): boolean =>
  [chain, userRef, tag, status, kind].every((one) => one === undefined);

/** Ranges of one of the two tables: by chain and status where there is any filter. */
function sourceOf(sql: Sql, table: Fragment, filter: TransactionFilter, statuses: readonly string[]): Source[] {
  const { chain, userRef, tag, status, kind } = filter;
  if (status !== undefined && !statuses.includes(status)) return [];
  const from = sql`from ${table} x where x.account_id = t.account`;
  if (isWhole(filter)) return [{ pairs: [['', '']], range: () => from }];
  const own = sql`${kind === undefined ? sql`` : sql`and x.kind = ${kind}`} ${userRef === undefined ? sql`` : sql`and x.user_ref = ${userRef}`} ${tag === undefined ? sql`` : sql`and x.tag = ${tag}`}`;
  return [
    {
      pairs: pairsOf(chain ?? CHAINS, status ?? statuses),
      range: (one, state) => sql`${from} ${own} and x.chain = ${one} and x.status = ${state}`,
    },
  ];
}

/** The part of `ReadStore` about transactions; lists over a pool of their own. */
export function transactionReads(sql: Sql, lists: Lists): Pick<ReadStore, 'transactions' | 'transaction'> {
  return {
    async transactions(accountId, filter, page) {
      const { direction, kind } = filter;
      const tables = [
        ...(direction === 'out' || kind !== undefined
          ? []
          : [{ name: 'deposit', sources: sourceOf(lists.sql, lists.sql`deposit`, filter, DEPOSIT_STATUSES) }]),
        ...(direction === 'in'
          ? []
          : [{ name: 'withdrawal', sources: sourceOf(lists.sql, lists.sql`withdrawal`, filter, WITHDRAWAL_STATUSES) }]),
      ];
      return listPage(
        lists,
        accountId,
        {
          list: 'transactions',
          order: 'time',
          sources: tables.flatMap(({ sources }) => sources),
          kept: isWhole(filter) ? tables.map(({ name }) => name) : null,
          shape: viewOf,
          rows: (keys) => lists.sql`
          with k as materialized (${keys})
          select ${depositColumns(lists.sql)}, k.at as key_time, k.id as key_id from k join deposit x on x.account_id = t.account and x.id = k.id
          union all
          select ${withdrawalColumns(lists.sql)}, k.at, k.id from k join withdrawal x on x.account_id = t.account and x.id = k.id`,
        },
        page,
      );
    },
    async transaction(accountId, id) {
      return oneOf(
        sql,
        accountId,
        sql`
        select ${depositColumns(sql)} from deposit x where x.account_id = t.account and x.id = ${id}
        union all select ${withdrawalColumns(sql)} from withdrawal x where x.account_id = t.account and x.id = ${id}`,
        viewOf,
      );
    },
  };
}
