/** Rounds of a job over a chain that answers as the test says. Treasury 5.3, 5.4, S1, S14, S17. */
import test from 'ava';
import { tron as module } from '../../../chains/tron/index.ts';
import { tron as network } from '../../../chains/tron/network.ts';
import type { TronInputs } from '../../../chains/tron/build-inputs.ts';
import { catalogueOf, shippedRegistry } from '../../../chains/catalogue.ts';
import type { Intent } from '../../../chains/chain.ts';
import { stateOf } from '../../../actors/sweep/job.ts';
import { moved } from '../../../actors/sweep/moves.ts';
import type { LeaderParts } from '../../../actors/sweep/leader.ts';
import { planOf } from '../../../actors/sweep/plan.ts';
import { FUNDING_STUCK_MS } from '../../../actors/sweep/stuck.ts';
import { advanceJob, JOB_DEADLINE_MS, type WorkParts } from '../../../actors/sweep/work.ts';
import type { JobOutcome } from '../../../model/account/sweep.ts';
import type { Counter } from '../../../model/account/outgoing.ts';
import type { TokenRate } from '../../../model/ports/rate-store.ts';
import type { SweepOperationRow } from '../../../model/rows/sweep.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { silentLeader } from '../../support/sweep-policy.ts';
import { keyVector } from '../../support/account.ts';
import { sweepJobRow, sweepOperationRow } from '../../support/sweep-rows.ts';
import { inputsOf } from '../../support/tron-inputs.ts';
import { own } from '../../support/tron-ledger.ts';

const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const NOW_MS = 1_800_000_000_000;
const OVER = new Set(['CONFIRMED', 'FAILED', 'SKIPPED']);
const ADDRESS = own(0),
  TREASURY = own(1, 1).address,
  TANK = own(0, 1).address;
const ENERGY = 65_000n,
  BANDWIDTH = 345_000n;
const limitAt = (energySun: bigint) => (ENERGY * energySun * 12n) / 10n;

interface World {
  nowMs: number;
  energySun: bigint;
  /** Native, by address. */
  readonly native: Map<string, bigint>;
  tokens: bigint;
  height: number;
  exists: boolean;
  /** What the chain locks of the tank. */
  reserved: bigint;
  /** Operations of the job, all alike. */
  copies: number;
  /** What the edge says; null: signed. */
  edge: Refusal | null;
  /** What the tank keeps for open operations of the chain. */
  promised: bigint;
  /** What a build is refused with. */
  build: Refusal | null;
  /** What the account says to giving up a build. */
  abandon: Refusal | null;
}

