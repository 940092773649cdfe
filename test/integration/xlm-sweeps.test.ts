/**
 * A job on a Stellar ledger that reads every envelope with the chain's own SDK: each address's own transaction in a fee
 * bump of the tank. Treasury 5.4, M23, M28, E1–E4, C11-25.
 */
import test from 'ava';
import { shippedRegistry, type Registry } from '../../chains/catalogue.ts';
import { xlm as module } from '../../chains/xlm/index.ts';
import { decodePayload, type DecodedPayload } from '../../chains/xlm/envelope.ts';
import { stellar } from '../../chains/xlm/network.ts';
import type { ChainModule } from '../../chains/chain.ts';
import { LINE_FLAGS } from '../../developer/stand-ins/xlm/entries.ts';
import { creation, opening, payment, person, settle } from '../../developer/stand-ins/xlm/people.ts';
import { Keypair } from '@stellar/stellar-sdk/base';
import { openWorld, ours, XLM } from '../support/xlm-node.ts';
import { dieEverywhere, TreasuryStory, type Told } from '../support/treasury-story.ts';

const TREASURY = person(91);
const VAULT = TREASURY.publicKey();
const TREASURIES = new Map([['xlm', [{ address: VAULT, tag: null, isOfOneChain: true }]]] as const);
const DEPOSITS = [0, 1];

function worldOf(told: Partial<Told> = {}) {
  const world = openWorld(),
    { ledger, client, catalogue, token } = world;
  const [symbol] = token.contract.split(':');
  const deployment = {
    ...shippedRegistry.tokens.flatMap(({ deployments }) => deployments).find(({ chain }) => chain === 'xlm')!,
    contract: token.contract,
  };
  const registry: Registry = {
    ...shippedRegistry,
    tokens: [{ symbol: symbol!, name: 'a coin', deployments: [deployment], unsupportedChains: [] } as never],
  };
  const story = new TreasuryStory(
    {
      network: stellar,
      module: module as ChainModule,
      client,
      catalogue,
      mine: () => void ledger.close(),
      nowMs: () => ledger.newest.closeTime * 1_000,
    },
    {
      deposits: DEPOSITS.map((index) => ({ index, credited: 50n * XLM })),
      token: null,
      treasury: VAULT,
      edge: { treasuries: TREASURIES, registry },
      ...told,
    },
  );
  const pay = (to: string, amount: bigint) => world.pay(to, amount);
  const act = (index: number) => Keypair.fromRawEd25519Seed(Buffer.from(ours(index).key.privateKey));
  const xlmOf = async (address: string) => (await client.fetchBalance(address, null)).amount;
  const usdcOf = async (address: string) => (await client.fetchBalance(address, token)).amount;
  return { ...world, story, pay, act, xlmOf, usdcOf };
}

test('treasury 5.4, M23, M28, C11-25: XLM come home less the reserve, by fee bumps of the tank; nothing is merged', async (t) => {
  const { story, pay, xlmOf } = worldOf();
  pay(story.tank, 10n * XLM);
  pay(VAULT, 5n * XLM);
  for (const index of DEPOSITS) pay(story.addressOf(index), 50n * XLM);
  await story.plan();
  t.is(
    (await story.run()).state,
    'COMPLETED',
    JSON.stringify([...story.operations.values()].map(({ reason, details }) => [reason, details])),
  );
  t.is(await xlmOf(VAULT), 5n * XLM + 2n * 49n * XLM);
  for (const index of DEPOSITS) t.is(await xlmOf(story.addressOf(index)), XLM, 'the reserve');
  const paid = DEPOSITS.reduce((sum, index) => sum + story.operationAt(index).paid!, 0n);
  t.is(await xlmOf(story.tank), 10n * XLM - paid);
  t.is(story.edge.signatures(), 2);
});

