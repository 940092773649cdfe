/** Options of `npm start` and `npm run demo`: flags first, environment second. */
import { parseArgs } from 'node:util';

export interface StartOptions {
  fresh: boolean;
  cloudPort: number;
  edgePort: number;
  dataDir: string;
  /** Cloud nodes. */
  nodes: number;
}

const NODES_MAX = 9;

/** Throws: RangeError naming the option. */
export function nodesOf(text: string): number {
  if (!/^[1-9]$/.test(text)) throw new RangeError(`--nodes must be from 1 to ${NODES_MAX}, got "${text.slice(0, 20)}"`);
  return Number(text);
}

export const START_USAGE = `usage: npm start -- [--fresh] [--nodes N] [--data-dir DIRECTORY]
  --fresh               deletes the data and begins anew
  --nodes N             cloud nodes, behind one address (1); with several REDIS_URL or a redis-server of the path
  --help                shows this
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
  const kept = ['fresh', 'data-dir', 'nodes'].find((name) => env[`npm_config_${name.replace('-', '_')}`] !== undefined);
  if (kept !== undefined)
    throw new RangeError(`npm took --${kept} for an option of its own. With -- before it:  npm start -- --${kept}`);
}

/** Whether somebody only asks what there is. */
export const wantsHelp = (args: readonly string[]): boolean => args.includes('--help') || args.includes('-h');

/** Throws: RangeError or TypeError naming the option. */
export function startOptions(args: readonly string[], env: NodeJS.ProcessEnv): StartOptions {
  refuseWhatNpmKept(env);
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: false,
    options: {
      fresh: { type: 'boolean', default: false },
      nodes: { type: 'string', default: '1' },
      'data-dir': { type: 'string' },
    },
  });
  return {
    fresh: values.fresh,
    nodes: nodesOf(values.nodes),
    cloudPort: portOf('CLOUD_PORT', env.CLOUD_PORT ?? '8080'),
    edgePort: portOf('EDGE_PORT', env.EDGE_PORT ?? '8081'),
    dataDir: values['data-dir'] ?? env.FLOCK_DATA_DIR ?? '.data',
  };
}
