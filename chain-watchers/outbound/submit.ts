/**
 * The one way out: the newest signed version of a withdrawal goes to the nodes, at once by the gateway and again by the
 * tracker, and only it. Older versions are watched: they exclude it, and one of them may still land (G25, G26).
 */
import type { BroadcastResult, ChainClient, Signed } from '../../chains/chain.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import { chainFailure } from '../follow/content.ts';

export interface Way {
  readonly client: Pick<ChainClient, 'broadcast'>;
  readonly accounts: Pick<Accounts, 'ask'>;
  /** In whose place a fault test kills. */
  readonly place: 'first_submit' | 'submit';
}

export interface Submitted {
  readonly txid: string;
  readonly result: BroadcastResult;
  /** It was the only submit of this version that was ever begun. */
  readonly sole: boolean;
}

/**
 * Whether no node is known to have taken the newest version. Rows from before it was kept say so by their status alone.
 */
export function isUntaken({ status, versions }: WithdrawalRow): boolean {
  const newest = versions.at(-1);
  return newest !== undefined && (status === 'signing' || (status === 'broadcast' && newest.taken === false));
}

/**
 * One submit of the newest version. Null when nothing was sent: the withdrawal changed after it was read, or there is
 * no writing now. That it begins is durable before the bytes leave, so that nobody's death makes a later refusal the
 * end of what a node has.
 */
export async function submitNewest({ client, accounts, place }: Way, row: WithdrawalRow): Promise<Submitted | null> {
  const version = row.versions.at(-1);
  if (version === undefined) return null;
  const { txid } = version;
  const begun = isUntaken(row) ? await accounts.ask(row.accountId, { type: 'begin_submit', known: row, txid }) : null;
  if (begun !== null && begun.ok !== true) return null;
  failpoint(`${place}.begun`);
  const result = await broadcastOrDoubt(client, { chain: row.chain, payload: version.signedPayload, txid });
  failpoint(`${place}.answered`);
  if (begun === null) return { txid, result, sole: false };
  const { row: known, sole } = begun.reply;
  await accounts.ask(row.accountId, { type: 'note_broadcast', known, txid, result, ...(sole ? { sole } : {}) });
  return { txid, result, sole };
}

/** What a submit came to; one that breaks may have reached the node all the same. */
async function broadcastOrDoubt(client: Way['client'], signed: Signed): Promise<BroadcastResult> {
  try {
    return await client.broadcast(signed);
  } catch (error) {
    const reason = chainFailure(error);
    if (reason === null) throw error;
    return { kind: 'unknown', reason };
  }
}
