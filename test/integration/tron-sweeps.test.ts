/**
 * A job on a ledger that enforces TRON's rules and reads every transaction with the chain's own SDK; the edge makes
 * each instruction itself. Treasury 5.4, K17, E1–E4, C11-13, C11-16 to C11-19.
 */
import test from 'ava';
import { tron as module } from '../../chains/tron/index.ts';
import { tron } from '../../chains/tron/network.ts';
import type { ChainModule, Token } from '../../chains/chain.ts';
import { trc20 } from '../../developer/stand-ins/tron/stand-in.ts';
import { heldBy, openStage, TRX, type Stage } from '../support/tron-ledger.ts';
import { dieEverywhere, TreasuryStory, type Told } from '../support/treasury-story.ts';

const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const token: Token = { chain: 'tron', contract: USDT, symbol: 'USDT', decimals: 6 };
const DEEP = 20;

interface World {
  readonly stage: Stage;
  readonly story: TreasuryStory;
  readonly usdtOf: (address: string) => bigint;
}

/** Ten USDT on each of these addresses, none of which is activated unless it has TRX. */
interface Paced extends Told {
  /** Blocks of a round, and what is looked at after each. */
  readonly deep: number;
  readonly seen: (story: TreasuryStory) => void;
}

function worldOf(told: Partial<Paced>, tank: bigint, change: (world: World) => void = () => undefined): World {
  const stage = openStage(0n),
    { standIn } = stage,
    { ledger } = standIn;
  const client = stage.clientOf([stage.node], new Map([[USDT, token]]));
  const story = new TreasuryStory(
    {
      network: tron,
      module: module as ChainModule,
      client,
      catalogue: new Map([[USDT, token]]),
      mine: () => {
        ledger.mine(told.deep ?? DEEP);
        told.seen?.(story);
      },
      nowMs: () => ledger.block(ledger.headHeight())!.timeMs,
    },
    { deposits: [0, 1, 2].map((index) => ({ index, credited: 10_000_000n })), token: USDT, treasury: null, ...told },
  );
  const balances = new Map([0, 1, 2].map((index) => [story.addressOf(index), 10_000_000n]));
  // The treasury holds the token already, so that a transfer costs what it costs a holder.
  balances.set(story.treasury, 1n);
  standIn.setAccount(USDT, { isContract: true });
  ledger.edit((world) => world.contracts.set(USDT, trc20({ balances })));
  if (tank > 0n) standIn.setAccount(story.tank, { balance: tank });
  const usdtOf = (address: string) => {
    const contract = ledger.pendingWorld().contracts.get(USDT)!;
    return contract.kind === 'trc20' ? (contract.balances.get(address) ?? 0n) : 0n;
  };
  const world = { stage, story, usdtOf };
  change(world);
  ledger.mine(DEEP);
  return world;
}

test('C4-37, treasury 5.4: tokens of addresses that are not activated come home; each got exactly what its transfer needs, activation apart', async (t) => {
  const { stage, story, usdtOf } = worldOf({}, 1000n * TRX);
  const plan = await story.plan();
  t.true(plan.addresses.every(({ reason, funding }) => reason === null && funding > 0n));
  const job = await story.run();
  t.is(
    job.state,
    'COMPLETED',
    JSON.stringify([...story.operations.values()].map(({ state, reason, details }) => ({ state, reason, details }))),
  );
  t.is(usdtOf(story.treasury), 30_000_001n);
  let paid = 0n;
  for (const index of [0, 1, 2]) {
    const operation = story.operationAt(index);
    t.is(operation.state, 'CONFIRMED');
    t.is(usdtOf(story.addressOf(index)), 0n);
    t.true(operation.paid! <= operation.estimate, `${operation.paid} of ${operation.estimate}`);
    const fund = story.withdrawals.get(operation.fundId)!,
      sweep = story.withdrawals.get(operation.sweepId)!;
    // Activation and its bandwidth are the tank's: what arrives is what the transfer needs and nothing more.
    t.is(heldBy(stage, story.addressOf(index)), operation.funding! - sweep.fee!);
    t.true(
      operation.funding! <= BigInt(sweep.unsigned.fee['feeLimit']!) + BigInt(sweep.unsigned.fee['bandwidthFeeMax']!),
    );
    paid += fund.fee! + operation.funding!;
  }
  t.is(heldBy(stage, story.tank), 1000n * TRX - paid);
  t.is(story.edge.signatures(), 6);
});

test('treasury K17: an address that the issuer froze costs no fee, the others come home', async (t) => {
  const { story, usdtOf, stage } = worldOf({}, 1000n * TRX, ({ stage: { standIn }, story: told }) => {
    standIn.ledger.edit((world) => {
      const contract = world.contracts.get(USDT)!;
      if (contract.kind === 'trc20') contract.blacklist.add(told.addressOf(1));
    });
  });
  await story.plan();
  const job = await story.run();
  t.is(job.state, 'COMPLETED');
  t.like(story.operationAt(1), { state: 'SKIPPED', reason: 'token_frozen', funding: null });
  t.regex(story.operationAt(1).details!, /CHAIN_REJECTED/);
  t.is(usdtOf(story.treasury), 20_000_001n);
  t.is(heldBy(stage, story.addressOf(1)), 0n, 'no gas for it');
});

