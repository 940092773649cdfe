/**
 * What a node's answer to a transaction means. Codes first, then lower-case text (X2); the table is chains.md 6.2.
 * Sources: java-tron framework/…/core/Wallet.java `broadcastTransaction`, core/db/Manager.java,
 * actuator/…/*Actuator.java, chainbase/…/BandwidthProcessor.java, protocol/…/api.proto `Return.response_code`.
 */
import type { ErrorCode } from '../../protocol/errors.ts';
import { safeText } from '../json-rpc.ts';

/**
 *   accepted   the node took the bytes; that is no inclusion
 *   look_up    the node has seen this txid before: perhaps it holds it, perhaps it refused it then (it remembers a txid
 *              before it validates it), so only a look-up can decide
 *   expired    its time is over by this node's head; only the solidified view proves that it did not land before (G27)
 *   unknown    nothing is proven: the same bytes again, elsewhere (G26)
 *   rejected   the node refused these bytes; `action` says what would be accepted
 */
export type Verdict =
  | { readonly kind: 'accepted' | 'look_up' }
  | { readonly kind: 'expired' | 'unknown'; readonly reason: string }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly action: Action; readonly reason: string };

/** `check_balance`: the text does not say whether the amount or the fee is not covered; the balance does (T23). */
export type Action = 'fund' | 'check_balance' | 'check_permissions' | 'rebuild' | 'none';

export interface NodeReturn {
  readonly result?: boolean | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/**
 * A message of a node as text: `broadcasttransaction` answers hex of it, `broadcasthex` the text itself. Hex that gives
 * no printable text is left as it is.
 */
export function plainMessage(message: string): string {
  const isHex = message.length > 0 && /^(?:[0-9a-fA-F]{2})+$/.test(message);
  const text = isHex ? Buffer.from(message, 'hex').toString('utf8') : message;
  return safeText(/^[\x20-\x7e\s]+$/.test(text) ? text : message);
}

interface Row {
  readonly texts: readonly string[];
  readonly code: ErrorCode;
  readonly action: Action;
}

/** Texts of `CONTRACT_VALIDATE_ERROR`, in order: a longer text comes before one that it contains. */
const VALIDATION: readonly Row[] = [
  { texts: ['balance is not sufficient'], code: 'INSUFFICIENT_FUNDS', action: 'check_balance' },
  { texts: ['no owneraccount', 'does not exist', 'is not exist'], code: 'INSUFFICIENT_GAS', action: 'fund' },
  { texts: ['insufficient bandwidth', 'to create new account'], code: 'INSUFFICIENT_GAS', action: 'fund' },
  {
    texts: [
      'cannot transfer trx to yourself',
      'amount must be greater than 0',
      'invalid toaddress',
      'invalid owneraddress',
    ],
    code: 'INVALID_INPUT',
    action: 'rebuild',
  },
  {
    texts: ['no contract or not a smart contract', 'cannot transfer trx to a smartcontract', 'feelimit must be'],
    code: 'CHAIN_REJECTED',
    action: 'rebuild',
  },
];

function validationOf(reason: string): Verdict {
  const text = reason.toLowerCase();
  const row = VALIDATION.find(({ texts }) => texts.some((part) => text.includes(part)));
  return { kind: 'rejected', code: row?.code ?? 'CHAIN_REJECTED', action: row?.action ?? 'none', reason };
}

/**
 * The closed list of java-tron 4.8 (`Return.response_code`). A code that no row has is no proof of anything: a node may
 * learn new words for being busy, and a gateway has its own.
 */
const BY_CODE: Readonly<Record<string, (reason: string) => Verdict>> = {
  SUCCESS: () => ({ kind: 'accepted' }),
  DUP_TRANSACTION_ERROR: () => ({ kind: 'look_up' }),
  SIGERROR: (reason) => ({ kind: 'rejected', code: 'CHAIN_REJECTED', action: 'check_permissions', reason }),
  CONTRACT_VALIDATE_ERROR: validationOf,
  CONTRACT_EXE_ERROR: (reason) => ({ kind: 'rejected', code: 'CHAIN_REJECTED', action: 'none', reason }),
  BANDWITH_ERROR: (reason) => ({ kind: 'rejected', code: 'INSUFFICIENT_GAS', action: 'fund', reason }),
  TOO_BIG_TRANSACTION_ERROR: (reason) => ({ kind: 'rejected', code: 'CHAIN_REJECTED', action: 'rebuild', reason }),
  // The reference block is on another branch or above the node's head: another node may take the very bytes, and
  // nothing
  // else may be built before they expired.
  TAPOS_ERROR: (reason) => ({ kind: 'unknown', reason }),
  TRANSACTION_EXPIRATION_ERROR: (reason) => ({ kind: 'expired', reason }),
};

/**
 * The class of a node's answer to a submission. `result` and `code` must agree: true beside a refusal, or false beside
 * SUCCESS, proves nothing. proto3 leaves out what is false.
 */
export function explainRejection({ result, code, message = '' }: NodeReturn): Verdict {
  const named = code ?? (result === true ? 'SUCCESS' : 'OTHER_ERROR');
  const reason = plainMessage(message) || named;
  if (result !== undefined && result !== (named === 'SUCCESS'))
    return { kind: 'unknown', reason: `result ${String(result)} beside ${reason}` };
  const row = Object.hasOwn(BY_CODE, named) ? BY_CODE[named] : undefined;
  return row?.(reason) ?? { kind: 'unknown', reason };
}
