/** Are the ports of developer mode free? Asked before anything is started, and answered in words that help. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface WantedPort {
  setting: 'CLOUD_PORT' | 'EDGE_PORT';
  port: number;
}

/** Null where the port can be had, else the code of the error. */
export type TryPort = (port: number) => Promise<string | null>;

const LOOK_AGAIN_MS = 200;
/** Ports from here on are any user's. */
const UNPRIVILEGED = 1_024;
const ANOTHER = 10;
const ANOTHER_UNPRIVILEGED = 8_100;

const tryPort: TryPort = (port) =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(null)));
  });

/** Below those that systems give to outgoing connections: none takes one while its server restarts. */
const [FREE_FROM, FREE_TO] = [10_000, 32_000];
const FREE_TRIES = 100;

/** A port that nobody has now. Throws: Error with the code of the last that was tried. */
export async function freePort(): Promise<number> {
  let code: string | null = null;
  for (let tries = 0; tries < FREE_TRIES; tries += 1) {
    const port = randomInt(FREE_FROM, FREE_TO);
    code = await tryPort(port);
    if (code === null) return port;
  }
  throw new Error(`no port from ${FREE_FROM} to ${FREE_TO} can be had (${code})`);
}

interface Refused extends WantedPort {
  code: string;
}

async function refused(wanted: readonly WantedPort[], attempt: TryPort): Promise<Refused[]> {
  const codes = await Promise.all(wanted.map(({ port }) => (port === 0 ? null : attempt(port))));
  return wanted.flatMap((one, index) => (codes[index] == null ? [] : [{ ...one, code: codes[index] }]));
}

function reason({ setting, port, code }: Refused): string {
  return code === 'EADDRINUSE'
    ? `port ${port} (${setting}) is in use by another program`
    : `port ${port} (${setting}) cannot be used by this user (${code})`;
}

/**
 * Resolves when all wanted ports are free; after a killed start its parts may still be ending, so it waits up to
 * `patienceMs`. Port 0 is any. Throws: Error naming every port that cannot be had and how to choose others.
 */
export async function requireFreePorts(
  wanted: readonly WantedPort[],
  patienceMs: number,
  attempt: TryPort = tryPort,
): Promise<void> {
  const [first, second] = wanted;
  if (first !== undefined && second !== undefined && first.port === second.port && first.port !== 0) {
    throw new Error(`${first.setting} and ${second.setting} are both ${first.port}: choose two ports`);
  }
  const deadline = performance.now() + patienceMs;
  let left = await refused(wanted, attempt);
  while (left.some(({ code }) => code === 'EADDRINUSE') && performance.now() < deadline) {
    await pause(LOOK_AGAIN_MS);
    left = await refused(left, attempt);
  }
  if (left.length === 0) return;
  const others = left
    .map(({ setting, port }) => `${setting}=${port + (port < UNPRIVILEGED ? ANOTHER_UNPRIVILEGED : ANOTHER)}`)
    .join(' ');
  throw new Error(`${left.map(reason).join('\n')}
Stop what uses it, or choose other ports:  ${others} npm start`);
}
