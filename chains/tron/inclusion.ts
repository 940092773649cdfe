/**
 * Where a transaction is and what it did, as one endpoint says it. The word of `/wallet` may still be replaced; below
 * the solidified head only the two views together count (chains.md 6.4-2, C2-22).
 */
import { ChainUnavailable, type Endpoint, type Network, type Outcome } from '../chain.ts';
import { countIn, hashIn, listIn, objectIn, textIn, type Answer } from '../node-answer.ts';
import { executionOf } from './execution.ts';
import type { Heads } from './heads.ts';
import { ask, integer, isEmpty, parsed, tryAsk, type View } from './node.ts';

export type Included = Outcome & { readonly height: number; readonly hash: string };

/** An answer about a transaction; null for `{}`, which is "not found" on these paths. Throws: ChainUnavailable. */
async function find(
  network: Network,
  endpoint: Endpoint,
  view: View,
  method: string,
  txid: string,
): Promise<Answer | null> {
  const answer = await ask(network, endpoint, { view, method, body: { value: txid } });
  return isEmpty(answer) ? null : objectIn(answer, method);
}

/** The info of a transaction in one view, or null. Throws: ChainUnavailable, MalformedReply. */
async function infoOf(network: Network, endpoint: Endpoint, view: View, txid: string): Promise<Answer | null> {
  const info = await find(network, endpoint, view, 'gettransactioninfobyid', txid);
  if (info !== null && hashIn(info['id'], 'id of a transaction info') !== txid) {
    throw new ChainUnavailable(network.slug, 'the info of another transaction');
  }
  return info;
}

const heightOf = (info: Answer): number => countIn(info['blockNumber'], 'blockNumber');

/** True when a view of an endpoint has the transaction in a block. Throws: ChainUnavailable. */
export async function isIncluded(network: Network, endpoint: Endpoint, view: View, txid: string): Promise<boolean> {
  const [info, transaction] = await Promise.all([
    infoOf(network, endpoint, view, txid),
    find(network, endpoint, view, 'gettransactionbyid', txid),
  ]);
  return info !== null || transaction !== null;
}

/**
 * True when an endpoint holds the transaction for a block to come. A node without that path finds it by its id, where
 * it shows what waits too. Throws: ChainUnavailable.
 */
export async function isPending(network: Network, endpoint: Endpoint, txid: string): Promise<boolean> {
  const answer = await tryAsk(network, endpoint, {
    view: 'wallet',
    method: 'gettransactionfrompending',
    body: { value: txid },
  });
  if (answer.ok) return !isEmpty(answer.value);
  return (await find(network, endpoint, 'wallet', 'gettransactionbyid', txid)) !== null;
}

/**
 * What a transaction did as an endpoint that is not behind says it now; null when it is in no block there. Throws:
 * ChainUnavailable when its answers do not agree with each other, or its solidified view is behind what was seen.
 */
export async function readOutcome(
  network: Network,
  heads: Heads,
  endpoint: Endpoint,
  txid: string,
): Promise<Included | null> {
  await heads.headOf(endpoint);
  const info = await infoOf(network, endpoint, 'wallet', txid);
  if (info === null) return null;
  const height = heightOf(info),
    header = await heads.headerAt(endpoint, 'wallet', height);
  if (header === null) {
    throw new ChainUnavailable(network.slug, `block ${height} of the transaction is unknown to the node`);
  }
  const outcome = await outcomeOf(network, endpoint, 'wallet', txid, info);
  if (height <= heads.solidSeen()) await assertSolid(network, endpoint, outcome, height);
  return { ...outcome, height, hash: header.hash };
}

async function assertSolid(
  network: Network,
  endpoint: Endpoint,
  { txid, success }: Outcome,
  height: number,
): Promise<void> {
  const solid = await infoOf(network, endpoint, 'walletsolidity', txid);
  if (solid === null || heightOf(solid) !== height) {
    throw new ChainUnavailable(network.slug, `transaction ${txid} is not in the solidified view at ${height}`);
  }
  const { success: solidSuccess } = await outcomeOf(network, endpoint, 'walletsolidity', txid, solid);
  if (solidSuccess !== success) throw new ChainUnavailable(network.slug, `the two views disagree about ${txid}`);
}

/** The three signs of success (T4) of a transaction and its info. Throws: ChainUnavailable unless they agree. */
async function outcomeOf(
  network: Network,
  endpoint: Endpoint,
  view: View,
  txid: string,
  info: Answer,
): Promise<Outcome> {
  const transaction = await find(network, endpoint, view, 'gettransactionbyid', txid);
  if (transaction === null) {
    throw new ChainUnavailable(network.slug, `transaction ${txid} has an info and is not there`);
  }
  if (info['receipt'] === undefined) throw new ChainUnavailable(network.slug, `transaction ${txid} has no receipt`);
  const contract = objectIn(
    listIn(objectIn(transaction['raw_data'], 'raw_data')['contract'], 'contract')[0],
    'contract',
  );
  const own = objectIn(listIn(transaction['ret'] ?? [], 'ret')[0] ?? {}, 'ret');
  const execution = executionOf({
    type: textIn(contract['type'], 'contract type'),
    contractRet: own['contractRet'],
    ret: own['ret'],
    receiptResult: objectIn(info['receipt'], 'receipt')['result'],
    result: info['result'],
  });
  if (execution.kind === 'unknown') {
    throw new ChainUnavailable(network.slug, `transaction ${txid}: ${execution.reason}`);
  }
  const reason = execution.kind === 'failed' ? execution.reason : null;
  return { txid, success: reason === null, reason, fee: parsed(integer, info['fee'], 'fee') };
}
