/** What the account is composed of: house rules 1 and 3. */
import test from 'ava';
import { CAPABILITIES, DECISIONS } from '../../../actors/account/capabilities.ts';
import { foldOf, type EventOf, type Folds } from '../../../actors/account/decision.ts';
import { evolve } from '../../../actors/account/evolve.ts';
import { SNAPSHOT_INITIAL, type AccountEvent, type AccountState } from '../../../model/account/capabilities.ts';
import { OUTGOING_INITIAL } from '../../../model/account/outgoing.ts';
import type { BridgePolicy } from '../../../model/account/bridge.ts';
import type { SweepPolicy } from '../../../model/account/sweep.ts';
import { upcast, STATE_FORMAT } from '../../../model/account/snapshot.ts';
import { initialAccount } from '../../../model/account/state.ts';

const pool = { base: 2, size: 9, next: 4, capacity: 7, gasTank: 'G', gasTankPath: "m/44'", lowAnnounced: false };
const key = { xpub: 'xpub', accountPath: "m/44'/60'/0'", fingerprint: '0011' };
const source = {
  id: 'ks_1',
  fingerprint: 'a'.repeat(16),
  label: 'old',
  kind: 'phrase' as const,
  keystore: 'file' as const,
  chains: ['eth' as const],
  keys: [],
  addresses: 1,
  registeredAtMs: 1,
  purgedAtMs: null,
};
const hold = { key: 'eth:a', values: ['1'] };

const POLICY: SweepPolicy = {
  id: 'policy_2',
  version: 1,
  chain: 'eth',
  token: null,
  enabled: true,
  triggerMode: 'MANUAL',
  minAmount: null,
  scheduleCron: null,
  scheduleTimeZone: 'UTC',
  treasuryWalletId: 'wal_1',
  gasFundingMode: 'SELF',
  fundingWalletId: null,
  dustFloor: '0',
  maxFeeRatioBps: null,
  abortIfGasExceeds: null,
  pauseOnConsecutiveFailures: 3,
  retainGasFloat: 0,
  closeTokenAccounts: false,
  energy: null,
  createdAtMs: 1,
  updatedAtMs: 1,
  pausedAtMs: null,
  pausedReason: null,
  consecutiveFailures: 0,
  nextRunAtMs: null,
  openJobId: 'swj_1',
  lastCycle: null,
  deferrals: 0,
  heldUntilMs: null,
  hasMore: false,
  rest: null,
  blocked: null,
};

const BRIDGE: BridgePolicy = {
  id: 'bridge_1',
  version: 1,
  fromChain: 'eth',
  toChain: 'base',
  token: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  sourceWalletId: 'wal_1',
  destinationWalletId: 'wal_2',
  maxSingleTransfer: '1',
  maxInFlightValue: '2',
  maxInFlightCount: 3,
  enabled: true,
  inFlightCount: 1,
  inFlightValue: '1',
  createdAtMs: 1,
  updatedAtMs: 1,
};

/** A state in which every event finds what it changes. */
const priced = { tier: 'premium', band: 'launch', feeCents: '9900' } as const;
const STATE: AccountState = {
  ...initialAccount({
    accountId: 'org_a_sandbox',
    organizationId: 'org_a',
    environment: 'sandbox',
    plan: { tier: 'free', band: 'launch', subscription: 'active', paymentsActive: false },
  }),
  enrolment: { publicKey: 'one', keys: { evm: key } },
  rotation: { id: 'rot_1', publicKey: 'two', keys: { evm: key }, detectedAtMs: 1 },
  pools: { sol: pool },
  webhooks: ['wh_1'],
  keySources: { ks_1: source },
  sweepPolicies: [{ ...POLICY, id: 'policy_1' }],
  bridgePolicies: [BRIDGE],
  counters: { 'eth:a': { next: '2', free: [], inFlight: { 1: { id: 'wd_1', stage: 'built' } } } },
  withdrawals: { wd_1: 1 },
  wipe: { id: 'wip_1', status: 'scheduled', forMs: 9 },
  openPeriod: { month: '2026-01', base: priced, charges: [] },
  owed: { stm_0: { cents: '2', dueAtMs: 1 } },
};

