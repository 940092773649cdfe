/** What fires a policy, what makes a firing wait, and what is made up for. Treasury S5–S9, S11. */
import test from 'ava';
import { firePolicy, type FireParts } from '../../../actors/sweep/fire.ts';
import { CATCH_UP_MS } from '../../../actors/sweep/firing.ts';
import { lookAtPolicies } from '../../../actors/sweep/worker.ts';
import { OPERATIONS_MAX } from '../../../actors/sweep/job.ts';
import { ChainUnavailable } from '../../../chains/chain.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import type { PlannedOperation, SweepSettings } from '../../../model/account/sweep.ts';
import type { DuePolicy, SweepCandidate } from '../../../model/ports/sweep-store.ts';
import type { SweepJobRow, SweepPolicyRow } from '../../../model/rows/sweep.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId, newUuid } from '../../../protocol/node/ids.ts';
import { NOW_MS, type TestAccount } from '../../support/account.ts';
import { withPolicy } from '../../support/sweep-policy.ts';

const MINUTE_MS = 60_000;
const DAILY: Partial<SweepSettings> = { triggerMode: 'SCHEDULE', scheduleCron: '0 0 6 * * *' };
const AT_TEN: Partial<SweepSettings> = { triggerMode: 'THRESHOLD', minAmount: '10' };

const policyIn = ({ state }: TestAccount) => state.sweepPolicies[0]!;
const lastRow = (rows: readonly RowWrite[]): SweepPolicyRow =>
  rows.findLast((one): one is Extract<RowWrite, { table: 'sweep_policies' }> => one.table === 'sweep_policies')!.row;
const planned = (): PlannedOperation => ({
  id: newId('swo', NOW_MS),
  address: '0x52908400098527886E0F7030069857D2E4169EE7',
  amount: 10n,
  estimate: 2n,
  promised: 0n,
  reason: null,
  blocked: null,
  fundId: newId('txn', NOW_MS),
  sweepId: newId('txn', NOW_MS),
});

interface Around {
  readonly live?: boolean;
  readonly leads?: boolean;
  readonly chain?: 'away' | 'here';
  readonly asked?: { floor: bigint; trigger?: string }[];
}

/** What a firing needs, with an edge, a store without candidates and a chain as said. */
function partsOf(
  accountOf: (accountId: AccountId) => TestAccount,
  { live = true, leads = true, chain = 'here', asked = [] }: Around,
): FireParts {
  return {
    accounts: {
      ask: async (accountId: AccountId, command: { type: string }) => {
        const account = accountOf(accountId);
        if (command.type === 'inspect') return { ok: true, reply: { ...account.state, accountId } };
        const decision = account.decide(command as never);
        return decision.ok ? { ok: true, reply: account.accept(command as never).reply } : decision;
      },
    },
    edges: { anyLive: async () => live, leaseExpiresAtMs: async () => (leads ? NOW_MS + 1 : null) },
    chains: {
      bind: async () => {
        if (chain === 'away') throw new ChainUnavailable('eth', 'no endpoint');
        return { ok: true };
      },
    },
    sweeps: {
      candidates: async (_accountId: AccountId, _of: unknown, floor: bigint): Promise<SweepCandidate[]> => {
        asked.push({ floor });
        return [];
      },
    },
    nowMs: () => accountOf('' as AccountId).nowMs,
  } as unknown as FireParts;
}

/** A firing of an account's only policy as the worker does it. */
function fire(account: TestAccount, around: Around = {}, id = policyIn(account).id) {
  const due: DuePolicy = { accountId: account.state.accountId, id, fired: 3, due: '' };
  return firePolicy(
    partsOf(() => account, around),
    due,
  );
}

test('treasury S5: only an enabled policy with a threshold that is not paused is armed', (t) => {
  const armed = (more: Partial<SweepSettings>) => {
    const { account } = withPolicy(more);
    return lastRow(account.rows).minAmount;
  };
  t.is(armed(AT_TEN), 10n);
  t.is(armed({ ...DAILY, minAmount: '10', triggerMode: 'THRESHOLD_AND_SCHEDULE' }), 10n);
  t.is(armed({ ...AT_TEN, triggerMode: 'MANUAL' }), null);
  t.is(armed({ ...AT_TEN, enabled: false }), null);
  const { account, id } = withPolicy(AT_TEN);
  t.is(lastRow(account.accept({ type: 'pause_sweep_policy', id }).rows).minAmount, null);
  t.is(lastRow(account.accept({ type: 'resume_sweep_policy', id }).rows).minAmount, 10n);
  t.true(lastRow(account.accept({ type: 'delete_sweep_policy', id }).rows).isGone);
});

