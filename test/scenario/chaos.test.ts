/**
 * Everything at once, for a while; `npm run chaos -- --seed N --seconds 600` plays longer and other seeds.
 */
import test from 'ava';
import { runChaos } from '../support/chaos/chaos.ts';

const SEED = Number(process.env.FLOCK_SEED ?? 20_261_128);
const SECONDS = Number(process.env.FLOCK_CHAOS_SECONDS ?? 40);

test(`found F50 F57 F70, reliability 4: nodes, processes, database and clocks fail at once; ledgers, API and webhooks agree (seed ${SEED}, ${SECONDS} s)`, async (t) => {
  t.timeout(SECONDS * 1_000 + 400_000);
  const { problems, traces, payments, withdrawals, deliveries, sabotage, refusals } = await runChaos({
    seed: SEED,
    seconds: SECONDS,
  });
  for (const line of traces) t.log(line);
  t.log(
    `${payments} payments, ${withdrawals} withdrawals, ${deliveries} deliveries; ${[...sabotage].map(([name, times]) => `${name} ${times}`).join(', ')}; builds refused: ${[...refusals].map(([why, times]) => `${why} ${times}`).join(', ') || 'none'}`,
  );
  t.deepEqual(problems.slice(0, 20), []);
  t.true(payments > 10 && withdrawals > 0 && sabotage.size > 0);
});
