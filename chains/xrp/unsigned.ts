/**
 * Unsigned transactions and their repricing. Pure: everything that had to be asked is in the inputs.
 *
 * Order of refusals: what the intent says, the asset, the fee and the reserve, the destination, the caps.
 * Spendable native amount: balance − (base + increment × owner count) − fee. A fee alone may dig into the reserve, an
 * amount may not (R24).
 */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { Intent, Network, ReplayKey, Unsigned } from '../chain.ts';
import { parseAddress, TAG_MAX } from './address.ts';
import { checkFeeRatio, displacingFee, feeOf } from './fee.ts';
import type { SenderState, XrpInputs } from './inputs.ts';
import { networkIdOf } from './network.ts';
import { issuedText, RATE_ONE, roundedDown, withoutTransferFee, withTransferFee } from './issued-amount.ts';
import { checkPayableInToken, checkPayableInXrp } from './payable.ts';
import { decodeUnsigned, encodeUnsigned, type XrpPayment, type XrpTransaction } from './transaction.ts';
import { checkTrustline, TRUST_LIMIT } from './trustline.ts';

/** Ledgers after the newest validated one within which a payment must land: about 80 s. R19. */
export const LAST_LEDGER_AHEAD = 20;
/** What an edge still takes for short. R19. */
export const LAST_LEDGER_AHEAD_MAX = 75;

/** The next sequence that the ledger itself would take; null while the account does not exist. R21, R23. */
export function nextReplayValue(inputs: XrpInputs): number | null {
  return inputs.sender?.sequence ?? null;
}

/** A transaction before it is known what it pays. */
type Frame = Pick<XrpPayment, 'account' | 'feeDrops' | 'sequence' | 'byTicket' | 'lastLedgerSequence' | 'networkId'>;

function ofNetwork(network: Network): Pick<XrpPayment, 'networkId'> {
  const networkId = networkIdOf(network);
  return networkId === null ? {} : { networkId };
}

/**
 * A payment or a trust line as an unsigned payload. Refuses: INVALID_INPUT, INVALID_ADDRESS, INVALID_AMOUNT, CONFLICT,
 * INSUFFICIENT_FUNDS, INSUFFICIENT_GAS, INSUFFICIENT_RESERVE, DESTINATION_OPT_IN_REQUIRED, CHAIN_REJECTED,
 * AMOUNT_CAP_EXCEEDED.
 */
export function buildUnsigned(
  network: Network,
  inputs: XrpInputs,
  intent: Intent,
  replay: ReplayKey | null,
): Unsigned | Refusal {
  const to = parseAddress(network, intent.to);
  if (!to.ok) return to;
  const tag = tagOf(intent, to.tag);
  if (isRefusal(tag)) return tag;
  const feeDrops = feeOf(network, inputs);
  if (typeof feeDrops !== 'bigint') return feeDrops;
  const isTrustline = intent.kind === 'trustline';
  if (isTrustline) {
    const no = checkTrustline(inputs, intent, feeDrops);
    if (no !== null) return no;
  } else if (to.canonical === intent.from) {
    return refuse('INVALID_INPUT', { reason: 'a payment to oneself', field: 'to' });
  }
  const { sender } = inputs;
  if (sender === null) return refuse('INSUFFICIENT_FUNDS', { balance: '0', required: intent.amount.toString() });
  const slot = slotOf(sender, replay);
  if (isRefusal(slot)) return slot;
  const frame: Frame = {
    account: intent.from,
    feeDrops,
    ...slot,
    lastLedgerSequence: inputs.readAtHeight + LAST_LEDGER_AHEAD,
    ...ofNetwork(network),
  };
  const around = { inputs, intent: { ...intent, to: to.canonical } };
  if (isTrustline) return trustlineOf(frame, around);
  const paid =
    intent.token === null ? payInXrp(sender, around, feeDrops, tag) : payInToken(sender, around, feeDrops, tag);
  if (isRefusal(paid)) return paid;
  const refusal = intent.token === null ? checkFeeRatio(feeDrops, paid.amount, intent.maxFeeRatioBps) : null;
  if (refusal !== null) return refusal;
  return unsignedOf(
    {
      type: 'Payment',
      ...frame,
      ...paid,
      destination: to.canonical,
      destinationTag: tag,
      tokenContract: intent.token?.contract ?? null,
    },
    around,
  );
}

/** Strict 32 bits: anything else would pay another customer of the same address (C8-62). Tag 0 is a tag. */
function tagOf({ tag }: Intent, ofAddress: string | null): number | null | Refusal {
  if (tag !== null && ofAddress !== null && tag !== ofAddress) {
    return refuse('INVALID_INPUT', { reason: 'the address carries another tag', field: 'chainTag' });
  }
  const text = tag ?? ofAddress;
  if (text === null) return null;
  if (!/^(?:0|[1-9][0-9]{0,9})$/.test(text) || BigInt(text) > TAG_MAX) {
    return refuse('INVALID_INPUT', { reason: 'a destination tag is a number of 32 bits', field: 'chainTag' });
  }
  return Number(text);
}

