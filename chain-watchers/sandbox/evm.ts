/** The EVM networks as simulated ledgers: blocks as a node answers them, signed envelopes as a node takes them. */
import { createHash } from 'node:crypto';
import type { Block, Intent, Signed } from '../../chains/chain.ts';
import { decodeTransfer } from '../../chains/evm/abi.ts';
import { addressOfHex } from '../../chains/evm/address.ts';
import { balanceOf } from '../../chains/evm/balance.ts';
import { unitOf } from '../../chains/evm/block.ts';
import type { RawLog } from '../../chains/evm/raw.ts';
import type { EvmRaw, RawReceipt, RawTransaction } from '../../chains/evm/raw.ts';
import { decodeSigned, txidOf, type EvmTransaction } from '../../chains/evm/envelope.ts';
import { PLAIN_TRANSFER_GAS, type EvmInputs } from '../../chains/evm/fee.ts';
import { evmOf, type EvmNetwork } from '../../chains/evm/network.ts';
import { quantity, word } from '../../chains/evm/quantity.ts';
import { TRANSFER_TOPIC } from '../../chains/evm/transfers.ts';
import type { SandboxBlock, SandboxTransaction } from '../../model/ports/sandbox-store.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Bid, ReadPayload, SenderView, SimulatedFamily } from './family.ts';

/** 1 gwei in wei. */
const GWEI = 1_000_000_000n;
/** Choice: steady prices, so that a sandbox fee can be foretold. */
const BASE_FEE_WEI = GWEI;
const TIP_WEI = GWEI / 10n;
/** What a token transfer burns; chains.md 5.5 (an ERC-20 transfer to a new holder). */
const TOKEN_TRANSFER_GAS = 65_000n;
/** Upper bound of the L1 part where the network has one, wei; what a transaction pays of it. */
const L1_BOUND_WEI = 2_000_000_000_000n;
const L1_PAID_WEI = 1_000_000_000_000n;
/** What a version offers, of the one whose place it takes. Source: geth, `PriceBump`. */
const DISPLACING_PERCENT = 110n;
/** Payments from outside come from here; no key is known for it. */
const OUTSIDE = addressOfHex(`0x${createHash('sha256').update('flock sandbox payer').digest('hex').slice(0, 40)}`);
/** G2: the top-level native value. */
const NATIVE_INDEX = -1;

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
const topicOf = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;

export const simulatedEvm: SimulatedFamily = {
  family: 'evm',
  hashText: hex,
  deposit: (_network, { to, amount, token, seed }) => ({
    txid: hex(seed),
    success: true,
    reason: null,
    fee: (PLAIN_TRANSFER_GAS * BASE_FEE_WEI).toString(),
    from: null,
    nonce: null,
    transfers: [
      {
        outputIndex: token === null ? NATIVE_INDEX : 0,
        to,
        amount: amount.toString(),
        tokenContract: token?.contract ?? null,
      },
    ],
  }),
  render: (_network, block) => renderBlock(block) as Block,
  balanceOf: (network, amount, token) => balanceOf(amount, token?.decimals ?? network.nativeDecimals),
  buildInputs: (network, intent, view) => inputsOf(evmOf(network), intent, view),
  read: (network, signed) => readPayload(evmOf(network), signed),
  displaces,
  rivalOf: (_network, one, seed) => ({ ...one, txid: hex(seed), success: true, reason: null, transfers: [] }),
};

function renderBlock(block: SandboxBlock): Block<EvmRaw> {
  const parts = block.transactions.map((transaction, index) => renderTransaction(block, transaction, index));
  return unitOf({
    block: {
      number: quantity(block.height),
      hash: block.hash,
      parentHash: block.parentHash,
      timestamp: quantity(Math.floor(block.timeMs / 1_000)),
      baseFeePerGas: quantity(BASE_FEE_WEI),
      transactions: parts.map(({ transaction }) => transaction),
    },
    receipts: parts.map(({ receipt }) => receipt),
  });
}

