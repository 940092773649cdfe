import { readFileSync } from 'node:fs';
import test from 'ava';
import { createMetrics } from '../../gateway/telemetry/metrics.ts';
import { createEdgeCounters } from '../../edge/http/metrics.ts';
import { CLOUD_METRICS } from '../../protocol/metrics/cloud.ts';
import { EDGE_METRICS } from '../../protocol/metrics/edge.ts';
import type { MetricCatalogue } from '../../protocol/metrics/metric.ts';
import { PROCESS_METRICS } from '../../protocol/metrics/process.ts';
import { createMeter } from '../../protocol/node/meter.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { codesOf } from '../../protocol/route.ts';
import { CHAINS } from '../../protocol/slugs.ts';
import { metricsDocument } from '../support/metrics-document.ts';

const figures = {
  own: {
    mailboxDepth: 0,
    mailboxAgeSeconds: 0,
    certificateDays: null,
    checks: [],
    pools: new Map([['main' as const, { connections: 8, underWay: 11 }]]),
    statements: new Map([['append_accounts', { count: 3, seconds: 0.5 }]]),
    deadLetters: 3,
    residentAccounts: 0,
    edgeStreams: 0,
    shardsUnowned: 0,
    chainUnfollowed: {},
    roleUnserved: {},
    callsRefused: { secret: 2 },
  },
  stored: null,
} as const;
const ofNode = () => createMetrics({ read: async () => figures }, ['eth', 'btc']);

/** What an exposition says: every name with its kind and help, every series. */
function read(text: string) {
  const lines = text.split('\n');
  const helps = new Map<string, string>();
  const kinds = new Map<string, string>();
  for (const line of lines) {
    const [, what, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (what === 'HELP') helps.set(name!, rest!);
    if (what === 'TYPE') kinds.set(name!, rest!);
  }
  return { helps, kinds, series: lines.filter((line) => line !== '' && !line.startsWith('#')) };
}

test('ecosystem X46 found F75: a process has the metrics of its catalogue and of Node, no other, each with its kind and what it means', async (t) => {
  const metricsOf = { cloud: await ofNode().text(), edge: await createEdgeCounters().meter.text() };
  const catalogues: Record<keyof typeof metricsOf, MetricCatalogue> = { cloud: CLOUD_METRICS, edge: EDGE_METRICS };
  for (const process of ['cloud', 'edge'] as const) {
    const { helps, kinds } = read(metricsOf[process]);
    const catalogue = catalogues[process];
    t.deepEqual([...kinds.keys()].sort(), [...Object.keys(catalogue), ...Object.keys(PROCESS_METRICS)].sort(), process);
    for (const [name, { kind, help }] of Object.entries(catalogue)) {
      t.is(kinds.get(name), kind, name);
      t.true(helps.get(name)!.startsWith(help), name);
      t.not(help, name);
    }
  }
});

test('ecosystem X47 a series whose labels are all known is there from the start, at zero, for the chains that there are', async (t) => {
  const { series } = read(await ofNode().text());
  for (const line of [
    'svc_reorgs_total{chain="eth"} 0',
    'svc_chain_stopped{chain="btc"} 0',
    'svc_watch_failures_total{chain="eth",job="mature"} 0',
    'svc_letters_withheld_total 0',
    'svc_refusals_total{code="INVALID_INPUT"} 0',
    'svc_requests_total{operation="createAddress",status="201"} 0',
    'svc_delivery_latency_seconds_count{outcome="failed"} 0',
  ])
    t.true(series.includes(line), line);
  t.deepEqual(
    series.filter((line) => line.includes('chain="sol"')),
    [],
    'a chain that is not configured has none',
  );
});

test('ecosystem X47 a node says nothing of a Redis that it does not have, nor a height that it has not seen', async (t) => {
  const metrics = ofNode();
  const lines = async () =>
    read(await metrics.text()).series.filter((line) => /^svc_(?:redis_up|[a-z]+_height)\b/.test(line));
  t.deepEqual(await lines(), [], 'zero is an alarm: docs/several-nodes.md');
  metrics.set('svc_redis_up', {}, 0);
  metrics.set('svc_head_height', { chain: 'eth' }, 7);
  t.deepEqual(await lines(), ['svc_redis_up 0', 'svc_head_height{chain="eth"} 7']);
});

test('ecosystem X48 names are in base units; a counter, and no other metric, ends in _total; a former name says what took its place', async (t) => {
  for (const [name, { kind, labels, replacedBy }] of Object.entries({
    ...CLOUD_METRICS,
    ...EDGE_METRICS,
  } as MetricCatalogue)) {
    t.is(name.endsWith('_total'), kind === 'counter', name);
    t.regex(name, /^svc_(?:[a-z0-9]+_)*[a-z0-9]+$/, name);
    t.notRegex(name, /_(?:ms|millis|kb|mb|minutes)(?:_|$)/, name);
    t.is(labels['account'], undefined);
    if (replacedBy !== undefined) t.true(replacedBy in CLOUD_METRICS || replacedBy in EDGE_METRICS, name);
  }
  const { series } = read(await ofNode().text());
  for (const line of [
    'svc_dead_letters_total 3',
    'svc_dead_letters 3',
    'svc_node_calls_refused_total{reason="secret"} 2',
  ])
    t.true(series.includes(line), line);
});

test('ecosystem X50 every operation with every refusal that it declares, and 10,000 values from outside, make fewer than 15,000 series, none of them in the second round', async (t) => {
  const metrics = createMetrics({ read: async () => figures }, CHAINS);
  const round = async () => {
    for (const route of ROUTE_LIST)
      for (const code of codesOf(route)) metrics.observeRequest(route.operationId, 400, code, 0.01);
    for (let n = 0; n < 10_000; n += 1) {
      metrics.observeRequest(`/v1/../${n}`, 700 + n, `CODE_${n}` as never, 0.01);
      metrics.set('svc_head_height', { chain: `acct_${n}` as never }, n);
    }
    const { series } = read(await metrics.text());
    return series.filter((line) => line.startsWith('svc_')).length;
  };
  const first = await round();
  t.true(first > 2_000 && first < 15_000, String(first));
  t.is(await round(), first);
});

test('ecosystem X50 a value that the catalogue does not have is counted as other', async (t) => {
  const meter = createMeter({
    svc_tried_total: { kind: 'counter', help: 'h', reader: 'operator', since: '1.0.0', labels: { outcome: ['good'] } },
  } as const);
  meter.add('svc_tried_total', { outcome: 'evil"} 1\nsvc_up' as never });
  t.regex(await meter.text(), /^svc_tried_total\{outcome="good"\} 0\nsvc_tried_total\{outcome="other"\} 1$/m);
});

test('ecosystem X46 docs/metrics.md is made of the catalogues', (t) => {
  const text = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  t.is(text, metricsDocument(), 'out of date: npm run -s docs:metrics');
});
