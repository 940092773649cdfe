/**
 * The coins of an address at the head of one node. Every outpoint that a snapshot names is asked of the node itself
 * (`gettxout`); the pool's spenders are looked at, and their change that pays the address again is a coin too (B19).
 *
 *   gettxout with the pool       an output: unspent
 *   null, and without the pool   an output: spent in the pool → who spends it? · null: spent in a block, or never was
 */
import type { Transaction } from 'bitcoinjs-lib';
import { z } from 'zod';
import { decimalTextOf } from '../../protocol/lossless-json.ts';
import { ChainUnavailable, MalformedReply, type Endpoint, type Head } from '../chain.ts';
import { exactDecimal } from '../decimal.ts';
import { hashIn, listIn } from '../node-answer.ts';
import { outpointOf, type Coin, type Spender } from './coin.ts';
import { BTC_DECIMALS, type BtcNetwork } from './network.ts';
import {
  ask,
  askAll,
  call,
  failureOf,
  METHOD_MISSING,
  NOT_FOUND,
  parsed,
  resultOf,
  tryAsk,
  tryAskAll,
} from './node.ts';
import { decodeRaw } from './signed.ts';

/**
 * Outputs of one address that are looked at. Choice: beyond it an operator consolidates; each costs up to two calls.
 */
const OUTPOINTS_MAX = 20_000;
/** Pool of a node without `gettxspendingprevout` (before Core 24) that is searched for a spender. */
const SEARCHED_POOL_MAX = 2_000;

/** Satoshi of a decimal amount in bitcoin; more than eight decimals are refused. */
export const satsReply = z.unknown().transform((value, context) => {
  const sats = exactDecimal(decimalTextOf(value) ?? '', BTC_DECIMALS);
  if (sats !== null && sats >= 0n) return sats;
  context.addIssue({ code: 'custom', message: 'no amount in bitcoin' });
  return z.NEVER;
});

const txoutReply = z.object({
  confirmations: z.int().nonnegative(),
  value: satsReply,
  coinbase: z.boolean(),
  scriptPubKey: z.object({ hex: z.string() }),
});
const entryReply = z.object({
  vsize: z.int().positive(),
  descendantcount: z.int().positive(),
  fees: z.object({ base: satsReply, descendant: satsReply }),
});
const spendersReply = z.array(z.object({ txid: z.string(), vout: z.int(), spendingtxid: z.string().optional() }));

interface Outpoint {
  readonly txid: string;
  readonly vout: number;
}
type Found = Outpoint & {
  readonly sats: bigint;
  readonly height: number | null;
  readonly coinbase: boolean;
  readonly inPool: boolean;
};

interface At {
  readonly network: BtcNetwork;
  readonly node: Endpoint;
  readonly script: Uint8Array;
  readonly head: Head;
}

/** Throws: ChainUnavailable when the node's head moved meanwhile, MalformedReply. */
export async function readCoins(at: At, outpoints: ReadonlySet<string>): Promise<Coin[]> {
  const { network, node, head } = at;
  if (outpoints.size > OUTPOINTS_MAX) throw tooMany(network, outpoints.size);
  const confirmed = await readOutputs(at, [...outpoints].map(outpointIn));
  const pool = new Pool(at);
  const spenders = await pool.spendersOf(confirmed.filter(({ inPool }) => !inPool));
  const change = await pool.changeOf(spenders, new Set(confirmed.map(outpointOf)));
  const later = await pool.spendersOf(change.filter(({ inPool }) => !inPool));
  const hash = hashIn(await ask(network, node, call('getbestblockhash')), 'best block');
  if (hash !== head.hash) throw new ChainUnavailable(network.slug, 'the head moved while coins were read');
  const all = new Map([...spenders, ...later]);
  return [...confirmed, ...change].map((found) => coinOf(found, all));
}

function tooMany({ slug }: BtcNetwork, count: number): ChainUnavailable {
  return new ChainUnavailable(slug, `${count} outputs of one address: more than are looked at`);
}

function outpointIn(text: string): Outpoint {
  const [txid = '', vout = ''] = text.split(':');
  return { txid, vout: Number(vout) };
}

function coinOf(found: Found, spenders: Spenders): Coin {
  const { txid, vout, sats, height, coinbase, inPool } = found;
  return {
    txid,
    vout,
    valueSats: sats.toString(),
    height,
    coinbase,
    spender: inPool ? null : (spenders.get(outpointOf(found)) ?? 'hidden'),
    previous: null,
  };
}

/** Those outputs that no block has spent. */
async function readOutputs({ network, node, script, head }: At, outpoints: readonly Outpoint[]): Promise<Found[]> {
  const unspent = await askAll(
    network,
    node,
    outpoints.map(({ txid, vout }) => call('gettxout', txid, vout, true)),
  );
  const missing = outpoints.filter((_, i) => unspent[i] === null);
  const spending = await askAll(
    network,
    node,
    missing.map(({ txid, vout }) => call('gettxout', txid, vout, false)),
  );
  const own = Buffer.from(script).toString('hex');
  const read = (outpoint: Outpoint, answer: unknown, inPool: boolean): Found[] => {
    if (answer === null) return [];
    const { confirmations, value, coinbase, scriptPubKey } = parsed(txoutReply, answer, 'gettxout');
    if (scriptPubKey.hex !== own) throw new MalformedReply('an output of another script', JSON.stringify(answer));
    const height = confirmations === 0 ? null : head.height - confirmations + 1;
    return [{ ...outpoint, sats: value, coinbase, inPool, height }];
  };
  return [
    ...outpoints.flatMap((outpoint, i) => read(outpoint, unspent[i], true)),
    ...missing.flatMap((outpoint, i) => read(outpoint, spending[i], false)),
  ];
}

