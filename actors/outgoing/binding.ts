/**
 * Binding: a sender's counter value is chosen when a build is broadcast, and not when it is built, so that what nobody
 * broadcasts stalls nobody. Decisions 3, docs/decisions/0035-counter-bound-at-broadcast.md.
 *
 *   unbound ──the edge binds──▶ bound ──signed──▶ in flight
 *   bound ──the edge gave up, or was silent for BOUND_HOLD_MS, and another one binds──▶ unbound, its value is the other
 * one's
 *
 * At most one build of a sender is bound and unsigned: its value is the highest, so that no gap stays before what is
 * signed.
 */
import type { AccountEvent, RowWrite } from '../../model/account/capabilities.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { Network } from '../../chains/chain.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';
import {
  allocate,
  believedNext,
  counterKey,
  gapBelow,
  isCounted,
  limitOf,
  released,
  replayKeyOf,
  waitingIn,
  type Counters,
} from './counters.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { rotationPending, suspended } from '../account/guards.ts';
import { inFlightLimit } from './settled-limit.ts';
import { watchOnly } from '../key-source/decide.ts';
import { changedAtMs, notNewest } from './row.ts';
import type { Counter, Hold, InFlight } from '../../model/account/outgoing.ts';

/**
 * How long a value is kept for an edge that bound it and says nothing more. Choice: an edge signs at once; one that was
 * cut off in between has its outbox empty again before others take the value.
 */
export const BOUND_HOLD_MS = 60_000;

/**
 * Binds the sender's next value; one that is signed keeps its own, one that is bound takes the value that is right now.
 * Refuses: IDENTITY_ROTATION_PENDING, ACCOUNT_SUSPENDED, TIER_FEATURE_LOCKED, ADDRESS_WATCH_ONLY, CHAIN_UNAVAILABLE,
 * CONFLICT (closed, another one is bound, in flight, no counter), and what the chain's module refuses.
 */
export function bindWithdrawal(deciding: Deciding<'bind_withdrawal'>): AccountDecision<'bind_withdrawal'> {
  const {
    state,
    command: { known, inputs, used },
    book,
    nowMs,
  } = deciding;
  const { chain, from, unsigned } = known,
    family = FAMILY_OF[chain];
  const module = book.module(chain);
  const no = firstRefusal(
    rotationPending(state),
    suspended(state),
    notNewest(state, known),
    watchOnly(state, chain, unsigned.fromPath),
    module?.withCounter === undefined && isCounted(family)
      ? refuse('CHAIN_UNAVAILABLE', { chain, permanent: true })
      : null,
    isCounted(family) ? null : refuse('CONFLICT', { reason: 'no_counter' }),
    inFlightLimit(state, known, nowMs),
  );
  if (no !== null) return no;
  if (known.versions.length > 0) return accept(known);
  const place = placeFor(deciding);
  if (isRefusal(place)) return place;
  const network = book.network(chain),
    key = counterKey(chain, from);
  const counter = place.counters[key],
    chainNext = BigInt(module!.nextReplayValue(inputs)!);
  const next = believedNext(chain, counter, chainNext, inputs, used, network.reorgWindow);
  if (isRefusal(next)) return next;
  const gap = gapIn(deciding, counter, chainNext);
  const { value, ...claimed } =
    gap === null ? allocate(counter, next) : allocate({ ...counter!, next: String(gap) }, gap);
  const bound = module!.withCounter!(network, unsigned, inputs, replayKeyOf(family, value)!);
  if (isRefusal(bound)) return bound;
  const atMs = changedAtMs(known, nowMs);
  const row: WithdrawalRow = { ...known, unsigned: { ...bound, boundAtMs: atMs }, updatedAtMs: atMs };
  return accept(
    row,
    [...place.events, { type: 'withdrawal_bound', id: row.id, atMs, hold: { key, values: [value], ...claimed } }],
    [...place.rows, { table: 'withdrawal', row }],
  );
}

interface Place {
  readonly counters: Counters;
  readonly events: AccountEvent[];
  readonly rows: RowWrite[];
}

/**
 * Room under the in-flight limit, with what this build and a bound one before it held given back. Refuses: CONFLICT.
 */
function placeFor({ state, command, book, inFlight, nowMs }: Deciding<'bind_withdrawal'>): Place | Refusal {
  const { known, gaveUp, inputs } = command,
    { chain, from, id } = known,
    key = counterKey(chain, from),
    network = book.network(chain);
  const waiting = waitingIn(state.counters[key]);
  const own = heldBy(state.counters, key, id);
  let counters = released(state.counters, own, id, true);
  const events: AccountEvent[] = [],
    rows: RowWrite[] = [];
  for (const other of waiting.filter((flight) => flight.stage === 'built' && flight.id !== id)) {
    const atMs = state.withdrawals[other.id] ?? 0;
    if (!gaveUp.includes(other.id) && nowMs - atMs < BOUND_HOLD_MS) {
      return refuse('CONFLICT', { reason: 'another_is_bound', by: other.id, retryAfterSeconds: 1 });
    }
    const hold = heldBy(counters, key, other.id),
      updatedAtMs = changedAtMs({ updatedAtMs: atMs }, nowMs);
    counters = released(counters, hold, other.id, true);
    events.push({ type: 'withdrawal_unbound', id: other.id, atMs: updatedAtMs, hold });
    rows.push({ table: 'withdrawal_status', id: other.id, status: 'built', updatedAtMs });
  }
  // What fills a gap lets the others land: it is never one too many.
  const chainNext = book.module(chain)?.nextReplayValue(inputs) ?? null;
  const isGap = chainNext !== null && gapIn({ state, command, nowMs }, counters[key], BigInt(chainNext)) !== null;
  return (
    (isGap
      ? null
      : queueFull(waiting, limitOf(inFlight, 'deposit', FAMILY_OF[chain]), network, 'broadcast it again')) ?? {
      counters,
      events,
      rows,
    }
  );
}

function gapIn(
  { state, command: { inputs, used }, nowMs }: Pick<Deciding<'bind_withdrawal'>, 'state' | 'command' | 'nowMs'>,
  counter: Counter | undefined,
  chainNext: bigint,
): bigint | null {
  return gapBelow(counter, chainNext, { inputs, used }, (id) => state.withdrawals[id] ?? 0, nowMs);
}

/** Refuses: CONFLICT where as many signed transactions of a sender wait as may. V40. */
export function queueFull(
  waiting: readonly InFlight[],
  limit: number,
  { blockTimeMs }: Pick<Network, 'blockTimeMs'>,
  next: string,
): Refusal | null {
  const signed = waiting.filter(({ stage }) => stage === 'signed');
  if (signed.length < limit) return null;
  return refuse(
    'CONFLICT',
    {
      reason: 'in_flight_limit',
      limit,
      inFlight: signed.map(({ id }) => id),
      retryAfterSeconds: Math.ceil(blockTimeMs / 1_000),
    },
    `this address has ${limit} signed transaction${limit === 1 ? '' : 's'} on the way, as many as it may have at once;` +
      ` ${next} when one of details.inFlight is in a block, or reprice that one`,
  );
}

/** What a withdrawal holds of a sender's values. */
export function heldBy(counters: Counters, key: string, id: string): Hold {
  return {
    key,
    values: Object.entries(counters[key]?.inFlight ?? {}).flatMap(([value, flight]) =>
      flight.id === id ? [value] : [],
    ),
  };
}
