import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import test from 'ava';
import { createCertificateLook } from '../../protocol/node/certificate-look.ts';
import { until } from '../support/until.ts';

const DAY_MS = 86_400_000;

test('ecosystem X49 the days of a certificate are looked at in the background, once an hour, and go down by themselves', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flock-certificate-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '20', '-subj'];
  execFileSync('openssl', ['req', ...made, '/CN=localhost', '-keyout', key, '-out', cert], { stdio: 'ignore' });
  let looks = 0;
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
    socket.on('error', () => undefined).end();
  });
  server.on('connection', () => {
    looks += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  let nowMs = Date.now();
  const days = createCertificateLook(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, () => nowMs);
  t.is(days(), null, 'nobody waits');
  await until('it was seen', () => days() !== null);
  t.true(Math.abs(days()! - 20) < 0.1, String(days()));
  nowMs += 21 * DAY_MS;
  t.true(days()! < 0, 'one that has ended says so');
  await until('it was looked at once more', () => looks === 2);
});

test('ecosystem X49 an address without TLS has no certificate, and one that nobody answers says nothing', async (t) => {
  t.is(createCertificateLook('http://localhost:8080')(), null);
  const away = createCertificateLook('https://127.0.0.1:1');
  t.is(away(), null);
  t.is(away(), null);
});