/** An account with one policy and one operation, and what becomes of it. */
function jobOf(operation: Partial<SweepOperationRow>, settings: object = {}, token: string | null = USDT) {
  const world: World = {
    nowMs: NOW_MS,
    energySun: 100n,
    native: new Map([
      [TANK, 10n ** 12n],
      [ADDRESS.address, 0n],
    ]),
    tokens: 5_000_000n,
    height: 1_000,
    exists: true,
    reserved: 0n,
    copies: 1,
    edge: null,
    promised: 0n,
    build: null,
    abandon: null,
  };
  const kept = { gasFundingMode: token === null ? 'SELF' : 'FUNDING_WALLET', retainGasFloat: 0, dustFloor: '0' };
  const rules = { minAmount: null, maxFeeRatioBps: null, abortIfGasExceeds: null, enabled: true, ...kept, ...settings };
  const whole = { chain: 'tron', token, treasuryWalletId: 'home', ...rules };
  let job = sweepJobRow({
    chain: 'tron',
    tokenContract: token,
    settings: JSON.stringify(whole),
    createdAtMs: NOW_MS,
    updatedAtMs: NOW_MS,
  });
  let row = sweepOperationRow(job.id, {
    chain: 'tron',
    address: ADDRESS.address,
    amount: 5_000_000n,
    updatedAtMs: NOW_MS,
    ...operation,
  });
  let open: SweepOperationRow | null = null;
  const rows = new Map<string, WithdrawalRow>(),
    asked: string[] = [],
    repriced: string[] = [],
    leftover: [string, bigint][] = [],
    built: { id: string; from: string; amount: bigint; left: bigint | null }[] = [];
  const policy = { id: job.policyId, pausedAtMs: null as number | null, enabled: true };
  const state = {
    accountId: 'acc',
    environment: 'live',
    sweepPolicies: [policy],
    treasuryWallets: [{ id: 'home', chain: 'tron', source: 'external', address: TREASURY, tag: null }],
    fundingWallets: [],
    counters: {} as Record<string, Counter>,
    withdrawals: {} as Record<string, number>,
    enrolment: { keys: { tron: { xpub: keyVector('tron').xpub } } },
    pools: {},
    sources: {},
  };
  const catalogue = catalogueOf('tron');
  let inputsAsked = 0,
    headsAsked = 0;
  const client = {
    async fetchBuildInputs({ from, token: asset }: Intent): Promise<TronInputs> {
      inputsAsked += 1;
      const inputs = inputsOf({ nativeBalance: String(world.native.get(from) ?? 0) });
      const prices = { ...inputs.prices, energySun: world.energySun.toString() };
      if (asset === null) return { ...inputs, prices };
      const tried = { kind: 'succeeded', energy: ENERGY.toString() } as const;
      return { ...inputs, prices, tokenBalance: world.tokens.toString(), tried };
    },
    async fetchBalance(address: string, asset: object | null) {
      const amount = asset === null ? (world.native.get(address) ?? 0n) : world.tokens,
        reserved = address === TANK ? world.reserved : 0n;
      return {
        amount,
        reserved,
        available: amount > reserved ? amount - reserved : 0n,
        decimals: 6,
        accountExists: world.exists || address !== ADDRESS.address,
      };
    },
    async getHead() {
      headsAsked += 1;
      return { height: world.height, hash: '', finalizedHeight: null };
    },
  };
  const binding = { ok: true, module, network, client, catalogue };
  function transaction(id: string, more: Partial<WithdrawalRow> = {}): WithdrawalRow {
    const payload = {
      payload: '',
      fromPath: ADDRESS.path,
      replayKey: { kind: 'expiry', value: String(NOW_MS + 600_000) },
      fee: {},
      feeMax: 0n,
      amount: 0n,
      tokenContract: null,
      tag: null,
      from: ADDRESS.address,
    };
    const facts = { status: 'built', versions: [], txid: null, height: null, fee: null, updatedAtMs: world.nowMs };
    const made = { id, chain: 'tron', to: TREASURY, unsigned: payload, ...facts, ...more } as unknown as WithdrawalRow;
    rows.set(id, made);
    return made;
  }
  const parts = {
    accounts: {
      async ask(_account: string, command: { type: string } & Record<string, unknown>) {
        asked.push(command.type);
        if (command.type === 'inspect') return { ok: true, reply: state };
        if (command.type === 'move_sweep_operation') {
          const {
            to,
            reason,
            details = null,
            paid = null,
          } = command as unknown as SweepOperationRow & {
            to: SweepOperationRow['state'];
          };
          row = moved(row, to, { reason, details, paid }, world.nowMs);
        }
        if (command.type === 'abandon_withdrawal') {
          if (world.abandon !== null) return world.abandon;
          const known = command['known'] as WithdrawalRow;
          rows.set(known.id, { ...known, status: 'expired' });
        }
        if (command.type === 'end_sweep_job') job = { ...job, endedAtMs: world.nowMs };
        if (command.type === 'settle_sweep_job') {
          const { outcome } = command as unknown as { outcome: JobOutcome };
          job = { ...job, takenBack: false, state: stateOf(outcome) };
        }
        return { ok: true, reply: {} };
      },
    },
    chains: { bind: async () => binding },
    reads: {
      withdrawal: async (_account: string, id: string) => rows.get(id) ?? null,
      addressByText: async () => ({ derivationPath: ADDRESS.path, project: null }),
    },
    sweeps: {
      job: async () => job,
      operations: async () => Array.from({ length: world.copies }, () => ({ ...row })),
      openOperation: async () => open ?? (OVER.has(row.state) ? null : row),
      isPaying: async () => false,
      promised: async () => world.promised,
    },
    wayOut: {
      async build(_account: string, wish: { from: string; amount: string }, claim: { id: string; operation: never }) {
        if (world.build !== null) return world.build;
        const { to, left } = claim.operation as { to: SweepOperationRow['state']; left: bigint | null };
        const second = row.state === 'FUNDING' ? { fundId: claim.id, firstFundId: row.fundId } : {},
          funding = (row.funding ?? 0n) + BigInt(wish.amount);
        row = moved(row, to, to === 'FUNDING' ? { funding, ...second } : {}, world.nowMs);
        built.push({ id: claim.id, from: wish.from, amount: BigInt(wish.amount), left });
        return { ok: true, reply: transaction(claim.id) };
      },
      async reprice(known: WithdrawalRow) {
        if (world.build !== null) return world.build;
        const unsigned = { ...known.unsigned, payload: `${known.unsigned.payload}+` },
          reply = { ...known, unsigned, updatedAtMs: world.nowMs };
        rows.set(known.id, reply);
        repriced.push(known.id);
        return { ok: true, reply };
      },
    },
    edges: {
      async askToOperate(_account: string, { transactionId }: { transactionId: string }) {
        asked.push('operate');
        if (world.edge !== null) return world.edge;
        transaction(transactionId, { status: 'broadcast', versions: [{ txid: 'x' }] as never, txid: 'x' });
        return { ok: true };
      },
    },
    nowMs: () => world.nowMs,
    onLeftover: (_account: string, chain: string, amount: bigint) => void leftover.push([chain, amount]),
  } as unknown as WorkParts;
  const round = () => advanceJob(parts, 'acc' as never, job.id);
  return {
    world,
    policy,
    round,
    transaction,
    built,
    asked,
    repriced,
    leftover,
    binding,
    state,
    settings: whole,
    operation: () => row,
    inputsAsked: () => inputsAsked,
    headsAsked: () => headsAsked,
    isOver: () => job.endedAtMs !== null,
    job: () => job,
    /** A job that ended, and a reorg behind it. */
    takeBack: () => {
      job = { ...job, state: 'COMPLETED', endedAtMs: world.nowMs, takenBack: true };
    },
    /** Another operation has the address by now. */
    setOpen: (one: SweepOperationRow | null) => {
      open = one;
    },
    rows,
  };
}

