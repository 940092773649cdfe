import test from 'ava';
import { Interface } from 'ethers/abi';
import {
  asksForSmallerRange,
  explainRejection,
  revertReasonOf,
  type Verdict,
} from '../../../../chains/evm/rejection.ts';
import {
  decodeRevert,
  decodeText,
  decodeTransferResult,
  decodeWord,
  encodeBalanceOf,
  encodeL1FeeUpperBound,
  encodeOperatorFee,
  encodeTransfer,
  DECIMALS,
  NAME,
  SYMBOL,
} from '../../../../chains/evm/abi.ts';
import { RECIPIENT } from '../../../support/evm-inputs.ts';

const said = (message: string, code = -32_000): Verdict => explainRejection({ code, message });

/** chains.md 5.2, row by row, with the prefixes and endings that nodes put around the texts. */
const TABLE: [string, Partial<Record<string, unknown>>][] = [
  ['already known', { kind: 'already_known' }],
  ['transaction already imported', { kind: 'already_known' }],
  ['known transaction: 1f2e', { kind: 'already_known' }],
  ['nonce too low: next nonce 5, tx nonce 4', { kind: 'look_up' }],
  ['OldNonce', { kind: 'look_up' }],
  ['nonce too high', { kind: 'unknown' }],
  ['replacement transaction underpriced', { kind: 'rejected', action: 'reprice' }],
  ['There is another transaction with same nonce in the queue', { kind: 'rejected', action: 'reprice' }],
  ['transaction underpriced: tip needed 25 gwei', { kind: 'rejected', action: 'reprice' }],
  ['transaction gas price below minimum', { action: 'reprice' }],
  ['max fee per gas less than block base fee: address 0x1', { action: 'reprice' }],
  ['fee cap less than block base fee', { action: 'reprice' }],
  ['transaction is outdated', { action: 'reprice' }],
  ['max priority fee per gas higher than max fee per gas', { kind: 'rejected', action: 'rebuild' }],
  ['insufficient funds for gas * price + value: balance 0, tx cost 1', { code: 'INSUFFICIENT_GAS', action: 'fund' }],
  ['insufficient funds for transfer', { code: 'INSUFFICIENT_GAS' }],
  ['Upfront cost exceeds transaction sender account balance', { code: 'INSUFFICIENT_GAS' }],
  ['Insufficient funds for gas * price + value', { code: 'INSUFFICIENT_GAS' }],
  ['intrinsic gas too low', { action: 'raise_gas_limit' }],
  ['insufficient gas for floor data gas cost: have 1, want 2', { action: 'raise_gas_limit' }],
  ['exceeds block gas limit', { action: 'split' }],
  ['transaction gas limit too high (cap: 16777216, tx: 20000000)', { action: 'split' }],
  ['tx fee (2.10 ether) exceeds the configured cap (1.00 ether)', { action: 'reprice', code: 'CHAIN_REJECTED' }],
  ['only replay-protected (EIP-155) transactions allowed over RPC', { kind: 'rejected', action: 'none' }],
  ['invalid chain id for signer: have 1 want 56', { action: 'none' }],
  ['execution reverted: paused', { kind: 'rejected', action: 'rebuild' }],
  ['gas required exceeds allowance (0)', { action: 'rebuild' }],
  ['in-flight transaction limit reached for delegated accounts', { kind: 'unknown' }],
  ['account limit exceeded', { kind: 'unknown' }],
  ['txpool is full', { kind: 'unknown' }],
  ['sender not an eoa', { action: 'check_sender' }],
  ['address already reserved', { action: 'check_sender' }],
  ['sender or to in black list', { kind: 'rejected', action: 'none' }],
  ['cannot query unfinalized data', { kind: 'unknown' }],
  ['header not found', { kind: 'unknown' }],
  ['missing trie node abcd', { kind: 'unknown' }],
];

test('5.2 X2 G26 every text of the table has its class and action', (t) => {
  for (const [text, verdict] of TABLE) t.like(said(text), verdict, text);
});

/**
 * Nethermind `AcceptTxResult`, Erigon `txpoolcfg`, Besu `RpcErrorType`, OpenEthereum `errors.rs`: names where geth has
 * sentences.
 */
