/**
 * Payments of a Stellar ledger: every operation that pays, and transfers of listed assets inside contract calls.
 * Spec: chains.md 9.3 (M1 to M18), G2, G3, G22, G23.
 */
import {
  ChainUnavailable,
  type Block,
  type Catalogue,
  type Decoded,
  type Network,
  type Outcome,
  type Transfer,
  type Unattributed,
} from '../chain.ts';
import { hashIn, listIn, malformed, objectIn, textIn, type Answer } from '../node-answer.ts';
import { STELLAR_DECIMALS } from './network.ts';
import {
  accountIn,
  assetIn,
  idText,
  namesByHash,
  namesOf,
  operationIndexOf,
  recordsIn,
  stroopsIn,
  type Account,
  type TransactionNames,
} from './records.ts';

/** Horizon answers of one ledger, parsed without loss; each a list of records or a page. */
export interface XlmLedger {
  readonly operations: unknown;
  /**
   * Effects of the same ledger. Only they hold the amount of a merge and of a claimed balance: with null both are
   * reported as ignored, so a watcher always asks for them.
   */
  readonly effects: unknown;
  /**
   * Transactions of the same ledger, for memos and fee bumps; null where operations carry them (`join=transactions`).
   */
  readonly transactions: unknown;
}

/** G2: transfers inside a contract call, by their ordinal among the asset events of the transaction. */
const CONTRACT_INDEX = 1_000_000;

interface Operation {
  readonly id: string;
  readonly record: Answer;
  readonly type: string;
  readonly names: TransactionNames;
  readonly successful: boolean;
}

/**
 * Operations once each: pages and streams repeat records (9.4-4). Throws: ChainUnavailable where two of one operation
 * say different things.
 */
function operationsOf(raw: XlmLedger): readonly Operation[] {
  const named =
    raw.transactions === null ? new Map<string, TransactionNames>() : namesByHash(recordsIn(raw.transactions));
  const operations = recordsIn(raw.operations).map((record): Operation => {
    const { transaction, transaction_successful: successful } = record;
    if (typeof successful !== 'boolean') malformed('operation without transaction_successful', record);
    const hash = hashIn(record['transaction_hash'], 'transaction_hash');
    const joined = transaction === undefined ? named.get(hash) : namesOf(objectIn(transaction, 'transaction'));
    return {
      id: textIn(record['id'], 'id of an operation'),
      record,
      successful,
      type: textIn(record['type'], 'type of an operation'),
      names: joined ?? { txid: hash, innerTxid: null, memoId: null, fee: null, failure: null, successful: null },
    };
  });
  assertOneResult(operations);
  const known = new Map<string, Operation>();
  for (const operation of operations) {
    const { id, record } = operation,
      earlier = known.get(id);
    if (earlier === undefined) known.set(id, operation);
    else if (textOf(earlier.record) !== textOf(record))
      throw new ChainUnavailable('xlm', `two records of operation ${id} say different things`);
  }
  return [...known.values()];
}

/** What a record says, without its links, which name the page that it came on. */
function textOf(record: unknown): string {
  return JSON.stringify(record, (name, value: unknown) => (name === '_links' ? undefined : value));
}

/**
 * A transaction succeeds with all of its operations or with none: no two records may differ on it. Throws:
 * ChainUnavailable.
 */
function assertOneResult(operations: readonly Operation[]): void {
  const results = new Map<string, boolean>();
  for (const {
    names: { txid, successful },
    successful: own,
  } of operations) {
    if ((results.get(txid) ?? own) !== own || (successful ?? own) !== own)
      throw new ChainUnavailable('xlm', `records differ on whether ${txid} succeeded`);
    results.set(txid, own);
  }
}

interface Paid {
  readonly to: Account;
  readonly from: readonly string[];
  readonly asset: string | null;
  readonly amount: bigint;
  readonly outputIndex: number;
  readonly activates?: boolean;
}

type Found = Paid | { readonly reason: string };

/**
 * Every payment of a ledger. Throws: MalformedReply; ChainUnavailable when the effects lack what an operation needs.
 */
export function transfersIn(network: Network, block: Block<XlmLedger>, catalogue: Catalogue): Decoded {
  const transfers: Transfer[] = [];
  const ignored: { txid: string; reason: string }[] = [];
  const activations: { txid: string; to: string }[] = [];
  const unattributed: Unattributed[] = [];
  const effects = block.raw.effects === null ? null : effectsByOperation(recordsIn(block.raw.effects));
  for (const operation of operationsOf(block.raw)) {
    const {
      names: { txid, innerTxid, memoId },
      type,
    } = operation;
    const found = operation.successful
      ? paymentsOf(operation, effects)
      : [{ reason: `${type} of a failed transaction` }];
    if (operation.successful) unattributed.push(...growthOf(operation, found, effects, catalogue));
    for (const paid of found) {
      const token = 'reason' in paid || paid.asset === null ? null : catalogue.get(paid.asset);
      if ('reason' in paid) {
        ignored.push({ txid, reason: paid.reason });
        continue;
      }
      if (paid.activates === true && paid.amount === 0n) activations.push({ txid, to: paid.to.address });
      const reason = token === undefined ? 'asset that is not in the catalogue' : reasonAgainst(paid);
      if (reason !== null) {
        ignored.push({ txid, reason });
        continue;
      }
      transfers.push({
        txid,
        outputIndex: paid.outputIndex,
        to: paid.to.address,
        amount: paid.amount,
        from: paid.from,
        decimals: token?.decimals ?? STELLAR_DECIMALS,
        tokenContract: token?.contract ?? null,
        tokenSymbol: token?.symbol ?? network.nativeSymbol,
        tag: paid.to.id ?? memoId,
        ...(paid.activates === true ? { activates: true } : {}),
        ...(innerTxid === null ? {} : { innerTxid }),
      });
    }
  }
  return {
    transfers,
    ignored,
    ...(activations.length > 0 ? { activations } : {}),
    ...(unattributed.length > 0 ? { unattributed } : {}),
  };
}

