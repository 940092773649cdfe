/**
 * What became of a payment, and the proof that it can never land (G27, R29): the newest validated ledger is past its
 * `LastLedgerSequence`, the server has every ledger from the build to there without a gap, and it is in none of them.
 *
 *   found, validated                      included
 *   found, not validated, time left       pending
 *   not found, time left                  unknown: the same bytes again
 *   time over, all ledgers there, absent  dead; else unknown, with what is missing
 *
 * `tefMAX_LEDGER` is no proof (XRPLF/xrpl.js#1047): it is one server's word before the ledger is validated.
 */
import { ChainUnavailable, type Endpoint, type Fate, type Transport, type Unsigned } from '../chain.ts';
import { countIn, listIn, objectIn } from '../node-answer.ts';
import { refusedBy, tryAsk } from './node.ts';
import { holds } from './standing.ts';
import { readTransaction, type Included, type Span, type SubmissionParts } from './submission.ts';
import { decodeUnsigned, type XrpTransaction } from './transaction.ts';
import { LAST_LEDGER_AHEAD } from './unsigned.ts';

const unproven = (reason: string): Fate => ({ kind: 'unknown', reason });

/** Transactions of one page, and pages, of the sender's own in some twenty ledgers. */
const PAGE = 200;
const PAGES_MAX = 50;

/** Included, pending, unknown or, with proof, dead. Throws: ChainUnavailable, MalformedReply. */
export async function readFate(
  parts: SubmissionParts,
  endpoint: Endpoint,
  unsigned: Unsigned,
  txid: string,
): Promise<Fate> {
  const { transport, heads } = parts;
  const decoded = decodeUnsigned(unsigned.payload);
  if (!decoded.ok) throw new Error(`a payload of ours does not decode: ${decoded.reason}`);
  const { transaction } = decoded,
    { lastLedgerSequence: last } = transaction;
  // The standing first: what is not found afterwards was not there when that ledger was the newest.
  const { height, complete } = await heads.standingOf(endpoint);
  const found = await readTransaction(transport, endpoint, txid);
  if (found.kind === 'found' && found.included !== null) return included(parts, endpoint, found.included);
  if (height <= last) {
    return found.kind === 'found'
      ? { kind: 'pending' }
      : unproven(`the server does not know it; it may land until ledger ${last}`);
  }
  // An older version of a repriced payment was built before the inputs of the newest one were read.
  const span: Span = { first: Math.min(unsigned.readAtHeight, last - LAST_LEDGER_AHEAD), last };
  if (!holds(complete, span.first, height)) {
    return unproven(`the server does not have every ledger of ${span.first} to ${height}`);
  }
  const absent = found.kind === 'found' || (await readTransaction(transport, endpoint, txid, span));
  if (absent !== true) {
    if (absent.kind === 'found' && absent.included !== null) return included(parts, endpoint, absent.included);
    if (absent.kind === 'not_found' && !absent.everywhere) {
      return unproven(`the server has not looked into every ledger to ${last}`);
    }
  }
  return proveAbsence(parts, endpoint, transaction, { txid, span, height });
}

async function included(
  { ledgers }: SubmissionParts,
  endpoint: Endpoint,
  { height, ...outcome }: Included,
): Promise<Fate> {
  const hash = await ledgers.hashOn(endpoint, height);
  if (hash === null) throw new ChainUnavailable('xrp', 'a transaction of a ledger that is not there');
  return { kind: 'included', height, hash, outcome };
}

interface Question {
  readonly txid: string;
  readonly span: Span;
  readonly height: number;
}

/**
 * The sender's own transactions of those ledgers: ours is not among them. Also what is still in a server's memory
 * without being validated is judged by them. Another server, if there is one that answers, must not have it either.
 */
async function proveAbsence(
  { transport, heads }: SubmissionParts,
  endpoint: Endpoint,
  transaction: XrpTransaction,
  { txid, span, height }: Question,
): Promise<Fate> {
  const own = await readOwn(transport, endpoint, transaction.account, span);
  if (own === null) return unproven('the server does not list every ledger of the time');
  if (own.some(({ hash }) => hash === txid)) {
    throw new ChainUnavailable('xrp', 'a server that has the transaction and does not find it');
  }
  const second = transport.endpoints.find((one) => one !== endpoint);
  if (second !== undefined && (await hasIt(transport, second, txid))) {
    throw new ChainUnavailable('xrp', 'two servers disagree about a transaction');
  }
  await heads.assertComplete(endpoint, span.first, span.last);
  const user = own.find(({ sequence }) => sequence === transaction.sequence);
  const used = user === undefined ? '' : `; ${user.hash} used its sequence ${transaction.sequence}`;
  const absence = `in none of the ledgers ${span.first} to ${span.last}, after which it is void`;
  return { kind: 'dead', proof: `${absence}; ${height} is validated${used}` };
}

async function hasIt(transport: Transport, endpoint: Endpoint, txid: string): Promise<boolean> {
  try {
    const found = await readTransaction(transport, endpoint, txid);
    return found.kind === 'found' && found.included !== null;
  } catch (error) {
    if (error instanceof ChainUnavailable) return false; // a server that is down disproves nothing
    throw error;
  }
}

interface Own {
  readonly hash: string;
  readonly sequence: number | null;
}

/** The sender's validated transactions of a span, or null where the server looked into less than that. */
async function readOwn(
  transport: Transport,
  endpoint: Endpoint,
  account: string,
  span: Span,
): Promise<readonly Own[] | null> {
  const own: Own[] = [];
  let marker: unknown;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await tryAsk(transport, endpoint, 'account_tx', {
      account,
      ledger_index_min: span.first,
      ledger_index_max: span.last,
      forward: true,
      limit: PAGE,
      ...(marker === undefined ? {} : { marker }),
    });
    if (!answer.ok) throw refusedBy('account_tx', answer.error);
    const { result } = answer;
    const looked = {
      first: countIn(result['ledger_index_min'], 'ledger_index_min'),
      last: countIn(result['ledger_index_max'], 'ledger_index_max'),
    };
    if (looked.first > span.first || looked.last < span.last) return null;
    own.push(
      ...listIn(result['transactions'], 'transactions').map((value) => {
        const entry = objectIn(value, 'transaction of an account');
        const fields = objectIn(entry['tx_json'] ?? entry['tx'], 'transaction');
        const number = countIn(fields['TicketSequence'] ?? fields['Sequence'], 'Sequence');
        return {
          hash: String(entry['hash'] ?? fields['hash']).toUpperCase(),
          sequence: fields['Account'] === account ? number : null,
        };
      }),
    );
    marker = result['marker'];
    if (marker === undefined) return own;
  }
  throw new ChainUnavailable('xrp', `account_tx: more than ${PAGES_MAX} pages`);
}