const OTHER_NODES: [string, Partial<Record<string, unknown>>][] = [
  ['AlreadyKnown', { kind: 'already_known' }],
  ['INTERNAL_ERROR: existing tx with same hash', { kind: 'already_known' }],
  ['ALREADY_EXISTS: already known', { kind: 'already_known' }],
  ['Transaction with the same hash was already imported.', { kind: 'already_known' }],
  ['mined', { kind: 'look_up' }],
  ['INTERNAL_ERROR: mined', { kind: 'look_up' }],
  ['OwnNonceAlreadyUsed', { kind: 'look_up' }],
  ['OldNonce, Current nonce: 5, nonce of rejected tx: 4', { kind: 'look_up' }],
  ['Transaction nonce is too low. Try incrementing the nonce.', { kind: 'look_up' }],
  ['NonceGap, Future nonce. Expected nonce: 7', { kind: 'unknown' }],
  ['Transaction nonce is too distant from current sender nonce', { kind: 'unknown' }],
  ['An invalid transaction with a lower nonce exists', { kind: 'unknown' }],
  ['pending sub-pool is full', { kind: 'unknown' }],
  ['baseFee sub-pool is full', { kind: 'unknown' }],
  ['spammer', { kind: 'unknown' }],
  ['There are too many transactions in the queue. Your transaction was dropped due to limit.', { kind: 'unknown' }],
  ['FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 2', { action: 'reprice' }],
  ['FeeTooLowToCompete', { action: 'reprice' }],
  ['ReplacementNotAllowed', { action: 'reprice' }],
  ['could not replace existing tx', { action: 'reprice' }],
  ['replaced by transaction with higher tip', { action: 'reprice' }],
  ['underpriced', { action: 'reprice' }],
  ['fee too low', { action: 'reprice' }],
  ['Gas price below configured minimum gas price', { action: 'reprice' }],
  ['Transaction fee cap exceeded', { action: 'reprice' }],
  ["Transaction gas price is too low. It does not satisfy your node's minimal gas price", { action: 'reprice' }],
  ['InsufficientFunds, Account balance: 0, cumulative cost: 1', { code: 'INSUFFICIENT_GAS', action: 'fund' }],
  ['INTERNAL_ERROR: insufficient funds', { code: 'INSUFFICIENT_GAS' }],
  ['Upfront cost exceeds account balance', { code: 'INSUFFICIENT_GAS' }],
  ['GasLimitExceeded, Gas limit: 1, gas limit of rejected tx: 2', { action: 'split' }],
  ['Intrinsic gas exceeds gas limit', { action: 'raise_gas_limit' }],
  ['IntrinsicGas', { action: 'raise_gas_limit' }],
  ['SenderIsContract', { action: 'check_sender' }],
];

test('5.2 X2 G26 what Nethermind, Erigon, Besu and OpenEthereum call the same things has the same class', (t) => {
  for (const [text, verdict] of OTHER_NODES) t.like(said(text, -32_010), verdict, text);
  t.is(said('transaction was determined to be invalid').kind, 'unknown', 'a word in a word is no word');
});

test('found F22 5.2 G26 codes that say nothing about the transaction leave it unknown, and so does a text of no row', (t) => {
  for (const code of [-32_601, -32_603, -32_002, -32_005, 4_444, 429, 503])
    t.is(said('whatever', code).kind, 'unknown', String(code));
  t.deepEqual(said('the moon is in the wrong house'), { kind: 'unknown', reason: 'the moon is in the wrong house' });
  t.is(said('unknown transaction type').kind, 'unknown', 'not "known transaction"');
});

test("found F22 G26 a node's sentence with its figures is a refusal; with a gateway's words behind it, it is none", (t) => {
  const figures = [
    ['nonce too low', ': address 0xab, tx: 4 state: 5', 'look_up'],
    ['nonce too low', ': address 0xab current nonce (5) > tx nonce (4)', 'look_up'],
    ['replacement transaction underpriced', ': new tx gas fee cap 1 <= 2 queued', 'rejected'],
    ['insufficient funds for gas * price + value', ': balance 1, queued cost 2, tx cost 2, overshot 1', 'rejected'],
    ['transaction type not supported', ': type 3 rejected, pool not yet in Cancun', 'rejected'],
    ['transaction gas limit too high', ' (cap: 16777216, tx: 20000000)', 'rejected'],
    ['sender not an eoa', ': address 0xab, len(code): 23', 'rejected'],
    ['invalid chain id for signer', ': have 1 want 56', 'rejected'],
    ['execution reverted', ': paused', 'rejected'],
    ['FeeTooLow', ', MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 2', 'rejected'],
  ] as const;
  const gateways = [
    ': context deadline exceeded',
    ': request timed out after 30s',
    ': upstream answered 502',
    ': backend 2 is syncing',
    ' (try again)',
    ' (backend 3 of 5)',
    ': no connection to 127.0.0.1:8545',
    ': <html>504</html>',
  ];
  for (const [sentence, detail, kind] of figures) {
    t.is(said(`${sentence}${detail}`).kind, kind, detail);
    t.is(said(sentence).kind, kind);
    for (const gateway of gateways) {
      t.is(said(`${sentence}${gateway}`).kind, 'unknown', `${sentence}${gateway}`);
      t.is(said(`${sentence}${detail}${gateway}`).kind, 'unknown', `${sentence}${detail}${gateway}`);
    }
  }
});

test('part 3: a token that lacks balance in simulation is INSUFFICIENT_FUNDS', (t) => {
  t.like(said('execution reverted: ERC20: transfer amount exceeds balance', 3), { code: 'INSUFFICIENT_FUNDS' });
});