/** Operations whose payee the effects must credit with exactly what was paid. */
const EXACT = new Set(['payment', 'create_account', 'account_merge']);
/** Operations whose payee may have sold on the way what it was paid: of its own effects some must be given. */
const TRADES = new Set(['path_payment', 'path_payment_strict_receive', 'path_payment_strict_send']);

/**
 * M12, G24: what the effects credited an account with beyond what the operation paid it: own offers that were filled,
 * inflation, a pool's share. Throws: ChainUnavailable where an account was credited with less than it was paid, because
 * then the operation and the effects are not of one ledger.
 */
function growthOf(
  { id, type, names: { txid } }: Operation,
  found: readonly Found[],
  effects: EffectsByOperation | null,
  catalogue: Catalogue,
): readonly Unattributed[] {
  const own = effects?.get(id) ?? [],
    credits = own.filter((effect) => effect['type'] === 'account_credited');
  assertCredited(id, type, found, own);
  return [
    ...Map.groupBy(credits, (credit) => `${String(credit['account'])} ${assetIn(credit) ?? 'native'}`).values(),
  ].flatMap((same) => {
    const to = textIn(same[0]!['account'], 'account of an effect'),
      asset = assetIn(same[0]!);
    const credited = sumOf(same);
    const paid = found.reduce(
      (sum, one) => ('reason' in one || one.to.address !== to || one.asset !== asset ? sum : sum + one.amount),
      0n,
    );
    if (credited < paid && EXACT.has(type)) {
      throw new ChainUnavailable('xlm', `operation ${id}: the effects credit less than ${type} paid`);
    }
    if (credited <= paid || (asset !== null && !catalogue.has(asset))) return [];
    const evidence = `${txid}:${operationIndexOf(id)}`;
    return [{ to, amount: credited - paid, tokenContract: asset, reason: `${type}: no payment`, evidence }];
  });
}

/**
 * Throws: ChainUnavailable where the effects of a payment are given, and none of them is its payee's, or they name
 * another amount than was paid.
 */
function assertCredited(id: string, type: string, found: readonly Found[], own: readonly Answer[]): void {
  if (!(EXACT.has(type) || TRADES.has(type)) || own.length === 0) return;
  const no = (what: string) => new ChainUnavailable('xlm', `operation ${id}: the effects ${what} ${type} paid`);
  for (const one of found) {
    // An issuer holds nothing of its own asset: paid back to it, it is gone.
    if (
      'reason' in one ||
      one.amount === 0n ||
      one.from.includes(one.to.address) ||
      one.asset?.endsWith(`:${one.to.address}`) === true
    )
      continue;
    const ofPayee = own.filter((effect) => effect['account'] === one.to.address);
    const credits = ofPayee.filter(({ type: name }) => name === 'account_credited' || name === 'account_created');
    if ((EXACT.has(type) ? credits : ofPayee).length === 0) throw no('credit nobody with what');
    if (!EXACT.has(type)) continue;
    const created = credits.find((effect) => effect['type'] === 'account_created')?.['starting_balance'];
    if (created !== undefined && stroopsIn(created, 'starting_balance') !== one.amount)
      throw no('create an account with another balance than');
    const debits = own.filter(
      (effect) =>
        effect['type'] === 'account_debited' &&
        one.from.includes(String(effect['account'])) &&
        assetIn(effect) === one.asset,
    );
    if (debits.length > 0 && sumOf(debits) !== one.amount) throw no('debit another amount than');
  }
}

const sumOf = (effects: readonly Answer[]): bigint =>
  effects.reduce((sum, effect) => sum + stroopsIn(effect['amount'], 'amount of an effect'), 0n);

/** Why a payment is none (G22), or null. */
function reasonAgainst({ amount, to, from, activates }: Paid): string | null {
  if (amount === 0n) return activates === true ? 'account created without a balance: activation only' : 'zero amount';
  return from.includes(to.address) ? 'to itself: the owner converts its own asset' : null;
}

type EffectsByOperation = ReadonlyMap<string, readonly Answer[]>;

