/** What a CHAIN_UNAVAILABLE says beside its reason: how the chain is found, the setting and the next step. */
import type { ChainAccess } from '../../../model/ports/chain-access.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { environmentOf, type AccountId } from '../../../protocol/ids.ts';
import { CHAINS, type Chain } from '../../../protocol/slugs.ts';

/** A chain that does not answer now is asked again after this many seconds. */
const RETRY_AFTER_SECONDS = 5;

/**
 * A CHAIN_UNAVAILABLE with what the account's chain is found to be; any other refusal as it is. Of a node of another
 * network `expected` and `seen` are in it.
 */
export async function withChainCondition(
  refusal: Refusal,
  chains: Pick<ChainAccess, 'condition'>,
  accountId: AccountId | null,
): Promise<Refusal> {
  const chain = CHAINS.find((each) => each === refusal.details['chain']);
  if (refusal.code !== 'CHAIN_UNAVAILABLE' || chain === undefined || accountId === null) return refusal;
  const { status, reason, setting, next, network } = await chains.condition(accountId, chain);
  const isForGood = refusal.details['permanent'] === true;
  const details = {
    ...(isForGood ? {} : { permanent: false, retryAfterSeconds: RETRY_AFTER_SECONDS }),
    ...refusal.details,
    reason: refusal.details['reason'] ?? reason ?? 'no proof either way',
    status,
    ...(reason === null ? {} : { found: reason }),
    ...(network ?? {}),
    ...(setting === null ? {} : { setting }),
    next: next ?? nextOf(chain, accountId),
  };
  return { ...refusal, details, message: `${refusal.message}: ${details.reason}` };
}

const nextOf = (chain: Chain, accountId: AccountId): string =>
  environmentOf(accountId) === 'sandbox'
    ? 'ask again: a simulated outage ends by itself'
    : `ask again; GET /v1/chains/${chain}/coverage shows each node of the chain`;
