/** The tree as a registry of our own: nact loses sight of the children of a stopped parent, this does not. */
import type { Fault } from './fault.ts';
import type { Leaf, Phase } from './leaf.ts';
import { spawnParent, stopActor, type ActorRef } from './scheduler.ts';
import type { Parent } from './shared.ts';

/**
 * Actors below one parent. Choice: nact copies the map of children with each message; parents of parents are bounded by
 * the shard count.
 */
export const LEAVES_PER_PARENT_MAX = 1_000;

/** One actor, or one parent with what is below it, as an administrator sees it. */
export interface Inspection {
  readonly path: string;
  readonly kind: string;
  readonly id: string;
  readonly phase: Phase | 'parent';
  readonly mailboxDepth: number;
  readonly messagesHandled: number;
  readonly restarts: number;
  readonly lastFault: Fault | null;
  readonly summary: Readonly<Record<string, unknown>> | null;
  readonly childCount: number;
  /** Absent below the depth that was asked for. */
  readonly children?: readonly Inspection[];
}

export class Branch implements Parent {
  readonly path: string;
  readonly name: string;
  readonly ref: ActorRef;
  readonly children = new Map<string, Leaf | Branch>();

  constructor(name: string, path: string, ref: ActorRef) {
    this.name = name;
    this.path = path;
    this.ref = ref;
  }

  get full(): boolean {
    return this.children.size >= LEAVES_PER_PARENT_MAX;
  }

  /** The parent of that name below this one, made if need be. Throws: RangeError when an actor has the name. */
  branch(name: string): Branch {
    const known = this.children.get(name);
    if (known instanceof Branch) return known;
    if (known !== undefined) throw new RangeError(`${known.path} is an actor, not a branch`);
    const made = new Branch(name, this.path === '' ? name : `${this.path}/${name}`, spawnParent(this.ref, name));
    this.children.set(name, made);
    return made;
  }

  /** The leaf or branch at a path below this one. */
  find(path: string): Leaf | Branch | undefined {
    let at: Leaf | Branch | undefined = this;
    for (const name of path.split('/').filter((part) => part !== '')) {
      at = at instanceof Branch ? at.children.get(name) : undefined;
    }
    return at;
  }

  /** All leaves below, depth first. */
  *leaves(): Generator<Leaf> {
    for (const child of this.children.values()) {
      if (child instanceof Branch) yield* child.leaves();
      else yield child;
    }
  }

  /** Takes all that is below out of nact's tree, children before parents, then this one. */
  takeDown(): void {
    for (const child of [...this.children.values()]) {
      if (child instanceof Branch) child.takeDown();
      else child.leave();
    }
    this.children.clear();
    stopActor(this.ref);
  }
}

/** The state of a node, and below it `depth` levels deep. */
export function inspectionOf(at: Leaf | Branch, depth: number): Inspection {
  if (at instanceof Branch) return inspectionOfBranch(at, depth);
  return {
    path: at.path,
    kind: at.kind,
    id: at.id,
    phase: at.phase,
    mailboxDepth: at.depth,
    messagesHandled: at.handled,
    restarts: at.restarts,
    lastFault: at.lastFault,
    summary: at.summary(),
    childCount: 0,
  };
}

function inspectionOfBranch(at: Branch, depth: number): Inspection {
  const own = {
    path: at.path,
    kind: at.path === '' ? 'root' : 'branch',
    id: at.name,
    phase: 'parent' as const,
    mailboxDepth: 0,
    messagesHandled: 0,
    restarts: 0,
    lastFault: null,
    summary: null,
    childCount: at.children.size,
  };
  if (depth === 0) return own;
  return { ...own, children: [...at.children.values()].map((child) => inspectionOf(child, depth - 1)) };
}
