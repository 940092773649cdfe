/**
 * Whether addresses were used. Migration M-D6. In the order in which more is seen:
 *
 *   an address index       counts the transactions of an address, waiting ones too
 *   a node with filters    Core 25 and a block filter index: `scanblocks` names the blocks, which are then read
 *   another node           the outputs that nobody has spent: an address that was emptied looks like a new one
 */
import { z } from 'zod';
import { ChainUnavailable, type Endpoint, type Head } from '../chain.ts';
import type { Use, UseAsk } from '../use.ts';
import { listIn, objectIn, type Answer } from '../node-answer.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { parseAddress } from './address.ts';
import { unitOf } from './block.ts';
import { indexHasHistory } from './esplora.ts';
import type { Heads } from './heads.ts';
import type { BtcNetwork } from './network.ts';
import { ask, call, failureOf, METHOD_MISSING, parsed, tryAsk } from './node.ts';
import { patient, type Snapshots } from './snapshot.ts';
import type { Sources } from './sources.ts';

interface Reading {
  readonly network: BtcNetwork;
  readonly sources: Sources;
  readonly heads: Heads;
  readonly snapshots: Snapshots;
}

/** Its name in `getindexinfo`. Source: bitcoin/bitcoin src/blockfilter.cpp. */
const FILTERS = 'basic block filter index';
const indexReply = z.partialRecord(
  z.string(),
  z.object({ synced: z.boolean(), best_block_height: z.int().nonnegative() }),
);
const blocksReply = z.object({
  to_height: z.int().nonnegative(),
  relevant_blocks: z.array(z.string().regex(/^[0-9a-f]{64}$/)),
  completed: z.boolean().default(true),
});

/** Throws: ChainUnavailable where any of the addresses is not known. */
export function createUseReader(reading: Reading): (asked: UseAsk) => Promise<Use> {
  const { network, sources, heads } = reading;
  return async ({ addresses }) => {
    for (const index of await sources.indexes()) {
      try {
        return await byIndex(network, heads, index, addresses);
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error; // another index, or a node
      }
    }
    return sources.onNode((node) => byNode(reading, node, addresses));
  };
}

async function byIndex(network: BtcNetwork, heads: Heads, index: Endpoint, addresses: readonly string[]): Promise<Use> {
  const { height } = await heads.indexHeadOf(index);
  const used: boolean[] = [];
  for (const address of addresses) used.push(await indexHasHistory(network, index, address));
  return { used, evidence: 'history', height, requests: 1 + addresses.length };
}

async function byNode(reading: Reading, node: Endpoint, addresses: readonly string[]): Promise<Use> {
  const { network, heads, snapshots } = reading;
  const scripts = addresses.map((address) => {
    const parsedAddress = parseAddress(network, address);
    if (isRefusal(parsedAddress)) throw new TypeError('a derived address does not parse');
    return parsedAddress.bytes;
  });
  const head = await heads.headOf(node);
  if (await hasFilters(network, node, head)) return byFilters(network, node, scripts, head);
  const used = await snapshots.paidAt(node, scripts, head);
  return { used, evidence: 'unspent_only', height: head.height, requests: 1 };
}

/** Throws: ChainUnavailable while the index is behind: a range without filters is passed over in silence. */
async function hasFilters(network: BtcNetwork, node: Endpoint, head: Head): Promise<boolean> {
  const asked = call('getindexinfo'),
    answer = await tryAsk(network, node, asked);
  if (!answer.ok) {
    if (answer.error.code === METHOD_MISSING) return false;
    throw failureOf(network, asked, answer.error);
  }
  const filters = parsed(indexReply, answer.result, 'getindexinfo')[FILTERS];
  if (filters === undefined) return false;
  // A node before Core 25 has the index without the call.
  const help = await tryAsk(network, node, call('help', 'scanblocks'));
  if (!help.ok || /unknown command/i.test(String(help.result))) return false;
  if (!filters.synced || filters.best_block_height < head.height)
    throw new ChainUnavailable(network.slug, `filters are indexed to ${filters.best_block_height} of ${head.height}`);
  return true;
}

async function byFilters(
  network: BtcNetwork,
  node: Endpoint,
  scripts: readonly Uint8Array[],
  head: Head,
): Promise<Use> {
  const hexes = scripts.map((script) => Buffer.from(script).toString('hex'));
  const descriptors = hexes.map((script) => ({ desc: `raw(${script})` }));
  const asked = call('scanblocks', 'start', descriptors, 0, head.height);
  const found = parsed(blocksReply, await ask(network, patient(node), asked), 'scanblocks');
  if (!found.completed || found.to_height < head.height)
    throw new ChainUnavailable(network.slug, 'the search through the filters was cut off');
  // A filter can name a block that has nothing: only what is in the block counts.
  const unseen = new Set(hexes);
  let requests = 4;
  for (const hash of found.relevant_blocks) {
    if (unseen.size === 0) break;
    requests += 1;
    for (const script of await paidIn(network, node, hash)) unseen.delete(script);
  }
  return { used: hexes.map((script) => !unseen.has(script)), evidence: 'blocks', height: head.height, requests };
}

/** Scripts that the outputs of a block pay. */
async function paidIn(network: BtcNetwork, node: Endpoint, hash: string): Promise<string[]> {
  const raw: Answer = objectIn(await ask(network, node, call('getblock', hash, 2)), 'block');
  const { raw: block } = unitOf(network, raw, { height: Number(raw['height']), hash });
  return listIn(block['tx'], 'transactions of a block').flatMap((transaction) =>
    listIn(objectIn(transaction, 'transaction')['vout'], 'outputs').map((output) =>
      String(objectIn(objectIn(output, 'output')['scriptPubKey'], 'scriptPubKey')['hex']),
    ),
  );
}