test('treasury S5, S6: a threshold takes addresses that reach it, a schedule all that are no dust', async (t) => {
  const asked: { floor: bigint }[] = [];
  const { account } = withPolicy({ ...AT_TEN, dustFloor: '2' });
  await fire(account, { asked });
  t.like(policyIn(account).lastCycle, { result: 'nothing_due' });
  t.is(lastRow(account.rows).seen, 3, 'what has fired until then is seen');
  const { account: daily } = withPolicy({ ...DAILY, dustFloor: '2' });
  daily.nowMs = policyIn(daily).nextRunAtMs!;
  await fire(daily, { asked });
  t.deepEqual(asked, [{ floor: 10n }, { floor: 2n }]);
  t.is(policyIn(daily).nextRunAtMs, daily.nowMs + CATCH_UP_MS, 'the next day');
});

test('treasury S8: what cannot be planned waits 1, 2, 5, 10, 10 minutes with its reason, is no failure, and is over once it can', async (t) => {
  const { account } = withPolicy(AT_TEN);
  const cases: readonly [Around, string][] = [
    [{ live: false }, 'EDGE_OFFLINE'],
    [{ leads: false }, 'EDGE_NO_LEADER'],
    [{ chain: 'away' }, 'CHAIN_UNAVAILABLE'],
    [{ live: false }, 'EDGE_OFFLINE'],
    [{ live: false }, 'EDGE_OFFLINE'],
  ];
  for (const [index, [around, reason]] of cases.entries()) {
    await fire(account, around);
    t.like(policyIn(account), {
      consecutiveFailures: 0,
      deferrals: index + 1,
      lastCycle: { result: 'deferred', reason },
    });
    t.is(lastRow(account.rows).heldUntilMs, NOW_MS + [1, 2, 5, 10, 10][index]! * MINUTE_MS);
    t.is(lastRow(account.rows).seen, null, 'the firing stays');
  }
  await fire(account);
  t.like(policyIn(account), { deferrals: 0, heldUntilMs: null, lastCycle: { result: 'nothing_due' } });
  t.deepEqual(account.folded().sweepPolicies, account.state.sweepPolicies);
});

test('treasury S8: a suspended account and a rotation that waits for its decision are deferred; settings end the wait', async (t) => {
  const { account, id } = withPolicy(AT_TEN);
  account.state = { ...account.state, suspended: true };
  await fire(account);
  t.like(policyIn(account).lastCycle, { result: 'deferred', reason: 'ACCOUNT_SUSPENDED' });
  account.state = { ...account.state, suspended: false };
  const { chain, token, ...settings } = policyIn(account);
  account.accept({
    type: 'replace_sweep_policy',
    id,
    settings: { chain, token, ...settings, minAmount: '20' },
    version: null,
  });
  t.like(policyIn(account), { deferrals: 0, heldUntilMs: null });
});

test('treasury S11: a run that was missed is made up for once within 24 h, and left out after that', async (t) => {
  const { account } = withPolicy(DAILY),
    due = policyIn(account).nextRunAtMs!;
  account.nowMs = due + CATCH_UP_MS;
  await fire(account);
  t.like(policyIn(account).lastCycle, { result: 'nothing_due', atMs: account.nowMs });
  const next = policyIn(account).nextRunAtMs!;
  t.true(next > account.nowMs);
  account.nowMs = next + CATCH_UP_MS + 1;
  const before = policyIn(account).lastCycle;
  await fire(account);
  t.deepEqual(policyIn(account).lastCycle, before, 'no cycle');
  t.true(policyIn(account).nextRunAtMs! > account.nowMs);
  t.is(
    account.accept({ type: 'skip_sweep_run', id: policyIn(account).id }).rows.length,
    0,
    'one ahead is left as it is',
  );
});

test('treasury S7: a firing finds an open job and leaves it alone', async (t) => {
  const { account, id } = withPolicy(AT_TEN);
  const run = { type: 'run_sweep_policy', id, version: 1, trigger: 'manual', seen: null, beside: null } as const;
  account.accept({ ...run, jobId: newId('swj', NOW_MS), operations: [planned()] });
  const rows = account.rows.length;
  await fire(account);
  t.is(account.rows.length, rows);
});

