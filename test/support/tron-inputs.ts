/** Inputs of a build as a node might have told them. */
import type { TronInputs } from '../../chains/tron/build-inputs.ts';

export const HEAD_MS = 1_800_000_000_000;

/** A sender with 10 TRX, no bandwidth and no energy, and a destination that exists. */
export function inputsOf(more: Partial<TronInputs> = {}): TronInputs {
  return {
    readAtHeight: 70_000_042,
    readAtHash: `00000000042c1daa${'ab'.repeat(24)}`,
    headTimeMs: HEAD_MS,
    timestampMs: HEAD_MS + 17,
    refBlockBytes: '1d98',
    refBlockHash: 'cd'.repeat(8),
    senderExists: true,
    nativeBalance: '10000000',
    tokenBalance: null,
    destination: 'account',
    stakedBandwidth: '0',
    freeBandwidth: '0',
    energy: '0',
    tried: { kind: 'native' },
    prices: {
      bandwidthSun: '1000',
      energySun: '100',
      createAccountSun: '100000',
      newAccountSun: '1000000',
      createAccountRate: '1',
      feeLimitMaxSun: '15000000000',
    },
    ...more,
  };
}
