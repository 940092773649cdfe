/** How operations end that nothing was sent for: what was found before, and builds that are refused. Treasury 5.3. */
import type { ErrorCode, Refusal } from '../../protocol/errors.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { PASSING } from '../outgoing/passing.ts';
import { LINES } from './costs.ts';

export type Ending = { readonly to: 'FAILED' | 'SKIPPED'; readonly reason: string; readonly details?: string };

export const BALANCE_CHANGED: Ending = { to: 'SKIPPED', reason: 'balance_changed' };

/** K18: the token's contract changed and did not pass, so that it is taken in no more. */
export const TOKEN_OFF: Ending = {
  to: 'SKIPPED',
  reason: 'token_frozen',
  details: JSON.stringify({ code: 'TOKEN_NOT_SUPPORTED', reason: 'its contract changed and is not trusted now' }),
};

/** What a build that is refused means for its operation; null where it is tried again. */
export function unbuildable(chain: Chain, no: Refusal, isFunding: boolean): Ending | null {
  const skip = isFunding && OF_THE_TANK.has(no.code) ? 'funding_wallet_low' : skipOf(chain, no);
  if (skip === undefined && PASSING.has(no.code)) return null;
  const details = JSON.stringify({ code: no.code, reason: no.details['reason'] ?? null });
  return skip === undefined
    ? { to: 'FAILED', reason: 'build_refused', details }
    : { to: 'SKIPPED', reason: skip, details };
}

/** Refusals of a build that are about the address or the treasury as they are now: the next cycle looks again. */
const SKIPS: Readonly<Partial<Record<ErrorCode, string>>> = {
  DESTINATION_OPT_IN_REQUIRED: 'destination_not_ready',
  INSUFFICIENT_RESERVE: 'reserve',
  INSUFFICIENT_FUNDS: 'balance_changed',
};

/**
 * Where the builder itself judges the destination whatever else the ledger would refuse is the treasury's: a line, a
 * tag or a memo, its issuer's leave. What is the sender's was asked before (`declines`).
 */
function skipOf(chain: Chain, { code, details }: Refusal): string | undefined {
  const isReceivers = code === 'CHAIN_REJECTED' || details['reason'] === 'memo_required';
  return isReceivers && LINES.has(FAMILY_OF[chain]) ? 'destination_not_ready' : SKIPS[code];
}

/** Of a funding: the tank cannot pay it with its fee, and on tron the activation. */
const OF_THE_TANK: ReadonlySet<ErrorCode> = new Set(['INSUFFICIENT_GAS', 'INSUFFICIENT_FUNDS', 'INSUFFICIENT_RESERVE']);
