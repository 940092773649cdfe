/**
 * Submitting signed bytes. G25, G26, G28, chains.md 9.2.
 *   RPC      sendTransaction → status, hash, errorResultXdr
 *   Horizon  POST /transactions_async → tx_status, hash, error_result_xdr; an older server: POST /transactions, which
 * waits
 */
import { TransactionResult } from '@stellar/stellar-sdk/xdr';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { ChainUnavailable, MalformedReply, type BroadcastResult, type Endpoint, type Signed } from '../chain.ts';
import { doubtsIn, notProven, oneHas, submitToEach } from '../each-endpoint.ts';
import { asDoubt } from '../json-rpc.ts';
import { objectIn, textIn, type Answer } from '../node-answer.ts';
import { readAccounts } from './account-reader.ts';
import type { FateParts } from './death.ts';
import { decodePayload, type OwnTransaction } from './envelope.ts';
import { refusedByHorizon, tryAskHorizon } from './horizon.ts';
import { knows } from './inclusion.ts';
import { explainCodes, explainError, explainStatus, type Rejected, type Verdict } from './rejection.ts';
import { codesOf, type ResultCodes } from './result-codes.ts';
import { refusedByRpc, tryAskRpc } from './rpc.ts';
import { txidOf } from './signed.ts';
import type { Source } from './sources.ts';
import { decodeXdr } from './xdr.ts';

/**
 * Submits the bytes to one server after another until one takes them. A refusal is final only when no server took them,
 * none answered "unknown", and those that were asked do not know the hash: what was applied before is refused too.
 * Throws: Error when the txid is not that of the bytes (G28), MalformedReply when a server names another hash.
 */
export async function broadcast(parts: FateParts, { payload, txid }: Signed): Promise<BroadcastResult> {
  if (txidOf(parts.network, payload) !== txid) throw new Error('the txid is not that of the signed bytes');
  const { sources } = parts,
    { transport } = sources,
    looked: (boolean | null)[] = [];
  const verdicts = await submitToEach(transport, {
    submit: async (endpoint) => submit(await sources.sourceOf(endpoint), payload, txid),
    isTaken: ({ kind }) => kind === 'accepted' || kind === 'already_known',
    isLast: (endpoint) => sources.knownKind(endpoint) === 'horizon',
  });
  if (verdicts.taken !== null) return { kind: verdicts.taken.kind as 'accepted' | 'already_known', txid };
  const has = async (endpoint: Endpoint) => {
    const known = await knows(parts, await sources.sourceOf(endpoint), txid);
    looked.push(known);
    return known === true;
  };
  if (await oneHas(transport, verdicts, has)) return { kind: 'already_known', txid };
  const doubts = doubtsIn(verdicts, (verdict) =>
    verdict.kind === 'look_up' || verdict.kind === 'unknown' ? verdict.reason : null,
  );
  const rejected = verdicts.others.map(({ verdict }) => verdict).findLast((verdict) => verdict.kind === 'rejected');
  if (rejected === undefined || doubts.length > 0) return notProven(doubts, 'no server can be asked now');
  if (!looked.includes(false)) return notProven([`${rejected.reason}, and no server can look it up`], '');
  return { kind: 'rejected_final', refusal: await refusalOf(parts, payload, rejected) };
}

async function submit(source: Source, payload: string, txid: string): Promise<Verdict> {
  if (source.kind === 'horizon') return submitToHorizon(source.endpoint, payload, txid);
  const answer = await tryAskRpc(source.endpoint, 'sendTransaction', { transaction: payload }).catch(asDoubt('xlm'));
  if (!answer.ok)
    return unreadable(
      answer.error.unmatched === true ? '' : answer.error.message,
      refusedByRpc('sendTransaction', answer.error),
    );
  const { status, hash, errorResultXdr: result } = objectIn(answer.result, 'sendTransaction');
  return verdictOf({ status, hash, result }, txid);
}

/** Final where the server cannot read the bytes; else its error is kept. Throws: ChainUnavailable. */
function unreadable(name: string, error: ChainUnavailable): Verdict {
  const verdict = explainError(name);
  if (verdict === null) throw error;
  return verdict;
}

interface Reply {
  readonly status: unknown;
  readonly hash: unknown;
  readonly result: unknown;
}

