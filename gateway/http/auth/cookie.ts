/** Cookies of sign-in: for the paths of sign-in alone, out of reach of scripts and of other sites. */
import type { GatewayConfig } from '../../deps.ts';

/** A `Set-Cookie`; an age of zero seconds makes the browser forget it. */
export function signInCookie(
  { publicUrl }: Pick<GatewayConfig, 'publicUrl'>,
  name: string,
  value: string,
  maxAgeSeconds: number,
): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  return `${name}=${value}; Path=/v1/auth; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`;
}
