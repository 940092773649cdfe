/**
 * A ledger account in one form for both sources: Horizon's record or an RPC server's entries. JSON-safe, so that a
 * build's inputs can be kept; amounts are decimal texts of stroops. Spec: chains.md 9.2, M23, M24, M26.
 */
import type { AccountEntry, TrustLineEntry } from '@stellar/stellar-sdk/xdr';
import { countIn, integerIn, listIn, malformed, objectIn, textIn, type Answer } from '../node-answer.ts';
import { assetIn, stroopsIn } from './records.ts';

export interface TrustLine {
  readonly balance: string;
  readonly limit: string;
  readonly buyingLiabilities: string;
  readonly sellingLiabilities: string;
  /** The issuer lets it send and receive. */
  readonly authorized: boolean;
}

export interface LedgerAccount {
  readonly balance: string;
  readonly sellingLiabilities: string;
  /** Last one that was used. */
  readonly sequence: string;
  readonly subentries: number;
  readonly sponsoring: number;
  readonly sponsored: number;
  /** As an issuer: its lines are of no use until it authorises them. M26. */
  readonly authRequired: boolean;
  /** SEP-29: it wants a memo. M24. */
  readonly memoRequired: boolean;
  /** By `CODE:ISSUER`; of an RPC server those that were asked for. */
  readonly lines: Readonly<Record<string, TrustLine>>;
}

/** SEP-29: the data entry, and the value that asks for a memo (`1`). */
export const MEMO_REQUIRED_NAME = 'config.memo_required';
const MEMO_REQUIRED_VALUE = '1';

export function asksForMemo(value: Uint8Array | null): boolean {
  return value !== null && Buffer.from(value).toString('latin1') === MEMO_REQUIRED_VALUE;
}

/** An account from Horizon's record. Throws: MalformedReply. */
export function accountOfRecord(record: Answer): LedgerAccount {
  const holdings = listIn(record['balances'], 'balances')
    .map((entry) => objectIn(entry, 'balance'))
    .filter((entry) => entry['asset_type'] !== 'liquidity_pool_shares');
  const native =
    holdings.find((entry) => assetIn(entry) === null) ?? malformed('account without a native balance', record);
  const flags = objectIn(record['flags'] ?? {}, 'flags'),
    data = objectIn(record['data'] ?? {}, 'data');
  const memo = data[MEMO_REQUIRED_NAME];
  return {
    balance: amount(native, 'balance'),
    sellingLiabilities: amount(native, 'selling_liabilities'),
    sequence: integerIn(record['sequence'], 'sequence').toString(),
    subentries: countIn(record['subentry_count'], 'subentry_count'),
    sponsoring: countIn(record['num_sponsoring'] ?? 0, 'num_sponsoring'),
    sponsored: countIn(record['num_sponsored'] ?? 0, 'num_sponsored'),
    authRequired: flags['auth_required'] === true,
    memoRequired: memo !== undefined && asksForMemo(Buffer.from(textIn(memo, MEMO_REQUIRED_NAME), 'base64')),
    lines: Object.fromEntries(
      holdings.flatMap((entry) => {
        const asset = assetIn(entry);
        return asset === null ? [] : [[asset, lineOfRecord(entry)]];
      }),
    ),
  };
}

const amount = (entry: Answer, field: string): string => stroopsIn(entry[field] ?? '0', field).toString();

function lineOfRecord(entry: Answer): TrustLine {
  return {
    balance: amount(entry, 'balance'),
    limit: amount(entry, 'limit'),
    buyingLiabilities: amount(entry, 'buying_liabilities'),
    sellingLiabilities: amount(entry, 'selling_liabilities'),
    authorized: entry['is_authorized'] === true,
  };
}

/** Source: Stellar-ledger-entries.x, AUTH_REQUIRED_FLAG, AUTHORIZED_FLAG. */
const AUTH_REQUIRED = 1;
const AUTHORIZED = 1;

/** An account from its ledger entries. */
export function accountOfEntries(
  entry: AccountEntry,
  memo: Uint8Array | null,
  lines: Readonly<Record<string, TrustLine>>,
): LedgerAccount {
  const v1 = entry.ext.type === 'v1' ? entry.ext.v1 : null,
    v2 = v1?.ext.type === 'v2' ? v1.ext.v2 : null;
  return {
    balance: entry.balance.toString(),
    sellingLiabilities: (v1?.liabilities.selling ?? 0n).toString(),
    sequence: entry.seqNum.toString(),
    subentries: entry.numSubEntries,
    sponsoring: v2?.numSponsoring ?? 0,
    sponsored: v2?.numSponsored ?? 0,
    authRequired: (entry.flags & AUTH_REQUIRED) !== 0,
    memoRequired: asksForMemo(memo),
    lines,
  };
}

/** A trust line from its ledger entry. */
export function lineOfEntry({ balance, limit, flags, ext }: TrustLineEntry): TrustLine {
  const { buying, selling } = ext.type === 'v1' ? ext.v1.liabilities : { buying: 0n, selling: 0n };
  return {
    balance: balance.toString(),
    limit: limit.toString(),
    buyingLiabilities: buying.toString(),
    sellingLiabilities: selling.toString(),
    authorized: (flags & AUTHORIZED) !== 0,
  };
}
