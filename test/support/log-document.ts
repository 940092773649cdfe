/**
 * `npm run -s docs:logs`: writes docs/logs.md from the calls of the logs in the sources, with what to do about each
 * line that a person should act on. Ecosystem X58.
 */
import { writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { parse } from 'acorn';
import { filesOf } from './tree.ts';
import { REMEDIES } from './log-remedies.ts';

const DOCUMENT = new URL('../../docs/logs.md', import.meta.url);
/** What runs in production. */
const CLOUD = ['actors', 'chain-watchers', 'chains', 'cluster', 'gateway', 'persistence', 'supervision'];
const LEVELS = ['fatal', 'error', 'alarm', 'fault', 'warn', 'info'] as const;
type Level = (typeof LEVELS)[number];

export interface LogLine {
  readonly side: 'cloud' | 'edge';
  readonly level: Level;
  readonly message: string;
  /** Names of its facts, where the call has them in place. */
  readonly facts: readonly string[];
}

interface Node {
  readonly type: string;
  readonly [name: string]: unknown;
}

/** Texts that an expression may be: of a choice both. */
function textsOf(node: Node, names: ReadonlyMap<string, readonly string[]>): readonly string[] {
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? [node['value']] : [];
  if (node.type === 'TemplateLiteral')
    return [(node['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('…')];
  if (node.type === 'ConditionalExpression')
    return [node['consequent'], node['alternate']].flatMap((one) => textsOf(one as Node, names));
  if (node.type === 'Identifier') return names.get(String(node['name'])) ?? [];
  if (node.type === 'MemberExpression' && (node['object'] as Node).type === 'Identifier')
    return names.get(String((node['object'] as Node)['name'])) ?? [];
  return [];
}

/** Texts of the constants of a file, by their names: of a table all of its texts. */
function constantsOf(tree: Node): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  visit(tree, (node) => {
    if (node.type !== 'VariableDeclarator' || (node['id'] as Node).type !== 'Identifier') return;
    const init = node['init'] as Node | null;
    if (init === null) return;
    const texts =
      init.type === 'ObjectExpression'
        ? (init['properties'] as Node[]).flatMap((one) =>
            one.type === 'Property' ? textsOf(one['value'] as Node, new Map()) : [],
          )
        : textsOf(init, new Map());
    if (texts.length > 0) found.set(String((node['id'] as Node)['name']), texts);
  });
  return found;
}

function visit(node: unknown, see: (node: Node) => void): void {
  if (Array.isArray(node)) for (const one of node) visit(one, see);
  else if (typeof node === 'object' && node !== null) {
    if (typeof (node as Node).type === 'string') see(node as Node);
    for (const [name, one] of Object.entries(node)) if (name !== 'type') visit(one, see);
  }
}

const isLog = (node: Node): boolean =>
  /^#?log(?:ger)?$/i.test(String(node['name'] ?? (node['property'] as Node | undefined)?.['name'] ?? ''));

/** Alarms whose text is handed on before it is written. */
const HANDED_ON = /'((?:deposit|payment|withdrawal|event)_unverified)'/g;

/** Lines that a file can write. */
function linesIn(path: string, text: string): LogLine[] {
  const tree = parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module' }) as unknown as Node;
  const names = constantsOf(tree);
  const side = path.startsWith('edge/') ? ('edge' as const) : ('cloud' as const);
  const lines: LogLine[] = [];
  visit(tree, (node) => {
    if (node.type !== 'CallExpression') return;
    const callee =
      (node['callee'] as Node).type === 'ChainExpression'
        ? ((node['callee'] as Node)['expression'] as Node)
        : (node['callee'] as Node);
    if (callee.type !== 'MemberExpression' || !isLog(callee['object'] as Node)) return;
    const level = String((callee['property'] as Node)['name']) as Level;
    if (!LEVELS.includes(level)) return;
    const given = node['arguments'] as Node[];
    const facts = given
      .filter(({ type }) => type === 'ObjectExpression')
      .flatMap((one) =>
        (one['properties'] as Node[]).flatMap((each) =>
          each.type === 'Property' ? [String((each['key'] as Node)['name'])] : [],
        ),
      );
    // The cloud's log takes facts first, the edge's the event.
    const [text] = side === 'edge' ? given : given.slice(-1);
    for (const message of text === undefined ? [] : textsOf(text, names)) lines.push({ side, level, message, facts });
  });
  return lines;
}

/** Every line of a cloud node and of an edge, each once. */
export function logLines(): LogLine[] {
  const found = filesOf([...CLOUD, 'edge'], '.ts')
    .filter(({ path }) => !path.includes('/cli/') && !/edge\/process\/log\.ts|telemetry/.test(path))
    .flatMap(({ path, text }): LogLine[] => [
      ...linesIn(path, text),
      ...[...text.matchAll(HANDED_ON)].map(([, message]): LogLine => ({
        side: 'edge',
        level: 'alarm',
        message: message!,
        facts: ['deliveryId', 'reason', 'field'],
      })),
    ]);
  const merged = new Map<string, LogLine>();
  for (const line of found) {
    const key = `${line.side} ${line.level} ${line.message}`;
    const before = merged.get(key);
    merged.set(key, before === undefined ? line : { ...before, facts: [...new Set([...before.facts, ...line.facts])] });
  }
  return [...merged.values()].toSorted((left, right) => (left.message < right.message ? -1 : 1));
}

/** Levels at which a person should act. */
export const ACTED_ON: ReadonlySet<Level> = new Set(['fatal', 'error', 'alarm', 'fault']);

const PATIENCE = 'nothing at once: it goes on by itself. Look when it comes for minutes';

const cell = (text: string): string => text.replaceAll('|', '\\|');
const rowOf = ({ level, message, facts }: LogLine): string => {
  const shown = facts
    .filter((name) => name !== 'next')
    .map((name) => `\`${name}\``)
    .join(' ');
  const remedy = REMEDIES[message] ?? (level === 'warn' ? PATIENCE : '');
  return `| \`${cell(message)}\` | ${shown} | ${remedy} |`;
};

function section(
  side: LogLine['side'],
  title: string,
  levels: readonly Level[],
  lines: readonly LogLine[],
  lead: string,
): string {
  const own = lines.filter((line) => line.side === side && levels.includes(line.level));
  const isInfo = levels.includes('info');
  if (isInfo) return `### ${title}\n\n${lead}\n\n${own.map(({ message }) => `- \`${message}\``).join('\n')}\n`;
  return `### ${title}\n\n${lead}\n\n| \`msg\` | facts | what to do |\n|---|---|---|\n${own.map(rowOf).join('\n')}\n`;
}

/** The whole document. */
export function logDocument(): string {
  const lines = logLines();
  return `# Logs

Made of the calls in the sources by \`npm run -s docs:logs\`; a test holds the two together. Each process writes one JSON object a line to standard output. \`npm run -s flock -- logs format\` makes them readable
([command line](command-line.md)).

| field | means |
|---|---|
| \`time\` | ISO 8601, UTC |
| \`level\` | \`fatal\` the process ends; \`error\` a person should act; \`warn\` it goes on by itself; \`info\` |
| \`msg\` | one of the texts below; … is where a name or a number is put in |
| \`node\` | name of the cloud node |
| \`requestId\` | of the answer's \`meta.requestId\` |
| \`chain\`, \`accountId\`, \`code\`, \`ms\` and others | facts: ids, slugs, codes and numbers. No body, no \`userRef\`, no address of a person, no key |
| \`next\` | what to do, where the line knows it |
| \`alarm\` | true on lines of an edge that refused what an honest cloud does not say |
| \`withheld\` | how many equal lines were counted instead of written: of one message a second at most a few |

## Cloud node

${section('cloud', 'A person should act', ['fatal', 'error'], lines, 'Level `fatal` or `error`.')}
${section('cloud', 'It goes on', ['warn'], lines, 'Level `warn`.')}
${section('cloud', 'For the record', ['info'], lines, 'Level `info`.')}
## Edge

${section('edge', 'Alarms', ['alarm'], lines, 'Level `error` with `alarm: true`: something was tried that must not be possible. [FlockEdgeAlarm](runbooks/edge-alarm.md).')}
${section('edge', 'Faults', ['fault', 'error', 'fatal'], lines, 'Level `error`: something broke.')}
${section('edge', 'It goes on', ['warn'], lines, 'Level `warn`.')}
${section('edge', 'For the record', ['info'], lines, 'Level `info`.')}`;
}

if (import.meta.main) writeFileSync(DOCUMENT, logDocument());
