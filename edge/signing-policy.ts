/** What a signer may rely on: this edge's limits, derivation, registry and journal, for one payload. */
import type { Catalogue } from '../chains/chain.ts';
import type { Chain } from '../protocol/slugs.ts';
import type { Instructions, RecordedInstruction } from './instructions.ts';
import type { OwnAddresses } from './own-addresses.ts';
import { feeBoundsOf, type FeeSettings } from './signers/fee-bounds.ts';
import type { SigningPolicy } from './signers/signer.ts';

export interface PolicySource {
  readonly instructions: Instructions;
  readonly own: OwnAddresses;
  /** G29: the bounds of fees. */
  readonly fees: FeeSettings;
  /** EDGE_SWEEP_TREASURY_ALLOWLIST, canonical texts. Spec §4.5. */
  readonly sweepTreasuries: ReadonlyMap<Chain, readonly string[]>;
  readonly catalogueOf: (chain: Chain) => Catalogue;
  readonly nowMs: () => number;
}

/**
 * Counters this far above the highest one that was signed here are still plausible: other replicas sign too. A payload
 * further ahead could lie for months and land when its turn comes.
 */
const REPLAY_AHEAD_MAX = 1_024n;

/** The policy for a payload; signatures of `released` transactions hold its replay key no more. */
export function signingPolicyOf(source: PolicySource, recorded: RecordedInstruction, released: ReadonlySet<string>): SigningPolicy {
  const { instructions, own, fees, sweepTreasuries, catalogueOf, nowMs } = source;
  const { instruction, unsigned: { from, replayKey } } = recorded;
  const { chain } = instruction;
  const { gasTank, treasury } = own.paths(chain);
  const addressAt = (path: string) => own.addressAt(chain, path);
  const derivedTreasury = treasury === null ? null : addressAt(treasury);
  const highest = instructions.highestCounter(chain, from, replayKey);
  return {
    ...feeBoundsOf(chain, fees, instruction.purpose === 'sweep'),
    sweepDestinations: [...(derivedTreasury === null ? [] : [derivedTreasury]), ...sweepTreasuries.get(chain) ?? []],
    gasTank: gasTank === null ? null : addressAt(gasTank),
    catalogue: catalogueOf(chain),
    addressAt,
    journal: {
      forInstruction: instructions.signaturesOf(instruction.id).map(({ payload }) => payload),
      withReplayKey: (key) => instructions.signaturesUnder(chain, from, key)
        .filter(({ transactionId }) => !released.has(transactionId)).map(({ payload }) => payload),
    },
    replayWindow: highest === null ? null : { from: 0n, to: highest + REPLAY_AHEAD_MAX },
    nowMs: nowMs(),
  };
}
