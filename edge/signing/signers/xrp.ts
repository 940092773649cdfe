/**
 * The XRP signer. It signs payments of XRP or of a token of this edge's registry to the destination, tag and amount
 * that the instruction names, and trust lines for such a token; everything else that an account can do (settings, keys,
 * signer lists, tickets, deletion, checks, offers) is refused by not being in the table of fields. chains.md 1.6, R18.
 * The main network has no `NetworkID` inside the bytes, a sandbox ledger has one that no network has (1.6-6).
 */
import secp256k1 from 'secp256k1';
import type { Network, Signed, Unsigned } from '../../../chains/chain.ts';
import { checkDestination, parseAddress } from '../../../chains/xrp/address.ts';
import { assetOf } from '../../../chains/xrp/currency.ts';
import { addressOfKey } from '../../../chains/xrp/derive.ts';
import { txidOf } from '../../../chains/xrp/hashes.ts';
import { RATE_MAX, roundedDown, withTransferFee } from '../../../chains/xrp/issued-amount.ts';
import { encodeSigned, matchSigned, signingHash } from '../../../chains/xrp/signed.ts';
import {
  decodeUnsigned,
  networkFlawOf,
  type XrpPayment,
  type XrpTransaction,
} from '../../../chains/xrp/transaction.ts';
import { TRUST_LIMIT } from '../../../chains/xrp/trustline.ts';
import { feePartsOf, LAST_LEDGER_AHEAD_MAX } from '../../../chains/xrp/unsigned.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { checkFeeBounds } from './fee-bounds.ts';
import { checkCounter, checkHeight } from './lying-in-wait.ts';
import {
  checkParties,
  refusePayload,
  refuseToSign,
  type Instruction,
  type Signer,
  type SigningKey,
  type SigningPolicy,
} from './signer.ts';

/** Drops that no fee may be above, whatever the settings say. R18. */
const FEE_DROPS_MAX = 1_000_000n;

function check(network: Network, unsigned: Unsigned, instruction: Instruction, policy: SigningPolicy): Refusal | null {
  const parties = checkParties(network, unsigned, instruction, policy);
  if (parties !== null) return parties;
  if (instruction.purpose === 'cancel') return refuseToSign('not_an_xrp_instruction');
  const decoded = decodeUnsigned(unsigned.payload);
  if (!decoded.ok) return refusePayload(decoded.reason, decoded.found);
  const { transaction } = decoded,
    flaw = networkFlawOf(network, transaction);
  if (flaw !== null) return refuseToSign(flaw.reason, flaw);
  if (transaction.account !== instruction.from) {
    return refuseToSign('account_mismatch', { expected: instruction.from, found: transaction.account });
  }
  return (
    checkToken(instruction, policy) ??
    checkAction(network, transaction, instruction, policy) ??
    checkSummary(unsigned, transaction, instruction) ??
    checkFee(network, transaction, instruction, policy) ??
    checkExpiry(unsigned, transaction, policy) ??
    // One far ahead would wait for its turn, long after the caller gave up. A ticket is behind by its nature.
    checkCounter(network.slug, BigInt(transaction.sequence), policy, 'sequence_outside_window', {
      mayBeBehind: transaction.byTicket,
    }) ??
    checkJournal(unsigned, transaction, instruction, policy)
  );
}

/** The token is of the registry that this edge accepted, with the decimals that it has there. */
function checkToken({ token }: Instruction, { catalogue }: SigningPolicy): Refusal | null {
  if (token === null || catalogue.get(token.contract)?.decimals === token.decimals) return null;
  return refuseToSign('token_not_in_registry', { found: token.contract });
}

function checkAction(
  network: Network,
  transaction: XrpTransaction,
  instruction: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const expected = instruction.purpose === 'opt_in' ? 'TrustSet' : 'Payment';
  if (transaction.type !== expected) return refuseToSign('transaction_type', { expected, found: transaction.type });
  if (transaction.type === 'Payment') return checkPayment(network, transaction, instruction, policy);
  const { token, to, from } = instruction;
  if (token === null || transaction.tokenContract !== token.contract) {
    return refuseToSign('token_mismatch', { expected: token?.contract ?? null, found: transaction.tokenContract });
  }
  if (to !== from) return refuseToSign('destination_mismatch', { expected: from, found: to });
  return transaction.limit === TRUST_LIMIT
    ? null
    : refuseToSign('limit_mismatch', { expected: TRUST_LIMIT, found: transaction.limit });
}

