/**
 * The accounts that a scenario can be run against: the model, and the real one (decide and evolve, without its store).
 */
import type { WatchedAddress } from '../../model/ports/watch-store.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { DepositRow } from '../../model/rows/deposit.ts';
import type { InboxRow } from '../../model/rows/inbox.ts';
import { accountIdOf, type AccountId } from '../../protocol/ids.ts';
import { addressKeyOf } from '../../protocol/node/ids.ts';
import { commands, dep, enrolled, ORGANIZATION_ID, rowsOf } from './account.ts';
import { ModelAccount, type ModelEvent } from './model-account.ts';
import { ACCOUNT } from './watching.ts';

export interface Judge {
  readonly accountId: AccountId;
  readonly addresses: readonly WatchedAddress[];
  take(rows: readonly InboxRow[]): void;
  /** Net credit by credit key, zeros left out. */
  credited(): Map<string, bigint>;
  events(): ModelEvent[];
  /** Credit keys of all deposits. */
  deposits(): string[];
}

const NAMES = ['@a', '@b', '@c', '@d'];

const SIMULATED = NAMES.map((address): WatchedAddress => ({
  addressKey: addressKeyOf('live', 'evm', Buffer.from(address)),
  addressId: `adr_${address}`,
  accountId: ACCOUNT,
  address,
  purpose: 'deposit',
}));

/** The model of `model-account.ts`, of an account and its addresses. */
export function modelJudge(accountId: AccountId = ACCOUNT, addresses: readonly WatchedAddress[] = SIMULATED): Judge {
  const model = new ModelAccount();
  return {
    accountId,
    addresses,
    take: (rows) => model.take(rows),
    credited: () => model.credited(),
    events: () => model.events,
    deposits: () => [...model.deposits.keys()],
  };
}

/** The account entity itself, with what its store would have kept. */
export function realJudge(): Judge {
  const accountId = accountIdOf(ORGANIZATION_ID, 'live');
  const account = enrolled();
  const rows: AddressRow[] = NAMES.map(() => account.accept(commands.createAddress()).reply);
  const deposits = new Map<string, DepositRow>();
  const keyOf = ({ txid, outputIndex }: { txid: string; outputIndex: number }) => `${txid}:${outputIndex}`;
  return {
    accountId,
    addresses: rows.map(({ addressKey, id, address, purpose }) => ({
      addressKey,
      addressId: id,
      accountId,
      address,
      purpose,
    })),
    take(inbox) {
      const known = [...deposits.values()].map((row) => structuredClone(row));
      const taken = account.accept({
        type: 'apply_facts',
        inbox: [...inbox],
        deposits: known,
        withdrawals: [],
        addresses: rows,
        depositIds: inbox.map(dep),
      });
      for (const { row } of rowsOf(taken.rows, 'deposit')) deposits.set(keyOf(row), row);
    },
    credited() {
      const byId = new Map([...deposits.values()].map((row) => [row.id, keyOf(row)]));
      const sums = new Map<string, bigint>();
      for (const { row } of rowsOf(account.rows, 'ledger_entry')) {
        if (row.kind === 'detected') continue;
        const key = byId.get(row.depositId)!;
        sums.set(key, (sums.get(key) ?? 0n) + row.amount);
      }
      return new Map([...sums].filter(([, amount]) => amount !== 0n));
    },
    events: () =>
      account
        .published()
        .filter(({ event }) => event.startsWith('deposit_'))
        .map(({ event, data }) => ({
          event: event as ModelEvent['event'],
          key: keyOf(data as { txid: string; outputIndex: number }),
          incarnation: Number(data['incarnation'] ?? 1),
        })),
    deposits: () => [...deposits.keys()],
  };
}
