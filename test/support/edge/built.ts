/** Answers of `POST /v1/transactions/unsigned` as an honest cloud gives them, to be falsified field by field. */
import { encodeTransfer } from '../../../chains/evm/abi.ts';
import { encodeUnsigned, type EvmTransaction } from '../../../chains/evm/envelope.ts';
import { feePartsOf } from '../../../chains/evm/fee.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { formatAmount } from '../../../protocol/money.ts';
import type { BuiltJson } from '../../../protocol/schema/transactions.ts';

export const RECEIVER = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
export const THIEF = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';
/** USDC on eth, as the shipped registry has it. */
export const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
export const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
export const FIRST_PATH = "m/44'/60'/0'/0/0";

export interface Wanted {
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  readonly tokenContract?: string | null;
  readonly sendAll?: boolean;
}

export const TRANSACTION: EvmTransaction = {
  type: 2,
  chainId: 1,
  nonce: 3,
  gasLimit: 21_000n,
  maxFeePerGas: 30_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
  to: RECEIVER,
  value: 0n,
  data: '0x',
};

/** The transaction that pays what is wanted. */
export function transactionFor(
  { to, amount, tokenContract = null }: Wanted,
  more: Partial<EvmTransaction> = {},
): EvmTransaction {
  const own =
    tokenContract === null
      ? { to, value: amount }
      : { to: tokenContract, value: 0n, data: encodeTransfer(to, amount), gasLimit: 90_000n };
  return { ...TRANSACTION, ...own, ...more };
}

/** What the cloud answers for a transaction. `id` is a new one unless given. */
export function builtFor(
  wanted: Wanted,
  transaction: EvmTransaction,
  id: string = newId('txn', Date.now()),
): BuiltJson {
  const feeMax = (transaction.gasLimit * transaction.maxFeePerGas).toString();
  const amount = wanted.amount.toString(),
    tokenContract = wanted.tokenContract ?? null;
  return {
    id,
    chain: 'eth',
    status: 'built',
    from: wanted.from,
    to: wanted.to,
    tokenContract,
    tokenSymbol: tokenContract === null ? 'ETH' : 'USDC',
    chainTag: null,
    amount,
    amountFormatted: formatAmount(wanted.amount, tokenContract === null ? 18 : 6),
    decimals: tokenContract === null ? 18 : 6,
    feeEstimate: { fee: feeMax, feeMax, parts: {} },
    unsigned: {
      chain: 'eth',
      payload: encodeUnsigned(transaction),
      from: wanted.from,
      fromPath: FIRST_PATH,
      to: wanted.to,
      amount,
      tokenContract,
      tag: null,
      kind: 'payment',
      sendAll: wanted.sendAll ?? false,
      feeMax,
      fee: { type: transaction.type, ...feePartsOf({ ...pricesOf(transaction), l1Reserve: 0n }) },
      replayKey: { kind: 'nonce', value: transaction.nonce },
      readAtHeight: 1,
    },
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  };
}

function pricesOf({ gasLimit, maxFeePerGas, maxPriorityFeePerGas }: EvmTransaction) {
  return { gasLimit, maxFeePerGas, maxPriorityFeePerGas };
}
