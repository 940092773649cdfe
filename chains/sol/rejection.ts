/**
 * What a node's errors mean. Codes first, then the structured error of the transaction, then lower-case text (X2); the
 * tables are chains.md 7.2.
 * Sources: anza-xyz/agave `rpc-client-api/src/custom_error.rs`, anza-xyz/solana-sdk `transaction-error`,
 * `instruction-error`, `system-interface/src/error.rs`; solana-program/token `interface/src/error.rs`; the recorded
 * answers in `test/vectors/nodes/sol/errors.json` (kevinheavey/solders, solana-foundation/developer-content).
 */
import type { ErrorCode } from '../../protocol/errors.ts';
import type { RpcError } from '../json-rpc.ts';
import { ASSOCIATED_TOKEN_PROGRAM, isTokenProgram, SYSTEM_PROGRAM } from './programs.ts';

/**
 *   no_block      the node has no block at the slot: skipped, missing, or not there yet. Only a parent link shows which
 *   lagging       the node is behind what was asked for, or says that it is not well
 *   no_history    the node keeps no old transactions
 *   version       it was asked for lower transaction versions than the block holds: our configuration (L22)
 *   unavailable   nothing is proven
 */
export type NodeMeaning = 'no_block' | 'lagging' | 'no_history' | 'version' | 'unavailable';

const CLEANED_UP = -32_001;
const PREFLIGHT_FAILED = -32_002;
const SIGNATURE_FAILED = -32_003;
const BLOCK_NOT_AVAILABLE = -32_004;
const UNHEALTHY = -32_005;
const SLOT_SKIPPED = -32_007;
const SLOT_MISSING = -32_009;
const NO_HISTORY = -32_011;
const STATUS_NOT_YET = -32_014;
const VERSION_UNSUPPORTED = -32_015;
const MIN_CONTEXT_SLOT = -32_016;
const STORAGE_UNREACHABLE = -32_019;
const INVALID_PARAMS = -32_602;

const MEANINGS: ReadonlyMap<number, NodeMeaning> = new Map([
  [CLEANED_UP, 'unavailable'],
  [BLOCK_NOT_AVAILABLE, 'no_block'],
  [UNHEALTHY, 'lagging'],
  [SLOT_SKIPPED, 'no_block'],
  [SLOT_MISSING, 'no_block'],
  [NO_HISTORY, 'no_history'],
  [STATUS_NOT_YET, 'unavailable'],
  [VERSION_UNSUPPORTED, 'version'],
  [MIN_CONTEXT_SLOT, 'lagging'],
  [STORAGE_UNREACHABLE, 'unavailable'],
]);

/** The meaning of an error that is not about a transaction. */
export function explainNodeError({ code }: Pick<RpcError, 'code'>): NodeMeaning {
  return MEANINGS.get(code) ?? 'unavailable';
}

/**
 *   already_known  the network has processed exactly these bytes
 *   unknown        nothing is proven: the same bytes again (G26)
 *   rejected       the node refused these bytes
 */
export type Verdict =
  | { readonly kind: 'already_known' }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly reason: string };

/** The class of a node's answer to a transaction; `programs` are those of its instructions, in their order. */
export function explainRejection(error: RpcError, programs: readonly string[]): Verdict {
  const reason = error.message || `error ${error.code}`;
  if (error.unmatched === true) return { kind: 'unknown', reason };
  // The node could not read the bytes; a provider that minds an option of the call says so under the same code.
  const unreadable = error.code === INVALID_PARAMS && UNREADABLE.some((one) => one.test(error.message));
  const unsigned = error.code === SIGNATURE_FAILED && SIGNATURE_TEXT.test(error.message);
  if (unsigned || unreadable) return { kind: 'rejected', code: 'CHAIN_REJECTED', reason };
  const preflight = error.data as { err?: unknown; logs?: unknown } | undefined;
  if (error.code === PREFLIGHT_FAILED && preflight?.err !== undefined && preflight.err !== null) {
    return explainTransactionError(preflight.err, programs, logsOf(preflight.logs));
  }
  // A provider may drop the structured part; its text then still is the error's own, whole.
  const row =
    error.code === PREFLIGHT_FAILED
      ? FIELDLESS.find(({ text }) => text?.test(simulatedText(error.message)))
      : undefined;
  if (row !== undefined) return verdictOf(row, reason);
  return { kind: 'unknown', reason };
}

/** How agave 2.3 and 3.0 say that they cannot read the bytes. Source: `rpc/src/rpc.rs` `decode_and_deserialize`. */
const UNREADABLE: readonly RegExp[] = [
  /^failed to deserialize (?:solana_|versioned)[\w:]*(?:: [^<>{}]{1,200})?$/i,
  /^invalid transaction: [^<>{}]{1,200}$/i,
  /^base(?:58|64) encoded [\w:]*(?:transaction|message)[\w:]* too large: \d+ bytes[^<>{}]{0,80}$/i,
  /^decoded [\w:]*(?:transaction|message)[\w:]* too large: \d+ bytes[^<>{}]{0,80}$/i,
  /^invalid base(?:58|64) encoding: [^<>{}]{1,200}$/i,
];
const SIGNATURE_TEXT = /^transaction signature verification failure\.?$/i;

const simulatedText = (message: string): string =>
  message
    .toLowerCase()
    .replace(/^transaction simulation failed: /, '')
    .replace(/\.$/, '');

interface Row {
  /** Name in the structured error. */
  readonly name: string;
  /** The same error as a whole text, lower case, where a provider may drop the structured one. */
  readonly text?: RegExp;
  readonly verdict: 'already_known' | 'unknown' | ErrorCode;
}

