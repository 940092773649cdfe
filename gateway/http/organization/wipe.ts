/** The wipe of an account: an owner schedules it with a proof of their own, any owner takes it back. Console A48. */
import type { WipeRow } from '../../../model/ports/wipe-store.ts';
import { refuse } from '../../../protocol/errors.ts';
import { environmentOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { accountOf, bearerOf, claimOf, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull } from '../views.ts';
import { withoutProof } from './second-factor.ts';

type Area = 'getWipe' | 'scheduleWipe' | 'cancelWipe';

export function wipeHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const { accounts, stores, nowMs } = deps;
  const scheduled = ({ caller }: Asked, { id, forMs }: { id: string; forMs: number }): ReplyOf<'scheduleWipe'> => ({
    id,
    environment: caller.environment,
    scheduledFor: instantOf(forMs),
  });
  return {
    async getWipe(asked) {
      const row = await stores.wipes.newest(accountOf(asked));
      return { wipe: row === null ? null : wipeView(row) };
    },
    scheduleWipe: {
      replay: async (stored, asked) => scheduled(asked, stored as { id: string; forMs: number }),
      async handle(asked) {
        const accountId = accountOf(asked),
          { userId, organizationId } = bearerOf(asked),
          { environment, confirm, totp } = asked.body;
        if (environment !== asked.caller.environment)
          return refuse('INVALID_INPUT', {
            field: 'body.environment',
            reason: `the request is about ${asked.caller.environment}`,
            next: 'send the environment in X-Flock-Environment and here, or sign in to it',
          });
        const organization = await stores.identity.organization(organizationId!);
        if (organization?.name !== confirm)
          return refuse('INVALID_INPUT', {
            field: 'body.confirm',
            reason: 'another text than the name of the organization',
            next: 'send the name letter by letter, as GET /v1/organizations has it',
          });
        const unproven = await withoutProof(deps, asked, totp, 'scheduleWipe');
        if (unproven !== null) return unproven;
        const id = newId('wip', nowMs());
        const answer = await accounts.ask(accountId, {
          type: 'schedule_wipe',
          id,
          byUser: userId,
          ...claimOf(asked),
        });
        return answer.ok === true ? scheduled(asked, answer.reply) : answer;
      },
    },
    async cancelWipe(asked) {
      const answer = await accounts.ask(accountOf(asked), {
        type: 'cancel_wipe',
        ...(asked.note === null ? {} : { audit: asked.note }),
      });
      return answer.ok === true ? { id: answer.reply.id, cancelled: true } : answer;
    },
  };
}

function wipeView(row: WipeRow): NonNullable<ReplyOf<'getWipe'>['wipe']> {
  return {
    id: row.id,
    environment: environmentOf(row.accountId),
    status: row.status,
    scheduledFor: instantOf(row.forMs),
    askedAt: instantOf(row.askedAtMs),
    askedBy: row.userId,
    beganAt: instantOrNull(row.beganAtMs),
    endedAt: instantOrNull(row.endedAtMs),
    step: row.step,
    addresses: row.addresses,
    holdings: row.holdings === null ? null : [...row.holdings],
  };
}
