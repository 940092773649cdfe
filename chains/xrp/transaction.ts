/**
 * The transactions that are built here, as values, and their two texts. R17.
 *
 *   payload         {"tx_json":{…},"tx_blob":"HEX"}   canonical JSON and serialisation of one transaction, unsigned
 *   SigningPubKey   empty: the builder knows an account by the hash of its key; the signer adds the key
 *
 * A payload is read from its bytes: fields that are not in the table of its type, flags that are not ours and texts
 * that are not the canonical ones are named instead. Source: xrpl.org "Binary Format"; ripple-binary-codec does the
 * bytes.
 */
import { decode, encode } from 'ripple-binary-codec';
import { exactDecimal } from '../decimal.ts';
import { parseCurrency } from './currency.ts';
import { issuedText } from './issued-amount.ts';
import type { Network } from '../chain.ts';
import { ISSUED_DECIMALS, networkIdOf } from './network.ts';

/** Signatures that nobody can bend into another valid one. Source: xrpl.org, `tfFullyCanonicalSig`. */
const FULLY_CANONICAL = 0x8000_0000;
const PARTIAL_PAYMENT = 0x0002_0000;
/** A line that others' payments must not ripple through. R13, R27. */
const SET_NO_RIPPLE = 0x0002_0000;

interface Common {
  readonly account: string;
  readonly feeDrops: bigint;
  /** A ticket is a sequence that was set aside: no other transaction has the same number. R17, R21. */
  readonly sequence: number;
  readonly byTicket: boolean;
  readonly lastLedgerSequence: number;
  /** Of networks above 1,024; absent on the main one, where the ledger refuses the field. */
  readonly networkId?: number;
}

export interface XrpPayment extends Common {
  readonly type: 'Payment';
  readonly destination: string;
  readonly destinationTag: number | null;
  /** Drops, or units of 10^-15 of a token. */
  readonly amount: bigint;
  /** `CURRENCY:ISSUER`, null for XRP. */
  readonly tokenContract: string | null;
  /** What may be spent of the same token so that `amount` arrives; only where the issuer keeps a share. R28. */
  readonly sendMax: bigint | null;
}

export interface XrpTrustSet extends Common {
  readonly type: 'TrustSet';
  readonly tokenContract: string;
  /** Units of 10^-15. */
  readonly limit: bigint;
}

export type XrpTransaction = XrpPayment | XrpTrustSet;

/** The fields of a transaction as the ledger names them. */
export type TransactionJson = Readonly<Record<string, unknown>>;

const COMMON = [
  'TransactionType',
  'NetworkID',
  'Flags',
  'Account',
  'Fee',
  'Sequence',
  'TicketSequence',
  'LastLedgerSequence',
  'SigningPubKey',
];
/**
 * Every field that a transaction of ours can have; all others are refused, whatever they mean. R18. `NetworkID` is held
 * to the network by `networkFlawOf`.
 */
const FIELDS: Readonly<Record<XrpTransaction['type'], readonly string[]>> = {
  Payment: [...COMMON, 'Destination', 'DestinationTag', 'Amount', 'SendMax'],
  TrustSet: [...COMMON, 'LimitAmount'],
};
const FLAGS: Readonly<Record<XrpTransaction['type'], number>> = {
  Payment: FULLY_CANONICAL,
  TrustSet: FULLY_CANONICAL + SET_NO_RIPPLE,
};

/** What makes a payload none of ours. */
export interface Flaw {
  readonly ok: false;
  readonly reason: string;
  readonly found?: string;
}

export type Decoded = { readonly ok: true; readonly transaction: XrpTransaction } | Flaw;

const no = (reason: string, found?: unknown): Flaw => ({
  ok: false,
  reason,
  ...(found === undefined ? {} : { found: String(found) }),
});

/** The unsigned payload of a transaction. Throws: Error for fields that the ledger has no place for. */
export function encodeUnsigned(transaction: XrpTransaction): string {
  const blob = encode(jsonOf(transaction));
  return JSON.stringify({ tx_json: decode(blob), tx_blob: blob });
}

/** The fields of a transaction, without key and signature. */
export function jsonOf(transaction: XrpTransaction): TransactionJson {
  const { type, account, feeDrops, sequence, byTicket, lastLedgerSequence, networkId } = transaction;
  const common = {
    TransactionType: type,
    ...(networkId === undefined ? {} : { NetworkID: networkId }),
    Flags: FLAGS[type],
    Account: account,
    Fee: feeDrops.toString(),
    SigningPubKey: '',
    ...(byTicket ? { Sequence: 0, TicketSequence: sequence } : { Sequence: sequence }),
    LastLedgerSequence: lastLedgerSequence,
  };
  if (transaction.type === 'TrustSet') {
    return { ...common, LimitAmount: amountJson(transaction.limit, transaction.tokenContract) };
  }
  const { destination, destinationTag, amount, tokenContract, sendMax } = transaction;
  return {
    ...common,
    Destination: destination,
    Amount: amountJson(amount, tokenContract),
    ...(destinationTag === null ? {} : { DestinationTag: destinationTag }),
    ...(sendMax === null ? {} : { SendMax: amountJson(sendMax, tokenContract) }),
  };
}

function amountJson(amount: bigint, tokenContract: string | null): unknown {
  if (tokenContract === null) return amount.toString();
  const [currency, issuer] = tokenContract.split(':');
  return { currency, issuer, value: issuedText(amount) };
}

