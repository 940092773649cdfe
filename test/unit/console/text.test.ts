/** How the console shows what is foreign, large or secret. Console C6, C10. */
import { createHmac, randomBytes } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { hrefOf, placeOf } from '../../../console/app/place.ts';
import { checkSignature } from '../../../console/pages/webhook-signature.ts';
import { ago, cut, grouped, looksSecret, plain, shortened, smallest, utc } from '../../../console/ui/text.ts';
import { formatAmount } from '../../../protocol/money.ts';

test('console C10: amounts are cut by their decimals, digit by digit', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
      fc.integer({ min: 0, max: 24 }),
      (amount, decimals) => cut(String(amount), decimals) === formatAmount(amount, decimals),
    ),
  );
  t.is(grouped('1234567.1234567'), '1,234,567.1234567');
  t.is(grouped('12'), '12');
});

test('console C10: a decimal becomes the smallest unit digit by digit, and what is finer is left to be refused', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), fc.integer({ min: 0, max: 24 }), (amount, decimals) => {
      return smallest(cut(String(amount), decimals), decimals) === String(amount);
    }),
  );
  t.is(smallest(' 1000 ', 6), '1000000000');
  t.is(smallest('0.000001', 6), '1');
  for (const [text, decimals] of [
    ['0.0000001', 6],
    ['1.5', 0],
    ['1,5', 6],
    ['-1', 6],
    ['1e3', 6],
    ['', 6],
  ] as const)
    t.is(smallest(text, decimals), text);
});

test('console C10: foreign text keeps no control or bidi character and at most 200 characters', (t) => {
  t.is(plain('a\u202eb\u0000c\u2066d\ufeff'), 'abcd');
  t.is(plain('x'.repeat(10_000)).length, 201);
  t.is(plain('=HYPERLINK("x")<b>'), '=HYPERLINK("x")<b>');
  t.is(shortened('0x52908400098527886E0F7030069857D2E4169EE7'), '0x529084…169EE7');
  t.is(shortened('short'), 'short');
});

test('console B1: instants are written from their UTC parts', (t) => {
  t.is(utc('2026-03-29T00:59:59.000Z'), '29 Mar 2026 00:59:59 UTC');
  t.is(utc('2026-12-31T23:30:00+14:00'), '31 Dec 2026 09:30:00 UTC');
  t.is(ago('2026-01-01T00:00:00Z', Date.parse('2026-01-01T02:00:00Z')), '2 h ago');
  t.is(ago('2026-01-01T00:05:00Z', Date.parse('2026-01-01T00:00:00Z')), 'in 5 min');
});

test('console C16: a phrase or a key is recognized before anything is sent', (t) => {
  t.true(looksSecret('abandon '.repeat(11) + 'about'));
  t.true(looksSecret(`S${'A'.repeat(55)}`));
  for (const text of ['0x52908400098527886E0F7030069857D2E4169EE7', 'customer-42', 'dep_2al4iic6hlztd2jb2kqsefew62'])
    t.false(looksSecret(text), text);
});

test('found 33, console C6: an address holds organization, environment, page and filters', (t) => {
  const scope = { organizationId: `org_${'a'.repeat(26)}`, environment: 'sandbox' } as const;
  const href = hrefOf(scope, '/addresses', { chain: 'eth', tag: undefined, userRef: 'a&b=c' });
  const url = new URL(href, 'http://console.test');
  t.deepEqual(placeOf(url.pathname, url.search), {
    path: '/addresses',
    ...scope,
    query: { chain: 'eth', userRef: 'a&b=c' },
  });
  t.like(placeOf('/console/profile', ''), { path: '/profile', organizationId: null });
  t.like(placeOf('/console/o/org_x/live', ''), { organizationId: null }, 'what is no organization is none');
});

test('console 5.4: the signature check finds what is signed, what is old and what is another body', async (t) => {
  const key = randomBytes(24),
    body = '{"amount":"1","note":"ü"}',
    nowMs = 1_800_000_000_000,
    timestamp = String(nowMs / 1_000);
  const sign = (text: string): string =>
    `v1,${createHmac('sha256', key).update(`msg.${timestamp}.${text}`).digest('base64')}`;
  const delivery = {
    secret: `whsec_${key.toString('base64')}`,
    id: 'msg',
    timestamp,
    signature: `v1,AAAA ${sign(body)}`,
    body,
    nowMs,
  };
  t.is(await checkSignature(delivery), 'valid');
  t.is(await checkSignature({ ...delivery, nowMs: nowMs + 301_000 }), 'old');
  t.is(await checkSignature({ ...delivery, body: `${body} ` }), 'wrong');
  t.is(await checkSignature({ ...delivery, signature: 'unsigned' }), 'headers');
  t.is(await checkSignature({ ...delivery, secret: 'flk_live_x' }), 'secret');
});