type Spenders = ReadonlyMap<string, Spender | 'hidden'>;

/** What the node's pool does with coins. */
class Pool {
  readonly #at: At;
  constructor(at: At) {
    this.#at = at;
  }

  /** Who spends each of these outputs, by outpoint. */
  async spendersOf(outputs: readonly Outpoint[]): Promise<Spenders> {
    if (outputs.length === 0) return new Map();
    const txids = await this.#spendingTxids(outputs);
    const { network, node } = this.#at;
    const wanted = [...new Set(txids.filter((txid) => txid !== null))];
    const entries = await askAll(
      network,
      node,
      wanted.map((txid) => call('getmempoolentry', txid)),
    );
    const byTxid = new Map(
      entries.map((entry, i): [string, Spender] => {
        const { vsize, descendantcount, fees } = parsed(entryReply, entry, 'getmempoolentry');
        const spender = {
          txid: wanted[i]!,
          feeSats: fees.base.toString(),
          vsize,
          descendantCount: descendantcount,
          descendantFeeSats: fees.descendant.toString(),
        };
        return [spender.txid, spender];
      }),
    );
    return new Map(
      outputs.map((output, i) => [outpointOf(output), txids[i] === null ? 'hidden' : byTxid.get(txids[i]!)!]),
    );
  }

  /**
   * Outputs of these spenders that pay the same script: change of one's own, because only the owner can spend a coin.
   * Of spenders whose coins are all confirmed: then the payload of a later payment itself names all that its parent
   * depends on, so that the parent's death can be proven from it (G27).
   */
  async changeOf(spenders: Spenders, confirmed: ReadonlySet<string>): Promise<Found[]> {
    const { network, node, script } = this.#at;
    const txids = [...new Set([...spenders.values()].flatMap((one) => (one === 'hidden' ? [] : [one.txid])))];
    const raws = await askAll(
      network,
      node,
      txids.map((txid) => call('getrawtransaction', txid, false)),
    );
    const change = raws.flatMap((raw, i) => {
      const transaction = decodeRaw(String(raw)),
        txid = txids[i]!;
      if (transaction === null || transaction.getId() !== txid) {
        throw new MalformedReply('another transaction than was asked for', String(raw));
      }
      if (!outpointsSpentBy(transaction).every((outpoint) => confirmed.has(outpoint))) return [];
      return transaction.outs.flatMap((output, vout) =>
        Buffer.compare(output.script, script) === 0 ? [{ txid, vout, sats: output.value }] : [],
      );
    });
    if (change.length > OUTPOINTS_MAX) throw tooMany(network, change.length);
    // The chain does not know these outputs: what the pool does not show as unspent, it spends.
    const unspent = await askAll(
      network,
      node,
      change.map(({ txid, vout }) => call('gettxout', txid, vout, true)),
    );
    return change.map((output, i) => ({ ...output, height: null, coinbase: false, inPool: unspent[i] !== null }));
  }

  async #spendingTxids(outputs: readonly Outpoint[]): Promise<(string | null)[]> {
    const { network, node } = this.#at;
    const asked = call(
      'gettxspendingprevout',
      outputs.map(({ txid, vout }) => ({ txid, vout })),
    );
    const answer = await tryAsk(network, node, asked);
    if (!answer.ok && answer.error.code === METHOD_MISSING) return this.#searched(outputs);
    const replies = parsed(spendersReply, resultOf(network, asked, answer), 'gettxspendingprevout');
    const found = new Map(replies.map((reply) => [outpointOf(reply), reply.spendingtxid]));
    return outputs.map((output) => {
      const txid = found.get(outpointOf(output));
      // It was spent in the pool a moment ago: the pool moved.
      if (txid === undefined) throw new ChainUnavailable(network.slug, 'the pool moved while coins were read');
      return txid;
    });
  }

  /**
   * The same from a node of before Core 24: every transaction of a small pool; null for all where it is a large one.
   */
  async #searched(outputs: readonly Outpoint[]): Promise<(string | null)[]> {
    const { network, node } = this.#at;
    const pool = listIn(await ask(network, node, call('getrawmempool', false)), 'pool');
    const txids = pool.map((txid) => hashIn(txid, 'txid'));
    if (txids.length > SEARCHED_POOL_MAX) return outputs.map(() => null);
    const calls = txids.map((txid) => call('getrawtransaction', txid, false));
    const spending = new Map<string, string>();
    for (const [i, answer] of (await tryAskAll(network, node, calls)).entries()) {
      if (!answer.ok && answer.error.code === NOT_FOUND) continue; // it left the pool meanwhile
      if (!answer.ok) throw failureOf(network, calls[i]!, answer.error);
      const transaction = decodeRaw(String(answer.result));
      for (const outpoint of transaction === null ? [] : outpointsSpentBy(transaction)) {
        spending.set(outpoint, txids[i]!);
      }
    }
    return outputs.map((output) => spending.get(outpointOf(output)) ?? null);
  }
}

/** Outpoints that a transaction spends. */
export function outpointsSpentBy({ ins }: Transaction): string[] {
  return ins.map(({ hash, index }) => outpointOf({ txid: Buffer.from(hash).reverse().toString('hex'), vout: index }));
}
