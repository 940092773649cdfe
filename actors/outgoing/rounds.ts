/** What the clock does for what leaves: builds that nobody signs end. */
import type { Accounts } from '../../model/ports/accounts.ts';
import type { DeadBuild, OperatorStore } from '../../model/ports/operator-store.ts';
import type { AccountId } from '../../protocol/ids.ts';

/** Builds that are expired together. */
const BUILDS_AT_ONCE = 200;

/**
 * Expires what nobody signed for BUILD_TTL. Every owner looks, and asks its own actors: what another node owns is
 * passed by. Answers how many builds ended.
 */
export async function expireBuilds({
  stores,
  accounts,
  nowMs,
  buildTtlMs,
  isMine,
}: {
  readonly stores: { readonly operators: Pick<OperatorStore, 'deadBuilds'> };
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly nowMs: () => number;
  readonly buildTtlMs: number;
  readonly isMine: (accountId: AccountId) => boolean;
}): Promise<number> {
  const untilMs = nowMs() - buildTtlMs;
  let expired = 0;
  for (let behind: DeadBuild | null = null; ;) {
    const found: DeadBuild[] = await stores.operators.deadBuilds(untilMs, behind, BUILDS_AT_ONCE);
    for (const [accountId, builds] of Map.groupBy(found, (build) => build.accountId)) {
      if (!isMine(accountId)) continue;
      const answer = await accounts.ask(accountId, { type: 'expire_builds', builds });
      if (answer.ok === true) expired += answer.reply.expired;
    }
    if (found.length < BUILDS_AT_ONCE) return expired;
    behind = found.at(-1)!;
  }
}
