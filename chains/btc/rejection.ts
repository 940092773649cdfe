/**
 * What a node's refusal of a transaction means. Codes first, then lower-case text (X2); the table is chains.md 4.2.
 * Prefixes such as `64:` and endings such as `(code 16)` are noise of old versions and are cut off.
 * Sources: btcsuite/btcd `rpcclient/errors.go`; bitcoin/bitcoin `src/validation.cpp`, `src/policy/`,
 * `src/node/transaction.cpp`, `src/rpc/protocol.h`; litecoin-project/litecoin 0.21 by trial.
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
    readonly kind: 'behind' | 'rejected'; readonly code: ErrorCode; readonly action: Action; readonly reason: string;
  };

export type Action = 'reprice' | 'rebuild' | 'wait_for_maturity' | 'wait_for_confirmation' | 'other_inputs' | 'none';

interface Row {
  readonly texts: readonly string[];
  readonly kind: 'already_known' | 'look_up' | 'behind' | Action;
}

/** In order: a longer text stands before one that it contains. */
const BROADCAST: readonly Row[] = [
  { kind: 'already_known', texts: [
    'txn-already-in-mempool', 'txn-already-known', 'transaction already in block chain',
    'transaction outputs already in utxo set',
    'txn-same-nonwitness-data-in-mempool', 'already in mempool',
  ] },
  {
    kind: 'look_up',
    texts: ['bad-txns-inputs-missingorspent', 'missing-inputs', 'missing inputs', 'bad-txns-inputs-spent'],
  },
  // B16: all of these are about replacing what is in the pool already.
  { kind: 'other_inputs', texts: [
    'too many potential replacements', 'replacement-adds-unconfirmed', 'bad-txns-spends-conflicting-tx',
    'txn-mempool-conflict',
  ] },
  { kind: 'reprice', texts: ['insufficient fee', 'rejecting replacement', 'replacement-failed'] },
  { kind: 'reprice', texts: [
    'min relay fee not met', 'mempool min fee not met', 'mempool-full', 'mempool full', 'insufficient priority',
  ] },
  {
    kind: 'rebuild', texts: ['max-fee-exceeded', 'fee exceeds maximum configured', 'absurdly-high-fee', 'max feerate'],
  },
  { kind: 'rebuild', texts: ['dust'] },
  { kind: 'wait_for_maturity', texts: ['bad-txns-premature-spend-of-coinbase'] },
  { kind: 'wait_for_confirmation', texts: [
    'too-long-mempool-chain', 'too many unconfirmed', 'too-large-cluster', 'too many descendants',
    'exceeds descendant size limit',
    'exceeds ancestor size limit', 'package-mempool-limits',
  ] },
  { kind: 'behind', texts: ['non-final', 'non-bip68-final'] },
  { kind: 'none', texts: [
    'mandatory-script-verify-flag-failed', 'block-script-verify-flag-failed', 'mempool-script-verify-flag-failed',
    'non-mandatory-script-verify-flag',
  ] },
  {
    kind: 'rebuild',
    texts: [
      'tx-size', 'bad-txns-too-many-sigops', 'scriptpubkey', 'multi-op-return', 'bad-txns-nonstandard-inputs',
      'bad-witness-nonstandard',
    ],
  },
];

/**
 * Not connected, no peers, first download, warming up, database, memory, and the JSON-RPC layer: nothing about the
 * transaction.
 */
const SAYS_NOTHING = new Set([-9, -31, -10, -28, -20, -7, -32_600, -32_601, -32_603]);
/** RPC_VERIFY_ALREADY_IN_UTXO_SET: in a block already. Source: src/rpc/protocol.h. */
const ALREADY_IN_CHAIN = -27;

/** Texts of a node that is busy, whatever their code. */
const UNAVAILABLE = [
  'timeout', 'timed out', 'too many requests', 'rate limit', 'work queue depth exceeded', 'rpc in warmup',
  'loading block index',
];

/** A node's text without the numbers that versions put around it: `64: dust (code 64)` → `dust`. */
export function plainText(message: string): string {
  return message.toLowerCase().replace(/^\d+:\s*/, '').replace(/\s*\(code \d+\)\s*$/, '').trim();
}

/**
 * The class of a node's answer to a transaction. A text that no row has is final: chains.md part 3, "everything final".
 */
export function explainRejection(error: RpcError): Verdict {
  const text = plainText(error.message), reason = text || `error ${error.code}`;
  if (error.code === ALREADY_IN_CHAIN) return { kind: 'already_known' };
  const row = BROADCAST.find(({ texts }) => texts.some((part) => text.includes(part)));
  if (row === undefined) {
    const unproven = SAYS_NOTHING.has(error.code) || (error.code >= 400 && error.code <= 599)
      || UNAVAILABLE.some((part) => text.includes(part));
    return unproven
      ? { kind: 'unknown', reason } : { kind: 'rejected', code: 'CHAIN_REJECTED', action: 'none', reason };
  }
  switch (row.kind) {
    case 'already_known': return { kind: 'already_known' };
    case 'look_up': return { kind: 'look_up', reason };
    case 'behind': return { kind: 'behind', code: 'CHAIN_REJECTED', action: 'rebuild', reason };
    default: return { kind: 'rejected', code: 'CHAIN_REJECTED', action: row.kind, reason };
  }
}
