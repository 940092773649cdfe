/** Which asset a link asks for, by symbol or contract. payments 3.1. */
import { deploymentsOf, type Registry } from '../../../chains/catalogue.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import type { Tokens } from '../../../chains/tokens.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { amountTooLarge, formatAmount, parseDecimal } from '../../../protocol/money.ts';
import { CHECKOUT_CHAINS, type Chain, type CheckoutChain } from '../../../protocol/slugs.ts';

export interface Asset {
  readonly symbol: string;
  /** Null for the native coin. */
  readonly tokenContract: string | null;
  readonly decimals: number;
}

const isCheckout = (chain: Chain): chain is CheckoutChain => (CHECKOUT_CHAINS as readonly Chain[]).includes(chain);

/** Refuses: INVALID_CHAIN for a chain that takes no payments. */
export function checkoutChain(chain: Chain): CheckoutChain | Refusal {
  return isCheckout(chain)
    ? chain
    : refuse(
        'INVALID_CHAIN',
        { field: 'chain', chain, reason: 'not_a_checkout_chain', known: CHECKOUT_CHAINS },
        `${chain} takes no checkout payments: ${CHECKOUT_CHAINS.join(', ')} do`,
      );
}

/**
 * The native symbol, a catalogued symbol on the chain, or a contract; in exact case. Refuses: TOKEN_NOT_SUPPORTED (not
 * catalogued, deprecated, unmonitored), TOKEN_NOT_ON_CHAIN (only elsewhere), INVALID_INPUT (`ambiguous_asset`).
 */
export function assetNamed(chain: CheckoutChain, text: string, tokens: Tokens): Asset | Refusal {
  const network = networkOf(chain);
  if (text === network.nativeSymbol) return { symbol: text, tokenContract: null, decimals: network.nativeDecimals };
  const named = tokens.current.tokens.filter(({ symbol }) => symbol === text).flatMap(({ deployments }) => deployments),
    usable = named.filter(({ monitored, deprecated }) => monitored && !deprecated),
    here = usable.filter((one) => one.chain === chain);
  if (here.length > 1)
    return refuse('INVALID_INPUT', { field: 'asset', reason: 'ambiguous_asset', chain, symbol: text });
  if (here[0] !== undefined) return { symbol: text, tokenContract: here[0].contract, decimals: here[0].decimals };
  if (named.some((one) => one.chain === chain)) return unsupported(chain, text, 'not monitored, or superseded');
  const elsewhere = [
    ...usable.map((one) => one.chain),
    ...CHECKOUT_CHAINS.filter((one) => networkOf(one).nativeSymbol === text),
  ];
  if (elsewhere.length > 0)
    return refuse('TOKEN_NOT_ON_CHAIN', { field: 'asset', asset: text, chain, deployedOn: elsewhere });
  return byContract(chain, text, tokens);
}

function byContract(chain: CheckoutChain, text: string, tokens: Tokens): Asset | Refusal {
  const contract = factsOf(chain).parseToken(networkOf(chain), text);
  if (isRefusal(contract)) return unsupported(chain, text, 'neither a symbol of the catalogue nor a contract');
  const found = tokens.find(chain, contract);
  if (isRefusal(found)) return found;
  if (!found.monitored || found.deprecated) return unsupported(chain, text, 'not monitored, or superseded');
  const { symbol } = tokens.current.tokens.find(({ deployments }) => deployments.includes(found))!;
  return { symbol, tokenContract: found.contract, decimals: found.decimals };
}

const unsupported = (chain: CheckoutChain, asset: string, reason: string): Refusal =>
  refuse('TOKEN_NOT_SUPPORTED', {
    field: 'asset',
    asset: asset.slice(0, 120),
    chain,
    reason,
    next: 'GET /v1/treasury/tokens lists the tokens',
  });

/** Where a token of a symbol is taken, as the catalogue has it. */
export function deploymentsNamed(symbol: string, registry: Registry): { chain: CheckoutChain; decimals: number }[] {
  const entry = registry.tokens.find((one) => one.symbol === symbol);
  return deploymentsOf({ ...registry, tokens: entry === undefined ? [] : [entry] }).flatMap(
    ({ chain, decimals, monitored, deprecated }) =>
      monitored && !deprecated && isCheckout(chain) ? [{ chain, decimals }] : [],
  );
}

/** What fits 128 bits; of bitcoin, what there can be. */
const UNITS_MAX = 2n ** 128n - 1n,
  BTC_UNITS_MAX = 2_100_000_000_000_000n;

/**
 * An amount of an asset, its smallest unit. Refuses: INVALID_AMOUNT (more decimals than the asset has, zero, too
 * much).
 */
export function amountIn(
  { symbol, decimals }: Pick<Asset, 'symbol' | 'decimals'>,
  field: string,
  text: string,
): bigint | Refusal {
  const amount = parseDecimal(text, decimals),
    most = symbol === 'BTC' ? BTC_UNITS_MAX : UNITS_MAX;
  if (isRefusal(amount))
    return refuse(
      'INVALID_AMOUNT',
      { field, amount: text.slice(0, 100), expected: `decimal with at most ${decimals} places` },
      `${field}: ${symbol} has ${decimals} decimal places; more are refused, not rounded`,
    );
  if (amount > most) return amountTooLarge(field, text, formatAmount(most, decimals));
  return amount > 0n ? amount : refuse('INVALID_AMOUNT', { field, amount: text.slice(0, 100) });
}
