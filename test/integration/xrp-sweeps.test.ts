/**
 * A job on an XRP ledger whose server reads every transaction with the chain's own SDK: addresses pay their own drops.
 * Treasury 5.4, R24–R28, W2, E1–E4, C11-23, C11-24.
 */
import test, { type ExecutionContext } from 'ava';
import { Wallet } from 'xrpl';
import { shippedRegistry, type Registry } from '../../chains/catalogue.ts';
import { xrp as module } from '../../chains/xrp/index.ts';
import { xrp } from '../../chains/xrp/network.ts';
import type { ChainModule } from '../../chains/chain.ts';
import { fund, makeIssuer, must, payToken, trust } from '../../developer/stand-ins/xrp/people.ts';
import { readerOf, startNode, tokenOf, walletAt } from '../support/xrp-node.ts';
import { dieEverywhere, TreasuryStory, type Told } from '../support/treasury-story.ts';

const XRP = 1_000_000n;
const DEPOSITS = [0, 1];
const ISSUER = Wallet.fromEntropy(new Uint8Array(16).fill(9));

async function worldOf(
  t: ExecutionContext,
  { isFeeOnTransfer, ...told }: Partial<Told> & { isFeeOnTransfer?: boolean } = {},
) {
  const { network, endpoints } = await startNode(t);
  const token = tokenOf(ISSUER.classicAddress),
    catalogue = new Map([[token.contract, token]]),
    { client } = readerOf(endpoints, catalogue);
  const deployment = {
    ...shippedRegistry.tokens.flatMap(({ deployments }) => deployments).find(({ chain }) => chain === 'xrp')!,
    contract: token.contract,
    ...(isFeeOnTransfer === true ? { feeOnTransfer: true } : {}),
  };
  const registry: Registry = {
    ...shippedRegistry,
    tokens: [{ symbol: 'USD', name: 'a coin', deployments: [deployment], unsupportedChains: [] } as never],
  };
  const story = new TreasuryStory(
    {
      network: xrp,
      module: module as ChainModule,
      client,
      catalogue,
      mine: () => void network.close(),
      nowMs: () => 1_800_000_000_000,
    },
    {
      deposits: DEPOSITS.map((index) => ({ index, credited: 50n * XRP })),
      token: null,
      treasury: null,
      ...told,
      edge: { registry, ...told.edge },
    },
  );
  const xrpOf = async (address: string) => (await client.fetchBalance(address, null)).amount;
  const usdOf = async (address: string) => (await client.fetchBalance(address, token)).amount;
  return { network, story, token, xrpOf, usdOf };
}

test('treasury 5.4, R24, R25, C11-23: XRP come home less reserve and drops; no account is deleted', async (t) => {
  const { network, story, xrpOf } = await worldOf(t);
  for (const index of DEPOSITS) fund(network, story.addressOf(index), 50n * XRP);
  network.close();
  await story.plan();
  t.is(
    (await story.run()).state,
    'COMPLETED',
    JSON.stringify([...story.operations.values()].map(({ reason, details }) => [reason, details])),
  );
  const moved = DEPOSITS.reduce((sum, index) => sum + story.operationAt(index).amount, 0n);
  t.is(await xrpOf(story.treasury), moved);
  for (const index of DEPOSITS) {
    const { amount, paid } = story.operationAt(index);
    t.is(await xrpOf(story.addressOf(index)), 50n * XRP - amount - paid!);
    t.true((await xrpOf(story.addressOf(index))) >= XRP, 'the reserve');
  }
});

test('treasury 5.4, R24, R28, S13: tokens come home with drops out of the reserve, rounded down to 15 digits; without a line at the treasury nothing does', async (t) => {
  for (const opens of [false, true]) {
    const credited = 12_345_678_901_234_567n;
    const token = tokenOf(ISSUER.classicAddress).contract;
    const { network, story, usdOf } = await worldOf(t, {
      token,
      deposits: DEPOSITS.map((index) => ({ index, credited })),
    });
    const line = { currency: 'USD', issuer: ISSUER.classicAddress };
    makeIssuer(network, ISSUER);
    for (const index of DEPOSITS) {
      fund(network, story.addressOf(index), 2n * XRP);
      trust(network, walletAt(0, index), line);
      payToken(network, ISSUER, story.addressOf(index), { ...line, value: '12.34567890123456' });
    }
    fund(network, story.treasury, 10n * XRP);
    if (opens) trust(network, walletAt(1, 1), line);
    network.close();
    const { addresses } = await story.plan();
    if (!opens) {
      t.true(addresses.every(({ reason }) => reason === 'destination_not_ready'));
      continue;
    }
    t.is(
      (await story.run()).state,
      'COMPLETED',
      JSON.stringify([...story.operations.values()].map(({ reason, details }) => [reason, details])),
    );
    t.is(await usdOf(story.treasury), 2n * 12_345_678_901_234_500n);
    t.is(story.operationAt(0).amount, 12_345_678_901_234_500n, 'the operation says what moved');
  }
});

test('treasury W2, E2: the tag is a part of the treasury: with another one, or none, nothing is signed', async (t) => {
  const vault = Wallet.fromEntropy(new Uint8Array(16).fill(3)).classicAddress;
  const treasuries = new Map([['xrp', [{ address: vault, tag: '7', isOfOneChain: true }]]] as const);
  const { network, story, xrpOf } = await worldOf(t, { treasury: vault, edge: { treasuries } });
  for (const index of DEPOSITS) fund(network, story.addressOf(index), 50n * XRP);
  fund(network, vault, 10n * XRP);
  network.close();
  await story.plan();
  t.is((await story.run()).state, 'FAILED');
  t.is(story.operationAt(0).reason, 'edge_destination_not_allowed');
  t.is(story.edge.signatures(), 0);
  t.is(await xrpOf(vault), 10n * XRP);
});

