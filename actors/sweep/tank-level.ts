/**
 * What a gas tank holds and is good for at this moment, and whether one that its owner looks after has become low. It
 * is looked at when it is registered, with each firing of a policy of its chain, and when a job of its chain ends:
 * nothing else takes from it. Treasury W7, W8, W10.
 */
import { ChainUnavailable } from '../../chains/chain.ts';
import type { AccountState } from '../../model/account/capabilities.ts';
import type { FundingWallet } from '../../model/account/treasury.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import type { ChainAccess } from '../../model/ports/chain-access.ts';
import type { SweepStore } from '../../model/ports/sweep-store.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { tankOf, type Tank } from '../treasury/view.ts';
import { tankFigures, unitCostOf, type TankFigures } from './unit-cost.ts';

export interface TankParts {
  readonly chains: Pick<ChainAccess, 'bind'>;
  readonly sweeps: Pick<SweepStore, 'promised'>;
}

export interface TankLevel extends TankFigures {
  readonly balance: bigint;
  /** Less the chain's reserve and what is promised to operations. */
  readonly available: bigint;
  /** Whether sweeps of the chain take anything from a tank. */
  readonly isNeeded: boolean;
}

/** Balance and fees of one moment; null while the chain does not answer. */
export async function levelOf(
  { chains, sweeps }: TankParts,
  accountId: AccountId,
  { chain, lowBalance }: Pick<FundingWallet, 'chain' | 'lowBalance'>,
  { address, path }: Tank,
): Promise<TankLevel | null> {
  try {
    const binding = await chains.bind(accountId, chain);
    if (isRefusal(binding)) return null;
    // A payment of the tank to itself: only prices are read of it.
    const intent = { chain, from: address, fromPath: path, to: address, amount: 1n, token: null, tag: null };
    const promised = await sweeps.promised(accountId, chain);
    const [held, inputs] = await Promise.all([
      binding.client.fetchBalance(address, null),
      binding.client.fetchBuildInputs(intent),
    ]);
    const available = held.available > promised ? held.available - promised : 0n;
    const unitCost = unitCostOf(binding.network, inputs);
    const figures = tankFigures(available, unitCost, lowBalance === null ? null : BigInt(lowBalance));
    return { ...figures, balance: held.amount, available, isNeeded: unitCost !== null };
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

/** Notes the level of the chain's funding wallet, where there is one; a chain that is away leaves all as it was. */
export async function lookAtTank(
  parts: TankParts & { readonly accounts: Pick<Accounts, 'ask'> },
  accountId: AccountId,
  state: AccountState,
  chain: Chain,
): Promise<void> {
  const wallet = state.fundingWallets.find((one) => one.chain === chain),
    tank = tankOf(state, chain);
  if (wallet === undefined || tank === null) return;
  const level = await levelOf(parts, accountId, wallet, tank);
  if (level === null || level.lowBalance === null) return;
  const { available, lowBalance, sweepsRemaining } = level;
  await parts.accounts.ask(accountId, {
    type: 'note_funding_level',
    id: wallet.id,
    address: tank.address,
    available: String(available),
    lowBalance: String(lowBalance),
    sweepsRemaining: sweepsRemaining === null ? null : String(sweepsRemaining),
  });
}
