/**
 * Mints and token accounts as bytes, to be put on the ledger as if they had always been there.
 * Source: solana-program/token `interface/src/state.rs`, solana-program/token-2022 `interface/src/extension`.
 */
import { base58 } from '@scure/base';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM, type TokenProgram } from '../../../../chains/sol/programs.ts';
import type { SolLedger } from './ledger.ts';

export interface Extension { readonly kind: number; readonly value: Uint8Array }

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

/** Puts a mint without authorities on the ledger. */
export function putMint(
  ledger: SolLedger, { mint, decimals, program = TOKEN_PROGRAM, extensions = [] }: MintOptions,
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
export function putHolding(ledger: SolLedger, options: HoldingOptions): void {
  const { account, mint, owner, amount, program = TOKEN_PROGRAM, frozen = false, withFee = false } = options;
  const bytes = Buffer.alloc(BASE_BYTES);
  bytes.set(base58.decode(mint), 0);
  bytes.set(base58.decode(owner), 32);
  bytes.writeBigUInt64LE(amount, 64);
  bytes[108] = frozen ? 2 : 1;
  const withheld: Extension = { kind: TRANSFER_FEE_AMOUNT, value: new Uint8Array(8) };
  const data = withFee && program === TOKEN_2022_PROGRAM
    ? withExtensions(bytes, TYPE_ACCOUNT, [withheld]) : new Uint8Array(bytes);
  ledger.setAccount(account, { lamports: ledger.rentExempt(data.length), owner: program, data, executable: false });
}
