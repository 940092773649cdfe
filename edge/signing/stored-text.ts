/**
 * Instructions and payloads as texts: what is stored, shared with other replicas and hashed is the same text, and what
 * is read from it are the very values that were checked.
 */
import type { Unsigned } from '../../chains/chain.ts';
import type { Instruction } from './signers/signer.ts';

/**
 * `bound`: its counter is chosen for good, or until it is certain that nobody signed it (binding.ts). This edge sets
 * the mark, never the cloud.
 */
export type RecordedUnsigned = Unsigned & { readonly bound?: true; readonly amounts?: readonly string[] };
export interface RecordedInstruction {
  readonly instruction: Instruction;
  readonly unsigned: RecordedUnsigned;
}

/** JSON in which an amount is `{"$n":"digits"}`: the journal must give back the very values that were checked. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    typeof entry === 'bigint' ? { $n: entry.toString() } : entry,
  );
}

/** The one text of an instruction, as it is recorded, shared and hashed. */
export function instructionText(instruction: Instruction): string {
  return toJson(instruction);
}

const AMOUNTS: ReadonlySet<string> = new Set(['amount', 'feeMax']);

export function fromJson<T>(text: string): T {
  // Only in these fields: the cloud chooses the parts of `fee`, and one may look like an amount.
  return JSON.parse(text, (name, entry: unknown) => {
    const digits =
      AMOUNTS.has(name) && typeof entry === 'object' && entry !== null ? (entry as { $n?: unknown }).$n : undefined;
    return typeof digits === 'string' ? BigInt(digits) : entry;
  }) as T;
}

/** Whether the text of a version says that its counter is bound. */
export function isBoundText(unsigned: string): boolean {
  return fromJson<RecordedUnsigned>(unsigned).bound === true;
}

/** Whether the text of an instruction leaves its counter to the broadcast. */
export function bindsAtBroadcast(instruction: string): boolean {
  return fromJson<Instruction>(instruction).counter === 'at_broadcast';
}
