/**
 * Relays webhooks: the cloud's frames in, POSTs out, attempts into the outbox. An attempt is durable before it is
 * reported, and reported until the cloud acknowledged it. A slow receiver delays no other: each host has its own queue
 * and its own limit, and a host with nothing in flight always gets a slot.
 *
 * Of one host deliveries start in the order of the frames.
 */
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { Outbox } from '../link/outbox.ts';
import type { Attempt, Delivery, WebhookPoster } from './post.ts';

/** Deliveries that may wait or run; the cloud is asked to send no more than one frame ahead. */
const ACCEPTED_MAX = 8_192;
/** Slots beyond the overall limit that hosts with nothing in flight may take, one each. */
const EXTRA_HOSTS_MAX = 1_024;
const STORE_RETRY_MS = 1_000;
/**
 * A commit waits for the disk, and everything here waits for it, so answers share one: this many, or those of a time,
 * or all when nothing else runs. The time is four times what the last commit took, within bounds: a slow disk takes a
 * fifth of this process at most. Measured on a loaded disk: one commit an answer 2,000/s, shared 15,000/s.
 */
const STORE_BATCH = 256;
const STORE_WAITS_PER_COMMIT = 4;
const STORE_WAIT_MS_MIN = 4;
const STORE_WAIT_MS_MAX = 50;
/** What runs when the edge stops has this long to be answered. */
const STOP_WAIT_MS = 4_000;

export interface RelaySettings {
  readonly poster: WebhookPoster;
  /**
   * What is asked before a delivery waits for its turn; it holds no slot meanwhile. `unverified` is recorded as an
   * attempt that posted nothing; `later` is no attempt: the cloud sends it again when its claim has run out. Never
   * rejects.
   */
  readonly check?: (delivery: Delivery) => Promise<'post' | 'unverified' | 'later'>;
  readonly outbox: Outbox;
  readonly concurrency: number;
  readonly concurrencyPerHost: number;
  /** Whether this replica holds the lease under this epoch now. */
  readonly mayAct: (leaseEpoch: number) => boolean;
  /** Attempts were stored: the outbox has something to send. */
  readonly onStored: () => void;
  readonly onFault: (error: unknown) => void;
}

interface Job {
  readonly key: string;
  readonly host: string;
  readonly leaseEpoch: number;
  readonly delivery: Delivery;
}

export class WebhookRelay {
  readonly #settings: RelaySettings;
  /** Waiting and running, by `deliveryId/attempt`. */
  readonly #known = new Set<string>();
  /** Waiting by host; a host is moved to the end when it got a slot, so that hosts take turns. */
  readonly #waiting = new Map<string, Job[]>();
  readonly #runningByHost = new Map<string, number>();
  #running = 0;
  #unstored: { key: string; attempt: Attempt }[] = [];
  #storing: NodeJS.Timeout | null = null;
  #commitMs = 0;
  /** The disk refused: the next try is the timer's, not the next answer's. */
  #retrying = false;
  #stopped = false;
  #drained: (() => void) | null = null;

  constructor(settings: RelaySettings) {
    this.#settings = settings;
  }

