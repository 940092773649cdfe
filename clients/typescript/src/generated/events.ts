// Made by `npm run -s clients`: changes are lost.
import type { Open } from '../kinds.ts';

/** `data` of each event, by its name. */
export interface EventData {
  deposit_detected: DepositData;
  deposit_confirmed: DepositData;
  deposit_reversed: DepositReversedData;
  address_activated: DepositData;
  withdrawal_broadcast: WithdrawalData;
  withdrawal_confirmed: WithdrawalData;
  withdrawal_failed: WithdrawalData;
  edge_offline: EdgeData;
  edge_online: EdgeData;
  identity_rotation_detected: IdentityRotationDetectedData;
  pool_low: PoolLowData;
  funding_wallet_low: FundingWalletLowData;
  payment_detected: PaymentData;
  payment_confirmed: PaymentData;
  payment_underpaid: PaymentData;
  payment_late: PaymentData;
  payment_reversed: PaymentReversedData;
  payment_unmatched: PaymentUnmatchedData;
  payment_link_created: PaymentLinkCreatedData;
  payment_link_closed: PaymentLinkClosedData;
  sweep_completed: SweepData;
  sweep_paused: SweepData;
  bridge_completed: BridgeData;
  bridge_stalled: BridgeData;
}

export interface BridgeData {
  transferId: string;
  policyId: string;
  fromChain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  toChain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  asset: string;
  tokenContract: string;
  state: string;
  amount: string;
  received: string | null;
  recipient: string;
  burnTransactionId: string;
  mintTransactionId: string | null;
  reason: string | null;
}

export interface DepositData {
  amount: string;
  amountFormatted: string;
  decimals: number;
  depositId: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  txid: string;
  outputIndex: number;
  address: string;
  tokenContract: string | null;
  tokenSymbol: string;
  userRef: string | null;
  tag: string | null;
  chainTag: string | null;
  height: number;
  blockHash: string;
  incarnation: number;
  paymentId: string | null;
  linkId: string | null;
}

export interface DepositReversedData {
  amount: string;
  amountFormatted: string;
  decimals: number;
  depositId: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  txid: string;
  outputIndex: number;
  address: string;
  tokenContract: string | null;
  tokenSymbol: string;
  userRef: string | null;
  tag: string | null;
  chainTag: string | null;
  height: number;
  blockHash: string;
  incarnation: number;
  paymentId: string | null;
  linkId: string | null;
  reversedFrom: Open<'detected' | 'confirmed' | 'reversed'>;
  depth: number;
}

export interface EdgeData {
  liveness: Open<'live' | 'down'>;
}

export interface FundingWalletLowData {
  fundingWalletId: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  address: string;
  available: string;
  lowBalance: string;
  estimatedSweepsRemaining: number | null;
}

export interface IdentityRotationDetectedData {
  rotationId: string;
  pinnedIdentity: string;
  newIdentity: string;
}

export interface PaymentData {
  amount: string;
  amountFormatted: string;
  decimals: number;
  paymentId: string;
  linkId: string;
  createdVia: 'link';
  mode: Open<'fixed' | 'donation'>;
  status: Open<'awaiting_payment' | 'detected' | 'underpaid' | 'confirmed' | 'late' | 'expired'>;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  asset: string;
  tokenContract: string | null;
  address: string;
  derivationPath: string;
  txid: string;
  outputIndex: number;
  depositId: string;
  incarnation: number;
  height: number;
  blockHash: string;
  amountDue: string;
  amountPaid: string;
  amountConfirmed: string;
  amountRemaining: string;
  amountOverpaid: string;
  amountShort: string;
  late: boolean;
  addressReused: boolean;
  invoiceNumber: string | null;
  customerEmail: string | null;
  customerName: string | null;
  metadata: Record<string, unknown>;
}

export interface PaymentLinkClosedData {
  linkId: string;
  slug: string;
  url: string;
  mode: Open<'fixed' | 'donation'>;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  asset: string;
  title: string | null;
  metadata: Record<string, unknown>;
  amountRaised: string;
  paymentCount: number;
  closedReason: Open<'paid' | 'threshold' | 'date' | 'manual'>;
  closedAt: string;
  monitorUntil: string;
}

export interface PaymentLinkCreatedData {
  linkId: string;
  slug: string;
  url: string;
  mode: Open<'fixed' | 'donation'>;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  asset: string;
  title: string | null;
  metadata: Record<string, unknown>;
}

export interface PaymentReversedData {
  amount: string;
  amountFormatted: string;
  decimals: number;
  paymentId: string | null;
  linkId: string;
  createdVia: 'link';
  mode: Open<'fixed' | 'donation'>;
  status: Open<'awaiting_payment' | 'detected' | 'underpaid' | 'confirmed' | 'late' | 'expired'> | null;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  asset: string;
  tokenContract: string | null;
  address: string;
  derivationPath: string;
  txid: string;
  outputIndex: number;
  depositId: string;
  incarnation: number;
  height: number;
  blockHash: string;
  amountDue: string;
  amountPaid: string;
  amountConfirmed: string;
  amountRemaining: string;
  amountOverpaid: string;
  amountShort: string;
  late: boolean;
  addressReused: boolean;
  invoiceNumber: string | null;
  customerEmail: string | null;
  customerName: string | null;
  metadata: Record<string, unknown>;
  reversedFrom: Open<'detected' | 'confirmed' | 'reversed'>;
  depth: number;
}

export interface PaymentUnmatchedData {
  amount: string;
  amountFormatted: string;
  decimals: number;
  paymentId: string | null;
  linkId: string;
  createdVia: 'link';
  mode: Open<'fixed' | 'donation'>;
  status: Open<'awaiting_payment' | 'detected' | 'underpaid' | 'confirmed' | 'late' | 'expired'> | null;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  asset: string;
  tokenContract: string | null;
  address: string;
  derivationPath: string;
  txid: string;
  outputIndex: number;
  depositId: string;
  incarnation: number;
  height: number;
  blockHash: string;
  amountDue: string;
  amountPaid: string;
  amountConfirmed: string;
  amountRemaining: string;
  amountOverpaid: string;
  amountShort: string;
  late: boolean;
  addressReused: boolean;
  invoiceNumber: string | null;
  customerEmail: string | null;
  customerName: string | null;
  metadata: Record<string, unknown>;
  reason: Open<'surplus' | 'wrong_asset' | 'wrong_network'>;
  expected: {
    chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
    asset: string;
    tokenContract: string | null;
  };
}

export interface PoolLowData {
  chain: Open<'sol' | 'xlm'>;
  unused: number;
  levelPercent: number;
  thresholdPercent: number;
}

export interface SweepData {
  jobId: string;
  policyId: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  asset: string;
  tokenContract: string | null;
  state: string;
  amount: string;
  feeEstimated: string;
  feePaid: string;
  operations: {
    confirmed: number;
    failed: number;
    skipped: number;
  };
  run: number;
  reason: string | null;
}

export interface WithdrawalData {
  amount: string;
  amountFormatted: string;
  decimals: number;
  transactionId: string;
  chain: Open<'btc' | 'eth' | 'bsc' | 'polygon' | 'avax' | 'base' | 'tron' | 'sol' | 'xrp' | 'xlm'>;
  txid: string | null;
  from: string;
  to: string;
  tokenContract: string | null;
  tokenSymbol: string;
  userRef: string | null;
  tag: string | null;
  chainTag: string | null;
  height: number | null;
  blockHash: string | null;
  fee: string | null;
  failure: {
    code: string;
    reason: string;
  } | null;
}
