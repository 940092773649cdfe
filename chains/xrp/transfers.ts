/**
 * Payments of a validated XRP ledger. What arrived is read from the metadata, never from what the transaction asked
 * for. Spec: chains.md 8.3 (R1 to R16), G2, G3, G22, G23.
 */
import {
  ChainUnavailable,
  type Block,
  type Catalogue,
  type Decoded,
  type Network,
  type Outcome,
  type Transfer,
} from '../chain.ts';
import { countIn, hashIn, integerIn, listIn, malformed, objectIn, textIn, type Answer } from '../node-answer.ts';
import { TAG_MAX } from './address.ts';
import { issuedAmountOf, parseCurrency } from './currency.ts';
import { accountChange, issuedChanges, touchedEntries, type TouchedEntry } from './ledger-entries.ts';
import { ISSUED_DECIMALS, XRP_DECIMALS } from './network.ts';

/** The whole `ledger` result of API version 1 or 2 with expanded transactions, parsed without loss. */
export type XrpLedger = Answer;

export interface LedgerEntry {
  /** Upper-case hex. */
  readonly txid: string;
  readonly type: string;
  readonly fields: Answer;
  readonly meta: Answer;
  readonly result: string;
}

/**
 * The transactions of a ledger with their metadata. Throws: MalformedReply, ChainUnavailable when it is not
 * validated.
 */
export function entriesOf(ledgerResult: XrpLedger): readonly LedgerEntry[] {
  if (ledgerResult['validated'] !== true) throw new ChainUnavailable('xrp', 'the ledger is not validated');
  const ledger = objectIn(ledgerResult['ledger'], 'ledger');
  const entries = listIn(ledger['transactions'], 'transactions of a ledger').map(entryOf);
  const distinct = new Set(entries.map(({ txid }) => txid));
  if (distinct.size !== entries.length) malformed('the ledger lists a transaction twice', ledger);
  return entries;
}

/** Version 1 puts the fields beside `metaData`; version 2 puts them in `tx_json` beside `meta`. */
function entryOf(value: unknown): LedgerEntry {
  const outer = objectIn(value, 'expanded transaction');
  const fields = objectIn(outer['tx_json'] ?? outer['tx'] ?? outer['transaction'] ?? outer, 'transaction');
  const meta = outer['metaData'] ?? outer['meta'] ?? outer['metadata'];
  const txid = hashIn(outer['hash'] ?? fields['hash'], 'hash of a transaction').toUpperCase();
  if (meta === undefined || meta === null) throw new ChainUnavailable('xrp', `transaction ${txid} has no metadata`);
  const read = objectIn(meta, 'metadata');
  return {
    txid,
    fields,
    meta: read,
    type: textIn(fields['TransactionType'], 'TransactionType'),
    result: textIn(read['TransactionResult'], 'TransactionResult'),
  };
}

/** Somebody that a transaction may have paid. */
interface Receiver {
  readonly account: string;
  readonly tag: string | null;
  readonly payer: string;
}

interface Arrived {
  readonly amount: bigint;
  /** Null for XRP. */
  readonly asset: { readonly currency: string; readonly issuer: string } | null;
}

type Reason = { readonly reason: string };

/**
 * Payments of a ledger. An account is paid when a transaction names it as destination, or when an escrow or a channel
 * that it touched does; what offers, pools and trades exchange is nobody's deposit (R5).
 * Throws: MalformedReply, ChainUnavailable when the ledger is not validated or a transaction has no metadata.
 */
