/**
 * What a node's refusal means. Codes first, then lower-case text (X2); the table is chains.md 5.2, its texts are those
 * of `refusals.ts`.
 */
import type { ErrorCode } from '../../protocol/errors.ts';
import { safeText, type RpcError } from '../json-rpc.ts';
import { decodeRevert } from './abi.ts';
import { OF_A_GATEWAY, REFUSAL_CODES, REFUSALS, type Action } from './refusals.ts';

export type { Action } from './refusals.ts';

/**
 *   already_known  the node has exactly these bytes
 *   look_up        the nonce is used: perhaps by these bytes; only a look-up of the hash can decide
 *   unknown        nothing is proven: the same bytes again (G26)
 *   rejected       the node refused these bytes; `action` says what would be accepted
 */
export type Verdict =
  | { readonly kind: 'already_known' }
  | { readonly kind: 'look_up' }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly action: Action; readonly reason: string };

/**
 * Codes that say nothing about a call or a transaction: no such method, overload, timeout, missing history, HTTP
 * statuses.
 */
function saysNothing({ code }: RpcError): boolean {
  return [-32_601, -32_603, -32_001, -32_002, -32_005, 4_444].includes(code) || (code >= 400 && code <= 599);
}

/** A node's text without what varies around it: case, white space, the full stop at its end. */
function plainText(message: string): string {
  return message.toLowerCase().replace(/\s+/g, ' ').trim().replace(/\.$/, '');
}

/**
 * The class of a node's answer to a transaction. Refusals are a closed list: an answer that no row has proves nothing,
 * so that neither a nonce is freed nor a failure announced for what may be on its way.
 */
export function explainRejection(error: RpcError): Verdict {
  const text = plainText(error.message),
    reason = reasonOf(error);
  const row =
    error.unmatched === true || OF_A_GATEWAY.test(text)
      ? undefined
      : REFUSALS.find(
          ({ texts, codes = [] }) =>
            (REFUSAL_CODES.has(error.code) || codes.includes(error.code)) && texts.some((one) => one.test(text)),
        );
  if (row === undefined) return { kind: 'unknown', reason };
  return row.means.kind === 'rejected' ? { ...row.means, reason } : { kind: row.means.kind };
}

/** How pools say what they would take at least, wei per gas. Sources: `refusals.ts`. */
const MINIMUM_PRICE: readonly RegExp[] = [
  /^transaction (?:gas price below minimum|underpriced): gas tip cap \d+, minimum needed (\d+)$/, // geth, bsc
  /^transaction underpriced: tip needed (\d+)(?:, tip permitted \d+)?$/, // geth before 1.14, bor, coreth
  /^transaction priority fee below minimum required priority fee (\d+)$/, // reth
  // openethereum
  /^transaction gas price is too low\. it does not satisfy your node's minimal gas price \(minimal: (\d+) got: \d+\)/,
];

/** The least price per gas that a refusal names, or null. */
export function minimumPriceOf({ message }: RpcError): bigint | null {
  const text = plainText(message);
  for (const pattern of MINIMUM_PRICE) {
    const price = pattern.exec(text)?.[1];
    if (price !== undefined && price.length < 20) return BigInt(price);
  }
  return null;
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
  const reverts =
    error.code === 3 ||
    error.code === VM_EXECUTION_ERROR ||
    text.includes('revert') ||
    text.includes('gas required exceeds allowance') ||
    text.includes('insufficient funds') ||
    text.includes('out of gas') ||
    text.includes('invalid opcode');
  return reverts && !saysNothing(error) ? reasonOf(error) : null;
}

/** Texts by which providers refuse a range of logs; with HTTP 413 and 504 and −32005. V22. */
const RANGE_TOO_WIDE = [
  'query returned more than',
  'exceeds limit of',
  'query exceeds max results',
  'requested too many blocks',
  'eth_getlogs is limited to',
  'block range is larger than',
  'ranges over',
  'response too large',
  'query timeout exceeded',
  'exceed maximum block range',
  'block range',
  'limit exceeded',
  'too many results',
  'response size',
];

/** True when a smaller range of logs might be answered. */
export function asksForSmallerRange({ code, message }: RpcError): boolean {
  const text = message.toLowerCase();
  return code === -32_005 || code === 413 || code === 504 || RANGE_TOO_WIDE.some((part) => text.includes(part));
}
