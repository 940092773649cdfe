/** found part 2: a block of the company's own node is asked for once, while it is read too, and few at a time. */
import test from 'ava';
import { ChainUnavailable, type Block, type Transfer } from '../../../chains/chain.ts';
import type { OwnNode, OwnNodes } from '../../../edge/signing/own-nodes.ts';
import { createDepositCheck, takenKeysIn } from '../../../edge/webhooks/deposit-check.ts';
import { eventId } from '../../../protocol/node/ids.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { newStorage } from '../../support/edge/disk.ts';
import { registryIn } from '../../support/edge/registry.ts';

const TOKENS = registryIn().catalogueOf,
  SHOP = '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0';
const hashOf = (height: number) => `0x${height.toString(16).padStart(64, 'b')}`,
  txidOf = (height: number, place: number) => `0x${(height * 1_000 + place).toString(16).padStart(64, '7')}`;
const paid = (height: number, place: number) =>
  ({
    ...{ txid: txidOf(height, place), outputIndex: -1, to: SHOP, amount: 5n, decimals: 18 },
    ...{ tokenContract: null, tokenSymbol: 'ETH', tag: null },
  }) as unknown as Transfer;

const confirmed = (chain: Chain, height: number, place: number) => {
  const txid = txidOf(height, place),
    fact = { chain, txid, outputIndex: -1, height, blockHash: hashOf(height), incarnation: 1 };
  return JSON.stringify({
    event: 'deposit_confirmed',
    id: eventId(chain, txid, -1, 1, 'deposit_confirmed'),
    ...{ environment: 'live', confirmations: 12, threshold: 12, timestamp: '2026-01-01T00:00:00.000Z' },
    data: {
      ...{ depositId: 'dep_1', address: SHOP, amount: '5', amountFormatted: '0.000000000000000005', decimals: 18 },
      ...{ tokenContract: null, tokenSymbol: 'ETH', userRef: null, tag: null, chainTag: null },
      ...fact,
    },
  });
};

/** A node that counts what it is asked for; blocks are answered when the test says so. */
function countingNode() {
  const reads: string[] = [],
    held: (() => void)[] = [];
  const seen = { most: 0, failing: new Set<number>() };
  let running = 0;
  const clientOf = (chain: Chain) => ({
    checkIdentity: async () => undefined,
    getHead: async () => ({ height: 10_000, hash: 'h', finalizedHeight: null }),
    getBlockHash: async (height: number) => hashOf(height),
    getBlock: async (height: number): Promise<Partial<Block>> => {
      reads.push(`${chain} ${height}`);
      running += 1;
      seen.most = Math.max(seen.most, running);
      await new Promise<void>((resolve) => held.push(resolve));
      running -= 1;
      if (seen.failing.delete(height)) throw new ChainUnavailable(chain, 'away');
      return { height, hash: hashOf(height) };
    },
  });
  const nodes: OwnNodes = {
    has: () => true,
    close: async () => undefined,
    of: async (chain) =>
      ({
        network: { slug: chain, threshold: 12, gate: { kind: 'depth' } },
        module: {
          transfersIn: (_: unknown, { height }: Block) => ({ transfers: [0, 1, 2].map((n) => paid(height, n)) }),
        },
        client: clientOf(chain),
      }) as unknown as OwnNode,
  };
  const check = createDepositCheck({
    ...{ isLentAt: () => false, catalogueOf: TOKENS, nodes, environment: 'live', monotonicMs: () => 0 },
    keys: takenKeysIn(newStorage()),
  });
  /** Answers until all are decided. */
  const answered = async <T>(asked: Promise<T>): Promise<T> => {
    let isDone = false;
    const done = asked.finally(() => (isDone = true));
    while (!isDone) {
      held.shift()?.();
      await new Promise(setImmediate);
    }
    return done;
  };
  return { check, reads, seen, answered };
}

const HEIGHTS = Array.from({ length: 40 }, (_, at) => 100 + at);

test('found: deliveries of more blocks than are kept ask for each block once, and for eight at a time', async (t) => {
  const { check, reads, seen, answered } = countingNode();
  const bodies = [0, 1, 2].flatMap((place) => HEIGHTS.map((height) => confirmed('eth', height, place)));
  const doubts = await answered(Promise.all(bodies.map((body) => check.doubt(body))));
  t.deepEqual(new Set(doubts), new Set([null]));
  t.deepEqual(
    reads,
    HEIGHTS.map((height) => `eth ${height}`),
  );
  t.is(seen.most, 8);
});

test('found: a block that could not be read is asked for again, and those that wait behind it come to their turn', async (t) => {
  const { check, reads, seen, answered } = countingNode();
  seen.failing = new Set(HEIGHTS.slice(0, 9));
  const ask = () => answered(Promise.all(HEIGHTS.map((height) => check.doubt(confirmed('eth', height, 0)))));
  const first = await ask();
  t.is(first.filter((doubt) => doubt === 'no_answer').length, 9);
  t.is(first.filter((doubt) => doubt === null).length, 31);
  t.is(reads.length, 40);
  t.deepEqual(new Set(await ask()), new Set([null]));
});

test('found: the blocks of one chain hold up no other', async (t) => {
  const { check, reads, answered } = countingNode();
  const bodies = [
    ...HEIGHTS.map((height) => confirmed('eth', height, 0)),
    ...HEIGHTS.slice(0, 2).map((height) => confirmed('base', height, 1)),
  ];
  const all = Promise.all(bodies.map((body) => check.doubt(body)));
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  t.is(reads.filter((read) => read.startsWith('eth')).length, 8, 'the node has not answered yet');
  t.is(reads.filter((read) => read.startsWith('base')).length, 2);
  t.deepEqual(new Set(await answered(all)), new Set([null]));
});
