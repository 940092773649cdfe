import test from 'ava';
import { filesOf, ROOMS, sources, type SourceFile } from '../support/tree.ts';

/** Lines of code (comments removed) that match, as `path:line text`. */
function hits(files: readonly SourceFile[], pattern: RegExp, keepComments = false): string[] {
  return files.flatMap((file) =>
    file.lines.flatMap((line, index) => {
      const text = keepComments ? line : line.replace(/\/\/.*|^\s*\*.*|\/\*.*?\*\//g, '');
      return pattern.test(text) ? [`${file.path}:${index + 1} ${text.trim().slice(0, 100)}`] : [];
    }),
  );
}

const everything = () =>
  filesOf([...ROOMS, 'test', 'docs', '.'], '.ts', '.md', '.json', '.yaml', '.sql', '.sh').filter(
    (file) => !file.path.startsWith('test/vectors/') && file.path !== 'package-lock.json',
  );

test('reliability 0.1: sql.begin, sql.reserve and sql.unsafe only in the migrations module', (t) => {
  const files = sources().filter((file) => !/persistence\/postgres\/migrat/.test(file.path));
  t.deepEqual(hits(files, /\bsql\.(begin|reserve|unsafe)\b/), []);
});

test('G4: no floating point near money', (t) => {
  t.deepEqual(hits(sources(), /parseFloat|toFixed\(/), []);
});

test('console B6: amounts of bills are bigint and text all the way: nothing of billing makes a number of one', (t) => {
  const numeric = /\b(?:Number|parseInt|parseFloat)\(|\bMath\.(?:round|floor|ceil|trunc)\(|\s\/\s(?:100|1_000)\b/;
  for (const wrong of ['Number(cents)', 'Math.round(mills)', 'x / 100']) t.regex(wrong, numeric);
  const files = sources().filter(({ path }) => /^(?:actors|gateway\/http)\/billing\//.test(path));
  t.true(files.length > 4);
  // A projection is a count of withdrawals; its overage is a bigint again.
  const counts = ['actors/billing/charges.ts:110'];
  t.deepEqual(
    hits(files, numeric).filter((hit) => !counts.some((place) => hit.startsWith(place))),
    [],
  );
});

test('style 3.13: no console outside of command lines', (t) => {
  const files = sources().filter((file) => !/\/cli\/|^bench\/|developer\//.test(file.path));
  t.deepEqual(hits(files, /\bconsole\.(log|error|warn|info|debug)\(/), []);
});

test('nothing unfinished is left in the tree', (t) => {
  const files = [...sources(), ...filesOf(['test'], '.ts')].filter((file) => file.path !== 'test/tidy/words.test.ts');
  t.deepEqual(hits(files, /\b(TODO|FIXME|XXX|HACK)\b/, true), []);
  t.deepEqual(hits(files, /\btest\.(skip|todo|failing|only)\b/), []);
});

test('no path of a machine and no registry host in any file', (t) => {
  const files = everything().filter((file) => file.path !== 'test/tidy/words.test.ts');
  t.deepEqual(hits(files, /(?:^|[\s"'`(=])\/(?:work|root|home\/[a-z]+)\/|registry\.npmjs|deb\.debian\.org/, true), []);
});

test('the lockfile holds no resolved addresses', (t) => {
  const [lock] = filesOf(['package-lock.json'], 'package-lock.json');
  t.truthy(lock);
  t.notRegex(lock!.text, /"resolved": "https?:/);
});

test('found: every number that crosses a border has both its bounds: protocol/schema/numbers.ts makes them, and no other file', (t) => {
  const numbers = filesOf(['protocol'], '.ts'),
    [own] = numbers.filter(({ path }) => path === 'protocol/schema/numbers.ts');
  t.deepEqual(
    hits(
      numbers.filter((file) => file !== own),
      /\bz\.(number|int|int32|uint32|float32|float64|int64|uint64|bigint|coerce|nan)\b/,
    ),
    [],
  );
  for (const line of own!.lines.filter((one) => one.includes('z.number(')))
    t.regex(line, /z\.number\(\)(\.int\(\))?\.min\([^)]+\)\.max\([^)]+\)/);
});

test('house 6: the gateway asserts no type by way of `unknown`', (t) => {
  const wrong = sources()
    .filter(({ path }) => path.startsWith('gateway/'))
    .flatMap((file) =>
      file.lines.flatMap((line, index) => (line.includes('as unknown as') ? [`${file.path}:${index + 1}`] : [])),
    );
  t.deepEqual(wrong, []);
});

/**
 * House part 3: the words of an old dialect. They meant five things each; the glossary and docs/STYLE.md have the
 * field's words instead.
 */
const DIALECT =
  /(?<![a-z])(?:tell|tells|told|telling|retells?|retold|whoever|whomever|stands?|stood|bells?|strikes?|testimon(?:y|ies)|fitness|hears)(?![a-z])|\bknows of\b|\bgone where\b|\bhad its time\b/i;

/** A line with its identifiers cut into words; names of the database and of the wire keep theirs. */
function wordsOf(line: string): string {
  return line
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/\bstands? for\b|\bstand[- ](?:ins?|alone|by)\b/gi, '')
    .replace(/\btell(?=[(<,]| } from)/g, '') // the kernel's own, as actor systems name it
    .replace(/\w*_\w*/g, '');
}

/** Names in files and tables that customers have. */
const STORED: Readonly<Record<string, readonly string[]>> = {
  'edge/spend': ['told'],
  'edge/storage': ['told'],
  'edge/keystore': ['purgeTold'],
  'edge/link': ['purgeTold'],
  'edge/cli': ['purgeTold'],
};
const without = (line: string, name: string): string => line.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), '');

test('house 3: comments, log texts and identifiers use plain English words, not the old dialect', (t) => {
  for (const old of [
    '// whoever asks',
    '/** The head that was told. */',
    'retellBlock(',
    "'what had its time is gone'",
  ])
    t.regex(wordsOf(old), DIALECT, old);
  for (const plain of ['stellar', 'a stand-in', 'told_at', 'x stands for y', 'understand'])
    t.notRegex(wordsOf(plain), DIALECT, plain);
  const found = filesOf(ROOMS, '.ts', '.tsx')
    .filter(({ path }) => path !== 'protocol/share-words.ts') // the words of BIP-39
    .flatMap(({ path, lines }) =>
      lines.flatMap((line, index) =>
        DIALECT.test(wordsOf(STORED[path.split('/').slice(0, 2).join('/')]?.reduce(without, line) ?? line))
          ? [`${path}:${index + 1} ${line.trim().slice(0, 100)}`]
          : [],
      ),
    );
  t.deepEqual(found, []);
});
