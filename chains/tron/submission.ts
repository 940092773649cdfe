/** Submitting signed bytes. G26, G28, chains.md 6.2. */
import { z } from 'zod';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { ChainUnavailable, MalformedReply, type BroadcastResult, type Endpoint, type Signed } from '../chain.ts';
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
  result: z.boolean().optional(), code: z.string().optional(), message: z.string().optional(),
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
  const submission = submissionOf(signed), { txid } = submission;
  const { transport, network } = parts, asked: Endpoint[] = [], unknown: string[] = [];
  let rejected: Rejected | null = null, expired: string | null = null;
  while (asked.length < transport.endpoints.length) {
    let endpoint: Endpoint;
    try { endpoint = transport.pick(asked); } catch { break; } // what is left may not be asked now
    asked.push(endpoint);
    try {
      const verdict = await submitTo(parts, endpoint, submission);
      if (verdict.kind === 'accepted') return { kind: 'accepted', txid };
      if (verdict.kind === 'look_up') unknown.push(`${endpoint.name}: it has seen the txid before`);
      else if (verdict.kind === 'unknown') unknown.push(`${endpoint.name}: ${verdict.reason}`);
      else if (verdict.kind === 'expired') expired = verdict.reason;
      else if (verdict.kind === 'rejected') {
        await parts.heads.headOf(endpoint); // one that is behind is no judge of balances
        rejected = verdict;
      }
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      unknown.push(`${endpoint.name}: ${error.reason}`);
    }
  }
  if (asked.length === 0) return { kind: 'unknown', reason: 'every endpoint is backing off' };
  if (await isKnown(parts, txid)) return { kind: 'already_known', txid };
  if (expired !== null && unknown.length === 0) return expiredResult(parts, submission, expired);
  if (rejected === null || unknown.length > 0) return { kind: 'unknown', reason: unknown.join('; ') || 'not answered' };
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

/** True when an endpoint has the transaction, waiting or in a block. An endpoint that cannot say is not a no. */
async function isKnown({ network, transport }: FateParts, txid: string): Promise<boolean> {
  const answers = await Promise.allSettled(transport.endpoints.map(async (endpoint) =>
    await isPending(network, endpoint, txid)
      || await isIncluded(network, endpoint, 'wallet', txid)
      || await isIncluded(network, endpoint, 'walletsolidity', txid)));
  return answers.some((answer) => answer.status === 'fulfilled' && answer.value);
}

/** What a node calls expired may have landed where it does not look; only the proof of death makes it final (T17). */
async function expiredResult(
  parts: FateParts, { raw: { expirationMs }, txid }: Submission, reason: string,
): Promise<BroadcastResult> {
  try {
    const fate = await parts.transport.attempt(
      (endpoint) => proveDeath(parts, endpoint, { txid, expirationMs, sinceHeight: null }),
    );
    if (fate.kind !== 'dead') {
      return { kind: 'unknown', reason: `${reason}: ${fate.kind === 'unknown' ? fate.reason : fate.kind}` };
    }
    return {
      kind: 'rejected_final', refusal: refuse('CHAIN_REJECTED', { reason, action: 'rebuild', proof: fate.proof }),
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
  parts: FateParts, { raw }: Submission, { code, action, reason }: Rejected, chain: string,
): Promise<Refusal> {
  // Until then the very bytes could still land, wherever they are: nothing replaces them.
  const details = {
    chain, reason, action: action === 'check_balance' ? 'fund' : action, expiresAtMs: raw.expirationMs,
  };
  if (action !== 'check_balance' || raw.contract.type !== 'TransferContract') return refuse(code, details);
  const { owner, amount } = raw.contract, balance = await balanceAt(parts, owner);
  const covered = balance !== null && balance >= amount;
  return refuse(covered ? 'INSUFFICIENT_GAS' : 'INSUFFICIENT_FUNDS', {
    ...details, required: amount.toString(), ...(balance === null ? {} : { balance: balance.toString() }),
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

