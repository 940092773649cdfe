/**
 * One whole block from one node, proven by itself: the header's fields hash to the block's name, and the transactions
 * that were sent are all that the header's Merkle root commits to. G8, G9, chains.md 4.2.
 *
 *   header   version(4) || previous(32) || merkle root(32) || time(4) || bits(4) || nonce(4)
 *   name     sha256d(header), written in reverse
 */
import { createHash } from 'node:crypto';
import { ChainUnavailable, type Block, type Endpoint, type Network } from '../chain.ts';
import { bytesIn, countIn, hashIn, integerIn, listIn, objectIn, type Answer } from '../node-answer.ts';
import type { BtcNetwork } from './network.ts';
import { ask, call, failureOf, OUT_OF_RANGE, tryAsk } from './node.ts';
import type { BtcBlock } from './transfers.ts';

/** Asked of every node: with previous outputs where it knows them (Core 23 and undo data), like 2 where it does not. */
const VERBOSITY = 3;
const NO_PARENT = '0'.repeat(64);

const sha256d = (bytes: Uint8Array): Buffer =>
  createHash('sha256').update(createHash('sha256').update(bytes).digest()).digest();
/** Hashes are written in reverse. */
const bytesOf = (hash: string): Buffer => Buffer.from(hash, 'hex').reverse();
const textOf = (hash: Uint8Array): string => Buffer.from(hash).reverse().toString('hex');

/**
 * Root of the tree over txids, in display order; a level of odd length repeats its last entry. Source: bitcoin/bitcoin
 * src/consensus/merkle.cpp.
 */
export function merkleRoot(txids: readonly string[]): string {
  let level = txids.map(bytesOf);
  while (level.length > 1) {
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) =>
      sha256d(Buffer.concat([level[2 * i]!, level[2 * i + 1] ?? level[2 * i]!])),
    );
  }
  return textOf(level[0] ?? Buffer.alloc(32));
}

/** Name of a header. */
export function headerHash(fields: {
  readonly version: number;
  readonly previous: string;
  readonly merkleRoot: string;
  readonly time: number;
  readonly bits: string;
  readonly nonce: number;
}): string {
  const header = Buffer.alloc(80);
  header.writeInt32LE(fields.version | 0, 0);
  bytesOf(fields.previous).copy(header, 4);
  bytesOf(fields.merkleRoot).copy(header, 36);
  header.writeUInt32LE(fields.time, 68);
  bytesOf(fields.bits).copy(header, 72);
  header.writeUInt32LE(fields.nonce, 76);
  return textOf(sha256d(header));
}

/**
 * The proven unit of a block's answer. Throws: MalformedReply, ChainUnavailable when it is not whole, not the one asked
 * for, or stale.
 */
export function unitOf(
  network: BtcNetwork,
  raw: BtcBlock,
  asked: { readonly height: number; readonly hash: string },
): Block<BtcBlock> {
  const unproven = (what: string) => new ChainUnavailable(network.slug, `block ${asked.height}: ${what}`);
  const hash = hashIn(raw['hash'], 'hash of a block'),
    height = countIn(raw['height'], 'height of a block');
  if (hash !== asked.hash || height !== asked.height) throw unproven('another block than was asked for');
  if (integerIn(raw['confirmations'], 'confirmations of a block') < 1n) throw unproven('not on the chain (stale)');
  const previous = raw['previousblockhash'];
  const parentHash = previous === undefined ? NO_PARENT : hashIn(previous, 'parent of a block');
  const root = hashIn(raw['merkleroot'], 'merkle root'),
    timeSeconds = countIn(raw['time'], 'time of a block');
  const name = headerHash({
    version: Number(integerIn(raw['version'], 'version of a block')),
    previous: parentHash,
    merkleRoot: root,
    time: timeSeconds,
    bits: Buffer.from(bytesIn(raw['bits'], 'bits of a block')).toString('hex'),
    nonce: countIn(raw['nonce'], 'nonce of a block'),
  });
  if (name !== hash) throw unproven('its header has another hash');
  const txids = listIn(raw['tx'], 'transactions of a block').map((one) =>
    hashIn(objectIn(one, 'transaction')['txid'], 'txid'),
  );
  if (merkleRoot(txids) !== root) throw unproven(`its ${txids.length} transactions are not those of its header`);
  return { height, hash, parentHash, parentHeight: Math.max(0, height - 1), timeMs: timeSeconds * 1_000, raw };
}

/** Hash at a height, or null when the node has no block there. Throws: ChainUnavailable. */
export async function readHash(network: BtcNetwork, endpoint: Endpoint, height: number): Promise<string | null> {
  const asked = call('getblockhash', height),
    answer = await tryAsk(network, endpoint, asked);
  if (answer.ok) return hashIn(answer.result, 'block hash');
  if (answer.error.code === OUT_OF_RANGE) return null;
  throw failureOf(network, asked, answer.error);
}

/** The whole block at a height, all of it from this node. Throws: ChainUnavailable, MalformedReply. */
export async function readBlock(network: BtcNetwork, endpoint: Endpoint, height: number): Promise<Block<BtcBlock>> {
  const hash = await readHash(network, endpoint, height);
  if (hash === null) throw new ChainUnavailable(network.slug, `no block at ${height}`);
  const raw: Answer = objectIn(await ask(network, endpoint, call('getblock', hash, VERBOSITY)), 'block');
  return unitOf(network, raw, { height, hash });
}

/**
 * A block from recorded answers `{ block }` of `getblock 2` or `3`; whether it is whole is not proven, because a part
 * of a block is often what was recorded. Throws: MalformedReply.
 */
export function blockFromAnswers(_network: Network, answers: Readonly<Record<string, unknown>>): Block<BtcBlock> {
  const opened = objectIn(answers['block'], 'block');
  const raw = 'result' in opened ? objectIn(opened['result'], 'block') : opened;
  const height = countIn(raw['height'], 'height of a block'),
    previous = raw['previousblockhash'];
  return {
    height,
    hash: hashIn(raw['hash'], 'hash of a block'),
    parentHeight: Math.max(0, height - 1),
    parentHash: previous === undefined ? NO_PARENT : hashIn(previous, 'parent of a block'),
    timeMs: countIn(raw['time'], 'time of a block') * 1_000,
    raw,
  };
}
