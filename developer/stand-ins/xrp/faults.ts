/** How one server differs from the honest ledger that it shows. Everything can be changed at any time. */
import type { ClosedLedger, LedgerNetwork } from './ledger-network.ts';
import type { Json } from './transactions.ts';
import { hashes } from 'xrpl';

export interface Span {
  readonly first: number;
  readonly last: number;
}

export interface Faults {
  /** Ledgers that the server is behind. */
  lag: number;
  /** Ledgers that it does not have, and says so in `complete_ledgers`. */
  missing: readonly Span[];
  /** From this height on it shows other ledgers than everybody else, whose hashes are right by themselves. */
  forkFrom: number | null;
  serverState: string;
  amendmentBlocked: boolean;
  /** What it calls its network; undefined leaves it out. */
  networkId: number | undefined;
  /** The word that it answers to everything; `http` closes the door with a status and plain text. */
  busy: 'slowDown' | 'tooBusy' | 'noNetwork' | 'noCurrent' | { readonly http: number } | null;
  /** Speaks as Clio does: no server state of its own, no `server_state`. */
  isClio: boolean;
  /** Answers that replace its own, by method, one use each. */
  readonly instead: Map<string, Json[]>;
  /** Changes what it says; undefined leaves an answer. */
  rewrite: ((method: string, params: Json, result: Json) => Json | undefined) | null;
}

/** A server without any. */
export function noFaults(): Faults {
  return {
    lag: 0,
    missing: [],
    forkFrom: null,
    serverState: 'full',
    amendmentBlocked: false,
    networkId: undefined,
    busy: null,
    isClio: false,
    instead: new Map(),
    rewrite: null,
  };
}

/** What a server shows of the network. */
export class Showing {
  readonly network: LedgerNetwork;
  readonly faults: Faults;

  constructor(network: LedgerNetwork, faults: Faults) {
    this.network = network;
    this.faults = faults;
  }

  get validatedHeight(): number {
    return Math.max(this.network.firstHeight, this.network.validatedHeight - this.faults.lag);
  }

  /** Ranges of ledgers that it has, as `complete_ledgers` spells them. */
  get complete(): readonly Span[] {
    let ranges: Span[] = [{ first: this.network.firstHeight, last: this.validatedHeight }];
    for (const { first, last } of this.faults.missing) {
      ranges = ranges
        .flatMap((range) => [
          { first: range.first, last: Math.min(range.last, first - 1) },
          { first: Math.max(range.first, last + 1), last: range.last },
        ])
        .filter((range) => range.first <= range.last);
    }
    return ranges;
  }

  has(first: number, last = first): boolean {
    return this.complete.some((range) => range.first <= first && range.last >= last);
  }

  /** A validated ledger as this server shows it. */
  ledgerAt(height: number): ClosedLedger | null {
    const honest = this.has(height) ? this.network.ledgerAt(height) : null;
    const { forkFrom } = this.faults;
    if (honest === null || forkFrom === null || height < forkFrom) return honest;
    const parent = height === forkFrom ? this.network.ledgerAt(height - 1) : this.ledgerAt(height - 1);
    const header = { ...honest.header, parent_hash: parent?.hash ?? honest.header.parent_hash, close_flags: 1 };
    return { ...honest, header, hash: hashes.hashLedgerHeader(header as never) };
  }
}
