/**
 * Files of imports through the edge: the URL is given in this edge's name, and the file streams through it to the
 * cloud, looked through for keys before a byte of them leaves the company's network. Migration M-U1, M-U2, M-U6.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { isRefusal, refuse, Refused, type Refusal } from '../../protocol/errors.ts';
import { UPLOAD_BYTES_MAX } from '../../protocol/migration/words.ts';
import { findKeyMaterialInWindow } from '../../protocol/node/key-material.ts';
import { ROUTES, type ReplyOf } from '../../protocol/routes.ts';
import type { Upstream } from '../link/upstream.ts';
import type { EdgeLog } from '../process/log.ts';
import { handedOn, handedOnWith, isPassed, type Forwarding } from './forward.ts';
import { refused, type EdgeAnswer, type EdgeCall, type EdgePath, type EdgeRoute } from './exchange.ts';

/** A writer that is silent for so long is dropped, and one that takes so long in all, milliseconds: as at the cloud. */
const IDLE_MS = 30_000;
/** So many bytes earn that time anew: who sends a byte now and then is dropped as who sends none. */
const PACE_BYTES = 65_536;
export const CONTENT_MS = 900_000;
export const CONTENT_URL = '/v1/migration/uploads/:uploadId/content';
/** Files that are on their way through one edge. The cloud takes four of an account. */
const AT_ONCE = 4;
/**
 * Beside them, of URLs that this process did not hand out: another edge did, or this one before it began anew, or
 * nobody. Only the cloud can tell, so that they never have the places of those that are known.
 */
const UNKNOWN_AT_ONCE = 2;
/** URLs that are remembered; of more the oldest count as unknown. */
const GIVEN_MAX = 1_000;
const PIECE_BYTES = 65_536;
/** Longer than every key and phrase: so much is held back until what follows was seen. */
const HELD_BYTES = 4_096;

/** Where this caller reaches the edge: as it is set, else as it did; null where it did not say. */
function originOf(publicUrl: string | null, host: string): string | null {
  return publicUrl ?? (/^[a-z0-9.\-_[\]:]{1,260}$/i.test(host) ? `http://${host}` : null);
}

/** Paths of files that this edge handed out to callers with a key. */
export class GivenUploads {
  readonly #paths = new Set<string>();

  add(pathAndQuery: string): void {
    this.#paths.add(pathAndQuery);
    if (this.#paths.size > GIVEN_MAX) this.#paths.delete(this.#paths.values().next().value!);
  }

  has(pathAndQuery: string): boolean {
    return this.#paths.has(pathAndQuery);
  }
}

export function createUploadPath(
  forwarding: Pick<Forwarding, 'pass' | 'check'>,
  publicUrl: string | null,
  given: Pick<GivenUploads, 'add'>,
): { readonly createUpload: EdgePath } {
  return {
    createUpload: async (call) => {
      const passed = await forwarding.pass(call);
      if (!isPassed(passed)) return passed;
      if (passed.envelope.error !== null) return handedOn(passed);
      const checked = await forwarding.check(call, passed.envelope.data);
      if (checked.refusal !== null) return refused(checked.refusal);
      const upload = checked.data as ReplyOf<'createUpload'>,
        { origin, pathname, search } = new URL(upload.uploadUrl);
      const uploadUrl = `${originOf(publicUrl, call.host) ?? origin}${pathname}${search}`;
      given.add(`${pathname}${search}`);
      return handedOnWith(passed, { data: { ...upload, uploadUrl }, unsaid: checked.unsaid });
    },
  };
}

/** A file on its way in: the call without a body, and where its bytes come from. */
export interface Content {
  readonly call: EdgeCall;
  readonly raw: IncomingMessage;
}
export type ContentPath = (content: Content) => Promise<EdgeAnswer>;

/** What its answer is read as: measured, as `complete` says it. */
export const CONTENT_ROUTE: EdgeRoute = { ...ROUTES.completeUpload, operationId: 'completeUpload' };

export function createContentPath({
  upstream,
  forwarding,
  given,
  log,
}: {
  readonly upstream: Pick<Upstream, 'put'>;
  readonly forwarding: Pick<Forwarding, 'read' | 'check' | 'unsynced'>;
  readonly given: Pick<GivenUploads, 'has'>;
  readonly log: Pick<EdgeLog, 'alarm'>;
}): ContentPath {
  const known = { open: 0, most: AT_ONCE },
    unknown = { open: 0, most: UNKNOWN_AT_ONCE };
  return async ({ call, raw }) => {
    const places = given.has(call.pathAndQuery) ? known : unknown;
    const refusal =
      places.open < places.most
        ? (forwarding.unsynced() ?? tooLarge(Number(raw.headers['content-length'] ?? 0)))
        : refuse('SERVICE_UNAVAILABLE', {
            reason: 'files_wait',
            next: `${places.most} files are on their way: try again when one has ended`,
          });
    if (refusal !== null) return refused(refusal);
    places.open += 1;
    const file = new PassedFile(raw);
    try {
      const answer = await upstream.put(call.pathAndQuery, headersOf(raw), file.bytes());
      if (file.refusal !== null) {
        if (file.refusal.code === 'KEY_MATERIAL_REJECTED')
          log.alarm('key_material_rejected', { requestId: call.requestId, reason: file.rule ?? '' });
        return refused(file.refusal);
      }
      if (isRefusal(answer)) return refused(answer);
      const passed = await forwarding.read(call, answer);
      if (!isPassed(passed)) return passed;
      if (passed.envelope.error !== null) return handedOn(passed);
      const asked = { ...call, body: Buffer.from(JSON.stringify(file.measure())) };
      const checked = await forwarding.check(asked, passed.envelope.data);
      return checked.refusal === null ? handedOnWith(passed, checked) : refused(checked.refusal);
    } finally {
      places.open -= 1;
      file.end();
    }
  };
}

const tooLarge = (bytes: number): Refusal | null =>
  bytes > UPLOAD_BYTES_MAX ? refuse('IMPORT_TOO_LARGE', { maxBytes: UPLOAD_BYTES_MAX }) : null;

/** What the cloud judges a file by before its first byte. */
const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    ['content-type', 'content-encoding'].flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );

