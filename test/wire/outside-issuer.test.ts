/** A cloud whose people sign in at an issuer of their own. Console A44. */
import test from 'ava';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { startTestCloud } from '../support/gateway.ts';

const ISSUER = 'https://people.example';
const OWN_PEOPLE =
  /^\/v1\/(?:auth\/(?:login|refresh|register|verify|password|email|step-up|totp|recovery-codes|passkeys|sso|factor-reset|invitations\/accept)|settings\/(?:sso|domains)|admin\/factor-resets)(?:\/|$)/;

test('console A44: with an outside issuer the paths of passwords, factors and providers are not there, and say who has them', async (t) => {
  const cloud = await startTestCloud({ OIDC_ISSUER: ISSUER });
  t.teardown(() => cloud.stop());
  const routes = ROUTE_LIST.filter(({ where }) => where !== 'edge');
  const gone: string[] = [];
  for (const { method, path, operationId } of routes.filter((route) => route.path.startsWith('/v1/'))) {
    const answer = await fetch(`${cloud.url}${path.replaceAll(/\{[^}]+\}/g, 'x')}`, {
      method,
      ...(method === 'GET' ? {} : { headers: { 'content-type': 'application/json' }, body: '{}' }),
    });
    const { error } = (await answer.json()) as { error: { code: string; details: Record<string, unknown> } | null };
    if (error?.details['servedBy'] !== ISSUER) continue;
    t.is(answer.status, 404);
    t.is(error.code, 'NOT_FOUND');
    gone.push(operationId);
  }
  t.deepEqual(
    gone.sort(),
    routes.flatMap(({ path, operationId }) => (OWN_PEOPLE.test(path) ? [operationId] : [])).sort(),
  );
  t.is((await fetch(`${cloud.url}/v1/addresses`)).status, 401, 'the others ask for a credential as ever');
});
