/** API keys: `flk_live_` or `flk_test_` and 192 random bits; stored as SHA-256. Spec §5, decisions 2. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ApiKeyRow, IdentityStore } from '../../../model/ports/identity-store.ts';
import { base32 } from '../../../protocol/node/ids.ts';
import type { Environment } from '../../../protocol/slugs.ts';

const SECRET_BYTES = 24;
/** Letters of the secret that may be shown. */
const PREVIEW_CHARS = 8;
const PREFIX: Readonly<Record<Environment, string>> = { live: 'flk_live_', sandbox: 'flk_test_' };
const FORM = /^flk_(live|test)_[a-z2-7]{39}$/;
/** The form in words. */
const KEY_FORM = 'flk_live_ or flk_test_ and 39 characters of a–z and 2–7';

export interface MintedKey {
  readonly key: string;
  readonly hash: string;
  readonly maskedPrefix: string;
}

/** A new key; only its hash is stored. */
export function mintApiKey(environment: Environment, random: Uint8Array = randomBytes(SECRET_BYTES)): MintedKey {
  const secret = base32(random);
  const key = `${PREFIX[environment]}${secret}`;
  return { key, hash: hashOf(key), maskedPrefix: `${PREFIX[environment]}${secret.slice(0, PREVIEW_CHARS)}…` };
}

/** SHA-256 of a key, 64 hex digits. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** The environment that a key's prefix fixes, or null for a text that is no cloud key (`loc_` is none). */
export function environmentOfKey(key: string): Environment | null {
  const form = FORM.exec(key);
  if (form === null) return null;
  return form[1] === 'live' ? 'live' : 'sandbox';
}

/**
 * What to do about a key that is not taken. All keys of the right form that are not taken are answered alike, whether
 * they were never minted, are revoked or another deployment's: nobody learns by guessing which exist.
 */
export function whyNoKey(key: string): Record<string, string> {
  // Only the edge that issued it can know such a key.
  if (/^loc_(?:live|test)_/.test(key))
    return { reason: 'local_key', next: 'this is a key of your edge: call your edge, or the cloud with a flk_ key' };
  if (environmentOfKey(key) === null)
    return {
      reason: 'malformed_key',
      expected: KEY_FORM,
      next: 'send the key whole and alone: no quotes, no "Bearer", X-API-Key once',
    };
  return {
    reason: 'unknown_key',
    next: 'the key is mistyped, revoked, expired or of another deployment: compare it with the one that was minted, or have one minted (flock api-keys mint)',
  };
}

/** A revocation on another node takes effect within this time. Spec test: 30 s. */
const CACHE_MS = 15_000;
const CACHED_KEYS_MAX = 100_000;
/** How often the use of a key is noted. Console A33. */
const USE_MS = 60_000;

export interface ApiKeys {
  /** The key's row, or null for one that is malformed, unknown, revoked or of another environment than its prefix. */
  authenticate(key: string): Promise<ApiKeyRow | null>;
  /** The same, asked of the database: what another node revoked a moment ago is no key. */
  authenticateNow(key: string): Promise<ApiKeyRow | null>;
  /** Notes that a key was taken, once a minute at most; whether that is stored holds nobody up. */
  used(id: string): void;
  /** Milliseconds that a key is still good for; null for ever. */
  leftMs(row: Pick<ApiKeyRow, 'expiresAtMs'>): number | null;
  /** Drops what is remembered of an organization's keys, after one was revoked here. */
  forget(organizationId: string): void;
}

/**
 * Reads keys by hash and remembers valid ones for `CACHE_MS` of `elapsedMs`, a clock that never steps: with the wall
 * clock a step backwards would prolong the life of a revoked key. An unknown key is asked for each time.
 */
export function createApiKeys(
  store: Pick<IdentityStore, 'apiKeyByHash'> & Partial<Pick<IdentityStore, 'noteKeyUse'>>,
  elapsedMs: () => number = () => performance.now(),
  nowMs: () => number = Date.now,
  onForget: (organizationId: string) => void = () => undefined,
): ApiKeys {
  const usedAtMs = new Map<string, number>();
  const leftMs = ({ expiresAtMs }: Pick<ApiKeyRow, 'expiresAtMs'>) =>
    expiresAtMs === undefined ? null : Math.max(0, expiresAtMs - nowMs());
  const cache = new Map<string, { row: ApiKeyRow; untilMs: number }>();
  /** How often something was forgotten: what was read before that is not remembered. */
  let forgotten = 0;
  const authenticateNow = async (key: string): Promise<ApiKeyRow | null> => {
    const environment = environmentOfKey(key);
    if (environment === null) return null;
    const hash = hashOf(key);
    cache.delete(hash);
    const before = forgotten,
      askedMs = elapsedMs();
    const row = await store.apiKeyByHash(hash);
    if (row === null || row.revokedAtMs !== null || row.environment !== environment || leftMs(row) === 0) return null;
    if (!timingSafeEqual(Buffer.from(row.hash, 'hex'), Buffer.from(hash, 'hex'))) return null;
    if (forgotten !== before) return row;
    if (cache.size >= CACHED_KEYS_MAX) cache.delete(cache.keys().next().value!);
    // From before the question: an answer may have lain with a process that was frozen.
    cache.set(hash, { row, untilMs: askedMs + CACHE_MS });
    return row;
  };
  return {
    async authenticate(key) {
      if (environmentOfKey(key) === null) return null;
      const cached = cache.get(hashOf(key));
      return cached !== undefined && elapsedMs() < cached.untilMs && leftMs(cached.row) !== 0
        ? cached.row
        : authenticateNow(key);
    },
    authenticateNow,
    leftMs,
    used(id) {
      const before = usedAtMs.get(id);
      if (before !== undefined && elapsedMs() < before + USE_MS) return;
      if (usedAtMs.size >= CACHED_KEYS_MAX) usedAtMs.delete(usedAtMs.keys().next().value!);
      usedAtMs.set(id, elapsedMs());
      store.noteKeyUse?.(id, nowMs()).catch(() => usedAtMs.delete(id));
    },
    forget(organizationId) {
      forgotten += 1;
      for (const [hash, { row }] of cache) if (row.organizationId === organizationId) cache.delete(hash);
      onForget(organizationId);
    },
  };
}
