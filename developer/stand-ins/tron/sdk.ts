/**
 * What the stand-in has from tronweb: address texts, hashes, keys, signatures, and a second reading of every
 * transaction. tronweb holds integers in doubles, so that amounts are read by `wire.ts`, exactly; above 2^53 they are
 * compared as doubles.
 */
import { utils } from 'tronweb';

const HEADER_MIN = 27,
  RECOVERY_IDS = 4,
  /** Of the ids, those that name a point whose x is below the curve's order: the others are of no key but by chance. */
  USUAL_IDS = 2;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const WORD_BYTES = 32;
/** Bytes of a signature that count; a node ignores what follows them. */
const SIGNATURE_BYTES = 65;

/** The `T…` text of an account, 20 bytes. */
export function addressOf(account: Uint8Array): string {
  return utils.address.fromHex(`41${Buffer.from(account).toString('hex')}`);
}

/** An address with its prefix, 42 hex digits. Throws: Error for a text whose checksum is wrong. */
export function hexAddressOf(text: string): string {
  return utils.address.toHex(text);
}

/** Keccak-256 of a text, hex. */
export function keccakHex(text: string): string {
  return utils.crypto.sha3(text, false);
}

/** The address of a private key. */
export function addressOfPrivateKey(privateKey: Uint8Array): string {
  return utils.crypto.pkToAddress(Buffer.from(privateKey).toString('hex'));
}

/** r(32) || s(32) || v(1) of a key over a hash. */
export function signatureOf(digest: Uint8Array, privateKey: Uint8Array): Buffer {
  return Buffer.from(utils.crypto.ECKeySign([...digest], [...privateKey]), 'hex');
}

/**
 * The address whose key signed a hash, hex. A header below 27 is a recovery id, one from 31 names a compressed key. A
 * node takes a high s too; tronweb takes the same signature with the low one and the other id. Throws: Error where no
 * key can have. Source: java-tron crypto/…/ECKey.java signatureToKeyBytes, recoverPubBytesFromSignature.
 */
export function recovered(digest: string, signature: Buffer): string {
  const last = signature[SIGNATURE_BYTES - 1]!,
    header = last < HEADER_MIN ? last + HEADER_MIN : last;
  if (header >= HEADER_MIN + 2 * RECOVERY_IDS) throw new RangeError('Header byte out of range');
  const id = (header - HEADER_MIN) % RECOVERY_IDS;
  if (id >= USUAL_IDS) throw new RangeError('Could not recover public key from signature');
  const s = BigInt(`0x${signature.subarray(WORD_BYTES, 2 * WORD_BYTES).toString('hex')}`),
    isHigh = s > CURVE_ORDER / 2n;
  const low = (isHigh ? CURVE_ORDER - s : s).toString(16).padStart(2 * WORD_BYTES, '0');
  const whole = Buffer.concat([
    signature.subarray(0, WORD_BYTES),
    Buffer.from(low, 'hex'),
    Uint8Array.of(HEADER_MIN + (isHigh ? 1 - id : id)),
  ]);
  return utils.address.fromHex(utils.crypto.ecRecover(digest, whole.toString('hex')));
}

interface SdkContract {
  readonly parameter: { readonly value: Readonly<Record<string, unknown>> };
  readonly Permission_id: number;
}

/** Raw data as tronweb reads it; integers are doubles, bytes hex. */
export interface SdkRaw {
  readonly contract: readonly SdkContract[];
  readonly ref_block_bytes: string;
  readonly ref_block_hash: string;
  readonly expiration: number;
  readonly timestamp: number;
  readonly fee_limit: number;
}

/** Raw data with one contract of a kind. Throws: Error for bytes that are none. */
export function readRaw(type: string, rawBytes: Buffer): SdkRaw {
  return utils.deserializeTx.deserializeTransaction(type, rawBytes.toString('hex')) as SdkRaw;
}
