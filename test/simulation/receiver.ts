/** The customer's endpoints: each takes, refuses, stalls or loses what it is sent, by its mood. */
import type { Attempt, Delivery, WebhookPoster } from '../../edge/webhooks/post.ts';
import type { Machine, Process } from './machine.ts';

/**
 * `fine` 200 · `broken` 500 · `busy` 429 with Retry-After · `shut` nobody listens · `slow` takes it, but answers after
 * the edge has given up · `torn` takes it, and the connection breaks before the answer
 */
export const MOODS = ['fine', 'broken', 'busy', 'shut', 'slow', 'torn'] as const;
export type Mood = (typeof MOODS)[number];

const TIMEOUT_MS = 15_000;
const RETRY_AFTER_SECONDS = 5;
const STATUS: Readonly<Partial<Record<Mood, number>>> = { fine: 200, slow: 200, torn: 200, broken: 500, busy: 429 };

export interface Receipt {
  readonly eventId: string;
  readonly statusCode: number;
}

export class Receivers {
  /** By URL; `fine` where none is set. */
  readonly moods = new Map<string, Mood>();
  /** Everything that arrived, by `deliveryId/attempt`. */
  readonly receipts = new Map<string, Receipt[]>();
  /** `url eventId` of what was taken with a 2xx. */
  readonly taken = new Set<string>();
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** The way of a process to the endpoints; `onPost` is told before anything leaves. */
  poster(process: Process, onPost: (delivery: Delivery) => void): WebhookPoster {
    return {
      post: (delivery) =>
        new Promise((resolve) => {
          onPost(delivery);
          this.#send(delivery, (attempt) => process.run(() => resolve(attempt)));
        }),
      close: async () => undefined,
    };
  }

  #send(delivery: Delivery, answer: (attempt: Attempt) => void): void {
    const { deliveryId, attempt, url, body } = delivery,
      machine = this.#machine,
      startedAtMs = machine.nowMs;
    const answered = (
      outcome: Attempt['outcome'],
      statusCode: number | null,
      retryAfterSeconds: number | null = null,
    ) =>
      answer({
        deliveryId,
        attempt,
        statusCode,
        outcome,
        retryAfterSeconds,
        durationMs: Math.round(machine.nowMs - startedAtMs),
      });
    machine.after(machine.between(1, 40), () => {
      const mood = this.moods.get(url) ?? 'fine',
        statusCode = STATUS[mood];
      if (statusCode === undefined) return answered('refused', null);
      const key = `${deliveryId}/${attempt}`,
        { id: eventId } = JSON.parse(body) as { id: string };
      this.receipts.set(key, [...(this.receipts.get(key) ?? []), { eventId, statusCode }]);
      if (statusCode === 200) this.taken.add(`${url} ${eventId}`);
      if (mood === 'slow') return void machine.after(TIMEOUT_MS, () => answered('timeout', null));
      machine.after(machine.between(1, 40), () => {
        if (mood === 'torn') answered('failed', null);
        else answered('answered', statusCode, mood === 'busy' ? RETRY_AFTER_SECONDS : null);
      });
    });
  }
}