test('treasury S13: without its line the treasury takes nothing, with it the tokens come home', async (t) => {
  const told = { deposits: DEPOSITS.map((index) => ({ index, credited: 7n * XLM })) };
  const open = (treasuryOpens: boolean) => {
    const first = worldOf();
    const world = worldOf({ ...told, token: first.token.contract });
    const { story, pay, act, ledger, token, payer } = world;
    pay(story.tank, 10n * XLM);
    settle(ledger, payer, [creation(VAULT, 10n * XLM)]);
    if (treasuryOpens) settle(ledger, TREASURY, [opening(token.contract)]);
    for (const index of DEPOSITS) {
      pay(story.addressOf(index), 3n * XLM);
      settle(ledger, act(index), [opening(token.contract)]);
      settle(ledger, payer, [payment(story.addressOf(index), 7n * XLM, token.contract)]);
    }
    return world;
  };
  const closed = open(false);
  const { addresses } = await closed.story.plan();
  t.true(addresses.every(({ reason }) => reason === 'destination_not_ready'));
  t.is(closed.story.job, null);
  const { story, usdcOf } = open(true);
  await story.plan();
  t.is(
    (await story.run()).state,
    'COMPLETED',
    JSON.stringify([...story.operations.values()].map(({ reason, details }) => [reason, details])),
  );
  t.is(await usdcOf(VAULT), 14n * XLM);
});

test('treasury W2, E2: the id of a muxed treasury is a part of its address, also where its account is made', async (t) => {
  const treasuries = new Map([['xlm', [{ address: VAULT, tag: '7', isOfOneChain: true }]]] as const);
  for (const isThere of [true, false]) {
    const { story, pay, xlmOf } = worldOf({ tag: '7', edge: { treasuries } });
    pay(story.tank, 10n * XLM);
    if (isThere) pay(VAULT, 5n * XLM);
    for (const index of DEPOSITS) pay(story.addressOf(index), 50n * XLM);
    await story.plan();
    t.is(
      (await story.run()).state,
      'COMPLETED',
      JSON.stringify([...story.operations.values()].map(({ reason, details }) => [reason, details])),
    );
    t.is(await xlmOf(VAULT), (isThere ? 5n * XLM : 0n) + 2n * 49n * XLM);
    const paid = [...story.withdrawals.values()].map(({ unsigned: { payload } }) => {
      const { operation, memoId } = (decodePayload(payload) as DecodedPayload & { ok: true }).payload.transaction;
      return operation.kind === 'payment' ? [operation.to.id, memoId] : [operation.kind, memoId];
    });
    t.true(paid.some(([id, memo]) => id === '7' && memo === null));
    t.is(
      paid.some(([kind, memo]) => kind === 'create_account' && memo === '7'),
      !isThere,
    );
  }
});

test('treasury K17, S13: a line that its issuer froze is skipped, a treasury that its issuer does not let is not ready; no failure of the policy', async (t) => {
  for (const frozen of ['a sender', 'the treasury']) {
    const deposits = DEPOSITS.map((index) => ({ index, credited: 7n * XLM }));
    const { story, pay, act, ledger, token, payer, usdcOf } = worldOf({ deposits, token: worldOf().token.contract });
    pay(story.tank, 10n * XLM);
    settle(ledger, payer, [creation(VAULT, 10n * XLM)]);
    settle(ledger, TREASURY, [opening(token.contract)]);
    for (const index of DEPOSITS) {
      pay(story.addressOf(index), 3n * XLM);
      settle(ledger, act(index), [opening(token.contract)]);
      settle(ledger, payer, [payment(story.addressOf(index), 7n * XLM, token.contract)]);
    }
    const holder = frozen === 'a sender' ? story.addressOf(1) : VAULT;
    ledger.state.put({ ...ledger.state.line(holder, token.contract)!, flags: LINE_FLAGS.maintain });
    ledger.close();
    await story.plan();
    t.is((await story.run()).state, 'COMPLETED', frozen);
    t.is(story.operationAt(1).reason, frozen === 'a sender' ? 'token_frozen' : 'destination_not_ready');
    t.is(await usdcOf(VAULT), frozen === 'a sender' ? 7n * XLM : 0n);
  }
});

test('treasury S17, 5.3: a node that dies anywhere leaves a job that ends, and all of it comes home once', async (t) => {
  let told: ReturnType<typeof worldOf>;
  const deaths = await dieEverywhere(
    (diesAt) => {
      told = worldOf({ diesAt });
      told.pay(told.story.tank, 10n * XLM);
      told.pay(VAULT, 5n * XLM);
      for (const index of DEPOSITS) told.pay(told.story.addressOf(index), 50n * XLM);
      return told.story;
    },
    async (story, diesAt) => {
      for (const index of DEPOSITS) {
        const { state, reason } = story.operationAt(index);
        t.is(state, 'CONFIRMED', `${diesAt} ${reason}`);
      }
      t.is(await told.xlmOf(VAULT), 5n * XLM + 2n * 49n * XLM, String(diesAt));
    },
  );
  t.true(deaths >= 30, `${deaths} deaths`);
});
