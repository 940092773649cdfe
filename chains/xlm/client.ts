/**
 * The Stellar family's view of its servers: the only I/O of the family, in the files that this one puts together.
 * Stellar RPC servers are asked first, Horizon servers after them; every question goes on until one server can prove
 * its answer.
 */
import {
  type Balance,
  type Catalogue,
  type ChainClient,
  type Endpoint,
  type Network,
  type Token,
  type Transport,
} from '../chain.ts';
import { identifyEach } from '../each-endpoint.ts';
import { judgeNetwork } from '../judge-network.ts';
import { readAccounts } from './account-reader.ts';
import { balanceOf } from './balance.ts';
import { readBuildInputs } from './build-inputs.ts';
import { readFate } from './death.ts';
import { readOutcome } from './inclusion.ts';
import type { XlmInputs } from './inputs.ts';
import { createLedgerReader, type LedgerReader } from './ledger-reader.ts';
import { createSources, type Source, type Sources } from './sources.ts';
import { readPassphrase } from './standing.ts';
import { broadcast } from './submission.ts';
import { readTokenFacts } from './token-facts.ts';
import type { XlmLedger } from './transfers.ts';

export type XlmClient = ChainClient<XlmLedger, XlmInputs> &
  Required<Pick<ChainClient, 'fetchTokenFacts' | 'seesInternal'>>;

/** A client over the servers of one network. */
export function createClient(network: Network, transport: Transport, _catalogue: Catalogue): XlmClient {
  const sources = createSources(transport),
    ledgers = createLedgerReader(network, sources),
    { heads } = ledgers;
  const parts = { network, sources, ledgers };
  return {
    checkIdentity: () => checkIdentity(parts),
    getHead: ledgers.getHead,
    nextHeight: async (height) =>
      height < heads.seen() || height < (await ledgers.getHead()).height ? height + 1 : null,
    getBlock: ledgers.getBlock,
    getBlockHash: ledgers.getBlockHash,
    getOutcome: (txid, at) => sources.firstOrAgreedNull((source) => readOutcome(parts, source, txid, at)),
    fetchBalance: (address, token) => sources.attempt((source) => readBalance(ledgers, source, address, token)),
    fetchBuildInputs: (intent) => sources.attempt((source) => readBuildInputs(ledgers, source, intent)),
    fetchTokenFacts: (contract) =>
      sources.attempt((source) => readTokenFacts(heads, source, network.identity, contract)),
    // M8, M12: contract calls and every change of a balance stand in the ledger.
    seesInternal: async () => true,
    broadcast: (signed) => broadcast(parts, signed),
    getFate: (unsigned, txid) => readFate(parts, unsigned, txid),
  };
}

async function readBalance(
  ledgers: LedgerReader,
  source: Source,
  address: string,
  token: Token | null,
): Promise<Balance> {
  const { height, accounts } = await readAccounts(ledgers.heads, source, [address], token);
  const { baseReserve } = await ledgers.recentHeader(source, height);
  return balanceOf(accounts[address] ?? null, BigInt(baseReserve), token);
}

interface Parts {
  readonly network: Network;
  readonly sources: Sources;
  readonly ledgers: LedgerReader;
}

/**
 * G14: every server must be of this network and hold the newest ledger that was accepted; one that does not is
 * disabled. Throws: ChainUnavailable when none is left.
 */
async function checkIdentity({ network, sources, ledgers }: Parts): Promise<void> {
  const check = async (endpoint: Endpoint): Promise<void> => {
    const source = await sources.sourceOf(endpoint),
      passphrase = await readPassphrase(source);
    judgeNetwork(network, sources.transport, endpoint, passphrase, 'is of another network');
    const { height } = await ledgers.heads.standingOf(source),
      newest = ledgers.known.newest();
    if (newest !== null && newest.height <= height) await ledgers.headerOn(source, newest.height);
  };
  await identifyEach('xlm', sources.transport, check);
}
