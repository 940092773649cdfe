/**
 * `Idempotency-Key`: per account, method and path, kept 24 h. The first answer is given again; a duplicate that comes
 * while the first is at work waits for it; another body under the same key is IDEMPOTENCY_CONFLICT. Decisions 3, I23.
 *
 * A success of an account command is stored by the account's own append, and what makes a tenant or a key stores it in
 * that statement, together with the effect; other successes and refusals are stored here, after it, and where an
 * effect would not be the same twice one node at a time makes it (`at-work.ts`). Refusals that speak
 * of the moment only (locked, overloaded, unreachable, no second factor) are not kept: nothing was done, and the caller
 * may try again with the same key.
 */
import type { IdempotencyRow } from '../../model/rows/idempotency.ts';
import type { FirstAnswer, KeyOwner } from '../../model/ports/identity-store.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import { otherBodyOfKey, readRefusal, refuse, statusOf, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import { withBigints } from '../../protocol/bigint-json.ts';
import type { Route } from '../../protocol/route.ts';
import type { SecretBox } from '../../model/ports/secret-box.ts';
import { createAtWork } from './at-work.ts';
import { isSameBody } from './body-hash.ts';

export const KEY_CHARS_MAX = 255;

export interface Done {
  readonly ok: true;
  readonly status: number;
  readonly reply: unknown;
}
export type Outcome = Done | Refusal | { readonly ok: 'duplicate' };

/** The object of a stored answer is dead and was never signed: the key is free for another one. */
export interface Outgrown {
  readonly outgrown: string;
}

export const isOutgrown = (reply: unknown): reply is Outgrown =>
  (reply as Partial<Outgrown> | null)?.outgrown !== undefined;

export interface Answered {
  readonly outcome: Done | Refusal;
  readonly replayed: boolean;
}

/** One use of a key. */
export interface KeyUse {
  readonly owner: KeyOwner;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly bodyHash: string;
  readonly kept: NonNullable<Route['idempotent']>;
}

export interface Idempotency {
  /** The answer of a use as it is stored, for a statement that writes its effect. */
  answerOf(use: KeyUse, status: number, body: unknown): FirstAnswer;
  /**
   * Runs `act` once for a key. `replay` makes the reply of what an account stored; where that is `Outgrown`, `act` runs
   * again and its answer takes the place of the stored one.
   */
  once(use: KeyUse, act: () => Promise<Outcome>, replay: (stored: unknown) => Promise<unknown>): Promise<Answered>;
}

const NOT_KEPT: ReadonlySet<ErrorCode> = new Set(['UNAUTHORIZED', 'TOTP_REQUIRED', 'IDEMPOTENCY_CONFLICT']);
const MOMENTARY_STATUSES: ReadonlySet<number> = new Set([423, 429]);

/** Of those that say when to come again none is kept: a full queue has room after the next block. */
const isKept = ({ code, details }: Refusal): boolean =>
  statusOf(code) < 500 &&
  details['retryAfterSeconds'] === undefined &&
  !MOMENTARY_STATUSES.has(statusOf(code)) &&
  !NOT_KEPT.has(code);

const otherBody = ({ key, method, path }: KeyUse): Refusal => otherBodyOfKey({ key, method, path });

interface Flight {
  readonly bodyHash: string;
  readonly done: Promise<Answered & { readonly kept: boolean }>;
}

