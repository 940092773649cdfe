/**
 * What a sweep costs on each chain, and what of it must lie where, from one sample of the market. Treasury 5.4, S30.
 *
 *   evm        the address pays; a token's gas comes from the tank before it
 *   tron       likewise, energy, bandwidth and activation apart: what a sample's own resources would pay is left out of
 *              a plan's need, as other addresses may have none
 *   sol, xlm   the tank pays along (fee payer, fee bump) and nothing is funded; on sol the first sweep of a token also
 *              makes the treasury's account for it
 *   xrp        the address pays its few drops, out of its reserve if need be (R24)
 */
import type { BuildInputs, FeeEstimate, Intent, Network } from '../../chains/chain.ts';
import { countedRent, SALTS, type SolInputs } from '../../chains/sol/fee.ts';
import type { TronInputs } from '../../chains/tron/build-inputs.ts';
import { tronOf } from '../../chains/tron/network.ts';
import type { XlmInputs } from '../../chains/xlm/inputs.ts';
import type { XrpInputs } from '../../chains/xrp/inputs.ts';
import type { ChainBinding } from '../../model/ports/chain-access.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { FAMILY_OF, type Family } from '../../protocol/slugs.ts';

/** Smallest native unit, each the most that it can be. */
export interface Prices {
  /** Fee of one sweep. */
  readonly sweep: bigint;
  /** What must lie on the address for it; zero where the tank pays along. */
  readonly need: bigint;
  /** Fee of one funding; zero where nothing is funded. */
  readonly fund: bigint;
  /** More of it where the address is not on the chain yet. */
  readonly activation: bigint;
  /** More of the first sweep of a job: the account that it makes. */
  readonly opening: bigint;
  /** Of a sweep's and of a funding's fee: what another chain under this one may take. V35. */
  readonly l1: { readonly sweep: bigint; readonly fund: bigint };
  /** What an edge counts beside that. */
  readonly uncounted: bigint;
  /** False where the treasury cannot take the asset yet: a line or an account is missing. */
  readonly isReady: boolean;
  /** What its issuer keeps of an amount of the token; null where none keeps a share. R28. */
  readonly keptOf: ((amount: bigint) => bigint) | null;
}

/** Of what is not sampled. */
export const NO_PRICES: Prices = {
  sweep: 0n,
  need: 0n,
  fund: 0n,
  activation: 0n,
  opening: 0n,
  l1: { sweep: 0n, fund: 0n },
  uncounted: 0n,
  isReady: true,
  keptOf: null,
};

export interface Intents {
  readonly sweep: Intent;
  /** Null where nothing is funded. */
  readonly fund: Intent | null;
}

type Binding = Pick<ChainBinding, 'module' | 'network' | 'client'>;

/** Prices by what the chain says now of these intents. Throws: ChainUnavailable. Refuses: as the chain's estimate. */
export async function pricesOf(binding: Binding, { sweep, fund }: Intents): Promise<Prices | Refusal> {
  const { module, network, client } = binding;
  const [ofSweep, ofFund] = await Promise.all([
    client.fetchBuildInputs(sweep),
    fund === null ? null : client.fetchBuildInputs(fund),
  ]);
  const sweeping = module.estimateFee(network, asDearest(binding, ofSweep), sweep);
  if (isRefusal(sweeping)) return sweeping;
  const funding = fund === null || ofFund === null ? NO_FUNDING : fundingOf(binding, ofFund, fund);
  if (isRefusal(funding)) return funding;
  const { l1: l1OfFund, ...ofFunding } = funding;
  const opening = openingOf(binding, sweeping),
    fee = sweeping.feeMax - opening,
    isPaidAlong = sweep.feePayer !== undefined;
  return {
    sweep: fee,
    need: isPaidAlong ? 0n : heldFor(sweeping),
    ...ofFunding,
    opening,
    l1: { sweep: l1Of(sweeping), fund: l1OfFund },
    uncounted: uncountedRent(binding, ofSweep, opening),
    isReady: isReady(binding, ofSweep, sweep),
    keptOf: sweep.token === null ? null : keptBy(binding, ofSweep),
  };
}

