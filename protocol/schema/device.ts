/** Login of a command line. Ecosystem X28. */
import { z } from 'zod';
import { ENVIRONMENTS } from '../slugs.ts';
import { count } from './numbers.ts';
import { instant, totpCode } from './values.ts';

const role = z.enum(['editor', 'viewer']);
const environment = z.enum(ENVIRONMENTS);

export const askDeviceBody = z.strictObject({});
export const deviceAsked = z.object({
  deviceCode: z.string().meta({ description: 'the secret of who asks: show it to nobody' }),
  userCode: z.string().meta({ description: '`XXXX-XXXX`: what the person types into the console' }),
  verificationUri: z.string().meta({ description: 'the page of the console' }),
  expiresInSeconds: count,
  intervalSeconds: count.meta({ description: 'between two questions' }),
});
export const takeDeviceKeyBody = z.strictObject({
  deviceCode: z
    .string()
    .regex(/^dvc_[a-z2-7]{26}\.[A-Za-z0-9_-]{43}$/, 'no code of POST /v1/auth/device')
    .meta({
      description: 'as `POST /v1/auth/device` gave it',
      examples: [`dvc_${'a'.repeat(26)}.${'A'.repeat(43)}`],
    }),
});
export const deviceTaken = z.object({
  status: z.enum(['pending', 'ready']).meta({ description: 'pending: nobody has approved the code yet' }),
  key: z.string().nullable().meta({ description: '`flk_…`, shown once' }),
  environment: environment.nullable(),
  role: role.nullable(),
  expiresAt: instant.nullable().meta({ description: 'the end of the key' }),
});
export const approveDeviceBody = z.strictObject({
  userCode: z
    .string()
    .regex(/^[B-DF-HJ-NP-TV-XZb-df-hj-np-tv-xz]{4}-?[B-DF-HJ-NP-TV-XZb-df-hj-np-tv-xz]{4}$/, 'no code: XXXX-XXXX')
    .meta({ description: 'as the command line shows it', examples: ['BCDF-GHJK'] }),
  environment: environment.default('sandbox'),
  role: role.default('viewer').meta({ description: 'of the key: not above your own' }),
  totp: totpCode.optional(),
});
export const deviceApproved = z.object({ approved: z.literal(true), environment, role });
