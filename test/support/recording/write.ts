/**
 * `npm run -s docs:record -- FOLDER`: the recorded answers of the documentation from what tests were answered. Lines
 * come from test/support/recording/preload.mjs: run tests with FLOCK_RECORD=FOLDER and NODE_OPTIONS=--import of it.
 * Ids, times, keys, addresses of test people and everything random are replaced, so that the file holds no secret and
 * changes only where an answer changes. X38.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recorded, Recordings } from '../../../gateway/pages/recordings.ts';
import { statusOf, type ErrorCode } from '../../../protocol/errors.ts';
import { codesOf, pathMatches, type Route } from '../../../protocol/route.ts';
import { ROUTE_LIST } from '../../../protocol/routes.ts';

interface Line extends Recorded {
  readonly method: string;
  readonly key: string;
}

const FILE = new URL('../../../gateway/pages/recorded.json', import.meta.url);
/** Refusals that are shown of one operation, the telling ones before those that any operation has. */
const REFUSALS_MAX = 2;
const ANSWER_CHARS_MAX = 6_000;
const ROWS_MAX = 2;
/** What any operation may answer for a reason of its surroundings. */
const OF_ANY: ReadonlySet<string> = new Set([
  'UNAUTHORIZED',
  'FORBIDDEN',
  'SERVICE_UNAVAILABLE',
  'INTERNAL_ERROR',
  'RATE_LIMIT_EXCEEDED',
  'UNSUPPORTED_MEDIA_TYPE',
  'PAYLOAD_TOO_LARGE',
  'KEY_MATERIAL_REJECTED',
  'IMPERSONATION_READ_ONLY',
  'IMPERSONATION_FORBIDDEN',
  'EDGE_SIGNATURE_SKEW',
  'EDGE_SIGNATURE_INVALID',
  'EDGE_NONCE_REPLAY',
]);

type Listed = Route & { readonly operationId: string };
const ROUTES = ROUTE_LIST as readonly Listed[];

const routeOf = ({ method, path }: Line): Listed | undefined => {
  const found = ROUTES.filter((route) => route.method === method && pathMatches(route.path, path));
  return found.toSorted((left, right) => variables(left.path) - variables(right.path))[0];
};
const variables = (path: string): number => path.split('{').length;

// ── What is replaced ─────────────────────────────────────────────────────────────────────────────────────────────

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const START = Date.parse('2026-01-01T00:00:00.000Z');

/** The same characters for the same place in an answer, in every recording. */
function steady(seed: string, length: number, alphabet = ALPHABET): string {
  let made = '';
  for (let round = 0; made.length < length; round += 1)
    for (const byte of createHash('sha256').update(`${seed} ${round}`).digest())
      made += alphabet[byte % alphabet.length];
  return made.slice(0, length);
}

