/**
 * The Solana family's view of its nodes: the only I/O of the family, in the files that this one puts together. Every
 * question goes to one endpoint after another until one can prove its answer.
 */
import {
  ChainUnavailable,
  type Balance,
  type Catalogue,
  type ChainClient,
  type Network,
  type Token,
  type Transport,
} from '../chain.ts';
import { identifyEach } from '../each-endpoint.ts';
import { judgeNetwork } from '../judge-network.ts';
import { firstOrAgreedNull } from '../agreement.ts';
import { integerIn, listIn, objectIn, textIn } from '../node-answer.ts';
import { accountIn, tokenStateOf } from './account.ts';
import { balanceOf, tokenBalanceOf, type TokenHolding } from './balance.ts';
import { createBlockReader } from './block-reader.ts';
import { readBuildInputs } from './build-inputs.ts';
import type { SolInputs } from './fee.ts';
import { createHeads, type Heads } from './heads.ts';
import { ask, askAll, call, contextual, CONFIRMED, type Node } from './node.ts';
import { associatedTokenAddress } from './program-address.ts';
import { createNextSlot } from './slots.ts';
import { broadcast, readFate, readOutcome } from './submission.ts';
import { readTokenFacts } from './token-facts.ts';
import type { SolBlock } from './transfers.ts';

export type SolClient = ChainClient<SolBlock, SolInputs> &
  Required<Pick<ChainClient, 'fetchTokenFacts' | 'seesInternal'>>;

/** A client over the endpoints of one network. Heights are slots; some of them hold no block (L19). */
export function createClient(network: Network, transport: Transport, _catalogue: Catalogue): SolClient {
  const heads = createHeads(network, transport);
  const blocks = createBlockReader(network, transport, heads);
  const submission = { network, transport, heads, blocks };
  const attempt = <T>(read: (node: Node) => Promise<T>): Promise<T> =>
    transport.attempt((endpoint) => read({ network, transport, endpoint }));
  return {
    getHead: heads.getHead,
    getBlock: blocks.getBlock,
    nextHeight: createNextSlot(network, transport, heads, blocks),
    checkIdentity: () => checkIdentity(network, transport),
    getBlockHash: async (slot) => (await blocks.getHeader(slot))?.hash ?? null,
    getOutcome: (txid) => firstOrAgreedNull(network, transport, (endpoint) => readOutcome(submission, endpoint, txid)),
    fetchBalance: (address, token) =>
      attempt((node) =>
        token === null ? readBalance(node, heads, address) : readTokenBalance(node, heads, address, token),
      ),
    fetchBuildInputs: (intent) => attempt((node) => readBuildInputs(node, heads, intent)),
    upholds: ({ blockhash }) =>
      attempt(
        async (node) =>
          contextual(await ask(node, call('isBlockhashValid', blockhash, CONFIRMED)), 'isBlockhashValid').value ===
          true,
      ),
    fetchTokenFacts: (contract) => attempt((node) => readTokenFacts(node, heads, contract)),
    // L3: balances before and after show what inner instructions moved.
    seesInternal: async () => true,
    broadcast: (signed) => broadcast(submission, signed),
    getFate: (unsigned, txid) => readFate(submission, unsigned, txid),
  };
}

/** G14: every endpoint must be of this network; one that is not is disabled. Throws: ChainUnavailable when none is. */
async function checkIdentity(network: Network, transport: Transport): Promise<void> {
  await identifyEach(network.slug, transport, async (endpoint) => {
    const genesis = textIn(await ask({ network, transport, endpoint }, call('getGenesisHash')), 'genesis hash');
    judgeNetwork(network, transport, endpoint, genesis, 'has another first block');
  });
}

/** SOL of an endpoint that is not behind; an account that does not exist is a real zero. */
async function readBalance(node: Node, heads: Heads, address: string): Promise<Balance> {
  const [found, rent] = await askAll(node, [
    // The size is wanted, not the bytes.
    call('getAccountInfo', address, { ...CONFIRMED, encoding: 'base64', dataSlice: { offset: 0, length: 0 } }),
    call('getMinimumBalanceForRentExemption', 0, CONFIRMED),
  ]);
  const { slot, value } = contextual(found, 'account');
  heads.accept(node.endpoint, slot);
  const account = accountIn(value, 'account');
  const rentExempt =
    account === null || account.space === 0
      ? rent
      : await ask(node, call('getMinimumBalanceForRentExemption', account.space, CONFIRMED));
  return balanceOf({ lamports: account?.lamports ?? null, rentExempt: integerIn(rentExempt, 'rent-exempt minimum') });
}

/** L4: a token over all accounts of an owner. */
async function readTokenBalance(node: Node, heads: Heads, owner: string, token: Token): Promise<Balance> {
  const asked = call('getTokenAccountsByOwner', owner, { mint: token.contract }, { ...CONFIRMED, encoding: 'base64' });
  const { slot, value } = contextual(await ask(node, asked), 'token accounts');
  heads.accept(node.endpoint, slot);
  const holdings = listIn(value, 'token accounts').map((entry): TokenHolding => {
    const { pubkey, account: raw } = objectIn(entry, 'token account');
    const account = accountIn(raw, 'token account');
    const state = account === null ? null : tokenStateOf(account);
    if (state?.kind !== 'token_account' || state.owner !== owner || state.mint !== token.contract) {
      throw new ChainUnavailable(node.network.slug, `an account that is not ${token.symbol} of ${owner}`);
    }
    const associated = associatedTokenAddress({ owner, mint: token.contract, program: state.program });
    return { amount: state.amount, spendable: !state.frozen && pubkey === associated };
  });
  return tokenBalanceOf(holdings, token.decimals);
}
