/**
 * The Bitcoin signer. It signs payments from one of its own addresses: coins whose amounts are proven by the whole
 * transactions that made them, one payment that the instruction names, and change back to the sender. chains.md 1.6,
 * B13. There is no network inside a Bitcoin transaction (1.6-6): addresses of another network do not parse here.
 */
import { schnorr } from '@noble/curves/secp256k1.js';
import type { Transaction } from 'bitcoinjs-lib';
import secp256k1 from 'secp256k1';
import type { Network, Signed, Unsigned } from '../../../chains/chain.ts';
import { parseAddress } from '../../../chains/btc/address.ts';
import { outpointOf } from '../../../chains/btc/coin.ts';
import { outputOfKey, SCRIPT_TYPES } from '../../../chains/btc/derive.ts';
import { feePartsOf } from '../../../chains/btc/fee.ts';
import { btcOf, type BtcNetwork } from '../../../chains/btc/network.ts';
import { decodePsbt, transactionOf, type Psbt, type PsbtInput } from '../../../chains/btc/psbt.ts';
import { scriptOf } from '../../../chains/btc/script.ts';
import { INPUTS_MAX } from '../../../chains/btc/selection.ts';
import { decodeRaw, matchSigned, spentBy } from '../../../chains/btc/signed.ts';
import { feeOf, vsizeOf } from '../../../chains/btc/size.ts';
import { isHeight, signatureHash, singleKeyOf, unlock, type Spent } from '../../../chains/btc/spending.ts';
import { SEQUENCE, TX_VERSION } from '../../../chains/btc/unsigned.ts';
import { signedOn } from '../../../chains/sandbox-networks.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { part, type Fact, type Facts, type Question, type Version } from './facts.ts';
import { checkBy } from './rules.ts';
import {
  refusePayload,
  refuseToSign,
  type Instruction,
  type Signer,
  type SigningKey,
  type SigningPolicy,
} from './signer.ts';

const SIGHASH_ALL = 1;
const SIGHASH_DEFAULT = 0;

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** What the bytes do, with the amounts that they prove. */
interface Read {
  readonly psbt: Psbt;
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly toText: string;
  readonly feeSats: bigint;
  readonly vsize: number;
}

function* read({ network: general, unsigned, instruction, policy }: Question): Facts {
  const network = btcOf(general),
    payload = readPayload(network, unsigned, instruction);
  if ('ok' in payload) return payload;
  const { psbt } = payload;
  yield { kind: 'height', reason: 'locktime', height: psbt.locktime };
  yield* payment(payload, instruction);
  yield* summary(payload, unsigned, instruction);
  yield* costs(network, payload, policy);
  yield {
    kind: 'once',
    key: { kind: 'outpoints', value: psbt.inputs.map(outpointOf) },
    own: versionOf(psbt),
    version: (text) => {
      const earlier = decodePsbt(text);
      return earlier.ok ? versionOf(earlier.psbt) : null;
    },
    amountMayFall: instruction.amount === 'all',
  };
  return null;
}

/** Decodes the payload and proves what it spends. Refuses: whatever a payment from one own address does not need. */
function readPayload(network: BtcNetwork, { payload }: Unsigned, instruction: Instruction): Read | Refusal {
  const { purpose, token, tag } = instruction;
  if (token !== null || tag !== null || purpose === 'opt_in' || purpose === 'cancel') {
    return refuseToSign('not_a_bitcoin_instruction');
  }
  const from = parseAddress(network, instruction.from),
    to = parseAddress(network, instruction.to);
  if (!from.ok || !to.ok) return refuseToSign('destination_mismatch', { expected: instruction.to });
  const own = singleKeyOf(from.bytes);
  if (own === null) return refuseToSign('from_has_no_single_key', { found: instruction.from });
  const decoded = decodePsbt(payload);
  if (!decoded.ok) return refusePayload(decoded.reason);
  const { psbt } = decoded;
  const frame = checkFrame(psbt) ?? checkInputs(psbt.inputs, from.bytes);
  if (frame !== null) return frame;
  const spent = spentBy(psbt);
  if (spent === null) return refuseToSign('previous_transaction_mismatch');
  if (spent.some(({ script }) => Buffer.compare(script, from.bytes) !== 0)) return refuseToSign('input_not_of_sender');
  const into = spent.reduce((sum, { value }) => sum + value, 0n);
  const feeSats = psbt.outputs.reduce((rest, { value }) => rest - value, into);
  const vsize = vsizeOf(
    own.kind,
    psbt.inputs.length,
    psbt.outputs.map(({ script }) => script),
  );
  return { psbt, from: from.bytes, to: to.bytes, toText: to.canonical, feeSats, vsize };
}

