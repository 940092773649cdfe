/** Invitations to an organization: made by owners, accepted by who has the mailbox. Console A30, A31. */
import { INVITATIONS_MAX, MEMBERS_MAX, type InvitationRow } from '../../../model/ports/invitation-store.ts';
import type { NewLetter } from '../../../model/ports/people-store.ts';
import { isRefusal, notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { AuditRecord } from '../../../model/rows/audit.ts';
import { emailOf } from '../auth/email-address.ts';
import { passwordRefusal } from '../auth/password-rules.ts';
import { hashPassword } from '../auth/passwords.ts';
import { ssoRequired } from '../auth/sso-required.ts';
import { createThrottles } from '../auth/throttles.ts';
import { ofUser } from '../audit-note.ts';
import { accountOf, bearerOf, recordOf, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, wholePage } from '../views.ts';
import { LINK_MS, linkHashOf, newLink, spentLink } from './links.ts';
import { notFresh } from './second-factor.ts';
import { kindOf } from './sso-view.ts';
import { lockedByTier } from './sso-tier.ts';
import { createSessions } from './sessions.ts';
import type { SsoKind } from '../../../model/ports/sso-store.ts';

type Area =
  | 'listInvitations'
  | 'createInvitation'
  | 'inviteMember'
  | 'revokeInvitation'
  | 'resendInvitation'
  | 'lookAtInvitation'
  | 'acceptInvitation'
  | 'joinByInvitation';

const FULL = (limit: number): Refusal => refuse('CONFLICT', { reason: 'limit', limit });

export function invitationHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    auth,
    stores: { identity, invitations, sso },
    config,
    secrets,
    nowMs,
    metrics,
  } = deps;
  const throttles = createThrottles(deps);
  const sessions = createSessions(deps);
  const organizationOf = (asked: Pick<Asked, 'caller'>) => {
    accountOf(asked);
    return bearerOf(asked).organizationId!;
  };
  const view = (row: InvitationRow): ReplyOf<'createInvitation'> => ({
    id: row.id,
    email: row.email,
    role: row.role,
    status: statusOf(row, nowMs()),
    createdAt: instantOf(row.createdAtMs),
    expiresAt: instantOf(row.expiresAtMs),
  });
  /** A letter with a new link; null where its mailbox or the organization has had enough of them for an hour. */
  const letterOf = async (asked: Pick<Asked, 'caller'>, { email, role }: Pick<InvitationRow, 'email' | 'role'>) => {
    const organizationId = organizationOf(asked);
    const link = newLink(secrets);
    const may = await throttles.mayWrite({ email, device: undefined, organizationId });
    if (!may) metrics.add('svc_letters_withheld_total', {});
    const [organization, inviter] = [
      await identity.organization(organizationId),
      await identity.userById(bearerOf(asked).userId),
    ];
    const letter: NewLetter = {
      ...{ id: link.letterId, kind: 'invitation', recipient: email, userId: null, organizationId },
      sealedToken: link.sealed,
      facts: { organization: organization?.name ?? '', inviter: inviter?.email ?? '', role },
    };
    return { link, letter: may ? letter : null };
  };
  /** The invitation of a link, while it is good. */
  const linkedOf = async (asked: Pick<Asked, 'clientAddress'> & { body: { token: string } }) => {
    const slow = await throttles.ofLinks(asked.clientAddress);
    if (slow !== null) return slow;
    const row = await invitations.byLink(linkHashOf(asked.body.token));
    if (row === null) return notFound('invitation', '');
    const status = statusOf(row, nowMs());
    return status === 'pending' ? row : spentLink(status === 'accepted' ? 'used' : status);
  };

  /** Whether the organization lets this email in by its provider alone. Console A31, A41. */
  const providerOf = async ({ email, organizationId }: InvitationRow): Promise<SsoKind | null> => {
    const connection = await sso.connectionToAsk(email.slice(email.lastIndexOf('@') + 1));
    if (connection?.organizationId !== organizationId || connection.enforcedAtMs === null) return null;
    return (await lockedByTier(deps, organizationId)) === null ? kindOf(connection) : null;
  };

  const invite = async (asked: Asked<'createInvitation'> | Asked<'inviteMember'>) => {
    const organizationId = organizationOf(asked),
      { userId } = bearerOf(asked),
      { role, totp } = asked.body;
    const email = emailOf(asked.body.email);
    if (email === null) return refuse('INVALID_INPUT', { field: 'email', reason: 'no email address' });
    const stale = role === 'owner' ? await notFresh(deps, asked, totp) : null;
    if (stale !== null) return stale;
    if ((await identity.members(organizationId)).some((member) => member.email === email))
      return refuse('CONFLICT', { reason: 'member', next: 'they are a member: change their role instead' });
    const { link, letter } = await letterOf(asked, { email, role });
    const atMs = nowMs();
    const row = {
      ...{ id: newId('ivt', atMs), organizationId, email, role, invitedBy: userId },
      ...{ createdAtMs: atMs, expiresAtMs: atMs + LINK_MS.invitation },
    };
    const record = recordOf(asked, { target: row.id, changes: { email: [null, email], role: [null, role] } });
    const made = await invitations.invite(row, link.hash, letter, record);
    return made === 'limit' ? FULL(INVITATIONS_MAX) : view({ ...row, why: null });
  };

  return {
    createInvitation: invite,
    inviteMember: invite,
    async listInvitations(asked) {
      const rows = await invitations.list(organizationOf(asked));
      return wholePage(
        'invitations',
        rows.map(view),
        asked.query,
        ({ createdAt, id }) => `${createdAt} ${id}`,
        'newest',
      );
    },
    async revokeInvitation(asked) {
      const organizationId = organizationOf(asked),
        { id } = asked.params;
      const row = await invitations.one(organizationId, id);
      if (row === null) return notFound('invitation', id);
      const record = recordOf(asked, { changes: { status: [statusOf(row, nowMs()), 'revoked'] } });
      if (!(await invitations.revoke(organizationId, id, nowMs(), record))) return over(row);
      return view({ ...row, why: 'revoked' });
    },
    async resendInvitation(asked) {
      const organizationId = organizationOf(asked),
        { id } = asked.params;
      const row = await invitations.one(organizationId, id);
      if (row === null) return notFound('invitation', id);
      if (row.why !== null) return over(row);
      const { link, letter } = await letterOf(asked, row);
      const until = { hash: link.hash, expiresAtMs: nowMs() + LINK_MS.invitation };
      const renewed = await invitations.renew(organizationId, id, until, letter, nowMs(), recordOf(asked));
      return renewed === null ? over(row) : view(renewed);
    },
    async lookAtInvitation(asked) {
      const row = await linkedOf(asked);
      if (isRefusal(row)) return row;
      const organization = await identity.organization(row.organizationId);
      const isKnown = (await identity.userByEmail(row.email)) !== null;
      return {
        organization: organization?.name ?? '',
        email: row.email,
        role: row.role,
        known: isKnown,
        sso: (await providerOf(row)) !== null,
      };
    },
    async acceptInvitation(asked) {
      const { userId } = bearerOf(asked);
      const row = await linkedOf(asked);
      if (isRefusal(row)) return row;
      const user = await identity.userById(userId);
      if (user === null) return refuse('UNAUTHORIZED');
      if (user.email !== row.email)
        return refuse('FORBIDDEN', {
          reason: 'other_email',
          invited: masked(row.email),
          next: 'sign in with the email that was invited, and open the link again',
        });
      const hash = linkHashOf(asked.body.token);
      const done = await invitations.accept(hash, userId, nowMs(), entryOf(asked, 'acceptInvitation', row, userId));
      auth.standings.forget(userId);
      if (done === 'limit') return FULL(MEMBERS_MAX);
      return done === null ? spentLink('used') : { organizationId: row.organizationId, role: row.role };
    },
    async joinByInvitation(asked) {
      if (config.signUp === 'closed')
        return refuse('FORBIDDEN', { reason: 'sign_up', next: 'ask the operator for a sign-in' });
      const row = await linkedOf(asked);
      if (isRefusal(row)) return row;
      const provider = await providerOf(row);
      if (provider !== null) return ssoRequired(config, provider);
      const known = () =>
        refuse('CONFLICT', { reason: 'known', next: 'this email has a sign-in: sign in, and accept there' });
      if ((await identity.userByEmail(row.email)) !== null) return known();
      const organization = await identity.organization(row.organizationId);
      const weak = passwordRefusal(asked.body.password, [row.email, organization?.name ?? '']);
      if (weak !== null) return weak;
      const made = { id: newId('usr', nowMs()), passwordHash: await hashPassword(asked.body.password) };
      const hash = linkHashOf(asked.body.token);
      const done = await invitations.join(hash, made, nowMs(), entryOf(asked, 'joinByInvitation', row, made.id));
      if (done === 'known') return known();
      if (done === 'limit') return FULL(MEMBERS_MAX);
      const user = done === null ? null : await identity.userById(made.id);
      if (user === null) return spentLink('used');
      asked.setHeader('set-cookie', throttles.deviceCookie(user.email));
      return sessions.begin(asked, user, user.memberships[0], { method: 'password', totpAtMs: null });
    },
  };
}

type Status = ReplyOf<'createInvitation'>['status'];
const statusOf = ({ why, expiresAtMs }: InvitationRow, nowMs: number): Status =>
  why ?? (expiresAtMs <= nowMs ? 'expired' : 'pending');

const over = ({ why }: InvitationRow): Refusal =>
  refuse('CONFLICT', { reason: why ?? 'accepted', next: 'invite the email again' });

/** `a…@example.com`. */
const masked = (email: string): string => `${[...email][0]}…${email.slice(email.lastIndexOf('@'))}`;

/** The entry of who accepts, in the log of the organization that they come to. */
function entryOf(
  asked: Pick<Asked, 'caller' | 'requestId' | 'client' | 'clientAddress'>,
  action: 'acceptInvitation' | 'joinByInvitation',
  { id, organizationId, role }: InvitationRow,
  userId: string,
): AuditRecord {
  const note = ofUser(asked, action, { target: id, changes: { role: [null, role] } });
  return { ...note, actor: { kind: 'user', id: userId }, organizationId };
}
