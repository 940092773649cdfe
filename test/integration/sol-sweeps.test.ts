/**
 * A job on litesvm: the tank pays along and signs beside each address, and the chain's own programs judge what they
 * signed. Treasury 5.4, L28–L30, E1–E4, C11-21.
 */
import test, { type ExecutionContext } from 'ava';
import { sol as module } from '../../chains/sol/index.ts';
import { solana } from '../../chains/sol/network.ts';
import { associatedTokenAddress } from '../../chains/sol/program-address.ts';
import { TOKEN_PROGRAM } from '../../chains/sol/programs.ts';
import type { ChainModule } from '../../chains/chain.ts';
import { putHolding, putMint } from '../../developer/stand-ins/sol/tokens.ts';
import { keyOf, openSol, SOL, USDC } from '../support/sol-node.ts';
import { dieEverywhere, TreasuryStory, type Told } from '../support/treasury-story.ts';

const VAULT = keyOf(77).address;
const TREASURIES = new Map([['sol', [{ address: VAULT, tag: null, isOfOneChain: true }]]] as const);
const DEEP = 40;
const DEPOSITS = [0, 1, 2];

/** `roundMs`: what passes with each round. */
async function worldOf(t: ExecutionContext, told: Partial<Told> = {}, roundMs = 0) {
  const { ledger, client } = await openSol(t);
  let nowMs = 1_800_000_000_000;
  const story = new TreasuryStory(
    {
      network: solana,
      module: module as ChainModule,
      client,
      catalogue: new Map([[USDC.contract, USDC]]),
      mine() {
        ledger.mine(DEEP);
        nowMs += roundMs;
      },
      nowMs: () => nowMs,
    },
    {
      deposits: DEPOSITS.map((index) => ({ index, credited: 5_000_000n })),
      token: USDC.contract,
      treasury: VAULT,
      edge: { treasuries: TREASURIES },
      ...told,
    },
  );
  putMint(ledger, { mint: USDC.contract, decimals: 6 });
  const accountOf = (owner: string) => associatedTokenAddress({ owner, mint: USDC.contract, program: TOKEN_PROGRAM });
  const hold = (index: number, frozen = false) => {
    const owner = story.addressOf(index);
    putHolding(ledger, { account: accountOf(owner), mint: USDC.contract, owner, amount: 5_000_000n, frozen });
  };
  const heldBy = async (address: string) => (await client.fetchBalance(address, null)).amount;
  const usdcOf = async (address: string) => (await client.fetchBalance(address, USDC)).amount;
  return { ledger, story, hold, heldBy, usdcOf };
}

test('treasury 5.4, L30, C11-21: tokens come home from addresses that hold no SOL; the tank pays, and the treasury’s account once', async (t) => {
  const { ledger, story, hold, heldBy, usdcOf } = await worldOf(t);
  ledger.fund(story.tank, SOL);
  for (const index of DEPOSITS) hold(index);
  ledger.mine(DEEP);
  const plan = await story.plan();
  t.true(plan.addresses.every(({ reason, funding }) => reason === null && funding === 0n));
  t.is(
    (await story.run()).state,
    'COMPLETED',
    JSON.stringify([...story.operations.values()].map(({ reason, details }) => [reason, details])),
  );
  t.is(await usdcOf(VAULT), 15_000_000n);
  const rents = [...story.withdrawals.values()].map(({ unsigned }) => unsigned.fee['rentLamports']);
  t.deepEqual(rents.toSorted(), ['0', '0', '2039280'], 'made once');
  const paid = DEPOSITS.reduce((sum, index) => sum + story.operationAt(index).paid!, 0n);
  const estimated = DEPOSITS.reduce((sum, index) => sum + story.operationAt(index).estimate, 0n);
  t.true(paid <= estimated, `${paid} of ${estimated}`);
  // Fees are what the chain took of the tank, beside the rent.
  t.is(await heldBy(story.tank), SOL - paid - 2_039_280n);
  t.true(story.edge.ledger.spent('sol', 'cloud') >= paid + 2_039_280n, 'rent is counted');
});

