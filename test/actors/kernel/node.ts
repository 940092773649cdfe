/** A kernel under a hand-turned clock, with what it logged and raised; stopped and checked for leaks by `close`. */
import type { ExecutionContext } from 'ava';
import {
  createSystem,
  type ActorSystem,
  type Entities,
  type EntitySpec,
  type Fault,
  type SystemSpec,
} from '../../../actors/kernel/index.ts';
import { restartPolicy, type RestartSettings } from '../../../actors/kernel/restart-policy.ts';
import { HandClock } from '../../support/clock.ts';
import { counter, counterStore, type Count, type CounterCommand, type CounterEvent, type KeyRow } from './counter.ts';

export const RESTARTS: RestartSettings = {
  firstMs: 100,
  mostMs: 1_000,
  jitterPercent: 0,
  restartsMax: 3,
  windowMs: 60_000,
  retryAfterMs: 20_000,
};

export interface TestNode {
  readonly system: ActorSystem;
  readonly clock: HandClock;
  readonly logged: { fields: Readonly<Record<string, unknown>>; message: string }[];
  readonly gaveUp: { path: string; fault: Fault }[];
  readonly batches: number[];
}

/** A kernel that stops with the test, and fails it when a timer is left over. */
export function startNode(
  t: ExecutionContext,
  restarts: Partial<RestartSettings> = {},
  more: Partial<SystemSpec> = {},
): TestNode {
  const clock = new HandClock();
  const logged: TestNode['logged'] = [],
    gaveUp: TestNode['gaveUp'] = [],
    batches: number[] = [];
  const policy = restartPolicy({ ...RESTARTS, ...restarts });
  const write = (fields: Readonly<Record<string, unknown>>, message: string): void => {
    logged.push({ fields, message });
  };
  const system = createSystem({
    clock,
    random: () => 0,
    policies: { entity: policy, worker: policy },
    log: { warn: write, error: write },
    hooks: {
      onGiveUp: (path, fault) => {
        gaveUp.push({ path, fault });
      },
      onBatch: (_kind, size) => {
        batches.push(size);
      },
    },
    ...more,
  });
  t.teardown(async () => {
    const stopping = system.stop(1);
    clock.advance(1); // Whatever a test left running is abandoned here.
    await stopping;
    if (clock.pending > 0) throw new Error(`${clock.pending} timers outlive their system`);
    if (system.counts().waiting > 0) throw new Error('messages outlive their system');
  });
  return { system, clock, logged, gaveUp, batches };
}

export type Counters = Entities<CounterCommand, Count>;
type CounterSpec = EntitySpec<Count, CounterCommand, CounterEvent, KeyRow, Count>;

/** Counters in one shard, over a fresh store unless one is given. */
export function startCounters(node: TestNode, spec: Partial<CounterSpec> = {}, store = counterStore()) {
  const counters = node.system.entities<Count, CounterCommand, CounterEvent, KeyRow, Count>({
    entity: counter,
    store: store.ownedBy(1),
    shardOf: () => 7,
    summarise: ({ total }) => ({ total }),
    ...spec,
  });
  return { counters, store };
}
