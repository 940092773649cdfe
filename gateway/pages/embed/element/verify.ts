/**
 * Whether an address is the one of the merchant whose key the page pins: the signature is checked over the text that is
 * built from what will be shown, never over one that the cloud says. payments E4, E6.
 */
import { edwards } from '@noble/curves/abstract/edwards.js';
import { attestedText, isInItsTime, type AttestedFamily } from '../../../../protocol/attestation.ts';
import type { Environment } from '../../../../protocol/slugs.ts';

export interface Claim {
  readonly chain: string;
  readonly address: string;
  readonly attestation: {
    readonly v: number;
    readonly issuedAt: string;
    readonly validUntil: string;
    readonly signature: string;
  } | null;
}

const FAMILIES: Readonly<Record<string, AttestedFamily>> = {
  btc: 'btc',
  tron: 'tron',
  eth: 'evm',
  bsc: 'evm',
  polygon: 'evm',
  avax: 'evm',
  base: 'evm',
};

/** RFC 8032 §5.1. */
const P = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const Point = edwards({
  p: P,
  n: ORDER,
  h: 8n,
  a: P - 1n,
  d: 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n,
  Gx: 0x216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51an,
  Gy: 0x6666666666666666666666666666666666666666666666666666666666666658n,
});

/** Little-endian. */
const numberOf = (bytes: Uint8Array): bigint => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** For browsers whose crypto has no Ed25519. RFC 8032 §5.1.7, over the points of a library. */
export async function isSignedSlowly(key: Uint8Array, text: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const [r, s] = [signature.slice(0, 32), numberOf(signature.slice(32))];
  if (s >= ORDER) return false;
  const hashed = new Uint8Array(64 + text.length);
  hashed.set(r);
  hashed.set(key, 32);
  hashed.set(text, 64);
  const k = numberOf(new Uint8Array(await crypto.subtle.digest('SHA-512', hashed))) % ORDER;
  try {
    const [point, of] = [Point.fromBytes(r), Point.fromBytes(key)];
    if (of.isSmallOrder()) return false;
    const right = k === 0n ? point : point.add(of.multiplyUnsafe(k));
    return s !== 0n && Point.BASE.multiplyUnsafe(s).equals(right);
  } catch {
    return false; // no point of the curve
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

async function isSigned(key: Bytes, text: Bytes, signature: Bytes): Promise<boolean> {
  let imported: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
  try {
    imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']);
  } catch {
    return isSignedSlowly(key, text, signature);
  }
  return crypto.subtle.verify('Ed25519', imported, signature, text);
}

export const bytesOfHex = (hex: string): Bytes =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

function bytesOfBase64Url(text: string): Bytes | null {
  if (!/^[A-Za-z0-9_-]{86}$/.test(text)) return null;
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
}

/** True only where one of the pinned keys signed this very address, of this environment and family, in its time. */
export async function isMerchants(
  { chain, address, attestation }: Claim,
  keys: readonly string[],
  environment: Environment,
  nowMs: number,
): Promise<boolean> {
  const family = Object.hasOwn(FAMILIES, chain) ? FAMILIES[chain] : undefined;
  if (family === undefined || attestation === null || attestation.v !== 1) return false;
  const { issuedAt, validUntil } = attestation,
    signature = bytesOfBase64Url(attestation.signature);
  if (signature === null || !isInItsTime({ issuedAt, validUntil }, nowMs)) return false;
  const text = new TextEncoder().encode(attestedText({ environment, family, address, issuedAt, validUntil }));
  for (const key of keys) if (await isSigned(bytesOfHex(key), text, signature)) return true;
  return false;
}

/** First 16 hex digits of SHA-256 of a key: the key itself would be taken for key material. payments E9. */
export async function fingerprintOf(key: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOfHex(key)));
  return [...hash.slice(0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