  /** Takes deliveries of a frame; those that are known already are left out. False when there is no room for them. */
  accept(leaseEpoch: number, deliveries: readonly Delivery[]): boolean {
    if (this.#stopped) return false;
    const { outbox } = this.#settings;
    if (this.#known.size + deliveries.length > ACCEPTED_MAX || !outbox.hasRoom(this.#known.size + deliveries.length))
      return false;
    for (const delivery of deliveries) {
      const key = `${delivery.deliveryId}/${delivery.attempt}`;
      if (this.#known.has(key)) continue;
      // Tried before a crash or a cut: the report is on its way, not the request again.
      if (outbox.has('attempt', key)) {
        this.#settings.onStored();
        continue;
      }
      this.#known.add(key);
      const job: Job = { key, host: hostKey(delivery.url), leaseEpoch, delivery };
      if (this.#settings.check === undefined) this.#enqueue(job);
      else void this.#check(job, this.#settings.check);
    }
    this.#start();
    return true;
  }

  /** Waiting and running deliveries. */
  get load(): number {
    return this.#known.size;
  }

  /** Starts nothing more, waits for what runs, then cuts it; what was answered is stored. */
  async stop(waitMs = STOP_WAIT_MS): Promise<void> {
    this.#stopped = true;
    for (const job of [...this.#waiting.values()].flat()) this.#known.delete(job.key);
    this.#waiting.clear();
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        this.#drained = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    await this.#settings.poster.close();
    this.#store();
  }

  #enqueue(job: Job): void {
    const queue = this.#waiting.get(job.host);
    if (queue === undefined) this.#waiting.set(job.host, [job]);
    else queue.push(job);
  }

  async #check(job: Job, check: NonNullable<RelaySettings['check']>): Promise<void> {
    const startedAtMs = performance.now();
    const verdict = await check(job.delivery);
    const { key, leaseEpoch, delivery } = job;
    if (this.#stopped || verdict === 'later' || !this.#settings.mayAct(leaseEpoch)) return void this.#known.delete(key);
    if (verdict === 'unverified') {
      this.#unstored.push({ key, attempt: unverified(delivery, performance.now() - startedAtMs) });
      return this.#storeSoon();
    }
    this.#enqueue(job);
    this.#start();
  }

  #start(): void {
    for (let job = this.#next(); job !== null; job = this.#next()) void this.#relay(job);
  }

  /** The next delivery that may start, or null. */
  #next(): Job | null {
    const { concurrency, concurrencyPerHost } = this.#settings;
    for (const [host, queue] of this.#waiting) {
      const running = this.#runningByHost.get(host) ?? 0;
      const free =
        this.#running < concurrency
          ? running < concurrencyPerHost
          : running === 0 && this.#running < concurrency + EXTRA_HOSTS_MAX;
      if (!free) continue;
      const job = queue.shift()!;
      this.#waiting.delete(host);
      if (queue.length > 0) this.#waiting.set(host, queue);
      this.#count(host, 1);
      return job;
    }
    return null;
  }

  async #relay({ key, host, leaseEpoch, delivery }: Job): Promise<void> {
    try {
      // The lease is asked for at the last moment: a replica that lost it while this waited must not send.
      if (!this.#settings.mayAct(leaseEpoch)) return void this.#known.delete(key);
      failpoint('edge.relay.before_post');
      const attempt = await this.#settings.poster.post(delivery);
      failpoint('edge.relay.after_post');
      if (attempt === null) return void this.#known.delete(key);
      this.#unstored.push({ key, attempt });
    } catch (error) {
      this.#known.delete(key);
      this.#settings.onFault(error);
    } finally {
      this.#count(host, -1);
      this.#start();
      this.#storeSoon();
      if (this.#running === 0) this.#drained?.();
    }
  }

  #storeSoon(): void {
    if (this.#unstored.length === 0 || this.#retrying) return;
    if (this.#unstored.length >= STORE_BATCH || this.#running === 0) this.#store();
    else
      this.#storing ??= setTimeout(
        () => this.#store(),
        Math.min(STORE_WAIT_MS_MAX, Math.max(STORE_WAIT_MS_MIN, this.#commitMs * STORE_WAITS_PER_COMMIT)),
      );
  }

  #store(): void {
    if (this.#storing !== null) clearTimeout(this.#storing);
    this.#storing = null;
    this.#retrying = false;
    const batch = this.#unstored;
    if (batch.length === 0) return;
    this.#unstored = [];
    try {
      const startedAtMs = performance.now();
      this.#settings.outbox.append(
        'attempt',
        batch.map(({ key, attempt }) => ({ subject: key, body: JSON.stringify(attempt) })),
      );
      this.#commitMs = performance.now() - startedAtMs;
      failpoint('edge.relay.after_record');
    } catch (error) {
      // A full disk: the answers stay in memory and count as load, so that no more are taken than can be kept.
      this.#settings.onFault(error);
      this.#unstored = [...batch, ...this.#unstored];
      this.#retrying = !this.#stopped;
      if (this.#retrying) this.#storing = setTimeout(() => this.#store(), STORE_RETRY_MS);
      return;
    }
    for (const { key } of batch) this.#known.delete(key);
    this.#settings.onStored();
  }

  #count(host: string, change: 1 | -1): void {
    this.#running += change;
    const running = (this.#runningByHost.get(host) ?? 0) + change;
    if (running === 0) this.#runningByHost.delete(host);
    else this.#runningByHost.set(host, running);
  }
}

/** An attempt that posted nothing: the edge does not hand on what it was given. */
export function unverified({ deliveryId, attempt }: Delivery, tookMs: number): Attempt {
  return {
    deliveryId,
    attempt,
    statusCode: null,
    durationMs: Math.round(tookMs),
    retryAfterSeconds: null,
    outcome: 'unverified',
  };
}

/** Deliveries to one scheme, host and port share a queue; a text that is no URL has its own. */
function hostKey(url: string): string {
  return URL.parse(url)?.origin ?? 'not-a-url';
}