test('treasury 5.4, L28: SOL leaves whole and the account is gone; where something stays, the minimum does', async (t) => {
  const deposits = [
    { index: 0, credited: SOL },
    { index: 1, credited: SOL },
  ];
  const { ledger, story, heldBy } = await worldOf(t, { token: null, deposits });
  ledger.fund(story.tank, SOL);
  ledger.fund(VAULT, SOL);
  ledger.fund(story.addressOf(0), SOL);
  ledger.fund(story.addressOf(1), SOL + 1_000n);
  ledger.mine(DEEP);
  await story.plan();
  t.is((await story.run()).state, 'COMPLETED');
  t.is(await heldBy(story.addressOf(0)), 0n);
  t.is(await heldBy(story.addressOf(1)), 890_880n, 'what is not credited would be less than the minimum');
  t.is(await heldBy(VAULT), SOL + SOL + SOL + 1_000n - 890_880n);
});

test('treasury K17, S13: a frozen account is skipped and costs nothing; a poor tank pays for whom it can', async (t) => {
  const { ledger, story, hold, usdcOf } = await worldOf(t);
  ledger.fund(story.tank, SOL);
  for (const index of DEPOSITS) hold(index, index === 1);
  ledger.mine(DEEP);
  await story.plan();
  t.is((await story.run()).state, 'COMPLETED');
  t.is(story.operationAt(1).state, 'SKIPPED');
  t.is(await usdcOf(VAULT), 10_000_000n);
  const poor = await worldOf(t);
  poor.ledger.fund(poor.story.tank, 890_880n + 2_039_280n + 20_000n);
  for (const index of DEPOSITS) poor.hold(index);
  poor.ledger.mine(DEEP);
  const { addresses } = await poor.story.plan();
  t.deepEqual(
    addresses.map(({ reason }) => reason),
    [null, 'funding_wallet_low', 'funding_wallet_low'],
  );
  t.is((await poor.story.run()).state, 'COMPLETED');
});

test('L31 treasury 5.3, S17: bytes that an edge signed and never delivered are dead with their block hash: the next cycle pays, once', async (t) => {
  const { ledger, story, hold, heldBy, usdcOf } = await worldOf(t, { lost: 1 }, 30_000);
  ledger.fund(story.tank, SOL);
  for (const index of DEPOSITS) hold(index);
  ledger.mine(DEEP);
  await story.plan();
  const { state } = await story.run();
  t.is(
    state,
    'COMPLETED',
    JSON.stringify([...story.operations.values()].map(({ reason, details }) => [reason, details])),
  );
  const ends = DEPOSITS.map((index) => story.operationAt(index));
  t.deepEqual(ends.map(({ reason }) => reason).toSorted(), ['deadline', null, null]);
  t.is(await usdcOf(VAULT), 10_000_000n);
  const paid = ends.reduce((sum, { paid: fee }) => sum + (fee ?? 0n), 0n);
  t.is(await heldBy(story.tank), SOL - paid - 2_039_280n);
});

test('treasury E2, W5: a treasury that this edge does not list gets nothing', async (t) => {
  const { ledger, story, hold, usdcOf } = await worldOf(t, { edge: {} });
  ledger.fund(story.tank, SOL);
  hold(0);
  ledger.mine(DEEP);
  await story.plan();
  t.is((await story.run()).state, 'FAILED');
  t.is(story.operationAt(0).reason, 'edge_destination_not_allowed');
  t.is(story.edge.signatures(), 0);
  t.is(await usdcOf(VAULT), 0n);
});

test('treasury S17, 5.3: a node that dies anywhere leaves a job that ends; nothing is swept twice, and the treasury’s account is made once', async (t) => {
  let told: Awaited<ReturnType<typeof worldOf>>;
  const deaths = await dieEverywhere(
    async (diesAt) => {
      const deposits = [0, 1].map((index) => ({ index, credited: 5_000_000n }));
      told = await worldOf(t, { deposits, diesAt });
      told.ledger.fund(told.story.tank, SOL);
      for (const index of [0, 1]) told.hold(index);
      told.ledger.mine(DEEP);
      return told.story;
    },
    async (story, diesAt) => {
      const left = story.withdrawals
        .values()
        .filter(({ height, unsigned }) => height !== null && unsigned.fee['rentLamports'] !== '0');
      t.true(left.toArray().length <= 1, `account made twice after ${diesAt}`);
      let home = 0n;
      for (const index of [0, 1]) {
        const { state, amount, reason } = story.operationAt(index);
        // A signature that never arrived is dead by then: the next cycle plans the address anew (L31).
        t.true(state === 'CONFIRMED' || reason === 'deadline', `${diesAt} ${state} ${reason}`);
        if (state === 'CONFIRMED') home += amount;
      }
      t.is(await told.usdcOf(VAULT), home, String(diesAt));
    },
  );
  t.true(deaths >= 30, `${deaths} deaths`);
});
