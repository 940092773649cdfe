/**
 * The closed list of broadcast answers that say something about the transaction itself. Whatever is not on it is
 * unknown: a gateway's own error, a busy or lagging node, a text of a client that nobody has read yet. F22, G26.
 *
 * A row matches the whole text, lower case, so that a gateway's sentence which contains a node's words matches nothing.
 * The texts come from these clients:
 *   geth 1.16        core/txpool/errors.go, core/error.go, core/txpool/validation.go, internal/ethapi (bsc 1.5,
 *                    bor 2.2, coreth 0.15 and op-geth 1.101 share them; bsc and coreth add their own, marked below)
 *   nethermind 1.32  Nethermind.TxPool/AcceptTxResult.cs; before that the name of the result was sent in place of a
 * sentence
 *   erigon 3.1       txnprovider/txpool/txpoolcfg, after the name of its import result
 *   reth 1.8         rpc-eth-types/src/error, RpcInvalidTransactionError and RpcPoolError
 *   besu 25.8        RpcErrorType.java, some with codes of their own
 *   anvil 1.3        anvil/core/src/eth/error.rs (InvalidTransactionError)
 *   openethereum 3.3 rpc/src/v1/helpers/errors.rs, the last release; some networks' nodes still answer as it does
 */
import type { ErrorCode } from '../../protocol/errors.ts';

export type Action = 'reprice' | 'rebuild' | 'raise_gas_limit' | 'split' | 'fund' | 'check_sender' | 'none';

export type Meaning =
  | { readonly kind: 'already_known' | 'look_up' }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly action: Action };

interface Row {
  readonly means: Meaning;
  readonly texts: readonly RegExp[];
  /** Codes under which a client gives these texts beside `REFUSAL_CODES`. */
  readonly codes?: readonly number[];
}

/**
 * Codes under which clients refuse a transaction: −32000 (geth, erigon, besu), −32003 (reth, anvil), −32010
 * (nethermind, openethereum), −32602 (besu: type not valid), 3 (execution reverted). Source: execution-apis, error
 * groups.
 */
export const REFUSAL_CODES: ReadonlySet<number> = new Set([3, -32_000, -32_003, -32_010, -32_602]);

const rejected = (action: Action, code: ErrorCode = 'CHAIN_REJECTED'): Meaning => ({ kind: 'rejected', code, action });

/**
 * Words of gateways, which no client has in a refusal: a gateway may repeat a node's sentence, and then say what went
 * wrong with itself.
 */
export const OF_A_GATEWAY =
  /\b(?:time[ds]? ?-?out|deadline|upstreams?|backends?|gateway|proxy|unavailable|connection|retry|again|rate|limited)\b/;
/**
 * What geth, reth and anvil append to a sentence: `: address 0x…, tx: 4 state: 5`, ` (cap: 1, tx: 2)`, `: have 1 want
 * 56`, `: new tx gas fee cap 1 <= 2 queued`. All of them name figures.
 */
const DETAIL = String.raw`(?:: (?=[^:]*\d)(?:[^<>{}]|[<>]=? (?=\d|tx nonce)){1,240}| \((?=[^)]*\d)[^<>{}()]{1,120}\))?`;
const sentence = (text: string): RegExp => new RegExp(`^(?:${text})${DETAIL}$`);
/** Nethermind's older form: the name of the result, then a sentence. */
const named = (name: string): RegExp => new RegExp(`^${name}(?:, [^<>{}]{1,240})?$`);
/** Erigon's form: the name of its import result before the reason. */
const exact = (text: string): RegExp =>
  new RegExp(`^(?:(?:internal_error|already_exists|fee_too_low|invalid|stale): )?(?:${text})$`);

