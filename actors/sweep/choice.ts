/**
 * What becomes of an address in a cycle: taken, or skipped for the first reason that applies. Preview and planning ask
 * this one function. Treasury S12–S14.
 */
import type { SweepSettings } from '../../model/account/sweep.ts';
import type { SweepJobRow } from '../../model/rows/sweep.ts';

/** In their order: the first that applies is the reason. Treasury S13. */
export const SKIP_REASONS = [
  'observe_mode',
  'watch_only',
  'withdrawal_in_flight',
  'sweep_in_flight',
  'unconfirmed_only',
  'reserve',
  'dust',
  'below_min',
  'token_frozen',
  'destination_not_ready',
  'no_rate',
  'fee_ratio',
  'gas_above_limit',
  'funding_wallet_low',
  'edge_registry_older',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** An address as the chain and the account have it, amounts in smallest units. */
export interface Holding {
  /** Of the asset. */
  readonly balance: bigint;
  /** Credited and not swept: what is not final yet is not in it. */
  readonly credited: bigint;
  /** What has to stay there of the asset: locked minimum, fee and float of a native sweep. */
  readonly reserve: bigint;
  /** The most that the operation can cost, native. */
  readonly cost: bigint;
  /** The same in units of the asset; null where there is no rate. */
  readonly costInAsset: bigint | null;
  readonly isObserved: boolean;
  readonly isWatchOnly: boolean;
  readonly hasWithdrawal: boolean;
  readonly hasSweep: boolean;
  /** The chain would not run the transfer. */
  readonly isDeclined: boolean;
  /** The treasury can take the asset. */
  readonly isReady: boolean;
  /** The tank pays for it beside those before it. */
  readonly isFunded: boolean;
  /** What an issuer keeps of the amount is more than the leader edge signs. */
  readonly isShareTooLarge: boolean;
  /** The leader edge has the token in its registry, as far as it said. */
  readonly isKnownToEdge: boolean;
}

export interface Choice {
  /** What a sweep moves; zero where nothing can be moved. */
  readonly amount: bigint;
  /** Null: taken. */
  readonly reason: SkipReason | null;
}

type Rules = Pick<SweepSettings, 'dustFloor' | 'minAmount' | 'maxFeeRatioBps' | 'abortIfGasExceeds'>;

/** Never more than is final, and never what has to stay. */
export function choose(rules: Rules, trigger: SweepJobRow['trigger'], holding: Holding): Choice {
  const { balance, credited, reserve } = holding;
  const final = balance < credited ? balance : credited,
    left = balance - reserve,
    most = left < final ? left : final;
  const amount = most > 0n ? most : 0n;
  const reason = SKIP_REASONS.find((one) => APPLIES[one](rules, trigger, holding, { amount, final }));
  return { amount, reason: reason ?? null };
}

interface Found {
  readonly amount: bigint;
  readonly final: bigint;
}
type Applies = (rules: Rules, trigger: SweepJobRow['trigger'], holding: Holding, found: Found) => boolean;

const APPLIES: Readonly<Record<SkipReason, Applies>> = {
  observe_mode: (_rules, _trigger, { isObserved }) => isObserved,
  watch_only: (_rules, _trigger, { isWatchOnly }) => isWatchOnly,
  withdrawal_in_flight: (_rules, _trigger, { hasWithdrawal }) => hasWithdrawal,
  sweep_in_flight: (_rules, _trigger, { hasSweep }) => hasSweep,
  unconfirmed_only: (_rules, _trigger, { balance }, { final }) => balance > 0n && final <= 0n,
  reserve: (_rules, _trigger, _holding, { amount, final }) => final > 0n && amount === 0n,
  dust: ({ dustFloor }, _trigger, _holding, { amount }) => amount === 0n || amount < BigInt(dustFloor),
  below_min: ({ minAmount }, trigger, _holding, { amount }) =>
    trigger === 'threshold' && minAmount !== null && amount < BigInt(minAmount),
  token_frozen: (_rules, _trigger, { isDeclined }) => isDeclined,
  destination_not_ready: (_rules, _trigger, { isReady }) => !isReady,
  no_rate: ({ maxFeeRatioBps }, _trigger, { costInAsset }) => maxFeeRatioBps !== null && costInAsset === null,
  fee_ratio: ({ maxFeeRatioBps }, _trigger, { costInAsset, isShareTooLarge }, { amount }) =>
    isShareTooLarge ||
    (maxFeeRatioBps !== null && costInAsset !== null && costInAsset * BASIS > amount * BigInt(maxFeeRatioBps)),
  gas_above_limit: ({ abortIfGasExceeds }, _trigger, { cost }) =>
    abortIfGasExceeds !== null && cost > BigInt(abortIfGasExceeds),
  funding_wallet_low: (_rules, _trigger, { isFunded }) => !isFunded,
  edge_registry_older: (_rules, _trigger, { isKnownToEdge }) => !isKnownToEdge,
};
const BASIS = 10_000n;
