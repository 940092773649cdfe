/** Batches of a project: made of a file, validated, committed, taken back. Spec §4.8; migration M-I1, M-I2, M-R1. */
import { setTimeout as delay } from 'node:timers/promises';
import { capacityOf } from '../../../actors/migration/capacity.ts';
import { createImportWork, finishBatch, validateBatch } from '../../../actors/migration/imports/work.ts';
import type { Batch, BatchOf, Issue } from '../../../model/ports/import-store.ts';
import { isRefusal, notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { environmentOf, isId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { pageAskOf, slicePage } from '../../../protocol/cursor.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { Chain } from '../../../protocol/slugs.ts';
import { stateOf } from '../account-state.ts';
import { timeOf } from '../../../actors/sandbox/time.ts';
import { accountOf, unknownIn, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull } from '../views.ts';
import { capacityView } from './detect-case.ts';
import { noted, noteOf } from './noted.ts';
import { whileWiped } from './wiped.ts';

type Area =
  | 'createImport'
  | 'listImports'
  | 'getImport'
  | 'validateImport'
  | 'getDryRun'
  | 'listImportIssues'
  | 'commitImport'
  | 'rollbackImport';

/** Of an account. Migration M-I16. */
const BATCHES_MAX = 2_000;
/** A validation or a commit that takes longer goes on behind the answer. */
const ANSWER_MS = 10_000;
export const ROLLBACK_MS = 72 * 3_600_000;
/** So many conflicts of a live account in so long, checks under way among them: the next import waits for these. */
const CONFLICTS_MAX = 3;
const CONFLICTS_MS = 30 * 86_400_000;
const ISSUES_SHOWN = 100;
const ISSUES_MAX = 20_000;

export function importHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    accounts,
    chains,
    log,
    nowMs,
    stores: { imports, uploads, scans, watch, conflicts },
  } = deps;
  const parts = { uploads, imports, scans, accounts, chains, watch, nowMs, log };
  const work = createImportWork(parts);

  async function batchOf(asked: Pick<Asked<'getImport'>, 'caller' | 'params'>): Promise<Batch | Refusal> {
    const { batchId } = asked.params;
    return (await imports.batch(accountOf(asked), batchId)) ?? unknownIn(asked, 'import', batchId);
  }

  /** Refuses: NOT_FOUND, CONFLICT, IMPORT_NOT_READY. */
  async function uploadOf(asked: Pick<Asked, 'caller'>, uploadId: string): Promise<BatchOf | Refusal> {
    const upload = isId('upl', uploadId) ? await uploads.upload(uploadId) : null;
    if (upload === null || upload.accountId !== accountOf(asked))
      return notFound('upload', uploadId, { field: 'uploadId', environment: asked.caller.environment });
    if (upload.state === 'used') return refuse('CONFLICT', { reason: 'the upload serves another batch' });
    if (upload.state !== 'complete') return refuse('IMPORT_NOT_READY', { state: upload.state, reason: 'upload' });
    return { uploadId };
  }
  /** The same of a scan of the project. */
  async function scanOf(asked: Asked<'createImport'>, scanId: string): Promise<BatchOf | Refusal> {
    const scan = isId('scn', scanId) ? await scans.scan(accountOf(asked), scanId) : null;
    if (scan === null || scan.projectId !== asked.params.projectId)
      return notFound('scan', scanId, { field: 'scanId', environment: asked.caller.environment });
    if (scan.state !== 'completed') return refuse('IMPORT_NOT_READY', { state: scan.state, reason: 'scan' });
    return { scanId };
  }

  /** Waits for what was begun, up to ten seconds; what fails is taken up again by the clock. */
  async function begun(doing: Promise<void>, batchId: string): Promise<void> {
    const ended = doing.catch((error: unknown) => {
      log.warn({ err: error, batchId }, 'the work of an import failed; it is taken up again');
    });
    await Promise.race([ended, delay(ANSWER_MS, undefined, { ref: false })]);
  }

  async function reportOf(asked: Pick<Asked, 'caller'>, batch: Batch): Promise<ReplyOf<'getDryRun'>> {
    const { report, id, accountId } = batch;
    const issues = await imports.issues(accountId, id, 0, ISSUES_SHOWN);
    const { byPhase, rows, adoptable, skipped, spendable, watchOnly, conflicts } = report ?? NOTHING;
    const capacity = capacityOf(await stateOf(deps, accountOf(asked)), batch.state === 'committed' ? 0 : adoptable);
    return {
      batchId: id,
      dryRunId: batch.dryRunId,
      state: batch.state,
      byPhase: byPhase as ReplyOf<'getDryRun'>['byPhase'],
      rows,
      adoptable,
      skipped,
      spendable,
      watchOnly,
      conflicts,
      projection: capacityView(capacity),
      issues: issues.map(issueView),
    };
  }

  return {
    async createImport(asked) {
      const wiped = await whileWiped(deps, asked);
      if (wiped !== null) return wiped;
      const accountId = accountOf(asked),
        { projectId } = asked.params,
        { uploadId, scanId, chain = null, includeChange = false } = asked.body;
      if ((uploadId === undefined) === (scanId === undefined))
        return refuse('INVALID_INPUT', { field: 'uploadId', expected: 'either uploadId or scanId' });
      const project = await uploads.project(accountId, projectId);
      if (project === null) return unknownIn(asked, 'project', projectId);
      const of = scanId === undefined ? await uploadOf(asked, uploadId!) : await scanOf(asked, scanId);
      if (isRefusal(of)) return of;
      const id = newId('imp', nowMs());
      const isMade = await imports.createBatch(
        { id, accountId, projectId, ...of, chain, includeChange, createdAtMs: nowMs() },
        BATCHES_MAX,
      );
      if (!isMade) return refuse('CONFLICT', { reason: 'too_many_batches', limit: BATCHES_MAX });
      await noted(deps, asked, id);
      return batchView((await imports.batch(accountId, id))!);
    },
    async listImports(asked) {
      const accountId = accountOf(asked),
        { projectId } = asked.params;
      if ((await uploads.project(accountId, projectId)) === null) return unknownIn(asked, 'project', projectId);
      const ask = pageAskOf('imports', asked.query);
      if (isRefusal(ask)) return ask;
      const batches = await imports.batchesOf(accountId, projectId);
      const page = slicePage('imports', batches, ask, ({ id }) => id, 'newest');
      return { ...page, content: page.content.map(batchView) };
    },
    async getImport(asked) {
      const batch = await batchOf(asked);
      return isRefusal(batch) ? batch : batchView(batch);
    },
    async validateImport(asked) {
      const wiped = await whileWiped(deps, asked);
      if (wiped !== null) return wiped;
      const batch = await batchOf(asked);
      if (isRefusal(batch)) return batch;
      const { accountId, id, scanId } = batch,
        dryRunId = newId('dry', nowMs());
      // One that goes on with a higher limit has more of them soon.
      const scan = scanId === null ? null : await scans.scan(accountId, scanId);
      if (scan !== null && scan.state !== 'completed')
        return refuse('IMPORT_NOT_READY', { state: scan.state, reason: 'scan' });
      const sinceMs = nowMs() - CONFLICTS_MS;
      const outcome = await imports.beginCheck(accountId, id, dryRunId, { sinceMs, most: CONFLICTS_MAX });
      if (outcome === 'waits') {
        const reviewId = await conflicts.waiting(accountId, sinceMs, CONFLICTS_MAX);
        return refuse(
          'CONFLICT',
          { reason: 'review_waits' },
          reviewId === null
            ? `no more than ${CONFLICTS_MAX} imports, less those that met addresses of other accounts, are checked at once: ask again when one is`
            : `imports met addresses of other accounts: the next one is checked when ${reviewId} is decided on`,
        );
      }
      if (outcome === 'not') return refuse('IMPORT_NOT_READY', { state: (await imports.batch(accountId, id))!.state });
      await noted(deps, asked, id);
      await begun(validateBatch(parts, accountId, id, dryRunId), id);
      return reportOf(asked, (await imports.batch(accountId, id))!);
    },
    async getDryRun(asked) {
      const batch = await batchOf(asked);
      if (isRefusal(batch)) return batch;
      return batch.dryRunId === null ? refuse('IMPORT_NOT_READY', { state: batch.state }) : reportOf(asked, batch);
    },
    async listImportIssues(asked) {
      const batch = await batchOf(asked);
      if (isRefusal(batch)) return batch;
      const ask = pageAskOf('import-issues', asked.query);
      if (isRefusal(ask)) return ask;
      const issues = await imports.issues(batch.accountId, batch.id, 0, ISSUES_MAX);
      const page = slicePage('import-issues', issues, ask, ({ n }) => String(n).padStart(6, '0'), 'ascending');
      return { ...page, content: page.content.map(issueView) };
    },
    async commitImport(asked) {
      const batch = await batchOf(asked);
      if (isRefusal(batch)) return batch;
      const { accountId, id, projectId } = batch,
        { dryRunId, acceptBillingChange = false } = asked.body;
      const project = await uploads.project(accountId, projectId);
      const no = await work.reserve(batch, project?.state ?? 'draft', {
        dryRunId,
        acceptBillingChange,
        byOwner: asked.caller.bearer?.role === 'owner',
        ...noteOf(asked, id),
      });
      if (no !== null) return no;
      await begun(finishBatch(parts, accountId, id), id);
      const opened = (await imports.batch(accountId, id))!;
      if (opened.state === 'committed') await readAgain(deps, accountId, Object.keys(opened.heights) as Chain[]);
      return batchView(opened);
    },
    async rollbackImport(asked) {
      const batch = await batchOf(asked);
      if (isRefusal(batch)) return batch;
      const { accountId, id, state, committedAtMs, adopting } = batch;
      if (state !== 'committed') return refuse('IMPORT_NOT_READY', { state });
      if ((await timeOf(deps, accountId)) - committedAtMs! >= ROLLBACK_MS)
        return refuse('ROLLBACK_WINDOW_CLOSED', { reason: 'age' });
      const answer = await accounts.ask(accountId, {
        type: 'undo_import',
        batchId: id,
        adopting,
        becomes: 'rolled_back',
        ...noteOf(asked, id),
      });
      if (answer.ok !== true) return answer;
      await begun(finishBatch(parts, accountId, id), id);
      return batchView((await imports.batch(accountId, id))!);
    },
  };
}

