/** Submitting signed bytes and finding out what a ledger did with them. G26–G28, G19, chains.md 8.2. */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import {
  ChainUnavailable,
  MalformedReply,
  type BroadcastResult,
  type Endpoint,
  type Outcome,
  type Signed,
  type Transport,
} from '../chain.ts';
import { doubtsIn, notProven, oneHas, submitToEach } from '../each-endpoint.ts';
import { countIn, integerIn, objectIn, textIn, type Answer } from '../node-answer.ts';
import { readAccount, readLines } from './account-reader.ts';
import { assetOf, parseCurrency } from './currency.ts';
import { txidOf } from './hashes.ts';
import type { Heads } from './heads.ts';
import type { LedgerReader } from './ledger-reader.ts';
import { refusedBy, tryAsk } from './node.ts';
import { explainError, explainResult, type Rejected, type Verdict } from './rejection.ts';
import { decodeSigned } from './signed.ts';
import type { XrpTransaction } from './transaction.ts';
import { feePaid, takenBy } from './transfers.ts';

export interface SubmissionParts {
  readonly transport: Transport;
  readonly heads: Heads;
  readonly ledgers: LedgerReader;
}

/**
 * Submits the bytes to one server after another until one takes them. A refusal is final only when no server took them,
 * none answered "unknown" and none knows the hash: one that is behind refuses what a current one accepts.
 * Throws: Error when the txid is not that of the bytes (G28), MalformedReply when a server names another hash.
 */
export async function broadcast(parts: SubmissionParts, { payload, txid }: Signed): Promise<BroadcastResult> {
  if (txidOf(payload) !== txid) throw new Error('the txid is not the hash of the signed bytes');
  const { transport } = parts;
  const verdicts = await submitToEach(transport, {
    submit: async (endpoint) => {
      const verdict = await submitTo(transport, endpoint, payload, txid);
      // one that is behind is no judge of balances and fees
      if (verdict.kind === 'rejected') await parts.heads.standingOf(endpoint);
      return verdict;
    },
    isTaken: ({ kind }) => kind === 'accepted' || kind === 'already_known',
  });
  if (verdicts.taken !== null) return { kind: verdicts.taken.kind as 'accepted' | 'already_known', txid };
  if (!verdicts.asked) return notProven([], 'every endpoint is backing off');
  // In a ledger or on its way.
  const has = async (endpoint: Endpoint) => (await readTransaction(transport, endpoint, txid)).kind === 'found';
  if (await oneHas(transport, verdicts, has)) return { kind: 'already_known', txid };
  const doubts = doubtsIn(verdicts, (verdict) =>
    verdict.kind === 'look_up' ? 'the sequence is used' : verdict.kind === 'unknown' ? verdict.reason : null,
  );
  for (const { endpoint, verdict } of doubts.length > 0 ? [] : verdicts.others.toReversed()) {
    if (verdict.kind === 'rejected')
      return { kind: 'rejected_final', refusal: await refusalOf(parts, endpoint, payload, verdict) };
  }
  return notProven(doubts, 'not answered');
}

async function submitTo(transport: Transport, endpoint: Endpoint, payload: string, txid: string): Promise<Verdict> {
  const answer = await tryAsk(transport, endpoint, 'submit', { tx_blob: payload, fail_hard: true });
  if (!answer.ok) return explainError(answer.error);
  const { result } = answer;
  const named = objectIn(result['tx_json'] ?? {}, 'tx_json')['hash'] ?? result['hash'];
  if (named !== undefined && String(named).toUpperCase() !== txid) {
    throw new MalformedReply('the server names another hash', JSON.stringify(named));
  }
  return explainResult({
    engineResult: textIn(result['engine_result'], 'engine_result'),
    isCarried: ['applied', 'broadcast', 'kept', 'queued'].some((name) => result[name] === true),
  });
}

/**
 * The code of a refusal, where the ledger's own state decides which it is. An unreadable state leaves the row's code.
 */
async function refusalOf(
  { transport, heads }: SubmissionParts,
  endpoint: Endpoint,
  payload: string,
  { code, action, reason, needs }: Rejected,
): Promise<Refusal> {
  const details = { reason, action };
  const decoded = decodeSigned(payload);
  if (needs === undefined || !decoded.ok) return refuse(code, details);
  try {
    const { transaction } = decoded;
    if (needs === 'line')
      return (await lineRefusal(transport, endpoint, transaction, details)) ?? refuse(code, details);
    const { reserves } = await heads.feesOf(endpoint);
    const account = await readAccount(transport, endpoint, transaction.account);
    const balance = account === null ? 0n : integerIn(account['Balance'], 'Balance');
    const spent = transaction.feeDrops + (transaction.type === 'Payment' ? transaction.amount : 0n);
    const more = {
      ...details,
      balance: balance.toString(),
      required: spent.toString(),
      reserved: reserves.base.toString(),
    };
    return refuse(balance >= spent ? 'INSUFFICIENT_RESERVE' : code, more);
  } catch (error) {
    if (error instanceof ChainUnavailable || error instanceof MalformedReply) return refuse(code, details);
    throw error;
  }
}

