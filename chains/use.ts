/** Whether addresses were ever used, as the nodes of a chain know it. Migration M-D6. */
import type { Evidence } from '../protocol/migration/words.ts';

export interface UseAsk {
  readonly addresses: readonly string[];
  /** Contracts whose balances count as use too. */
  readonly tokens: readonly { readonly contract: string }[];
}

export interface Use {
  /** In the order asked. */
  readonly used: readonly boolean[];
  readonly evidence: Evidence;
  readonly height: number;
  /** What it cost the endpoint, so that a scan can go at its pace. */
  readonly requests: number;
}

export interface SeesUse {
  /**
   * Which of some addresses anything shows to have been used, as one endpoint knows it at one block. Absent where a
   * chain has no addresses that follow from a public key. Throws: ChainUnavailable where one of them is not known: an
   * address that was not read is not unused.
   */
  fetchUse?(ask: UseAsk): Promise<Use>;
}
