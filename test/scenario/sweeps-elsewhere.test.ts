/**
 * Sweeps beside the EVM networks, in the sandbox: a real cloud, a real edge that signs, nobody who confirms blocks.
 * Treasury 5.3, 5.4, S23, S32, E1–E4.
 */
import test, { type ExecutionContext } from 'ava';
import type { ReplyOf } from '../../protocol/routes.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { openDeveloper, type Developer } from '../support/developer.ts';
import { patiently } from '../support/patience.ts';

interface Swept {
  readonly chain: Chain;
  /** Null: the native coin. */
  readonly token: string | null;
  readonly contract?: string;
  /** Whole coins that the tank gets, null where it pays nothing. */
  readonly tank: string | null;
  /** Whole units that customers pay, one address each; the last one is dust. */
  readonly paid: readonly string[];
  readonly dustFloor: string;
  /** Smallest units that arrive, exactly or at least. */
  readonly arrives: string;
  readonly external?: string;
}

/** A policy over a treasury of its own, and confirmed deposits; run, and waited for until the job ends. */
async function sweep(t: ExecutionContext, { atEdge }: Developer, of: Swept): Promise<ReplyOf<'getSweepJob'>> {
  const { chain, token, contract, external } = of;
  const wallet = await atEdge.must('createTreasuryWallet', {
    body: external === undefined ? { chain, source: 'derived' } : { chain, source: 'external', address: external },
  });
  const tank = of.tank === null ? null : await atEdge.must('createFundingWallet', { body: { chain } });
  if (tank !== null)
    await atEdge.must('simulateDeposit', {
      body: { chain, address: tank.address!, amount: of.tank!, autoConfirm: true },
    });
  const settings = {
    chain,
    token,
    triggerMode: 'MANUAL' as const,
    treasuryWalletId: wallet.id,
    ...(tank === null ? {} : { fundingWalletId: tank.id }),
    dustFloor: of.dustFloor,
    enabled: true,
  };
  const { id: policyId } = await atEdge.must('createSweepPolicy', { body: settings });
  for (const [index, amount] of of.paid.entries()) {
    const { address } = await atEdge.must('createAddress', { body: { chain, userRef: `customer-${index}` } });
    const tokenContract = contract === undefined ? {} : { tokenContract: contract };
    await atEdge.must('simulateDeposit', { body: { chain, address, amount, ...tokenContract, autoConfirm: true } });
  }
  await patiently(
    `credits on ${chain}`,
    () => atEdge.call('previewSweep', { body: { chain, token, dustFloor: of.dustFloor } }),
    (view) => !isRefusal(view) && view.totalElements >= of.paid.length,
  );
  const { jobId } = await atEdge.must('runSweepPolicy', { params: { policyId } });
  const job = await patiently(
    `the end of ${jobId}`,
    () => atEdge.call('getSweepJob', { params: { id: jobId! } }),
    (view) => !isRefusal(view) && view.endedAt !== null,
  );
  if (isRefusal(job)) throw new Error(job.message);
  t.like(job, { state: 'COMPLETED', amount: of.arrives }, JSON.stringify(job));
  t.is(job.counts.CONFIRMED, of.paid.length - 1);
  t.true(BigInt(job.paid) > 0n && BigInt(job.paid) <= BigInt(job.estimate), `${job.paid} of ${job.estimate}`);
  const at = { chain, address: wallet.address! };
  const held =
    contract === undefined
      ? await atEdge.must('getBalance', { params: at })
      : await atEdge.must('getTokenBalance', { params: { ...at, token: contract } });
  t.is(held.amount, of.arrives, 'the treasury, to the unit');
  return job;
}

const CAP = '1000000000000';

test('treasury 5.4, S28, S32: TRON: the tank funds what each address lacks, and the tokens come home', async (t) => {
  const flock = await openDeveloper({ edgeEnv: { EDGE_SPEND_CAP_TRON: CAP } });
  try {
    const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
    const tokens = { chain: 'tron', token: 'USDT', contract: usdt } as const;
    const job = await sweep(t, flock, {
      ...tokens,
      tank: '1000',
      paid: ['10', '20', '0.5'],
      dustFloor: '1000000',
      arrives: '30000000',
    });
    for (const { state, funding } of job.operations)
      if (state === 'CONFIRMED') t.true(BigInt(funding!) > 0n, 'each was funded');
  } finally {
    await flock.close();
  }
});
