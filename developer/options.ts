/** Options of `npm start` and `npm run demo`: flags first, environment second. */
import { parseArgs } from 'node:util';

export interface StartOptions {
  fresh: boolean;
  cloudPort: number;
  edgePort: number;
  dataDir: string;
}

export const START_USAGE = `usage: npm start -- [--fresh] [--data-dir DIRECTORY]
  --fresh               deletes the data and begins anew
  --data-dir DIRECTORY  where keys, people, database and logs are (FLOCK_DATA_DIR, .data)
  CLOUD_PORT, EDGE_PORT in the environment: the ports (8080, 8081)`;

function portOf(name: string, text: string): number {
  const port = Number(text);
  if (!/^[0-9]{1,5}$/.test(text) || port > 65_535)
    throw new RangeError(`${name} must be a port number, got "${text.slice(0, 20)}"`);
  return port;
}

/** `npm start --fresh` gives the option to npm, which says nothing and passes nothing on but this. */
function refuseWhatNpmKept(env: NodeJS.ProcessEnv): void {
  const kept = ['fresh', 'data-dir'].find((name) => env[`npm_config_${name.replace('-', '_')}`] !== undefined);
  if (kept !== undefined)
    throw new RangeError(`npm took --${kept} for an option of its own. With -- before it:  npm start -- --${kept}`);
}

/** Throws: RangeError or TypeError naming the option. */
export function startOptions(args: readonly string[], env: NodeJS.ProcessEnv): StartOptions {
  refuseWhatNpmKept(env);
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: false,
    options: { fresh: { type: 'boolean', default: false }, 'data-dir': { type: 'string' } },
  });
  return {
    fresh: values.fresh,
    cloudPort: portOf('CLOUD_PORT', env.CLOUD_PORT ?? '8080'),
    edgePort: portOf('EDGE_PORT', env.EDGE_PORT ?? '8081'),
    dataDir: values['data-dir'] ?? env.FLOCK_DATA_DIR ?? '.data',
  };
}
