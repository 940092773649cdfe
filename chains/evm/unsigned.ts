/**
 * Unsigned transactions, their repricing and their cancelling. Pure: everything that had to be asked is in the inputs.
 *
 * Order of refusals (X1): what the intent says, what the chain would not run, the asset, the fee, the caps.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Intent, Network, ReplayKey, Unsigned } from '../chain.ts';
import type { ContractCall } from '../contract-call.ts';
import { decodeTransfer, encodeTransfer } from './abi.ts';
import { parseAddress } from './address.ts';
import { decodeUnsigned, encodeUnsigned, type EvmTransaction } from './envelope.ts';
import { bumped, checkFeeCaps, feePartsOf, gasOf, gasPricesOf, l1ReserveOf, larger, type EvmInputs } from './fee.ts';
import { evmOf, type EvmNetwork } from './network.ts';

/** The next nonce that the chain itself would take. V39: the account's allocator takes the larger of it and its own. */
export function nextReplayValue(inputs: EvmInputs): number {
  return inputs.nonceLatest;
}

/** The next nonce behind what waits in the node's own pool. */
export function pendingReplayValue(inputs: EvmInputs): number {
  return inputs.noncePending;
}

interface Priced {
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly l1Reserve: bigint;
  readonly feeMax: bigint;
}

function priced(prices: Omit<Priced, 'feeMax'>): Priced {
  return { ...prices, feeMax: prices.gasLimit * prices.maxFeePerGas + prices.l1Reserve };
}

/** What is needed to describe a transaction beside its own fields. */
interface Around {
  readonly network: EvmNetwork;
  readonly inputs: EvmInputs;
  readonly from: string;
  readonly fromPath: string;
  readonly sendAll: boolean;
  readonly tokenContract: string | null;
  /** Of a bridge's call: what is said of it, since its bytes are no transfer. */
  readonly called: Called | null;
}

interface Called {
  readonly call: ContractCall;
  readonly to: string;
  readonly amount: bigint;
}

const calledBy = ({ call, to, amount }: Unsigned): Called | null => (call === undefined ? null : { call, to, amount });

/**
 * A payment as an unsigned envelope. Refuses: INVALID_INPUT, INVALID_ADDRESS, INVALID_AMOUNT, INSUFFICIENT_FUNDS,
 * INSUFFICIENT_GAS, CHAIN_REJECTED, AMOUNT_CAP_EXCEEDED.
 */
export function buildUnsigned(
  network: Network,
  inputs: EvmInputs,
  intent: Intent,
  replay: ReplayKey | null,
): Unsigned | Refusal {
  const evm = evmOf(network),
    { token, tag, call } = intent;
  if (intent.kind === 'trustline') return refuse('INVALID_INPUT', { reason: 'the chain has no trustlines' });
  if (tag !== null) return refuse('INVALID_INPUT', { reason: 'the chain has no tags', tag });
  if (replay !== null && replay.kind !== 'nonce') {
    return refuse('INVALID_INPUT', { reason: 'expected a nonce', kind: replay.kind });
  }
  const to = parseAddress(network, intent.to);
  if (!to.ok) return to;
  const gas = gasOf(inputs);
  if ('ok' in gas) return gas;
  const { maxFeePerGas, maxPriorityFeePerGas } = gasPricesOf(evm, inputs, {
    fee: intent.withinFee,
    gasLimit: gas.limit,
  });
  // V43: with the tip at the cap the whole of it is paid, and only the slack of the L1 part stays behind.
  const leavesExactly = token === null && intent.amount === 'all' && intent.leave !== undefined;
  const fees = priced({
    gasLimit: gas.limit,
    maxFeePerGas,
    maxPriorityFeePerGas: leavesExactly ? maxFeePerGas : maxPriorityFeePerGas,
    l1Reserve: l1ReserveOf(inputs),
  });
  const amount = amountOf(inputs, intent, fees);
  if (typeof amount !== 'bigint') return amount;
  const refusal =
    checkFunds(inputs, token !== null, amount, fees.feeMax) ??
    (inputs.gas.kind === 'reverted' ? refuse('CHAIN_REJECTED', { reason: inputs.gas.reason }) : null) ??
    checkFeeCaps(network, fees.feeMax, token === null && call === undefined ? amount : null, intent.maxFeeRatioBps);
  if (refusal !== null) return refusal;
  return unsignedOf(
    {
      type: inputs.envelope === 'legacy' ? 0 : 2,
      chainId: evm.chainId,
      nonce: replay === null ? inputs.nonceLatest : replay.value,
      ...feeFieldsOf(fees),
      ...(call === undefined
        ? {
            to: token === null ? to.canonical : token.contract,
            value: token === null ? amount : 0n,
            data: token === null ? '0x' : encodeTransfer(to.canonical, amount),
          }
        : { to: call.contract, value: 0n, data: call.data }),
    },
    fees,
    {
      network: evm,
      inputs,
      from: intent.from,
      fromPath: intent.fromPath,
      sendAll: intent.amount === 'all',
      tokenContract: token?.contract ?? null,
      called: call === undefined ? null : { call, to: to.canonical, amount },
    },
  );
}

