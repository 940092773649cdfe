/**
 * `flock completion bash|zsh|fish`: a file of words that a shell completes from by itself. Nothing of the program runs
 * when somebody presses the tabulator. X26.
 */
import { parseArgs } from 'node:util';
import type { Command, Flags } from '../../protocol/node/commands.ts';
import { EVENTS } from '../../protocol/slugs.ts';
import { answer, CommandFailed, running } from './answer.ts';
import { CLI_OPERATIONS } from './api.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];
const OF_EVERY = ['--help', '--json', '--quiet', '--profile'];

/** What may follow: behind the first two words of a command line, and behind an option that has its values. */
interface Words {
  /** By `first second`; a pattern of the shell where it ends in a star. The first that matches holds. */
  readonly behind: readonly (readonly [string, readonly string[]])[];
  readonly values: readonly (readonly [string, readonly string[]])[];
}

export function completion(args: readonly string[], flags: Flags, commands: readonly Command[]): Promise<number> {
  const { positionals } = parseArgs({ args: [...args], strict: true, allowPositionals: true, options: {} });
  return running(flags, async () => {
    const shell = SHELLS.find((one) => one === positionals[0]);
    if (shell === undefined || positionals.length > 1)
      throw new CommandFailed('USAGE', `completion needs the name of a shell: ${SHELLS.join(', ')}`);
    const script = scriptOf(shell, commands);
    answer(flags, { shell, script }, script.trimEnd());
  });
}

export function scriptOf(shell: Shell, commands: readonly Command[]): string {
  const words = wordsOf(commands);
  return shell === 'fish' ? fishOf(words) : posixOf(shell, words);
}

function wordsOf(commands: readonly Command[]): Words {
  const firsts = [...new Set(commands.map(({ words }) => words[0]!))];
  const operations = Object.entries(CLI_OPERATIONS);
  return {
    behind: [
      [' ', [...firsts, '--help', '--version']],
      ...operations.map(
        ([id, { fields }]) =>
          [`api ${id}`, fields.flatMap(({ flag, isInPath }) => (isInPath === true ? [] : [`--${flag}`]))] as const,
      ),
      ...firsts.map((first) => [`${first} *`, behind(first, commands)] as const),
    ],
    values: valuesOf(),
  };
}

/** Second words of a command that has several, else what it takes. */
function behind(first: string, commands: readonly Command[]): readonly string[] {
  const own = commands.filter(({ words }) => words[0] === first);
  const seconds = own.flatMap(({ words }) => words.slice(1));
  const options = own.flatMap(({ usage }) => usage.match(/--[a-z][a-z-]*/g) ?? []);
  const taken = { api: Object.keys(CLI_OPERATIONS), trigger: EVENTS, completion: SHELLS }[first] ?? [];
  return [...new Set([...taken, ...seconds, ...options, ...OF_EVERY])];
}

/** Options that mean the same in each operation that has them. */
function valuesOf(): Words['values'] {
  const fields = Object.values(CLI_OPERATIONS).flatMap((operation) => operation.fields);
  return [...Map.groupBy(fields, ({ flag }) => flag)].flatMap(([flag, all]) => {
    const [first, ...others] = all.map(({ values }) => values?.join(' ') ?? '');
    const isOne = first !== '' && others.every((one) => one === first);
    return isOne && /^[\w .-]+$/.test(first!) ? [[`--${flag}`, first!.split(' ')] as const] : [];
  });
}

/** Keys are words of ours and stand in quotes, a star behind them. */
const pattern = (key: string): string => (key.endsWith('*') ? `'${key.slice(0, -1)}'*` : `'${key}'`);

function posixOf(shell: 'bash' | 'zsh', { behind: rows, values }: Words): string {
  const cases = (all: Words['behind']): string[] =>
    all.map(([key, words]) => `${pattern(key)}) echo '${words.join(' ')}' ;;`);
  return [
    ...(shell === 'zsh' ? ['#compdef flock'] : []),
    '_flock_words() {',
    'case "$3" in',
    ...cases(values),
    '*) case "$1 $2" in',
    ...cases(rows),
    'esac ;;',
    'esac',
    '}',
    ...(shell === 'bash' ? BASH : ZSH),
    '',
  ].join('\n');
}

const BASH = [
  '_flock() {',
  '  local first= second= last=${COMP_WORDS[COMP_CWORD - 1]}',
  '  ((COMP_CWORD > 1)) && first=${COMP_WORDS[1]}',
  '  ((COMP_CWORD > 2)) && second=${COMP_WORDS[2]}',
  '  COMPREPLY=($(compgen -W "$(_flock_words "$first" "$second" "$last")" -- "${COMP_WORDS[COMP_CWORD]}"))',
  '}',
  'complete -o default -F _flock flock',
];
const ZSH = [
  '_flock() {',
  '  local first= second= last=$words[CURRENT-1]',
  '  ((CURRENT > 2)) && first=$words[2]',
  '  ((CURRENT > 3)) && second=$words[3]',
  '  compadd -- ${=$(_flock_words "$first" "$second" "$last")}',
  '}',
  'compdef _flock flock',
];

function fishOf({ behind: rows, values }: Words): string {
  const cases = (all: Words['behind']): string[] =>
    all.flatMap(([key, words]) => [`case '${key}'`, `echo '${words.join(' ')}'`]);
  return [
    'function __flock_words',
    'switch "$argv[3]"',
    ...cases(values),
    "case '*'",
    'switch "$argv[1] $argv[2]"',
    ...cases(rows),
    'end',
    'end',
    'end',
    'function __flock_complete',
    '  set -l said (commandline -opc)',
    '  set -l first ""',
    '  set -l second ""',
    '  test (count $said) -gt 1; and set first $said[2]',
    '  test (count $said) -gt 2; and set second $said[3]',
    '  __flock_words "$first" "$second" "$said[-1]" | string split " "',
    'end',
    "complete -c flock -f -a '(__flock_complete)'",
    '',
  ].join('\n');
}
