/** Gas tanks that their owner looks after. Spec §2.10; treasury W7, W8. */
import { tankFigures, unitCostOf } from '../../../actors/sweep/unit-cost.ts';
import { tankOf, type Tank } from '../../../actors/treasury/view.ts';
import { ChainUnavailable } from '../../../chains/chain.ts';
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { FundingWallet } from '../../../model/account/treasury.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, claimOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, wholePage } from '../views.ts';

type View = ReplyOf<'createFundingWallet'>;
type Figures = Pick<View, 'balance' | 'available' | 'lowBalance' | 'isLow' | 'estimatedSweepsRemaining' | 'reason'>;

export function fundingHandlers(deps: HandlerDeps): Pick<Handlers, 'createFundingWallet' | 'listFundingWallets'> {
  const { accounts, nowMs } = deps;
  const stored = async (accountId: AccountId, wallet: unknown) =>
    viewOf(deps, accountId, await stateOf(deps, accountId), wallet as FundingWallet);
  return {
    createFundingWallet: {
      replay: (wallet, asked) => stored(accountOf(asked), wallet),
      async handle(asked) {
        const accountId = accountOf(asked);
        const { chain, label = null, lowBalance = null } = asked.body;
        const wallet = { id: newId('fwl', nowMs()), chain, label, lowBalance };
        const answer = await accounts.ask(accountId, { type: 'create_funding_wallet', wallet, ...claimOf(asked) });
        return answer.ok === true ? stored(accountId, answer.reply) : answer;
      },
    },
    async listFundingWallets(asked) {
      const accountId = accountOf(asked),
        state = await stateOf(deps, accountId);
      const views = await Promise.all(state.fundingWallets.map((wallet) => viewOf(deps, accountId, state, wallet)));
      return wholePage('funding-wallets', views, asked.query, ({ id }) => id);
    },
  };
}

async function viewOf(
  deps: HandlerDeps,
  accountId: AccountId,
  state: AccountState,
  { id, chain, label, lowBalance, createdAtMs }: FundingWallet,
): Promise<View> {
  const tank = tankOf(state, chain);
  const figures =
    tank === null ? unknown(lowBalance, 'not_ready') : await figuresOf(deps, accountId, { chain, lowBalance }, tank);
  return {
    id,
    chain,
    address: tank?.address ?? null,
    derivationPath: tank?.path ?? null,
    label,
    ...figures,
    asOf: instantOf(deps.nowMs()),
    createdAt: instantOf(createdAtMs),
  };
}

const unknown = (lowBalance: string | null, reason: NonNullable<View['reason']>): Figures => ({
  balance: null,
  available: null,
  lowBalance,
  isLow: null,
  estimatedSweepsRemaining: null,
  reason,
});

/** Balance and fees of one moment; a chain that does not answer gives no figure at all. */
async function figuresOf(
  { chains, stores: { sweeps } }: HandlerDeps,
  accountId: AccountId,
  { chain, lowBalance }: Pick<FundingWallet, 'chain' | 'lowBalance'>,
  { address, path }: Tank,
): Promise<Figures> {
  const binding = await chains.bind(accountId, chain);
  if (isRefusal(binding)) return unknown(lowBalance, 'chain_unavailable');
  // A payment of the tank to itself: only prices are read of it.
  const intent = { chain, from: address, fromPath: path, to: address, amount: 1n, token: null, tag: null };
  try {
    const promised = await sweeps.promised(accountId, chain);
    const [held, inputs] = await Promise.all([
      binding.client.fetchBalance(address, null),
      binding.client.fetchBuildInputs(intent),
    ]);
    const available = held.available > promised ? held.available - promised : 0n;
    const unitCost = unitCostOf(binding.network, inputs);
    const own = lowBalance === null ? null : BigInt(lowBalance),
      tank = tankFigures(available, unitCost, own);
    return {
      balance: String(held.amount),
      available: String(available),
      lowBalance: tank.lowBalance === null ? null : String(tank.lowBalance),
      isLow: tank.isLow,
      estimatedSweepsRemaining: tank.sweepsRemaining === null ? null : countOf(tank.sweepsRemaining),
      reason: unitCost === null ? 'not_needed' : null,
    };
  } catch (error) {
    if (error instanceof ChainUnavailable) return unknown(lowBalance, 'chain_unavailable');
    throw error;
  }
}

/** A count as JSON holds it: a tank of a test network may pay for more sweeps than that. */
const COUNT_MAX = 1_000_000_000n;
const countOf = (sweeps: bigint): number => Number(sweeps > COUNT_MAX ? COUNT_MAX : sweeps);
