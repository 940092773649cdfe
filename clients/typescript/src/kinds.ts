/** The forms that operations have as methods. */

/** A text of which this version knows these values; a newer service may send others. */
export type Open<Known extends string> = Known | (string & {});

export interface CallOptions {
  /** Ends the call with `CLIENT_ABORTED`. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds of one attempt, its body included. 30,000 where absent. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds of the whole call, its attempts and pauses. 60,000 where absent. */
  readonly deadlineMs?: number | undefined;
}
export interface WriteOptions extends CallOptions {
  /** One UUID for all attempts of the call where absent. Keep your own where you repeat a call after a crash. */
  readonly idempotencyKey?: string | undefined;
}

type Asked<Argument, Options> = object extends Argument
  ? [argument?: Argument, options?: Options]
  : [argument: Argument, options?: Options];

/** Sent once where it is no GET. */
export type Call<Argument, Answer> = (...asked: Asked<Argument, CallOptions>) => Promise<Answer>;

/** A write with an `Idempotency-Key`, which is safe to repeat, and is repeated where that helps. */
export type Write<Argument, Answer> = (...asked: Asked<Argument, WriteOptions>) => Promise<Answer>;

/** A page; `all` walks the rows of all pages, asking for the next one when it is needed. */
export type List<Argument, Answer> = Call<Argument, Answer> & {
  all(...asked: Asked<Omit<Argument, 'page'>, CallOptions>): AsyncGenerator<RowOf<Answer>, void, undefined>;
};
type RowOf<Answer> = Answer extends { readonly content: readonly (infer Row)[] } ? Row : never;
