/**
 * The commands of a program: which one the arguments name, and the list of all. Each loads what it needs when it runs,
 * and parses its own arguments (`parseArgs` of Node.js).
 */
import { VERSION } from '../version.ts';

export interface Command {
  readonly words: readonly string[];
  /** Without the program's name. */
  readonly usage: string;
  readonly does: string;
  /** Answers the exit code. `json`: whether `--json` was among the words; it is not among the arguments. */
  run(args: readonly string[], json: boolean): Promise<number>;
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
const HELP: ReadonlySet<string> = new Set(['--help', '-h']);
const VERSIONS: ReadonlySet<string> = new Set(['--version', '-V']);

/** Every command with its arguments and what it does, one line each. */
export function usageOf({ name, commands }: Pick<Program, 'name' | 'commands'>): string {
  const width = Math.max(...commands.map(({ usage }) => usage.length));
  return [`usage: ${name} COMMAND`, ...commands.map(({ usage, does }) => `  ${usage.padEnd(width)}  ${does}`)].join(
    '\n',
  );
}

/**
 * Runs the command that `words` begin with. Answers its exit code; 2 for words that name none. Beside a command
 * `--help` says what it takes, and `--json` makes standard output JSON, one document or one a line, of a refused
 * command line too. Standard output is the answer alone, the rest is on standard error.
 */
export async function runProgram(program: Program, all: readonly string[]): Promise<number> {
  const json = all.includes('--json'),
    words = all.filter((word) => word !== '--json');
  const print = (text: string, value: object): void => {
    process.stdout.write(`${json ? JSON.stringify(value) : text}\n`);
  };
  const misunderstood = (message: string): number => {
    process.stderr.write(`${message}\n`);
    if (json) process.stdout.write(`${JSON.stringify({ error: { code: 'USAGE', message } })}\n`);
    return NOT_UNDERSTOOD;
  };
  const isAbout = (asked: ReadonlySet<string>): boolean => words.length === 1 && asked.has(words[0]!);
  if (isAbout(VERSIONS)) {
    print(`${program.name} ${VERSION}`, { name: program.name, version: VERSION });
    return 0;
  }
  if (words[0] === 'help' || words.some((word) => HELP.has(word))) {
    const named = words.filter((word) => word !== 'help' && !word.startsWith('-'));
    const commands = program.commands.filter(({ words: own }) =>
      own.every((word, index) => named[index] === undefined || named[index] === word),
    );
    if (commands.length === 0) return misunderstood(usageOf(program));
    print(usageOf({ ...program, commands }), {
      name: program.name,
      version: VERSION,
      commands: commands.map(({ usage, does }) => ({ usage: `${program.name} ${usage}`, does })),
    });
    return 0;
  }
  const command = program.commands.find(({ words: own }) => own.every((word, index) => words[index] === word));
  if (command === undefined) return misunderstood(usageOf(program));
  const stopped = (await program.before?.()) ?? null;
  if (stopped !== null) return stopped;
  try {
    return await command.run(words.slice(command.words.length), json);
  } catch (error) {
    // A wrong option is answered with what the command takes, not with a stack.
    if ((error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    const why = program.quotesArguments ? `${(error as Error).message}\n` : '';
    return misunderstood(`${why}usage: ${program.name} ${command.usage}`);
  }
}
