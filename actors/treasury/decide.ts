/** Which wallets money may be brought home to, as far as the account alone can say. Treasury W1. */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { accept, firstRefusal, type AccountDecision, type ChainBook, type Deciding } from '../account/decision.ts';
import { suspended } from '../account/guards.ts';
import { notReady } from '../edge-link/readiness.ts';
import type { TreasurySees } from '../../model/account/capabilities.ts';
import type { FundingWallet, TreasuryWallet } from '../../model/account/treasury.ts';

/** They are a part of the snapshot, a quarter of a kilobyte each. */
export const WALLETS_MAX = 100;

/**
 * Adds a wallet. Refuses: ACCOUNT_SUSPENDED, INVALID_INPUT (a derived one of a chain whose treasuries are external),
 * CHAIN_NOT_READY, INVALID_ADDRESS (no destination of the chain), CONFLICT (the account has it, or too many).
 */
export function createTreasuryWallet({
  state,
  command,
  book,
  nowMs,
}: Deciding<'create_treasury_wallet'>): AccountDecision<'create_treasury_wallet'> {
  const wallet: TreasuryWallet = { ...command.wallet, createdAtMs: nowMs };
  const no = firstRefusal(
    suspended(state),
    wallet.source === 'derived' ? notDerived(state, book, wallet) : notDestination(book, wallet),
    knownAlready(state.treasuryWallets, wallet),
  );
  return no ?? accept(wallet, [{ type: 'treasury_wallet_created', wallet }]);
}

function notDerived(state: TreasurySees, book: ChainBook, { chain }: TreasuryWallet): Refusal | null {
  if (book.facts(chain).derivation.kind !== 'xpub')
    return refuse(
      'INVALID_INPUT',
      { field: 'source', reason: 'external_only' },
      `${chain} has no derived treasury: register an address of your own with source external`,
    );
  return notReady(state, chain);
}

function notDestination(book: ChainBook, { chain, address }: TreasuryWallet): Refusal | null {
  const parsed = book.facts(chain).parseAddress(book.network(chain), address ?? '');
  return isRefusal(parsed) ? parsed : book.facts(chain).checkDestination(book.network(chain), parsed, new Map());
}

function knownAlready(wallets: readonly TreasuryWallet[], one: TreasuryWallet): Refusal | null {
  const same = wallets.find(
    ({ chain, source, address, tag }) =>
      chain === one.chain && source === one.source && address === one.address && tag === one.tag,
  );
  if (same !== undefined) return refuse('CONFLICT', { reason: 'wallet_exists', chain: one.chain, walletId: same.id });
  return wallets.length < WALLETS_MAX ? null : refuse('CONFLICT', { reason: 'wallet_limit', limit: WALLETS_MAX });
}

/** Looks after the gas tank of a chain. Refuses: ACCOUNT_SUSPENDED, CHAIN_NOT_READY (no tank yet), CONFLICT. W7. */
export function createFundingWallet({
  state,
  command,
  nowMs,
}: Deciding<'create_funding_wallet'>): AccountDecision<'create_funding_wallet'> {
  const wallet: FundingWallet = { ...command.wallet, createdAtMs: nowMs },
    { chain } = wallet;
  const same = state.fundingWallets.find((one) => one.chain === chain);
  const no = firstRefusal(
    suspended(state),
    notReady(state, chain),
    same === undefined ? null : refuse('CONFLICT', { reason: 'wallet_exists', chain, walletId: same.id }),
  );
  return no ?? accept(wallet, [{ type: 'funding_wallet_created', wallet }]);
}
