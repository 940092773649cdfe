/**
 * Esplora's HTTP API: head, hashes, and the outputs of an address. Nothing of it is believed alone: every output is
 * asked of a node again before it counts.
 *   GET /blocks · /block-height/:height · /address/:address · /address/:address/utxo · /address/:address/txs/mempool
 * Source: Blockstream/esplora API.md.
 */
import { z } from 'zod';
import { parseLossless } from '../../protocol/lossless-json.ts';
import { ChainUnavailable, MalformedReply, type Endpoint, type Head, type HttpReply } from '../chain.ts';
import { safeText } from '../json-rpc.ts';
import type { BtcNetwork } from './network.ts';
import { parsed } from './node.ts';

/** What an index knows at its newest block. */
export interface Snapshot {
  readonly height: number;
  readonly hash: string;
  /** `txid:vout` */
  readonly outpoints: ReadonlySet<string>;
}

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const vout = z.int().nonnegative();
const blocksReply = z.array(z.object({ id: hash, height: z.int().nonnegative() })).min(1);
const utxoReply = z.array(z.object({ txid: hash, vout, status: z.object({ confirmed: z.boolean() }) }));
const mempoolReply = z.array(
  z.object({
    vin: z.array(z.object({ txid: hash, vout, prevout: z.object({ scriptpubkey: z.string() }).nullish() })),
  }),
);

async function get(network: BtcNetwork, endpoint: Endpoint, path: string): Promise<HttpReply> {
  const reply = await endpoint.request({ method: 'GET', path });
  if (reply.status < 400 || reply.status === 404) return reply;
  // An index that refuses addresses with a long history says so with 400.
  throw new ChainUnavailable(network.slug, `index: http ${reply.status} ${safeText(reply.text).slice(0, 100)}`);
}

async function getJson<S extends z.ZodType>(
  network: BtcNetwork,
  endpoint: Endpoint,
  path: string,
  schema: S,
): Promise<z.infer<S>> {
  const { status, text } = await get(network, endpoint, path);
  if (status === 404) throw new ChainUnavailable(network.slug, `index: nothing at ${path.split('/')[1]}`);
  return parsed(schema, jsonOf(text), 'index');
}

function jsonOf(text: string): unknown {
  try {
    return parseLossless(text);
  } catch {
    throw new MalformedReply('the index answers no JSON', text);
  }
}

/** True for an endpoint that answers as an index does. Throws: ChainUnavailable when it does not answer. */
export async function isIndex(network: BtcNetwork, endpoint: Endpoint): Promise<boolean> {
  const { status, text } = await get(network, endpoint, '/block-height/0');
  return status === 200 && hash.safeParse(text.trim()).success;
}

/** Newest block of the index. Throws: ChainUnavailable, MalformedReply. */
export async function indexHead(network: BtcNetwork, endpoint: Endpoint): Promise<Head> {
  const [newest] = await getJson(network, endpoint, '/blocks', blocksReply);
  return { height: newest!.height, hash: newest!.id, finalizedHeight: null };
}

/** Hash at a height, or null where the index has no block. Throws: ChainUnavailable, MalformedReply. */
export async function indexHash(network: BtcNetwork, endpoint: Endpoint, height: number): Promise<string | null> {
  const { status, text } = await get(network, endpoint, `/block-height/${height}`);
  if (status === 404) return null;
  const found = hash.safeParse(text.trim());
  if (!found.success) throw new MalformedReply('block hash of the index', text);
  return found.data;
}

/**
 * Outputs that pay an address and that no block has spent, at the head of the index. Those that the pool spends are
 * among them: the index leaves them out of its list, and its pool's inputs name them. Throws: ChainUnavailable, also
 * when its head moved between the questions.
 */
export async function indexSnapshot(
  network: BtcNetwork,
  endpoint: Endpoint,
  address: string,
  script: Uint8Array,
): Promise<Snapshot> {
  const before = await indexHead(network, endpoint);
  const utxos = await getJson(network, endpoint, `/address/${address}/utxo`, utxoReply);
  const pooled = await getJson(network, endpoint, `/address/${address}/txs/mempool`, mempoolReply);
  const after = await indexHead(network, endpoint);
  if (after.hash !== before.hash) throw new ChainUnavailable(network.slug, 'the head of the index moved');
  const own = Buffer.from(script).toString('hex');
  const spent = pooled.flatMap(({ vin }) => vin).filter(({ prevout }) => prevout?.scriptpubkey === own);
  const outpoints = new Set(
    [...utxos.filter(({ status }) => status.confirmed), ...spent].map((one) => `${one.txid}:${one.vout}`),
  );
  return { height: after.height, hash: after.hash, outpoints };
}

const stats = z.object({ tx_count: z.int().nonnegative() });
const addressReply = z.object({ address: z.string(), chain_stats: stats, mempool_stats: stats });
/** electrs and its kin refuse an address with a long history: such a one was used. */
const LONG_HISTORY = /too many|history/i;

/**
 * Whether any transaction, in a block or waiting, has to do with an address: the word of the index. Throws:
 * ChainUnavailable, MalformedReply.
 */
export async function indexHasHistory(network: BtcNetwork, endpoint: Endpoint, address: string): Promise<boolean> {
  const path = `/address/${address}`;
  const { status, text } = await endpoint.request({ method: 'GET', path });
  if (status === 400 && LONG_HISTORY.test(text)) return true;
  if (status >= 400) throw new ChainUnavailable(network.slug, `index: http ${status} ${safeText(text).slice(0, 100)}`);
  const said = parsed(addressReply, jsonOf(text), 'index');
  if (said.address !== address) throw new ChainUnavailable(network.slug, 'the index answers for another address');
  return said.chain_stats.tx_count + said.mempool_stats.tx_count > 0;
}
