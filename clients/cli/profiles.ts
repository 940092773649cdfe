/**
 * Profiles: an address and a key by a name, in files that their owner alone may read. A file is replaced by a rename,
 * so that it is whole at any time. X25.
 */
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CommandFailed } from './answer.ts';

export type Environ = Readonly<Record<string, string | undefined>>;

export interface Profile {
  readonly url: string;
  readonly apiKey: string;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/i;
const OTHERS = 0o077;

export const DEFAULT_PROFILE = 'default';

/** Where profiles are: FLOCK_CONFIG_DIR, else `flock` in XDG_CONFIG_HOME or in `.config` of the home directory. */
export function configDir(env: Environ): string {
  const { XDG_CONFIG_HOME: config, HOME: home } = env;
  return env['FLOCK_CONFIG_DIR'] || join(config || join(home || homedir(), '.config'), 'flock');
}

/** The name that is asked for, else FLOCK_PROFILE, else `default`. Throws: CommandFailed. */
export function profileName(asked: string | null, env: Environ): string {
  const name = asked ?? (env['FLOCK_PROFILE'] || DEFAULT_PROFILE);
  if (NAME.test(name)) return name;
  throw new CommandFailed('PROFILE_NAME', 'the name of a profile has letters, digits, - and _, at most 32');
}

/** Null: there is none. Throws: CommandFailed where others may read or write it, or it is no profile. */
export function readProfile(name: string, env: Environ): Profile | null {
  const text = readPrivate(join(configDir(env), `${name}.json`), env);
  if (text === null) return null;
  const { url, apiKey } = parsed(text, name);
  if (typeof url === 'string' && typeof apiKey === 'string') return { url, apiKey };
  throw new CommandFailed('PROFILE_INVALID', `profile ${name} is no profile: make it again with flock login`);
}

export function writeProfile(name: string, profile: Profile, env: Environ): void {
  writePrivate(`${name}.json`, JSON.stringify(profile), env);
}

/** Whether there was one. */
export function removeProfile(name: string, env: Environ): boolean {
  const dir = openDir(env);
  const existed = dir !== null && namesIn(dir).includes(name);
  if (dir !== null)
    for (const file of [`${name}.json`, `${name}.listen.json`, `${name}.secret.json`])
      rmSync(join(dir, file), { force: true });
  return existed;
}

export function profileNames(env: Environ): string[] {
  const dir = openDir(env);
  return dir === null ? [] : namesIn(dir);
}

const namesIn = (dir: string): string[] =>
  readdirSync(dir)
    .filter((file) => file.endsWith('.json') && NAME.test(file.slice(0, -'.json'.length)))
    .map((file) => file.slice(0, -'.json'.length))
    .toSorted();

/** What a command keeps beside a profile; null where there is nothing. Throws: CommandFailed. */
export function readKept(name: string, what: string, env: Environ): Readonly<Record<string, unknown>> | null {
  const text = readPrivate(join(configDir(env), `${name}.${what}.json`), env);
  return text === null ? null : parsed(text, `${name}.${what}`);
}
export function writeKept(name: string, what: string, value: object, env: Environ): void {
  writePrivate(`${name}.${what}.json`, JSON.stringify(value), env);
}

function parsed(text: string, name: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // said below
  }
  throw new CommandFailed('PROFILE_INVALID', `${name}.json is no JSON object: remove it, and log in again`);
}

/** Null: it is not there. */
function openDir(env: Environ): string | null {
  const dir = configDir(env);
  return isPrivate(dir, '700') ? dir : null;
}

function readPrivate(file: string, env: Environ): string | null {
  return openDir(env) === null || !isPrivate(file, '600') ? null : readFileSync(file, 'utf8');
}

/** False: there is no such file. Throws: CommandFailed where anybody else may read or write it. */
function isPrivate(path: string, mode: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  const uid = process.getuid?.();
  if (uid === undefined) return true; // no modes on this system
  if ((found.mode & OTHERS) !== 0)
    throw new CommandFailed(
      'PROFILE_READABLE',
      `${path} has mode ${(found.mode & 0o777).toString(8)}: others may have read the keys in it. chmod ${mode} ${path}`,
    );
  if (found.uid !== uid) throw new CommandFailed('PROFILE_OWNER', `${path} belongs to somebody else`);
  return true;
}

function writePrivate(file: string, text: string, env: Environ): void {
  const dir = configDir(env);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  openDir(env);
  const made = join(dir, `.${file}.${randomBytes(6).toString('hex')}`);
  const handle = openSync(made, 'wx', 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(made, join(dir, file));
}