test('treasury S9: a full job that moved something and failed nowhere is followed by one like it; others are not', async (t) => {
  const both: Partial<SweepSettings> = { ...DAILY, triggerMode: 'THRESHOLD_AND_SCHEDULE', minAmount: '10' };
  for (const [settings, trigger, count, confirmed, failed, rest] of [
    [AT_TEN, 'threshold', OPERATIONS_MAX, 1, 0, 'threshold'],
    [both, 'schedule', OPERATIONS_MAX, 1, 0, 'schedule'],
    [both, 'threshold', OPERATIONS_MAX, 1, 0, 'threshold'],
    [DAILY, 'schedule', OPERATIONS_MAX, 1, 0, 'schedule'],
    [DAILY, 'manual', OPERATIONS_MAX, 1, 0, 'schedule'],
    [AT_TEN, 'threshold', OPERATIONS_MAX, 0, 0, null],
    [AT_TEN, 'threshold', OPERATIONS_MAX, 1, 1, null],
    [AT_TEN, 'threshold', OPERATIONS_MAX - 1, 1, 0, null],
  ] as const) {
    const { account, id } = withPolicy(settings),
      operations = Array.from({ length: count }, planned);
    const run = { type: 'run_sweep_policy', id, version: 1, trigger, seen: 1, beside: null } as const;
    const { rows } = account.accept({ ...run, jobId: newId('swj', NOW_MS), operations });
    const known = rows.find((one) => one.table === 'sweep_jobs')!.row as SweepJobRow;
    const sums = { amount: 1n, estimate: 1n, paid: 1n, reason: null, blocked: null };
    const outcome = { confirmed, failed, skipped: 0, left: failed, ...sums };
    const end = account.accept({ type: 'end_sweep_job', known, symbol: 'ETH', outcome });
    const what = `${trigger}, ${count} operations, ${confirmed} confirmed, ${failed} failed`;
    t.is(policyIn(account).rest, rest, what);
    t.is(lastRow(end.rows).again, rest !== null, what);
    // It outlives a wait, and takes what the cycle before it took.
    await fire(account, { live: false });
    t.is(lastRow(account.rows).again, rest !== null, what);
    const asked: { floor: bigint }[] = [];
    await fire(account, { asked });
    if (rest !== null) t.is(asked[0]!.floor, rest === 'threshold' ? 10n : 1n, what);
    t.like(policyIn(account), { rest: null, hasMore: false });
  }
});

test('treasury S20: what a threshold left is looked at again after 10 min, 1 h, 6 h and each day, whatever is paid; what came home is not', async (t) => {
  const { account, id } = withPolicy({ ...AT_TEN, pauseOnConsecutiveFailures: 100 });
  const cycle = (left: number, failed: number) => {
    const run = { type: 'run_sweep_policy', id, version: policyIn(account).version, trigger: 'threshold' } as const;
    const { rows } = account.accept({
      ...run,
      seen: 1,
      beside: null,
      jobId: newId('swj', NOW_MS),
      operations: [planned()],
    });
    const known = rows.find((one) => one.table === 'sweep_jobs')!.row as SweepJobRow;
    const sums = { amount: 1n, estimate: 1n, paid: 1n, reason: null, blocked: null };
    const outcome = { confirmed: 1 - failed, failed, skipped: left - failed, left, ...sums };
    account.accept({ type: 'end_sweep_job', known, symbol: 'ETH', outcome });
    return policyIn(account).nextRunAtMs;
  };
  for (const [index, minutes] of [10, 60, 360, 1440, 1440].entries()) {
    const atMs = account.nowMs + minutes * MINUTE_MS;
    t.is(cycle(1, index % 2), atMs, `${minutes} minutes`);
    t.is(lastRow(account.rows).nextRunAtMs, atMs);
    account.nowMs = atMs;
  }
  t.is(cycle(0, 0), null, 'nothing is left');
  t.is(cycle(1, 1), account.nowMs + 10 * MINUTE_MS, 'from the start');
  // It is due as a threshold, long after too, and new settings end the wait.
  account.nowMs += 3 * CATCH_UP_MS;
  const asked: { floor: bigint }[] = [];
  await fire(account, { asked });
  t.deepEqual(asked, [{ floor: 10n }]);
  t.like(policyIn(account), { nextRunAtMs: null, deferrals: 0 });
  cycle(1, 1);
  const { createdAtMs: _, ...settings } = policyIn(account);
  account.accept({ type: 'replace_sweep_policy', id, settings: settings as SweepSettings, version: null });
  t.is(policyIn(account).nextRunAtMs, account.nowMs);
  // Of a plan that takes nothing likewise, unless another deposit is what it takes.
  for (const [reason, again] of [
    ['funding_wallet_low', true],
    ['dust', false],
  ] as const) {
    const { account: idle, id: other } = withPolicy(AT_TEN);
    const run = {
      type: 'run_sweep_policy',
      id: other,
      version: 1,
      trigger: 'threshold',
      seen: 1,
      beside: null,
    } as const;
    idle.accept({ ...run, jobId: newId('swj', NOW_MS), operations: [{ ...planned(), reason }] });
    t.is(policyIn(idle).nextRunAtMs, again ? NOW_MS + 10 * MINUTE_MS : null, reason);
  }
});

