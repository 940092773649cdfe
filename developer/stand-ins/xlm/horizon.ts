/**
 * Horizon's paths over a ledger, as far as a client of this kind uses them. Source: developers.stellar.org, Horizon
 * API.
 */
import type { TransactionResult } from '@stellar/stellar-sdk/xdr';
import { accountRecord, effectRecords } from './horizon-effects.ts';
import { ledgerRecord, operationRecords, transactionRecord, type Json } from './horizon-records.ts';
import type { ClosedLedger, StellarLedger } from './ledger.ts';
import { resultCodesOf } from './result-codes.ts';

export interface HorizonReply {
  readonly status: number;
  readonly body: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a server shows of the ledger. */
export interface HorizonView {
  readonly ledger: StellarLedger;
  /** Newest ledger that it has ingested, and the oldest that it keeps. */
  readonly newest: number;
  readonly oldest: number;
  /** An older server has no `/transactions_async`. */
  readonly hasAsync: boolean;
  /** Closes a ledger while a submission waits for it. */
  readonly closesOnSubmit: boolean;
  readonly passphrase: string;
}

const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 200;

/** An error in Horizon's form. */
export function problem(status: number, kind: string, title: string, extras?: Json): HorizonReply {
  const body = {
    type: `https://stellar.org/horizon-errors/${kind}`,
    title,
    status,
    detail: `${title}.`,
    ...(extras === undefined ? {} : { extras }),
  };
  return { status, body, headers: { 'content-type': 'application/problem+json; charset=utf-8' } };
}

const notFound = () => problem(404, 'not_found', 'Resource Missing');
const badRequest = (field: string) => problem(400, 'bad_request', 'Bad Request', { invalid_field: field });

interface Query {
  readonly cursor: string;
  readonly limit: number;
  readonly descending: boolean;
  readonly includeFailed: boolean;
}

function queryOf(search: URLSearchParams): Query | HorizonReply {
  const limit = Number(search.get('limit') ?? LIMIT_DEFAULT),
    order = search.get('order') ?? 'asc';
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) return badRequest('limit');
  if (order !== 'asc' && order !== 'desc') return badRequest('order');
  return {
    cursor: search.get('cursor') ?? '',
    limit,
    descending: order === 'desc',
    includeFailed: search.get('include_failed') === 'true',
  };
}

/** Place in the order of a list: two numbers, the second for effects. */
function placeOf(token: string): readonly [bigint, bigint] {
  const [first = '0', second = '0'] = token.split('-');
  return [BigInt(first || '0'), BigInt(second || '0')];
}

const isAfter = (a: string, b: string): boolean => {
  const [a1, a2] = placeOf(a),
    [b1, b2] = placeOf(b);
  return a1 === b1 ? a2 > b2 : a1 > b1;
};

function page(path: string, records: readonly Json[], { cursor, limit, descending }: Query): HorizonReply {
  const token = (record: Json) => String(record['paging_token']);
  const ordered = descending ? records.toReversed() : records;
  const rest =
    cursor === '' || cursor === 'now'
      ? ordered
      : ordered.filter((record) => (descending ? isAfter(cursor, token(record)) : isAfter(token(record), cursor)));
  const found = rest.slice(0, limit),
    next = found.length === 0 ? cursor : token(found.at(-1)!);
  const href = (at: string) => ({ href: `${path}?cursor=${at}&limit=${limit}&order=${descending ? 'desc' : 'asc'}` });
  return {
    status: 200,
    body: { _links: { self: href(cursor), next: href(next), prev: href(next) }, _embedded: { records: found } },
  };
}

type Listed = (closed: ClosedLedger, includeFailed: boolean) => Json[];

/** Lists that a ledger, a transaction and the whole history have. */
function lists({ ledger }: HorizonView): Readonly<Record<string, Listed>> {
  const each = (
    closed: ClosedLedger,
    includeFailed: boolean,
    of: (executed: ClosedLedger['executed'][number], order: number) => Json[],
  ) => closed.executed.flatMap((executed, i) => (includeFailed || executed.success ? of(executed, i + 1) : []));
  return {
    transactions: (closed, failed) =>
      each(closed, failed, (executed, order) => [transactionRecord(closed, executed, order)]),
    operations: (closed, failed) =>
      each(closed, failed, (executed, order) => operationRecords(closed, executed, order)),
    payments: (closed, failed) =>
      each(closed, failed, (executed, order) => operationRecords(closed, executed, order).filter(isPayment)),
    effects: (closed) => each(closed, false, (executed, order) => effectRecords(ledger, closed, executed, order)),
  };
}

const PAYMENTS = new Set([
  'payment',
  'create_account',
  'account_merge',
  'path_payment_strict_send',
  'path_payment_strict_receive',
  'invoke_host_function',
]);
const isPayment = ({ type }: Json): boolean => PAYMENTS.has(String(type));

/** The answer to a GET. */
export function getHorizon(view: HorizonView, path: string, search: URLSearchParams): HorizonReply {
  const query = queryOf(search);
  if ('body' in query) return query;
  const [area = '', id, list, ...rest] = path.split('/').slice(1);
  if (rest.length > 0) return notFound();
  if (area === '') return root(view);
  if (area === 'fee_stats') return feeStats(view);
  if (area === 'accounts' && id !== undefined) return accountPath(view, path, id, list, query);
  if (area === 'transactions' && id !== undefined) return transactionPath(view, path, id, list, query);
  if (area === 'ledgers' && id !== undefined) return ledgerPath(view, path, Number(id), list, query);
  if (area === 'ledgers') return page(path, shown(view).map(ledgerRecord), query);
  const all = lists(view)[area];
  if (all === undefined || id !== undefined) return notFound();
  return page(
    path,
    shown(view).flatMap((closed) => all(closed, query.includeFailed)),
    query,
  );
}

