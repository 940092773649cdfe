/**
 * Stories of three nodes: clients ask any of them while nodes die and freeze, links are cut, PostgreSQL crashes, Redis
 * forgets; in the end what was acknowledged is there, once. `npm run soak -- --cluster --seeds 500 --from 1` tells
 * more.
 */
import test from 'ava';
import { openCluster } from '../support/cluster/cluster.ts';
import { FAULTS } from '../support/cluster/faults.ts';
import { playStory } from '../support/cluster/play.ts';
import { seeded } from '../support/seeded.ts';

const SEEDS = 2;
const FROM = Number(process.env['FLOCK_SEED'] ?? 1);
const PLAY_MS = 4_000;

test(`4.1 rows 1, 2, 4, 5, 7, 9–11, 18, 19, 22, 31 over three nodes: nothing acknowledged is lost, nothing is done twice, epochs only rise, everything comes to rest (seeds ${FROM} to ${FROM + SEEDS - 1})`, async (t) => {
  t.timeout(900_000);
  const cluster = await openCluster(seeded(FROM));
  t.teardown(() => cluster.close());
  t.true(Object.keys(FAULTS).length > 12);
  for (let seed = FROM; seed < FROM + SEEDS; seed += 1) {
    const { problems, faults, counts, evidence } = await playStory(cluster, { seed, playMs: PLAY_MS });
    t.log(`seed ${seed}: ${JSON.stringify(counts)}; ${faults.join('; ')}`);
    t.deepEqual(problems.slice(0, 10), [], `seed ${seed}; see ${evidence}`);
    t.true(counts.ok > 0 && faults.length > 0);
  }
});
