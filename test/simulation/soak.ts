/**
 * The simulator as a command: `npm run soak -- --seeds 500 --from 1 [--steps 500] [--sql]`. One line a seed, and the
 * last line is `N passed, N failed`. A seed that failed is told again, alone and with what happened, by `--seeds 1
 * --from SEED`. `--sql` tells the stories over the real functions, on the PostgreSQL of a test run, and a history of
 * the watchers with each. `--cluster` tells those of three real nodes (test/support/cluster), for `--seconds` each.
 * `--mutations 80000` changes so many unsigned payloads of six families at random instead, one line a family.
 * `--properties` runs the files of `test/` that have properties, each seed once, and prints what failed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openCluster, type TestCluster } from '../support/cluster/cluster.ts';
import { playStory } from '../support/cluster/play.ts';
import { mutateAll } from '../support/edge/mutations.ts';
import { seeded } from '../support/seeded.ts';
import { runSqlHistory } from './sql-history.ts';
import { tellSqlStory } from './sql-story.ts';
import { runStory, type Story } from './story.ts';

const STEPS = 500;
const WRONG_SHOWN = 5;

function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[0-9]{1,9}$/.test(text)) throw new RangeError(`--${name} must be a whole number`);
  return Number(text);
}

function lineOf({ seed, violation, digest, minutes, events, counts }: Story): string {
  const { published, attempts, signatures, epoch } = counts;
  const lived = `${Math.round(minutes)} min, ${events} events, ${published} published, ${attempts} attempts, ${signatures} signatures, epoch ${epoch}`;
  return `seed ${seed}  ${violation === null ? 'passed' : `FAILED ${violation.text}`}  (${lived}; ${digest.slice(0, 12)})`;
}

/** Answers how many seeds failed. */
async function tellClusterStories({
  from,
  seeds,
  seconds,
}: Record<'from' | 'seeds' | 'seconds', number>): Promise<number> {
  let failed = 0;
  let cluster: TestCluster | null = null;
  try {
    for (let seed = from; seed < from + seeds; seed += 1) {
      cluster ??= await openCluster(seeded(seed));
      const { problems, faults, counts, evidence } = await playStory(cluster, { seed, playMs: seconds * 1_000 });
      process.stdout.write(
        `seed ${seed}  ${problems.length === 0 ? 'passed' : 'FAILED'}  (${counts.asked} asked, ${counts.unknown} unknown, ${counts.payments} payments; ${faults.join(', ')})\n`,
      );
      if (problems.length === 0) continue;
      failed += 1;
      for (const problem of problems.slice(0, WRONG_SHOWN)) process.stdout.write(`  ${problem}\n`);
      process.stdout.write(`  see ${evidence}\n`);
      // What one story broke is no beginning for the next.
      await cluster.close();
      cluster = null;
    }
  } finally {
    await cluster?.close();
  }
  return failed;
}

/** Answers how many mutations were signed although something else moves. */
async function tellMutations(count: number, seed: number): Promise<number> {
  let wrongOnes = 0;
  for await (const { chain, tried, refused, same, wrong } of mutateAll(count, seed)) {
    wrongOnes += wrong.length;
    process.stdout.write(
      `${chain.padEnd(5)} ${tried} tried, ${refused} refused, ${same} signed that move the same, ${wrong.length} WRONG\n`,
    );
    for (const one of wrong) process.stdout.write(`  ${one}\n`);
  }
  return wrongOnes;
}

/** Answers with how many seeds a property failed. Integration, scenarios and browsers are left to `npm test`. */
async function tellProperties(from: number, seeds: number): Promise<number> {
  const files = globSync('test/{actors,unit,simulation}/**/*.test.ts').filter((file) =>
    readFileSync(file, 'utf8').includes("from 'fast-check'"),
  );
  let failed = 0;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const ava = spawn('node_modules/.bin/ava', ['--timeout', '60m', ...files], {
      env: { ...process.env, FLOCK_PROPERTY_SEED: String(seed) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    ava.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = (await once(ava, 'close')) as [number | null];
    if (code !== 0) failed += 1;
    process.stdout.write(`seed ${seed}  ${code === 0 ? 'passed' : `FAILED\n${said}`}\n`);
  }
  return failed;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string' },
      from: { type: 'string' },
      steps: { type: 'string' },
      sql: { type: 'boolean', default: false },
      cluster: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      mutations: { type: 'string' },
      properties: { type: 'boolean', default: false },
    },
  });
  const seeds = wholeNumber('seeds', values.seeds, 1),
    from = wholeNumber('from', values.from, 1),
    steps = wholeNumber('steps', values.steps, STEPS);
  if (values.mutations !== undefined)
    return (await tellMutations(wholeNumber('mutations', values.mutations, 0), from)) === 0 ? 0 : 1;
  if (values.properties) {
    const failed = await tellProperties(from, seeds);
    process.stdout.write(`${seeds - failed} passed, ${failed} failed\n`);
    return failed === 0 ? 0 : 1;
  }
  if (values.cluster) {
    const failed = await tellClusterStories({ from, seeds, seconds: wholeNumber('seconds', values.seconds, 4) });
    process.stdout.write(`${seeds - failed} passed, ${failed} failed\n`);
    return failed === 0 ? 0 : 1;
  }
  let failed = 0;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const story = await (values.sql ? tellSqlStory : runStory)({ seed, steps });
    const watched = values.sql
      ? await runSqlHistory({ seed, steps, liar: true, unreadable: true, intruder: true })
      : [];
    if (story.violation !== null || watched.length > 0) failed += 1;
    if (story.violation !== null && seeds === 1) process.stdout.write(`${story.lines.join('\n')}\n`);
    process.stdout.write(`${lineOf(story)}\n`);
    if (watched.length > 0)
      process.stdout.write(`seed ${seed}  FAILED watchers: ${watched.slice(0, WRONG_SHOWN).join('; ')}\n`);
  }
  process.stdout.write(`${seeds - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  const isAsk =
    error instanceof RangeError || (error as { code?: unknown }).code?.toString().startsWith('ERR_PARSE_ARGS') === true;
  if (!isAsk) throw error;
  process.stderr.write(
    `${(error as Error).message}\nusage: npm run soak -- [--seeds N] [--from SEED] [--steps N] [--sql] | --cluster [--seconds N] | --mutations N [--from SEED] | --properties [--seeds N] [--from SEED]\n`,
  );
  process.exitCode = 2;
}