export function createIdempotency({
  reads,
  secrets,
  nowMs,
}: {
  reads: Pick<ReadStore, 'idempotent' | 'saveIdempotent' | 'forgetIdempotent'>;
  secrets: SecretBox;
  nowMs: () => number;
}): Idempotency {
  const flights = new Map<string, Flight>();
  const atWork = createAtWork(reads, nowMs);
  // Bodies stored here may hold a key that is shown once, so they are sealed.
  const context = (use: KeyUse) => `idempotency|body|${use.owner}|${use.method} ${use.path}|${use.key}`;

  const answerOf = (use: KeyUse, status: number, body: unknown): FirstAnswer => ({
    owner: use.owner,
    key: use.key,
    method: use.method,
    path: use.path,
    bodyHash: use.bodyHash,
    status,
    body: { sealed: secrets.seal(JSON.stringify(body), context(use)) },
  });
  const save = async (use: KeyUse, status: number, body: unknown): Promise<void> => {
    await reads.saveIdempotent(use.owner, answerOf(use, status, body));
  };

  async function replayed(
    use: KeyUse,
    row: IdempotencyRow,
    replay: (stored: unknown) => Promise<unknown>,
  ): Promise<Answered | Outgrown> {
    if (!isSameBody(row.bodyHash, use.bodyHash)) return { outcome: otherBody(use), replayed: false };
    const sealed = (row.body as { sealed?: unknown } | null)?.sealed;
    const body: unknown = typeof sealed === 'string' ? JSON.parse(secrets.open(sealed, context(use))) : row.body;
    if (row.status >= 400) {
      const { code, message, details } = body as { code: ErrorCode; message: string; details: Record<string, unknown> };
      return { outcome: readRefusal(code, details, message), replayed: true };
    }
    const reply = typeof sealed === 'string' ? body : await replay(withBigints(body));
    if (isOutgrown(reply)) return reply;
    return { outcome: { ok: true, status: row.status, reply }, replayed: true };
  }

  async function first(
    use: KeyUse,
    act: () => Promise<Outcome>,
    replay: (stored: unknown) => Promise<unknown>,
  ): Promise<Answered & { kept: boolean }> {
    const stored = () => reads.idempotent(use.owner, use.method, use.path, use.key);
    const before = use.kept === 'actor' ? null : await stored();
    const again = before === null ? null : await replayed(use, before, replay);
    if (again !== null && !isOutgrown(again)) return { ...again, kept: true };
    const outcome = await act();
    if (outcome.ok === true) {
      if (use.kept === 'store' || use.kept === 'claimed') await save(use, outcome.status, outcome.reply);
      return { outcome, replayed: false, kept: true };
    }
    // A refusal may rest on what the first use of the key did (the cap is reached, the webhook is gone).
    const earlier = await stored();
    const known = earlier === null ? null : await replayed(use, earlier, replay);
    if (known !== null && !isOutgrown(known)) return { ...known, kept: true };
    if (known !== null) {
      await reads.forgetIdempotent(use.owner, use, known.outgrown);
      return first(use, act, replay);
    }
    if (outcome.ok === 'duplicate') {
      return { outcome: refuse('INTERNAL_ERROR', { reason: 'stored answer missing' }), replayed: false, kept: false };
    }
    if (!isKept(outcome)) return { outcome, replayed: false, kept: false };
    const { code, message, details } = outcome;
    await save(use, statusOf(code), { code, message, details });
    return { outcome, replayed: false, kept: true };
  }

  /** The same where the effect would be made twice by two nodes at once. */
  async function firstOfAll(
    use: KeyUse,
    act: () => Promise<Outcome>,
    replay: (stored: unknown) => Promise<unknown>,
  ): Promise<Answered & { kept: boolean }> {
    const end = await atWork.begin(use);
    if (end !== null) return first(use, act, replay).finally(() => end().catch(() => undefined));
    const row = await reads.idempotent(use.owner, use.method, use.path, use.key);
    const known = row === null ? null : await replayed(use, row, replay);
    if (known !== null && !isOutgrown(known)) return { ...known, kept: true };
    const details = { reason: 'the first use of this key is at work', retryAfterSeconds: 1 };
    return { outcome: refuse('SERVICE_UNAVAILABLE', details), replayed: false, kept: false };
  }

  return {
    answerOf,
    async once(use, act, replay) {
      const slot = [use.owner, use.method, use.path, use.key].join('\n');
      for (;;) {
        const flight = flights.get(slot);
        if (flight === undefined) break;
        const answered = await flight.done.catch(() => null);
        // One with another body need not be the first use: another node may have stored this one's answer.
        if (!isSameBody(flight.bodyHash, use.bodyHash)) continue;
        if (answered?.kept === true) return { outcome: answered.outcome, replayed: true };
      }
      const done = (use.kept === 'claimed' ? firstOfAll : first)(use, act, replay).finally(() => flights.delete(slot));
      flights.set(slot, { bodyHash: use.bodyHash, done });
      const { outcome, replayed: again } = await done;
      return { outcome, replayed: again };
    },
  };
}
