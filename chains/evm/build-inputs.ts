/** Everything that a build needs, asked of one endpoint so that the figures belong together (V36). */
import { ChainUnavailable, MalformedReply, type Endpoint, type Intent } from '../chain.ts';
import {
  decodeTransferResult,
  decodeWord,
  encodeBalanceOf,
  encodeL1FeeUpperBound,
  encodeOperatorFee,
  encodeTransfer,
} from './abi.ts';
import { encodeUnsigned } from './envelope.ts';
import { GAS_LIMIT_MAX, PLAIN_TRANSFER_GAS, type EvmInputs } from './fee.ts';
import { LATEST, type Heads } from './heads.ts';
import type { EvmNetwork } from './network.ts';
import { ask, askAll, call, resultOf, tryAsk } from './node.ts';
import { bigintOf, countOf, quantity } from './quantity.ts';
import { revertReasonOf } from './rejection.ts';

/** Blocks of fee history, and the share of gas below a reported tip. V32. */
const FEE_HISTORY = call('eth_feeHistory', quantity(20), 'latest', [10, 50, 90]);
const MEDIAN_COLUMN = 1;

/**
 * What the transaction of an intent calls, and with what; `value` is 1 wei for a send-all, whose amount is not known
 * yet.
 */
interface Planned {
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
}

/** Inputs of an intent from one endpoint. Throws: ChainUnavailable, MalformedReply. */
export async function readBuildInputs(
  network: EvmNetwork,
  heads: Heads,
  endpoint: Endpoint,
  intent: Intent,
  envelope: EvmInputs['envelope'],
): Promise<EvmInputs> {
  const { from, token } = intent;
  const [latest, counted, pending, native, code, held] = await askAll(network, endpoint, [
    LATEST,
    call('eth_getTransactionCount', from, 'latest'),
    call('eth_getTransactionCount', from, 'pending'),
    call('eth_getBalance', from, 'latest'),
    call('eth_getCode', intent.to, 'latest'),
    ...(token === null ? [] : [call('eth_call', { to: token.contract, data: encodeBalanceOf(from) }, 'latest')]),
  ]);
  const head = heads.accept(endpoint, latest);
  const tokenBalance = token === null ? null : decodeWord(held);
  if (token !== null && tokenBalance === null) {
    throw new ChainUnavailable(network.slug, `${token.contract} answers no balance`);
  }
  const planned = plan(intent, tokenBalance);
  const gas = await gasOf(network, endpoint, intent, planned, { code, tokenBalance });
  return {
    readAtHeight: countOf(head.number, 'head'),
    readAtHash: head.hash.toLowerCase(),
    nonceLatest: countOf(counted, 'nonce'),
    noncePending: countOf(pending, 'pending nonce'),
    nativeBalance: bigintOf(native, 'balance').toString(),
    tokenBalance: tokenBalance?.toString() ?? null,
    gas,
    envelope,
    ...(await readPrices(network, endpoint, head.baseFeePerGas)),
    l1FeeUpperBound: await readL1Fee(network, endpoint, planned, gas),
  };
}

function plan({ to, amount, token, call: asked }: Intent, tokenBalance: bigint | null): Planned {
  if (asked !== undefined) return { to: asked.contract, value: 0n, data: asked.data };
  if (token === null) return { to, value: amount === 'all' ? 1n : amount, data: '0x' };
  return { to: token.contract, value: 0n, data: encodeTransfer(to, amount === 'all' ? (tokenBalance ?? 0n) : amount) };
}

/**
 * V34, V44, V17: nothing to estimate without code; a token transfer is called first, because its answer may be "no".
 */
async function gasOf(
  network: EvmNetwork,
  endpoint: Endpoint,
  { from, token, call: asked }: Intent,
  { to, value, data }: Planned,
  { code, tokenBalance }: { code: unknown; tokenBalance: bigint | null },
): Promise<EvmInputs['gas']> {
  if (asked !== undefined && code === '0x') return { kind: 'reverted', reason: 'no contract is there' };
  if (token === null && code === '0x') return { kind: 'plain' };
  if (token === null && typeof code !== 'string') throw new MalformedReply('eth_getCode', JSON.stringify(code));
  if (tokenBalance === 0n) return { kind: 'reverted', reason: 'the token balance is 0' };
  const transaction = { from, to, value: quantity(value), data };
  // What a pinned contract answers to a call of a bridge is not asked: it reverts, or it does what it says.
  if (token !== null && asked === undefined) {
    const called = await tryAsk(network, endpoint, call('eth_call', transaction, 'latest'));
    const reason = called.ok ? null : revertReasonOf(called.error);
    if (reason !== null) return { kind: 'reverted', reason };
    const result = String(resultOf(network, call('eth_call'), called));
    if (decodeTransferResult(result) !== 'done') return { kind: 'reverted', reason: 'the token refuses the transfer' };
  }
  const estimate = await tryAsk(network, endpoint, call('eth_estimateGas', transaction, 'latest'));
  const reason = estimate.ok ? null : revertReasonOf(estimate.error);
  if (reason !== null) return { kind: 'reverted', reason };
  const units = bigintOf(resultOf(network, call('eth_estimateGas'), estimate), 'gas estimate');
  return { kind: 'estimated', units: units.toString() };
}

