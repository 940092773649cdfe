/**
 * What a payload says, one fact at a time, as its own bytes prove it. A reader (one for each family) decodes a payload
 * and yields its facts; `rules.ts` judges each as it comes. What a fact needs to be judged by is in it, or in the
 * question: instruction, summary and policy are the same for all of them.
 */
import type { Network, ReplayKey, Unsigned } from '../../../chains/chain.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import type { Instruction, SigningPolicy } from './signer.ts';

/** The summary's words for what the bytes do. The cloud shows them to people, and the spend ledger counts by them. */
export type Summary = Pick<Unsigned, 'to' | 'amount' | 'tokenContract' | 'tag' | 'sendAll'> & {
  readonly of: Unsigned['kind'];
};

/** A version of a transaction, as far as the journal compares it. */
export interface Version {
  /** What it uses up: two versions that share a part exclude each other. */
  readonly uses: readonly string[];
  /** Smallest unit; of a send-all a later version may pay less. */
  readonly amount: bigint;
  /** All else that a later version may not change; its fee and its end are left out. */
  readonly rest: string;
}

interface Fields {
  /** The address, or account, that is paid: `to` is what it must be, `asked` how the refusal names it. */
  destination: { readonly to: string | null; readonly asked: string; readonly found: string };
  /** The chain's own reasons against the destination; `isRefused` when there is one. */
  reachable: { readonly isRefused: boolean; readonly found: string };
  /** The token that moves by its canonical contract; null for the native coin. */
  token: { readonly found: string | null };
  /** Whether the token of the instruction is in this edge's registry, with the same decimals. */
  listed: object;
  /** Smallest unit. `wanted` where it is not the instruction's own amount; `nothing` for a cancellation. */
  amount: { readonly found: bigint; readonly wanted?: bigint | 'all' | 'nothing' };
  /** Anything that one family alone has: a tag, a memo, a limit, change. `isSame` is the verdict. */
  part: { readonly reason: string; readonly isSame: boolean; readonly expected?: unknown; readonly found?: unknown };
  summary: Summary;
  /** Highest fee, smallest native unit; `orMore` where a part of the stated fee is in no byte. */
  fee: { readonly inBytes: bigint; readonly orMore?: boolean };
  /** Parts of the fee that people were shown. `isAll`: there are no others. */
  fee_parts: { readonly inBytes: Readonly<Record<string, unknown>>; readonly isAll?: boolean };
  /** A bound of this release, whatever the settings say. */
  ceiling: { readonly reason: string; readonly bound: bigint | number; readonly value: bigint | number };
  /** What it can cost. `amount`: what moves, where it is the native coin. `price`: of one unit, null: in no byte. */
  costs: {
    readonly feeMax: bigint;
    readonly amount: bigint | null;
    readonly price: bigint | null;
    readonly nativeGas?: bigint | null;
  };
  /** What an issuer may keep beside an amount of its token, in the token's own unit. */
  share: { readonly kept: bigint; readonly amount: bigint };
  /** The chain's payloads end by time: without a clock none is signed. */
  clock: object;
  /** Instant after which it cannot land, in the chain's unit, and what it must be after: null for this edge's clock. */
  ends: { readonly unit: 'milliseconds' | 'seconds'; readonly at: bigint; readonly after: bigint | null };
  /** A height that the bytes, or the replay key, name; at most `ahead` above what the chain can have by now. */
  height: { readonly reason: 'locktime' | 'expiry'; readonly height: number; readonly ahead?: number };
  /** Nonce or sequence. A ticket is behind by its nature. */
  counter: { readonly reason: string; readonly value: bigint; readonly mayBeBehind?: boolean };
  /** How it compares with what was signed before. `version` reads an earlier payload; null for an unreadable one. */
  once: {
    readonly key: ReplayKey;
    readonly own: Version;
    readonly version: (payload: string) => Version | null;
    readonly amountMayFall: boolean;
  };
}

export type FactKind = keyof Fields;
export type Fact<K extends FactKind = FactKind> = { [P in K]: { readonly kind: P } & Fields[P] }[K];

/** Facts in the order in which they are judged. Ends with a refusal where the bytes are no payment of ours at all. */
export type Facts = Generator<Fact, Refusal | null, undefined>;

/** What is asked: whether this payload may be signed for this instruction. */
export interface Question {
  readonly network: Network;
  readonly unsigned: Unsigned;
  readonly instruction: Instruction;
  readonly policy: SigningPolicy;
}

/** Of one family. It reads no clock, file or network, and judges nothing that a rule could. */
export type Reader = (question: Question) => Facts;

/** A comparison that one family alone makes. */
export const part = (
  reason: string,
  isSame: boolean,
  differs: { readonly expected?: unknown; readonly found?: unknown } = {},
): Fact<'part'> => ({ kind: 'part', reason, isSame, ...differs });

/** Two bytes that must be equal, in whatever form they are shown. */
export const same = (reason: string, expected: unknown, found: unknown): Fact<'part'> =>
  part(reason, expected === found, { expected, found });
