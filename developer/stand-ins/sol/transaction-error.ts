/**
 * Errors of a transaction as a node writes them: structured for programs, a sentence for people.
 * Source: anza-xyz/solana-sdk `transaction-error/src/lib.rs`, `instruction-error/src/lib.rs`.
 */
import {
  TransactionErrorDuplicateInstruction,
  TransactionErrorInstructionError,
  TransactionErrorInsufficientFundsForRent,
  type FailedTransactionMetadata,
} from 'litesvm/dist/internal.js';

/** The value of `err`. */
export type TransactionError = string | Readonly<Record<string, unknown>>;

/** Names in the order of the virtual machine's own numbers. */
const FIELDLESS = [
  'AccountInUse',
  'AccountLoadedTwice',
  'AccountNotFound',
  'ProgramAccountNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
  'AlreadyProcessed',
  'BlockhashNotFound',
  'CallChainTooDeep',
  'MissingSignatureForFee',
  'InvalidAccountIndex',
  'SignatureFailure',
  'InvalidProgramForExecution',
  'SanitizeFailure',
  'ClusterMaintenance',
  'AccountBorrowOutstanding',
  'WouldExceedMaxBlockCostLimit',
  'UnsupportedVersion',
  'InvalidWritableAccount',
  'WouldExceedMaxAccountCostLimit',
  'WouldExceedAccountDataBlockLimit',
  'TooManyAccountLocks',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
  'InvalidRentPayingAccount',
  'WouldExceedMaxVoteCostLimit',
  'WouldExceedAccountDataTotalLimit',
  'MaxLoadedAccountsDataSizeExceeded',
  'ResanitizationNeeded',
  'InvalidLoadedAccountsDataSizeLimit',
  'UnbalancedTransaction',
  'ProgramCacheHitMaxLimit',
  'CommitCancelled',
] as const;

const INSTRUCTION_FIELDLESS = [
  'GenericError',
  'InvalidArgument',
  'InvalidInstructionData',
  'InvalidAccountData',
  'AccountDataTooSmall',
  'InsufficientFunds',
  'IncorrectProgramId',
  'MissingRequiredSignature',
  'AccountAlreadyInitialized',
  'UninitializedAccount',
  'UnbalancedInstruction',
  'ModifiedProgramId',
  'ExternalAccountLamportSpend',
  'ExternalAccountDataModified',
  'ReadonlyLamportChange',
  'ReadonlyDataModified',
  'DuplicateAccountIndex',
  'ExecutableModified',
  'RentEpochModified',
  'NotEnoughAccountKeys',
  'AccountDataSizeChanged',
  'AccountNotExecutable',
  'AccountBorrowFailed',
  'AccountBorrowOutstanding',
  'DuplicateAccountOutOfSync',
  'InvalidError',
  'ExecutableDataModified',
  'ExecutableLamportChange',
  'ExecutableAccountNotRentExempt',
  'UnsupportedProgramId',
  'CallDepth',
  'MissingAccount',
  'ReentrancyNotAllowed',
  'MaxSeedLengthExceeded',
  'InvalidSeeds',
  'InvalidRealloc',
  'ComputationalBudgetExceeded',
  'PrivilegeEscalation',
  'ProgramEnvironmentSetupFailure',
  'ProgramFailedToComplete',
  'ProgramFailedToCompile',
  'Immutable',
  'IncorrectAuthority',
  'AccountNotRentExempt',
  'InvalidAccountOwner',
  'ArithmeticOverflow',
  'UnsupportedSysvar',
  'IllegalOwner',
  'MaxAccountsDataAllocationsExceeded',
  'MaxAccountsExceeded',
  'MaxInstructionTraceLengthExceeded',
  'BuiltinProgramsMustConsumeComputeUnits',
  'BorshIoError',
] as const;

/** The structured error of a failed execution. */
export function errorOf(failed: FailedTransactionMetadata): TransactionError {
  const error = failed.err();
  if (typeof error === 'number') return FIELDLESS[error] ?? `Unknown(${error})`;
  if (error instanceof TransactionErrorInstructionError) return { InstructionError: [error.index, causeOf(error)] };
  if (error instanceof TransactionErrorInsufficientFundsForRent) {
    return { InsufficientFundsForRent: { account_index: error.accountIndex } };
  }
  if (error instanceof TransactionErrorDuplicateInstruction) return { DuplicateInstruction: error.index };
  return { ProgramExecutionTemporarilyRestricted: { account_index: error.accountIndex } };
}

function causeOf(error: TransactionErrorInstructionError): unknown {
  const cause = error.err();
  if (typeof cause === 'number') return INSTRUCTION_FIELDLESS[cause] ?? `Unknown(${cause})`;
  return 'code' in cause ? { Custom: cause.code } : 'BorshIoError';
}

const SENTENCES: Readonly<Record<string, string>> = {
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  SanitizeFailure: 'Transaction failed to sanitize accounts offsets correctly',
  SignatureFailure: 'Transaction did not pass signature verification',
  InvalidRentPayingAccount: 'Transaction leaves an account with a lower balance than rent-exempt minimum',
};

const CAUSES: Readonly<Record<string, string>> = {
  ComputationalBudgetExceeded: 'Computational budget exceeded',
  IncorrectProgramId: 'incorrect program id for instruction',
  InvalidAccountData: 'invalid account data for instruction',
  MissingRequiredSignature: 'missing required signature for instruction',
  InsufficientFunds: 'insufficient funds for instruction',
  InvalidAccountOwner: 'Invalid account owner',
};

/** The same error as a sentence. */
export function sentenceOf(error: TransactionError): string {
  if (typeof error === 'string') return SENTENCES[error] ?? error;
  const rent = error['InsufficientFundsForRent'] as { account_index: number } | undefined;
  if (rent !== undefined) {
    return `Transaction results in an account (${rent.account_index}) with insufficient funds for rent`;
  }
  const [index, cause] = (error['InstructionError'] ?? []) as [number?, unknown?];
  if (index === undefined) return JSON.stringify(error);
  const custom = (cause as { Custom?: number }).Custom;
  const said =
    custom === undefined ? (CAUSES[String(cause)] ?? String(cause)) : `custom program error: 0x${custom.toString(16)}`;
  return `Error processing Instruction ${index}: ${said}`;
}
