/** Are the ports of developer mode free? Asked before anything is started, and answered in words that help. */
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface WantedPort { setting: 'CLOUD_PORT' | 'EDGE_PORT'; port: number }

const LOOK_AGAIN_MS = 200;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

async function taken(wanted: readonly WantedPort[]): Promise<WantedPort[]> {
  const free = await Promise.all(wanted.map(({ port }) => port === 0 || isFree(port)));
  return wanted.filter((_, index) => !free[index]);
}

/**
 * Resolves when all wanted ports are free; after a killed start its parts may still be ending, so it waits up to
 * `patienceMs`. Port 0 is any. Throws: Error naming every port that is taken and how to choose others.
 */
export async function requireFreePorts(wanted: readonly WantedPort[], patienceMs: number): Promise<void> {
  const [first, second] = wanted;
  if (first !== undefined && second !== undefined && first.port === second.port && first.port !== 0) {
    throw new Error(`${first.setting} and ${second.setting} are both ${first.port}: choose two ports`);
  }
  const deadline = performance.now() + patienceMs;
  let left = await taken(wanted);
  while (left.length > 0 && performance.now() < deadline) {
    await pause(LOOK_AGAIN_MS);
    left = await taken(left);
  }
  if (left.length === 0) return;
  const others = left.map(({ setting, port }) => `${setting}=${port + 10}`).join(' ');
  throw new Error(`${left.map(({ setting, port }) => `port ${port} (${setting}) is in use by another program`).join('\n')}
Stop what uses it, or choose other ports:  ${others} npm start`);
}