/** The sequence of a transaction, or the ticket that stands for one. Refuses: INVALID_INPUT, CONFLICT. R17, R21. */
function slotOf(
  { sequence, tickets }: SenderState,
  replay: ReplayKey | null,
): { sequence: number; byTicket: boolean } | Refusal {
  if (replay === null) return { sequence, byTicket: false };
  if (replay.kind !== 'sequence') return refuse('INVALID_INPUT', { reason: 'expected a sequence', kind: replay.kind });
  const wanted = Number(replay.value);
  if (wanted >= sequence) return { sequence: wanted, byTicket: false };
  return tickets.includes(wanted) ? { sequence: wanted, byTicket: true } : used(wanted);
}

const used = (sequence: number): Refusal => refuse('CONFLICT', { reason: 'the sequence is used', sequence });

/** What an intent asks for beside the transaction's own fields. */
interface Around {
  readonly inputs: XrpInputs;
  readonly intent: Intent;
}
type Paid = Pick<XrpPayment, 'amount' | 'sendMax'>;

/** The reserve that an account locks now, drops. R24. */
function reserveOf({ reserveBaseDrops, reserveIncrementDrops }: XrpInputs, { ownerCount }: SenderState): bigint {
  return BigInt(reserveBaseDrops) + BigInt(reserveIncrementDrops) * BigInt(ownerCount);
}

function payInXrp(
  sender: SenderState,
  { inputs, intent }: Around,
  feeDrops: bigint,
  tag: number | null,
): Paid | Refusal {
  const { leave = 0n } = intent;
  const spendable = BigInt(sender.balanceDrops) - reserveOf(inputs, sender) - feeDrops;
  const amount = intent.amount === 'all' ? spendable - leave : intent.amount;
  if (intent.amount !== 'all' && amount <= 0n) return refuse('INVALID_AMOUNT', { amount: amount.toString() });
  // R25: a sweep of everything leaves the reserve; where that is all there is, nothing can be sent.
  const refusal =
    checkXrpFunds(inputs, sender, amount > 0n ? amount : leave + 1n, feeDrops) ??
    checkPayableInXrp(inputs, amount, tag);
  return refusal ?? { amount, sendMax: null };
}

/** The row of `tecUNFUNDED_PAYMENT` in 8.2: the reserve is what lacks where the balance would cover amount and fee. */
export function checkXrpFunds(
  inputs: XrpInputs,
  sender: SenderState,
  amount: bigint,
  feeDrops: bigint,
): Refusal | null {
  const balance = BigInt(sender.balanceDrops),
    reserve = reserveOf(inputs, sender),
    required = amount + feeDrops;
  const details = { balance: balance.toString(), required: required.toString() };
  if (balance < required) return refuse('INSUFFICIENT_FUNDS', details);
  if (balance - reserve >= required) return null;
  return refuse('INSUFFICIENT_RESERVE', { ...details, reserved: reserve.toString() });
}

function payInToken(
  sender: SenderState,
  { inputs, intent }: Around,
  feeDrops: bigint,
  tag: number | null,
): Paid | Refusal {
  const rate = BigInt(inputs.token?.issuer?.transferRate ?? RATE_ONE),
    line = inputs.token?.senderLine ?? null;
  const balance = line === null || BigInt(line.balance) < 0n ? 0n : BigInt(line.balance);
  const amount = intent.amount === 'all' ? withoutTransferFee(balance, rate) : roundedDown(intent.amount);
  if (intent.amount !== 'all' && amount <= 0n) return refuse('INVALID_AMOUNT', { amount: amount.toString() });
  const needed = rate === RATE_ONE ? amount : withTransferFee(amount, rate);
  if (amount <= 0n || balance < needed) {
    return refuse('INSUFFICIENT_FUNDS', {
      balance: balance.toString(),
      required: (needed > 0n ? needed : 1n).toString(),
    });
  }
  const refusal = checkFeeFunds(sender, feeDrops) ?? checkPayableInToken(inputs, intent, amount, tag);
  return refusal ?? { amount, sendMax: rate === RATE_ONE ? null : needed };
}

/** What arrives where so much of a token leaves: the issuer may keep a share. R28. */
export function arrives({ token }: XrpInputs, amount: bigint): bigint {
  return withoutTransferFee(amount, BigInt(token?.issuer?.transferRate ?? RATE_ONE));
}

/** R24, R26: a fee may be paid out of the reserve. Refuses: INSUFFICIENT_GAS. */
function checkFeeFunds({ balanceDrops }: SenderState, feeDrops: bigint): Refusal | null {
  if (BigInt(balanceDrops) >= feeDrops) return null;
  return refuse('INSUFFICIENT_GAS', { balance: balanceDrops, required: feeDrops.toString() });
}

function trustlineOf(frame: Frame, around: Around): Unsigned {
  return unsignedOf(
    { type: 'TrustSet', ...frame, tokenContract: around.intent.token!.contract, limit: TRUST_LIMIT },
    around,
  );
}

