/**
 * `npm run chaos -- [--seeds N] [--from SEED] [--seconds N]`: the chaos run by hand; the last line is `N passed, N
 * failed`.
 */
import { parseArgs } from 'node:util';
import { runChaos } from './chaos.ts';

const USAGE = 'usage: npm run chaos -- [--seeds N] [--from SEED] [--seconds N]';

function wholeNumber(name: string, text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new RangeError(`--${name} must be a whole number\n${USAGE}`);
  return Number(text);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1' },
      from: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '600' },
    },
  });
  const [seeds, from, seconds] = [
    wholeNumber('seeds', values.seeds),
    wholeNumber('from', values.from),
    wholeNumber('seconds', values.seconds),
  ];
  let failed = 0;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const { problems, traces, payments, withdrawals, deliveries, sabotage, refusals } = await runChaos({
      seed,
      seconds,
    });
    if (problems.length > 0) failed += 1;
    process.stdout.write(
      `seed ${seed}  ${problems.length === 0 ? 'passed' : 'FAILED'}  (${payments} payments, ${withdrawals} withdrawals, ${deliveries} deliveries; ${[...sabotage].map(([name, times]) => `${name} ${times}`).join(', ')})\n`,
    );
    process.stdout.write(
      `  builds refused: ${[...refusals].map(([why, times]) => `${why} ${times}`).join(', ') || 'none'}\n`,
    );
    for (const line of [...problems.slice(0, 40), ...traces]) process.stdout.write(`  ${line}\n`);
  }
  process.stdout.write(`${seeds - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exit(await main());
} catch (error) {
  const isAsk =
    error instanceof RangeError || (error as { code?: unknown }).code?.toString().startsWith('ERR_PARSE_ARGS') === true;
  process.stderr.write(`${isAsk ? `${(error as Error).message}\n${USAGE}` : String((error as Error).stack)}\n`);
  process.exit(isAsk ? 2 : 1);
}
