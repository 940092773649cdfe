/**
 * The XRP family's view of its servers: the only I/O of the family, in the files that this one puts together. Every
 * question goes to one server after another until one can prove its answer.
 */
import { type Catalogue, type ChainClient, type Endpoint, type Network, type Transport } from '../chain.ts';
import { identifyEach } from '../each-endpoint.ts';
import { readBalance } from './account-reader.ts';
import { firstOrAgreedNull } from '../agreement.ts';
import { readBuildInputs } from './build-inputs.ts';
import { readFate } from './death.ts';
import { createHeads, type Heads } from './heads.ts';
import type { XrpInputs } from './inputs.ts';
import { createLedgerReader, type LedgerReader } from './ledger-reader.ts';
import { broadcast, readOutcome } from './submission.ts';
import { readTokenFacts } from './token-facts.ts';
import type { XrpLedger } from './transfers.ts';
import { readUse } from './use.ts';

export type XrpClient = ChainClient<XrpLedger, XrpInputs> & Required<Pick<ChainClient, 'fetchTokenFacts'>>;

/** A client over the servers of the network: rippled or Clio, over JSON-RPC. */
export function createClient(network: Network, transport: Transport, _catalogue: Catalogue): XrpClient {
  const heads = createHeads(network, transport),
    ledgers = createLedgerReader(network, transport, heads);
  const parts = { transport, heads, ledgers };
  return {
    getHead: heads.getHead,
    getBlock: ledgers.getBlock,
    getBlockHash: ledgers.getBlockHash,
    checkIdentity: () => checkIdentity(parts),
    nextHeight: async (height) =>
      height < heads.seen() || height < (await heads.getHead()).height ? height + 1 : null,
    getOutcome: (txid, at) =>
      firstOrAgreedNull(network, transport, (endpoint) => readOutcome(parts, endpoint, txid, at)),
    fetchBalance: (address, token) =>
      transport.attempt((endpoint) => readBalance(transport, heads, endpoint, address, token)),
    fetchBalanceAt: (address, token, height) =>
      transport.attempt((endpoint) => readBalance(transport, heads, endpoint, address, token, height)),
    fetchBuildInputs: (intent) => transport.attempt((endpoint) => readBuildInputs(transport, heads, endpoint, intent)),
    fetchTokenFacts: (contract) =>
      transport.attempt((endpoint) => readTokenFacts(transport, heads, endpoint, contract)),
    fetchUse: (asked) => transport.attempt((endpoint) => readUse(transport, heads, endpoint, asked)),
    broadcast: (signed) => broadcast(parts, signed),
    getFate: (unsigned, txid) => transport.attempt((endpoint) => readFate(parts, endpoint, unsigned, txid)),
  };
}

interface Parts {
  readonly transport: Transport;
  readonly heads: Heads;
  readonly ledgers: LedgerReader;
}

/**
 * G14, 8.4-3: every server must be of this network and hold the newest ledger that was accepted; one that does not is
 * disabled. Throws: ChainUnavailable when none is left.
 */
async function checkIdentity({ transport, heads, ledgers }: Parts): Promise<void> {
  const check = async (endpoint: Endpoint): Promise<void> => {
    const { height } = await heads.standingOf(endpoint);
    const newest = ledgers.known.newest();
    if (newest !== null && newest.height <= height) await ledgers.hashOn(endpoint, newest.height);
  };
  await identifyEach('xrp', transport, check);
}
