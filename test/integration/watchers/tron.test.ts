/**
 * The watcher on the TRON ledger: the solidified gate, forks, failures after success, internal payments, flapping
 * nodes.
 */
import test from 'ava';
import type { ChainModule, Token } from '../../../chains/chain.ts';
import { bytesOf } from '../../../chains/tron/address.ts';
import { createClient } from '../../../chains/tron/client.ts';
import { tron } from '../../../chains/tron/index.ts';
import { tron as network } from '../../../chains/tron/network.ts';
import { addressWord, encodeTransfer } from '../../../chains/tron/trc20.ts';
import { oneEndpoint } from '../../../chain-watchers/follow/one-endpoint.ts';
import { createFailoverTransport } from '../../../chains/transport/failover.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { selectorOf } from '../../../developer/stand-ins/tron/machine.ts';
import type { PeerNode } from '../../../developer/stand-ins/tron/stand-in.ts';
import type { Trc20 } from '../../../developer/stand-ins/tron/world.ts';
import { deployToken, endpointOf, openStage, PAYER, SENDER, TRX, type Stage } from '../../support/tron-ledger.ts';
import { ACCOUNT, watching, type Watching } from '../../support/watching.ts';

interface Watched {
  readonly stage: Stage;
  readonly nodes: readonly PeerNode[];
  readonly self: Watching;
  tick(times?: number): Promise<void>;
  told(): string[];
}

async function watched({
  nodes: count = 2,
  token = false,
  reconcilePerBlock,
}: { nodes?: number; token?: boolean; reconcilePerBlock?: number } = {}): Promise<Watched & { token: Token }> {
  const stage = openStage(),
    nodes = [stage.node, ...Array.from({ length: count - 1 }, () => stage.standIn.openNode())];
  const deployed = deployToken(stage, { [PAYER.address]: 1_000n }),
    catalogue = token ? new Map([[deployed.contract, deployed]]) : new Map();
  let nowMs = 0;
  const transport = createFailoverTransport({
    chain: 'tron',
    endpoints: nodes.map(endpointOf),
    elapsedMs: () => (nowMs += 60_000),
    random: () => 0.5,
  });
  const client = createClient(network, transport, catalogue);
  const witnesses =
    count === 1
      ? []
      : nodes.map((node) => createClient(network, oneEndpoint('tron', transport, endpointOf(node)), catalogue));
  const self = watching({
    client,
    witnesses,
    network,
    module: tron as ChainModule,
    ledger: 'tron',
    catalogue,
    ...(reconcilePerBlock === undefined ? {} : { reconcilePerBlock }),
  });
  self.store.addAddress(
    {
      addressKey: addressKeyOf('live', 'tron', bytesOf(SENDER.address)),
      addressId: 'adr_1',
      accountId: ACCOUNT,
      address: SENDER.address,
      purpose: 'deposit',
    },
    'live',
    self.nowMs,
  );
  const tick = async (times = 1) => {
    for (let made = 0; made < times; made += 1) await self.watcher.tick();
  };
  stage.standIn.ledger.mine(1);
  await tick();
  const told = () =>
    self.store.inbox(ACCOUNT).map(({ fact }) => `${fact.kind} ${'deposit' in fact ? fact.deposit.amount : fact.txid}`);
  return { stage, nodes, self, tick, told, token: deployed };
}

const pay = ({ standIn }: Stage, amount: bigint) =>
  standIn.send(PAYER, { type: 'TransferContract', to: SENDER.address, amount });

test('6.4 G18 a deposit is seen at once and confirmed at 19, when it is in the solidified view at its height', async (t) => {
  const { stage, tick, told } = await watched();
  pay(stage, 7n);
  stage.standIn.ledger.mine(1);
  await tick();
  t.deepEqual(told(), ['seen 7']);
  stage.standIn.ledger.mine(17);
  await tick(2);
  t.deepEqual(told(), ['seen 7'], '18 deep');
  stage.standIn.ledger.mine(1);
  await tick(2);
  t.deepEqual(told(), ['seen 7', 'matured 7']);
});

test('6.4-2 depth alone never confirms: while the solidified head stands still, or cannot be asked, a deposit waits', async (t) => {
  const { stage, nodes, self, tick, told } = await watched();
  pay(stage, 7n);
  for (const { knobs } of nodes) knobs.solidLagBlocks = 100;
  stage.standIn.ledger.mine(60);
  await tick(3);
  t.deepEqual(told(), ['seen 7']);
  for (const { knobs } of nodes) {
    knobs.solidLagBlocks = 0;
    knobs.missing.add('walletsolidity/getblock').add('walletsolidity/getnowblock');
  }
  await tick(3);
  t.deepEqual(told(), ['seen 7']);
  for (const { knobs } of nodes) knobs.missing.clear();
  self.nowMs += 60_000; // where nothing moves, heads are asked for again after a while
  await tick(3);
  t.deepEqual(told(), ['seen 7', 'matured 7']);
});