/** Gas was sent, and lies on the address deep enough. */
async function fundedJob(settings: object = {}) {
  const job = jobOf({}, settings);
  await job.round();
  const { amount, id } = job.built[0]!;
  job.world.native.set(ADDRESS.address, amount);
  const known = job.rows.get(id)!;
  job.rows.set(id, { ...known, status: 'confirmed', height: 900, fee: 268_000n });
  return { ...job, gas: amount };
}

test('treasury 5.4: the tank sends what is missing, and the sweep follows when it is deep enough', async (t) => {
  const { round, operation, built, gas } = await fundedJob();
  t.is(gas, limitAt(100n) + BANDWIDTH);
  t.is(operation().state, 'FUNDING');
  await round();
  t.is(operation().state, 'SIGNING');
  t.deepEqual(
    built.map(({ from }) => from),
    [TANK, ADDRESS.address],
  );
});

test('treasury S28: a round asks for the head once, however much gas waits for its depth', async (t) => {
  const { world, round, rows, operation, headsAsked } = await fundedJob();
  const funding = rows.get(operation().fundId)!;
  rows.set(funding.id, { ...funding, height: world.height - 1 });
  world.copies = 500;
  await round();
  t.is(operation().state, 'FUNDING');
  t.is(headsAsked(), 1);
  world.height += network.threshold;
  world.copies = 1;
  await round();
  t.is(operation().state, 'SIGNING');
});

for (const [code, most] of [
  ['SERVICE_UNAVAILABLE', 3],
  ['EDGE_OFFLINE', 1],
] as const)
  test(`treasury S28: an edge that is not there is not asked for each operation of a round, and nothing is built for it: ${code}`, async (t) => {
    const { world, round, operation, transaction, asked, built } = jobOf({ state: 'FUNDING' });
    transaction(operation().fundId);
    world.edge = refuse(code);
    world.copies = 500;
    await round();
    t.is(
      asked.filter((one) => one === 'operate').length,
      most,
      'each may be a wait of seconds for all jobs of the node',
    );
    const planned = jobOf({});
    planned.world.edge = refuse(code);
    planned.world.copies = 500;
    await planned.round();
    t.is(planned.built.length, most);
    t.is(planned.inputsAsked(), most);
    world.edge = null;
    world.copies = 1;
    await round();
    t.true(
      asked.filter((one) => one === 'operate').length === most + 1 && built.length === 0,
      'the next round asks again',
    );
  });

test('treasury 5.4: where the price rose above the gas, what is missing is sent once; then it is waited for until the deadline', async (t) => {
  const { world, round, operation, isOver, built, rows, gas } = await fundedJob();
  world.energySun = 210n;
  await round();
  const more = limitAt(210n) - limitAt(100n);
  t.like(built[1], { from: TANK, amount: more });
  t.like(operation(), { state: 'FUNDING', funding: gas + more, firstFundId: built[0]!.id, fundId: built[1]!.id });
  // It is as deep as the first before anything is swept; another rise is not paid for again.
  await round();
  t.is(built.length, 2, 'signed, and in no block yet');
  rows.set(built[1]!.id, { ...rows.get(built[1]!.id)!, status: 'confirmed', height: 900, fee: 5n });
  world.native.set(ADDRESS.address, gas + more);
  world.energySun = 220n;
  await round();
  t.is(operation().state, 'FUNDING', 'it is waited for');
  t.is(built.length, 2);
  world.energySun = 210n;
  world.copies = 1;
  const before = operation();
  world.nowMs += JOB_DEADLINE_MS + 1;
  await round();
  t.like(operation(), { state: 'SKIPPED', reason: 'deadline', paid: 268_005n, version: before.version + 1 });
  t.true(isOver(), 'the policy fires again');
});

