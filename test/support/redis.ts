/**
 * A real Redis for tests, of its own, so that it can be killed and flushed: `redis-server` or `valkey-server` on the
 * path, else (root on Debian) installed; a container of REDIS_IMAGE where that is set (on-containers.ts). It ends with
 * this process.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { Redis } from 'ioredis';
import { patiently } from './company.ts';
import { freePort } from '../../developer/ports.ts';

export interface TestRedis {
  readonly url: string;
  /** SIGKILL, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again on its port, empty. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay, nothing is answered. */
  freeze(): void;
  /** Starts it again where it is dead or frozen. */
  ensure(): Promise<void>;
  /** FLUSHALL. */
  flush(): Promise<void>;
  /** What it holds now, as an older file would. */
  copy(): Promise<RedisCopy>;
  /** Kills it; it starts again with what it held then, as from an older file. */
  restore(copy: RedisCopy): Promise<void>;
}

/** Keys with their dumped values and the milliseconds that they have left, -1 for ever. */
export type RedisCopy = readonly (readonly [key: string, value: Buffer, leftMs: number])[];

const SERVERS = ['redis-server', 'valkey-server'];
const onPath = (name: string): boolean => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0;

/** Throws: Error that names what is missing. */
function serverCommand(): string {
  const found = SERVERS.find(onPath);
  if (found !== undefined) return found;
  try {
    execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'redis-server'], {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  } catch {
    // Not root, not Debian, or no network: said below.
  }
  if (!onPath('redis-server')) throw new Error('redis-server is missing: apt-get install redis-server');
  return 'redis-server';
}

/** One server, as a process or as a container. */
interface Running {
  /** SIGKILL, and resolves when it is gone. */
  kill(): Promise<void>;
  freeze(): void;
}

/** A frozen one answers nothing. */
const ASK_MS = 1_000;
/** Nothing is kept on a disk. */
const ARGUMENTS = ['--save', '', '--appendonly', 'no'];

function launchProcess(command: string, port: number): Running {
  const child: ChildProcess = spawn(command, ['--port', String(port), '--bind', '127.0.0.1', ...ARGUMENTS], {
    stdio: 'ignore',
  });
  const orphaned = () => child.kill('SIGKILL');
  process.once('exit', orphaned);
  child.once('exit', () => process.off('exit', orphaned));
  return {
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    },
    freeze: () => {
      child.kill('SIGSTOP');
    },
  };
}

/** The same by an image: the engine kills it, or pauses all its processes. */
async function launchContainer(image: string, port: number): Promise<Running> {
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers');
  const started = await new GenericContainer(image)
    .withExposedPorts({ container: 6379, host: port })
    .withCommand(['redis-server', ...ARGUMENTS])
    .start();
  const { container } = await getContainerRuntimeClient();
  const running = container.getById(started.getId());
  let over: Promise<unknown> | null = null;
  return {
    kill: async () => void (await (over ??= running.remove({ force: true }))),
    freeze: () => void running.pause(),
  };
}

async function launch(port: number): Promise<Running> {
  const image = process.env['REDIS_IMAGE'];
  const running = image === undefined ? launchProcess(serverCommand(), port) : await launchContainer(image, port);
  const client = new Redis(port, '127.0.0.1', {
    lazyConnect: true,
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
  });
  client.on('error', () => undefined);
  try {
    await patiently('redis', async () => client.ping());
  } finally {
    client.disconnect();
  }
  return running;
}

/** Starts a server and stops it with the test. */
export async function startRedis(t: { teardown(close: () => Promise<void>): void }): Promise<TestRedis> {
  const port = await freePort();
  let running = await launch(port);
  t.teardown(() => running.kill());
  const restart = async (): Promise<void> => {
    await running.kill();
    running = await launch(port);
  };
  const asked = async <T>(ask: (client: Redis) => Promise<T>): Promise<T> => {
    const client = new Redis(port, '127.0.0.1', {
      lazyConnect: true,
      retryStrategy: () => null,
      commandTimeout: ASK_MS,
    });
    client.on('error', () => undefined);
    try {
      return await ask(client);
    } finally {
      client.disconnect();
    }
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    kill: () => running.kill(),
    freeze: () => running.freeze(),
    restart,
    async ensure() {
      const answer = await asked((client) => client.ping()).catch(() => null);
      if (answer !== 'PONG') await restart();
    },
    flush: async () => void (await asked((client) => client.flushall())),
    copy: () =>
      asked(async (client) => {
        const copy: [string, Buffer, number][] = [];
        for (const key of await client.keys('*')) {
          const value = await client.dumpBuffer(key);
          if (value !== null) copy.push([key, value, await client.pttl(key)]);
        }
        return copy;
      }),
    async restore(copy) {
      await restart();
      await asked(async (client) => {
        for (const [key, value, leftMs] of copy) await client.restore(key, Math.max(0, leftMs), value, 'REPLACE');
      });
    },
  };
}
