/**
 * The TRON family's view of its nodes: the only I/O of the family, in the files that this one puts together. Every
 * question goes to one endpoint after another until one can prove its answer.
 */
import type { SeesCalls } from '../contract-call.ts';
import {
  ChainUnavailable,
  type Catalogue,
  type ChainClient,
  type Endpoint,
  type Network,
  type Transport,
} from '../chain.ts';
import { identifyEach } from '../each-endpoint.ts';
import { judgeNetwork } from '../judge-network.ts';
import { firstOrAgreedNull } from '../agreement.ts';
import { readBalance, readBalancesAt } from './account.ts';
import { createBlockReader, readInfos } from './block.ts';
import { createTimestamps, readBuildInputs, referenceTo, type TronInputs } from './build-inputs.ts';
import { readFate } from './fate.ts';
import { createHeads, type Heads } from './heads.ts';
import { readOutcome } from './inclusion.ts';
import { createInternalRecords, type InternalRecords } from './internal-records.ts';
import { broadcast } from './submission.ts';
import { readTokenCode } from './token-code.ts';
import { readTokenFacts } from './token-facts.ts';
import type { TronBlock } from './transfers.ts';
import { readUse } from './use.ts';

export type TronClient = Required<
  Omit<ChainClient<TronBlock, TronInputs>, 'fetchBalanceAt' | Exclude<keyof SeesCalls, 'fetchTokenCode'>>
>;

/** A client over the endpoints of the network; each must serve `/wallet` and `/walletsolidity` below one base. */
export function createClient(network: Network, transport: Transport, _catalogue: Catalogue): TronClient {
  const heads = createHeads(network, transport),
    internals = createInternalRecords(),
    timestampOf = createTimestamps();
  const sending = { network, transport, heads },
    { attempt } = transport;
  return {
    getHead: heads.getHead,
    servesBlocks: async () => true,
    getBlock: createBlockReader({ network, transport, heads, internals }),
    checkIdentity: () => checkIdentity(network, transport, heads),
    nextHeight: async (height) =>
      height < heads.seen() || height < (await heads.getHead()).height ? height + 1 : null,
    getBlockHash: (height) => firstOrAgreedNull(network, transport, (node) => readHash(network, heads, node, height)),
    getOutcome: (txid) => firstOrAgreedNull(network, transport, (node) => readOutcome(network, heads, node, txid)),
    fetchBalance: (address, token) => attempt((node) => readBalance(network, heads, node, address, token)),
    fetchBalancesAt: (addresses, block) => attempt((node) => readBalancesAt(network, node, addresses, block)),
    fetchBuildInputs: (intent) => attempt((node) => readBuildInputs(network, heads, node, intent, timestampOf)),
    heed: (inputs) => ({ ...inputs, timestampMs: timestampOf(inputs.headTimeMs) }),
    upholds: (inputs) => attempt((node) => hasReference(network, heads, node, inputs)),
    fetchTokenCode: (contract) => attempt((node) => readTokenCode(network, node, contract)),
    fetchTokenFacts: (contract) => attempt((node) => readTokenFacts(network, node, contract)),
    fetchUse: (asked) => attempt((node) => readUse(network, heads, node, asked)),
    seesInternal: () => seesInternal(network, transport, heads, internals),
    broadcast: (signed) => broadcast(sending, signed),
    getFate: (unsigned, txid) => attempt((node) => readFate(sending, node, unsigned, txid)),
  };
}

/**
 * G14: every endpoint must have the network's first block; one that has not is disabled. Throws: ChainUnavailable when
 * none has.
 */
async function checkIdentity(network: Network, transport: Transport, heads: Heads): Promise<void> {
  await identifyEach(network.slug, transport, async (endpoint) => {
    const genesis = await heads.headerAt(endpoint, 'wallet', 0);
    if (genesis === null) throw new ChainUnavailable(network.slug, `${endpoint.name} does not know its first block`);
    judgeNetwork(network, transport, endpoint, genesis.hash, 'has another first block');
  });
}

/** Hash of a height, or null above the node's own head. A `{}` below it is a block that the node has not kept (G8). */
async function readHash(network: Network, heads: Heads, endpoint: Endpoint, height: number): Promise<string | null> {
  const header = await heads.headerAt(endpoint, 'wallet', height);
  if (header !== null) return header.hash;
  const newest = await heads.headerAt(endpoint, 'wallet', 'newest');
  if (newest !== null && newest.height < height) return null;
  throw new ChainUnavailable(network.slug, `the node does not know block ${height}`);
}

/** Whether the block that a payment refers to is on this endpoint's chain. T14. */
async function hasReference(network: Network, heads: Heads, endpoint: Endpoint, inputs: TronInputs): Promise<boolean> {
  const { readAtHeight, refBlockBytes, refBlockHash } = inputs;
  const height =
    readAtHeight - ((((readAtHeight - Number.parseInt(refBlockBytes, 16)) % 0x1_0000) + 0x1_0000) % 0x1_0000);
  const hash = await readHash(network, heads, endpoint, height);
  return hash !== null && referenceTo({ hash }).refBlockHash === refBlockHash;
}

/** T5: any endpoint may answer a block, so all of them must record what happens inside calls. */
async function seesInternal(
  network: Network,
  transport: Transport,
  heads: Heads,
  internals: InternalRecords,
): Promise<boolean> {
  const recording = await Promise.all(
    transport.endpoints.map((endpoint) =>
      internals.isRecording(endpoint, async (below) =>
        readInfos(network, endpoint, (await heads.headOf(endpoint)).height - below),
      ),
    ),
  );
  return recording.every(Boolean);
}
