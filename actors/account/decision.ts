/** What every decision of an account is made of. */
import type { ChainModule, Network } from '../../chains/chain.ts';
import type { ChainFacts } from '../../chains/registry.ts';
import type { AccountCommand, AccountEvent, AccountReplies, RowWrite, Sees } from '../../model/account/capabilities.ts';
import type { PaymentTerms } from '../payment/terms.ts';
import { precedenceOf, type Refusal } from '../../protocol/errors.ts';
import type { Chain, Family } from '../../protocol/slugs.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { Decision } from '../../model/entity.ts';

export type CommandType = AccountCommand['type'];
export type CommandOf<T extends CommandType> = Extract<AccountCommand, { type: T }>;
export type AccountDecision<T extends CommandType> = Decision<AccountEvent, readonly RowWrite[], AccountReplies[T]>;

/** The pure side of the chains, as this node runs them. */
export interface ChainBook {
  /** Addresses and paths: known for every chain, enabled or not. */
  facts(chain: Chain): ChainFacts;
  network(chain: Chain): Network;
  /** What builds and checks transactions; null for a chain that this node does not run. */
  module(chain: Chain): ChainModule | null;
}

/** Transactions of one address that may be on their way at once. V40, R21, M19. */
type ByFamily = Readonly<Partial<Record<Family, number>> & { other: number }>;
export type InFlightLimits = Readonly<Record<AddressRow['purpose'], ByFamily>>;

/** What a decision may look at beside state, command and time: constant for the life of the process. */
export interface Surroundings {
  readonly book: ChainBook;
  readonly inFlight: InFlightLimits;
  readonly pay: PaymentTerms;
}

/** Everything that one decision sees. */
export interface Deciding<T extends CommandType> extends Surroundings {
  readonly state: Sees<T>;
  readonly command: CommandOf<T>;
  /** Of a sandbox's payments, sweeps, imports and replays by its own clock. */
  readonly nowMs: number;
  /** What is billed, and what is compared with other clocks, goes by this one. */
  readonly realMs: number;
}

/** The event of a kind; several kinds may share one shape. */
export type EventOf<T extends AccountEvent['type']> = AccountEvent extends infer E
  ? E extends AccountEvent
    ? T extends E['type']
      ? E
      : never
    : never
  : never;

/**
 * How the slice of a capability changes by each event that concerns it, its own and others'; total, it never refuses.
 */
export type Folds<Seen, Slice> = {
  readonly [T in AccountEvent['type']]?: (state: Seen, event: EventOf<T>) => Partial<Slice>;
};

/** What a slice's folds change by one event of any kind; nothing where none of them concerns it. */
export function foldOf<Seen, Slice>(folds: Folds<Seen, Slice>, state: Seen, event: AccountEvent): Partial<Slice> {
  const fold = folds[event.type] as ((state: Seen, event: AccountEvent) => Partial<Slice>) | undefined;
  return fold?.(state, event) ?? {};
}

/**
 * A part of the account that can be read by itself: what it decides, and what it keeps. `owns` are the fields of its
 * slice; no other capability changes them.
 */
export interface Capability<Command extends { type: CommandType }, Seen, Slice> {
  readonly owns: readonly (keyof Slice)[];
  readonly decide: { readonly [T in Command['type']]: (deciding: Deciding<T>) => AccountDecision<T> };
  readonly folds: Folds<Seen, Slice>;
}

/** An accepted decision; without events and rows it costs no append. */
export function accept<Reply>(
  reply: Reply,
  events: readonly AccountEvent[] = [],
  rows: readonly RowWrite[] = [],
): { ok: true; events: readonly AccountEvent[]; rows: readonly RowWrite[]; reply: Reply } {
  return { ok: true, events, rows, reply };
}

/** Of all refusals that apply, the one that the error table puts first; null when none applies. */
export function firstRefusal(...refusals: (Refusal | null)[]): Refusal | null {
  return refusals.reduce((first, refusal) => {
    if (refusal === null || first === null) return refusal ?? first;
    return precedenceOf(refusal.code) < precedenceOf(first.code) ? refusal : first;
  }, null);
}
