/**
 * HTTP Message Signatures (RFC 9421) with `alg="ed25519"` and Content-Digest (RFC 9530): the edge signs, the cloud
 * verifies, both from this file. Decisions 2 fixes what is covered.
 *
 *   Signature-Input: sig=("@method" "@authority" "@path" "@query" "content-digest")
 *                    ;created=…;nonce="…";keyid="…";alg="ed25519"
 *   base: `"component": value` a line, in the order of the list, then `"@signature-params": ` and the text after `sig=`
 */
import { createHash, createPublicKey, timingSafeEqual, verify, type KeyObject } from 'node:crypto';

export const SIGNATURE_COMPONENTS = ['@method', '@authority', '@path', '@query', 'content-digest'] as const;
const LABEL = 'sig';

export interface SignedRequest {
  readonly method: string;
  /** Host and port as the client named them, lower case, without a default port. */
  readonly authority: string;
  /** Raw path, percent-encoded as sent. */
  readonly path: string;
  /** `?` and the raw query; a bare `?` where there is none. RFC 9421 §2.2.7. */
  readonly query: string;
  readonly contentDigest: string;
}

export interface MessageSignature {
  readonly components: readonly string[];
  readonly createdSeconds: number;
  readonly nonce: string;
  /** The public key, 64 hex digits. */
  readonly keyId: string;
  /** Text of the covered components and parameters as received: it is signed verbatim. */
  readonly parameters: string;
  readonly signature: Uint8Array;
}

/** The lines that are signed. Source: RFC 9421 §2.5. */
export function signatureBase(
  components: readonly (readonly [name: string, value: string])[],
  parameters: string,
): string {
  return [...components.map(([name, value]) => `"${name}": ${value}`), `"@signature-params": ${parameters}`].join('\n');
}

/** `sha-256=:…:` of a body; an empty body has one too. Source: RFC 9530 §2. */
export function contentDigestOf(body: Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}

/** Whether a Content-Digest is this body's: every algorithm of it that is known, and at least one. */
export function isDigestOf(contentDigest: string, body: Uint8Array): boolean {
  const entries = contentDigest.split(',').map((entry) => /^\s*(sha-256|sha-512)=:([A-Za-z0-9+/]+=*):\s*$/.exec(entry));
  return (
    entries.length > 0 &&
    entries.every((entry) => {
      if (entry === null) return false;
      const actual = createHash(entry[1] === 'sha-256' ? 'sha256' : 'sha512')
        .update(body)
        .digest();
      const claimed = Buffer.from(entry[2]!, 'base64');
      return actual.length === claimed.length && timingSafeEqual(actual, claimed);
    })
  );
}

const valueOf = (request: SignedRequest): Readonly<Record<string, string>> => ({
  '@method': request.method.toUpperCase(),
  '@authority': request.authority.toLowerCase(),
  '@path': request.path,
  '@query': request.query,
  'content-digest': request.contentDigest,
});

export interface Signer {
  readonly keyId: string;
  /** 64-byte Ed25519 signature of a message. */
  sign(message: Uint8Array): Uint8Array;
}

/** The three headers of a signed request. `nonce` is used once; `nowMs` becomes `created`. */
export function signRequest(
  request: { method: string; url: string | URL; body?: string | Uint8Array },
  signer: Signer,
  nonce: string,
  nowMs: number,
): { 'content-digest': string; 'signature-input': string; signature: string } {
  const url = new URL(request.url);
  const contentDigest = contentDigestOf(Buffer.from(request.body ?? ''));
  const values = valueOf({
    method: request.method,
    authority: url.host,
    path: url.pathname,
    query: url.search === '' ? '?' : url.search,
    contentDigest,
  });
  const created = Math.floor(nowMs / 1_000);
  const list = SIGNATURE_COMPONENTS.map((name) => `"${name}"`).join(' ');
  const parameters = `(${list});created=${created};nonce="${nonce}";keyid="${signer.keyId}";alg="ed25519"`;
  const base = signatureBase(
    SIGNATURE_COMPONENTS.map((name) => [name, values[name]!] as const),
    parameters,
  );
  const signature = Buffer.from(signer.sign(Buffer.from(base))).toString('base64');
  return {
    'content-digest': contentDigest,
    'signature-input': `${LABEL}=${parameters}`,
    signature: `${LABEL}=:${signature}:`,
  };
}

