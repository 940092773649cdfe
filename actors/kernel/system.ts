/** The supervised tree of one process: root → branches → leaves. */
import type { Address } from './address.ts';
import { noDeadLetters, type DeadLetters } from './envelope.ts';
import type { KernelLog, RestartPolicy } from './fault.ts';
import type { Leaf } from './leaf.ts';
import { Region, SHARDS, shardName, type Entities, type EntitySpec } from './region.ts';
import { actorName, startRoot } from './scheduler.ts';
import type { KernelHooks, Shared } from './shared.ts';
import { Deadlines, type Clock } from './timers.ts';
import { Branch, inspectionOf, type Inspection } from './tree.ts';
import { WorkerLeaf, type WorkerSpec } from './worker.ts';

export interface SystemSpec {
  readonly log: KernelLog;
  readonly clock: Clock;
  /** Uniform in [0, 1): jitter only. */
  readonly random: () => number;
  /** How entities restart, and workers, unless their own specification says otherwise. */
  readonly policies: { readonly entity: RestartPolicy; readonly worker: RestartPolicy };
  readonly hooks?: KernelHooks;
}

/** What a drain came to. */
export interface StopReport {
  /** Every turn ended and every waiting message had its turn. */
  readonly drained: boolean;
  /** Actors whose turn still ran at the deadline. They can append nothing any more. */
  readonly abandoned: readonly string[];
}

export interface SystemCounts {
  readonly waiting: number;
  /** How long the message that waits longest has waited, milliseconds; 0 when none does. */
  readonly oldestWaitMs: number;
  readonly residents: number;
  readonly deadLetters: Readonly<DeadLetters>;
}

export interface ActorSystem {
  /** All entities of a kind over a store. They live below `branch`/`shard` and are activated by their first message. */
  entities<State, Command, Event, Row, Reply>(
    spec: EntitySpec<State, Command, Event, Row, Reply>,
  ): Entities<Command, Reply>;
  /** Throws: RangeError when the path is taken or its parent full. */
  spawnWorker<Message, Reply = void>(spec: WorkerSpec<Message, Reply>): Address<Message, Reply>;
  /** Drains one worker and takes it out of the tree. False when there is none at the path. */
  stopWorker(path: string, deadlineMs: number): Promise<boolean>;
  /** The tree below a path (the root by default), `depth` levels deep; null when nothing is there. */
  inspect(path?: string, depth?: number): Inspection | null;
  /** Restarts an actor, or all below a branch: memory and fault history forgotten. False when nothing is there. */
  restart(path: string): boolean;
  counts(): SystemCounts;
  /** Refuses new messages, finishes waiting ones, waits for running turns; after `deadlineMs` goes without them. */
  stop(deadlineMs: number): Promise<StopReport>;
}

const WORKER_MAILBOX_MAX = 1_000;
const PATHS_LOGGED_MAX = 20;
/** Overflow parents of one shard are looked through from the newest; more than this means the shard count is wrong. */
const PARENTS_PER_SHARD_MAX = 1_000;

class System implements ActorSystem {
  readonly #spec: SystemSpec;
  readonly #shared: Shared;
  readonly #root = new Branch('', '', startRoot());
  readonly #regions: { readonly residents: number; stop(): void }[] = [];
  #stopped: Promise<StopReport> | null = null;

