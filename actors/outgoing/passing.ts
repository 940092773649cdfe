/** Refusals of a build that nobody has to do anything about: of sweeps and of bridge transfers. Treasury 5.3. */
import type { ErrorCode } from '../../protocol/errors.ts';

/** They pass by themselves, such as fees that rose between two rounds, or with money for fees. */
export const PASSING: ReadonlySet<ErrorCode> = new Set([
  'CHAIN_UNAVAILABLE',
  'SERVICE_UNAVAILABLE',
  'IDENTITY_ROTATION_PENDING',
  'ACCOUNT_SUSPENDED',
  'INSUFFICIENT_GAS',
  'CONFLICT',
  'TIER_FEATURE_LOCKED', // so many of the account are on their way
]);
