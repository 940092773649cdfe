/**
 * Which of this edge's chains the cloud serves: asked when a person looks, at most once a minute, one question at a
 * time.
 */
import { isRefusal } from '../../protocol/errors.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { Upstream } from './upstream.ts';

const FRESH_MS = 60_000;

export class LiveChains {
  readonly #upstream: Pick<Upstream, 'unsigned'>;
  readonly #monotonicMs: () => number;
  #known: ReadonlySet<Chain> | null = null;
  #askedAtMs = -Infinity;
  #asking = false;

  constructor(upstream: Pick<Upstream, 'unsigned'>, monotonicMs: () => number) {
    this.#upstream = upstream;
    this.#monotonicMs = monotonicMs;
  }

  /** The last answer, null before the first one. Asks again behind the caller's back when it is older than a minute. */
  view(): ReadonlySet<Chain> | null {
    if (!this.#asking && this.#monotonicMs() - this.#askedAtMs >= FRESH_MS) void this.#ask();
    return this.#known;
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    this.#askedAtMs = this.#monotonicMs();
    try {
      const reply = await this.#upstream.unsigned.call('listChains', {});
      if (!isRefusal(reply))
        this.#known = new Set(reply.content.filter(({ enabled }) => enabled).map(({ chain }) => chain));
    } finally {
      this.#asking = false;
    }
  }
}
