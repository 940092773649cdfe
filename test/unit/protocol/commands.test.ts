import test from 'ava';
import { parseArgs } from 'node:util';
import { runProgram, usageOf, type Command } from '../../../protocol/node/commands.ts';

const ran: string[] = [];
const command = (words: string): Command => ({
  words: words.split(' '),
  usage: `${words} [--count N]`,
  does: 'counts',
  run: async (args) => {
    parseArgs({ args: [...args], options: { count: { type: 'string' } } });
    ran.push(words);
    return 7;
  },
});
const NAMED = { name: 'counter', keysBelong: 'Nowhere.', commands: [command('keys'), command('list')] };

test('house 4: a program runs the command that its words name, after what it checks first; anything else is no command', async (t) => {
  let checked = 0;
  const program = {
    ...NAMED,
    quotesArguments: false,
    before: async () => {
      checked += 1;
      return checked > 2 ? 78 : null;
    },
  };
  t.is(await runProgram(program, ['list', '--count', '1']), 7);
  t.is(await runProgram(program, ['list', '--zebra']), 2, 'an option that it does not have');
  t.is(await runProgram(program, ['list']), 78, 'what is checked first ends it');
  for (const words of [[], ['zebra'], ['help', 'zebra']]) t.is(await runProgram(program, words), 2);
  t.is(await runProgram(program, ['help']), 0);
  t.deepEqual(ran, ['list']);
  t.is(checked, 3, 'only where a command is named');
  t.is(usageOf(NAMED).split('\n').length, 4);
});

/** What a program writes to standard output and error. */
async function heard(words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const { stdout, stderr } = process;
  const out = stdout.write,
    err = stderr.write;
  const into = (stream: 'out' | 'err') => (text: unknown) => {
    said[stream] += String(text);
    return true;
  };
  stdout.write = into('out') as never;
  stderr.write = into('err') as never;
  try {
    const code = await runProgram({ ...NAMED, quotesArguments: true }, words);
    return { code, ...said };
  } finally {
    stdout.write = out;
    stderr.write = err;
  }
}

test.serial(
  'ecosystem X22 help and version are answers of their own: 0, on standard output, of one command too',
  async (t) => {
    for (const words of [['--help'], ['-h'], ['help']])
      t.deepEqual(await heard(words), { code: 0, out: `${usageOf(NAMED)}\n`, err: '' });
    const ofOne = await heard(['list', '--help']);
    t.is(ofOne.code, 0);
    t.true(ofOne.out.startsWith('usage: counter COMMAND\n  list [--count N]  counts\n'));
    t.false(ofOne.out.includes('keys'));
    t.is((await heard(['list', '--count', '1', '-h'])).code, 0, 'and is asked for at any place');
    t.deepEqual(
      ran.filter((name) => name !== 'list'),
      [],
      'nothing ran',
    );
    const version = await heard(['--version']);
    t.is(version.code, 0);
    t.regex(version.out, /^counter \d+\.\d+\.\d+\n$/);
  },
);

test.serial('ecosystem X23 with --json standard output is JSON, of a refused command line too', async (t) => {
  for (const [words, code] of [
    [['--version', '--json'], 0],
    [['--json', '--help'], 0],
    [['zebra', '--json'], 2],
    [['list', '--zebra', '--json'], 2],
  ] as const) {
    const { code: answered, out } = await heard(words);
    t.is(answered, code, words.join(' '));
    t.notThrows(() => JSON.parse(out) as unknown, words.join(' '));
  }
  t.like(JSON.parse((await heard(['zebra', '--json'])).out), { error: { code: 'USAGE' } });
});