/** In order; no text is matched by two rows. */
export const REFUSALS: readonly Row[] = [
  {
    means: { kind: 'already_known' },
    texts: [
      // geth, anvil, besu
      exact('already known'),
      /^transaction already imported$/,
      /^known transaction(?:: ?(?:0x)?[0-9a-f]{1,64})?$/,
      named('alreadyknown'),
      exact('existing txn? with same hash'),
      /^transaction with the same hash was already imported$/,
    ],
  },
  // The nonce is used: perhaps by these bytes.
  {
    means: { kind: 'look_up' },
    codes: [-32_001],
    texts: [
      sentence('nonce too low'),
      exact('nonce too low'),
      exact('mined'),
      named('oldnonce'),
      named('ownnoncealreadyused'),
      /^transaction nonce is too low(?:\. try incrementing the nonce)?$/,
    ],
  },
  {
    means: rejected('reprice'),
    texts: [
      sentence('replacement transaction underpriced'),
      exact('replacement transaction underpriced'),
      named('replacementnotallowed'),
      exact('could not replace existing tx'),
      exact('replaced by transaction with higher tip'),
      /^there is another transaction with same nonce in the queue$/,
      /^insufficient gas price to replace existing transaction$/,
      sentence('future transaction tries to replace pending'),
    ],
  },
  {
    means: rejected('reprice'),
    codes: [-32_009],
    texts: [
      sentence('transaction underpriced'),
      exact('underpriced'),
      exact('fee too low'),
      sentence('transaction gas price below minimum'),
      sentence('max fee per gas less than block base fee'),
      sentence('fee cap less than block base fee'),
      /^transaction is outdated$/,
      named('feetoolow'),
      named('feetoolowtocompete'),
      /^gas price below (?:configured minimum gas price|current base fee)$/,
      /^transaction gas price is too low\. (?:it|there) [^<>{}]{1,200}$/,
      sentence('tip above fee cap'),
      /^transaction priority fee below minimum required priority fee \d+$/, // op-reth
    ],
  },
  {
    means: rejected('reprice'),
    texts: [
      /^tx fee \([\d.]+ ether\) exceeds the configured cap \([\d.]+ ether\)$/,
      /^transaction fee cap exceeded$/,
      /^tx fee \(\d+ wei\) exceeds the configured cap \(\d+ wei\)$/, // reth
    ],
  },
  {
    means: rejected('rebuild'),
    texts: [
      sentence('max priority fee per gas higher than max fee per gas'),
      /^max priority fee per gas exceeds max fee per gas$/,
      sentence('max priority fee per gas higher than 2\\^256-1'),
      sentence('max fee per gas higher than 2\\^256-1'),
    ],
  },
  {
    means: rejected('fund', 'INSUFFICIENT_GAS'),
    codes: [-32_004],
    texts: [
      sentence('insufficient funds for gas \\* price \\+ value'),
      sentence('insufficient funds for transfer'),
      exact('insufficient funds'),
      named('insufficientfunds'),
      /^upfront cost exceeds (?:transaction sender )?account balance$/,
      /^insufficient funds\. the account you tried to send transaction from does not have enough funds\.[^<>{}]{0,160}$/,
    ],
  },
  {
    means: rejected('fund', 'INSUFFICIENT_FUNDS'),
    texts: [/^(?:execution reverted: )?(?:[\w.-]{1,20}: )?transfer amount exceeds balance$/],
  },
  {
    means: rejected('raise_gas_limit'),
    texts: [
      sentence('intrinsic gas too low'),
      sentence('insufficient gas for floor data gas cost'),
      /^intrinsic gas exceeds gas limit$/,
      exact('intrinsicgas'),
      /^transaction gas is too low\. there is not enough gas to cover minimal cost of the transaction[^<>{}]{0,160}$/,
    ],
  },
  {
    means: rejected('split'),
    codes: [-32_005],
    texts: [
      sentence('exceeds block gas limit'),
      sentence('transaction gas limit too high'),
      exact('gas limit is too high'),
      /^gas limit too high$/,
      named('gaslimitexceeded'),
      /^transaction gas limit exceeds block gas limit$/,
      /^intrinsic gas too high$/,
      /^transaction cost exceeds current gas limit\. limit: [^<>{}]{1,160}$/,
    ],
  },
  {
    means: rejected('none'),
    texts: [
      /^only replay-protected \(eip-155\) transactions allowed over rpc$/,
      /^(?:invalid sender: )?invalid chain id(?: for signer)?(?:: [^<>{}]{1,120})?$/,
      /^wrong chainid$/,
      /^chainid (?:not supported|is required)$/,
      sentence('invalid sender'),
      exact('invalid sender'),
    ],
  },
  {
    means: rejected('rebuild'),
    texts: [
      sentence('transaction type not supported'),
      /^transaction type not valid$/,
      /^invalid transaction type$/,
      named('notsupportedtxtype'),
      exact('fork supporting this transaction type is not activated yet'),
      sentence('oversized data'),
      exact('rlptoolong'),
      sentence('negative value'),
      exact('negative value'),
      sentence('nonce has max value'),
      named('maxtxsizeexceeded'),
      named('int256overflow'),
      sentence('gas uint64 overflow'),
      exact('gasuintoverflow'),
    ],
  },
  // A node that simulates before it accepts.
  {
    means: rejected('rebuild'),
    texts: [/^gas required exceeds allowance(?: \(\d+\))?$/, /^execution reverted(?:: [^<>{}]{1,240})?$/],
  },
  {
    means: rejected('check_sender'),
    texts: [
      /^sender (?:is )?not an eoa(?:: [^<>{}]{1,160})?$/,
      sentence('address already reserved'),
      named('senderiscontract'),
      named('pendingtxsofconflictingtype'),
    ],
  },
  { means: rejected('none'), texts: [/^sender or to in black list$/] }, // bsc
];
