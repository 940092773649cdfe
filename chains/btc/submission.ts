/** Submitting signed bytes and finding out what became of them. G25–G28, chains.md 4.2. */
import { refuse } from '../../protocol/errors.ts';
import {
  ChainUnavailable, MalformedReply, type BroadcastResult, type Endpoint, type Fate, type Signed, type Unsigned,
} from '../chain.ts';
import { asDoubt } from '../json-rpc.ts';
import type { DeathSeeker } from './death.ts';
import type { Heads } from './heads.ts';
import { blockByOutputs, included, placeOf } from './inclusion.ts';
import type { BtcNetwork } from './network.ts';
import { askAll, call, tryAsk } from './node.ts';
import { decodePsbt } from './psbt.ts';
import { explainRejection, type Verdict } from './rejection.ts';
import { decodeRaw } from './signed.ts';
import { isHeight } from './spending.ts';
import type { Sources } from './sources.ts';

export interface SubmissionParts {
  readonly network: BtcNetwork;
  readonly sources: Sources;
  readonly heads: Heads;
  readonly deaths: DeathSeeker;
}

type Rejected = Extract<Verdict, { kind: 'rejected' | 'behind' }>;

/**
 * Submits the bytes to one node after another until one takes them. A refusal is final only when no node took them,
 * none answered "unknown" and none knows the transaction: a node that is behind refuses what a current one accepts. The
 * fee limit of `sendrawtransaction` stays on: it only ever meets a fault of our own builder. Throws: Error when the
 * txid is not that of the bytes (G28), MalformedReply when a node names another.
 */
export async function broadcast(parts: SubmissionParts, { payload, txid }: Signed): Promise<BroadcastResult> {
  if (decodeRaw(payload)?.getId() !== txid) throw new Error('the txid is not the hash of the signed bytes');
  const { sources: { transport } } = parts, asked: Endpoint[] = [], unknown: string[] = [];
  let rejected: Rejected | null = null;
  while (asked.length < transport.endpoints.length) {
    let endpoint: Endpoint;
    try { endpoint = transport.pick(asked); } catch { break; } // what is left may not be asked now
    asked.push(endpoint);
    try {
      if (await parts.sources.kindOf(endpoint) !== 'node') continue;
      const verdict = await submitTo(parts, endpoint, payload, txid);
      if (verdict.kind === 'accepted' || verdict.kind === 'already_known') return { kind: verdict.kind, txid };
      if (verdict.kind === 'rejected' || verdict.kind === 'behind') rejected = verdict;
      else unknown.push(`${endpoint.name}: ${verdict.reason}`);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      unknown.push(`${endpoint.name}: ${error.reason}`);
    }
  }
  if (asked.length === 0) return { kind: 'unknown', reason: 'every endpoint is backing off' };
  if (await isKnown(parts, txid)) return { kind: 'already_known', txid };
  if (rejected === null || unknown.length > 0) {
    return { kind: 'unknown', reason: unknown.join('; ') || 'no node was asked' };
  }
  return {
    kind: 'rejected_final', refusal: refuse(rejected.code, { reason: rejected.reason, action: rejected.action }),
  };
}

async function submitTo(
  { network, heads }: SubmissionParts, node: Endpoint, payload: string, txid: string,
): Promise<Verdict | { readonly kind: 'accepted' }> {
  const answer = await tryAsk(network, node, call('sendrawtransaction', payload)).catch(asDoubt(network.slug));
  if (answer.ok) {
    if (String(answer.result).toLowerCase() !== txid) {
      throw new MalformedReply('the node names another transaction', String(answer.result));
    }
    return { kind: 'accepted' };
  }
  const verdict = explainRejection(answer.error);
  if (verdict.kind !== 'rejected' && verdict.kind !== 'behind') return verdict;
  const head = await heads.headOf(node); // one that is behind is no judge
  const locktime = decodeRaw(payload)!.locktime;
  return verdict.kind === 'behind' && isHeight(locktime) && head.height < locktime
    ? { kind: 'unknown', reason: `${verdict.reason}: the node is at ${head.height}, the lock time is ${locktime}` }
    : verdict;
}

/** True when a node has the transaction, in its pool or in a block. A node that cannot say is not a no. */
async function isKnown({ network, sources }: SubmissionParts, txid: string): Promise<boolean> {
  const places = await Promise.allSettled(sources.transport.endpoints.map(async (endpoint) =>
    (await sources.kindOf(endpoint) === 'node' ? placeOf(network, endpoint, txid) : null)));
  return places.some((place) => place.status === 'fulfilled' && place.value !== null && place.value.kind !== 'unseen');
}

/** Included, pending, unknown or, with proof, dead. G27. Throws: ChainUnavailable. */
export async function readFate(
  { network, heads, deaths }: SubmissionParts, node: Endpoint, unsigned: Unsigned, txid: string,
): Promise<Fate> {
  const decoded = decodePsbt(unsigned.payload);
  if (!decoded.ok) throw new Error('a payload of ours does not decode');
  const head = await heads.headOf(node);
  const place = await placeOf(network, node, txid);
  if (place.kind === 'pool') return { kind: 'pending' };
  const block = place.kind === 'block' ? place : await blockByOutputs(network, node, txid, decoded.psbt.outputs.length);
  if (block !== null) {
    const { height, hash, ...outcome } = included(txid, block.height, block.hash);
    return { kind: 'included', height, hash, outcome };
  }
  const coins = await askAll(
    network, node, decoded.psbt.inputs.map((input) => call('gettxout', input.txid, input.vout, false))
  );
  if (coins.every((coin) => coin !== null)) {
    return {
      kind: 'unknown', reason: 'its coins are unspent in the chain, and the node does not know the transaction',
    };
  }
  return deaths.seek(node, unsigned, txid, head);
}
