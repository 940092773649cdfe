/**
 * The figures that say whether the tree still has room for a next capability, each with its target.
 * `node test/support/house.ts` prints them; `npm run check` ends so. test/tidy/house.test.ts holds them.
 */
import { migrations } from '../../persistence/postgres/migrations.ts';
import { commands, enrolled } from './account.ts';
import { arrowsOf, circlesOf } from './circles.ts';
import { filesOf, importsOf, ROOMS, sources, type SourceFile } from './tree.ts';
import { walks } from './walks.ts';
import { COLUMNS_MAX, wideLines } from './wide-lines.ts';

export interface Figure {
  readonly what: string;
  readonly found: number;
  /** Most that is right. */
  readonly target: number;
  readonly unit: string;
  /** What is beyond it is found here. */
  readonly where: string;
  /** A target that is not reached yet: no more than this, and less as soon as it can be. */
  readonly atMost: number;
}

/** From the ground up. An arrow to a room further on runs back up. */
const ORDER = [
  'protocol',
  'chains',
  'model',
  'actors/kernel',
  'actors',
  'persistence',
  'chain-watchers',
  'gateway',
  'supervision',
  'developer',
];

const roomOf = (path: string): string =>
  path.startsWith('actors/kernel/') ? 'actors/kernel' : path.slice(0, path.indexOf('/'));

function backArrows(files: readonly SourceFile[]): string[] {
  const arrows = new Set<string>();
  for (const file of files) {
    const from = ORDER.indexOf(roomOf(file.path));
    for (const { specifier, target } of importsOf(file)) {
      if (!specifier.startsWith('.') || from < 0) continue;
      if (ORDER.indexOf(roomOf(target)) > from) arrows.add(`${file.path} → ${target}`);
    }
  }
  return [...arrows];
}

/**
 * Files that name every capability or every area of the REST surface: where a new one adds its line. What else it
 * touches are folders of its own.
 */
export function listsOf(files: readonly SourceFile[]): string[] {
  const families = [
    files.filter(({ path }) => /^actors\/[^/]+\/capability\.ts$/.test(path)),
    files.filter(({ path }) => /^model\/account\//.test(path) && isCapability(path, files)),
    files.filter(({ path }) => /^protocol\/routes\//.test(path) && path !== 'protocol/routes/kinds.ts'),
  ].map((family) => family.map(({ path }) => path));
  const areas = [...new Set(files.flatMap(({ path }) => /^gateway\/http\/[^/]+(?=\/)/.exec(path) ?? []))].filter(
    (area) => area !== 'gateway/http/auth', // what all areas share
  );
  return files
    .filter((file) => {
      const targets = importsOf(file).map(({ target }) => target);
      const namesAll = (parts: readonly string[]) =>
        parts.length > 2 && parts.every((part) => targets.some((to) => to === part || to.startsWith(`${part}/`)));
      return families.some(namesAll) || namesAll(areas);
    })
    .map(({ path }) => path);
}

/** `model/account/<name>.ts` whose capability is `actors/<name>/capability.ts`. */
const isCapability = (path: string, files: readonly SourceFile[]): boolean =>
  files.some((file) => file.path === path.replace(/^model\/account\/(.+)\.ts$/, 'actors/$1/capability.ts'));

/** Lines that do something: no comment, no blank, no import. */
export function codeLines(files: readonly SourceFile[]): number {
  const code = files.flatMap(({ text }) =>
    text
      .replace(/\/\*[^]*?\*\//g, '')
      .replace(/^import [^;]*;$/gm, '')
      .split('\n'),
  );
  return code.filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length;
}

const largestOf = (files: readonly SourceFile[]): SourceFile =>
  files.reduce((largest, file) => (file.lines.length > largest.lines.length ? file : largest));

/** Bytes by which the snapshot of an account is longer after a hundred addresses than after ten. */
function snapshotGrowth(): number {
  const account = enrolled();
  const bytesAfter = (count: number): number => {
    for (let i = 0; i < count; i += 1) account.accept(commands.createAddress());
    return JSON.stringify(account.state, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
      .length;
  };
  const few = bytesAfter(10);
  return bytesAfter(90) - few;
}

/** Every figure, measured in the tree as it is. */
export function houseFigures(): Figure[] {
  const files = sources().filter(({ path }) => !path.startsWith('bench/'));
  const figure = (what: string, found: number, target: number, unit: string, where = '', atMost = target): Figure => ({
    what,
    found,
    target,
    unit,
    where,
    atMost,
  });
  const walk = (title: string): number =>
    new Set([...walks()].find(([name]) => name.startsWith(title))![1].map(({ file }) => file)).size;
  const within = (...folders: readonly string[]) =>
    files.filter(({ path }) => folders.some((folder) => path.startsWith(folder)));
  const lists = listsOf(files),
    arrows = backArrows(files),
    circles = circlesOf(arrowsOf(files));
  const borrowed = within('developer/stand-ins/').filter((file) =>
    importsOf(file).some(({ target }) => target.startsWith('chains/')),
  );
  const seams = largestOf(within('model/ports/', 'model/account/', 'protocol/routes')),
    largest = largestOf(files);
  const wide = wideLines(filesOf([...ROOMS, 'test'], '.ts'));
  const functions = migrations().flatMap(({ text }) => text.match(/create (or replace )?function/gi) ?? []);
  return [
    figure(
      'lists that a new capability adds a line to, beside its own folders',
      lists.length,
      4,
      'files',
      lists.join(' '),
    ),
    figure(
      'files that are opened to follow a deposit from node to webhook',
      walk('A deposit'),
      24,
      'files',
      'docs/walks.md',
    ),
    figure('files from the request of a withdrawal to settled', walk('A withdrawal'), 28, 'files', 'docs/walks.md'),
    figure('SQL functions in numbered files', functions.length, 0, 'functions', 'tables/'),
    figure('arrows that run back up', arrows.length, 4, 'imports', arrows.join(' ')),
    figure('circles of files', circles.length, 0, 'circles', circles.map((circle) => circle.join(' ')).join(' | ')),
    figure(
      'supervision/, without comments and imports',
      codeLines(within('supervision/')),
      1_000,
      'lines',
      'supervision/',
    ),
    figure(
      'largest file of ports, capabilities of the model, and routes',
      seams.lines.length,
      250,
      'lines',
      seams.path,
    ),
    figure('largest file', largest.lines.length, 500, 'lines', largest.path),
    figure('growth of a snapshot from 10 addresses to 100', snapshotGrowth(), 4, 'bytes', 'digits of counters'),
    figure('stand-ins that import chains/', borrowed.length, 0, 'files'),
    figure(`lines beyond ${COLUMNS_MAX} columns that a break could narrow`, wide.length, 0, 'lines', wide.join(' ')),
  ];
}

/** One row for each figure: ✔ within its target, · not there yet and no worse than it was, ✗ worse. */
export function tableOf(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map(({ what }) => what.length));
  return figures
    .map(({ what, found, target, unit, where, atMost }) => {
      const mark = found <= target ? '✔' : found <= atMost ? '·' : '✗';
      const row = `${mark} ${what.padEnd(width)}  ${String(found).padStart(5)} ≤ ${String(target).padEnd(5)} ${unit}`;
      return found > target ? `${row}  ${where}` : row;
    })
    .join('\n');
}

if (import.meta.main) {
  console.log(`The house, measured (docs/decisions/0036-rooms-by-capability.md):\n${tableOf(houseFigures())}`);
}
