/**
 * Proof that a payment can never land (G27): one of its coins was spent, threshold deep, by another transaction; or the
 * unconfirmed parent that made one of its coins was displaced in that way, which its payload proves, because it carries
 * the whole parent. The blocks since the coins were read are walked once; how far is remembered between the questions.
 */
import { ChainUnavailable, type Endpoint, type Fate, type Head, type Unsigned } from '../chain.ts';
import { hashIn, listIn, objectIn } from '../node-answer.ts';
import { readBlock, readHash } from './block.ts';
import { outpointOf } from './coin.ts';
import { outpointsSpentBy } from './coins.ts';
import { isCoinbase } from './inputs.ts';
import { included } from './inclusion.ts';
import type { BtcNetwork } from './network.ts';
import { decodePsbt } from './psbt.ts';
import { decodeRaw } from './signed.ts';
import type { BtcBlock } from './transfers.ts';

/** Blocks that one question walks. Choice: half a minute of reading; the tracker asks again within minutes. */
const WALKED_BLOCKS_MAX = 36;
/** Walks that are remembered. */
const WALKS_MAX = 1_000;

export interface DeathSeeker {
  /** `included`, `dead` with its proof, or `unknown` with what is missing. Throws: ChainUnavailable. */
  seek(node: Endpoint, unsigned: Unsigned, txid: string, head: Head): Promise<Fate>;
}

/** What, spent by a transaction that is not the named one, kills the payment: outpoint → that transaction. */
type Lifelines = ReadonlyMap<string, string>;

const unproven = (reason: string): Fate => ({ kind: 'unknown', reason });

/**
 * The coins of a payment, and those of the transactions that made them, for the case that these are in no block yet.
 */
export function lifelinesOf(unsigned: Unsigned, txid: string): Lifelines {
  const decoded = decodePsbt(unsigned.payload);
  if (!decoded.ok) throw new Error('a payload of ours does not decode');
  const { inputs } = decoded.psbt;
  const lines = inputs.map((input): [string, string] => [outpointOf(input), txid]);
  const parents = inputs.flatMap(({ txid: parent, previous }): [string, string][] => {
    const whole = previous === null ? null : decodeRaw(Buffer.from(previous).toString('hex'));
    return whole === null || whole.isCoinbase() ? [] : outpointsSpentBy(whole).map((outpoint) => [outpoint, parent]);
  });
  return new Map([...parents, ...lines]);
}

export function createDeathSeeker(network: BtcNetwork): DeathSeeker {
  const walked = new Map<string, { height: number; hash: string }>();

  const startOf = async (node: Endpoint, { readAtHeight }: Unsigned, txid: string): Promise<number> => {
    const known = walked.get(txid);
    if (known !== undefined && (await readHash(network, node, known.height)) === known.hash) return known.height + 1;
    // Blocks that were replaced after the coins were read may hold the answer too. G15.
    return Math.max(0, readAtHeight + 1 - 2 * network.threshold);
  };

  const remember = (txid: string, { height, hash }: { height: number; hash: string }): void => {
    walked.delete(txid);
    walked.set(txid, { height, hash });
    if (walked.size > WALKS_MAX) walked.delete(walked.keys().next().value!);
  };

  return {
    async seek(node, unsigned, txid, head) {
      const lifelines = lifelinesOf(unsigned, txid);
      const from = await startOf(node, unsigned, txid),
        to = Math.min(head.height, from + WALKED_BLOCKS_MAX - 1);
      for (let height = from; height <= to; height += 1) {
        const block = await readBlock(network, node, height);
        const event = eventIn(block.raw, lifelines, txid);
        if (event === null) {
          remember(txid, block);
          continue;
        }
        if (event.by === txid) {
          return { kind: 'included', height, hash: block.hash, outcome: outcome(txid, height, block.hash) };
        }
        const depth = head.height - height + 1;
        if (depth < network.threshold) return unproven(`${event.outpoint} was spent by ${event.by}, ${depth} deep`);
        return { kind: 'dead', proof: `${event.outpoint} was spent by ${event.by} at height ${height}, ${depth} deep` };
      }
      if (to < head.height) {
        throw new ChainUnavailable(
          network.slug,
          `blocks up to ${to} of ${head.height} were searched for what spent the coins`,
        );
      }
      return unproven('a coin of the payment is in no block, and nothing displaced it');
    },
  };
}

function outcome(txid: string, height: number, hash: string) {
  const { height: _height, hash: _hash, ...rest } = included(txid, height, hash);
  return rest;
}

/** The first thing in a block that decides: the payment itself, or another transaction on one of its lifelines. */
function eventIn(raw: BtcBlock, lifelines: Lifelines, txid: string): { by: string; outpoint: string } | null {
  for (const entry of listIn(raw['tx'], 'transactions of a block')) {
    const transaction = objectIn(entry, 'transaction'),
      by = hashIn(transaction['txid'], 'txid');
    if (by === txid) return { by, outpoint: '' };
    for (const one of listIn(transaction['vin'], 'inputs')) {
      const input = objectIn(one, 'input');
      if (isCoinbase(input)) continue;
      const outpoint = `${hashIn(input['txid'], 'txid of an input')}:${String(input['vout'])}`;
      const mustBe = lifelines.get(outpoint);
      if (mustBe !== undefined && mustBe !== by) return { by, outpoint };
    }
  }
  return null;
}
