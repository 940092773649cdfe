import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { importsRead } from '../../../../gateway/cli/imports-read.ts';

const directory = mkdtempSync(join(tmpdir(), 'flock-imports-'));

async function run(name: string, content: string | Uint8Array, ...more: string[]) {
  const file = join(directory, name),
    texts = { out: '', err: '' };
  writeFileSync(file, content);
  const exitCode = await importsRead(
    ['--file', file, ...more],
    { write: (text) => (texts.out += text) },
    { write: (text) => (texts.err += text) },
  );
  return { exitCode, ...texts };
}
const lines = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('migration M-U13: imports read: what is wrong line by line, then the whole', async (t) => {
  const file = 'Address;Customer ID;Colour\nr1;=7;red\nr2;8;blue;x\n';
  const { exitCode, out } = await run('1.csv', file);
  t.is(exitCode, 1);
  t.like(lines(out), [
    { warning: { code: 'unknown_column', line: 1, column: 3 } },
    { error: { code: 'columns', line: 3, column: 4 } },
    { format: 'csv', rows: 1, ranges: 0, errors: 1, warnings: 1 },
  ]);
  const written = await run('2.csv', file, '--as', 'csv');
  t.is(written.out, "address,chain,path,index,xpub,userRef,tag,label,memo\nr1,,,,,'=7,,,\n# end, 1 rows\n");
  const again = await run('3.csv', written.out, '--as', 'jsonl');
  t.deepEqual([again.exitCode, lines(again.out)], [0, [{ address: 'r1', userRef: '=7' }]]);
});

test('migration M-U5: imports read: a file that is no text, or not there, is not read', async (t) => {
  const zip = await run('a.xlsx', Buffer.from('504b030414000000', 'hex'));
  t.is(zip.exitCode, 2);
  t.regex(zip.err, /no text but zip/);
  t.is(await importsRead(['--file', join(directory, 'none')], { write: () => true }, { write: () => true }), 2);
  t.is((await run('4.csv', 'x', '--as', 'xml')).exitCode, 2);
});

test('migration M-X6: imports read: a file with a phrase down a column is refused by its line, and nothing of it is repeated', async (t) => {
  const words = `${'abandon '.repeat(11)}about`.split(' ');
  const file = ['address,tag', ...words.map((word, n) => `r${n},${word}`)].join('\n');
  const { exitCode, out, err } = await run('5.csv', file, '--as', 'jsonl');
  t.is(exitCode, 2);
  t.regex(err, /KEY_MATERIAL_REJECTED: line 13 \(mnemonic\)/);
  t.notRegex(out + err, /abandon|about/);
});
