/**
 * One transaction against a state: the checks of a server in its order, the fee and the sequence, then what it does.
 *
 *   tem  malformed           tef  cannot be applied           tel  not by this server           ter  not yet
 *   tec  takes the fee and the sequence and does nothing else            tes  applied
 *
 * Source: xrpl.org "Transaction Results"; XRPLF/rippled `Transactor.cpp` (preflight, preclaim, apply).
 */
import { decode, encode } from 'ripple-binary-codec';
import { hashes, verifySignature } from 'xrpl';
import { accountDelete, accountSet, depositPreauth, ticketCreate } from './accounts.ts';
import { ACCOUNT, accountKey, hasFlag, ticketKey, type Entry, type State } from './entries.ts';
import { trustSet, type TrustSet } from './lines.ts';
import { applyPayment, preflightPayment, type Payment } from './payments.ts';
import { balanceOf, own, type Fees } from './reserves.ts';
import { View, type Place } from './view.ts';
import { addressOfKey } from './signers.ts';

export type Json = Readonly<Record<string, unknown>>;

/** A transaction as somebody submitted it. */
export interface Submitted {
  readonly json: Json;
  /** Upper-case hex. */
  readonly blob: string;
  readonly txid: string;
}

export interface Rules {
  readonly fees: Fees;
  readonly networkId: number;
}

export interface Outcome {
  readonly result: string;
  /** Null where the transaction has no place in a ledger. */
  readonly applied: { readonly state: Map<string, Entry>; readonly meta: Json; readonly feePaid: bigint } | null;
}

/**
 * A signed blob. Throws: Error with the server's words for bytes that are no transaction or have no right signature.
 */
export function readBlob(blob: string): Submitted {
  const json = decode(blob) as Json,
    canonical = encode(json);
  if (canonical !== blob.toUpperCase()) throw new Error('Field not in canonical order');
  if (typeof json['TxnSignature'] !== 'string' || json['SigningPubKey'] === '') {
    throw new Error('fails local checks: Empty SigningPubKey.');
  }
  if (!isSigned(canonical)) throw new Error('fails local checks: Invalid signature.');
  return { json, blob: canonical, txid: hashes.hashSignedTx(canonical) };
}

function isSigned(blob: string): boolean {
  try {
    return verifySignature(blob);
  } catch {
    return false;
  }
}

export const feeOf = (json: Json): bigint => BigInt(String(json['Fee']));
export const accountOf = (json: Json): string => String(json['Account']);
/** The number that the transaction uses up, and whether it is a ticket. */
export function slotOf(json: Json): { readonly number: number; readonly isTicket: boolean } {
  const ticket = json['TicketSequence'];
  return ticket === undefined
    ? { number: Number(json['Sequence']), isTicket: false }
    : { number: Number(ticket), isTicket: true };
}

const KNOWN = new Set(['Payment', 'TrustSet', 'AccountSet', 'AccountDelete', 'TicketCreate', 'DepositPreauth']);
/** Source: xrpl.org "NetworkID": networks up to here do without. */
const PLAIN_NETWORK_MAX = 1_024;
const DROPS_MAX = 10n ** 17n;

/** What is wrong with a transaction on any ledger of this network, or null. */
export function preflight(json: Json, { networkId }: Rules): string | null {
  const stated = json['NetworkID'];
  if (networkId <= PLAIN_NETWORK_MAX && stated !== undefined) return 'telNETWORK_ID_MAKES_TX_NON_CANONICAL';
  if (networkId > PLAIN_NETWORK_MAX && stated === undefined) return 'telREQUIRES_NETWORK_ID';
  if (stated !== undefined && Number(stated) !== networkId) return 'telWRONG_NETWORK';
  if (feeOf(json) < 0n || feeOf(json) > DROPS_MAX) return 'temBAD_FEE';
  if (json['TicketSequence'] !== undefined && json['Sequence'] !== 0) return 'temSEQ_AND_TICKET';
  if (!KNOWN.has(String(json['TransactionType']))) return 'temUNKNOWN';
  return json['TransactionType'] === 'Payment' ? preflightPayment(json as unknown as Payment) : null;
}

/** The lowest fee of a transaction, drops: deleting an account costs an owner reserve. */
export function baseFeeOf(json: Json, { baseFee, reserveIncrement }: Fees): bigint {
  return json['TransactionType'] === 'AccountDelete' ? reserveIncrement : baseFee;
}

