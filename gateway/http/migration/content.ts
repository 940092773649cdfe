/**
 * The PUT of a file: raw bytes with a parser, a limit and a clock of their own. Bytes are measured, looked through and
 * stored in chunks while they come; no chunk is stored with a part of a secret in it, and what breaks off leaves
 * nothing. Migration M-U2, M-U4–M-U6.
 */
import { createHash } from 'node:crypto';
import { setTimeout as rest } from 'node:timers/promises';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FIRST_BYTES, notText } from '../../../actors/migration/formats/first-bytes.ts';
import { formatOf } from '../../../actors/migration/formats/reader.ts';
import { createGuard, type Judged } from '../../../actors/migration/guard/guard.ts';
import type { Upload, UploadStore } from '../../../model/ports/upload-store.ts';
import { succeed } from '../../../protocol/envelope.ts';
import { notFound, Refused, refuse } from '../../../protocol/errors.ts';
import { isId } from '../../../protocol/ids.ts';
import type { ImportFormat } from '../../../protocol/migration/imports.ts';
import type { GatewayDeps } from '../../deps.ts';
import { notServing } from '../faults.ts';
import { createTurns, OF_FILES, type InTurn } from '../large-bodies.ts';
import { isSigned } from './uploads.ts';

/** A writer that is silent for so long is dropped, and one that takes so long in all, milliseconds. */
const IDLE_MS = 30_000;
export const CONTENT_MS = 900_000;
const CHUNK_BYTES = 262_144;
/** The guard looks through so many at once, then others have their turn: other files, and everybody else. */
const PIECE_BYTES = 65_536;

export const CONTENT_PATH = '/v1/migration/uploads/:uploadId/content';

type Deps = Pick<GatewayDeps, 'nowMs' | 'log' | 'serving'> & {
  readonly stores: { readonly uploads: UploadStore };
};
type Taking = Deps & { readonly inTurn: InTurn };

/** Serves the PUT; its answer is the envelope with what was measured. */
export function serveContent(app: FastifyInstance, given: Deps): void {
  const deps: Taking = { ...given, inTurn: createTurns(OF_FILES, (ms) => rest(ms, undefined, { ref: false })) };
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // The stream is read by the handler.
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.put<{ Params: { uploadId: string }; Querystring: Record<string, unknown> }>(
      CONTENT_PATH,
      async (request, reply) => {
        const trouble = deps.serving?.trouble() ?? null;
        if (trouble !== null) throw new Refused(notServing(trouble));
        const upload = await uploadOf(deps, request);
        try {
          const measured = await taken(deps, upload, request.raw);
          const meta = { requestId: request.id, timestamp: new Date(deps.nowMs()).toISOString() };
          return await reply
            .headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
            .type('application/json; charset=utf-8')
            .send(JSON.stringify(succeed({ uploadId: upload.id, ...measured }, meta)));
        } finally {
          request.raw.resume(); // what is not wanted is read and dropped, so that the answer arrives
        }
      },
    );
  });
}

/** The upload that the URL is of. Throws: Refused NOT_FOUND, FORBIDDEN, IMPORT_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE. */
async function uploadOf(
  { stores: { uploads }, nowMs }: Deps,
  { params, query, headers }: FastifyRequest<{ Params: { uploadId: string }; Querystring: Record<string, unknown> }>,
): Promise<Upload> {
  const { uploadId } = params;
  const upload = isId('upl', uploadId) ? await uploads.upload(uploadId) : null;
  if (upload === null) throw new Refused(notFound('upload', uploadId));
  if (!isSigned(upload, query['expires'], query['signature']) || upload.deadlineMs <= nowMs())
    throw new Refused(refuse('FORBIDDEN', { reason: 'the URL has ended, or is not the one that was given' }));
  const type = headers['content-type'] ?? '',
    encoding = headers['content-encoding'] ?? 'identity';
  if (/^multipart\//i.test(type)) throw new Refused(notMedia('multipart'));
  if (encoding !== 'identity') throw new Refused(notMedia(encoding.slice(0, 64)));
  if (Number(headers['content-length'] ?? 0) > upload.maxBytes) throw tooLarge(upload);
  return upload;
}

const notMedia = (found: string) => refuse('UNSUPPORTED_MEDIA_TYPE', { expected: 'the raw bytes of a text', found });
const tooLarge = ({ maxBytes }: Upload): Refused => new Refused(refuse('IMPORT_TOO_LARGE', { maxBytes }));
const otherTry = (): Refused =>
  new Refused(refuse('CONFLICT', { reason: 'another PUT of this upload began, or it is complete' }));

interface Measured {
  readonly bytes: number;
  readonly sha256: string;
  readonly format: ImportFormat | null;
}

async function taken(
  { stores: { uploads }, log, inTurn }: Taking,
  upload: Upload,
  body: IncomingMessage,
): Promise<Measured> {
  const attempt = await uploads.beginContent(upload.id);
  if (attempt === null) throw otherTry();
  const writer = new ContentWriter(uploads, upload, attempt, inTurn);
  const end = (): void => void body.destroy();
  const clock = setTimeout(end, CONTENT_MS);
  let idle = setTimeout(end, IDLE_MS);
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      clearTimeout(idle);
      await writer.write(chunk as Buffer);
      idle = setTimeout(end, IDLE_MS);
    }
    return await writer.end();
  } catch (error) {
    const isSecret = error instanceof Refused && error.refusal.code === 'KEY_MATERIAL_REJECTED';
    if (isSecret) log.warn({ accountId: upload.accountId, uploadId: upload.id }, 'an upload held key material');
    await (isSecret ? uploads.rejectUpload(upload.id) : uploads.dropContent(upload.id, attempt));
    throw error;
  } finally {
    clearTimeout(idle);
    clearTimeout(clock);
  }
}

