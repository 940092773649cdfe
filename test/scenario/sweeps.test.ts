/**
 * Sweeps of the sandbox as a customer sees them: a real cloud, a real edge that signs, nobody who confirms blocks.
 * Treasury 5.3, S7, S16, S19, S23, S25–S27, S32.
 */
import test from 'ava';
import type { BodyOf, ReplyOf } from '../../protocol/routes.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { openDeveloper, type Developer } from '../support/developer.ts';
import { patiently } from '../support/patience.ts';

const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const ADDRESSES = 5;

type Job = ReplyOf<'getSweepJob'>;

async function webhookOf({ atEdge, receiver }: Developer): Promise<void> {
  const events = ['sweep_completed', 'sweep_paused', 'withdrawal_broadcast', 'withdrawal_confirmed'] as const;
  const { secret } = await atEdge.must('createWebhook', { body: { url: receiver.url, events: [...events] } });
  receiver.setSecret(secret);
}

async function treasuryOf({ atEdge }: Developer, more: Partial<BodyOf<'createSweepPolicy'>> = {}) {
  const wallet = await atEdge.must('createTreasuryWallet', { body: { chain: 'eth', source: 'derived' } });
  const tank = await atEdge.must('createFundingWallet', { body: { chain: 'eth' } });
  await atEdge.must('simulateDeposit', { body: { chain: 'eth', address: tank.address!, amount: '1' } });
  const settings = {
    chain: 'eth' as const,
    token: 'USDC',
    triggerMode: 'MANUAL' as const,
    treasuryWalletId: wallet.id,
    fundingWalletId: tank.id,
    dustFloor: '1000000',
    pauseOnConsecutiveFailures: 2,
    enabled: true,
    ...more,
  };
  const policy = await atEdge.must('createSweepPolicy', { body: settings });
  return { wallet, tank, policy };
}

/** Confirmed deposits of whole USDC on addresses of their own. */
async function pay({ atEdge }: Developer, amounts: readonly string[]): Promise<string[]> {
  const addresses: string[] = [];
  for (const [index, amount] of amounts.entries()) {
    const body = { chain: 'eth' as const, userRef: `customer-${index}` };
    const { address } = await atEdge.must('createAddress', { body });
    await atEdge.must('simulateDeposit', {
      body: { chain: 'eth', address, amount, tokenContract: USDC, autoConfirm: true },
    });
    addresses.push(address);
  }
  await patiently(
    'credits',
    () => atEdge.call('listTransactions', { query: { direction: 'in', status: 'confirmed' } }),
    (page) => !isRefusal(page) && page.totalElements >= amounts.length,
  );
  return addresses;
}

async function ended({ atEdge }: Developer, id: string): Promise<Job> {
  const job = await patiently(
    `the end of ${id}`,
    () => atEdge.call('getSweepJob', { params: { id } }),
    (view) => !isRefusal(view) && view.endedAt !== null,
  );
  if (isRefusal(job)) throw new Error(job.message);
  return job;
}

const balanceOf = async ({ atEdge }: Developer, address: string): Promise<string> =>
  (await atEdge.must('getTokenBalance', { params: { chain: 'eth', address, token: USDC } })).amount;

test('treasury S9, S16, S23, S25, S28, S32: deposits of five addresses come home by themselves, to the unit, billed to nobody', async (t) => {
  const flock = await openDeveloper({ edgeEnv: { EDGE_SPEND_CAP_ETH: '1000000000000000000' } });
  try {
    const { atEdge, receiver } = flock;
    await webhookOf(flock);
    const { wallet, policy } = await treasuryOf(flock);
    const addresses = await pay(flock, ['10', '20', '30', '40', '50', '0.5']);
    const before = await flock.atCloud.must('getUsage');
    const preview = await patiently(
      'the leader said its cap',
      () => atEdge.must('previewSweep', { body: { chain: 'eth', token: USDC } }),
      ({ edge }) => edge !== null,
    );
    t.deepEqual(preview.edge, { cap: '1000000000000000000', spent: '0' });
    const { content: sessions } = await atEdge.must('listEdgeSessions');
    t.deepEqual(
      sessions.map(({ registryVersion }) => registryVersion),
      [preview.registryVersion],
    );
    const { jobId } = await atEdge.must('runSweepPolicy', { params: { policyId: policy.id } });
    const again = await atEdge.must('runSweepPolicy', { params: { policyId: policy.id } });
    t.true(again.jobId === jobId || again.jobId === null, 'one open job');
    const job = await ended(flock, jobId!);
    t.like(job, { state: 'COMPLETED', amount: '150000000', run: 1, blocked: null }, JSON.stringify(job));
    t.is(job.counts.CONFIRMED, ADDRESSES);
    t.is(await balanceOf(flock, wallet.address!), '150000000');
    for (const address of addresses.slice(0, ADDRESSES)) t.is(await balanceOf(flock, address), '0');
    t.is(await balanceOf(flock, addresses[ADDRESSES]!), '500000', 'dust stays');
    t.true(BigInt(job.paid) > 0n && BigInt(job.paid) <= BigInt(job.estimate), 'paid within the estimate');
    t.deepEqual(await flock.atCloud.must('getUsage'), before, 'sweeps are billed to nobody');
    const own = await atEdge.must('listTransactions', { query: { kind: 'sweep' } });
    const { operations } = await atEdge.must('getSweepJob', { params: { id: jobId! } });
    const expected = operations.flatMap(({ id, state }) => (state === 'CONFIRMED' ? [id] : []));
    for (const role of ['fund', 'sweep'] as const)
      t.deepEqual(
        own.content.flatMap((row) => (row.role === role ? [row.operationId] : [])).toSorted(),
        expected.toSorted(),
        `each operation has one transaction that is its ${role}`,
      );
    t.is(own.totalElements, 2 * ADDRESSES);
    t.deepEqual((await atEdge.must('listTransactions', { query: { kind: 'withdrawal' } })).content, []);
    const { event, data } = await receiver.next(({ event: name }) => name === 'sweep_completed');
    t.is(event, 'sweep_completed');
    t.like(data, {
      jobId,
      amount: '150000000',
      state: 'COMPLETED',
      operations: { confirmed: 5, failed: 0, skipped: 0 },
    });
    t.true(
      receiver.received.every(({ event: name }) => !name.startsWith('withdrawal_')),
      'no event of a withdrawal',
    );
    const view = await atEdge.must('getSweepPolicy', { params: { policyId: policy.id } });
    t.like(view, { openJobId: null, consecutiveFailures: 0, blocked: null });
    t.like(view.lastCycle, { result: 'COMPLETED', jobId });
    const idle = await atEdge.must('runSweepPolicy', { params: { policyId: policy.id } });
    t.like(idle, { jobId: null, result: 'nothing_due' });
    const refused = await atEdge.call('retrySweepJob', { params: { id: jobId! } });
    t.like(refused, { code: 'CONFLICT', details: { reason: 'nothing_failed' } });
  } finally {
    await flock.close();
  }
});

