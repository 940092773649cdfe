/** `flock-edge sources` as a process: secrets on its standard input, or typed on a terminal. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ENTRY = fileURLToPath(new URL('../../../edge/cli/flock-edge.ts', import.meta.url));

export interface Ran {
  readonly code: number | null;
  /** JSON lines of the answer. */
  readonly answers: Record<string, unknown>[];
  readonly out: string;
  readonly err: string;
  /** Command line and environment as the system shows them while it waits for its first secret. */
  readonly seen: string;
}

type Env = Readonly<Record<string, string>>;

/** Runs a command; `secrets` are lines of its standard input. */
export async function runSources(args: readonly string[], secrets: readonly string[], env: Env): Promise<Ran> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ENTRY, 'sources', ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let out = '',
    err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.on('error', () => undefined); // it may end without reading
  const seen = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${child.pid}/${name}`, 'latin1')).join('\n');
  child.stdin.end(secrets.map((secret) => `${secret}\n`).join(''));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const answers = out
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, answers, out, err, seen };
}

/**
 * Runs a command on a terminal of its own: `script` of util-linux. Each secret is typed when its question stands there.
 */
export async function typeSources(
  args: readonly string[],
  typed: readonly (readonly [question: string, secret: string])[],
  env: Env,
): Promise<{ code: number | null; shown: string }> {
  const quoted = [process.execPath, '--disable-warning=ExperimentalWarning', ENTRY, 'sources', ...args]
    .map((word) => `'${word}'`)
    .join(' ');
  const child = spawn('script', ['-qec', quoted, '/dev/null'], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  const waiting = [...typed];
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    const [next] = waiting;
    if (next === undefined || !shown.endsWith(next[0])) return;
    waiting.shift();
    child.stdin.write(`${next[1]}\r`);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, shown };
}
