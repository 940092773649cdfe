/** Submitting signed bytes. G26, G28, chains.md 6.2. */
import { z } from 'zod';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { ChainUnavailable, MalformedReply, type BroadcastResult, type Endpoint, type Signed } from '../chain.ts';
import { doubtsIn, notProven, oneHas, submitToEach } from '../each-endpoint.ts';
import { readAccount } from './account.ts';
import { proveDeath, type FateParts } from './fate.ts';
import { isIncluded, isPending } from './inclusion.ts';
import { parsed, tryAsk, wallet } from './node.ts';
import { decodeRaw, type RawData } from './raw-transaction.ts';
import { explainRejection, type Verdict } from './rejection.ts';
import { decodeSigned } from './signed.ts';
import { jsonOf } from './transaction-json.ts';

type Rejected = Extract<Verdict, { kind: 'rejected' }>;

const reply = z.object({
  result: z.boolean().optional(),
  code: z.string().optional(),
  message: z.string().optional(),
  txid: z.string().optional(),
});

/** Signed bytes with what they say. */
interface Submission {
  readonly signedPayload: string;
  readonly payload: string;
  readonly signature: string;
  readonly raw: RawData;
  readonly txid: string;
}

function submissionOf({ payload: signedPayload, txid }: Signed): Submission {
  const signed = decodeSigned({}, signedPayload); // A real network: sandbox ledgers are not submitted to here.
  if (!signed.ok) throw new Error(`the signed bytes do not decode: ${signed.reason}`);
  if (signed.txid !== txid) throw new Error('the txid is not the hash of the signed bytes');
  const decoded = decodeRaw(signed.payload);
  if (!decoded.ok) throw new Error(`a payload of ours does not decode: ${decoded.reason}`);
  return { signedPayload, payload: signed.payload, signature: signed.signature, raw: decoded.raw, txid };
}

/**
 * Submits the bytes to one endpoint after another until one takes them. A refusal is final only when no endpoint took
 * them, none answered "unknown" and none knows the txid. Throws: Error when the txid is not that of the bytes (G28),
 * MalformedReply when a node names another one.
 */
export async function broadcast(parts: FateParts, signed: Signed): Promise<BroadcastResult> {
  const submission = submissionOf(signed),
    { txid } = submission;
  const { transport, network } = parts;
  const verdicts = await submitToEach(transport, {
    submit: async (endpoint) => {
      const verdict = await submitTo(parts, endpoint, submission);
      if (verdict.kind === 'rejected') await parts.heads.headOf(endpoint); // one that is behind is no judge of balances
      return verdict;
    },
    isTaken: ({ kind }) => kind === 'accepted',
  });
  if (verdicts.taken !== null) return { kind: 'accepted', txid };
  if (!verdicts.asked) return notProven([], 'every endpoint is backing off');
  if (await oneHas(transport, verdicts, (endpoint) => hasIt(network, endpoint, txid)))
    return { kind: 'already_known', txid };
  const doubts = doubtsIn(verdicts, (verdict) =>
    verdict.kind === 'look_up' ? 'it has seen the txid before' : verdict.kind === 'unknown' ? verdict.reason : null,
  );
  const said = verdicts.others.map(({ verdict }) => verdict);
  const expired = said.findLast(
      (verdict): verdict is Extract<Verdict, { kind: 'expired' | 'unknown' }> => verdict.kind === 'expired',
    ),
    rejected = said.findLast((verdict) => verdict.kind === 'rejected');
  if (expired !== undefined && doubts.length === 0) return expiredResult(parts, submission, expired.reason);
  if (rejected === undefined || doubts.length > 0) return notProven(doubts, 'not answered');
  return { kind: 'rejected_final', refusal: await refusalOf(parts, submission, rejected, network.slug) };
}

/** `broadcasthex` takes the very bytes; a node without it takes the same transaction as JSON. */
async function submitTo({ network }: FateParts, endpoint: Endpoint, submission: Submission): Promise<Verdict> {
  const { signedPayload, txid } = submission;
  let answer = await tryAsk(network, endpoint, wallet('broadcasthex', { transaction: signedPayload }));
  if (!answer.ok && answer.missing) {
    answer = await tryAsk(network, endpoint, wallet('broadcasttransaction', jsonOf(submission)));
  }
  if (!answer.ok) return { kind: 'unknown', reason: answer.reason };
  const returned = parsed(reply, answer.value, 'broadcast');
  const verdict = explainRejection(returned);
  if (verdict.kind === 'accepted' && returned.txid?.toLowerCase() !== txid) {
    throw new MalformedReply('the node names another transaction', String(returned.txid));
  }
  return verdict;
}

/** Waiting or in a block. */
async function hasIt(network: FateParts['network'], endpoint: Endpoint, txid: string): Promise<boolean> {
  return (
    (await isPending(network, endpoint, txid)) ||
    (await isIncluded(network, endpoint, 'wallet', txid)) ||
    isIncluded(network, endpoint, 'walletsolidity', txid)
  );
}

/** What a node calls expired may have landed where it does not look; only the proof of death makes it final (T17). */
async function expiredResult(
  parts: FateParts,
  { raw: { expirationMs }, txid }: Submission,
  reason: string,
): Promise<BroadcastResult> {
  try {
    const fate = await parts.transport.attempt((endpoint) =>
      proveDeath(parts, endpoint, { txid, expirationMs, sinceHeight: null }),
    );
    if (fate.kind !== 'dead') {
      return { kind: 'unknown', reason: `${reason}: ${fate.kind === 'unknown' ? fate.reason : fate.kind}` };
    }
    return {
      kind: 'rejected_final',
      refusal: refuse('CHAIN_REJECTED', { reason, action: 'rebuild', proof: fate.proof }),
    };
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return { kind: 'unknown', reason: `${reason}: ${error.reason}` };
  }
}

/**
 * T23: one text for two shortages. The node takes the bandwidth fee first and then misses the amount; the balance
 * decides.
 */
async function refusalOf(
  parts: FateParts,
  { raw }: Submission,
  { code, action, reason }: Rejected,
  chain: string,
): Promise<Refusal> {
  // Until then the very bytes could still land, wherever they are: nothing replaces them.
  const details = {
    chain,
    reason,
    action: action === 'check_balance' ? 'fund' : action,
    expiresAtMs: raw.expirationMs,
  };
  if (action !== 'check_balance' || raw.contract.type !== 'TransferContract') return refuse(code, details);
  const { owner, amount } = raw.contract,
    balance = await balanceAt(parts, owner);
  const covered = balance !== null && balance >= amount;
  return refuse(covered ? 'INSUFFICIENT_GAS' : 'INSUFFICIENT_FUNDS', {
    ...details,
    required: amount.toString(),
    ...(balance === null ? {} : { balance: balance.toString() }),
  });
}

async function balanceAt({ network, transport }: FateParts, address: string): Promise<bigint | null> {
  try {
    return await transport.attempt(async (endpoint) => (await readAccount(network, endpoint, address)).balance);
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}