  constructor(spec: SystemSpec) {
    this.#spec = spec;
    this.#shared = {
      clock: spec.clock,
      random: spec.random,
      log: spec.log,
      hooks: spec.hooks ?? {},
      deadlines: new Deadlines(spec.clock),
      deadLetters: noDeadLetters(),
      waiting: 0,
    };
  }

  entities<State, Command, Event, Row, Reply>(
    spec: EntitySpec<State, Command, Event, Row, Reply>,
  ): Entities<Command, Reply> {
    const branch = this.#root.branch(spec.branch ?? SHARDS);
    const region = new Region(this.#shared, spec, this.#spec.policies.entity, (shard) => parentOfShard(branch, shard));
    this.#regions.push(region);
    return region;
  }

  spawnWorker<Message, Reply>(spec: WorkerSpec<Message, Reply>): Address<Message, Reply> {
    if (this.#stopped !== null) throw new RangeError('the system stops');
    const names = spec.path.split('/').map(actorName);
    const parent = names.slice(0, -1).reduce((at, name) => at.branch(name), this.#root);
    const name = names.at(-1)!;
    if (parent.children.has(name)) throw new RangeError(`${spec.path} is taken`);
    if (parent.full) throw new RangeError(`${parent.path} is full`);
    const leaf = new WorkerLeaf(this.#shared, parent, name, spec, {
      policy: spec.policy ?? this.#spec.policies.worker,
      mailboxMax: spec.mailboxMax ?? WORKER_MAILBOX_MAX,
    });
    leaf.enter();
    return leaf.address;
  }

  async stopWorker(path: string, deadlineMs: number): Promise<boolean> {
    const leaf = this.#root.find(path);
    if (!(leaf instanceof WorkerLeaf)) return false;
    await this.#drain([leaf], deadlineMs);
    leaf.leave();
    return true;
  }

  inspect(path = '', depth = Number.POSITIVE_INFINITY): Inspection | null {
    const at = this.#root.find(path);
    return at === undefined ? null : inspectionOf(at, depth);
  }

  restart(path: string): boolean {
    const at = this.#root.find(path);
    if (at === undefined) return false;
    for (const leaf of at instanceof Branch ? [...at.leaves()] : [at]) leaf.restart();
    return true;
  }

  counts(): SystemCounts {
    const { waiting, deadLetters } = this.#shared;
    return {
      waiting,
      oldestWaitMs: waiting === 0 ? 0 : this.#oldestWaitMs(),
      deadLetters: { ...deadLetters },
      residents: this.#regions.reduce((sum, region) => sum + region.residents, 0),
    };
  }

  /** Looks until it has seen all that waits. */
  #oldestWaitMs(): number {
    let left = this.#shared.waiting,
      sinceMs = this.#shared.clock.elapsedMs();
    const nowMs = sinceMs;
    for (const leaf of this.#root.leaves()) {
      sinceMs = Math.min(sinceMs, leaf.waitsSinceMs ?? sinceMs);
      left -= leaf.depth;
      if (left <= 0) break;
    }
    return nowMs - sinceMs;
  }

  stop(deadlineMs: number): Promise<StopReport> {
    this.#stopped ??= this.#stop(deadlineMs);
    return this.#stopped;
  }

  async #stop(deadlineMs: number): Promise<StopReport> {
    for (const region of this.#regions) region.stop();
    const abandoned = await this.#drain([...this.#root.leaves()], deadlineMs);
    this.#root.takeDown();
    this.#shared.deadlines.clear();
    return { drained: abandoned.length === 0, abandoned };
  }

  /** Paths of those that had to be abandoned. */
  #drain(leaves: readonly Leaf[], deadlineMs: number): Promise<string[]> {
    const { clock, log } = this.#shared;
    const working = new Set(leaves);
    return new Promise((resolve) => {
      const timer = clock.setTimer(deadlineMs, () => {
        const abandoned = [...working],
          paths = abandoned.map((leaf) => leaf.path);
        resolve(paths);
        log.error({ actors: paths.slice(0, PATHS_LOGGED_MAX) }, 'abandoned at the deadline');
        for (const leaf of abandoned) leaf.abandon();
      });
      const settle = (): void => {
        if (working.size > 0) return;
        clock.clearTimer(timer);
        resolve([]);
      };
      for (const leaf of leaves)
        leaf.drain(() => {
          working.delete(leaf);
          settle();
        });
      settle();
    });
  }
}

/** The first parent of the shard that has room: `0007`, then `0007.1`, `0007.2`, … */
function parentOfShard(branch: Branch, shard: number): Branch {
  const first = branch.branch(shardName(shard));
  for (let number = 1, parent = first; number <= PARENTS_PER_SHARD_MAX; number++) {
    if (!parent.full) return parent;
    parent = branch.branch(`${shardName(shard)}.${number}`);
  }
  throw new RangeError(`shard ${shard} has ${PARENTS_PER_SHARD_MAX} full parents`);
}

/** An empty tree. The caller owns it and must `stop` it. */
export function createSystem(spec: SystemSpec): ActorSystem {
  return new System(spec);
}