test('treasury 5.4: gas that was sent in two pays for the sweep', async (t) => {
  const { world, round, operation, built, rows, gas } = await fundedJob();
  world.energySun = 210n;
  await round();
  rows.set(built[1]!.id, { ...rows.get(built[1]!.id)!, status: 'confirmed', height: 900, fee: 5n });
  world.native.set(ADDRESS.address, gas + built[1]!.amount);
  await round();
  t.is(operation().state, 'SIGNING');
  rows.set(operation().sweepId, { ...rows.get(operation().sweepId)!, status: 'confirmed', height: 950, fee: 7n });
  await round();
  await round();
  t.like(operation(), { state: 'CONFIRMED', paid: 268_012n }, 'all three transactions are in what it cost');
});

test('treasury W9: what the tank keeps for other operations is not taken, what it keeps for this one is', async (t) => {
  const need = limitAt(100n) + BANDWIDTH;
  const { world, round, built } = jobOf({ promised: need });
  world.native.set(TANK, 3n * need);
  world.promised = 3n * need;
  await round();
  t.is(built[0]!.left, need);
  const late = jobOf({});
  late.world.native.set(TANK, 3n * need);
  late.world.promised = 3n * need;
  await late.round();
  t.is(late.built[0]!.left, 0n);
});

test('treasury Y7: an operation that ended after its gas was sent says what that cost, and its job waits for gas that is on its way', async (t) => {
  const { policy, round, operation, rows, isOver } = await fundedJob();
  policy.pausedAtMs = NOW_MS;
  await round();
  t.like(operation(), { state: 'SKIPPED', reason: 'policy_stopped', paid: 268_000n });
  // A withdrawal that was built takes the place of an operation at any time: its gas may be signed by then.
  const taken = await fundedJob();
  const funding = taken.rows.get(taken.operation().fundId)!;
  taken.rows.set(funding.id, { ...funding, status: 'broadcast', height: null, fee: null });
  Object.assign(taken.operation(), { state: 'SKIPPED', reason: 'withdrawal_in_flight' });
  await taken.round();
  t.false(taken.isOver());
  taken.rows.set(funding.id, funding);
  await taken.round();
  t.like(taken.operation(), { state: 'SKIPPED', reason: 'withdrawal_in_flight', paid: 268_000n });
  t.true(taken.isOver() && isOver());
  t.is(rows.size, 1);
});

test('treasury S1: a pause while gas is on its way stops the sweep; the gas is waited for', async (t) => {
  const { policy, rows, operation, round, built, isOver } = await fundedJob();
  policy.pausedAtMs = NOW_MS;
  const funding = rows.get(operation().fundId)!;
  rows.set(funding.id, { ...funding, status: 'broadcast', height: null });
  await round();
  t.is(operation().state, 'FUNDING', 'another cycle would fund it again');
  rows.set(funding.id, funding);
  await round();
  t.like(operation(), { state: 'SKIPPED', reason: 'policy_stopped' });
  t.true(isOver());
  t.is(built.length, 1, 'no sweep is built');
});

test('treasury S14: what is left to pay is held against the limit before the sweep is built', async (t) => {
  const { world, round, operation, built } = await fundedJob({ abortIfGasExceeds: '9000000' });
  world.energySun = 210n;
  world.native.set(ADDRESS.address, 10n ** 9n); // a customer's TRX would pay for it
  await round();
  t.like(operation(), { state: 'SKIPPED', reason: 'gas_above_limit' });
  t.is(built.length, 1);
});

for (const code of ['INSUFFICIENT_GAS', 'INSUFFICIENT_FUNDS'] as const)
  test(`treasury 5.3: a tank that cannot pay a funding with its fee and an activation is low: ${code}`, async (t) => {
    const { world, round, operation, isOver } = jobOf({});
    world.build = refuse(code, { balance: '1', required: '2' });
    await round();
    t.like(operation(), { state: 'SKIPPED', reason: 'funding_wallet_low' });
    t.true(isOver());
  });

