import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import {
  createMetricsAccess,
  createRefusedScrapes,
  METRICS_ALLOW_DEFAULT,
  readMetricsAccess,
  scrapeOf,
} from '../../protocol/node/metrics-access.ts';

const TOKEN = 'f'.repeat(64);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('ecosystem X51 who reads the metrics: a peer that is named, or the token; behind a proxy the token alone', (t) => {
  const cases: [allow: readonly string[], token: string | null, peer: string, headers: object, mayRead: boolean][] = [
    [METRICS_ALLOW_DEFAULT, null, '127.0.0.1', {}, true],
    [METRICS_ALLOW_DEFAULT, null, '::1', {}, true],
    [METRICS_ALLOW_DEFAULT, null, '::ffff:127.0.0.1', {}, true],
    [METRICS_ALLOW_DEFAULT, null, '10.0.0.9', {}, false],
    [METRICS_ALLOW_DEFAULT, null, '', {}, false],
    [METRICS_ALLOW_DEFAULT, null, '127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }, false],
    [METRICS_ALLOW_DEFAULT, null, '127.0.0.1', { 'x-forwarded-for': '' }, false],
    [METRICS_ALLOW_DEFAULT, null, '127.0.0.1', { forwarded: 'for=127.0.0.1' }, false],
    [METRICS_ALLOW_DEFAULT, null, '127.0.0.1', { 'x-real-ip': '127.0.0.1' }, false],
    [METRICS_ALLOW_DEFAULT, null, '127.0.0.1', { via: '1.1 proxy' }, false],
    [METRICS_ALLOW_DEFAULT, TOKEN, '127.0.0.1', { 'x-forwarded-for': '1.1.1.1', ...bearer(TOKEN) }, true],
    [METRICS_ALLOW_DEFAULT, TOKEN, '203.0.113.7', bearer(TOKEN), true],
    [METRICS_ALLOW_DEFAULT, TOKEN, '203.0.113.7', bearer(`${TOKEN}f`), false],
    [METRICS_ALLOW_DEFAULT, TOKEN, '203.0.113.7', bearer(''), false],
    [METRICS_ALLOW_DEFAULT, TOKEN, '203.0.113.7', { authorization: TOKEN }, false],
    [METRICS_ALLOW_DEFAULT, null, '203.0.113.7', bearer('null'), false],
    [['10.0.0.0/8', 'fd00::/8'], null, '10.1.2.3', {}, true],
    [['10.0.0.0/8', 'fd00::/8'], null, 'fd00::7', {}, true],
    [['10.0.0.0/8'], null, '127.0.0.1', {}, false],
    [[], TOKEN, '127.0.0.1', {}, false],
  ];
  for (const [allow, token, peer, headers, mayRead] of cases)
    t.is(
      createMetricsAccess(allow, token)(scrapeOf(peer, { ...headers })),
      mayRead,
      JSON.stringify([allow, peer, headers]),
    );
});

test('ecosystem X51 a token file that is away, short or of several words is a problem that names the setting, never its text', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flock-token-'));
  const read = (text: string | null) => {
    const file = join(folder, `${Math.random()}`);
    if (text !== null) writeFileSync(file, text);
    const problems: string[] = [];
    return { mayScrape: readMetricsAccess({ METRICS_TOKEN_FILE: file }, problems), problems };
  };
  const { mayScrape, problems } = read(`${TOKEN}\n`);
  t.deepEqual(problems, []);
  t.true(mayScrape(scrapeOf('203.0.113.7', bearer(TOKEN))));
  for (const wrong of [null, '', 'short', `${'a b '.repeat(20)}`, 'é'.repeat(40)]) {
    const refused = read(wrong).problems;
    t.is(refused.length, 1, String(wrong));
    t.regex(refused[0]!, /^METRICS_TOKEN_FILE: /);
    if (wrong !== null && wrong !== '') t.false(refused[0]!.includes(wrong));
  }
});

test('ecosystem X51 peers that are no address and no network are a problem that names the entry', (t) => {
  const problems: string[] = [];
  const mayScrape = readMetricsAccess({ METRICS_ALLOW: '10.0.0.0/8, prometheus ,::1/200' }, problems);
  t.deepEqual(problems, [
    'METRICS_ALLOW: entry 2 is no address and no network such as 10.0.0.0/8',
    'METRICS_ALLOW: entry 3 is no address and no network such as 10.0.0.0/8',
  ]);
  t.false(mayScrape(scrapeOf('10.0.0.1', {})), 'nobody reads by what was not understood');
  const nobody = readMetricsAccess({ METRICS_ALLOW: '' }, []);
  t.false(nobody(scrapeOf('127.0.0.1', {})));
});

test('ecosystem X51, found: of scrapes that are not let in the log has one line a minute, with how many there were', (t) => {
  let nowMs = 5;
  const refused = createRefusedScrapes(() => nowMs);
  t.is(refused(), 1, 'the first is said at once');
  for (let n = 0; n < 10_000; n += 1) t.is(refused(), null);
  nowMs += 59_999;
  t.is(refused(), null);
  nowMs += 1;
  t.is(refused(), 10_002);
  nowMs += 60_000;
  t.is(refused(), 1);
});
