/** Cycles as the account decides them. Treasury S1, S7, S10, S16, S19, S21, S25, S26. */
import test from 'ava';
import { moved } from '../../../actors/sweep/moves.ts';
import type { JobOutcome, PlannedOperation, SweepSettings } from '../../../model/account/sweep.ts';
import type { BridgeTransferRow } from '../../../model/rows/bridge.ts';
import { bridgeTransferRow } from '../../support/bridge-rows.ts';
import type { SweepJobRow, SweepOperationRow } from '../../../model/rows/sweep.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { newId, newUuid } from '../../../protocol/node/ids.ts';
import { NOW_MS, type TestAccount } from '../../support/account.ts';
import { Sender } from '../../support/sender.ts';
import { sweepOperationRow } from '../../support/sweep-rows.ts';
import { withPolicy } from '../../support/sweep-policy.ts';

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const planned = (reason: string | null = null): PlannedOperation => ({
  id: newId('swo', NOW_MS),
  address: ADDRESS,
  amount: 10n,
  estimate: 2n,
  promised: 7n,
  reason,
  blocked: null,
  fundId: newId('txn', NOW_MS),
  sweepId: newId('txn', NOW_MS),
});
const outcome = (more: Partial<JobOutcome>): JobOutcome => ({
  confirmed: 0,
  failed: 0,
  skipped: 0,
  left: 0,
  amount: 0n,
  estimate: 2n,
  paid: 0n,
  reason: null,
  blocked: null,
  ...more,
});

const policyIn = ({ state }: TestAccount) => state.sweepPolicies[0]!;
const settingsIn = (account: TestAccount): SweepSettings => policyIn(account);
const run = (account: TestAccount, id: string, operations: readonly PlannedOperation[]) =>
  account.accept({
    type: 'run_sweep_policy',
    id,
    version: policyIn(account).version,
    trigger: 'manual',
    jobId: newId('swj', NOW_MS),
    operations,
    seen: null,
    beside: null,
  });
const rowsOf = <Row>(rows: readonly { table: string }[], table: string): Row[] =>
  rows.filter((one) => one.table === table).map((one) => (one as unknown as { row: Row }).row);
/** A job that ran and ended so. */
function cycle(account: TestAccount, id: string, ended: Partial<JobOutcome>) {
  const { rows } = run(account, id, [planned()]);
  const [known] = rowsOf<SweepJobRow>(rows, 'sweep_jobs');
  return account.accept({ type: 'end_sweep_job', known: known!, symbol: 'ETH', outcome: outcome(ended) });
}
const announced = (rows: readonly { table: string }[]) =>
  rowsOf<{ event: string }>(rows, 'publication').map(({ event }) => event);

test('treasury S7: a policy has one open job; another firing is answered with it', (t) => {
  const { account, id } = withPolicy();
  const first = run(account, id, [planned(), planned('dust')]);
  t.deepEqual(
    rowsOf<SweepOperationRow>(first.rows, 'sweep_operations').map(({ state, reason }) => [state, reason]),
    [
      ['PLANNED', null],
      ['SKIPPED', 'dust'],
    ],
  );
  t.is(policyIn(account).openJobId, first.reply.jobId);
  const second = run(account, id, [planned()]);
  t.is(second.reply.jobId, first.reply.jobId);
  t.deepEqual([...second.events, ...second.rows], []);
  t.deepEqual(account.folded().sweepPolicies, account.state.sweepPolicies);
});

test('treasury S10: with nothing to take there is no job, and the policy says why', (t) => {
  const { account, id } = withPolicy();
  const { reply, rows } = run(account, id, [planned('dust'), planned('dust'), planned('reserve')]);
  t.is(reply.jobId, null);
  t.deepEqual(rowsOf(rows, 'sweep_jobs'), []);
  t.like(policyIn(account), { openJobId: null, lastCycle: { result: 'nothing_due', reason: 'dust' } });
});