for (const [state, role] of [
  ['FUNDING', 'a funding'],
  ['SIGNING', 'a sweep'],
] as const)
  test(`treasury 5.3, T15: ${role} that ended while no edge was there is not signed any more, and is no failure`, async (t) => {
    const { world, round, operation, transaction, asked, rows } = jobOf({ state });
    const { id } = transaction(state === 'FUNDING' ? operation().fundId : operation().sweepId);
    world.edge = refuse('EDGE_OFFLINE');
    await round();
    t.is(operation().state, state);
    world.edge = null;
    world.nowMs += 600_000;
    asked.length = 0;
    await round();
    t.like(operation(), { state: 'SKIPPED', reason: 'deadline' });
    t.false(asked.includes('operate'), 'a signature for it would be counted and lead nowhere');
    t.is(rows.get(id)!.status, 'expired');
  });

test('treasury S17: a build is given up before its operation ends: what was signed meanwhile goes on', async (t) => {
  const { world, round, operation, transaction, asked, rows } = jobOf({ state: 'SIGNING' });
  const { id } = transaction(operation().sweepId);
  world.nowMs += JOB_DEADLINE_MS + 1;
  world.abandon = refuse('CONFLICT', { reason: 'changed_meanwhile' });
  await round();
  t.is(operation().state, 'SIGNING');
  world.abandon = null;
  asked.length = 0;
  await round();
  t.is(operation().state, 'SKIPPED');
  const ended = asked.filter((one) => one !== 'inspect' && one !== 'end_sweep_job');
  t.deepEqual(ended, ['abandon_withdrawal', 'move_sweep_operation']);
  t.is(rows.get(id)!.status, 'expired');
});

test('treasury S17: a node that dies between the two leaves an operation that is skipped, not failed', async (t) => {
  for (const state of ['FUNDING', 'SIGNING'] as const) {
    const { round, operation, transaction } = jobOf({ state });
    transaction(state === 'FUNDING' ? operation().fundId : operation().sweepId, { status: 'expired' });
    await round();
    t.like(operation(), { state: 'SKIPPED', reason: 'deadline' });
  }
});

test('treasury 5.3: a sweep that reverted between two rounds is reverted, and what it cost is said', async (t) => {
  const { round, operation, transaction } = jobOf({ state: 'SIGNING', funding: 1n });
  transaction(operation().fundId, { status: 'confirmed', height: 900, fee: 268_000n });
  const failed = { status: 'failed', versions: [{ txid: 'x' }] as never, height: 950, fee: 7_000_000n } as const;
  transaction(operation().sweepId, failed);
  await round();
  await round();
  t.like(operation(), { state: 'FAILED', reason: 'reverted', paid: 7_268_000n });
});

/** What a plan makes of one address with this much credited. */
async function planFor(
  { binding, state, settings, world }: ReturnType<typeof jobOf>,
  credited: bigint,
  rate: TokenRate | null = null,
  leader: LeaderParts = silentLeader,
) {
  const of = { address: ADDRESS.address, path: ADDRESS.path, userRef: null };
  const candidate = { ...of, credited, openOperationId: null, isObserved: false, isPaying: false };
  const plan = await planOf(
    {
      ...leader,
      chains: { ...leader.chains, bind: async () => binding },
      sweeps: { candidates: async () => [candidate], promised: async () => world.promised },
      rates: { rate: async () => rate },
      nowMs: () => NOW_MS,
    } as never,
    state as never,
    settings as never,
    'manual',
    { floor: 1n, from: 0, most: 500 },
  );
  if (isRefusal(plan)) throw new Error(plan.message);
  return plan.addresses[0]!;
}

test('treasury Y2, E4: what the edge will count is asked for: the activation too, of an address that is there', async (t) => {
  const job = jobOf({}),
    planned = await planFor(job, 5_000_000n);
  t.is(planned.counted, planned.cost + planned.funding + 1_000_000n);
  job.world.exists = false;
  const fresh = await planFor(job, 5_000_000n);
  t.is(fresh.counted, fresh.cost + fresh.funding, 'stated already');
  t.is(fresh.cost, planned.cost + 1_000_000n);
  job.world.native.set(ADDRESS.address, 10n ** 9n);
  const rich = await planFor(job, 5_000_000n);
  t.is(rich.counted, rich.cost, 'nothing is funded');
});

