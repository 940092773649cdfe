/**
 * A job on a real Core-family node; the edge makes each instruction itself. Addresses are Bitcoin's, and the node reads
 * their scripts. Treasury 5.4, S12, E1–E4, C11-26, C11-27.
 */
import anyTest, { type TestFn } from 'ava';
import { bytesOf } from '../../chains/btc/address.ts';
import { btc as module } from '../../chains/btc/index.ts';
import { bitcoin, litecoinRegtest, type BtcNetwork } from '../../chains/btc/network.ts';
import type { ChainModule } from '../../chains/chain.ts';
import { clientOf, openBtcNode, type BtcNode } from '../support/btc-node.ts';
import { TreasuryStory, type Told } from '../support/treasury-story.ts';

const test = anyTest as TestFn<BtcNode & { close(): Promise<void> }>;
const network: BtcNetwork = { ...litecoinRegtest, prefixes: bitcoin.prefixes };
const DUST = 9_000n;

test.before(async (t) => {
  t.context = await openBtcNode();
});
test.after.always((t) => t.context.close());

/** The script of an address, as this node writes it. */
async function here({ node }: BtcNode, address: string): Promise<string> {
  const hex = Buffer.from(bytesOf(address)).toString('hex');
  const { address: one, addresses } = await node.rpc<{ address?: string; addresses?: string[] }>('decodescript', [hex]);
  return one ?? addresses![0]!;
}

interface Timed extends Told {
  readonly mines?: boolean;
}

/** Coins of these amounts on addresses from `first` on, each of which is credited. */
async function storyOf(
  context: BtcNode,
  first: number,
  coins: readonly (readonly bigint[])[],
  told: Partial<Timed> = {},
) {
  let nowMs = 1_800_000_000_000;
  const story = new TreasuryStory(
    {
      network,
      module: module as ChainModule,
      client: clientOf([context.endpoint], network),
      catalogue: new Map(),
      mine: async () => {
        nowMs += 60_000;
        if (told.mines !== false) await context.mine(network.threshold);
      },
      nowMs: () => nowMs,
    },
    {
      deposits: coins.map((amounts, at) => ({
        index: first + at,
        credited: amounts.reduce((sum, amount) => sum + amount, 0n),
      })),
      token: null,
      treasury: null,
      ...told,
    },
  );
  for (const [at, amounts] of coins.entries())
    for (const amount of amounts) await context.pay(await here(context, story.addressOf(first + at)), amount);
  await context.mine(network.threshold);
  const held = async (address: string) => {
    const script = Buffer.from(bytesOf(address)).toString('hex');
    const { total_amount: total } = await context.node.rpc<{ total_amount: number }>('scantxoutset', [
      'start',
      [`raw(${script})`],
    ]);
    return BigInt(Math.round(total * 1e8));
  };
  return { story, held, later: (ms: number) => (nowMs += ms) };
}

test.serial(
  'C4-43, treasury 5.4, S12: coins of three addresses come home in one output each; dust stays, with its reason',
  async (t) => {
    const { story, held } = await storyOf(t.context, 0, [[5_000_000n, 300_000n], [2_000_000n], [DUST]], {
      settings: { dustFloor: '10000' },
    });
    const before = await held(story.treasury);
    const plan = await story.plan();
    t.deepEqual(
      plan.addresses.map(({ reason }) => reason),
      [null, null, 'dust'],
    );
    const job = await story.run();
    t.is(
      job.state,
      'COMPLETED',
      JSON.stringify([...story.operations.values()].map(({ reason, details }) => ({ reason, details }))),
    );
    let arrived = 0n,
      paid = 0n;
    for (const index of [0, 1]) {
      const operation = story.operationAt(index),
        sweep = story.withdrawals.get(operation.sweepId)!;
      t.is(operation.state, 'CONFIRMED');
      t.is(operation.paid, sweep.fee, 'the fee that the coins prove');
      t.is(operation.amount + operation.paid!, index === 0 ? 5_300_000n : 2_000_000n);
      t.true(operation.paid! <= operation.estimate);
      t.is(await held(story.addressOf(index)), 0n);
      arrived += operation.amount;
      paid += operation.paid!;
    }
    t.is((await held(story.treasury)) - before, arrived);
    t.is(await held(story.addressOf(2)), DUST);
    t.is(story.edge.ledger.spent('btc', 'cloud'), paid, 'fees are counted, and nothing else');
  },
);

test.serial(
  'treasury 5.4: with EDGE_BTC_SWEEPS off all stays planned, job and operation name the setting, and nothing is asked again at once',
  async (t) => {
    const { story, held, later } = await storyOf(t.context, 10, [[1_000_000n], [900_000n]], {
      edge: { btcSweeps: false },
    });
    await story.plan();
    await story.rounds(3);
    t.is(story.job!.endedAtMs, null);
    const all = [...story.operations.values()];
    t.true(all.every(({ state, reason }) => state === 'PLANNED' && reason === null));
    t.is(all.filter(({ details }) => details?.includes('EDGE_BTC_SWEEPS')).length, 1);
    t.is(story.withdrawals.size, 1, 'one build, which is given back');
    t.is([...story.withdrawals.values()][0]!.status, 'expired');
    later(11 * 60_000);
    await story.rounds(1);
    t.is(story.withdrawals.size, 2, 'asked again after ten minutes');
    later(7 * 3_600_000);
    await story.rounds(1);
    t.is(story.job!.endedAtMs, null, 'no deadline ends what a setting holds');
    t.is(await held(story.addressOf(10)), 1_000_000n);
    t.is(story.edge.signatures(), 0);
  },
);

test.serial(
  'B16, treasury 5.4: a sweep that no block takes for an hour is replaced, and what landed is what is counted',
  async (t) => {
    const { story, held, later } = await storyOf(t.context, 20, [[3_000_000n]], { mines: false });
    const before = await held(story.treasury);
    await story.plan();
    await story.rounds(2);
    const operation = story.operationAt(20),
      first = story.withdrawals.get(operation.sweepId)!;
    t.is(operation.state, 'BROADCAST');
    t.is(first.versions.length, 1);
    later(61 * 60_000);
    await story.rounds(1);
    const next = story.withdrawals.get(operation.sweepId)!;
    t.is(next.versions.length, 2);
    t.true(next.unsigned.feeMax > first.unsigned.feeMax);
    t.is(next.unsigned.amount + next.unsigned.feeMax, 3_000_000n, 'the same coins');
    await story.rounds(1);
    t.is(story.withdrawals.get(operation.sweepId)!.versions.length, 2, 'once an hour');
    await t.context.mine(network.threshold);
    await story.rounds(2);
    t.like(story.operationAt(20), { state: 'CONFIRMED', amount: next.unsigned.amount, paid: next.unsigned.feeMax });
    t.is((await held(story.treasury)) - before, next.unsigned.amount);
  },
);
