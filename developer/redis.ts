/** Redis for several nodes of developer mode: REDIS_URL, or a server of the path that ends with this process. */
import { spawn, spawnSync } from 'node:child_process';
import { freePort } from './ports.ts';

const SERVERS = ['redis-server', 'valkey-server'];

export interface DeveloperRedis {
  /** Null where there is none: the nodes do without. */
  readonly url: string | null;
  /** For people: which one it is. */
  readonly words: string;
  stop(): void;
}

export async function developerRedis(env: NodeJS.ProcessEnv): Promise<DeveloperRedis> {
  const given = env['REDIS_URL'];
  if (given !== undefined && given !== '') return { url: given, words: 'Redis of REDIS_URL', stop: () => undefined };
  const command = SERVERS.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
  if (command === undefined) {
    return {
      url: null,
      words:
        'no Redis (neither REDIS_URL nor redis-server or valkey-server on the path; Debian: apt-get install redis-server): each node counts requests alone, nothing else changes',
      stop: () => undefined,
    };
  }
  const port = await freePort();
  const child = spawn(
    command,
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--daemonize', 'no'],
    { stdio: 'ignore' },
  );
  const stop = (): void => void child.kill('SIGTERM');
  process.once('exit', stop);
  return { url: `redis://127.0.0.1:${port}`, words: `${command} on port ${port}`, stop };
}
