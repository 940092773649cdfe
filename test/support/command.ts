/** A command line as a process: what it wrote, and the code that it ended with. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patiently } from './patience.ts';
import { ROOT } from './tree.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly said: { out: string; err: string };
  readonly ended: Promise<Ended>;
  /** Resolves when standard error, or output, has a line that matches. */
  says(pattern: RegExp): Promise<void>;
}

export type CommandEnv = Readonly<Record<string, string>>;

/** Profiles of a test, in a directory that is not made yet; with what else its commands have in the environment. */
export function commandHome(env: CommandEnv = {}): { env: CommandEnv; folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'flock-command-'));
  return {
    folder,
    env: { FLOCK_CONFIG_DIR: join(folder, 'flock'), ...env },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** `input`: what standard input has; nothing where absent, and no terminal either. */
export function startCommand(
  args: readonly string[],
  { env = {}, input, entry = 'gateway/cli/flock.ts' }: { env?: CommandEnv; input?: string; entry?: string } = {},
): Started {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--disable-sigusr1', join(ROOT, entry), ...args],
    {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    },
  );
  const said = { out: '', err: '' };
  child.stdout!.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  if (input !== undefined) child.stdin!.end(input);
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...said })));
  return {
    child,
    said,
    ended,
    says: async (pattern) => {
      await patiently(
        `${args.join(' ')} says ${pattern}`,
        async () => said.err + said.out,
        (text) => pattern.test(text) || child.exitCode !== null,
      );
      if (!pattern.test(said.err + said.out)) throw new Error(`it ended: ${said.err}${said.out}`);
    },
  };
}

export const runCommand = (...asked: Parameters<typeof startCommand>): Promise<Ended> => startCommand(...asked).ended;

/** An address where nobody listens. */
export async function nobodyAt(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
