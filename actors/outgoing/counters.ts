/**
 * Replay protection: one allocator per (chain, address), inside the actor that alone builds for it. V39.
 *
 *   allocated   the smallest freed value that the chain has not passed, else max(own next, the chain's next); never a
 *               value that is in flight
 *   freed       a build that was abandoned, or a transaction that is proven dead without using its value
 *   dropped     the whole entry, once nothing is in flight: the chain's own count is then the truth (C6-52: a local
 *               count that is never lowered gaps every later send), but no less than our own blocks show
 * (`chainNextOf`)
 *
 * Where the chain has no counter but spends outputs (btc) the values are outpoints, held so that a second build does
 * not spend them again. Chains whose transactions only expire (tron, sol) hold nothing.
 */
import type { BuildInputs, ReplayKey } from '../../chains/chain.ts';
import type { UsedValue } from '../../model/rows/withdrawal.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Chain, Family } from '../../protocol/slugs.ts';
import type { Counter, Hold, InFlight } from '../../model/account/outgoing.ts';
import type { InFlightLimits } from '../account/decision.ts';

const EMPTY: Counter = { next: null, free: [], inFlight: {} };

/**
 * V40: an eth pool guarantees 16 slots for one sender; R21: at most 10 queued on xrp; M19: a Stellar sequence has no
 * gaps, so one at a time; a Bitcoin node takes a chain of 25 unconfirmed. Any issued address may be a hot wallet to
 * somebody, so the purpose makes no difference. Chains whose transactions only expire hold nothing and have no limit.
 */
const BY_FAMILY = { evm: 16, xrp: 10, xlm: 1, btc: 25, other: Number.MAX_SAFE_INTEGER } as const;
export const IN_FLIGHT_LIMITS: InFlightLimits = { deposit: BY_FAMILY, gas_tank: BY_FAMILY, treasury: BY_FAMILY };

/** Families whose chain counts transactions of a sender, and what it calls the count. */
const COUNTED: Readonly<Partial<Record<Family, 'nonce' | 'sequence'>>> = {
  evm: 'nonce',
  xrp: 'sequence',
  xlm: 'sequence',
};

export const isCounted = (family: Family): boolean => COUNTED[family] !== undefined;

/** Key of the counter of an address on a chain; five EVM networks share the address, not the count. */
export function counterKey(chain: Chain, address: string): string {
  return `${chain}:${address}`;
}

export interface Allocation {
  readonly value: string;
  readonly next: string;
  readonly free: string[];
}

/**
 * What the chain itself would take next. A node counts too little when it lags, or when its branch has not taken in yet
 * what ours holds: the sender's highest value in a block of the kept window is not used again. C6-52, G15.
 */
export function chainNextOf(
  chainNext: bigint,
  readAtHeight: number,
  used: UsedValue | null | undefined,
  reorgWindow: number,
): bigint {
  if (used == null || used.height < readAtHeight - reorgWindow) return chainNext;
  const after = BigInt(used.value) + 1n;
  return after > chainNext ? after : chainNext;
}

/**
 * What the chain itself would take next, as far as it may be believed: where one endpoint of several answered, nothing
 * above what our own records explain, since a payment under an invented value waits for ever, and all that follow it.
 * Refuses: CHAIN_UNAVAILABLE.
 */
export function believedNext(
  chain: Chain,
  counter: Counter | undefined,
  chainNext: bigint,
  inputs: BuildInputs,
  used: UsedValue | null | undefined,
  reorgWindow: number,
): bigint | Refusal {
  const own = [
    ...(used == null ? [] : [BigInt(used.value) + 1n]),
    ...(counter?.next == null ? [] : [BigInt(counter.next)]),
  ];
  if (inputs.counter === 'one_word' && own.length > 0 && own.every((value) => chainNext > value)) {
    return refuse('CHAIN_UNAVAILABLE', {
      chain,
      permanent: false,
      retryAfterSeconds: 10,
      reason: `one endpoint alone is alive and says that the next counter is ${chainNext}; our own records end before it: a second endpoint must say so too`,
    });
  }
  return chainNextOf(chainNext, inputs.readAtHeight, used, reorgWindow);
}

/**
 * How long what is signed must wait before values below it count as unused: blocks reach endpoints, and our own
 * records, within it.
 */
export const GAP_MS = 60_000;

/**
 * The lowest unused value below what has waited for long: what waits can land only when it is used. Null without such a
 * gap, and while endpoints do not agree on what the chain would take next.
 */
