/**
 * The work of imports: a file becomes rows, rows become addresses, and addresses are given back. Each step can be
 * repeated, so that the next one goes on (`resumeImports`). Nothing is decided here about the account: its commands
 * do that. Migration M-I2, M-I10, M-I12, M-I13, M-O5, M-R3.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { chainFailure } from '../../../chains/failure.ts';
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { Heights } from '../../../model/account/migration.ts';
import type { AuditNote } from '../../../model/rows/audit.ts';
import type { Accounts } from '../../../model/ports/accounts.ts';
import type { ChainAccess } from '../../../model/ports/chain-access.ts';
import type { Batch, ImportStore, Issue, StagedRow } from '../../../model/ports/import-store.ts';
import type { FoundRow, Lane, ScanPlace, ScanStore } from '../../../model/ports/scan-store.ts';
import type { UploadStore } from '../../../model/ports/upload-store.ts';
import type { WatchStore } from '../../../model/ports/watch-store.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { environmentOf, ledgerOf, type AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { CHAINS, FAMILY_OF, type Chain, type Family } from '../../../protocol/slugs.ts';
import { capacityOf } from '../capacity.ts';
import { ROWS_MAX } from '../formats/limits.ts';
import type { Found } from '../formats/entry.ts';
import { createImportReader } from '../formats/reader.ts';
import { noRoom } from '../decide.ts';
import { Judge, type Judged } from './judge.ts';
import { ERRORS_MAX, ISSUES_MAX, Tally } from './tally.ts';
import { sourcesOf, whyNotSigned } from '../../key-source/decide.ts';

/** What takes up work that was left. */
export interface ResumeDeps {
  readonly uploads: UploadStore;
  readonly imports: ImportStore;
  readonly scans: ScanStore;
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly chains: Pick<ChainAccess, 'tokens'>;
  readonly nowMs: () => number;
  readonly log: Record<'info' | 'warn', (fields: object, message: string) => void>;
}

export interface ImportWorkDeps extends ResumeDeps {
  readonly chains: Pick<ChainAccess, 'bind' | 'enabled' | 'tokens'>;
  readonly watch: Pick<WatchStore, 'coverage'>;
}

/** Rows of one statement. */
const STAGED_AT_ONCE = 1_000;
const CHECKED_AT_ONCE = 1_000;
export const FILLED_AT_ONCE = 5_000;
/** Rows that are judged before the event loop gets its turn. */
const JUDGED_AT_ONCE = 50;
const CHUNKS_AT_ONCE = 4;
const SCANNED_AT_ONCE = 1_000;
const SANDBOX_ROWS_MAX = 100_000;
const DRY_RUN_MS = 86_400_000;
const RESUMED_AT_ONCE = 10;
/** Who is silent for 45 seconds is taken for dead (stage_import). */
const SIGN_OF_LIFE_MS = 10_000;

export interface Committing {
  readonly dryRunId: string;
  readonly acceptBillingChange: boolean;
  readonly byOwner: boolean;
  /** Its entry of the audit log. */
  readonly audit?: AuditNote;
}

export interface ImportWork {
  /** Checks everything, and makes room: then `finishBatch` goes on. Refuses: M-I10. */
  reserve(batch: Batch, projectState: string, ask: Committing): Promise<Refusal | null>;
  /** A height for each chain that is recorded. Refuses: CHAIN_UNAVAILABLE. */
  heights(accountId: AccountId, chains: readonly Chain[]): Promise<Heights | Refusal>;
  /** Chains on which addresses of these can be paid: an EVM address stands for all networks that are enabled. */
  networks(accountId: AccountId, of: readonly Chain[]): Chain[];
}

async function stateOf({ accounts }: Pick<ResumeDeps, 'accounts'>, accountId: AccountId): Promise<AccountState> {
  const answer = await accounts.ask(accountId, { type: 'inspect' });
  if (answer.ok !== true) throw new Error('an account did not answer');
  return answer.reply as AccountState;
}

/** Reads and judges the file anew, to the end of the run. */
export async function validateBatch(deps: ResumeDeps, accountId: AccountId, id: string, run: string): Promise<void> {
  const { imports } = deps;
  const batch = await imports.batch(accountId, id);
  if (batch === null || batch.state !== 'validating' || batch.dryRunId !== run) return;
  const state = await stateOf(deps, accountId);
  const attempt = await imports.beginAttempt(accountId, id, run);
  if (attempt === null) return;
  const change = await new Validation(deps, batch, state, attempt).run();
  if (change !== null) await imports.moveBatch(accountId, id, ['validating'], { ...change, run, attempt });
}

