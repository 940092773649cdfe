/**
 * Unsigned payments and their repricing. Pure: everything that had to be asked is in the inputs.
 *
 *   inputs    coins of the sender, sequence 0xfffffffd (B15)
 *   outputs   0 the payment · 1 change to the sender, if any
 *   version   2, lock time = the height that the inputs were read at (B15)
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Intent, Network, ReplayKey, Unsigned } from '../chain.ts';
import { outpointOf, spendable, type BtcInputs, type Coin, type Spender } from './coin.ts';
import { checkFeeCaps, feePartsOf, wishOf } from './fee.ts';
import { btcOf, type BtcNetwork } from './network.ts';
import { decodePsbt, encodePsbt, type Psbt, type PsbtInput } from './psbt.ts';
import { INPUTS_MAX, planAll, planOf, selectCoins, shortage, type Plan, type Wish } from './selection.ts';
import { feeOf, largest } from './size.ts';
import { planSweep } from './sweep.ts';

/** Signals that the transaction may be replaced; no relative lock. Source: BIP-125, BIP-68. B15. */
export const SEQUENCE = 0xffff_fffd;
export const TX_VERSION = 2;
/** B16: what a replacement may evict. */
const EVICTED_MAX = 100;

/** There is no counter on this chain: what excludes two versions is a coin that both spend. */
export function nextReplayValue(_inputs: BtcInputs): null {
  return null;
}

interface Around {
  readonly network: BtcNetwork;
  readonly wish: Wish;
  readonly intent: Pick<Intent, 'from' | 'fromPath' | 'to'> & { readonly sendAll: boolean };
  readonly readAtHeight: number;
}

/**
 * A payment as a PSBT; a replay key of `outpoints` names coins that other payments hold, which are not taken (B19).
 * Refuses: INVALID_INPUT, INVALID_ADDRESS, TOKEN_NOT_SUPPORTED, INVALID_AMOUNT, INSUFFICIENT_FUNDS, INSUFFICIENT_GAS,
 * CHAIN_REJECTED (dust, too many coins), AMOUNT_CAP_EXCEEDED, CHAIN_UNAVAILABLE when no node can prove what coins hold.
 */
export function buildUnsigned(
  general: Network,
  inputs: BtcInputs,
  intent: Intent,
  replay: ReplayKey | null,
): Unsigned | Refusal {
  const network = btcOf(general),
    { token, tag, amount } = intent;
  if (intent.kind === 'trustline') return refuse('INVALID_INPUT', { reason: 'the chain has no trustlines' });
  if (tag !== null) return refuse('INVALID_INPUT', { reason: 'the chain has no tags', tag });
  if (token !== null) return refuse('TOKEN_NOT_SUPPORTED', { chain: network.slug, reason: 'no tokens on this chain' });
  if (intent.leave !== undefined) {
    return refuse('INVALID_INPUT', { reason: 'a send-all on this chain leaves nothing behind' });
  }
  if (replay !== null && replay.kind !== 'outpoints') {
    return refuse('INVALID_INPUT', { reason: 'expected outpoints', kind: replay.kind });
  }
  const wish = wishOf(network, inputs, intent);
  if ('ok' in wish) return wish;
  const taken = new Set(replay?.value),
    plan =
      intent.sweepUpTo === undefined
        ? provenPlan(network, inputs, wish, taken)
        : sweptPlan(network, inputs, wish, intent.sweepUpTo, taken);
  if (!plan.ok) return plan;
  const refusal = checkFeeCaps(network, plan, plan.amount, intent.maxFeeRatioBps);
  return (
    refusal ??
    unsignedOf(plan, {
      network,
      wish,
      intent: { ...intent, sendAll: amount === 'all' },
      readAtHeight: inputs.readAtHeight,
    })
  );
}

/**
 * B12: without the whole previous transaction the edge signs nothing but taproot, whose signature covers all amounts.
 */
function isProvable({ kind }: Pick<Wish, 'kind'>, { previous }: Coin): boolean {
  return kind === 'p2tr' || previous !== null;
}

