/**
 * What became of a submitted transaction, and the proof that one can never land (G27): the solidified head is younger
 * than its expiry and the solidified view does not have it. A block may only take a transaction that its parent's time
 * has not overtaken, so every block that could hold it is in that view. Source: java-tron Manager.validateCommon.
 */
import { ChainUnavailable, type Endpoint, type Fate, type Network, type Transport, type Unsigned } from '../chain.ts';
import { readInfos } from './block.ts';
import type { Heads } from './heads.ts';
import { isIncluded, isPending, readOutcome } from './inclusion.ts';
import { ask, wallet } from './node.ts';
import { decodeRaw } from './raw-transaction.ts';

export interface FateParts {
  readonly network: Network;
  readonly transport: Transport;
  readonly heads: Heads;
}

const unproven = (reason: string): Fate => ({ kind: 'unknown', reason });

/** Included, pending, unknown or, with proof, dead. Throws: ChainUnavailable. */
export async function readFate(parts: FateParts, endpoint: Endpoint, unsigned: Unsigned, txid: string): Promise<Fate> {
  const { network, heads } = parts;
  const outcome = await readOutcome(network, heads, endpoint, txid);
  if (outcome !== null) {
    const { height, hash, ...rest } = outcome;
    return { kind: 'included', height, hash, outcome: rest };
  }
  const decoded = decodeRaw(unsigned.payload);
  if (!decoded.ok) throw new Error(`a payload of ours does not decode: ${decoded.reason}`);
  if (await isPending(network, endpoint, txid)) return { kind: 'pending' };
  return proveDeath(parts, endpoint, {
    txid,
    expirationMs: decoded.raw.expirationMs,
    sinceHeight: unsigned.readAtHeight,
  });
}

export interface Mortal {
  readonly txid: string;
  readonly expirationMs: number;
  /**
   * Height at which the payload was built: the blocks after it are those that could hold it; null where nobody knows.
   */
  readonly sinceHeight: number | null;
}

/**
 * `dead` with its proof, or `unknown` with what is missing. Where there are several endpoints, a second one must say
 * the same: one that has lost its index, or lies, would have a payment made twice. Throws: ChainUnavailable.
 */
export async function proveDeath(parts: FateParts, endpoint: Endpoint, mortal: Mortal): Promise<Fate> {
  const first = await testify(parts, endpoint, mortal);
  const { endpoints } = parts.transport;
  if (first.kind !== 'dead' || endpoints.length === 1) return first;
  let witness: Endpoint;
  try {
    witness = parts.transport.pick([endpoint]);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return unproven('no second endpoint can be asked whether the transaction is in the chain');
  }
  const second = await testify(parts, witness, mortal);
  return second.kind === 'dead' ? first : second;
}

async function testify(
  { network, heads }: FateParts,
  endpoint: Endpoint,
  { txid, expirationMs, sinceHeight }: Mortal,
): Promise<Fate> {
  const solid = await heads.solidOf(endpoint);
  if (solid.timeMs <= expirationMs) return unproven('the transaction has not expired for the solidified head');
  for (const view of ['walletsolidity', 'wallet'] as const) {
    if (await isIncluded(network, endpoint, view, txid)) return unproven(`the transaction is in /${view}`);
  }
  if (sinceHeight !== null && !(await keepsHistory(network, endpoint, sinceHeight))) {
    return unproven('the node keeps no transactions of that time');
  }
  const upTo = `block ${solid.height} of ${solid.timeMs} is solidified and no block up to it has ${txid}`;
  return { kind: 'dead', proof: `expired at ${expirationMs}; ${upTo}` };
}

/** A node that has no infos of that time, or no blocks, cannot say that ours is not among them. */
async function keepsHistory(network: Network, endpoint: Endpoint, height: number): Promise<boolean> {
  const [block, infos] = await Promise.all([
    ask(network, endpoint, wallet('getblockbynum', { num: height })) as Promise<{ transactions?: unknown } | null>,
    readInfos(network, endpoint, height),
  ]);
  const { transactions = [], ...header } = block ?? {};
  return Object.keys(header).length > 0 && Array.isArray(transactions) && transactions.length === infos.length;
}
