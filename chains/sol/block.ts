/** The header of a Solana block, and what proves that two blocks follow each other. chains.md L19, L23. */
import { ChainUnavailable, type Block, type Network } from '../chain.ts';
import { integerOf } from '../../protocol/lossless-json.ts';
import { countIn, listIn, malformed, objectIn, textIn, type Answer } from '../node-answer.ts';
import type { SolBlock } from './transfers.ts';

export interface SolHeader {
  readonly slot: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly parentSlot: number;
  /** Number of blocks before this one; null in answers from before nodes recorded it. */
  readonly blockHeight: number | null;
  readonly timeMs: number | null;
}

/** The header in an answer to `getBlock`, which does not name its own slot. Throws: MalformedReply. */
export function headerOf(slot: number, answer: unknown): SolHeader {
  const block = objectIn(answer, `block ${slot}`);
  const parentSlot = countIn(block['parentSlot'], 'parentSlot');
  // Slot 0 is its own parent.
  if (parentSlot >= slot && slot > 0) malformed(`block ${slot} with a parent that is not before it`, parentSlot);
  return {
    slot,
    parentSlot,
    hash: textIn(block['blockhash'], 'blockhash'),
    parentHash: textIn(block['previousBlockhash'], 'previousBlockhash'),
    blockHeight:
      block['blockHeight'] === null || block['blockHeight'] === undefined
        ? null
        : countIn(block['blockHeight'], 'blockHeight'),
    timeMs: timeOf(block),
  };
}

/** L23: a block without a time is a block all the same. */
function timeOf(block: Answer): number | null {
  const seconds = integerOf(block['blockTime']);
  return seconds === null ? null : Number(seconds) * 1_000;
}

/** The unit of a full answer to `getBlock`. Throws: MalformedReply, also without a list of transactions (G8). */
export function unitOf(slot: number, answer: unknown): Block<SolBlock> {
  const { hash, parentHash, parentSlot, timeMs } = headerOf(slot, answer);
  const raw = objectIn(answer, `block ${slot}`);
  listIn(raw['transactions'], 'transactions of a block');
  return { height: slot, hash, parentHash, parentHeight: parentSlot, timeMs, raw };
}

/**
 * A block from recorded answers: `block` (getBlock) and, because the answer does not name it, its `slot`; without one
 * the slot after its parent's. JSON-RPC envelopes are opened. Throws: MalformedReply.
 */
export function blockFromAnswers(_network: Network, answers: Readonly<Record<string, unknown>>): Block<SolBlock> {
  const outer = objectIn(answers['block'], 'block');
  const block = 'result' in outer ? objectIn(outer['result'], 'block') : outer;
  const slot =
    answers['slot'] === undefined ? countIn(block['parentSlot'], 'parentSlot') + 1 : countIn(answers['slot'], 'slot');
  return unitOf(slot, block);
}

/** Links that are remembered; the watcher reads a few blocks ahead of each other. */
const LINKS_MAX = 2_048;

/**
 * L19: consecutive blocks have consecutive heights. Blocks are read ahead of each other, so that a link is checked when
 * its second block comes, from whichever side. Only the last few are remembered.
 */
export class HeightLinks {
  readonly #heights = new Map<string, number>();
  readonly #expected = new Map<string, number>();
  readonly #network: Network;

  constructor(network: Network) {
    this.#network = network;
  }

  /**
   * Throws: ChainUnavailable when the block's height does not follow its parent's, or its child's does not follow it.
   */
  check({ slot, hash, parentHash, blockHeight }: SolHeader): void {
    if (blockHeight === null) return;
    const parent = this.#heights.get(parentHash),
      asked = this.#expected.get(hash);
    if ((parent !== undefined && blockHeight !== parent + 1) || (asked !== undefined && blockHeight !== asked)) {
      const reason = `block ${slot} has height ${blockHeight}, which does not follow its neighbour's`;
      throw new ChainUnavailable(this.#network.slug, reason);
    }
    remember(this.#heights, hash, blockHeight);
    remember(this.#expected, parentHash, blockHeight - 1);
  }
}

function remember(links: Map<string, number>, hash: string, height: number): void {
  links.delete(hash);
  links.set(hash, height);
  if (links.size > LINKS_MAX) links.delete(links.keys().next().value!);
}
