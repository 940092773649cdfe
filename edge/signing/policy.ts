/**
 * The policy for one payload: this edge's limits, derivation, registry and journal. A signer relies on nothing else.
 */
import type { Catalogue } from '../../chains/chain.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { AllowedTreasury } from '../sweeps/treasuries.ts';
import type { Instructions, RecordedInstruction } from './instructions.ts';
import type { OwnAddresses } from './own-addresses.ts';
import { feeBoundsOf, type FeeSettings } from './signers/fee-bounds.ts';
import type { SigningPolicy } from './signers/signer.ts';

export interface PolicySource {
  readonly instructions: Instructions;
  readonly own: OwnAddresses;
  /** G29: the bounds of fees. */
  readonly fees: FeeSettings;
  /** EDGE_FIRST_NONCE_MAX. found F8. */
  readonly firstNonceMax: bigint;
  /** EDGE_SWEEP_TREASURY_ALLOWLIST. Spec §4.5. */
  readonly sweepTreasuries: ReadonlyMap<Chain, readonly AllowedTreasury[]>;
  /** EDGE_BTC_SWEEPS. Treasury 5.4. */
  readonly btcSweeps: boolean;
  /** EDGE_BRIDGE_CAP_<CHAIN>: none is zero. Treasury E4. */
  readonly bridgeCaps: ReadonlyMap<Chain, bigint>;
  readonly catalogueOf: (chain: Chain) => Catalogue;
  readonly nowMs: () => number;
}

/**
 * Counters up to this far above the highest one that was signed here are plausible where no own node is asked, since
 * other replicas sign too. A payload further ahead could wait for months and land when its turn comes.
 */
const REPLAY_AHEAD_MAX = 1_024n;

/** Answers from outside that a policy needs (asked.ts); everything else is read when the policy is made. */
export interface Asked {
  /** Transactions whose replay key is free again. */
  readonly released: ReadonlySet<string>;
  /** Next counter of the sender at the company's own node; null where none was asked, or none answered. */
  readonly nextAtNode: bigint | null;
}

/**
 * Whether the counter of a payload is above the next one that this edge knows, or it knows none. Only replicas of this
 * edge have the key: if none of them used the values in between, nothing after them lands.
 */
export function isAheadOfOwn(
  { instructions }: Pick<PolicySource, 'instructions'>,
  { unsigned: { chain, from, replayKey } }: RecordedInstruction,
): boolean {
  if (replayKey.kind !== 'nonce' && replayKey.kind !== 'sequence') return false;
  const highest = instructions.highestCounter(chain, from, replayKey);
  return highest === null || BigInt(replayKey.value) > highest + 1n;
}

/**
 * Highest counter to sign: the next one by own history or own node; without a node, with room for what other replicas
 * signed.
 */
function highestNext(highest: bigint | null, nextAtNode: bigint | null): bigint | null {
  if (nextAtNode === null) return highest === null ? null : highest + REPLAY_AHEAD_MAX;
  return highest === null || highest + 1n < nextAtNode ? nextAtNode : highest + 1n;
}

/** The policy for a payload. */
export function signingPolicyOf(
  source: PolicySource,
  recorded: RecordedInstruction,
  { released, nextAtNode }: Asked,
): SigningPolicy {
  const { instructions, own, fees, firstNonceMax, sweepTreasuries, catalogueOf, nowMs } = source;
  const {
    instruction,
    unsigned: { from, replayKey },
  } = recorded;
  const { chain } = instruction;
  const { gasTank, treasury } = own.paths(chain);
  const addressAt = (path: string) => own.addressAt(chain, path);
  const derivedTreasury = treasury === null ? null : addressAt(treasury);
  const to = highestNext(instructions.highestCounter(chain, from, replayKey), nextAtNode);
  return {
    ...feeBoundsOf(chain, fees, instruction.purpose === 'sweep'),
    sweepDestinations: [
      ...(derivedTreasury === null ? [] : [derivedTreasury]),
      ...(sweepTreasuries.get(chain) ?? []).map(({ address }) => address),
    ],
    gasTank: gasTank === null ? null : addressAt(gasTank),
    catalogue: catalogueOf(chain),
    addressAt,
    journal: {
      forInstruction: instructions.signaturesOf(instruction.id).map(({ payload }) => payload),
      withReplayKey: (key) =>
        instructions
          .signaturesUnder(chain, from, key)
          .filter(({ transactionId }) => !released.has(transactionId))
          .map(({ payload }) => payload),
    },
    replayWindow: to === null ? null : { from: 0n, to },
    firstNonceMax,
    nowMs: nowMs(),
  };
}