test('treasury W12, Y2: a ratio of a live token is of the rate that an administrator said; without one, or a stale one, it is no_rate', async (t) => {
  const job = jobOf({}, { maxFeeRatioBps: 10_000 });
  t.is((await planFor(job, 5_000_000n)).reason, 'no_rate');
  const { cost } = await planFor(job, 5_000_000n);
  const said = {
    chain: 'tron',
    contract: USDT,
    numerator: 5_000_000n,
    denominator: cost,
    observedAtMs: NOW_MS,
  } as const;
  t.like(await planFor(job, 5_000_000n, said), { reason: null, costInAsset: 5_000_000n });
  t.is((await planFor(job, 5_000_000n, { ...said, numerator: 5_000_001n })).reason, 'fee_ratio');
  t.is((await planFor(job, 5_000_000n, { ...said, observedAtMs: NOW_MS - 86_400_000 })).reason, 'no_rate');
});

test('treasury Y2: the parts of a cost are its sum', async (t) => {
  const job = jobOf({});
  for (const exists of [true, false]) {
    job.world.exists = exists;
    const { cost, parts } = await planFor(job, 5_000_000n);
    t.is(
      Object.values(parts).reduce((sum, part) => sum + part, 0n),
      cost,
    );
    t.is(parts.activation > 0n, !exists);
  }
});

test('treasury Y2, 5.4: a plan costs what is built, to the last sun', async (t) => {
  const job = jobOf({}),
    planned = await planFor(job, 5_000_000n);
  const ends = { chain: 'tron', tag: null, token: null } as const;
  const feeOf = async (intent: Intent) => {
    const unsigned = module.buildUnsigned(network, await job.binding.client.fetchBuildInputs(intent), intent, null);
    return isRefusal(unsigned) ? t.fail(unsigned.message) : unsigned.feeMax;
  };
  const { address: from, path: fromPath } = own(0, 1);
  const fund = await feeOf({ ...ends, from, fromPath, to: ADDRESS.address, amount: planned.funding });
  job.world.native.set(ADDRESS.address, planned.funding);
  const token = job.binding.catalogue.get(USDT)!;
  const sweep = { ...ends, from: ADDRESS.address, fromPath: ADDRESS.path, to: TREASURY, amount: 5_000_000n, token };
  t.is(planned.cost, fund! + (await feeOf(sweep))!);
});

test('treasury Y4: an address that is not on the chain has no energy of its own, and is not asked for it', async (t) => {
  const job = jobOf({});
  job.world.native.set(TANK, 0n);
  t.is((await planFor(job, 5_000_000n)).reason, 'funding_wallet_low');
  const asked = job.inputsAsked();
  job.world.exists = false;
  t.is((await planFor(job, 5_000_000n)).reason, 'funding_wallet_low');
  t.is(asked, 3, 'the sample of both, and what is there');
  t.is(job.inputsAsked() - asked, 2, 'the sample');
});

test('T23 treasury S12: TRX is planned with the fee of its own bytes, so that what was planned can be moved', async (t) => {
  const balance = 123_456_789_012n;
  const job = jobOf({ state: 'PLANNED' }, {}, null),
    { world, operation, round, built } = job;
  world.native.set(ADDRESS.address, balance);
  const { amount, reason } = await planFor(job, balance);
  t.is(reason, null);
  Object.assign(operation(), { amount });
  await round();
  t.like(operation(), { state: 'SIGNING', reason: null });
  t.deepEqual(
    built.map((one) => one.amount),
    [amount],
  );
  t.true(balance - amount < 300_000n, 'no more than the bandwidth stays');
});

/** An operation that is over, and its sweep as a deep reorg left it. */
function takenBack(status: WithdrawalRow['status'], more: Partial<WithdrawalRow> = {}) {
  const job = jobOf({ state: 'CONFIRMED', paid: 9n });
  const landed = { versions: [{ txid: 'x' }] as never, txid: 'x', fee: 9n };
  const put = (to: WithdrawalRow['status'], facts: Partial<WithdrawalRow> = {}) =>
    job.transaction(job.operation().sweepId, { ...landed, status: to, ...facts });
  put(status, more);
  job.takeBack();
  return { ...job, put };
}

test('treasury S22: a sweep that a reorg takes out of the chain after its job ended is on its way again, and confirmed when it is back; nothing is built or announced', async (t) => {
  const { round, operation, put, job, asked, built } = takenBack('broadcast', { fee: null });
  await round();
  t.like(operation(), { state: 'BROADCAST', paid: null });
  t.like(job(), { state: 'COMPLETED', takenBack: true });
  put('confirming', { height: 1_010 });
  await round();
  t.is(operation().state, 'BROADCAST');
  put('confirmed', { height: 1_010, fee: 11n });
  await round();
  t.like(operation(), { state: 'CONFIRMED', paid: 11n });
  t.like(job(), { state: 'COMPLETED', takenBack: false });
  t.deepEqual([built.length, asked.includes('operate'), asked.includes('end_sweep_job')], [0, false, false]);
  const count = asked.length;
  await round();
  t.is(asked.length, count, 'it is looked at no more');
});

