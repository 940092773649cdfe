/** found F21: a movement that has two keys is credited under one of them, for ever. */
import test from 'ava';
import { ChainUnavailable, MalformedReply, type Block, type Transfer } from '../../../chains/chain.ts';
import type { OwnNode, OwnNodes } from '../../../edge/signing/own-nodes.ts';
import { StorageFailed } from '../../../edge/storage/failed.ts';
import { type Storage } from '../../../edge/storage/storage.ts';
import { createDepositCheck, judgeDelivery, takenKeysIn } from '../../../edge/webhooks/deposit-check.ts';
import { eventId } from '../../../protocol/node/ids.ts';
import { newStorage } from '../../support/edge/disk.ts';
import { registryIn } from '../../support/edge/registry.ts';

/** The same catalogue at each call, as an edge's registry gives it. */
const TOKENS = registryIn().catalogueOf;

const SHOP = '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0',
  TXID = `0x${'7'.repeat(64)}`,
  HASH = `0x${'b'.repeat(64)}`;
const internal = {
  txid: TXID,
  outputIndex: -2,
  to: SHOP,
  amount: 5n,
  decimals: 18,
  tokenContract: null,
  tokenSymbol: 'ETH',
  tag: null,
} as unknown as Transfer;

/** A node whose block 100 holds one internal payment, which an earlier version called -3. */
const nodes: OwnNodes = {
  has: () => true,
  close: async () => undefined,
  of: async () =>
    ({
      network: { slug: 'eth', threshold: 12, gate: { kind: 'depth' } },
      module: {
        transfersIn: () => ({ transfers: [internal] }),
        formerOutputIndex: ({ outputIndex }: Transfer) => outputIndex - 1,
      },
      client: {
        checkIdentity: async () => undefined,
        getHead: async () => ({ height: 200, hash: 'h', finalizedHeight: null }),
        getBlock: async (height: number): Promise<Partial<Block>> => ({ height, hash: HASH }),
        getBlockHash: async () => HASH,
      },
    }) as unknown as OwnNode,
};
const confirmed = (outputIndex: number) =>
  JSON.stringify({
    event: 'deposit_confirmed',
    id: eventId('eth', TXID, outputIndex, 1, 'deposit_confirmed'),
    environment: 'live',
    confirmations: 12,
    threshold: 12,
    timestamp: '2026-01-01T00:00:00.000Z',
    data: {
      depositId: 'dep_1',
      chain: 'eth',
      txid: TXID,
      outputIndex,
      address: SHOP,
      amount: '5',
      amountFormatted: '0.000000000000000005',
      decimals: 18,
      tokenContract: null,
      tokenSymbol: 'ETH',
      userRef: null,
      tag: null,
      chainTag: null,
      height: 100,
      blockHash: HASH,
      incarnation: 1,
    },
  });
const checkIn = (storage: Pick<Storage, 'one' | 'run'>) =>
  createDepositCheck({
    isLentAt: () => false,
    catalogueOf: TOKENS,
    nodes,
    environment: 'live',
    keys: takenKeysIn(storage),
    monotonicMs: () => 0,
  });

for (const [first, second] of [
  [-2, -3],
  [-3, -2],
] as const) {
  test(`found F21: told under ${first}, it leaves under ${second} no more, also after a restart`, async (t) => {
    const storage = newStorage();
    t.is(await checkIn(storage).doubt(confirmed(first)), null);
    const restarted = checkIn(storage);
    t.is(await restarted.doubt(confirmed(second)), 'no_such_movement');
    t.is(await restarted.doubt(confirmed(first)), null, 'a replay');
  });
}

test('found F21: while the disk takes no key the event waits', async (t) => {
  const full = {
    one: () => null,
    run: () => {
      throw new StorageFailed('disk_full');
    },
  };
  t.is(await checkIn(full).doubt(confirmed(-2)), 'no_answer');
});

for (const fault of [
  new MalformedReply('eth', 'a head without a height'),
  new RangeError('not a number'),
  new ChainUnavailable('eth', 'away'),
]) {
  test(`found: a node of the customer's that fails with ${fault.name} costs the deposit no attempt: it waits`, async (t) => {
    const broken: OwnNodes = {
      ...nodes,
      of: async (chain) =>
        ({
          ...(await nodes.of(chain)),
          client: { checkIdentity: async () => undefined, getHead: () => Promise.reject(fault) },
        }) as unknown as OwnNode,
    };
    const check = createDepositCheck({
      isLentAt: () => false,
      catalogueOf: TOKENS,
      nodes: broken,
      environment: 'live',
      keys: takenKeysIn(newStorage()),
      monotonicMs: () => 0,
    });
    let nowMs = 0;
    const alarms: unknown[] = [];
    const log = {
      info: () => undefined,
      warn: () => undefined,
      alarm: (_event: string, facts?: object) => alarms.push(facts),
      fault: () => undefined,
      alarms: 0,
    };
    const judged = await judgeDelivery(
      check,
      { deliveryId: 'dlv_1', body: confirmed(-2) },
      {
        log,
        timers: {
          pause: async (ms) => {
            nowMs += ms;
          },
        },
        monotonicMs: () => nowMs,
        isStopping: () => false,
      },
    );
    t.is(judged, 'later');
    t.is(alarms.length, fault instanceof ChainUnavailable ? 0 : 1);
  });
}