test('V18 reasons come from revert data where there are some: text, panic, custom error', (t) => {
  const error = new Interface(['error Error(string)', 'error Panic(uint256)', 'error Blocked(address)']);
  t.is(decodeRevert(error.encodeErrorResult('Error', ['paused'])), 'paused');
  t.is(decodeRevert(error.encodeErrorResult('Panic', [0x11])), 'panic 0x11');
  t.regex(decodeRevert(error.encodeErrorResult('Blocked', [RECIPIENT]))!, /^custom error 0x[0-9a-f]{8}$/);
  for (const nothing of [undefined, null, '0x', 5, {}, '0x4e487b71zz', '0x08c379a0 '])
    t.is(decodeRevert(nothing), null);
  const hostile = error.encodeErrorResult('Error', [`no\u0000thing see https://node.example/KEY ${'x'.repeat(4_000)}`]);
  const shown = revertReasonOf({ code: 3, message: 'execution reverted', data: hostile })!;
  t.regex(shown, /^no thing see <url> x+$/, "a contract's words are as safe as a node's");
  t.is(shown.length, 300);
  t.is(revertReasonOf({ code: 3, message: 'execution reverted', data: error.encodeErrorResult('Error', ['x']) }), 'x');
  t.is(revertReasonOf({ code: -32_000, message: 'execution reverted' }), 'execution reverted');
  t.is(
    revertReasonOf({ code: -32_015, message: 'VM execution error.', data: 'Reverted 0x' }),
    'VM execution error.',
    'Nethermind and OpenEthereum',
  );
  t.is(
    revertReasonOf({
      code: -32_015,
      message: 'VM execution error.',
      data: `Reverted ${error.encodeErrorResult('Error', ['paused'])}`,
    }),
    'paused',
  );
  t.is(revertReasonOf({ code: -32_000, message: 'header not found' }), null);
  t.is(revertReasonOf({ code: 503, message: 'reverted' }), null);
});

test('V22 every provider\'s way to say "smaller range" is understood', (t) => {
  for (const [message, code] of [
    ['query returned more than 10000 results', -32_005],
    ['range 5000 exceeds limit of 2000', -32_000],
    ['query exceeds max results 20000, retry with the range 1-2', -32_602],
    ['requested too many blocks from 1 to 5000, maximum is set to 2048', -32_000],
    ['eth_getLogs is limited to a 10,000 range', -32_614],
    ['block range is larger than max', -32_000],
    ['ranges over 10000 blocks are not supported on freetier', 35],
    ['response too large', -32_003],
    ['query timeout exceeded', -32_000],
    ['http 413', 413],
    ['http 504', 504],
    ['x', -32_005],
  ] as const)
    t.true(asksForSmallerRange({ code, message }), message);
  t.false(asksForSmallerRange({ code: -32_000, message: 'header not found' }));
});

test('V16 symbols: string, bytes32, empty, too long, broken UTF-8', (t) => {
  const abi = new Interface(['function s() view returns (string)', 'function b() view returns (bytes32)']);
  t.is(decodeText(abi.encodeFunctionResult('s', ['USDC'])), 'USDC');
  t.is(decodeText(abi.encodeFunctionResult('s', [''])), '');
  t.is(decodeText(abi.encodeFunctionResult('b', [`0x4d4b52${'0'.repeat(58)}`])), 'MKR');
  t.is(decodeText(abi.encodeFunctionResult('s', ['x'.repeat(4_097)])), '');
  t.is(decodeText(abi.encodeFunctionResult('s', ['x'.repeat(4_096)])).length, 4_096);
  for (const answer of ['0x', undefined, null, '0xzz', `0x${'f'.repeat(64)}`, `0x${'0'.repeat(62)}20${'f'.repeat(64)}`])
    t.is(decodeText(answer), '', String(answer));
});

test('V17 G8 no return value is success, one is, zero is a refusal; no code is no number', (t) => {
  t.is(decodeTransferResult('0x'), 'done');
  t.is(decodeTransferResult(`0x${'0'.repeat(63)}1`), 'done');
  t.is(decodeTransferResult(`0x${'0'.repeat(64)}`), 'refused');
  t.is(decodeTransferResult('0x01'), 'unreadable');
  t.is(decodeWord('0x'), null);
  t.is(decodeWord(`0x${'0'.repeat(64)}`), 0n);
});

test('calls are encoded as ethers encodes them', (t) => {
  const abi = new Interface([
    'function transfer(address,uint256)',
    'function balanceOf(address)',
    'function getL1FeeUpperBound(uint256)',
    'function getOperatorFee(uint256)',
    'function symbol()',
    'function name()',
    'function decimals()',
  ]);
  t.is(encodeTransfer(RECIPIENT, 5n), abi.encodeFunctionData('transfer', [RECIPIENT, 5n]));
  t.is(encodeBalanceOf(RECIPIENT), abi.encodeFunctionData('balanceOf', [RECIPIENT]));
  t.is(encodeL1FeeUpperBound(120), abi.encodeFunctionData('getL1FeeUpperBound', [120]));
  t.is(encodeOperatorFee(21_000n), abi.encodeFunctionData('getOperatorFee', [21_000]));
  t.deepEqual(
    [SYMBOL, NAME, DECIMALS],
    ['symbol', 'name', 'decimals'].map((name) => abi.encodeFunctionData(name)),
  );
});