/** A simulated ledger is read when something is done with it: here it is read again for what was adopted. */
export async function readAgain(
  { sandbox }: Pick<HandlerDeps, 'sandbox'>,
  accountId: Batch['accountId'],
  chains: readonly Chain[],
): Promise<void> {
  if (environmentOf(accountId) === 'sandbox') await sandbox.readAgain(accountId, chains);
}

const NOTHING = {
  byPhase: Object.fromEntries(
    (['parse', 'schema', 'chain_format', 'derivation', 'uniqueness', 'spendability', 'projection'] as const).map(
      (phase) => [
        phase,
        { state: 'not_run' as const, rows: 0, passed: 0, skipped: 0, warnings: 0, errors: 0, codes: {} },
      ],
    ),
  ),
  rows: 0,
  adoptable: 0,
  skipped: 0,
  spendable: 0,
  watchOnly: 0,
  conflicts: 0,
};

const issueView = ({ n: _, ...issue }: Issue): ReplyOf<'listImportIssues'>['content'][number] => issue;

export function batchView(batch: Batch): ReplyOf<'getImport'> {
  const { id, projectId, uploadId, scanId, state, dryRunId, adopting, heights, createdAtMs, committedAtMs } = batch;
  return {
    id,
    batchId: id,
    projectId,
    uploadId,
    scanId,
    state,
    dryRunId,
    adopting,
    heights,
    review: batch.review === null ? null : { reviewId: batch.review.reviewId, state: batch.review.state },
    createdAt: instantOf(createdAtMs),
    committedAt: instantOrNull(committedAtMs),
    rollbackUntil: instantOrNull(committedAtMs === null ? null : committedAtMs + ROLLBACK_MS),
  };
}