class ContentWriter {
  readonly #uploads: UploadStore;
  readonly #upload: Upload;
  readonly #attempt: number;
  readonly #inTurn: InTurn;
  readonly #guard = createGuard();
  readonly #digest = createHash('sha256');
  #bytes = 0;
  #chunks = 0;
  /** What the guard let through and no chunk holds yet. */
  #clean: Buffer = Buffer.alloc(0);
  /** The beginning of the file, until its format is known. */
  #start: Buffer = Buffer.alloc(0);
  #isText = false;
  #format: ImportFormat | null = null;

  constructor(uploads: UploadStore, upload: Upload, attempt: number, inTurn: InTurn) {
    this.#uploads = uploads;
    this.#upload = upload;
    this.#attempt = attempt;
    this.#inTurn = inTurn;
  }

  async write(bytes: Buffer): Promise<void> {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#upload.maxBytes) throw tooLarge(this.#upload);
    this.#digest.update(bytes);
    this.#lookAt(bytes);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      await this.#take(await this.#inTurn(() => this.#guard.push(bytes.subarray(at, at + PIECE_BYTES))));
    }
  }

  async end(): Promise<Measured> {
    this.#checkText();
    await this.#take(this.#guard.end());
    if (this.#clean.length > 0) await this.#store(this.#clean);
    const measured = {
      bytes: this.#bytes,
      sha256: this.#digest.digest('hex'),
      format: this.#format ?? firstFormat(this.#start, true),
    };
    const isStored = await this.#uploads.endContent(this.#upload.id, { stored: this.#attempt, ...measured });
    if (!isStored) throw otherTry();
    return measured;
  }

  #lookAt(bytes: Buffer): void {
    if (this.#format !== null || this.#start.length >= PIECE_BYTES) return;
    this.#start = Buffer.concat([this.#start, bytes.subarray(0, PIECE_BYTES)]);
    if (this.#start.length >= FIRST_BYTES) this.#checkText();
    this.#format = firstFormat(this.#start, false);
  }

  #checkText(): void {
    if (this.#isText) return;
    const found = notText(this.#start.subarray(0, FIRST_BYTES));
    if (found !== null) throw new Refused(notMedia(found));
    this.#isText = this.#start.length >= FIRST_BYTES;
  }

  async #take(judged: Judged): Promise<void> {
    if ('secret' in judged) throw new Refused(refuse('KEY_MATERIAL_REJECTED', { ...judged.secret }));
    this.#clean = this.#clean.length === 0 ? judged.clean : Buffer.concat([this.#clean, judged.clean]);
    while (this.#clean.length >= CHUNK_BYTES) {
      await this.#store(this.#clean.subarray(0, CHUNK_BYTES));
      this.#clean = this.#clean.subarray(CHUNK_BYTES);
    }
  }

  async #store(bytes: Buffer): Promise<void> {
    const isStored = await this.#uploads.storeChunk(this.#upload.id, this.#attempt, this.#chunks, bytes);
    if (!isStored) throw otherTry();
    this.#chunks += 1;
  }
}

/** The format of a beginning: of its first whole line that says something. A list of JSON has none that is read. */
function firstFormat(start: Buffer, isAll: boolean): ImportFormat | null {
  const lines = start
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/);
  if (!isAll) lines.pop();
  const first = lines.find((line) => line.trim() !== '' && !line.trim().startsWith('#'));
  const format = first === undefined ? null : formatOf(first);
  return format === 'json_array' ? 'json_lines' : format;
}
