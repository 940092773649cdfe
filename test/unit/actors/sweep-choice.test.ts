/** What becomes of an address in a cycle. Treasury S12, S13, W12. */
import test from 'ava';
import fc from 'fast-check';
import { shippedRegistry } from '../../../chains/catalogue.ts';
import { choose, SKIP_REASONS, type Holding } from '../../../actors/sweep/choice.ts';
import { costInAsset, rateOf, sandboxRate, statedRate } from '../../../actors/sweep/rates.ts';
import { lacksToken, roomOf, shareBlocked, withinRoom } from '../../../actors/sweep/leader.ts';
import { verdictOf } from '../../../actors/sweep/signing.ts';
import { NOW_MS } from '../../support/account.ts';

const eth = { slug: 'eth', nativeDecimals: 18 } as const;
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const DAY_MS = 86_400_000;

const RULES = { dustFloor: '10', minAmount: '100', maxFeeRatioBps: 1_000, abortIfGasExceeds: '50' };
const HOLDING: Holding = {
  balance: 1_000n,
  credited: 1_000n,
  reserve: 0n,
  cost: 5n,
  costInAsset: 5n,
  isObserved: false,
  isWatchOnly: false,
  hasWithdrawal: false,
  hasSweep: false,
  isDeclined: false,
  isReady: true,
  isFunded: true,
  isShareTooLarge: false,
  isKnownToEdge: true,
};

test('treasury S13: each reason in its order; the first that applies is the one', (t) => {
  const each: readonly [Partial<Holding>, (typeof SKIP_REASONS)[number]][] = [
    [{ isObserved: true, isWatchOnly: true }, 'observe_mode'],
    [{ isWatchOnly: true, hasWithdrawal: true }, 'watch_only'],
    [{ hasWithdrawal: true, hasSweep: true }, 'withdrawal_in_flight'],
    [{ hasSweep: true, credited: 0n }, 'sweep_in_flight'],
    [{ credited: 0n }, 'unconfirmed_only'],
    [{ reserve: 1_000n }, 'reserve'],
    [{ balance: 9n, credited: 9n }, 'dust'],
    [{ balance: 99n, credited: 99n, costInAsset: null }, 'below_min'],
    [{ isDeclined: true, isReady: false }, 'token_frozen'],
    [{ isReady: false, costInAsset: null }, 'destination_not_ready'],
    [{ costInAsset: null, cost: 51n }, 'no_rate'],
    [{ costInAsset: 101n, cost: 51n }, 'fee_ratio'],
    [{ cost: 51n, isFunded: false }, 'gas_above_limit'],
    [{ isFunded: false, isKnownToEdge: false }, 'funding_wallet_low'],
    [{ isKnownToEdge: false }, 'edge_registry_older'],
  ];
  t.deepEqual(
    each.map(([, reason]) => reason),
    [...SKIP_REASONS],
  );
  for (const [more, reason] of each) t.is(choose(RULES, 'threshold', { ...HOLDING, ...more }).reason, reason);
  t.deepEqual(choose(RULES, 'threshold', HOLDING), { amount: 1_000n, reason: null });
  t.is(choose(RULES, 'manual', { ...HOLDING, isShareTooLarge: true, cost: 51n }).reason, 'fee_ratio');
  t.is(choose(RULES, 'manual', { ...HOLDING, balance: 99n, credited: 99n }).reason, null, 'a minimum is a threshold');
});

test('treasury S12: a sweep never moves what is not final, nor what has to stay, and bounds hold for what it takes', (t) => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 30n });
  const holding = fc.record({
    balance: amount,
    credited: fc.bigInt({ min: -1_000n, max: 10n ** 30n }),
    reserve: amount,
    cost: amount,
    costInAsset: fc.option(amount),
    isObserved: fc.boolean(),
    isWatchOnly: fc.boolean(),
    hasWithdrawal: fc.boolean(),
    hasSweep: fc.boolean(),
    isDeclined: fc.boolean(),
    isReady: fc.boolean(),
    isFunded: fc.boolean(),
    isShareTooLarge: fc.boolean(),
    isKnownToEdge: fc.boolean(),
  });
  const rules = fc.record({
    dustFloor: amount.map(String),
    minAmount: fc.option(amount.map(String)),
    maxFeeRatioBps: fc.option(fc.nat({ max: 10_000 })),
    abortIfGasExceeds: fc.option(amount.map(String)),
  });
  fc.assert(
    fc.property(rules, fc.constantFrom('manual', 'schedule', 'threshold'), holding, (bounds, trigger, held) => {
      const { amount: taken, reason } = choose(bounds, trigger, held);
      const fits = taken >= 0n && (taken === 0n || (taken <= held.credited && taken + held.reserve <= held.balance));
      if (!fits || reason !== null) return fits;
      const ratio = bounds.maxFeeRatioBps;
      return (
        taken > 0n &&
        taken >= BigInt(bounds.dustFloor) &&
        (ratio === null || held.costInAsset! * 10_000n <= taken * BigInt(ratio)) &&
        (bounds.abortIfGasExceeds === null || held.cost <= BigInt(bounds.abortIfGasExceeds)) &&
        held.isFunded &&
        !held.isShareTooLarge &&
        held.isKnownToEdge &&
        !held.isWatchOnly &&
        !held.hasWithdrawal &&
        !held.hasSweep
      );
    }),
    { numRuns: 2_000 },
  );
  t.pass();
});

