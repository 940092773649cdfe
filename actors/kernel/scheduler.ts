/**
 * The only file that touches nact. What we take from it is scheduling: one turn of an actor at a time, and a tree.
 * A leaf's mailbox is our own; nact only gets the message "this leaf has work" and carries at most one such wake per
 * leaf, so that a turn can take everything that waits. Never used, for what test/actors/kernel/nact-*.test.ts shows:
 * `query`, `spawnStateless`, `spawnPersistent`, `shutdownAfter`, `initialStateFunc`, `reset`, `afterStop`.
 */
import * as nact from 'nact';

/** What a leaf offers: one turn. It must not reject; `broken` is called when it does all the same. */
export interface Runnable {
  run(): Promise<void>;
  broken(error: unknown): void;
}

export type ActorRef = nact.Ref<unknown>;

const WAKE = 'wake';

// A handler shared by all leaves, with the leaf as its state: an idle leaf costs no closure of its own.
async function runLeaf(leaf: Runnable): Promise<Runnable> {
  try {
    await leaf.run();
  } catch (error) {
    leaf.broken(error);
  }
  return leaf;
}

// nact's default stops the actor, drops its mailbox and prints the message; a policy that throws wedges it for good.
const keepRunning = (_message: unknown, _error: unknown, context: { resume: symbol }): symbol => context.resume;

/** A new tree with its own random name. */
export function startRoot(): ActorRef {
  return nact.start() as ActorRef;
}

/** A parent that holds children and never gets a message: nact copies a receiver's child map on each message. */
export function spawnParent(parent: ActorRef, name: string): ActorRef {
  return nact.spawn(parent, (state: unknown) => state, name, { onCrash: keepRunning as never }) as ActorRef;
}

/** Throws: when the parent has stopped or has a child of that name. */
export function spawnLeaf(parent: ActorRef, name: string, leaf: Runnable): ActorRef {
  return nact.spawn(parent, runLeaf, name, { initialState: leaf, onCrash: keepRunning as never }) as ActorRef;
}

/** Lets the leaf have one turn. At most one wake is under way per leaf; the caller sees to it. */
export function wake(ref: ActorRef): void {
  nact.dispatch(ref, WAKE);
}

/** Takes one actor out of the tree. Its children must be stopped first: nact would leave them running. */
export function stopActor(ref: ActorRef): void {
  nact.stop(ref);
}

/**
 * A name that nact accepts, from any text: characters outside its alphabet become `$` + four hex digits of the
 * UTF-16 unit. Injective, because `$` itself is written that way.
 */
export function actorName(text: string): string {
  if (/^[A-Za-z0-9_.-]+$/.test(text)) return text;
  return text.replace(/[^A-Za-z0-9_.-]/g, (unit) => `$${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
