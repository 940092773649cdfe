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
const NAMED = { name: 'counter', commands: [command('keys'), command('list')] };

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
  for (const words of [[], ['zebra'], ['help', 'list']]) t.is(await runProgram(program, words), 2);
  t.is(await runProgram(program, ['help']), 0);
  t.deepEqual(ran, ['list']);
  t.is(checked, 3, 'only where a command is named');
  t.is(usageOf(NAMED).split('\n').length, 3);
});
