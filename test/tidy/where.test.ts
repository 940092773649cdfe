import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import { documentText } from '../support/documents.ts';
import { ROOT } from '../support/tree.ts';
import { QUESTIONS } from '../support/where.ts';

const declares = (name: string) =>
  new RegExp(`^(export (async )?(function|const|class|interface|type)|create or replace function) ${name}\\b`, 'm');

test('house 8: twenty questions of a newcomer have an answer: the file is there and has what it is opened for', (t) => {
  t.is(QUESTIONS.length, 20);
  t.is(new Set(QUESTIONS.map(({ file }) => file)).size, QUESTIONS.length, 'a file each');
  for (const { asks, file, name } of QUESTIONS) {
    t.true(existsSync(join(ROOT, file)), `${asks} ${file}`);
    t.regex(readFileSync(join(ROOT, file), 'utf8'), declares(name), `${asks} ${file} ${name}`);
  }
  t.notRegex('const nextStep = 1; export const nextSteps = 2;', declares('nextStep'));
});

test('house 8: README and ARCHITECTURE name the folder of each answer', (t) => {
  const named = new Set(
    [readFileSync(join(ROOT, 'README.md'), 'utf8'), documentText('ARCHITECTURE.md')].flatMap((text) =>
      [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) => code!.replace(/\/$/, '').split(/[\s{},]+/)),
    ),
  );
  const leads = (path: string): boolean =>
    named.has(path) || [...named].some((one) => one.startsWith(`${path}/`) || one === path.split('/').at(-1));
  t.deepEqual(
    QUESTIONS.map(({ file }) => dirname(file)).filter((folder) => folder !== '.' && !leads(folder)),
    [],
  );
  t.false(leads('actors/unknown'));
});

test('house 8: ARCHITECTURE says of each folder of actors what it is for', (t) => {
  const text = documentText('ARCHITECTURE.md');
  const untold = (folders: readonly string[]) => folders.filter((name) => !text.includes(`| \`actors/${name}\` |`));
  t.deepEqual(untold(readdirSync(join(ROOT, 'actors'))), []);
  t.deepEqual(untold(['unknown']), ['unknown']);
});
