/**
 * What is done to the processes of a Flock while it works: kills, freezes, a crashed database, clocks that are wrong.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Child } from '../../../developer/children.ts';
import type { TenChains } from '../soak/ten-chains.ts';
import { between, oneOf, type Random } from '../soak/soak-chain.ts';

const FAKETIME = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find(existsSync);
/** Requests of an edge are refused beyond 300 s. */
const CLOCK_STEP_SECONDS_MAX = 240;
const FREEZE_MS_MAX = 4_000;
const PAUSE_MS = { least: 1_500, most: 5_000 };

/** A wall clock that a running process can be made to misread. Only the wall clock: time passes as it does. */
export interface SteppedClock {
  readonly env: Readonly<Record<string, string>>;
  step(seconds: number): void;
}

/** Throws: Error that names the package, where the machine lacks it. */
export function steppedClock(directory: string, name: string): SteppedClock {
  if (FAKETIME === undefined) throw new Error('libfaketime is missing: apt-get install faketime');
  const file = join(directory, `${name}.clock`);
  const step = (seconds: number): void => writeFileSync(file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
  step(0);
  return {
    env: {
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    step,
  };
}

export interface Sabotage {
  /** Goes on until `isOver`; then every process runs, with right clocks. What was done, by name. */
  run(isOver: () => boolean): Promise<ReadonlyMap<string, number>>;
}

export function createSabotage(
  flock: TenChains,
  clocks: { cloud: SteppedClock; edge: SteppedClock },
  random: Random,
): Sabotage {
  const { deployment, sql } = flock;
  const done = new Map<string, number>();
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const restart = async (child: Child, again: () => Promise<unknown>): Promise<void> => {
    child.kill('SIGKILL');
    await child.exited;
    await pause(between(random, 0, 1_000));
    await again();
  };
  const freeze = async (child: Child): Promise<void> => {
    child.kill('SIGSTOP');
    await pause(between(random, 500, FREEZE_MS_MAX));
    child.kill('SIGCONT');
  };
  const acts: Readonly<Record<string, () => Promise<unknown>>> = {
    'cloud killed': () => restart(deployment.cloud, () => deployment.restartCloud()),
    'edge killed': () => restart(deployment.edge, () => deployment.restartEdge()),
    'cloud and edge killed': async () => {
      deployment.edge.kill('SIGKILL');
      await deployment.edge.exited;
      await restart(deployment.cloud, () => deployment.restartCloud());
      await deployment.restartEdge();
    },
    'cloud frozen': () => freeze(deployment.cloud),
    'edge frozen': () => freeze(deployment.edge),
    'database crashed': async () => {
      const rows = await sql<
        { pid: number }[]
      >`select pid from pg_stat_activity where application_name like 'flock%' and pid <> pg_backend_pid() limit 1`;
      if (rows[0] === undefined) return;
      try {
        process.kill(rows[0].pid, 'SIGKILL'); // the server ends every backend and recovers from its log
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
      await pause(2_000);
    },
    'clock of the cloud wrong': async () =>
      clocks.cloud.step(between(random, -CLOCK_STEP_SECONDS_MAX, CLOCK_STEP_SECONDS_MAX)),
    'clock of the edge wrong': async () =>
      clocks.edge.step(between(random, -CLOCK_STEP_SECONDS_MAX, CLOCK_STEP_SECONDS_MAX)),
    'clocks right': async () => {
      clocks.cloud.step(0);
      clocks.edge.step(0);
    },
  };
  return {
    async run(isOver) {
      while (!isOver()) {
        await pause(between(random, PAUSE_MS.least, PAUSE_MS.most));
        const name = oneOf(random, Object.keys(acts));
        await acts[name]!();
        done.set(name, (done.get(name) ?? 0) + 1);
      }
      clocks.cloud.step(0);
      clocks.edge.step(0);
      return done;
    },
  };
}
