/**
 * The least price per gas that a network's pools take, as a refusal named it. A price of ours below it is refused at
 * every build; above it the build is right at once. F30. Validators and operators change it, so it is obeyed for so
 * many builds and then found anew; how far it may raise a fee is bounded here, by the fee caps of the cloud and by
 * those of the edge.
 */
import type { EvmInputs } from './fee.ts';
import type { EvmNetwork } from './network.ts';

/** A minimum above so many times the price that the network itself shows is no pool's: it is not obeyed. */
const FACTOR_MAX = 20n;
/** Builds for which a minimum is obeyed before the network's own price is tried again. */
const BUILDS_OBEYED = 1_000;
const GWEI = 1_000_000_000n;

export interface PoolMinimum {
  note(priceWei: bigint): void;
  /** Inputs whose price is at least the minimum. */
  obeyed(inputs: EvmInputs): EvmInputs;
}

export function createPoolMinimum({ feePolicy }: Pick<EvmNetwork, 'feePolicy'>): PoolMinimum {
  let minimum = 0n,
    builds = 0;
  const raised = (shown: string, floor: bigint): string => {
    const own = BigInt(shown) > floor ? BigInt(shown) : floor,
      usual = own > GWEI ? own : GWEI;
    return minimum > own && minimum <= usual * FACTOR_MAX ? minimum.toString() : shown;
  };
  return {
    note(priceWei) {
      minimum = priceWei;
      builds = 0;
    },
    obeyed(inputs) {
      if (minimum === 0n || (builds += 1) > BUILDS_OBEYED) return inputs;
      return feePolicy.kind === 'gas_price'
        ? { ...inputs, gasPrice: raised(inputs.gasPrice ?? '0', feePolicy.floorWei) }
        : { ...inputs, tipPerGas: raised(inputs.tipPerGas, feePolicy.tipFloorWei) };
    },
  };
}
