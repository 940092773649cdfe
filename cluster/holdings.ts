/**
 * What one node owns of a kind of things (shards, chains), as a state machine without clock or promise. The shell
 * reads the owners from the database and carries out what `plan` says.
 *
 *   state      what this node does with the thing
 *   none       nothing; forwards to its owner
 *   held       serves it under an epoch
 *   leaving    serves what is at work and takes nothing new in; then gives it back
 *
 *   none    --its place is here, nobody serves it, claimed in the database-->  held
 *   held    --its place is another node that lives-->                          leaving
 *   leaving --nothing is at work any more, released in the database-->         none
 *   held, leaving --the database has another owner or epoch-->                 none   (lost: nothing is written)
 *
 * A claim is an attempt: of several nodes that claim one thing the database takes one. A claim or a release whose
 * answer was lost is made again: what the database says is this node's, and is not held, is claimed under a new epoch.
 */
import type { Holding } from '../model/ports/cluster-store.ts';

export interface Plan<Key> {
  /** Owned by somebody else, or under another epoch: forget them at once. */
  readonly lost: readonly Key[];
  /** Another node should have them: stop taking in, finish, release. */
  readonly handOver: readonly Key[];
  /** Nobody serves them and they belong here: claim them. */
  readonly claim: readonly Key[];
}

export interface View<Key> {
  readonly self: string;
  /** Who should own a thing, of the nodes that live; null when none may. */
  placeOf(key: Key): string | null;
  ownerOf(key: Key): Holding | undefined;
  /** False for a node that just came back itself: that others are silent may be its own fault. */
  readonly mayTakeOver: boolean;
}

export class Holdings<Key> {
  readonly #held = new Map<Key, number>();
  readonly #leaving = new Set<Key>();

  /** Epoch of a thing that is served here and takes new work; undefined otherwise. */
  epochOf(key: Key): number | undefined {
    return this.#leaving.has(key) ? undefined : this.#held.get(key);
  }

  /** Epoch under which what is at work may still be written. */
  writingEpochOf(key: Key): number | undefined {
    return this.#held.get(key);
  }

  held(): Key[] {
    return [...this.#held.keys()].filter((key) => !this.#leaving.has(key));
  }

  get size(): number {
    return this.#held.size - this.#leaving.size;
  }

  /** What to do, given what is known now. Changes nothing. */
  plan(keys: Iterable<Key>, view: View<Key>): Plan<Key> {
    const plan = { lost: [] as Key[], handOver: [] as Key[], claim: [] as Key[] };
    for (const key of keys) {
      const epoch = this.#held.get(key),
        owner = view.ownerOf(key);
      if (epoch !== undefined && (owner === undefined || owner.owner !== view.self || owner.epoch !== epoch)) {
        // An answer that is older than the claim: the database never goes back.
        if (owner !== undefined && owner.epoch >= epoch) plan.lost.push(key);
        continue;
      }
      const place = view.placeOf(key);
      if (epoch !== undefined) {
        // A release whose answer did not come: once more, also where the place is here again. Then it is claimed.
        if (this.#leaving.has(key) || (place !== null && place !== view.self)) plan.handOver.push(key);
        continue;
      }
      if (place !== view.self) {
        // Claimed with an answer that was lost, and meanwhile another node's: it goes back unserved.
        if (owner?.owner === view.self && place !== null) plan.handOver.push(key);
        continue;
      }
      const isFree = owner === undefined || owner.owner === null || (owner.vacant && view.mayTakeOver);
      if (isFree || owner?.owner === view.self) plan.claim.push(key);
    }
    return plan;
  }

  claimed(epochs: ReadonlyMap<Key, number>): void {
    for (const [key, epoch] of epochs) {
      this.#held.set(key, epoch);
      this.#leaving.delete(key);
    }
  }

  leaving(keys: Iterable<Key>): void {
    for (const key of keys) if (this.#held.has(key)) this.#leaving.add(key);
  }

  /** Released, or lost. */
  forget(keys: Iterable<Key>): void {
    for (const key of keys) {
      this.#held.delete(key);
      this.#leaving.delete(key);
    }
  }
}
