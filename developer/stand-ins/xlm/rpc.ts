/** Stellar RPC's methods over a ledger. Source: stellar/stellar-rpc, cmd/stellar-rpc/internal/methods. */
import { LedgerHeaderHistoryEntry, LedgerHeaderHistoryEntryExt, LedgerKey } from '@stellar/stellar-sdk/xdr';
import { accountPlace, addressOf, dataPlace, entryData, linePlace, textOf } from './entries.ts';
import { distribution } from './horizon.ts';
import { toid, type Json } from './horizon-records.ts';
import type { ClosedLedger, StellarLedger } from './ledger.ts';
import type { Executed } from './transactions.ts';

/** A JSON-RPC error. Codes of stellar-rpc: -32600 outside of the range, -32602 parameters, -32603 the server itself. */
export class RpcFailure extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface RpcView {
  readonly ledger: StellarLedger;
  readonly newest: number;
  readonly oldest: number;
  readonly passphrase: string;
  /** Why the server calls itself ill; null: it is healthy. */
  readonly illness: string | null;
  /** It answers the entries of nobody with null, as older servers do. */
  readonly nullEntries: boolean;
}

const LEDGERS_MAX = 200;
const ENTRIES_MAX = 200;
const EVENTS_MAX = 10_000;

const invalid = (message: string): never => {
  throw new RpcFailure(-32_602, message);
};
const base64 = (value: { toXdr(): Uint8Array }): string => Buffer.from(value.toXdr()).toString('base64');

type Params = Readonly<Record<string, unknown>>;
type Method = (view: RpcView, params: Params) => Json;

const newestOf = ({ ledger, newest }: RpcView): ClosedLedger => ledger.at(newest)!;

/** Where the server is; each answer names it in its own words. */
function range(view: RpcView, suffix: 'Time' | 'Timestamp' = 'Time'): Json {
  const { ledger, newest, oldest } = view;
  return {
    latestLedger: newest,
    [`latestLedgerClose${suffix}`]: newestOf(view).closeTime,
    oldestLedger: oldest,
    [`oldestLedgerClose${suffix}`]: ledger.at(oldest)!.closeTime,
  };
}

/** Ledgers of a request: from `startLedger`, or after a cursor. */
function ledgersFor(view: RpcView, params: Params): { readonly ledgers: ClosedLedger[]; readonly cursor: string } {
  const { ledger, newest, oldest } = view,
    { cursor, limit = LEDGERS_MAX } = (params['pagination'] ?? {}) as { cursor?: string; limit?: number };
  if (!Number.isInteger(limit) || limit < 1 || limit > LEDGERS_MAX) invalid(`limit must not exceed ${LEDGERS_MAX}`);
  const start = cursor === undefined ? Number(params['startLedger']) : Number(cursor) + 1;
  if (!Number.isInteger(start) || start < oldest || start > newest) {
    throw new RpcFailure(
      -32_600,
      `startLedger must be between the oldest ledger: ${oldest} and the latest ledger: ${newest} for this rpc instance.`,
    );
  }
  const ledgers = Array.from({ length: Math.min(limit, newest - start + 1) }, (_, i) => ledger.at(start + i)!);
  return { ledgers, cursor: String(ledgers.at(-1)?.height ?? start - 1) };
}

function headerXdr({ hash, header }: ClosedLedger): string {
  return base64(new LedgerHeaderHistoryEntry({ hash, header, ext: LedgerHeaderHistoryEntryExt.v0() }));
}

function transactionFields({ height, closeTime }: ClosedLedger, executed: Executed, order: number): Json {
  const { read, success, result, meta } = executed;
  return {
    status: success ? 'SUCCESS' : 'FAILED',
    txHash: read.hash,
    applicationOrder: order,
    feeBump: read.bump !== null,
    envelopeXdr: read.base64,
    resultXdr: base64(result.result),
    resultMetaXdr: base64(meta),
    ledger: height,
    createdAt: String(closeTime),
  };
}

/** The place of a key among the rows; null for a kind of entry that this ledger has none of. */
function placeOfKey(text: unknown): string | null {
  let key: LedgerKey;
  try {
    key = LedgerKey.fromXdr(String(text), 'base64');
  } catch {
    return invalid(`cannot unmarshal key value ${String(text)} at index 0`);
  }
  switch (key.type) {
    case 'account':
      return accountPlace(addressOf(key.account.accountId));
    case 'trustline': {
      const { accountId, asset } = key.trustLine;
      return asset.type === 'assetTypePoolShare' || asset.type === 'assetTypeNative'
        ? null
        : linePlace(addressOf(accountId), textOf(asset)!);
    }
    case 'data':
      return dataPlace(addressOf(key.data.accountId), key.data.dataName.toString());
    case 'claimableBalance':
      return `claimable ${Buffer.from(key.claimableBalance.balanceId.v0.toBytes()).toString('hex')}`;
    default:
      return null;
  }
}