function unsignedOf(transaction: XrpTransaction, { inputs, intent }: Around): Unsigned {
  const isPayment = transaction.type === 'Payment';
  return {
    chain: 'xrp',
    payload: encodeUnsigned(transaction),
    from: transaction.account,
    fromPath: intent.fromPath,
    to: isPayment ? transaction.destination : transaction.account,
    amount: isPayment ? transaction.amount : 0n,
    tokenContract: transaction.tokenContract,
    tag: isPayment ? (transaction.destinationTag?.toString() ?? null) : null,
    kind: isPayment ? 'payment' : 'trustline',
    sendAll: isPayment && intent.amount === 'all',
    feeMax: transaction.feeDrops,
    fee: feePartsOf(transaction),
    replayKey: { kind: 'sequence', value: String(transaction.sequence) },
    readAtHeight: inputs.readAtHeight,
  };
}

/** What a transaction costs, until when it can land and whether it uses a ticket, as JSON-safe text for people. */
export function feePartsOf(transaction: XrpTransaction): Record<string, string | number> {
  const { feeDrops, lastLedgerSequence, byTicket, sequence } = transaction;
  const sendMax = transaction.type === 'Payment' ? transaction.sendMax : null;
  return {
    feeDrops: feeDrops.toString(),
    lastLedgerSequence,
    ...(byTicket ? { ticketSequence: sequence } : {}),
    ...(sendMax === null ? {} : { sendMax: issuedText(sendMax) }),
    ...(transaction.type === 'TrustSet' ? { limit: issuedText(transaction.limit) } : {}),
  };
}

/**
 * R20: the same transaction under the same sequence for a fee that displaces the old version, with a new expiry; either
 * of them may land. The amount of a native send-all goes down by what the fee goes up, never up. Refuses: CONFLICT,
 * INSUFFICIENT_FUNDS, INSUFFICIENT_RESERVE, INSUFFICIENT_GAS, AMOUNT_CAP_EXCEEDED.
 */
export function reprice(network: Network, unsigned: Unsigned, inputs: XrpInputs): Unsigned | Refusal {
  const decoded = decodeUnsigned(unsigned.payload);
  if (!decoded.ok) throw new Error(`a payload of ours does not decode: ${decoded.reason}`);
  const old = decoded.transaction,
    { sender } = inputs;
  if (sender === null) return refuse('INSUFFICIENT_FUNDS', { balance: '0', required: old.feeDrops.toString() });
  const isFree = old.byTicket ? sender.tickets.includes(old.sequence) : sender.sequence <= old.sequence;
  if (!isFree) return used(old.sequence);
  const feeDrops = displacingFee(network, inputs, old.feeDrops);
  if (typeof feeDrops !== 'bigint') return feeDrops;
  const renewed = {
    ...old,
    feeDrops,
    lastLedgerSequence: inputs.readAtHeight + LAST_LEDGER_AHEAD,
    ...ofNetwork(network),
  };
  const inXrp = renewed.type === 'Payment' && renewed.tokenContract === null;
  if (!inXrp) {
    return checkFeeFunds(sender, feeDrops) ?? versionOf(unsigned, renewed, inputs);
  }
  const amount = unsigned.sendAll ? renewed.amount - (feeDrops - old.feeDrops) : renewed.amount;
  if (amount <= 0n) return refuse('INSUFFICIENT_GAS', { balance: sender.balanceDrops, required: feeDrops.toString() });
  return checkXrpFunds(inputs, sender, amount, feeDrops) ?? versionOf(unsigned, { ...renewed, amount }, inputs);
}

/** The same transaction under another sequence, or ticket, with a new expiry. Refuses: CONFLICT, INSUFFICIENT_FUNDS. */
export function withCounter(
  _network: Network,
  unsigned: Unsigned,
  inputs: XrpInputs,
  replay: ReplayKey,
): Unsigned | Refusal {
  const decoded = decodeUnsigned(unsigned.payload);
  if (!decoded.ok) throw new Error(`a payload of ours does not decode: ${decoded.reason}`);
  if (inputs.sender === null)
    return refuse('INSUFFICIENT_FUNDS', { balance: '0', required: unsigned.feeMax.toString() });
  const slot = slotOf(inputs.sender, replay);
  if (isRefusal(slot)) return slot;
  const transaction = { ...decoded.transaction, ...slot, lastLedgerSequence: inputs.readAtHeight + LAST_LEDGER_AHEAD };
  return { ...versionOf(unsigned, transaction, inputs), replayKey: { kind: 'sequence', value: String(slot.sequence) } };
}

function versionOf(unsigned: Unsigned, transaction: XrpTransaction, { readAtHeight }: XrpInputs): Unsigned {
  return {
    ...unsigned,
    payload: encodeUnsigned(transaction),
    amount: transaction.type === 'Payment' ? transaction.amount : 0n,
    feeMax: transaction.feeDrops,
    fee: feePartsOf(transaction),
    readAtHeight,
  };
}
