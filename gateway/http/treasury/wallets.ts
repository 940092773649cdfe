/** Treasury wallets and what they hold. Spec §2.10; treasury W1–W4. */
import { notEnabled } from '../../../actors/account/guards.ts';
import { saidByLeader } from '../../../actors/sweep/leader.ts';
import { isAllowed, warningsFor } from '../../../actors/treasury/wallet-facts.ts';
import { placed, type PlacedWallet } from '../../../actors/treasury/view.ts';
import type { Token } from '../../../chains/chain.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import { demandsTag } from '../../../chains/tag-demand.ts';
import type { TreasuryWallet } from '../../../model/account/treasury.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import type { EdgeTreasury } from '../../../protocol/frames.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';
import { stateOf } from '../account-state.ts';
import { balanceView } from '../chain/balances.ts';
import { accountOf, claimOf, type Handlers, unknownIn } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, wholePage } from '../views.ts';

/** Balances of a wallet that are asked for at the same time. */
const ASKED_AT_ONCE = 8;

type Area = 'createTreasuryWallet' | 'listTreasuryWallets' | 'getTreasuryWalletBalances';

export function walletHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const { accounts, chains, nowMs } = deps;
  const said = async (accountId: AccountId) => saidByLeader(await deps.stores.edge.sessions(accountId));
  const viewOf = async (accountId: AccountId, stored: unknown) =>
    view(placed(await stateOf(deps, accountId), stored as TreasuryWallet), await said(accountId));
  return {
    createTreasuryWallet: {
      replay: (stored, asked) => viewOf(accountOf(asked), stored),
      async handle(asked) {
        const accountId = accountOf(asked);
        const { chain, source, address = null, label = null } = asked.body;
        const external =
          address === null ? { address: null, tag: null } : await externalOf(deps, accountId, chain, address);
        if (isRefusal(external)) return external;
        const found = external.address === null ? [] : await warningsFor(chains, accountId, chain, external.address);
        const warnings = found.length === 0 ? {} : { warnings: found };
        const wallet = { id: newId('wal', nowMs()), chain, source, ...external, label, ...warnings };
        const answer = await accounts.ask(accountId, { type: 'create_treasury_wallet', wallet, ...claimOf(asked) });
        return answer.ok === true ? viewOf(accountId, answer.reply) : answer;
      },
    },
    async listTreasuryWallets(asked) {
      const state = await stateOf(deps, accountOf(asked)),
        heard = await said(accountOf(asked));
      const views = state.treasuryWallets.map((wallet) => view(placed(state, wallet), heard));
      return wholePage('treasury-wallets', views, asked.query, ({ id }) => id);
    },
    async getTreasuryWalletBalances(asked) {
      const accountId = accountOf(asked),
        state = await stateOf(deps, accountId);
      const known = state.treasuryWallets.find(({ id }) => id === asked.params.id);
      if (known === undefined) return unknownIn(asked, 'treasury wallet', asked.params.id);
      const { chain, address } = placed(state, known);
      if (address === null) return refuse('CHAIN_NOT_READY', { chain, reason: 'no key or pool registered' });
      const disabled = notEnabled(chains, accountId, chain);
      if (disabled !== null) return disabled;
      const binding = await chains.bind(accountId, chain);
      if (isRefusal(binding)) return binding;
      const assets: (Token | null)[] = [null, ...binding.catalogue.values()];
      const content: ReplyOf<'getBalance'>[] = [];
      for (let at = 0; at < assets.length; at += ASKED_AT_ONCE)
        content.push(
          ...(await Promise.all(
            assets
              .slice(at, at + ASKED_AT_ONCE)
              .map(async (token) =>
                balanceView(binding, address, token, await binding.client.fetchBalance(address, token)),
              ),
          )),
        );
      return wholePage('wallet-balances', content, asked.query, ({ tokenContract }) => tokenContract ?? '');
    },
  };
}

function view(placedWallet: PlacedWallet, said: EdgeTreasury | null): ReplyOf<'createTreasuryWallet'> {
  const { createdAtMs, warnings = [], ...wallet } = placedWallet;
  const known = { allowlisted: isAllowed(said, wallet), warnings: [...warnings] };
  return { ...wallet, ...known, createdAt: instantOf(createdAtMs) };
}

/**
 * An address of the company's own, with the tag inside it. Refuses: INVALID_ADDRESS (not one of the chain, or an
 * address of this account), INVALID_INPUT where its account demands a tag and it has none, CHAIN_UNAVAILABLE where that
 * cannot be read.
 */
async function externalOf(
  { chains, stores: { reads } }: HandlerDeps,
  accountId: AccountId,
  chain: Chain,
  text: string,
): Promise<{ address: string; tag: string | null } | Refusal> {
  const parsed = factsOf(chain).parseAddress(networkOf(chain), text);
  if (isRefusal(parsed)) return parsed;
  const { canonical: address, tag } = parsed;
  if ((await reads.addressByText(accountId, chain, address)) !== null)
    return refuse(
      'INVALID_ADDRESS',
      { chain, field: 'address', reason: 'own_address', address },
      'this is an address of the account itself: money would not leave it. The derived treasury is source derived',
    );
  const family = FAMILY_OF[chain];
  if (tag !== null || (family !== 'xrp' && family !== 'xlm')) return { address, tag };
  const disabled = notEnabled(chains, accountId, chain);
  if (disabled !== null) return disabled;
  const binding = await chains.bind(accountId, chain);
  if (isRefusal(binding)) return binding;
  return (await demandsTag(binding.client, chain, address))
    ? refuse(
        'INVALID_INPUT',
        { chain, field: 'address', reason: 'tag_demanded', address },
        'the account at this address demands a tag: register it as an X-address (xrp) or a muxed account (xlm)',
      )
    : { address, tag };
}
