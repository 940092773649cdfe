/**
 * Where a chain is, asked of one endpoint after another. The highest head that was ever answered is kept: an endpoint
 * below it is behind and not believed while another one is not (G10); a head that all endpoints show lower is answered
 * as it is: a rollback, or the end of a lie (C1-12).
 */
import type { Chain } from '../protocol/slugs.ts';
import { ChainUnavailable } from './chain.ts';

interface Standing {
  readonly height: number;
}

export class HighestHead<H extends Standing> {
  readonly #chain: Chain;
  readonly #behindReason: string;
  /** Highest height that an endpoint has shown; it falls only when all of them show less. */
  seen = 0;

  /** `behindReason` begins the error text of an endpoint that is behind. */
  constructor(chain: Chain, behindReason = 'the node is at') {
    this.#chain = chain;
    this.#behindReason = behindReason;
  }

  /** `attempt` reads heads until one passes. Throws: ChainUnavailable when none can be read. */
  async get(attempt: (pass: (own: H) => H) => Promise<H>): Promise<H> {
    let behind: H | null = null;
    const believed = (head: H): H => {
      this.seen = head.height;
      return head;
    };
    try {
      return believed(
        await attempt((own) => {
          if (own.height >= this.seen) return own;
          if (behind === null || own.height > behind.height) behind = own;
          throw this.behind(own.height);
        }),
      );
    } catch (error) {
      const highest = behind as H | null;
      if (highest === null || !(error instanceof ChainUnavailable)) throw error;
      return believed(highest);
    }
  }

  /** Why an endpoint at a height is not believed. */
  behind(height: number): ChainUnavailable {
    return new ChainUnavailable(this.#chain, `${this.#behindReason} ${height}, behind ${this.seen}`);
  }
}
