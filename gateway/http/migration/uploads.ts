/** Files on their way in: a signed URL, and what was measured of what came. Migration M-U1–M-U3. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Upload } from '../../../model/ports/upload-store.ts';
import { refuse } from '../../../protocol/errors.ts';
import { UPLOAD_BYTES_MAX } from '../../../protocol/migration/words.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { accountOf, unknownIn, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf } from '../views.ts';
import { noted } from './noted.ts';
import { whileWiped } from './wiped.ts';

/** How long a URL takes a file, milliseconds. */
const UPLOAD_MS = 3_600_000;
/** Uploads that an account may have open at once. */
const OPEN_UPLOADS_MAX = 4;
const KEY_BYTES = 32;

type Signed = Pick<Upload, 'id' | 'accountId' | 'maxBytes' | 'deadlineMs' | 'urlKey'>;

export function uploadHandlers(deps: HandlerDeps): Pick<Handlers, 'createUpload' | 'completeUpload'> {
  const {
    stores: { uploads },
    config: { publicUrl },
    nowMs,
  } = deps;
  return {
    async createUpload(asked) {
      const wiped = await whileWiped(deps, asked);
      if (wiped !== null) return wiped;
      const { filename, bytes = null, sha256 = null } = asked.body;
      if ((bytes ?? 0) > UPLOAD_BYTES_MAX) return refuse('IMPORT_TOO_LARGE', { maxBytes: UPLOAD_BYTES_MAX });
      const upload = {
        id: newId('upl', nowMs()),
        accountId: accountOf(asked),
        filename,
        declaredBytes: bytes,
        declaredSha256: sha256,
        maxBytes: UPLOAD_BYTES_MAX,
        urlKey: randomBytes(KEY_BYTES),
        deadlineMs: nowMs() + UPLOAD_MS,
        createdAtMs: nowMs(),
      };
      const isOpen = await uploads.openUpload(upload, OPEN_UPLOADS_MAX);
      if (!isOpen) return refuse('CONFLICT', { reason: 'too_many_open_uploads', limit: OPEN_UPLOADS_MAX });
      await noted(deps, asked, upload.id);
      return {
        uploadId: upload.id,
        uploadUrl: `${publicUrl}/v1/migration/uploads/${upload.id}/content?expires=${upload.deadlineMs}&signature=${signatureOf(upload)}`,
        deadline: instantOf(upload.deadlineMs),
        maxBytes: upload.maxBytes,
      };
    },
    async completeUpload(asked) {
      const accountId = accountOf(asked),
        { uploadId } = asked.params;
      const upload = await uploads.upload(uploadId);
      if (upload === null || upload.accountId !== accountId) return unknownIn(asked, 'upload', uploadId);
      const { content, declaredSha256 } = upload;
      if (content === null) return refuse('IMPORT_NOT_READY', { state: upload.state, reason: 'no_content' });
      const { bytes, sha256, format } = content,
        expected = asked.body?.sha256 ?? declaredSha256;
      if (expected !== null && expected !== sha256)
        return refuse('CONFLICT', { reason: 'digest', expected, found: sha256 });
      const isComplete = await uploads.completeUpload(uploadId);
      if (!isComplete) return refuse('IMPORT_NOT_READY', { state: upload.state });
      return { uploadId, bytes, sha256, format };
    },
  };
}

/** Hex digits would look like a key. */
const signatureOf = (upload: Signed): string => signatureBytes(upload).toString('base64url');

function signatureBytes({ id, accountId, maxBytes, deadlineMs, urlKey }: Signed): Buffer {
  return createHmac('sha256', urlKey).update([id, accountId, deadlineMs, maxBytes].join('\n')).digest();
}

/** Whether a URL is the one that was given, as it was given. */
export function isSigned(upload: Signed, expires: unknown, signature: unknown): boolean {
  if (typeof expires !== 'string' || typeof signature !== 'string') return false;
  const given = Buffer.from(signature, 'base64url'),
    own = signatureBytes(upload);
  return expires === String(upload.deadlineMs) && given.length === own.length && timingSafeEqual(given, own);
}