/** One of each kind; the type names those that are missing. */
const EVENTS: { readonly [T in AccountEvent['type']]: Omit<EventOf<T>, 'type'> } = {
  clock_advanced: { aheadMs: 5 },
  edge_enrolled: { enrolment: { publicKey: 'one', keys: {} } },
  keys_added: { keys: { btc: key } },
  rotation_detected: { id: 'rot_2', publicKey: 'three', keys: {}, atMs: 2 },
  rotation_approved: { id: 'rot_1', byUser: 'u', atMs: 3 },
  rotation_rejected: { id: 'rot_1', byUser: 'u' },
  lease_granted: { sessionId: 's', epoch: 1 },
  lease_released: { sessionId: 's', epoch: 1 },
  edge_liveness_changed: { liveness: 'live' },
  pool_pushed: { chain: 'sol', size: 12, gasTank: 'G', gasTankPath: "m/44'" },
  pool_low_announced: { chain: 'sol' },
  address_issued: { id: 'adr_1', family: 'sol', chain: 'sol', index: 4 },
  address_status_changed: { id: 'adr_1', status: 'active' },
  period_opened: { month: '2026-01', base: priced },
  charge_made: {
    charge: { kind: 'overage', atMs: 1, band: 'launch', quantity: 1, included: 1_000, rateMills: '80' },
  },
  period_closed: { month: '2026-01', owed: { statementId: 'stm_1', cents: '9900', dueAtMs: 9 } },
  collection_recorded: { statementId: 'stm_0', cents: '1', byUser: 'u' },
  peak_noted: { day: '2026-01-01', active: 1 },
  key_source_registered: { source, added: 2, chains: ['btc'] },
  key_source_purged: { id: 'ks_1', atMs: 4 },
  deposit_detected: { id: 'dep_1', incarnation: 0, amount: '1', height: 1, blockHash: 'h' },
  deposit_confirmed: { id: 'dep_1', incarnation: 0, amount: '1', height: 1, blockHash: 'h' },
  deposit_reversed: { id: 'dep_1', incarnation: 0, amount: '1', height: 1, blockHash: 'h' },
  deposit_moved: { id: 'dep_1', incarnation: 0, amount: '1', height: 1, blockHash: 'h' },
  withdrawal_built: { id: 'wd_2', atMs: 5, hold: { ...hold, next: '3', free: [] } },
  withdrawal_repriced: { id: 'wd_1', atMs: 5, hold },
  withdrawal_bound: { id: 'wd_1', atMs: 5, hold: { ...hold, next: '2', free: [] } },
  withdrawal_unbound: { id: 'wd_1', atMs: 5, hold },
  withdrawal_version_dropped: { id: 'wd_1', atMs: 5, txid: 't' },
  withdrawal_signed: { id: 'wd_1', atMs: 5, txid: 't', hold },
  withdrawal_broadcast: { id: 'wd_1', atMs: 5, txid: 't' },
  withdrawal_doubted: { id: 'wd_1', atMs: 5, txid: 't' },
  withdrawal_included: { id: 'wd_1', atMs: 5, txid: 't', height: 1, hold },
  withdrawal_orphaned: { id: 'wd_1', atMs: 5, txid: 't', hold, wasConfirmed: true },
  withdrawal_confirmed: { id: 'wd_1', txid: 't', hold, period: '2026-01' },
  withdrawal_failed: { id: 'wd_1', reason: 'r', hold: { ...hold, reusable: true } },
  withdrawal_expired: { id: 'wd_1', hold },
  builds_expired: { builds: [{ id: 'wd_1', hold }] },
  treasury_wallet_created: {
    wallet: { id: 'wal_1', chain: 'eth', source: 'derived', address: null, tag: null, label: null, createdAtMs: 1 },
  },
  funding_wallet_created: { wallet: { id: 'fwl_1', chain: 'eth', label: null, lowBalance: null, createdAtMs: 1 } },
  funding_wallet_low_since: { id: 'fwl_1', atMs: 2 },
  sweep_policy_set: { policy: POLICY },
  sweep_policy_deleted: { id: 'policy_1' },
  sweep_job_ended: { id: 'swj_1', state: 'COMPLETED' },
  sweep_operation_moved: { id: 'swo_1', state: 'SKIPPED', reason: 'dust' },
  bridge_policy_set: { policy: { ...BRIDGE, id: 'bridge_2' } },
  bridge_policy_deleted: { id: 'bridge_1' },
  bridge_transfer_moved: { id: 'brt_1', state: 'BURNING', reason: null },
  webhook_created: { id: 'wh_2' },
  webhook_deleted: { id: 'wh_1' },
  webhook_replaced: { id: 'wh_1', seal: 's' },
  delivery_replayed: { deliveryId: 'dl_1' },
  plan_changed: { plan: STATE.plan },
  band_change_scheduled: { band: 'launch', atMs: 6 },
  band_change_ended: { reason: 'in_force' },
  suspension_changed: { suspended: true },
  address_counted: { id: 'adr_1', family: 'evm' },
  import_reserved: { batchId: 'imp_1', adopting: 2, chains: ['btc'], indexes: { btc: 3 } },
  import_opened: { batchId: 'imp_1' },
  import_undone: { batchId: 'imp_1', adopting: 1, becomes: 'rolled_back' },
  project_cut_over: { projectId: 'mig_1', state: 'active' },
  payment_link_created: { id: 'lnk_1' },
  payment_link_changed: { id: 'lnk_1', status: 'closed', closedReason: 'manual' },
  payment_link_patched: { id: 'lnk_1' },
  payment_settings_changed: { settings: STATE.paymentSettings },
  payment_opened: { id: 'pay_1', linkId: 'lnk_1' },
  payment_changed: { id: 'pay_1', status: 'detected', depositId: 'dep_1', incarnation: 1 },
  invoice_issued: { id: 'inv_1', paymentId: 'pay_1', year: 2026, number: 1 },
  quota_warned: { period: '2026-01', quota: 'webhooks', threshold: 80, used: 20, limit: 25 },
  wipe_scheduled: { id: 'wip_1', forMs: 9, byUser: 'u' },
  wipe_cancelled: { id: 'wip_1' },
  wipe_begun: { id: 'wip_1' },
  account_wiped: { id: 'wip_1', atMs: 9 },
  wipe_ended: { id: 'wip_1' },
  sandbox_reset_begun: {},
  sandbox_reset: {},
};
/** Facts that leave no trace in the state: what they say is in rows. */
const TRACELESS = [
  'deposit_detected',
  'deposit_confirmed',
  'deposit_reversed',
  'deposit_moved',
  'delivery_replayed',
  'payment_link_patched',
  'payment_opened',
  'payment_changed',
  'sweep_job_ended',
  'sweep_operation_moved',
  'bridge_transfer_moved',
];

