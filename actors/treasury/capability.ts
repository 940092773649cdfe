/** Treasury and funding wallets of an account. */
import type { TreasuryCommand, TreasuryState } from '../../model/account/treasury.ts';
import type { Capability } from '../account/decision.ts';
import { createFundingWallet, createTreasuryWallet } from './decide.ts';
import { noteFundingLevel } from './level.ts';
import { treasuryFolds } from './evolve.ts';

export const treasury: Capability<TreasuryCommand, TreasuryState, TreasuryState> = {
  owns: ['treasuryWallets', 'fundingWallets'],
  decide: {
    create_treasury_wallet: createTreasuryWallet,
    create_funding_wallet: createFundingWallet,
    note_funding_level: noteFundingLevel,
  },
  folds: treasuryFolds,
};
