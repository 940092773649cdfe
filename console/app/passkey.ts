/** What this browser's authenticators do: make a passkey, and answer for one. Console A24. */
import type { PasskeyAnswer, PasskeyMade } from '../../protocol/schema/passkeys.ts';
import type { ReplyOf } from '../../protocol/routes.ts';

type Question = ReplyOf<'askPasskey'>;
type Creation = ReplyOf<'beginPasskey'>;

/** Browsers know passkeys of host names alone, and none of a page that is not secure. */
export const hasPasskeys = (): boolean =>
  typeof window.PublicKeyCredential === 'function' && !/^[\d.]+$|:/.test(window.location.hostname);

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (one) => one.charCodeAt(0));
const textOf = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
const known = (all: Question['allowCredentials']) => all.map(({ id, type }) => ({ id: bytesOf(id), type }));

/** The answer of a passkey; null where the person, or the browser, gave none. */
export async function answerOf(question: Question): Promise<PasskeyAnswer | null> {
  const { challenge, rpId, timeout, userVerification, allowCredentials } = question;
  const given = await orNull(() =>
    navigator.credentials.get({
      publicKey: {
        challenge: bytesOf(challenge),
        rpId,
        timeout,
        userVerification,
        allowCredentials: known(allowCredentials),
      },
    }),
  );
  if (given === null) return null;
  const response = given.response as AuthenticatorAssertionResponse;
  return {
    id: given.id,
    rawId: textOf(given.rawId),
    type: 'public-key',
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      authenticatorData: textOf(response.authenticatorData),
      signature: textOf(response.signature),
      ...(response.userHandle === null ? {} : { userHandle: textOf(response.userHandle) }),
    },
  };
}

/** A new passkey; null where the person, or the browser, made none. */
export async function madeBy(creation: Creation): Promise<PasskeyMade | null> {
  const { challenge, user, excludeCredentials, ...rest } = creation;
  const given = await orNull(() =>
    navigator.credentials.create({
      publicKey: {
        ...rest,
        challenge: bytesOf(challenge),
        user: { ...user, id: bytesOf(user.id) },
        excludeCredentials: known(excludeCredentials),
      },
    }),
  );
  if (given === null) return null;
  const response = given.response as AuthenticatorAttestationResponse;
  return {
    id: given.id,
    rawId: textOf(given.rawId),
    type: 'public-key',
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
    },
  };
}

/** A person who closes the browser's dialog, or waits too long, is no error. */
async function orNull(asked: () => Promise<Credential | null>): Promise<PublicKeyCredential | null> {
  try {
    return (await asked()) as PublicKeyCredential | null;
  } catch {
    return null;
  }
}
