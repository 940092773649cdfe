/**
 * `npm run -s flock-edge -- local-keys mint --label NAME | list | revoke ID | keep`: works on the data directory,
 * whether the edge runs or not; a running one sees the change with the next request and shares it with the next
 * heartbeat. Answers are JSON lines on standard output.
 */
import { parseArgs } from 'node:util';
import { isRefusal } from '../../protocol/errors.ts';
import { instant } from '../../protocol/schema/values.ts';
import { ENVIRONMENTS, type Environment } from '../../protocol/slugs.ts';
import { environmentOfKey, type Environ } from '../config.ts';
import { LocalKeys } from '../local-keys/local-keys.ts';
import { readSecret } from '../process/secret-setting.ts';
import { ENVIRONMENT_SETTING, openStorage, type Storage } from '../storage/storage.ts';

const USAGE = `usage: flock-edge local-keys mint --label NAME [--expires INSTANT | DAYSd | HOURSh]
       flock-edge local-keys list
       flock-edge local-keys revoke ID     with every key that it minted
       flock-edge local-keys keep          no replica is left that minted the others' keys: this edge vouches for them
   --data-dir DIR      the edge's data directory (EDGE_DATA_DIR; .data/edge where API_KEY is set)
   --environment NAME  live or sandbox, where neither API_KEY nor the data directory says`;

const DEFAULT_DATA_DIR = '.data/edge';
const OPTIONS = {
  label: { type: 'string' },
  expires: { type: 'string' },
  'data-dir': { type: 'string' },
  environment: { type: 'string' },
} as const;

export interface Output {
  write(text: string): void;
}

/** Runs one command; answers the exit code: 0 done, 1 refused, 2 not understood. */
export function localKeysCommand(args: readonly string[], env: Environ, out: Output, err: Output): number {
  const parsed = parse(args);
  if (parsed === null) {
    err.write(`${USAGE}\n`);
    return 2;
  }
  const {
    positionals: [verb, id],
    values,
  } = parsed;
  const dataDir =
    values['data-dir'] ??
    (env['EDGE_DATA_DIR'] || (environmentOfKey(apiKeyOf(env), []) === null ? null : DEFAULT_DATA_DIR));
  if (dataDir === null) {
    err.write(
      'which edge? Neither EDGE_DATA_DIR nor API_KEY is set here: set what the edge is started with, or give --data-dir DIR\n',
    );
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
    return run(
      new LocalKeys(storage, environment, Date.now),
      { verb: verb!, id, label: values.label, expires: values.expires },
      out,
      err,
    );
  } finally {
    storage.close();
  }
}

function parse(args: readonly string[]) {
  try {
    const parsed = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [verb, id, ...rest] = parsed.positionals;
    const known =
      (verb === 'mint' && parsed.values.label !== undefined && id === undefined) ||
      (verb === 'revoke' && id !== undefined) ||
      ((verb === 'list' || verb === 'keep') && id === undefined);
    return known && rest.length === 0 && (parsed.values.expires === undefined || verb === 'mint') ? parsed : null;
  } catch {
    return null;
  }
}

/** A file that cannot be read is as none: the edge itself says why. */
const apiKeyOf = (env: Environ): string | undefined => readSecret(env, 'API_KEY', [])?.trim();

function environmentFor(named: string | undefined, env: Environ, storage: Storage): Environment | null {
  const name = named ?? environmentOfKey(apiKeyOf(env), []) ?? storage.setting(ENVIRONMENT_SETTING);
  return ENVIRONMENTS.find((environment) => environment === name) ?? null;
}

interface Ask {
  readonly verb: string;
  readonly id: string | undefined;
  readonly label: string | undefined;
  readonly expires: string | undefined;
}

function run(keys: LocalKeys, { verb, id, label, expires }: Ask, out: Output, err: Output): number {
  const print = (value: object) => out.write(`${JSON.stringify(value)}\n`);
  if (verb === 'list') {
    keys.list().forEach(print);
    return 0;
  }
  if (verb === 'keep') {
    print({ kept: keys.keep() });
    return 0;
  }
  if (verb === 'revoke') {
    const revoked = keys.revoke(id!);
    if (revoked === null) {
      err.write('no such local key\n');
      return 1;
    }
    print(revoked);
    return 0;
  }
  const expiresAtMs = expires === undefined ? null : instantOf(expires, Date.now());
  if (Number.isNaN(expiresAtMs)) {
    err.write(`--expires: give an instant (2027-01-31T00:00:00Z), days (90d) or hours (12h)\n${USAGE}\n`);
    return 2;
  }
  const minted = keys.mint({ label: label!, expiresAtMs });
  if (isRefusal(minted)) {
    const { field } = minted.details;
    err.write(
      `${minted.code}: ${minted.message}${typeof field === 'string' ? ` (${field}: ${String(minted.details['expected'])})` : ''}\n`,
    );
    return 1;
  }
  print(minted);
  err.write('the key is shown this once\n');
  return 0;
}

/** Milliseconds since 1970 of `90d`, `12h` from now, or of an ISO 8601 instant; NaN for another text. */
function instantOf(text: string, nowMs: number): number {
  const [, count, unit] = /^([1-9][0-9]{0,4})([dh])$/.exec(text) ?? [];
  if (count !== undefined) return nowMs + Number(count) * (unit === 'd' ? 86_400_000 : 3_600_000);
  return instant.safeParse(text).success ? Date.parse(text) : Number.NaN;
}
