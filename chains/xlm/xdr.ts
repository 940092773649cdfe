/** XDR, the ledger's own encoding: decoding that never guesses, and the texts of its keys and assets. */
import {
  AlphaNum12,
  AlphaNum4,
  Asset,
  MuxedAccount,
  MuxedAccountMed25519,
  PublicKey,
  type XdrValue,
  type XdrValueConstructor,
} from '@stellar/stellar-sdk/xdr';
import { MalformedReply } from '../chain.ts';
import { addressOf, bytesOf } from './address.ts';
import type { Account } from './records.ts';

/** A value from base64 as a server gives it; nothing may follow it. Throws: MalformedReply. */
export function decodeXdr<Wire, Value extends XdrValue>(
  type: XdrValueConstructor<Wire, Value>,
  base64: unknown,
  what: string,
): Value {
  if (typeof base64 !== 'string' || base64 === '') throw new MalformedReply(`${what} is no text`, String(base64));
  try {
    return type.fromXdrObject(type.schema.decode(Buffer.from(base64, 'base64')));
  } catch (cause) {
    throw new MalformedReply(`${what} is not its XDR`, base64, { cause });
  }
}

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The `G…` text of an account's key. */
export function accountText(key: PublicKey): string {
  return addressOf(key.ed25519.toBytes());
}

/** The key of a canonical `G…` text. */
export function accountKey(address: string): PublicKey {
  return PublicKey.publicKeyTypeEd25519(bytesOf(address));
}

/** An account as an operation names it: its text, and the id where it is muxed. */
export function muxedText(account: MuxedAccount): Account {
  if (account.type === 'keyTypeEd25519') return { address: addressOf(account.ed25519.toBytes()), id: null };
  const { ed25519, id } = account.med25519;
  return { address: addressOf(ed25519.toBytes()), id: id.toString() };
}

/** The form in which an operation names an account; `id` is decimal text or null. */
export function muxedAccount({ address, id }: Account): MuxedAccount {
  const ed25519 = bytesOf(address);
  if (id === null) return MuxedAccount.keyTypeEd25519(ed25519);
  return MuxedAccount.keyTypeMuxedEd25519(new MuxedAccountMed25519({ id: BigInt(id), ed25519 }));
}

const SHORT_CODE_CHARACTERS = 4;
const LONG_CODE_CHARACTERS = 12;

/**
 * `CODE:ISSUER`, or null for the native coin. Bytes that the ledger takes in no code (letters and digits alone) have a
 * text of their own too, so that no two assets share one.
 */
export function assetText(asset: Asset): string | null {
  if (asset.type === 'assetTypeNative') return null;
  const { assetCode, issuer } = asset.value;
  return `${codeOf(assetCode.toBytes())}:${accountText(issuer)}`;
}

/** Code of an asset without the zeros that fill it up; one stays where a long code would read as a short one. */
function codeOf(bytes: Uint8Array): string {
  const code = Buffer.from(bytes).toString('latin1').replace(/\0+$/, '');
  return bytes.length === LONG_CODE_CHARACTERS ? code.padEnd(SHORT_CODE_CHARACTERS + 1, '\0') : code;
}

/** An asset from `CODE:ISSUER`, or the native coin from null. */
export function assetOf(text: string | null): Asset {
  if (text === null) return Asset.assetTypeNative();
  const end = text.lastIndexOf(':'),
    code = text.slice(0, Math.max(end, 0)),
    issuer = text.slice(end + 1);
  const length = code.length <= SHORT_CODE_CHARACTERS ? SHORT_CODE_CHARACTERS : LONG_CODE_CHARACTERS;
  const parts = { assetCode: Buffer.from(code.padEnd(length, '\0'), 'latin1'), issuer: accountKey(issuer) };
  return length === SHORT_CODE_CHARACTERS
    ? Asset.assetTypeCreditAlphanum4(new AlphaNum4(parts))
    : Asset.assetTypeCreditAlphanum12(new AlphaNum12(parts));
}
