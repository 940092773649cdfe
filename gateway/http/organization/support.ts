/** Reading by staff: an owner consents for some days, an administrator begins a session. Console A45. */
import type { SupportSessionRow } from '../../../model/ports/support-store.ts';
import { notFound, refuse } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { accountOf, bearerOf, recordOf, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull } from '../views.ts';

/** How far ahead an owner consents at most, and how long a session lasts. */
const ACCESS_MS_MAX = 7 * 86_400_000;
const SESSION_MS = 3_600_000;

type Area = 'getSupportAccess' | 'setSupportAccess' | 'endSupportSession' | 'startSupportSession';

export function supportHandlers({ auth, stores: { identity, support }, nowMs }: HandlerDeps): Pick<Handlers, Area> {
  const organizationOf = (asked: Pick<Asked, 'caller'>) => {
    accountOf(asked);
    return bearerOf(asked).organizationId!;
  };
  const until = async (organizationId: string): Promise<number | null> => {
    const untilMs = await support.accessUntil(organizationId);
    return untilMs !== null && untilMs > nowMs() ? untilMs : null;
  };
  const view = async (organizationId: string): Promise<ReplyOf<'getSupportAccess'>> => ({
    until: instantOrNull(await until(organizationId)),
    sessions: (await support.list(organizationId)).map(sessionView),
  });
  return {
    getSupportAccess: (asked) => view(organizationOf(asked)),
    async setSupportAccess(asked) {
      const organizationId = organizationOf(asked);
      const untilMs = asked.body.until === null ? null : Date.parse(asked.body.until);
      if (untilMs !== null && (untilMs <= nowMs() || untilMs > nowMs() + ACCESS_MS_MAX))
        return refuse('INVALID_INPUT', { field: 'body.until', reason: 'in the past, or more than 7 days ahead' });
      const before = await until(organizationId);
      const changes = { until: [instantOrNull(before), instantOrNull(untilMs)] as const };
      await support.allowAccess(organizationId, untilMs, nowMs(), recordOf(asked, { changes }));
      return view(organizationId);
    },
    async endSupportSession(asked) {
      const organizationId = organizationOf(asked),
        { id } = asked.params;
      if (!(await support.end(organizationId, id, nowMs(), recordOf(asked))))
        return notFound('open support session', id);
      return { id, ended: true };
    },
    async startSupportSession(asked) {
      const { organizationId, environment, reason } = asked.body;
      const { userId, loginId } = bearerOf(asked);
      const organization = await identity.organization(organizationId);
      if (organization === null) return notFound('organization', organizationId);
      const admin = await identity.userById(userId);
      const atMs = nowMs();
      const row = {
        ...{ id: newId('sup', atMs), organizationId, environment, adminId: userId, loginId, reason },
        ...{ createdAtMs: atMs, endsAtMs: atMs + SESSION_MS },
      };
      const facts = {
        ...{ organization: organization.name, environment, by: admin?.email ?? '', reason },
        endsAt: instantOf(row.endsAtMs),
      };
      const record =
        asked.note === null
          ? undefined
          : {
              ...{ ...asked.note, organizationId, target: row.id },
              changes: { environment: [null, environment] as const, why: [null, reason] as const },
            };
      if (!(await support.begin(row, facts, record)))
        return refuse('IMPERSONATION_FORBIDDEN', {
          reason: 'no_consent',
          next: 'ask an owner to allow it: settings, support access (PUT /v1/settings/support-access)',
        });
      const accessToken = await auth.issuer.issueSupport(row);
      return { id: row.id, organizationId, environment, accessToken, endsAt: instantOf(row.endsAtMs) };
    },
  };
}

const sessionView = (
  row: SupportSessionRow & { readonly adminEmail: string },
): ReplyOf<'getSupportAccess'>['sessions'][number] => ({
  id: row.id,
  environment: row.environment,
  by: row.adminEmail,
  reason: row.reason,
  createdAt: instantOf(row.createdAtMs),
  endsAt: instantOf(row.endsAtMs),
  endedAt: instantOrNull(row.endedAtMs),
});
