/** What a payment on a chain costs to bring home, asked of the chain and kept for a minute. payments P20–P22. */
import { BY_COST, MINIMUMS, nativeMinimumOf, sweepFeeOf, tokenMinimumOf } from '../../../actors/payment/minimum.ts';
import { notEnabled } from '../../../actors/account/guards.ts';
import { ChainUnavailable } from '../../../chains/chain.ts';
import { networkOf } from '../../../chains/registry.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { ledgerOf, type AccountId } from '../../../protocol/ids.ts';
import { formatAmount } from '../../../protocol/money.ts';
import { FAMILY_OF, type CheckoutChain } from '../../../protocol/slugs.ts';
import { presentTanks } from '../account-state.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { amountIn, deploymentsNamed, type Asset } from './asset.ts';

/** A fee is read again after this. P20. */
const FEE_AGE_MS = 60_000;
const FEES_KEPT_MAX = 20_000;

export interface SweepFee {
  /** Smallest native unit. */
  readonly fee: bigint;
  readonly asOfMs: number;
}

export interface Economics {
  /** Refuses: CHAIN_UNAVAILABLE, CHAIN_NOT_READY (no address of the account to price from). */
  sweepFee(accountId: AccountId, chain: CheckoutChain, isToken: boolean): Promise<SweepFee | Refusal>;
  /** Null where an amount is not below its own fee. P22. Refuses: INVALID_AMOUNT. */
  belowFee(accountId: AccountId, chain: CheckoutChain, asset: Asset, amount: bigint): Promise<Refusal | null>;
  /**
   * Null where an amount is worth sweeping; a null amount asks only whether the chain answers. Refuses: INVALID_AMOUNT
   * `below_economic_minimum`, which names cheaper chains; CHAIN_UNAVAILABLE.
   */
  tooSmall(accountId: AccountId, chain: CheckoutChain, asset: Asset, amount: bigint | null): Promise<Refusal | null>;
}

type Deps = Pick<HandlerDeps, 'chains' | 'stores' | 'config' | 'nowMs'>;

