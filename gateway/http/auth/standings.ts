/**
 * What the tokens of our own issuer are worth now: whether the login is open, and the role that is stored. Remembered
 * for 15 s, so that what another node changed takes effect here within that time; what this node changes, at once.
 * Console A13.
 */
import type { LoginStore, StandingOfToken } from '../../../model/ports/login-store.ts';
import type { Bearer } from '../context.ts';

const REMEMBER_MS = 15_000;
const USERS_MAX = 100_000;
/** Logins and organizations of one user. */
const PER_USER_MAX = 100;

export interface Standings {
  /** Null for a user that there is none of. */
  of(bearer: Pick<Bearer, 'userId' | 'loginId' | 'organizationId'>): Promise<StandingOfToken | null>;
  /** Drops what is remembered of a user whose logins or memberships changed here, and says so. */
  forget(userId: string): void;
  /** Drops it so that the next question is asked of the database. */
  askAnew(userId: string): void;
}

interface Remembered {
  readonly standing: StandingOfToken;
  readonly untilMs: number;
}

/** `elapsedMs` never steps: with the wall clock a step backwards would prolong a login that ended. */
export function createStandings(
  store: Pick<LoginStore, 'standing'>,
  nowMs: () => number,
  elapsedMs: () => number = () => performance.now(),
  onForget: (userId: string) => void = () => undefined,
): Standings {
  const users = new Map<string, Map<string, Remembered>>();
  /** How often something was forgotten: what was read before that is not remembered. */
  let forgotten = 0;
  const remember = (userId: string, key: string, entry: Remembered): void => {
    let known = users.get(userId);
    if (known === undefined || known.size >= PER_USER_MAX) {
      if (users.size >= USERS_MAX) users.delete(users.keys().next().value!);
      known = new Map();
      users.set(userId, known);
    }
    known.set(key, entry);
  };
  const askAnew = (userId: string): void => {
    forgotten += 1;
    users.delete(userId);
  };
  return {
    async of({ userId, loginId, organizationId }) {
      const key = `${loginId}|${organizationId}`;
      const known = users.get(userId)?.get(key);
      // From before the question: an answer may have lain with a process that was frozen.
      const askedMs = elapsedMs();
      if (known !== undefined && askedMs < known.untilMs) return known.standing;
      const before = forgotten;
      const standing = await store.standing(userId, loginId, organizationId, nowMs());
      if (standing !== null && forgotten === before)
        remember(userId, key, { standing, untilMs: askedMs + REMEMBER_MS });
      return standing;
    },
    forget(userId) {
      askAnew(userId);
      onForget(userId);
    },
    askAnew,
  };
}