/** Version, lock time and counts are those that a payment has. */
function checkFrame({ txVersion, locktime, inputs, outputs }: Psbt): Refusal | null {
  if (txVersion !== TX_VERSION) return refuseToSign('transaction_version', { expected: TX_VERSION, found: txVersion });
  if (!isHeight(locktime)) return refuseToSign('locktime', { found: locktime });
  if (inputs.length === 0 || inputs.length > INPUTS_MAX) return refuseToSign('input_count', { found: inputs.length });
  return outputs.length === 1 || outputs.length === 2 ? null : refuseToSign('output_count', { found: outputs.length });
}

/** B12, B15: replaceable, each coin once, its amount proven, and no way of signing but the whole transaction. */
function checkInputs(inputs: readonly PsbtInput[], from: Uint8Array): Refusal | null {
  if (new Set(inputs.map(outpointOf)).size !== inputs.length) return refuseToSign('coin_twice');
  const kind = singleKeyOf(from)?.kind,
    isTaproot = kind === 'p2tr';
  for (const input of inputs) {
    const { sequence, sighash, previous } = input;
    if (sequence !== SEQUENCE) return refuseToSign('sequence', { expected: SEQUENCE, found: sequence });
    const whole = sighash === null || sighash === (isTaproot ? SIGHASH_DEFAULT : SIGHASH_ALL);
    if (!whole) {
      return refuseToSign('sighash_type', { expected: isTaproot ? SIGHASH_DEFAULT : SIGHASH_ALL, found: sighash });
    }
    if (previous === null && !isTaproot) return refuseToSign('previous_transaction_missing');
    const proof = previous === null ? null : decodeRaw(hexOf(previous));
    if (previous !== null && proof === null) return refuseToSign('previous_transaction_mismatch');
    if (!isOneText(input, proof, kind === 'p2pkh')) return refusePayload('not_canonical');
  }
  return null;
}

/**
 * A default is not spelled out, a proof is in its own form, and the coin's output is given beside it where BIP-143 or
 * BIP-341 needs it. found F13.
 */
function isOneText(
  { sighash, previous, witnessUtxo }: PsbtInput,
  proof: Transaction | null,
  isLegacy: boolean,
): boolean {
  return (
    sighash === null && (witnessUtxo === null) === isLegacy && (previous === null || proof?.toHex() === hexOf(previous))
  );
}

/** 1.6-3, 1.6-4, B13: the first output is the payment of the instruction; a second one is change to the sender. */
function* payment({ psbt: { outputs }, from, to, toText, feeSats }: Read, { amount }: Instruction): Generator<Fact> {
  const [paid, change] = outputs;
  yield { kind: 'destination', to: hexOf(to), asked: toText, found: hexOf(paid!.script) };
  yield { kind: 'amount', found: paid!.value };
  yield part('outputs_above_inputs', feeSats >= 0n, { found: feeSats });
  if (change === undefined) return;
  yield part('change_of_a_send_all', amount !== 'all', { found: change.value });
  yield part('change_not_of_sender', Buffer.compare(change.script, from) === 0, { found: hexOf(change.script) });
}

function* summary(
  { psbt, toText, feeSats, vsize }: Read,
  { replayKey }: Unsigned,
  { amount }: Instruction,
): Generator<Fact> {
  yield {
    kind: 'summary',
    to: toText,
    amount: psbt.outputs[0]!.value,
    tokenContract: null,
    tag: null,
    of: 'payment',
    sendAll: amount === 'all',
  };
  const outpoints = psbt.inputs.map(outpointOf);
  const sameCoins =
    replayKey.kind === 'outpoints' &&
    replayKey.value.length === outpoints.length &&
    replayKey.value.every((outpoint, i) => outpoint === outpoints[i]);
  yield part('outpoints_mismatch', sameCoins);
  yield { kind: 'fee', inBytes: feeSats };
  yield {
    kind: 'fee_parts',
    inBytes: feePartsOf({ feeSats, vsize, inputCount: psbt.inputs.length, outputCount: psbt.outputs.length }),
  };
}

