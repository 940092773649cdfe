/** Questions about pinned contracts, and what their calls left in receipts. Treasury H6, H7, H10. */
import type { Endpoint, Transport } from '../chain.ts';
import type { ContractCall, ContractLog, FoundLog, SeesCalls } from '../contract-call.ts';
import { firstOrAgreedNull } from '../agreement.ts';
import { MalformedReply } from '../chain.ts';
import { parseReceipt } from './block.ts';
import { LATEST, type Heads } from './heads.ts';
import { readLogs } from './log-ranges.ts';
import type { EvmNetwork } from './network.ts';
import { ask, askAll, call, resultOf, tryAsk } from './node.ts';
import { countOf } from './quantity.ts';
import { revertReasonOf } from './rejection.ts';
import type { RawLog } from './raw.ts';
import { readTokenCode } from './token-code.ts';

const lower = ({ address, topics, data }: RawLog): ContractLog => ({
  address: address.toLowerCase(),
  topics: topics.map((topic) => topic.toLowerCase()),
  data: data.toLowerCase(),
});

/** The questions over the endpoints of a network. */
export function createCalls(network: EvmNetwork, heads: Heads, transport: Transport): Required<SeesCalls> {
  return {
    askContract: (asked) => transport.attempt((endpoint) => askContract(network, endpoint, asked)),
    fetchLogsOf: (txid, blockHash) =>
      firstOrAgreedNull(network, transport, (endpoint) => readLogsOf(network, heads, endpoint, txid, blockHash)),
    hasCode: (address) => transport.attempt((endpoint) => hasCode(network, endpoint, address)),
    fetchTokenCode: (contract) => transport.attempt((endpoint) => readTokenCode(network, endpoint, contract)),
    async findLogs(contract, topics, fromHeight) {
      const { height, hash } = await heads.getHead();
      const range = { fromHeight: Math.min(fromHeight, height), toHeight: height, toHash: hash };
      const found = await readLogs(network, transport, { ...range, addresses: [contract], topics });
      return found.map((log): FoundLog => ({
        ...lower(log),
        txid: log.transactionHash.toLowerCase(),
        blockHash: log.blockHash.toLowerCase(),
        height: countOf(log.blockNumber, 'block of a log'),
      }));
    },
  };
}

async function hasCode(network: EvmNetwork, endpoint: Endpoint, address: string): Promise<boolean> {
  const code = await ask(network, endpoint, call('eth_getCode', address, 'latest'));
  if (typeof code !== 'string') throw new MalformedReply('eth_getCode', JSON.stringify(code));
  return code !== '0x';
}

async function askContract(network: EvmNetwork, endpoint: Endpoint, { contract, data }: ContractCall) {
  const answered = await tryAsk(network, endpoint, call('eth_call', { to: contract, data }, 'latest'));
  if (!answered.ok && revertReasonOf(answered.error) !== null) return null;
  const result = resultOf(network, call('eth_call'), answered);
  if (typeof result !== 'string') throw new MalformedReply('eth_call', JSON.stringify(result));
  return result.toLowerCase();
}

async function readLogsOf(
  network: EvmNetwork,
  heads: Heads,
  endpoint: Endpoint,
  txid: string,
  blockHash: string,
): Promise<readonly ContractLog[] | null> {
  const [latest, answer] = await askAll(network, endpoint, [LATEST, call('eth_getTransactionReceipt', txid)]);
  heads.accept(endpoint, latest);
  if (answer === null) return null;
  const receipt = parseReceipt(answer);
  const isIt = receipt.transactionHash.toLowerCase() === txid && receipt.blockHash.toLowerCase() === blockHash;
  return isIt && receipt.status === '0x1' ? receipt.logs.map(lower) : null;
}
