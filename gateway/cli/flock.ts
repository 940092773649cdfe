/** `npm run -s flock -- COMMAND`: the operator's commands of the cloud. Standard output carries answers only. */

import type { OperatorCommand } from '../../supervision/operator.ts';

interface Command {
  readonly words: readonly string[];
  readonly usage: string;
  readonly does: string;
  /** Loads what the command needs and nothing else; answers the exit code. */
  run(args: readonly string[]): Promise<number>;
}

const COMMANDS: readonly Command[] = [
  {
    words: ['chain'],
    usage: 'chain --jsonl',
    does: 'answers questions about keys, addresses, blocks and signatures, one JSON line each',
    run: async (args) => (await import('./chain-jsonl.ts')).chainJsonl(args),
  },
  {
    words: ['webhooks', 'listen'],
    usage: 'webhooks listen [--port 9000] [--secret whsec_…] [--count N]',
    does: 'verifies deliveries and prints them',
    run: async (args) => (await import('./webhooks-listen.ts')).webhooksListen(args),
  },
  operator(
    'users create',
    '--email E [--admin]',
    'makes a console user; the password comes from standard input or is made',
  ),
  operator(
    'organizations create',
    '--name N --owner EMAIL [--tier T] [--band B]',
    'makes a tenant with its two accounts and first owner',
  ),
  operator(
    'api-keys mint',
    '--organization ID --environment live|sandbox --label L',
    'mints an API key and shows it once',
  ),
  operator(
    'secrets reseal',
    '',
    'seals all secrets at rest again under the first key of SECRET_KEY, and gives back deliveries that were held for theirs',
  ),
];

/** A command of whoever runs the cloud; it works on DATABASE_URL. */
function operator(name: OperatorCommand, options: string, does: string): Command {
  return {
    words: name.split(' '),
    usage: `${name} ${options}`.trimEnd(),
    does,
    run: async (args) =>
      (await import('../../supervision/operator.ts')).runOperatorCommand(
        name,
        args,
        process.env,
        process.stdout,
        process.stderr,
      ),
  };
}

function usage(): string {
  const width = Math.max(...COMMANDS.map((command) => command.usage.length));
  return [
    'usage: flock COMMAND',
    ...COMMANDS.map((command) => `  ${command.usage.padEnd(width)}  ${command.does}`),
  ].join('\n');
}

const words = process.argv.slice(2);
const asksForHelp = words.length === 1 && ['help', '--help', '-h'].includes(words[0]!);
const command = COMMANDS.find((candidate) => candidate.words.every((word, index) => words[index] === word));
if (asksForHelp) {
  console.log(usage());
} else if (command === undefined) {
  console.error(usage());
  process.exitCode = 2;
} else {
  // A wrong option is answered with what the command takes, not with a stack.
  process.exitCode = await command.run(words.slice(command.words.length)).catch((error: unknown) => {
    if ((error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    console.error(`${(error as Error).message}\nusage: flock ${command.usage}`);
    return 2;
  });
}
