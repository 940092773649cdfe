/**
 * What a preview was about, as text that enabling a policy has to name: SHA-256 of every setting that changes a
 * decision and of the registry's version, with the moment until which it counts. It proves nothing to anybody but its
 * caller, who would only deceive himself. Treasury Y5.
 */
import { createHash } from 'node:crypto';
import type { SweepSettings } from '../../model/account/sweep.ts';
import { canonicalJson } from '../../protocol/canonical-json.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';

/** Fees and balances move; what is operated after this should be looked at again. */
export const PREVIEW_TTL_MS = 15 * 60_000;
const FORM = /^([0-9a-z]{1,11})-([0-9a-f]{64})$/;

/** A preview that names no treasury is one of no policy: its hash enables none. */
type Previewed = Omit<
  SweepSettings,
  'enabled' | 'pauseOnConsecutiveFailures' | 'scheduleCron' | 'scheduleTimeZone' | 'treasuryWalletId'
> & { readonly treasuryWalletId: string | null };

/** `expiresAtMs` in base 36, a dash, and the digest. */
export function previewHashOf(settings: Previewed, registryVersion: number, expiresAtMs: number): string {
  return `${expiresAtMs.toString(36)}-${digestOf(settings, registryVersion)}`;
}

/** Refuses: CONFLICT `preview_required`, `preview_stale` (expired, or of other settings). */
export function checkPreview(
  settings: Previewed,
  registryVersion: number,
  hash: string | null,
  nowMs: number,
): Refusal | null {
  const next = 'POST /v1/treasury/sweeps/preview with these settings, and send its previewHash';
  if (hash === null) return refuse('CONFLICT', { reason: 'preview_required', next });
  const [, expires, digest] = FORM.exec(hash) ?? [];
  const isOfThese = digest === digestOf(settings, registryVersion) && Number.parseInt(expires!, 36) > nowMs;
  return isOfThese ? null : refuse('CONFLICT', { reason: 'preview_stale', next });
}

function digestOf(settings: Previewed, registryVersion: number): string {
  const { chain, token, triggerMode, minAmount, treasuryWalletId, gasFundingMode, fundingWalletId } = settings;
  const { dustFloor, maxFeeRatioBps, abortIfGasExceeds, retainGasFloat, closeTokenAccounts, energy } = settings;
  const text = canonicalJson({
    chain,
    token,
    triggerMode,
    minAmount,
    treasuryWalletId,
    gasFundingMode,
    fundingWalletId,
    dustFloor,
    maxFeeRatioBps,
    abortIfGasExceeds,
    retainGasFloat,
    closeTokenAccounts,
    energy,
    registryVersion,
  });
  return createHash('sha256').update(text).digest('hex');
}
