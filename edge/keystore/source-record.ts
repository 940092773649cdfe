/**
 * A key source: a phrase or a single key that came from elsewhere, beside the edge's own phrase. This record is
 * public; the secret is sealed beside it. Spec §2.12, §4.8.
 */
import { z } from 'zod';
import { CHAINS, ENVIRONMENTS } from '../../protocol/slugs.ts';

/** Families that a source can hold. The Ed25519 families have no extended public keys to register. */
export const SOURCE_FAMILIES = ['evm', 'btc', 'tron', 'xrp'] as const;
export type SourceFamily = (typeof SOURCE_FAMILIES)[number];

const sourceKey = z.strictObject({
  family: z.enum(SOURCE_FAMILIES),
  /** Path of the extended key; null for a single key. */
  path: z.string().nullable(),
  xpub: z.string().nullable(),
  /** Of a single key: SEC 1 or 0xED || Ed25519, hex. Null where there is an extended key. */
  publicKey: z.string().nullable(),
});
export type SourceKey = z.infer<typeof sourceKey>;

const registeredAddress = z.strictObject({ chain: z.enum(CHAINS), path: z.string().nullable(), address: z.string() });
/** An address that the cloud has of a source. `path` is absolute below the phrase; null for a single key. */
export type RegisteredAddress = z.infer<typeof registeredAddress>;

const signedBranch = z.strictObject({ path: z.string(), to: z.number().int().min(0).max(0x7fff_ffff) });
export type SignedBranch = z.infer<typeof signedBranch>;

export const sourceRecord = z.strictObject({
  /** 16 hex digits: SHA-256 of the compressed master key of a phrase, or of the single key. */
  fingerprint: z.string().regex(/^[0-9a-f]{16}$/),
  kind: z.enum(['phrase', 'key']),
  label: z.string(),
  /** The phrase of this edge itself: it has the identity and is not registered as a source. */
  own: z.boolean(),
  createdAt: z.string(),
  purgedAt: z.string().nullable(),
  keys: z.array(sourceKey),
  addresses: z.array(registeredAddress),
  /** Branches that it signs under, in place of each address: `path/i` up to i = `to`. Absent where there are none. */
  branches: z.array(signedBranch).optional(),
  /** Where it was registered: one keystore serves one environment. Null before. */
  environment: z.enum(ENVIRONMENTS).nullable(),
  /** What the cloud calls it; null before it was registered. */
  sourceId: z.string().nullable(),
  /** The cloud knows that it was purged. */
  purgeTold: z.boolean(),
  /** The sealed seed (64 bytes) or private key (32 bytes), base64; null once purged. */
  secret: z.string().nullable(),
});
export type SourceRecord = z.infer<typeof sourceRecord>;

export const keystoreContent = z.strictObject({ sources: z.array(sourceRecord).max(10_000) });

/**
 * Where an address of a source is, in the service's paths: the source's fingerprint and the path below it, as the key
 * origin of an output descriptor has them. `[0123456789abcdef/44'/60'/0'/0/3]`, or `[0123456789abcdef]` for a single
 * key. Source: BIP-380 key origin; the fingerprint is this service's, not BIP-32's four bytes.
 */
export function originOf(fingerprint: string, path: string | null): string {
  return `[${fingerprint}${path === null ? '' : path.slice(1)}]`;
}

/** Fingerprint and path of an origin; null for a path of the edge's own phrase. */
export function parseOrigin(text: string): { fingerprint: string; path: string | null } | null {
  const [, fingerprint, below] = /^\[([0-9a-f]{16})((?:\/[0-9]{1,10}'?)*)\]$/.exec(text) ?? [];
  return fingerprint === undefined ? null : { fingerprint, path: below === '' ? null : `m${below}` };
}