const shown = ({ ledger, newest, oldest }: HorizonView): ClosedLedger[] =>
  Array.from({ length: newest - oldest + 1 }, (_, i) => ledger.at(oldest + i)!).filter((one) => one !== null);

function ledgerPath(
  view: HorizonView,
  path: string,
  height: number,
  list: string | undefined,
  query: Query,
): HorizonReply {
  if (!Number.isInteger(height)) return badRequest('ledger_id');
  if (height < view.oldest) return problem(410, 'before_history', 'Data Requested Is Before Recorded History');
  const closed = height > view.newest ? null : view.ledger.at(height);
  if (closed === null) return notFound();
  if (list === undefined) return { status: 200, body: ledgerRecord(closed) };
  const records = lists(view)[list];
  return records === undefined ? notFound() : page(path, records(closed, query.includeFailed), query);
}

function transactionPath(
  view: HorizonView,
  path: string,
  hash: string,
  list: string | undefined,
  query: Query,
): HorizonReply {
  const found = view.ledger.find(hash);
  if (found === null || found.ledger.height > view.newest || found.ledger.height < view.oldest) return notFound();
  const { ledger: closed, executed, order } = found;
  if (list === undefined) return { status: 200, body: transactionRecord(closed, executed, order, hash) };
  if (list === 'operations') return page(path, operationRecords(closed, executed, order), query);
  return list === 'effects' ? page(path, effectRecords(view.ledger, closed, executed, order), query) : notFound();
}

function accountPath(
  view: HorizonView,
  path: string,
  id: string,
  list: string | undefined,
  query: Query,
): HorizonReply {
  const { state } = view.ledger.at(view.newest)!,
    account = state.account(id);
  if (list === undefined) return account === null ? notFound() : { status: 200, body: accountRecord(state, account) };
  const records = lists(view)[list];
  if (records === undefined) return notFound();
  const names = (record: Json) =>
    Object.entries(record).some(([field, value]) => value === id && field !== 'asset_issuer');
  return page(
    path,
    shown(view)
      .flatMap((closed) => records(closed, query.includeFailed))
      .filter(names),
    query,
  );
}

function root({ ledger, newest, oldest, passphrase }: HorizonView): HorizonReply {
  const { newest: core, baseFee } = ledger;
  return {
    status: 200,
    body: {
      horizon_version: '23.0.0',
      core_version: 'stellar-core 23.0.0',
      ingest_latest_ledger: newest,
      history_latest_ledger: newest,
      history_latest_ledger_closed_at: ledgerRecord(ledger.at(newest)!)['closed_at'],
      history_elder_ledger: oldest,
      core_latest_ledger: core.height,
      network_passphrase: passphrase,
      current_protocol_version: 23,
      supported_protocol_version: 23,
      core_supported_protocol_version: 23,
      base_fee: baseFee.toString(),
    },
  };
}

const PERCENTILES = ['max', 'min', 'mode', 'p10', 'p20', 'p30', 'p40', 'p50', 'p60', 'p70', 'p80', 'p90', 'p95', 'p99'];

/** One figure for all percentiles, as text. */
export function distribution(fee: bigint): Json {
  return Object.fromEntries(PERCENTILES.map((name) => [name, fee.toString()]));
}

function feeStats({ ledger: { newest, baseFee, surgeFee } }: HorizonView): HorizonReply {
  const charged = surgeFee > baseFee ? surgeFee : baseFee;
  return {
    status: 200,
    body: {
      last_ledger: String(newest.height),
      last_ledger_base_fee: baseFee.toString(),
      ledger_capacity_usage: charged > baseFee ? '1.00' : '0.16',
      fee_charged: distribution(charged),
      max_fee: distribution(charged > baseFee ? charged * 2n : baseFee * 10n),
    },
  };
}

function failed(result: TransactionResult, envelope: string): HorizonReply {
  return problem(400, 'transaction_failed', 'Transaction Failed', {
    envelope_xdr: envelope,
    result_codes: resultCodesOf(result),
    result_xdr: result.toXdr('base64'),
  });
}

/** The answer to a POST of a form with `tx`. */
export function postHorizon(view: HorizonView, path: string, form: URLSearchParams): HorizonReply {
  const envelope = form.get('tx') ?? '',
    isAsync = path === '/transactions_async';
  if (path !== '/transactions' && !(isAsync && view.hasAsync)) return notFound();
  let submitted;
  try {
    submitted = view.ledger.submit(envelope);
  } catch {
    return problem(400, 'transaction_malformed', 'Transaction Malformed', { envelope_xdr: envelope });
  }
  const { status, hash } = submitted;
  if (isAsync) {
    const http = { PENDING: 201, DUPLICATE: 409, TRY_AGAIN_LATER: 503, ERROR: 400 }[status];
    return {
      status: http,
      body: {
        tx_status: status,
        hash,
        ...(submitted.status === 'ERROR' ? { error_result_xdr: submitted.result.toXdr('base64') } : {}),
      },
    };
  }
  if (submitted.status === 'ERROR') {
    const before = view.ledger.find(hash);
    if (before !== null && before.executed.success)
      return { status: 200, body: transactionRecord(before.ledger, before.executed, before.order) };
    return failed(submitted.result, envelope);
  }
  if (view.closesOnSubmit) view.ledger.close();
  const found = view.ledger.find(hash);
  if (found === null) return problem(504, 'timeout', 'Timeout');
  if (!found.executed.success) return failed(found.executed.result.result, envelope);
  return { status: 200, body: transactionRecord(found.ledger, found.executed, found.order) };
}
