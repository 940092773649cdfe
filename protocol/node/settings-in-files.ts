/** Settings that carry a credential, each of which may be in a file: an orchestrator mounts secrets as files. */
import { readFileSync } from 'node:fs';

/**
 * The environment with the text of `NAME_FILE` as `NAME`, for each of the names; lines are entries, as commas are.
 * Problems name the setting and never a value.
 */
export function withFiles(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
  problems: string[],
): Record<string, string> {
  const present: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value !== '') present[name] = value;
  for (const name of names) {
    const file = present[`${name}_FILE`];
    if (file === undefined) continue;
    delete present[`${name}_FILE`];
    if (present[name] !== undefined) {
      problems.push(`${name} or ${name}_FILE: at most one`);
      continue;
    }
    try {
      present[name] = entriesOf(readFileSync(file, 'utf8'));
      if (present[name] === '') problems.push(`${name}_FILE: the file is empty`);
    } catch (error) {
      problems.push(`${name}_FILE: ${cannotBeRead(error)}`);
    }
  }
  return present;
}

const entriesOf = (text: string): string =>
  text
    .split(/\s*[\r\n]+\s*/)
    .filter((line) => line !== '')
    .join(',');

const NEXT: Readonly<Record<string, string>> = {
  ENOENT: 'name a file that is there',
  ENOTDIR: 'name a file that is there',
  EISDIR: 'it is a directory: name the file in it',
  EACCES: "give this process's user the right to read it",
};

/** Why a file of a setting could not be read, and what is to be done. */
export function cannotBeRead(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  return `cannot be read (${code})${NEXT[code] === undefined ? '' : `; ${NEXT[code]}`}`;
}
