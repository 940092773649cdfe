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
  /** Answers the exit code. The options that every command has are not among the arguments. */
  run(args: readonly string[], flags: Flags): Promise<number>;
  /** What `--help` says beyond `usage` and `does`, where that depends on the arguments; null where it does not. */
  help?(args: readonly string[]): Promise<string | null>;
}

/** Options that every command has. */
export interface Flags {
  /** Standard output is JSON: one document, or one a line. */
  readonly json: boolean;
  /** Notes are left out; faults are not. */
  readonly quiet: boolean;
  /** Whose address and key; null where none was named, and for a program that has no profiles. */
  readonly profile: string | null;
}

export interface Program {
  readonly name: string;
  readonly commands: readonly Command[];
  /** What is checked before any command runs: an exit code ends the program. */
  readonly before?: () => Promise<number | null>;
  /** Whether a wrong option may be named in the answer. Not where arguments may be secrets. */
  readonly quotesArguments: boolean;
  /** Whether it takes `--profile NAME`. */
  readonly hasProfiles?: boolean;
  /** Where an API key is given, said to who gives it as an argument. */
  readonly keysBelong: string;
}

const NOT_UNDERSTOOD = 2;
const HELP: ReadonlySet<string> = new Set(['--help', '-h']);
const VERSIONS: ReadonlySet<string> = new Set(['--version', '-V']);
const API_KEY = /(?:flk|loc)_(?:live|test)_[\w-]{8,}/;

/** Every command with its arguments and what it does, one line each. */
export function usageOf({ name, commands, hasProfiles }: Pick<Program, 'name' | 'commands' | 'hasProfiles'>): string {
  const width = Math.max(...commands.map(({ usage }) => usage.length));
  return [
    `usage: ${name} COMMAND`,
    ...commands.map(({ usage, does }) => `  ${usage.padEnd(width)}  ${does}`),
    `of every command: --help  --json  --quiet${hasProfiles === true ? '  --profile NAME' : ''}; of ${name}: --version`,
  ].join('\n');
}

/** What is behind `--` is the command's own. */
function flagsIn(all: readonly string[], hasProfiles: boolean): { words: string[]; flags: Flags } {
  const end = all.indexOf('--'),
    own = end < 0 ? all : all.slice(0, end);
  const words: string[] = [];
  let [json, quiet, profile]: [boolean, boolean, string | null] = [false, false, null];
  for (let at = 0; at < own.length; at += 1) {
    const word = own[at]!;
    if (word === '--json') json = true;
    else if (word === '--quiet') quiet = true;
    else if (hasProfiles && word === '--profile') profile = own[(at += 1)] ?? '';
    else if (hasProfiles && word.startsWith('--profile=')) profile = word.slice('--profile='.length);
    else words.push(word);
  }
  return { words: end < 0 ? words : [...words, ...all.slice(end)], flags: { json, quiet, profile } };
}

/**
 * Runs the command that `words` begin with. Answers its exit code; 2 for words that name none. Beside a command
 * `--help` says what it takes, and `--json` makes standard output JSON, one document or one a line, of a refused
 * command line too. Standard output is the answer alone, the rest is on standard error.
 */
export async function runProgram(program: Program, all: readonly string[]): Promise<number> {
  const { words, flags } = flagsIn(all, program.hasProfiles === true),
    { json } = flags;
  const print = (text: string, value: object): void => {
    process.stdout.write(`${json ? JSON.stringify(value) : text}\n`);
  };
  const misunderstood = (message: string): number => {
    process.stderr.write(`${message}\n`);
    if (json) process.stdout.write(`${JSON.stringify({ error: { code: 'USAGE', message } })}\n`);
    return NOT_UNDERSTOOD;
  };
  if (all.some((word) => API_KEY.test(word)))
    return misunderstood(
      `an argument has an API key in it. Arguments stand in the process list and in the history of the shell: treat that key as known and revoke it. ${program.keysBelong}`,
    );
  if (flags.profile === '') return misunderstood('--profile needs the name of a profile');
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
    const [only] = commands;
    const more = commands.length === 1 ? await only!.help?.(named.slice(only!.words.length)) : null;
    if (more) {
      print(more, { name: program.name, version: VERSION, help: more });
      return 0;
    }
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
    return await command.run(words.slice(command.words.length), flags);
  } catch (error) {
    // A wrong option is answered with what the command takes, not with a stack.
    if ((error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    const why = program.quotesArguments ? `${(error as Error).message}\n` : '';
    return misunderstood(`${why}usage: ${program.name} ${command.usage}`);
  }
}
