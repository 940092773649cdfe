/** Sign-in, organizations, settings, billing. Spec §2.9, §4.4; decisions 2. */
import { z } from 'zod';
import { BANDS, ENVIRONMENTS, ORG_ROLES, TIERS } from '../slugs.ts';
import { passkeyAnswer } from './passkeys.ts';
import { freeText, instant, pageReply, pathId, recoveryCode, shortText, totpCode } from './values.ts';
import { between, count } from './numbers.ts';

// ── Authentication ───────────────────────────────────────────────────────────────────────────────────────────────

export const PASSWORD_CHARS_MAX = 1_024;
export const loginBody = z.strictObject({
  email: freeText(320),
  password: z.string().min(1).max(PASSWORD_CHARS_MAX),
  totp: totpCode.optional(),
  recoveryCode: recoveryCode.optional().meta({ description: 'in place of `totp`, where the device is lost' }),
  organizationId: shortText(40).optional(),
});
export const tokenReply = z.object({
  accessToken: z.string(),
  tokenType: z.literal('Bearer'),
  expiresInSeconds: count,
  organizationId: z.string().nullable(),
  role: z.enum(ORG_ROLES).nullable(),
  totpAt: instant.nullable(),
});
export const signedOut = z.object({ signedOut: z.literal(true) });
export const switchBody = z.strictObject({ organizationId: freeText(40) });
export const stepUpBody = z.strictObject({
  totp: totpCode.optional(),
  passkey: passkeyAnswer.optional().meta({ description: 'the answer to a question of `POST /v1/auth/passkeys/ask`' }),
});
export const confirmTotpBody = z.strictObject({ totp: totpCode });
export const totpEnrolled = z.object({
  secret: z.string().meta({ description: 'base32, shown once' }),
  otpauthUri: z.string(),
});
export const jwks = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });

// ── Organizations ────────────────────────────────────────────────────────────────────────────────────────────────

export const createOrganizationBody = z.strictObject({ name: freeText(120) });
export const organization = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(ORG_ROLES),
  createdAt: instant,
});
export const organizationPage = pageReply(organization);

// ── Settings ─────────────────────────────────────────────────────────────────────────────────────────────────────

export const mintApiKeyBody = z.strictObject({
  label: freeText(120),
  environment: z.enum(ENVIRONMENTS),
  role: z.enum(['editor', 'viewer']).default('editor').meta({ description: 'a viewer key reads only' }),
  expiresAt: instant.optional().meta({ description: 'at most a year ahead; without it the key has no end' }),
  totp: totpCode.optional(),
});
export const apiKeyParams = z.strictObject({ id: pathId('key') });
export const apiKey = z.object({
  id: z.string(),
  label: z.string(),
  environment: z.enum(ENVIRONMENTS),
  prefix: z.string().meta({ description: 'masked' }),
  role: z.enum(['editor', 'viewer']),
  status: z.enum(['active', 'expired', 'revoked']),
  createdAt: instant,
  createdBy: z.string().nullable().meta({ description: 'the user who minted it' }),
  lastUsedAt: instant.nullable().meta({ description: 'right to the minute' }),
  expiresAt: instant.nullable(),
  revokedAt: instant.nullable(),
});
export const apiKeyCreated = apiKey.extend({ key: z.string().meta({ description: '`flk_…`, shown once' }) });
export const apiKeyPage = pageReply(apiKey);

export const edgeKeyParams = z.strictObject({ id: pathId('ek') });
export const edgeKey = z.object({
  id: z.string(),
  label: z.string(),
  prefix: z.string().meta({ description: 'masked' }),
  status: z
    .enum(['active', 'revoking', 'revoked'])
    .meta({ description: '`revoking`: asked for, and not yet signed by the edge' }),
  createdAt: instant,
  revokeAskedAt: instant.nullable(),
  revokedAt: instant.nullable(),
});
export const edgeKeyPage = z.object({ content: z.array(edgeKey), next: z.string().nullable() });

export const edgeSetup = z.object({
  environment: z.enum(ENVIRONMENTS),
  command: z.string().meta({ description: 'with Docker: the image is what `docker compose build edge` makes' }),
  checkoutCommand: z.string().meta({ description: 'without Docker: in a checkout of Flock after `npm ci`' }),
  variables: z.array(z.object({ name: z.string(), value: z.string().nullable(), description: z.string() })),
});

export const rotationParams = z.strictObject({ id: pathId('rot') });
export const rotationBody = z.strictObject({ totp: totpCode.optional(), passkey: passkeyAnswer.optional() });
export const rotation = z.object({
  id: z.string(),
  publicKey: z.string(),
  detectedAt: instant,
  families: z.array(z.string()),
});
export const rotationPage = pageReply(rotation);
export const rotationDecided = z.object({ id: z.string(), decision: z.enum(['approved', 'rejected']) });

export const member = z.object({
  userId: z.string(),
  email: z.string(),
  role: z.enum(ORG_ROLES),
  totpConfirmed: z.boolean(),
});
export const memberPage = pageReply(member);

// ── Billing ──────────────────────────────────────────────────────────────────────────────────────────────────────

export const bandBody = z.strictObject({ band: z.enum(BANDS) });
export const plan = z.object({
  tier: z.enum(TIERS),
  band: z.enum(BANDS),
  subscription: z.enum(['active', 'lapsed']),
  paymentsActive: z.boolean(),
  pendingBand: z
    .object({ tier: z.enum(TIERS), band: z.enum(BANDS), effectiveAt: instant })
    .nullable()
    .meta({ description: 'a smaller plan that begins with the next period' }),
});
export const usage = z.object({
  period: z.object({ start: z.iso.date(), end: z.iso.date() }),
  plan,
  activeAddresses: z.object({
    current: count,
    billed: count.meta({ description: 'the highest count of the month' }),
    limit: count.nullable().meta({ description: 'null in sandbox, which is not metered' }),
    days: z
      .array(z.object({ day: z.iso.date(), highest: count }))
      .readonly()
      .meta({ description: 'UTC days of the month so far with their highest counts, in turn; none before the first' }),
  }),
  settledTransactions: z.object({ count, included: count.nullable() }),
  overage: z.object({ transactions: count, amount: z.string(), currency: z.literal('USD') }),
  projected: z.object({ transactions: count, overageAmount: z.string() }),
  warnings: z
    .array(
      z.object({
        quota: z.enum(['addresses', 'settledTransactions', 'webhooks', 'edgeSessions']),
        threshold: between(80, 100).meta({ description: 'percent: 80 or 100', examples: [80] }),
        used: count,
        limit: count,
      }),
    )
    .meta({
      description: 'what reached 80 % or 100 % in the month, with the figures of then; owners were mailed once',
    }),
});
