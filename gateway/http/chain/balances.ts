/** Balances, asked of the chain. A chain that does not answer is CHAIN_UNAVAILABLE, never a zero. Spec §1.7, §2.4. */
import type { Balance, Token } from '../../../chains/chain.ts';
import { isRefusal, notFound, type Refusal, Refused } from '../../../protocol/errors.ts';
import { environmentOf, type AccountId } from '../../../protocol/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import type { ChainBinding } from '../../../model/ports/chain-access.ts';
import { assetOf, parseAddress, tokenOf } from '../../../chains/reading.ts';
import { notEnabled } from '../../../actors/account/guards.ts';
import { accountOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { listAskOf, moneyOf } from '../views.ts';

/** Balances of one page that are asked for at the same time. */
const ASKED_AT_ONCE = 8;

type Area = 'listBalances' | 'getBalance' | 'getTokenBalance';
type View = ReplyOf<'getBalance'>;

export function balanceHandlers({ chains, stores: { reads } }: HandlerDeps): Pick<Handlers, Area> {
  async function balanceOf(
    accountId: AccountId,
    chain: Chain,
    text: string,
    tokenText: string | null,
  ): Promise<View | Refusal> {
    const parsed = parseAddress(chain, text);
    if (isRefusal(parsed)) return parsed;
    const disabled = notEnabled(chains, accountId, chain);
    if (disabled !== null) return disabled;
    const known = await reads.addressByText(accountId, chain, parsed.canonical);
    if (known === null) return notFound('address', parsed.canonical, { chain, environment: environmentOf(accountId) });
    const binding = await chains.bind(accountId, chain);
    if (isRefusal(binding)) return binding;
    const token = tokenOf(binding, tokenText);
    if (isRefusal(token)) return token;
    return balanceView(binding, parsed.canonical, token, await binding.client.fetchBalance(parsed.canonical, token));
  }

  return {
    async listBalances(asked) {
      const accountId = accountOf(asked);
      const ask = listAskOf('addresses', asked.query);
      if (isRefusal(ask)) return ask;
      const rows = await reads.addresses(accountId, ask.filter, ask.page);
      const content: View[] = [];
      for (let at = 0; at < rows.content.length; at += ASKED_AT_ONCE) {
        const some = rows.content.slice(at, at + ASKED_AT_ONCE).map(async ({ chain, address }) => {
          const binding = await chains.bind(accountId, chain);
          if (isRefusal(binding)) throw new Refused(binding);
          return balanceView(binding, address, null, await binding.client.fetchBalance(address, null));
        });
        content.push(...(await Promise.all(some)));
      }
      return { ...rows, content };
    },
    getBalance: (asked) => balanceOf(accountOf(asked), asked.params.chain, asked.params.address, null),
    getTokenBalance: (asked) =>
      balanceOf(accountOf(asked), asked.params.chain, asked.params.address, asked.params.token),
  };
}

/** A balance as the wire has it. */
export function balanceView(binding: ChainBinding, address: string, token: Token | null, balance: Balance): View {
  return {
    ...moneyOf(balance.amount, balance.decimals),
    chain: binding.network.slug,
    address,
    tokenContract: token?.contract ?? null,
    tokenSymbol: assetOf(binding, token).symbol,
    reserved: String(balance.reserved),
    available: String(balance.available),
    accountExists: balance.accountExists,
  };
}