/** 1.6-3, 1.6-4: destination, tag, asset and amount are those of the instruction. */
function checkPayment(
  network: Network,
  payment: XrpPayment,
  { to: toText, tag, token, amount }: Instruction,
  { catalogue }: SigningPolicy,
): Refusal | null {
  const to = parseAddress(network, toText);
  if (!to.ok || payment.destination !== to.canonical) {
    return refuseToSign('destination_mismatch', { expected: toText, found: payment.destination });
  }
  const found = payment.destinationTag?.toString() ?? null;
  if (found !== tag) return refuseToSign('tag_mismatch', { expected: tag, found });
  if (payment.destination === payment.account) return refuseToSign('payment_to_oneself');
  const redeems = token !== null && assetOf(token.contract).issuer === payment.destination;
  if (redeems || checkDestination(network, to, catalogue) !== null) {
    return refuseToSign('destination_refused', { found: payment.destination });
  }
  if (payment.tokenContract !== (token?.contract ?? null)) {
    return refuseToSign('token_mismatch', { expected: token?.contract ?? null, found: payment.tokenContract });
  }
  // The ledger keeps 15 digits, and what is built is rounded down to them (R11).
  const wanted = amount === 'all' ? null : token === null ? amount : roundedDown(amount);
  if (payment.amount <= 0n || (wanted !== null && payment.amount !== wanted)) {
    return refuseToSign('amount_mismatch', { expected: wanted ?? 'all', found: payment.amount });
  }
  return checkSendMax(payment);
}

/** R28: more than the amount may leave only in the same token, and only what an issuer's fee can be. */
function checkSendMax({ amount, sendMax }: XrpPayment): Refusal | null {
  if (sendMax === null) return null;
  const highest = withTransferFee(amount, RATE_MAX);
  if (sendMax > amount && sendMax <= highest) return null;
  return refuseToSign('send_max', { expected: `above ${amount}, at most ${highest}`, found: sendMax });
}

/** What the cloud said of the payload is what it is: the spend ledger and people rely on it. */
function checkSummary(unsigned: Unsigned, transaction: XrpTransaction, instruction: Instruction): Refusal | null {
  const { to, amount, tokenContract, tag, kind, sendAll, replayKey, feeMax, fee } = unsigned;
  const isPayment = transaction.type === 'Payment';
  const same = isPayment
    ? kind === 'payment' &&
      to === transaction.destination &&
      amount === transaction.amount &&
      sendAll === (instruction.amount === 'all') &&
      tag === (transaction.destinationTag?.toString() ?? null)
    : kind === 'trustline' && to === transaction.account && amount === 0n && !sendAll && tag === null;
  if (!same || tokenContract !== transaction.tokenContract) return refuseToSign('summary_mismatch');
  if (replayKey.kind !== 'sequence' || replayKey.value !== String(transaction.sequence)) {
    return refuseToSign('sequence_mismatch', { expected: replayKey.value, found: transaction.sequence });
  }
  if (feeMax !== transaction.feeDrops) {
    return refuseToSign('fee_mismatch', { expected: transaction.feeDrops, found: feeMax });
  }
  const parts = feePartsOf(transaction);
  const told = [...Object.keys(parts), ...Object.keys(fee)].find((part) => String(fee[part]) !== String(parts[part]));
  return told === undefined
    ? null
    : refuseToSign('fee_mismatch', { expected: parts[told] ?? null, found: fee[told] ?? null });
}

/** 1.6-5, G29: a transaction is one unit. */
function checkFee(
  { slug: chain }: Network,
  transaction: XrpTransaction,
  { purpose }: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const { feeDrops } = transaction;
  if (feeDrops > FEE_DROPS_MAX) return refuseToSign('fee_cap', { expected: FEE_DROPS_MAX, found: feeDrops });
  const amount = transaction.type === 'Payment' && transaction.tokenContract === null ? transaction.amount : null;
  return checkFeeBounds({ chain, feeMax: feeDrops, amount, price: feeDrops, isSweep: purpose === 'sweep' }, policy);
}

