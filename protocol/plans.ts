/** What a plan buys: the tables of spec §8 as facts. Numbers are limits; a null one is "unlimited". No I/O. */
import type { Band, Tier } from './slugs.ts';

export interface BandTerms {
  readonly addresses: number;
  /** US dollars × 100. */
  readonly monthlyFeeCents: number;
  readonly includedTransactions: number;
  /** US dollars × 1,000, for one settled transaction above the included ones. */
  readonly overageMills: number;
  readonly requestsPerMinute: number;
}

/** Spec §8. A custom band is negotiated: these are the values it starts from. */
export const BAND_TERMS: Readonly<Record<Band, BandTerms>> = {
  launch: {
    addresses: 1_000,
    monthlyFeeCents: 9_900,
    includedTransactions: 1_000,
    overageMills: 80,
    requestsPerMinute: 300,
  },
  growth: {
    addresses: 10_000,
    monthlyFeeCents: 49_900,
    includedTransactions: 10_000,
    overageMills: 50,
    requestsPerMinute: 1_200,
  },
  scale: {
    addresses: 100_000,
    monthlyFeeCents: 199_900,
    includedTransactions: 100_000,
    overageMills: 25,
    requestsPerMinute: 6_000,
  },
  enterprise: {
    addresses: 1_000_000,
    monthlyFeeCents: 699_900,
    includedTransactions: 750_000,
    overageMills: 12,
    requestsPerMinute: 20_000,
  },
  custom: {
    addresses: 10_000_000,
    monthlyFeeCents: 699_900,
    includedTransactions: 750_000,
    overageMills: 6,
    requestsPerMinute: 20_000,
  },
};

export interface TierTerms {
  readonly chains: number | null;
  /** Null: by band. */
  readonly addresses: number | null;
  readonly settledTransactions: number | null;
  readonly webhooks: number | null;
  readonly auditDays: number | null;
  readonly edgeSessions: number | null;
  /** Null: by band. Decisions 3. */
  readonly requestsPerMinute: number | null;
}

/** Spec §8.2. */
export const TIER_TERMS: Readonly<Record<Tier, TierTerms>> = {
  free: {
    chains: 2,
    addresses: 100,
    settledTransactions: 100,
    webhooks: 1,
    auditDays: 7,
    edgeSessions: 1,
    requestsPerMinute: 60,
  },
  premium: {
    chains: null,
    addresses: null,
    settledTransactions: null,
    webhooks: 25,
    auditDays: 90,
    edgeSessions: 5,
    requestsPerMinute: null,
  },
  ultimate: {
    chains: null,
    addresses: null,
    settledTransactions: null,
    webhooks: null,
    auditDays: null,
    edgeSessions: null,
    requestsPerMinute: null,
  },
};

/** Decisions 3: sandbox is exempt from tier and band limits and has this one protective ceiling. */
export const SANDBOX_REQUESTS_PER_MINUTE = 6_000;

export interface Bought {
  readonly tier: Tier;
  readonly band: Band;
  /** What was agreed on for a custom band; absent or null: `BAND_TERMS`. */
  readonly terms?: BandTerms | null;
}

/** Terms of a band: those of the table, or what was agreed on for a custom one. */
export function termsOf({ band, terms }: Bought): BandTerms {
  return (band === 'custom' ? terms : null) ?? BAND_TERMS[band];
}

/** Whether a plan goes on above what it includes, at the band's rate; the tier Free stops. */
export const isOnBand = ({ tier }: Pick<Bought, 'tier'>): boolean => TIER_TERMS[tier].settledTransactions === null;

/** Active addresses that a live plan may hold. */
export function addressLimitOf(plan: Bought): number {
  return TIER_TERMS[plan.tier].addresses ?? termsOf(plan).addresses;
}

/** Settled transactions of a month that a live plan includes. */
export function settledIncludedOf(plan: Bought): number {
  return TIER_TERMS[plan.tier].settledTransactions ?? termsOf(plan).includedTransactions;
}

/** Requests in a minute that a live plan may make. */
export function requestsPerMinuteOf(plan: Bought): number {
  return TIER_TERMS[plan.tier].requestsPerMinute ?? termsOf(plan).requestsPerMinute;
}

/** Monthly fee of a plan, US cents. */
export function monthlyFeeOf(plan: Bought): number {
  return isOnBand(plan) ? termsOf(plan).monthlyFeeCents : 0;
}

const DAY_MS = 86_400_000;
/** Console B15: a statement is due so long after its issue, and the subscription lapses so long after that. */
export const DUE_MS = 14 * DAY_MS;
export const LAPSE_MS = 14 * DAY_MS;
