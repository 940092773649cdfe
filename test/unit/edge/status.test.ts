import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { createStatusPage } from '../../../edge/http/status-page.ts';
import { durationText, statusOfEdge, type EdgeStatus } from '../../../edge/http/status.ts';
import { NO_SWEEPS } from '../../support/edge/no-sweeps.ts';
import { LiveChains } from '../../../edge/link/live-chains.ts';
import type { Client } from '../../../protocol/client.ts';
import { examine, fail, ok, unknown, type Check } from '../../../protocol/node/doctor/examine.ts';
import { refuse } from '../../../protocol/errors.ts';
import { routeOf } from '../../../protocol/routes.ts';

const STATUS: EdgeStatus = {
  config: { environment: 'live', chains: ['eth'], podHint: 'pod-1' },
  registration: { kind: 'confirmed' },
  identity: 'a'.repeat(64),
  liveChains: new Set(['eth']),
  streamUp: true,
  lease: { role: 'leader', leaseEpoch: 4, held: true },
  outbox: { outboxDepth: 0, outboxPoisoned: false, poisonedBy: null, setAside: 0 },
  deliveries: 0,
  blocked: [],
  examined: null,
  sweeps: NO_SWEEPS,
  alarms: 0,
  uptimeSeconds: 3_700,
  sessionId: 'ses_x',
  stopping: false,
};

for (const [change, headline, tone] of [
  [{}, 'Leading', 'good'],
  [{ lease: { role: 'follower', leaseEpoch: 4, held: false } }, 'Following', 'good'],
  [{ streamUp: false }, 'The cloud cannot be reached', 'warn'],
  [{ registration: { kind: 'unconfirmed', code: null } }, 'Not registered yet', 'warn'],
  [{ registration: { kind: 'unconfirmed', code: 'EDGE_VERSION_UNSUPPORTED' } }, 'Not registered yet', 'warn'],
  [{ registration: { kind: 'halted', code: 'IDENTITY_ROTATION_PENDING' } }, 'Waiting for the account owner', 'bad'],
  [
    {
      outbox: {
        outboxDepth: 3,
        outboxPoisoned: true,
        poisonedBy: { subject: 'dlv_1/1', kind: 'attempt', code: 'INVALID_INPUT', tries: 3 },
        setAside: 0,
      },
    },
    'A report is stuck',
    'bad',
  ],
  [{ stopping: true }, 'Stopping', 'warn'],
] as const satisfies readonly (readonly [Partial<EdgeStatus>, string, string])[]) {
  test(`§4.3 the status page says in words: ${headline} ${JSON.stringify(change).slice(0, 60)}`, (t) => {
    const view = statusOfEdge({ ...STATUS, ...change });
    t.is(view.headline, headline);
    t.is(view.tone, tone);
    t.true(view.explanation.length > 20);
  });
}

test('payments E3: the page shows the key that pages of the company pin', (t) => {
  const shown = statusOfEdge(STATUS).lines.find(({ label }) => label === 'Identity');
  t.like(shown, { value: STATUS.identity });
  t.regex(shown!.hint!, /<flock-pay>/);
});