/** DESTINATION_OPT_IN_REQUIRED where the destination has no line for the token, null where it has one. */
async function lineRefusal(
  transport: Transport,
  endpoint: Endpoint,
  transaction: XrpTransaction,
  details: { reason: string; action: string },
): Promise<Refusal | null> {
  if (transaction.type !== 'Payment' || transaction.tokenContract === null) return null;
  const { currency, issuer } = assetOf(transaction.tokenContract);
  const lines = await readLines(transport, endpoint, transaction.destination, { issuer, at: 'validated' });
  if (lines?.some((line) => parseCurrency(String(line['currency'])) === currency) === true) return null;
  const { tokenContract: asset, destination } = transaction;
  return refuse('DESTINATION_OPT_IN_REQUIRED', { ...details, chain: 'xrp', asset, destination });
}

export type Found =
  | { readonly kind: 'found'; readonly included: Included | null }
  /** `everywhere`: the server had every ledger that it was asked to look into. */
  | { readonly kind: 'not_found'; readonly everywhere: boolean };

export type Included = Outcome & { readonly height: number };

/** Ledgers that a look-up may be bounded to. Source: xrpl.org "tx": min_ledger, max_ledger, searched_all. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** A transaction as one server has it. Throws: ChainUnavailable, MalformedReply. */
export async function readTransaction(
  transport: Transport,
  endpoint: Endpoint,
  txid: string,
  span?: Span,
): Promise<Found> {
  const bounds = span === undefined ? {} : { min_ledger: span.first, max_ledger: span.last };
  const answer = await tryAsk(transport, endpoint, 'tx', { transaction: txid, ...bounds });
  if (!answer.ok) {
    const { error } = answer;
    if (error.token !== 'txnNotFound') throw refusedBy('tx', error);
    return { kind: 'not_found', everywhere: error.answer['searched_all'] === true };
  }
  const { result } = answer;
  // Version 2 has the fields in `tx_json`, version 1 beside everything else.
  const fields = objectIn(result['tx_json'] ?? result, 'transaction');
  if (String(result['hash'] ?? fields['hash']).toUpperCase() !== txid) {
    throw new MalformedReply('another transaction', JSON.stringify(result['hash'] ?? null));
  }
  if (result['validated'] !== true) return { kind: 'found', included: null };
  return { kind: 'found', included: includedOf(txid, fields, result) };
}

function includedOf(txid: string, fields: Answer, result: Answer): Included {
  const meta = objectIn(result['meta'], 'meta'),
    code = textIn(meta['TransactionResult'], 'TransactionResult');
  return {
    txid,
    success: code === 'tesSUCCESS',
    reason: code === 'tesSUCCESS' ? null : code,
    fee: feePaid({ fields, meta, result: code }),
    ...takenBy({ type: textIn(fields['TransactionType'], 'TransactionType'), fields, meta, result: code }),
    height: countIn(result['ledger_index'] ?? fields['ledger_index'], 'ledger_index'),
  };
}

/**
 * What a transaction did, with the hash of its ledger as the same server reports it; null when it is in no validated
 * ledger. `at` narrows the look-up to one height, and null then says that it is not there. Throws: ChainUnavailable.
 */
export async function readOutcome(
  { transport, heads, ledgers }: SubmissionParts,
  endpoint: Endpoint,
  txid: string,
  at?: { readonly height: number },
): Promise<(Outcome & { height: number; hash: string }) | null> {
  await heads.standingOf(endpoint);
  const span = at === undefined ? undefined : { first: at.height, last: at.height };
  const found = await readTransaction(transport, endpoint, txid, span);
  if (found.kind === 'not_found' && span !== undefined && !found.everywhere) {
    throw new ChainUnavailable('xrp', `the server has not looked into ledger ${span.first}`);
  }
  if (found.kind === 'not_found' || found.included === null) return null;
  const hash = await ledgers.hashOn(endpoint, found.included.height);
  if (hash === null) throw new ChainUnavailable('xrp', 'a transaction of a ledger that is not there');
  return { ...found.included, hash };
}
