/** Facts that were set aside: what operators see of them, and how they have them tried again. */
import { notFound } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

export function factHandlers({
  stores: { inbox },
  log,
}: HandlerDeps): Pick<Handlers, 'listFactsSetAside' | 'retryFacts'> {
  return {
    async listFactsSetAside({ query: { after, limit } }) {
      const facts = await inbox.factsSetAside(after, limit);
      const count = await inbox.countSetAside(); // After the list: what it names is counted.
      return {
        count,
        facts: facts.map(({ recordedAtMs, retryAtMs, ...fact }) => ({
          ...fact,
          recordedAt: new Date(recordedAtMs).toISOString(),
          retryAt: new Date(retryAtMs).toISOString(),
        })),
      };
    },
    // The sweep of the inbox finds what is due.
    async retryFacts({ body: { accountId, id }, caller, requestId }) {
      const accounts = await inbox.retryFacts({ accountId: (accountId ?? null) as AccountId | null, id: id ?? null });
      if (accounts.length === 0)
        return notFound('fact that was set aside', [accountId ?? 'of any account', id ?? 'any'].join(' '));
      log.warn(
        { requestId, userId: caller.bearer!.userId, accountId, count: accounts.length },
        'an administrator has facts tried again',
      );
      return { accounts: accounts.length };
    },
  };
}