/**
 * 1.6-8, R19: a payment that could land years later lies in wait. The height that the cloud read is its own word; what
 * this edge knows is how many ledgers can have closed by its clock.
 */
function checkExpiry(
  { readAtHeight, chain }: Unsigned,
  { lastLedgerSequence }: XrpTransaction,
  policy: SigningPolicy,
): Refusal | null {
  if (policy.nowMs === undefined) return refuseToSign('no_clock');
  const ahead = lastLedgerSequence - readAtHeight;
  if (ahead <= 0 || ahead > LAST_LEDGER_AHEAD_MAX) {
    return refuseToSign('expiry', {
      expected: `within ${LAST_LEDGER_AHEAD_MAX} ledgers of ${readAtHeight}`,
      found: lastLedgerSequence,
    });
  }
  return checkHeight(chain, lastLedgerSequence, policy, 'expiry', LAST_LEDGER_AHEAD_MAX);
}

/**
 * 1.6-7, G27: an instruction is paid under one sequence, and a sequence pays one instruction. What was signed before
 * for the same instruction may differ in its fee and expiry only, and a native send-all in a lower amount (decisions
 * 6).
 */
function checkJournal(
  unsigned: Unsigned,
  transaction: XrpTransaction,
  instruction: Instruction,
  { journal }: SigningPolicy,
): Refusal | null {
  const { forInstruction, withReplayKey } = journal;
  const amountMayFall = instruction.amount === 'all' && instruction.token === null;
  for (const payload of forInstruction) {
    const earlier = decodeUnsigned(payload);
    if (
      !earlier.ok ||
      earlier.transaction.sequence !== transaction.sequence ||
      earlier.transaction.byTicket !== transaction.byTicket
    ) {
      return refuseToSign('instruction_signed_before');
    }
    if (!replaces(transaction, earlier.transaction, amountMayFall)) return refuseToSign('replacement_differs');
  }
  const foreign = withReplayKey({ kind: 'sequence', value: String(transaction.sequence) }).some(
    (payload) => payload !== unsigned.payload && !forInstruction.includes(payload),
  );
  return foreign ? refuseToSign('sequence_used', { found: transaction.sequence }) : null;
}

function replaces(next: XrpTransaction, earlier: XrpTransaction, amountMayFall: boolean): boolean {
  const { feeDrops, lastLedgerSequence, networkId } = next; // The network was compared by `check`.
  const renewed = { ...earlier, feeDrops, lastLedgerSequence, ...(networkId === undefined ? {} : { networkId }) };
  if (renewed.type === 'Payment' && next.type === 'Payment' && amountMayFall && next.amount <= renewed.amount) {
    return isSame({ ...renewed, amount: next.amount }, next);
  }
  return isSame(renewed, next);
}

function isSame(a: XrpTransaction, b: XrpTransaction): boolean {
  const text = (transaction: XrpTransaction) =>
    JSON.stringify(
      Object.entries(transaction)
        .map(([name, value]) => [name, String(value)])
        .sort(),
    );
  return text(a) === text(b);
}

function sign(
  network: Network,
  unsigned: Unsigned,
  { privateKey }: SigningKey,
  ...coSigners: readonly SigningKey[]
): Signed {
  if (coSigners.length > 0) throw new Error('a payment of one account has one signer');
  const decoded = decodeUnsigned(unsigned.payload);
  if (!decoded.ok) throw new Error(`the payload does not decode: ${decoded.reason}`);
  const { transaction } = decoded,
    publicKey = secp256k1.publicKeyCreate(privateKey, true);
  if (addressOfKey(publicKey) !== unsigned.from || transaction.account !== unsigned.from) {
    throw new Error('the key is not that of the sender');
  }
  // RFC 6979 nonce and low s, by the library's default: the ledger takes no other s (fully canonical).
  const { signature } = secp256k1.ecdsaSign(signingHash(transaction, publicKey), privateKey);
  const payload = encodeSigned(transaction, publicKey, secp256k1.signatureExport(signature));
  const signed: Signed = { chain: network.slug, payload, txid: txidOf(payload) };
  const wrong = matchSigned(network, unsigned, signed);
  if (wrong !== null) throw new Error(`the signature does not verify: ${String(wrong.details['reason'])}`);
  return signed;
}

export const xrpSigner: Signer = { check, sign };
