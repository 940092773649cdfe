/** Counts of a validation by phase. Migration M-I4: rows = passed + skipped + errors. */
import type { ImportReport, Issue, PhaseReport } from '../../../model/ports/import-store.ts';
import { PHASES, type Phase, type Severity } from '../../../protocol/migration/words.ts';

/** Issues that are kept of one run; all of them are counted. */
export const ISSUES_MAX = 10_000;
/** Errors that end a run. */
export const ERRORS_MAX = 10_000;

interface Count {
  rows: number;
  skipped: number;
  warnings: number;
  errors: number;
  codes: Record<string, number>;
  isRun: boolean;
}

export class Tally {
  readonly #counts = Object.fromEntries(
    PHASES.map((phase): [Phase, Count] => [
      phase,
      { rows: 0, skipped: 0, warnings: 0, errors: 0, codes: {}, isRun: false },
    ]),
  ) as Record<Phase, Count>;
  #issues = 0;
  #errors = 0;

  get errors(): number {
    return this.#errors;
  }

  /** A row comes to a phase. */
  enters(phase: Phase, rows = 1): void {
    this.#counts[phase].rows += rows;
    this.#counts[phase].isRun = true;
  }

  runs(phase: Phase): void {
    this.#counts[phase].isRun = true;
  }

  /** Counts what was found; the issue where it is kept, with its number. */
  found(issue: Omit<Issue, 'n'>): Issue | null {
    this.count(issue.phase, issue.severity, issue.code, 1);
    if (this.#issues >= ISSUES_MAX) return null;
    this.#issues += 1;
    return { n: this.#issues, ...issue };
  }

  count(phase: Phase, severity: Severity, code: string, rows: number): void {
    const count = this.#counts[phase];
    count.codes[code] = (count.codes[code] ?? 0) + rows;
    if (severity === 'error') {
      count.errors += rows;
      this.#errors += rows;
    } else if (severity === 'skip') count.skipped += rows;
    else count.warnings += rows;
  }

  passedOf(phase: Phase): number {
    const { rows, skipped, errors } = this.#counts[phase];
    return Math.max(0, rows - skipped - errors);
  }

  report(more: Omit<ImportReport, 'byPhase' | 'rows' | 'skipped'>): ImportReport {
    const byPhase = Object.fromEntries(
      PHASES.map((phase): [Phase, PhaseReport] => {
        const { rows, skipped, warnings, errors, codes, isRun } = this.#counts[phase];
        const state = !isRun ? 'not_run' : errors > 0 ? 'failed' : 'passed';
        return [phase, { state, rows, passed: this.passedOf(phase), skipped, warnings, errors, codes }];
      }),
    ) as Record<Phase, PhaseReport>;
    const skipped = PHASES.reduce((sum, phase) => sum + this.#counts[phase].skipped, 0);
    return { byPhase, rows: this.#counts.parse.rows, skipped, ...more };
  }
}
