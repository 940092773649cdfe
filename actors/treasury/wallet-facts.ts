/** What is known of a treasury wallet beside itself. Treasury W3. */
import { chainFailure } from '../../chains/failure.ts';
import type { TreasuryWallet } from '../../model/account/treasury.ts';
import type { ChainAccess } from '../../model/ports/chain-access.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { EdgeTreasury } from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { allowedTreasury } from '../../protocol/node/allowed-treasury.ts';
import { FAMILY_OF, type Chain, type WalletWarning } from '../../protocol/slugs.ts';

/** Whether the leader sweeps there, as far as it said; the treasury that it derives itself needs no entry. */
export function isAllowed(
  said: EdgeTreasury | null,
  { chain, source, address, tag }: Pick<TreasuryWallet, 'chain' | 'source' | 'address' | 'tag'>,
): boolean | null {
  if (said?.allowed === undefined || address === null) return null;
  return source === 'derived' || said.allowed.includes(allowedTreasury(chain, address, tag));
}

/**
 * `contract_elsewhere`: an address with code on another EVM network and none here may be a contract that its owner has
 * on that network alone. What cannot be asked warns of nothing.
 */
export async function warningsFor(
  { enabled, bind }: Pick<ChainAccess, 'enabled' | 'bind'>,
  accountId: AccountId,
  chain: Chain,
  address: string,
): Promise<WalletWarning[]> {
  if (FAMILY_OF[chain] !== 'evm') return [];
  const hasCode = async (at: Chain): Promise<boolean | null> => {
    try {
      const binding = await bind(accountId, at);
      return isRefusal(binding) ? null : ((await binding.client.hasCode?.(address)) ?? null);
    } catch (error) {
      if (chainFailure(error) === null) throw error;
      return null;
    }
  };
  if ((await hasCode(chain)) !== false) return [];
  const others = enabled(accountId).filter((one) => one !== chain && FAMILY_OF[one] === 'evm');
  const found = await Promise.all(others.map(hasCode));
  return found.includes(true) ? ['contract_elsewhere'] : [];
}
