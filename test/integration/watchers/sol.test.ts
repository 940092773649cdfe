/** The watcher on Solana nodes: slots without blocks, forks of what is not final, nodes that lag and lie. */
import { base58 } from '@scure/base';
import test, { type ExecutionContext } from 'ava';
import type { ChainModule } from '../../../chains/chain.ts';
import { createClient } from '../../../chains/sol/client.ts';
import { sol } from '../../../chains/sol/index.ts';
import { solana, type SolNetwork } from '../../../chains/sol/network.ts';
import { pauseAfterLooks } from '../../../chain-watchers/outbound/outbound.ts';
import { oneEndpoint } from '../../../chain-watchers/follow/one-endpoint.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { RpcFailure, type SolNode } from '../../../developer/stand-ins/sol/stand-in.ts';
import { keyOf, openSol, SOL, type SolPeer } from '../../support/sol-node.ts';
import { ACCOUNT, watching, type Watching } from '../../support/watching.ts';

const SHOP = keyOf(2).address;
/** A short threshold, so that every depth below it is tried; the finality of the ledger is the same. */
const network: SolNetwork = { ...solana, threshold: 6 };

interface Watched {
  peer: SolPeer;
  self: Watching;
  told(): string[];
  tick(times?: number): Promise<void>;
}

async function watched(t: ExecutionContext, nodes = 1): Promise<Watched> {
  const peer = await openSol(t, { nodes, finalityDepth: 5, skipEvery: 5 });
  const { transport } = peer.clientOf(peer.endpoints);
  const client = createClient(network, transport, new Map());
  const witnesses =
    nodes === 1
      ? []
      : peer.endpoints.map((endpoint) => createClient(network, oneEndpoint('sol', transport, endpoint), new Map()));
  const self = watching({ client, witnesses, network, module: sol as ChainModule, ledger: 'sol' });
  self.store.addAddress(
    {
      addressKey: addressKeyOf('live', 'sol', base58.decode(SHOP)),
      addressId: 'adr_shop',
      accountId: ACCOUNT,
      address: SHOP,
      purpose: 'deposit',
    },
    'live',
    self.nowMs,
  );
  peer.ledger.mine(6);
  await self.watcher.tick();
  return {
    peer,
    self,
    told: () =>
      self.store
        .inbox(ACCOUNT)
        .map(({ fact }) => `${fact.kind} ${'deposit' in fact ? BigInt(fact.deposit.amount) / SOL : fact.txid}`),
    async tick(times = 1) {
      for (let done = 0; done < times; done += 1) {
        self.nowMs += 1_000;
        await self.watcher.tick();
      }
    },
  };
}

test('L18 L19 L20 a payment is seen when it is confirmed and matures when its slot is final, over slots that hold no block', async (t) => {
  const {
    peer: { ledger, pay },
    self,
    told,
    tick,
  } = await watched(t);
  pay(SHOP, 7n * SOL);
  ledger.mine(1, 9);
  await tick();
  t.deepEqual(told(), ['seen 7']);
  ledger.mine(4);
  await tick();
  t.deepEqual(told(), ['seen 7'], 'deep enough in slots, and not final yet');
  ledger.mine(1);
  await tick();
  t.deepEqual(told(), ['seen 7', 'matured 7']);
  t.like(await self.store.cursor('sol'), { height: ledger.tip.slot, hash: ledger.tip.hash });
  t.is((await self.store.coverage('sol')).unresolved.length, 0, 'a skipped slot is no hole');
});

for (const sameSlots of [false, true]) {
  test(`G15 G16 C3-30 C3-31 forks of every depth that is not final, ${sameSlots ? 'in the same slots' : 'in later slots'}: what is gone is reversed, what comes back is the same deposit`, async (t) => {
    for (let depth = 1; depth <= 4; depth += 1) {
      const {
        peer: { ledger, pay },
        self,
        told,
        tick,
      } = await watched(t);
      pay(SHOP, 7n * SOL);
      ledger.mine(depth);
      await tick();
      t.deepEqual(told(), ['seen 7'], `depth ${depth}`);
      ledger.reorg(depth, { sameSlots });
      ledger.mine(depth + 1);
      await tick(3);
      t.deepEqual(told(), ['seen 7', 'orphaned 7'], `depth ${depth}`);
      ledger.mine(8);
      await tick(2);
      t.deepEqual(told(), ['seen 7', 'orphaned 7'], 'never confirmed');
      t.is(self.store.facts('sol').length, 1);
    }
  });
}