const METHODS: Readonly<Record<string, Method>> = {
  getHealth(view) {
    if (view.illness !== null) throw new RpcFailure(-32_603, view.illness);
    return { status: 'healthy', ...range(view), ledgerRetentionWindow: view.newest - view.oldest + 1 };
  },
  getNetwork: ({ passphrase }) => ({ passphrase, protocolVersion: 23 }),
  getLatestLedger(view) {
    const newest = newestOf(view);
    return {
      id: newest.hash,
      protocolVersion: 23,
      sequence: newest.height,
      closeTime: String(newest.closeTime),
      headerXdr: base64(newest.header),
      metadataXdr: base64(newest.meta),
    };
  },
  getLedgers(view, params) {
    const { ledgers, cursor } = ledgersFor(view, params);
    return {
      ledgers: ledgers.map((one) => ({
        hash: one.hash,
        sequence: one.height,
        ledgerCloseTime: String(one.closeTime),
        headerXdr: headerXdr(one),
        metadataXdr: base64(one.meta),
      })),
      ...range(view),
      cursor,
    };
  },
  getTransactions(view, params) {
    const { ledgers, cursor } = ledgersFor(view, params);
    const transactions = ledgers.flatMap((one) =>
      one.executed.map((executed, i) => transactionFields(one, executed, i + 1)),
    );
    return { transactions, ...range(view, 'Timestamp'), cursor };
  },
  getTransaction(view, { hash }) {
    if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) return invalid('unexpected hash length');
    const found = view.ledger.find(hash);
    const isKept = found !== null && found.ledger.height <= view.newest && found.ledger.height >= view.oldest;
    return {
      ...range(view),
      ...(isKept
        ? transactionFields(found.ledger, found.executed, found.order)
        : { status: 'NOT_FOUND', txHash: hash }),
    };
  },
  getEvents(view, params) {
    const { ledgers, cursor } = ledgersFor(view, { startLedger: params['startLedger'], pagination: {} });
    const events = ledgers.flatMap((one) => one.executed.flatMap((executed, i) => eventsOf(one, executed, i + 1)));
    return { events: events.slice(0, EVENTS_MAX), ...range(view), cursor };
  },
  getLedgerEntries(view, { keys }) {
    if (!Array.isArray(keys)) return invalid('keys');
    if (keys.length > ENTRIES_MAX)
      return invalid(`key count (${keys.length}) exceeds maximum supported (${ENTRIES_MAX})`);
    const { state } = newestOf(view);
    const entries = keys.flatMap((key) => {
      const place = placeOfKey(key),
        row = place === null ? null : state.get(place);
      return row === null
        ? []
        : [{ key, xdr: base64(entryData(row)), lastModifiedLedgerSeq: state.heightOf(place!), extXdr: 'AAAAAA==' }];
    });
    return { entries: entries.length === 0 && view.nullEntries ? null : entries, latestLedger: view.newest };
  },
  getFeeStats(view) {
    const { baseFee, surgeFee } = view.ledger,
      charged = surgeFee > baseFee ? surgeFee : baseFee;
    const inclusion = { ...distribution(charged), transactionCount: '100', ledgerCount: 50 };
    return { sorobanInclusionFee: inclusion, inclusionFee: inclusion, latestLedger: view.newest };
  },
  sendTransaction(view, { transaction }) {
    let submitted;
    try {
      submitted = view.ledger.submit(String(transaction));
    } catch {
      return invalid('invalid_xdr');
    }
    const { newest } = view.ledger;
    return {
      status: submitted.status,
      hash: submitted.hash,
      latestLedger: newest.height,
      latestLedgerCloseTime: String(newest.closeTime),
      ...(submitted.status === 'ERROR' ? { errorResultXdr: base64(submitted.result) } : {}),
    };
  },
};

function eventsOf(closed: ClosedLedger, executed: Executed, order: number): Json[] {
  if (executed.meta.type !== 'v4') return [];
  return executed.meta.v4.operations.flatMap(({ events }, index) =>
    events.map(({ body, contractId }, ordinal) => ({
      type: 'contract',
      ledger: closed.height,
      ledgerClosedAt: new Date(closed.closeTime * 1_000).toISOString(),
      contractId: contractId === null ? '' : contractId.toString(),
      id: `${toid(closed.height, order, index).toString().padStart(19, '0')}-${String(ordinal).padStart(10, '0')}`,
      operationIndex: index,
      transactionIndex: order,
      txHash: executed.read.hash,
      inSuccessfulContractCall: executed.success,
      topic: body.v0.topics.map(base64),
      value: base64(body.v0.data),
    })),
  );
}

/** The result of a method. Throws: RpcFailure. */
export function answerRpc(view: RpcView, method: string, params: unknown): Json {
  const run = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (run === undefined) throw new RpcFailure(-32_601, `method not found: ${method}`);
  return run(view, (typeof params === 'object' && params !== null ? params : {}) as Params);
}