// label `=` `(` quoted components `)` then `;name=` and a quoted text or a number for each parameter
const INPUT = new RegExp(
  '^([a-z*][a-z0-9_.*-]{0,63})=(\\(("[a-z@-]+"(?: "[a-z@-]+"){0,15})\\)' +
    '((?:;[a-z]{1,20}=(?:"[A-Za-z0-9+/=_.:-]{0,256}"|[0-9]{1,15})){1,8}))$',
);
const ALLOWED = new Set(['created', 'nonce', 'keyid', 'alg']);

/**
 * The one signature of a request, or null when it has not exactly the form of decisions 2: the five components, each
 * once, and `created`, `nonce`, `keyid` (64 hex digits), with `alg` nothing but `ed25519` where it is given.
 */
export function parseSignature(signatureInput: string, signature: string): MessageSignature | null {
  const input = INPUT.exec(signatureInput.trim());
  const bytes = /^([a-z*][a-z0-9_.*-]{0,63})=:([A-Za-z0-9+/]{86}==):$/.exec(signature.trim());
  if (input === null || bytes === null || input[1] !== bytes[1]) return null;
  const components = input[3]!.split(' ').map((name) => name.slice(1, -1));
  const covered = SIGNATURE_COMPONENTS.every((name) => components.includes(name));
  if (!covered || components.length !== SIGNATURE_COMPONENTS.length) return null;
  const pairs = [...input[4]!.matchAll(/;([a-z]+)=(?:"([^"]*)"|([0-9]+))/g)];
  const texts = new Map(pairs.map(([, name, text]) => [name!, text] as const));
  const created = pairs.find(([, name]) => name === 'created')?.[3];
  const nonce = texts.get('nonce');
  const keyId = texts.get('keyid');
  if (texts.size !== pairs.length || [...texts.keys()].some((name) => !ALLOWED.has(name))) return null;
  if (texts.has('alg') && texts.get('alg') !== 'ed25519') return null;
  if (created === undefined || nonce === undefined || nonce.length < 8 || nonce.length > 128) return null;
  if (keyId === undefined || !/^[0-9a-f]{64}$/.test(keyId)) return null;
  return {
    components,
    createdSeconds: Number(created),
    nonce,
    keyId,
    parameters: input[2]!,
    signature: Buffer.from(bytes[2]!, 'base64'),
  };
}

/** Whether the signature is its key's over the request. The body is compared by `isDigestOf` when it has been read. */
export function isSignatureOf(signature: MessageSignature, request: SignedRequest): boolean {
  const key = publicKeyOf(signature.keyId);
  if (key === null) return false;
  const values = valueOf(request);
  const base = signatureBase(
    signature.components.map((name) => [name, values[name]!] as const),
    signature.parameters,
  );
  return verify(null, Buffer.from(base), key, signature.signature);
}

/** 2^255 − 19. */
const FIELD = (1n << 255n) - 19n;
/**
 * y coordinates of the points of order 1, 2, 4 and 8: anyone can sign for such a "key". Source: RFC 7748 §6,
 * libsodium's list.
 */
const SMALL_ORDER = new Set([
  0n,
  1n,
  FIELD - 1n,
  BigInt('0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826'),
  BigInt('0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7'),
]);

/** Whether 64 hex digits are a canonical Ed25519 public key of large order. */
export function isSoundPublicKey(hex: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(hex)) return false;
  const bytes = Buffer.from(hex, 'hex').reverse(); // little-endian on the wire
  bytes[0]! &= 0x7f; // the sign of x
  const y = BigInt(`0x${bytes.toString('hex')}`);
  return y < FIELD && !SMALL_ORDER.has(y);
}

/** Whether a text was signed with a key in hex; never by one of small order. */
export function isTextSignedBy(keyHex: string, text: string, signature: Uint8Array): boolean {
  const key = publicKeyOf(keyHex);
  return key !== null && signature.length === 64 && verify(null, Buffer.from(text), key, signature);
}

/** DER header of an Ed25519 public key: what follows is the 32-byte key. Source: RFC 8410 §4. */
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex');
/** Parsed keys that are kept: parsing one costs a third of a verification. */
const PARSED_KEYS_MAX = 10_000;
const parsedKeys = new Map<string, KeyObject>();

function publicKeyOf(hex: string): KeyObject | null {
  const known = parsedKeys.get(hex);
  if (known !== undefined) return known;
  if (!isSoundPublicKey(hex)) return null;
  const key = createPublicKey({
    key: Buffer.concat([SPKI_HEADER, Buffer.from(hex, 'hex')]),
    format: 'der',
    type: 'spki',
  });
  if (parsedKeys.size >= PARSED_KEYS_MAX) parsedKeys.delete(parsedKeys.keys().next().value!);
  parsedKeys.set(hex, key);
  return key;
}
