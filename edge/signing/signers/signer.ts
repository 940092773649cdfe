/**
 * What every family's signer offers, and what the edge gives it. The cloud is not trusted: `check` decodes the payload
 * itself and compares every field with what this edge's own caller asked for, the addresses that this edge derives, and
 * its own journal. The rules of the check: rules.ts. chains.md 1.6, decisions 6.
 *
 * Terminology.
 *   instruction   what a holder of a local key asked for, or a sweep that this edge's own settings permit
 *   policy        this edge's limits, journal and derivation, as values and pure functions
 *   journal       payloads that this edge signed before; written before a signature leaves the process
 *
 * A signer reads no clock, file or network. Its caller writes the journal and the spend ledger first.
 */
import type { Catalogue, Network, ReplayKey, Signed, Token, Unsigned } from '../../../chains/chain.ts';
import type { MayCall } from '../../../chains/contract-call.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import type { FeeBounds } from './fee-bounds.ts';
import { stepOf } from './refusal-steps.ts';

/** Why the edge is asked to sign. Each purpose has its own rule for the destination (1.6-3). */
export type Purpose =
  | 'withdrawal' // the caller's own destination
  | 'sweep' // the re-derived treasury or an entry of EDGE_SWEEP_TREASURY_ALLOWLIST
  | 'gas_funding' // from the gas tank to an address that this edge derives at `toPath`
  | 'bridge' // a call of a pinned contract that this edge made itself: approve, burn or mint
  | 'cancel' // nothing to oneself under a nonce that must not stay free (V38)
  | 'opt_in'; // a trustline of one's own account

/** `call`, of a bridge: the very call that the payload must make (sweeps/bridge.ts). */
export interface Instruction extends MayCall {
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
   * The tag is a part of the destination's own text (`M…`, an X-address), so it belongs in the destination, not into
   * a memo.
   */
  readonly tagOfAddress?: true;
  /** Of a bridge's burn: what is burnt counts against EDGE_BRIDGE_CAP_<CHAIN>. */
  readonly burns?: true;
  /**
   * The application's own name of the payment: payments with different names are different, even if all else is equal.
   */
  readonly paymentRef?: string;
  /**
   * Its counter is bound when it is broadcast (binding.ts). Absent where the chain has no counter, and in instructions
   * of an older edge.
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
  /** For this instruction, under any replay key: two with different keys could both land (G27). */
  readonly forInstruction: readonly string[];
  /** For any instruction, of this chain and sender under this key (1.6-7). */
  withReplayKey(key: ReplayKey): readonly string[];
}

export interface SigningPolicy extends FeeBounds {
  /** Where sweeps may go on this chain: the re-derived treasury and the allow-list, canonical text. */
  readonly sweepDestinations: readonly string[];
  /** Gas tank of this chain, re-derived; null where the chain has none. */
  readonly gasTank: string | null;
  /** Tokens of this chain in the registry version that this edge accepted. */
  readonly catalogue: Catalogue;
  /** The address this edge derives at an absolute path, or null when the path is not one of its own. */
  addressAt(path: string): string | null;
  readonly journal: SigningJournal;
  /** Inclusive bounds of the next counter, from the journal or the customer's own node; null while both know none. */
  readonly replayWindow: { readonly from: bigint; readonly to: bigint } | null;
  /** Highest nonce while both know none. EDGE_FIRST_NONCE_MAX. */
  readonly firstNonceMax?: bigint;
  /**
   * The edge's clock, for payloads that must expire soon (1.6-8: tron, xlm, xrp); without it they are refused.
   */
  readonly nowMs?: number;
}

/**
 * How long a chain may halt and then accept what was signed before, milliseconds. A block may hold what its
 * parent's time has not overtaken (tron), a ledger closes with the time at which its vote began (xlm), a block hash
 * ages by blocks (sol). TRON halted for 2 h 15 min on 2 November 2020, Stellar for 67 minutes on 15 May 2019,
 * Solana for up to 19 hours. Sources: java-tron Manager.validateCommon; stellar-core HerderSCPDriver::checkCloseTime;
 * status.solana.com, 2021 to 2024.
 */
export const HALT_MS_MAX = 24 * 3_600_000;

/** A private key, lent for one signature. */
export interface SigningKey {
  readonly privateKey: Uint8Array;
}

export interface Signer {
  /** Refuses: SIGNED_BATCH_REJECTED with `details.reason`, for each difference from the instruction or the policy. */
  check(network: Network, unsigned: Unsigned, instruction: Instruction, policy: SigningPolicy): Refusal | null;
  /**
   * Signs a payload that `check` passed. Further keys are those of co-signers (a fee payer, other inputs), in the
   * order in which the payload names them. Throws: Error when a key is not the one that the payload needs.
   */
  sign(network: Network, unsigned: Unsigned, key: SigningKey, ...coSigners: readonly SigningKey[]): Signed;
  /** Own addresses beside `from` that must sign a payload that `check` passed: the payer of its fee. */
  coSigners?(unsigned: Unsigned): readonly string[];
  /**
   * Lowest cost of a payload that `check` passed, smallest native unit, where a part of its fee is in no byte, or a
   * part of the payload can land alone: a cloud that understates it hides nothing from the spend ledger.
   */
  feeFloor?(unsigned: Unsigned, of: { readonly isSweep: boolean }): bigint;
  /**
   * Instant of the wall clock, milliseconds, after which a payload that `check` passed at `nowMs` can no longer land;
   * absent where it never expires.
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

/** Flaws of the text, not of its content: another encoding of a transaction, or no transaction at all. */
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
 * A payload that does not decode. On each chain a transaction has one text, which is checked, signed and stored; any
 * other is refused as `not_canonical`, with the finer flaw as `found`. Refuses: SIGNED_BATCH_REJECTED. found
 * F13.
 */
export function refusePayload(reason: string, found?: unknown): Refusal {
  if (TEXT_FLAWS.has(reason)) return refuseToSign('not_canonical', { found: reason });
  return refuseToSign(reason, found === undefined ? {} : { found });
}