/** What was begun and is at a commit or on its way back is brought to its end. */
export async function finishBatch(
  { imports, accounts, log }: ResumeDeps,
  accountId: AccountId,
  id: string,
): Promise<void> {
  for (;;) {
    const batch = await imports.batch(accountId, id);
    if (batch?.state === 'rolling_back') {
      while ((await imports.release(accountId, id, FILLED_AT_ONCE)) > 0) await turn();
      return;
    }
    if (batch?.state !== 'committing') return;
    const outcome = await filled(imports, accountId, id);
    if (outcome === 'gone') return;
    const { adopting } = batch;
    // Which rows are claimed is kept: a person decides about the batch.
    if (outcome === 'conflict') await claimsOf(imports, accountId, id);
    const answer = await accounts.ask(
      accountId,
      outcome === 'filled'
        ? { type: 'open_import', batchId: id, adopting }
        : { type: 'undo_import', batchId: id, adopting, becomes: 'conflict' },
    );
    // Somebody else may have brought it to its end.
    if (answer.ok !== true && !(isRefusal(answer) && answer.code === 'IMPORT_NOT_READY'))
      throw new Error('a batch was not opened');
    log.info({ accountId, batchId: id, outcome }, 'the rows of a batch are addresses');
    if (outcome === 'filled') return;
  }
}

/** Resumes batches whose worker is gone; returns how many. */
export async function resumeImports(deps: ResumeDeps): Promise<number> {
  const left = await deps.imports.claimImports(RESUMED_AT_ONCE);
  for (const { accountId, id, state, dryRunId } of left) {
    try {
      if (state === 'validating') await validateBatch(deps, accountId, id, dryRunId!);
      else await finishBatch(deps, accountId, id);
    } catch (error) {
      deps.log.warn({ err: error, accountId, batchId: id }, 'the work of an import failed; it is taken up again');
    }
  }
  return left.length;
}

export function createImportWork(deps: ImportWorkDeps): ImportWork {
  const { imports, accounts, nowMs } = deps;
  const work: ImportWork = {
    async reserve(batch, projectState, ask) {
      const { accountId, id, report } = batch;
      const no = noRoom(await stateOf(deps, accountId), { ...ask, adopting: batch.adopting }, nowMs());
      if (no !== null) return no;
      if (batch.dryRunId !== null && batch.dryRunId !== ask.dryRunId)
        return refuse('DRY_RUN_STALE', { current: batch.dryRunId });
      if (batch.state === 'valid' && nowMs() - (batch.dryRunAtMs ?? 0) > DRY_RUN_MS)
        return refuse('DRY_RUN_STALE', { current: batch.dryRunId });
      if (batch.state === 'conflict') return conflict(batch.review?.conflicts ?? 0, id);
      if (batch.state !== 'valid' || report === null) return refuse('IMPORT_NOT_READY', { state: batch.state });
      if (projectState === 'active')
        return refuse('IMPORT_NOT_READY', { state: batch.state, reason: 'project_active' });
      const claims = await claimsOf(imports, accountId, id);
      const conflicts = claims.codes['ADDRESS_CONFLICT'] ?? 0,
        skipped = Object.entries(claims.codes).reduce((sum, [code, rows]) => sum + (isSkip(code) ? rows : 0), 0);
      if (conflicts > 0) {
        await imports.moveBatch(accountId, id, ['valid'], {
          state: 'conflict',
          report: { ...report, conflicts },
          run: ask.dryRunId,
        });
        return conflict(conflicts, id);
      }
      const adopting = report.adoptable + report.skipped - skipped;
      if (adopting !== batch.adopting)
        await imports.moveBatch(accountId, id, ['valid'], { state: 'valid', adopting, run: ask.dryRunId });
      const heights = await work.heights(accountId, networksOf(deps, accountId, report.chains));
      if (isRefusal(heights)) return heights;
      const answer = await accounts.ask(accountId, {
        type: 'reserve_import',
        batchId: id,
        adopting,
        chains: [...report.chains],
        heights,
        indexes: report.nextIndexes,
        ...ask,
      });
      if (answer.ok === true) return null;
      return isRefusal(answer) ? answer : refuse('INTERNAL_ERROR');
    },
    networks: (accountId, of) => networksOf(deps, accountId, of),
    async heights(accountId, chains) {
      const heights: Heights = {};
      for (const chain of chains) {
        const height = await heightOf(deps, accountId, chain);
        if (isRefusal(height)) return height;
        heights[chain] = height;
      }
      return heights;
    },
  };
  return work;
}

