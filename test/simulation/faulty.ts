/** Faults that are planted in the live SQL functions of a story's database. */
import { readFileSync } from 'node:fs';

/** A function as it is, with something in it replaced. Throws: Error when that is not in it. */
export function faulty(name: string, ...changes: readonly (readonly [string, string])[]): string {
  const text = readFileSync(new URL(`../../persistence/postgres/functions/${name}.sql`, import.meta.url), 'utf8');
  return changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`${name} has no ${from}`);
    return changed.replaceAll(from, to);
  }, text);
}