/**
 * The closed list of errors of the whole transaction. Source: anza-xyz/solana-sdk 3.0 `transaction-error`. What is not
 * listed proves nothing; the expiry of the block hash ends it within two minutes all the same (G27).
 */
const FIELDLESS: readonly Row[] = [
  { name: 'AlreadyProcessed', text: /^this transaction has already been processed$/, verdict: 'already_known' },
  // A stale hash, or a node behind the one that gave it: only the proof of death decides (G27).
  { name: 'BlockhashNotFound', verdict: 'unknown' },
  // While a program is being replaced: the same bytes may pass a moment later.
  { name: 'ProgramExecutionTemporarilyRestricted', verdict: 'unknown' },
  { name: 'InsufficientFundsForFee', text: /^insufficient funds for fee$/, verdict: 'INSUFFICIENT_GAS' },
  // The payer has nothing at all.
  {
    name: 'AccountNotFound',
    text: /^attempt to debit an account but found no record of a prior credit$/,
    verdict: 'INSUFFICIENT_GAS',
  },
  {
    name: 'InsufficientFundsForRent',
    text: /^transaction results in an account \(\d+\) with insufficient funds for rent$/,
    verdict: 'INSUFFICIENT_RESERVE',
  },
  {
    name: 'InvalidRentPayingAccount',
    text: /^transaction leaves an account with a lower balance than rent-exempt minimum$/,
    verdict: 'INSUFFICIENT_RESERVE',
  },
  {
    name: 'InvalidAccountForFee',
    text: /^this account may not be used to pay transaction fees$/,
    verdict: 'CHAIN_REJECTED',
  },
  ...[
    'SignatureFailure',
    'SanitizeFailure',
    'MissingSignatureForFee',
    'InvalidAccountIndex',
    'InvalidProgramForExecution',
    'ProgramAccountNotFound',
    'CallChainTooDeep',
    'AccountLoadedTwice',
    'InvalidWritableAccount',
    'TooManyAccountLocks',
    'AddressLookupTableNotFound',
    'InvalidAddressLookupTableOwner',
    'InvalidAddressLookupTableData',
    'InvalidAddressLookupTableIndex',
    'DuplicateInstruction',
    'MaxLoadedAccountsDataSizeExceeded',
    'InvalidLoadedAccountsDataSizeLimit',
    'UnbalancedTransaction',
    'UnsupportedVersion',
  ].map((name): Row => ({ name, verdict: 'CHAIN_REJECTED' })),
];

function verdictOf({ verdict }: Row, reason: string): Verdict {
  if (verdict === 'already_known') return { kind: 'already_known' };
  return verdict === 'unknown' ? { kind: 'unknown', reason } : { kind: 'rejected', code: verdict, reason };
}

/** The meaning of a transaction's structured error, as a simulation or a block reports it. */
export function explainTransactionError(err: unknown, programs: readonly string[], logs: readonly string[]): Verdict {
  const reason = reasonOf(err, logs);
  const name =
    typeof err === 'string' ? err : typeof err === 'object' && err !== null ? (Object.keys(err)[0] ?? '') : '';
  const row = FIELDLESS.find((one) => one.name === name);
  if (row !== undefined) return verdictOf(row, reason);
  const instruction = name === 'InstructionError' ? (err as { InstructionError?: unknown }).InstructionError : null;
  const [index, cause] = Array.isArray(instruction) ? (instruction as unknown[]) : [];
  const program = typeof index === 'number' ? programs[index] : undefined;
  // An instruction that the transaction does not have is no answer about it.
  if (program === undefined || !isCause(cause)) return { kind: 'unknown', reason };
  return { kind: 'rejected', code: codeOfInstruction(program, cause), reason };
}

/**
 * A name of the runtime, or one field with the program's own number or text. Source: solana-sdk `instruction-error`.
 */
function isCause(cause: unknown): boolean {
  if (typeof cause === 'string') return /^[A-Z][A-Za-z]{2,60}$/.test(cause);
  return (
    typeof cause === 'object' && cause !== null && ['Custom', 'BorshIoError'].includes(Object.keys(cause)[0] ?? '')
  );
}

/** System: ResultWithNegativeLamports. Token programs: InsufficientFunds. */
const CUSTOM_INSUFFICIENT = 1;

/** The same number means another thing in each program, so that the program decides. */
function codeOfInstruction(program: string, cause: unknown): ErrorCode {
  if (cause === 'InsufficientFundsForRent' || cause === 'AccountNotRentExempt') return 'INSUFFICIENT_RESERVE';
  const custom = Number((cause as { Custom?: unknown } | null)?.Custom ?? Number.NaN);
  if (custom !== CUSTOM_INSUFFICIENT) return 'CHAIN_REJECTED';
  if (program === SYSTEM_PROGRAM || isTokenProgram(program)) return 'INSUFFICIENT_FUNDS';
  // The account that is created on the way is paid for by the payer of the fee, through the System program.
  return program === ASSOCIATED_TOKEN_PROGRAM ? 'INSUFFICIENT_GAS' : 'CHAIN_REJECTED';
}

const REASON_CHARACTERS_MAX = 300;
const LOGS_MAX = 100;

export function logsOf(logs: unknown): readonly string[] {
  return Array.isArray(logs) ? logs.slice(0, LOGS_MAX).filter((line) => typeof line === 'string') : [];
}

/** Error for people: the structured one, and the program's own words where it has some. */
export function reasonOf(err: unknown, logs: readonly string[]): string {
  const structured = typeof err === 'string' ? err : (JSON.stringify(err) ?? 'error');
  const words = logs.findLast((line) => /^Program log: Error|^Transfer: |insufficient/i.test(line));
  return (words === undefined ? structured : `${structured}: ${words}`).slice(0, REASON_CHARACTERS_MAX);
}
