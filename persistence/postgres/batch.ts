/**
 * The batch that `append_accounts` takes: one array of snake_case rows per table. An entry is encoded when it is handed
 * in, so that a value that cannot be written (a bigint where JSON is stored) rejects that entry and no other.
 */
import type { AccountEvent, AccountSnapshot, AccountState, RowWrite } from '../../model/account/capabilities.ts';
import type { Append } from '../../model/entity.ts';
import { account } from './append/account.ts';
import { address } from './append/address.ts';
import { deposit } from './append/deposit.ts';
import {
  encoded,
  storedRow,
  type AppendOf,
  type Appending,
  type Encoded,
  type Row,
  type Table,
  type Writes,
} from './append/rows.ts';
import { payment } from './append/payment.ts';
import { webhook } from './append/webhook.ts';
import { withdrawal } from './append/withdrawal.ts';

export type AccountAppend = Append<AccountState, AccountEvent, RowWrite>;

/** Table of the batch → JSON texts of its rows. */
export type EncodedEntry = ReadonlyMap<string, readonly string[]>;

/** Writes whose rows are not simply their fields; all others are stored as they are (model/rows/stored.ts). */
const ROWS: AppendOf<RowWrite> = { ...account, ...address, ...deposit, ...withdrawal, ...webhook, ...payment };

const encodedWith = <T extends Table>(table: T, write: Writes[T], appending: Appending): readonly Encoded[] =>
  ROWS[table](write, appending);

const rowsOf = (write: RowWrite, appending: Appending): readonly Encoded[] =>
  'key' in write ? [storedRow(write)] : encodedWith(write.table, write, appending);

/** What is stored of a state with each append: without what is on its way, which grows with use and is in the rows. */
function snapshotOf({
  counters: _,
  withdrawals: __,
  signed: ___,
  reopened: ____,
  ...kept
}: AccountState): AccountSnapshot {
  return kept;
}

/**
 * Encodes one append. Null when it holds one idempotency key twice: its commands must run apart.
 * Throws: TypeError for a value that JSON cannot hold, RangeError for an invalid instant.
 */
export function encodeEntry(entry: AccountAppend, nowMs: number): EncodedEntry | null {
  const tables = new Map<string, Map<string, Row>>();
  const add = ({ table, row, identity }: Encoded) => {
    let rows = tables.get(table);
    if (rows === undefined) tables.set(table, (rows = new Map()));
    rows.set(identity ?? `#${rows.size}`, row);
  };
  const { events, rows } = entry;
  const appending = { accountId: entry.entityId, nowMs };
  add(
    encoded('accounts', {
      owner_epoch: entry.ownerEpoch,
      version: entry.expectedVersion,
      events: events.length,
      state: snapshotOf(entry.state),
    }),
  );
  events.forEach((body, index) => add(encoded('events', { version: entry.expectedVersion + index + 1, body })));
  const keys = rows.flatMap((write) =>
    write.table === 'idempotency' ? [`${write.row.method} ${write.row.path} ${write.row.key}`] : [],
  );
  if (new Set(keys).size < keys.length) return null;
  for (const write of rows) {
    // A whole row says more than the change of status before it, and takes in the one after it.
    if (write.table === 'withdrawal') tables.get('withdrawal_statuses')?.delete(write.row.id);
    for (const one of rowsOf(write, appending)) add(one);
  }
  const texts = new Map<string, string[]>();
  for (const [table, byIdentity] of tables) {
    if (byIdentity.size === 0) continue;
    texts.set(
      table,
      Array.from(byIdentity.values(), (row) => JSON.stringify({ account_id: entry.entityId, ...row })),
    );
  }
  return texts;
}

/** One JSON text for the entries of a group, in their order. */
export function joinEntries(entries: readonly EncodedEntry[]): string {
  const tables = new Map<string, string[]>();
  for (const entry of entries) {
    for (const [table, rows] of entry) {
      const all = tables.get(table);
      if (all === undefined) tables.set(table, [...rows]);
      else all.push(...rows);
    }
  }
  return `{${[...tables].map(([table, rows]) => `"${table}":[${rows.join(',')}]`).join(',')}}`;
}
