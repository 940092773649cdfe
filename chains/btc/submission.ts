/** Submitting signed bytes and finding out what became of them. G25–G28, chains.md 4.2. */
import { refuse } from '../../protocol/errors.ts';
import {
  MalformedReply,
  type BroadcastResult,
  type Endpoint,
  type Fate,
  type Signed,
  type Unsigned,
} from '../chain.ts';
import { doubtsIn, notProven, oneHas, submitToEach } from '../each-endpoint.ts';
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

/**
 * Submits the bytes to one node after another until one takes them. A refusal is final only when no node took them,
 * none answered "unknown" and none knows the transaction: a node that is behind refuses what a current one accepts. The
 * fee limit of `sendrawtransaction` stays on: it only ever meets a fault of our own builder. Throws: Error when the
 * txid is not that of the bytes (G28), MalformedReply when a node names another.
 */
export async function broadcast(parts: SubmissionParts, { payload, txid }: Signed): Promise<BroadcastResult> {
  if (decodeRaw(payload)?.getId() !== txid) throw new Error('the txid is not the hash of the signed bytes');
  const { network, sources } = parts,
    { transport } = sources;
  const verdicts = await submitToEach(transport, {
    submit: async (endpoint) =>
      (await sources.kindOf(endpoint)) === 'node' ? submitTo(parts, endpoint, payload, txid) : INDEX,
    isTaken: ({ kind }) => kind === 'accepted' || kind === 'already_known',
  });
  if (verdicts.taken !== null) return { kind: verdicts.taken.kind as 'accepted' | 'already_known', txid };
  if (!verdicts.asked) return notProven([], 'every endpoint is backing off');
  // In a pool or in a block.
  const has = async (endpoint: Endpoint) =>
    (await sources.kindOf(endpoint)) === 'node' && (await placeOf(network, endpoint, txid)).kind !== 'unseen';
  if (await oneHas(transport, verdicts, has)) return { kind: 'already_known', txid };
  const doubts = doubtsIn(verdicts, (verdict) =>
    verdict.kind === 'look_up' || verdict.kind === 'unknown' ? verdict.reason : null,
  );
  const rejected = verdicts.others
    .map(({ verdict }) => verdict)
    .findLast((verdict): verdict is Rejected => verdict.kind === 'rejected' || verdict.kind === 'behind');
  if (rejected === undefined || doubts.length > 0) return notProven(doubts, 'no node was asked');
  return {
    kind: 'rejected_final',
    refusal: refuse(rejected.code, { reason: rejected.reason, action: rejected.action }),
  };
}

type Rejected = Extract<Verdict, { kind: 'rejected' | 'behind' }>;

/** An address index takes no transactions. */
const INDEX = { kind: 'index' } as const;

async function submitTo(
  { network, heads }: SubmissionParts,
  node: Endpoint,
  payload: string,
  txid: string,
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

/** Included, pending, unknown or, with proof, dead. G27. Throws: ChainUnavailable. */
export async function readFate(
  { network, heads, deaths }: SubmissionParts,
  node: Endpoint,
  unsigned: Unsigned,
  txid: string,
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
    network,
    node,
    decoded.psbt.inputs.map((input) => call('gettxout', input.txid, input.vout, false)),
  );
  if (coins.every((coin) => coin !== null)) {
    return {
      kind: 'unknown',
      reason: 'its coins are unspent in the chain, and the node does not know the transaction',
    };
  }
  return deaths.seek(node, unsigned, txid, head);
}
