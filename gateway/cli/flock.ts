/** `npm run -s flock -- COMMAND`: the operator's commands of the cloud. Standard output carries answers only. */

interface Command {
  readonly words: readonly string[];
  readonly usage: string;
  readonly does: string;
  /** Loads what the command needs and nothing else; answers the exit code. */
  run(args: readonly string[]): Promise<number>;
}

const COMMANDS: readonly Command[] = [
  {
    words: ['chain'], usage: 'chain --jsonl', does: 'answers questions about keys, addresses, blocks and signatures, one JSON line each',
    run: async (args) => (await import('./chain-jsonl.ts')).chainJsonl(args),
  },
  {
    words: ['webhooks', 'listen'], usage: 'webhooks listen --secret whsec_… [--port 9000]', does: 'verifies deliveries and prints them',
    run: async (args) => (await import('./webhooks-listen.ts')).webhooksListen(args),
  },
];

function usage(): string {
  const width = Math.max(...COMMANDS.map((command) => command.usage.length));
  return ['usage: flock COMMAND', ...COMMANDS.map((command) => `  ${command.usage.padEnd(width)}  ${command.does}`)].join('\n');
}

const words = process.argv.slice(2);
const command = COMMANDS.find((candidate) => candidate.words.every((word, index) => words[index] === word));
if (command === undefined) {
  console.error(usage());
  process.exitCode = 2;
} else {
  process.exitCode = await command.run(words.slice(command.words.length));
}
