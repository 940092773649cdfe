/**
 * Refills of the pools, one at a time for each chain. A frame that asks for what is being derived joins it, by its
 * range and not by its count of frames; one that asks for more extends it. A refill is pushed in parts: the first ones
 * are small, because somebody may be waiting, and while one part is on its way the next is derived.
 *
 *   nothing under way              the range is derived and pushed
 *   [from, until) under way        a frame from `from` on joins; its end becomes the refill's where it lies further
 *   a frame from below `from`      waits for the end, then runs: the cloud knows less than it did
 *   just pushed                    a frame that is late asks for what the cloud has: nothing is done
 */
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { PooledChain } from '../../protocol/slugs.ts';
import type { Keystore } from '../keystore/keystore.ts';
import { derivePool, type PushedPool } from './pools.ts';

/** Addresses of one refill; a frame that asks for more gets these. */
export const REFILL_MAX = 5_000;
/** Addresses of the parts: the first, and the others. */
const PARTS = [64, 256] as const;
/** How long a frame may be on its way after its range was pushed. Milliseconds. */
const LATE_MS = 5_000;

export interface RefillAsk {
  readonly chain: PooledChain;
  readonly from: number;
  readonly count: number;
}

export interface PoolRefillsSettings {
  readonly keystore: Pick<Keystore, 'addressAt'>;
  /** Brings addresses to the cloud. */
  readonly push: (pool: PushedPool) => Promise<Refusal | object>;
  readonly monotonicMs: () => number;
}

/** The range is at the cloud. */
export interface Refilled {
  readonly ok: true;
}
interface Refill {
  readonly from: number;
  until: number;
  readonly done: Promise<Refusal | Refilled>;
}
interface Pushed {
  readonly from: number;
  readonly until: number;
  readonly atMs: number;
}

export class PoolRefills {
  readonly #settings: PoolRefillsSettings;
  readonly #running = new Map<PooledChain, Refill>();
  readonly #pushed = new Map<PooledChain, Pushed>();
  #stopped = false;

  constructor(settings: PoolRefillsSettings) {
    this.#settings = settings;
  }

  /**
   * Resolves when the range is at the cloud, or with what the cloud refused. Rejects: what deriving and pushing throw.
   */
  async refill({ chain, from, count }: RefillAsk): Promise<Refusal | Refilled> {
    const until = from + Math.min(count, REFILL_MAX);
    for (let running = this.#running.get(chain); running !== undefined; running = this.#running.get(chain)) {
      if (from < running.from) {
        await running.done.catch(() => undefined);
        continue;
      }
      running.until = Math.max(running.until, Math.min(until, running.from + REFILL_MAX));
      return running.done;
    }
    const last = this.#pushed.get(chain);
    const isLate =
      last !== undefined &&
      from >= last.from &&
      from < last.until &&
      this.#settings.monotonicMs() - last.atMs < LATE_MS;
    if (isLate) return { ok: true };
    let begin: (refill: Refill) => void = () => undefined;
    const begun = new Promise<Refill>((resolve) => {
      begin = resolve;
    });
    const refill: Refill = {
      from,
      until,
      done: begun.then((own) => this.#run(chain, own)).finally(() => this.#running.delete(chain)),
    };
    this.#running.set(chain, refill);
    begin(refill);
    return refill.done;
  }

  /** What is under way ends after its present part. */
  stop(): void {
    this.#stopped = true;
  }

  async #run(chain: PooledChain, refill: Refill): Promise<Refusal | Refilled> {
    const { keystore, push, monotonicMs } = this.#settings;
    let underWay: Promise<Refusal | object> = Promise.resolve({});
    let next = refill.from;
    for (let part = 0; next < refill.until && !this.#stopped; part += 1) {
      const count = Math.min(PARTS[Math.min(part, PARTS.length - 1)]!, refill.until - next);
      const pool = await derivePool(keystore, chain, next, count);
      const reply = await underWay;
      if (isRefusal(reply)) return reply;
      next += count;
      underWay = push(pool);
      underWay.catch(() => undefined); // awaited below, or after the next part
    }
    const reply = await underWay;
    if (isRefusal(reply)) return reply;
    if (next > refill.from) this.#pushed.set(chain, { from: refill.from, until: next, atMs: monotonicMs() });
    return { ok: true };
  }
}
