/**
 * Unsigned transactions: the raw data of one transfer. Pure: everything that had to be asked is in the inputs.
 *
 * TRON has no counter. What protects against a second payment is the txid and the expiry: two different payloads for
 * one payment can both land (T17), so nothing is ever repriced; the old one must be proven dead first (G27).
 *
 * Order of refusals (X1): what the intent says, the asset, the fee, what the chain would not run, the caps.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Intent, Network, ReplayKey, Unsigned } from '../chain.ts';
import { parseAddress } from './address.ts';
import type { TronInputs } from './build-inputs.ts';
import {
  checkFeeCaps,
  contractOf,
  costOf,
  energyOf,
  feePartsOf,
  rawAround,
  type Cost,
  type EnergyCost,
} from './fee.ts';
import { tronOf, type TronNetwork } from './network.ts';
import { encodeRaw, type RawData } from './raw-transaction.ts';

/** The chain has no counter. */
export function nextReplayValue(_inputs: TronInputs): null {
  return null;
}

/** A payload with its price. */
interface Plan {
  readonly amount: bigint;
  readonly raw: RawData;
  readonly payload: string;
  readonly cost: Cost;
  readonly energy: EnergyCost;
}

/**
 * A payment as raw data. Refuses: INVALID_INPUT, INVALID_ADDRESS, INVALID_AMOUNT, INSUFFICIENT_FUNDS, INSUFFICIENT_GAS,
 * CHAIN_REJECTED, AMOUNT_CAP_EXCEEDED.
 */
export function buildUnsigned(
  general: Network,
  inputs: TronInputs,
  intent: Intent,
  replay: ReplayKey | null,
): Unsigned | Refusal {
  const network = tronOf(general),
    refusal = checkIntent(network, intent, replay);
  if (refusal !== null) return refusal;
  const energy = energyOf(network, inputs);
  if ('ok' in energy) return energy;
  const plan = planOf({ network, inputs, intent, energy });
  if ('ok' in plan) return plan;
  const feeMax = plan.cost.bandwidthFeeMax + plan.cost.activationFee + energy.feeLimit;
  return (
    checkFunds(inputs, intent, plan) ??
    checkRuns(inputs, intent) ??
    checkFeeCaps(network, feeMax, intent.token === null ? plan.amount : null, intent.maxFeeRatioBps) ??
    unsignedOf(network, inputs, intent, plan, feeMax)
  );
}

function checkIntent(
  network: Network,
  { kind, tag, from, to, amount }: Intent,
  replay: ReplayKey | null,
): Refusal | null {
  if (kind === 'trustline') return refuse('INVALID_INPUT', { reason: 'the chain has no trustlines' });
  if (tag !== null) return refuse('INVALID_INPUT', { reason: 'the chain has no tags', tag });
  if (replay !== null) return refuse('INVALID_INPUT', { reason: 'the chain has no counters', kind: replay.kind });
  const destination = parseAddress(network, to);
  if (!destination.ok) return destination;
  if (to === from) return refuse('INVALID_INPUT', { reason: 'a payment to oneself', field: 'to' });
  return amount === 'all' || amount > 0n ? null : refuse('INVALID_AMOUNT', { amount: amount.toString() });
}

interface Wish {
  readonly network: TronNetwork;
  readonly inputs: TronInputs;
  readonly intent: Intent;
  readonly energy: EnergyCost;
}

/** The payload for an amount. */
function priced({ network, inputs, intent, energy }: Wish, amount: bigint): Plan {
  const raw = rawAround(inputs, contractOf(intent, amount), energy.feeLimit),
    payload = encodeRaw(raw);
  return { amount, raw, payload, cost: costOf(network, inputs, payload, intent.token !== null), energy };
}

/**
 * The payload of an intent. T23: a send-all of TRX moves what the fee leaves, and a shorter amount may be a shorter
 * transaction, so the price is asked again for the amount that came out. Refuses: INSUFFICIENT_FUNDS, INSUFFICIENT_GAS.
 */
function planOf(wish: Wish): Plan | Refusal {
  const {
    inputs,
    intent: { amount, token, leave = 0n },
  } = wish;
  const balance = BigInt((token === null ? inputs.nativeBalance : inputs.tokenBalance) ?? '0');
  if (amount !== 'all') {
    // An amount beyond all that exists has no encoding; one above the balance is refused before it needs one.
    return amount > balance ? lacking('INSUFFICIENT_FUNDS', balance, amount) : priced(wish, amount);
  }
  if (balance === 0n) return lacking('INSUFFICIENT_FUNDS', 0n, 1n);
  const whole = priced(wish, balance);
  if (token !== null) return whole;
  const restOf = ({ cost }: Plan): bigint => balance - leave - cost.bandwidthFee - cost.activationFee;
  const rest = restOf(whole);
  if (rest <= 0n) return lacking('INSUFFICIENT_GAS', balance, balance - rest + 1n);
  const first = priced(wish, rest),
    second = priced(wish, restOf(first));
  return restOf(second) === second.amount ? second : first;
}

function lacking(
  code: 'INSUFFICIENT_FUNDS' | 'INSUFFICIENT_GAS',
  balance: bigint,
  required: bigint,
  more: object = {},
): Refusal {
  return refuse(code, { balance: balance.toString(), required: required.toString(), ...more });
}

/**
 * X1, T21 to T23: the asset first, then TRX for value and fee together. An account that does not exist can pay nothing.
 */
function checkFunds(inputs: TronInputs, { token }: Intent, { amount, cost, energy }: Plan): Refusal | null {
  const native = BigInt(inputs.nativeBalance);
  const required = (token === null ? amount : 0n) + cost.bandwidthFee + cost.activationFee + energy.energyFeeHeld;
  if (!inputs.senderExists) {
    return lacking('INSUFFICIENT_GAS', native, required, { reason: 'the account is not activated' });
  }
  return native >= required ? null : lacking('INSUFFICIENT_GAS', native, required);
}

/** T24: a transfer that the token would revert; TRX to a contract, which the node refuses. */
function checkRuns({ tried, destination }: TronInputs, { token }: Intent): Refusal | null {
  if (tried.kind === 'reverted') return refuse('CHAIN_REJECTED', { reason: tried.reason });
  const toContract = token === null && destination === 'contract';
  return toContract ? refuse('CHAIN_REJECTED', { reason: 'TRX cannot be transferred to a contract' }) : null;
}

function unsignedOf(
  network: Network,
  { readAtHeight }: TronInputs,
  { from, fromPath, to, token, amount: wished }: Intent,
  { payload, raw, amount, cost, energy }: Plan,
  feeMax: bigint,
): Unsigned {
  return {
    chain: network.slug,
    payload,
    from,
    fromPath,
    to,
    amount,
    tokenContract: token?.contract ?? null,
    tag: null,
    kind: 'payment',
    sendAll: wished === 'all',
    feeMax,
    fee: feePartsOf(cost, energy),
    replayKey: { kind: 'expiry', value: String(raw.expirationMs) },
    readAtHeight,
  };
}

/**
 * T17: never. A payload is not replaced; it expires, is proven dead, and then a new one may be built. Refuses:
 * CONFLICT.
 */
export function reprice(_network: Network, { replayKey }: Unsigned, _inputs: TronInputs): Refusal {
  return refuse('CONFLICT', {
    reason: 'the chain replaces no transaction: wait until it has expired, then build a new one',
    ...(replayKey.kind === 'expiry' ? { expiresAtMs: replayKey.value } : {}),
  });
}
