/**
 * A whole block from one endpoint, with its proof (G9): sealed, parts of one hash, indexes from zero without a gap,
 * logs held against the bloom (V5). What is not proven is a ChainUnavailable and the next endpoint's turn.
 */
import {
  ChainUnavailable,
  MalformedReply,
  type Block,
  type Catalogue,
  type Endpoint,
  type Transport,
} from '../chain.ts';
import { encodeBalanceOf, decodeWord } from './abi.ts';
import { assertWhole, isStateSync, parseBlock, parseReceipts, unitOf, withStateSync } from './block.ts';
import type { RawBlock } from './raw.ts';
import type { EvmRaw, RawReceipt } from './raw.ts';
import { doubtOfLogs } from './bloom.ts';
import type { Heads } from './heads.ts';
import { identify, namesOtherChain } from './identity.ts';
import type { EvmNetwork } from './network.ts';
import { ask, askAll, atBlock, atHeight, call, isMethodMissing, resultOf, tryAsk } from './node.ts';
import { countOf } from './quantity.ts';
import type { TraceReader } from './trace-reader.ts';
import { lowerCaseIndexOf, receivedKey, TRANSFER_TOPIC } from './transfers.ts';

/** Receipts of one batch where a node has no `eth_getBlockReceipts`. Choice: providers take 100 calls and more. */
const RECEIPTS_PER_BATCH = 100;
/** Balances that fee-on-transfer tokens of one block may cost. Choice: such tokens are not listed by default (V12). */
const RECEIVED_READS_MAX = 400;

export interface BlockReaderParts {
  readonly network: EvmNetwork;
  readonly transport: Transport;
  readonly catalogue: Catalogue;
  readonly heads: Heads;
  readonly traces: TraceReader;
}

/** Logs that the blooms deny: the node lost its index, and is asked again only when others fail. */
class UnprovenLogs extends ChainUnavailable {}

/** Reads proven blocks; remembers which endpoints have no `eth_getBlockReceipts`. */
export function createBlockReader(parts: BlockReaderParts): (height: number) => Promise<Block<EvmRaw>> {
  const { network, transport, catalogue, heads, traces } = parts;
  const tokens = [...lowerCaseIndexOf(catalogue).keys()];
  const withoutBlockReceipts = new Set<Endpoint>();

  /** Receipts of the whole block in one answer; null where the node has no such method. */
  const readTogether = async (endpoint: Endpoint, block: RawBlock): Promise<RawReceipt[] | null> => {
    if (withoutBlockReceipts.has(endpoint)) return null;
    const asked = call('eth_getBlockReceipts', block.hash),
      answer = await tryAsk(network, endpoint, asked);
    if (answer.ok || !isMethodMissing(answer.error)) return parseReceipts(resultOf(network, asked, answer));
    withoutBlockReceipts.add(endpoint);
    return null;
  };

  const provenUnit = (block: RawBlock, receipts: readonly RawReceipt[]): Block<EvmRaw> => {
    const unit = withStateSync(network, unitOf({ block, receipts }));
    assertWhole(network, unit);
    assertContiguous(network, unit);
    const doubt = doubtOf(network, unit, tokens);
    if (doubt !== null) throw new UnprovenLogs(network.slug, `block ${unit.height}: ${doubt}`);
    return unit;
  };

  /** F23: where the receipts of the whole block fail or do not prove it, those of its transactions, one by one, may. */
  const readUnit = async (endpoint: Endpoint, block: RawBlock): Promise<Block<EvmRaw>> => {
    if (block.transactions.length === 0) return provenUnit(block, []);
    let together: unknown = null;
    try {
      const receipts = await readTogether(endpoint, block);
      if (receipts !== null) return provenUnit(block, receipts);
    } catch (error) {
      if (!(error instanceof ChainUnavailable || error instanceof MalformedReply)) throw error;
      together = error;
    }
    try {
      return provenUnit(block, await readReceiptsOneByOne(network, endpoint, block));
    } catch (error) {
      // What the node says of the whole block is the better reason, where it said something.
      throw together instanceof Error && error instanceof ChainUnavailable ? together : error;
    }
  };

  const read = async (endpoint: Endpoint, height: number): Promise<Block<EvmRaw>> => {
    const answer = await ask(network, endpoint, call('eth_getBlockByNumber', atHeight(height), true));
    if (answer === null) {
      // V24: below a head that we know this is a node that is behind, never an empty height.
      if (height <= heads.seen()) transport.report(endpoint, 'lagging');
      throw new ChainUnavailable(network.slug, `block ${height} is unknown to the node`);
    }
    const block = parseBlock(network, answer);
    if (namesOtherChain(network, block)) await identify(network, transport, endpoint);
    if (countOf(block.number, 'block number') !== height) {
      throw new ChainUnavailable(network.slug, `another height than ${height}`);
    }
    const unit = await readUnit(endpoint, block).catch((error: unknown) => {
      if (error instanceof UnprovenLogs) transport.report(endpoint, 'failed');
      throw error;
    });
    if (lacksGas(unit)) await assertCounted(network, transport, endpoint, block);
    const traced = await traces.read(endpoint, unit);
    const received = await readReceived(network, endpoint, unit, catalogue);
    return {
      ...unit,
      raw: {
        ...unit.raw,
        ...(traced === null ? {} : { traces: traced }),
        ...(received === null ? {} : { received }),
      },
    };
  };

  return (height) => transport.attempt((endpoint) => read(endpoint, height));
}

