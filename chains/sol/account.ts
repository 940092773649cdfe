/**
 * Accounts as a node reports them, and the two layouts of the token programs that payments depend on.
 *
 *   token account  mint(32) || owner(32) || amount(8) || delegate(36) || state(1) || … 165 bytes
 *   mint           authority(36) || supply(8) || decimals(1) || initialized(1) || freeze authority(36) = 82 bytes
 *   Token-2022     either of them padded to 165 bytes || type(1): 1 mint, 2 account || extension…
 *   extension      kind(2) || length(2) || value
 *
 * Source: solana-program/token `interface/src/state.rs`, solana-program/token-2022 `interface/src/extension`.
 */
import { base58 } from '@scure/base';
import { countOf } from '../../protocol/lossless-json.ts';
import { integerIn, listIn, malformed, objectIn, textIn } from '../node-answer.ts';
import { isTokenProgram, type TokenProgram } from './programs.ts';

export interface Account {
  readonly lamports: bigint;
  /** Program that owns it. */
  readonly owner: string;
  readonly executable: boolean;
  readonly data: Uint8Array;
  /** Bytes of its data; more than `data` holds where only a part was asked for. */
  readonly space: number;
}

/**
 * An account in base64 encoding; null is an account that does not exist, which is an answer. Throws: MalformedReply.
 */
export function accountIn(value: unknown, what: string): Account | null {
  if (value === null) return null;
  const account = objectIn(value, what);
  const [text, encoding] = listIn(account['data'], `data of ${what}`);
  if (typeof text !== 'string' || encoding !== 'base64') malformed(`data of ${what} is not base64`, account['data']);
  const data = Buffer.from(text, 'base64');
  return {
    lamports: integerIn(account['lamports'], `lamports of ${what}`),
    owner: textIn(account['owner'], `owner of ${what}`),
    executable: account['executable'] === true,
    data,
    space: countOf(account['space']) ?? data.length,
  };
}

const MINT_BYTES = 82;
const TOKEN_ACCOUNT_BYTES = 165;
const TYPE_AT = TOKEN_ACCOUNT_BYTES;
const TYPE_MINT = 1;
const STATE_AT = 108;
const STATE_FROZEN = 2;

export interface TokenAccount {
  readonly kind: 'token_account';
  readonly program: TokenProgram;
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly frozen: boolean;
}

export interface Mint {
  readonly kind: 'mint';
  readonly program: TokenProgram;
  readonly decimals: number;
  readonly extensions: ReadonlyMap<number, Uint8Array>;
}

const keyAt = (data: Uint8Array, at: number): string => base58.encode(data.subarray(at, at + 32));
const viewOf = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength);

/** What a token program keeps in an account; null for an account of another program or without either layout. */
export function tokenStateOf({ owner, data }: Account): TokenAccount | Mint | null {
  if (!isTokenProgram(owner)) return null;
  const isMint = data.length === MINT_BYTES || (data.length > TYPE_AT && data[TYPE_AT] === TYPE_MINT);
  if (isMint) return { kind: 'mint', program: owner, decimals: data[44]!, extensions: extensionsOf(data) };
  if (data.length < TOKEN_ACCOUNT_BYTES) return null;
  return {
    kind: 'token_account',
    program: owner,
    mint: keyAt(data, 0),
    owner: keyAt(data, 32),
    amount: viewOf(data).getBigUint64(64, true),
    frozen: data[STATE_AT] === STATE_FROZEN,
  };
}

/** Values by kind; an extension that does not fit ends the list, as the program reads it. */
function extensionsOf(data: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const extensions = new Map<number, Uint8Array>();
  if (data.length <= TYPE_AT) return extensions;
  const view = viewOf(data);
  for (let at = TYPE_AT + 1; at + 4 <= data.length;) {
    const kind = view.getUint16(at, true),
      length = view.getUint16(at + 2, true);
    if (kind === 0 || at + 4 + length > data.length) break;
    extensions.set(kind, data.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return extensions;
}
