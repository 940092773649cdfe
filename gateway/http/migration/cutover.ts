/** What a project watches, its cutover and its way back, and its reconciliation. Migration M-O1–M-O6, M-E1. */
import { Readable } from 'node:stream';
import { sheetLine, endLine, gapLimitLine } from '../../../protocol/sheet.ts';
import { createImportWork } from '../../../actors/migration/imports/work.ts';
import { watchOnly } from '../../../actors/key-source/decide.ts';
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { AdoptedRow, CatchUp } from '../../../model/ports/import-store.ts';
import type { Project } from '../../../model/ports/upload-store.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { CHAINS, FAMILY_OF, type Chain, type Family } from '../../../protocol/slugs.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, unknownIn, type Asked, type Handlers } from '../context.ts';
import { notFresh } from '../organization/second-factor.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { gapLimitsOf } from '../payment/gap-limits.ts';
import { noteOf } from './noted.ts';
import { pagesOf } from './pages.ts';
import { projectView } from './projects.ts';
import { readAgain } from './imports.ts';

type Area = 'getObserve' | 'activateProject' | 'deactivateProject' | 'getReconciliation';

export function cutoverHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    accounts,
    chains,
    log,
    nowMs,
    stores: { imports, uploads, scans, watch },
  } = deps;
  const work = createImportWork({ uploads, imports, scans, accounts, chains, watch, nowMs, log });

  async function projectOf(asked: Pick<Asked<'getObserve'>, 'caller' | 'params'>): Promise<Project | Refusal> {
    const { projectId } = asked.params;
    return (await uploads.project(accountOf(asked), projectId)) ?? unknownIn(asked, 'project', projectId);
  }

  return {
    async getObserve(asked) {
      const project = await projectOf(asked);
      if (isRefusal(project)) return project;
      return observedOf(deps, accountOf(asked), project);
    },
    async activateProject(asked) {
      const accountId = accountOf(asked),
        project = await projectOf(asked);
      if (isRefusal(project)) return project;
      const stale = await notFresh(deps, asked, asked.body?.totp);
      if (stale !== null) return stale;
      if (project.state === 'active') return projectView(project);
      if (project.state === 'draft') return refuse('IMPORT_NOT_READY', { state: 'draft' });
      const catchUps = await imports.catchUps(accountId, project.id);
      // Networks too that were enabled since the commit: what is in their blocks by now was before.
      const read = work.networks(accountId, [...new Set(catchUps.map(({ chain }) => chain))]);
      await readAgain(deps, accountId, read);
      if ((await imports.catchUps(accountId, project.id)).some(({ isDone }) => !isDone))
        return refuse('IMPORT_NOT_READY', { state: 'observe', reason: 'catching_up' });
      const heights = await work.heights(accountId, read);
      if (isRefusal(heights)) return heights;
      return cutOver(asked, project, 'active', heights);
    },
    async deactivateProject(asked) {
      const project = await projectOf(asked);
      if (isRefusal(project)) return project;
      if (project.state === 'observe') return projectView(project);
      if (project.state === 'draft') return refuse('IMPORT_NOT_READY', { state: 'draft' });
      return cutOver(asked, project, 'observe', null);
    },
    async getReconciliation(asked) {
      const project = await projectOf(asked);
      if (isRefusal(project)) return project;
      const state = await stateOf(deps, accountOf(asked));
      asked.setHeader('content-disposition', 'attachment; filename="reconciliation.csv"');
      return Readable.from(reconciled(deps, accountOf(asked), project.id, state), { objectMode: false }) as never;
    },
  };

  async function cutOver(
    asked: Pick<Asked, 'caller' | 'note'>,
    project: Project,
    to: 'active' | 'observe',
    heights: Partial<Record<Chain, number>> | null,
  ): Promise<ReplyOf<'activateProject'> | Refusal> {
    const accountId = accountOf(asked);
    const answer = await accounts.ask(accountId, {
      type: 'cut_over',
      projectId: project.id,
      state: to,
      heights,
      ...noteOf(asked, project.id),
    });
    if (isRefusal(answer)) {
      // Somebody else was first, to the same end.
      const now = await uploads.project(accountId, project.id);
      return now?.state === to ? projectView(now) : answer;
    }
    if (answer.ok !== true) return refuse('INTERNAL_ERROR');
    return projectView({ ...project, state: to });
  }
}

