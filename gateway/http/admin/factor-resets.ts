/**
 * All factors of a person are lost: one administrator asks, another confirms, and after 72 hours they are gone, unless
 * the person takes it back by the link of a letter. Console A25.
 */
import { RESET_LETTERS, resetLetterId, type FactorResetRow } from '../../../model/ports/factor-reset-store.ts';
import type { AuditNote } from '../../../model/rows/audit.ts';
import { isRefusal, notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { ofUser } from '../audit-note.ts';
import { emailOf } from '../auth/email-address.ts';
import { CONFIRM_MS } from '../auth/factor-reset-round.ts';
import { createThrottles } from '../auth/throttles.ts';
import { bearerOf, type Asked, type Handlers } from '../context.ts';
import { linkHashOf, newLink, spentLink } from '../organization/links.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { walked } from '../walked.ts';
import { instantOf, instantOrNull } from '../views.ts';

const DAY_MS = 86_400_000;
const WAIT_MS = 3 * DAY_MS;

type Area = 'listFactorResets' | 'askFactorReset' | 'confirmFactorReset' | 'cancelFactorReset' | 'keepFactors';

export function factorResetHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    stores: { identity, factorResets },
    secrets,
    nowMs,
    log,
  } = deps;
  const throttles = createThrottles(deps);
  /** A letter with a link of its own, to be sent from an instant on. */
  const letterOf = (id: string, n: number, atMs: number, facts: Readonly<Record<string, string>>) => {
    const { hash, letterId, sealed } = newLink(secrets, { letterId: resetLetterId(id, n), of: id });
    return { letter: { id: letterId, sealedToken: sealed, facts }, linkHash: hash, atMs };
  };
  const noteOf = ({ note }: Asked, target: string): AuditNote | undefined =>
    note === null ? undefined : { ...note, target };
  const answerOf = async (id: string): Promise<ReplyOf<'askFactorReset'> | Refusal> => {
    const row = await factorResets.byId(id);
    return row === null ? notFound('reset of factors', id) : viewOf(row);
  };
  const logged = (asked: Asked, id: string, said: string) =>
    log.warn({ requestId: asked.requestId, userId: bearerOf(asked).userId, subject: id }, said);

  return {
    async listFactorResets({ query }) {
      const page = await walked('factor-resets', query, { read: factorResets.list, keyOf: ({ id }) => id });
      return isRefusal(page) ? page : { content: page.rows.map(viewOf), next: page.next };
    },
    async askFactorReset(asked) {
      const email = emailOf(asked.body.email);
      if (email === null) return refuse('INVALID_INPUT', { field: 'body.email', reason: 'no email address' });
      const user = await identity.userByEmail(email);
      if (user === null) return notFound('user', email);
      const { userId: askedBy } = bearerOf(asked);
      if (user.id === askedBy) return another('nobody resets their own factors: ask another administrator');
      const admin = await identity.userById(askedBy);
      const atMs = nowMs(),
        id = newId('frs', atMs),
        { reason } = asked.body;
      const letter = letterOf(id, 0, atMs, { by: admin?.email ?? '', reason });
      const reset = { id, userId: user.id, reason, askedBy, askedAtMs: atMs };
      const outcome = await factorResets.ask(reset, letter, noteOf(asked, id));
      if (outcome === 'open')
        return refuse('CONFLICT', { reason: 'open', next: 'confirm the one that is open, or take it back' });
      if (outcome === 'none')
        return refuse('CONFLICT', { reason: 'no_factor', next: 'nothing: this person has no second factor' });
      logged(asked, id, 'an administrator asked to reset the factors of a person');
      return answerOf(id);
    },
    async confirmFactorReset(asked) {
      const { id } = asked.params,
        { userId: by } = bearerOf(asked);
      const row = await factorResets.byId(id);
      if (row === null) return notFound('reset of factors', id);
      if (row.askedBy === by || row.userId === by)
        return another('an administrator who neither asked for it nor is the person confirms it');
      const atMs = nowMs(),
        dueAtMs = atMs + WAIT_MS;
      if (row.status !== 'asked') return over(row);
      if (row.askedAtMs + CONFIRM_MS <= atMs) return over({ ...row, status: 'expired' });
      const facts = { reason: row.reason, at: `${instantOf(dueAtMs).slice(0, 16).replace('T', ' ')} UTC` };
      const letters = Array.from({ length: RESET_LETTERS - 1 }, (_, day) =>
        letterOf(id, day + 1, atMs + day * DAY_MS, facts),
      );
      if (!(await factorResets.confirm({ id, by, atMs, dueAtMs }, letters, noteOf(asked, id))))
        return over((await factorResets.byId(id))!);
      logged(asked, id, 'another administrator confirmed the reset of the factors of a person');
      return answerOf(id);
    },
    async cancelFactorReset(asked) {
      const { id } = asked.params;
      if (!(await factorResets.cancel(id, bearerOf(asked).userId, nowMs(), noteOf(asked, id)))) {
        const row = await factorResets.byId(id);
        return row === null ? notFound('reset of factors', id) : over(row);
      }
      logged(asked, id, 'an administrator took the reset of the factors of a person back');
      return answerOf(id);
    },
    async keepFactors(asked) {
      const slow = await throttles.ofLinks(asked.clientAddress);
      if (slow !== null) return slow;
      const { token } = asked.body,
        [id = ''] = token.split('.');
      const row = await factorResets.byId(id);
      if (row === null || !row.linkHashes.includes(linkHashOf(token))) return notFound('link', '');
      const note = ofUser(asked, 'keepFactors', { target: id });
      if (!(await factorResets.cancel(id, row.userId, nowMs(), note)))
        return spentLink((await factorResets.byId(id))?.status === 'cancelled' ? 'used' : 'expired');
      return { email: row.email, cancelled: true as const };
    },
  };
}

const another = (next: string): Refusal => refuse('CONFLICT', { reason: 'another', next });
const over = ({ status }: Pick<FactorResetRow, 'status'>): Refusal =>
  refuse('CONFLICT', { reason: status, next: 'look at the list: this reset is not open for that any more' });

const viewOf = (row: FactorResetRow): ReplyOf<'askFactorReset'> => ({
  id: row.id,
  userId: row.userId,
  email: row.email,
  status: row.status,
  reason: row.reason,
  askedBy: row.askedByEmail,
  askedAt: instantOf(row.askedAtMs),
  confirmedBy: row.confirmedByEmail,
  dueAt: instantOrNull(row.dueAtMs),
  endedAt: instantOrNull(row.endedAtMs),
  cancelledBy: row.cancelledBy === null ? null : row.cancelledBy === row.userId ? 'user' : 'admin',
});