export function gapBelow(
  counter: Counter | undefined,
  chainNext: bigint,
  { inputs, used }: { inputs: BuildInputs; used?: UsedValue | null | undefined },
  changedAtMs: (id: string) => number,
  nowMs: number,
): bigint | null {
  if (inputs.counter !== undefined || counter === undefined || counter.next === null) return null;
  const after = used == null ? 0n : BigInt(used.value) + 1n;
  let gap = after > chainNext ? after : chainNext;
  while (String(gap) in counter.inFlight) gap += 1n;
  const above = Object.entries(counter.inFlight).filter(([value]) => BigInt(value) > gap);
  return above.length > 0 && above.every(([, { id }]) => nowMs - changedAtMs(id) >= GAP_MS) ? gap : null;
}

/** The next value to build with. `chainNext` is what the chain itself would take. */
export function allocate(counter: Counter | undefined, chainNext: bigint): Allocation {
  const { next, free, inFlight } = counter ?? EMPTY;
  const fit = free
    .map(BigInt)
    .filter((value) => value >= chainNext && !(String(value) in inFlight))
    .sort((a, b) => (a < b ? -1 : 1));
  const [reused] = fit;
  if (reused !== undefined) {
    return { value: String(reused), next: next ?? String(chainNext), free: fit.slice(1).map(String) };
  }
  let value = next === null || BigInt(next) < chainNext ? chainNext : BigInt(next);
  while (String(value) in inFlight) value += 1n;
  return { value: String(value), next: String(value + 1n), free: [] };
}

/** The allocated value as the chain's builder takes it; null where the family has no counter. */
export function replayKeyOf(family: Family, value: string): ReplayKey | null {
  const kind = COUNTED[family];
  if (kind === undefined) return null;
  return kind === 'nonce' ? { kind, value: Number(value) } : { kind, value };
}

/** Values that a built transaction holds; null where it only expires. */
export function holdOf(chain: Chain, from: string, replayKey: ReplayKey): Hold | null {
  const key = counterKey(chain, from);
  switch (replayKey.kind) {
    case 'nonce':
      return { key, values: [String(replayKey.value)] };
    case 'sequence':
      return { key, values: [replayKey.value] };
    case 'outpoints':
      return { key, values: [...replayKey.value] };
    case 'expiry':
      return null;
  }
}

/** Where a chain spends outputs (btc): those that other withdrawals hold, so that a build takes other ones. B19. */
export function spokenFor(counter: Counter | undefined): ReplayKey | null {
  const value = Object.keys(counter?.inFlight ?? {});
  return value.length === 0 ? null : { kind: 'outpoints', value };
}

/** Withdrawals that hold values and may still be waiting outside of a block. */
export function waitingIn(counter: Counter | undefined): InFlight[] {
  const byId = new Map(Object.values(counter?.inFlight ?? {}).map((flight) => [flight.id, flight]));
  return [...byId.values()].filter(({ stage }) => stage !== 'included');
}

/** Transactions that an address of this purpose may have waiting on a chain of this family. */
export function limitOf(limits: InFlightLimits, purpose: keyof InFlightLimits, family: Family): number {
  return limits[purpose][family] ?? limits[purpose].other;
}

export type Counters = Record<string, Counter>;

/** Puts values in flight for a withdrawal, or moves those that are to another stage. */
export function held(
  counters: Counters,
  hold: Hold | null,
  flight: InFlight,
  claimed?: { next: string | null; free: string[] },
): Counters {
  if (hold === null) return counters;
  const before = counters[hold.key] ?? EMPTY;
  const inFlight = { ...before.inFlight };
  for (const value of hold.values) inFlight[value] = flight;
  return { ...counters, [hold.key]: { ...before, ...claimed, inFlight } };
}

/** Takes a withdrawal's values out of flight; reusable ones become free. An entry with nothing in flight is dropped. */
export function released(counters: Counters, hold: Hold | null, id: string, reusable: boolean): Counters {
  const before = hold === null ? undefined : counters[hold.key];
  if (hold === null || before === undefined) return counters;
  const own = hold.values.filter((value) => before.inFlight[value]?.id === id);
  const inFlight = Object.fromEntries(Object.entries(before.inFlight).filter(([value]) => !own.includes(value)));
  const { [hold.key]: _, ...others } = counters;
  if (Object.keys(inFlight).length === 0) return others;
  if (before.next === null) return { ...others, [hold.key]: { ...before, inFlight } };
  if (reusable) return { ...others, [hold.key]: { ...before, free: [...new Set([...before.free, ...own])], inFlight } };
  // Used up: an inventory of the chain that is older than this does not give it again.
  const next = own.reduce((most, value) => (BigInt(value) >= most ? BigInt(value) + 1n : most), BigInt(before.next));
  return { ...others, [hold.key]: { ...before, next: String(next), inFlight } };
}
