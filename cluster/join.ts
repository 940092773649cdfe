/**
 * Whether a node may join: the same database, a common secret, a message version that all know, a clock that is right.
 */
import type { ClusterStore, Member } from '../model/ports/cluster-store.ts';
import type { NodeAbout } from '../model/ports/nodes.ts';
import { nameOf } from './place.ts';
import { CLOCK_SKEW_MS_MAX, CLUSTER_PROTOCOL, PROTOCOLS_TAKEN, proofOf } from './call-signature.ts';

export type JoinFault =
  'cluster_secret_missing' | 'cluster_secret_other' | 'cluster_protocol_unknown' | 'cluster_clock_off';

/** A node that does not join, and the next step in words. */
export class JoinRefused extends Error {
  readonly code: JoinFault;

  constructor(code: JoinFault, message: string) {
    super(message);
    this.name = 'JoinRefused';
    this.code = code;
  }
}

export interface Joining {
  readonly store: ClusterStore;
  readonly nodeId: string;
  readonly url: string;
  readonly about: NodeAbout;
  /** The first one signs. */
  readonly secrets: readonly string[];
  readonly leaseSeconds: number;
  readonly newId: () => string;
  readonly nowMs: () => number;
}

/** Becomes a member. Throws: JoinRefused. */
export async function joinCluster(joining: Joining): Promise<void> {
  const { store, nodeId, url, about, secrets, leaseSeconds, newId, nowMs } = joining;
  const clusterId = await store.clusterId(newId());
  const proofs = secrets.map((secret) => proofOf(secret, clusterId));
  const askedMs = nowMs();
  const databaseMs = await store.join(nodeId, url, about, proofs);
  if (databaseMs === null) {
    throw new JoinRefused(
      'cluster_secret_other',
      'CLUSTER_SECRET: the nodes of this database have another one; give this node theirs (to replace it, start each node with "new,old")',
    );
  }
  try {
    checkClock(databaseMs, askedMs, nowMs());
    const { members } = await store.beat(nodeId, leaseSeconds);
    checkProtocols(members.filter(({ id }) => id !== nodeId));
  } catch (error) {
    await store.leave(nodeId);
    throw error;
  }
}

/**
 * A node without a secret would take everything from nodes that share the database. Throws: JoinRefused while one of
 * them lives.
 */
export async function requireNoSharing(store: Pick<ClusterStore, 'sharing'>, leaseSeconds: number): Promise<void> {
  const nodes = await store.sharing(leaseSeconds);
  if (nodes.length === 0) return;
  throw new JoinRefused(
    'cluster_secret_missing',
    `CLUSTER_SECRET: nodes share this database (${nodes.map(nameOf).join(', ')}) and this one has none: give it theirs. ` +
      `Where it shall serve alone, stop them first; one that was killed counts for ${leaseSeconds} s more`,
  );
}

/** The database answered between the two. */
function checkClock(databaseMs: number, askedMs: number, answeredMs: number): void {
  const aheadMs = askedMs - databaseMs,
    behindMs = databaseMs - answeredMs;
  const offMs = Math.max(aheadMs, behindMs);
  if (offMs <= CLOCK_SKEW_MS_MAX) return;
  throw new JoinRefused(
    'cluster_clock_off',
    `the clock of this machine is ${Math.round(offMs / 1_000)} s ${aheadMs > behindMs ? 'ahead of' : 'behind'} the database's; ` +
      'calls between nodes are good for 5 s: set the clock (NTP), then start again',
  );
}

function checkProtocols(others: readonly Member[]): void {
  const strange = others.find(({ about }) => about !== null && !PROTOCOLS_TAKEN.includes(about.protocol));
  if (strange === undefined) return;
  throw new JoinRefused(
    'cluster_protocol_unknown',
    `node ${strange.id} (version ${strange.about!.version}) speaks version ${strange.about!.protocol} of the messages between nodes, ` +
      `this one ${CLUSTER_PROTOCOL}; bring the nodes forward one release after the other`,
  );
}
