/** Tenants and their members. Spec §4.4. */
import type { Plan } from '../../../model/account/plan.ts';
import { ORGANIZATIONS_MAX } from '../../../model/ports/identity-store.ts';
import { refuse } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { accountOf, bearerOf, USED_KEY, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, wholePage } from '../views.ts';
import { outsideOf } from './second-factor.ts';

/** What a new tenant starts with; payments are switched on by their own process. */
const FIRST_PLAN: Plan = { tier: 'free', band: 'launch', subscription: 'active', paymentsActive: false };

export function organizationHandlers({
  stores: { identity, members },
  nowMs,
}: HandlerDeps): Pick<Handlers, 'createOrganization' | 'listOrganizations' | 'listMembers'> {
  return {
    async createOrganization(asked) {
      const bearer = bearerOf(asked);
      const { userId } = bearer;
      const elsewhere = outsideOf(bearer, null);
      if (elsewhere !== null) return elsewhere;
      // A user of an outside issuer has no row to own with.
      if ((await identity.userById(userId)) === null) return refuse('FORBIDDEN', { reason: 'unknown user' });
      const row = { id: newId('org', nowMs()), name: asked.body.name, createdAtMs: nowMs(), createdBy: userId };
      const reply = { id: row.id, name: row.name, role: 'owner' as const, createdAt: instantOf(row.createdAtMs) };
      const record =
        asked.note === null
          ? undefined
          : { ...asked.note, organizationId: row.id, target: row.id, changes: { name: [null, row.name] as const } };
      const isMade = await identity.createOrganization(row, userId, FIRST_PLAN, asked.answerOf(reply), record);
      if (isMade === 'limit') return refuse('CONFLICT', { reason: 'limit', limit: ORGANIZATIONS_MAX });
      return isMade ? reply : USED_KEY;
    },
    async listOrganizations(asked) {
      const bearer = bearerOf(asked);
      const found = (await members.organizationsOf(bearer.userId))
        .filter(({ id }) => outsideOf(bearer, id) === null)
        .map(({ id, name, role, createdAtMs }) => ({ id, name, role, createdAt: instantOf(createdAtMs) }));
      return wholePage('organizations', found, asked.query, ({ id }) => id);
    },
    async listMembers(asked) {
      accountOf(asked);
      const { email: part = '', ...page } = asked.query;
      const named = (await identity.members(bearerOf(asked).organizationId!)).filter(({ email }) =>
        email.includes(part.toLowerCase()),
      );
      return wholePage('members', named, page, ({ email }) => email);
    },
  };
}
