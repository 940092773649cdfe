/**
 * Public child derivation on secp256k1, once for btc, evm, tron and xrp. The native library does the point addition
 * and node's OpenSSL the HMAC; a test holds both to @scure/bip32.
 *
 * Extended public key (78 bytes, Base58Check): version(4) || depth(1) || fingerprint(4) || index(4) || chain(32) ||
 * key(33) Child i of (K, c): I = HMAC-SHA512(c, serP(K) || ser32(i)); K_i = IL·G + K; c_i = IR. Source: BIP-32.
 */
import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { createBase58check } from '@scure/base';
import secp256k1 from 'secp256k1';
import { refuse, type Refusal } from '../protocol/errors.ts';

/** SLIP-0132: the same key under other version bytes; the script type they hint at is the caller's business. */
const PUBLIC_VERSIONS: Readonly<Record<number, 'xpub' | 'ypub' | 'zpub'>> = {
  0x0488b21e: 'xpub',
  0x049d7cb2: 'ypub',
  0x04b24746: 'zpub',
};
const XPUB_VERSION = 0x0488b21e;
/** Public versions that are understood and not taken. Source: SLIP-0132. */
const OTHER_VERSIONS: Readonly<Record<number, 'multisig_key' | 'test_network'>> = {
  0x0295b43f: 'multisig_key', // Ypub
  0x02aa7ed3: 'multisig_key', // Zpub
  0x043587cf: 'test_network', // tpub
  0x044a5262: 'test_network', // upub
  0x045f1cf6: 'test_network', // vpub
  0x024289ef: 'test_network', // Upub
  0x02575483: 'test_network', // Vpub
};

/** Key texts whose four letters give a private one away, before anything of them is decoded. */
const LOOKS_PRIVATE = /^[a-zA-Z]prv/;

/** Extended keys kept parsed, with both branches; about 1 kB each. Choice: every account of a busy node. */
const CACHED_KEYS_MAX = 20_000;

/** Indexes from here on are hardened and have no public child. Source: BIP-32. */
export const HARDENED = 0x8000_0000;

const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());

export interface ExtendedPublicKey {
  readonly ok: true;
  /** The same key under the `xpub` version bytes: the one form that is stored and compared. */
  readonly xpub: string;
  /** Version that the text had. */
  readonly version: 'xpub' | 'ypub' | 'zpub';
  readonly depth: number;
  readonly parentFingerprint: string; // 8 hex digits
  readonly index: number;
  readonly publicKey: Uint8Array; // 33 bytes
  readonly chainCode: Uint8Array; // 32 bytes
}

/**
 * An extended public key from xpub, ypub or zpub text. Refuses: INVALID_INPUT with the reason (checksum, version,
 * `multisig_key` for Ypub and Zpub, `test_network`, prefix, curve, depth 0 with a parent), KEY_MATERIAL_REJECTED for
 * a private one; nothing of the text is repeated.
 */
export function parseXpub(text: string): ExtendedPublicKey | Refusal {
  if (LOOKS_PRIVATE.test(text)) return refuse('KEY_MATERIAL_REJECTED', { reason: 'extended private key' });
  if (text.length > 120) return refuse('INVALID_INPUT', { reason: 'too long for an extended key' });
  let bytes: Uint8Array;
  try {
    bytes = base58check.decode(text);
  } catch {
    return refuse('INVALID_INPUT', { reason: 'not Base58Check' });
  }
  if (bytes.length !== 78) return refuse('INVALID_INPUT', { reason: 'an extended key has 78 bytes' });
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = PUBLIC_VERSIONS[view.getUint32(0)];
  if (version === undefined) {
    const reason = OTHER_VERSIONS[view.getUint32(0)] ?? 'not the version bytes of xpub, ypub or zpub';
    return refuse('INVALID_INPUT', { reason });
  }
  const publicKey = bytes.slice(45),
    depth = bytes[4]!,
    index = view.getUint32(9);
  const parentFingerprint = Buffer.from(bytes.subarray(5, 9)).toString('hex');
  if (publicKey[0] !== 2 && publicKey[0] !== 3) {
    return refuse('INVALID_INPUT', { reason: 'not a compressed public key' });
  }
  if (!secp256k1.publicKeyVerify(publicKey)) return refuse('INVALID_INPUT', { reason: 'the key is not on the curve' });
  if (depth === 0 && (parentFingerprint !== '00000000' || index !== 0)) {
    return refuse('INVALID_INPUT', { reason: 'a master key has no parent and no index' });
  }
  view.setUint32(0, XPUB_VERSION);
  return {
    ok: true,
    xpub: base58check.encode(bytes),
    version,
    depth,
    parentFingerprint,
    index,
    publicKey,
    chainCode: bytes.slice(13, 45),
  };
}

