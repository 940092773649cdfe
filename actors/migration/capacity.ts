/** What adopting addresses means for the band: against the purchased one, never against one that waits. Spec §2.9. */
import { addressLimitOf, BAND_TERMS, monthlyFeeOf } from '../../protocol/plans.ts';
import { BANDS, type Band } from '../../protocol/slugs.ts';
import { SELF_SERVICE_ADDRESSES_MAX } from '../../protocol/migration/words.ts';
import type { AccountState } from '../../model/account/capabilities.ts';

export interface Capacity {
  /** The purchased one; null in sandbox, which has none. */
  readonly band: Band | null;
  /** Active addresses that the plan may hold, null in sandbox. */
  readonly limit: number | null;
  readonly current: number;
  readonly adopting: number;
  readonly projected: number;
  readonly exceeds: boolean;
  /** The smallest band that holds them, never below the purchased one. */
  readonly requiredBand: Band | null;
  /** US cents; null where it is negotiated, or nothing is billed. */
  readonly monthlyFeeCents: { readonly current: number | null; readonly required: number | null };
}

/** The account with `adopting` addresses more. A custom band that is not bought yet has no fee: it is negotiated. */
export function capacityOf(
  { environment, plan, activeAddresses }: Pick<AccountState, 'environment' | 'plan' | 'activeAddresses'>,
  adopting: number,
): Capacity {
  const projected = activeAddresses + adopting;
  const counts = { current: activeAddresses, adopting, projected };
  if (environment === 'sandbox')
    return {
      ...counts,
      band: null,
      limit: null,
      exceeds: false,
      requiredBand: null,
      monthlyFeeCents: { current: null, required: null },
    };
  const limit = addressLimitOf(plan),
    exceeds = projected > limit;
  const requiredBand = exceeds ? bandFor(projected, plan.band) : plan.band;
  const fee = monthlyFeeOf(plan);
  return {
    ...counts,
    band: plan.band,
    limit,
    exceeds,
    requiredBand,
    monthlyFeeCents: { current: fee, required: exceeds ? feeOf(requiredBand) : fee },
  };
}

function bandFor(addresses: number, atLeast: Band): Band {
  if (addresses > SELF_SERVICE_ADDRESSES_MAX) return 'custom';
  const large = BANDS.slice(BANDS.indexOf(atLeast));
  return large.find((band) => BAND_TERMS[band].addresses >= addresses) ?? 'custom';
}

/** US cents of a band that would be bought. */
const feeOf = (band: Band): number | null => (band === 'custom' ? null : BAND_TERMS[band].monthlyFeeCents);
