/** What platform administrators do to one account: suspension and plan. Spec §3.8, §7.2. */
import type { Plan } from '../../../model/account/plan.ts';
import { notFound, refuse } from '../../../protocol/errors.ts';
import { organizationOf, type AccountId } from '../../../protocol/ids.ts';
import { planView } from '../billing/billing.ts';
import { bearerOf, claimOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

export function accountControlHandlers({
  accounts,
  auth,
  stores: { identity, people },
  nowMs,
  log,
}: HandlerDeps): Pick<Handlers, 'setSuspension' | 'setUserSuspension' | 'setPlan'> {
  /** An account is made with its organization. */
  const isUnknown = async (accountId: AccountId) => (await identity.organization(organizationOf(accountId))) === null;
  return {
    async setSuspension(asked) {
      const {
        params: { accountId },
        body: { suspended, reason },
        requestId,
      } = asked;
      if (await isUnknown(accountId)) return notFound('account', accountId);
      const { userId } = bearerOf(asked);
      const answer = await accounts.ask(accountId, {
        type: 'suspend',
        suspended,
        byUser: userId,
        ...(reason === undefined ? {} : { reason }),
        ...claimOf(asked),
      });
      if (answer.ok !== true) return answer;
      log.warn(
        { requestId, userId, accountId },
        suspended ? 'an administrator suspended an account' : 'an administrator ended the suspension of an account',
      );
      return { accountId, suspended };
    },
    async setUserSuspension(asked) {
      const {
        params: { userId },
        body: { suspended },
        requestId,
      } = asked;
      const byUser = bearerOf(asked).userId;
      if (userId === byUser)
        return refuse('CONFLICT', { reason: 'oneself', next: 'ask another administrator: nobody suspends themselves' });
      const note =
        asked.note === null
          ? undefined
          : { ...asked.note, target: userId, changes: { suspended: [!suspended, suspended] as const } };
      if (!(await people.suspend(userId, suspended, nowMs(), note))) return notFound('user', userId);
      auth.standings.forget(userId);
      log.warn(
        { requestId, userId },
        suspended ? 'an administrator suspended a person' : 'an administrator ended the suspension of a person',
      );
      return { userId, suspended };
    },
    async setPlan(asked) {
      const {
        params: { accountId },
        body,
        requestId,
      } = asked;
      if (await isUnknown(accountId)) return notFound('account', accountId);
      // JSON has no undefined: a field that was not sent is not there.
      const answer = await accounts.ask(accountId, {
        type: 'change_plan',
        plan: body as Partial<Plan>,
        ...claimOf(asked),
      });
      if (answer.ok !== true) return answer;
      log.warn(
        {
          requestId,
          userId: bearerOf(asked).userId,
          accountId,
          names: Object.entries(body).map((pair) => pair.join('=')),
        },
        'an administrator changed the plan of an account',
      );
      return { accountId, ...planView(answer.reply) };
    },
  };
}
