/** What an edge finds of a migration by itself: the case, what it will sign for, and the steps, which are commands. */
import { isDeepStrictEqual } from 'node:util';
import { isRefusal } from '../../protocol/errors.ts';
import { PHASES } from '../../protocol/migration/words.ts';
import { assess } from '../../protocol/migration/assessment.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { detectCaseBody } from '../../protocol/schema/migration.ts';
import { firstFalse, word, type Ask } from './known.ts';

type CaseJson = ReplyOf<'detectCase'>;

/** Of the assessment the plan is the cloud's word; the rest follows from what was asked. */
export const CASE_WORD = [
  'capacity.band',
  'capacity.limit',
  'capacity.current',
  'capacity.requiredBand',
  'capacity.monthlyFee.current',
  'capacity.monthlyFee.required',
] as const;

/** What a project would adopt is in the cloud. */
export const CAPACITY_FIELDS = [
  'band',
  'limit',
  'current',
  'adopting',
  'projected',
  'exceeds',
  'requiredBand',
  'monthlyFee.current',
  'monthlyFee.required',
] as const;

export function falseCase(row: CaseJson, { body }: Ask): string | null {
  const asked = detectCaseBody.safeParse(body);
  if (!asked.success) return 'case';
  const { standardWallet = null, ...answers } = asked.data,
    { limit, current, adopting, projected, exceeds } = row.capacity;
  const own = assess({ ...answers, standardWallet }, { exceeds, projected });
  if (isRefusal(own)) return 'case';
  const { capacity: _, ...said } = row;
  return firstFalse(
    ['capacity.adopting', adopting === answers.addressCount],
    ['capacity.projected', projected === current + adopting],
    ['capacity.exceeds', exceeds === (limit !== null && projected > limit)],
    ...Object.entries(own).map(
      ([name, value]) => [name, isDeepStrictEqual(said[name as keyof typeof said], value)] as const,
    ),
  );
}

/** Of a search for a path, of key sources and of their passes: the cloud's word, in the form of their schema. */
export const PATH_WORD = [
  'candidates',
  'candidates.*',
  'candidates.*.belowKey',
  'candidates.*.template',
  'candidates.*.path',
  'candidates.*.guessed',
  'candidates.*.guessed.*',
  'candidates.*.script',
  'candidates.*.standard',
  'candidates.*.wallets',
  'candidates.*.wallets.*',
  'candidates.*.confirmed',
  'indexesTried',
  'shapesTried',
  'shapesTried.*',
  'hints',
  'hints.*',
] as const;
export const SOURCE_WORD = [
  'id',
  'fingerprint',
  'label',
  'kind',
  'keystore',
  'chains',
  'chains.*',
  'basePath',
  'keys',
  'keys.*',
  'keys.*.chains',
  'keys.*.chains.*',
  'keys.*.path',
  'keys.*.xpub',
  'keys.*.publicKey',
  'addresses',
  'status',
  'signing',
  'signing.*',
  'signing.*.chain',
  'signing.*.signs',
  'signing.*.reason',
  'pass',
  'pass.state',
  'pass.checked',
  'pass.traced',
  'traced',
  'traced.*',
  'traced.*.chain',
  'traced.*.spendable',
  'traced.*.watchOnly',
  'createdAt',
  'purgedAt',
] as const;
export const RESOLVED_WORD = [
  'keySourceId',
  'state',
  'checked',
  'traced',
  'spendable',
  'watchOnly',
  'watchOnly.*',
  'watchOnly.*.reason',
  'watchOnly.*.count',
] as const;
/** Files and their rows are in the cloud; so is how a batch of them goes on. */
const BATCH_SAID = [
  'state',
  'adopting',
  'heights',
  'heights.*',
  'createdAt',
  'committedAt',
  'rollbackUntil',
  'review',
  'review.reviewId',
  'review.state',
];
const BATCH_OF = ['uploadId', 'scanId', 'dryRunId'];
export const BATCH_WORD = [...BATCH_SAID, ...BATCH_OF, 'projectId'];
export const NEW_BATCH_WORD = [...BATCH_SAID, 'id', 'dryRunId'];
export const BATCH_LIST_WORD = [...BATCH_SAID, ...BATCH_OF, 'id'];
export const COMMITTED_WORD = [...BATCH_SAID, 'uploadId', 'scanId', 'projectId'];
type BatchJson = ReplyOf<'getImport'>;
/** A batch has one id under two names. */
export const falseBatch = ({ id, batchId }: BatchJson): string | null => firstFalse(['batchId', batchId === id]);
export const ofBatch = (row: BatchJson, { params }: Ask): string | null =>
  firstFalse(['id', row.id === params['batchId']]) ?? falseBatch(row);
export const falseNewBatch = (row: BatchJson, { body }: Ask): string | null =>
  falseBatch(row) ??
  firstFalse(
    ['uploadId', row.uploadId === (body['uploadId'] ?? null)],
    ['scanId', row.scanId === (body['scanId'] ?? null)],
  );
/** What was committed is what the caller's dry run showed. */
export const falseCommit = (row: BatchJson, ask: Ask): string | null =>
  ofBatch(row, ask) ?? firstFalse(['dryRunId', row.dryRunId === ask.body['dryRunId']]);
