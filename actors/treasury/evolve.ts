/** Which treasury wallets an account has. */
import type { TreasuryState } from '../../model/account/treasury.ts';
import type { Folds } from '../account/decision.ts';

export const treasuryFolds: Folds<TreasuryState, TreasuryState> = {
  treasury_wallet_created: ({ treasuryWallets }, { wallet }) => ({ treasuryWallets: [...treasuryWallets, wallet] }),
  account_wiped: () => ({ treasuryWallets: [], fundingWallets: [] }),
  funding_wallet_low_since: ({ fundingWallets }, { id, atMs }) => ({
    fundingWallets: fundingWallets.map(({ lowSinceMs, ...wallet }) =>
      wallet.id === id
        ? { ...wallet, ...(atMs === null ? {} : { lowSinceMs: atMs }) }
        : { ...wallet, ...(lowSinceMs === undefined ? {} : { lowSinceMs }) },
    ),
  }),
  funding_wallet_created: ({ fundingWallets }, { wallet }) => ({ fundingWallets: [...fundingWallets, wallet] }),
};
