/**
 * Addresses: issued once per index, archived and brought back, counted against the plan. Spec §1.6, §2.3, §8.
 *
 * The five EVM networks share path and address: for a (userRef, tag) the n-th address asked for on one of them is the
 * n-th on every other. Each network has a row of its own, and the index counts once while one of its rows is active.
 * Which index is next on a network the store knows; it refuses what was decided on rows that changed meanwhile.
 * What an address is follows from the account's extended key alone: no edge has to be there, save on the pooled chains
 * when the pool is empty.
 */
import { isRefusal, notFound, PAIRS_CHANGED, type Refusal, refuse } from '../../protocol/errors.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { AccountEvent, AddressSees } from '../../model/account/capabilities.ts';
import { TIER_TERMS } from '../../protocol/plans.ts';
import { FAMILY_OF, type Chain, type PooledChain } from '../../protocol/slugs.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { suspended } from '../account/guards.ts';
import { addressLimit, noSubscription, tierLimit } from '../plan/limits.ts';
import { dayOf, turnOfDay } from './peak.ts';
import { ISSUED, issuedRow, issuedWrite } from './issued.ts';
import { isLent } from './lend.ts';
import { announceLow } from './pools.ts';
import { notReady, pooled, unusedOf } from '../edge-link/readiness.ts';
import { presentFrom } from '../edge-link/retired-identities.ts';
import type { Pool } from '../../model/account/address.ts';

/**
 * The next address.
 * Refuses: ACCOUNT_SUSPENDED, NO_SUBSCRIPTION, TIER_FEATURE_LOCKED, CHAIN_NOT_READY, ADDRESS_LIMIT_EXCEEDED,
 * EDGE_OFFLINE and SERVICE_UNAVAILABLE (pool empty; the pool addresses that came along are used up; pairs changed).
 */
export function createAddress(deciding: Deciding<'create_address'>): AccountDecision<'create_address'> {
  const { state, command, nowMs } = deciding;
  const { chain } = command;
  const taken = notReady(state, chain) === null ? takeNext(deciding) : null;
  const no = firstRefusal(
    mayNotIssue(state, chain, nowMs),
    command.paired === null ? addressLimit(state) : null, // a further network of an address that counts already
    isRefusal(taken) ? taken : null,
  );
  if (no !== null) return no;
  const { row, pool } = taken as Taken;
  const paired = command.paired !== null && row.family === 'evm';
  const issued: AccountEvent = {
    type: 'address_issued',
    id: row.id,
    family: row.family,
    chain,
    index: row.index!,
    ...(paired ? { paired } : {}),
  };
  const low = pool === null ? { events: [], rows: [] } : announceLow(state, chain as PooledChain, pool, 2, nowMs);
  const write = issuedWrite(state, row, paired);
  const turn = paired ? null : turnOfDay(state, nowMs);
  return accept(row, [...(turn?.events ?? []), issued, ...low.events], [...(turn?.rows ?? []), write, ...low.rows]);
}

/**
 * Why the account gets no new address on a chain, whatever its node says: the error table has these before
 * CHAIN_UNAVAILABLE. Refuses: ACCOUNT_SUSPENDED, NO_SUBSCRIPTION, TIER_FEATURE_LOCKED, CHAIN_NOT_READY.
 */
export function mayNotIssue(state: AddressSees, chain: Chain, nowMs: number): Refusal | null {
  return firstRefusal(suspended(state), noSubscription(state, nowMs), chainLimit(state, chain), notReady(state, chain));
}

/** Refuses: TIER_FEATURE_LOCKED for a chain above the tier's number. Spec §8.2. */
export function chainLimit(state: AddressSees, chain: Chain): Refusal | null {
  if (state.chains.includes(chain)) return null;
  return tierLimit(state, 'chains', state.chains.length, TIER_TERMS[state.plan.tier].chains);
}

interface Taken {
  readonly row: AddressRow;
  readonly pool: Pool | null;
}

