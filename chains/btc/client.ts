/**
 * The Bitcoin family's view of its nodes: the only I/O of the family, in the files that this one puts together. Every
 * question goes to one endpoint after another until one can prove its answer.
 */
import {
  ChainUnavailable,
  type Balance,
  type Catalogue,
  type ChainClient,
  type Endpoint,
  type Network,
  type Transport,
} from '../chain.ts';
import { identifyEach } from '../each-endpoint.ts';
import { judgeNetwork } from '../judge-network.ts';
import { balanceOf } from './balance.ts';
import { readBlock, readHash } from './block.ts';
import { readBuildInputs, readCoinsAtHead, type CoinsAtHead } from './build-inputs.ts';
import type { BtcInputs } from './coin.ts';
import { createDeathSeeker } from './death.ts';
import { indexHash } from './esplora.ts';
import { createHeads } from './heads.ts';
import { outcomeAt, outcomeOf } from './inclusion.ts';
import { btcOf, type BtcNetwork } from './network.ts';
import { createSnapshots } from './snapshot.ts';
import { createSources, type Sources } from './sources.ts';
import { broadcast, readFate } from './submission.ts';
import type { BtcBlock } from './transfers.ts';
import { createUseReader } from './use.ts';

export interface BtcClientOptions {
  /** How long a question waits for a node's scan of its outputs, milliseconds. */
  readonly scanWaitMs?: number;
}

/** A client over the endpoints of one network: nodes, and address indexes beside them. */
export function createClient(
  general: Network,
  transport: Transport,
  _catalogue: Catalogue,
  options: BtcClientOptions = {},
): ChainClient<BtcBlock, BtcInputs> {
  const network = btcOf(general),
    sources = createSources(network, transport);
  const heads = createHeads(network, sources),
    snapshots = createSnapshots(network, sources, options.scanWaitMs);
  const reading = { network, heads, snapshots };
  const submission = { network, sources, heads, deaths: createDeathSeeker(network) };
  const hashAt = (height: number) => hashOfAny(network, sources, height);

  return {
    getHead: heads.getHead,
    checkIdentity: () => checkIdentity(network, sources),
    nextHeight: async (height) => (height < (await heads.getNodeHead()).height ? height + 1 : null),
    getBlockHash: hashAt,
    async getBlock(height) {
      const block = await sources.onNode((node) => readBlock(network, node, height));
      snapshots.see(block);
      return block;
    },
    servesBlocks: async () => (await Promise.all(transport.endpoints.map(sources.kindOf))).includes('node'),
    getOutcome: (txid, at) =>
      sources.onNode(async (node) => {
        const head = await heads.headOf(node);
        return at === undefined ? outcomeOf(network, node, txid, head) : outcomeAt(network, node, txid, at);
      }),
    async fetchBalance(address, token) {
      if (token !== null) throw new TypeError('the chain has no tokens');
      return balanceOfCoins(await sources.onNode((node) => readCoinsAtHead(reading, node, address)));
    },
    fetchUse: createUseReader({ network, sources, heads, snapshots }),
    fetchBuildInputs: ({ from }) => sources.onNode((node) => readBuildInputs(reading, node, from)),
    broadcast: (signed) => broadcast(submission, signed),
    getFate: (unsigned, txid) => sources.onNode((node) => readFate(submission, node, unsigned, txid)),
  };
}

function balanceOfCoins({ coins, height: headHeight }: CoinsAtHead): Balance {
  return balanceOf(
    coins.map((coin) => ({
      amount: BigInt(coin.valueSats),
      confirmations: coin.height === null ? 0 : headHeight - coin.height + 1,
      coinbase: coin.coinbase,
      leaving: coin.spender !== null,
    })),
  );
}

/**
 * Hash of a height. G10: one endpoint's "none" is not believed while another one has a block. Throws: ChainUnavailable
 * when an endpoint that might have it does not answer.
 */
async function hashOfAny(network: BtcNetwork, sources: Sources, height: number): Promise<string | null> {
  let nones = 0;
  try {
    return await sources.onAny(
      async (node) => orElseCount(await readHash(network, node, height)),
      async (index) => orElseCount(await indexHash(network, index, height)),
    );
  } catch (error) {
    if (error instanceof ChainUnavailable && nones === sources.transport.endpoints.length) return null;
    throw error;
  }
  function orElseCount(hash: string | null): string {
    if (hash !== null) return hash;
    nones += 1;
    throw new ChainUnavailable(network.slug, `no block at ${height}`);
  }
}

/** G14: every endpoint must be of this network; one that is not is disabled. Throws: ChainUnavailable when none is. */
async function checkIdentity(network: BtcNetwork, sources: Sources): Promise<void> {
  const { transport } = sources;
  const genesisOf = async (endpoint: Endpoint) =>
    (await sources.kindOf(endpoint)) === 'node' ? readHash(network, endpoint, 0) : indexHash(network, endpoint, 0);
  await identifyEach(network.slug, transport, async (endpoint) => {
    const genesis = await genesisOf(endpoint);
    judgeNetwork(network, transport, endpoint, genesis ?? 'none', 'has another first block');
  });
}
