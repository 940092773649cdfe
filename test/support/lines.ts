/** Runs a command of the project as a child process on given standard input, as an operator would. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './tree.ts';

export interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a file of the project to its end. The environment is the test's own. */
export async function run(
  file: string,
  args: readonly string[],
  input: string | Uint8Array | readonly Uint8Array[],
): Promise<Run> {
  const child = spawn(process.execPath, [join(ROOT, file), ...args], { cwd: ROOT });
  const out: Buffer[] = [],
    err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.on('error', () => undefined); // the command may end before it has read everything
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const parts = typeof input === 'string' || input instanceof Uint8Array ? [input] : input;
  for (const part of parts)
    if (!child.stdin.write(part))
      await new Promise((resolve) => {
        child.stdin.once('drain', resolve).once('close', resolve);
      });
  child.stdin.end();
  const code = await ended;
  return { code, out: Buffer.concat(out).toString('utf8'), err: Buffer.concat(err).toString('utf8') };
}

export type Answer = Record<string, unknown> & { readonly error?: { readonly code: string; readonly message: string } };

/** Sends requests as lines and reads one answer for each. Throws: Error when the run does not end well. */
export async function ask(
  file: string,
  args: readonly string[],
  requests: readonly object[],
): Promise<readonly Answer[]> {
  const { code, out, err } = await run(file, args, requests.map((request) => JSON.stringify(request)).join('\n'));
  if (code !== 0 || err !== '') throw new Error(`exit ${code}: ${err}`);
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Answer);
}
