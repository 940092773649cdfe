/** What administrators record of payments, beside a provider too. Console B17: the bank's own list is the truth. */
import { createHash } from 'node:crypto';
import { lookAt } from '../../../actors/billing/collect.ts';
import { notFound, refuse } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { statementView } from '../billing/billing.ts';
import { bearerOf, type Handlers } from '../context.ts';
import { notFresh } from '../organization/second-factor.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { wholePage } from '../views.ts';

export function collectionHandlers(deps: HandlerDeps): Pick<Handlers, 'listAccountStatements' | 'recordCollection'> {
  const {
    accounts,
    stores: { billing },
    provider,
    log,
  } = deps;
  return {
    async listAccountStatements({ params: { accountId }, query }) {
      const rows = await billing.statements(accountId);
      return wholePage(
        'statements',
        rows.map((row) => statementView(row, provider)),
        query,
        ({ period }) => period,
        'newest',
      );
    },
    async recordCollection(asked) {
      const {
        params: { accountId, id: statementId },
        body: { amount, reason, reference, totp },
        requestId,
      } = asked;
      const stale = await notFresh(deps, asked, totp);
      if (stale !== null) return stale;
      const found = await billing.statement(accountId, statementId);
      if (found === null) return notFound('statement', statementId);
      const id = collectionIdOf(statementId, reference, found.issuedAtMs);
      if (await billing.isCollected(accountId, id)) return refuse('CONFLICT', { reason: 'recorded', value: reference });
      const { userId } = bearerOf(asked);
      const answer = await accounts.ask(accountId, {
        type: 'record_collection',
        id,
        statementId,
        cents: String(BigInt(amount.replace('.', ''))),
        byUser: userId,
        reason: `${reference}: ${reason}`,
      });
      if (answer.ok !== true) return answer;
      log.warn(
        { requestId, userId, accountId, names: [statementId] },
        'an administrator recorded a payment of a statement',
      );
      // What is open at a provider is about what was left before: it is withdrawn.
      if (provider.collector !== null)
        await lookAt({ ...deps, collector: provider.collector }, { accountId, statementId });
      return statementView((await billing.statement(accountId, statementId))!, provider);
    },
  };
}

/** One payment is recorded once for a statement: the same reference makes the same id, which the store takes once. */
function collectionIdOf(statementId: string, reference: string, atMs: number): string {
  const digest = createHash('sha256').update(`collection|${statementId}|${reference}`).digest();
  return newId('col', atMs, digest.subarray(0, 10));
}
