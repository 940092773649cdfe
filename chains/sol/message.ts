/**
 * The bytes that are signed, and the transaction around them. Legacy messages only: payments of ours need no lookup
 * tables (chains.md L24), and whatever else is met is named and not read.
 *
 *   transaction  count || signature(64)…  || message
 *   message      signatures(1) || readonly signed(1) || readonly unsigned(1) || count || key(32)… || blockhash(32)
 *                || count || instruction…
 *   instruction  program(1) || count || account(1)… || count || data
 *   count        1 to 3 bytes of 7 bits each, lowest first, the top bit says that another one follows
 *   version      a first byte with its top bit set: not legacy
 *
 * Keys stand in the order: writable signers, the payer of the fee first · readonly signers · writable · readonly.
 * Source: anza-xyz/solana-sdk `message/src/legacy.rs`, `short-vec`.
 */
import { base58 } from '@scure/base';

const KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;
/** A transaction fits into one packet. Spec: chains.md L24. */
export const TRANSACTION_BYTES_MAX = 1_232;

export interface AccountUse {
  readonly key: string;
  readonly signer: boolean;
  readonly writable: boolean;
}

export interface Instruction {
  readonly program: string;
  readonly accounts: readonly AccountUse[];
  readonly data: Uint8Array;
}

export interface Message {
  readonly feePayer: string;
  /** The block hash whose lifetime the transaction has. */
  readonly blockhash: string;
  readonly instructions: readonly Instruction[];
}

export interface DecodedMessage extends Message {
  readonly ok: true;
  /** Keys that must sign, in the order of their signatures; the payer of the fee is the first. */
  readonly signers: readonly string[];
  /** All keys, in their order in the message. */
  readonly keys: readonly string[];
}

export type NotAMessage = { readonly ok: false; readonly reason: string };

function countBytes(count: number): number[] {
  const bytes: number[] = [];
  let rest = count;
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

/** Keys with the widest use that any instruction makes of them, the payer first; programs are readonly. */
function usesOf({ feePayer, instructions }: Message): AccountUse[] {
  const uses = new Map<string, AccountUse>([[feePayer, { key: feePayer, signer: true, writable: true }]]);
  const note = ({ key, signer, writable }: AccountUse) => {
    const before = uses.get(key);
    uses.set(key, { key, signer: signer || before?.signer === true, writable: writable || before?.writable === true });
  };
  for (const { accounts } of instructions) accounts.forEach(note);
  for (const { program } of instructions) note({ key: program, signer: false, writable: false });
  return [...uses.values()];
}

/** The bytes of a legacy message. Keys of one class keep the order of their first use. */
export function encodeMessage(message: Message): Uint8Array {
  const uses = usesOf(message);
  const inOrder = [
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ].map(([signer, writable]) => uses.filter((use) => use.signer === signer && use.writable === writable));
  const [writableSigners, readonlySigners, , readonly] = inOrder.map((some) => some.length);
  const keys = inOrder.flat().map(({ key }) => key);
  const indexOf = new Map(keys.map((key, index) => [key, index]));
  const bytes = [
    writableSigners! + readonlySigners!,
    readonlySigners!,
    readonly!,
    ...countBytes(keys.length),
    ...keys.flatMap((key) => [...base58.decode(key)]),
    ...base58.decode(message.blockhash),
    ...countBytes(message.instructions.length),
  ];
  for (const { program, accounts, data } of message.instructions) {
    bytes.push(indexOf.get(program)!, ...countBytes(accounts.length), ...accounts.map(({ key }) => indexOf.get(key)!));
    bytes.push(...countBytes(data.length), ...data);
  }
  return Uint8Array.from(bytes);
}

/** Ends the reading of bytes that are no legacy message. */
class Unreadable extends Error {}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(length: number): Uint8Array {
    if (length > this.left) throw new Unreadable('truncated');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  byte(): number {
    return this.take(1)[0]!;
  }

  /** A longer form of the same count than needed is refused, as the network does. */
  count(): number {
    let value = 0;
    for (let place = 0; place < 3; place += 1) {
      const byte = this.byte();
      value |= (byte & 0x7f) << (7 * place);
      if (byte < 0x80) {
        if (byte === 0 && place > 0) throw new Unreadable('count_not_canonical');
        return value;
      }
    }
    throw new Unreadable('count_not_canonical');
  }

  key(): string {
    return base58.encode(this.take(KEY_BYTES));
  }
}

function guarded<T>(read: () => T): T | NotAMessage {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, reason: error.message };
    throw error;
  }
}

/** A legacy message, whole and with nothing after it; the reason where the bytes are something else. */
export function decodeMessage(bytes: Uint8Array): DecodedMessage | NotAMessage {
  return guarded(() => readMessage(new Reader(bytes)));
}

function readMessage(reader: Reader): DecodedMessage {
  const signatures = reader.byte();
  if (signatures > 0x7f) throw new Unreadable('message_version');
  const readonlySigned = reader.byte(),
    readonlyUnsigned = reader.byte();
  const keys = Array.from({ length: reader.count() }, () => reader.key());
  if (new Set(keys).size !== keys.length) throw new Unreadable('duplicate_keys');
  // The first key pays the fee, so that it signs and is written.
  if (signatures === 0 || readonlySigned >= signatures || signatures + readonlyUnsigned > keys.length) {
    throw new Unreadable('header');
  }
  const useOf = (index: number): AccountUse => {
    const key = keys[index];
    if (key === undefined) throw new Unreadable('key_index');
    const signer = index < signatures;
    return { key, signer, writable: index < (signer ? signatures - readonlySigned : keys.length - readonlyUnsigned) };
  };
  const blockhash = reader.key();
  const instructions = Array.from({ length: reader.count() }, (): Instruction => {
    const program = useOf(reader.byte()).key;
    const accounts = [...reader.take(reader.count())].map(useOf);
    return { program, accounts, data: Uint8Array.from(reader.take(reader.count())) };
  });
  if (reader.left > 0) throw new Unreadable('trailing_bytes');
  return { ok: true, feePayer: keys[0]!, blockhash, instructions, signers: keys.slice(0, signatures), keys };
}

/** Signatures and message as one transaction. */
export function encodeTransaction(signatures: readonly Uint8Array[], message: Uint8Array): Uint8Array {
  return Uint8Array.from([...countBytes(signatures.length), ...signatures.flatMap((one) => [...one]), ...message]);
}

export interface DecodedTransaction {
  readonly ok: true;
  readonly signatures: readonly Uint8Array[];
  readonly message: Uint8Array;
}

/** Signatures and the bytes that they sign; the message itself is not read. */
export function decodeTransaction(bytes: Uint8Array): DecodedTransaction | NotAMessage {
  return guarded((): DecodedTransaction => {
    const reader = new Reader(bytes);
    const count = reader.count();
    if (bytes.length > TRANSACTION_BYTES_MAX) throw new Unreadable('too_large');
    const signatures = Array.from({ length: count }, () => Uint8Array.from(reader.take(SIGNATURE_BYTES)));
    return { ok: true, signatures, message: Uint8Array.from(reader.take(reader.left)) };
  });
}
