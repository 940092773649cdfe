import { spawnSync } from 'node:child_process';
import test from 'ava';
import { ROOT } from '../../support/tree.ts';

const bench = (...args: string[]) => spawnSync(process.execPath, ['bench/run.ts', ...args], { cwd: ROOT, encoding: 'utf8', timeout: 120_000 });

test('a benchmark that does not exist, or a wish for help, is answered with what there is and measures nothing', (t) => {
  const help = bench('--help'), unknown = bench('p1', 'p99'), wrong = bench('--wriet');
  t.deepEqual([help.status, unknown.status, wrong.status], [0, 2, 2]);
  t.regex(help.stdout, /usage: npm run bench.*\bp1-addresses\b.*\bp6-derivation\b/s);
  t.regex(unknown.stderr, /p99.*\bp1-addresses\b/s);
  t.regex(wrong.stderr, /--wriet/);
});
