/**
 * Address pools of the Ed25519 chains. The edge derives and pushes; the cloud keeps the addresses in `pool_address` and
 * of the pool itself only how far it reaches, so that the snapshot of every append stays small: a command that issues
 * brings the next unissued addresses along, and the actor takes the one whose turn it is.
 */
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { AccountEvent, AddressSees, RowWrite } from '../../model/account/capabilities.ts';
import { addressKeyOf } from '../../protocol/node/ids.ts';
import type { PooledChain } from '../../protocol/slugs.ts';
import { accept, firstRefusal, type AccountDecision, type ChainBook, type Deciding } from '../account/decision.ts';
import { eventIdAt, publish } from '../account/events-body.ts';
import { ownAddress, type OwnAddressIds } from './own-addresses.ts';
import { pinnedIdentity, suspended } from '../account/guards.ts';
import { poolLevelPercent, POOL_LOW_PERCENT, unusedOf } from '../edge-link/readiness.ts';
import type { Pool, PushedPool } from '../../model/account/address.ts';

/** Unissued addresses that an edge keeps in stock. Decisions 3. */
export const POOL_TARGET = 1_000;

/**
 * Adds pool addresses. Refuses: identity refusals of `pinnedIdentity`, ACCOUNT_SUSPENDED, INVALID_INPUT,
 * INVALID_ADDRESS.
 */
export function pushPool({ state, command, book, nowMs }: Deciding<'push_pool'>): AccountDecision<'push_pool'> {
  const no = firstRefusal(pinnedIdentity(state, command.publicKey), suspended(state));
  if (no !== null) return no;
  const plan = planPool(state, command.pool, book, command.addressIds[Symbol.iterator](), nowMs);
  if (isRefusal(plan)) return plan;
  const before = state.pools[command.pool.chain];
  const pool = plan.event === null ? before! : poolAfter(before, plan.event);
  return accept({ size: pool.size, unused: unusedOf(pool) }, plan.event === null ? [] : [plan.event], plan.rows);
}

/** What a push is planned on. */
type Pushed = Pick<AddressSees, 'environment' | 'pools' | 'accountId'>;
type PoolPushed = Extract<AccountEvent, { type: 'pool_pushed' }>;

/** What a push changes; `event` is null when every address is known already. */
export interface PoolPlan {
  readonly event: PoolPushed | null;
  readonly rows: readonly RowWrite[];
}

/**
 * Checks a push. Known indexes are skipped, new ones follow without a hole.
 * Refuses: INVALID_INPUT (path, hole, repeated index), INVALID_ADDRESS.
 */
export function planPool(
  state: Pushed,
  pushed: PushedPool,
  book: ChainBook,
  ids: OwnAddressIds,
  nowMs: number,
): PoolPlan | Refusal {
  const { chain, gasTank } = pushed;
  const { derivation } = book.facts(chain);
  if (derivation.kind !== 'pool') return refuse('INVALID_INPUT', { field: 'pool.chain', chain });
  const pool = state.pools[chain];
  const rows: RowWrite[] = [];
  let size = pool?.size ?? 0;
  for (const { index, address, path } of pushed.addresses) {
    if (index < size) continue;
    if (index !== size) return refuse('INVALID_INPUT', { field: 'pool.addresses', chain, expectedIndex: size, index });
    const key = keyOfPooled(state, chain, address, path, derivation.depositPath(index), book);
    if (isRefusal(key)) return key;
    rows.push({ table: 'pool_address', row: { chain, index, address, path, addressKey: key } });
    size += 1;
  }
  const tankKey = keyOfPooled(state, chain, gasTank.address, gasTank.path, derivation.gasTankPath, book);
  if (isRefusal(tankKey)) return tankKey;
  const sameTank = pool?.gasTank === gasTank.address;
  if (!sameTank) rows.push(ownAddress(state, book, ids, { chain, purpose: 'gas_tank', ...gasTank }, nowMs));
  if (sameTank && size === pool?.size) return { event: null, rows: [] };
  return { event: { type: 'pool_pushed', chain, size, gasTank: gasTank.address, gasTankPath: gasTank.path }, rows };
}

function keyOfPooled(
  state: Pick<AddressSees, 'environment'>,
  chain: PooledChain,
  address: string,
  path: string,
  expectedPath: string,
  book: ChainBook,
): string | Refusal {
  if (path !== expectedPath) return refuse('INVALID_INPUT', { field: 'pool.path', chain, expectedPath });
  const { family, parseAddress } = book.facts(chain);
  const parsed = parseAddress(book.network(chain), address);
  if (isRefusal(parsed)) return parsed;
  if (parsed.canonical !== address) return refuse('INVALID_ADDRESS', { chain, canonical: parsed.canonical });
  return addressKeyOf(state.environment, family, parsed.bytes);
}

/** Level from which a pool that was announced as low counts as refilled: a part of a refill is none. Percent. */
const REFILLED_PERCENT = 50;

/**
 * The pool after a push. The most unissued addresses that it ever had, up to the target, are the 100 % of its level: a
 * refill comes in parts, and under fast use none of them fills it.
 */
export function poolAfter(before: Pool | undefined, { size, gasTank, gasTankPath }: PoolPushed): Pool {
  const next = before?.next ?? 0,
    base = before?.base ?? 0;
  const pool: Pool = {
    base,
    size,
    next,
    capacity: Math.min(POOL_TARGET, Math.max(size - next, before?.capacity ?? 0)),
    gasTank,
    gasTankPath,
    lowAnnounced: false,
  };
  return { ...pool, lowAnnounced: before?.lowAnnounced === true && poolLevelPercent(pool) < REFILLED_PERCENT };
}

/** Event and publication when an issue takes a pool below the threshold: once until it is refilled. Spec §3.1. */
export function announceLow(
  state: AddressSees,
  chain: PooledChain,
  after: Pool,
  position: number,
  nowMs: number,
): { events: AccountEvent[]; rows: RowWrite[] } {
  const levelPercent = poolLevelPercent(after);
  if (levelPercent >= POOL_LOW_PERCENT || after.lowAnnounced) return { events: [], rows: [] };
  return {
    events: [{ type: 'pool_low_announced', chain }],
    rows: [
      publish(state, {
        event: 'pool_low',
        id: eventIdAt(state, position, 'pool_low'),
        confirmations: null,
        threshold: null,
        atMs: nowMs + state.aheadMs,
        orderKey: '',
        data: { chain, unused: unusedOf(after), levelPercent, thresholdPercent: POOL_LOW_PERCENT },
      }),
    ],
  };
}

/** What the leader edge should push next, null when the stock is not low. */
export function replenishment(pool: Pool): { from: number; count: number } | null {
  if (poolLevelPercent(pool) >= POOL_LOW_PERCENT) return null;
  return { from: pool.size, count: Math.max(1, POOL_TARGET - unusedOf(pool)) };
}
