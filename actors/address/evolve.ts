/** How pools, indexes and the count of active addresses change. */
import type { AddressState, Pool } from '../../model/account/address.ts';
import type { AddressSees } from '../../model/account/capabilities.ts';
import type { EventOf, Folds } from '../account/decision.ts';
import { pooled } from '../edge-link/readiness.ts';
import { risen } from './peak.ts';
import { poolAfter } from './pools.ts';

export const addressFolds: Folds<Pick<AddressSees, keyof AddressState | 'rotation'>, AddressState> = {
  pool_pushed: ({ pools }, event) => ({ pools: { ...pools, [event.chain]: poolAfter(pools[event.chain], event) } }),
  pool_low_announced: ({ pools }, { chain }) => {
    const pool = pools[chain];
    return pool === undefined ? {} : { pools: { ...pools, [chain]: { ...pool, lowAnnounced: true } } };
  },
  address_issued: issued,
  address_counted: (state) => counted(state, 1),
  address_status_changed: (state, { status, counts }) =>
    counts === false ? {} : counted(state, status === 'active' ? 1 : -1),
  peak_noted: (_, { day, active }) => ({ peak: { day, active } }),
  key_source_registered: (state, { added, chains }) => ({
    ...counted(state, added),
    chains: [...state.chains, ...chains.filter((chain) => !state.chains.includes(chain))],
  }),
  // Adopted addresses count from the moment in which room was made for them.
  import_reserved: (state, { adopting, chains, indexes }) => ({
    indexes: above(state.indexes, indexes),
    ...counted(state, adopting),
    chains: [...state.chains, ...chains.filter((chain) => !state.chains.includes(chain))],
  }),
  import_undone: (state, { adopting }) => counted(state, -adopting),
  // What is left of the old pools is not issued any more: the new edge could not sign for it. Indexes go on, so that
  // none is used twice.
  rotation_approved: ({ rotation, pools }) => (rotation === null ? {} : { pools: eachPool(pools, emptied) }),
  // As after a rotation, and none is watched any more.
  account_wiped: ({ pools }) => ({ pools: eachPool(pools, forgotten), chains: [], activeAddresses: 0 }),
  sandbox_reset: ({ pools }) => ({ pools: eachPool(pools, rewound), indexes: {}, chains: [], activeAddresses: 0 }),
};

function issued(
  state: AddressState,
  { family, chain, index, paired, lent }: EventOf<'address_issued'>,
): Partial<AddressState> {
  const poolChain = pooled(chain),
    pool = poolChain === null ? undefined : state.pools[poolChain];
  return {
    ...(pool === undefined ? {} : { pools: { ...state.pools, [chain]: { ...pool, next: index + 1 } } }),
    ...(state.chains.includes(chain) ? {} : { chains: [...state.chains, chain] }),
    ...(paired === true
      ? {}
      : { indexes: { ...state.indexes, [family]: index + 1 }, ...(lent === true ? {} : counted(state, 1)) }),
  };
}

/** The count and, where it is higher than any of the day, the day's peak. */
function counted(
  { activeAddresses, peak }: AddressState,
  more: number,
): Pick<AddressState, 'activeAddresses' | 'peak'> {
  const active = activeAddresses + more;
  return { activeAddresses: active, peak: risen(peak, active) };
}

function eachPool(pools: AddressState['pools'], change: (pool: Pool) => Pool): AddressState['pools'] {
  return Object.fromEntries(Object.entries(pools).map(([chain, pool]) => [chain, change(pool)]));
}

function emptied(pool: Pool): Pool {
  return { ...pool, base: pool.next, size: pool.next, capacity: 0, lowAnnounced: false };
}

const forgotten = (pool: Pool): Pool => ({ ...emptied(pool), gasTank: '', gasTankPath: '' });

/** Back to the first address of the present identity: what lies below it belongs to one that was rotated away. */
function rewound(pool: Pool): Pool {
  return { ...pool, next: pool.base, capacity: pool.size - pool.base, lowAnnounced: false };
}

/** The next indexes, where some are taken already. */
const above = (next: AddressState['indexes'], taken: AddressState['indexes']): AddressState['indexes'] => ({
  ...next,
  ...Object.fromEntries(
    Object.entries(taken).map(([family, index]) => [family, Math.max(next[family as keyof typeof next] ?? 0, index)]),
  ),
});
