/** payments E8: pages of registered origins ask a checkout from a browser, others do not. */
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { enrol, raw, startTestCloud } from '../support/gateway.ts';
import { FIXED, merchant } from '../support/payments.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9' });
test.after.always(() => cloud.stop());
const ORIGIN = 'https://shop.example';

test('payments E8: a preflight is answered for the origins of the link’s account alone, and an answer names the one that asked', async (t) => {
  const { owner, sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const asOwner = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(owner), environment: 'sandbox' });
  await asOwner.must('putPaymentSettings', { body: { active: true, displayName: 'Shop', origins: [ORIGIN] } });
  const made = await merchant(cloud, sandbox)('POST', '/v1/payments/links', FIXED);
  const { slug } = made.json.data as { slug: string };
  const ask = (method: string, path: string, origin: string | null, body?: string) =>
    raw(cloud.url, method, path, {
      headers: {
        ...(origin === null ? {} : { origin }),
        ...(method === 'OPTIONS'
          ? { 'access-control-request-method': 'POST' }
          : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    });
  for (const path of [`/v1/checkout/links/${slug}`, `/v1/checkout/links/${slug}/sessions`]) {
    const { status, headers, text } = await ask('OPTIONS', path, ORIGIN);
    t.is(status, 204, path);
    t.is(text, '');
    t.is(headers.get('access-control-allow-origin'), ORIGIN);
    t.is(headers.get('access-control-allow-methods'), 'GET, POST');
    t.is(headers.get('access-control-allow-headers'), 'content-type');
    t.is(headers.get('vary'), 'Origin');
    t.is(headers.get('access-control-allow-credentials'), null);
    for (const other of [
      'https://evil.example',
      'null',
      `${ORIGIN}:8443`,
      'http://shop.example',
      `${ORIGIN}.evil.example`,
    ]) {
      const refused = await ask('OPTIONS', path, other);
      t.is(refused.json.error?.code, 'ORIGIN_NOT_REGISTERED', other);
      t.is(refused.headers.get('access-control-allow-origin'), null);
    }
  }
  const opened = await ask('POST', `/v1/checkout/links/${slug}/sessions`, ORIGIN, '{}');
  t.is(opened.status, 201);
  t.is(opened.headers.get('access-control-allow-origin'), ORIGIN);
  const { id } = opened.json.data as { id: string };
  t.is((await ask('OPTIONS', `/v1/checkout/sessions/${id}`, ORIGIN)).status, 204);
  for (const path of ['/v1/checkout/links/nobody-has-this', '/v1/checkout/else', '/v1/checkout/links/a/b/c'])
    t.is((await ask('OPTIONS', path, ORIGIN)).status, 404, path);
  t.is((await cloud.database.owner`select from payment where account_id = ${sandbox.accountId}`).length, 1);
});
