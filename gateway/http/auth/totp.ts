/** Second factor: TOTP of 30 s and six digits, each code spent once, locked after five failures. Decisions 2, I22. */
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { generateSecret, generateSync, generateURI } from 'otplib';
import type { FactorStore } from '../../../model/ports/factor-store.ts';
import type { IdentityStore, UserRow } from '../../../model/ports/identity-store.ts';
import { UNASKED, type AuditNote } from '../../../model/rows/audit.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { SecretBox } from '../../../model/ports/secret-box.ts';
import { recoveryHashOf } from './recovery-codes.ts';

const PERIOD_SECONDS = 30;
/** Steps either side of now whose codes are taken. Source: RFC 6238 §5.2. */
const STEPS_AROUND = 1;
/** A second factor counts as fresh for this long. Decisions 2. */
export const TOTP_FRESH_MS = 300_000;

/** Additional data under which a user's TOTP secret is sealed. */
export const totpContext = (userId: string): string => `user|totp_secret|${userId}`;

/** The step whose code this is, or null. Every candidate is compared, in constant time. */
export function stepOf(secret: string, code: string, nowMs: number): number | null {
  const now = Math.floor(nowMs / 1_000 / PERIOD_SECONDS);
  let found: number | null = null;
  for (let step = now - STEPS_AROUND; step <= now + STEPS_AROUND; step += 1) {
    const expected = Buffer.from(generateSync({ secret, epoch: step * PERIOD_SECONDS, period: PERIOD_SECONDS }));
    const given = Buffer.from(code);
    if (expected.length === given.length && timingSafeEqual(expected, given)) found = step;
  }
  return found;
}

export interface SecondFactor {
  /**
   * Null when the code is right and was not used before. Refuses: TOTP_REQUIRED with `reason` not_enrolled, locked,
   * invalid, used.
   */
  spend(user: UserRow, code: string): Promise<Refusal | null>;
  /** The same by a recovery code, in the place of the app's. Wrong ones of both are counted together. Console A19. */
  spendRecovery(user: UserRow, code: string): Promise<Refusal | null>;
  /** The same by the secret that is being enrolled. */
  spendPending(user: UserRow, code: string): Promise<Refusal | null>;
  /** A new secret, sealed for the user, with what an authenticator app scans. */
  begin(user: UserRow): { secret: string; sealed: string; otpauthUri: string };
}

type Store = Pick<IdentityStore, 'spendTotpStep' | 'noteTotpFailure' | 'totpLockedUntil'>;

/** The lock of a factor is nobody's request alone: it follows from five. */
const LOCKED: AuditNote = {
  actor: { kind: 'user', id: null },
  via: 'console',
  action: 'lockFactor',
  ...UNASKED,
};

export function createSecondFactor({
  identity,
  factors,
  secrets,
  nowMs,
}: {
  identity: Store;
  factors: Pick<FactorStore, 'spendRecoveryCode'>;
  secrets: SecretBox;
  nowMs: () => number;
}): SecondFactor {
  const noticed = () => ({ letterId: randomUUID(), nowMs: nowMs() });
  /** Counts a wrong code. */
  const failed = async (user: UserRow, reason: 'invalid' | 'used'): Promise<Refusal> => {
    const failure = await identity.noteTotpFailure(user.id, noticed(), LOCKED);
    return lockedAt(failure.lockedUntilMs, nowMs()) ?? refuse('TOTP_REQUIRED', { reason });
  };
  const spend = async (user: UserRow, sealed: string | null, code: string): Promise<Refusal | null> => {
    if (sealed === null) return refuse('TOTP_REQUIRED', { reason: 'not_enrolled' });
    const before = lockedAt(await identity.totpLockedUntil(user.id), nowMs());
    if (before !== null) return before;
    const step = stepOf(secrets.open(sealed, totpContext(user.id)), code, nowMs());
    if (step === null) return failed(user, 'invalid');
    if (await identity.spendTotpStep(user.id, step, nowMs())) return null;
    // Guesses that came together may have locked it since the look.
    return lockedAt(await identity.totpLockedUntil(user.id), nowMs()) ?? refuse('TOTP_REQUIRED', { reason: 'used' });
  };
  return {
    spend: async (user, code) => spend(user, user.totpConfirmed ? user.sealedTotpSecret : null, code),
    async spendRecovery(user, code) {
      const outcome = await factors.spendRecoveryCode(user.id, recoveryHashOf(code), noticed());
      if (outcome === 'spent') return null;
      if (outcome !== 'locked') return failed(user, outcome === 'used' ? 'used' : 'invalid');
      return lockedAt(await identity.totpLockedUntil(user.id), nowMs()) ?? failed(user, 'invalid');
    },
    spendPending: (user, code) => spend(user, user.pendingTotpSecret ?? null, code),
    begin(user) {
      const secret = generateSecret();
      return {
        secret,
        sealed: secrets.seal(secret, totpContext(user.id)),
        otpauthUri: generateURI({ issuer: 'Flock', label: user.email, secret }),
      };
    },
  };
}

/** TOTP_REQUIRED while a lock lasts; null without one, and for one that is over. */
const lockedAt = (untilMs: number | null, nowMs: number): Refusal | null =>
  untilMs !== null && untilMs > nowMs
    ? refuse('TOTP_REQUIRED', { reason: 'locked', until: new Date(untilMs).toISOString() })
    : null;