test('the page is one document, without scripts or foreign assets, and escapes what it shows', async (t) => {
  const page = createStatusPage(
    () => statusOfEdge({ ...STATUS, config: { ...STATUS.config, podHint: '<script>alert("x")</script>&' } }),
    () => 1_700_000_000_000,
  );
  const answer = await page({
    requestId: '',
    route: { ...routeOf('getEdgeHealth'), operationId: 'getEdgeHealth' as const },
    params: {},
    host: '',
    pathAndQuery: '/',
    headers: {},
    body: Buffer.alloc(0),
    keyId: null,
    scrape: { peer: '127.0.0.1', isForwarded: false, authorization: undefined },
    isGone: () => false,
  });
  if (answer.kind !== 'bare') return t.fail();
  t.notRegex(answer.text, /<script|src=|href="(?!\/")|url\(|@import/);
  t.regex(answer.text, /&#60;script&#62;/);
  t.regex(answer.text, /<html lang="en">/);
  t.regex(answer.text, /<main>[^]*<h1[^]*<dl>[^]*<\/main>/);
  t.regex(answer.headers!['content-security-policy']!, /default-src 'none'; style-src 'sha256-/);
});

test('durations are read by people', (t) => {
  t.deepEqual([0, 59, 60, 3_700, 90_061, 86_400].map(durationText), [
    '0 s',
    '59 s',
    '1 min',
    '1 h 1 min',
    '1 d 1 h',
    '1 d',
  ]);
});

test('found F78: the page names the chains that the cloud serves, apart from those that only have keys here', (t) => {
  const chainsOf = (live: EdgeStatus['liveChains']) =>
    statusOfEdge({
      ...STATUS,
      config: { ...STATUS.config, chains: ['btc', 'eth', 'sol'] },
      liveChains: live,
    }).lines.find(({ label }) => label === 'Chains')!;
  t.like(chainsOf(new Set(['eth', 'sol', 'xrp'])), { value: 'eth, sol', hint: 'not served by the cloud now: btc' });
  t.is(chainsOf(new Set(['btc', 'eth', 'sol'])).hint, undefined);
  t.like(chainsOf(new Set()), { value: 'none is served by the cloud' });
  t.regex(chainsOf(null).hint!, /not known yet/);
});

test('found F78: the cloud is asked once a minute at most, by one question at a time; a refusal keeps what was known', async (t) => {
  let nowMs = 0,
    asked = 0;
  const answers: (() => void)[] = [];
  const replies: unknown[] = [
    {
      content: [
        { chain: 'eth', enabled: true },
        { chain: 'btc', enabled: false },
      ],
    },
    refuse('UPSTREAM_UNAVAILABLE'),
  ];
  const call = async () => {
    asked += 1;
    await new Promise<void>((resolve) => answers.push(resolve));
    return replies.shift();
  };
  const live = new LiveChains({ unsigned: { call } as unknown as Client }, () => nowMs);
  t.deepEqual([live.view(), live.view(), asked], [null, null, 1]);
  answers.shift()!();
  await setImmediate();
  t.deepEqual(live.view(), new Set(['eth']));
  nowMs = 60_000;
  live.view();
  t.is(asked, 2);
  answers.shift()!();
  await setImmediate();
  t.deepEqual(live.view(), new Set(['eth']));
});

test('treasury E6: the page shows caps, what is spent of them, refusals, the age of the last sweep and the operator’s stop', (t) => {
  const sweeps = {
    ...STATUS.sweeps,
    refusals: [
      ['sweep_destination_not_allowed', 3],
      ['AMOUNT_CAP_EXCEEDED', 1],
    ] as const,
    lastSignedAtMs: STATUS.sweeps.nowMs - 7_500_000,
    caps: [{ chain: 'eth', cap: 1_000n, spent: 990n }] as const,
  };
  const lineOf = (status: EdgeStatus, label: string) => statusOfEdge(status).lines.find((line) => line.label === label);
  t.like(lineOf({ ...STATUS, sweeps }, 'Sweeps'), {
    value: 'allowed within the caps',
    hint: 'last one signed 2 h 5 min ago; token registry version 1',
  });
  t.deepEqual(lineOf({ ...STATUS, sweeps }, 'EDGE_SPEND_CAP_ETH'), {
    label: 'EDGE_SPEND_CAP_ETH',
    value: '990 of 1000 spent within 1 d',
    tone: 'warn',
  });
  t.is(
    lineOf({ ...STATUS, sweeps }, 'Sweeps refused')?.value,
    'sweep_destination_not_allowed 3 ×, AMOUNT_CAP_EXCEEDED 1 ×',
  );
  t.is(lineOf(STATUS, 'Sweeps')?.value, 'off: EDGE_SPEND_CAP_<CHAIN> is 0 on every chain');
  const stopped = { ...STATUS, sweeps: { ...sweeps, stoppedAtMs: sweeps.nowMs - 60_000 } };
  t.like(lineOf(stopped, 'Sweeps'), { value: 'stopped 1 min ago', tone: 'warn' });
});

test('ecosystem X36 the page shows what the doctor saw: the counts, and what is not ok with its remedy', async (t) => {
  const linesOf = (examined: EdgeStatus['examined']) =>
    statusOfEdge({ ...STATUS, examined }).lines.filter(({ label }) => label.startsWith('Check'));
  t.deepEqual(linesOf(null), [{ label: 'Checks', value: 'being looked at: look again' }]);
  const check = (id: string, look: Check['look']): Check => ({ id, page: 'docs/doctor.md', look });
  const examination = await examine([
    check('disk', () => ok('90 % of the disk are free')),
    check('lease', () => fail('no replica leads', 'start the edge')),
    check('swap', () => unknown('this system does not say', 'look by hand')),
  ]);
  const [counts, ...noted] = linesOf({ examination, ageMs: 61_000 });
  t.like(counts, { value: '1 of 3 ok', tone: 'bad' });
  t.regex(counts!.hint!, /^looked at 1 min 1 s ago/);
  t.deepEqual(noted, [
    { label: 'Check lease', value: 'fail: no replica leads', tone: 'bad', hint: 'start the edge' },
    { label: 'Check swap', value: 'unknown: this system does not say', tone: 'warn', hint: 'look by hand' },
  ]);
});
