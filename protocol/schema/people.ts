/** Users, their logins and factors, members and invitations. Console 2. */
import { z } from 'zod';
import { count } from './numbers.ts';
import { instant, pageReply, pathId } from './values.ts';

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