test('treasury W12: a cost in a token is rounded up; without a rate there is none', (t) => {
  const rate = sandboxRate(eth, 6);
  t.is(costInAsset(10n ** 18n, rate), 3_000_000_000n);
  t.is(costInAsset(1n, rate), 1n, 'rounded up');
  t.is(costInAsset(10n ** 18n, null), null);
});

test('treasury W12: a live rate is what an administrator said within a day; the native coin is its own', async (t) => {
  const usdc = { contract: USDC, decimals: 6 };
  const kept = {
    chain: 'eth',
    contract: USDC,
    numerator: 3_000n,
    denominator: 10n ** 12n,
    observedAtMs: NOW_MS,
  } as const;
  const at = (nowMs: number, held: typeof kept | null = kept) =>
    rateOf({ rate: async () => held }, eth, 'live', usdc, nowMs);
  t.is(await at(NOW_MS + DAY_MS - 1), kept);
  t.is(await at(NOW_MS + DAY_MS), null, 'stale');
  t.is(await at(NOW_MS, null), null);
  const never = { rate: async () => t.fail() as never };
  t.is(costInAsset(7n, await rateOf(never, eth, 'live', null, NOW_MS)), 7n);
  t.deepEqual(await rateOf(never, eth, 'sandbox', usdc, NOW_MS), sandboxRate(eth, 6));
});

test('treasury W12: a rate is of a token of the registry, in its own text, and of the last day', (t) => {
  const said = { chain: 'eth', tokenContract: USDC, numerator: '3', denominator: '7' } as const;
  const of = (more: object, observedAt = new Date(NOW_MS).toISOString()) =>
    statedRate({ ...said, observedAt, ...more }, shippedRegistry, NOW_MS);
  t.deepEqual(of({ tokenContract: USDC.toLowerCase() }), {
    chain: 'eth',
    contract: USDC,
    numerator: 3n,
    denominator: 7n,
    observedAtMs: NOW_MS,
  });
  t.like(of({ chain: 'bsc' }), { code: 'TOKEN_NOT_ON_CHAIN' });
  t.like(of({ tokenContract: `0x${'1'.repeat(40)}` }), { code: 'TOKEN_NOT_SUPPORTED' });
  const field = 'observedAt';
  t.like(of({}, new Date(NOW_MS - DAY_MS).toISOString()), { details: { field, reason: 'stale' } });
  t.like(of({}, new Date(NOW_MS + 3_600_000).toISOString()), { details: { field, reason: 'in_the_future' } });
});

test('treasury 5.3, S27: what an edge refuses ends an operation, or is asked again', (t) => {
  for (const code of ['EDGE_OFFLINE', 'EDGE_NO_LEADER', 'LEASE_EPOCH_STALE', 'SERVICE_UNAVAILABLE', 'CONFLICT'])
    t.is(verdictOf({ code }), null, code);
  const cap = { setting: 'EDGE_SPEND_CAP_ETH', windowSeconds: 60, spent: '0' };
  t.like(verdictOf({ code: 'AMOUNT_CAP_EXCEEDED', details: { ...cap, cap: '0', amount: '7' } }), {
    to: 'FAILED',
    reason: 'edge_spend_cap',
    endsAll: true,
    blocked: { setting: 'EDGE_SPEND_CAP_ETH', cap: '0', spent: '0', required: '7', windowSeconds: 60 },
  });
  t.like(verdictOf({ code: 'AMOUNT_CAP_EXCEEDED', details: { ...cap, cap: '7', spent: '1', amount: '7' } }), {
    to: 'SKIPPED',
    reason: 'edge_window_spent',
  });
  t.like(verdictOf({ code: 'AMOUNT_CAP_EXCEEDED', details: { setting: 'EDGE_FEE_CAP_ETH' } }), {
    to: 'FAILED',
    reason: 'edge_refused',
    endsAll: false,
  });
  const rejected = (reason: string, more: object = {}) =>
    verdictOf({ code: 'SIGNED_BATCH_REJECTED', details: { reason, found: 'x', ...more } });
  t.like(rejected('sweep_destination_not_allowed'), { reason: 'edge_destination_not_allowed', endsAll: true });
  t.like(rejected('sweeps_stopped'), { to: 'SKIPPED', reason: 'sweeps_stopped' });
  t.deepEqual(rejected('fee_ratio', { setting: 'EDGE_SWEEP_FEE_RATIO_BPS', bound: '10', value: '11' }), {
    to: 'SKIPPED',
    reason: 'fee_ratio',
    endsAll: false,
    blocked: {
      reason: 'fee_ratio',
      setting: 'EDGE_SWEEP_FEE_RATIO_BPS',
      cap: '10',
      spent: null,
      required: '11',
      windowSeconds: null,
    },
  });
  t.like(rejected('token_not_in_registry'), { to: 'SKIPPED', reason: 'edge_registry_older' });
  t.like(rejected('funding_count'), { to: 'FAILED', reason: 'edge_refused' });
});