/** V36: a send-all of the native coin leaves what the very fee that is signed can cost, and what the caller keeps. */
function amountOf(
  inputs: EvmInputs,
  { amount, token, call, leave = 0n }: Intent,
  { feeMax }: Priced,
): bigint | Refusal {
  // A mint moves nothing of its sender.
  if (call !== undefined && amount === 0n) return amount;
  if (amount !== 'all') return amount > 0n ? amount : refuse('INVALID_AMOUNT', { amount: amount.toString() });
  const balance = BigInt(token === null ? inputs.nativeBalance : (inputs.tokenBalance ?? '0'));
  if (balance === 0n) return refuse('INSUFFICIENT_FUNDS', { balance: '0', required: '1' });
  if (token !== null) return balance;
  const rest = balance - feeMax - leave;
  if (rest > 0n) return rest;
  return refuse('INSUFFICIENT_GAS', { balance: balance.toString(), required: (feeMax + leave + 1n).toString() });
}

/** X1: the asset first, then the native coin for value and fee together (V35: the L1 part included). */
function checkFunds(inputs: EvmInputs, isToken: boolean, amount: bigint, feeMax: bigint): Refusal | null {
  const native = BigInt(inputs.nativeBalance),
    asset = isToken ? BigInt(inputs.tokenBalance ?? '0') : native;
  if (asset < amount) return refuse('INSUFFICIENT_FUNDS', { balance: asset.toString(), required: amount.toString() });
  const required = (isToken ? 0n : amount) + feeMax;
  if (native >= required) return null;
  return refuse('INSUFFICIENT_GAS', {
    balance: native.toString(),
    required: required.toString(),
    feeMax: feeMax.toString(),
  });
}

function feeFieldsOf({ gasLimit, maxFeePerGas, maxPriorityFeePerGas }: Priced) {
  return { gasLimit, maxFeePerGas, maxPriorityFeePerGas };
}

function unsignedOf(transaction: EvmTransaction, fees: Priced, around: Around): Unsigned {
  const { network, inputs, tokenContract, called, ...parties } = around;
  const transfer = called ?? (tokenContract === null ? null : decodeTransfer(transaction.data));
  return {
    chain: network.slug,
    payload: encodeUnsigned(transaction),
    ...parties,
    tokenContract,
    tag: null,
    kind: 'payment',
    to: transfer?.to ?? transaction.to,
    amount: transfer?.amount ?? transaction.value,
    feeMax: fees.feeMax,
    fee: { type: transaction.type, ...feePartsOf({ ...feeFieldsOf(fees), l1Reserve: fees.l1Reserve }) },
    replayKey: { kind: 'nonce', value: transaction.nonce },
    readAtHeight: inputs.readAtHeight,
    ...(called === null ? {} : { call: called.call }),
  };
}

/** The transaction of an unsigned payload that we built ourselves. Throws: Error for any other. */
function transactionOf({ payload }: Unsigned): EvmTransaction {
  const decoded = decodeUnsigned(payload);
  if (!decoded.ok) throw new Error(`a payload of ours does not decode: ${decoded.reason}`);
  return decoded.transaction;
}

