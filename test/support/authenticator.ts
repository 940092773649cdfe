/** An authenticator in software: it makes passkeys and answers for them, and may be made to lie in one thing. */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

const UP = 0x01,
  UV = 0x04,
  AT = 0x40;

/** What an answer says that is not so. */
export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly flags?: number;
  readonly counter?: number;
  readonly crossOrigin?: boolean;
  readonly userHandle?: string;
  /** Signs with this key. */
  readonly key?: KeyObject;
}

export interface Made {
  readonly id: string;
  readonly key: KeyObject;
  readonly userHandle: string;
  counter: number;
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const sha256 = (text: string | Uint8Array): Buffer => createHash('sha256').update(text).digest();

/** CBOR of what is needed: small integers, bytes, text, maps. RFC 8949. */
function cbor(value: unknown): Buffer {
  const head = (major: number, size: number): Buffer =>
    size < 24
      ? Buffer.from([(major << 5) | size])
      : size < 256
        ? Buffer.from([(major << 5) | 24, size])
        : Buffer.from([(major << 5) | 25, size >> 8, size & 255]);
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  const entries = [...(value as Map<unknown, unknown>)];
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, one]) => [cbor(key), cbor(one)])]);
}

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

/** `origin`: of the page that asks. */
export function softAuthenticator(origin: string) {
  const clientData = (type: string, challenge: string, lies: Lies): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? origin,
        crossOrigin: lies.crossOrigin ?? false,
      }),
    );
  return {
    /** The answer to the options of a new passkey, and what the authenticator keeps of it. */
    make(
      creation: { challenge: string; rp: { id: string }; user: { id: string } },
      lies: Lies = {},
    ): { made: Made; answer: object } {
      const key = lies.key ?? newKey();
      const { x, y } = key.export({ format: 'jwk' }) as { x: string; y: string };
      const id = randomBytes(32);
      const cose = cbor(
        new Map<unknown, unknown>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, Buffer.from(x, 'base64url')],
          [-3, Buffer.from(y, 'base64url')],
        ]),
      );
      const authData = Buffer.concat([
        sha256(lies.rpId ?? creation.rp.id),
        Buffer.from([lies.flags ?? UP | UV | AT]),
        number(lies.counter ?? 0),
        Buffer.alloc(16),
        Buffer.from([id.length >> 8, id.length & 255]),
        id,
        cose,
      ]);
      const attestation = cbor(
        new Map<unknown, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      );
      const made = { id: base64url(id), key, userHandle: creation.user.id, counter: lies.counter ?? 0 };
      const response = {
        clientDataJSON: base64url(clientData('webauthn.create', creation.challenge, lies)),
        attestationObject: base64url(attestation),
      };
      return { made, answer: { id: made.id, rawId: made.id, type: 'public-key', response } };
    },
    /** The answer of a passkey to a question. */
    answer(made: Made, question: { challenge: string; rpId: string }, lies: Lies = {}) {
      made.counter += 1;
      const data = clientData('webauthn.get', question.challenge, lies);
      const authData = Buffer.concat([
        sha256(lies.rpId ?? question.rpId),
        Buffer.from([lies.flags ?? UP | UV]),
        number(lies.counter ?? made.counter),
      ]);
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), lies.key ?? made.key);
      return {
        id: made.id,
        rawId: made.id,
        type: 'public-key' as const,
        response: {
          clientDataJSON: base64url(data),
          authenticatorData: base64url(authData),
          signature: base64url(signature),
          userHandle: lies.userHandle ?? made.userHandle,
        },
      };
    },
  };
}