/** The URL is one of the upload: its file gets nowhere else. */
export function falseUpload({ uploadId, uploadUrl, deadline }: ReplyOf<'createUpload'>): string | null {
  const url = URL.parse(uploadUrl);
  const names = [...(url?.searchParams.keys() ?? [])].toSorted();
  return firstFalse(
    ['uploadUrl', url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.hash === ''],
    ['uploadUrl', url?.pathname === `/v1/migration/uploads/${uploadId}/content`],
    ['uploadUrl', names.join() === 'expires,signature'],
    ['deadline', url?.searchParams.get('expires') === String(Date.parse(deadline))],
  );
}
const ISSUE = ['phase', 'severity', 'code', 'line', 'column', 'field', 'message'] as const;
export const ISSUE_FIELDS = ISSUE;
const PHASE_FIELDS = ['state', 'rows', 'passed', 'skipped', 'warnings', 'errors', 'codes', 'codes.*'] as const;
export const DRY_RUN_WORD = [
  'dryRunId',
  'state',
  ...PHASES.flatMap((phase) => PHASE_FIELDS.map((field) => `byPhase.${phase}.${field}`)),
  'rows',
  'adoptable',
  'skipped',
  'spendable',
  'watchOnly',
  'conflicts',
  ...CAPACITY_FIELDS.map((field) => `projection.${field}`),
  'issues',
  'issues.*',
  ...ISSUE.map((field) => `issues.*.${field}`),
];
const OBSERVED = ['caughtUp', 'depositsObserved', 'historicalRecorded'] as const;
export const EXPORT_PLAN_WORD = [
  'format',
  'rows',
  'expressible',
  'inexpressible',
  'inexpressible.*',
  'inexpressible.*.reason',
  'inexpressible.*.count',
  'loses',
  'loses.*',
  'bytes',
];
export const OBSERVE_WORD = [
  'state',
  'addresses',
  ...OBSERVED,
  'chains',
  'chains.*',
  ...[...OBSERVED, 'chain', 'recordedHeight', 'confirmed', 'pending', 'reversed', 'straddling'].map(
    (field) => `chains.*.${field}`,
  ),
];

type ScanJson = ReplyOf<'getScan'>;
const SCAN_SAID = [
  'state',
  'gapLimit',
  'maxScan',
  'requestedMaxScan',
  'review',
  'scanned',
  'found',
  'lastUsedIndex',
  'largestGap',
  'unread',
  'truncated',
  'stoppedBy',
  'evidence',
  'headHeight',
  'etaSeconds',
  'warnings',
  'warnings.*',
  'reason',
  'estimate',
  'estimate.indexes',
  'estimate.requests',
  'estimate.seconds',
  'networks',
  'networks.*',
  'createdAt',
  'endedAt',
];
/** Which addresses were used is the cloud's word: the edge asks no chain. It signs for its own keys alone. */
export const SCAN_WORD = [...SCAN_SAID, 'projectId', 'keySourceId', 'chain'];
export const NEW_SCAN_WORD = [...SCAN_SAID, 'id'];
export const SCAN_ADDRESS_WORD = ['index', 'branch', 'address', 'derivationPath', 'used', 'userRef'];
export const ofScan = ({ id, scanId }: ScanJson, { params }: Ask): string | null =>
  firstFalse(['id', id === params['scanId']], ['scanId', scanId === id]);
export const falseNewScan = (row: ScanJson, { params, body }: Ask): string | null =>
  firstFalse(
    ['scanId', row.scanId === row.id],
    ['projectId', row.projectId === params['projectId']],
    ['keySourceId', row.keySourceId === body['keySourceId']],
    ['chain', row.chain === body['chain']],
  );

export const MIGRATION_RULES = {
  detectCase: { falseField: falseCase, word: CASE_WORD },
  detectPath: word(...PATH_WORD),
  createMigrationProject: {
    falseField: ({ name }: ReplyOf<'createMigrationProject'>, { body }: Ask) =>
      firstFalse(['name', name === body['name']]),
    word: ['id', 'state', 'createdAt'],
  },
  listMigrationProjects: word('id', 'name', 'state', 'createdAt'),
  getMigrationCapacity: word(...CAPACITY_FIELDS),
  createUpload: { falseField: falseUpload, word: ['uploadId', 'uploadUrl', 'deadline', 'maxBytes'] },
  discover: { falseField: falseNewScan, word: NEW_SCAN_WORD },
  getScan: { falseField: ofScan, word: SCAN_WORD },
  cancelScan: { falseField: ofScan, word: SCAN_WORD },
  listScanAddresses: word(...SCAN_ADDRESS_WORD),
  createImport: { falseField: falseNewBatch, word: NEW_BATCH_WORD },
  listImports: { falseField: falseBatch, word: BATCH_LIST_WORD },
  getImport: { falseField: ofBatch, word: BATCH_WORD },
  commitImport: { falseField: falseCommit, word: COMMITTED_WORD },
  rollbackImport: { falseField: ofBatch, word: BATCH_WORD },
  validateImport: word(...DRY_RUN_WORD),
  getDryRun: word(...DRY_RUN_WORD),
  listImportIssues: word(...ISSUE_FIELDS),
  getExportPlan: word(...EXPORT_PLAN_WORD),
  getObserve: word(...OBSERVE_WORD),
  completeUpload: {
    // Its size is asked for by the edge itself, which counted what it sent.
    falseField: ({ sha256, bytes }: ReplyOf<'completeUpload'>, { body }: Ask) =>
      firstFalse(
        ['sha256', body['sha256'] === undefined || sha256 === body['sha256']],
        ['bytes', body['bytes'] === undefined || bytes === body['bytes']],
      ),
    word: ['bytes', 'sha256', 'format'],
  },
  resolveKeySource: word(...RESOLVED_WORD),
  listKeySources: word(...SOURCE_WORD),
} as const;