test('house 1: every field of the account but its name has one owner, and no capability changes what another one owns', (t) => {
  const owned = Object.values(CAPABILITIES).flatMap(({ owns }) => owns as readonly string[]);
  t.is(new Set(owned).size, owned.length);
  t.deepEqual(
    [...owned, 'accountId', 'environment', 'format', 'organizationId', 'version'].sort(),
    Object.keys(STATE).sort(),
  );
  for (const [type, event] of Object.entries(EVENTS)) {
    const changes = Object.entries(CAPABILITIES).map(([name, { owns, folds }]) => {
      const changed = Object.keys(
        foldOf(folds as Folds<AccountState, object>, STATE, { type, ...event } as AccountEvent),
      );
      for (const field of changed)
        t.true((owns as readonly string[]).includes(field), `${name} changes ${field} by ${type}`);
      return changed.length;
    });
    t.is(
      changes.every((count) => count === 0),
      TRACELESS.includes(type),
      type,
    );
  }
});

/** Kinds of events whose entities the snapshot holds, and what keeps them few. */
const BOUNDED: Partial<Record<AccountEvent['type'], string>> = {
  charge_made: 'CHARGES_MAX of the month that is open',
  period_closed: 'one a month, until it is paid',
  key_source_registered: 'SOURCE_KEYS_MAX, and a source has a key at least',
  treasury_wallet_created: 'WALLETS_MAX',
  funding_wallet_created: 'one for a chain',
  sweep_policy_set: 'POLICIES_MAX, and one for a chain and token',
  bridge_policy_set: 'POLICIES_MAX, and one for a way of a token',
  webhook_created: 'WEBHOOKS_MAX',
  webhook_replaced: 'one for each webhook',
};

/** Digits by which counters grow. */
const COUNTERS_BYTES = 8;

