/** Users, their logins and factors, members and invitations. Console 2. */
import { z } from 'zod';
import { wholeListQuery } from '../envelope.ts';
import { count } from './numbers.ts';
import { ORG_ROLES } from '../slugs.ts';
import { PASSWORD_CHARS_MAX } from './account.ts';
import { passkeyAnswer } from './passkeys.ts';
import { freeText, instant, pageReply, pathId, recoveryCode, totpCode } from './values.ts';

export const loginParams = z.strictObject({ id: pathId('lgn') });
export const login = z.object({
  id: z.string(),
  current: z.boolean().meta({ description: 'the login that asks' }),
  method: z.enum(['password', 'password_totp', 'password_recovery_code', 'passkey', 'sso']),
  client: z.string().meta({ description: 'what the browser says of itself' }),
  ip: z.string(),
  createdAt: instant,
  lastSeenAt: instant,
  endsAt: instant.meta({ description: 'unless it is used again' }),
});
export const loginPage = pageReply(login);
export const loginsEnded = z.object({ ended: count });

// ── Oneself ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** Code points are counted by the rules of passwords; here only what is too long to look at is refused. */
const newPassword = z
  .string()
  .min(1)
  .refine((text) => [...text].length <= PASSWORD_CHARS_MAX, `at most ${PASSWORD_CHARS_MAX} characters`)
  .meta({ examples: ['seven grey herons wade upstream'] });
const email = freeText(320).meta({ examples: ['someone@example.com'] });
/** The secret of a link that came by mail. */
const linkToken = freeText(100);
export const me = z.object({
  id: z.string(),
  email: z.string(),
  secondFactor: z.boolean().meta({ description: 'codes of an app, or a passkey' }),
  totp: z.boolean().meta({ description: 'codes of an app' }),
  passkeys: count,
  recoveryCodes: count.meta({ description: 'that are left' }),
  loginId: z.string().nullable(),
});
export const emailBody = z.strictObject({ email });
export const accepted = z.object({
  accepted: z.literal(true).meta({ description: 'the same for every email; what there is to say comes by mail' }),
});
export const linkBody = z.strictObject({ token: linkToken });
export const linkPasswordBody = z.strictObject({ token: linkToken, password: newPassword });
export const emailDone = z.object({ email: z.string().meta({ description: 'to sign in with from now on' }) });
export const passwordBody = z.strictObject({
  password: newPassword,
  current: z
    .string()
    .min(1)
    .max(PASSWORD_CHARS_MAX)
    .optional()
    .meta({ description: 'the present password; without it a fresh second factor is needed' }),
});
export const passwordChanged = z.object({ changed: z.literal(true) });
export const newEmailBody = z.strictObject({
  email,
  totp: totpCode.optional(),
  passkey: passkeyAnswer.optional(),
});

// ── Second factors ───────────────────────────────────────────────────────────────────────────────────────────────

/** A code of the app, or a recovery code where the device is lost. */
export const factorProofBody = z.strictObject({ totp: totpCode.optional(), recoveryCode: recoveryCode.optional() });
export const disableBody = factorProofBody.extend({ passkey: passkeyAnswer.optional() });
export const enrolBody = factorProofBody.extend({
  password: z
    .string()
    .min(1)
    .max(PASSWORD_CHARS_MAX)
    .optional()
    .meta({ description: 'the present one: needed where there is no factor yet and you signed in over 5 minutes ago' }),
});
export const factorRemoved = z.object({ removed: z.literal(true) });
export const recoveryCodesBody = z.strictObject({ totp: totpCode.optional() });
export const recoveryCodesMade = z.object({
  codes: z.array(z.string()).meta({ description: 'ten, shown once; those of before are good no more' }),
});

// ── Invitations ──────────────────────────────────────────────────────────────────────────────────────────────────

export const invitationParams = z.strictObject({ id: pathId('ivt') });
export const invitationBody = z.strictObject({ email, role: z.enum(ORG_ROLES), totp: totpCode.optional() });
export const invitation = z.object({
  id: z.string(),
  email: z.string(),
  role: z.enum(ORG_ROLES),
  status: z.enum(['pending', 'accepted', 'revoked', 'expired', 'replaced']),
  createdAt: instant,
  expiresAt: instant,
});
export const invitationPage = pageReply(invitation);
export const invitationLook = z.object({
  organization: z.string(),
  email: z.string(),
  role: z.enum(ORG_ROLES),
  known: z.boolean().meta({ description: 'the email has a sign-in: accept there; else a password is set here' }),
  sso: z.boolean().meta({ description: 'the organization lets this email in by its provider alone: sign in there' }),
});
export const invitationAccepted = z.object({ organizationId: z.string(), role: z.enum(ORG_ROLES) });

// ── Members ──────────────────────────────────────────────────────────────────────────────────────────────────────

export const memberQuery = wholeListQuery({
  email: freeText(254).optional().meta({ description: 'a part of it, in any case of letters' }),
});
export const memberParams = z.strictObject({ userId: pathId('usr') });
export const memberBody = z.strictObject({ role: z.enum(ORG_ROLES), totp: totpCode.optional() });
export const memberChanged = z.object({ userId: z.string(), role: z.enum(ORG_ROLES) });
export const memberRemoved = z.object({
  userId: z.string(),
  removed: z.literal(true),
  apiKeysMinted: count.meta({ description: 'keys that they minted, which go on: they are the organization’s' }),
});
export const organizationParams = z.strictObject({ id: pathId('org') });
export const renameBody = z.strictObject({ name: freeText(120) });
export const renamed = z.object({ id: z.string(), name: z.string() });
export const transferBody = z.strictObject({
  userId: freeText(40),
  then: z.enum(['editor', 'viewer', 'leave']).meta({ description: 'what becomes of the one who hands over' }),
  totp: totpCode.optional(),
  passkey: passkeyAnswer.optional(),
});
export const transferred = z.object({
  organizationId: z.string(),
  owner: z.string(),
  role: z.enum(['editor', 'viewer']).nullable(),
});
