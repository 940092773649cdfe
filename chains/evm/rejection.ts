/**
 * What a node's refusal means. Codes first, then lower-case text (X2); the table is chains.md 5.2.
 * Sources: go-ethereum, bsc, bor, coreth and op-geth `core/txpool/errors.go` and `core/error.go`; viem
 * `errors/node.ts`; ethereum/execution-apis error groups; anvil `crates/anvil/core/src/eth/error.rs`; Nethermind
 * `Nethermind.TxPool/AcceptTxResult.cs`; Erigon `txpool/txpoolcfg`; Besu `RpcErrorType.java`; openethereum
 * `rpc/src/v1/helpers/errors.rs`.
 */
import type { ErrorCode } from '../../protocol/errors.ts';
import { safeText, type RpcError } from '../json-rpc.ts';
import { decodeRevert } from './abi.ts';

/**
 *   already_known  the node has exactly these bytes
 *   look_up        the nonce is used: perhaps by these bytes; only a look-up of the hash can tell
 *   unknown        nothing is proven: the same bytes again (G26)
 *   rejected       the node refused these bytes; `action` says what would be accepted
 */
export type Verdict =
  | { readonly kind: 'already_known' }
  | { readonly kind: 'look_up' }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly action: Action; readonly reason: string };

export type Action = 'reprice' | 'rebuild' | 'raise_gas_limit' | 'split' | 'fund' | 'check_sender' | 'none';

interface Row {
  readonly texts: readonly string[];
  readonly verdict: (reason: string) => Verdict;
}

const alreadyKnown = (): Verdict => ({ kind: 'already_known' });
const lookUp = (): Verdict => ({ kind: 'look_up' });
const unknown = (reason: string): Verdict => ({ kind: 'unknown', reason });
const rejected = (action: Action, code: ErrorCode = 'CHAIN_REJECTED') =>
  (reason: string): Verdict => ({ kind: 'rejected', action, code, reason });

/**
 * In order: a longer text stands before one that it contains. Nethermind answers with the name of its result in place of a
 * sentence, Erigon and Besu with sentences of their own.
 */
const BROADCAST: readonly Row[] = [
  { texts: ['already known', 'transaction already imported', 'known transaction', 'alreadyknown', 'existing tx with same hash',
    'same hash was already imported'], verdict: alreadyKnown },
  { texts: ['nonce too low', 'nonce is too low', 'oldnonce', 'ownnoncealreadyused', 'mined'], verdict: lookUp },
  // A gap: the missing nonce must be submitted first.
  { texts: ['nonce too high', 'noncegap', 'nonce is too distant', 'invalid transaction with a lower nonce exists'],
    verdict: unknown },
  { texts: ['replacement transaction underpriced', 'there is another transaction with same nonce in the queue',
    'replacementnotallowed', 'could not replace existing tx', 'replaced by transaction with higher tip'],
    verdict: rejected('reprice') },
  { texts: ['max priority fee per gas higher than max fee per gas', 'max priority fee per gas exceeds max fee per gas'],
    verdict: rejected('rebuild') },
  { texts: ['transaction underpriced', 'transaction gas price below minimum', 'max fee per gas less than block base fee',
    'fee cap less than block base fee', 'transaction is outdated', 'underpriced', 'fee too low', 'feetoolow',
    'feetoolowtocompete', 'gas price is too low', 'gas price below configured minimum'],
    verdict: rejected('reprice') },
  { texts: ['insufficient funds for gas * price + value', 'insufficient funds for transfer', 'insufficient funds',
    'exceeds transaction sender account balance', 'insufficientfunds', 'upfront cost exceeds account balance'],
    verdict: rejected('fund', 'INSUFFICIENT_GAS') },
  { texts: ['transfer amount exceeds balance'], verdict: rejected('fund', 'INSUFFICIENT_FUNDS') },
  { texts: ['intrinsic gas too low', 'insufficient gas for floor data gas cost', 'intrinsic gas exceeds gas limit', 'intrinsicgas'],
    verdict: rejected('raise_gas_limit') },
  { texts: ['exceeds block gas limit', 'transaction gas limit too high', 'gaslimitexceeded'], verdict: rejected('split') },
  { texts: ['exceeds the configured cap', 'transaction fee cap exceeded'], verdict: rejected('reprice') },
  { texts: ['only replay-protected (eip-155) transactions allowed over rpc', 'invalid chain id'], verdict: rejected('none') },
  { texts: ['transaction type not supported', 'transaction type not valid'], verdict: rejected('rebuild') },
  { texts: ['gas required exceeds allowance', 'execution reverted'], verdict: rejected('rebuild') },
  { texts: ['in-flight transaction limit reached', 'account limit exceeded', 'txpool is full', 'transaction pool is full',
    'sub-pool is full', 'spammer', 'too many transactions in the queue'], verdict: unknown },
  { texts: ['sender not an eoa', 'address already reserved', 'senderiscontract'], verdict: rejected('check_sender') },
  { texts: ['sender or to in black list'], verdict: rejected('none') },
];

