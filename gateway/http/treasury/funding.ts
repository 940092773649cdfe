/** Gas tanks that their owner looks after. Spec §2.10; treasury W7, W8. */
import { levelOf, lookAtTank } from '../../../actors/sweep/tank-level.ts';
import { sweepCount } from '../../../actors/treasury/level.ts';
import { tankOf, type Tank } from '../../../actors/treasury/view.ts';
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { FundingWallet } from '../../../model/account/treasury.ts';
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
  const {
    accounts,
    chains,
    nowMs,
    stores: { sweeps },
  } = deps;
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
        if (answer.ok !== true) return answer;
        await lookAtTank({ accounts, chains, sweeps }, accountId, await stateOf(deps, accountId), chain);
        return stored(accountId, answer.reply);
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

/** What the tank holds and is good for; a chain that does not answer gives no figure at all. */
async function figuresOf(
  { chains, stores: { sweeps } }: HandlerDeps,
  accountId: AccountId,
  wallet: Pick<FundingWallet, 'chain' | 'lowBalance'>,
  tank: Tank,
): Promise<Figures> {
  const level = await levelOf({ chains, sweeps }, accountId, wallet, tank);
  if (level === null) return unknown(wallet.lowBalance, 'chain_unavailable');
  const { balance, available, lowBalance, isLow, sweepsRemaining, isNeeded } = level;
  return {
    balance: String(balance),
    available: String(available),
    lowBalance: lowBalance === null ? null : String(lowBalance),
    isLow,
    estimatedSweepsRemaining: sweepsRemaining === null ? null : sweepCount(sweepsRemaining),
    reason: isNeeded ? null : 'not_needed',
  };
}