export function transfersIn(network: Network, block: Block<XrpLedger>, catalogue: Catalogue): Decoded {
  const transfers: Transfer[] = [];
  const ignored: { txid: string; reason: string }[] = [];
  for (const entry of entriesOf(block.raw)) {
    const { txid } = entry;
    assertAgrees(entry);
    if (entry.result !== 'tesSUCCESS') {
      const destination = entry.fields['Destination'],
        change = typeof destination === 'string' ? accountChange(touchedEntries(entry.meta), destination) : null;
      if (change !== null && change.drops > 0n)
        throw new ChainUnavailable(
          'xrp',
          `transaction ${txid} says ${entry.result.slice(0, 40)} and paid its destination`,
        );
      ignored.push({ txid, reason: `${entry.result.slice(0, 40)}: only the fee moved` });
      continue;
    }
    const touched = touchedEntries(entry.meta);
    const receivers = receiversOf(entry, touched);
    if (receivers.length === 0) ignored.push({ txid, reason: `${entry.type}: no payment to an address` });
    let outputIndex = 0;
    for (const receiver of receivers) {
      const arrived = arrivedAt(entry, touched, receiver);
      if ('reason' in arrived) {
        ignored.push({ txid, reason: arrived.reason });
        continue;
      }
      for (const { asset, ...stated } of arrived) {
        const token = asset === null ? null : catalogue.get(`${asset.currency}:${asset.issuer}`);
        const amount =
          asset === null || token === undefined
            ? stated.amount
            : grownBy(entry, touched, receiver, { ...stated, asset });
        if (amount === null) {
          ignored.push({ txid, reason: 'delivered less than its trust line can show: no line moved' });
          continue;
        }
        if (token === undefined) {
          ignored.push({ txid, reason: 'issued currency that is not in the catalogue' });
          continue;
        }
        const created = accountChange(touched, receiver.account)?.created === true;
        transfers.push({
          txid,
          outputIndex,
          to: receiver.account,
          amount,
          tag: receiver.tag,
          from: [receiver.payer],
          decimals: token === null ? XRP_DECIMALS : ISSUED_DECIMALS,
          tokenContract: token?.contract ?? null,
          tokenSymbol: token?.symbol ?? network.nativeSymbol,
          ...(created ? { activates: true } : {}),
        });
        outputIndex += 1;
      }
    }
  }
  return { transfers, ignored };
}

/**
 * Pairs of statements about what a transaction delivered: its result, both spellings of the amount, and what it asked
 * for at most. Throws: ChainUnavailable where one denies another (G8), MalformedReply.
 */
function assertAgrees({ txid, type, fields, meta, result }: LedgerEntry): void {
  const { delivered_amount: stated, DeliveredAmount: recorded } = meta;
  const no = (what: string) => new ChainUnavailable('xrp', `transaction ${txid} ${what}`);
  const delivered = stated === 'unavailable' ? recorded : (stated ?? recorded);
  if (delivered === undefined || delivered === null) return;
  if (result !== 'tesSUCCESS') throw no(`says ${result.slice(0, 40)} and delivered an amount`);
  // Old answers leave the entries out (R4). A list without any denies even that the fee was paid.
  const { AffectedNodes: nodes } = meta;
  if (Array.isArray(nodes) && nodes.length === 0) throw no('delivered an amount and touched nothing');
  if (recorded !== undefined && stated !== undefined && stated !== 'unavailable' && !isSameAmount(stated, recorded))
    throw no('states two delivered amounts');
  const most = fields['DeliverMax'] ?? fields['Amount'];
  if (
    type === 'Payment' &&
    typeof delivered === 'string' &&
    typeof most === 'string' &&
    integerIn(delivered, 'delivered_amount') > integerIn(most, 'Amount')
  ) {
    throw no('delivered more than it asked for');
  }
}

function isSameAmount(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return String(a) === String(b);
  const [one, other] = [a as Answer, b as Answer];
  return (
    one['currency'] === other['currency'] &&
    one['issuer'] === other['issuer'] &&
    issuedAmountOf(one['value']) === issuedAmountOf(other['value'])
  );
}