test('treasury S16, S25, S26: failed cycles count, a swept one zeroes them, and at the limit the policy pauses once', (t) => {
  const { account, id } = withPolicy();
  t.deepEqual(announced(cycle(account, id, { failed: 1, reason: 'reverted' }).rows), ['sweep_completed']);
  t.like(policyIn(account), { consecutiveFailures: 1, lastCycle: { result: 'FAILED' }, openJobId: null });
  cycle(account, id, { failed: 1, confirmed: 1, reason: 'reverted' });
  t.like(policyIn(account), { consecutiveFailures: 1, lastCycle: { result: 'PARTIAL' } });
  cycle(account, id, { skipped: 1 });
  t.like(policyIn(account), { consecutiveFailures: 1, lastCycle: { result: 'COMPLETED' } });
  cycle(account, id, { confirmed: 1 });
  t.is(policyIn(account).consecutiveFailures, 0);
  cycle(account, id, { failed: 1, reason: 'dead' });
  cycle(account, id, { failed: 1, reason: 'dead' });
  t.deepEqual(announced(cycle(account, id, { failed: 1, reason: 'dead' }).rows), ['sweep_completed', 'sweep_paused']);
  t.like(policyIn(account), { consecutiveFailures: 3, pausedReason: 'dead' });
  t.like(
    account.refused({
      type: 'run_sweep_policy',
      id,
      version: 1,
      trigger: 'manual',
      jobId: newId('swj', NOW_MS),
      operations: [planned()],
      seen: null,
      beside: null,
    }),
    { code: 'CONFLICT', details: { reason: 'paused' } },
  );
  account.accept({ type: 'resume_sweep_policy', id });
  t.like(policyIn(account), { consecutiveFailures: 0, pausedAtMs: null });
});

test('treasury S16: a job that ended is announced once', (t) => {
  const { account, id } = withPolicy();
  const { reply } = cycle(account, id, { confirmed: 1 });
  const again = account.accept({ type: 'end_sweep_job', known: reply, symbol: 'ETH', outcome: outcome({}) });
  t.deepEqual([again.reply, ...again.events, ...again.rows], [reply]);
});

test('treasury W9: a plan that another job of the chain may have promised the tank beside is made again', (t) => {
  const { account, id } = withPolicy();
  const fundingWalletId = newId('fwl', NOW_MS);
  account.accept({
    type: 'create_funding_wallet',
    wallet: { id: fundingWalletId, chain: 'eth', label: null, lowBalance: null },
  });
  const token = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    gas = { gasFundingMode: 'FUNDING_WALLET', fundingWalletId } as const;
  const other = account.accept({
    type: 'create_sweep_policy',
    id: newUuid(NOW_MS),
    settings: { ...settingsIn(account), token, ...gas },
  }).reply;
  const { reply } = run(account, id, [planned()]);
  const late = (beside: readonly string[]) =>
    ({
      type: 'run_sweep_policy',
      id: other.id,
      version: other.version,
      trigger: 'manual',
      jobId: newId('swj', NOW_MS),
      operations: [planned()],
      seen: null,
      beside,
    }) as const;
  t.like(account.refused(late([])), { code: 'CONFLICT', details: { reason: 'changed_meanwhile' } });
  const { rows } = account.accept(late([reply.jobId!]));
  t.is(rowsOf<SweepOperationRow>(rows, 'sweep_operations')[0]!.promised, 7n);
});

