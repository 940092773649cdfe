/**
 * Sweeps beside the EVM networks, in the sandbox: a real cloud, a real edge that signs, nobody who confirms blocks.
 * Treasury 5.3, 5.4, S23, S32, E1–E4.
 */
import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import test, { type ExecutionContext } from 'ava';
import type { ReplyOf } from '../../protocol/routes.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { addressOf } from '../../chains/xlm/address.ts';
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
  /** Whole native coins that each address gets first, where a token needs an account. */
  readonly account?: string;
}

const LESS_FEES = 'less its fees';
/** Satoshi of whole bitcoin. */
const wholeOf = (paid: readonly string[]): bigint =>
  paid.reduce((sum, text) => sum + BigInt(Math.round(Number(text) * 1e8)), 0n);

/** A policy over a treasury of its own, and confirmed deposits; run, and waited for until the job ends. */
async function sweep(t: ExecutionContext, { atEdge }: Developer, of: Swept): Promise<ReplyOf<'getSweepJob'>> {
  const { chain, token, contract, external } = of;
  const known = (await atEdge.must('listTreasuryWallets', { query: {} })).content[0];
  const wallet =
    known ??
    (await atEdge.must('createTreasuryWallet', {
      body: external === undefined ? { chain, source: 'derived' } : { chain, source: 'external', address: external },
    }));
  const funders = (await atEdge.must('listFundingWallets', { query: {} })).content;
  const tank = funders[0] ?? (of.tank === null ? null : await atEdge.must('createFundingWallet', { body: { chain } }));
  if (tank !== null && of.tank !== null)
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
    if (of.account !== undefined)
      await atEdge.must('simulateDeposit', { body: { chain, address, amount: of.account, autoConfirm: true } });
    await atEdge.must('simulateDeposit', { body: { chain, address, amount, ...tokenContract, autoConfirm: true } });
  }
  await patiently(
    `credits on ${chain}`,
    () => atEdge.call('previewSweep', { body: { chain, token, dustFloor: of.dustFloor, treasuryWalletId: wallet.id } }),
    (view) => !isRefusal(view) && view.totalElements >= of.paid.length,
  );
  const { jobId } = await atEdge.must('runSweepPolicy', { params: { policyId } });
  const job = await patiently(
    `the end of ${jobId}`,
    () => atEdge.call('getSweepJob', { params: { id: jobId! } }),
    (view) => !isRefusal(view) && (of.arrives === 'held' ? view.blocked !== null : view.endedAt !== null),
  );
  if (isRefusal(job)) throw new Error(job.message);
  if (of.arrives === 'held') return job;
  const whole = BigInt(job.amount) + BigInt(job.paid),
    arrives = of.arrives === LESS_FEES ? String(wholeOf(of.paid.slice(0, -1)) - BigInt(job.paid)) : of.arrives;
  if (of.arrives === LESS_FEES) t.is(whole, wholeOf(of.paid.slice(0, -1)));
  t.like(job, { state: 'COMPLETED', amount: arrives }, JSON.stringify(job));
  t.is(job.counts.CONFIRMED, of.paid.length - 1);
  t.true(BigInt(job.paid) > 0n && BigInt(job.paid) <= BigInt(job.estimate), `${job.paid} of ${job.estimate}`);
  const { content } = await atEdge.must('getTreasuryWalletBalances', {
    params: { id: wallet.id },
    query: { size: '100' },
  });
  const held = content.find(({ tokenContract }) => tokenContract === (contract ?? null))!;
  t.is(held.amount, arrives, 'the treasury, to the unit');
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

/** Wallets of the company's own elsewhere: these chains have no derived treasury. */
const ELSEWHERE = ed25519.getPublicKey(createHash('sha256').update('a treasury').digest());
const SOL_TREASURY = base58.encode(ELSEWHERE),
  XLM_TREASURY = addressOf(ELSEWHERE);

