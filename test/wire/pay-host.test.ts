/** payments P7: the host of payers serves payers, and nothing else. */
import { request } from 'node:http';
import test from 'ava';
import { servesOn } from '../../gateway/http/pay-host.ts';
import { enrol, startTestCloud } from '../support/gateway.ts';
import { FIXED, merchant } from '../support/payments.ts';

const cloud = await startTestCloud({
  ETH_RPC_URLS: 'http://127.0.0.1:9',
  PAY_URL: 'https://pay.example',
});
test.after.always(() => cloud.stop());

/** Status of a path asked of a host. */
const asked = (host: string, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(cloud.url);
    request({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .on('error', reject)
      .end();
  });

test('payments P7: the host of PAY_URL serves the pay page, invoices, the element and checkout alone; the other one serves all', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { slug, url } = (await merchant(cloud, sandbox)('POST', '/v1/payments/links', FIXED)).json.data;
  t.is(url, `https://pay.example/pay/${slug}`);
  for (const host of ['pay.example', 'PAY.example:443', 'pay.example.']) {
    t.is(await asked(host, `/pay/${slug}`), 200, host);
    t.is(await asked(host, `/v1/checkout/links/${slug}`), 200, host);
    for (const path of [
      '/',
      '/console/',
      '/console',
      '/docs',
      '/v1/openapi.json',
      '/v1/payments/links',
      '/health/ready',
      '/metrics',
      '/pay',
      '/pay/../console/',
      '/%63onsole/',
      '/v1/checkout/../addresses',
    ])
      t.is(await asked(host, path), 404, `${host} ${path}`);
  }
  t.is(await asked('flock.example', '/docs/'), 200);
  t.is(await asked('flock.example', `/pay/${slug}`), 200);
  t.is(await asked('10.0.0.7:8080', '/docs/'), 200, 'as a balancer asks');
});

test('payments P7: one host for both, two ports of one name, and a name that is no host', (t) => {
  t.true(servesOn('https://a.example', undefined)('a.example', '/console/'));
  t.true(servesOn('https://a.example', 'https://a.example')('a.example', '/console/'));
  const ports = servesOn('http://localhost:8080', 'http://localhost:8081');
  t.false(ports('localhost:8081', '/console/'));
  t.true(ports('localhost:8080', '/console/'));
  t.true(ports('localhost:8081', '/pay/slug'));
  t.true(ports(undefined, '/console/') && ports('a b', '/console/'));
});
