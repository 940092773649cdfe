import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readConfig } from '../../supervision/config.ts';
import { startTestCloud } from '../support/gateway.ts';

const TOKEN = 'ab'.repeat(32);
const tokenFile = join(mkdtempSync(join(tmpdir(), 'flock-metrics-')), 'token');
writeFileSync(tokenFile, `${TOKEN}\n`);
const cloud = await startTestCloud({
  METRICS_TOKEN_FILE: tokenFile,
  TRUSTED_PROXIES: '127.0.0.1',
  SECURITY_CONTACT: 'mailto:security@example.com',
  PUBLIC_URL: 'https://cloud.example',
});
test.after.always(() => cloud.stop());

const scrape = (headers: Record<string, string> = {}) => fetch(`${cloud.url}/metrics`, { headers });

test('ecosystem X51 this machine reads the metrics of a node; who came through a proxy is told that there is no such path, and needs the token', async (t) => {
  const own = await scrape();
  t.is(own.status, 200);
  t.regex(own.headers.get('content-type')!, /^text\/plain/);
  t.regex(await own.text(), /^svc_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
  for (const headers of [
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-forwarded-for': '203.0.113.7' },
    { 'x-forwarded-for': '203.0.113.7', authorization: `Bearer ${TOKEN}x` },
  ]) {
    const refused = await scrape(headers);
    t.is(refused.status, 404, JSON.stringify(headers));
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    t.is(error.code, 'NOT_FOUND');
    t.regex(error.message, /METRICS_ALLOW and METRICS_TOKEN_FILE/);
  }
  const shown = await scrape({ 'x-forwarded-for': '203.0.113.7', authorization: `Bearer ${TOKEN}` });
  t.is(shown.status, 200);
});

test('ecosystem X49 requests are counted by operation and status, refusals by code', async (t) => {
  const valueOf = async (series: string) => {
    const line = (await (await scrape()).text()).split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.split(' ')[1]);
  };
  const requests = 'svc_requests_total{operation="listAddresses",status="401"}',
    refusals = 'svc_refusals_total{code="UNAUTHORIZED"}';
  const before = [await valueOf(requests), await valueOf(refusals)];
  t.is((await fetch(`${cloud.url}/v1/addresses`)).status, 401);
  t.deepEqual([await valueOf(requests), await valueOf(refusals)], [before[0]! + 1, before[1]! + 1]);
});

test('ecosystem X74 who found a fault learns where to write from /.well-known/security.txt, where the operator says it', async (t) => {
  const response = await fetch(`${cloud.url}/.well-known/security.txt`);
  t.is(response.status, 200);
  t.regex(response.headers.get('content-type')!, /^text\/plain/);
  const fields = new Map(
    (await response.text())
      .trim()
      .split('\n')
      .map((line) => line.split(': ', 2) as [string, string]),
  );
  t.is(fields.get('Contact'), 'mailto:security@example.com');
  t.is(fields.get('Canonical'), 'https://cloud.example/.well-known/security.txt');
  const days = (Date.parse(fields.get('Expires')!) - Date.now()) / 86_400_000;
  t.true(days > 170 && days < 365, String(days));
  for (const wrong of ['security@example.com', 'http://example.com', 'mailto:nobody'])
    t.throws(() => readConfig({ SECURITY_CONTACT: wrong }), {
      message: /SECURITY_CONTACT: is an address such as mailto:/,
    });
});
