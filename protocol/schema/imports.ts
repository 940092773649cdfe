/** Projects of a migration, files that are uploaded for them, and what they would adopt. Spec §2.12, §4.8. */
import { z } from 'zod';
import { IMPORT_FORMATS } from '../migration/imports.ts';
import { PROJECT_STATES } from '../migration/words.ts';
import { count, countFromOne } from './numbers.ts';
import { capacity } from './migration.ts';
import { freeText, instant, pageReply, pathId } from './values.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits, lower case');

export const projectParams = z.strictObject({ projectId: pathId('mig') });
export const uploadParams = z.strictObject({ uploadId: pathId('upl') });

export const createProjectBody = z.strictObject({ name: freeText(120) });
export const project = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(PROJECT_STATES),
  createdAt: instant,
});
export const projectPage = pageReply(project);
export const projectCapacity = capacity;

export const createUploadBody = z.strictObject({
  filename: freeText(255),
  bytes: countFromOne.exactOptional().meta({ description: 'refused at once where it is too large' }),
  sha256: sha256.exactOptional().meta({ description: 'compared with what is measured' }),
});
export const openedUpload = z.object({
  uploadId: z.string(),
  uploadUrl: z.string().meta({
    description: 'PUT the raw bytes of the file here before the deadline; the URL is the only credential',
  }),
  deadline: instant,
  maxBytes: count,
});
export const completeUploadBody = z.strictObject({ sha256: sha256.exactOptional() });
export const completedUpload = z.object({
  uploadId: z.string(),
  bytes: count.meta({ description: 'measured' }),
  sha256,
  format: z.enum(IMPORT_FORMATS).nullable().meta({ description: 'null for a file that says nothing' }),
});
