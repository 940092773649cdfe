/**
 * Addresses: issued once per index, archived and brought back, counted against the plan. Spec §1.6, §2.3, §8.
 *
 * The five EVM networks share path and address, so an address that was asked for on one of them receives on all and
 * counts once; asking again, for whichever of them, issues the next index. What an address is follows from the
 * account's extended key alone: no edge has to be there, save on the pooled chains when the pool is empty.
 */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { AddressRow, RowWrite } from '../../persistence/rows.ts';
import { addressKeyOf } from '../../protocol/ids.ts';
import { TIER_TERMS } from '../../protocol/plans.ts';
import { FAMILY_OF, type PooledChain } from '../../protocol/slugs.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from './decision.ts';
import { suspended } from './guards.ts';
import { addressLimit, noSubscription, tierLimit } from './plan.ts';
import { announceLow } from './pools.ts';
import { notReady, pooled, unusedOf } from './readiness.ts';
import type { AccountEvent, AccountState, Pool } from './messages.ts';

/** Customers' addresses are `M/0/i`. Spec: chains.md 4.1, 5.1. */
const CHANGE = 0;

/**
 * The next address.
 * Refuses: ACCOUNT_SUSPENDED, NO_SUBSCRIPTION, TIER_FEATURE_LOCKED, CHAIN_NOT_READY, ADDRESS_LIMIT_EXCEEDED,
 * EDGE_OFFLINE and EDGE_NOT_SYNCED (pool empty), SERVICE_UNAVAILABLE (the pool addresses that came along are used up).
 */
export function createAddress(deciding: Deciding<'create_address'>): AccountDecision<'create_address'> {
  const { state, command, nowMs } = deciding;
  const { chain } = command;
  const ready = notReady(state, chain);
  const taken = ready === null ? takeNext(deciding) : null;
  const no = firstRefusal(
    suspended(state), noSubscription(state), chainLimit(state, deciding), ready, addressLimit(state),
    isRefusal(taken) ? taken : null,
  );
  if (no !== null) return no;
  const { row, pool } = taken as Taken;
  const issued: AccountEvent = { type: 'address_issued', id: row.id, family: row.family, chain, index: row.index! };
  const low = pool === null ? { events: [], rows: [] } : announceLow(state, chain as PooledChain, pool, 2, nowMs);
  return accept(row, [issued, ...low.events], [{ table: 'address', row } satisfies RowWrite, ...low.rows]);
}

function chainLimit(state: AccountState, { command: { chain } }: Deciding<'create_address'>): Refusal | null {
  if (state.chains.includes(chain)) return null;
  return tierLimit(state, 'chains', state.chains.length, TIER_TERMS[state.plan.tier].chains);
}

interface Taken { readonly row: AddressRow; readonly pool: Pool | null }

function takeNext(deciding: Deciding<'create_address'>): Taken | Refusal {
  const { state, command: { chain }, book } = deciding;
  const { derivation } = book.facts(chain);
  const poolChain = pooled(chain);
  if (derivation.kind === 'xpub') {
    const index = state.indexes[FAMILY_OF[chain]] ?? 0;
    const { xpub } = state.enrolment!.keys[FAMILY_OF[chain]]!;
    return {
      row: rowOf(deciding, index, derivation.deriveAddress(book.network(chain), xpub, CHANGE, index)), pool: null,
    };
  }
  const pool = state.pools[poolChain!]!;
  if (unusedOf(pool) <= 0) return poolEmpty(state, chain as PooledChain);
  const next = deciding.command.unissued.find(({ index }) => index === pool.next);
  if (next === undefined) return refuse('SERVICE_UNAVAILABLE', { reason: 'pool_moved_on', retryAfterSeconds: 1 });
  return { row: rowOf(deciding, next.index, next), pool: { ...pool, next: pool.next + 1 } };
}

// Spec §7: "needs a live edge (withdrawals; pooled-chain allocation when pool empty)"; a live one is asked for more
// already.
function poolEmpty({ edge }: AccountState, chain: PooledChain): Refusal {
  return edge.liveness === 'live'
    ? refuse('EDGE_NOT_SYNCED', { chain, reason: 'pool_empty', retryAfterSeconds: 5 })
    : refuse('EDGE_OFFLINE', { chain, reason: 'pool_empty' });
}

function rowOf(
  { state, command, book, nowMs }: Deciding<'create_address'>, index: number,
  { address, path }: { address: string; path: string },
): AddressRow {
  const { id, chain, userRef, tag, label } = command;
  const { family, parseAddress } = book.facts(chain);
  const parsed = parseAddress(book.network(chain), address);
  if (isRefusal(parsed)) throw new Error(`issued address of ${chain} does not parse`);
  return {
    id, accountId: state.accountId, chain, family, address,
    addressKey: addressKeyOf(state.environment, family, parsed.bytes),
    derivationPath: path, purpose: 'deposit', index, userRef, tag, label, status: 'active', createdAtMs: nowMs,
  };
}

/**
 * Archives an address or brings it back; only active ones count. The row may have been read before another change,
 * which the store then refuses.
 * Refuses: ACCOUNT_SUSPENDED, TIER_FEATURE_LOCKED, ADDRESS_LIMIT_EXCEEDED, NOT_FOUND (no customer's address), CONFLICT.
 */
export function setAddressStatus(
  { state, command: { known, status } }: Deciding<'set_address_status'>,
): AccountDecision<'set_address_status'> {
  const no = firstRefusal(
    suspended(state),
    known.purpose === 'deposit' ? null : refuse('NOT_FOUND'),
    status === 'active' ? addressLimit(state) : null,
    known.status === status ? refuse('CONFLICT', { status }) : null,
  );
  if (no !== null) return no;
  return accept(
    { ...known, status }, [{ type: 'address_status_changed', id: known.id, status }],
    [{ table: 'address_status', id: known.id, status }]);
}

/** The day's highest count of active addresses, which is what is billed. Spec §2.9, I26. */
export function notePeak({ state, command: { day } }: Deciding<'note_peak'>): AccountDecision<'note_peak'> {
  const before = state.peak.day === day ? state.peak.active : -1;
  const active = Math.max(state.activeAddresses, before);
  if (active === before) return accept({ day, active });
  return accept({ day, active }, [{ type: 'peak_noted', day, active }], [{ table: 'address_peak', day, active }]);
}