test('treasury S20, S22: one that is dead or reverted after a reorg is FAILED, so that its address is planned anew', async (t) => {
  const dead = takenBack('broadcast', { fee: null });
  await dead.round();
  dead.put('failed', { fee: null });
  await dead.round();
  t.like(dead.operation(), { state: 'FAILED', reason: 'dead', paid: 0n });
  t.like(dead.job(), { state: 'FAILED', takenBack: false });
  const reverted = takenBack('failed', { height: 1_020, fee: 7n }); // all of it before the first look
  await reverted.round();
  t.like(reverted.operation(), { state: 'FAILED', reason: 'reverted', paid: 7n });
  t.like(reverted.job(), { state: 'FAILED', takenBack: false });
});

test('treasury S15, S22: where another operation has the address by then, it is waited for; the job is looked at until all is said', async (t) => {
  const { round, operation, job, setOpen, put } = takenBack('broadcast', { fee: null });
  setOpen({ ...operation(), id: 'swo_other', state: 'PLANNED' });
  await round();
  t.like(operation(), { state: 'CONFIRMED' });
  t.true(job().takenBack);
  setOpen(null);
  await round();
  t.is(operation().state, 'BROADCAST');
  put('confirmed', { height: 1_010 });
  await round();
  t.like(job(), { state: 'COMPLETED', takenBack: false });
});

for (const [code, to] of [
  ['INSUFFICIENT_FUNDS', { state: 'SKIPPED', reason: 'balance_changed' }],
  ['CHAIN_REJECTED', { state: 'FAILED', reason: 'build_refused' }],
  ['CHAIN_UNAVAILABLE', { state: 'SIGNING', reason: null }],
  ['TIER_FEATURE_LOCKED', { state: 'SIGNING', reason: null }],
] as const)
  test(`treasury 5.3, S21: a sweep that is refused when it is built anew for its signature ends as one that never was, and holds its address no longer: ${code}`, async (t) => {
    const { world, round, operation, rows, transaction, asked } = jobOf({ state: 'SIGNING' }, {}, null);
    const { id } = transaction(operation().sweepId, { chain: 'sol', updatedAtMs: NOW_MS - 30_000 });
    world.build = refuse(code);
    await round();
    t.like(operation(), to);
    t.is(rows.get(id)!.status, to.state === 'SIGNING' ? 'built' : 'expired', 'nothing can be signed of it any more');
    t.false(asked.includes('operate'));
  });

test('treasury K18, S13: a token that is taken in no more is not planned, and what is planned or funded of it is skipped', async (t) => {
  const job = jobOf({});
  job.binding.catalogue = new Map();
  t.like(await planFor(job, 5_000_000n), { reason: 'token_frozen', cost: 0n, funding: 0n });
  for (const state of ['PLANNED', 'FUNDING', 'SIGNING'] as const) {
    const { binding, round, operation, transaction, built } = jobOf({ state, funding: 1n });
    if (state === 'FUNDING') transaction(operation().fundId, { status: 'confirmed', height: 900 });
    if (state === 'SIGNING') transaction(operation().sweepId, { status: 'built' });
    binding.catalogue = new Map();
    await round();
    t.like(operation(), { state: 'SKIPPED', reason: 'token_frozen' });
    t.deepEqual(built, []);
  }
});

