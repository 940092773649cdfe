import { stripTypeScriptTypes } from 'node:module';
import test from 'ava';
import { parse } from 'acorn';
import { migrations } from '../../persistence/postgres/migrate.ts';
import { filesOf, ROOMS, sources } from '../support/tree.ts';

const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;
/** Longer ones that are being taken apart: this list only gets shorter. */
const LONG_FILES = ['edge/signing/instructions.ts', 'edge/signing/signing.ts', 'edge/spend/ledger.ts'];
const LONG_FUNCTIONS =
  /^(?:edge\/edge|edge\/parts|persistence\/postgres\/batch|supervision\/node|developer\/stand-ins\/xlm\/horizon-records)\.ts:/;
const BANNED = /^(utils?|helpers?|common|misc|manager|service|handler|processor|data|info|item|obj|tmp|val)$/;

test('style habits: a file is one idea, at most 500 lines, with a kebab-case name that is no banned word', (t) => {
  const wrong = sources().flatMap((file) => {
    const name = file.path.split('/').at(-1)!.replace(/\.ts$/, '');
    return [
      ...(file.lines.length > FILE_LINES_MAX && !LONG_FILES.includes(file.path)
        ? [`${file.path} has ${file.lines.length} lines`]
        : []),
      ...(/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) ? [] : [`${file.path} is not kebab-case`]),
      ...(name.split('-').some((word) => BANNED.test(word)) ? [`${file.path} has a banned name`] : []),
    ];
  });
  t.deepEqual(wrong, []);
});

interface Node {
  type: string;
  start?: number;
  end?: number;
  loc?: { start: { line: number }; end: { line: number } };
}

const functionsIn = (node: unknown): Node[] => nodesOf(node, /Function/);

function nodesOf(node: unknown, type: RegExp, found: Node[] = []): Node[] {
  if (Array.isArray(node)) for (const child of node) nodesOf(child, type, found);
  else if (typeof node === 'object' && node !== null && typeof (node as Node).type === 'string') {
    if (type.test((node as Node).type)) found.push(node as Node);
    for (const child of Object.values(node)) nodesOf(child, type, found);
  }
  return found;
}

test('style habits: a function has at most 70 lines of its own', (t) => {
  const long: string[] = [];
  for (const file of sources().filter((source) => !source.path.startsWith('bench/'))) {
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
  t.deepEqual(
    long.filter((place) => !LONG_FUNCTIONS.test(place)),
    [],
  );
});

const FUNCTIONS_IN_HISTORY = 28; // numbered files before each function got a file of its own

test('house 4: no numbered file after the first ones defines a function', (t) => {
  const later = migrations().filter(({ number }) => number > FUNCTIONS_IN_HISTORY);
  t.deepEqual(
    later.filter(({ text }) => /create (or replace )?function/i.test(text)).map(({ name }) => name),
    [],
  );
});

const COLUMNS_MAX = 120;
/** A literal of this many characters cannot be put on a narrower line. */
const LITERAL = 40;

/** Lines that a string, a template or a regular expression crosses for so long that no line break can narrow them. */
function unbreakable(text: string): Set<number> {
  const lines = new Set<number>();
  const tree = parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module', locations: true });
  for (const { loc, start, end } of nodesOf(tree, /^(?:Literal|TemplateLiteral)$/)) {
    if (end! - start! < LITERAL) continue;
    for (let line = loc!.start.line; line <= loc!.end.line; line += 1) lines.add(line);
  }
  return lines;
}

test('house 10: a line has at most 120 columns, unless one literal is what makes it wider', (t) => {
  const wide = filesOf([...ROOMS, 'test'], '.ts').flatMap((file) => {
    const lines = file.lines.map((line, at) => [line, at + 1] as const).filter(([line]) => line.length > COLUMNS_MAX);
    if (lines.length === 0) return [];
    const literal = unbreakable(file.text);
    return lines.filter(([, at]) => !literal.has(at)).map(([, at]) => `${file.path}:${at}`);
  });
  t.deepEqual(wide, []);
});

test('house 4: pauses are doubled in protocol/backoff.ts and nowhere else', (t) => {
  const doubles = /Math\.min\([^;\n]*(?:\* 2 \*\*|\.ms \* 2)/;
  const places = sources().filter(({ text }) => doubles.test(text));
  t.deepEqual(
    places.map(({ path }) => path),
    ['protocol/backoff.ts'],
  );
});
