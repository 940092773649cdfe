/** Withdrawals of an account, and the counters (nonces, sequences, outputs) that they hold. */
import type { BroadcastResult, BuildInputs, FeeEstimate, Intent, ReplayKey, Signed } from '../../chains/chain.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { AddressRow } from '../rows/address.ts';
import type { SweepOperationRow } from '../rows/sweep.ts';
import type { BridgeArrow } from './bridge.ts';
import type { UsedValue, WithdrawalRow } from '../rows/withdrawal.ts';

/**
 * What a withdrawal holds until it is out of the way: `built` (nothing signed), `signed` (may land at any time) or
 * `included` (in a block that may still be orphaned).
 */
export interface InFlight {
  id: string;
  stage: 'built' | 'signed' | 'included';
}

/**
 * Replay protection of one (chain, address). Values are decimal text, so that a Stellar sequence (64 bits) fits; on btc
 * they are the outpoints `txid:vout` that are spoken for. Empty entries are dropped: the chain's own count is then the
 * truth. V39.
 */
export interface Counter {
  next: string | null;
  free: string[];
  inFlight: Record<string, InFlight>;
}

export interface OutgoingState {
  counters: Record<string, Counter>;
  /**
   * Withdrawals that may still change: id → `updatedAtMs` of the newest row, so that a decision on an older row is
   * refused.
   */
  withdrawals: Record<string, number>;
  /** Those of them that are signed: they may be settled at any time. Console B5. */
  signed: Record<string, true>;
  /** Confirmed withdrawals that a deep reorg took out of the chain: they are not billed again. */
  reopened: string[];
}

/** From where an operation goes by a build, and to where. */
export interface OperationArrow {
  known: SweepOperationRow;
  to: 'FUNDING' | 'SIGNING';
  /** What is swept, or funded. */
  amount: bigint;
  /** What the tank has beside what it keeps for others, smallest native unit; null where it pays nothing. W9. */
  left: bigint | null;
}

/** A build that nobody signed, as the store has it. */
export interface UnsignedBuild {
  id: string;
  chain: Chain;
  from: string;
  replayKey: ReplayKey;
  updatedAtMs: number;
}

export type OutgoingCommand =
  | {
      type: 'build_withdrawal';
      id: string;
      intent: Intent;
      inputs: BuildInputs;
      from: AddressRow;
      tokenSymbol: string;
      decimals: number;
      /** Of the sender's withdrawals that are in a block, as the store has them. */
      used?: UsedValue | null;
      /** The arrow of a treasury operation that this build is; absent: a caller's own. Treasury 5.3. */
      operation?: OperationArrow;
      /** The arrow of a bridge transfer that this build is. Treasury H5. */
      bridging?: BridgeArrow;
      /** An operation that is under way from the sender: one that has nothing to sign yet gives way. Treasury S21. */
      sweeping?: SweepOperationRow | null;
    }
  | { type: 'reprice_withdrawal'; known: WithdrawalRow; inputs: BuildInputs }
  /**
   * Before a signature: the counter value that is next. `gaveUp`: builds that the edge bound before and will not sign
   * now.
   */
  | {
      type: 'bind_withdrawal';
      known: WithdrawalRow;
      inputs: BuildInputs;
      used?: UsedValue | null;
      gaveUp: readonly string[];
    }
  | { type: 'abandon_withdrawal'; known: WithdrawalRow }
  /** Those that did not change for BUILD_TTL, of this account. */
  | { type: 'expire_builds'; builds: UnsignedBuild[] }
  | { type: 'submit_signed'; known: WithdrawalRow; signed: Signed; sessionId: string; leaseEpoch: number }
  /** Before each submit: from here on a node may have the bytes. */
  | { type: 'begin_submit'; known: WithdrawalRow; txid: string }
  /** `sole`: the answer to the only submit of this version that was ever begun, as `begin_submit` said. */
  | { type: 'note_broadcast'; known: WithdrawalRow; txid: string; result: BroadcastResult; sole?: true };

/** Values of one counter that a withdrawal holds. */
export interface Hold {
  key: string;
  values: string[];
}

export type OutgoingEvent =
  | {
      type: 'withdrawal_built';
      id: string;
      atMs: number;
      hold: (Hold & { next: string | null; free: string[] }) | null;
    }
  | { type: 'withdrawal_repriced'; id: string; atMs: number; hold: Hold | null }
  | { type: 'withdrawal_bound'; id: string; atMs: number; hold: Hold & { next: string | null; free: string[] } }
  /** Another one has its value now. */
  | { type: 'withdrawal_unbound'; id: string; atMs: number; hold: Hold }
  /** The node refused one of several versions for good; the others may still land. */
  | { type: 'withdrawal_version_dropped'; id: string; atMs: number; txid: string }
  /** `unbilled`: a sweep's, which counts against no limit. */
  | { type: 'withdrawal_signed'; id: string; atMs: number; txid: string; hold: Hold | null; unbilled?: true }
  | { type: 'withdrawal_broadcast'; id: string; atMs: number; txid: string }
  /** A submit was begun: a node may have the bytes. */
  | { type: 'withdrawal_doubted'; id: string; atMs: number; txid: string }
  | {
      type: 'withdrawal_included';
      id: string;
      atMs: number;
      txid: string;
      height: number;
      hold: Hold | null;
      unbilled?: true;
    }
  | {
      type: 'withdrawal_orphaned';
      id: string;
      atMs: number;
      txid: string;
      hold: Hold | null;
      wasConfirmed: boolean;
      unbilled?: true;
    }
  /** `period` is the billing month, null when it was billed before. */
  | { type: 'withdrawal_confirmed'; id: string; txid: string; hold: Hold | null; period: string | null }
  /** `uncounted` is the billing month that it takes one off, where it was billed before. */
  | {
      type: 'withdrawal_failed';
      id: string;
      reason: string;
      hold: (Hold & { reusable: boolean }) | null;
      uncounted?: string;
    }
  | { type: 'withdrawal_expired'; id: string; hold: Hold | null }
  /** Nobody signed them for BUILD_TTL. */
  | { type: 'builds_expired'; builds: { id: string; hold: Hold | null }[] };

export interface OutgoingReplies {
  build_withdrawal: WithdrawalRow & { feeEstimate: FeeEstimate };
  reprice_withdrawal: WithdrawalRow;
  bind_withdrawal: WithdrawalRow;
  abandon_withdrawal: WithdrawalRow;
  expire_builds: { expired: number };
  submit_signed: WithdrawalRow;
  begin_submit: { row: WithdrawalRow; sole: boolean };
  note_broadcast: WithdrawalRow;
}

/** Rows that it writes. */
export type OutgoingWrite =
  | { table: 'withdrawal'; row: WithdrawalRow } // insert or update by id
  // A build that nobody signed: it ended, or gave the counter that was bound for it back.
  | { table: 'withdrawal_status'; id: string; status: 'expired' | 'built'; updatedAtMs: number }
  | { table: 'billable'; withdrawalId: string; kind: 'withdrawal' | 'sweep'; period: string }
  // One that was billed failed after all, and was confirmed after that.
  | { table: 'billable_change'; withdrawalId: string; period: string; change: -1 | 1 };

/** What is on its way: no part of the snapshot, but composed of `withdrawal` rows whenever an account is loaded. */
export const OUTGOING_INITIAL: OutgoingState = { counters: {}, withdrawals: {}, signed: {}, reopened: [] };
