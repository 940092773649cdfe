/** Projects of a migration, files that are uploaded for them, and what they would adopt. Spec §2.12, §4.8. */
import { z } from 'zod';
import { listQuery } from '../envelope.ts';
import { IMPORT_FORMATS } from '../migration/imports.ts';
import {
  BATCH_STATES,
  EXPORT_FORMATS,
  INEXPRESSIBLE_REASONS,
  LOST_FIELDS,
  PHASE_STATES,
  PHASES,
  PROJECT_STATES,
  REVIEW_STATES,
  SEVERITIES,
} from '../migration/words.ts';
import { CHAINS } from '../slugs.ts';
import { between, count, countFromOne, height } from './numbers.ts';
import { capacity } from './migration.ts';
import { chain, freeText, instant, pageReply, pathId, shortText, totpCode } from './values.ts';

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

export const batchParams = z.strictObject({ batchId: pathId('imp') });
export const createImportBody = z.strictObject({
  uploadId: shortText(64).exactOptional().meta({ description: 'of a file that is complete; or' }),
  scanId: shortText(64).exactOptional().meta({ description: 'of a scan that is complete' }),
  chain: chain.exactOptional().meta({ description: 'of rows that name none' }),
  includeChange: z.boolean().exactOptional(),
});
export const importBatch = z.object({
  id: z.string(),
  batchId: z.string(),
  projectId: z.string(),
  uploadId: z.string().nullable(),
  scanId: z.string().nullable(),
  state: z.enum(BATCH_STATES),
  dryRunId: z.string().nullable(),
  adopting: count.meta({ description: 'addresses that a commit adopts, or has adopted' }),
  heights: z
    .partialRecord(z.enum(CHAINS), height)
    .meta({ description: 'what is in a block up to these was before; empty until the commit' }),
  createdAt: instant,
  committedAt: instant.nullable(),
  review: z
    .object({ reviewId: z.string(), state: z.enum(REVIEW_STATES) })
    .nullable()
    .meta({ description: 'of a conflict: an administrator lets it go on without the claimed rows, or refuses it' }),
  rollbackUntil: instant.nullable().meta({ description: 'while no transaction landed on an adopted address' }),
});

export const importsQuery = listQuery({});
export const importPage = pageReply(importBatch);

const phaseReport = z.object({
  state: z.enum(PHASE_STATES),
  rows: count,
  passed: count,
  skipped: count,
  warnings: count,
  errors: count,
  codes: z.record(z.string(), count),
});
export const importIssue = z.object({
  phase: z.enum(PHASES),
  severity: z.enum(SEVERITIES),
  code: z.string(),
  line: count.nullable(),
  column: count.nullable(),
  field: z.string().nullable(),
  message: z.string(),
});
export const issuePage = pageReply(importIssue);
export const dryRun = z.object({
  batchId: z.string(),
  dryRunId: z.string().nullable(),
  state: z.enum(BATCH_STATES).meta({ description: '`validating` while the run is not over: ask for the report again' }),
  byPhase: z.object(
    Object.fromEntries(PHASES.map((phase) => [phase, phaseReport])) as Record<
      (typeof PHASES)[number],
      typeof phaseReport
    >,
  ),
  rows: count,
  adoptable: count,
  skipped: count,
  spendable: count,
  watchOnly: count,
  conflicts: count.meta({ description: 'rows that another account claims; which ones is not said' }),
  projection: capacity,
  issues: z.array(importIssue).meta({ description: 'the first hundred' }),
});

export const commitImportBody = z.strictObject({
  dryRunId: shortText(64),
  acceptBillingChange: z.boolean().exactOptional().meta({ description: 'needed only where the band is passed' }),
});

export const observed = z.object({
  projectId: z.string(),
  state: z.enum(PROJECT_STATES),
  addresses: count,
  depositsObserved: count.meta({
    description: 'above the recorded height, before the cutover: recorded, never announced',
  }),
  historicalRecorded: count.meta({ description: 'up to the recorded height' }),
  caughtUp: z.boolean(),
  chains: z.array(
    z.object({
      chain: z.enum(CHAINS),
      recordedHeight: height.nullable(),
      caughtUp: z.boolean(),
      depositsObserved: count,
      historicalRecorded: count,
      confirmed: count,
      pending: count,
      reversed: count,
      straddling: count.meta({ description: 'seen before the cutover and not confirmed yet: silent to the end' }),
    }),
  ),
});
export const exportQuery = z.strictObject({
  format: z
    .string()
    .regex(new RegExp(`^(?:${EXPORT_FORMATS.join('|')})$`, 'i'), `expected ${EXPORT_FORMATS.join(', ')}`)
    .default('CSV'),
});
export const exportPlan = z.object({
  projectId: z.string(),
  format: z.enum(EXPORT_FORMATS),
  rows: count,
  expressible: count,
  inexpressible: z
    .array(z.object({ reason: z.enum(INEXPRESSIBLE_REASONS), count }))
    .meta({ description: 'anything here: the export is refused with CONFLICT' }),
  loses: z.array(z.enum(LOST_FIELDS)).meta({ description: 'fields that some address has and the file would not' }),
  bytes: count.meta({ description: 'size of the file' }),
});
export const activateBody = z.strictObject({ totp: totpCode.optional() });

export const simulateActivityBody = z.strictObject({
  addresses: z.union([between(1, 1_000), z.array(z.string().min(1).max(128)).min(1).max(1_000)]),
  historicalPerAddress: between(0, 10).exactOptional(),
  livePerAddress: between(0, 10).exactOptional(),
});
export const simulatedActivity = z.object({
  addresses: count,
  historical: count,
  live: count,
  txids: z.array(z.string()),
});
export const simulateConflictBody = z.strictObject({
  address: freeText(128).exactOptional(),
  clear: z.boolean().exactOptional(),
});
export const simulatedConflict = z.object({ address: z.string().nullable(), batchId: z.string().nullable() });
