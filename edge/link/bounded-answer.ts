/**
 * An answer of the cloud that is read to its end within a bound, as it is unpacked: `fetch` unpacks what is compressed,
 * and 322 bytes of brotli are 200 MB. found F14.
 */

/** Answers to what the edge itself asks: readiness of ten chains, one transaction, one lease. Larger ones are cut. */
export const OWN_ANSWER_BYTES_MAX = 256 * 1_024;

/** What is read of an answer, and no more. */
export interface Unread {
  readonly status: number;
  readonly headers: Iterable<[string, string]>;
  readonly body: AsyncIterable<Uint8Array> | null;
}

export class AnswerTooLarge extends Error {
  readonly code = 'ANSWER_TOO_LARGE';
  readonly bytesMax: number;
  constructor(bytesMax: number) {
    super();
    this.bytesMax = bytesMax;
  }
}

/** Throws: AnswerTooLarge, and nothing more is read. */
export async function bytesOf(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > bytesMax) throw new AnswerTooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The whole of an answer to a call of the edge's own. Throws: AnswerTooLarge. */
export async function boundedAnswer({ status, headers, body }: Unread): Promise<Response> {
  const bytes = body === null ? null : Uint8Array.from(await bytesOf(body, OWN_ANSWER_BYTES_MAX));
  return new Response(bytes, { status, headers: [...headers] });
}

/** `fetch` for a client of the cloud without an agent of its own. */
export const boundedFetch: typeof fetch = async (...asked) =>
  boundedAnswer((await fetch(...asked)) as Response & { readonly body: AsyncIterable<Uint8Array> | null });
