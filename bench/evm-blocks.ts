/**
 * Blocks of a realistic size out of a recorded one: its transactions repeated, each copy with its own hashes and
 * payees, as the answers that a node would give. Payees of chosen payments are watched addresses.
 */
import { readFileSync } from 'node:fs';
import type { RawLog } from '../chains/evm/raw.ts';
import type { RawReceipt } from '../chains/evm/raw.ts';
import { bloomOf } from '../chains/evm/bloom.ts';
import { TRANSFER_TOPIC } from '../chains/evm/transfers.ts';

interface Receipt extends Omit<RawReceipt, 'logs'> {
  logs: RawLog[];
  to: string | null;
}
interface Transaction {
  hash: string;
  to: string | null;
  value: string;
  [field: string]: unknown;
}
interface Header {
  transactions: Transaction[];
  number: string;
  [field: string]: unknown;
}

const FOLDER = new URL('../test/vectors/nodes/evm/eth/', import.meta.url);
const resultOf = <T>(name: string): T =>
  (JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as { result: T }).result;
const word = (n: number): string => n.toString(16).padStart(64, '0');
const hexOf = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
/** The same text with its last six digits replaced: another hash, another payee. */
const otherwise = (hex: string, n: number): string => hex.slice(0, -6) + n.toString(16).padStart(6, '0');

export interface RecordedBlock {
  readonly height: number;
  /** JSON-RPC answers, as text. */
  readonly block: string;
  readonly receipts: string;
}

/** Block `n` of a chain of such blocks, from 1; `watched` are lower-case payees of its first plain payments. */
export function realisticBlock(n: number, copies: number, watched: readonly string[]): RecordedBlock {
  const header = resultOf<Header>('block_18000000.block.json');
  const receipts = resultOf<Receipt[]>('block_18000000.receipts.json');
  const blockHash = `0x${word(n)}`,
    blockNumber = `0x${n.toString(16)}`;
  const transactions: Transaction[] = [],
    answers: Receipt[] = [];
  let logIndex = 0,
    paid = 0;
  for (let copy = 0; copy < copies; copy += 1) {
    for (const [at, original] of header.transactions.entries()) {
      const serial = (n * copies + copy) % 0xffffff,
        index = `0x${transactions.length.toString(16)}`;
      const hash = otherwise(original.hash, serial);
      const plain = original.value !== '0x0' && receipts[at]!.status === '0x1' && receipts[at]!.logs.length === 0;
      const to = original.to === null || !plain ? original.to : (watched[paid++] ?? otherwise(original.to, serial));
      const logs = receipts[at]!.logs.map((log) => ({
        ...log,
        blockHash,
        blockNumber,
        transactionHash: hash,
        transactionIndex: index,
        logIndex: `0x${(logIndex++).toString(16)}`,
        topics:
          log.topics[0] === TRANSFER_TOPIC
            ? log.topics.map((topic, i) => (i === 2 ? otherwise(topic, serial) : topic))
            : log.topics,
      }));
      transactions.push({ ...original, hash, to, blockHash, blockNumber, transactionIndex: index });
      answers.push({
        ...receipts[at]!,
        to,
        transactionHash: hash,
        transactionIndex: index,
        blockHash,
        blockNumber,
        logs,
        logsBloom: hexOf(bloomOf(logs)),
      });
    }
  }
  const logsBloom = hexOf(bloomOf(answers.flatMap(({ logs }) => logs)));
  const answer = (result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result });
  return {
    height: n,
    receipts: answer(answers),
    block: answer({
      ...header,
      number: blockNumber,
      hash: blockHash,
      parentHash: `0x${word(n - 1)}`,
      logsBloom,
      transactions,
    }),
  };
}