/** A sweep of one address. Refuses: as `planSweep`. */
const sweptPlan = (
  { threshold }: Pick<Network, 'threshold'>,
  inputs: BtcInputs,
  wish: Wish,
  upTo: bigint,
  taken: ReadonlySet<string>,
): Plan | Refusal => planSweep(inputs, wish, { upTo, threshold, isProvable: (coin) => isProvable(wish, coin) }, taken);

function provenPlan(network: BtcNetwork, inputs: BtcInputs, wish: Wish, taken: ReadonlySet<string>): Plan | Refusal {
  const unproven = inputs.coins.filter((coin) => !isProvable(wish, coin)).map(outpointOf);
  const plan = selectCoins(inputs, wish, new Set([...taken, ...unproven]));
  if (plan.ok || unproven.length === 0 || !selectCoins(inputs, wish, taken).ok) return plan;
  return refuse('CHAIN_UNAVAILABLE', {
    chain: network.slug,
    reason: 'no node shows the previous transactions of enough coins',
    coins: unproven.length,
  });
}

function unsignedOf(
  { coins, amount, feeSats, changeSats, vsize }: Plan,
  { network, wish, intent, readAtHeight }: Around,
): Unsigned {
  const { from, to, kind } = wish;
  const outputs = [
    { script: to, value: amount },
    ...(changeSats === null ? [] : [{ script: from, value: changeSats }]),
  ];
  const inputs = coins.map(({ txid, vout, previous, valueSats }): PsbtInput => ({
    txid,
    vout,
    sequence: SEQUENCE,
    sighash: null,
    previous: previous === null ? null : Buffer.from(previous, 'hex'),
    witnessUtxo: kind === 'p2pkh' ? null : { script: from, value: BigInt(valueSats) },
  }));
  return {
    chain: network.slug,
    payload: encodePsbt({ txVersion: TX_VERSION, locktime: readAtHeight, inputs, outputs }),
    from: intent.from,
    fromPath: intent.fromPath,
    to: intent.to,
    amount,
    tokenContract: null,
    tag: null,
    kind: 'payment',
    sendAll: intent.sendAll,
    feeMax: feeSats,
    fee: feePartsOf({ feeSats, vsize, inputCount: coins.length, outputCount: outputs.length }),
    replayKey: { kind: 'outpoints', value: coins.map(outpointOf) },
    readAtHeight,
  };
}

/** The payload that we built ourselves. Throws: Error for any other. */
function psbtOf({ payload }: Unsigned): Psbt {
  const decoded = decodePsbt(payload);
  if (!decoded.ok) throw new Error(`a payload of ours does not decode: ${decoded.reason}`);
  return decoded.psbt;
}

/**
 * B16, B17: the same payment from at least the same coins, for a fee that displaces the old version and everything that
 * descends from it. Change pays first, then further confirmed coins; of a send-all the amount goes down, never up.
 * Refuses: CONFLICT, INSUFFICIENT_FUNDS, INSUFFICIENT_GAS, CHAIN_UNAVAILABLE, AMOUNT_CAP_EXCEEDED.
 */
export function reprice(general: Network, unsigned: Unsigned, inputs: BtcInputs): Unsigned | Refusal {
  const network = btcOf(general),
    old = psbtOf(unsigned);
  const originals = originalsOf(old, inputs);
  if ('ok' in originals) return originals;
  const conflict = conflictOf(old, inputs, originals);
  if ('ok' in conflict) return conflict;
  const wish = wishOf(network, inputs, { ...unsigned, amount: unsigned.sendAll ? 'all' : unsigned.amount });
  if ('ok' in wish) return wish;
  const plan = displacingPlan(inputs, wish, unsigned, originals, conflict);
  if (!plan.ok) return plan;
  const refusal = checkFeeCaps(network, plan, plan.amount, undefined);
  return refusal ?? unsignedOf(plan, { network, wish, intent: unsigned, readAtHeight: inputs.readAtHeight });
}

/** The coins of the old version, with the proofs that its payload holds. Refuses: CONFLICT when a block spent one. */
function originalsOf(old: Psbt, { coins }: BtcInputs): Coin[] | Refusal {
  const known = new Map(coins.map((coin) => [outpointOf(coin), coin]));
  const originals: Coin[] = [];
  for (const input of old.inputs) {
    const coin = known.get(outpointOf(input));
    if (coin === undefined) {
      return refuse('CONFLICT', { reason: 'a coin of the payment is spent', outpoint: outpointOf(input) });
    }
    originals.push({ ...coin, previous: input.previous === null ? null : Buffer.from(input.previous).toString('hex') });
  }
  return originals;
}

