/**
 * What a node's refusal of a transaction means. Codes first, then lower-case text (X2); the table is chains.md 4.2.
 * Prefixes such as `64:` and endings such as `(code 16)` are noise of old versions and are cut off.
 * Sources: btcsuite/btcd `rpcclient/errors.go`, those beside the list, and litecoin-project/litecoin 0.21 by trial.
 */
import type { ErrorCode } from '../../protocol/errors.ts';
import type { RpcError } from '../json-rpc.ts';

/**
 *   already_known  the node has exactly these bytes, in its pool or in a block
 *   look_up        an input is spent or unknown: perhaps by these very bytes, perhaps its parent is not there yet
 *   behind         final for a node at this height; one that is behind says it of a good transaction
 *   unknown        nothing is proven: the same bytes again (G26)
 *   rejected       the node refused these bytes; `action` says what would be accepted
 */
export type Verdict =
  | { readonly kind: 'already_known' }
  | { readonly kind: 'look_up' | 'unknown'; readonly reason: string }
  | {
      readonly kind: 'behind' | 'rejected';
      readonly code: ErrorCode;
      readonly action: Action;
      readonly reason: string;
    };

export type Action = 'reprice' | 'rebuild' | 'wait_for_maturity' | 'wait_for_confirmation' | 'other_inputs' | 'none';

interface Row {
  /** Reject reasons, whole: what follows one is a comma and the node's debug message, or a bracket. */
  readonly reasons: readonly string[];
  readonly kind: 'already_known' | 'look_up' | 'behind' | Action;
}

/**
 * The closed list of reject reasons. Sources: bitcoin/bitcoin 30 `src/validation.cpp`, `src/policy/policy.cpp`,
 * `src/policy/rbf.cpp`, `src/policy/truc_policy.cpp`, `src/consensus/tx_check.cpp`, `src/consensus/tx_verify.cpp`,
 * `src/util/error.cpp`, and the older spellings of 0.13 to 0.21 (litecoin 0.21) that nodes still answer.
 */
const REFUSALS: readonly Row[] = [
  {
    kind: 'already_known',
    reasons: [
      'txn-already-in-mempool',
      'txn-already-known',
      'transaction already in block chain',
      'transaction outputs already in utxo set',
      'txn-same-nonwitness-data-in-mempool',
      'already in mempool',
    ],
  },
  {
    kind: 'look_up',
    reasons: ['bad-txns-inputs-missingorspent', 'missing-inputs', 'missing inputs', 'bad-txns-inputs-spent'],
  },
  // B16: all of these are about replacing what is in the pool already.
  {
    kind: 'other_inputs',
    reasons: [
      'too many potential replacements',
      'replacement-adds-unconfirmed',
      'bad-txns-spends-conflicting-tx',
      'txn-mempool-conflict',
      'bip125-replacement-disallowed',
    ],
  },
  {
    kind: 'reprice',
    reasons: [
      'insufficient fee',
      'replacement-failed',
      'min relay fee not met',
      'mempool min fee not met',
      'mempool full',
      'mempool-full',
      'insufficient priority',
    ],
  },
  {
    kind: 'rebuild',
    reasons: [
      'max-fee-exceeded',
      'fee exceeds maximum configured by user',
      'absurdly-high-fee',
      'max feerate exceeded',
      'dust',
      'tx-size',
      'tx-size-small',
      'version',
      'scriptsig-size',
      'scriptsig-not-pushonly',
      'scriptpubkey',
      'bare-multisig',
      'datacarrier',
      'multi-op-return',
      'bad-txns-too-many-sigops',
      'bad-txns-nonstandard-inputs',
      'bad-witness-nonstandard',
      'truc-violation',
    ],
  },
  { kind: 'wait_for_maturity', reasons: ['bad-txns-premature-spend-of-coinbase'] },
  {
    kind: 'wait_for_confirmation',
    reasons: [
      'too-long-mempool-chain',
      'too-large-cluster',
      'package-mempool-limits',
      'too many unconfirmed ancestors',
      'too many descendants',
      'exceeds descendant size limit',
      'exceeds ancestor size limit',
    ],
  },
  { kind: 'behind', reasons: ['non-final', 'non-bip68-final'] },
  {
    kind: 'none',
    reasons: [
      'mandatory-script-verify-flag-failed',
      'block-script-verify-flag-failed',
      'mempool-script-verify-flag-failed',
      'non-mandatory-script-verify-flag',
      'bad-txns-in-belowout',
      'bad-txns-inputvalues-outofrange',
      'bad-txns-fee-outofrange',
      'bad-txns-vin-empty',
      'bad-txns-vout-empty',
      'bad-txns-oversize',
      'bad-txns-vout-negative',
      'bad-txns-vout-toolarge',
      'bad-txns-txouttotal-toolarge',
      'bad-txns-inputs-duplicate',
      'bad-txns-prevout-null',
      'bad-cb-length',
      'coinbase',
      'witness-mutated',
      'no-witness-yet',
    ],
  },
];

/** Codes under which a node judges a transaction: RPC_VERIFY_ERROR, RPC_VERIFY_REJECTED. Source: src/rpc/protocol.h. */
const JUDGED = new Set([-25, -26]);
/** RPC_VERIFY_ALREADY_IN_UTXO_SET: in a block already. */
const ALREADY_IN_CHAIN = -27;
/** RPC_DESERIALIZATION_ERROR: the node cannot read the bytes. */
const UNREADABLE = -22,
  UNREADABLE_TEXT = /^tx decode failed\b/;

/** A node's text without the numbers that versions put around it: `64: dust (code 64)` → `dust`. */
export function plainText(message: string): string {
  return message
    .toLowerCase()
    .replace(/^\d+:\s*/, '')
    .replace(/\s*\(code \d+\)\s*$/, '')
    .trim();
}

/** What may follow a reject reason: the debug message after a comma, or words in brackets. */
const REST = /^(?:$|, | \()/;

/**
 * The class of a node's answer to a transaction. Refusals are a closed list: a code or text that is not on it proves
 * nothing, because a gateway before the node answers errors of its own.
 */
export function explainRejection(error: RpcError): Verdict {
  const text = plainText(error.message),
    reason = text || `error ${error.code}`;
  if (error.unmatched === true) return { kind: 'unknown', reason };
  if (error.code === ALREADY_IN_CHAIN) return { kind: 'already_known' };
  if (error.code === UNREADABLE && UNREADABLE_TEXT.test(text))
    return { kind: 'rejected', code: 'CHAIN_REJECTED', action: 'none', reason };
  const row = JUDGED.has(error.code)
    ? REFUSALS.find(({ reasons }) => reasons.some((one) => text.startsWith(one) && REST.test(text.slice(one.length))))
    : undefined;
  if (row === undefined) return { kind: 'unknown', reason };
  switch (row.kind) {
    case 'already_known':
      return { kind: 'already_known' };
    case 'look_up':
      return { kind: 'look_up', reason };
    case 'behind':
      return { kind: 'behind', code: 'CHAIN_REJECTED', action: 'rebuild', reason };
    default:
      return { kind: 'rejected', code: 'CHAIN_REJECTED', action: row.kind, reason };
  }
}
