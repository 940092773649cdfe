/**
 * The live text of every SQL function: one file each in `functions/`, applied by `migrate` after the numbered steps
 * when its text has changed. The files are the list; their order follows from what they say:
 *
 *   1. functions of triggers, which numbered files name. A new one is made before the numbered files, so it is PL/pgSQL
 *      and declares no variable of a table's type; a changed one is replaced after them, with all others
 *   2. all others by name, each after those that it calls: PostgreSQL looks for what an SQL body calls when it makes
 *      the function, and some files call theirs once
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('./functions/', import.meta.url);

/**
 * Rises by one with each release that changes a function. An older release is not applied over a newer set: two
 * releases run side by side during a rollout, and what the older one cannot live with gets a new name.
 */
export const FUNCTION_SET = 3;

export interface SqlFunction {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
  /** A function of a trigger. */
  readonly trigger: boolean;
}

/** A function's file: its name is the function's. */
export interface FunctionFile {
  readonly name: string;
  readonly text: string;
}

/** The functions in the order in which they are made. */
export function sqlFunctions(): SqlFunction[] {
  const names = readdirSync(FOLDER)
    .map((file) => file.replace(/\.sql$/, ''))
    .sort();
  return inOrder(
    withParts(names.map((name) => ({ name, text: readFileSync(new URL(`${name}.sql`, FOLDER), 'utf8') }))),
  );
}

const codeOf = (text: string): string => text.replace(/--[^\n]*/g, '');
const isTrigger = ({ text }: FunctionFile): boolean => /\breturns trigger\b/i.test(codeOf(text));

/** The line of `append_parts.sql` in whose place the calls come. */
const CALLS = '-- perform append_<part>(batch);';
/** The account's own part, which comes first and is called by name. */
const FIRST_PART = 'append_stream';

/** The files with the calls of the parts of an append. Throws: Error when there is no place for them. */
export function withParts(files: readonly FunctionFile[]): FunctionFile[] {
  const calls = files
    .filter(({ name, text }) => name !== FIRST_PART && name !== 'append_parts' && isPart(name, text))
    .map(({ name }) => `perform ${name}(batch);`);
  return files.map(({ name, text }) => {
    if (name !== 'append_parts') return { name, text };
    if (!text.includes(CALLS)) throw new Error(`functions/append_parts.sql has no line "${CALLS}"`);
    return { name, text: text.replace(CALLS, calls.join('\n  ')) };
  });
}

const isPart = (name: string, text: string): boolean =>
  name.startsWith('append_') && new RegExp(`\\bfunction ${name}\\(batch jsonb\\) returns void\\b`).test(codeOf(text));

/** Triggers' functions first, then all others, each after those that it calls. Throws: Error in a circle. */
export function inOrder(files: readonly FunctionFile[]): SqlFunction[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const ordered = new Map<string, SqlFunction>();
  const place = (file: FunctionFile, callers: readonly string[]) => {
    if (ordered.has(file.name)) return;
    if (callers.includes(file.name))
      throw new Error(`SQL functions call each other: ${[...callers, file.name].join(' → ')}`);
    for (const name of calledBy(file, byName)) place(byName.get(name)!, [...callers, file.name]);
    const { name, text } = file;
    const checksum = createHash('sha256').update(text).digest('hex');
    ordered.set(name, { name, text, checksum, trigger: isTrigger(file) });
  };
  for (const file of files.filter(isTrigger)) place(file, []);
  for (const file of files) place(file, []);
  return [...ordered.values()];
}

const calledBy = ({ name, text }: FunctionFile, known: ReadonlyMap<string, FunctionFile>): string[] =>
  [...codeOf(text).matchAll(/\b([a-z_]+)\s*\(/g)]
    .map(([, called]) => called!)
    .filter((called) => called !== name && known.has(called));
