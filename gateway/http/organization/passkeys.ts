/** Passkeys of the signed-in person, and signing in by one. Console A22, A24. */
import type { ChallengeFor } from '../../../model/ports/passkey-store.ts';
import { PASSKEYS_MAX } from '../../../model/ports/passkey-store.ts';
import { isRefusal, notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { bindingOf, handleOf } from '../auth/passkeys.ts';
import { entranceOf, lastBreakGlass } from '../auth/sso-required.ts';
import { createThrottles } from '../auth/throttles.ts';
import { ofUser } from '../audit-note.ts';
import { bearerOf, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull, wholePage } from '../views.ts';
import { newLetterId } from './links.ts';
import { wrongPassword } from './present-password.ts';
import { notFresh, notFreshEnough, signedInLately, useOf } from './second-factor.ts';
import { createSessions } from './sessions.ts';

type Area =
  | 'beginPasskeySignIn'
  | 'signInByPasskey'
  | 'beginPasskey'
  | 'addPasskey'
  | 'listPasskeys'
  | 'removePasskey'
  | 'askPasskey';

const SIGN_IN: ChallengeFor = { purpose: 'sign_in', userId: null, loginId: null, boundTo: null };
/** What authenticators show of us. */
const NAME = 'Flock';

export function passkeyHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    auth: { passkeys },
    stores: { identity, passkeys: store },
    config,
    nowMs,
  } = deps;
  const sessions = createSessions(deps);
  const throttles = createThrottles(deps);
  const noticed = () => ({ letterId: newLetterId(), nowMs: nowMs() });
  const of = (asked: Pick<Asked, 'caller'>, purpose: 'add' | 'step_up'): ChallengeFor => {
    const { userId, loginId } = bearerOf(asked);
    return { purpose, userId, loginId, boundTo: null };
  };

  /** The holder of a session must not make a passkey of their own: the factor, or the password, comes first. */
  async function mayNotAdd(asked: Asked<'beginPasskey'>): Promise<Refusal | null> {
    const bearer = bearerOf(asked);
    const { userId } = bearer;
    const user = await identity.userById(userId);
    if (user === null) return refuse('UNAUTHORIZED');
    if (user.totpConfirmed || user.passkeys > 0) return notFresh(deps, asked, undefined);
    const { password } = asked.body;
    if (password !== undefined)
      return wrongPassword({ ...deps, throttles }, asked, user, {
        field: 'password',
        typed: password,
        action: 'addPasskey',
      });
    return signedInLately(bearer, nowMs()) ? null : notFreshEnough(['password']);
  }

  return {
    async beginPasskeySignIn(asked) {
      const refused = passkeys.unavailable() ?? (await throttles.ofAddress(asked.clientAddress));
      // Any passkey of this origin may answer: nobody learns who has one.
      return refused ?? { ...(await passkeys.ask(SIGN_IN)), allowCredentials: [] };
    },
    async signInByPasskey(asked) {
      const refused = passkeys.unavailable() ?? (await throttles.ofAddress(asked.clientAddress));
      if (refused !== null) return refused;
      const found = await passkeys.answered(SIGN_IN, asked.body.passkey);
      if (found === null) return refuse('UNAUTHORIZED');
      const { passkey, counter } = found;
      const user = await identity.userById(passkey.userId);
      const { organizationId } = asked.body;
      if (user === null || user.isSuspended) return refuse('UNAUTHORIZED');
      const entrance = entranceOf(config, user, organizationId);
      if (isRefusal(entrance)) return entrance;
      const { membership } = entrance;
      await useOf(deps, asked, passkey, counter);
      asked.setHeader('set-cookie', throttles.deviceCookie(user.email));
      return sessions.begin(asked, user, membership, { method: 'passkey', totpAtMs: nowMs() });
    },
    async beginPasskey(asked) {
      const refused = passkeys.unavailable() ?? (await mayNotAdd(asked));
      if (refused !== null) return refused;
      const { userId } = bearerOf(asked);
      const [user, known] = [await identity.userById(userId), await store.passkeys(userId)];
      if (user === null) return refuse('UNAUTHORIZED');
      if (known.length >= PASSKEYS_MAX) return tooMany();
      const { challenge, rpId, timeout } = await passkeys.ask(of(asked, 'add'));
      return {
        challenge,
        rp: { id: rpId, name: NAME },
        user: { id: handleOf(user.id), name: user.email, displayName: user.email },
        pubKeyCredParams: passkeys.algorithms.map((alg) => ({ type: 'public-key' as const, alg })),
        timeout,
        attestation: 'none' as const,
        authenticatorSelection: {
          residentKey: 'required' as const,
          requireResidentKey: true as const,
          userVerification: 'required' as const,
        },
        excludeCredentials: known.map(({ credential }) => ({ id: credential, type: 'public-key' as const })),
      };
    },
    async addPasskey(asked) {
      const { name, passkey: made } = asked.body;
      const added = await passkeys.made(of(asked, 'add'), made);
      if (added === null)
        return refuse('INVALID_INPUT', {
          field: 'passkey',
          reason: 'not_verified',
          next: 'begin again: it is good once',
        });
      const { userId } = bearerOf(asked);
      const id = newId('psk', nowMs());
      const row = { id, userId, ...added, name, createdAtMs: nowMs(), lastUsedAtMs: null };
      const outcome = await store.add(row, noticed(), ofUser(asked, 'addPasskey', { target: id }));
      if (outcome === 'limit') return tooMany();
      if (outcome === 'known')
        return refuse('CONFLICT', { reason: 'known', next: 'this device has a passkey already' });
      return viewOf(row);
    },
    async listPasskeys(asked) {
      const rows = (await store.passkeys(bearerOf(asked).userId)).map(viewOf);
      return wholePage('passkeys', rows, asked.query, ({ createdAt, id }) => `${createdAt} ${id}`, 'newest');
    },
    async removePasskey(asked) {
      const stale = await notFresh(deps, asked, undefined);
      if (stale !== null) return stale;
      const { userId } = bearerOf(asked);
      const { id } = asked.params;
      const outcome = await store.remove(userId, id, noticed(), ofUser(asked, 'removePasskey', { target: id }));
      if (outcome === 'none') return notFound('passkey', id);
      if (outcome === 'break_glass') return lastBreakGlass();
      if (outcome === 'required')
        return refuse('CONFLICT', {
          reason: 'required',
          next: 'an owner of an organization with live addresses keeps a second factor: set another one up first',
        });
      return { removed: true as const };
    },
    async askPasskey(asked) {
      const { userId, loginId } = bearerOf(asked);
      const { operation, params, body } = asked.body;
      const known = await store.passkeys(userId);
      const missing = passkeys.unavailable();
      if (missing !== null) return missing;
      if (known.length === 0)
        return refuse('TOTP_REQUIRED', { reason: 'not_enrolled', next: 'make a passkey in your profile' });
      const question = await passkeys.ask(
        operation === undefined
          ? of(asked, 'step_up')
          : { purpose: 'proof', userId, loginId, boundTo: bindingOf({ operation, params, body }) },
        known,
      );
      return { ...question, allowCredentials: [...question.allowCredentials] };
    },
  };

  function viewOf(row: { id: string; name: string; createdAtMs: number; lastUsedAtMs: number | null }) {
    const { id, name, createdAtMs, lastUsedAtMs } = row;
    return { id, name, createdAt: instantOf(createdAtMs), lastUsedAt: instantOrNull(lastUsedAtMs) };
  }
}

const tooMany = (): Refusal =>
  refuse('CONFLICT', { reason: 'passkeys', limit: PASSKEYS_MAX, next: 'remove one that you use no more' });