/** Replaces what is random or secret; the same text by the same one throughout a line. */
function replacer(operation: string): (text: string) => string {
  const known = new Map<string, string>();
  const place = (kind: string): string => `${operation} ${kind} ${[...known.keys()].length}`;
  const once = (kind: string, text: string, make: (seed: string) => string): string => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = make(place(kind));
    known.set(text, made);
    return made;
  };
  const hex = '0123456789abcdef';
  return (text) =>
    text
      .replace(/\b(?:flk|loc)_(live|test)_[A-Za-z0-9_-]+/g, (key, kind: string) =>
        once('key', key, () => `${key.slice(0, 3)}_${kind}_${'x'.repeat(Math.min(26, key.length - 9))}`),
      )
      .replace(/\bwhsec_[A-Za-z0-9+/=_-]+/g, (secret) => once('secret', secret, () => `whsec_${'x'.repeat(44)}`))
      .replace(/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, (token) => once('token', token, () => 'eyJ…'))
      .replace(/\b([a-z]{2,3})_([a-z2-7]{26})(?![a-z2-7])/g, (id, kind: string) =>
        once('id', id, (seed) => `${kind}_${steady(seed, 26)}`),
      )
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (id) =>
        once('uuid', id, (seed) => {
          const digits = steady(seed, 32, hex);
          return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`;
        }),
      )
      .replace(/\b(?:[a-z0-9._+-]+)@(?:[a-z0-9-]+\.)+[a-z]+\b/gi, (mail) =>
        once('mail', mail, (seed) => `${steady(seed, 5)}@example.com`),
      )
      .replace(/https?:\/\/(?:127\.0\.0\.1|localhost):\d+/g, (url) => once('port', url, () => 'http://127.0.0.1:8080'));
}

/** Times of one answer keep their order and their distance, in whole seconds. */
function timesOf(value: unknown, found: Set<string> = new Set()): Set<string> {
  if (typeof value === 'string') {
    if (/^20\d\d-\d\d-\d\dT[\d:.]+Z$/.test(value)) found.add(value);
  } else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) timesOf(one, found);
  return found;
}

const SECRETS =
  /^(?:password|newPassword|currentPassword|totp|totpSecret|code|recoveryCodes|codes|challenge|token|accessToken|refreshToken|secret|otpauthUrl|uploadUrl|signature|publicKey|pem|certificate|assertion)$/;

function cleaned(
  value: unknown,
  replace: (text: string) => string,
  times: ReadonlyMap<string, string>,
  name = '',
): unknown {
  if (typeof value === 'string') {
    const time = times.get(value);
    if (time !== undefined) return time;
    if (name === 'userRef' && value.length < NAME_CHARS_MIN) return 'customer-42';
    const replaced = replace(value);
    // What nothing recognized and has the name of a secret is no example.
    if (SECRETS.test(name) && replaced === value && name !== 'code' && value.length > 8) return hidden(value);
    return replaced;
  }
  if (Array.isArray(value)) {
    const rows = name === 'content' || value.length > 12 ? value.slice(0, ROWS_MAX) : value;
    return rows.map((one) => cleaned(one, replace, times, name));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [replace(key), cleaned(one, replace, times, key)]),
  );
}
/** A test's name of a customer says nothing to a reader. */
const NAME_CHARS_MIN = 4;
/** The same form, with other characters. */
const hidden = (text: string): string => text.replace(/[a-z]/g, 'x').replace(/[A-Z]/g, 'X').replace(/[0-9]/g, '0');

function clean(line: Line, { operationId }: Listed): Recorded {
  const times = [...timesOf(line.answer)].toSorted();
  const first = times[0] === undefined ? 0 : Math.floor(Date.parse(times[0]) / 1_000);
  const steadyTimes = new Map(
    times.map((time) => {
      const seconds = Math.floor(Date.parse(time) / 1_000) - first;
      return [time, new Date(START + seconds * 1_000).toISOString()];
    }),
  );
  const replace = replacer(operationId);
  const of = <T>(value: T): T => cleaned(value, replace, steadyTimes) as T;
  return {
    path: replace(line.path),
    query: replace(line.query),
    body: of(line.body),
    status: line.status,
    answer: of(line.answer),
  };
}

// ── What is chosen ───────────────────────────────────────────────────────────────────────────────────────────────

const codeOf = ({ answer }: Recorded): string | undefined => (answer as { error?: { code: string } }).error?.code;
const dataOf = ({ answer }: Recorded): unknown => (answer as { data?: unknown }).data;

/** A success tells more when it has rows, names eth, and is short enough to be read. */
function worthOf(line: Line): number {
  const text = JSON.stringify(line.answer);
  const content = (dataOf(line) as { content?: unknown[] } | null)?.content;
  return (
    (Array.isArray(content) && content.length > 0 ? 4 : 0) +
    (text.includes('"eth"') ? 2 : 0) +
    (text.length < 3_000 ? 1 : 0) -
    (text.length > ANSWER_CHARS_MAX ? 8 : 0) -
    (JSON.stringify(line.body).length > 1_500 ? 4 : 0)
  );
}

function refusalWorth(line: Line): number {
  const code = codeOf(line)!;
  return (
    (OF_ANY.has(code) ? 0 : 4) +
    (code === 'INVALID_INPUT' ? 0 : 2) +
    (JSON.stringify(line.answer).length < 2_000 ? 1 : 0)
  );
}

const best = (lines: readonly Line[], worth: (line: Line) => number): Line[] =>
  lines.toSorted(
    (left, right) => worth(right) - worth(left) || (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1),
  );

/** Whether an answer is one that the operation is described with. */
export function isDescribed(route: Listed, recorded: Recorded): boolean {
  const code = codeOf(recorded);
  if (code !== undefined)
    return (codesOf(route) as readonly string[]).includes(code) && statusOf(code as ErrorCode) === recorded.status;
  const isStatus = recorded.status === route.status || recorded.status === route.again;
  return isStatus && route.bare === undefined && route.reply.safeParse(dataOf(recorded)).success;
}

/** The recordings of these lines. */
export function recordingsOf(lines: readonly Line[]): Recordings {
  const byRoute = Map.groupBy(lines, routeOf);
  const chosen = ROUTES.flatMap((route): [string, { answers: Recorded[] }][] => {
    const own = (byRoute.get(route) ?? []).filter((line) => isDescribed(route, line));
    const [success] = best(
      own.filter((line) => codeOf(line) === undefined && (route.body?.safeParse(line.body ?? {}).success ?? true)),
      worthOf,
    );
    const refusals = [
      ...Map.groupBy(
        best(
          own.filter((line) => codeOf(line) !== undefined),
          refusalWorth,
        ),
        codeOf,
      ).values(),
    ];
    const picked = [
      ...(success === undefined ? [] : [success]),
      ...refusals.slice(0, REFUSALS_MAX).map(([line]) => line!),
    ];
    const answers = picked.map((line) => clean(line, route)).filter((one) => isDescribed(route, one));
    return answers.length === 0 ? [] : [[route.operationId, { answers }]];
  });
  return Object.fromEntries(chosen);
}

const linesIn = (folder: string): Line[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

if (import.meta.main) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error('npm run -s docs:record -- FOLDER');
  const recordings = recordingsOf(linesIn(folder));
  const before = JSON.parse(readFileSync(FILE, 'utf8')) as Recordings;
  // What this run did not ask keeps what another one recorded.
  const all = Object.fromEntries(
    ROUTES.flatMap(({ operationId }) => {
      const one = recordings[operationId] ?? before[operationId];
      return one === undefined ? [] : [[operationId, one]];
    }),
  );
  writeFileSync(
    FILE,
    `{\n${Object.entries(all)
      .map(([id, one]) => `"${id}":${JSON.stringify(one)}`)
      .join(',\n')}\n}\n`,
  );
  const successes = Object.values(all).filter(({ answers }) => answers.some(({ status }) => status < 300)).length;
  process.stdout.write(`${Object.keys(all).length} of ${ROUTES.length} operations, ${successes} with a success\n`);
}
