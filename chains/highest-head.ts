/**
 * Where a chain is, asked of one endpoint after another. The highest head that was ever answered is kept: an endpoint
 * below it is behind and not believed while another one is not (G10); a head that all endpoints show lower is answered
 * as it is: a rollback, or the end of a lie (C1-12). A head that cannot be (`possible-height.ts`) is believed of none.
 */
import type { Chain } from '../protocol/slugs.ts';
import { ChainUnavailable, type Endpoint, type Transport } from './chain.ts';

interface Standing {
  readonly height: number;
}

export class HighestHead<H extends Standing> {
  readonly #chain: Chain;
  readonly #transport: Pick<Transport, 'report' | 'headMax'>;
  readonly #behindReason: string;
  #seen = 0;

  /** `behindReason` begins the error text of an endpoint that is behind, or ahead of what can be. */
  constructor(chain: Chain, transport: Pick<Transport, 'report' | 'headMax'>, behindReason = 'the node is at') {
    this.#chain = chain;
    this.#transport = transport;
    this.#behindReason = behindReason;
  }

  /**
   * Highest height that an endpoint has shown; it falls only when all of them show less, or when it is found that it
   * could not be.
   */
  get seen(): number {
    if (this.#seen > this.#max()) this.#seen = 0;
    return this.#seen;
  }

  /** `attempt` reads heads until one passes. Throws: ChainUnavailable when none can be read. */
  async get(attempt: (pass: (own: H) => H) => Promise<H>): Promise<H> {
    let behind: H | null = null;
    const believed = (head: H): H => {
      this.#seen = head.height;
      return head;
    };
    try {
      return believed(
        await attempt((own) => {
          this.#assertPossible(own.height);
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

  /**
   * Believes an endpoint for a read at a height. Throws: ChainUnavailable when it is further behind what was seen than
   * `trailingMax`, or ahead of what can be.
   */
  accept(endpoint: Endpoint, height: number, trailingMax: number): void {
    if (height + trailingMax < this.seen) {
      this.#transport.report(endpoint, 'lagging', height);
      throw this.behind(height);
    }
    this.#transport.report(endpoint, 'ok', height);
    this.note(height);
  }

  /** Keeps a head that was read. Throws: ChainUnavailable for one that cannot be. */
  note(height: number): void {
    this.#assertPossible(height);
    this.#seen = Math.max(this.seen, height);
  }

  /** Why an endpoint at a height is not believed. */
  behind(height: number): ChainUnavailable {
    return new ChainUnavailable(this.#chain, `${this.#behindReason} ${height}, behind ${this.seen}`);
  }

  /** After its report, by which all endpoints may be found to be further on. */
  #assertPossible(height: number): void {
    if (height <= this.#max()) return;
    throw new ChainUnavailable(this.#chain, `${this.#behindReason} ${height}, further ahead than the chain can be`);
  }

  #max(): number {
    return this.#transport.headMax?.() ?? Number.MAX_SAFE_INTEGER;
  }
}