test('treasury S1, S5: a policy that another release turned off, paused or deleted is not planned; its row is put right', async (t) => {
  const { account } = withPolicy(AT_TEN),
    [policy] = account.state.sweepPolicies,
    asked: { floor: bigint }[] = [];
  for (const sweepPolicies of [[{ ...policy!, enabled: false }], [{ ...policy!, pausedAtMs: NOW_MS }], []]) {
    account.state = { ...account.state, sweepPolicies };
    await fire(account, { asked }, policy!.id);
    t.like(lastRow(account.rows), { fires: false, minAmount: null, isGone: sweepPolicies.length === 0 });
    t.deepEqual(account.state.sweepPolicies, sweepPolicies);
  }
  t.deepEqual(asked, []);
});

test('treasury S8: what no answer stands for waits like a chain that is away, and holds up no other account', async (t) => {
  const { account } = withPolicy(AT_TEN),
    { account: other } = withPolicy(AT_TEN);
  const warned: string[] = [];
  const due = [account, other].map(({ state }, at): DuePolicy => ({
    accountId: `${at}${state.accountId}` as AccountId,
    id: state.sweepPolicies[0]!.id,
    fired: 1,
    due: '',
  }));
  const accountOf = (accountId: AccountId) => (accountId.startsWith('0') ? account : other);
  const parts = partsOf((accountId) => accountOf(accountId), {});
  await lookAtPolicies({
    ...parts,
    sweeps: {
      ...parts.sweeps,
      duePolicies: async () => due,
      candidates: async (accountId: AccountId) => {
        if (accountOf(accountId) === other) return [];
        throw new RangeError('a token that the catalogue does not have');
      },
    },
    chains: parts.chains,
    debounceMs: 0,
    isMine: () => true,
    log: { warn: (_facts, text) => warned.push(text) },
  });
  t.like(policyIn(account), { deferrals: 1, lastCycle: { result: 'deferred', reason: 'INTERNAL_ERROR' } });
  t.like(policyIn(other), { deferrals: 0, lastCycle: { result: 'nothing_due' } });
  t.deepEqual(warned, ['a sweep policy could not be fired']);
});

test('treasury S4: networks that share an address share no policy: one for each chain and asset, each with its own run', (t) => {
  const { account } = withPolicy(),
    walletId = newId('wal', NOW_MS);
  const settings = policyIn(account);
  const create = (chain: 'eth' | 'base', treasuryWalletId: string): Parameters<TestAccount['accept']>[0] => ({
    type: 'create_sweep_policy',
    id: newUuid(NOW_MS),
    settings: { ...settings, chain, treasuryWalletId },
  });
  t.like(account.refused(create('eth', settings.treasuryWalletId)), {
    code: 'CONFLICT',
    details: { reason: 'policy_exists' },
  });
  account.accept({
    type: 'create_treasury_wallet',
    wallet: { id: walletId, chain: 'base', source: 'derived', address: null, tag: null, label: null },
  });
  account.accept(create('base', walletId));
  for (const { id, version } of [...account.state.sweepPolicies])
    account.accept({
      type: 'run_sweep_policy',
      id,
      version,
      trigger: 'manual',
      jobId: newId('swj', NOW_MS),
      operations: [planned()],
      seen: null,
      beside: null,
    });
  const open = account.state.sweepPolicies.map(({ chain, openJobId }) => [chain, openJobId !== null]);
  t.deepEqual(open, [
    ['eth', true],
    ['base', true],
  ]);
});
