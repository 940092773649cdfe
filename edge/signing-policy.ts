/** What a signer may rely on: this edge's limits, derivation, registry and journal, for one payload. */
import { networkOf } from '../chains/registry.ts';
import type { Catalogue } from '../chains/chain.ts';
import type { Chain } from '../protocol/slugs.ts';
import type { Instructions, RecordedInstruction } from './instructions.ts';
import type { OwnAddresses } from './own-addresses.ts';
import type { SigningPolicy } from './signers/signer.ts';

export interface PolicySource {
  readonly instructions: Instructions;
  readonly own: OwnAddresses;
  /** G29: EDGE_FEE_CAP_<CHAIN>, else the network's own. */
  readonly feeCaps: ReadonlyMap<Chain, bigint>;
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
  const { instructions, own, feeCaps, sweepTreasuries, catalogueOf, nowMs } = source;
  const { instruction, unsigned: { from, replayKey } } = recorded;
  const { chain } = instruction;
  const network = networkOf(chain);
  const { gasTank, treasury } = own.paths(chain);
  const addressAt = (path: string) => own.addressAt(chain, path);
  const derivedTreasury = treasury === null ? null : addressAt(treasury);
  const highest = instructions.highestCounter(chain, from, replayKey);
  return {
    feeCap: feeCaps.get(chain) ?? network.feeCap,
    feeRatioBpsMax: null,
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
