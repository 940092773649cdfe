/** What a refused amount of a request should have looked like, in the smallest unit of its chain. */
import { assetOf } from '../../../chains/reading.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import type { Tokens } from '../../../chains/tokens.ts';
import { isRefusal, type Refusal } from '../../../protocol/errors.ts';
import { AMOUNT_FORM, formatAmount } from '../../../protocol/money.ts';
import { CHAINS, FAMILY_OF, type Family } from '../../../protocol/slugs.ts';

/** Names of the smallest unit of each family's native coin. */
const SMALLEST_UNIT: Readonly<Record<Family, string>> = {
  btc: 'satoshi',
  evm: 'wei',
  tron: 'sun',
  sol: 'lamport',
  xrp: 'drop',
  xlm: 'stroop',
};

/**
 * A refusal of an amount with an example in the smallest unit of the asset that was asked for, where the request names
 * its chain.
 */
export function withAmountExample(refusal: Refusal, asked: unknown, tokens: Pick<Tokens, 'catalogueOf'>): Refusal {
  const { chain: slug, tokenContract } = (asked ?? {}) as { chain?: unknown; tokenContract?: unknown };
  const chain = CHAINS.find((each) => each === slug);
  if (!refusal.message.includes(AMOUNT_FORM) || chain === undefined) return refusal;
  const network = networkOf(chain),
    contract = typeof tokenContract === 'string' ? factsOf(chain).parseToken(network, tokenContract) : null;
  const token = contract === null || isRefusal(contract) ? null : (tokens.catalogueOf(chain).get(contract) ?? null);
  // the token is no token here: said by a refusal of its own
  if (token === null && typeof tokenContract === 'string') return refusal;
  const { symbol, decimals } = assetOf({ network }, token),
    unit = token === null ? SMALLEST_UNIT[FAMILY_OF[chain]] : `10^-${decimals} ${symbol}`;
  const amount = `15${'0'.repeat(Math.max(decimals - 1, 0))}`,
    example = { amount, is: `${formatAmount(BigInt(amount), decimals)} ${symbol}`, unit, decimals };
  return {
    ...refusal,
    message: `${refusal.message}; for example "${example.amount}" is ${example.is} (unit: ${unit})`,
    details: { ...refusal.details, example },
  };
}
