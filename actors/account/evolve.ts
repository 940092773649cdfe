/** Folding facts into the state of an account. Total: never refuses; an event that was once written always folds. */
import { held, released } from '../withdrawal/counters.ts';
import { poolAfter } from '../address/pools.ts';
import { pooled } from '../edge-link/readiness.ts';
import { retire } from '../edge-link/retired-identities.ts';
import { withoutTransactions } from '../../model/account/state.ts';
import type { AccountEvent, AccountState, Pool } from '../../model/account/commands.ts';

/** The state after one event. */
export function evolve(state: AccountState, event: AccountEvent): AccountState {
  return { ...changed(state, event), version: state.version + 1 };
}

function changed(state: AccountState, event: AccountEvent): AccountState {
  switch (event.type) {
    case 'edge_enrolled': return { ...state, enrolment: event.enrolment };
    case 'keys_added': {
      const { enrolment } = state;
      if (enrolment === null) return state;
      return { ...state, enrolment: { ...enrolment, keys: { ...enrolment.keys, ...event.keys } } };
    }
    case 'pool_pushed':
      return { ...state, pools: { ...state.pools, [event.chain]: poolAfter(state.pools[event.chain], event) } };
    case 'pool_low_announced': {
      const pool = state.pools[event.chain];
      if (pool === undefined) return state;
      return { ...state, pools: { ...state.pools, [event.chain]: { ...pool, lowAnnounced: true } } };
    }
    case 'rotation_detected': {
      const { id, publicKey, keys, atMs } = event;
      return { ...state, rotation: { id, publicKey, keys, detectedAtMs: atMs } };
    }
    case 'rotation_approved': return rotated(state, event.atMs ?? 0);
    case 'rotation_rejected': return { ...state, rotation: null };
    case 'lease_granted': return { ...state, lease: { epoch: event.epoch, holder: event.sessionId } };
    case 'lease_released': return { ...state, lease: { ...state.lease, holder: null } };
    case 'edge_liveness_changed':
      return event.liveness === 'stale' ? state : { ...state, edge: { liveness: event.liveness } };
    case 'address_issued': return issued(state, event);
    case 'key_source_registered': return sourceRegistered(state, event);
    case 'key_source_purged': return sourcePurged(state, event);
    case 'address_status_changed':
      if (event.counts === false) return state;
      return { ...state, activeAddresses: state.activeAddresses + (event.status === 'active' ? 1 : -1) };
    case 'peak_noted': return { ...state, peak: { day: event.day, active: event.active } };
    case 'deposit_detected':
    case 'deposit_confirmed':
    case 'deposit_reversed':
    case 'deposit_moved':
    case 'delivery_replayed': return state;
    case 'webhook_created': return { ...state, webhooks: [...state.webhooks, event.id] };
    case 'webhook_replaced': {
      const { id, seal } = event;
      return seal === null ? state : { ...state, webhookSeals: { ...state.webhookSeals, [id]: seal } };
    }
    case 'webhook_deleted': {
      const { [event.id]: _, ...webhookSeals } = state.webhookSeals;
      return { ...state, webhookSeals, webhooks: state.webhooks.filter((id) => id !== event.id) };
    }
    case 'plan_changed': return { ...state, plan: event.plan };
    case 'band_change_scheduled': return { ...state, pendingBand: { band: event.band, atMs: event.atMs } };
    case 'band_change_ended': return { ...state, pendingBand: null };
    case 'suspension_changed': return { ...state, suspended: event.suspended };
    case 'builds_expired': return withoutBuilds(state, event.builds);
    case 'sandbox_reset': return withoutTransactions(state);
    default: return changedWithdrawal(state, event);
  }
}

function sourceRegistered(
  state: AccountState, { source, added, chains }: Extract<AccountEvent, { type: 'key_source_registered' }>,
): AccountState {
  return {
    ...state, keySources: { ...state.keySources, [source.id]: source }, activeAddresses: state.activeAddresses + added,
    chains: [...state.chains, ...chains.filter((chain) => !state.chains.includes(chain))],
  };
}

function sourcePurged(state: AccountState, { id, atMs }: { id: string; atMs: number }): AccountState {
  const source = state.keySources?.[id];
  return source === undefined ? state : { ...state, keySources: { ...state.keySources, [id]: { ...source, purgedAtMs: atMs } } };
}

type WithdrawalEvent = Extract<AccountEvent, { type: `withdrawal_${string}` }>;

