/**
 * Signed bytes leave here and nowhere else: the newest version of an outgoing transaction goes to the nodes, at once
 * when its bytes are durable and again by the tracker, and only it. Older versions are watched: they exclude it, and
 * one of them may still land (G25, G26).
 */
import type { BroadcastResult, ChainClient, Signed } from '../../chains/chain.ts';
import { chainFailure } from '../../chains/failure.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';

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
 * Failed because every node refused its only submit: who has the bytes may put them into a block all the same, so it is
 * looked for until its chain proves that it cannot land (G27).
 */
export const isWatched = ({ status, height, versions }: WithdrawalRow): boolean =>
  status === 'failed' && height === null && versions.some(({ watched }) => watched === true);

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

/**
 * How long the caller of a first submit waits for the node. Choice: below the tracker's first look, far below a
 * request's limit.
 */
const FIRST_WAIT_MS = 1_500;

export interface SubmitLog {
  warn(fields: object, message: string): void;
}

export interface FirstWay extends Omit<Way, 'place'> {
  readonly log: SubmitLog;
}

/**
 * The first submit of bytes that were just stored: their caller learns at once whether a node took them. Resolves when
 * a node answered or the time is up, and never rejects: what is not done in time, or fails, is the tracker's, which
 * begins two seconds later.
 */
export async function submitAtOnce({ log, ...way }: FirstWay, row: WithdrawalRow): Promise<void> {
  if (!isUntaken(row)) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, FIRST_WAIT_MS);
  });
  const submitted = submitNewest({ ...way, place: 'first_submit' }, row).catch((error: unknown) => {
    log.warn(
      { withdrawalId: row.id, reason: chainFailure(error) ?? 'fault' },
      'a first submit failed; the tracker goes on',
    );
  });
  await Promise.race([submitted, late]);
  clearTimeout(timer);
}