test('G15 G2 C2-17 C2-18 a payment that another fork holds too keeps its key: one fact, matured once, in the block that is final', async (t) => {
  const {
    peer: { ledger, pay },
    self,
    told,
    tick,
  } = await watched(t);
  ledger.mine(2);
  pay(SHOP, 7n * SOL);
  ledger.mine(2);
  await tick();
  ledger.reorg(2, { resubmit: true });
  ledger.mine(3);
  await tick(3);
  ledger.mine(6);
  await tick(2);
  const [fact] = self.store.facts('sol');
  t.is(self.store.facts('sol').length, 1);
  t.is(fact!.status, 'matured');
  t.is(fact!.transfer.blockHash, ledger.transaction(fact!.transfer.txid)!.block.hash);
  t.is(told().filter((line) => line === 'matured 7').length, 1);
});

const refuse = (node: SolNode, paying: number, code: number) => {
  node.lie = (method, [slot], honest) => {
    if (method === 'getBlock' && slot === paying) throw new RpcFailure(code, `Slot ${paying} was skipped, or missing`);
    return honest();
  };
};

test('L19 C1-9 7.6 a block that a node calls skipped or missing, however often, waits; nothing behind it is taken in its place', async (t) => {
  for (const code of [-32_004, -32_007, -32_009, -32_015]) {
    const {
      peer: {
        ledger,
        pay,
        nodes: [node],
      },
      self,
      told,
      tick,
    } = await watched(t);
    pay(SHOP, 7n * SOL);
    ledger.mine();
    refuse(node!, ledger.tip.slot, code);
    ledger.mine(3);
    await tick(8);
    const before = ledger.block(ledger.tip.slot)!;
    t.deepEqual(told(), [], `${code}`);
    t.true((await self.store.cursor('sol'))!.height < before.slot);
    node!.lie = null;
    await tick(3);
    ledger.mine(7);
    await tick(3);
    t.deepEqual(told(), ['seen 7', 'matured 7'], `${code}`);
  }
});

test('G10 C1-4 a node that names wrong hashes or leaves payments out reverses and confirms nothing against two others', async (t) => {
  const {
    peer: { ledger, pay, nodes },
    told,
    tick,
  } = await watched(t, 3);
  nodes[0]!.lie = (method, _params, honest) => {
    const answer = honest();
    return method === 'getBlock'
      ? {
          ...(answer as object),
          blockhash: keyOf(77).address,
          ...('transactions' in (answer as object) ? { transactions: [] } : {}),
        }
      : answer;
  };
  for (let round = 1; round <= 4; round += 1) {
    pay(SHOP, BigInt(round) * SOL);
    ledger.mine();
    await tick(6);
  }
  t.deepEqual(
    told().filter((line) => line.startsWith('seen')),
    [1, 2, 3, 4].map((round) => `seen ${round}`),
  );
  t.false(told().some((line) => line.startsWith('orphaned')));
});

test('G10 1.7 C1-1 C1-14 nodes that lag, limit and die in turn: each payment is seen once and matured once', async (t) => {
  const {
    peer: { ledger, pay, nodes },
    told,
    tick,
  } = await watched(t, 3);
  for (let round = 1; round <= 9; round += 1) {
    const [bad] = [nodes[round % 3]!];
    if (round % 3 === 0) bad.lagBlocks = 4;
    else if (round % 3 === 1) bad.callsLeft = 0;
    else bad.dead = true;
    pay(SHOP, BigInt(round) * SOL);
    ledger.mine();
    await tick(2);
    Object.assign(bad, { lagBlocks: 0, callsLeft: null, dead: false });
  }
  ledger.mine(8);
  await tick(6);
  for (let round = 1; round <= 9; round += 1) {
    t.is(told().filter((line) => line === `seen ${round}`).length, 1, `${round}`);
    t.is(told().filter((line) => line === `matured ${round}`).length, 1, `${round}`);
  }
});

test('L31 the same bytes go out every two seconds for as long as they may land', (t) => {
  t.deepEqual(
    [1, 2, 9, 60].map((tries) => pauseAfterLooks(tries, solana)),
    [2_000, 2_000, 2_000, 2_000],
  );
});
