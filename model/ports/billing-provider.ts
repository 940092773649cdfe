/** Who takes payments for statements. Console B17: a provider never computes a price. */
import type { StatementLine } from '../account/billing.ts';

/** What is asked for: of one statement, all that is left to pay of it. */
export interface Asking {
  readonly statementId: string;
  /** `FLK-2026-000001`. */
  readonly number: string;
  readonly lines: readonly StatementLine[];
  /** What was paid of it by another way, cents. */
  readonly paidCents: string;
  /** Sum of the lines less what was paid, cents; above nothing. */
  readonly leftCents: string;
  /** Null where it is past. */
  readonly dueAtMs: number | null;
  /** 1, and one more for each time that what was open for this statement was withdrawn. */
  readonly round: number;
  /** Who pays, as the provider named them. */
  readonly payer: string;
}

/** What was opened at a provider, as it is there now. */
export interface Opened {
  readonly reference: string;
  /** Where a person pays; null where the provider has no page. */
  readonly page: string | null;
  /** Cents of a dollar: what it is about, and what was paid of it so far. */
  readonly cents: string;
  readonly paidCents: string;
  /** Whether anything can still be paid of it. */
  readonly isOpen: boolean;
}

/** The provider said no, or nothing, or something that is no answer; `status` 0 where nothing came. */
export class ProviderFault extends Error {
  readonly status: number;
  readonly code: string;
  constructor(provider: string, status: number, code: string, cause?: unknown) {
    super(`${provider}: ${status} ${code}`, { cause });
    this.status = status;
    this.code = code;
  }
}

/** Throws: ProviderFault, from each of its calls. */
export interface Collector {
  readonly name: string;
  /** Cents; less than this it does not charge. */
  readonly leastCents: string;
  /** The same for the same `key`, however often it is asked. */
  namePayer(key: string, who: { readonly name: string; readonly email: string }): Promise<string>;
  /** The same for the same statement and round, however often it is asked, and whatever answer was lost. */
  open(asking: Asking): Promise<Opened>;
  /** What is there for a statement and round, whatever answer was lost; null for nothing, or what was withdrawn. */
  begun(of: Pick<Asking, 'payer' | 'statementId' | 'round'>): Promise<Opened | null>;
  state(reference: string): Promise<Opened>;
  /** Nothing can be paid of it any more, unless it was paid meanwhile: the answer says so. */
  withdraw(reference: string): Promise<Opened>;
  /**
   * The reference that a call of the provider is about; null for one that is about none.
   * Refuses with a reason: `signature`, `stale`, `body`.
   */
  webhook(
    raw: Buffer,
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
    nowMs: number,
  ): { readonly reference: string | null } | { readonly refused: 'signature' | 'stale' | 'body' };
}

export interface BillingProvider {
  /** `manual`: an administrator records what came in, and nobody is asked for it. */
  readonly name: 'manual' | 'stripe';
  /** Where a customer transfers to by themselves; null where the operator says nothing. */
  readonly bankDetails: string | null;
  /** Null for `manual`. */
  readonly collector: Collector | null;
}
