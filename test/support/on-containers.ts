/**
 * The suites of the stores once more on the images of the production shape (compose.yaml) and on the oldest supported
 * PostgreSQL, where a Docker engine is there. Without one, and for an image that the engine cannot get, it says by name
 * what was not run: the parts of the distribution serve the rest of the suite. Ends with AVA's exit code.
 *   node test/support/on-containers.ts
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { GenericContainer, getContainerRuntimeClient, Wait, type StartedTestContainer } from 'testcontainers';
import { parse } from 'yaml';
import { ROOT } from './tree.ts';

const OLDEST_POSTGRES = 'postgres:15';
/** One suite runs against every implementation of a port; what these files hold is held here too. */
const POSTGRES_SUITES = [
  'test/contract/{watch-store,sandbox-store}.test.ts',
  'test/integration/persistence/{accounts,deliveries,fences,lists,races}.test.ts',
];
const REDIS_SUITES = ['test/contract/rate-limiter.test.ts'];

interface Composed {
  readonly services: Readonly<Record<'postgres' | 'redis', { readonly image: string }>>;
}
const { services } = parse(readFileSync(`${ROOT}compose.yaml`, 'utf8'), { merge: true }) as Composed;
const POSTGRES_IMAGES = [services.postgres.image, OLDEST_POSTGRES];
const REDIS_IMAGE = services.redis.image;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** AVA's exit code. */
function run(suites: readonly string[], env: Readonly<Record<string, string>>): number {
  const { status } = spawnSync(process.execPath, ['node_modules/ava/entrypoints/cli.js', ...suites], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return status ?? 1;
}

function startPostgres(image: string): Promise<StartedTestContainer> {
  return new GenericContainer(image)
    .withEnvironment({ POSTGRES_PASSWORD: 'test', POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale=C.UTF-8' })
    .withCommand(['postgres', '-c', 'max_connections=300', '-c', 'fsync=off'])
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2)) // initdb has one of its own
    .start();
}

/** The suites on one image. Answers the exit code; 0 for an image that cannot be had, which is named. */
async function onPostgres(image: string): Promise<number> {
  let container: StartedTestContainer;
  try {
    container = await startPostgres(image);
  } catch (error) {
    say(`${image} does not start (${reasonOf(error)}): not run on it: ${POSTGRES_SUITES.join(' ')}`);
    return 0;
  }
  try {
    say(`\nOn ${image}: ${POSTGRES_SUITES.join(' ')}`);
    const url = `postgres://postgres:test@${container.getHost()}:${container.getMappedPort(5432)}/postgres`;
    return run(POSTGRES_SUITES, { DATABASE_URL: url });
  } finally {
    await container.stop();
  }
}

/** Each test starts a Redis of its own, to kill and freeze it (redis.ts): here it is only seen whether one starts. */
async function onRedis(image: string): Promise<number> {
  try {
    await (await new GenericContainer(image).start()).stop();
  } catch (error) {
    say(`${image} does not start (${reasonOf(error)}): not run on it: ${REDIS_SUITES.join(' ')}`);
    return 0;
  }
  say(`\nOn ${image}: ${REDIS_SUITES.join(' ')}`);
  return run(REDIS_SUITES, { REDIS_IMAGE: image });
}

async function engineReason(): Promise<string | null> {
  try {
    await getContainerRuntimeClient();
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

const missing = await engineReason();
if (missing !== null) {
  say(
    `no Docker engine is here (${missing}).\nNot run on images: ` +
      `${POSTGRES_SUITES.join(' ')} on ${POSTGRES_IMAGES.join(', ')}; ${REDIS_SUITES.join(' ')} on ${REDIS_IMAGE}.`,
  );
} else {
  let worst = 0;
  for (const image of POSTGRES_IMAGES) worst = Math.max(worst, await onPostgres(image));
  worst = Math.max(worst, await onRedis(REDIS_IMAGE));
  process.exitCode = worst;
}
