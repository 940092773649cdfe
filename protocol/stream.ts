/**
 * What happens in an account, as server-sent events: hints, after which the reader asks. `listen` is the way of the
 * typed client to `GET /v1/stream`; it runs in browsers and carries no schemas. Console C13.
 */
import type { Refusal } from './errors.ts';

/** What a hint is about. `open`: the stream began. `resync`: more happened than was sent, read everything again. */
export const STREAM_TOPICS = [
  'address',
  'deposit',
  'transaction',
  'delivery',
  'webhook',
  'readiness',
  'edge',
  'rotation',
  'usage',
  'payment',
  'sweep',
  'bridge',
  'import',
  'member',
  'key',
] as const;
export type StreamTopic = (typeof STREAM_TOPICS)[number];

export interface Hint {
  /** The place of the stream: the next one goes on behind it, by `lastEventId`. */
  readonly place: string;
  /** A newer service may have topics that are not listed here. */
  readonly topic: StreamTopic | 'open' | 'resync';
  /** What it is about; null where it is about the account, or about several. */
  readonly id: string | null;
  /** What became of it, in a word. */
  readonly status: string;
}

/** A stream that says nothing for so long is dead: a quiet one has a comment every 15 s. Milliseconds. */
export const SILENCE_MS = 40_000;

/** Why a stream ended: the service refused it, ended it, or the connection did not hold. */
export type StreamEnd = { readonly why: 'refused'; readonly refusal: Refusal } | { readonly why: 'ended' | 'lost' };

/** Reads the body of a stream until it ends. `hear` has each hint, in order. Throws what the connection throws. */
export async function readHints(
  body: ReadableStream<Uint8Array>,
  hear: (hint: Hint) => void,
  silent: () => void,
  silenceMs: number = SILENCE_MS,
) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '',
    place = '';
  let clock = setTimeout(silent, silenceMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(clock);
      clock = setTimeout(silent, silenceMs);
      const frames = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = frames.pop()!;
      for (const frame of frames) {
        const fields = fieldsOf(frame);
        place = fields['id'] ?? place;
        const said = fields['data'] === undefined ? null : dataOf(fields['data']);
        if (said !== null) hear({ place, topic: (fields['event'] ?? 'message') as Hint['topic'], ...said });
      }
    }
  } finally {
    clearTimeout(clock);
    reader.releaseLock();
  }
}

function fieldsOf(frame: string): Record<string, string> {
  const lines = frame.split('\n').map((line) => /^([a-z]+): ?(.*)$/.exec(line));
  return Object.fromEntries(lines.flatMap((found) => (found === null ? [] : [[found[1]!, found[2]!]])));
}

function dataOf(text: string): Pick<Hint, 'id' | 'status'> | null {
  try {
    const { id = null, status = '' } = JSON.parse(text) as { id?: string | null; status?: string };
    return { id, status };
  } catch {
    return null;
  }
}
