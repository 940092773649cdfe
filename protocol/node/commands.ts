/**
 * The commands of a program: which one the arguments name, and the list of all. Each loads what it needs when it runs,
 * and parses its own arguments (`parseArgs` of Node.js).
 */
export interface Command {
  readonly words: readonly string[];
  /** Without the program's name. */
  readonly usage: string;
  readonly does: string;
  /** Answers the exit code. */
  run(args: readonly string[]): Promise<number>;
}

export interface Program {
  readonly name: string;
  readonly commands: readonly Command[];
  /** What is checked before any command runs: an exit code ends the program. */
  readonly before?: () => Promise<number | null>;
  /** Whether a wrong option may be named in the answer. Not where arguments may be secrets. */
  readonly quotesArguments: boolean;
}

const NOT_UNDERSTOOD = 2;
const HELP: ReadonlySet<string> = new Set(['help', '--help', '-h']);

/** Every command with its arguments and what it does, one line each. */
export function usageOf({ name, commands }: Pick<Program, 'name' | 'commands'>): string {
  const width = Math.max(...commands.map(({ usage }) => usage.length));
  return [`usage: ${name} COMMAND`, ...commands.map(({ usage, does }) => `  ${usage.padEnd(width)}  ${does}`)].join(
    '\n',
  );
}

/** Runs the command that `words` begin with. Answers its exit code; 2 for words that name none. */
export async function runProgram(program: Program, words: readonly string[]): Promise<number> {
  if (words.length === 1 && HELP.has(words[0]!)) {
    process.stdout.write(`${usageOf(program)}\n`);
    return 0;
  }
  const command = program.commands.find(({ words: own }) => own.every((word, index) => words[index] === word));
  if (command === undefined) {
    process.stderr.write(`${usageOf(program)}\n`);
    return NOT_UNDERSTOOD;
  }
  const stopped = (await program.before?.()) ?? null;
  if (stopped !== null) return stopped;
  try {
    return await command.run(words.slice(command.words.length));
  } catch (error) {
    // A wrong option is answered with what the command takes, not with a stack.
    if ((error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    if (program.quotesArguments) process.stderr.write(`${(error as Error).message}\n`);
    process.stderr.write(`usage: ${program.name} ${command.usage}\n`);
    return NOT_UNDERSTOOD;
  }
}