/** The event about another entity: each id that it names ends in `n`. */
const another = (event: AccountEvent, n: number): AccountEvent =>
  JSON.parse(JSON.stringify(event).replace(/_\d+"/g, `_${n}"`)) as AccountEvent;

test('house 3: what grows with use is not in the snapshot; what grows there is bounded by a limit that is named', (t) => {
  const sizeAfter = (event: AccountEvent, count: number): number => {
    let state = STATE;
    for (let n = 100; n < 100 + count; n += 1) state = evolve(state, another(event, n));
    const kept = Object.entries(state).filter(([field]) => !(field in OUTGOING_INITIAL)); // rows have the rest
    return JSON.stringify(Object.fromEntries(kept)).length;
  };
  const growing = (Object.keys(EVENTS) as AccountEvent['type'][]).filter((type) => {
    const event = { type, ...EVENTS[type] } as AccountEvent;
    return sizeAfter(event, 100) - sizeAfter(event, 10) > COUNTERS_BYTES;
  });
  t.deepEqual(growing.sort(), Object.keys(BOUNDED).sort());
});

test('house 1: every command has one decision', (t) => {
  const decided = Object.values(CAPABILITIES).flatMap(({ decide }) => Object.keys(decide));
  t.is(new Set(decided).size, decided.length);
  t.deepEqual([...decided, 'apply_facts', 'inspect'].sort(), Object.keys(DECISIONS).sort());
});

// As release 1 stored it, before formats were numbered: optional fields absent, pools without a base.
const STORED_BY_1 = {
  version: 41,
  accountId: 'org_a_live',
  organizationId: 'org_a',
  environment: 'live',
  plan: { tier: 'ultimate', band: 'scale', subscription: 'active', paymentsActive: true },
  suspended: false,
  enrolment: { publicKey: 'one', keys: { evm: key } },
  rotation: null,
  pools: {
    sol: { size: 9, next: 4, capacity: 7, gasTank: 'G', gasTankPath: "m/44'", lowAnnounced: false },
    xlm: { ...pool },
  },
  indexes: { evm: 3 },
  chains: ['eth', 'sol'],
  activeAddresses: 5,
  peak: { day: '2026-01-01', active: 5 },
  settled: { period: '2026-01', count: 2 },
  webhooks: ['wh_1'],
  lease: { epoch: 3, holder: 's' },
  edge: { liveness: 'online' },
};

// As the release before stored it (test/fixtures/release-before.mjs.br): no treasury, sweeps, bills, payments, imports.
const STORED_BY_2 = {
  format: 2,
  version: 57,
  accountId: 'org_a_live',
  organizationId: 'org_a',
  environment: 'live',
  plan: { tier: 'premium', band: 'scale', subscription: 'active', paymentsActive: true },
  enrolment: { publicKey: 'one', keys: { evm: key } },
  rotation: null,
  retired: [{ fingerprint: 'b'.repeat(16), atMs: 1, next: { evm: 2 } }],
  lease: { epoch: 3, holder: 's' },
  edge: { liveness: 'live' },
  keySources: { ks_1: source },
  pools: { sol: { ...pool } },
  indexes: { evm: 3 },
  chains: ['eth', 'sol'],
  activeAddresses: 5,
  peak: { day: '2026-01-01', active: 5 },
  webhooks: ['wh_1'],
  webhookSeals: { wh_1: 's' },
  pendingBand: { band: 'launch', atMs: 6 },
  suspended: false,
  settled: { period: '2026-01', count: 2 },
};

test('house 3: a state as the release before stored it has the first slices of younger capabilities, and every event folds into it', (t) => {
  const state = upcast<AccountState>(STORED_BY_2);
  t.like(state, { ...STORED_BY_2, format: STATE_FORMAT });
  t.deepEqual(
    Object.keys({ ...state, ...OUTGOING_INITIAL }).sort(),
    Object.keys(STATE).sort(),
    'each field of today, and no other',
  );
  const initial: Record<string, unknown> = { ...SNAPSHOT_INITIAL };
  const younger = Object.keys(initial).filter((field) => !(field in STORED_BY_2));
  t.true(younger.includes('sweepPolicies') && younger.includes('cutovers') && younger.includes('paymentSettings'));
  for (const field of younger) t.deepEqual((state as unknown as Record<string, unknown>)[field], initial[field], field);
  for (const [type, event] of Object.entries(EVENTS))
    t.notThrows(
      () => evolve({ ...state, ...structuredClone(OUTGOING_INITIAL) }, { type, ...event } as AccountEvent),
      type,
    );
});

test("house 3: a state as today's release stored it is brought to the present format, and a present one is left as it is", (t) => {
  const state = upcast<AccountState>(STORED_BY_1);
  t.like(state, {
    format: STATE_FORMAT,
    version: 41,
    pendingBand: null,
    retired: [],
    keySources: {},
    webhookSeals: {},
    indexes: { evm: 3 },
  });
  t.is(state.pools.sol!.base, 0);
  t.is(state.pools.xlm!.base, 2);
  t.deepEqual(upcast(state), state);
  t.deepEqual(upcast({ ...STATE, format: 99 }).format, 99, 'a state of a newer release keeps its own number');
  // An older release beside this one keeps the number that it read, and writes a new pool in its own shape.
  const { base: _, ...poolOf1 } = pool;
  t.is(upcast<AccountState>({ ...state, pools: { sol: poolOf1 } }).pools.sol!.base, 0);
});
