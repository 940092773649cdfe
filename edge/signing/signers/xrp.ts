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
  type XrpTrustSet,
} from '../../../chains/xrp/transaction.ts';
import { TRUST_LIMIT } from '../../../chains/xrp/trustline.ts';
import { feePartsOf, LAST_LEDGER_AHEAD_MAX } from '../../../chains/xrp/unsigned.ts';
import { part, same, type Fact, type Facts, type Question, type Version } from './facts.ts';
import { checkBy } from './rules.ts';
import { refusePayload, refuseToSign, type Instruction, type Signer, type SigningKey } from './signer.ts';

/** Drops that no fee may be above, whatever the settings say. R18. */
const FEE_DROPS_MAX = 1_000_000n;

function* read(question: Question): Facts {
  const { network, unsigned, instruction } = question,
    { purpose, token, from } = instruction;
  if (purpose === 'cancel') return refuseToSign('not_an_xrp_instruction');
  const decoded = decodeUnsigned(unsigned.payload);
  if (!decoded.ok) return refusePayload(decoded.reason, decoded.found);
  const { transaction } = decoded,
    flaw = networkFlawOf(network, transaction);
  if (flaw !== null) return refuseToSign(flaw.reason, flaw);
  yield same('account_mismatch', from, transaction.account);
  yield { kind: 'listed' };
  yield same('transaction_type', purpose === 'opt_in' ? 'TrustSet' : 'Payment', transaction.type);
  yield* transaction.type === 'Payment' ? payment(transaction, question) : trustLine(transaction, instruction);
  yield* summary(transaction, unsigned, instruction);
  yield* costs(transaction);
  yield* ending(transaction, unsigned);
  yield {
    kind: 'counter',
    reason: 'sequence_outside_window',
    value: BigInt(transaction.sequence),
    mayBeBehind: transaction.byTicket,
  };
  yield {
    kind: 'once',
    key: { kind: 'sequence', value: String(transaction.sequence) },
    own: versionOf(transaction, transaction),
    version: (text) => {
      const earlier = decodeUnsigned(text);
      return earlier.ok ? versionOf(earlier.transaction, transaction) : null;
    },
    amountMayFall: instruction.amount === 'all' && token === null,
  };
  return null;
}

/** 1.6-3, 1.6-4: destination, tag, asset and amount. */
function* payment(
  { account, destination: found, destinationTag, tokenContract, amount, sendMax }: XrpPayment,
  { network, instruction, policy: { catalogue } }: Question,
): Generator<Fact> {
  const { to: asked, tag, token } = instruction,
    to = parseAddress(network, asked);
  yield { kind: 'destination', to: to.ok ? to.canonical : null, asked, found };
  yield same('tag_mismatch', tag, destinationTag?.toString() ?? null);
  yield part('payment_to_oneself', found !== account);
  const redeems = token !== null && assetOf(token.contract).issuer === found,
    isRefused = redeems || (to.ok && checkDestination(network, to, catalogue) !== null);
  yield { kind: 'reachable', isRefused, found };
  yield { kind: 'token', found: tokenContract };
  // The ledger keeps 15 digits, and what is built is rounded down to them (R11).
  const isRounded = token !== null && instruction.amount !== 'all';
  yield { kind: 'amount', found: amount, ...(isRounded ? { wanted: roundedDown(instruction.amount) } : {}) };
  if (sendMax === null) return;
  // R28: more than the amount may leave only in the same token, and only what an issuer's fee can be.
  const highest = withTransferFee(amount, RATE_MAX);
  // A sweep that the cloud starts pays it only where this edge's registry says that the token has one.
  const mayCost = instruction.purpose !== 'sweep' || token?.feeOnTransfer === true,
    isIssuersFee = mayCost && sendMax > amount && sendMax <= highest;
  yield part('send_max', isIssuersFee, { expected: `above ${amount}, at most ${highest}`, found: sendMax });
  // An issuer may raise its share to the whole of the amount at any time: nobody lies, and half of what leaves is lost.
  yield { kind: 'share', kept: sendMax - amount, amount };
}

function* trustLine({ tokenContract, limit }: XrpTrustSet, { to, from, token }: Instruction): Generator<Fact> {
  const expected = token?.contract ?? null;
  yield part('token_mismatch', token !== null && tokenContract === expected, { expected, found: tokenContract });
  yield { kind: 'destination', to: from, asked: from, found: to };
  yield same('limit_mismatch', TRUST_LIMIT, limit);
}

function* summary(transaction: XrpTransaction, { replayKey }: Unsigned, { amount }: Instruction): Generator<Fact> {
  const { account, tokenContract, sequence, feeDrops } = transaction;
  yield transaction.type === 'Payment'
    ? {
        kind: 'summary',
        of: 'payment',
        to: transaction.destination,
        amount: transaction.amount,
        tokenContract,
        sendAll: amount === 'all',
        tag: transaction.destinationTag?.toString() ?? null,
      }
    : { kind: 'summary', of: 'trustline', to: account, amount: 0n, tokenContract, sendAll: false, tag: null };
  const isItsSequence = replayKey.kind === 'sequence' && replayKey.value === String(sequence);
  yield part('sequence_mismatch', isItsSequence, { expected: replayKey.value, found: sequence });
  yield { kind: 'fee', inBytes: feeDrops };
  yield { kind: 'fee_parts', inBytes: feePartsOf(transaction), isAll: true };
}

/** 1.6-5: a transaction is one unit. */
function* costs(transaction: XrpTransaction): Generator<Fact> {
  const { feeDrops } = transaction;
  yield { kind: 'ceiling', reason: 'fee_cap', bound: FEE_DROPS_MAX, value: feeDrops };
  const amount = transaction.type === 'Payment' && transaction.tokenContract === null ? transaction.amount : null;
  yield { kind: 'costs', feeMax: feeDrops, amount, price: feeDrops };
}

/**
 * 1.6-8, R19: a payment that could land years later lies in wait. The height that the cloud read is its own word; what
 * this edge knows is how many ledgers can have closed by its clock.
 */
function* ending({ lastLedgerSequence: height }: XrpTransaction, { readAtHeight }: Unsigned): Generator<Fact> {
  yield { kind: 'clock' };
  const ahead = height - readAtHeight;
  yield part('expiry', ahead > 0 && ahead <= LAST_LEDGER_AHEAD_MAX, {
    expected: `within ${LAST_LEDGER_AHEAD_MAX} ledgers of ${readAtHeight}`,
    found: height,
  });
  yield { kind: 'height', reason: 'expiry', height, ahead: LAST_LEDGER_AHEAD_MAX };
}

/** 1.6-7: all but fee and end stay, and the network, which the reader compared. A ticket is no sequence. */
function versionOf(transaction: XrpTransaction, { networkId }: XrpTransaction): Version {
  const { feeDrops: _, lastLedgerSequence: __, ...lasting } = transaction,
    amount = transaction.type === 'Payment' ? transaction.amount : 0n;
  const fields = { ...lasting, amount: null, ...(networkId === undefined ? {} : { networkId }) };
  return {
    uses: [`${transaction.byTicket} ${transaction.sequence}`],
    amount,
    rest: JSON.stringify(
      Object.entries(fields)
        .map(([name, value]) => [name, String(value)])
        .sort(),
    ),
  };
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

export const xrpSigner: Signer = { check: checkBy(read), sign };
