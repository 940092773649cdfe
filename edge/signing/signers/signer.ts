/**
 * What every family's signer offers, and what the edge brings to it. The cloud is not trusted: `check` decodes the
 * payload itself and holds every field of it against what this edge's own caller asked for, the addresses that this
 * edge derives, and its own journal. chains.md 1.6, decisions 6.
 *
 * Terminology.
 *   instruction   what a holder of a local key asked for, or the sweep that this edge's own settings permit
 *   policy        this edge's limits, journal and derivation, as values and pure functions
 *   journal       payloads that this edge has signed before; written before a signature leaves the process
 *
 * A signer reads no clock, no file and no network. Whoever calls it writes the journal and the spend ledger first.
 */
import type { Catalogue, Network, ReplayKey, Signed, Token, Unsigned } from '../../../chains/chain.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import type { FeeBounds } from './fee-bounds.ts';
import { stepOf } from './refusal-steps.ts';

/** Why the edge is asked to sign. Each purpose has its own rule for the destination (1.6-3). */
export type Purpose =
  | 'withdrawal' // the caller's own destination
  | 'sweep' // the re-derived treasury or an entry of EDGE_SWEEP_TREASURY_ALLOWLIST
  | 'gas_funding' // from the gas tank to an address that this edge derives at `toPath`
  | 'cancel' // nothing to oneself under a nonce that must not stay free (V38)
  | 'opt_in'; // a trustline of one's own account

export interface Instruction {
  readonly id: string;
  readonly purpose: Purpose;
  readonly chain: Chain;
  readonly from: string;
  readonly fromPath: string;
  readonly to: string;
  /** Path of `to` where the purpose is `gas_funding`; null otherwise. */
  readonly toPath: string | null;
  readonly amount: bigint | 'all';
  /** From this edge's own registry, never from the cloud's answer. */
  readonly token: Token | null;
  readonly tag: string | null;
  /**
   * The tag is a part of the destination's own text (`M…`, an X-address): it goes where such a tag goes, not into a
   * memo.
   */
  readonly tagOfAddress?: true;
  /** The application's own name of the payment: two with different names are two payments, however alike. */
  readonly paymentRef?: string;
  /**
   * Its counter is bound when it is broadcast (binding.ts). Absent where the chain has none, and in instructions of an
   * edge of before.
   */
  readonly counter?: 'at_broadcast';
  /**
   * SHA-256 of the Idempotency-Key that it was asked under, and of the body that was sent. `supersedes`: the builds
   * that held the key before, oldest first; each expired unsigned and is signed by nobody any more (superseding.ts).
   */
  readonly request?: { readonly key: string; readonly body: string; readonly supersedes?: readonly string[] };
}

/** Payloads signed before, oldest first. */
export interface SigningJournal {
  /** For this instruction, whatever their replay key: two of them with different keys could both land (G27). */
  readonly forInstruction: readonly string[];
  /** Of this chain and sender with this key, for any instruction (1.6-7). */
  withReplayKey(key: ReplayKey): readonly string[];
}

export interface SigningPolicy extends FeeBounds {
  /** Where sweeps may go on this chain: the re-derived treasury and the allow-list, canonical text. */
  readonly sweepDestinations: readonly string[];
  /** Gas tank of this chain, re-derived; null where there is none. */
  readonly gasTank: string | null;
  /** Tokens of this chain in the registry version that this edge accepted. */
  readonly catalogue: Catalogue;
  /** The address this edge derives at an absolute path, or null when the path is not one of its own. */
  addressAt(path: string): string | null;
  readonly journal: SigningJournal;
  /** Inclusive bounds of the next counter, from the journal or the customer's own node; null while neither knows. */
  readonly replayWindow: { readonly from: bigint; readonly to: bigint } | null;
  /** Highest nonce while neither knows. EDGE_FIRST_NONCE_MAX. */
  readonly firstNonceMax?: bigint;
  /**
   * The edge's clock, for payloads that must expire soon (1.6-8: tron, xlm, xrp); without it such a payload is refused.
   */
  readonly nowMs?: number;
}

/**
 * How long a chain may stand still and then take what was signed before, milliseconds. A block may hold what its
 * parent's time has not overtaken (tron), a ledger closes with the time at which its vote began (xlm), a block hash
 * ages by blocks (sol). TRON stood still for 2 h 15 min on 2 November 2020, Stellar for 67 minutes on 15 May 2019,
 * Solana for up to 19 hours. Sources: java-tron Manager.validateCommon; stellar-core HerderSCPDriver::checkCloseTime;
 * status.solana.com, 2021 to 2024.
 */
export const HALT_MS_MAX = 24 * 3_600_000;

/** A private key, held for one signature. It exists in this room only. */
export interface SigningKey {
  readonly privateKey: Uint8Array;
}

export interface Signer {
  /** Refuses: SIGNED_BATCH_REJECTED with `details.reason`, for whatever differs from the instruction or the policy. */
  check(network: Network, unsigned: Unsigned, instruction: Instruction, policy: SigningPolicy): Refusal | null;
  /**
   * Signs a payload that `check` passed. Further keys are those of co-signers (a fee payer, other inputs), in the
   * order in which the payload names them. Throws: Error when a key is not the one that the payload needs.
   */
  sign(network: Network, unsigned: Unsigned, key: SigningKey, ...coSigners: readonly SigningKey[]): Signed;
  /** Own addresses beside `from` that must sign a payload that `check` passed: who pays its fee. */
  coSigners?(unsigned: Unsigned): readonly string[];
  /**
   * What a payload that `check` passed costs at least where the highest fee holds a part that stands in no byte,
   * smallest native unit: a cloud that tells less of it hides nothing from the spend ledger.
   */
  feeFloor?(unsigned: Unsigned): bigint;
  /**
   * Instant of the wall clock, milliseconds, after which a payload that `check` passed at `nowMs` cannot land whatever
   * anybody says; absent where no time kills it.
   */
  deadAtMs?(unsigned: Unsigned, nowMs: number): number;
}

/**
 * The one refusal of a signer: a snake_case reason, the two values that differ as text, the setting that decides and
 * the next step (refusal-steps.ts).
 */
export function refuseToSign(reason: string, differs: { expected?: unknown; found?: unknown } = {}): Refusal {
  const text = (value: unknown) => (value === null ? null : String(value).slice(0, 200));
  return refuse('SIGNED_BATCH_REJECTED', {
    reason,
    ...('expected' in differs ? { expected: text(differs.expected) } : {}),
    ...('found' in differs ? { found: text(differs.found) } : {}),
    ...stepOf(reason),
  });
}

/** Flaws of a text and not of what it says: another encoding of a transaction, or of nothing. */
const TEXT_FLAWS: ReadonlySet<string> = new Set([
  'unreadable',
  'not_canonical',
  'not_base64',
  'not_an_envelope',
  'envelope_type',
  'unknown_field',
  'repeated_field',
  'unexpected_field',
  'truncated',
  'trailing_bytes',
  'count_not_canonical',
  'message_version',
  'duplicate_keys',
  'header',
  'key_index',
]);

/**
 * A payload that does not decode. A transaction has one text on each chain, the one that is checked, signed and stored:
 * any other is refused alike, `not_canonical`, with the finer flaw as `found`. Refuses: SIGNED_BATCH_REJECTED. found
 * F13.
 */
export function refusePayload(reason: string, found?: unknown): Refusal {
  if (TEXT_FLAWS.has(reason)) return refuseToSign('not_canonical', { found: reason });
  return refuseToSign(reason, found === undefined ? {} : { found });
}
