/** Cycles as the account decides them. Treasury S1, S7, S10, S16, S19, S21, S25, S26. */
import test from 'ava';
import { moved } from '../../../actors/sweep/moves.ts';
import type { JobOutcome, PlannedOperation } from '../../../model/account/sweep.ts';
import type { SweepJobRow, SweepOperationRow } from '../../../model/rows/sweep.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { newId } from '../../../protocol/node/ids.ts';
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
  reason,
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
const run = (account: TestAccount, id: string, operations: readonly PlannedOperation[]) =>
  account.accept({
    type: 'run_sweep_policy',
    id,
    version: policyIn(account).version,
    trigger: 'manual',
    jobId: newId('swj', NOW_MS),
    operations,
    seen: null,
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
    }) as const;
  t.like(account.refused(retry([])), { code: 'CONFLICT', details: { reason: 'nothing_failed' } });
  const { reply, rows } = account.accept(retry([failed]));
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
  const { rows } = sender.do({ ...sender.build(), operation: { known, to: 'SIGNING', amount: 1_000n } });
  const [row] = rowsOf<WithdrawalRow>(rows, 'withdrawal');
  t.is(row!.kind, 'sweep');
  t.like(rowsOf<SweepOperationRow>(rows, 'sweep_operations')[0], { state: 'SIGNING', amount: 1_000n, version: 2 });
  sender.do(sender.bind(row!.id));
  const { rows: signed } = sender.do(sender.submit(row!.id));
  t.deepEqual(announced(signed), []);
  t.deepEqual(sender.account.state.signed, {}, 'it is settled by nobody');
  t.deepEqual(sender.account.folded().counters, sender.account.state.counters);
});
