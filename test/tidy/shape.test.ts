import { stripTypeScriptTypes } from 'node:module';
import test from 'ava';
import { parse } from 'acorn';
import { migrations } from '../../persistence/postgres/migrations.ts';
import { functionsIn } from '../support/syntax.ts';
import { filesOf, ROOMS, sources } from '../support/tree.ts';
import { wideLines } from '../support/wide-lines.ts';

const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;
const BANNED = /^(utils?|helpers?|common|misc|manager|service|handler|processor|data|info|item|obj|tmp|val)$/;

test('style habits: a file is one idea, at most 500 lines, with a kebab-case name that is no banned word', (t) => {
  const wrong = sources().flatMap((file) => {
    const name = file.path
      .split('/')
      .at(-1)!
      .replace(/\.tsx?$/, '');
    return [
      ...(file.lines.length > FILE_LINES_MAX ? [`${file.path} has ${file.lines.length} lines`] : []),
      ...(/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) ? [] : [`${file.path} is not kebab-case`]),
      ...(name.split('-').some((word) => BANNED.test(word)) ? [`${file.path} has a banned name`] : []),
    ];
  });
  t.deepEqual(wrong, []);
});

test('style habits: a function has at most 70 lines of its own', (t) => {
  const long: string[] = [];
  // What has markup in it is measured by its files: they are short.
  for (const file of sources().filter(({ path }) => !path.startsWith('bench/') && path.endsWith('.ts'))) {
    const tree = parse(stripTypeScriptTypes(file.text), {
      ecmaVersion: 'latest',
      sourceType: 'module',
      locations: true,
    });
    for (const node of functionsIn(tree)) {
      const { start, end } = node.loc!;
      const inner = functionsIn(Object.values(node))
        .filter((child) => child !== node)
        .map(({ loc }) => [loc!.start.line, loc!.end.line] as const);
      let own = 0;
      for (let line = start.line; line <= end.line; line += 1) {
        if (!inner.some(([from, to]) => line > from && line <= to)) own += 1;
      }
      if (own > FUNCTION_LINES_MAX) long.push(`${file.path}:${start.line} has ${own} lines`);
    }
  }
  t.deepEqual(long, []);
});

test('house 4: no numbered file defines a function', (t) => {
  const defining = migrations().filter(({ text }) => /create\s+(or\s+replace\s+)?(function|procedure)\b/i.test(text));
  t.deepEqual(
    defining.map(({ name }) => name),
    [],
  );
});

test('house 4: a file of functions begins with what it is for, and defines the function of its name alone', (t) => {
  const wrong = filesOf(['persistence/postgres/functions'], '.sql').flatMap(({ path, text }) => {
    const name = path
      .split('/')
      .at(-1)!
      .replace(/\.sql$/, '');
    const defined = [...text.matchAll(/^create or replace function (\w+)\(/gm)].map(([, one]) => one);
    return [
      ...(text.startsWith('-- ') ? [] : [`${path} says nothing of its function`]),
      ...(defined.length === 1 && defined[0] === name ? [] : [`${path} defines ${defined.join(', ')}`]),
      ...(/^(do \$\$|(create|alter|drop) (constraint |unique )?(table|trigger|index))/im.test(text)
        ? [`${path} changes more than its function`]
        : []),
    ];
  });
  t.deepEqual(wrong, []);
});

test('house 10: a line has at most 120 columns, unless one literal is what makes it wider', (t) => {
  const sql = filesOf(['persistence'], '.sql').flatMap(({ path, lines }) =>
    lines.flatMap((line, at) => (line.length > 120 ? [`${path}:${at + 1}`] : [])),
  );
  t.deepEqual([...wideLines(filesOf([...ROOMS, 'test'], '.ts')), ...sql], []);
});

test('house 4: pauses are doubled in protocol/backoff.ts and nowhere else', (t) => {
  const doubles = /Math\.min\([^;\n]*(?:\* 2 \*\*|\.ms \* 2)/;
  const places = sources().filter(({ text }) => doubles.test(text));
  t.deepEqual(
    places.map(({ path }) => path),
    ['protocol/backoff.ts'],
  );
});
