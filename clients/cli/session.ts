/** Which address and key a command uses: those of the environment, else of a profile. X25. */
import { readFileSync } from 'node:fs';
import type { Flags } from '../../protocol/node/commands.ts';
import { createFlock, type Flock } from '../typescript/src/index.ts';
import { CommandFailed, type Running } from './answer.ts';
import { profileName, readProfile, type Environ, type Profile } from './profiles.ts';

export interface Session extends Profile {
  readonly flock: Flock;
  /** Null: from the environment. */
  readonly profile: string | null;
  readonly environment: 'live' | 'sandbox';
  /** An edge's local key; else one of the cloud. */
  readonly isEdge: boolean;
}

/** `flk_test_…` and the like. */
const KEY = /^(flk|loc)_(live|test)_[!-~]+$/;

/** Throws: CommandFailed. The key is in no message. */
export function sessionOf(flags: Flags, { signal }: Running, env: Environ = process.env): Session {
  const given = flags.profile === null ? fromEnvironment(env) : null;
  if (given !== null) return opened(given, null, signal);
  const name = profileName(flags.profile, env);
  const profile = readProfile(name, env);
  if (profile === null)
    throw new CommandFailed(
      'NO_PROFILE',
      `there is no profile ${name}: make it with flock login, or give FLOCK_URL and FLOCK_API_KEY_FILE`,
    );
  return opened(profile, name, signal);
}

/** Null: no key is in the environment. */
function fromEnvironment(env: Environ): Profile | null {
  const [key, file, url] = [env['FLOCK_API_KEY'], env['FLOCK_API_KEY_FILE'], env['FLOCK_URL']];
  if (!key && !file) return null;
  if (key && file) throw new CommandFailed('TWO_KEYS', 'FLOCK_API_KEY and FLOCK_API_KEY_FILE are both set: unset one');
  if (!url) throw new CommandFailed('NO_URL', 'FLOCK_URL is needed with a key: the address of the cloud or of an edge');
  return { url, apiKey: key || keyIn(file!) };
}

function keyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandFailed('KEY_FILE', `FLOCK_API_KEY_FILE is not read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Throws: CommandFailed for what is no key. */
export function opened({ url, apiKey }: Profile, profile: string | null, signal: AbortSignal): Session {
  const found = KEY.exec(apiKey);
  if (found === null)
    throw new CommandFailed(
      'KEY_FORM',
      'a key begins with flk_live_, flk_test_, loc_live_ or loc_test_, without spaces',
    );
  const flock = interruptible(createFlock({ baseUrl: url, apiKey }), signal);
  const environment = found[2] === 'live' ? 'live' : 'sandbox';
  return { url, apiKey, flock, profile, environment, isEdge: found[1] === 'loc' };
}

type Method = (argument: unknown, how?: { readonly signal?: AbortSignal }) => unknown;

/** Each call ends with the signal: an interrupted command waits for none. */
function interruptible(flock: Flock, signal: AbortSignal): Flock {
  const ending =
    (call: Method): Method =>
    (argument, how = {}) =>
      call(argument, { ...how, signal: how.signal === undefined ? signal : AbortSignal.any([signal, how.signal]) });
  const methods = Object.entries(flock as unknown as Readonly<Record<string, Method & { all?: Method }>>);
  return Object.fromEntries(
    methods.map(([id, call]) => {
      const { all } = call;
      return [id, all === undefined ? ending(call) : Object.assign(ending(call), { all: ending(all) })];
    }),
  ) as unknown as Flock;
}
