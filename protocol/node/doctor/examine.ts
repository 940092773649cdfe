/**
 * What a doctor does: asks each check, all at once, each for a bounded time, and says the verdict of all when the last
 * one has spoken. What could not be looked at is `unknown`, never `ok`. Ecosystem X34.
 */
import { unknown, worstOf, type Finding, type Verdict } from '../../finding.ts';
import { findKeyMaterialInFields } from '../key-material.ts';

export * from '../../finding.ts';

export type Look = (signal: AbortSignal) => Promise<Finding>;

export interface Check {
  readonly id: string;
  /** The page of the documents that has more, with its anchor where it has one. */
  readonly page: string;
  /**
   * Reads only. What it throws, and what it does not answer in time, is `unknown`; `signal` ends then what it asked.
   */
  look(signal: AbortSignal): Finding | Promise<Finding>;
}

export interface Examined extends Finding {
  readonly id: string;
  readonly page: string;
}

export interface Examination {
  readonly verdict: Verdict;
  readonly checks: readonly Examined[];
}

/** Milliseconds of one check. */
export const CHECK_MS = 3_000;

/**
 * A check that asks with a key: a refusal is what was seen and no answer. `codeOf` says its code, null for a fault; the
 * checks in `first` say why.
 */
export const askingAs =
  (who: string, first: string, codeOf: (error: unknown) => string | null) =>
  (look: Look): Check['look'] =>
  async (signal) => {
    try {
      return await look(signal);
    } catch (error) {
      const code = codeOf(error);
      if (code === null) throw error;
      return unknown(`${who} answered ${code}`, `look at the checks ${first} first`);
    }
  };

/** A plain reason of an error: its code, else its name. A message may quote what it was given. */
export function reasonOf(error: unknown): string {
  const { code, name, cause } = error as { code?: unknown; name?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause instanceof Error ? reasonOf(cause) : typeof name === 'string' ? name : 'unknown';
}

/** Asks all checks at once. `checkMs`: how long each may take. */
export async function examine(checks: readonly Check[], checkMs = CHECK_MS): Promise<Examination> {
  const examined = await Promise.all(checks.map((check) => lookOnce(check, checkMs)));
  return { verdict: worstOf(examined), checks: examined };
}

async function lookOnce({ id, page, look }: Check, checkMs: number): Promise<Examined> {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => {
      ending.abort();
      resolve(unknown(`no answer within ${checkMs / 1_000} s`, 'look again; if it stays so, look at it by hand'));
    }, checkMs);
  });
  try {
    const looked = Promise.resolve().then(() => look(ending.signal));
    return { id, page, ...plain(await Promise.race([looked, late])) };
  } catch (error) {
    const seen = `could not look (${reasonOf(error)})`;
    return { id, page, ...unknown(seen, 'mend what kept it from looking, and look again') };
  } finally {
    clearTimeout(timer);
  }
}

const SECRET = /(?:flk|loc)_(?:live|test)_[\w-]{8}|whsec_[\w+/]{8}|:\/\/[^\s/@]*:[^\s/@]*@/;

/** The last guard: a finding is made of shapes, and what looks like a secret all the same is not shown. */
function plain(finding: Finding): Finding {
  const texts = [finding.seen, finding.remedy ?? ''];
  const isSecret = texts.some((text) => SECRET.test(text) || findKeyMaterialInFields([{ name: '', text }]) !== null);
  return isSecret ? { ...finding, seen: 'not shown: what was seen looked like a secret', remedy: null } : finding;
}
