/**
 * Lines of an outage: while the database is away the same fault is met at many places many times a second. Each place
 * says each fault once, and while it lasts at most once a minute, with how many lines were withheld.
 */
import { STORE_AWAY } from '../../model/entity.ts';

const AGAIN_MS = 60_000;
/** Places and faults that are remembered; texts of places are constants of the code. */
const KEPT_MAX = 1_000;
const AWAY_TEXT = /^(?:[a-z]+: )?the database does not serve: (.*?)(?: \(|$)/;

export interface OutageLines {
  /**
   * How many lines of this place and fault were withheld before this one, 0 also for a line of no outage; null when
   * this one is to be withheld.
   */
  admit(fields: unknown, message: unknown): number | null;
}

export interface OutageOptions {
  /** Whether an error says that the database does not serve. */
  isAway(error: unknown): boolean;
  elapsedMs(): number;
}

export function createOutageLines({ isAway, elapsedMs }: OutageOptions): OutageLines {
  const said = new Map<string, { atMs: number; withheld: number }>();
  return {
    admit(fields, message) {
      const fault = faultIn(fields, isAway);
      if (fault === null) return 0;
      const key = `${String(message)} ${fault}`,
        before = said.get(key),
        nowMs = elapsedMs();
      if (before !== undefined && nowMs - before.atMs < AGAIN_MS) {
        before.withheld += 1;
        return null;
      }
      if (said.size >= KEPT_MAX) said.clear();
      said.set(key, { atMs: nowMs, withheld: 0 });
      return before?.withheld ?? 0;
    },
  };
}

/** The code of the fault that says that the database does not serve, by error, code or text; null for another line. */
function faultIn(fields: unknown, isAway: OutageOptions['isAway']): string | null {
  if (typeof fields !== 'object' || fields === null) return null;
  for (const error of [fields, ...Object.values(fields)]) {
    if (error instanceof Error && isAway(error)) return codeOf(error);
  }
  const { code, reason, message } = fields as Record<string, unknown>;
  const text = [reason, message].find((one) => typeof one === 'string' && AWAY_TEXT.test(one));
  if (typeof text === 'string') return AWAY_TEXT.exec(text)![1]!;
  return code === STORE_AWAY ? STORE_AWAY : null;
}

/** Of one that stands for another the other's. */
function codeOf(error: Error): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (code === STORE_AWAY && cause instanceof Error) return codeOf(cause);
  return typeof code === 'string' ? code : error.name;
}
