/**
 * What people do about themselves by letter: sign-up, a forgotten password, another email. What anybody may ask answers
 * the same whether an email is known or not; a link says who somebody is. Console A4–A10.
 */
import type { TokenRow } from '../../../model/ports/people-store.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { emailOf } from '../auth/email-address.ts';
import { passwordRefusal } from '../auth/password-rules.ts';
import { hashPassword } from '../auth/passwords.ts';
import { keepsDomain } from '../auth/sso-required.ts';
import { createThrottles, DEVICE_COOKIE } from '../auth/throttles.ts';
import { ofUser } from '../audit-note.ts';
import { bearerOf, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { LINK_MS, linkHashOf, linkRefusal, newLetterId, newLink, spentLink } from './links.ts';
import { wrongPassword } from './present-password.ts';
import { notFreshOrPassword, withoutProof } from './second-factor.ts';
import { createSessions } from './sessions.ts';

type Area =
  | 'getMe'
  | 'register'
  | 'verifyEmail'
  | 'forgotPassword'
  | 'resetPassword'
  | 'changePassword'
  | 'changeEmail'
  | 'confirmEmail';

/** The one body of what anybody may ask. */
const ACCEPTED = { accepted: true as const };
const NO_EMAIL = refuse('INVALID_INPUT', { field: 'email', reason: 'no email address' });
type FromOutside = Pick<Asked, 'clientAddress' | 'cookies'>;

export function registrationHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    auth,
    stores: { identity, people, members, factors, sso },
    config,
    secrets,
    nowMs,
    metrics,
  } = deps;
  const throttles = createThrottles(deps);
  const sessions = createSessions(deps);
  /** Whether a letter to an email may be caused once more: it is sent, or it is not, and the answer is the same. */
  const mayWrite = async (asked: FromOutside, email: string): Promise<boolean> => {
    const may = await throttles.mayWrite({ email, device: asked.cookies[DEVICE_COOKIE] });
    if (!may) metrics.add('svc_letters_withheld_total', {});
    return may;
  };
  /** The token's row, where its link is good and the address does not try too often. */
  const linkOf = async (asked: FromOutside & { body: { token: string } }, kinds: Parameters<typeof linkRefusal>[1]) => {
    const slow = await throttles.ofLinks(asked.clientAddress);
    if (slow !== null) return slow;
    const row = await people.token(linkHashOf(asked.body.token));
    return linkRefusal(row, kinds, nowMs()) ?? row!;
  };
  /** Console A41: another email is no way round the provider. */
  const leavesDomain = (userId: string, email: string): Promise<boolean> =>
    sso.keepsEmail(userId, email.slice(email.lastIndexOf('@') + 1));
  const letterTo = (recipient: string, userId: string | null, link = newLink(secrets)) => ({
    link,
    letter: { id: link.letterId, recipient, userId, sealedToken: link.sealed, facts: {} },
  });
  const namesOf = async (user: { id: string; email: string }): Promise<string[]> => [
    user.email,
    ...(await members.organizationsOf(user.id)).map(({ name }) => name),
  ];

  return {
    async getMe(asked) {
      const { userId, loginId } = bearerOf(asked);
      const user = await identity.userById(userId);
      if (user === null) return refuse('UNAUTHORIZED');
      const recoveryCodes = await factors.recoveryCodesLeft(userId);
      const { id, email, totpConfirmed: totp, passkeys } = user;
      return { id, email, secondFactor: totp || passkeys > 0, totp, passkeys, recoveryCodes, loginId };
    },
    async register(asked) {
      if (config.signUp !== 'open') return noSignUp();
      const slow = await throttles.ofLinks(asked.clientAddress);
      if (slow !== null) return slow;
      const email = emailOf(asked.body.email);
      if (email === null) return NO_EMAIL;
      if (!(await mayWrite(asked, email))) return ACCEPTED;
      const user = await identity.userByEmail(email);
      const { link, letter } = letterTo(email, user?.id ?? null);
      if (user !== null) await people.write({ ...letter, kind: 'known', sealedToken: null }, nowMs());
      else await people.open(tokenOf('verify', link.hash, email, null), { ...letter, kind: 'verify' }, nowMs());
      return ACCEPTED;
    },
    async verifyEmail(asked) {
      const row = await linkOf(asked, ['verify']);
      if (isRefusal(row)) return row;
      const weak = passwordRefusal(asked.body.password, [row.email]);
      if (weak !== null) return weak;
      const id = newId('usr', nowMs());
      const made = await people.register(
        row.hash,
        { id, passwordHash: await hashPassword(asked.body.password) },
        nowMs(),
      );
      const user = made === null ? null : await identity.userById(id);
      if (user === null) return spentLink('used');
      asked.setHeader('set-cookie', throttles.deviceCookie(user.email));
      return sessions.begin(asked, user, undefined, { method: 'password', totpAtMs: null });
    },
    async forgotPassword(asked) {
      const slow = await throttles.ofLinks(asked.clientAddress);
      if (slow !== null) return slow;
      const email = emailOf(asked.body.email);
      if (email === null) return NO_EMAIL;
      if (!(await mayWrite(asked, email))) return ACCEPTED;
      const user = await identity.userByEmail(email);
      const { link, letter } = letterTo(email, user?.id ?? null);
      // For an email that nobody has the same is written, and no letter.
      const token = tokenOf('reset', link.hash, email, user?.id ?? null);
      await people.open(token, user === null ? null : { ...letter, kind: 'reset' }, nowMs());
      return ACCEPTED;
    },
    async resetPassword(asked) {
      const row = await linkOf(asked, ['reset']);
      if (isRefusal(row)) return row;
      const user = row.userId === null ? null : await identity.userById(row.userId);
      if (user === null) return linkRefusal(null, [], nowMs())!;
      const weak = passwordRefusal(asked.body.password, await namesOf(user));
      if (weak !== null) return weak;
      const hash = await hashPassword(asked.body.password);
      const note = ofUser(asked, 'resetPassword', { target: user.id });
      const done = await people.reset(row.hash, hash, newLetterId(), nowMs(), note);
      if (done === null) return spentLink('used');
      auth.standings.forget(user.id);
      return { email: user.email };
    },
    async changePassword(asked) {
      const { userId, loginId } = bearerOf(asked);
      const user = await identity.userById(userId);
      if (user === null) return refuse('UNAUTHORIZED');
      const { current, password } = asked.body;
      const wrong =
        current === undefined
          ? await notFreshOrPassword(deps, asked)
          : await wrongPassword({ ...deps, throttles }, asked, user, {
              field: 'current',
              typed: current,
              action: 'changePassword',
            });
      if (wrong !== null) return wrong;
      const weak = passwordRefusal(password, await namesOf(user));
      if (weak !== null) return weak;
      const change = { id: user.id, from: user.passwordHash, to: await hashPassword(password), loginId };
      const isDone = await people.changePassword(change, newLetterId(), nowMs(), asked.note ?? undefined);
      auth.standings.forget(user.id);
      return isDone ? { changed: true as const } : refuse('CONFLICT', { reason: 'replaced' });
    },
    async changeEmail(asked) {
      const { userId } = bearerOf(asked);
      const unproven = await withoutProof(deps, asked, asked.body.totp, 'changeEmail');
      if (unproven !== null) return unproven;
      const email = emailOf(asked.body.email);
      if (email === null) return NO_EMAIL;
      if (await leavesDomain(userId, email)) return keepsDomain();
      if (!(await mayWrite(asked, email))) return ACCEPTED;
      const known = await identity.userByEmail(email);
      const { link, letter } = letterTo(email, userId);
      if (known !== null) await people.write({ ...letter, kind: 'email_taken', sealedToken: null }, nowMs());
      else await people.open(tokenOf('email', link.hash, email, userId), { ...letter, kind: 'email' }, nowMs());
      return ACCEPTED;
    },
    async confirmEmail(asked) {
      const row = await linkOf(asked, ['email', 'undo']);
      if (isRefusal(row)) return row;
      // Who takes a change back had that email before.
      if (row.kind === 'email' && (await leavesDomain(row.userId!, row.email))) return keepsDomain();
      const note = ofUser(asked, 'confirmEmail', { target: row.userId });
      const undo = newLink(secrets);
      const done =
        row.kind === 'email'
          ? await people.changeEmail(
              row.hash,
              { hash: undo.hash, letterId: undo.letterId, sealed: undo.sealed, expiresAtMs: nowMs() + LINK_MS.undo },
              nowMs(),
              note,
            )
          : await people.restoreEmail(row.hash, undo.letterId, nowMs(), note);
      if (done === null) return spentLink('used');
      if (done === 'taken') return spentLink('revoked');
      auth.standings.forget(done.userId);
      return { email: row.email };
    },
  };

  function tokenOf(kind: TokenRow['kind'], hash: string, email: string, userId: string | null) {
    return { hash, kind, subject: userId ?? email, email, userId, expiresAtMs: nowMs() + LINK_MS[kind] };
  }
}

/** SIGN_UP does not let people become users by themselves. */
const noSignUp = (): Refusal =>
  refuse('FORBIDDEN', { reason: 'sign_up', next: 'ask an owner of your organization for an invitation' });
