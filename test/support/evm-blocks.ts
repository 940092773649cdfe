/** EVM blocks for pure tests: transactions with the receipts that a node would give for them. */
import { keccak256Hex } from '../../chains/keccak.ts';
import { bloomOf } from '../../chains/evm/bloom.ts';
import { blockFromAnswers } from '../../chains/evm/block.ts';
import type { EvmRaw } from '../../chains/evm/raw.ts';
import { TRANSFER_TOPIC } from '../../chains/evm/transfers.ts';
import type { Block, Network } from '../../chains/chain.ts';

export interface LogPlan {
  address: string;
  topics: string[];
  data: string;
}
export interface TransactionPlan {
  from: string;
  to: string | null;
  value?: bigint;
  logs?: LogPlan[];
  status?: '0x1' | '0x0';
  type?: string;
  nonce?: number;
}

const hashOf = (text: string) => `0x${keccak256Hex(Buffer.from(text))}`;
const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;

/** A lower-case address made of one number. */
export const addressOf = (number: number | bigint) => `0x${number.toString(16).padStart(40, '0')}`;
export const topicOf = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
export const wordOf = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`;

export function transferLog(contract: string, from: string, to: string, value: bigint): LogPlan {
  return { address: contract.toLowerCase(), topics: [TRANSFER_TOPIC, topicOf(from), topicOf(to)], data: wordOf(value) };
}

/** Identity of a planned transaction: the same plan has the same hash in every block. */
export const txidOf = (plan: TransactionPlan) =>
  hashOf(JSON.stringify(plan, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)));

/** The answers of a node for a block of planned transactions. */
export function answersOf(height: number, plans: readonly TransactionPlan[], salt = '') {
  const hash = hashOf(`block ${height} ${salt} ${plans.map(txidOf).join()}`),
    blockNumber = `0x${height.toString(16)}`;
  let logIndex = 0;
  const receipts = plans.map((plan, i) => {
    const logs = (plan.status === '0x0' ? [] : (plan.logs ?? [])).map((log) => ({
      ...log,
      blockHash: hash,
      transactionHash: txidOf(plan),
      logIndex: `0x${(logIndex++).toString(16)}`,
      removed: false,
    }));
    return {
      transactionHash: txidOf(plan),
      transactionIndex: `0x${i.toString(16)}`,
      blockHash: hash,
      blockNumber,
      from: plan.from,
      to: plan.to,
      status: plan.status ?? '0x1',
      gasUsed: '0x5208',
      effectiveGasPrice: '0x3b9aca00',
      logs,
      logsBloom: hexOf(bloomOf(logs)),
    };
  });
  const block = {
    number: blockNumber,
    hash,
    parentHash: hashOf(`parent ${height} ${salt}`),
    timestamp: '0x64ea268f',
    stateRoot: hashOf('state'),
    logsBloom: hexOf(bloomOf(receipts.flatMap(({ logs }) => logs))),
    transactions: plans.map((plan, i) => ({
      hash: txidOf(plan),
      blockHash: hash,
      transactionIndex: `0x${i.toString(16)}`,
      from: plan.from,
      to: plan.to,
      value: `0x${(plan.value ?? 0n).toString(16)}`,
      nonce: `0x${(plan.nonce ?? 0).toString(16)}`,
      type: plan.type ?? '0x2',
    })),
  };
  return { block, receipts };
}

/** The same as a proven unit, with traces or received amounts where a test needs them. */
export function unitOfPlans(
  network: Network,
  plans: readonly TransactionPlan[],
  more: Partial<Pick<EvmRaw, 'traces' | 'received'>> & { height?: number; salt?: string } = {},
): Block<EvmRaw> {
  const { height = 100, salt = '', ...parts } = more;
  const unit = blockFromAnswers(network, { ...answersOf(height, plans, salt) });
  return { ...unit, raw: { ...unit.raw, ...parts } };
}
