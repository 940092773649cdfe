/** Rows of an append: withdrawals, and what is billed for them. */
import type { OutgoingWrite } from '../../../model/account/outgoing.ts';
import { decimal, encoded, instant, withDecimals, type AppendOf, type Row, type Writes } from './rows.ts';

export const withdrawal: AppendOf<OutgoingWrite> = {
  withdrawal: ({ row }) => [encoded('withdrawals', withdrawalRow(row), row.id)],
  withdrawal_status: ({ id, status, updatedAtMs }) => [
    encoded('withdrawal_statuses', { id, status, updated_at: instant(updatedAtMs) }, id),
  ],
  billable: ({ withdrawalId, kind, period }) => [encoded('billables', { withdrawal_id: withdrawalId, kind, period })],
  billable_change: ({ withdrawalId, period, change }) => [
    encoded('billable_changes', { withdrawal_id: withdrawalId, period, change }),
  ],
};

function withdrawalRow(row: Writes['withdrawal']['row']): Row {
  return {
    id: row.id,
    ...(row.kind === undefined ? {} : { kind: row.kind }),
    ...(row.role === undefined ? {} : { role: row.role, operation_id: row.operationId }),
    ledger: row.ledger,
    chain: row.chain,
    from_address: row.from,
    to_address: row.to,
    amount: decimal(row.amount),
    decimals: row.decimals,
    token_contract: row.tokenContract,
    token_symbol: row.tokenSymbol,
    user_ref: row.userRef,
    tag: row.tag,
    status: row.status,
    unsigned: JSON.parse(JSON.stringify(row.unsigned, withDecimals)),
    versions: row.versions,
    txid: row.txid,
    height: row.height,
    block_hash: row.blockHash,
    fee: decimal(row.fee),
    failure: row.failure,
    created_at: instant(row.createdAtMs),
    updated_at: instant(row.updatedAtMs),
  };
}