/** How long a writer is waited for, after a wait that brought something. What the cloud takes is not its time. */
export const patienceAfter = (leftMs: number, waitedMs: number, bytes: number): number =>
  Math.min(IDLE_MS, Math.max(0, leftMs - waitedMs) + (IDLE_MS * bytes) / PACE_BYTES);

/** The bytes of a file as they may leave: looked through piece by piece, measured, within their clocks. */
class PassedFile {
  readonly #raw: IncomingMessage;
  readonly #digest = createHash('sha256');
  readonly #clock: NodeJS.Timeout;
  #bytes = 0;
  #isWhole = false;
  #patienceMs = IDLE_MS;
  #refusal: Refusal | null = null;
  #rule: string | null = null;

  constructor(raw: IncomingMessage) {
    this.#raw = raw;
    this.#clock = setTimeout(() => void raw.destroy(), CONTENT_MS);
  }

  /** Why it broke off here. */
  get refusal(): Refusal | null {
    return this.#refusal;
  }

  get rule(): string | null {
    return this.#rule;
  }

  /** Of all that came; who answers before the end has measured another file, whatever it says. */
  measure(): { sha256: string; bytes: number } {
    return this.#isWhole ? { sha256: this.#digest.digest('hex'), bytes: this.#bytes } : { sha256: '', bytes: -1 };
  }

  end(): void {
    clearTimeout(this.#clock);
    this.#raw.resume(); // what is not wanted is read and dropped, so that the answer arrives
  }

  /** Throws: Refused where it breaks off. */
  async *bytes(): AsyncGenerator<Buffer> {
    let held: Buffer = Buffer.alloc(0),
      idle = this.#whileIdle();
    let askedMs = performance.now();
    try {
      for await (const chunk of this.#raw.iterator({ destroyOnReturn: false })) {
        clearTimeout(idle);
        this.#patienceMs = patienceAfter(this.#patienceMs, performance.now() - askedMs, (chunk as Buffer).length);
        for (let at = 0; at < (chunk as Buffer).length; at += PIECE_BYTES) {
          const piece = (chunk as Buffer).subarray(at, at + PIECE_BYTES);
          this.#take(piece);
          const seen = Buffer.concat([held, piece]);
          this.#look(seen);
          const clean = Math.max(0, seen.length - HELD_BYTES);
          if (clean > 0) yield seen.subarray(0, clean);
          held = seen.subarray(clean);
          await turn();
        }
        idle = this.#whileIdle();
        askedMs = performance.now();
      }
      if (held.length > 0) yield held;
      this.#isWhole = true;
    } finally {
      clearTimeout(idle);
    }
  }

  #whileIdle(): NodeJS.Timeout {
    return setTimeout(() => void this.#raw.destroy(), this.#patienceMs);
  }

  #take(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#digest.update(piece);
    const refusal = tooLarge(this.#bytes);
    if (refusal !== null) this.#break(refusal);
  }

  /** What needs a whole column is found at the cloud, which erases it; what is a key by itself does not leave. */
  #look(seen: Buffer): void {
    this.#rule = findKeyMaterialInWindow(seen.toString('utf8'));
    if (this.#rule !== null) this.#break(refuse('KEY_MATERIAL_REJECTED', { rule: this.#rule }));
  }

  #break(refusal: Refusal): never {
    this.#refusal = refusal;
    throw new Refused(refusal);
  }
}
