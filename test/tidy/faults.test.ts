/** docs/faults-of-several-nodes.md is true: each row of the matrix has a test, and each title that it quotes is one. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { ROOT } from '../support/tree.ts';

const ROWS = 35;
const TABLE = 'docs/faults-of-several-nodes.md';
/** A test that is named, with the parts of titles that are quoted behind it. */
const NAMED = /`(test\/[^`]+)`((?:,? ?"[^"]+")*)/g;

const cells = readFileSync(`${ROOT}${TABLE}`, 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, rows, , tests] = /^\| ([0-9, –]+) \| ([^|]+) \| (.+) \|$/.exec(line) ?? [];
    return rows === undefined ? [] : [{ rows: rows.split(', '), tests: tests! }];
  });

test('4.1 each row of the fault matrix names a test', (t) => {
  const named = new Set(cells.flatMap(({ rows }) => rows));
  t.deepEqual(
    Array.from({ length: ROWS }, (_, at) => String(at + 1)).filter((row) => !named.has(row)),
    [],
  );
  t.deepEqual(
    cells.filter(({ tests }) => !/`test\/|stories/.test(tests)).map(({ rows }) => rows.join()),
    [],
  );
});

test('4.1 what the fault matrix quotes is the title of a test', (t) => {
  const quoted = cells.flatMap(({ tests }) =>
    [...tests.matchAll(NAMED)].flatMap(([, file, titles]) =>
      [...titles!.matchAll(/"([^"]+)"/g)].map(([, title]) => ({ file: file!, title: title! })),
    ),
  );
  t.true(quoted.length > 20);
  t.deepEqual(
    quoted.filter(({ file, title }) => {
      const text = readFileSync(`${ROOT}${file}`, 'utf8').replace(/\\'/g, "'");
      return ![...text.matchAll(/(?:test(?:\.serial)?\(\s*|name: )(['"`])(.*?)\1[,\n]/g)].some(([, , found]) =>
        found!.includes(title),
      );
    }),
    [],
  );
});
