/** Submitting signed bytes and finding out what became of them. G26–G28, L31, L32, chains.md 7.2. */
import { refuse } from '../../protocol/errors.ts';
import {
  ChainUnavailable,
  MalformedReply,
  type BroadcastResult,
  type Endpoint,
  type Fate,
  type Network,
  type Outcome,
  type Signed,
  type Transport,
  type Unsigned,
} from '../chain.ts';
import { doubtsIn, notProven, oneHas, submitToEach } from '../each-endpoint.ts';
import { asDoubt } from '../json-rpc.ts';
import { countIn, integerIn, objectIn } from '../node-answer.ts';
import type { BlockReader } from './block-reader.ts';
import { proveDeath } from './death.ts';
import { latestOf, LATEST, type Heads } from './heads.ts';
import { decodeTransaction } from './message.ts';
import { ask, call, CONFIRMED, endpointsOf, tryAsk, type Node } from './node.ts';
import { explainNodeError, explainRejection, type Verdict } from './rejection.ts';
import { programsOf, txidOf } from './signed.ts';
import { readStatus } from './status.ts';

export interface SubmissionParts {
  readonly network: Network;
  readonly transport: Transport;
  readonly heads: Heads;
  readonly blocks: Pick<BlockReader, 'readHeader'>;
}

/**
 * Preflight at the level that the block hash was read at (L32). Nodes do not send it again by themselves: this service
 * does, and knows when it stops.
 */
const SEND_OPTIONS = { encoding: 'base64', preflightCommitment: 'confirmed', maxRetries: 0 } as const;

/**
 * Submits the bytes to one endpoint after another until one takes them. A refusal is final only when no endpoint took
 * them, none answered "unknown" and none knows the signature: a node that is behind refuses what a current one accepts.
 * Throws: Error when the txid is not that of the bytes (G28), MalformedReply when a node names another signature.
 */
export async function broadcast(parts: SubmissionParts, { payload, txid }: Signed): Promise<BroadcastResult> {
  const transaction = decodeTransaction(Buffer.from(payload, 'base64'));
  if (!transaction.ok || txidOf(transaction.signatures) !== txid) {
    throw new Error('the txid is not that of the signed bytes');
  }
  const programs = programsOf(transaction.message);
  const { network, transport } = parts;
  const verdicts = await submitToEach(transport, {
    submit: (endpoint) => submitTo(parts, endpoint, { payload, txid, programs }),
    isTaken: ({ kind }) => kind === 'accepted' || kind === 'already_known',
  });
  if (verdicts.taken !== null) return { kind: verdicts.taken.kind as 'accepted' | 'already_known', txid };
  const has = async (endpoint: Endpoint) => (await readStatus({ network, transport, endpoint }, txid)) !== null;
  if (await oneHas(transport, verdicts, has)) return { kind: 'already_known', txid };
  const doubts = doubtsIn(verdicts, (verdict) => (verdict.kind === 'unknown' ? verdict.reason : null));
  const rejected = verdicts.others.map(({ verdict }) => verdict).findLast((verdict) => verdict.kind === 'rejected');
  if (rejected === undefined || doubts.length > 0) return notProven(doubts, 'no endpoint may be asked now');
  return { kind: 'rejected_final', refusal: refuse(rejected.code, { reason: rejected.reason }) };
}

async function submitTo(
  { network, transport, heads }: SubmissionParts,
  endpoint: Endpoint,
  { payload, txid, programs }: { payload: string; txid: string; programs: readonly string[] },
): Promise<Verdict | { readonly kind: 'accepted' }> {
  const answer = await tryAsk(network, endpoint, call('sendTransaction', payload, SEND_OPTIONS)).catch(
    asDoubt(network.slug),
  );
  if (answer.ok) {
    if (answer.result !== txid) throw new MalformedReply('the node names another signature', String(answer.result));
    return { kind: 'accepted' };
  }
  if (explainNodeError(answer.error) === 'lagging') transport.report(endpoint, 'lagging');
  const verdict = explainRejection(answer.error, programs);
  // One that is behind is no judge of balances.
  if (verdict.kind === 'rejected')
    heads.accept(endpoint, latestOf(await ask({ network, transport, endpoint }, LATEST)).slot);
  return verdict;
}

type Included = Outcome & { readonly height: number; readonly hash: string };

/** Where a transaction is: in no block, in one that may be abandoned (L18), or in a confirmed one. */
type Standing = { readonly kind: 'none' | 'processed' } | { readonly kind: 'included'; readonly included: Included };

/**
 * What a transaction did as an endpoint says it now; null when it is in no confirmed block. Throws: as `readStanding`.
 */
export async function readOutcome(parts: SubmissionParts, endpoint: Endpoint, txid: string): Promise<Included | null> {
  const standing = await readStanding(parts, endpoint, txid);
  return standing.kind === 'included' ? standing.included : null;
}

/**
 * A transaction in a finalized slot must be called final by the same endpoint (L20), and its status and its transaction
 * must agree. Throws: ChainUnavailable, MalformedReply.
 */
async function readStanding(parts: SubmissionParts, endpoint: Endpoint, txid: string): Promise<Standing> {
  const { network, transport, heads, blocks } = parts,
    node: Node = { network, transport, endpoint };
  const status = await readStatus(node, txid);
  if (status === null) return { kind: 'none' };
  if (status.level === 'processed') return { kind: 'processed' };
  const no = (reason: string) => new ChainUnavailable(network.slug, reason);
  if (status.slot <= heads.finalized() && status.level !== 'finalized') {
    throw no(`the node does not call ${txid} final yet`);
  }
  const transaction = await ask(
    node,
    call('getTransaction', txid, {
      ...CONFIRMED,
      encoding: 'json',
      maxSupportedTransactionVersion: 1,
    }),
  );
  if (transaction === null) throw no(`the node has a status of ${txid} and no transaction`);
  const { slot, meta } = objectIn(transaction, 'transaction'),
    { err, fee } = objectIn(meta, 'meta');
  const failed = err !== null && err !== undefined;
  if (countIn(slot, 'slot') !== status.slot || failed !== (status.err !== null)) {
    throw no(`the node contradicts itself about ${txid}`);
  }
  const header = await blocks.readHeader(endpoint, status.slot);
  if (header === null) throw no(`the node has no block at slot ${status.slot}`);
  return {
    kind: 'included',
    included: {
      txid,
      success: !failed,
      reason: failed ? JSON.stringify(err).slice(0, 200) : null,
      fee: integerIn(fee, 'fee'),
      height: status.slot,
      hash: header.hash,
    },
  };
}

/** Included, pending, unknown or, with proof, dead. G27. Throws: ChainUnavailable. */
export async function readFate(parts: SubmissionParts, unsigned: Unsigned, txid: string): Promise<Fate> {
  const { network, transport } = parts,
    reasons: string[] = [];
  let answered = false,
    isPending = false;
  for (const endpoint of endpointsOf(transport)) {
    try {
      const standing = await readStanding(parts, endpoint, txid);
      if (standing.kind === 'included') {
        const { height, hash, ...outcome } = standing.included;
        return { kind: 'included', height, hash, outcome };
      }
      isPending ||= standing.kind === 'processed';
      answered = true;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      reasons.push(`${endpoint.name}: ${error.reason}`);
    }
  }
  if (isPending) return { kind: 'pending' };
  if (!answered) throw new ChainUnavailable(network.slug, reasons.join('; ') || 'no endpoint may be asked now');
  return proveDeath(network, transport, unsigned, txid);
}
