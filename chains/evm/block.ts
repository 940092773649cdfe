/**
 * The raw unit of an EVM block: the node's answers for the block with full transactions, its receipts and, where an
 * endpoint gives them, its call traces. `assertWhole` proves that the parts belong together (G9, V4).
 */
import { z } from 'zod';
import { type Block, ChainUnavailable, MalformedReply, type Network } from '../chain.ts';
import { doubtOfReceipt } from './contradictions.ts';
import { evmOf } from './network.ts';
import { countOf, isSameHex } from './quantity.ts';
import {
  block,
  type EvmRaw,
  header,
  type RawBlock,
  type RawHeader,
  type RawLog,
  type RawReceipt,
  type RawTransaction,
} from './raw.ts';

/** bor's transaction that brings state from the root chain, since PIP-74. */
const STATE_SYNC_TYPE = '0x7f';
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/**
 * V10: whether a transaction of Polygon brings state from the root chain; it has no payer. Before it had a type, nodes
 * showed it as a legacy one from the zero address to itself. Source: 0xPolygon/bor `internal/ethapi/bor_api.go`.
 */
export function isStateSync({ type, from, to }: RawTransaction): boolean {
  return type === STATE_SYNC_TYPE || (from === ZERO_ADDRESS && to === ZERO_ADDRESS);
}

function parse<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problem = z.prettifyError(parsed.error).slice(0, 300);
  throw new MalformedReply(`${what}: ${problem}`, JSON.stringify(value) ?? 'undefined');
}

const ZERO_HASH = `0x${'0'.repeat(64)}`;

/**
 * V24: null is a block that this node does not have. V11: one that is still being built, or only pre-confirmed, has no
 * number or hash, or a state root of zeros. Throws: ChainUnavailable.
 */
function assertSealed(network: Network, value: unknown): void {
  if (value === null) throw new ChainUnavailable(network.slug, 'the node has no such block');
  if (typeof value !== 'object') return;
  const { number, hash: ownHash, stateRoot } = value as { number?: unknown; hash?: unknown; stateRoot?: unknown };
  if (number === null || ownHash === null || stateRoot === ZERO_HASH) {
    throw new ChainUnavailable(network.slug, 'the block is not sealed');
  }
}

/** A header as a node must give it. Throws: ChainUnavailable when it is not sealed, MalformedReply. */
export function parseHeader(network: Network, value: unknown): RawHeader {
  assertSealed(network, value);
  return parse(header, value, 'block header');
}

/** A block with full transactions. Throws: ChainUnavailable when it is not sealed, MalformedReply. */
export function parseBlock(network: Network, value: unknown): RawBlock {
  assertSealed(network, value);
  const parsed = parse(block, value, 'block');
  if (!parsed.transactions.every(isTransaction)) {
    throw new MalformedReply('block without full transactions', JSON.stringify(value));
  }
  return parsed as RawBlock;
}

/** Receipts of a block. Throws: MalformedReply; a missing list is never an empty one (G8). */
export function parseReceipts(value: unknown): RawReceipt[] {
  if (!Array.isArray(value)) {
    throw new MalformedReply('the receipts of the block are missing', JSON.stringify(value) ?? 'undefined');
  }
  return value.map(parseReceipt);
}

// Transactions and receipts are checked by hand and kept as they are: a schema's copies of them cost as much again as
// parsing their text did (180 transactions, 610 logs: 1.0 ms beside 1.2 ms), of a budget of twice that (design P2).

/** One receipt. Throws: MalformedReply. */
export function parseReceipt(value: unknown): RawReceipt {
  const receipt = value as RawReceipt | null;
  const fine =
    typeof receipt === 'object' &&
    receipt !== null &&
    typeof receipt.transactionHash === 'string' &&
    typeof receipt.blockHash === 'string' &&
    Array.isArray(receipt.logs) &&
    receipt.logs.every(isLog);
  if (!fine) throw new MalformedReply('receipt', JSON.stringify(value) ?? 'undefined');
  return receipt;
}

function isLog(log: RawLog | null): boolean {
  return (
    typeof log === 'object' &&
    log !== null &&
    typeof log.address === 'string' &&
    Array.isArray(log.topics) &&
    log.topics.every((topic) => typeof topic === 'string') &&
    typeof log.data === 'string'
  );
}

function isTransaction(value: unknown): boolean {
  const one = value as RawTransaction | null;
  return (
    typeof one === 'object' &&
    one !== null &&
    typeof one.hash === 'string' &&
    typeof one.from === 'string' &&
    typeof one.value === 'string' &&
    (one.to === null || one.to === undefined || typeof one.to === 'string')
  );
}

