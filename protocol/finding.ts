/** What a check of a doctor saw. The command line, the edge's status page and the console show the same ones. X36. */

export const VERDICTS = ['ok', 'warn', 'fail', 'unknown'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** No value of a secret is in it. */
export interface Finding {
  readonly verdict: Verdict;
  readonly seen: string;
  /** One thing to do, with the setting that it is about; null for `ok`. */
  readonly remedy: string | null;
}

export const ok = (seen: string): Finding => ({ verdict: 'ok', seen, remedy: null });
export const warn = (seen: string, remedy: string): Finding => ({ verdict: 'warn', seen, remedy });
export const fail = (seen: string, remedy: string): Finding => ({ verdict: 'fail', seen, remedy });
export const unknown = (seen: string, remedy: string): Finding => ({ verdict: 'unknown', seen, remedy });

/** What fails comes before what is not known, and that before a warning. */
export function worstOf(findings: readonly Pick<Finding, 'verdict'>[]): Verdict {
  const order: readonly Verdict[] = ['fail', 'unknown', 'warn'];
  return order.find((one) => findings.some(({ verdict }) => verdict === one)) ?? 'ok';
}
