/** What a capability's rows of an append are made of: snake_case rows for the tables of `append_accounts`. */
import type { RowWrite } from '../../../model/account/capabilities.ts';
import type { StoredWrite } from '../../../model/rows/stored.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Encoded {
  readonly table: string;
  readonly row: Row;
  /** Of several rows with one identity the last one counts; null where each is a row of its own. */
  readonly identity: string | null;
}

export const encoded = (table: string, row: Row, identity: string | null = null): Encoded => ({ table, row, identity });

/** The account that appends, and when. */
export interface Appending {
  readonly accountId: string;
  readonly nowMs: number;
}

/** Writes that become rows as they are. */
export type Stored = Extract<RowWrite, StoredWrite<string, unknown>>;

export type Table = Exclude<RowWrite, Stored>['table'];

/** Writes by their tag. */
export type Writes = { readonly [T in Table]: Extract<RowWrite, { table: T }> };

/** How the writes of some tags become rows. */
export type AppendOf<W extends { table: string }> = {
  readonly [T in W['table'] & Table]: (write: Writes[T], appending: Appending) => readonly Encoded[];
};

export const instant = (ms: number): string => new Date(ms).toISOString();
export const decimal = (amount: bigint | null): string | null => amount?.toString() ?? null;
/** For the few columns whose TypeScript value holds amounts inside (an unsigned payload). */
export const withDecimals = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

/** `createdAtMs` → `created_at` */
const columnOf = (field: string): string =>
  field.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const valueOf = (field: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return decimal(value);
  return field.endsWith('Ms') && typeof value === 'number' ? instant(value) : value;
};

/** A row as its fields say it, see model/rows/stored.ts. Throws: RangeError for an invalid instant. */
export function storedRow({ table, row, key }: StoredWrite<string, object>): Encoded {
  const columns = Object.entries(row).map(([field, value]) => [columnOf(field), valueOf(field, value)] as const);
  return encoded(table, Object.fromEntries(columns), key);
}
