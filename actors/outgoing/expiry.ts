/** Builds that nobody signs: they hold coins, a counter value and memory, so they end. Decisions 3. */
import type { RowWrite } from '../../model/account/capabilities.ts';
import { holdOf } from './counters.ts';
import { accept, type AccountDecision, type Deciding } from '../account/decision.ts';
import { changedAtMs } from './row.ts';

/**
 * Expires builds, their counter values are free again. One that changed after it was read stays. One that this actor
 * does not know was dead when the account was loaded, or was closed meanwhile: the store expires a row only while it is
 * a build.
 */
export function expireBuilds({
  state,
  command: { builds },
  nowMs,
}: Deciding<'expire_builds'>): AccountDecision<'expire_builds'> {
  const dead = builds.filter(({ id, updatedAtMs }) => (state.withdrawals[id] ?? updatedAtMs) === updatedAtMs);
  if (dead.length === 0) return accept({ expired: 0 });
  const rows = dead.map((build): RowWrite => ({
    table: 'withdrawal_status',
    id: build.id,
    status: 'expired',
    updatedAtMs: changedAtMs(build, nowMs),
  }));
  const gone = dead.map(({ id, chain, from, replayKey }) => ({ id, hold: holdOf(chain, from, replayKey) }));
  return accept({ expired: dead.length }, [{ type: 'builds_expired', builds: gone }], rows);
}