function takeNext(deciding: Deciding<'create_address'>): Taken | Refusal {
  const {
    state,
    command: { chain },
    book,
  } = deciding;
  const { derivation } = book.facts(chain);
  const poolChain = pooled(chain);
  if (derivation.kind === 'xpub') {
    const index = nextIndex(deciding);
    if (isRefusal(index)) return index;
    const { xpub } = state.enrolment!.keys[FAMILY_OF[chain]]!;
    return {
      row: rowOf(deciding, index, derivation.deriveAddress(book.network(chain), xpub, ISSUED, index)),
      pool: null,
    };
  }
  const pool = state.pools[poolChain!]!;
  if (unusedOf(pool) <= 0) return poolEmpty(state, chain as PooledChain);
  const next = deciding.command.unissued.find(({ index }) => index === pool.next);
  if (next === undefined) return refuse('SERVICE_UNAVAILABLE', { reason: 'pool_moved_on', retryAfterSeconds: 1 });
  return { row: rowOf(deciding, next.index, next), pool: { ...pool, next: pool.next + 1 } };
}

/**
 * The index that the store found for the pair, where it is one of the present identity; else the next of the family.
 */
function nextIndex({ state, command: { chain, paired } }: Deciding<'create_address'>): number | Refusal {
  const family = FAMILY_OF[chain],
    next = state.indexes[family] ?? 0;
  if (family !== 'evm' || paired === null) return next;
  if (paired < next && paired >= presentFrom(state, family)) return paired;
  return refuse('SERVICE_UNAVAILABLE', { reason: PAIRS_CHANGED, retryAfterSeconds: 1 });
}

// Spec §7: "needs a live edge (withdrawals; pooled-chain allocation when pool empty)"; with a live one a refill is
// under way, for which the gateway waits.
function poolEmpty({ edge }: AddressSees, chain: PooledChain): Refusal {
  return edge.liveness === 'live'
    ? refuse('SERVICE_UNAVAILABLE', { chain, reason: 'pool_refill', retryAfterSeconds: 1 })
    : refuse('EDGE_OFFLINE', { chain, reason: 'pool_empty' });
}

const rowOf = (
  { state, command: { id, chain, userRef, tag, label }, book, nowMs }: Deciding<'create_address'>,
  index: number,
  { address, path }: { address: string; path: string },
): AddressRow => issuedRow(state, book, { id, chain, index, userRef, tag, label, address, path }, nowMs);

/**
 * Archives an address or brings it back; only active ones count, and an EVM address once. The row may have been read
 * before another change, which the store then refuses.
 * Refuses: ACCOUNT_SUSPENDED, NO_SUBSCRIPTION, TIER_FEATURE_LOCKED, ADDRESS_LIMIT_EXCEEDED, NOT_FOUND (no customer's
 * address), CONFLICT.
 */
export function setAddressStatus({
  state,
  command: { known, status, alone, monitored },
  nowMs,
}: Deciding<'set_address_status'>): AccountDecision<'set_address_status'> {
  const no = firstRefusal(
    monitored === true ? null : suspended(state),
    known.purpose === 'deposit' ? null : notFound('deposit address', known.id),
    isLent(known) && monitored !== true ? refuse('CONFLICT', { reason: 'checkout_address' }) : null, // payments M3, M11
    status === 'active' ? noSubscription(state, nowMs) : null,
    status === 'active' && alone ? addressLimit(state) : null,
    known.status === status ? refuse('CONFLICT', { status }) : null,
  );
  if (no !== null) return no;
  const turn = alone ? turnOfDay(state, nowMs) : null;
  return accept(
    { ...known, status },
    [
      ...(turn?.events ?? []),
      { type: 'address_status_changed', id: known.id, status, ...(alone ? {} : { counts: false }) },
    ],
    [...(turn?.rows ?? []), { table: 'address_status', id: known.id, status, alone }],
  );
}

/** Carries the count over midnight where no change did. */
export function notePeak({ state, nowMs }: Deciding<'note_peak'>): AccountDecision<'note_peak'> {
  const { events, rows } = turnOfDay(state, nowMs);
  return accept({ day: dayOf(nowMs) }, events, rows);
}
