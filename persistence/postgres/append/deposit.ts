/** Rows of an append: deposits, their ledger entries, and the facts that the decisions took from the inbox. */
import type { FactWrite } from '../../../model/account/deposit.ts';
import { decimal, encoded, instant, type AppendOf, type Row, type Writes } from './rows.ts';

export const deposit: AppendOf<FactWrite> = {
  deposit: ({ row }) => [encoded('deposits', depositRow(row), row.id)],
  ledger_entry: ({ row: { depositId, incarnation, kind, amount, eventId } }) => [
    encoded('ledger_entries', {
      deposit_id: depositId,
      incarnation,
      kind,
      amount: decimal(amount),
      event_id: eventId,
    }),
  ],
  inbox_taken: ({ ids }) => ids.map((id) => encoded('inbox_taken', { id }, id)),
};

function depositRow(row: Writes['deposit']['row']): Row {
  return {
    id: row.id,
    ledger: row.ledger,
    chain: row.chain,
    txid: row.txid,
    output_index: row.outputIndex,
    address_id: row.addressId,
    address: row.address,
    amount: decimal(row.amount),
    decimals: row.decimals,
    token_contract: row.tokenContract,
    token_symbol: row.tokenSymbol,
    user_ref: row.userRef,
    tag: row.tag,
    chain_tag: row.chainTag,
    status: row.status,
    incarnation: row.incarnation,
    announced: row.announced,
    silence: row.silence,
    height: row.height,
    block_hash: row.blockHash,
    threshold: row.threshold,
    created_at: instant(row.createdAtMs),
    updated_at: instant(row.updatedAtMs),
  };
}
