/** How withdrawals that are on their way and the counters that they hold change. */
import type { Counter, InFlight, OutgoingState } from '../../model/account/outgoing.ts';
import type { EventOf, Folds } from '../account/decision.ts';
import { held, released } from './counters.ts';

type Counters = OutgoingState['counters'];

export const outgoingFolds: Folds<OutgoingState, OutgoingState> = {
  withdrawal_built: (state, { id, atMs, hold }) =>
    open(
      state,
      id,
      atMs,
      held(state.counters, hold, at(id, 'built'), hold === null ? undefined : { next: hold.next, free: hold.free }),
    ),
  withdrawal_bound: (state, { id, atMs, hold }) => {
    const { next, free } = hold;
    return open(state, id, atMs, held(without(state.counters, hold.key, id), hold, at(id, 'built'), { next, free }));
  },
  withdrawal_unbound: (state, { id, atMs, hold }) => open(state, id, atMs, released(state.counters, hold, id, true)),
  withdrawal_repriced: (state, event) => open(state, event.id, event.atMs, repriced(state, event)),
  withdrawal_signed: (state, { id, atMs, hold, unbilled }) =>
    out(state, id, atMs, held(state.counters, hold, at(id, 'signed')), unbilled),
  withdrawal_version_dropped: unchanged,
  withdrawal_doubted: unchanged,
  withdrawal_broadcast: unchanged,
  withdrawal_included: (state, { id, atMs, hold, unbilled }) =>
    out(state, id, atMs, held(state.counters, hold, at(id, 'included')), unbilled),
  withdrawal_orphaned: (state, { id, atMs, hold, wasConfirmed, unbilled }) => ({
    ...out(state, id, atMs, held(state.counters, hold, at(id, 'signed')), unbilled),
    ...(wasConfirmed && unbilled !== true && !state.reopened.includes(id) ? { reopened: [...state.reopened, id] } : {}),
  }),
  withdrawal_confirmed: (state, { id, hold }) => closed(state, id, released(state.counters, hold, id, false)),
  withdrawal_failed: (state, { id, hold }) =>
    closed(state, id, released(state.counters, hold, id, hold?.reusable ?? false)),
  withdrawal_expired: (state, { id, hold }) => closed(state, id, released(state.counters, hold, id, true)),
  builds_expired: ({ counters, withdrawals }, { builds }) => {
    const gone = new Set(builds.map(({ id }) => id));
    return {
      counters: builds.reduce((left, { id, hold }) => released(left, hold, id, true), counters),
      withdrawals: Object.fromEntries(Object.entries(withdrawals).filter(([id]) => !gone.has(id))),
    };
  },
  sandbox_reset: () => ({ counters: {}, withdrawals: {}, signed: {}, reopened: [] }),
};

function at(id: string, stage: InFlight['stage']): InFlight {
  return { id, stage };
}

function unchanged(state: OutgoingState, { id, atMs }: { id: string; atMs: number }): Partial<OutgoingState> {
  return open(state, id, atMs, state.counters);
}

/** Without what a withdrawal held before it was bound anew. */
function without(counters: Counters, key: string, id: string): Counters {
  const before: Counter | undefined = counters[key];
  if (before === undefined) return counters;
  return {
    ...counters,
    [key]: {
      ...before,
      inFlight: Object.fromEntries(Object.entries(before.inFlight).filter(([, flight]) => flight.id !== id)),
    },
  };
}

/** A new version keeps the stage of the one before; outpoints that it adds are held like the others. */
function repriced({ counters }: OutgoingState, { id, hold }: EventOf<'withdrawal_repriced'>): Counters {
  if (hold === null) return counters;
  const before = Object.values(counters[hold.key]?.inFlight ?? {}).find((flight) => flight.id === id);
  return held(counters, hold, before ?? at(id, 'built'));
}

function open({ withdrawals }: OutgoingState, id: string, atMs: number, counters: Counters): Partial<OutgoingState> {
  return { counters, withdrawals: { ...withdrawals, [id]: atMs } };
}

/** Signed: it may land at any time, and be settled unless it is a sweep. */
function out(
  state: OutgoingState,
  id: string,
  atMs: number,
  counters: Counters,
  unbilled?: true,
): Partial<OutgoingState> {
  return {
    ...open(state, id, atMs, counters),
    ...(state.signed[id] || unbilled === true ? {} : { signed: { ...state.signed, [id]: true } }),
  };
}

function closed(state: OutgoingState, id: string, counters: Counters): Partial<OutgoingState> {
  const { [id]: _, ...withdrawals } = state.withdrawals;
  const { [id]: __, ...signed } = state.signed;
  return { counters, withdrawals, signed, reopened: state.reopened.filter((other) => other !== id) };
}
