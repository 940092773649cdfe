import { stripTypeScriptTypes } from 'node:module';
import test from 'ava';
import { parse } from 'acorn';
import { migrations } from '../../persistence/postgres/migrate.ts';
import { sources } from '../support/tree.ts';

const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;
const BANNED = /^(utils?|helpers?|common|misc|manager|service|handler|processor|data|info|item|obj|tmp|val)$/;

test('style habits: a file is one idea, at most 500 lines, with a kebab-case name that is no banned word', (t) => {
  const wrong = sources().flatMap((file) => {
    const name = file.path.split('/').at(-1)!.replace(/\.ts$/, '');
    return [
      ...(file.lines.length > FILE_LINES_MAX ? [`${file.path} has ${file.lines.length} lines`] : []),
      ...(/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) ? [] : [`${file.path} is not kebab-case`]),
      ...(name.split('-').some((word) => BANNED.test(word)) ? [`${file.path} has a banned name`] : []),
    ];
  });
  t.deepEqual(wrong, []);
});

interface Node { type: string; loc?: { start: { line: number }; end: { line: number } } }

function functionsIn(node: unknown, found: Node[] = []): Node[] {
  if (Array.isArray(node)) for (const child of node) functionsIn(child, found);
  else if (typeof node === 'object' && node !== null && typeof (node as Node).type === 'string') {
    if (/Function/.test((node as Node).type)) found.push(node as Node);
    for (const child of Object.values(node)) functionsIn(child, found);
  }
  return found;
}

test('style habits: a function has at most 70 lines of its own', (t) => {
  const long: string[] = [];
  for (const file of sources().filter((source) => !source.path.startsWith('bench/'))) {
    const tree = parse(stripTypeScriptTypes(file.text), { ecmaVersion: 'latest', sourceType: 'module', locations: true });
    for (const node of functionsIn(tree)) {
      const { start, end } = node.loc!;
      const inner = functionsIn(Object.values(node)).filter((child) => child !== node)
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

const FUNCTIONS_IN_HISTORY = 28; // numbered files before each function got a file of its own

test('house 4: no numbered file after the first ones defines a function', (t) => {
  const later = migrations().filter(({ number }) => number > FUNCTIONS_IN_HISTORY);
  t.deepEqual(later.filter(({ text }) => /create (or replace )?function/i.test(text)).map(({ name }) => name), []);
});
