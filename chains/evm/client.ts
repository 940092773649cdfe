/**
 * The EVM family's view of its nodes: the only I/O of the family, in the files that this one puts together. Every
 * question goes to one endpoint after another until one can prove its answer.
 */
import {
  ChainUnavailable,
  type Balance,
  type Block,
  type Catalogue,
  type ChainClient,
  type Endpoint,
  type Network,
  type Token,
  type Transport,
} from '../chain.ts';
import { identifyEach } from '../each-endpoint.ts';
import { firstOrAgreedNull } from '../agreement.ts';
import { decodeWord, encodeBalanceOf } from './abi.ts';
import { balanceOf } from './balance.ts';
import { parseHeader } from './block.ts';
import type { EvmRaw } from './raw.ts';
import { createBlockReader } from './block-reader.ts';
import { createCalls } from './calls.ts';
import { readBuildInputs } from './build-inputs.ts';
import type { EvmInputs } from './fee.ts';
import { createPoolMinimum } from './pool-minimum.ts';
import { createHeads, LATEST, type Heads } from './heads.ts';
import { readLogs, type LogRange, type RangeLog } from './log-ranges.ts';
import { evmOf, type EvmNetwork } from './network.ts';
import { identify } from './identity.ts';
import { ask, askAll, atBlock, atHeight, call } from './node.ts';
import { bigintOf } from './quantity.ts';
import { broadcast, readFate, readOutcome } from './submission.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { readTokenFacts } from './token-facts.ts';
import { readTokenHazards } from './token-hazards.ts';
import { createTraceReader } from './trace-reader.ts';
import { readUse } from './use.ts';

/** Balances of one request. Choice: providers take 100 calls and more. */
const BALANCES_PER_BATCH = 100;

type Everything = Required<Omit<ChainClient<EvmRaw, EvmInputs>, 'upholds'>>;

export interface EvmClient extends Everything {
  /** Logs of a range for a backfill. V22, V23. Throws: ChainUnavailable. */
  fetchLogs(range: LogRange): Promise<readonly RangeLog[]>;
}

/** A client over the endpoints of one network. The catalogue decides which logs the bloom must vouch for (V5). */
export function createClient(general: Network, transport: Transport, catalogue: Catalogue): EvmClient {
  const network = evmOf(general);
  const heads = createHeads(network, transport),
    traces = createTraceReader(network, transport);
  const getBlock = createBlockReader({ network, transport, catalogue, heads, traces });
  let envelope: EvmInputs['envelope'] = 'eip1559';
  const onTypesRefused = () => {
    if (network.legacyEnvelope) envelope = 'legacy';
  };
  const pool = createPoolMinimum(network);

  const attempt = transport.attempt;
  return {
    getHead: heads.getHead,
    servesBlocks: async () => true,
    getBlock,
    checkIdentity: async () => {
      traces.forget();
      await checkIdentity(network, transport);
    },
    nextHeight: async (height) =>
      height < heads.seen() || height < (await heads.getHead()).height ? height + 1 : null,
    getBlockHash: (height) => readHash(network, transport, height),
    getOutcome: (txid) => firstOrAgreedNull(network, transport, (node) => readOutcome(network, heads, node, txid)),
    fetchBalance: (address, token) => attempt((node) => readBalance(network, heads, node, address, token)),
    fetchBalancesAt: (addresses, block) => attempt((node) => readBalancesAt(network, node, addresses, block)),
    fetchBalanceAt: (address, token, height) =>
      attempt((node) => readBalance(network, heads, node, address, token, height)),
    fetchBuildInputs: (intent) =>
      attempt((node) => readBuildInputs(network, heads, node, intent, envelope)).then(pool.obeyed),
    heed: (inputs) => pool.obeyed({ ...inputs, envelope: envelope === 'legacy' ? envelope : inputs.envelope }),
    fetchTokenFacts: (contract, ask) =>
      attempt(async (node) => {
        const facts = await readTokenFacts(network, node, contract);
        return ask === undefined || isRefusal(facts)
          ? facts
          : { ...facts, hazards: await readTokenHazards(network, node, contract) };
      }),
    fetchUse: (asked) => attempt((node) => readUse(network, heads, node, asked)),
    fetchLogs: (range) => readLogs(network, transport, range),
    ...createCalls(network, heads, transport),
    seesInternal: async () =>
      network.nativeTransferLog !== null || network.tracesRequired === true || traces.isOffered(await heads.getHead()),
    broadcast: (signed) => broadcast({ network, transport, heads, onTypesRefused, onMinimumPrice: pool.note }, signed),
    getFate: (unsigned, txid) =>
      attempt((node) => readFate({ network, transport, heads, endpoint: node }, unsigned, txid)),
  };
}

/** G14: every endpoint must be of this network; one that is not is disabled. Throws: ChainUnavailable when none is. */
function checkIdentity(network: EvmNetwork, transport: Transport): Promise<void> {
  return identifyEach(network.slug, transport, (endpoint) => identify(network, transport, endpoint));
}

/** Hash of a height for the reorg walk. G10: one endpoint's "none" is not believed while another one has a block. */
function readHash(network: EvmNetwork, transport: Transport, height: number): Promise<string | null> {
  return firstOrAgreedNull(network, transport, async (endpoint) => {
    const answer = await ask(network, endpoint, call('eth_getBlockByNumber', atHeight(height), false));
    return answer === null ? null : parseHeader(network, answer).hash.toLowerCase();
  });
}

/** A balance of an endpoint that is not behind, now or at a height. An answer without digits is no zero (G8). */
async function readBalance(
  network: EvmNetwork,
  heads: Heads,
  endpoint: Endpoint,
  address: string,
  token: Token | null,
  height?: number,
): Promise<Balance> {
  const at = height === undefined ? 'latest' : atHeight(height);
  const asked =
    token === null
      ? call('eth_getBalance', address, at)
      : call('eth_call', { to: token.contract, data: encodeBalanceOf(address) }, at);
  const [latest, answer] = await askAll(network, endpoint, [LATEST, asked]);
  heads.accept(endpoint, latest);
  if (token === null) return balanceOf(bigintOf(answer, 'balance'), network.nativeDecimals);
  const amount = decodeWord(answer);
  if (amount === null) throw new ChainUnavailable(network.slug, `${token.contract} answers no balance`);
  return balanceOf(amount, token.decimals);
}

/** V7: native balances at one block. */
async function readBalancesAt(
  network: EvmNetwork,
  endpoint: Endpoint,
  addresses: readonly string[],
  { hash }: Pick<Block, 'hash'>,
): Promise<bigint[]> {
  const balances: bigint[] = [];
  for (let from = 0; from < addresses.length; from += BALANCES_PER_BATCH) {
    const batch = addresses
      .slice(from, from + BALANCES_PER_BATCH)
      .map((address) => call('eth_getBalance', address, atBlock(hash)));
    balances.push(...(await askAll(network, endpoint, batch)).map((answer) => bigintOf(answer, 'balance')));
  }
  return balances;
}