test('treasury W11: gas that is stuck is priced anew in the order of the tank, before other gas is added behind it', async (t) => {
  const job = jobOf({ state: 'FUNDING', funding: 1n }),
    { fundId } = job.operation();
  const sent = { status: 'broadcast', versions: [{ txid: 'x', payload: '' }] as never } as const;
  job.transaction(fundId, sent);
  const waiting = (first: string) => ({
    next: '12',
    free: [],
    inFlight: { '11': { id: fundId, stage: 'signed' }, '9': { id: first, stage: 'signed' } },
  });
  const changedAt = { [fundId]: NOW_MS, other: NOW_MS };
  Object.assign(job.state, { withdrawals: changedAt, counters: { [`tron:${TANK}`]: waiting('other') } });
  job.world.nowMs = NOW_MS + FUNDING_STUCK_MS;
  await job.round();
  t.deepEqual(job.repriced, [], 'not for long enough');
  job.world.nowMs += 1;
  await job.round();
  t.deepEqual(job.repriced, [], 'what is before it is first');
  job.state.counters[`tron:${TANK}`] = { next: '12', free: [], inFlight: { '11': { id: fundId, stage: 'signed' } } };
  await job.round();
  t.deepEqual(job.repriced, [fundId]);
  t.is(job.asked.filter((one) => one === 'operate').length, 1, 'the edge signs the version');

  const known = job.rows.get(fundId)!;
  job.rows.set(fundId, { ...known, ...sent, unsigned: { ...known.unsigned, payload: '+' } });
  await job.round();
  t.deepEqual(job.repriced, [fundId], 'a version that nobody signed is asked for again, and not made dearer');
  t.is(job.asked.filter((one) => one === 'operate').length, 2);

  const next = jobOf({});
  Object.assign(next.state, { withdrawals: { other: NOW_MS - FUNDING_STUCK_MS - 1 } });
  next.state.counters[`tron:${TANK}`] = waiting('other') as never;
  await next.round();
  t.deepEqual(next.built, [], 'nothing is added behind it');
  next.state.withdrawals['other'] = NOW_MS;
  await next.round();
  t.is(next.built.length, 1);
});

test('treasury K9: a token that may be swept no more is skipped by a policy of before, and the chain is not asked', async (t) => {
  const job = jobOf({});
  const takenBack = (more: object): LeaderParts => {
    const tokens = shippedRegistry.tokens.map((one) => ({
      ...one,
      deployments: one.deployments.map((at) => (at.contract === USDT ? { ...at, ...more } : at)),
    }));
    return { ...silentLeader, chains: { tokens: { current: { ...shippedRegistry, version: 2, tokens } } } };
  };
  for (const more of [{ sweepable: false }, { hazards: ['rebasing'] }])
    t.is((await planFor(job, 5_000_000n, null, takenBack(more))).reason, 'token_frozen');
  t.is(job.inputsAsked(), 0);
  t.is((await planFor(job, 5_000_000n, null, takenBack({ deprecated: true }))).reason, null, 'superseded, still swept');
});

test('treasury K15, S13: what the leader said of its registry is heeded by a plan', async (t) => {
  const job = jobOf({}),
    current = { ...shippedRegistry, version: 2 };
  const empty = { ...shippedRegistry, version: 3, tokens: [] };
  const leader = (registryVersion: number): LeaderParts => ({
    chains: { tokens: { current: { ...current, version: 4 } } },
    edge: {
      sessions: async () =>
        [{ role: 'leader', endedAtMs: null, treasury: { registryVersion, windowSeconds: 1, caps: [] } }] as never,
    },
    registry: { published: async () => ({ content: JSON.stringify(empty) }) as never },
  });
  t.is((await planFor(job, 5_000_000n, null, leader(3))).reason, 'edge_registry_older');
  t.is((await planFor(job, 5_000_000n, null, leader(1))).reason, null);
});

test('treasury W6: the reserve of the tank is neither promised by a plan nor sent for an operation', async (t) => {
  const job = jobOf({});
  const { ofTank, funding } = await planFor(job, 5_000_000n);
  job.world.native.set(TANK, ofTank + 7n);
  job.world.reserved = 7n;
  t.is((await planFor(job, 5_000_000n)).reason, null);
  job.world.reserved = 8n;
  t.is((await planFor(job, 5_000_000n)).reason, 'funding_wallet_low');
  await job.round();
  const [sent] = job.built;
  t.like(sent, { from: TANK, amount: funding });
  t.is(sent!.left, ofTank - 1n, 'the account refuses a build of more than is left');
});

test('treasury S31: gas on an address whose operation ended unswept is counted, and pays for the next one', async (t) => {
  const landed = jobOf({ state: 'FUNDING', funding: 9n });
  landed.transaction(landed.operation().fundId, { status: 'confirmed', height: 900 });
  landed.policy.pausedAtMs = NOW_MS;
  await landed.round();
  t.is(landed.operation().reason, 'policy_stopped');
  t.deepEqual(landed.leftover, [['tron', 9n]]);

  const unsent = jobOf({ state: 'FUNDING', funding: 9n });
  unsent.transaction(unsent.operation().fundId);
  unsent.policy.pausedAtMs = NOW_MS;
  await unsent.round();
  t.is(unsent.operation().reason, 'policy_stopped');
  t.deepEqual(unsent.leftover, [], 'it never left the tank');

  const { world, round, built } = jobOf({});
  const { funding } = await planFor(jobOf({}), 5_000_000n);
  world.native.set(ADDRESS.address, funding - 1n);
  await round();
  t.is(built[0]!.amount, 1n, 'only what is missing beside it');
});