const SKIPS: ReadonlySet<string> = new Set([
  'duplicate',
  'already_in_account',
  'same_address_other_network',
  'dropped_by_review',
]);
const isSkip = (code: string): boolean => SKIPS.has(code);
/** The review of a batch's conflict is the batch's own. */
const conflict = (count: number, id: string): Refusal =>
  refuse('ADDRESS_CONFLICT', { count, reviewId: `rvw${id.slice(3)}` });

/** EVM rows stand for all networks that are enabled. */
function networksOf({ chains }: ImportWorkDeps, accountId: AccountId, of: readonly Chain[]): Chain[] {
  const enabled = chains.enabled(accountId);
  const isEvm = of.some((chain) => FAMILY_OF[chain] === 'evm');
  return CHAINS.filter(
    (chain) =>
      (of.includes(chain) && FAMILY_OF[chain] !== 'evm') ||
      (isEvm && FAMILY_OF[chain] === 'evm' && enabled.includes(chain)),
  );
}

/** The higher of what was followed and the head. M-I12. */
async function heightOf(
  { chains, watch }: ImportWorkDeps,
  accountId: AccountId,
  chain: Chain,
): Promise<number | Refusal> {
  const binding = await chains.bind(accountId, chain);
  if (isRefusal(binding)) return binding;
  try {
    const { height } = await binding.client.getHead();
    const { completeHeight, headHeight } = await watch.coverage(ledgerOf(chain, accountId));
    return Math.max(height, completeHeight ?? 0, headHeight ?? 0);
  } catch (error) {
    const reason = chainFailure(error);
    if (reason === null) throw error;
    return refuse('CHAIN_UNAVAILABLE', { chain, permanent: false, reason });
  }
}

async function filled(imports: ImportStore, accountId: AccountId, id: string): Promise<'filled' | 'conflict' | 'gone'> {
  for (;;) {
    const outcome = await imports.fill(accountId, id, FILLED_AT_ONCE);
    if (outcome !== 'filling') return outcome;
    await turn();
  }
}

/** `isAlive` is asked before each page: false ends it. */
async function claimsOf(
  imports: ImportStore,
  accountId: AccountId,
  id: string,
  isAlive: () => Promise<boolean> = () => Promise.resolve(true),
) {
  const codes: Record<string, number> = {};
  for (let after = 0; ;) {
    if (!(await isAlive())) return { codes };
    const page = await imports.checkClaims(accountId, id, after, CHECKED_AT_ONCE);
    for (const [code, rows] of Object.entries(page.codes)) codes[code] = (codes[code] ?? 0) + Number(rows);
    if (page.lastN === null) return { codes };
    after = page.lastN;
  }
}

/** A row of a scan as one of a file; the key that it was derived from is the claim. */
function entryOf(chain: Chain, { keys, branch }: Lane, row: FoundRow, line: number): Found {
  const isEach = keys.length > 1,
    key = isEach ? keys[row.index]! : keys[0]!;
  const path = `${key.path}/${branch}/${isEach ? 0 : row.index}`;
  return {
    kind: 'scanned',
    line,
    xpub: key.xpub,
    fields: { chain, address: row.address, path, ...(row.userRef === null ? {} : { userRef: row.userRef }) },
  };
}

/** One run over a file, or over what a scan found. */
class Validation {
  readonly #deps: ResumeDeps;
  readonly #batch: Batch;
  readonly #state: AccountState;
  readonly #attempt: number;
  readonly #tally = new Tally();
  readonly #judge: Judge;
  readonly #chains = new Set<Chain>();
  readonly #nextIndexes: Partial<Record<Family, number>> = {};
  #rows: StagedRow[] = [];
  #issues: Issue[] = [];
  #n = 0;
  #signedAtMs: number;
  #isLost = false;
  #isOver = false;

