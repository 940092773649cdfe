/**
 * `npm run bench [-- p1 p4]`: every benchmark in a process of its own, one after another, as a table with ratios.
 * `-- --write` also puts the table into bench/README.md with machine, date and commit.
 */
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { goalMet, ratioOf, type Figure } from './figure.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const README = `${folder}README.md`;
const BENCH_LIMIT_MS = 600_000;

const rounded = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places;
const number = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString('en-US') : String(rounded(value, value >= 10 ? 1 : 3));

function rowOf(figure: Figure): string {
  const { id, what, ours, limit, unit, better, goal, note } = figure;
  const sign = better === 'higher' ? '≥' : '≤';
  const cells = [
    id,
    what,
    `${number(ours)} ${unit}`,
    `${number(limit)} ${unit}`,
    rounded(ratioOf(figure), 2),
    `${sign} ${goal}`,
    goalMet(figure) ? 'yes' : '**no**',
    note,
  ];
  return `| ${cells.join(' | ')} |`;
}

/**
 * Runs one file; each of its output lines that is a figure is shown as a row when it comes, and collected; the rest is
 * passed on.
 */
async function runOne(file: string, more: readonly string[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  const args = ['--expose-gc', '--disable-warning=ExperimentalWarning', `${folder}${file}`, ...more];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const timer = setTimeout(
    () => child.kill('SIGKILL'),
    file === SCALE || file === MEMORY ? LONG_LIMIT_MS : BENCH_LIMIT_MS,
  );
  const stop = (): void => {
    child.kill('SIGKILL'); // its own parts see that it is gone
    process.exit(130);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"id":"P')) {
      console.error(`  ${line}`);
      continue;
    }
    figures.push(JSON.parse(line) as Figure);
    console.error(`  ${rowOf(figures.at(-1)!)}`);
  }
  const code = await new Promise<number | null>((resolve) => {
    if (child.exitCode !== null) resolve(child.exitCode);
    else child.once('exit', resolve);
  });
  clearTimeout(timer);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, stop);
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
  return figures;
}

const files = readdirSync(folder)
  .filter((name) => /^p[0-9]+-.*\.ts$/.test(name))
  .sort();
/** Only when it is named: filling 10 million rows takes the better part of an hour, and 60 GB. */
const SCALE = 'scale.ts';
/** Only when it is named: it takes as many minutes as are asked for. */
const MEMORY = 'memory.ts';
const LONG_LIMIT_MS = 3 * 3_600_000;
const USAGE = `usage: npm run bench -- [p1 p4 …] [--write]   each takes a minute or so
       npm run bench -- scale [--rows 10000,1000000] [--keep FOLDER]   lists and one fact by the size of an account;
                                                       about an hour, less where FOLDER has what a run before filled
       npm run bench -- memory [--minutes 60]          resident memory under full load, minute by minute
  ${files.map((name) => name.replace('.ts', '')).join('  ')}`;

/** The files that are asked for, or null: then it said what there is, and set the exit code. */
function asked(args: string[]): {
  wanted: string[];
  write: boolean;
  rows: string | undefined;
  keep: string | undefined;
  minutes: string | undefined;
} | null {
  try {
    const {
      values: { help, write, rows, keep, minutes },
      positionals,
    } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        rows: { type: 'string' },
        keep: { type: 'string' },
        minutes: { type: 'string' },
      },
    });
    const startsWith = (asked: string) => {
      const prefix = /^p(1[6-9]|20)$/.test(asked) ? 'p15' : asked; // figures of one run
      return (name: string): boolean => name.startsWith(`${prefix}-`) || name === `${prefix}.ts`;
    };
    const unknown = positionals.find((prefix) => ![...files, SCALE, MEMORY].some(startsWith(prefix)));
    if (unknown !== undefined) throw new RangeError(`there is no benchmark ${unknown}`);
    if (rows !== undefined && !/^[1-9][0-9]*(,[1-9][0-9]*)*$/.test(rows))
      throw new RangeError('--rows takes numbers, separated by commas');
    if (minutes !== undefined && !/^[1-9][0-9]{0,3}$/.test(minutes)) throw new RangeError('--minutes takes a number');
    const wanted = [
      ...files.filter((name) => positionals.length === 0 || positionals.some((prefix) => startsWith(prefix)(name))),
      ...[SCALE, MEMORY].filter((name) => positionals.includes(name.replace('.ts', ''))),
    ];
    if (!help) return { wanted, write, rows, keep, minutes };
    console.log(USAGE);
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    process.exitCode = 2;
  }
  return null;
}

async function main(): Promise<void> {
  const ask = asked(process.argv.slice(2));
  if (ask === null) return;
  const rows: string[] = [];
  for (const file of ask.wanted) {
    console.error(`${file} …`);
    const more = file === SCALE ? [ask.rows ?? '', ask.keep] : file === MEMORY ? [ask.minutes] : [];
    rows.push(
      ...(
        await runOne(
          file,
          more.filter((given) => given !== undefined),
        )
      ).map(rowOf),
    );
  }
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim();
  const machine = [
    `${cpus().length} × ${cpus()[0]?.model ?? 'cpu'}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `Node ${process.versions.node}`,
    new Date().toISOString().slice(0, 10),
    `commit ${commit}`,
  ].join(', ');
  const table = [
    `Machine: ${machine}.`,
    '',
    '| # | figure | Flock | limit, same run | ratio | goal | met | how |',
    '|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
  console.log(table);
  if (ask.write) {
    const [before, after] = readFileSync(README, 'utf8').split(/<!-- table -->[\s\S]*<!-- \/table -->/);
    writeFileSync(README, `${before}<!-- table -->\n${table}\n<!-- /table -->${after ?? ''}`);
  }
}

await main();
