/**
 * Entries of a ledger in the words of the wire, and their keys.
 *
 *   AccountRoot     SHA-512Half(00 61 || account)                     RippleState   (00 72 || low || high || currency)
 *   Ticket          SHA-512Half(00 54 || account || sequence(4))      DepositPreauth (00 70 || owner || authorised)
 *
 * Source: xrpl.org "Ledger Object IDs".
 */
import { createHash } from 'node:crypto';
import { coreTypes } from 'ripple-binary-codec';
import { decodeAccountID } from 'xrpl';

export type Entry = Readonly<Record<string, unknown>> & { readonly LedgerEntryType: string };
/** By key, upper-case hex. Entries are never changed, only replaced. */
export type State = ReadonlyMap<string, Entry>;

export const ACCOUNT = {
  passwordSpent: 0x0001_0000,
  requireDest: 0x0002_0000,
  requireAuth: 0x0004_0000,
  disallowXrp: 0x0008_0000,
  disableMaster: 0x0010_0000,
  noFreeze: 0x0020_0000,
  globalFreeze: 0x0040_0000,
  defaultRipple: 0x0080_0000,
  depositAuth: 0x0100_0000,
} as const;

/** Flags of a line, low and high side. */
export const LINE = {
  reserve: [0x0001_0000, 0x0002_0000],
  auth: [0x0004_0000, 0x0008_0000],
  noRipple: [0x0010_0000, 0x0020_0000],
  freeze: [0x0040_0000, 0x0080_0000],
} as const;

/** 0 is the low side, 1 the high one. */
export type Side = 0 | 1;

function keyOf(space: number, ...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha512').update(Uint8Array.of(0, space));
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, 64).toUpperCase();
}

/** The 20 bytes of a classic address. Throws: Error for another text. */
export const bytesOfAccount = (account: string): Uint8Array => decodeAccountID(account);

export const accountKey = (account: string): string => keyOf(0x61, bytesOfAccount(account));
export const preauthKey = (owner: string, authorised: string): string =>
  keyOf(0x70, bytesOfAccount(owner), bytesOfAccount(authorised));

export function ticketKey(account: string, sequence: number): string {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(sequence);
  return keyOf(0x54, bytesOfAccount(account), number);
}

/** The side that an account has of a line with another one. */
export function sideOf(account: string, other: string): Side {
  return Buffer.compare(bytesOfAccount(account), bytesOfAccount(other)) < 0 ? 0 : 1;
}

export function lineKey(account: string, other: string, currency: string): string {
  const [low, high] = sideOf(account, other) === 0 ? [account, other] : [other, account];
  const code = Buffer.from(coreTypes['Currency']!.from(currency).toHex(), 'hex');
  return keyOf(0x72, bytesOfAccount(low), bytesOfAccount(high), code);
}

export const flagsOf = (entry: Entry): number => Number(entry['Flags'] ?? 0);
export const hasFlag = (entry: Entry, flag: number): boolean => (flagsOf(entry) & flag) !== 0;

export interface LineAmount {
  readonly currency: string;
  readonly issuer: string;
  readonly value: string;
}

/** Issuer of a line's own balance: nobody. */
export const NO_ISSUER = 'rrrrrrrrrrrrrrrrrrrrBZbvji';