function paymentsOf(operation: Operation, effects: EffectsByOperation | null): readonly Found[] {
  const { record, type } = operation;
  switch (type) {
    case 'payment':
    case 'path_payment': // the name of strict_receive before protocol 12
    case 'path_payment_strict_receive':
    case 'path_payment_strict_send':
      // `amount` is what arrived, also for strict_send, where the operation itself only names a minimum (M3).
      return [paidTo(operation, 'to', 'from', assetIn(record), stroopsIn(record['amount'], 'amount'))];
    case 'create_account':
      return [
        {
          ...paidTo(operation, 'account', 'funder', null, stroopsIn(record['starting_balance'], 'starting_balance')),
          activates: true,
        },
      ];
    case 'account_merge':
      return [fromEffects(operation, effects, 'into')];
    case 'claim_claimable_balance':
      return [fromEffects(operation, effects, 'claimant')];
    case 'invoke_host_function':
      return contractTransfers(record);
    case 'create_claimable_balance':
      return [{ reason: 'claimable balance created: nothing arrives until it is claimed' }];
    default:
      return [{ reason: `${type}: no payment` }];
  }
}

function paidTo({ record }: Operation, to: string, from: string, asset: string | null, amount: bigint): Paid {
  const account = accountIn(record, to) ?? malformed(`${to} is no account`, record);
  return {
    to: account,
    asset,
    amount,
    outputIndex: operationIndexOf(record['id']),
    from: [accountIn(record, from)?.address ?? malformed(`${from} is no account`, record)],
  };
}

function effectsByOperation(effects: readonly Answer[]): EffectsByOperation {
  const distinct = [...new Map(effects.map((effect) => [textOf(effect), effect])).values()];
  // id: operation id, padded with zeros, "-", ordinal
  return Map.groupBy(distinct, (effect) => textIn(effect['id'], 'id of an effect').replace(/^0+/, '').split('-')[0]!);
}

/** A merge and a claim name no amount; the effects hold what the account was credited with (M5, M6). */
function fromEffects({ id, record, type }: Operation, effects: EffectsByOperation | null, field: string): Found {
  if (effects === null) return { reason: `${type}: its amount is in the effects, which were not given` };
  const to = accountIn(record, field) ?? malformed(`${field} is no account`, record);
  const own = (effects.get(id) ?? []).filter((effect) => effect['account'] === to.address);
  const [credited, ...others] = ['account_credited', 'claimable_balance_claimed'].flatMap((name) =>
    own.filter((effect) => effect['type'] === name),
  );
  if (credited === undefined)
    throw new ChainUnavailable('xlm', `operation ${id}: the effects do not say what ${type} paid`);
  if (others.some((other) => assetIn(other) !== assetIn(credited) || sumOf([other]) !== sumOf([credited])))
    throw new ChainUnavailable('xlm', `operation ${id}: the effects differ on what ${type} paid`);
  return {
    to,
    asset: assetIn(credited),
    amount: stroopsIn(credited['amount'], 'amount of an effect'),
    from: type === 'account_merge' ? [textIn(record['account'], 'account')] : [],
    outputIndex: operationIndexOf(id),
  };
}

/**
 * Transfers and mints of Stellar assets inside a contract call (M8). Horizon lists them after it has checked that the
 * contract is the asset's own, so a look-alike contract is not among them.
 */
function contractTransfers(record: Answer): readonly Found[] {
  const changes = listIn(record['asset_balance_changes'] ?? [], 'asset_balance_changes').map((change) =>
    objectIn(change, 'balance change'),
  );
  if (changes.length === 0) return [{ reason: 'contract call without a transfer of an asset' }];
  return changes.map((change, ordinal): Found => {
    const type = textIn(change['type'], 'type of a balance change');
    if (type !== 'transfer' && type !== 'mint') return { reason: `contract call: ${type} takes the asset away` };
    const to = accountIn(change, 'to');
    if (to === null) return { reason: 'contract call: paid to a contract' };
    const { destination_muxed_id: id, destination_muxed_id_type: idType } = change;
    return {
      to: id === undefined || id === null || idType !== 'uint64' ? to : { address: to.address, id: idText(id) },
      asset: assetIn(change),
      amount: stroopsIn(change['amount'], 'amount'),
      outputIndex: CONTRACT_INDEX + ordinal,
      from: typeof change['from'] === 'string' && change['from'] !== '' ? [change['from']] : [],
    };
  });
}

/** What the wanted transactions did, by either hash of a fee bump. Throws: MalformedReply. */
export function outcomesIn(
  _network: Network,
  block: Block<XlmLedger>,
  wanted: ReadonlySet<string>,
): readonly Outcome[] {
  const outcomes = new Map<string, Outcome>();
  for (const {
    names: { txid, innerTxid, fee, failure },
    successful,
  } of operationsOf(block.raw)) {
    const asked = wanted.has(txid) ? txid : innerTxid !== null && wanted.has(innerTxid) ? innerTxid : null;
    if (asked === null) continue;
    outcomes.set(asked, {
      txid: asked,
      success: successful,
      reason: successful ? null : (failure ?? 'tx_failed'),
      fee,
    });
  }
  return [...outcomes.values()];
}