/** The transaction's own destination, and those of an escrow that it finished or a channel that it claimed from. */
function receiversOf({ type, fields }: LedgerEntry, touched: readonly TouchedEntry[]): readonly Receiver[] {
  if (fields['Destination'] !== undefined) {
    const account = textIn(fields['Destination'], 'Destination');
    return [{ account, tag: tagOf(fields), payer: textIn(fields['Account'], 'Account') }];
  }
  const opened = type === 'EscrowFinish' ? 'Escrow' : type === 'PaymentChannelClaim' ? 'PayChannel' : null;
  return touched
    .filter((entry) => entry.type === opened && entry.fields['Destination'] !== undefined)
    .map((entry) => ({
      account: textIn(entry.fields['Destination'], 'Destination'),
      tag: tagOf(entry.fields),
      payer: textIn(entry.fields['Account'], 'Account'),
    }));
}

/** Tag 0 is a tag; no tag is null. */
function tagOf(fields: Answer): string | null {
  if (fields['DestinationTag'] === undefined) return null;
  const tag = countIn(fields['DestinationTag'], 'DestinationTag');
  return BigInt(tag) <= TAG_MAX ? String(tag) : malformed('DestinationTag above 32 bits', fields['DestinationTag']);
}

/** What reached a receiver, XRP first, then by currency and issuer (G2); or why nothing did. */
function arrivedAt(
  entry: LedgerEntry,
  touched: readonly TouchedEntry[],
  receiver: Receiver,
): readonly Arrived[] | Reason {
  const { type, fields, meta } = entry;
  const isPayment = type === 'Payment';
  if (isPayment && fields['Account'] === receiver.account) {
    return { reason: 'to itself: the owner converts its own asset' };
  }
  const delivered = meta['delivered_amount'] ?? meta['DeliveredAmount'];
  if (typeof delivered === 'object' && delivered !== null) {
    return issuedArrival(objectIn(delivered, 'delivered_amount'), touched, receiver);
  }
  const change = nativeChange(entry, touched, receiver.account);
  if (delivered !== undefined && delivered !== 'unavailable') {
    const amount = integerIn(delivered, 'delivered_amount');
    // The two readings of one fact must agree; an old answer without entries has only the first (R4). An offer of the
    // receiver that the payment consumed on its way moves the balance too.
    const traded = touched.some((one) => one.type === 'Offer' && one.fields['Account'] === receiver.account);
    if (touched.length > 0 && change !== amount && !(traded && change !== null)) {
      throw new ChainUnavailable(
        'xrp',
        `transaction ${entry.txid} delivered ${amount} drops beside a balance change of ${change ?? 'none'}`,
      );
    }
    return amount > 0n ? [{ amount, asset: null }] : { reason: 'delivered amount is not positive' };
  }
  const arrived: Arrived[] = [
    ...(change !== null && change > 0n ? [{ amount: change, asset: null }] : []),
    ...issuedArrivals(touched, receiver),
  ];
  return arrived.length > 0 ? arrived : { reason: `${type}: nothing arrived` };
}

/** Change of an account's XRP with the fee given back to the one that paid it; null when its root was not touched. */
function nativeChange({ fields }: LedgerEntry, touched: readonly TouchedEntry[], account: string): bigint | null {
  const change = accountChange(touched, account);
  if (change === null) return null;
  return fields['Account'] === account ? change.drops + integerIn(fields['Fee'] ?? '0', 'Fee') : change.drops;
}

function issuedArrival(
  delivered: Answer,
  touched: readonly TouchedEntry[],
  receiver: Receiver,
): readonly Arrived[] | Reason {
  if (delivered['currency'] === undefined || delivered['issuer'] === undefined) {
    return { reason: 'asset of a kind that is not in the catalogue' };
  }
  const currency =
    parseCurrency(textIn(delivered['currency'], 'currency')) ?? malformed('currency of an amount', delivered);
  const issuer = textIn(delivered['issuer'], 'issuer');
  const amount = issuedAmountOf(delivered['value']) ?? malformed('value of an amount', delivered);
  if (amount <= 0n) return { reason: 'delivered amount is not positive' };
  if (issuer !== receiver.account) return [{ amount, asset: { currency, issuer } }];
  // An amount "issued by the destination" means any issuer that it trusts: only its lines say which (R10).
  const arrived = issuedArrivals(touched, receiver);
  return arrived.length > 0 ? arrived : { reason: 'redeemed with its issuer' };
}