/** What an unsigned payload says, read from its bytes and held against its text; or why it is not ours. R18. */
export function decodeUnsigned(payload: string): Decoded {
  let blob: unknown;
  try {
    blob = (JSON.parse(payload) as { tx_blob?: unknown } | null)?.tx_blob;
  } catch {
    return no('unreadable');
  }
  if (typeof blob !== 'string') return no('unreadable');
  const fields = fieldsOf(blob);
  if (fields === null) return no('unreadable');
  if (fields['TxnSignature'] !== undefined || fields['Signers'] !== undefined || fields['SigningPubKey'] !== '') {
    return no('signed');
  }
  const read = transactionOf(fields);
  if (!read.ok) return read;
  // The bytes are the whole truth; a text that shows anything else is a lie to its reader.
  return canonicalOf(read.transaction) === payload ? read : no('not_canonical');
}

function canonicalOf(transaction: XrpTransaction): string | null {
  try {
    return encodeUnsigned(transaction);
  } catch {
    return null;
  }
}

/** The fields of a serialised transaction, or null where the bytes are none. */
export function fieldsOf(blob: string): TransactionJson | null {
  try {
    return decode(blob);
  } catch {
    return null;
  }
}

/** The transaction of decoded fields, signed or not. */
export function transactionOf(fields: TransactionJson): Decoded {
  const { TransactionType: type } = fields;
  if (type !== 'Payment' && type !== 'TrustSet') return no('transaction_type', type);
  const foreign = Object.keys(fields).find((name) => name !== 'TxnSignature' && !FIELDS[type].includes(name));
  if (foreign !== undefined) return no('field_not_allowed', foreign);
  const flags = Number(fields['Flags'] ?? 0);
  if (type === 'Payment' && (flags & PARTIAL_PAYMENT) !== 0) return no('partial_payment');
  if (flags !== FLAGS[type]) return no('flags', flags);
  const common = commonOf(fields);
  if (!('account' in common)) return common;
  return type === 'Payment' ? paymentOf(fields, common) : trustSetOf(fields, common);
}

/**
 * Why a transaction is not of this network; null when it is. On the main network the ledger refuses the field, and so
 * does the signer.
 */
export function networkFlawOf(
  network: Network,
  { networkId }: XrpTransaction,
): (Flaw & { readonly expected?: string }) | null {
  const expected = networkIdOf(network),
    found = networkId ?? null;
  if (found === expected) return null;
  return expected === null
    ? no('field_not_allowed', 'NetworkID')
    : { ...no('network_id_mismatch', found), expected: String(expected) };
}

function commonOf(fields: TransactionJson): Common | Flaw {
  const {
    Sequence: plain,
    TicketSequence: ticket,
    LastLedgerSequence: last,
    Fee: fee,
    Account: account,
    NetworkID: networkId,
  } = fields;
  if (last === undefined) return no('no_expiry');
  if (typeof fee !== 'string' || !/^[0-9]+$/.test(fee)) return no('fee', fee);
  const byTicket = ticket !== undefined;
  if (byTicket ? plain !== 0 : plain === 0 || plain === undefined) return no('sequence', plain);
  return {
    account: String(account),
    feeDrops: BigInt(String(fee)),
    sequence: Number(byTicket ? ticket : plain),
    byTicket,
    lastLedgerSequence: Number(last),
    ...(networkId === undefined ? {} : { networkId: Number(networkId) }),
  };
}

function paymentOf(fields: TransactionJson, common: Common): Decoded {
  const amount = amountOf(fields['Amount']);
  if (amount === null) return no('amount');
  const sendMax = fields['SendMax'] === undefined ? null : amountOf(fields['SendMax']);
  const bounded =
    fields['SendMax'] === undefined ||
    (sendMax !== null && sendMax.tokenContract !== null && sendMax.tokenContract === amount.tokenContract);
  if (!bounded) return no('send_max');
  const tag = fields['DestinationTag'];
  return {
    ok: true,
    transaction: {
      type: 'Payment',
      ...common,
      destination: String(fields['Destination']),
      destinationTag: tag === undefined ? null : Number(tag),
      ...amount,
      sendMax: sendMax?.amount ?? null,
    },
  };
}

function trustSetOf(fields: TransactionJson, common: Common): Decoded {
  const limit = amountOf(fields['LimitAmount']);
  if (limit === null || limit.tokenContract === null) return no('limit');
  return {
    ok: true,
    transaction: { type: 'TrustSet', ...common, tokenContract: limit.tokenContract, limit: limit.amount },
  };
}

interface ReadAmount {
  readonly amount: bigint;
  readonly tokenContract: string | null;
}

/** Drops, or an issued amount that is a whole number of 10^-15; null for any other asset or precision. */
function amountOf(value: unknown): ReadAmount | null {
  if (typeof value === 'string') return /^[0-9]+$/.test(value) ? { amount: BigInt(value), tokenContract: null } : null;
  if (typeof value !== 'object' || value === null) return null;
  const { currency, issuer, value: text } = value as Record<string, unknown>;
  const code = typeof currency === 'string' ? parseCurrency(currency) : null;
  const amount = typeof text === 'string' ? exactDecimal(text, ISSUED_DECIMALS) : null;
  if (code === null || typeof issuer !== 'string' || amount === null) return null;
  return { amount, tokenContract: `${code}:${issuer}` };
}
