/**
 * A node that serves alone: it takes every shard at its start, and a second one takes them from it.
 *
 *   serving    --another node took a shard-->                 superseded  (nothing is served or followed)
 *   superseded --the other left, or was silent for a lease--> serving     (new epochs; what was loaded is loaded again)
 */
import type { TimerHandle } from '../actors/kernel/timers.ts';
import type { Ownership } from '../model/ports/account-store.ts';
import type { Trouble } from '../model/ports/serving.ts';
import { SHARD_COUNT } from '../protocol/node/ids.ts';
import { Heartbeat, type HeartbeatDeps } from './heartbeat.ts';

const TURN_AGAIN_MS = 500;
const ALL_SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);

export interface AloneDeps extends HeartbeatDeps {
  readonly ownership: Ownership;
  /** Of this process alone: two processes with one name are two nodes. */
  readonly nodeId: string;
}

/** What the parts of a node do when it changes. Called in turn, again after a rejection while it is still so. */
export interface Turns {
  superseded(): Promise<void>;
  regained(): Promise<void>;
}

/** What the gateway asks before and while it serves a request, and who owns a shard. */
export class Alone extends Heartbeat {
  readonly #deps: AloneDeps;
  readonly #epochs = new Map<number, number>();
  #superseded = false;
  #turns: Turns | null = null;
  /** What the parts were brought to, and whether they are being brought to something. */
  #steppedBack = false;
  #turning: Promise<void> | null = null;
  #stopped = false;

  constructor(deps: AloneDeps) {
    super(deps);
    this.#deps = deps;
  }

  /** Takes every shard from its owner. Throws: NotDurable. */
  async claim(): Promise<void> {
    await this.requireDurable();
    const { ownership, nodeId } = this.#deps;
    this.#keep(await ownership.claimShards(nodeId, ALL_SHARDS));
    await this.look();
  }

  /** From now on the parts follow. */
  follow(turns: Turns): void {
    this.#turns = turns;
    this.#turn();
  }

  /** Ends the heartbeat and leaves: the shards are vacant at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.end();
    await this.#turning;
    await this.#deps.ownership.leaveNode(this.#deps.nodeId);
  }

  /** Epoch under which this node owns a shard; undefined when it does not. */
  epochOf(shard: number): number | undefined {
    return this.#superseded ? undefined : this.#epochs.get(shard);
  }

  protected override ownTrouble(): Trouble | null {
    return this.#superseded ? 'superseded' : null;
  }

  protected async beat(): Promise<void> {
    const { ownership, nodeId, leaseSeconds } = this.#deps;
    const { owned, vacant } = await ownership.renewNode(nodeId, leaseSeconds);
    if (owned === SHARD_COUNT && !this.#superseded) return;
    // Also when all of them come back below: somebody else wrote meanwhile.
    this.#setSuperseded(true);
    if (owned + vacant < SHARD_COUNT || this.#stopped) return;
    // What is this node's already too: the answer of its last claim may have been lost.
    const claimed = await ownership.claimVacantShards(nodeId, leaseSeconds);
    this.#keep(claimed);
    this.#setSuperseded(claimed.size < SHARD_COUNT);
  }

  #keep(epochs: ReadonlyMap<number, number>): void {
    for (const [shard, epoch] of epochs) this.#epochs.set(shard, epoch);
  }

  #setSuperseded(superseded: boolean): void {
    if (this.#superseded === superseded) return;
    this.#superseded = superseded;
    const { log } = this.#deps;
    if (superseded) {
      log.warn('another node serves now: this one waits until it is gone');
      this.cut('superseded');
    } else log.info('this node serves again');
    this.#turn();
  }

  #turn(): void {
    this.#turning ??= this.#bring().finally(() => {
      this.#turning = null;
    });
  }

  async #bring(): Promise<void> {
    while (this.#turns !== null && !this.#stopped && this.#steppedBack !== this.#superseded) {
      const goal = this.#superseded;
      try {
        await (goal ? this.#turns.superseded() : this.#turns.regained());
        this.#steppedBack = goal;
      } catch (error) {
        this.#deps.log.warn({ err: error }, 'a part of the node did not follow; it is tried again');
        await new Promise<TimerHandle>((resolve) => {
          this.clock.setTimer(TURN_AGAIN_MS, () => resolve(null));
        });
      }
    }
  }
}