test("treasury S27: a cycle asks for what is left of the cap of the edge, largest first; what is above the whole cap is the edge's to refuse", (t) => {
  const said = { registryVersion: 1, windowSeconds: 60, caps: [{ chain: 'eth', cap: '100', spent: '40' }] } as const;
  const asked = (counted: bigint, reason: string | null = null) => ({ counted, reason });
  const after = (all: readonly ReturnType<typeof asked>[], room = roomOf({ ...said, caps: [...said.caps] }, 'eth')) =>
    withinRoom(all, room);
  const [first, skipped, second, third] = after([asked(50n), asked(5n, 'dust'), asked(20n), asked(10n)]);
  t.like(first, { reason: null });
  t.like(skipped, { reason: 'dust' });
  t.deepEqual(second, {
    counted: 20n,
    reason: 'edge_window_spent',
    blocked: {
      reason: 'edge_window_spent',
      setting: 'EDGE_SPEND_CAP_ETH',
      cap: '100',
      spent: '40',
      required: '20',
      windowSeconds: 60,
    },
  });
  t.like(third, { reason: null }, 'what still fits');
  t.like(after([asked(101n)])[0], { reason: null }, 'never fits: the job fails and names the setting');
  t.like(after([asked(1n)], roomOf({ ...said, caps: [] }, 'eth'))[0], { reason: null }, 'so does a cap of zero');
  t.like(after([asked(1n)], roomOf(null, 'eth'))[0], { reason: null }, 'nothing is known');
  const whole = roomOf({ ...said, caps: [{ chain: 'eth', cap: '100', spent: '130' }] }, 'eth');
  t.like(after([asked(1n)], whole)[0], { reason: 'edge_window_spent' });
});

test('treasury S27: of what is taken no more is counted than the cap has left, whatever the addresses are', (t) => {
  const one = fc.record({ counted: fc.bigInt({ min: 0n, max: 200n }), reason: fc.constantFrom(null, 'dust') });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 40 }), fc.nat(200), fc.nat(200), (all, cap, spent) => {
      const room = { chain: 'eth', cap: BigInt(cap), spent: BigInt(spent), windowSeconds: 1 } as const,
        after = withinRoom(all, room);
      const fits = after.filter(({ reason, counted }) => reason === null && counted <= room.cap);
      const sum = fits.reduce((left, { counted }) => left + counted, 0n);
      return after.length === all.length && sum <= (room.cap > room.spent ? room.cap - room.spent : 0n);
    }),
  );
  t.pass();
});

test('treasury K15: a token that the leader has no version of is left out, and no other', async (t) => {
  const [entry] = shippedRegistry.tokens,
    [deployment] = entry!.deployments;
  const fresh = { ...deployment!, contract: 'new' };
  const current = { ...shippedRegistry, version: 3, tokens: [{ ...entry!, deployments: [deployment!, fresh] }] };
  const parts = (kept: object | null) => ({
    chains: { tokens: { current } },
    registry: { published: async () => (kept === null ? null : ({ content: JSON.stringify(kept) } as never)) },
  });
  const said = (registryVersion: number) => ({ registryVersion, windowSeconds: 1, caps: [] });
  const { chain, contract } = deployment!;
  const lacks = (token: string | null, version: number | null, kept: object | null = null) =>
    lacksToken(parts(kept), version === null ? null : said(version), chain, token);
  t.true(await lacks('new', 1));
  t.false(await lacks(contract, 1), 'known since the beginning');
  t.false(await lacks('new', 3), 'as new as ours');
  t.false(await lacks('new', 4));
  t.false(await lacks(null, 1), 'the native coin');
  t.false(await lacks('new', null), 'nothing was said');
  t.false(await lacks('simulated', 1), 'in no registry');
  t.true(await lacks('new', 2, { ...shippedRegistry, version: 2 }));
  t.false(await lacks('new', 2), 'a version that was not published here');
});

test('treasury E3, S13: what an issuer keeps is left out of a plan where the leader would refuse it, to the unit', (t) => {
  t.is(shareBlocked(1_000, 110n, 10n), null, 'a tenth of what arrives');
  t.like(shareBlocked(1_000, 110n, 11n), { setting: 'EDGE_SWEEP_FEE_RATIO_BPS', cap: '9', required: '11' });
  t.is(shareBlocked(undefined, 110n, 110n), null, 'nothing was said');
  t.is(shareBlocked(0, 110n, 0n), null);
  t.like(shareBlocked(0, 110n, 1n), { reason: 'fee_ratio', cap: '0' });
});
