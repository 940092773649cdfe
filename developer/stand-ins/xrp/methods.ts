/** Every method of a server, by name. Source: xrpl.org "Public API Methods". */
import { DEFAULT_DEFINITIONS } from 'ripple-binary-codec';
import { accountKey } from './entries.ts';
import { ACCOUNT_METHODS } from './account-methods.ts';
import { MethodError, ledgerOf, type Asked, type Context } from './method.ts';
import { fieldsOf, ledgerResult, transactionResult } from './shapes.ts';
import { accountOf, type Json } from './transactions.ts';
import type { Showing } from './faults.ts';

const DROPS_PER_XRP = 1_000_000;
const xrpOf = (drops: bigint): number => Number(drops) / DROPS_PER_XRP;

/** `32570-6595042`, `5,10-20` or `empty`. */
function completeText(showing: Showing): string {
  const ranges = showing.complete.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`));
  return ranges.join(',') || 'empty';
}

function ageOf(showing: Showing): number {
  const closed = showing.network.ledgerAt(showing.validatedHeight)!.header.close_time;
  return Math.max(0, Math.floor(showing.network.nowMs() / 1_000) - 946_684_800 - closed);
}

function common({ showing }: Context): Json {
  const { faults, network } = showing;
  const stated = faults.networkId ?? (network.networkId === 0 ? undefined : network.networkId);
  return {
    complete_ledgers: completeText(showing),
    load_factor: 1,
    peers: 21,
    validation_quorum: 28,
    ...(faults.isClio ? { clio_version: '2.4.0' } : { build_version: '2.5.0', server_state: faults.serverState }),
    ...(stated === undefined ? {} : { network_id: stated }),
    ...(faults.amendmentBlocked ? { amendment_blocked: true } : {}),
  };
}

const serverInfo: Asked = (context) => {
  const { showing } = context,
    { fees } = showing.network,
    ledger = showing.ledgerAt(showing.validatedHeight);
  return {
    info: {
      ...common(context),
      ...(ledger === null
        ? {}
        : {
            validated_ledger: {
              age: ageOf(showing),
              base_fee_xrp: xrpOf(fees.baseFee),
              hash: ledger.hash,
              reserve_base_xrp: xrpOf(fees.reserveBase),
              reserve_inc_xrp: xrpOf(fees.reserveIncrement),
              seq: ledger.height,
            },
          }),
    },
  };
};

const serverState: Asked = (context) => {
  const { showing } = context,
    { fees } = showing.network,
    ledger = showing.ledgerAt(showing.validatedHeight);
  if (showing.faults.isClio) throw new MethodError('unknownCmd', 'Unknown method.');
  return {
    state: {
      ...common(context),
      ...(ledger === null
        ? {}
        : {
            validated_ledger: {
              base_fee: Number(fees.baseFee),
              close_time: ledger.header.close_time,
              hash: ledger.hash,
              reserve_base: Number(fees.reserveBase),
              reserve_inc: Number(fees.reserveIncrement),
              seq: ledger.height,
            },
          }),
    },
  };
};

const ledger: Asked = ({ params, showing, version }) => {
  const { network } = showing;
  const options = { transactions: params['transactions'] === true, expand: params['expand'] === true, version };
  const asked = params['ledger_hash'] ?? params['ledger_index'] ?? (version === 1 ? 'current' : 'validated');
  if (asked === 'current') {
    return {
      ledger: { closed: false, ledger_index: String(network.openHeight), parent_hash: network.tip.hash },
      ledger_current_index: network.openHeight,
      validated: false,
    };
  }
  if (asked === 'closed' || (Number(asked) === network.tip.height && network.tip.height > network.validatedHeight)) {
    return ledgerResult(network.tip, { ...options, validated: network.tip.height <= showing.validatedHeight });
  }
  const byHash = typeof asked === 'string' && asked.length === 64;
  const heights = byHash
    ? showing.complete.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, i) => first + i))
    : [];
  const wanted = String(asked).toUpperCase();
  const hashed = heights.map((height) => showing.ledgerAt(height)).find((one) => one?.hash === wanted);
  const found = byHash
    ? (hashed ?? null)
    : showing.ledgerAt(asked === 'validated' ? showing.validatedHeight : Number(asked));
  if (found === null) throw new MethodError('lgrNotFound', 'ledgerNotFound');
  return ledgerResult(found, { ...options, validated: true });
};

const tx: Asked = ({ params, showing, version }) => {
  const { network } = showing,
    txid = String(params['transaction']).toUpperCase();
  if (!/^[0-9A-F]{64}$/.test(txid)) {
    throw new MethodError(version === 1 ? 'notImpl' : 'invalidParams', 'Not a transaction hash.');
  }
  const bounds =
    params['min_ledger'] === undefined
      ? null
      : { first: Number(params['min_ledger']), last: Number(params['max_ledger']) };
  const found = network.find(txid),
    home = found === null ? null : showing.ledgerAt(found.height);
  const inBounds = bounds === null || (found !== null && found.height >= bounds.first && found.height <= bounds.last);
  if (found !== null && home !== null && inBounds) return transactionResult(found, home, version);
  const waiting = network.findWaiting(txid);
  if (waiting !== null) {
    const fields = fieldsOf(waiting.json, version);
    return version === 1
      ? { ...fields, hash: txid, validated: false }
      : { tx_json: fields, hash: txid, validated: false };
  }
  throw new MethodError(
    'txnNotFound',
    'Transaction not found.',
    bounds === null ? {} : { searched_all: showing.has(bounds.first, bounds.last) },
  );
};

const transactionEntry: Asked = (context) => {
  const { params, showing, version } = context,
    txid = String(params['tx_hash']).toUpperCase();
  const { where } = ledgerOf(context),
    found = showing.network.find(txid);
  if (found === null || found.height !== where['ledger_index']) {
    throw new MethodError('transactionNotFound', 'Transaction not found.', where);
  }
  const { meta, tx_json: fields = found.json } = transactionResult(found, showing.ledgerAt(found.height)!, version) as {
    meta: Json;
    tx_json?: Json;
  };
  return {
    ...where,
    [version === 1 ? 'metadata' : 'meta']: meta,
    tx_json: { ...fields, ...(version === 1 ? { hash: txid } : {}) },
    ...(version === 1 ? {} : { hash: txid }),
  };
};

const fee: Asked = ({ showing: { network } }) => {
  const { baseFee } = network.fees,
    levelOf = (drops: bigint) => ((drops * 256n) / baseFee).toString();
  const median = baseFee * 500n;
  return {
    current_ledger_size: String(network.openSize),
    current_queue_size: String(network.queue.size),
    expected_ledger_size: String(network.targetSize),
    ledger_current_index: network.openHeight,
    max_queue_size: String(network.queue.sizeMax),
    drops: {
      base_fee: String(baseFee),
      median_fee: String(median),
      minimum_fee: String(baseFee),
      open_ledger_fee: String(network.openLedgerFee),
    },
    levels: {
      median_level: levelOf(median),
      minimum_level: '256',
      open_ledger_level: levelOf(network.openLedgerFee),
      reference_level: '256',
    },
  };
};

const submit: Asked = ({ params, showing, version }) => {
  const { network } = showing,
    blob = params['tx_blob'];
  if (typeof blob !== 'string') throw new MethodError('invalidParams', "Missing field 'tx_blob'.");
  let done: ReturnType<typeof network.submit>;
  try {
    done = network.submit(blob, params['fail_hard'] === true);
  } catch (error) {
    throw new MethodError('invalidTransaction', 'Invalid transaction.', { error_exception: (error as Error).message });
  }
  const root = network.openState.get(accountKey(accountOf(done.tx.json))),
    sequence = Number(root?.['Sequence'] ?? 0);
  const isGood = done.applied || done.queued;
  return {
    accepted: isGood || done.kept,
    account_sequence_available: network.queue.nextAfter(accountOf(done.tx.json), sequence),
    account_sequence_next: sequence,
    applied: done.applied,
    broadcast: done.applied,
    engine_result: done.result,
    engine_result_code: codeOf(done.result),
    engine_result_message: messageOf(done.result),
    kept: done.kept || isGood,
    open_ledger_cost: String(network.openLedgerFee),
    queued: done.queued,
    tx_blob: done.tx.blob,
    tx_json: { ...fieldsOf(done.tx.json, version), hash: done.tx.txid },
    validated_ledger_index: showing.validatedHeight,
  };
};

function codeOf(result: string): number {
  return (DEFAULT_DEFINITIONS.transactionResult.from(result) as unknown as { ordinal: number }).ordinal;
}

/** Source: xrpl.org "Transaction Results". */
function messageOf(result: string): string {
  return result === 'tesSUCCESS'
    ? 'The transaction was applied. Only final in a validated ledger.'
    : `The result is ${result}.`;
}

const METHODS: Readonly<Record<string, Asked>> = {
  ...ACCOUNT_METHODS,
  server_info: serverInfo,
  server_state: serverState,
  ledger,
  tx,
  transaction_entry: transactionEntry,
  fee,
  submit,
  ledger_current: ({ showing }) => ({ ledger_current_index: showing.network.openHeight }),
  ledger_closed: ({ showing }) => ({ ledger_hash: showing.network.tip.hash, ledger_index: showing.network.tip.height }),
  ping: () => ({}),
};

/** A method's result. Throws: MethodError. */
export function perform(method: string, context: Context): Json {
  const { faults } = context.showing;
  if (typeof faults.busy === 'string') throw new MethodError(faults.busy, 'The server is too busy to help you now.');
  const [instead, ...later] = faults.instead.get(method) ?? [];
  if (instead !== undefined) {
    faults.instead.set(method, later);
    return instead;
  }
  const asked = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (asked === undefined) throw new MethodError('unknownCmd', 'Unknown method.');
  const result = asked(context);
  return faults.rewrite?.(method, context.params, result) ?? result;
}