test('treasury W9: a build that takes what the tank keeps for others is refused; what it keeps for this one is its amount and fee', (t) => {
  const sender = new Sender(),
    known = sweepOperationRow(newId('swj', NOW_MS), { address: sender.from.address });
  const built = (left: bigint, more: Partial<SweepOperationRow> = {}) => ({
    ...sender.build(),
    operation: { known: { ...known, ...more }, to: 'FUNDING', amount: 1_000n, left } as const,
  });
  t.like(sender.account.refused(built(1_000n)), { code: 'INSUFFICIENT_FUNDS', details: { balance: '1000' } });
  const { rows } = sender.do(built(10n ** 18n));
  const [row] = rowsOf<WithdrawalRow>(rows, 'withdrawal'),
    [operation] = rowsOf<SweepOperationRow>(rows, 'sweep_operations');
  t.is(operation!.promised, row!.unsigned.amount + row!.unsigned.feeMax);
  t.is(operation!.funding, row!.unsigned.amount);
  // A second funding is beside the first, under an id of its own.
  const again = sender.do(built(10n ** 18n, { state: 'FUNDING', funding: 5n, version: 2 }));
  t.like(rowsOf<SweepOperationRow>(again.rows, 'sweep_operations')[0], {
    state: 'FUNDING',
    firstFundId: known.fundId,
    fundId: rowsOf<WithdrawalRow>(again.rows, 'withdrawal')[0]!.id,
    funding: 5n + row!.unsigned.amount,
  });
});

test('treasury Y7: what an ended operation cost may be said later, once; nothing else of it changes', (t) => {
  const { account } = withPolicy();
  const skipped = sweepOperationRow(newId('swj', NOW_MS), { state: 'SKIPPED', reason: 'withdrawal_in_flight' });
  const note = (known: SweepOperationRow, paid?: bigint) =>
    account.attempt({
      type: 'move_sweep_operation',
      known,
      to: known.state,
      reason: known.reason,
      ...(paid === undefined ? {} : { paid }),
    });
  t.is(note(skipped, 3n), null);
  t.is(note(skipped)?.code, 'CONFLICT');
  t.is(note({ ...skipped, paid: 3n }, 4n)?.code, 'CONFLICT');
  t.is(note({ ...skipped, state: 'FUNDING', reason: null }, 4n)?.code, 'CONFLICT');
});

test('treasury S19: what failed is tried again with transactions of its own; nothing failed, or an open job, is CONFLICT', (t) => {
  const { account, id } = withPolicy();
  const { reply: known } = cycle(account, id, { failed: 1, reason: 'dead' });
  const failed = sweepOperationRow(known.id, { state: 'FAILED', reason: 'dead', version: 4, paid: 3n });
  const retry = (more: readonly SweepOperationRow[]) =>
    ({
      type: 'retry_sweep_job',
      known,
      failed: more,
      fundIds: more.map(() => newId('txn', NOW_MS)),
      sweepIds: more.map(() => newId('txn', NOW_MS)),
      mayLandUntilMs: null as number | null,
    }) as const;
  t.like(account.refused(retry([])), { code: 'CONFLICT', details: { reason: 'nothing_failed' } });
  const waits = account.refused({ ...retry([failed]), mayLandUntilMs: NOW_MS + 90_500 });
  t.like(waits, { code: 'CONFLICT', details: { reason: 'payload_may_land', jobId: known.id, retryAfterSeconds: 91 } });
  const { reply, rows } = account.accept({ ...retry([failed]), mayLandUntilMs: NOW_MS });
  t.like(reply, { run: 2, state: 'PLANNED', endedAtMs: null });
  const [operation] = rowsOf<SweepOperationRow>(rows, 'sweep_operations');
  t.like(operation, { state: 'PLANNED', reason: null, attempt: 2, version: 5, paid: null });
  t.not(operation!.sweepId, failed.sweepId);
  t.like(account.refused(retry([failed])), { code: 'CONFLICT', details: { reason: 'job_open' } });
  t.deepEqual(account.accept({ ...retry([failed]), known: reply }).rows, [], 'repeated while it runs: no effect');
});