/** Why the ledger does not take the transaction now, or null. */
function preclaim(
  view: View,
  { json, txid }: Submitted,
  rules: Rules,
  isKnown: (txid: string) => boolean,
): string | null {
  const root = view.account(accountOf(json));
  if (root === undefined) return 'terNO_ACCOUNT';
  const { number, isTicket } = slotOf(json),
    next = Number(root['Sequence']);
  if (isTicket) {
    if (view.get(ticketKey(accountOf(json), number)) === undefined) {
      return isKnown(txid) ? 'tefALREADY' : number >= next ? 'terPRE_TICKET' : 'tefNO_TICKET';
    }
  } else if (number < next) return isKnown(txid) ? 'tefALREADY' : 'tefPAST_SEQ';
  else if (number > next) return 'terPRE_SEQ';
  const last = json['LastLedgerSequence'];
  if (last !== undefined && Number(last) < view.place.height) return 'tefMAX_LEDGER';
  const balance = balanceOf(root),
    fee = feeOf(json);
  if (view.place.isOpen && fee < baseFeeOf(json, rules.fees)) return 'telINSUF_FEE_P';
  if (balance < fee) return balance > 0n && !view.place.isOpen ? 'tecINSUFF_FEE' : 'terINSUF_FEE_B';
  return checkKey(root, json);
}

/** The key must be the account's own, unless it gave that away. */
function checkKey(root: Entry, json: Json): string | null {
  const signer = addressOfKey(String(json['SigningPubKey']));
  if (signer === root['RegularKey']) return null;
  if (signer !== root['Account']) return 'tefBAD_AUTH';
  return hasFlag(root, ACCOUNT.disableMaster) ? 'tefMASTER_DISABLED' : null;
}

export interface Ledger {
  readonly state: State;
  readonly place: Place;
  readonly rules: Rules;
  isKnown(txid: string): boolean;
}

/** Applies a transaction. With `failHard` a result that only takes the fee does nothing at all. */
export function applyTransaction(ledger: Ledger, tx: Submitted, failHard = false): Outcome {
  const flaw = preflight(tx.json, ledger.rules);
  if (flaw !== null) return { result: flaw, applied: null };
  const view = new View(ledger.state, ledger.place);
  const refused = preclaim(view, tx, ledger.rules, ledger.isKnown);
  if (refused !== null && !refused.startsWith('tec')) return { result: refused, applied: null };
  const account = accountOf(tx.json),
    priorBalance = balanceOf(view.account(account)!);
  const feePaid = refused === 'tecINSUFF_FEE' ? priorBalance : feeOf(tx.json);
  charge(view, tx.json, feePaid);
  const done = refused === null ? perform(view, tx.json, ledger.rules.fees, priorBalance) : { result: refused };
  if (done.result === 'tesSUCCESS') return outcomeOf(view, tx, done, feePaid);
  if (!done.result.startsWith('tec') || failHard) return { result: done.result, applied: null };
  const onlyFee = new View(ledger.state, ledger.place);
  charge(onlyFee, tx.json, feePaid);
  return outcomeOf(onlyFee, tx, { result: done.result }, feePaid);
}

interface Done {
  readonly result: string;
  readonly delivered?: unknown;
}

function outcomeOf(view: View, { txid }: Submitted, { result, delivered }: Done, feePaid: bigint): Outcome {
  const meta = {
    AffectedNodes: view.affected(),
    TransactionResult: result,
    ...(delivered === undefined ? {} : { DeliveredAmount: delivered }),
  };
  return { result, applied: { state: view.committed(txid), meta, feePaid } };
}

/** Takes the fee, and the sequence or the ticket. */
function charge(view: View, json: Json, fee: bigint): void {
  const account = accountOf(json),
    key = accountKey(account),
    root = view.get(key)!;
  const { number, isTicket } = slotOf(json);
  view.change(key, {
    Balance: (balanceOf(root) - fee).toString(),
    ...(isTicket ? {} : { Sequence: Number(root['Sequence']) + 1 }),
  });
  if (!isTicket) return;
  view.remove(ticketKey(account, number));
  const left = Number(root['TicketCount']) - 1;
  view.change(key, { TicketCount: left === 0 ? undefined : left });
  own(view, account, -1);
}

function perform(view: View, json: Json, fees: Fees, priorBalance: bigint): Done {
  const tx = json as never;
  switch (json['TransactionType']) {
    case 'Payment':
      return applyPayment(view, fees, tx, { priorBalance, fee: feeOf(json) });
    case 'AccountDelete':
      return accountDelete(view, tx);
    case 'TrustSet':
      return { result: trustSet(view, fees, tx as TrustSet, priorBalance) };
    case 'TicketCreate':
      return { result: ticketCreate(view, fees, tx, priorBalance) };
    case 'DepositPreauth':
      return { result: depositPreauth(view, fees, tx, priorBalance) };
    default:
      return { result: accountSet(view, tx) };
  }
}
