/**
 * Mints and token accounts as bytes: to be put on the ledger as if they had always been there, and read from it. The
 * token programs themselves, which the virtual machine runs, hold both to their layouts.
 *
 *   token account  mint(32) || owner(32) || amount(8) || delegate(36) || state(1) || … 165 bytes
 *   mint           authority(36) || supply(8) || decimals(1) || initialized(1) || freeze authority(36) = 82 bytes
 *   Token-2022     either of them padded to 165 bytes || type(1): 1 mint, 2 account || extension…
 *
 * Source: solana-program/token `interface/src/state.rs`, solana-program/token-2022 `interface/src/extension`.
 */
import { base58 } from '@scure/base';
import type { SvmAccount } from './svm.ts';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export type TokenProgram = typeof TOKEN_PROGRAM | typeof TOKEN_2022_PROGRAM;

export interface Extension {
  readonly kind: number;
  readonly value: Uint8Array;
}

export interface MintOptions {
  readonly mint: string;
  readonly decimals: number;
  readonly program?: TokenProgram;
  /** Token-2022 only. */
  readonly extensions?: readonly Extension[];
}

const BASE_BYTES = 165;
const MINT_BYTES = 82;
const TYPE_MINT = 1;
const TYPE_ACCOUNT = 2;
const SUPPLY = 10n ** 18n;

/** Kinds of extensions. */
export const TRANSFER_FEE_CONFIG = 1;
const TRANSFER_FEE_AMOUNT = 2;

function withExtensions(base: Uint8Array, type: number, extensions: readonly Extension[]): Uint8Array {
  const head = Buffer.alloc(BASE_BYTES + 1);
  head.set(base);
  head[BASE_BYTES] = type;
  const parts = extensions.flatMap(({ kind, value }) => {
    const header = Buffer.alloc(4);
    header.writeUInt16LE(kind, 0);
    header.writeUInt16LE(value.length, 2);
    return [header, Buffer.from(value)];
  });
  return new Uint8Array(Buffer.concat([head, ...parts]));
}

const DECIMALS_AT = 44,
  OWNER_AT = 32,
  AMOUNT_AT = 64,
  KEY_BYTES = 32;
const isOfTokenProgram = ({ owner }: SvmAccount): boolean => owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM;
const isMintOf = (data: Uint8Array): boolean =>
  data.length === MINT_BYTES || (data.length > BASE_BYTES && data[BASE_BYTES] === TYPE_MINT);

/** Decimals of a mint; null for an account that is none. */
export function decimalsIn(account: SvmAccount | null): number | null {
  return account !== null && isOfTokenProgram(account) && isMintOf(account.data) ? account.data[DECIMALS_AT]! : null;
}

export interface Holding {
  readonly program: string;
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
}

/** What a token account holds; null for an account that is none. */
export function holdingIn(account: SvmAccount | null): Holding | null {
  if (account === null || !isOfTokenProgram(account)) return null;
  const { data } = account;
  if (isMintOf(data) || data.length < BASE_BYTES) return null;
  const keyAt = (at: number): string => base58.encode(data.subarray(at, at + KEY_BYTES));
  return {
    program: account.owner,
    mint: keyAt(0),
    owner: keyAt(OWNER_AT),
    amount: Buffer.from(data).readBigUInt64LE(AMOUNT_AT),
  };
}

/** The accounts of a ledger. */
interface Accounts {
  rentExempt(bytes: number): bigint;
  setAccount(key: string, account: SvmAccount | null): void;
}

/** Puts a mint without authorities on the ledger. */
export function putMint(
  ledger: Accounts,
  { mint, decimals, program = TOKEN_PROGRAM, extensions = [] }: MintOptions,
): void {
  const bytes = Buffer.alloc(MINT_BYTES);
  bytes.writeBigUInt64LE(SUPPLY, 36);
  bytes[44] = decimals;
  bytes[45] = 1;
  const data = extensions.length === 0 ? new Uint8Array(bytes) : withExtensions(bytes, TYPE_MINT, extensions);
  ledger.setAccount(mint, { lamports: ledger.rentExempt(data.length), owner: program, data, executable: false });
}

/** A fee that a Token-2022 mint keeps of each transfer, in basis points. */
export function transferFee(basisPoints: number, maximum: bigint): Extension {
  const value = Buffer.alloc(108);
  for (const at of [72, 90]) {
    value.writeBigUInt64LE(maximum, at + 8);
    value.writeUInt16LE(basisPoints, at + 16);
  }
  return { kind: TRANSFER_FEE_CONFIG, value };
}

export interface HoldingOptions {
  readonly account: string;
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly program?: TokenProgram;
  readonly frozen?: boolean;
  /** The mint keeps a fee: the account has a place for it. */
  readonly withFee?: boolean;
}

/** Puts a token account with a balance on the ledger. */
export function putHolding(ledger: Accounts, options: HoldingOptions): void {
  const { account, mint, owner, amount, program = TOKEN_PROGRAM, frozen = false, withFee = false } = options;
  const bytes = Buffer.alloc(BASE_BYTES);
  bytes.set(base58.decode(mint), 0);
  bytes.set(base58.decode(owner), 32);
  bytes.writeBigUInt64LE(amount, 64);
  bytes[108] = frozen ? 2 : 1;
  const withheld: Extension = { kind: TRANSFER_FEE_AMOUNT, value: new Uint8Array(8) };
  const data =
    withFee && program === TOKEN_2022_PROGRAM ? withExtensions(bytes, TYPE_ACCOUNT, [withheld]) : new Uint8Array(bytes);
  ledger.setAccount(account, { lamports: ledger.rentExempt(data.length), owner: program, data, executable: false });
}
