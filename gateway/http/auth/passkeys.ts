/**
 * Passkeys: challenges that are made here and answered once, and the answers of authenticators. The library that reads
 * them is loaded at its first use: its import takes half a second. Console A22, A24, A44.
 *
 *   asked ──▶ challenge, five minutes, for one purpose, user, login and request
 *   answered ──▶ spent, whatever becomes of the answer ──▶ origin, RP id, signature and presence are looked at
 */
import { createHash, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import {
  CHALLENGE_MS,
  type ChallengeFor,
  type PasskeyRow,
  type PasskeyStore,
} from '../../../model/ports/passkey-store.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { PasskeyAnswer, PasskeyMade } from '../../../protocol/schema/passkeys.ts';

const CHALLENGE_BYTES = 32;
/** EdDSA, ES256, RS256: what authenticators have. */
const ALGORITHMS = [-8, -7, -257];
const library = () => import('@simplewebauthn/server');

/** What an authenticator is asked to sign, as browsers read it (PublicKeyCredentialRequestOptionsJSON). */
export interface Question {
  readonly challenge: string;
  readonly rpId: string;
  readonly timeout: number;
  readonly userVerification: 'required';
  readonly allowCredentials: readonly { readonly id: string; readonly type: 'public-key' }[];
}

/** A passkey as it was made, without whose it is and what it is called. */
export type NewPasskey = Pick<PasskeyRow, 'credential' | 'publicKey' | 'counter'>;

export interface Passkeys {
  /** Null where browsers take passkeys of this origin. Refuses: CONFLICT with `setting`. */
  unavailable(): Refusal | null;
  /** Opens a challenge. `known`: the credentials that may answer; any where there are none. */
  ask(of: ChallengeFor, known?: readonly Pick<PasskeyRow, 'credential'>[]): Promise<Question>;
  /** The passkey whose answer it is, or null; the challenge is spent in both cases. */
  answered(of: ChallengeFor, answer: PasskeyAnswer): Promise<{ passkey: PasskeyRow; counter: number } | null>;
  /** The new passkey, or null; the challenge is spent in both cases. */
  made(of: ChallengeFor, made: PasskeyMade): Promise<NewPasskey | null>;
  readonly algorithms: readonly number[];
}

/** What a proof is bound to: the hash of operation, path and body. */
export function bindingOf(call: { operation: string; params: unknown; body: unknown }): string {
  return createHash('sha256')
    .update(canonical([call.operation, call.params ?? {}, call.body ?? {}]))
    .digest('hex');
}

/** JSON with the keys of objects in order: the same call is the same text, however it was written. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join(',')}}`;
}

const hashOf = (challenge: string): string => createHash('sha256').update(challenge).digest('hex');

/** The challenge that an answer says it is to; empty for what is no answer. */
function challengeIn(clientDataJSON: string): string {
  try {
    const { challenge, crossOrigin } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8')) as {
      challenge?: unknown;
      crossOrigin?: unknown;
    };
    // No page of ours is framed: an answer out of a frame is to nothing that was asked.
    return typeof challenge === 'string' && crossOrigin !== true ? challenge : '';
  } catch {
    return '';
  }
}

export function createPasskeys({
  publicUrl,
  store,
  nowMs,
}: {
  publicUrl: string;
  store: Pick<PasskeyStore, 'openChallenge' | 'spendChallenge' | 'byCredential'>;
  nowMs: () => number;
}): Passkeys {
  const { origin, hostname, protocol } = new URL(publicUrl);
  const isHost = isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  const spent = (of: ChallengeFor, clientDataJSON: string): Promise<boolean> =>
    store.spendChallenge(hashOf(challengeIn(clientDataJSON)), of, nowMs());
  return {
    algorithms: ALGORITHMS,
    unavailable: () =>
      isHost && isSecure
        ? null
        : refuse('CONFLICT', {
            reason: 'no_passkeys_here',
            setting: 'PUBLIC_URL',
            next: 'browsers take passkeys of an https origin with a host name, or of localhost',
          }),
    async ask(of, known = []) {
      const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
      await store.openChallenge(hashOf(challenge), of, nowMs() + CHALLENGE_MS);
      return {
        challenge,
        rpId: hostname,
        timeout: CHALLENGE_MS,
        userVerification: 'required',
        allowCredentials: known.map(({ credential }) => ({ id: credential, type: 'public-key' })),
      };
    },
    async answered(of, answer) {
      const isOpen = await spent(of, answer.response.clientDataJSON);
      const passkey = await store.byCredential(answer.id);
      if (!isOpen || passkey === null || (of.userId !== null && passkey.userId !== of.userId)) return null;
      const { userHandle } = answer.response;
      if (userHandle !== undefined && userHandle !== handleOf(passkey.userId)) return null;
      const { verifyAuthenticationResponse } = await library();
      try {
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: { ...answer, clientExtensionResults: {} } as never,
          expectedChallenge: challengeIn(answer.response.clientDataJSON),
          expectedOrigin: origin,
          expectedRPID: hostname,
          // A counter that does not rise is noted, and no refusal: many authenticators count nothing.
          credential: { id: passkey.credential, publicKey: bytesOf(passkey.publicKey), counter: 0 },
        });
        return verified ? { passkey, counter: authenticationInfo.newCounter } : null;
      } catch {
        return null; // another origin, another RP, nobody present, a forged signature
      }
    },
    async made(of, made) {
      if (!(await spent(of, made.response.clientDataJSON))) return null;
      const { verifyRegistrationResponse } = await library();
      try {
        const { verified, registrationInfo } = await verifyRegistrationResponse({
          response: { ...made, clientExtensionResults: {} } as never,
          expectedChallenge: challengeIn(made.response.clientDataJSON),
          expectedOrigin: origin,
          expectedRPID: hostname,
          supportedAlgorithmIDs: ALGORITHMS,
        });
        if (!verified) return null;
        const { id, publicKey, counter } = registrationInfo.credential;
        return { credential: id, publicKey: Buffer.from(publicKey).toString('base64url'), counter };
      } catch {
        return null;
      }
    },
  };
}

/** What authenticators keep as the user of a passkey: our id of them, which says nothing else. */
export const handleOf = (userId: string): string => Buffer.from(userId, 'utf8').toString('base64url');
const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text, 'base64url'));