function renderTransaction(
  block: SandboxBlock,
  mined: SandboxTransaction,
  index: number,
): { transaction: RawTransaction; receipt: RawReceipt } {
  const { txid, success, fee, from, nonce, transfers } = mined;
  const native = transfers.find(({ tokenContract }) => tokenContract === null);
  const tokens = transfers.filter((transfer) => transfer.tokenContract !== null);
  const sender = (from ?? OUTSIDE).toLowerCase();
  const to = (native?.to ?? tokens[0]?.tokenContract ?? OUTSIDE).toLowerCase();
  const place = { blockHash: block.hash, transactionIndex: quantity(index) };
  const logs = tokens.map((transfer): RawLog => ({
    address: transfer.tokenContract!.toLowerCase(),
    topics: [TRANSFER_TOPIC, topicOf(sender), topicOf(transfer.to)],
    data: `0x${word(BigInt(transfer.amount))}`,
    blockHash: block.hash,
  }));
  // The fee as a price of the plain transfer's gas; what does not divide goes where a rollup puts its L1 part.
  const price = BigInt(fee) / PLAIN_TRANSFER_GAS,
    rest = BigInt(fee) % PLAIN_TRANSFER_GAS;
  return {
    transaction: {
      ...place,
      hash: txid,
      from: sender,
      to,
      value: quantity(BigInt(native?.amount ?? '0')),
      nonce: quantity(nonce ?? 0),
      type: '0x2',
    },
    receipt: {
      ...place,
      transactionHash: txid,
      blockNumber: quantity(block.height),
      status: success ? '0x1' : '0x0',
      from: sender,
      logs: success ? logs : [],
      gasUsed: quantity(PLAIN_TRANSFER_GAS),
      effectiveGasPrice: quantity(price),
      ...(rest === 0n ? {} : { l1Fee: quantity(rest) }),
    },
  };
}

function inputsOf(network: EvmNetwork, intent: Intent, view: SenderView): EvmInputs {
  const wanted = typeof intent.amount === 'bigint' ? intent.amount : 0n;
  const gas =
    intent.token === null
      ? ({ kind: 'plain' } as const)
      : (view.tokenBalance ?? 0n) < wanted
        ? ({ kind: 'reverted', reason: 'transfer amount exceeds balance' } as const)
        : ({ kind: 'estimated', units: TOKEN_TRANSFER_GAS.toString() } as const);
  return {
    readAtHeight: view.height,
    readAtHash: view.hash,
    nonceLatest: view.nonce,
    noncePending: Math.max(view.nonce, ...(view.pooled ?? []).map(({ nonce }) => (nonce ?? -1) + 1)),
    nativeBalance: view.nativeBalance.toString(),
    tokenBalance: view.tokenBalance?.toString() ?? null,
    baseFeePerGas: baseFeeOf(network).toString(),
    tipPerGas: TIP_WEI.toString(),
    gasPrice: network.feePolicy.kind === 'gas_price' ? TIP_WEI.toString() : null,
    gas,
    l1FeeUpperBound: network.l1FeeOracle === null ? null : L1_BOUND_WEI.toString(),
    envelope: 'eip1559',
  };
}

const baseFeeOf = (network: EvmNetwork): bigint => (network.feePolicy.kind === 'gas_price' ? 0n : BASE_FEE_WEI);

const rejected = (reason: string, more: Record<string, unknown> = {}): Refusal =>
  refuse('CHAIN_REJECTED', { reason, ...more });

function readPayload(network: EvmNetwork, signed: Signed): ReadPayload | Refusal {
  const read = decodeSigned(signed.payload);
  if (!read.ok) return rejected(`payload: ${read.reason}`);
  const txid = txidOf(signed.payload);
  if (txid !== signed.txid) return rejected('the txid is not the hash of the payload', { txid }); // G28
  const { transaction, from } = read;
  const { chainId } = transaction;
  if (chainId !== network.chainId) return rejected('invalid chain id for signer', { chainId });
  const payment = transaction.data === '0x' ? null : decodeTransfer(transaction.data);
  const tokenContract = payment === null ? null : transaction.to;
  return { from, nonce: transaction.nonce, tokenContract, run: (view) => run(network, txid, from, transaction, view) };
}

