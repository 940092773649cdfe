/** What the chain says of one signature. chains.md 7.2. */
import { ChainUnavailable } from '../chain.ts';
import { countIn, listIn, malformed, objectIn } from '../node-answer.ts';
import { ask, call, contextual, type Node } from './node.ts';

export interface SignatureStatus {
  readonly slot: number;
  /** `processed` blocks are abandoned now and then: they are no inclusion. L18. */
  readonly level: 'processed' | 'confirmed' | 'finalized';
  /** Structured error of an executed transaction that failed, or null. */
  readonly err: unknown;
}

const LEVELS = ['processed', 'confirmed', 'finalized'] as const;

/**
 * The status of a signature with the node's whole history; null where it knows none. Throws: ChainUnavailable,
 * MalformedReply.
 */
export async function readStatus(node: Node, txid: string): Promise<SignatureStatus | null> {
  const asked = call('getSignatureStatuses', [txid], { searchTransactionHistory: true });
  const statuses = listIn(contextual(await ask(node, asked), 'statuses').value, 'statuses');
  if (statuses.length !== 1) malformed('one status was asked for', statuses);
  if (statuses[0] === null) return null;
  const status = objectIn(statuses[0], 'status');
  const slot = countIn(status['slot'], 'slot of a status');
  if (!('err' in status)) throw new ChainUnavailable(node.network.slug, `a status of ${txid} without a result`);
  // Nodes leave the level out for what they found in their history: rooted, no confirmations are counted any more.
  const reported = status['confirmationStatus'] ?? (status['confirmations'] === null ? 'finalized' : 'processed');
  const level = LEVELS.find((one) => one === reported);
  return level === undefined ? malformed('an unknown commitment level', status) : { slot, level, err: status['err'] };
}