/** V25: a receipt that is null belongs to a node that has not stored it yet. */
async function readReceiptsOneByOne(
  network: EvmNetwork,
  endpoint: Endpoint,
  { transactions }: RawBlock,
): Promise<RawReceipt[]> {
  const receipts: unknown[] = [];
  for (let from = 0; from < transactions.length; from += RECEIPTS_PER_BATCH) {
    const batch = transactions
      .slice(from, from + RECEIPTS_PER_BATCH)
      .map(({ hash }) => call('eth_getTransactionReceipt', hash));
    receipts.push(...(await askAll(network, endpoint, batch)));
  }
  if (receipts.includes(null)) throw new ChainUnavailable(network.slug, 'a receipt of the block is not there yet');
  return parseReceipts(receipts);
}

function assertContiguous(
  network: EvmNetwork,
  {
    height,
    raw: {
      block: { transactions },
    },
  }: Block<EvmRaw>,
): void {
  const gap = transactions.findIndex(({ transactionIndex }, i) => Number(transactionIndex) !== i);
  if (gap !== -1) throw new ChainUnavailable(network.slug, `block ${height}: no transaction with index ${gap}`);
}

/** Whether the header's gas is more than what the receipts used: transactions at the end may have been left out. */
function lacksGas({
  raw: {
    block: { gasUsed = '0x0' },
    receipts,
  },
}: Block<EvmRaw>): boolean {
  return Number(gasUsed) > receipts.reduce((sum, receipt) => sum + Number(receipt.gasUsed), 0);
}

/**
 * G8, C1-4: a block that used gas has transactions. How many, another endpoint must say alike: a header may also count
 * gas that was refunded (EIP-7778), so that the gas alone proves nothing. Throws: ChainUnavailable.
 */
async function assertCounted(
  network: EvmNetwork,
  transport: Transport,
  endpoint: Endpoint,
  { hash, transactions: { length } }: RawBlock,
): Promise<void> {
  const unproven = (what: string) => new ChainUnavailable(network.slug, `block ${hash}: ${what}`);
  const others = transport.endpoints.filter((other) => other !== endpoint);
  if (length === 0 && others.length === 0) throw unproven('gas was used but no transaction is listed');
  const asked = call('eth_getBlockTransactionCountByHash', hash);
  for (const other of others) {
    const answer = await tryAsk(network, other, asked).catch(() => null);
    if (answer?.ok !== true || answer.result === null) continue;
    if (countOf(answer.result, 'number of transactions') === length) return;
    throw unproven('endpoints differ on the number of its transactions');
  }
  if (others.length > 0)
    throw unproven('its gas is more than its receipts used, and no other endpoint counts its transactions');
}

/** V5. State syncs are outside the bloom of older blocks and inside that of newer ones. */
function doubtOf(
  network: EvmNetwork,
  { raw: { block, receipts } }: Block<EvmRaw>,
  tokens: readonly string[],
): string | null {
  const doubt = doubtOfLogs(block.logsBloom, receipts, tokens);
  if (doubt === null || !network.stateSyncReceipts) return doubt;
  const own = receipts.filter((_, i) => !isStateSync(block.transactions[i]!));
  return own.length === receipts.length ? doubt : doubtOfLogs(block.logsBloom, own, tokens);
}

/** V12: what addresses received of tokens that keep a part, as the difference over the block; null without any. */
async function readReceived(
  network: EvmNetwork,
  endpoint: Endpoint,
  { raw: { block, receipts } }: Block<EvmRaw>,
  catalogue: Catalogue,
): Promise<Record<string, string> | null> {
  const tokens = lowerCaseIndexOf(catalogue);
  const keys = new Set(
    receipts.flatMap(({ logs }) =>
      logs
        .filter(
          ({ address, topics }) =>
            topics[0] === TRANSFER_TOPIC &&
            topics.length === 3 &&
            tokens.get(address.toLowerCase())?.feeOnTransfer === true,
        )
        .map(({ address, topics }) => receivedKey(address, topics[2]!)),
    ),
  );
  if (keys.size === 0) return null;
  if (keys.size > RECEIVED_READS_MAX) {
    throw new ChainUnavailable(network.slug, `${keys.size} receivers of fee-on-transfer tokens in a block`);
  }
  const calls = [...keys].flatMap((key) => {
    const [contract, address] = key.split(' ');
    const asked = { to: contract, data: encodeBalanceOf(address!) };
    return [call('eth_call', asked, atBlock(block.parentHash)), call('eth_call', asked, atBlock(block.hash))];
  });
  const balances = (await askAll(network, endpoint, calls)).map(decodeWord);
  return Object.fromEntries(
    [...keys].map((key, i) => {
      const before = balances[2 * i],
        after = balances[2 * i + 1];
      if (before === null || before === undefined || after === null || after === undefined) {
        throw new ChainUnavailable(network.slug, 'a token balance is unknown');
      }
      return [key, (after - before).toString()];
    }),
  );
}
