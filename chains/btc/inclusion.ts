/**
 * Whether a transaction is in a block, from nodes that may keep no index of transactions. In this order: the block that
 * it was seen in · the node's own index, where it has one · an output of it that nobody has spent · the newest blocks.
 */
import { z } from 'zod';
import { ChainUnavailable, MalformedReply, type Endpoint, type Head, type Outcome } from '../chain.ts';
import { countIn, hashIn, integerIn, listIn, objectIn } from '../node-answer.ts';
import { readHash } from './block.ts';
import type { BtcNetwork } from './network.ts';
import { ask, askAll, call, failureOf, NOT_FOUND, parsed, tryAsk } from './node.ts';

export type Included = Outcome & { readonly height: number; readonly hash: string };

/** Blocks that are searched from the head down where nothing else gives the height. Choice: a day. */
const SEARCHED_BLOCKS_MAX = 144;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const inBlockReply = z.object({ txid: hash, in_active_chain: z.boolean() });
const verboseReply = z.object({ txid: hash, blockhash: hash.optional(), confirmations: z.int().optional() });

/** A transaction that is in a block of this chain has succeeded; its fee is not given here. */
export function included(txid: string, height: number, blockHash: string): Included {
  return { txid, success: true, reason: null, fee: null, height, hash: blockHash };
}

/** Where a transaction is as one node says it: in a block, in its pool, or nowhere that this question can see. */
export type Place =
  | { readonly kind: 'block'; readonly height: number; readonly hash: string }
  | { readonly kind: 'pool' }
  /** `indexed`: the node knows every transaction of its chain, so that it is in no block. */
  | { readonly kind: 'unseen'; readonly indexed: boolean };

/** What `getrawtransaction` alone answers. Throws: ChainUnavailable, MalformedReply. */
export async function placeOf(network: BtcNetwork, node: Endpoint, txid: string): Promise<Place> {
  const asked = call('getrawtransaction', txid, true),
    answer = await tryAsk(network, node, asked);
  if (!answer.ok) {
    if (answer.error.code !== NOT_FOUND) throw failureOf(network, asked, answer.error);
    const text = answer.error.message.toLowerCase();
    if (text.includes('in the process of being indexed')) throw failureOf(network, asked, answer.error);
    return { kind: 'unseen', indexed: text.includes('blockchain transaction') && !text.includes('-txindex') };
  }
  const reply = parsed(verboseReply, answer.result, 'getrawtransaction');
  if (reply.txid !== txid) throw new MalformedReply('another transaction than was asked for', reply.txid);
  if (reply.blockhash === undefined) return { kind: 'pool' };
  return placeInBlock(network, node, reply.blockhash);
}

/** A block that left the chain holds nothing. */
async function placeInBlock(network: BtcNetwork, node: Endpoint, blockHash: string): Promise<Place> {
  const header = objectIn(await ask(network, node, call('getblockheader', blockHash)), 'header');
  if (integerIn(header['confirmations'], 'confirmations') < 1n) return { kind: 'unseen', indexed: false };
  return { kind: 'block', height: countIn(header['height'], 'height'), hash: blockHash };
}

/**
 * What became of a transaction that was seen in a block; null when it is not in that block, or that block left the
 * chain.
 */
export async function outcomeAt(
  network: BtcNetwork,
  node: Endpoint,
  txid: string,
  at: { readonly height: number; readonly hash: string },
): Promise<Included | null> {
  if ((await readHash(network, node, at.height)) !== at.hash) return null;
  const asked = call('getrawtransaction', txid, true, at.hash),
    answer = await tryAsk(network, node, asked);
  if (!answer.ok) {
    if (answer.error.code !== NOT_FOUND) throw failureOf(network, asked, answer.error);
    return null;
  }
  const reply = parsed(inBlockReply, answer.result, 'getrawtransaction');
  return reply.txid === txid && reply.in_active_chain ? included(txid, at.height, at.hash) : null;
}

/**
 * What became of a transaction of which only the id is known; null when no block holds it. Throws: ChainUnavailable
 * when the node keeps no index and the newest blocks do not hold it.
 */
export async function outcomeOf(
  network: BtcNetwork,
  node: Endpoint,
  txid: string,
  head: Head,
): Promise<Included | null> {
  const place = await placeOf(network, node, txid);
  if (place.kind === 'block') return included(txid, place.height, place.hash);
  if (place.kind === 'pool' || place.indexed) return null;
  let blockHash = head.hash;
  const lowest = Math.max(0, head.height - SEARCHED_BLOCKS_MAX + 1);
  for (let height = head.height; height >= lowest; height -= 1) {
    const block = objectIn(await ask(network, node, call('getblock', blockHash, 1)), 'block');
    if (listIn(block['tx'], 'transactions of a block').includes(txid)) return included(txid, height, blockHash);
    if (height > 0) blockHash = hashIn(block['previousblockhash'], 'parent of a block');
  }
  if (lowest === 0) return null;
  throw new ChainUnavailable(
    network.slug,
    `not in the newest ${SEARCHED_BLOCKS_MAX} blocks, and the node keeps no index of transactions`,
  );
}

const unspentReply = z.object({ bestblock: hash, confirmations: z.int().nonnegative() });

/** The block of a transaction by an output of it that no block has spent; null when there is none. */
export async function blockByOutputs(
  network: BtcNetwork,
  node: Endpoint,
  txid: string,
  outputCount: number,
): Promise<Extract<Place, { kind: 'block' }> | null> {
  const answers = await askAll(
    network,
    node,
    Array.from({ length: outputCount }, (_, vout) => call('gettxout', txid, vout, false)),
  );
  const found = answers.find((answer) => answer !== null);
  if (found === undefined) return null;
  const { bestblock, confirmations } = parsed(unspentReply, found, 'gettxout');
  const header = objectIn(await ask(network, node, call('getblockheader', bestblock)), 'header');
  const height = countIn(header['height'], 'height') - confirmations + 1;
  const blockHash = await readHash(network, node, height);
  return blockHash === null ? null : { kind: 'block', height, hash: blockHash };
}
