/** Single sign-on: connections, domains, and signing in by them. Console A35–A42. */
import { z } from 'zod';
import { PASSWORD_CHARS_MAX } from './account.ts';
import { passkeyAnswer } from './passkeys.ts';
import { freeText, instant, pageReply, pathId, recoveryCode, totpCode } from './values.ts';

const JIT_ROLES = ['viewer', 'editor'] as const;

export const ssoParams = z.strictObject({ id: pathId('sso') });
export const ssoBody = z.strictObject({
  issuer: z
    .string()
    .max(500)
    .regex(/^https?:\/\/[^\s?#]+$/, 'expected the issuer as its discovery document names it')
    .meta({ examples: ['https://login.example.com/tenant'] }),
  clientId: freeText(300),
  clientSecret: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: 'absent: none, or the one that is kept where issuer and client stay' }),
  jitRole: z
    .enum(JIT_ROLES)
    .default('viewer')
    .meta({ description: 'what a person becomes who comes for the first time' }),
});
export const ssoConnection = z.object({
  id: z.string(),
  kind: z.enum(['oidc', 'saml']),
  issuer: z.string(),
  clientId: z.string().meta({ description: 'what we are called at the provider; of SAML our entity id' }),
  hasSecret: z.boolean(),
  jitRole: z.enum(JIT_ROLES),
  redirectUri: z.string().meta({ description: 'to be registered at the provider' }),
  certificates: z
    .array(z.object({ endsAt: instant }))
    .readonly()
    .meta({ description: 'of a SAML provider: one, or two while they change' }),
  enforcedAt: instant.nullable().meta({ description: 'since when members of the domains get in by it alone' }),
  breakGlass: z.array(z.string()).readonly().meta({ description: 'owners who get in without it, by id' }),
  closedBy: z
    .enum(['SSO_OIDC'])
    .nullable()
    .meta({ description: 'the setting by which the operator lets nobody in by it; null while people get in' }),
  createdAt: instant,
});
export const samlBody = z.strictObject({
  metadata: z
    .string()
    .min(1)
    .max(256 * 1_024)
    .meta({
      description: 'of the provider, XML, pasted: it is never fetched',
      contentMediaType: 'application/xml',
      examples: ['<EntityDescriptor …'],
    }),
  jitRole: z
    .enum(JIT_ROLES)
    .default('viewer')
    .meta({ description: 'what a person becomes who comes for the first time' }),
});
export const enforcementBody = z.strictObject({
  enforced: z.boolean(),
  breakGlass: z
    .array(freeText(40))
    .max(20)
    .optional()
    .meta({ description: 'ids of owners with password and second factor who get in without the provider' }),
  totp: totpCode.optional(),
  passkey: passkeyAnswer.optional(),
});
export const ssoPage = pageReply(ssoConnection);
export const removed = z.object({ removed: z.literal(true) });

export const domainParams = z.strictObject({ id: pathId('dmn') });
export const domainBody = z.strictObject({ domain: freeText(253).meta({ examples: ['example.com'] }) });
export const domain = z.object({
  id: z.string(),
  domain: z.string(),
  status: z
    .enum(['pending', 'verified', 'unverified'])
    .meta({ description: '`unverified`: its record was gone for three weeks; nobody new comes by it' }),
  record: z.object({ name: z.string(), type: z.literal('TXT'), value: z.string() }),
  verifiedAt: instant.nullable(),
  createdAt: instant,
});
export const domainPage = pageReply(domain);

export const discoverBody = z.strictObject({ email: freeText(320).meta({ examples: ['someone@example.com'] }) });
export const discovered = z.object({
  connectionId: z.string().nullable().meta({ description: 'the same for every email of a domain' }),
});
export const startSsoBody = z.strictObject({ connectionId: freeText(40) });
export const ssoStarted = z.object({ url: z.string().meta({ description: 'of the provider, to go to' }) });
/** What the provider gave to the page that it led back to. */
export const finishSsoBody = z.strictObject({
  state: freeText(200),
  code: z.string().min(1).max(4_000).optional(),
  iss: z.string().max(500).optional(),
  error: z.string().max(200).optional(),
});
export const linkSsoBody = z.strictObject({
  password: z.string().min(1).max(PASSWORD_CHARS_MAX),
  totp: totpCode.optional(),
  recoveryCode: recoveryCode.optional(),
});