test('C4-39, treasury S5, S7, S32: an address that reaches the threshold is swept without anybody asking, the others stay', async (t) => {
  const flock = await openDeveloper({
    cloudEnv: { SWEEP_DEBOUNCE: '0' },
    edgeEnv: { EDGE_SPEND_CAP_ETH: '1000000000000000000' },
  });
  try {
    const { atEdge, receiver } = flock;
    await webhookOf(flock);
    const threshold = { triggerMode: 'THRESHOLD' as const, minAmount: '15000000' };
    const { wallet, policy } = await treasuryOf(flock, threshold);
    const [below, above] = await pay(flock, ['9', '16']);
    const { data } = await receiver.next(({ event }) => event === 'sweep_completed');
    t.like(data, { policyId: policy.id, amount: '16000000', operations: { confirmed: 1, failed: 0, skipped: 0 } });
    t.is(await balanceOf(flock, above!), '0');
    t.is(await balanceOf(flock, below!), '9000000');
    // Two payments reach it together.
    const more = { chain: 'eth' as const, address: below!, amount: '6', tokenContract: USDC, autoConfirm: true };
    await atEdge.must('simulateDeposit', { body: more });
    await receiver.next(({ event, data: body }) => event === 'sweep_completed' && body['amount'] === '15000000');
    t.is(await balanceOf(flock, wallet.address!), '31000000');
    const jobs = await atEdge.must('listSweepJobs', { query: { policyId: policy.id } });
    t.deepEqual(
      jobs.content.map(({ trigger, state }) => [trigger, state]),
      [
        ['threshold', 'COMPLETED'],
        ['threshold', 'COMPLETED'],
      ],
    );
  } finally {
    await flock.close();
  }
});

test('treasury S1, S19, S26, S27: with a cap of zero nothing is signed, and policy, job and operation name the setting', async (t) => {
  const flock = await openDeveloper();
  try {
    const { atEdge, receiver } = flock;
    await webhookOf(flock);
    const { wallet, policy } = await treasuryOf(flock);
    const addresses = await pay(flock, ['10', '20']);
    const params = { policyId: policy.id };
    const { jobId } = await atEdge.must('runSweepPolicy', { params });
    const job = await ended(flock, jobId!);
    const named = { setting: 'EDGE_SPEND_CAP_ETH', cap: '0' };
    t.like(job, { state: 'FAILED', amount: '0', paid: '0' });
    t.is(job.counts.FAILED, 2);
    t.like(job.blocked, named);
    t.true(BigInt(job.blocked!.required!) > 0n);
    for (const operation of job.operations) t.like(operation, { reason: 'edge_spend_cap', blocked: named });
    const view = await atEdge.must('getSweepPolicy', { params });
    t.like(view, { consecutiveFailures: 1, pausedAt: null, blocked: named, lastCycle: { reason: 'edge_spend_cap' } });
    // Tried again it is the same job, another run; the second failure pauses the policy, once.
    const retried = await atEdge.must('retrySweepJob', { params: { id: jobId! } });
    t.like(retried, { id: jobId, run: 2, endedAt: null });
    t.like(await ended(flock, jobId!), { state: 'FAILED', run: 2 });
    const { data } = await receiver.next(({ event }) => event === 'sweep_paused');
    t.like(data, { policyId: policy.id, reason: 'edge_spend_cap' });
    const paused = await atEdge.must('getSweepPolicy', { params });
    t.like(paused, { consecutiveFailures: 2, pausedReason: 'edge_spend_cap' });
    t.like(await atEdge.call('runSweepPolicy', { params }), { code: 'CONFLICT', details: { reason: 'paused' } });
    t.is(receiver.received.filter(({ event }) => event === 'sweep_paused').length, 1);
    t.is(await balanceOf(flock, wallet.address!), '0');
    t.is(await balanceOf(flock, addresses[0]!), '10000000');
  } finally {
    await flock.close();
  }
});