/** V37: both fields at least a tenth higher. */
function displaces(newer: Bid, older: readonly Bid[]): Refusal | null {
  const offer = ({ payload }: Bid): EvmTransaction => {
    const read = decodeSigned(payload);
    if (!read.ok) throw new Error(`a pooled payload does not decode: ${read.reason}`);
    return read.transaction;
  };
  const { maxFeePerGas, maxPriorityFeePerGas } = offer(newer);
  const displaced = older
    .map(offer)
    .every(
      (old) =>
        maxFeePerGas * 100n >= old.maxFeePerGas * DISPLACING_PERCENT &&
        maxPriorityFeePerGas * 100n >= old.maxPriorityFeePerGas * DISPLACING_PERCENT,
    );
  return displaced ? null : rejected('replacement transaction underpriced', { action: 'reprice' });
}

/** The checks of a node's pool and then the execution, in that order. Texts are geth's, as chains.md 5.2 lists them. */
function run(
  network: EvmNetwork,
  txid: string,
  from: string,
  transaction: EvmTransaction,
  view: SenderView,
): ReturnType<ReadPayload['run']> {
  const { nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas, to, value, data } = transaction;
  const baseFee = baseFeeOf(network);
  if (nonce < view.nonce) return rejected('nonce too low', { next: view.nonce, nonce });
  if (nonce > view.nonce) return { unknown: `nonce too high: next ${view.nonce}, got ${nonce}` };
  if (gasLimit < PLAIN_TRANSFER_GAS) return rejected('intrinsic gas too low', { gasLimit: gasLimit.toString() });
  if (maxPriorityFeePerGas > maxFeePerGas) return rejected('max priority fee per gas higher than max fee per gas');
  if (maxFeePerGas < baseFee) return rejected('max fee per gas less than block base fee');
  const l1Paid = network.l1FeeOracle === null ? 0n : L1_PAID_WEI;
  const lacking = (code: 'INSUFFICIENT_FUNDS' | 'INSUFFICIENT_GAS', required: bigint) =>
    refuse(code, { balance: view.nativeBalance.toString(), required: required.toString() });
  if (view.nativeBalance < value) return lacking('INSUFFICIENT_FUNDS', value); // X1: the asset first
  const required = value + gasLimit * maxFeePerGas + l1Paid;
  if (view.nativeBalance < required) return lacking('INSUFFICIENT_GAS', required);
  const price = baseFee + maxPriorityFeePerGas < maxFeePerGas ? baseFee + maxPriorityFeePerGas : maxFeePerGas;
  const payment = data === '0x' ? null : decodeTransfer(data);
  const gasUsed = data === '0x' ? PLAIN_TRANSFER_GAS : TOKEN_TRANSFER_GAS;
  const mined = (success: boolean, gas: bigint, transfers: SandboxTransaction['transfers']): SandboxTransaction => ({
    txid,
    success,
    reason: success ? null : 'reverted',
    fee: (gas * price + l1Paid).toString(),
    from,
    nonce,
    transfers,
  });
  if (gasLimit < gasUsed) return mined(false, gasLimit, []); // out of gas: all of it is paid
  const native = value > 0n ? [{ outputIndex: NATIVE_INDEX, to, amount: value.toString(), tokenContract: null }] : [];
  if (payment === null) return mined(true, gasUsed, native);
  if ((view.tokenBalance ?? 0n) < payment.amount) return mined(false, gasUsed, []);
  const token = { outputIndex: 0, to: payment.to, amount: payment.amount.toString(), tokenContract: to };
  return mined(true, gasUsed, [...native, token]);
}
