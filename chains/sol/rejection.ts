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
 *   no_block      the node has no block at the slot: skipped, missing, or not there yet. Only a parent link tells which
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
  [CLEANED_UP, 'unavailable'], [BLOCK_NOT_AVAILABLE, 'no_block'], [UNHEALTHY, 'lagging'], [SLOT_SKIPPED, 'no_block'],
  [SLOT_MISSING, 'no_block'], [NO_HISTORY, 'no_history'], [STATUS_NOT_YET, 'unavailable'],
  [VERSION_UNSUPPORTED, 'version'], [MIN_CONTEXT_SLOT, 'lagging'], [STORAGE_UNREACHABLE, 'unavailable'],
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
  // The node could not read the bytes; a provider that minds an option of the call says so under the same code.
  const unreadable = error.code === INVALID_PARAMS && /transaction|deserialize|too large/i.test(error.message);
  if (error.code === SIGNATURE_FAILED || unreadable) return { kind: 'rejected', code: 'CHAIN_REJECTED', reason };
  const preflight = error.data as { err?: unknown; logs?: unknown } | undefined;
  if (error.code === PREFLIGHT_FAILED && preflight?.err !== undefined && preflight.err !== null) {
    return explainTransactionError(preflight.err, programs, logsOf(preflight.logs));
  }
  // A provider may drop the structured part; its text then still is the error's own.
  const text = error.message.toLowerCase();
  const row = FIELDLESS.find(({ texts }) => texts.some((part) => text.includes(part)));
  if (row !== undefined) return verdictOf(row, reason);
  return { kind: 'unknown', reason };
}

interface Row {
  /** Name in the structured error. */
  readonly name: string;
  /** How the same error reads as text, lower case. */
  readonly texts: readonly string[];
  readonly verdict: 'already_known' | 'unknown' | ErrorCode;
}

/** Errors of the whole transaction. What is not listed is final: part 3, "everything final". */
const FIELDLESS: readonly Row[] = [
  { name: 'AlreadyProcessed', texts: ['already been processed'], verdict: 'already_known' },
  // A stale hash, or a node behind the one that gave it: only the proof of death decides (G27).
  { name: 'BlockhashNotFound', texts: ['blockhash not found'], verdict: 'unknown' },
  { name: 'InsufficientFundsForFee', texts: ['insufficient funds for fee'], verdict: 'INSUFFICIENT_GAS' },
  // The payer has nothing at all.
  { name: 'AccountNotFound', texts: ['no record of a prior credit'], verdict: 'INSUFFICIENT_GAS' },
  { name: 'InsufficientFundsForRent', texts: ['insufficient funds for rent'], verdict: 'INSUFFICIENT_RESERVE' },
  { name: 'InvalidRentPayingAccount', texts: ['lower balance than rent-exempt minimum'],
    verdict: 'INSUFFICIENT_RESERVE' },
  { name: 'InvalidAccountForFee', texts: ['may not be used to pay transaction fees'], verdict: 'CHAIN_REJECTED' },
  // Congestion and shutting down say nothing about the transaction.
  { name: 'AccountInUse', texts: ['account in use'], verdict: 'unknown' },
  { name: 'ClusterMaintenance', texts: ['transactions are currently disabled'], verdict: 'unknown' },
  { name: 'WouldExceedMaxBlockCostLimit', texts: ['exceed max block cost limit'], verdict: 'unknown' },
  { name: 'WouldExceedMaxAccountCostLimit', texts: ['exceed max account limit'], verdict: 'unknown' },
  { name: 'WouldExceedAccountDataBlockLimit', texts: ['exceed account data limit within the block'],
    verdict: 'unknown' },
  { name: 'ProgramCacheHitMaxLimit', texts: ['program cache hit max limit'], verdict: 'unknown' },
  { name: 'ResanitizationNeeded', texts: ['resanitization needed', 'needs to be resanitized'], verdict: 'unknown' },
  { name: 'CommitCancelled', texts: ['commit cancelled'], verdict: 'unknown' },
];

function verdictOf({ verdict }: Row, reason: string): Verdict {
  if (verdict === 'already_known') return { kind: 'already_known' };
  return verdict === 'unknown' ? { kind: 'unknown', reason } : { kind: 'rejected', code: verdict, reason };
}

/** The meaning of a transaction's structured error, as a simulation or a block tells it. */
export function explainTransactionError(err: unknown, programs: readonly string[], logs: readonly string[]): Verdict {
  const reason = reasonOf(err, logs);
  const name = typeof err === 'string' ? err : Object.keys(err as object)[0] ?? '';
  const row = FIELDLESS.find((one) => one.name === name);
  if (row !== undefined) return verdictOf(row, reason);
  const instruction = name === 'InstructionError' ? (err as { InstructionError?: unknown }).InstructionError : null;
  if (!Array.isArray(instruction)) return { kind: 'rejected', code: 'CHAIN_REJECTED', reason };
  const [index, cause] = instruction as unknown[];
  return { kind: 'rejected', code: codeOfInstruction(programs[Number(index)] ?? '', cause), reason };
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
  const structured = typeof err === 'string' ? err : JSON.stringify(err) ?? 'error';
  const words = logs.findLast((line) => /^Program log: Error|^Transfer: |insufficient/i.test(line));
  return (words === undefined ? structured : `${structured}: ${words}`).slice(0, REASON_CHARACTERS_MAX);
}