/** A node of the tree, kept so that a child costs one HMAC and one point addition and no decompression. */
interface Branch {
  /** serP(K) || ser32(i); the last four bytes are written for each child. */
  readonly hmacInput: Buffer;
  readonly uncompressed: Uint8Array; // 65 bytes
  readonly chainCode: KeyObject;
}

function branchOf(publicKey: Uint8Array, chainCode: Uint8Array): Branch {
  const hmacInput = Buffer.alloc(37);
  hmacInput.set(publicKey);
  return {
    hmacInput,
    uncompressed: secp256k1.publicKeyConvert(publicKey, false),
    chainCode: createSecretKey(chainCode),
  };
}

function hmacOfChild(parent: Branch, index: number): Buffer {
  parent.hmacInput.writeUInt32BE(index, 33);
  return createHmac('sha512', parent.chainCode).update(parent.hmacInput).digest();
}

/** An extended key below which something is looked for: unlike an account's key nothing of it is remembered. */
export interface KeyNode {
  /** Compressed public key (33 bytes) of a child that is not hardened. */
  publicKeyOf(index: number): Uint8Array;
  childOf(index: number): KeyNode;
}

/** The node of a public key and its chain code. */
export function keyNodeOf(publicKey: Uint8Array, chainCode: Uint8Array): KeyNode {
  const branch = branchOf(publicKey, chainCode);
  const tweaked = (digest: Buffer) => secp256k1.publicKeyTweakAdd(branch.uncompressed, digest.subarray(0, 32), true);
  return {
    publicKeyOf: (index) => tweaked(hmacOfChild(branch, index)),
    childOf(index) {
      const digest = hmacOfChild(branch, index);
      return keyNodeOf(tweaked(digest), digest.subarray(32));
    },
  };
}

const cache = new Map<string, readonly [Branch, Branch]>();

/** Both branches (`0` deposit addresses, `1` our own) of an account key, least recently used ones dropped. */
function branchesOf(xpub: string): readonly [Branch, Branch] {
  const cached = cache.get(xpub);
  if (cached !== undefined) return cached;
  const parsed = parseXpub(xpub);
  if (!parsed.ok) throw new RangeError(`extended key: ${String(parsed.details['reason'])}`);
  const account = branchOf(parsed.publicKey, parsed.chainCode);
  const [deposit, own] = [0, 1].map((change) => {
    const digest = hmacOfChild(account, change);
    return branchOf(
      secp256k1.publicKeyTweakAdd(account.uncompressed, digest.subarray(0, 32), true),
      digest.subarray(32),
    );
  });
  const branches = [deposit!, own!] as const;
  if (cache.size >= CACHED_KEYS_MAX) cache.delete(cache.keys().next().value!);
  cache.set(xpub, branches);
  return branches;
}

function deriveChild(xpub: string, change: 0 | 1, index: number, compressed: boolean): Uint8Array {
  if (!Number.isInteger(index) || index < 0 || index >= HARDENED) {
    throw new RangeError(`index expected in [0, 2**31), got ${index}`);
  }
  const branch = branchesOf(xpub)[change];
  // The library throws for IL = 0 and IL >= n (BIP-32: that index has no key); one chance in 2**127.
  return secp256k1.publicKeyTweakAdd(branch.uncompressed, hmacOfChild(branch, index).subarray(0, 32), compressed);
}

/**
 * Compressed public key (33 bytes) at `change/index` below an account key. Throws: RangeError for a bad key or index.
 */
export function derivePublicKey(xpub: string, change: 0 | 1, index: number): Uint8Array {
  return deriveChild(xpub, change, index, true);
}

/**
 * The same key uncompressed (65 bytes, 0x04 first), which evm and tron hash. Throws: RangeError for a bad key or
 * index.
 */
export function deriveUncompressedPublicKey(xpub: string, change: 0 | 1, index: number): Uint8Array {
  return deriveChild(xpub, change, index, false);
}
