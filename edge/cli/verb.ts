/** Arguments of a command on an edge's data directory: one verb, and where the directory is. */
import { parseArgs } from 'node:util';
import type { Environ } from '../config.ts';

const OPTIONS = { 'data-dir': { type: 'string' } } as const;

/** The directory that `--data-dir` names, else the one of the settings. */
export const dataDirOf = (given: string | undefined, env: Environ): string =>
  given ?? (env['EDGE_DATA_DIR'] || '.data/edge');

/** The verb and its directory; null where the arguments are anything else. */
export function verbOf<V extends string>(
  verbs: readonly V[],
  args: readonly string[],
  env: Environ,
): { readonly verb: V; readonly dataDir: string } | null {
  try {
    const { positionals, values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const verb = verbs.find((known) => known === positionals[0]);
    return verb === undefined || positionals.length > 1 ? null : { verb, dataDir: dataDirOf(values['data-dir'], env) };
  } catch {
    return null;
  }
}
