/** found G27: what the company's own node proves of signed bytes, and from which block on. */
import test from 'ava';
import { ChainUnavailable, MalformedReply, type Block, type Fate, type Unsigned } from '../../../chains/chain.ts';
import { createOwnFates, type SignedVersion } from '../../../edge/signing/own-fates.ts';
import type { OwnNode, OwnNodes } from '../../../edge/signing/own-nodes.ts';

const BLOCK_MS = 4_000,
  HEAD = 100_000,
  START_MS = 1_700_000_000_000;
const timeAt = (height: number) => START_MS + height * BLOCK_MS;
/** Signed when block 99,000 was the newest. */
const SIGNED_AT_MS = timeAt(99_000);

interface Node {
  readonly fate: Fate;
  readonly oldest?: number;
  readonly head?: number;
}

/** A node with a block every four seconds; `asked` collects where a fate was looked for from. */
function nodesOf({ fate, oldest = 0, head = HEAD }: Node, asked: number[] = []): OwnNodes {
  const client = {
    checkIdentity: async () => undefined,
    getHead: async () => ({ height: head, hash: 'h' }),
    nextHeight: async (height: number) => (height + 1 <= head ? height + 1 : null),
    getBlock: async (height: number): Promise<Partial<Block>> => {
      if (height < oldest) throw new ChainUnavailable('xrp', 'no ledger of that time');
      return { height, timeMs: timeAt(height) };
    },
    getFate: async ({ readAtHeight }: Unsigned) => {
      asked.push(readAtHeight);
      return fate;
    },
  };
  return {
    has: (chain) => chain === 'xrp',
    close: async () => undefined,
    of: async () => ({ network: { slug: 'xrp', blockTimeMs: BLOCK_MS, threshold: 1 }, client }) as unknown as OwnNode,
  };
}

const version = (readAtHeight: number, signedAtMs = SIGNED_AT_MS): SignedVersion => ({
  unsigned: { chain: 'xrp', readAtHeight } as Unsigned,
  txid: 'AA',
  signedAtMs,
});
const DEAD: Fate = { kind: 'dead', proof: 'in none of the ledgers' };

test('found G27: a death is looked for from a block that is older than the signature, whatever the cloud says it read', async (t) => {
  const asked: number[] = [];
  t.is(await createOwnFates(nodesOf({ fate: DEAD }, asked)).of('xrp', [version(98_999)]), 'dead');
  t.true(asked[0]! <= 99_000 - 150, 'ten minutes before the signature');
  for (const claimed of [99_700, HEAD, 10 ** 12]) {
    t.is(
      await createOwnFates(nodesOf({ fate: DEAD })).of('xrp', [version(claimed)]),
      null,
      `the cloud names ${claimed}, which came later`,
    );
  }
  t.is(
    await createOwnFates(nodesOf({ fate: DEAD })).of('xrp', [version(98_999), version(10 ** 12)]),
    null,
    'every version must be dead',
  );
});

test('found G27: a node that does not keep the time of the signature proves no death; a young chain is looked at from its beginning', async (t) => {
  t.is(await createOwnFates(nodesOf({ fate: DEAD, oldest: 98_900 })).of('xrp', [version(98_999)]), null);
  t.is(await createOwnFates(nodesOf({ fate: DEAD, oldest: 98_000 })).of('xrp', [version(98_999)]), 'dead');
  const asked: number[] = [];
  t.is(
    await createOwnFates(nodesOf({ fate: DEAD, head: 40 }, asked)).of('xrp', [version(10 ** 12, timeAt(1))]),
    'dead',
  );
  t.deepEqual(asked, [0]);
});

test('found G27: what is in a block is there, from wherever it was looked for', async (t) => {
  const included: Fate = {
    kind: 'included',
    height: 99_001,
    hash: 'h',
    outcome: { txid: 'AA', success: true, fee: 1n, reason: null },
  };
  t.deepEqual(await createOwnFates(nodesOf({ fate: included })).of('xrp', [version(10 ** 12)]), { landed: 'AA' });
  t.is(await createOwnFates(nodesOf({ fate: { kind: 'unknown', reason: '-' } })).of('xrp', [version(98_999)]), null);
  t.is(await createOwnFates(nodesOf({ fate: DEAD })).of('eth', [version(98_999)]), null, 'no node of that chain');
});

test("found: an answer of the customer's node that cannot be read proves nothing, and ends no broadcast", async (t) => {
  const nodes = nodesOf({ fate: DEAD }),
    node = await nodes.of('xrp');
  for (const method of ['checkIdentity', 'getHead', 'nextHeight', 'getBlock', 'getFate']) {
    const client = { ...node.client, [method]: () => Promise.reject(new MalformedReply('ledger', '{}')) };
    t.is(
      await createOwnFates({ ...nodes, of: async () => ({ ...node, client }) as unknown as OwnNode }).of('xrp', [
        version(98_999),
      ]),
      null,
      method,
    );
  }
});
