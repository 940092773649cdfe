/**
 * Passwords of the built-in issuer: argon2id with the library's defaults (19 MiB, 2 passes, 1 lane: OWASP's minimum).
 */
import { hash, verify } from '@node-rs/argon2';

/** Parameters that `hash` uses. */
const NOW = { m: 19_456, t: 2, p: 1 };

/** PHC text of a password. */
export function hashPassword(password: string): Promise<string> {
  return hash(password);
}

/** Whether a hash was made with less than today's parameters. Console A5. */
export function isOutdated(passwordHash: string): boolean {
  const [, m, t, p] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$/.exec(passwordHash) ?? [];
  return !(Number(m) >= NOW.m && Number(t) >= NOW.t && Number(p) >= NOW.p);
}

// Hash of a password that nobody has: an unknown email costs the same time as a known one.
let dummy: Promise<string> | null = null;

/** Whether the password is the hash's; `null` stands for a user who does not exist. */
export async function isPassword(passwordHash: string | null, password: string): Promise<boolean> {
  dummy ??= hash('correct horse battery staple, but longer');
  const matches = await verify(passwordHash ?? (await dummy), password);
  return matches && passwordHash !== null;
}
