/** Deposits and withdrawals as one list: a row of it, and what it is filtered by. */
import type { Chain, Direction, OperationRole, WithdrawalKind } from '../../protocol/slugs.ts';
import type { SignedVersion } from '../rows/withdrawal.ts';

export interface TransactionFilter {
  chain?: Chain;
  userRef?: string;
  tag?: string;
  status?: string;
  direction?: Direction;
  /** With a chain, a status and a direction: no index names it with a user or a tag. */
  kind?: WithdrawalKind;
}

export interface TransactionView {
  id: string;
  direction: Direction;
  /** Of a withdrawal, with the role and the operation of the treasury's own; null otherwise. Treasury S23. */
  kind: WithdrawalKind | null;
  role: OperationRole | null;
  operationId: string | null;
  chain: Chain;
  status: string;
  txid: string | null;
  outputIndex: number | null;
  address: string;
  counterparty: string | null;
  amount: bigint;
  decimals: number;
  tokenContract: string | null;
  tokenSymbol: string;
  userRef: string | null;
  tag: string | null;
  chainTag: string | null;
  height: number | null;
  blockHash: string | null;
  confirmations: number;
  threshold: number;
  incarnation: number | null;
  fee: bigint | null;
  failure: { code: string; reason: string } | null;
  /** Signed versions, oldest first; none of a deposit. */
  versions: Pick<SignedVersion, 'txid' | 'doubtful' | 'taken'>[];
  createdAtMs: number;
  updatedAtMs: number;
}
