import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import test from 'ava';
import { parse } from 'acorn';
import { migrations } from '../../persistence/postgres/migrations.ts';
import { functionsIn } from '../support/syntax.ts';
import { filesOf, ROOMS, ROOT, sources } from '../support/tree.ts';
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

/** The last step that was made before the rule; it stays as databases have it. */
const RULE_OF_INDEXES_SINCE = 88;

/** Tables that a step may lock while it makes an index: they have few rows, or none yet. */
function smallTables(text: string): Set<string> {
  const [, section = ''] = readFileSync(`${ROOT}docs/data-model.md`, 'utf8').split('## How tables grow');
  const few = section
    .split('\n')
    .filter((line) => /^\| `[^|]*\| (customers|chains|nothing|starts of a node|accounts) \|/.test(line));
  const told = few.flatMap((line) => [...line.split('|')[1]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
  const made = [...text.matchAll(/^create table (\w+)/gm)].map(([, name]) => name!);
  return new Set([...told, ...made]);
}

/** What of a step holds a large table up: nothing is written to it until all of its rows were read. */
function heldUp(text: string): string[] {
  const code = text.replace(/--[^\n]*/g, '').replace(/\s+/g, ' ');
  const small = smallTables(text);
  const indexes = [...code.matchAll(/create (?:unique )?index (?!concurrently)\w+ on (?:only )?(\w+)/gi)];
  const constraints = [
    ...code.matchAll(
      /alter table (?:only )?(\w+)(?:(?!;).)*?\badd (?:constraint \w+ )?(?:(?:primary key|unique|exclude)(?! using index)|(?:check|foreign key)(?=[^;]*)(?![^;]*not valid))/gi,
    ),
  ];
  return [...indexes, ...constraints]
    .filter(([, table]) => !small.has(table!))
    .map(([statement]) => statement.slice(0, 100));
}

test('decision 69: a step makes no index and no constraint that holds up the writes of a large table', (t) => {
  const later = migrations().filter(({ number }) => number > RULE_OF_INDEXES_SINCE);
  t.deepEqual(
    later.flatMap(({ name, text }) => heldUp(text).map((statement) => `${name}: ${statement}`)),
    [],
  );
  for (const planted of [
    'create index planted on fact (ledger);',
    'create unique index planted\n  on withdrawal (id);',
    'alter table deposit add constraint planted unique (id);',
    'alter table deposit add column more int,\n  add constraint planted check (more > 0);',
    'alter table event add constraint planted foreign key (account_id) references account;',
  ])
    t.is(heldUp(planted).length, 1, planted);
  for (const right of [
    'create index concurrently if not exists planted on fact (ledger);',
    'create index planted on webhook (id);',
    'create table planted (id int);\ncreate index planted_by on planted (id);',
    'alter table deposit add constraint planted unique using index planted_once;',
    'alter table deposit add constraint planted check (id > 0) not valid;',
  ])
    t.deepEqual(heldUp(right), [], right);
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