test('G15 G16 forks of every depth above the solidified head: reversed once, seen again where it is paid again', async (t) => {
  for (const depth of [1, 2, 9, 18]) {
    for (const transactions of ['lost', 'waiting'] as const) {
      const { stage, tick, told, self } = await watched(),
        { ledger } = stage.standIn;
      const txid = pay(stage, 7n);
      ledger.mine(depth);
      await tick();
      t.deepEqual(told(), ['seen 7']);
      ledger.reorg(depth, transactions);
      await tick(3);
      t.deepEqual(told(), ['seen 7', 'orphaned 7'], `${depth} ${transactions}`);
      ledger.mine(20);
      await tick(4);
      const facts = self.store.facts('tron');
      t.deepEqual(
        facts.map(({ transfer, status }) => [transfer.txid, status]),
        [[txid, transactions === 'lost' ? 'orphaned' : 'matured']],
        `${depth} ${transactions}`,
      );
    }
  }
});

test('C2-22 java-tron#4982 a token transfer that succeeded in one block and fails in the one that replaces it is never confirmed', async (t) => {
  const { stage, tick, told, token } = await watched({ token: true }),
    { ledger } = stage.standIn;
  stage.standIn.send(PAYER, {
    type: 'TriggerSmartContract',
    contract: token.contract,
    data: encodeTransfer(SENDER.address, 100n),
  });
  ledger.mine(1);
  await tick();
  t.deepEqual(told(), ['seen 100']);
  ledger.edit((world) => {
    (world.contracts.get(token.contract) as Trc20).paused = true;
  });
  ledger.reorg(1, 'waiting');
  ledger.mine(25);
  await tick(4);
  t.deepEqual(told(), ['seen 100', 'orphaned 100']);
});

test('C1-1 BTCPayServer.Plugins.USDt#52 nodes that come and go: a token paid meanwhile is found from the last completed height', async (t) => {
  const { stage, nodes, tick, told, token, self } = await watched({ token: true }),
    { ledger } = stage.standIn;
  for (const { knobs } of nodes) knobs.down = true;
  stage.standIn.send(PAYER, {
    type: 'TriggerSmartContract',
    contract: token.contract,
    data: encodeTransfer(SENDER.address, 100n),
  });
  ledger.mine(40);
  for (let round = 0; round < 6; round += 1) {
    nodes[round % 2]!.knobs.down = round % 3 !== 2;
    await tick();
  }
  for (const { knobs } of nodes) knobs.down = false;
  await tick(4);
  t.deepEqual(told(), ['seen 100', 'matured 100']);
  t.is((await self.store.coverage('tron')).completeHeight, ledger.headHeight(), 'no height is left out');
});

test('T11 C1-6 a node that answers no infos makes no empty block: the other one tells, and alone it stops the cursor', async (t) => {
  const { stage, nodes, self, tick, told } = await watched(),
    [first, second] = nodes;
  first!.knobs.keepsInfos = false;
  for (let round = 1; round <= 4; round += 1) {
    pay(stage, BigInt(round));
    stage.standIn.ledger.mine(1);
    await tick(2);
  }
  t.deepEqual(told(), [], 'two are alive, and one alone proves the blocks');
  for (let passed = 0; passed < 8; passed += 1) {
    self.nowMs += 10_000;
    await tick();
  }
  t.deepEqual(told().sort(), ['seen 1', 'seen 2', 'seen 3', 'seen 4'], 'it proved none for 30 s: it is not waited for');
  second!.knobs.down = true;
  pay(stage, 5n);
  stage.standIn.ledger.mine(1);
  await tick(6);
  t.is(told().length, 4);
  first!.knobs.keepsInfos = true;
  for (let made = 0; made < 6; made += 1) {
    self.nowMs += 60_000;
    await tick();
  }
  t.true(told().includes('seen 5'));
});

test('T5 V7 internal TRX: credited where it is recorded; where it is not, growth is found by balances at a block and shown, not credited', async (t) => {
  const payOut = (stage: Stage, amount: bigint) => {
    const payout = stage.standIn.deploy('payout', { kind: 'payout' });
    stage.standIn.send(PAYER, {
      type: 'TriggerSmartContract',
      contract: payout,
      data: selectorOf('payOut(address)') + addressWord(SENDER.address),
      callValue: amount,
    });
    stage.standIn.ledger.mine(1);
  };
  const open = await watched({ reconcilePerBlock: 5 });
  payOut(open.stage, 3n * TRX);
  await open.tick();
  t.deepEqual(open.told(), [`seen ${3n * TRX}`]);
  const { stage, nodes, self, tick, told } = await watched({ reconcilePerBlock: 5 });
  for (const { knobs } of nodes) Object.assign(knobs, { savesInternal: false, keepsBalances: true });
  stage.standIn.setAccount(SENDER.address, { balance: 0n });
  payOut(stage, 3n * TRX);
  for (let made = 0; made < 40; made += 1) {
    stage.standIn.ledger.mine(1);
    self.nowMs += 60_000;
    await tick();
  }
  t.deepEqual(told(), []);
  t.like((await self.audit.discrepancies('tron', 5))[0], {
    kind: 'unattributed',
    amount: 3n * TRX,
    address: SENDER.address,
    expected: 0n,
    found: 3n * TRX,
  });
});
