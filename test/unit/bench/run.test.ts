import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import test from 'ava';
import { backendsCpuMs } from '../../../bench/figure.ts';
import { documentText } from '../../support/documents.ts';
import { ROOT } from '../../support/tree.ts';

const bench = (...args: string[]) =>
  spawnSync(process.execPath, ['bench/run.ts', ...args], { cwd: ROOT, encoding: 'utf8', timeout: 120_000 });

test('a benchmark that does not exist, or a wish for help, is answered with what there is and measures nothing', (t) => {
  const help = bench('--help'),
    unknown = bench('p1', 'p99'),
    wrong = bench('--wriet');
  t.deepEqual([help.status, unknown.status, wrong.status], [0, 2, 2]);
  t.regex(help.stdout, /usage: npm run bench.*\bp1-addresses\b.*\bp6-derivation\b/s);
  t.regex(unknown.stderr, /p99.*\bp1-addresses\b/s);
  t.regex(wrong.stderr, /--wriet/);
});

/** Works for a measured amount of its own CPU, says how much, and waits to be ended. */
const BUSY = `
  while (process.cpuUsage().user < 300_000);
  process.stdout.write(String((process.cpuUsage().user + process.cpuUsage().system) / 1_000));
  process.stdin.resume();`;

test('found F81: the CPU of a server is its own, that of the backends it has, and that of those it had', async (t) => {
  const child = spawn(
    process.execPath,
    [
      '-e',
      `
    const { spawn, spawnSync } = require('node:child_process');
    const ended = spawnSync(process.execPath, ['-e', ${JSON.stringify(BUSY)}], { input: '', encoding: 'utf8' });
    const backend = spawn(process.execPath, ['-e', ${JSON.stringify(BUSY)}], { stdio: ['pipe', 'pipe', 'inherit'] });
    backend.stdout.once('data', (said) => process.stdout.write(String(Number(ended.stdout) + Number(said))));
    process.stdin.on('end', () => process.exit()).resume();`,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  t.teardown(() => {
    child.kill();
  });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const counted = backendsCpuMs(child.pid!);
  t.true(Number(said) >= 600);
  // the kernel counts in hundredths of a second
  t.true(counted >= Number(said) - 50, `${counted} of ${String(said)} ms`);
  child.stdin.end();
  await once(child, 'exit');
});

test('found F85: how long memory is watched is a number of minutes; the bound of the sizing page is above all that was measured', (t) => {
  const wrong = bench('memory', '--minutes', 'soon');
  t.is(wrong.status, 2);
  t.regex(wrong.stderr, /--minutes takes a number/);
  const page = documentText('sizing.md'),
    [, planned] = /^Plan ([0-9]+) MiB for the process/m.exec(page)!;
  const minutes = [...page.matchAll(/^\| ([0-9]+) \| [0-9,]+ \| ([0-9]+) \| ([0-9]+) \| [0-9]+ \| [0-9]+ \|$/gm)].map(
    ([, minute, , peak]) => ({ minute: Number(minute), peak: Number(peak) }),
  );
  const [, run] = /was run on [0-9-]+: \*\*([0-9]+) minutes/.exec(page)!;
  t.is(minutes.at(-1)!.minute, Number(run), 'the table is of the run that the page names');
  t.true(Math.max(...minutes.map(({ peak }) => peak)) < Number(planned));
});
