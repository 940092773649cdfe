/**
 * What one sweep takes from the gas tank at today's fees, by family: how many sweeps a tank still pays for. Treasury
 * W8.
 *
 *   evm        funding and sweep of an address without gas (evm-cost.ts)
 *   tron       activation of a new address, the energy of a token transfer, bandwidth of both transactions
 *   sol        two signatures and the priority fee: the tank pays, and nothing is funded
 *   xlm        a fee bump of one operation
 *   xrp, btc   nothing: what is swept pays for itself
 */
import type { BuildInputs, Network } from '../../chains/chain.ts';
import type { EvmInputs } from '../../chains/evm/fee.ts';
import type { SolInputs } from '../../chains/sol/fee.ts';
import type { TronInputs } from '../../chains/tron/build-inputs.ts';
import { BUMPED_OPERATIONS } from '../../chains/xlm/fee.ts';
import type { XlmInputs } from '../../chains/xlm/inputs.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';
import { evmUnitCost } from './evm-cost.ts';

/** Energy of a token transfer to an account that holds the token, as a treasury does. T21. */
const TRANSFER_ENERGY = 65_000n;
/** Bytes of a TRX transfer and of a token transfer, with signature. T11. */
const BANDWIDTH_BYTES = 268n + 345n;
/** Compute of a token transfer, and micro-lamports in a lamport. L27. */
const TOKEN_UNITS = 10_000n,
  MICRO = 1_000_000n;

/** Smallest native unit; null where a tank is not needed. `inputs` as the chain's client reads them for the tank. */
export function unitCostOf(network: Network, inputs: BuildInputs): bigint | null {
  switch (FAMILY_OF[network.slug]) {
    case 'evm': {
      const { baseFeePerGas, tipPerGas, gasPrice, l1FeeUpperBound } = inputs as EvmInputs;
      return evmUnitCost({
        baseFee: BigInt(gasPrice ?? baseFeePerGas),
        tip: BigInt(tipPerGas),
        l1Reserve: BigInt(l1FeeUpperBound ?? 0),
        fundingDepth: network.fundingDepth ?? 1,
      });
    }
    case 'tron': {
      const { energySun, bandwidthSun, newAccountSun, createAccountSun } = (inputs as TronInputs).prices;
      const activation = BigInt(newAccountSun) + BigInt(createAccountSun);
      return activation + TRANSFER_ENERGY * BigInt(energySun) + BANDWIDTH_BYTES * BigInt(bandwidthSun);
    }
    case 'sol': {
      const { lamportsPerSignature, unitPrice } = inputs as SolInputs;
      return 2n * BigInt(lamportsPerSignature) + (TOKEN_UNITS * BigInt(unitPrice) + MICRO - 1n) / MICRO;
    }
    case 'xlm': {
      const { baseFee, marketFee } = inputs as XlmInputs;
      const perOperation = BigInt(marketFee) > BigInt(baseFee) ? BigInt(marketFee) : BigInt(baseFee);
      return BigInt(BUMPED_OPERATIONS) * perOperation;
    }
    case 'xrp':
    case 'btc':
      return null;
  }
}

export interface TankFigures {
  /** Smallest native unit; null while it cannot be said. */
  readonly lowBalance: bigint | null;
  readonly isLow: boolean | null;
  readonly sweepsRemaining: bigint | null;
}

/** Unit costs below which a tank is low where its owner set no bound. Treasury W7. */
const LOW_SWEEPS = 20n;

/** What a tank with `available` units is good for. `unitCost` null: nothing is needed of it. */
export function tankFigures(available: bigint, unitCost: bigint | null, ownBound: bigint | null): TankFigures {
  const lowBalance = ownBound ?? (unitCost === null ? null : LOW_SWEEPS * unitCost);
  return {
    lowBalance,
    isLow: lowBalance === null ? null : available < lowBalance,
    sweepsRemaining: unitCost === null || unitCost === 0n ? null : available / unitCost,
  };
}
