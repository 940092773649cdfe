/** Single sign-on that is enforced: by who came by it, while somebody gets in without. Console A41. */
import type { Enforced } from '../../../model/ports/sso-store.ts';
import { notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { accountOf, bearerOf, recordOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOrNull } from '../views.ts';
import { isOpenTo, ssoOff } from '../auth/sso-required.ts';
import { withoutProof } from './second-factor.ts';
import { connectionView, kindOf } from './sso-view.ts';
import { lockedByTier } from './sso-tier.ts';

export function ssoEnforcementHandlers(deps: HandlerDeps): Pick<Handlers, 'enforceSso'> {
  const {
    auth,
    stores: { identity, sso },
    config,
    nowMs,
  } = deps;
  return {
    async enforceSso(asked) {
      accountOf(asked);
      const { userId, organizationId } = bearerOf(asked) as { userId: string; organizationId: string };
      const { id } = asked.params;
      const { enforced, breakGlass = [], totp } = asked.body;
      const unproven = await withoutProof(deps, asked, totp, 'enforceSso');
      if (unproven !== null) return unproven;
      const before = await sso.connectionOf(organizationId);
      if (before === null || before.id !== id) return notFound('connection', id);
      const since = instantOrNull(before.enforcedAtMs);
      if (enforced) {
        if (!isOpenTo(config, kindOf(before))) return ssoOff(false);
        const locked = await lockedByTier(deps, organizationId);
        if (locked !== null) return locked;
        const changes = { enforced: [since !== null, true], breakGlass: [before.breakGlass, breakGlass] } as const;
        const outcome = await sso.enforce(
          organizationId,
          id,
          { userId, breakGlass },
          nowMs(),
          recordOf(asked, { changes }),
        );
        if (outcome !== 'done') return notEnforced(outcome, id);
      } else {
        const changes = { enforced: [since !== null, false] } as const;
        if (!(await sso.relax(organizationId, id, recordOf(asked, { changes })))) return notFound('connection', id);
      }
      // At once on this node; elsewhere within 15 s. Console A13.
      for (const member of await identity.members(organizationId)) auth.standings.forget(member.userId);
      const after = await sso.connection(id);
      return after === null ? notFound('connection', id) : connectionView(after, config);
    },
  };
}

const NEXT: Readonly<Record<Exclude<Enforced, 'done' | 'unknown'>, string>> = {
  domain: 'verify a domain first (POST /v1/settings/domains): members of it are whom this is about',
  sign_in:
    'sign in by the provider yourself first, with what it is set to now: that proves, for 24 hours, that it works',
  break_glass:
    'name in `breakGlass` owners who have a password and a second factor: they get in when the provider does not',
};

function notEnforced(outcome: Exclude<Enforced, 'done'>, id: string): Refusal {
  return outcome === 'unknown'
    ? notFound('connection', id)
    : refuse('CONFLICT', { reason: outcome, next: NEXT[outcome] });
}
