/**
 * Changes of one transaction on top of a state, and the metadata that states them.
 *
 *   CreatedNode    NewFields: what is not the default        ModifiedNode   FinalFields, PreviousFields of what changed
 *   DeletedNode    FinalFields, PreviousFields likewise      nodes in the order of their keys
 *
 * Source: xrpl.org "Transaction Metadata".
 */
import { accountKey, type Entry, type State } from './entries.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Fields that come beside the others, not among them. */
const APART = new Set(['LedgerEntryType', 'PreviousTxnID', 'PreviousTxnLgrSeq']);

export interface Place {
  /** Index of the ledger that is being made. */
  readonly height: number;
  /** Open ledgers refuse what a closed one takes a fee for. */
  readonly isOpen: boolean;
}

export class View {
  readonly place: Place;
  readonly #base: State;
  readonly #changes = new Map<string, Entry | null>();
  /** Last form of entries that were removed. */
  readonly #removed = new Map<string, Entry>();

  constructor(base: State, place: Place) {
    this.#base = base;
    this.place = place;
  }

  get(key: string): Entry | undefined {
    const changed = this.#changes.get(key);
    return changed === null ? undefined : (changed ?? this.#base.get(key));
  }

  account(address: string): Entry | undefined {
    return this.get(accountKey(address));
  }

  put(key: string, entry: Entry): void {
    this.#changes.set(key, entry);
  }

  remove(key: string): void {
    this.#removed.set(key, this.get(key)!);
    this.#changes.set(key, null);
  }

  /** Changes some fields of an entry that is there; undefined takes a field away. */
  change(key: string, fields: Fields): void {
    const before = this.get(key);
    if (before === undefined) throw new Error(`no entry ${key}`);
    const merged = Object.fromEntries(
      Object.entries({ ...before, ...fields }).filter(([, value]) => value !== undefined),
    );
    this.put(key, merged as Entry);
  }

  /** Entries of the state with the changes, for what an account owns. */
  *entries(): Iterable<[string, Entry]> {
    for (const [key, entry] of this.#base) if (!this.#changes.has(key)) yield [key, entry];
    for (const [key, entry] of this.#changes) if (entry !== null) yield [key, entry];
  }

  /** The state with the changes, each entry threaded to the transaction. */
  committed(txid: string): Map<string, Entry> {
    const state = new Map(this.#base);
    for (const [key, entry] of this.#changes) {
      if (entry === null) state.delete(key);
      else state.set(key, { ...entry, PreviousTxnID: txid, PreviousTxnLgrSeq: this.place.height });
    }
    return state;
  }

  /** `AffectedNodes`. */
  affected(): Fields[] {
    return [...this.#changes.keys()].sort().flatMap((key) => {
      const before = this.#base.get(key),
        after = this.#changes.get(key) ?? null;
      if (before === undefined && after === null) return [];
      if (JSON.stringify(before) === JSON.stringify(after)) return [];
      const isDeleted = after === null;
      return [nodeOf(key, before, after ?? this.#removed.get(key)!, isDeleted)];
    });
  }
}

function nodeOf(key: string, before: Entry | undefined, last: Entry, isDeleted: boolean): Fields {
  const { LedgerEntryType } = last;
  if (before === undefined) {
    return { CreatedNode: { LedgerEntryType, LedgerIndex: key, NewFields: only(last, (value) => !isDefault(value)) } };
  }
  const previous = only(before, (value, name) => JSON.stringify(value) !== JSON.stringify(last[name]));
  const fields = {
    FinalFields: only(last, () => true),
    ...(Object.keys(previous).length === 0 ? {} : { PreviousFields: previous }),
  };
  if (isDeleted) return { DeletedNode: { LedgerEntryType, LedgerIndex: key, ...fields } };
  const thread =
    before['PreviousTxnID'] === undefined
      ? {}
      : { PreviousTxnID: before['PreviousTxnID'], PreviousTxnLgrSeq: before['PreviousTxnLgrSeq'] };
  return { ModifiedNode: { LedgerEntryType, LedgerIndex: key, ...fields, ...thread } };
}

function only(entry: Entry, wanted: (value: unknown, name: string) => boolean): Fields {
  return Object.fromEntries(
    Object.entries(entry)
      .filter(([name, value]) => !APART.has(name) && wanted(value, name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const isDefault = (value: unknown): boolean => value === 0 || value === '0';