export function createEconomics(deps: Deps): Economics {
  const kept = new Map<string, SweepFee>(),
    underWay = new Map<string, Promise<SweepFee | Refusal>>(),
    { minimums = MINIMUMS } = deps.config;

  async function sweepFee(accountId: AccountId, chain: CheckoutChain, isToken: boolean): Promise<SweepFee | Refusal> {
    const key = `${ledgerOf(chain, accountId)} ${isToken}`,
      known = kept.get(key),
      now = deps.nowMs();
    if (known !== undefined && now - known.asOfMs < FEE_AGE_MS && now >= known.asOfMs) return known;
    // Payers come at once, and a silent chain takes its time. Another account's refusal is about that account.
    const other = underWay.get(key),
      shared = other === undefined ? null : await other;
    if (shared !== null && !isRefusal(shared)) return shared;
    const asking = asked(accountId, chain, isToken, now);
    underWay.set(key, asking);
    try {
      const found = await asking;
      if (isRefusal(found)) return found;
      kept.delete(key);
      if (kept.size >= FEES_KEPT_MAX) kept.delete(kept.keys().next().value!);
      kept.set(key, found);
      return found;
    } finally {
      if (underWay.get(key) === asking) underWay.delete(key);
    }
  }

  async function asked(
    accountId: AccountId,
    chain: CheckoutChain,
    isToken: boolean,
    asOfMs: number,
  ): Promise<SweepFee | Refusal> {
    const fee = await askedFee(deps, accountId, chain, isToken);
    return isRefusal(fee) ? fee : { fee, asOfMs };
  }

  async function minimumOf(accountId: AccountId, chain: CheckoutChain): Promise<bigint | Refusal> {
    const found = await sweepFee(accountId, chain, false);
    return isRefusal(found) ? found : nativeMinimumOf(minimums, chain, found.fee);
  }

  /** Other chains on which the same is enough, else cheaper native coins. P21. */
  async function cheaper(accountId: AccountId, chain: CheckoutChain, asset: Asset, amount: bigint) {
    if (asset.tokenContract !== null) {
      const text = formatAmount(amount, asset.decimals);
      return deploymentsNamed(asset.symbol, deps.chains.tokens.current).flatMap((other) => {
        const minimum = tokenMinimumOf(minimums, other.chain, asset.symbol, other.decimals),
          there = amountIn({ ...asset, decimals: other.decimals }, 'amount', text);
        return other.chain === chain || isRefusal(there) || there < minimum
          ? []
          : [{ chain: other.chain, asset: asset.symbol, minimum: formatAmount(minimum, other.decimals) }];
      });
    }
    const before = BY_COST.slice(0, BY_COST.indexOf(chain));
    const found = await Promise.all(
      before.map(async (other) => {
        const minimum = await minimumOf(accountId, other).catch(silent);
        const { nativeSymbol, nativeDecimals } = networkOf(other);
        return minimum === null || isRefusal(minimum)
          ? []
          : [{ chain: other, asset: nativeSymbol, minimum: formatAmount(minimum, nativeDecimals) }];
      }),
    );
    return found.flat();
  }

  return {
    sweepFee,
    async belowFee(accountId, chain, asset, amount) {
      if (asset.tokenContract !== null) return null;
      const fee = await sweepFee(accountId, chain, false).catch(silent);
      if (fee === null || isRefusal(fee) || amount >= fee.fee) return null;
      return refuse('INVALID_AMOUNT', {
        field: 'amount',
        reason: 'below_fee',
        chain,
        asset: asset.symbol,
        minimum: formatAmount(fee.fee, asset.decimals),
      });
    },
    async tooSmall(accountId, chain, asset, amount) {
      const fee = await sweepFee(accountId, chain, asset.tokenContract !== null);
      if (isRefusal(fee)) return fee;
      const minimum =
        asset.tokenContract === null
          ? nativeMinimumOf(minimums, chain, fee.fee)
          : tokenMinimumOf(minimums, chain, asset.symbol, asset.decimals);
      if (amount === null || amount >= minimum) return null;
      const others = await cheaper(accountId, chain, asset, amount);
      const least = formatAmount(minimum, asset.decimals),
        [first] = others;
      return refuse(
        'INVALID_AMOUNT',
        {
          field: 'amount',
          reason: 'below_economic_minimum',
          chain,
          asset: asset.symbol,
          minimum: least,
          cheaper: others,
        },
        `amount: on ${chain} a payment of ${asset.symbol} is at least ${least}, since its sweep costs too much of it${
          first === undefined ? '' : `; cheaper: ${first.asset} on ${first.chain} from ${first.minimum}`
        }`,
      );
    },
  };
}

const silent = (error: unknown): null => {
  if (error instanceof ChainUnavailable) return null;
  throw error;
};

/** Priced from the account's gas tank to itself: only prices are read of it. */
async function askedFee(
  deps: Deps,
  accountId: AccountId,
  chain: CheckoutChain,
  isToken: boolean,
): Promise<bigint | Refusal> {
  const disabled = notEnabled(deps.chains, accountId, chain);
  if (disabled !== null) return disabled;
  const tanks = await presentTanks(deps, accountId),
    tank = tanks.find(({ family }) => family === FAMILY_OF[chain]);
  if (tank === undefined) return refuse('CHAIN_NOT_READY', { chain, reason: 'no key registered' });
  const binding = await deps.chains.bind(accountId, chain);
  if (isRefusal(binding)) return binding;
  const { address, derivationPath } = tank;
  const intent = { chain, from: address, fromPath: derivationPath, to: address, amount: 1n, token: null, tag: null };
  const inputs = await binding.client.fetchBuildInputs(intent);
  return sweepFeeOf(binding.module, binding.network, inputs, intent, isToken);
}