interface Conflict {
  /** Fees of all that leaves the pool, satoshi. */
  readonly replacedFeeSats: bigint;
  /** Transactions that spend one of the coins; the replacement's rate must be above each of theirs. */
  readonly spenders: readonly Spender[];
}

/**
 * What the replacement displaces. Refuses: CONFLICT when too much would leave the pool, or when a later payment of ours
 * spends the change: replacing the parent would take that payment with it, while repricing the child pays for both.
 */
function conflictOf(old: Psbt, { coins }: BtcInputs, originals: readonly Coin[]): Conflict | Refusal {
  const spenders = new Map(
    originals.flatMap(({ spender }) =>
      spender === null || spender === 'hidden' ? [] : [[spender.txid, spender] as const],
    ),
  );
  const child = coins.find(({ txid, spender }) => spender !== null && spenders.has(txid));
  if (child !== undefined) {
    const by = child.spender === 'hidden' ? null : (child.spender?.txid ?? null);
    return refuse('CONFLICT', { reason: 'the change is spent by a later payment: reprice that one', txid: by });
  }
  const evicted = [...spenders.values()].reduce((sum, { descendantCount }) => sum + descendantCount, 0);
  if (evicted > EVICTED_MAX) {
    return refuse('CONFLICT', {
      reason: 'too many pool transactions descend from the payment',
      evicted,
      limit: EVICTED_MAX,
    });
  }
  const pooled = [...spenders.values()].reduce((sum, { descendantFeeSats }) => sum + BigInt(descendantFeeSats), 0n);
  return { replacedFeeSats: largest(pooled, feeSatsOf(old, originals)), spenders: [...spenders.values()] };
}

function feeSatsOf({ outputs }: Psbt, originals: readonly Coin[]): bigint {
  const into = originals.reduce((sum, { valueSats }) => sum + BigInt(valueSats), 0n);
  return outputs.reduce((rest, { value }) => rest - value, into);
}

/**
 * Satoshi that a replacement of a size pays at least: more than all it displaces, and at a higher rate. B16 (2), (3),
 * (5).
 */
function displacingFee(
  { incrementalSatPerKvb }: BtcInputs,
  { replacedFeeSats, spenders }: Conflict,
  vsize: number,
): bigint {
  const aboveEach = spenders.map(({ feeSats, vsize: own }) => (BigInt(feeSats) * BigInt(vsize)) / BigInt(own) + 1n);
  return largest(replacedFeeSats + feeOf(BigInt(incrementalSatPerKvb), vsize), ...aboveEach);
}

function displacingPlan(
  inputs: BtcInputs,
  market: Wish,
  unsigned: Unsigned,
  originals: readonly Coin[],
  conflict: Conflict,
): Plan | Refusal {
  const feeFor = (vsize: number) => largest(market.feeFor(vsize), displacingFee(inputs, conflict, vsize));
  const wish: Wish = { ...market, feeFor };
  if (unsigned.sendAll) {
    const plan = planAll(wish, originals);
    if (plan === null) return shortage(inputs, wish, originals, 1n);
    return plan.amount <= unsigned.amount ? plan : withAmount(plan, unsigned.amount);
  }
  // B16: a replacement must not bring new unconfirmed coins.
  const held = new Set(originals.map(outpointOf));
  const further = spendable(inputs, held).filter((coin) => coin.height !== null && isProvable(wish, coin));
  const room = Math.max(0, INPUTS_MAX - originals.length);
  for (let more = 0; more <= Math.min(further.length, room); more += 1) {
    const plan = planOf(wish, [...originals, ...further.slice(0, more)], unsigned.amount);
    if (plan !== null) return plan;
  }
  return shortage(inputs, wish, [...originals, ...further], unsigned.amount);
}

/** A send-all whose fee would fall keeps its amount: it may only go down. */
function withAmount(plan: Plan, amount: bigint): Plan {
  return { ...plan, amount, feeSats: plan.feeSats + plan.amount - amount };
}