/** A policy of tokens: each address holds 12, the treasury has a line. */
async function tokenWorld(t: ExecutionContext, issuer: { transferRate?: number } = {}, limit?: string) {
  const token = tokenOf(ISSUER.classicAddress).contract,
    line = { currency: 'USD', issuer: ISSUER.classicAddress },
    deposits = DEPOSITS.map((index) => ({ index, credited: 12n * USD }));
  const world = await worldOf(t, { token, deposits, isFeeOnTransfer: issuer.transferRate !== undefined }),
    { network, story } = world;
  makeIssuer(network, ISSUER, issuer);
  for (const index of DEPOSITS) {
    fund(network, story.addressOf(index), 2n * XRP);
    trust(network, walletAt(0, index), line);
    payToken(network, ISSUER, story.addressOf(index), { ...line, value: '12' });
  }
  fund(network, story.treasury, 10n * XRP);
  trust(network, walletAt(1, 1), line, limit);
  network.close();
  return { ...world, line };
}
const USD = 10n ** 15n;
const SET_FREEZE = 0x0010_0000;

test('treasury K17, S13: a line that its issuer froze is skipped and the others go on; it is no failure of the policy', async (t) => {
  const { network, story, line, usdOf } = await tokenWorld(t);
  const frozen = { ...line, issuer: story.addressOf(1), value: '0' };
  must(network, ISSUER, { TransactionType: 'TrustSet', Flags: SET_FREEZE, LimitAmount: frozen });
  network.close();
  await story.plan();
  t.is((await story.run()).state, 'COMPLETED');
  t.like(story.operationAt(1), { state: 'SKIPPED', reason: 'token_frozen' });
  t.is(await usdOf(story.treasury), 12n * USD);
  t.is(story.edge.signatures(), 1);
});

test('treasury S13: a treasury whose line has no room is not ready: nothing is signed, and it is no failure of the policy', async (t) => {
  const { story } = await tokenWorld(t, {}, '5');
  await story.plan();
  t.is((await story.run()).state, 'COMPLETED');
  for (const index of DEPOSITS) t.is(story.operationAt(index).reason, 'destination_not_ready');
  t.is(story.edge.signatures(), 0);
});

test('treasury 5.4, R28: of a token whose issuer keeps a share what is left of it comes home', async (t) => {
  const { story, usdOf } = await tokenWorld(t, { transferRate: 1_002_000_000 });
  await story.plan();
  t.is(
    (await story.run()).state,
    'COMPLETED',
    JSON.stringify([...story.operations.values()].map(({ reason, details }) => [reason, details])),
  );
  t.true((await usdOf(story.treasury)) > 23n * USD);
  for (const index of DEPOSITS) t.true((await usdOf(story.addressOf(index))) < USD / 1_000_000n);
});

test('treasury E3, S13: a token of which its issuer keeps more than the edge signs is skipped with the setting: by the plan where the leader said its bound, else by its refusal', async (t) => {
  const { story } = await tokenWorld(t, { transferRate: 1_200_000_000 }),
    setting = 'EDGE_SWEEP_FEE_RATIO_BPS';
  const plan = await story.plan();
  t.true(plan.addresses.every(({ reason }) => reason === null));
  t.is((await story.run()).state, 'COMPLETED', 'no failure of the policy');
  for (const index of DEPOSITS) {
    const { state, reason, details } = story.operationAt(index);
    t.deepEqual([state, reason, JSON.parse(details!).setting], ['SKIPPED', 'fee_ratio', setting]);
  }
  t.is(story.edge.signatures(), 0);

  const { story: told } = await tokenWorld(t, { transferRate: 1_200_000_000 });
  const said = { registryVersion: 1, windowSeconds: 60, caps: [], sweepFeeRatioBps: 1_000 };
  for (const { reason, blocked } of (await told.plan(said)).addresses)
    t.deepEqual([reason, blocked?.setting], ['fee_ratio', setting]);
  const { story: bold } = await tokenWorld(t, { transferRate: 1_200_000_000 });
  const plain = await bold.plan({ ...said, sweepFeeRatioBps: 2_001 });
  t.true(plain.addresses.every(({ reason }) => reason === null));
});

test('treasury S17, 5.3: a node that dies anywhere leaves a job that ends, and all of it comes home once', async (t) => {
  let told: Awaited<ReturnType<typeof worldOf>>;
  const deaths = await dieEverywhere(
    async (diesAt) => {
      told = await worldOf(t, { diesAt });
      for (const index of DEPOSITS) fund(told.network, told.story.addressOf(index), 50n * XRP);
      told.network.close();
      return told.story;
    },
    async (story, diesAt) => {
      let home = 0n;
      for (const index of DEPOSITS) {
        const { state, amount, reason } = story.operationAt(index);
        t.is(state, 'CONFIRMED', `${diesAt} ${reason}`);
        home += amount;
      }
      t.is(await told.xrpOf(story.treasury), home, String(diesAt));
    },
  );
  t.true(deaths >= 30, `${deaths} deaths`);
});