test('treasury 5.3: an operation goes only along its arrows', (t) => {
  const { account } = withPolicy();
  const from = sweepOperationRow(newId('swj', NOW_MS));
  const to = (known: SweepOperationRow, state: SweepOperationRow['state']) =>
    account.attempt({ type: 'move_sweep_operation', known, to: state, reason: null });
  t.is(to(from, 'SKIPPED'), null);
  for (const state of ['CONFIRMED', 'BROADCAST', 'PLANNED'] as const) t.is(to(from, state)?.code, 'CONFLICT', state);
  const skipped = moved(from, 'SKIPPED', { reason: 'dust' }, NOW_MS);
  for (const state of ['PLANNED', 'FUNDING', 'SIGNING', 'FAILED'] as const)
    t.is(to(skipped, state)?.code, 'CONFLICT', state);
});

test('treasury S1: a job outlives its policy', (t) => {
  const { account, id } = withPolicy();
  const { rows } = run(account, id, [planned()]);
  account.accept({ type: 'delete_sweep_policy', id });
  const [known] = rowsOf<SweepJobRow>(rows, 'sweep_jobs');
  const ended = account.accept({
    type: 'end_sweep_job',
    known: known!,
    symbol: 'ETH',
    outcome: outcome({ skipped: 1 }),
  });
  t.is(ended.reply.state, 'COMPLETED');
  t.deepEqual(account.state.sweepPolicies, []);
});

test('treasury S21: a withdrawal goes before a sweep that cannot be signed yet, and waits for one that may be', (t) => {
  const sender = new Sender(),
    sweeping = sweepOperationRow(newId('swj', NOW_MS), { address: sender.from.address });
  for (const state of ['PLANNED', 'FUNDING'] as const) {
    const { rows } = sender.do({ ...sender.build(), sweeping: { ...sweeping, state } });
    const [operation] = rowsOf<SweepOperationRow>(rows, 'sweep_operations');
    t.like(operation, { id: sweeping.id, state: 'SKIPPED', reason: 'withdrawal_in_flight', version: 2 });
  }
  for (const state of ['SIGNING', 'BROADCAST'] as const)
    t.like(sender.account.refused({ ...sender.build(), sweeping: { ...sweeping, state } }), {
      code: 'CONFLICT',
      details: { reason: 'sweep_in_flight', operationId: sweeping.id },
    });
});

test('treasury S17, S23: a build of an operation is its arrow in one append; signed, it counts against no limit', (t) => {
  const sender = new Sender(),
    known = sweepOperationRow(newId('swj', NOW_MS), { address: sender.from.address });
  const { rows } = sender.do({ ...sender.build(), operation: { known, to: 'SIGNING', amount: 1_000n, left: null } });
  const [row] = rowsOf<WithdrawalRow>(rows, 'withdrawal');
  t.like(row, { kind: 'sweep', role: 'sweep', operationId: known.id });
  t.like(rowsOf<SweepOperationRow>(rows, 'sweep_operations')[0], { state: 'SIGNING', amount: 1_000n, version: 2 });
  sender.do(sender.bind(row!.id));
  const { rows: signed } = sender.do(sender.submit(row!.id));
  t.deepEqual(announced(signed), []);
  t.deepEqual(sender.account.state.signed, {}, 'it is settled by nobody');
  t.deepEqual(sender.account.folded().counters, sender.account.state.counters);
});

test('treasury H12: a transaction of a bridge is of kind sweep: nothing is announced of it, and it counts against no limit', (t) => {
  const sender = new Sender(),
    known = bridgeTransferRow({ source: sender.from.address });
  const { rows } = sender.do({ ...sender.build(), bridging: { known, to: 'BURNING', fields: {} } });
  const [row] = rowsOf<WithdrawalRow>(rows, 'withdrawal');
  t.like(row, { kind: 'sweep', role: 'burn', operationId: known.id });
  t.like(rowsOf<BridgeTransferRow>(rows, 'bridge_transfers')[0], { id: known.id, state: 'BURNING', version: 2 });
  sender.do(sender.bind(row!.id));
  t.deepEqual(announced(sender.do(sender.submit(row!.id)).rows), []);
  t.deepEqual(sender.account.state.signed, {}, 'it is settled by nobody');
});

