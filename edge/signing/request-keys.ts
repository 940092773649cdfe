/**
 * What an `Idempotency-Key` of a build belongs to: one body and one id, for 24 hours. Two ids that can be signed under
 * one key would be two payments that their caller takes for one.
 *
 *   free ── first build ─▶ held by X ── X expired unsigned, is given up for Y (superseding.ts) ─▶ held by Y for good
 *
 * Y's instruction names every build that held the key before it, so that another replica gives them up with it, in
 * whatever order the records arrive. What is superseded is never signed here.
 */
import type { Storage } from '../storage/storage.ts';
import type { Instruction } from './signers/signer.ts';

/** As long as the cloud keeps an Idempotency-Key. Milliseconds. */
const REQUEST_KEPT_MS = 86_400_000;

export interface KeyHolder {
  /** SHA-256 of the body that was sent. */
  readonly body: string;
  readonly transactionId: string;
}

export class RequestKeys {
  readonly #storage: Storage;
  readonly #nowMs: () => number;
  readonly #requestOf: (transactionId: string) => Instruction['request'];

  constructor(storage: Storage, nowMs: () => number, requestOf: (transactionId: string) => Instruction['request']) {
    this.#storage = storage;
    this.#nowMs = nowMs;
    this.#requestOf = requestOf;
  }

  /** What a key, by its SHA-256, was used for within the last 24 hours; null when it was not. */
  holderOf(requestKey: string): KeyHolder | null {
    return this.#storage.one<{ body: string; transactionId: string }>(
      'select body, transaction_id as transactionId from request_keys where request_key = ? and bound_at_ms > ?',
      requestKey,
      this.#nowMs() - REQUEST_KEPT_MS,
    );
  }

  /**
   * Whether a new instruction may be kept beside the holder of its key: the key is free, the holder is given up for
   * this one (`mayGiveUp`: what is known of the holder allows it), or this one was given up for the holder.
   */
  mayKeep({ id, request }: Instruction, mayGiveUp: (holderId: string) => boolean): boolean {
    const holder = request === undefined ? null : this.holderOf(request.key);
    if (holder === null || holder.transactionId === id) return true;
    if (this.#supersedes(holder.transactionId, id)) return true;
    return (
      request!.supersedes?.includes(holder.transactionId) === true &&
      holder.body === request!.body &&
      mayGiveUp(holder.transactionId)
    );
  }

  /** The key belongs to this instruction from now on; what it supersedes, or is superseded by, is never signed here. */
  hold({ id, request }: Instruction): void {
    if (request === undefined) return;
    const nowMs = this.#nowMs(),
      supersedes = request.supersedes ?? [];
    this.#storage.run('delete from request_keys where bound_at_ms <= ?', nowMs - REQUEST_KEPT_MS);
    this.#storage.run(
      `insert into request_keys (request_key, body, transaction_id, bound_at_ms) values (?, ?, ?, ?)
      on conflict do update set transaction_id = excluded.transaction_id
        where transaction_id in (select value from json_each(?))`,
      request.key,
      request.body,
      id,
      nowMs,
      JSON.stringify(supersedes),
    );
    for (const former of supersedes) this.#supersede(former, id);
    const holder = this.holderOf(request.key)?.transactionId ?? id;
    if (holder !== id && this.#supersedes(holder, id)) this.#supersede(id, holder);
  }

  /** The build that took over the key of this one; null for one that may be signed. */
  successorOf(transactionId: string): string | null {
    return (
      this.#storage.one<{ successor: string | null }>(
        'select superseded_by as successor from instructions where transaction_id = ?',
        transactionId,
      )?.successor ?? null
    );
  }

  #supersedes(holderId: string, id: string): boolean {
    return this.#requestOf(holderId)?.supersedes?.includes(id) === true;
  }

  #supersede(transactionId: string, successor: string): void {
    this.#storage.run(
      'update instructions set superseded_by = ? where transaction_id = ? and superseded_by is null',
      successor,
      transactionId,
    );
  }
}