test('treasury 5.4, L30, S32: Solana: the tank pays along as fee payer, coins and tokens come home whole', async (t) => {
  const flock = await openDeveloper({
    edgeEnv: { EDGE_SPEND_CAP_SOL: CAP, EDGE_SWEEP_TREASURY_ALLOWLIST: `sol:${SOL_TREASURY}` },
  });
  try {
    const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    const job = await sweep(t, flock, {
      chain: 'sol',
      token: null,
      tank: '10',
      external: SOL_TREASURY,
      paid: ['1', '2', '0.01'],
      dustFloor: '100000000',
      arrives: '3000000000',
    });
    const [swept] = job.operations.filter(({ state }) => state === 'CONFIRMED');
    t.is(swept!.funding, null, 'nothing is funded');
    const left = await flock.atEdge.must('getBalance', { params: { chain: 'sol', address: swept!.address } });
    t.is(left.amount, '0', 'the account is emptied');
    await sweep(t, flock, {
      chain: 'sol',
      token: usdc,
      contract: usdc,
      tank: null,
      external: SOL_TREASURY,
      paid: ['10', '20', '0.5'],
      dustFloor: '1000000',
      arrives: '30000000',
    });
  } finally {
    await flock.close();
  }
});

test('treasury 5.4, R24, S32: XRP: each address pays its drops and keeps its reserve', async (t) => {
  const flock = await openDeveloper({ edgeEnv: { EDGE_SPEND_CAP_XRP: CAP } });
  try {
    const usdc = '5553444300000000000000000000000000000000:rGm7WCVp9gb4jZHWTEtGUr4dd74z2XuWhE';
    const one = { chain: 'xrp', tank: null } as const;
    const fees = 2n * 12n;
    await sweep(t, flock, {
      ...one,
      token: null,
      paid: ['11', '21', '2'],
      dustFloor: '5000000',
      arrives: String(30000000n - fees),
    });
    await sweep(t, flock, {
      ...one,
      token: usdc,
      contract: usdc,
      account: '2',
      paid: ['10', '20.123456789', '0.5'],
      dustFloor: String(10n ** 15n),
      arrives: '30123456789000000',
    });
  } finally {
    await flock.close();
  }
});

test('treasury 5.4, M28, S32: Stellar: the tank pays by fee bump, the reserve stays', async (t) => {
  const flock = await openDeveloper({
    edgeEnv: { EDGE_SPEND_CAP_XLM: CAP, EDGE_SWEEP_TREASURY_ALLOWLIST: `xlm:${XLM_TREASURY}` },
  });
  try {
    const usdc = 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN';
    const one = { chain: 'xlm', external: XLM_TREASURY } as const;
    await sweep(t, flock, {
      ...one,
      token: null,
      tank: '100',
      paid: ['11', '21', '2'],
      dustFloor: '50000000',
      arrives: '300000000',
    });
    await sweep(t, flock, {
      ...one,
      token: usdc,
      contract: usdc,
      tank: null,
      account: '2',
      paid: ['10', '20', '0.5'],
      dustFloor: '10000000',
      arrives: '300000000',
    });
  } finally {
    await flock.close();
  }
});

test('C4-43, treasury 5.4, S32: Bitcoin, where its owner lets it: each address gives its coins less their fee; otherwise all stays planned', async (t) => {
  const flock = await openDeveloper({ edgeEnv: { EDGE_SPEND_CAP_BTC: CAP, EDGE_BTC_SWEEPS: 'on' } });
  try {
    const job = await sweep(t, flock, {
      chain: 'btc',
      token: null,
      tank: null,
      paid: ['0.01', '0.02', '0.00001'],
      dustFloor: '10000',
      arrives: LESS_FEES,
    });
    t.true(job.operations.every(({ funding }) => funding === null));
  } finally {
    await flock.close();
  }
  const off = await openDeveloper({ edgeEnv: { EDGE_SPEND_CAP_BTC: CAP } });
  try {
    const job = await sweep(t, off, {
      chain: 'btc',
      token: null,
      tank: null,
      paid: ['0.01', '0.00001'],
      dustFloor: '10000',
      arrives: 'held',
    });
    t.like(job, { state: 'PLANNED', endedAt: null, blocked: { setting: 'EDGE_BTC_SWEEPS', required: 'on' } });
  } finally {
    await off.close();
  }
});