/**
 * Units that are lost where a line of many digits takes in few: rippled then delivers and moves no line (rippled#4359).
 * Lines keep 16 digits, so up to 10^-6 of a unit are lost beside ten thousand million units.
 */
const LOST_UNITS_MAX = 10n ** BigInt(ISSUED_DECIMALS - 6);

/**
 * What the receiver's line for a listed asset grew by: that is credited, not what the metadata state beside it. Null
 * where it is too little for a line to show. Throws: ChainUnavailable where the two contradict each other (G8), or
 * nothing says what the lines did.
 */
function grownBy(
  { txid }: LedgerEntry,
  touched: readonly TouchedEntry[],
  { account }: Receiver,
  { amount, asset }: { amount: bigint; asset: NonNullable<Arrived['asset']> },
): bigint | null {
  const lines = issuedChanges(touched, account).filter(
    ({ currency, issuer }) => currency === asset.currency && issuer === asset.issuer,
  );
  const grown = lines.reduce((sum, line) => sum + line.amount, 0n);
  if (grown > 0n) return grown;
  if (touched.length > 0 && lines.length === 0 && amount <= LOST_UNITS_MAX) return null;
  throw new ChainUnavailable(
    'xrp',
    `transaction ${txid} delivered an amount of ${asset.currency} and no trust line grew`,
  );
}

function issuedArrivals(touched: readonly TouchedEntry[], { account }: Receiver): readonly Arrived[] {
  return issuedChanges(touched, account)
    .filter(({ amount }) => amount > 0n)
    .sort((a, b) => (a.currency === b.currency ? (a.issuer < b.issuer ? -1 : 1) : a.currency < b.currency ? -1 : 1))
    .map(({ amount, currency, issuer }) => ({ amount, asset: { currency, issuer } }));
}

/** What the wanted transactions did, with the fee in drops. Throws: MalformedReply, ChainUnavailable. */
export function outcomesIn(
  _network: Network,
  block: Block<XrpLedger>,
  wanted: ReadonlySet<string>,
): readonly Outcome[] {
  return entriesOf(block.raw)
    .filter(({ txid }) => wanted.has(txid))
    .map((entry) => ({
      txid: entry.txid,
      success: entry.result === 'tesSUCCESS',
      reason: entry.result === 'tesSUCCESS' ? null : entry.result,
      fee: feePaid(entry),
      ...takenBy(entry),
    }));
}

/**
 * What the sender's own line lost by a payment that names a `SendMax` of the same asset: with the issuer's share, and
 * never above that bound. R28. Throws: MalformedReply.
 */
export function takenBy({ type, fields, meta, result }: Omit<LedgerEntry, 'txid'>): Pick<Outcome, 'taken'> {
  const most = fields['SendMax'],
    account = fields['Account'];
  if (type !== 'Payment' || result !== 'tesSUCCESS' || typeof most !== 'object' || most === null) return {};
  const { currency, issuer, value } = objectIn(most, 'SendMax'),
    code = parseCurrency(textIn(currency, 'currency')),
    bound = issuedAmountOf(value) ?? malformed('value of an amount', most);
  const lost = issuedChanges(touchedEntries(meta), textIn(account, 'Account'))
    .filter((line) => line.currency === code && line.issuer === issuer)
    .reduce((sum, { amount }) => sum - amount, 0n);
  if (lost <= 0n) return {};
  return { taken: lost < bound ? lost : bound };
}

/**
 * The fee that a transaction burnt, drops: all of it, save for a sender that had less than it had promised. Throws:
 * MalformedReply.
 */
export function feePaid({ fields, meta, result }: Pick<LedgerEntry, 'fields' | 'meta' | 'result'>): bigint {
  const stated = integerIn(fields['Fee'], 'Fee');
  if (result !== 'tecINSUFF_FEE') return stated;
  const change =
    accountChange(touchedEntries(meta), String(fields['Account'])) ?? malformed('a fee without its payer', fields);
  return -change.drops;
}
