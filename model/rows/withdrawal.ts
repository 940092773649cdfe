/** Withdrawals and their signed versions. */
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import type { Chain, OperationRole, WithdrawalStatus } from '../../protocol/slugs.ts';
import type { Unsigned } from '../../chains/chain.ts';

/**
 * Signed bytes. `doubtful` from before their first submit: a node may have them. No refusal ends them then, only proof
 * (G27), save the answer to that first submit while no other was begun. `taken` once a node answered that it has them;
 * absent in rows that are older than it. `refused` once every node refused its only submit: it is submitted no more,
 * and watched. `amount` is what it pays, decimal digits of the smallest unit: a send-all pays less with each repricing.
 * Absent in older rows. `confirmed`: the last `withdrawal_confirmed` named this version.
 * `left`: what left the sender of a token, decimal digits, where its issuer keeps a share of what it pays.
 * `failed`: the withdrawal failed by it and was taken up again; until it is confirmed that is the last word, said once.
 * `uncounted`: it was billed, failed after all, and is not counted until it is confirmed again.
 * `watched`: the withdrawal failed by its refusal, and nothing proves yet that it cannot land: it is looked for until
 * the chain says so.
 */
export interface SignedVersion {
  txid: string;
  signedPayload: string;
  payload: string;
  amount?: string;
  doubtful?: true;
  taken?: boolean;
  refused?: true;
  left?: string;
  confirmed?: true;
  failed?: true;
  uncounted?: true;
  watched?: true;
}

export interface WithdrawalRow {
  id: string;
  /** A transaction of a treasury operation: never billed, and announced by no event of its own. Absent: a caller's. */
  kind?: 'sweep';
  /** What it does for which sweep operation or bridge transfer. Absent: a caller's, or built by a release of before. */
  role?: OperationRole;
  operationId?: string;
  accountId: AccountId;
  ledger: LedgerId;
  chain: Chain;
  from: string;
  to: string;
  amount: bigint;
  decimals: number;
  tokenContract: string | null;
  tokenSymbol: string;
  userRef: string | null;
  tag: string | null;
  status: WithdrawalStatus;
  unsigned: Unsigned;
  /**
   * Signed bytes are durable before the first submit (G25). All versions, those that were refused first, the newest
   * last.
   */
  versions: SignedVersion[];
  txid: string | null;
  height: number | null;
  blockHash: string | null;
  fee: bigint | null;
  failure: { code: string; reason: string } | null;
  createdAtMs: number;
  updatedAtMs: number;
}

/** The highest counter value that a sender's transactions have used, and the block of ours that holds it. */
export interface UsedValue {
  value: string;
  height: number;
}
