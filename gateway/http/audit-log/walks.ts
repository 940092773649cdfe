/**
 * Walks over the whole audit log of an organization, which take as long as the log is long: one at a time for each
 * organization, and none that was asked for twice. found part 2.
 *
 *   nothing under way             the walk begins
 *   a walk is under way           the next one waits, and is that of all who ask the same before it begins
 *   so many others wait already   refused: RATE_LIMIT_EXCEEDED
 *
 * Nobody gets the answer of a walk that began before the question: it may have passed what was changed since.
 */
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import { Turns } from '../../../protocol/turns.ts';

/** Walks of one organization that may wait, each with another question. */
const WAITING_MAX = 4;
/** When to ask again. Seconds. */
const AGAIN_SECONDS = 5;

export class Walks<T> {
  readonly #turns = new Turns<string>();
  /** Not begun yet: by organization, then by question. */
  readonly #waiting = new Map<string, Map<string, Promise<T>>>();

  /** Rejects: with what the walk rejects with. Refuses: RATE_LIMIT_EXCEEDED. */
  walk(organization: string, question: string, walk: () => Promise<T>): Promise<T> | Refusal {
    const waiting = this.#waiting.get(organization) ?? new Map<string, Promise<T>>(),
      same = waiting.get(question);
    if (same !== undefined) return same;
    if (waiting.size >= WAITING_MAX)
      return refuse('RATE_LIMIT_EXCEEDED', {
        limit: WAITING_MAX,
        of: 'verifications that wait',
        retryAfterSeconds: AGAIN_SECONDS,
      });
    const answer = this.#turns.take(organization, () => {
      waiting.delete(question);
      if (waiting.size === 0) this.#waiting.delete(organization);
      return walk();
    });
    waiting.set(question, answer);
    this.#waiting.set(organization, waiting);
    return answer;
  }
}
