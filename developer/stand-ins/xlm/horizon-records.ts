/**
 * Ledgers, transactions and operations as Horizon shows them, made of what the ledger was asked to do. Shapes:
 * test/vectors/nodes/xlm.
 */
import { Address, StrKey } from '@stellar/stellar-sdk/base';
import type { MuxedAccount, OperationBody, OperationResult } from '@stellar/stellar-sdk/xdr';
import { addressOf, baseOf, muxedIdOf, textOf } from './entries.ts';
import type { ClosedLedger } from './ledger.ts';
import { unitsOf } from './people.ts';
import type { Executed } from './transactions.ts';

export type Json = Readonly<Record<string, unknown>>;

export const timeText = (seconds: number): string => `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const link = (href: string): Json => ({ href });
/** Numbers of the operations. Source: Stellar-transaction.x, OperationType. */
const TYPES = [
  'createAccount',
  'payment',
  'pathPaymentStrictReceive',
  'manageSellOffer',
  'createPassiveSellOffer',
  'setOptions',
  'changeTrust',
  'allowTrust',
  'accountMerge',
  'inflation',
  'manageData',
  'bumpSequence',
  'manageBuyOffer',
  'pathPaymentStrictSend',
  'createClaimableBalance',
  'claimClaimableBalance',
  'beginSponsoringFutureReserves',
  'endSponsoringFutureReserves',
  'revokeSponsorship',
  'clawback',
  'clawbackClaimableBalance',
  'setTrustLineFlags',
  'liquidityPoolDeposit',
  'liquidityPoolWithdraw',
  'invokeHostFunction',
  'extendFootprintTtl',
  'restoreFootprint',
];

/** ledger(32) || transaction(20) || operation(12). */
export const toid = (height: number, transaction: number, operation: number): bigint =>
  (BigInt(height) << 32n) | (BigInt(transaction) << 12n) | BigInt(operation);

export function assetFields(asset: string | null, prefix = ''): Json {
  if (asset === null) return { [`${prefix}asset_type`]: 'native' };
  const [code, issuer] = asset.split(':') as [string, string];
  return {
    [`${prefix}asset_type`]: code.length <= 4 ? 'credit_alphanum4' : 'credit_alphanum12',
    [`${prefix}asset_code`]: code,
    [`${prefix}asset_issuer`]: issuer,
  };
}

export const canonical = (asset: string | null): string => asset ?? 'native';

function named(field: string, account: MuxedAccount): Json {
  const base = baseOf(account),
    id = muxedIdOf(account);
  if (id === null) return { [field]: base };
  const bytes = Buffer.concat([StrKey.decodeEd25519PublicKey(base), Buffer.alloc(8)]);
  bytes.writeBigUInt64BE(id, 32);
  return {
    [field]: base,
    [`${field}_muxed`]: StrKey.encodeMed25519PublicKey(bytes),
    [`${field}_muxed_id`]: id.toString(),
  };
}

export function ledgerRecord({ height, hash, header, closeTime, executed }: ClosedLedger): Json {
  const done = executed.filter(({ success }) => success),
    path = `/ledgers/${height}`;
  const operationsOf = (own: readonly Executed[]) => own.reduce((sum, { read }) => sum + read.operations.length, 0);
  return {
    _links: {
      self: link(path),
      transactions: link(`${path}/transactions`),
      operations: link(`${path}/operations`),
      payments: link(`${path}/payments`),
      effects: link(`${path}/effects`),
    },
    id: hash,
    paging_token: toid(height, 0, 0).toString(),
    hash,
    prev_hash: header.previousLedgerHash.toString(),
    sequence: height,
    successful_transaction_count: done.length,
    failed_transaction_count: executed.length - done.length,
    operation_count: operationsOf(done),
    tx_set_operation_count: operationsOf(executed),
    closed_at: timeText(closeTime),
    total_coins: unitsOf(header.totalCoins),
    fee_pool: unitsOf(header.feePool),
    base_fee_in_stroops: header.baseFee,
    base_reserve_in_stroops: header.baseReserve,
    max_tx_set_size: header.maxTxSetSize,
    protocol_version: header.ledgerVersion,
    header_xdr: header.toXdr('base64'),
  };
}

/** The record of a transaction; asked by its inner hash, `hash` is that one. */
export function transactionRecord(
  { height, closeTime }: ClosedLedger,
  executed: Executed,
  order: number,
  asked = executed.read.hash,
): Json {
  const { read, success, result, feeCharged } = executed,
    { inner, bump, hash, innerHash } = read,
    { memo } = read.tx;
  const signatures = (own: typeof inner.signatures) =>
    own.map(({ signature }) => Buffer.from(signature.toBytes()).toString('base64'));
  const path = `/transactions/${asked}`;
  return {
    _links: {
      self: link(path),
      account: link(`/accounts/${read.source}`),
      ledger: link(`/ledgers/${height}`),
      operations: link(`${path}/operations`),
      effects: link(`${path}/effects`),
    },
    id: asked,
    paging_token: toid(height, order, 0).toString(),
    successful: success,
    hash: asked,
    ledger: height,
    created_at: timeText(closeTime),
    source_account: read.source,
    source_account_sequence: read.sequence.toString(),
    fee_account: read.feeSource,
    fee_charged: feeCharged.toString(),
    max_fee: read.offer.toString(),
    operation_count: read.operations.length,
    envelope_xdr: read.base64,
    result_xdr: result.result.toXdr('base64'),
    memo_type: snake(memo.type).replace('memo_', ''),
    ...(memo.type === 'memoText' ? { memo: memo.value } : memo.type === 'memoId' ? { memo: memo.id.toString() } : {}),
    signatures: signatures(asked === innerHash ? inner.signatures : (bump?.signatures ?? inner.signatures)),
    preconditions: {
      timebounds: { min_time: '0', ...(read.maxTime === 0n ? {} : { max_time: read.maxTime.toString() }) },
    },
    ...(bump === null
      ? {}
      : {
          fee_bump_transaction: { hash, signatures: signatures(bump.signatures) },
          inner_transaction: { hash: innerHash, signatures: signatures(inner.signatures), max_fee: inner.fee },
        }),
  };
}

/** Records of the operations of a transaction. */
export function operationRecords(closed: ClosedLedger, executed: Executed, order: number): Json[] {
  const { read, success, results, calls } = executed;
  return read.operations.map((operation, index) => {
    const id = toid(closed.height, order, index + 1).toString(),
      source = operation.sourceAccount,
      { body } = operation;
    const own = source === null ? read.tx.sourceAccount : source,
      path = `/operations/${id}`;
    return {
      _links: { self: link(path), transaction: link(`/transactions/${read.hash}`), effects: link(`${path}/effects`) },
      id,
      paging_token: id,
      transaction_successful: success,
      ...named('source_account', own),
      type: snake(body.type),
      type_i: TYPES.indexOf(body.type),
      created_at: timeText(closed.closeTime),
      transaction_hash: read.hash,
      ...fieldsOf(body, own, results[index]),
      ...(body.type === 'invokeHostFunction' ? callFields(calls[index] ?? null) : {}),
    };
  });
}

const amountIn = (outcome: OperationResult | undefined): bigint | null => {
  const tr = outcome?.type === 'opInner' ? outcome.tr : null;
  return tr?.type === 'pathPaymentStrictSend' && tr.pathPaymentStrictSendResult.type === 'pathPaymentStrictSendSuccess'
    ? tr.pathPaymentStrictSendResult.success.last.amount
    : null;
};

const soldIn = (outcome: OperationResult | undefined): bigint => {
  const tr = outcome?.type === 'opInner' ? outcome.tr : null;
  const success =
    tr?.type === 'pathPaymentStrictReceive' &&
    tr.pathPaymentStrictReceiveResult.type === 'pathPaymentStrictReceiveSuccess'
      ? tr.pathPaymentStrictReceiveResult.success
      : null;
  return success?.offers[0]?.type === 'claimAtomTypeOrderBook' ? success.offers[0].orderBook.amountBought : 0n;
};

function fieldsOf(body: OperationBody, source: MuxedAccount, outcome: OperationResult | undefined): Json {
  return (
    paymentFields(body, source) ??
    pathFields(body, source, outcome) ??
    claimFields(body, source) ??
    trustFields(body, source) ??
    {}
  );
}

function paymentFields(body: OperationBody, source: MuxedAccount): Json | null {
  switch (body.type) {
    case 'payment': {
      const { destination, asset, amount } = body.paymentOp;
      return {
        ...assetFields(textOf(asset)),
        ...named('from', source),
        ...named('to', destination),
        amount: unitsOf(amount),
      };
    }
    case 'createAccount': {
      const { destination, startingBalance } = body.createAccountOp;
      return {
        starting_balance: unitsOf(startingBalance),
        ...named('funder', source),
        account: addressOf(destination),
      };
    }
    case 'accountMerge':
      return { ...named('account', source), ...named('into', body.destination) };
    case 'clawback':
      return {
        ...assetFields(textOf(body.clawbackOp.asset)),
        ...named('from', body.clawbackOp.from),
        amount: unitsOf(body.clawbackOp.amount),
      };
    default:
      return null;
  }
}

function pathFields(body: OperationBody, source: MuxedAccount, outcome: OperationResult | undefined): Json | null {
  switch (body.type) {
    case 'pathPaymentStrictSend': {
      const { destination, sendAsset, sendAmount, destAsset, destMin } = body.pathPaymentStrictSendOp;
      return {
        ...assetFields(textOf(destAsset)),
        ...named('from', source),
        ...named('to', destination),
        amount: unitsOf(amountIn(outcome) ?? 0n),
        path: [],
        source_amount: unitsOf(sendAmount),
        destination_min: unitsOf(destMin),
        ...assetFields(textOf(sendAsset), 'source_'),
      };
    }
    case 'pathPaymentStrictReceive': {
      const { destination, sendAsset, sendMax, destAsset, destAmount } = body.pathPaymentStrictReceiveOp;
      return {
        ...assetFields(textOf(destAsset)),
        ...named('from', source),
        ...named('to', destination),
        amount: unitsOf(destAmount),
        path: [],
        source_amount: unitsOf(soldIn(outcome)),
        source_max: unitsOf(sendMax),
        ...assetFields(textOf(sendAsset), 'source_'),
      };
    }
    default:
      return null;
  }
}

function claimFields(body: OperationBody, source: MuxedAccount): Json | null {
  switch (body.type) {
    case 'createClaimableBalance': {
      const { asset, amount, claimants } = body.createClaimableBalanceOp;
      const named = claimants.map(({ v0 }) => ({
        destination: addressOf(v0.destination),
        predicate: { unconditional: true },
      }));
      return { sponsor: baseOf(source), asset: canonical(textOf(asset)), amount: unitsOf(amount), claimants: named };
    }
    case 'claimClaimableBalance':
      return {
        balance_id: Buffer.from(body.claimClaimableBalanceOp.balanceId.toXdr()).toString('hex'),
        claimant: baseOf(source),
      };
    default:
      return null;
  }
}

function trustFields(body: OperationBody, source: MuxedAccount): Json | null {
  switch (body.type) {
    case 'changeTrust': {
      const { line, limit } = body.changeTrustOp;
      if (line.type === 'assetTypePoolShare') return {};
      const asset = textOf(line),
        issuer = asset?.split(':')[1];
      return { ...assetFields(asset), limit: unitsOf(limit), trustee: issuer, trustor: baseOf(source) };
    }
    case 'setTrustLineFlags': {
      const { trustor, asset, setFlags, clearFlags } = body.setTrustLineFlagsOp;
      return {
        ...assetFields(textOf(asset)),
        trustor: addressOf(trustor),
        set_flags: [setFlags],
        clear_flags: [clearFlags],
      };
    }
    default:
      return null;
  }
}

/** M8: movements of assets whose contract Horizon has checked. A stranger's event is not among them. */
function callFields(called: Executed['calls'][number]): Json {
  const changes = (called?.isAsset === true ? called.events : []).map(
    ({
      body: {
        v0: { topics, data },
      },
    }) => {
      const [type, ...parties] = topics
        .slice(0, -1)
        .map((topic) =>
          topic.type === 'scvAddress' ? Address.fromScAddress(topic.address).toString() : String(topic.value),
        );
      const name = String(topics.at(-1)!.value),
        asset = name === 'native' ? null : name;
      const amount = data.type === 'scvMap' ? data.map!.find(({ key }) => String(key.value) === 'amount')!.val : data;
      const muxed =
        data.type === 'scvMap' ? data.map!.find(({ key }) => String(key.value) === 'to_muxed_id')!.val : null;
      const [from, to] = type === 'mint' ? ['', parties[0]] : parties;
      return {
        ...assetFields(asset),
        type,
        from,
        to,
        amount: unitsOf(amount.type === 'scvI128' ? (amount.i128.hi << 64n) | amount.i128.lo : 0n),
        ...(muxed?.type === 'scvU64'
          ? { destination_muxed_id_type: 'uint64', destination_muxed_id: muxed.u64.toString() }
          : {}),
      };
    },
  );
  return {
    function: 'HostFunctionTypeHostFunctionTypeInvokeContract',
    asset_balance_changes: changes.length === 0 ? null : changes,
  };
}
