import test from 'ava';
import type { ChainClient } from '../../chains/chain.ts';
import { realJudge } from '../support/judge.ts';
import { runHistory, type HistoryOptions } from '../support/history.ts';
import { simulatedNetwork } from '../support/simulated-chain.ts';

const SEEDS = 150;
const STEPS = 70;
/** A planted bug must show within this many seeds. */
const PLANT_SEEDS = 40;

test('reliability 4.1-12 -13 -15 -16 -17: random reorgs, lag, lies, gaps and kills end with each payment credited exactly once', async (t) => {
  const fresh = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  t.log(`fresh seeds from ${fresh}`);
  for (const seed of [...Array(SEEDS).keys(), ...Array.from({ length: 20 }, (_, index) => fresh + index)]) {
    t.deepEqual(await runHistory({ seed, steps: STEPS }), [], `seed ${seed}`);
  }
});

test('the same histories under the real account: each payment credited exactly once, each event once (§3.6, I4, I6)', async (t) => {
  for (let seed = 0; seed < SEEDS; seed += 1)
    t.deepEqual(await runHistory({ seed, steps: STEPS, judge: realJudge }), [], `seed ${seed}`);
});

test('the same seed is the same history', async (t) => {
  const options: HistoryOptions = { seed: 7, steps: STEPS, plant: { takesTwice: true } };
  t.deepEqual(await runHistory(options), await runHistory(options));
});

/** What the checks say of the first seed that goes wrong, in this way where one is named. */
async function found(plant: HistoryOptions['plant'], way = /./): Promise<string | null> {
  for (let seed = 0; seed < PLANT_SEEDS; seed += 1) {
    const wrong = await runHistory({ seed, steps: STEPS, ...(plant === undefined ? {} : { plant }) });
    if (way.test(wrong.join('; '))) return wrong.join('; ');
  }
  return null;
}

/** A client with one method replaced. */
const with_ = (client: ChainClient, changed: Partial<ChainClient>): ChainClient =>
  new Proxy(client, {
    get: (target, name) =>
      Reflect.get(changed, name) ??
      (Reflect.get(target, name) as { bind?(to: unknown): unknown } | undefined)?.bind?.(target),
  });

test('planted: an unread block taken for an empty one loses a payment, and the check says so (C1-4, C1-6)', async (t) => {
  t.regex(
    (await found({
      client: (client) =>
        with_(client, {
          getBlock: async (height) => {
            try {
              return await client.getBlock(height);
            } catch (error) {
              const [hash, parentHash] = [await client.getBlockHash(height), await client.getBlockHash(height - 1)];
              if (hash === null || parentHash === null) throw error;
              return {
                height,
                hash,
                parentHash,
                parentHeight: height - 1,
                timeMs: null,
                raw: { payments: [], sent: [] },
              };
            }
          },
        }),
    })) ?? '',
    /is credited 0 instead of/,
  );
});

test('planted: a reorg that orphans nothing leaves a false credit, and the check says so (C2-17)', async (t) => {
  t.regex(
    (await found({
      store: (store) => ({
        ...store,
        recordReorg: (ledger, fork, head, branch) =>
          store.recordReorg(ledger, fork, head, [{ ...branch[0]!, unresolved: 'never resolved' }, ...branch.slice(1)]),
        unresolvedHeights: async () => [],
      }),
    })) ?? '',
    /not on the chain|credited/,
  );
});

test('planted: facts that an account takes twice are credited twice, and the check says so', async (t) => {
  t.regex((await found({ takesTwice: true })) ?? '', /seen twice|matured while/);
});

test('planted: a threshold that is one too low is seen at the moment of maturing (G18)', async (t) => {
  t.regex(
    (await found({ network: { ...simulatedNetwork, threshold: simulatedNetwork.threshold - 1 } })) ?? '',
    /matured too early/,
  );
});

test('planted: maturing without the re-read of G19 credits a replaced block, and the check says so', async (t) => {
  t.regex(
    (await found(
      {
        client: (client) =>
          with_(client, {
            getOutcome: async (txid) => ({
              txid,
              success: true,
              reason: null,
              fee: null,
              height: believed.height,
              hash: believed.hash,
            }),
            getBlockHash: async (height) => (believed.height === height ? believed.hash : client.getBlockHash(height)),
          }),
        store: (store) => ({
          ...store,
          immature: async (ledger, head, limit) => {
            const facts = (await store.immature(ledger, head, limit)).slice(0, 1);
            if (facts[0] !== undefined) Object.assign(believed, { height: facts[0].height, hash: facts[0].blockHash });
            return facts;
          },
        }),
      },
      /matured in a block/,
    )) ?? '',
    /matured in a block that is not on the chain/,
  );
});
const believed = { height: -1, hash: '' };

test('planted: a lost block record is a lost payment, and the check says so (C1-11)', async (t) => {
  let count = 0;
  t.regex(
    (await found({
      store: (store) => ({
        ...store,
        recordBlock: (ledger, record) => {
          count += 1;
          return store.recordBlock(ledger, count % 20 === 0 ? { ...record, transfers: [] } : record);
        },
      }),
    })) ?? '',
    /is credited 0 instead of/,
  );
});
