/** Adopted addresses that no key was known for, and the passes of key sources over them. Migration M-K2–M-K4. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Chain, Family } from '../../protocol/slugs.ts';

/** A pass of a source: what it looked at, and what it has found so far. */
export interface SourcePass {
  readonly keySourceId: string;
  readonly state: 'running' | 'done';
  /** Untraced addresses of the source's families, counted page by page before the first is looked for. */
  readonly checked: number;
  readonly traced: number;
  /** Addresses that this and earlier passes traced, by chain. */
  readonly byChain: Readonly<Partial<Record<Chain, number>>>;
}

/** A page of adopted addresses without a key of an active source. */
export interface UntracedPage {
  /** The last address that was looked at; null at the end of the family. */
  readonly next: string | null;
  /** Of the pass so far, with this page. */
  readonly checked: number;
  /** First characters of their texts, which say what scripts they may be: `bc1q`, `0xAb`. */
  readonly begin: readonly string[];
}

export interface OriginStore {
  /**
   * Begins a pass, or answers null while one is at work that gave a sign of life in the last `leaseMs`.
   */
  beginPass(accountId: AccountId, keySourceId: string, leaseMs: number): Promise<SourcePass | null>;
  /**
   * Counts the next page of a family's untraced addresses into `checked` of the pass, which goes on. `after`: `next` of
   * the page before, or ''.
   */
  countUntraced(
    accountId: AccountId,
    keySourceId: string,
    active: readonly string[],
    at: { readonly family: Family; readonly after: string },
    leaseMs: number,
  ): Promise<UntracedPage>;
  /** Records what keys lead to; the pass goes on. Answers how many addresses are traced by it in all. */
  recordOrigins(
    accountId: AccountId,
    keySourceId: string,
    active: readonly string[],
    found: readonly { readonly key: string; readonly path: string }[],
    leaseMs: number,
  ): Promise<number>;
  endPass(accountId: AccountId, keySourceId: string): Promise<SourcePass>;
  passes(accountId: AccountId): Promise<SourcePass[]>;
}
