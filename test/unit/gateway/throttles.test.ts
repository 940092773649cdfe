/** Windows of sign-in guesses. Console A17, A18. */
import test from 'ava';
import fc from 'fast-check';
import { createThrottles, networkOf } from '../../../gateway/http/auth/throttles.ts';
import { createMemoryRateLimiter } from '../../../gateway/http/rate-limit.ts';
import { createSecretBox } from '../../../persistence/secret-box.ts';

const MINUTE_MS = 60_000;
const EMAIL = 'a@example.com';
const throttles = (clock: { nowMs: number }) =>
  createThrottles({
    rateLimiter: createMemoryRateLimiter(),
    secrets: createSecretBox([Buffer.alloc(32, 7)]),
    nowMs: () => clock.nowMs,
    config: { publicUrl: 'https://flock.example.com' },
  });
const address = (n: number) => `10.${Math.floor(n / 256)}.${n % 256}.1`;

test('console A17: 10 a minute from one network, 100 an hour from everywhere, 60 a minute of one address', async (t) => {
  const clock = { nowMs: 0 };
  const { refusal } = throttles(clock);
  const guess = (from: string, email = EMAIL) => refusal({ address: from, email, device: undefined });
  for (let n = 0; n < 10; n += 1) t.is(await guess(`192.0.2.${n}`), null);
  t.like(await guess('192.0.2.99'), { code: 'RATE_LIMIT_EXCEEDED', details: { windowSeconds: 60 } });
  t.is(await guess('192.0.3.1'), null, 'another network');
  t.is(await guess('192.0.2.1', 'b@example.com'), null, 'another email');
  clock.nowMs += MINUTE_MS;
  let taken = 11;
  for (let n = 0; taken < 100; n += 1, taken += 1) t.is(await guess(address(n)), null, String(taken));
  t.like(await guess(address(200)), { details: { windowSeconds: 3_600 } });
  clock.nowMs += 60 * MINUTE_MS;
  t.is(await guess(address(200)), null);
  for (let n = 0; n < 60; n += 1) await guess('198.51.100.1', `${n}@example.com`);
  t.like(await guess('198.51.100.1', 'last@example.com'), { details: { windowSeconds: 60 } });
});

test('console A18: a device counts for its own email alone, whatever strangers do', async (t) => {
  const clock = { nowMs: 0 };
  const { refusal, deviceCookie } = throttles(clock);
  const cookie = deviceCookie(EMAIL);
  t.regex(cookie, /; Secure$/);
  const device = /^flock_device=([^;]+);/.exec(cookie)![1]!;
  for (let n = 0; n < 200; n += 1) await refusal({ address: address(n), email: EMAIL, device: undefined });
  t.not(await refusal({ address: address(1), email: EMAIL, device: undefined }), null);
  t.is(await refusal({ address: address(1), email: EMAIL, device }), null);
  for (let n = 0; n < 9; n += 1) await refusal({ address: address(1), email: EMAIL, device });
  t.like(await refusal({ address: address(1), email: EMAIL, device }), { code: 'RATE_LIMIT_EXCEEDED' });
  for (let n = 0; n < 200; n += 1) await refusal({ address: address(n), email: 'b@example.com', device });
  t.not(await refusal({ address: address(1), email: 'b@example.com', device }), null);
});

test('console A17: the network of an address is its first 24 or 56 bits, however it is written', (t) => {
  t.is(networkOf('192.0.2.77'), '192.0.2.0/24');
  for (const one of ['2001:db8:1:ab00::1', '2001:0db8:0001:abff:ffff::', '2001:db8:1:ab01:2:3:4:5']) {
    t.is(networkOf(one), '20010db80001ab/56', one);
  }
  t.is(networkOf('::'), '00000000000000/56');
  t.is(networkOf('::ffff:192.0.2.1'), '00000000000000/56');
  t.is(networkOf('fe80::1%eth0'), 'fe800000000000/56');
  t.is(networkOf('unix:'), 'unix:');
  fc.assert(fc.property(fc.ipV6(), (text) => /^[0-9a-f]{14}\/56$/.test(networkOf(text.toLowerCase()))));
});