interface FeeHistory {
  readonly baseFeePerGas?: unknown;
  readonly reward?: unknown;
  readonly gasUsedRatio?: unknown;
}

/** V32, V33: the next base fee, the median of the median tips, and the node's own price where the policy wants it. */
async function readPrices(
  network: EvmNetwork,
  endpoint: Endpoint,
  headBaseFee: string | undefined,
): Promise<Pick<EvmInputs, 'baseFeePerGas' | 'tipPerGas' | 'gasPrice'>> {
  const headBase = headBaseFee === undefined ? 0n : bigintOf(headBaseFee, 'baseFeePerGas');
  if (network.feePolicy.kind === 'gas_price') {
    const price = bigintOf(await ask(network, endpoint, call('eth_gasPrice')), 'eth_gasPrice');
    return { baseFeePerGas: headBase.toString(), tipPerGas: '0', gasPrice: price.toString() };
  }
  const history = (await ask(network, endpoint, FEE_HISTORY)) as FeeHistory | null;
  if (!Array.isArray(history?.baseFeePerGas)) throw new MalformedReply('eth_feeHistory', JSON.stringify(history));
  const bases = history.baseFeePerGas.map((fee) => bigintOf(fee, 'baseFeePerGas'));
  const used = Array.isArray(history.gasUsedRatio) ? history.gasUsedRatio : [];
  // An empty block reports tips of 0 that nobody paid.
  const rewards = (Array.isArray(history.reward) ? (history.reward as unknown[][]) : []).filter(
    (_, i) => used[i] !== 0,
  );
  const tips = rewards
    .map((row) => row[MEDIAN_COLUMN])
    .filter((tip) => tip !== undefined)
    .map((tip) => bigintOf(tip, 'reward'));
  const next = (await readNextBaseFee(network, endpoint)) ?? bases.at(-1) ?? headBase;
  return { baseFeePerGas: next.toString(), tipPerGas: medianOf(tips).toString(), gasPrice: null };
}

async function readNextBaseFee(
  { nextBaseFeeMethod: method, ...network }: EvmNetwork,
  endpoint: Endpoint,
): Promise<bigint | null> {
  if (method === null) return null;
  const answer = await tryAsk(network, endpoint, call(method));
  return answer.ok ? bigintOf(answer.result, method) : null;
}

function medianOf(values: readonly bigint[]): bigint {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[sorted.length >> 1] ?? 0n;
}

/**
 * V35: the predeploy's bound for a transaction of this size, and the operator's fee where the chain has one: a
 * predeploy that has no such function reverts, and then there is none. Null on chains without the predeploy.
 */
async function readL1Fee(
  network: EvmNetwork,
  endpoint: Endpoint,
  planned: Planned,
  gas: EvmInputs['gas'],
): Promise<string | null> {
  if (network.l1FeeOracle === null) return null;
  const bytes = (encodeUnsigned(largest(network, planned)).length - 2) / 2;
  const units = gas.kind === 'estimated' ? BigInt(gas.units) : PLAIN_TRANSFER_GAS;
  const oracle = (data: string) => call('eth_call', { to: network.l1FeeOracle, data }, 'latest');
  const bound = decodeWord(await ask(network, endpoint, oracle(encodeL1FeeUpperBound(bytes))));
  if (bound === null) throw new ChainUnavailable(network.slug, 'the L1 fee is unknown');
  const operator = await tryAsk(network, endpoint, oracle(encodeOperatorFee(units)));
  if (!operator.ok && revertReasonOf(operator.error) === null) {
    throw new ChainUnavailable(network.slug, 'the operator fee is unknown');
  }
  return (bound + (operator.ok ? (decodeWord(operator.result) ?? 0n) : 0n)).toString();
}

/** The planned transaction with every other field as wide as it can become. */
function largest({ chainId }: EvmNetwork, { to, value, data }: Planned) {
  const wide = 2n ** 63n;
  return {
    type: 2 as const,
    chainId,
    nonce: 2 ** 31,
    gasLimit: GAS_LIMIT_MAX,
    maxFeePerGas: wide,
    maxPriorityFeePerGas: wide,
    to,
    data,
    value: value === 0n ? 0n : 2n ** 96n,
  };
}