/** Codes that say nothing about the transaction: no such method, overload, timeout, missing history, HTTP statuses. */
function saysNothing({ code }: RpcError): boolean {
  return [-32_601, -32_603, -32_001, -32_002, -32_005, 4_444].includes(code) || (code >= 400 && code <= 599);
}

/** Texts of a node that is behind, pruned or busy, whatever their code. chains.md part 3, V22, V29. */
const UNAVAILABLE = [
  'header not found', 'missing trie node', 'unknown block', 'block not found', 'cannot query unfinalized data',
  'request timed out', 'timeout', 'too many requests', 'rate limit', 'syncing', 'state not available', 'historical state',
  'pruned', 'state is not available',
];

function isUnavailable(error: RpcError): boolean {
  const text = error.message.toLowerCase();
  return UNAVAILABLE.some((part) => text.includes(part));
}

/** True when the phrase stands in the text as words: "unknown transaction" does not say "known transaction". */
function says(text: string, phrase: string): boolean {
  const at = text.indexOf(phrase);
  return at === 0 || (at > 0 && !/[a-z]/.test(text[at - 1]!));
}

/** The class of a node's answer to a transaction. A text that no row has is final: part 3, "everything final". */
export function explainRejection(error: RpcError): Verdict {
  const text = error.message.toLowerCase();
  const row = BROADCAST.find(({ texts }) => texts.some((phrase) => says(text, phrase)));
  const reason = reasonOf(error);
  if (row !== undefined) return row.verdict(reason);
  return saysNothing(error) || isUnavailable(error) ? unknown(reason) : rejected('none')(reason);
}

/** The node's reason for people: the contract's own words where the call reverted, else the node's text. */
export function reasonOf(error: RpcError): string {
  // OpenEthereum and Nethermind put a word before the data.
  const data = typeof error.data === 'string' ? error.data.replace(/^Reverted /, '') : error.data;
  return safeText(decodeRevert(data) ?? '') || error.message || `error ${error.code}`;
}

/** "VM execution error." of Nethermind and OpenEthereum. Source: Nethermind `ErrorCodes.ExecutionError`. */
const VM_EXECUTION_ERROR = -32_015;

/**
 * Reason why a simulated call would revert, or null when the error says nothing about the call (then the chain is
 * unavailable). geth answers code 3, Nethermind and OpenEthereum −32015 without the word, others −32000 with it.
 */
export function revertReasonOf(error: RpcError): string | null {
  const text = error.message.toLowerCase();
  const reverts = error.code === 3 || error.code === VM_EXECUTION_ERROR || text.includes('revert') || text.includes('gas required exceeds allowance')
    || text.includes('insufficient funds') || text.includes('out of gas') || text.includes('invalid opcode');
  return reverts && !saysNothing(error) ? reasonOf(error) : null;
}

/** Texts by which providers refuse a range of logs; with HTTP 413 and 504 and −32005. V22. */
const RANGE_TOO_WIDE = [
  'query returned more than', 'exceeds limit of', 'query exceeds max results', 'requested too many blocks',
  'eth_getlogs is limited to', 'block range is larger than', 'ranges over', 'response too large', 'query timeout exceeded',
  'exceed maximum block range', 'block range', 'limit exceeded', 'too many results', 'response size',
];

/** True when a smaller range of logs might be answered. */
export function asksForSmallerRange({ code, message }: RpcError): boolean {
  const text = message.toLowerCase();
  return code === -32_005 || code === 413 || code === 504 || RANGE_TOO_WIDE.some((part) => text.includes(part));
}
