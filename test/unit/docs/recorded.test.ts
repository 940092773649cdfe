import test from 'ava';
import { readRecordings, type Recorded } from '../../../gateway/pages/recordings.ts';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { pathMatches, type Route } from '../../../protocol/route.ts';
import { ROUTES } from '../../../protocol/routes.ts';
import { isDescribed, recordingsOf } from '../../support/recording/write.ts';

const recordings = readRecordings();
const entries = Object.entries(recordings);
const routeOf = (id: string) => ({ ...(ROUTES as Readonly<Record<string, Route>>)[id]!, operationId: id });

test('ecosystem X38 each recorded answer is one that its operation has: the reply by its schema, the refusal by its code and status', (t) => {
  t.true(entries.length > 200);
  for (const [id, { answers }] of entries) {
    const route = routeOf(id);
    t.truthy(route.method, `${id} is no operation`);
    t.true(answers.length > 0, id);
    for (const recorded of answers) {
      t.true(isDescribed(route, recorded), `${id} ${recorded.status}`);
      t.true(pathMatches(route.path, recorded.path), `${id} ${recorded.path}`);
    }
  }
});

test('ecosystem X38 the recorded request of a success is one that the operation takes', (t) => {
  for (const [id, { answers }] of entries) {
    const route = routeOf(id);
    for (const { status, body } of answers) {
      if (status >= 300 || route.body === undefined) continue;
      const checked = route.body.safeParse(body ?? {});
      t.true(checked.success, `${id}: ${checked.success ? '' : JSON.stringify(checked.error.issues)}`);
    }
  }
});

const SECRETS = [
  /\b(?:flk|loc)_(?:live|test)_(?!x+\b)\w/,
  /\bwhsec_(?!x+\b)[A-Za-z0-9+/=]{8}/,
  /\b[xyztuvXYZTUV]prv[A-Za-z0-9]{20,}/,
  /\beyJ[A-Za-z0-9_-]{8,}\./,
  /\$argon2/,
  /:\/\/[^\s/@"]+@/,
  /-----BEGIN/,
];
const WORDS = new Set(wordlist);
/** The longest run of words of the list: plain sentences have some; a recovery phrase has twelve at least. */
function phraseWords(text: string): number {
  let [longest, run] = [0, 0];
  for (const word of text.toLowerCase().split(/[^a-z]+/)) {
    run = WORDS.has(word) ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

test('ecosystem X59 no recorded answer or request has a secret, a person, or a port of a machine', (t) => {
  for (const [id, one] of entries) {
    const text = JSON.stringify(one);
    for (const secret of SECRETS) t.notRegex(text, secret, id);
    t.true(phraseWords(text) < 12, id);
    t.notRegex(text, /127\.0\.0\.1:(?!8080|9\b)\d/, id);
    for (const [mail] of text.matchAll(/[\w.+-]+@[\w-]+\.[a-z]{2,}/g)) t.regex(mail, /@example\.(?:com|org)$/, id);
  }
});

test('ecosystem X38 what is random in an answer is replaced by the same text each time, and times keep their distance', (t) => {
  const line = (id: string, at: string) => ({
    method: 'POST',
    key: 'loc_test_',
    path: '/v1/addresses/adr_' + id.repeat(26) + '/archive',
    query: '',
    body: null,
    status: 404,
    answer: {
      success: false,
      error: { code: 'NOT_FOUND', message: 'no address', details: { id: `adr_${id.repeat(26)}` } },
      meta: { requestId: `req_${id.repeat(26)}`, timestamp: at },
    },
  });
  const first = recordingsOf([line('a', '2026-11-30T10:00:00.123Z')]);
  t.deepEqual(first, recordingsOf([line('b', '2027-01-01T00:00:59.999Z')]));
  const [{ path, answer }] = first['archiveAddress']!.answers as readonly [Recorded];
  const { error } = answer as { error: { details: { id: string } } };
  t.true(path.includes(error.details.id), 'the same id in the path and in the answer');
});
