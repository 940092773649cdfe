/** Members of an organization: another role, leaving, handing over. Console A27–A29. */
import type { MemberOutcome } from '../../../model/ports/member-store.ts';
import { notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { lastBreakGlass } from '../auth/sso-required.ts';
import { accountOf, bearerOf, recordOf, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { notFresh, withoutProof } from './second-factor.ts';

type Area = 'changeMember' | 'removeMember' | 'renameOrganization' | 'transferOrganization';

export function memberHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    auth,
    stores: { members, identity },
  } = deps;
  const organizationOf = (asked: Pick<Asked, 'caller'>) => {
    accountOf(asked);
    return bearerOf(asked).organizationId!;
  };
  const changed = (userIds: readonly string[]) => userIds.forEach((userId) => auth.standings.forget(userId));
  return {
    async changeMember(asked) {
      const organizationId = organizationOf(asked),
        { userId } = asked.params,
        { role, totp } = asked.body;
      const before = await members.roleOf(organizationId, userId);
      if (before === null) return notFound('member', userId);
      const stale = role === 'owner' && before !== 'owner' ? await notFresh(deps, asked, totp) : null;
      if (stale !== null) return stale;
      const record = recordOf(asked, { changes: { role: [before, role] } });
      const outcome = await members.changeRole(organizationId, userId, role, record);
      changed([userId]);
      return refusalOf(outcome, userId) ?? { userId, role };
    },
    async removeMember(asked) {
      const organizationId = organizationOf(asked),
        { userId } = asked.params;
      const { userId: ownId, role } = bearerOf(asked);
      // Anyone can leave.
      if (userId !== ownId && role !== 'owner') return refuse('FORBIDDEN', { needs: 'owner', has: role });
      const before = await members.roleOf(organizationId, userId);
      const record = recordOf(asked, { changes: { role: [before, null] } });
      const outcome = await members.remove(organizationId, userId, record);
      changed([userId]);
      return (
        refusalOf(outcome, userId) ?? {
          userId,
          removed: true as const,
          apiKeysMinted: await members.keysMintedBy(organizationId, userId),
        }
      );
    },
    async renameOrganization(asked) {
      const organizationId = organizationOf(asked),
        { name } = asked.body;
      if (asked.params.id !== organizationId) return notFound('organization', asked.params.id);
      const before = await identity.organization(organizationId);
      if (before === null) return notFound('organization', organizationId);
      const record = recordOf(asked, { target: organizationId, changes: { name: [before.name, name] } });
      await members.rename(organizationId, name, record);
      return { id: organizationId, name };
    },
    async transferOrganization(asked) {
      const organizationId = organizationOf(asked),
        { userId: from } = bearerOf(asked),
        { userId: to, then, totp } = asked.body;
      if (asked.params.id !== organizationId) return notFound('organization', asked.params.id);
      const unproven = await withoutProof(deps, asked, totp, 'transferOrganization');
      if (unproven !== null) return unproven;
      const record = recordOf(asked, { target: to, changes: { owner: [from, to] } });
      const outcome = await members.transfer(organizationId, from, to, then, record);
      changed([from, to]);
      if (outcome === 'unknown')
        return refuse('CONFLICT', {
          reason: 'not_ready',
          next: 'hand over to another member, who has confirmed a second factor',
        });
      return refusalOf(outcome, to) ?? { organizationId, owner: to, role: then === 'leave' ? null : then };
    },
  };
}

const refusalOf = (outcome: MemberOutcome, userId: string): Refusal | null =>
  outcome === 'done'
    ? null
    : outcome === 'unknown'
      ? notFound('member', userId)
      : outcome === 'break_glass'
        ? lastBreakGlass()
        : refuse('CONFLICT', {
            reason: 'last_owner',
            next: 'make another member an owner first, or hand the organization over',
          });
