/**
 * A whole block from one endpoint, with its proof (G9, T10, T11): as many infos as transactions, pairwise of one txid,
 * all of that height; and while the block may still be replaced, the same header again after the infos were read.
 */
import { ChainUnavailable, type Block, type Endpoint, type Network, type Transport } from '../chain.ts';
import { countIn, hashIn, listIn, objectIn, type Answer } from '../node-answer.ts';
import { headerOf, type Header, type Heads } from './heads.ts';
import type { InternalRecords } from './internal-records.ts';
import { ask, wallet } from './node.ts';
import { infosIn, type TronBlock } from './transfers.ts';

export interface BlockReaderParts {
  readonly network: Network;
  readonly transport: Transport;
  readonly heads: Heads;
  readonly internals: InternalRecords;
}

/**
 * The infos of a height. A node that does not have the block answers none, so that only a block beside them proves
 * them.
 */
export async function readInfos(network: Network, endpoint: Endpoint, height: number): Promise<readonly unknown[]> {
  return infosIn(await ask(network, endpoint, wallet('gettransactioninfobyblocknum', { num: height })));
}

/** Reads proven blocks. */
export function createBlockReader({
  network,
  transport,
  heads,
  internals,
}: BlockReaderParts): (height: number) => Promise<Block<TronBlock>> {
  const read = async (endpoint: Endpoint, height: number): Promise<Block<TronBlock>> => {
    const answer = await ask(network, endpoint, wallet('getblockbynum', { num: height }));
    const header = headerOf(answer);
    if (header === null) {
      // Below a head that we know this is a node that is behind, never an empty height.
      if (height <= heads.seen()) transport.report(endpoint, 'lagging');
      throw new ChainUnavailable(network.slug, `block ${height} is unknown to the node`);
    }
    if (header.height !== height) throw new ChainUnavailable(network.slug, `another height than ${height}`);
    const raw = { block: objectIn(answer, 'block'), infos: await readInfos(network, endpoint, height) };
    assertWhole(network, height, raw);
    assertEmptiness(network, height, raw);
    if (height > heads.solidSeen()) await assertUnchanged(network, heads, endpoint, header);
    internals.note(endpoint, raw.infos);
    return unitOf(header, raw);
  };
  return (height) => transport.attempt((endpoint) => read(endpoint, height));
}

/** Infos name their height and no block: one that was replaced between the two answers would go unnoticed. */
async function assertUnchanged(
  network: Network,
  heads: Heads,
  endpoint: Endpoint,
  { height, hash }: Header,
): Promise<void> {
  const again = await heads.headerAt(endpoint, 'wallet', height);
  if (again?.hash !== hash) throw new ChainUnavailable(network.slug, `block ${height} was replaced while it was read`);
}

/**
 * The root over no transactions is zero: any other one means that some are not listed. G8, C1-4. Source: java-tron
 * BlockCapsule.
 */
function assertEmptiness(network: Network, height: number, { block }: TronBlock): void {
  const header = objectIn(objectIn(block['block_header'], 'block_header')['raw_data'], 'raw_data of a header');
  const isEmpty = listIn(block['transactions'] ?? [], 'transactions of a block').length === 0;
  if (isEmpty && !/^0*$/.test(String(header['txTrieRoot'] ?? ''))) {
    throw new ChainUnavailable(network.slug, `block ${height}: its transactions are not listed`);
  }
}

function assertWhole(network: Network, height: number, { block, infos }: TronBlock): void {
  const unproven = (what: string) => new ChainUnavailable(network.slug, `block ${height}: ${what}`);
  const transactions = listIn(block['transactions'] ?? [], 'transactions of a block');
  if (transactions.length !== infos.length) {
    throw unproven(`${infos.length} infos for ${transactions.length} transactions`);
  }
  infos.forEach((entry, index) => {
    const info = objectIn(entry, 'transaction info');
    const txid = hashIn(objectIn(transactions[index], 'transaction')['txID'], 'txID');
    if (hashIn(info['id'], 'id of a transaction info') !== txid) {
      throw unproven(`info ${index} belongs to another transaction`);
    }
    const infoHeight = countIn(info['blockNumber'], 'blockNumber');
    if (infoHeight !== height) throw unproven(`info ${index} belongs to block ${infoHeight}`);
  });
}

function unitOf({ height, hash, parentHash, timeMs }: Header, raw: TronBlock): Block<TronBlock> {
  return { height, hash, parentHash, parentHeight: Math.max(0, height - 1), timeMs, raw };
}

/**
 * A block from a node's answers `{ block, infos }`. Throws: MalformedReply when one of them is missing (G8),
 * ChainUnavailable when they are not of one block.
 */
export function blockFromAnswers(network: Network, answers: Readonly<Record<string, unknown>>): Block<TronBlock> {
  const block: Answer = objectIn(answers['block'], 'block'),
    header = headerOf(block);
  if (header === null) throw new ChainUnavailable(network.slug, 'the node does not have the block');
  const raw = { block, infos: infosIn(answers['infos']) };
  assertWhole(network, header.height, raw);
  return unitOf(header, raw);
}
