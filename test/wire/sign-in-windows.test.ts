/** Windows of password guesses. Console A17, A18. A file of its own: all guesses of a file come from one address. */
import test from 'ava';
import { codeOf, raw, startTestCloud, type Person } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const login = (who: Person, more: Record<string, string> = {}) =>
  raw(cloud.url, 'POST', '/v1/auth/login', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: who.email, password: who.password, ...more }),
  });

test('console A18 (fault 10): a stranger who guesses locks nobody out who signed in with the same browser before', async (t) => {
  const { owner } = await cloud.organization();
  const [device] = (await login(owner, { totp: codeOf(owner) })).headers.getSetCookie();
  const from = (who: Person, cookie: string, more: Record<string, string> = {}) =>
    raw(cloud.url, 'POST', '/v1/auth/login', {
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify({ email: who.email, password: who.password, ...more }),
    });
  const mine = device!.split(';')[0]!;
  for (let attempt = 0; attempt < 11; attempt += 1) await login({ ...owner, password: `wrong ${attempt}` });
  t.is((await login(owner, { totp: codeOf(owner, 1) })).status, 429, 'from the same network without the cookie');
  t.is((await from(owner, mine, { totp: codeOf(owner, 1) })).status, 200);
  t.is((await from(owner, 'flock_device=v1.made.up', {})).status, 429);
  const other = await cloud.organization();
  for (let attempt = 0; attempt < 11; attempt += 1) await login({ ...other.owner, password: `wrong ${attempt}` });
  t.is((await from(other.owner, mine)).status, 429, "another person's device");
  for (let attempt = 0; attempt < 11; attempt += 1) await from({ ...owner, password: `wrong ${attempt}` }, mine);
  t.is((await from(owner, mine)).status, 429, 'a device has a window of its own');
});
