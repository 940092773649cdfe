/** Rows with journals: what an operation changed can be reported as ledger-entry changes, or undone. */
import { LedgerEntryChange } from '@stellar/stellar-sdk/xdr';
import {
  accountPlace,
  dataPlace,
  ledgerEntry,
  ledgerKey,
  linePlace,
  placeOf,
  type AccountRow,
  type ClaimableRow,
  type LineRow,
  type Row,
} from './entries.ts';

/** Reserves that an account holds whatever it owns. */
const BASE_RESERVES = 2;

type Journal = Map<string, Row | null>;

export class State {
  readonly #rows = new Map<string, { row: Row; height: number }>();
  readonly #journals: Journal[] = [];
  readonly #claimables = new Map<string, ClaimableRow>();
  readonly baseReserve: bigint;
  height = 0;

  constructor(baseReserve: bigint) {
    this.baseReserve = baseReserve;
  }

  /** The ledger's rows as they are now, for a server that is behind. */
  copy(): State {
    const state = new State(this.baseReserve);
    state.height = this.height;
    for (const [place, entry] of this.#rows) state.#rows.set(place, entry);
    for (const [id, row] of this.#claimables) state.#claimables.set(id, row);
    return state;
  }

  get(place: string): Row | null {
    return this.#rows.get(place)?.row ?? null;
  }

  heightOf(place: string): number {
    return this.#rows.get(place)?.height ?? 0;
  }

  rows(): Row[] {
    return [...this.#rows.values()].map(({ row }) => row);
  }

  account(id: string): AccountRow | null {
    const row = this.get(accountPlace(id));
    return row?.kind === 'account' ? row : null;
  }

  line(account: string, asset: string): LineRow | null {
    const row = this.get(linePlace(account, asset));
    return row?.kind === 'line' ? row : null;
  }

  data(account: string, name: string): Uint8Array | null {
    const row = this.get(dataPlace(account, name));
    return row?.kind === 'data' ? row.value : null;
  }

  put(row: Row): void {
    if (row.kind === 'claimable') this.#claimables.set(row.id, row);
    this.#write(placeOf(row), row);
  }

  /** A claimable balance that is or was, by its id with its version in front. */
  claimableOf(id: string): ClaimableRow | null {
    return this.#claimables.get(id.slice(-64)) ?? null;
  }

  remove(row: Row): void {
    this.#write(placeOf(row), null);
  }

  #write(place: string, row: Row | null): void {
    const before = this.get(place);
    for (const journal of this.#journals) if (!journal.has(place)) journal.set(place, before);
    if (row === null) this.#rows.delete(place);
    else this.#rows.set(place, { row, height: this.height });
  }

  /** Runs `work`; what it changed is reported, and undone when it answers false in `keep`. */
  within<T>(work: () => { readonly keep: boolean; readonly value: T }): {
    readonly value: T;
    readonly changes: LedgerEntryChange[];
  } {
    const journal: Journal = new Map();
    this.#journals.push(journal);
    const { keep, value } = work();
    this.#journals.splice(this.#journals.indexOf(journal), 1);
    const changes = keep ? [...journal].flatMap(([place, before]) => this.#changesOf(place, before)) : [];
    if (!keep) for (const [place, before] of journal) this.#write(place, before);
    return { value, changes };
  }

  #changesOf(place: string, before: Row | null): LedgerEntryChange[] {
    const now = this.get(place),
      old = before === null ? [] : [LedgerEntryChange.ledgerEntryState(ledgerEntry(before, this.height - 1))];
    if (now === null) return before === null ? [] : [...old, LedgerEntryChange.ledgerEntryRemoved(ledgerKey(before))];
    const entry = ledgerEntry(now, this.height);
    return [
      ...old,
      before === null ? LedgerEntryChange.ledgerEntryCreated(entry) : LedgerEntryChange.ledgerEntryUpdated(entry),
    ];
  }

  /** Stroops that an account locks; `more` entries beyond those it has. */
  minimum({ subentries, sponsoring, sponsored }: AccountRow, more = 0): bigint {
    return BigInt(BASE_RESERVES + subentries + more + sponsoring - sponsored) * this.baseReserve;
  }

  /** What may leave an account. */
  spendable(account: AccountRow): bigint {
    return account.balance - this.minimum(account);
  }

  /** The least that a new account begins with, unless somebody sponsors it. */
  get newAccount(): bigint {
    return BigInt(BASE_RESERVES) * this.baseReserve;
  }
}
