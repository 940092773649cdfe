/** The built-in issuer: EdDSA access tokens and the keys that verify them. Decisions 2. */
import { createPrivateKey, randomBytes, sign, type JsonWebKey, type KeyObject } from 'node:crypto';
import { SignJWT, type JWK, type JWTPayload } from 'jose';
import type { IdentityStore } from '../../../model/ports/identity-store.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { SecretBox } from '../../../model/ports/secret-box.ts';
import type { SupportSessionRow } from '../../../model/ports/support-store.ts';
import type { Bearer } from '../context.ts';

export const TOKEN_AUDIENCE = 'flock';
/** Decisions 2. Seconds. */
export const ACCESS_TOKEN_SECONDS = 900;
export const ALGORITHM = 'EdDSA';

/** Additional data under which a signing key is sealed. */
export const signingKeyContext = (kid: string) => `signing_key|jwk|${kid}`;

/** DER header of an Ed25519 private key: what follows is the 32-byte seed. Source: RFC 8410 §7. */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface Issuer {
  issue(bearer: Bearer): Promise<string>;
  /** A token of a support session: as long as it, and never renewed. */
  issueSupport(session: Omit<SupportSessionRow, 'endedAtMs'>): Promise<string>;
  /** Signs a text that is no token, by the newest key: Ed25519, base64url. */
  signText(text: string): { kid: string; signature: string };
  /** Public keys, newest first. */
  publicKeys(): readonly JWK[];
  /** Reads the store again, for a key that another node made. */
  reload(): Promise<void>;
}

interface SigningKey {
  readonly kid: string;
  readonly secret: KeyObject;
  readonly publicJwk: JWK;
}

/** Reads the signing keys of the store; makes the first one where there is none. */
export async function createIssuer({
  identity,
  secrets,
  nowMs,
  issuerUrl,
}: {
  identity: Pick<IdentityStore, 'signingKeys' | 'insertSigningKey'>;
  secrets: SecretBox;
  nowMs: () => number;
  issuerUrl: string;
}): Promise<Issuer> {
  let keys: SigningKey[] = [];
  const reload = async (): Promise<void> => {
    const rows = await identity.signingKeys();
    keys = rows
      .toSorted((left, right) => right.createdAtMs - left.createdAtMs)
      .map((row) => {
        const jwk = JSON.parse(secrets.open(row.sealedPrivateJwk, signingKeyContext(row.kid))) as JsonWebKey;
        return { kid: row.kid, secret: createPrivateKey({ key: jwk, format: 'jwk' }), publicJwk: row.publicJwk as JWK };
      });
  };
  await reload();
  if (keys.length === 0) {
    const kid = newId('key', nowMs());
    const whole = createPrivateKey({
      key: Buffer.concat([PKCS8_HEADER, randomBytes(32)]),
      format: 'der',
      type: 'pkcs8',
    }).export({ format: 'jwk' });
    const publicJwk = { kty: 'OKP', crv: 'Ed25519', x: whole.x!, kid, alg: ALGORITHM, use: 'sig' };
    const sealedPrivateJwk = secrets.seal(JSON.stringify(whole), signingKeyContext(kid));
    await identity.insertSigningKey({ kid, sealedPrivateJwk, publicJwk, createdAtMs: nowMs() });
    await reload();
  }
  const seconds = (ms: number) => Math.floor(ms / 1_000);
  const signed = ({ kid, secret }: SigningKey, claims: JWTPayload, subject: string, endsAtMs: number) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
      .setSubject(subject)
      .setIssuer(issuerUrl)
      .setAudience(TOKEN_AUDIENCE)
      .setIssuedAt(seconds(nowMs()))
      .setExpirationTime(seconds(endsAtMs))
      .setJti(newId('req', nowMs()))
      .sign(secret);
  return {
    reload,
    signText(text) {
      const { kid, secret } = keys[0]!;
      return { kid, signature: sign(null, Buffer.from(text), secret).toString('base64url') };
    },
    publicKeys: () => keys.map(({ publicJwk }) => publicJwk),
    issue: (bearer) =>
      signed(
        keys[0]!,
        {
          ...(bearer.loginId === null ? {} : { sid: bearer.loginId }),
          ...(bearer.organizationId === null ? {} : { org_id: bearer.organizationId }),
          ...(bearer.role === null ? {} : { org_role: bearer.role }),
          ...(bearer.platformAdmin ? { platform_role: 'admin' } : {}),
          ...(bearer.totpAtMs === null ? {} : { totp_at: seconds(bearer.totpAtMs) }),
          auth_time: seconds(bearer.authAtMs),
        },
        bearer.userId,
        nowMs() + ACCESS_TOKEN_SECONDS * 1_000,
      ),
    issueSupport: ({ id, organizationId, adminId, createdAtMs, endsAtMs }) =>
      signed(
        keys[0]!,
        { sup: id, act: { sub: adminId }, org_id: organizationId, org_role: 'viewer', auth_time: seconds(createdAtMs) },
        adminId,
        endsAtMs,
      ),
  };
}
