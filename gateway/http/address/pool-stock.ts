/**
 * Unissued pool addresses for many requests at once: one read of an account's pool at a time, which all that wait
 * share. A request that finds the pool empty waits for the refill that is under way, and takes its turn when addresses
 * arrive.
 */
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { POOLED_CHAINS, type Chain } from '../../../protocol/slugs.ts';
import type { ReadStore } from '../../../model/ports/read-store.ts';
import type { EdgeStreams } from '../../../model/ports/edge-streams.ts';

/** Pool addresses of one read: requests that share it take the first ones. */
const UNISSUED_OFFERED = 256;
/** How often a request looks by itself: addresses may have come through another node. Milliseconds. */
const LOOK_MS = 500;
/** Decisions 3: how long a request waits for a refill. Milliseconds. */
export const POOL_WAIT_MS = 5_000;

type Unissued = Awaited<ReturnType<ReadStore['unissuedPool']>>;

export interface PoolStockDeps {
  readonly reads: Pick<ReadStore, 'unissuedPool'>;
  readonly edges: Pick<EdgeStreams, 'anyLive' | 'replenish'>;
  readonly waitMs: number;
}

export class PoolStock {
  readonly #deps: PoolStockDeps;
  readonly #reading = new Map<string, Promise<Unissued>>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(deps: PoolStockDeps) {
    this.#deps = deps;
  }

  /** Addresses came: who waits looks again. */
  refilled(accountId: AccountId, chain: Chain): void {
    for (const look of this.#waiting.get(keyOf(accountId, chain)) ?? []) look();
  }

  /**
   * Issues with the next unissued addresses, none on a chain without a pool. Refuses: what `issue` refuses; an empty
   * pool only after the wait (SERVICE_UNAVAILABLE `pool_refill`), at once without a live edge (EDGE_OFFLINE).
   */
  async issue<A extends { readonly ok: unknown }>(
    accountId: AccountId,
    chain: Chain,
    issue: (unissued: Unissued) => Promise<A>,
  ): Promise<A | Refusal> {
    if (!(POOLED_CHAINS as readonly Chain[]).includes(chain)) return issue([]);
    const { edges, waitMs } = this.#deps;
    const untilMs = performance.now() + waitMs;
    for (;;) {
      const answer = await issue(await this.#unissued(accountId, chain));
      const reason = isRefusal(answer) ? answer.details['reason'] : null;
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0 || (reason !== 'pool_refill' && reason !== 'pool_moved_on')) return answer;
      if (reason === 'pool_moved_on') continue; // others took what this read saw
      if (!(await edges.anyLive(accountId))) return refuse('EDGE_OFFLINE', { chain, reason: 'pool_empty' });
      const arrived = this.#arrival(accountId, chain, Math.min(leftMs, LOOK_MS));
      void edges.replenish(accountId);
      await arrived;
    }
  }

  #unissued(accountId: AccountId, chain: Chain): Promise<Unissued> {
    const key = keyOf(accountId, chain),
      known = this.#reading.get(key);
    if (known !== undefined) return known;
    const reading = this.#deps.reads
      .unissuedPool(accountId, chain, UNISSUED_OFFERED)
      .finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  #arrival(accountId: AccountId, chain: Chain, ms: number): Promise<void> {
    const key = keyOf(accountId, chain),
      waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting);
    return new Promise((resolve) => {
      const look = () => {
        clearTimeout(timer);
        waiting.delete(look);
        if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
        resolve();
      };
      const timer = setTimeout(look, ms);
      waiting.add(look);
    });
  }
}

const keyOf = (accountId: AccountId, chain: Chain): string => `${accountId} ${chain}`;