async function observedOf(
  { stores: { imports } }: Pick<HandlerDeps, 'stores'>,
  accountId: AccountId,
  project: Project,
): Promise<ReplyOf<'getObserve'>> {
  const [counts, catchUps, batches] = await Promise.all([
    imports.observed(accountId, project.id),
    imports.catchUps(accountId, project.id),
    imports.batchesOf(accountId, project.id),
  ]);
  const committed = batches.filter(({ state }) => state === 'committed');
  const chains = CHAINS.filter((chain) => catchUps.some((one) => one.chain === chain)).map((chain) => {
    const own = counts.filter((count) => count.chain === chain),
      sum = (of: (count: (typeof own)[number]) => number) => own.reduce((total, count) => total + of(count), 0);
    const kind = (silence: 'observed' | 'historical') =>
      sum((count) => (count.silence === silence ? count.confirmed + count.pending : 0));
    return {
      chain,
      recordedHeight: lowest(committed.flatMap(({ heights }) => heights[chain] ?? [])),
      caughtUp: isDone(catchUps.filter((one) => one.chain === chain)),
      depositsObserved: kind('observed'),
      historicalRecorded: kind('historical'),
      confirmed: sum(({ confirmed }) => confirmed),
      pending: sum(({ pending }) => pending),
      reversed: sum(({ reversed }) => reversed),
      straddling: sum(({ silence, pending }) => (silence === 'observed' ? pending : 0)),
    };
  });
  return {
    projectId: project.id,
    state: project.state,
    addresses: committed.reduce((total, { adopting }) => total + adopting, 0),
    depositsObserved: chains.reduce((total, { depositsObserved }) => total + depositsObserved, 0),
    historicalRecorded: chains.reduce((total, { historicalRecorded }) => total + historicalRecorded, 0),
    caughtUp: isDone(catchUps),
    chains,
  };
}

const isDone = (catchUps: readonly CatchUp[]): boolean => catchUps.every((one) => one.isDone);
const lowest = (heights: readonly number[]): number | null => (heights.length === 0 ? null : Math.min(...heights));

const COLUMNS = [
  'address',
  'chain',
  'derivation_path',
  'user_ref',
  'tag',
  'label',
  'spendable',
  'reason',
  'key_source',
  'batch',
  'recorded_height',
  'deposits_observed',
  'historical_recorded',
  'straddling',
];

/** Every address of the project once, page by page. */
async function* reconciled(
  { stores: { imports, reads } }: Pick<HandlerDeps, 'stores'>,
  accountId: AccountId,
  projectId: string,
  state: AccountState,
): AsyncGenerator<string> {
  yield `${sheetLine(COLUMNS)}\n`;
  let count = 0;
  const families = new Set<Family>();
  for await (const rows of pagesOf(imports, accountId, projectId)) {
    count += rows.length;
    for (const { chain } of rows) families.add(FAMILY_OF[chain]);
    yield `${rows.map((row) => sheetLine(cellsOf(row, state))).join('\n')}\n`;
  }
  // Not of this project alone: a wallet is restored with all that the account issued. payments S18.
  const gapLimitOf = await gapLimitsOf(reads, state, [...families]);
  for (const family of families) yield `${gapLimitLine(family, gapLimitOf(family).gapLimitNeeded)}\n`;
  yield `${endLine(count)}\n`;
}

function cellsOf(row: AdoptedRow, state: AccountState): string[] {
  const { derivationPath } = row;
  const no = watchOnly(state, row.chain, derivationPath);
  const [, fingerprint = ''] = /^\[([0-9a-f]{16})/.exec(derivationPath) ?? [];
  return [
    row.address,
    row.chain,
    derivationPath === '[]' ? '' : derivationPath,
    row.userRef ?? '',
    row.tag ?? '',
    row.label ?? '',
    String(no === null),
    no === null ? '' : String(no.details['reason'] ?? ''),
    fingerprint,
    row.batchId,
    row.recordedHeight === null ? '' : String(row.recordedHeight),
    String(row.observed),
    String(row.historical),
    String(row.straddling),
  ];
}