/** B13, 1.6-5: the fee that the coins prove, and the network's rate. */
function* costs(
  { feeRateCapSatPerKvb }: BtcNetwork,
  { feeSats, vsize, psbt }: Read,
  { feePriceCap }: SigningPolicy,
): Generator<Fact> {
  const price = (feeSats * 1_000n + BigInt(vsize) - 1n) / BigInt(vsize);
  // A fee is rounded up to a whole satoshi: at the very cap its rate is a little above it.
  const isAtCap = feeSats <= feeOf(feePriceCap, vsize);
  yield { kind: 'costs', feeMax: feeSats, amount: psbt.outputs[0]!.value, price: isAtCap ? null : price };
  yield { kind: 'ceiling', reason: 'fee_rate_cap', bound: feeOf(feeRateCapSatPerKvb, vsize), value: feeSats };
}

/** B17: coins, and the payment in the first output. Change is the sender's again. */
function versionOf({ inputs, outputs: [paid] }: Psbt): Version {
  return { uses: inputs.map(outpointOf), amount: paid!.value, rest: hexOf(paid!.script) };
}

function sign(
  network: Network,
  unsigned: Unsigned,
  { privateKey }: SigningKey,
  ...coSigners: readonly SigningKey[]
): Signed {
  if (coSigners.length > 0) throw new Error('a payment from one address has one signer');
  const decoded = decodePsbt(unsigned.payload);
  if (!decoded.ok) throw new Error(`the payload does not decode: ${decoded.reason}`);
  const spent = spentBy(decoded.psbt);
  if (spent === null) throw new Error('the payload does not prove what it spends');
  const transaction = transactionOf(decoded.psbt),
    publicKey = secp256k1.publicKeyCreate(privateKey, true);
  spent.forEach(({ script }, index) => {
    const digest = signedOn(network, signatureHash(transaction, index, spent, publicKey));
    const signature = signatureOf(script, digest, privateKey, publicKey);
    unlock(transaction, index, script, { signature, publicKey });
  });
  const signed: Signed = { chain: network.slug, payload: transaction.toHex(), txid: transaction.getId() };
  const wrong = matchSigned(network, unsigned, signed);
  if (wrong !== null) throw new Error(`the signature does not verify: ${String(wrong.details['reason'])}`);
  return signed;
}

/**
 * DER || ALL, or 64 bytes on taproot. RFC 6979 and low S by the library's default. Throws: Error for a script of
 * another key.
 */
function signatureOf(
  script: Spent['script'],
  hash: Uint8Array,
  privateKey: Uint8Array,
  publicKey: Uint8Array,
): Uint8Array {
  const type = SCRIPT_TYPES.find((one) => Buffer.compare(scriptOf(outputOfKey(publicKey, one)), script) === 0);
  if (type === undefined) throw new Error('the key is not that of the sender');
  if (type === 'p2tr') {
    const tweaked = tweakedKey(privateKey, publicKey);
    const signature = schnorr.sign(hash, tweaked);
    tweaked.fill(0);
    return signature;
  }
  const { signature } = secp256k1.ecdsaSign(hash, privateKey);
  return Uint8Array.of(...secp256k1.signatureExport(signature), SIGHASH_ALL);
}

const ORDER = schnorr.Point.CURVE().n;
const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);

/**
 * The key behind a taproot output without scripts: d' = ±d + hashTapTweak(x(P)), by the parity of P. Source: BIP-341,
 * BIP-86.
 */
function tweakedKey(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const tweak = numberOf(schnorr.utils.taggedHash('TapTweak', publicKey.subarray(1)));
  const even = publicKey[0] === 2 ? numberOf(privateKey) : ORDER - numberOf(privateKey);
  return Buffer.from(((even + tweak) % ORDER).toString(16).padStart(64, '0'), 'hex');
}

export const btcSigner: Signer = { check: checkBy(read), sign };
