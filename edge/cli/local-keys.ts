/**
 * `npm run -s flock-edge -- local-keys mint --label NAME | list | revoke ID`: works on the data directory, whether the
 * edge runs or not; a running one sees the change with the next request and shares it with the next heartbeat.
 * Answers are JSON lines on standard output.
 */
import { parseArgs } from 'node:util';
import { isRefusal } from '../../protocol/errors.ts';
import { ENVIRONMENTS, type Environment } from '../../protocol/slugs.ts';
import { environmentOfKey, type Environ } from '../config.ts';
import { LocalKeys } from '../local-keys.ts';
import { ENVIRONMENT_SETTING, openStorage, type Storage } from '../storage/storage.ts';

const USAGE = `usage: flock-edge local-keys mint --label NAME
       flock-edge local-keys list
       flock-edge local-keys revoke ID
   --data-dir DIR      the edge's data directory (EDGE_DATA_DIR; .data/edge where API_KEY is set)
   --environment NAME  live or sandbox, where neither API_KEY nor the data directory says`;

const DEFAULT_DATA_DIR = '.data/edge';
const OPTIONS = { label: { type: 'string' }, 'data-dir': { type: 'string' }, environment: { type: 'string' } } as const;

export interface Output { write(text: string): void }

/** Runs one command; answers the exit code: 0 done, 1 refused, 2 not understood. */
export function localKeysCommand(args: readonly string[], env: Environ, out: Output, err: Output): number {
  const parsed = parse(args);
  if (parsed === null) {
    err.write(`${USAGE}\n`);
    return 2;
  }
  const { positionals: [verb, id], values } = parsed;
  const dataDir = values['data-dir'] ?? (env['EDGE_DATA_DIR'] || (environmentOfKey(env['API_KEY'], []) === null ? null : DEFAULT_DATA_DIR));
  if (dataDir === null) {
    err.write('which edge? Neither EDGE_DATA_DIR nor API_KEY is set here: set what the edge is started with, or give --data-dir DIR\n');
    return 2;
  }
  const storage = openStorage(dataDir);
  try {
    const environment = environmentFor(values.environment, env, storage);
    if (environment === null) {
      err.write('which environment? Set API_KEY to the key of the cloud, or give --environment live or sandbox\n');
      return 2;
    }
    err.write(`edge in ${dataDir}, ${environment}\n`);
    return run(new LocalKeys(storage, environment, Date.now), { verb: verb!, id, label: values.label }, out, err);
  } finally {
    storage.close();
  }
}

function parse(args: readonly string[]) {
  try {
    const parsed = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [verb, id, ...rest] = parsed.positionals;
    const known = (verb === 'mint' && parsed.values.label !== undefined && id === undefined) || (verb === 'list' && id === undefined)
      || (verb === 'revoke' && id !== undefined);
    return known && rest.length === 0 ? parsed : null;
  } catch {
    return null;
  }
}

function environmentFor(named: string | undefined, env: Environ, storage: Storage): Environment | null {
  const name = named ?? environmentOfKey(env['API_KEY'], []) ?? storage.setting(ENVIRONMENT_SETTING);
  return ENVIRONMENTS.find((environment) => environment === name) ?? null;
}

function run(keys: LocalKeys, ask: { verb: string; id: string | undefined; label: string | undefined }, out: Output, err: Output): number {
  const print = (value: object) => out.write(`${JSON.stringify(value)}\n`);
  if (ask.verb === 'list') {
    keys.list().forEach(print);
    return 0;
  }
  if (ask.verb === 'revoke') {
    if (!keys.revoke(ask.id!)) {
      err.write('no such local key\n');
      return 1;
    }
    print(keys.list().find(({ id }) => id === ask.id)!);
    return 0;
  }
  const minted = keys.mint(ask.label!);
  if (isRefusal(minted)) {
    err.write(`${minted.code}: ${minted.message}\n`);
    return 1;
  }
  print(minted);
  err.write('the key is shown this once\n');
  return 0;
}