test('treasury W9, K17: a frozen address takes nothing of a tank that does not suffice for all, and another job’s promises are not promised again', async (t) => {
  const { story, usdtOf } = worldOf({}, 1000n * TRX, ({ stage: { standIn }, story: told }) => {
    standIn.ledger.edit((world) => {
      const contract = world.contracts.get(USDT)!;
      if (contract.kind === 'trc20') contract.blacklist.add(told.addressOf(0));
    });
  });
  const rich = await story.plan();
  const { ofTank } = rich.addresses[0]!;
  const poor = worldOf({}, 2n * ofTank + ofTank / 2n, ({ stage: { standIn }, story: told }) => {
    standIn.ledger.edit((world) => {
      const contract = world.contracts.get(USDT)!;
      if (contract.kind === 'trc20') contract.blacklist.add(told.addressOf(0));
    });
  });
  const plan = await poor.story.plan();
  t.deepEqual(
    plan.addresses.map(({ reason }) => reason),
    ['token_frozen', null, null],
  );
  t.is((await poor.story.run()).state, 'COMPLETED');
  t.is(poor.usdtOf(poor.story.treasury), 20_000_001n);
  t.is(usdtOf(story.treasury), 1n);
  const kept = worldOf({ keptForOthers: 2n * ofTank }, 3n * ofTank);
  t.deepEqual(
    (await kept.story.plan()).addresses.map(({ reason }) => reason),
    [null, 'funding_wallet_low', 'funding_wallet_low'],
  );
});

test('treasury 5.4, C11-17, C11-18: energy of the address lowers what must lie there and never the limit; a poor tank stops only whom it must pay', async (t) => {
  const { story, usdtOf } = worldOf({}, 0n, ({ stage: { standIn }, story: told }) => {
    standIn.setAccount(told.addressOf(1), { balance: 1n, energyLimit: 1_000_000n });
  });
  const plan = await story.plan();
  t.deepEqual(
    plan.addresses.map(({ reason }) => reason),
    ['funding_wallet_low', null, 'funding_wallet_low'],
  );
  t.is((await story.run()).state, 'COMPLETED');
  const sweep = story.withdrawals.get(story.operationAt(1).sweepId)!;
  t.true(BigInt(sweep.unsigned.fee['feeLimit']!) > 0n, 'the whole energy is in the limit');
  t.is(usdtOf(story.treasury), 10_000_001n);
});

test('treasury 5.4, E3: TRX comes home less its bandwidth; the edge counts fees and not what stays the company’s', async (t) => {
  const deposits = [0, 1].map((index) => ({ index, credited: 50n * TRX }));
  const { story, stage } = worldOf({ token: null, deposits }, 0n, ({ stage: { standIn }, story: told }) => {
    for (const index of [0, 1]) standIn.setAccount(told.addressOf(index), { balance: 50n * TRX });
  });
  await story.plan();
  t.is((await story.run()).state, 'COMPLETED');
  const arrived = [0, 1].reduce((sum, index) => sum + story.operationAt(index).amount, 0n);
  t.is(heldBy(stage, story.treasury), arrived);
  t.true(story.edge.ledger.spent('tron', 'cloud') < 10n * TRX);
});

test('C4-36, treasury S28: no sweep is built before its gas is as deep as the chain asks, and each goes once its own is', async (t) => {
  let waited = 0;
  const depths: number[] = [];
  const { story, usdtOf, stage } = worldOf(
    {
      deep: 1,
      seen: ({ operations, withdrawals }) => {
        const head = stage.standIn.ledger.headHeight();
        for (const { fundId, sweepId, state } of operations.values()) {
          const fund = withdrawals.get(fundId);
          if (state === 'FUNDING') t.false(withdrawals.has(sweepId));
          if (fund?.height == null) continue;
          if (state === 'FUNDING') waited += 1;
          // The block of this round came after the sweep was built.
          if (state === 'SIGNING' || state === 'BROADCAST') depths.push(head - fund.height);
        }
      },
    },
    1000n * TRX,
  );
  await story.plan();
  t.is((await story.run()).state, 'COMPLETED');
  t.true(waited > 0);
  t.true(depths.length > 0 && depths.every((depth) => depth >= tron.threshold), depths.join(' '));
  t.is(usdtOf(story.treasury), 30_000_001n);
});

test('treasury S17, 5.3: a node that dies anywhere leaves a job that ends; nothing is funded or swept twice', async (t) => {
  const deposits = [{ index: 0, credited: 10_000_000n }];
  let usdtOf: World['usdtOf'] = () => 0n;
  const deaths = await dieEverywhere(
    (diesAt) => {
      const world = worldOf({ deposits, diesAt }, 1000n * TRX);
      ({ usdtOf } = world);
      return world.story;
    },
    (story, diesAt) => {
      t.is(story.operationAt(0).state, 'CONFIRMED', `${diesAt} ${story.operationAt(0).reason}`);
      t.is(usdtOf(story.treasury), 10_000_001n, String(diesAt));
    },
  );
  t.true(deaths >= 30, `${deaths} deaths`);
});
