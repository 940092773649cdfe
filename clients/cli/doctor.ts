/** `flock doctor`: what keeps an application from its first, or its next, event. Ecosystem X34, X35. */
import { parseArgs } from 'node:util';
import { answerOf } from '../../protocol/node/doctor/answer.ts';
import { lookAtCertificate, lookAtClock, lookAtName, lookAtProxy } from '../../protocol/node/doctor/address.ts';
import { leaderFinding } from '../../protocol/account-findings.ts';
import {
  askingAs,
  fail,
  ok,
  reasonOf,
  unknown,
  warn,
  type Check,
  type Finding,
} from '../../protocol/node/doctor/examine.ts';
import { VERSION } from '../../protocol/version.ts';
import type { Flags } from '../../protocol/node/commands.ts';
import { isFlockError } from '../typescript/src/index.ts';
import { running } from './answer.ts';
import { lookAtDeliveries, lookAtEndpoints, lookAtRotations, testFinding } from './doctor-webhooks.ts';
import type { Environ } from './profiles.ts';
import { sessionOf, type Session } from './session.ts';

const ADDRESS = 'the address of the profile (flock login), or FLOCK_URL';
const KEY_WARN_DAYS = 14;
const DAY_MS = 86_400_000;
/** Part of the requests of a minute that are left. */
const RATE_WARN = 0.2;
const SESSIONS = { size: 100 };

export function doctor(args: readonly string[], flags: Flags): Promise<number> {
  const option = { type: 'boolean', default: false } as const;
  const { strict, send } = parseArgs({
    args: [...args],
    strict: true,
    options: { strict: option, send: option },
  }).values;
  return running(flags, async (run) => {
    const session = sessionOf(flags, run);
    const checks = [...applicationChecks(session, process.env), ...(send ? [testCheck(session)] : [])];
    return (await answerOf(checks, flags, strict)) === 0 ? 0 : 1;
  });
}

/** The first answer of the service, or why there is none. */
interface Heard {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly response: Response;
}

/** One request for all checks that look at an answer. */
function hearing({ url, apiKey }: Session): (signal: AbortSignal) => Promise<Heard> {
  let heard: Promise<Heard> | null = null;
  const hear = async (signal: AbortSignal): Promise<Heard> => {
    const askedMs = Date.now();
    const headers = { 'x-api-key': apiKey, 'user-agent': `flock-doctor/${VERSION}` };
    const response = await fetch(new URL('/v1/edge/lease', url), { headers, redirect: 'manual', signal });
    await response.arrayBuffer();
    return { askedMs, answeredMs: Date.now(), response };
  };
  return (signal) => (heard ??= hear(signal));
}

const asking = askingAs('the service', 'address and key', (error) => (isFlockError(error) ? error.code : null));

/** The one check that is no look: each endpoint gets a test. X36. */
export function testCheck({ flock }: Session): Check {
  return {
    id: 'test_delivery',
    page: 'docs/webhooks.md#testing-an-endpoint',
    look: asking((signal) => testFinding(flock, signal)),
  };
}

export function applicationChecks(session: Session, env: Environ): Check[] {
  const { url, environment, flock } = session;
  const hear = hearing(session);
  const isLive = environment === 'live';
  const ofAnswer =
    (finding: (heard: Heard) => Finding): Check['look'] =>
    async (signal) =>
      finding(await hear(signal));
  return [
    { id: 'name', page: 'docs/command-line.md#keys-and-profiles', look: () => lookAtName(url, ADDRESS) },
    { id: 'address', page: 'docs/command-line.md#keys-and-profiles', look: (signal) => addressFinding(hear, signal) },
    {
      id: 'certificate',
      page: 'docs/runbooks/certificate-ends.md',
      look: (signal) => lookAtCertificate(url, { setting: ADDRESS, isLive, signal }),
    },
    { id: 'proxy', page: 'docs/doctor.md#application', look: () => lookAtProxy(url, env) },
    {
      id: 'clock',
      page: 'docs/runbooks/clock-off.md',
      look: ofAnswer(({ response, ...times }) => lookAtClock({ ...times, date: response.headers.get('date') })),
    },
    {
      id: 'key',
      page: 'docs/command-line.md#keys-and-profiles',
      look: ofAnswer((heard) => keyFinding(session, heard)),
    },
    { id: 'key_expiry', page: 'docs/doctor.md#application', look: asking((signal) => expiryFinding(session, signal)) },
    { id: 'rate', page: 'docs/doctor.md#application', look: ofAnswer(rateFinding) },
    {
      id: 'leader',
      page: 'docs/runbooks/edge-offline.md',
      look: asking(async (signal) => leaderFinding(await flock.getEdgeLease({}, { signal }))),
    },
    {
      id: 'versions',
      page: 'docs/runbooks/edge-version-old.md',
      look: asking((signal) => versionsFinding(session, signal)),
    },
    { id: 'endpoints', page: 'docs/webhooks.md', look: asking((signal) => lookAtEndpoints(session, signal)) },
    {
      id: 'deliveries',
      page: 'docs/runbooks/dead-letters.md',
      look: asking((signal) => lookAtDeliveries(flock, signal)),
    },
    { id: 'secret_rotation', page: 'docs/webhooks.md', look: asking((signal) => lookAtRotations(flock, signal)) },
  ];
}