function changedWithdrawal(state: AccountState, event: WithdrawalEvent): AccountState {
  const { id } = event;
  const flight = (stage: 'built' | 'signed' | 'included') => ({ id, stage });
  switch (event.type) {
    case 'withdrawal_built': {
      const claimed = event.hold === null ? undefined : { next: event.hold.next, free: event.hold.free };
      return open(state, id, event.atMs, held(state.counters, event.hold, flight('built'), claimed));
    }
    case 'withdrawal_bound': {
      const { hold: { next, free }, hold } = event;
      return open(state, id, event.atMs, held(without(state.counters, hold.key, id), hold, flight('built'), { next, free }));
    }
    case 'withdrawal_unbound': return open(state, id, event.atMs, released(state.counters, event.hold, id, true));
    case 'withdrawal_repriced': return open(state, id, event.atMs, repriced(state, event));
    case 'withdrawal_signed': return open(state, id, event.atMs, held(state.counters, event.hold, flight('signed')));
    case 'withdrawal_version_dropped':
    case 'withdrawal_doubted':
    case 'withdrawal_broadcast': return open(state, id, event.atMs, state.counters);
    case 'withdrawal_included':
      return open(state, id, event.atMs, held(state.counters, event.hold, flight('included')));
    case 'withdrawal_orphaned': {
      const reopened = event.wasConfirmed && !state.reopened.includes(id) ? [...state.reopened, id] : state.reopened;
      return open({ ...state, reopened }, id, event.atMs, held(state.counters, event.hold, flight('signed')));
    }
    case 'withdrawal_confirmed': {
      const after = closed(state, id, released(state.counters, event.hold, id, false));
      return event.period === null ? after : { ...after, settled: counted(state, event.period) };
    }
    case 'withdrawal_failed':
      return closed(state, id, released(state.counters, event.hold, id, event.hold?.reusable ?? false));
    case 'withdrawal_expired': return closed(state, id, released(state.counters, event.hold, id, true));
  }
}

/** Without what a withdrawal held before it was bound anew. */
function without(counters: AccountState['counters'], key: string, id: string): AccountState['counters'] {
  const before = counters[key];
  if (before === undefined) return counters;
  return { ...counters, [key]: { ...before, inFlight: Object.fromEntries(Object.entries(before.inFlight).filter(([, flight]) => flight.id !== id)) } };
}

/** A new version keeps the stage of the one before; outpoints that it adds are held like the others. */
function repriced(
  { counters }: AccountState, { id, hold }: Extract<AccountEvent, { type: 'withdrawal_repriced' }>,
): AccountState['counters'] {
  if (hold === null) return counters;
  const before = Object.values(counters[hold.key]?.inFlight ?? {}).find((flight) => flight.id === id);
  return held(counters, hold, before ?? { id, stage: 'built' });
}

function open(state: AccountState, id: string, atMs: number, counters: AccountState['counters']): AccountState {
  return { ...state, counters, withdrawals: { ...state.withdrawals, [id]: atMs } };
}

function closed(state: AccountState, id: string, counters: AccountState['counters']): AccountState {
  const { [id]: _, ...withdrawals } = state.withdrawals;
  return { ...state, counters, withdrawals, reopened: state.reopened.filter((other) => other !== id) };
}

function withoutBuilds(state: AccountState, builds: Extract<AccountEvent, { type: 'builds_expired' }>['builds']): AccountState {
  const gone = new Set(builds.map(({ id }) => id));
  return {
    ...state, counters: builds.reduce((counters, { id, hold }) => released(counters, hold, id, true), state.counters),
    withdrawals: Object.fromEntries(Object.entries(state.withdrawals).filter(([id]) => !gone.has(id))),
  };
}

function counted({ settled }: AccountState, period: string): AccountState['settled'] {
  return { period, count: settled.period === period ? settled.count + 1 : 1 };
}

function issued(
  state: AccountState, { family, chain, index, paired }: Extract<AccountEvent, { type: 'address_issued' }>,
): AccountState {
  const poolChain = pooled(chain), pool = poolChain === null ? undefined : state.pools[poolChain];
  const pools = pool === undefined ? state.pools : { ...state.pools, [chain]: { ...pool, next: index + 1 } };
  const chains = state.chains.includes(chain) ? state.chains : [...state.chains, chain];
  return {
    ...state, pools, chains,
    ...(paired === true
      ? {}
      : { indexes: { ...state.indexes, [family]: index + 1 }, activeAddresses: state.activeAddresses + 1 }),
  };
}

/**
 * The new identity is pinned. Its predecessor leads no more, and what is left of the old pools is not issued any more:
 * the new edge could not sign for it. Indexes go on, so that none is used twice.
 */
function rotated(state: AccountState, atMs: number): AccountState {
  const { rotation } = state;
  if (rotation === null) return state;
  const pools = Object.fromEntries(Object.entries(state.pools).map(([chain, pool]) => [chain, emptied(pool)]));
  return {
    ...state, pools, rotation: null, enrolment: { publicKey: rotation.publicKey, keys: rotation.keys },
    lease: { ...state.lease, holder: null }, retired: [...state.retired ?? [], retire(state, atMs)],
  };
}

function emptied(pool: Pool): Pool {
  return { ...pool, base: pool.next, size: pool.next, capacity: 0, lowAnnounced: false };
}
