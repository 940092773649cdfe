/**
 * Two replicas of one edge, each a process of its own, share an EDGE_SPEND_LEDGER; each hears another story of one
 * cloud (found F1, F3, F7): the same id with another payload, another id for the same wish, one of them that the first
 * failed. Whatever is told, one payment has at most one signature that can land, and who was told a lie says so.
 */
import test, { type ExecutionContext } from 'ava';
import { newId } from '../../../protocol/node/ids.ts';
import type { BuiltJson } from '../../../protocol/schema/transactions.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { startEdgeProcess, type EdgeProcess } from '../../support/edge/edge-process.ts';
import { eventually, mintIn, type EdgeReply } from '../../support/edge/edges.ts';
import {
  askedOf,
  builtOf,
  FAMILY_CHAINS,
  recordOf,
  unsignedFor,
  type FamilyChain,
  type FamilyWish,
} from '../../support/edge/families.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { startReceiver, type TestReceiver } from '../../support/edge/receivers.ts';
import { newSpendDatabase } from '../../support/edge/spend-database.ts';

interface Replica {
  readonly edge: EdgeProcess;
  /** What the one cloud tells this replica. */
  readonly cloud: HostileCloud;
}

interface Pair {
  readonly first: Replica;
  readonly second: Replica;
  readonly receiver: TestReceiver;
}

/** Two processes, each with a data directory and a stream of its own. `place`: where they count together. */
async function startPair(t: ExecutionContext, place: string): Promise<Pair> {
  const receiver = await startReceiver(t);
  const start = async (): Promise<Replica> => {
    const cloud = await HostileCloud.start(),
      dataDir = newDirectory(),
      localKey = mintIn(dataDir, 'live');
    t.teardown(() => cloud.close());
    const edge = await startEdgeProcess(t, {
      cloudUrl: cloud.url,
      dataDir,
      localKey,
      env: { EDGE_CHAINS: FAMILY_CHAINS.join(), EDGE_SPEND_LEDGER: place },
    });
    await eventually('it leads', () => edge.output().includes('"welcomed"'));
    return { edge, cloud };
  };
  return { receiver, first: await start(), second: await start() };
}

async function build({ edge, cloud }: Replica, wish: FamilyWish, told: BuiltJson): Promise<EdgeReply> {
  cloud.on('POST /v1/transactions/unsigned', () => ({ data: told, status: 201 }));
  return edge.ask('POST', '/v1/transactions/unsigned', askedOf(wish));
}

const broadcast = ({ edge }: Replica, { id }: BuiltJson) => edge.ask('POST', `/v1/transactions/${id}/broadcast`);

const payloadsOf = ({ first, second }: Pair): Set<string> =>
  new Set([first, second].flatMap(({ cloud }) => cloud.submitted.map(({ signedPayload }) => signedPayload)));

const alarmsOf = ({ edge }: Replica): number => edge.output().split('"alarm":true').length - 1;

/** Amounts differ, so that each story is a payment of its own. */
let stories = 0;
const wishOf = (chain: FamilyChain): FamilyWish => {
  stories += 1;
  return {
    chain,
    amount:
      { btc: 20_000n, eth: 10n ** 16n, tron: 3_000_000n, sol: 50_000_000n, xrp: 2_000_000n, xlm: 10_000_000n }[chain] +
      BigInt(stories),
  };
};

/** What is told: `[to the first, to the second]`. Variants differ in counter or block hash, so that both could land. */
type Story = (wish: FamilyWish, ids: readonly [string, string]) => Promise<readonly [BuiltJson, BuiltJson]>;

const STORIES: readonly (readonly [string, Story])[] = [
  [
    'one id, another counter or block hash',
    async (wish, [id]) => [builtOf(await unsignedFor(wish, 0), id), builtOf(await unsignedFor(wish, 1), id)],
  ],
  [
    'another id for the same wish, another counter or block hash',
    async (wish, [one, other]) => [
      builtOf(await unsignedFor(wish, 2), one),
      builtOf(await unsignedFor(wish, 3), other),
    ],
  ],
  [
    'another id for the same wish, the same payload',
    async (wish, [one, other]) => {
      const unsigned = await unsignedFor(wish, 4);
      return [builtOf(unsigned, one), builtOf(unsigned, other)];
    },
  ],
];

for (const place of ['a database', 'a directory'] as const) {
  test.serial(
    `found F7: two processes that share ${place} and hear different stories sign one payment once`,
    async (t) => {
      t.timeout(300_000);
      const pair = await startPair(t, place === 'a database' ? await newSpendDatabase(t) : newDirectory()),
        { first, second, receiver } = pair;
      for (const chain of FAMILY_CHAINS) {
        for (const [name, story] of STORIES) {
          const wish = wishOf(chain),
            before = payloadsOf(pair).size;
          const [one, other] = await story(wish, [newId('txn', Date.now()), newId('txn', Date.now() + 1)]);
          const built = [await build(first, wish, one), await build(second, wish, other)];
          t.deepEqual(
            built.map(({ status }) => status),
            [201, 201],
            built.map(({ text }) => text).join('\n'),
          );
          const answers = await Promise.all([
            broadcast(first, one),
            broadcast(second, other),
            broadcast(first, one),
            broadcast(second, other),
          ]);
          const what = `${chain}: ${name}: ${answers.map(({ status, text }) => `${status} ${text}`).join('\n')}`;
          t.is(payloadsOf(pair).size - before, 1, what);
          t.true(
            answers.some(({ status }) => status === 200),
            what,
          );
          for (const { status, error } of answers) {
            if (status !== 200) t.true(['CONFLICT', 'SIGNED_BATCH_REJECTED'].includes(error!.code), what);
          }
        }

        // One is told that it failed: by an event over the stream, by an answer, by a refusal of the bytes.
        const wish = wishOf(chain),
          told = builtOf(await unsignedFor(wish, 5));
        await build(first, wish, told);
        t.is((await broadcast(first, told)).status, 200);
        const { txid } = first.cloud.submitted.at(-1)!,
          hits = receiver.hits.length,
          signed = payloadsOf(pair).size;
        const failed = {
          event: 'withdrawal_failed',
          data: { transactionId: told.id, txid, height: null, failure: { code: 'CHAIN_REJECTED', reason: 'x' } },
        };
        await second.cloud.deliver([
          {
            deliveryId: newId('dlv', Date.now()),
            attempt: 1,
            url: receiver.url,
            headers: {},
            body: JSON.stringify(failed),
            timeoutMs: 5_000,
          },
        ]);
        await eventually('the event is told', () => receiver.hits.length > hits || second.cloud.attempts.length > 0);
        second.cloud.on(`GET /v1/transactions/${told.id}`, () => ({ data: recordOf(told, 'failed', txid) }));
        await second.edge.ask('GET', `/v1/transactions/${told.id}`);
        for (const [variant, replica] of [
          [6, second],
          [7, first],
        ] as const) {
          const again = builtOf(await unsignedFor(wish, variant), newId('txn', Date.now()));
          t.is((await build(replica, wish, again)).status, 201);
          const answer = await broadcast(replica, again);
          // On btc the same coins are spent: both exclude each other.
          if (chain === 'btc' && answer.status === 200) continue;
          t.is(answer.error?.details['reason'], 'equal_payment_signed', `${chain}: ${answer.text}`);
          t.is(payloadsOf(pair).size, signed, chain);
        }
      }
      t.true(alarmsOf(first) + alarmsOf(second) > 0, 'the lies are seen');
    },
  );
}
