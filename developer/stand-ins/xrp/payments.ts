/**
 * `Payment`: XRP, and tokens from holder to issuer to holder, with everything that can be in the way. Paths through
 * offers are not played: what would need one is dry. Source: xrpl.org "Payment", "Partial Payments", "Deposit
 * Authorization".
 */
import { ACCOUNT, accountKey, hasFlag, preauthKey, type LineAmount } from './entries.ts';
import { unitsOf, valueOf, withoutRate, withRate } from './issued.ts';
import { lineOf, move, type Held } from './lines.ts';
import { balanceOf, credit, ownerCountOf, reserveOf, type Fees } from './reserves.ts';
import type { View } from './view.ts';

const PARTIAL = 0x0002_0000;
const RATE_ONE = 1_000_000_000n;

export interface Payment {
  readonly Account: string;
  readonly Destination: string;
  readonly DestinationTag?: number;
  readonly Amount: string | LineAmount;
  readonly SendMax?: string | LineAmount;
  readonly DeliverMin?: string | LineAmount;
  readonly Flags?: number;
}

export interface Paid {
  readonly result: string;
  /** What arrived, where that is not `Amount`. */
  readonly delivered?: string | LineAmount;
}

const no = (result: string): Paid => ({ result });

/** What is wrong with a payment whatever the ledger holds, or null. */
export function preflightPayment(tx: Payment): string | null {
  const { Account, Destination, Amount, SendMax, Flags = 0 } = tx;
  const isXrp = typeof Amount === 'string';
  if ((isXrp ? BigInt(Amount) : unitsOf(Amount.value)) <= 0n) return 'temBAD_AMOUNT';
  if (Account === Destination && (isXrp || SendMax === undefined)) return 'temREDUNDANT';
  if (!isXrp) return null;
  if (SendMax !== undefined) return typeof SendMax === 'string' ? 'temBAD_SEND_XRP_MAX' : null;
  return (Flags & PARTIAL) !== 0 ? 'temBAD_SEND_XRP_PARTIAL' : null;
}

/** Applies a payment; the fee is paid already, `priorBalance` is what the sender had before it, `fee` what it paid. */
export function applyPayment(view: View, fees: Fees, tx: Payment, paid: { priorBalance: bigint; fee: bigint }): Paid {
  const { Account, Destination, Amount, DestinationTag } = tx;
  const destination = view.account(Destination);
  if (destination === undefined) {
    if (typeof Amount !== 'string') return no('tecNO_DST');
    if (BigInt(Amount) < fees.reserveBase) return no('tecNO_DST_INSUF_XRP');
  } else {
    if (hasFlag(destination, ACCOUNT.requireDest) && DestinationTag === undefined) return no('tecDST_TAG_NEEDED');
    if (!mayDeposit(view, fees, tx)) return no('tecNO_PERMISSION');
  }
  if (typeof Amount !== 'string') return payToken(view, tx, Amount);
  if (tx.SendMax !== undefined) return no('tecPATH_DRY');
  const drops = BigInt(Amount),
    reserve = reserveOf(fees, ownerCountOf(view.account(Account)!));
  // The fee may come out of the reserve, the amount may not.
  if (paid.priorBalance < drops + (reserve > paid.fee ? reserve : paid.fee)) return no('tecUNFUNDED_PAYMENT');
  credit(view, Account, -drops);
  if (destination !== undefined) credit(view, Destination, drops);
  else {
    view.put(accountKey(Destination), {
      LedgerEntryType: 'AccountRoot',
      Account: Destination,
      Balance: Amount,
      Flags: 0,
      OwnerCount: 0,
      Sequence: view.place.height,
    });
  }
  return { result: 'tesSUCCESS' };
}

/** Deposit authorisation, with the door that stays open for a poor account. */
function mayDeposit(view: View, { reserveBase }: Fees, { Account, Destination, Amount }: Payment): boolean {
  const root = view.account(Destination)!;
  if (!hasFlag(root, ACCOUNT.depositAuth) || Account === Destination) return true;
  if (view.get(preauthKey(Destination, Account)) !== undefined) return true;
  return typeof Amount === 'string' && balanceOf(root) <= reserveBase && BigInt(Amount) <= reserveBase;
}

function payToken(view: View, tx: Payment, amount: LineAmount): Paid {
  const { Account, Destination, Flags = 0, DeliverMin } = tx;
  const source = boundOf(tx, amount);
  if (source === null) return no('tecPATH_DRY');
  const { currency, issuer } = amount;
  const from = Account === issuer ? null : lineOf(view, Account, issuer, currency);
  const to = Destination === issuer ? null : lineOf(view, Destination, issuer, currency);
  const rate = from === null || to === null ? RATE_ONE : rateOf(view, issuer);
  const wanted = unitsOf(amount.value);
  const room = deliverable(view, { tx, issuer, from, to });
  if (room === null) return no('tecPATH_DRY');
  const affordable = withoutRate(source < room.held ? source : room.held, rate);
  const delivered = [wanted, affordable, room.limit].reduce((least, one) => (one < least ? one : least));
  if (delivered <= 0n) return no('tecPATH_DRY');
  const isShort = delivered < wanted;
  const least = DeliverMin === undefined || typeof DeliverMin === 'string' ? 1n : unitsOf(DeliverMin.value);
  if (isShort && ((Flags & PARTIAL) === 0 || delivered < least)) return no('tecPATH_PARTIAL');
  if (from !== null) move(view, from, -withRate(delivered, rate));
  if (to !== null) move(view, lineOf(view, Destination, issuer, currency)!, delivered);
  return {
    result: 'tesSUCCESS',
    ...(isShort || (Flags & PARTIAL) !== 0 ? { delivered: { currency, issuer, value: valueOf(delivered) } } : {}),
  };
}

/** The most that may leave the sender: `SendMax`, or the amount itself; null for another asset. */
function boundOf({ SendMax, Account }: Payment, { currency, issuer, value }: LineAmount): bigint | null {
  if (SendMax === undefined) return unitsOf(value);
  if (typeof SendMax === 'string' || SendMax.currency !== currency) return null;
  return SendMax.issuer === issuer || SendMax.issuer === Account ? unitsOf(SendMax.value) : null;
}

interface Route {
  readonly tx: Payment;
  readonly issuer: string;
  readonly from: Held | null;
  readonly to: Held | null;
}

/** What the sender can give and the receiver can take, or null where the way is closed. */
function deliverable(view: View, { tx, issuer, from, to }: Route): { held: bigint; limit: bigint } | null {
  const root = view.account(issuer),
    endless = 10n ** 120n;
  if (root === undefined) return null;
  const sendsItself = tx.Account === issuer,
    redeems = tx.Destination === issuer;
  if ((!sendsItself && from === null) || (!redeems && to === null)) return null;
  const frozen = from !== null && !redeems && (hasFlag(root, ACCOUNT.globalFreeze) || from.flag('freeze', 'peer'));
  if (frozen) return null;
  if (to !== null && hasFlag(root, ACCOUNT.requireAuth) && !to.flag('auth', 'peer') && to.balance === 0n) return null;
  if (from !== null && to !== null && from.flag('noRipple', 'peer') && to.flag('noRipple', 'peer')) return null;
  return { held: from === null ? endless : from.balance, limit: to === null ? endless : to.limit - to.balance };
}

function rateOf(view: View, issuer: string): bigint {
  const rate = BigInt(Number(view.account(issuer)?.['TransferRate'] ?? 0));
  return rate === 0n ? RATE_ONE : rate;
}
