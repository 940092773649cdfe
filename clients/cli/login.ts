/** `flock login`, `logout`, `whoami`, `profiles`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Flags } from '../../protocol/node/commands.ts';
import { createSecretPrompt, PromptEnded } from '../../protocol/node/secret-prompt.ts';
import { answer, answerLine, CommandFailed, EXIT, note, running, type Running } from './answer.ts';
import { deviceKey, loginClient } from './device.ts';
import { profileName, profileNames, readProfile, removeProfile, writeProfile } from './profiles.ts';
import { opened, sessionOf, type Session } from './session.ts';

/** Where `npm start` listens. */
const DEVELOPER = { cloud: 'http://127.0.0.1:8080', edge: 'http://127.0.0.1:8081' };

/**
 * Reads the key, or has it approved in the console, asks the service whether it takes it, and keeps both. In a terminal
 * the console is the way to a key of the cloud; what is not a terminal has the key on standard input.
 */
export function login(args: readonly string[], flags: Flags): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      url: { type: 'string' },
      edge: { type: 'string' },
      dev: { type: 'boolean', default: false },
      device: { type: 'boolean', default: false },
      prompt: { type: 'boolean', default: false },
      'data-dir': { type: 'string', default: process.env['FLOCK_DATA_DIR'] || '.data' },
    },
  });
  return running(flags, async (run) => {
    const { edge, dev } = values;
    const url = edge ?? values.url ?? (dev ? DEVELOPER.cloud : process.env['FLOCK_URL']);
    if (!url || (edge !== undefined && values.url !== undefined))
      throw new CommandFailed('NO_URL', 'say where: --url of the cloud, --edge of an edge, or --dev for npm start');
    const name = profileName(flags.profile, process.env);
    if (values.device && (dev || edge !== undefined || values.prompt))
      throw new CommandFailed('DEVICE_OF_CLOUD', '--device is for a cloud: give it with --url alone');
    const isDevice = values.device || (!dev && edge === undefined && !values.prompt && process.stdin.isTTY === true);
    const apiKey = dev
      ? developerKey(values['data-dir'], edge !== undefined)
      : isDevice
        ? await approvedKey(url, run.signal)
        : await askForKey();
    const session = opened({ url, apiKey }, name, run.signal);
    if (session.isEdge !== (edge !== undefined))
      throw new CommandFailed(
        'KEY_OF_OTHER_SIDE',
        session.isEdge ? 'this is a key of an edge: give --edge URL' : 'this is a key of the cloud: give --url URL',
      );
    await isTaken(session);
    writeProfile(name, { url, apiKey }, process.env);
    answer(flags, viewOf(session), `profile ${name}: ${session.environment}, ${sideOf(session)} ${url}`);
  });
}

/** The code is shown even where notes are not: without it nobody can approve it. */
async function approvedKey(url: string, signal: AbortSignal): Promise<string> {
  try {
    return await deviceKey(
      loginClient(url),
      (text) => void process.stderr.write(`${text}\n`),
      (ms) => pause(ms, undefined, { signal }),
    );
  } catch (error) {
    if (signal.aborted) throw new CommandFailed('INTERRUPTED', 'nobody approved the code', EXIT.interrupted);
    throw error;
  }
}

async function askForKey(): Promise<string> {
  const prompt = createSecretPrompt(process.stdin, process.stderr);
  try {
    const line = await prompt.ask('API key: ');
    return line.toString('utf8').trim();
  } catch (error) {
    if (!(error instanceof PromptEnded)) throw error;
    if (error.message === 'interrupted') throw new CommandFailed('INTERRUPTED', 'no key was given', EXIT.interrupted);
    throw new CommandFailed('NO_KEY', 'the key is read from standard input: flock login --url URL < FILE');
  } finally {
    prompt.close();
  }
}

/** The sandbox's key of developer mode, as `npm start` keeps it. */
function developerKey(dataDir: string, isEdge: boolean): string {
  const file = join(dataDir, isEdge ? 'local-key.sandbox' : 'seed.json');
  try {
    const text = readFileSync(file, 'utf8');
    if (isEdge) return text.trim();
    return (JSON.parse(text) as { sandbox: { cloudApiKey: string } }).sandbox.cloudApiKey;
  } catch {
    throw new CommandFailed('NO_DEVELOPER_MODE', `${file} has no key: run npm start, or name its --data-dir`);
  }
}

/** What every key may read, on both sides. Throws: FlockError. */
const isTaken = async ({ flock }: Session): Promise<unknown> => flock.getEdgeLease({});

const sideOf = ({ isEdge }: Session): string => (isEdge ? 'edge' : 'cloud');
const viewOf = (session: Session): object => ({
  profile: session.profile,
  url: session.url,
  side: sideOf(session),
  environment: session.environment,
});

export function logout(args: readonly string[], flags: Flags): Promise<number> {
  parseArgs({ args: [...args], strict: true, options: {} });
  return running(flags, async () => {
    const name = profileName(flags.profile, process.env);
    if (!removeProfile(name, process.env)) throw new CommandFailed('NO_PROFILE', `there is no profile ${name}`);
    note(
      flags,
      'the key itself stays good: revoke it in the console, or at the edge with flock-edge local-keys revoke',
    );
    answer(flags, { removed: name }, `forgot profile ${name}`);
  });
}

export function whoami(args: readonly string[], flags: Flags): Promise<number> {
  parseArgs({ args: [...args], strict: true, options: {} });
  return running(flags, async (run: Running) => {
    const session = sessionOf(flags, run);
    await isTaken(session);
    const from = session.profile === null ? 'FLOCK_URL' : `profile ${session.profile}`;
    answer(flags, viewOf(session), `${from}: ${session.environment}, ${sideOf(session)} ${session.url}`);
  });
}

/** Asks nobody: whether a key is good is what `whoami` says. */
export function profiles(args: readonly string[], flags: Flags): Promise<number> {
  parseArgs({ args: [...args], strict: true, options: {} });
  return running(flags, async (run) => {
    const names = profileNames(process.env);
    for (const name of names) {
      const session = opened(readProfile(name, process.env)!, name, run.signal);
      if (flags.json) answerLine(viewOf(session));
      else answer(flags, null, `${name}  ${session.environment}  ${sideOf(session)}  ${session.url}`);
    }
    if (names.length === 0) note(flags, 'there are no profiles: flock login makes one');
  });
}
