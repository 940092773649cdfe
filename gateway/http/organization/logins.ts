/** Your own logins: signed-in browsers, and how to sign them out. Console A12. */
import type { LoginRow } from '../../../model/ports/login-store.ts';
import { notFound, refuse } from '../../../protocol/errors.ts';
import { bearerOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, wholePage } from '../views.ts';

export function loginHandlers({
  auth,
  stores: { logins },
  nowMs,
}: HandlerDeps): Pick<Handlers, 'listLogins' | 'endLogin' | 'endOtherLogins'> {
  return {
    async listLogins(asked) {
      const { userId, loginId } = bearerOf(asked);
      return wholePage(
        'logins',
        (await logins.open(userId, nowMs())).map((row) => loginView(row, loginId)),
        asked.query,
        ({ lastSeenAt, id }) => `${lastSeenAt} ${id}`,
        'newest',
      );
    },
    async endLogin(asked) {
      const { userId } = bearerOf(asked);
      const ended = await logins.end(userId, { id: asked.params.id }, 'ended', nowMs(), asked.note ?? undefined);
      auth.standings.forget(userId);
      return ended === 0 ? notFound('open login', asked.params.id) : { ended };
    },
    async endOtherLogins(asked) {
      const { userId, loginId } = bearerOf(asked);
      if (loginId === null)
        return refuse('CONFLICT', { reason: 'no_login', next: 'this token names no login: sign in again' });
      const ended = await logins.end(userId, { but: loginId }, 'ended', nowMs(), asked.note ?? undefined);
      auth.standings.forget(userId);
      return { ended };
    },
  };
}

function loginView(row: LoginRow, ownId: string | null) {
  return {
    id: row.id,
    current: row.id === ownId,
    method: row.method,
    client: row.client,
    ip: row.ip,
    createdAt: instantOf(row.createdAtMs),
    lastSeenAt: instantOf(row.seenAtMs),
    endsAt: instantOf(row.endsAtMs),
  };
}