test('treasury S20, S22: a job that a reorg took sweeps back of says what became of them, without another event or failed cycle, and what failed is planned anew', (t) => {
  for (const [failed, confirmed, state] of [
    [1, 1, 'PARTIAL'],
    [1, 0, 'FAILED'],
    [0, 1, 'COMPLETED'],
  ] as const) {
    const { account, id } = withPolicy({ triggerMode: 'THRESHOLD', minAmount: '5', dustFloor: '1', enabled: true });
    const ended = cycle(account, id, { confirmed: 2 }).reply;
    const before = policyIn(account);
    const { reply, rows } = account.accept({
      type: 'settle_sweep_job',
      known: { ...ended, takenBack: true },
      outcome: outcome({ failed, confirmed, left: failed }),
    });
    t.like(reply, { state, run: 1, takenBack: false, endedAtMs: ended.endedAtMs, version: ended.version + 1 });
    t.deepEqual(announced(rows), []);
    t.like(policyIn(account), { consecutiveFailures: 0, lastCycle: before.lastCycle, openJobId: null });
    t.is(policyIn(account).nextRunAtMs !== null, failed > 0);
    const again = account.accept({ type: 'settle_sweep_job', known: reply, outcome: outcome({ failed: 1 }) });
    t.deepEqual([again.reply, ...again.events, ...again.rows], [reply]);
  }
});

test('treasury S9, S10: a cycle that found nothing to take among as many as it looks at is followed by one that goes on behind them', (t) => {
  const lookedTo = { amount: '12', address: ADDRESS };
  const { account, id } = withPolicy({ triggerMode: 'THRESHOLD', minAmount: '5', dustFloor: '1' });
  const look = (operations: readonly PlannedOperation[], to: typeof lookedTo | null) =>
    account.accept({
      type: 'run_sweep_policy',
      id,
      version: policyIn(account).version,
      trigger: 'threshold',
      jobId: newId('swj', NOW_MS),
      operations,
      seen: null,
      beside: null,
      lookedTo: to,
    });
  const again = (rows: readonly { table: string }[]) =>
    rowsOf<{ again: boolean }>(rows, 'sweep_policies').at(-1)!.again;
  t.true(again(look([planned('observe_mode')], lookedTo).rows));
  t.like(policyIn(account), { rest: 'threshold', lookedTo, openJobId: null });
  t.false(again(look([planned('observe_mode')], null).rows), 'the last one was looked at');
  t.like(policyIn(account), { rest: null, lookedTo: null });
  const { rows } = look([planned()], lookedTo);
  const [known] = rowsOf<SweepJobRow>(rows, 'sweep_jobs');
  account.accept({ type: 'end_sweep_job', known: known!, symbol: 'ETH', outcome: outcome({ confirmed: 1 }) });
  t.like(policyIn(account), { rest: 'threshold', lookedTo });
});

test('treasury S27: what a plan leaves to a later window says the setting, in its job and where there is none', (t) => {
  const blocked = {
    reason: 'edge_window_spent',
    setting: 'EDGE_SPEND_CAP_ETH',
    cap: '10',
    spent: '9',
    required: '2',
    windowSeconds: 60,
  };
  const left = { ...planned('edge_window_spent'), blocked };
  for (const operations of [[left], [planned(), left]]) {
    const { account, id } = withPolicy();
    const { rows } = account.accept({
      type: 'run_sweep_policy',
      id,
      version: policyIn(account).version,
      trigger: 'manual',
      jobId: newId('swj', NOW_MS),
      operations,
      seen: null,
      beside: null,
    });
    const details = rows.flatMap((one) => (one.table === 'sweep_operations' ? [one.row.details] : []));
    if (operations.length > 1) t.deepEqual(details, [null, JSON.stringify(blocked)]);
    else t.like(policyIn(account), { blocked, lastCycle: { result: 'nothing_due', reason: 'edge_window_spent' } });
  }
});
