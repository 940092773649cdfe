/** The first local key of an edge, minted by its own command line as a customer would. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { COMPILE_CACHE } from './children.ts';

export const EDGE_COMMAND = fileURLToPath(new URL('../edge/cli/flock-edge.ts', import.meta.url));
const run = promisify(execFile);

/** The key kept in a file, or a new one. Throws: Error with what the command said. */
export async function mintLocalKey(
  edgeEnv: Readonly<Record<string, string>>,
  keptIn: string,
  command: string = EDGE_COMMAND,
): Promise<string> {
  if (existsSync(keptIn)) return readFileSync(keptIn, 'utf8').trim();
  const { stdout } = await run(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', command, 'local-keys', 'mint', '--label', 'developer'],
    {
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...edgeEnv,
      },
    },
  );
  const key = /loc_(?:live|test)_[A-Za-z0-9_-]+/.exec(stdout)?.[0];
  if (key === undefined) throw new Error('the edge minted no local key');
  writeFileSync(keptIn, `${key}\n`, { mode: 0o600 });
  return key;
}