/** V37, V38: both fields at least a tenth higher and at least the market's; the gas limit stays. */
function displacing(network: EvmNetwork, old: EvmTransaction, inputs: EvmInputs): Priced {
  const market = gasPricesOf(network, inputs);
  const tip = larger(bumped(old.maxPriorityFeePerGas), market.maxPriorityFeePerGas);
  const maxFeePerGas = larger(larger(bumped(old.maxFeePerGas), market.maxFeePerGas), tip);
  const paysAll = old.type === 0 || old.maxPriorityFeePerGas === old.maxFeePerGas;
  return priced({
    gasLimit: old.gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas: paysAll ? maxFeePerGas : tip,
    l1Reserve: l1ReserveOf(inputs),
  });
}

/** A nonce that a block has used cannot be used again. Refuses: CONFLICT. */
function checkNonceFree(old: EvmTransaction, inputs: EvmInputs): Refusal | null {
  return inputs.nonceLatest > old.nonce ? refuse('CONFLICT', { reason: 'the nonce is used', nonce: old.nonce }) : null;
}

/**
 * V37: the same payment under the same nonce for a fee that displaces the old version. The amount of a native send-all
 * goes down by what the fee goes up, never up. Refuses: CONFLICT, INSUFFICIENT_FUNDS, INSUFFICIENT_GAS,
 * CHAIN_REJECTED, AMOUNT_CAP_EXCEEDED.
 */
export function reprice(network: Network, unsigned: Unsigned, inputs: EvmInputs): Unsigned | Refusal {
  const evm = evmOf(network),
    old = transactionOf(unsigned),
    isToken = unsigned.tokenContract !== null;
  const fees = displacing(evm, old, inputs);
  const rise = larger(0n, fees.feeMax - unsigned.feeMax);
  const amount = unsigned.sendAll && !isToken ? unsigned.amount - rise : unsigned.amount;
  if (amount <= 0n && unsigned.call === undefined) {
    return refuse('INSUFFICIENT_GAS', { balance: inputs.nativeBalance, required: fees.feeMax.toString() });
  }
  const refusal =
    checkNonceFree(old, inputs) ??
    checkFunds(inputs, isToken, amount, fees.feeMax) ??
    (inputs.gas.kind === 'reverted' ? refuse('CHAIN_REJECTED', { reason: inputs.gas.reason }) : null) ??
    checkFeeCaps(network, fees.feeMax, null, undefined);
  if (refusal !== null) return refusal;
  const { from, fromPath, sendAll, tokenContract } = unsigned;
  return unsignedOf({ ...old, chainId: evm.chainId, ...feeFieldsOf(fees), value: isToken ? 0n : amount }, fees, {
    network: evm,
    inputs,
    from,
    fromPath,
    sendAll,
    tokenContract,
    called: calledBy(unsigned),
  });
}

/** The same transaction under another nonce. Refuses: CONFLICT. */
export function withCounter(
  _network: Network,
  unsigned: Unsigned,
  inputs: EvmInputs,
  replay: ReplayKey,
): Unsigned | Refusal {
  if (replay.kind !== 'nonce') throw new Error(`expected a nonce, got ${replay.kind}`);
  const transaction = { ...transactionOf(unsigned), nonce: replay.value };
  return (
    checkNonceFree(transaction, inputs) ?? { ...unsigned, payload: encodeUnsigned(transaction), replayKey: replay }
  );
}

/**
 * V38: nothing to oneself under the same nonce, so that the old version can no longer land. Refuses as `reprice` does.
 */
export function cancel(network: Network, unsigned: Unsigned, inputs: EvmInputs): Unsigned | Refusal {
  const evm = evmOf(network),
    old = transactionOf(unsigned),
    { from, fromPath } = unsigned;
  // The old limit covers the 21,000 of a plain transfer, and code at an own address that has a delegation (V20).
  const fees = displacing(evm, old, inputs);
  const refusal =
    checkNonceFree(old, inputs) ??
    checkFunds(inputs, false, 0n, fees.feeMax) ??
    checkFeeCaps(network, fees.feeMax, null, undefined);
  if (refusal !== null) return refusal;
  return unsignedOf({ ...old, chainId: evm.chainId, ...feeFieldsOf(fees), to: from, value: 0n, data: '0x' }, fees, {
    network: evm,
    inputs,
    from,
    fromPath,
    sendAll: false,
    tokenContract: null,
    called: null,
  });
}
