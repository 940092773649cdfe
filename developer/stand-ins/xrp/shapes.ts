/**
 * How API versions 1 and 2 show a transaction and a ledger. Version 2 keeps the fields (`tx_json`), the hash and the
 * metadata apart and calls the amount of a payment `DeliverMax`. Source: xrpl.org "API Versioning".
 */
import type { ClosedLedger, LedgerTransaction } from './ledger-network.ts';
import type { Json } from './transactions.ts';

export type Version = 1 | 2;

const RIPPLE_EPOCH_SECONDS = 946_684_800;
const isoOf = (time: number): string =>
  new Date((time + RIPPLE_EPOCH_SECONDS) * 1_000).toISOString().replace('.000Z', 'Z');

/** Fields of a transaction; version 1 has both names of the amount. */
export function fieldsOf(json: Json, version: Version): Json {
  if (json['TransactionType'] !== 'Payment') return json;
  const { Amount, ...rest } = json;
  return version === 1 ? { ...json, DeliverMax: Amount } : { ...rest, DeliverMax: Amount };
}

/** Metadata with `delivered_amount`, which servers add. */
export function metaOf({ json, meta }: LedgerTransaction): Json {
  if (meta['TransactionResult'] !== 'tesSUCCESS') return meta;
  if (json['TransactionType'] !== 'Payment' && json['TransactionType'] !== 'AccountDelete') return meta;
  return { ...meta, delivered_amount: meta['DeliveredAmount'] ?? json['Amount'] };
}

/** A transaction of the `transactions` of an expanded ledger. */
function expanded(tx: LedgerTransaction, ledger: ClosedLedger, version: Version): Json {
  if (version === 1) return { ...fieldsOf(tx.json, 1), hash: tx.txid, metaData: metaOf(tx) };
  return {
    close_time_iso: isoOf(ledger.header.close_time),
    hash: tx.txid,
    ledger_hash: ledger.hash,
    ledger_index: ledger.height,
    meta: metaOf(tx),
    tx_json: fieldsOf(tx.json, 2),
    validated: true,
  };
}

export interface LedgerOptions {
  readonly transactions: boolean;
  readonly expand: boolean;
  readonly version: Version;
  readonly validated: boolean;
}

/** The result of `ledger`. */
export function ledgerResult(ledger: ClosedLedger, { transactions, expand, version, validated }: LedgerOptions): Json {
  const { header, hash, height } = ledger;
  const shown = (tx: LedgerTransaction) => (expand ? expanded(tx, ledger, version) : tx.txid);
  return {
    ledger: {
      ...header,
      ledger_index: version === 1 ? String(height) : height,
      closed: true,
      ledger_hash: hash,
      close_time_human: new Date((header.close_time + RIPPLE_EPOCH_SECONDS) * 1_000).toUTCString(),
      close_time_iso: isoOf(header.close_time),
      ...(transactions ? { transactions: ledger.transactions.map(shown) } : {}),
    },
    ledger_hash: hash,
    ledger_index: height,
    validated,
  };
}

/** The result of `tx` for a transaction of a closed ledger. */
export function transactionResult(tx: LedgerTransaction, ledger: ClosedLedger, version: Version): Json {
  const date = ledger.header.close_time;
  if (version === 1) {
    return {
      ...fieldsOf(tx.json, 1),
      hash: tx.txid,
      date,
      inLedger: tx.height,
      ledger_index: tx.height,
      meta: metaOf(tx),
      validated: true,
    };
  }
  return {
    tx_json: { ...fieldsOf(tx.json, 2), date, ledger_index: tx.height },
    hash: tx.txid,
    meta: metaOf(tx),
    validated: true,
    ledger_index: tx.height,
    ledger_hash: ledger.hash,
    close_time_iso: isoOf(date),
  };
}

/** An entry of `account_tx`. */
export function historyEntry(tx: LedgerTransaction, ledger: ClosedLedger, version: Version): Json {
  const date = ledger.header.close_time;
  if (version === 1) {
    return {
      tx: { ...fieldsOf(tx.json, 1), date, hash: tx.txid, inLedger: tx.height, ledger_index: tx.height },
      meta: metaOf(tx),
      validated: true,
    };
  }
  return {
    tx_json: { ...fieldsOf(tx.json, 2), date, ledger_index: tx.height },
    hash: tx.txid,
    meta: metaOf(tx),
    validated: true,
    ledger_index: tx.height,
    ledger_hash: ledger.hash,
    close_time_iso: isoOf(date),
  };
}
