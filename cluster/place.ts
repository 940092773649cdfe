/**
 * Where a thing should live: rendezvous hashing. Every node that has the same list of nodes comes to the same answer,
 * and when one joins or goes only what is its own moves.
 */
import { hash } from 'node:crypto';

/** Higher wins. 48 bits: two nodes never draw for one key. */
const scoreOf = (node: string, key: string): number =>
  Number.parseInt(hash('sha256', `${node}\n${key}`, 'hex').slice(0, 12), 16);

/** The node of a key; null where there is none. The order of the nodes does not matter. */
export function placeOf(key: string, nodes: readonly string[]): string | null {
  let best: string | null = null,
    bestScore = -1;
  for (const node of nodes) {
    const score = scoreOf(node, key);
    if (score > bestScore || (score === bestScore && best !== null && node < best)) {
      best = node;
      bestScore = score;
    }
  }
  return best;
}

/** What an operator calls a node: its `NODE_NAME`, which its id begins with. */
export const nameOf = (nodeId: string): string => nodeId.split('/')[0]!;