/** Height, hash, parent and time of a raw block around its parts. */
export function unitOf(raw: EvmRaw): Block<EvmRaw> {
  const height = countOf(raw.block.number, 'block number');
  return {
    height,
    hash: raw.block.hash.toLowerCase(),
    parentHash: raw.block.parentHash.toLowerCase(),
    parentHeight: Math.max(0, height - 1),
    timeMs: countOf(raw.block.timestamp, 'block timestamp') * 1_000,
    raw,
  };
}

/** The result of a JSON-RPC envelope, or the value itself. */
function opened(answer: unknown): unknown {
  const isEnvelope = typeof answer === 'object' && answer !== null && 'jsonrpc' in answer;
  return isEnvelope ? (answer as { result?: unknown }).result : answer;
}

/**
 * A block from a node's answers `{ block, receipts, traces? }`, as results or as JSON-RPC envelopes.
 * Throws: MalformedReply when the block or its receipts are missing (G8), ChainUnavailable when it is not sealed.
 */
export function blockFromAnswers(network: Network, answers: Readonly<Record<string, unknown>>): Block<EvmRaw> {
  const traces = opened(answers['traces']) ?? undefined;
  if (traces !== undefined && !Array.isArray(traces)) throw new MalformedReply('traces', JSON.stringify(traces));
  return withStateSync(
    network,
    unitOf({
      block: parseBlock(network, opened(answers['block'])),
      receipts: parseReceipts(opened(answers['receipts'])),
      ...(traces === undefined ? {} : { traces }),
    }),
  );
}

/**
 * V10: bor may append the receipt of a state sync whose transaction is not in the body. It gets the transaction that
 * it lacks, so that its token logs are read like any other and the counts still prove the block.
 */
export function withStateSync(network: Network, unit: Block<EvmRaw>): Block<EvmRaw> {
  const { block, receipts } = unit.raw,
    extra = receipts.at(-1);
  const appended =
    evmOf(network).stateSyncReceipts &&
    receipts.length === block.transactions.length + 1 &&
    extra !== undefined &&
    extra.from === ZERO_ADDRESS &&
    isSameHex(extra.blockHash, block.hash);
  if (!appended) return unit;
  const { transactionHash: hash, transactionIndex, blockHash, from } = extra;
  const transaction = {
    hash,
    blockHash,
    transactionIndex,
    from,
    to: ZERO_ADDRESS,
    value: '0x0',
    nonce: '0x0',
    type: STATE_SYNC_TYPE,
  };
  return { ...unit, raw: { ...unit.raw, block: { ...block, transactions: [...block.transactions, transaction] } } };
}

/**
 * Proves that receipts and transactions are those of one block. G9, V4: as many receipts as transactions, each with
 * the block's hash, its transaction's hash and index in rising order, and a status.
 * Throws: ChainUnavailable when the unit is not whole.
 */
export function assertWhole(network: Network, unit: Block<EvmRaw>): void {
  const {
    block: { hash: blockHash, transactions },
    receipts,
  } = unit.raw;
  const unproven = (what: string) => new ChainUnavailable(network.slug, `block ${unit.height}: ${what}`);
  if (receipts.length !== transactions.length) {
    throw unproven(`${receipts.length} receipts for ${transactions.length} transactions`);
  }
  let indexBefore = -1;
  for (let i = 0; i < transactions.length; i++) {
    const own = transactions[i]!;
    const { transactionHash, transactionIndex, status, logs, blockHash: receiptBlock } = receipts[i]!;
    if (!isSameHex(own.blockHash, blockHash) || !isSameHex(receiptBlock, blockHash)) {
      throw unproven(`entry ${i} belongs to another block`);
    }
    if (!isSameHex(transactionHash, own.hash)) throw unproven(`receipt ${i} belongs to another transaction`);
    const index = Number(own.transactionIndex);
    if (
      typeof own.transactionIndex !== 'string' ||
      !(index > indexBefore) ||
      !isSameHex(transactionIndex, own.transactionIndex)
    ) {
      throw unproven(`entry ${i} is out of order`);
    }
    indexBefore = index;
    // Before Byzantium a receipt had a state root and no status; success cannot be read from it.
    if (status !== '0x1' && status !== '0x0') throw unproven(`receipt ${i} has no status`);
    const doubt = doubtOfReceipt(network, unit.raw.block, own, receipts[i]!);
    if (doubt !== null) throw unproven(`receipt ${i} ${doubt}`);
    for (const one of logs) {
      if (!isSameHex(one.blockHash, blockHash) || one.removed === true) {
        throw unproven(`a log of receipt ${i} belongs to another block`);
      }
    }
  }
}