  constructor(deps: ResumeDeps, batch: Batch, state: AccountState, attempt: number) {
    this.#deps = deps;
    this.#batch = batch;
    this.#state = state;
    this.#attempt = attempt;
    this.#signedAtMs = deps.nowMs();
    this.#judge = new Judge({
      environment: environmentOf(batch.accountId),
      chain: batch.chain,
      own: state.enrolment?.keys ?? {},
      sources: Object.values(sourcesOf(state)),
      catalogueOf: deps.chains.tokens.catalogueOf,
    });
  }

  /** What the batch becomes; null where another worker has the run. */
  async run() {
    const { imports } = this.#deps,
      { accountId, id } = this.#batch;
    await this.#read();
    await this.#flush();
    if (this.#isLost) return null;
    if (this.#isOver) return { state: 'invalid' as const, report: this.#report(0, {}), adopting: 0 };
    const { codes } = await claimsOf(imports, accountId, id, () => this.#isAlive());
    if (this.#isLost) return null;
    this.#tally.enters('uniqueness', this.#n);
    for (const [code, rows] of Object.entries(codes))
      this.#tally.count(
        'uniqueness',
        code === 'user_ref_kept' ? 'warning' : isSkip(code) ? 'skip' : 'error',
        code,
        rows,
      );
    await imports.reportSkips(accountId, id, this.#attempt, ISSUES_MAX);
    const adoptable = this.#tally.passedOf('uniqueness');
    this.#tally.enters('spendability', adoptable);
    const reasons = this.#reasons(await imports.staged(accountId, id));
    for (const [reason, rows] of Object.entries(reasons)) this.#tally.count('spendability', 'warning', reason, rows);
    this.#tally.enters('projection', adoptable);
    if (capacityOf(this.#state, adoptable).exceeds) this.#tally.count('projection', 'warning', 'band_exceeded', 1);
    const conflicts = codes['ADDRESS_CONFLICT'] ?? 0;
    const state: 'conflict' | 'invalid' | 'valid' =
      conflicts > 0 ? 'conflict' : this.#tally.errors > 0 ? 'invalid' : 'valid';
    return { state, report: this.#report(conflicts, reasons, adoptable), adopting: adoptable };
  }

  #report(conflicts: number, reasons: Readonly<Record<string, number>>, adoptable = 0) {
    const watchOnly = Object.values(reasons).reduce((sum, rows) => sum + rows, 0);
    return this.#tally.report({
      adoptable,
      watchOnly,
      spendable: adoptable - watchOnly,
      conflicts,
      chains: CHAINS.filter((chain) => this.#chains.has(chain)),
      nextIndexes: this.#nextIndexes,
    });
  }

  /** Why rows are watch-only. M-K2. */
  #reasons(staged: readonly { chain: Chain; origin: string; rows: number }[]): Record<string, number> {
    const reasons: Record<string, number> = {};
    const sources = Object.values(sourcesOf(this.#state));
    for (const { chain, origin, rows } of staged) {
      if (origin === 'm') continue;
      const source = sources.find(({ fingerprint }) => fingerprint === origin);
      const reason = source === undefined ? 'no_key' : whyNotSigned(source, chain);
      if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + rows;
    }
    return reasons;
  }

  async #read(): Promise<void> {
    this.#tally.runs('parse');
    if (this.#batch.scanId !== null) return this.#readScan(this.#batch.scanId);
    const { uploads } = this.#deps,
      upload = this.#batch.uploadId === null ? null : await uploads.upload(this.#batch.uploadId),
      stored = upload?.content?.stored;
    if (stored === undefined) throw new Error('the file of a batch is gone');
    const rowsMax = environmentOf(this.#batch.accountId) === 'sandbox' ? SANDBOX_ROWS_MAX : ROWS_MAX;
    const reader = createImportReader(rowsMax);
    for (let after = -1; !this.#isLost && !this.#isOver;) {
      const chunks = await uploads.chunks(upload!.id, stored, after, CHUNKS_AT_ONCE);
      for (const { bytes } of chunks) await this.#take(reader.push(bytes));
      if (chunks.length < CHUNKS_AT_ONCE) break;
      after = chunks.at(-1)!.n;
    }
    if (!this.#isLost && !this.#isOver) await this.#take(reader.end());
  }

  /** What a scan found, row by row; change only where it was asked for (M-D7). */
  async #readScan(scanId: string): Promise<void> {
    const { scans } = this.#deps,
      { accountId, includeChange } = this.#batch;
    const scan = await scans.scan(accountId, scanId);
    if (scan === null) throw new Error('the scan of a batch is gone');
    let after: ScanPlace | null = null,
      line = 0,
      leftOut = 0;
    while (!this.#isLost && !this.#isOver) {
      const rows = await scans.rows(accountId, scanId, after, SCANNED_AT_ONCE);
      const found = rows.flatMap((row): Found[] => {
        line += 1;
        const lane = scan.lanes[row.lane]!;
        if (lane.branch === 1 && !includeChange) {
          leftOut += row.used ? 1 : 0;
          return [];
        }
        return [entryOf(scan.chain, lane, row, line)];
      });
      await this.#take(found);
      if (rows.length < SCANNED_AT_ONCE) break;
      after = rows.at(-1)!;
    }
    if (leftOut > 0) {
      const message = `${leftOut} used addresses of change are left out: includeChange takes them`;
      const change = { phase: 'derivation', severity: 'warning', code: 'change_holds_money', message } as const;
      this.#keep({ ...change, line: null, column: null, field: null });
    }
  }

  async #take(found: readonly Found[]): Promise<void> {
    for (const one of found) {
      if (this.#isLost || this.#isOver) return;
      this.#tally.enters('parse', one.kind === 'fault' && one.isWarning ? 0 : 1);
      if (!(await this.#isAlive())) return;
      if (one.kind === 'fault') {
        const { line, column, field, code, message, isWarning, ends } = one;
        this.#keep({ phase: 'parse', severity: isWarning ? 'warning' : 'error', code, line, column, field, message });
        this.#isOver ||= ends || this.#tally.errors >= ERRORS_MAX;
        continue;
      }
      let judged = 0;
      for (const verdict of this.#judge.judge(one)) {
        await this.#judged(verdict);
        if (this.#isLost || this.#isOver) return;
        judged += 1;
        if (judged % JUDGED_AT_ONCE !== 0) continue;
        await turn();
        if (!(await this.#isAlive())) return;
      }
      if (this.#n % JUDGED_AT_ONCE === 0) await turn();
    }
  }

  async #judged(verdict: Judged): Promise<void> {
    if (verdict.kind === 'finding') {
      const { kind: _, ...finding } = verdict;
      if (finding.severity === 'error') this.#enterUpTo(finding.phase);
      this.#keep({ ...finding, column: null });
      this.#isOver ||= this.#tally.errors >= ERRORS_MAX;
      return;
    }
    this.#enterUpTo('derivation');
    const { kind: _, ownIndex, ...row } = verdict;
    this.#n += 1;
    this.#chains.add(row.chain);
    if (ownIndex !== null) this.#nextIndexes[row.family] = Math.max(this.#nextIndexes[row.family] ?? 0, ownIndex + 1);
    this.#rows.push({ n: this.#n, ...row, addressId: newId('adr', this.#deps.nowMs()) });
    if (this.#rows.length >= STAGED_AT_ONCE) await this.#flush();
  }

  #enterUpTo(phase: Issue['phase']): void {
    for (const one of ['schema', 'chain_format', 'derivation'] as const) {
      this.#tally.enters(one);
      if (one === phase) return;
    }
  }

  #keep(issue: Omit<Issue, 'n'>): void {
    const kept = this.#tally.found(issue);
    if (kept !== null) this.#issues.push(kept);
  }

  /** Writes what was read; it is lost where another attempt began. */
  async #flush(): Promise<void> {
    const { imports, nowMs } = this.#deps,
      { accountId, id } = this.#batch;
    const isNewest = await imports.stage(accountId, id, this.#attempt, { rows: this.#rows, issues: this.#issues });
    this.#rows = [];
    this.#issues = [];
    this.#signedAtMs = nowMs();
    this.#isLost = !isNewest;
  }

  /** A sign of life in time, whether or not there are rows: nobody else takes up what goes on. */
  async #isAlive(): Promise<boolean> {
    if (Math.abs(this.#deps.nowMs() - this.#signedAtMs) >= SIGN_OF_LIFE_MS) await this.#flush();
    return !this.#isLost;
  }
}