async function addressFinding(hear: ReturnType<typeof hearing>, signal: AbortSignal): Promise<Finding> {
  try {
    const { response } = await hear(signal);
    const isOurs = /^application\/json\b/.test(response.headers.get('content-type') ?? '');
    if (response.status >= 500) return fail(`it answers ${response.status}`, 'look at the service; it may come back');
    return isOurs && (response.status < 300 || response.status >= 400)
      ? ok(`it answers ${response.status}`)
      : fail(`it answers ${response.status}, and no JSON: it is no cloud and no edge`, `correct ${ADDRESS}`);
  } catch (error) {
    if (signal.aborted) throw error;
    return fail(`nothing answers (${reasonOf(error)})`, `look whether the service runs, and at ${ADDRESS}`);
  }
}

function keyFinding({ environment, isEdge }: Session, { response: { status } }: Heard): Finding {
  const kind = `a key of the ${isEdge ? 'edge' : 'cloud'}, ${environment}`;
  if (status === 200) return ok(`${kind}; it is taken`);
  if (status === 401 || status === 403)
    return fail(
      `${kind}; it is refused (${status})`,
      'mint a new key, and give it to flock login or FLOCK_API_KEY_FILE',
    );
  return unknown(`${kind}; the service answered ${status}`, 'look at the check address first');
}

/** Keys of the cloud do not end by themselves; those of an edge may. */
async function expiryFinding({ flock, isEdge, apiKey }: Session, signal: AbortSignal): Promise<Finding> {
  if (!isEdge) return ok('a key of the cloud is good until it is revoked');
  for await (const { prefix, expiresAt, revokedAt } of flock.listLocalKeys.all({}, { signal })) {
    const shown = prefix.replace(/[.…*]+$/, '');
    if (revokedAt !== null || !apiKey.startsWith(shown)) continue;
    if (expiresAt === null) return ok('it is good until it is revoked');
    const days = Math.floor((Date.parse(expiresAt) - Date.now()) / DAY_MS);
    return days < KEY_WARN_DAYS
      ? warn(`it ends in ${days} days`, 'mint a new one: flock-edge local-keys mint --label NAME')
      : ok(`it is good for ${days} days`);
  }
  return unknown('the edge lists no such key', 'look at flock-edge local-keys list');
}

function rateFinding({ response: { headers } }: Heard): Finding {
  const [limit, left] = ['ratelimit-limit', 'ratelimit-remaining'].map((name) => Number(headers.get(name) ?? 'none'));
  if (!Number.isFinite(limit) || !Number.isFinite(left))
    return unknown('the answer does not say how many requests are left', 'look at the check key first');
  const seen = `${left} of ${limit} requests of this minute are left`;
  return left! < limit! * RATE_WARN ? warn(seen, 'ask less often, or take a larger band') : ok(seen);
}

async function versionsFinding({ flock }: Session, signal: AbortSignal): Promise<Finding> {
  const { content } = await flock.listEdgeSessions(SESSIONS, { signal });
  const versions = [...new Set(content.filter(({ endedAt }) => endedAt === null).map((one) => one.edgeVersion))];
  if (versions.length === 0) return unknown('no edge is in touch', 'look at the check leader first');
  const others = versions.filter((one) => minorOf(one) !== minorOf(VERSION));
  if (others.length === 0) return ok(`edges and this program are ${versions.join(', ')}`);
  return warn(`edges are ${versions.join(', ')}, this program is ${VERSION}`, 'bring all to one minor version');
}

const minorOf = (version: string): string => version.split('.').slice(0, 2).join('.');
