/** The hosted pay page on a node that may not serve: it opens nothing, and says so as a page. payments H1, S19. */
import test from 'ava';
import { enrol, eventually, raw, startTestCloud } from '../support/gateway.ts';
import { FIXED, merchant } from '../support/payments.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9', POLYGON_RPC_URLS: 'http://127.0.0.1:9' });
test.after.always(() => cloud.stop());

test('payments H1: while the heartbeat is not answered no page opens a payment; each is a page that says to come again', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const made = await merchant(cloud, sandbox)('POST', '/v1/payments/links', FIXED);
  const { slug, id } = made.json.data as { slug: string; id: string };
  const ask = (method: 'GET' | 'POST', path: string) =>
    raw(cloud.url, method, path, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      ...(method === 'POST' ? { body: '' } : {}),
    });
  t.is((await ask('GET', `/pay/${slug}`)).status, 200);
  const held = await cloud.database.admin.reserve();
  try {
    await held`begin`;
    await held`lock table flock.cloud_node in access exclusive mode`;
    await eventually(
      'the node serves nothing',
      () => fetch(`${cloud.url}/v1/payments/links`),
      ({ status }) => status === 503,
    );
    for (const [method, path] of [
      ['GET', `/pay/${slug}`],
      ['POST', `/pay/${slug}`],
      ['GET', `/pay/${slug}/pay_aaaaaaaaaaaaaaaaaaaaaaaaaa`],
      ['GET', `/pay/${slug}/pay_aaaaaaaaaaaaaaaaaaaaaaaaaa/now`],
    ] as const) {
      const { status, text, headers } = await ask(method, path);
      t.is(status, 503, `${method} ${path}`);
      t.regex(headers.get('content-type')!, /^text\/html/);
      t.regex(text, /<html/);
      t.is(headers.get('retry-after'), '1');
      t.regex(headers.get('content-security-policy')!, /default-src 'none'/);
    }
  } finally {
    await held`rollback`;
    held.release();
  }
  t.is((await cloud.database.owner`select from payment where link_id = ${id}`).length, 0);
  await eventually(
    'it serves again',
    () => ask('POST', `/pay/${slug}`),
    ({ status }) => status === 303,
  );
});

test('payments H1: a request that is none, and a body that no form sends, are answered as pages', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const made = await merchant(cloud, sandbox)('POST', '/v1/payments/links', FIXED);
  const { slug } = made.json.data as { slug: string };
  for (const [headers, body, status] of [
    [{ 'content-type': 'application/json' }, '{}', 415],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, `email=${'x'.repeat(20_000)}`, 413],
  ] as const) {
    const answer = await raw(cloud.url, 'POST', `/pay/${slug}`, { headers, body });
    t.is(answer.status, status);
    t.regex(answer.headers.get('content-type')!, /^text\/html/);
  }
});
