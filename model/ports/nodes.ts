/** The cloud nodes of one database, as an operator sees and asks them from any of them. */
import type { Chain } from '../../protocol/slugs.ts';

/** What a node runs, as it says to the others. */
export interface NodeAbout {
  readonly version: string;
  /** Of the messages between nodes. */
  readonly protocol: number;
  /** Those that it takes; a node of an earlier release does not say. */
  readonly protocolsTaken?: readonly number[];
  readonly roles: readonly string[];
  /** Chains that it has endpoints for. */
  readonly chains: readonly Chain[];
}

export interface NodeStatus {
  readonly id: string;
  readonly about: NodeAbout | null;
  readonly startedAtMs: number;
  /** Since its last heartbeat, milliseconds. */
  readonly silentMs: number;
  /** Heard of within the lease. */
  readonly alive: boolean;
  readonly shards: number;
  readonly chains: readonly Chain[];
}

/** One actor, or one parent with what is below it, as an administrator sees it; JSON. */
export interface InspectedActor {
  readonly path: string;
  readonly kind: string;
  readonly id: string;
  readonly phase: string;
  readonly mailboxDepth: number;
  readonly messagesHandled: number;
  readonly restarts: number;
  readonly lastFault: object | null;
  readonly summary: object | null;
  readonly childCount: number;
  /** Absent below the depth that was asked for. */
  readonly children?: readonly InspectedActor[];
}

export interface Nodes {
  readonly self: string;
  list(): Promise<readonly NodeStatus[]>;
  /** The tree of a node below a path; null when nothing is there, `unreached` when the node is gone or says nothing. */
  inspect(node: string, path: string, depth: number): Promise<InspectedActor | null | 'unreached'>;
  /** False when nothing is at the path. */
  restart(node: string, path: string): Promise<boolean | 'unreached'>;
}