function keptBy({ module }: Binding, inputs: BuildInputs): Prices['keptOf'] {
  const { arrives } = module;
  return arrives === undefined ? null : (amount) => amount - arrives(inputs, amount);
}

/** Where accounts open lines for assets: whether the treasury has one, as the chain's builder finds it. */
function isReady({ module, network }: Binding, inputs: BuildInputs, sweep: Intent): boolean {
  if (!LINES.has(FAMILY_OF[network.slug])) return true;
  const built = module.buildUnsigned(network, inputs, sweep, null);
  return !isRefusal(built) || built.code !== 'DESTINATION_OPT_IN_REQUIRED';
}
/** Families whose accounts open lines for assets, and demand tags. */
export const LINES: ReadonlySet<Family> = new Set(['xrp', 'xlm']);

/** What a sender must hold beside what it moves. */
export const heldFor = ({ held, feeMax }: FeeEstimate): bigint => held ?? feeMax;

const NO_FUNDING = { fund: 0n, activation: 0n, l1: 0n } as const;

const l1Of = ({ parts }: FeeEstimate): bigint => BigInt(parts['l1Reserve'] ?? 0);

function fundingOf({ module, network }: Binding, inputs: BuildInputs, fund: Intent) {
  const fee = module.estimateFee(network, withDestination(inputs, network.slug, 'account'), fund),
    made = module.estimateFee(network, withDestination(inputs, network.slug, 'missing'), fund);
  if (isRefusal(fee)) return fee;
  return isRefusal(made) ? made : { fund: fee.feeMax, activation: made.feeMax - fee.feeMax, l1: l1Of(fee) };
}

function withDestination(inputs: BuildInputs, chain: Intent['chain'], destination: TronInputs['destination']) {
  return FAMILY_OF[chain] === 'tron' ? ({ ...inputs, destination } as BuildInputs) : inputs;
}

/** What an edge counts of a funding beside a stated activation: it cannot see whether there is an account. E4, T20. */
export function uncountedActivation(network: Network, stated: bigint): bigint {
  const counted = FAMILY_OF[network.slug] === 'tron' ? tronOf(network).activationSunFloor : 0n;
  return counted > stated ? counted - stated : 0n;
}

/** What an edge counts of an account that a sweep makes beside its stated rent: it cannot see its size. E4, L29. */
function uncountedRent({ network }: Binding, inputs: BuildInputs, stated: bigint): bigint {
  const token = FAMILY_OF[network.slug] === 'sol' ? (inputs as SolInputs).token : null;
  const counted = stated === 0n || token === null ? 0n : countedRent(token.program);
  return counted > stated ? counted - stated : 0n;
}

/** The rent of an account that a sweep makes; a simulated ledger makes one with each. */
export function openingOf({ network }: Pick<Binding, 'network'>, { parts }: FeeEstimate): bigint {
  return network.simulated === true ? 0n : BigInt(parts['rentLamports'] ?? 0);
}

/**
 * Whether a sweep makes an account at the treasury: those of its job that are built beside it would make it again,
 * which fails on xlm and is paid twice on sol, or be too small to make one.
 */
export function opensTreasury(
  binding: Pick<Binding, 'network'>,
  fee: FeeEstimate,
  inputs: BuildInputs,
  { token }: Pick<Intent, 'token'>,
): boolean {
  if (token !== null) return openingOf(binding, fee) > 0n;
  switch (FAMILY_OF[binding.network.slug]) {
    case 'sol':
      return (inputs as SolInputs).destination.kind === 'absent';
    case 'xrp':
      return (inputs as XrpInputs).destination === null;
    case 'xlm':
      return (inputs as XlmInputs).destination === null;
    default:
      return false;
  }
}

/** A sample as the dearest address would read it: without resources of its own, and with the dearest salt (L33). */
function asDearest({ network }: Binding, inputs: BuildInputs): BuildInputs {
  switch (FAMILY_OF[network.slug]) {
    case 'tron':
      return { ...inputs, energy: '0', stakedBandwidth: '0', freeBandwidth: '0' } as BuildInputs;
    case 'sol':
      return { ...inputs, salt: SALTS - 1 } as BuildInputs;
    default:
      return inputs;
  }
}