function verdictOf({ status, hash, result }: Reply, txid: string): Verdict {
  if (String(hash).toLowerCase() !== txid) throw new MalformedReply('the server names another hash', String(hash));
  const known = explainStatus(textIn(status, 'status'));
  if (known !== null) return known;
  if (status !== 'ERROR') throw new MalformedReply('status of a submission', String(status));
  return explainCodes(codesOf(decodeXdr(TransactionResult, result, 'error result')));
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' } as const;
/** Statuses of a Horizon that has no such path. */
const NO_SUCH_PATH = new Set([404, 405]);

async function submitToHorizon(endpoint: Endpoint, payload: string, txid: string): Promise<Verdict> {
  const body = `tx=${encodeURIComponent(payload)}`;
  const post = (path: string) => endpoint.request({ method: 'POST', path, body, headers: FORM });
  const reply = await post('/transactions_async');
  if (!NO_SUCH_PATH.has(reply.status)) {
    const parsed = asyncReply(reply.text);
    if (parsed !== null) return verdictOf(parsed, txid);
    const answer = await tryAskHorizon(
      { name: endpoint.name, request: async () => reply },
      { method: 'POST', path: '/transactions_async' },
    );
    if (answer.ok) throw new MalformedReply('answer to a submission', reply.text);
    return unreadable(answer.problem.kind, refusedByHorizon('/transactions_async', answer.problem));
  }
  return waitForHorizon(endpoint, post, txid);
}

/** Fields of an answer that carries a status; null for a problem. */
function asyncReply(text: string): Reply | null {
  try {
    const { tx_status: status, hash, error_result_xdr: result } = objectIn(JSON.parse(text), 'answer to a submission');
    return typeof status === 'string' ? { status, hash, result } : null;
  } catch {
    return null;
  }
}

/** The answer comes with the ledger; a server that times out has reported nothing (504 never gets here). */
async function waitForHorizon(
  endpoint: Endpoint,
  post: (path: string) => ReturnType<Endpoint['request']>,
  txid: string,
): Promise<Verdict> {
  const reply = await post('/transactions');
  const answer = await tryAskHorizon(
    { name: endpoint.name, request: async () => reply },
    { method: 'POST', path: '/transactions' },
  );
  if (answer.ok) {
    if (answer.value['hash'] !== txid) throw new MalformedReply('the server names another hash', reply.text);
    return { kind: 'accepted' };
  }
  const { result_codes: codes } = answer.problem.extras;
  if (codes === undefined) return unreadable(answer.problem.kind, refusedByHorizon('/transactions', answer.problem));
  return explainCodes(codesIn(objectIn(codes, 'result_codes')));
}

function codesIn({ transaction, inner_transaction: inner, operations }: Answer): ResultCodes {
  return {
    transaction: textIn(transaction, 'result code'),
    inner: typeof inner === 'string' ? inner : null,
    operations: Array.isArray(operations) ? operations.map(String) : [],
  };
}

/** Codes that what is paid decides, and the sender's balance. Table 9.2; X1. */
async function refusalOf(
  parts: FateParts,
  payload: string,
  { code, action, reason, needs }: Rejected,
): Promise<Refusal> {
  const details = { reason, action },
    decoded = decodePayload(payload);
  const transaction = decoded.ok ? decoded.payload.transaction : null,
    native = transaction === null ? null : nativeAmount(transaction);
  const operation = transaction?.operation;
  if (code === 'DESTINATION_OPT_IN_REQUIRED' && operation?.kind === 'payment' && operation.asset !== null)
    return refuse(code, { ...details, chain: 'xlm', asset: operation.asset, destination: operation.to.address });
  if (native === null || transaction === null) return refuse(code, details);
  // A native payment creates the account that is not there: it only was built for one that was.
  if (needs === 'asset') return refuse('CHAIN_REJECTED', { reason, action: 'rebuild' });
  if (needs !== 'balance') return refuse(code, details);
  const balance = await balanceOfSender(parts, transaction.source);
  const covered = balance !== null && balance >= native;
  return refuse(covered ? 'INSUFFICIENT_RESERVE' : code, {
    ...details,
    required: native.toString(),
    ...(balance === null ? {} : { balance: balance.toString() }),
  });
}

/** Stroops that move; null for a token or an opt-in. */
function nativeAmount({ operation }: OwnTransaction): bigint | null {
  if (operation.kind === 'create_account') return operation.startingBalance;
  return operation.kind === 'payment' && operation.asset === null ? operation.amount : null;
}

async function balanceOfSender({ sources, ledgers }: FateParts, sender: string): Promise<bigint | null> {
  try {
    const { accounts } = await sources.attempt((source) => readAccounts(ledgers.heads, source, [sender], null));
    return BigInt(accounts[sender]?.balance ?? '0');
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}
