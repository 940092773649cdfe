/**
 * What a server reports of a transaction's execution: changed entries and events of each operation, whatever the
 * version of the meta. Source: Stellar-ledger.x, TransactionMeta.
 */
import {
  InvokeHostFunctionSuccessPreImage,
  type ContractEvent,
  type LedgerEntry,
  type LedgerEntryChange,
  type OperationResult,
  type ScVal,
  type TransactionMeta,
} from '@stellar/stellar-sdk/xdr';
import { ChainUnavailable } from '../chain.ts';
import { sha256 } from './header.ts';
import { accountText, assetText, hexOf } from './xdr.ts';

export interface Trace {
  readonly changes: readonly LedgerEntryChange[];
  /** Of a contract call. */
  readonly events: readonly ContractEvent[];
  readonly returnValue: ScVal | null;
}

/** One trace for each operation that was done; none for a transaction that failed before. */
export function tracesOf(meta: TransactionMeta): readonly Trace[] {
  const plain = (changes: readonly LedgerEntryChange[]): Trace => ({ changes, events: [], returnValue: null });
  switch (meta.type) {
    case 'operations':
      return meta.operations.map(({ changes }) => plain(changes));
    case 'v1':
      return meta.v1.operations.map(({ changes }) => plain(changes));
    case 'v2':
      return meta.v2.operations.map(({ changes }) => plain(changes));
    case 'v3': {
      const { operations, sorobanMeta } = meta.v3; // a contract call is the only operation of its transaction
      const { events = [], returnValue = null } = sorobanMeta ?? {};
      return operations.map(({ changes }) => ({ changes, events, returnValue }));
    }
    case 'v4': {
      const { operations, sorobanMeta } = meta.v4;
      return operations.map(({ changes, events }) => ({
        changes,
        events,
        returnValue: sorobanMeta?.returnValue ?? null,
      }));
    }
  }
}

/**
 * The events of a contract call, held against its result: nothing can be missing or changed. Throws: ChainUnavailable.
 */
export function provenEvents(result: OperationResult | undefined, trace: Trace | undefined): readonly ContractEvent[] {
  const success =
    result?.type === 'opInner' &&
    result.tr.type === 'invokeHostFunction' &&
    result.tr.invokeHostFunctionResult.type === 'invokeHostFunctionSuccess'
      ? result.tr.invokeHostFunctionResult
      : null;
  if (success === null) throw new ChainUnavailable('xlm', 'a contract call without its result');
  if (trace === undefined || trace.returnValue === null)
    throw new ChainUnavailable('xlm', 'a contract call without its events');
  const { returnValue, events } = trace;
  const found = sha256(new InvokeHostFunctionSuccessPreImage({ returnValue, events: [...events] }).toXdr());
  if (found !== hexOf(success.success.toBytes()))
    throw new ChainUnavailable('xlm', 'the events are not those of the contract call');
  return events;
}

/** How an account's holding of one asset changed, smallest unit. */
export interface Movement {
  readonly account: string;
  readonly asset: string | null;
  readonly delta: bigint;
}

interface Claimed {
  readonly id: string;
  readonly asset: string | null;
  readonly amount: bigint;
}

export interface Movements {
  readonly movements: readonly Movement[];
  /** Claimable balances that are gone. */
  readonly removed: readonly Claimed[];
}

interface Holding {
  readonly account: string;
  readonly asset: string | null;
  readonly balance: bigint;
}

/** Native balances and trust lines before and after, as differences; those that stayed the same are left out. M12. */
export function movementsOf(changes: readonly LedgerEntryChange[]): Movements {
  const before = new Map<string, Holding>(),
    after = new Map<string, Holding | null>();
  const removed: Claimed[] = [],
    claimable = new Map<string, Claimed>();
  const note = (holding: Holding, place: 'before' | 'after') => {
    const key = keyOf(holding);
    if (place === 'after') after.set(key, holding);
    else if (!before.has(key) && !after.has(key)) before.set(key, holding);
  };
  for (const change of changes) {
    if (change.type === 'ledgerEntryRemoved') {
      const { value: key } = change;
      if (key.type === 'account') after.set(keyOf({ account: accountText(key.account.accountId), asset: null }), null);
      if (key.type === 'trustline' && key.trustLine.asset.type !== 'assetTypePoolShare') {
        after.set(
          keyOf({ account: accountText(key.trustLine.accountId), asset: assetText(key.trustLine.asset) }),
          null,
        );
      }
      if (key.type === 'claimableBalance')
        removed.push(...takenFrom(claimable, hexOf(key.claimableBalance.balanceId.toXdr())));
      continue;
    }
    const holding = holdingOf(change.value);
    if (holding !== null) note(holding, change.type === 'ledgerEntryState' ? 'before' : 'after');
    const balance = claimableOf(change.value);
    if (balance !== null) claimable.set(balance.id, balance);
  }
  const movements = [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const old = before.get(key),
      now = after.get(key);
    const { account, asset } = (now ?? old)!;
    const delta = now === undefined ? 0n : (now?.balance ?? 0n) - (old?.balance ?? 0n);
    return delta === 0n ? [] : [{ account, asset, delta }];
  });
  return { movements, removed };
}

const keyOf = ({ account, asset }: Pick<Holding, 'account' | 'asset'>): string => `${account} ${asset ?? 'native'}`;

function takenFrom(claimable: ReadonlyMap<string, Claimed>, id: string): Claimed[] {
  const balance = claimable.get(id);
  return balance === undefined ? [] : [balance];
}

function holdingOf({ data }: LedgerEntry): Holding | null {
  if (data.type === 'account')
    return { account: accountText(data.account.accountId), asset: null, balance: data.account.balance };
  if (data.type !== 'trustline' || data.trustLine.asset.type === 'assetTypePoolShare') return null;
  const { accountId, asset, balance } = data.trustLine;
  return { account: accountText(accountId), asset: assetText(asset), balance };
}

function claimableOf({ data }: LedgerEntry): Claimed | null {
  if (data.type !== 'claimableBalance') return null;
  const { balanceId, asset, amount } = data.claimableBalance;
  return { id: hexOf(balanceId.toXdr()), asset: assetText(asset), amount };
}
