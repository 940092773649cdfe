/** Users, their logins and factors, members and invitations. Console 2. */
import { z } from 'zod';
import { count } from './numbers.ts';
import { ORG_ROLES } from '../slugs.ts';
import { freeText, instant, pageReply, pathId, totpCode } from './values.ts';

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

// ── Members ──────────────────────────────────────────────────────────────────────────────────────────────────────

export const memberParams = z.strictObject({ userId: pathId('usr') });
export const memberBody = z.strictObject({ role: z.enum(ORG_ROLES), totp: totpCode.optional() });
export const memberChanged = z.object({ userId: z.string(), role: z.enum(ORG_ROLES) });
export const memberRemoved = z.object({
  userId: z.string(),
  removed: z.literal(true),
  apiKeysMinted: count.meta({ description: 'keys that they minted, which go on: they are the organization’s' }),
});
export const organizationParams = z.strictObject({ id: pathId('org') });
export const transferBody = z.strictObject({
  userId: freeText(40),
  then: z.enum(['editor', 'viewer', 'leave']).meta({ description: 'what becomes of the one who hands over' }),
  totp: totpCode.optional(),
});
export const transferred = z.object({
  organizationId: z.string(),
  owner: z.string(),
  role: z.enum(['editor', 'viewer']).nullable(),
});
