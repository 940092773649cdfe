import test from 'ava';
import { createMetrics } from '../../../gateway/telemetry/metrics.ts';
import { createGaugeReader, type GaugeParts } from '../../../gateway/telemetry/gauge-reader.ts';

/** A node whose database answers, is known to be away, or hangs. */
function node() {
  const state = {
    away: false,
    asked: 0,
    elapsedMs: 0,
    nowMs: 1_000,
    headAtMs: 0 as number | null,
    answer: (): Promise<number> => Promise.resolve(3),
  };
  const parts = {
    stores: {
      deliveries: {
        incompletePublications: () => {
          state.asked += 1;
          return state.answer();
        },
      },
      mail: { unsent: () => state.answer() },
      inbox: { countSetAside: () => state.answer() },
      operators: {
        counterGaps: async () => ({ eth: 2 }),
        databaseState: async () => ({
          clockMs: 3_500,
          archiveFailing: true,
          replicaLagSeconds: null,
          numbersUsed: 0.25,
          backupAgeSeconds: 7_200,
        }),
      },
      watch: { coverage: async () => ({ unresolved: [], unresolvedCount: 0, headAtMs: state.headAtMs }) },
    },
    system: { counts: () => ({ waiting: 7, oldestWaitMs: 1_500, residents: 5, deadLetters: {} }) },
    liveChains: () => ['eth'],
    streamCount: () => 4,
    certificateDays: () => null,
    examined: () => null,
    statements: {
      pools: () => new Map([['main' as const, { connections: 8, underWay: 11 }]]),
      statements: () => new Map([['append_accounts', { count: 3, seconds: 0.5 }]]),
    },
    shares: () => ({
      shardsUnowned: 6,
      chainUnfollowed: { eth: 1 },
      roleUnserved: { publisher: 1 },
      callsRefused: { secret: 2 },
    }),
    isAway: () => state.away,
    nowMs: () => state.nowMs,
  };
  return {
    state,
    metrics: createMetrics(createGaugeReader(parts as unknown as GaugeParts), ['eth'], {}, () => state.elapsedMs),
  };
}

test('found F75: figures are answered while the database is away, with a gauge that says so and what was read last', async (t) => {
  const { state, metrics } = node();
  t.regex(await metrics.text(), /^svc_database_up 1$/m);
  state.away = true;
  state.elapsedMs = 90_000;
  const text = await metrics.text();
  for (const line of [
    /^svc_database_up 0$/m,
    /^svc_gauges_age_seconds 90$/m,
    /^svc_mailbox_depth 7$/m,
    /^svc_edge_streams 4$/m,
    /^svc_shards_unowned 6$/m,
    /^svc_chain_unfollowed\{chain="eth"\} 1$/m,
    /^svc_role_unserved\{role="publisher"\} 1$/m,
    /^svc_node_calls_refused\{reason="secret"\} 2$/m,
    /^svc_node_calls_refused_total\{reason="secret"\} 2$/m,
    /^svc_mail_unsent 3$/m,
  ])
    t.regex(text, line);
  t.is(state.asked, 1, 'one that is away is not asked');
  state.away = false;
  state.answer = () => Promise.reject(new Error('refused'));
  t.regex(await metrics.text(), /^svc_database_up 0$/m, 'nor is a failure one of the scrape');
});

test('found F75: a database that hangs holds up no scrape and is asked once, however often it is scraped', async (t) => {
  const { state, metrics } = node();
  let release: (value: number) => void = () => undefined;
  const hangs = new Promise<number>((resolve) => {
    release = resolve;
  });
  state.answer = () => hangs;
  const texts = await Promise.all([metrics.text(), metrics.text()]);
  for (const text of texts) t.regex(text, /^svc_database_up 0$/m);
  t.is(state.asked, 1);
  release(9);
  await hangs;
  t.regex(await metrics.text(), /^svc_mail_unsent 9$/m);
});

test('ecosystem X49 a scrape says how long a message waits, what the pools and statements do, and how the server of the database is; what there is none of has no series', async (t) => {
  const text = await node().metrics.text();
  for (const line of [
    /^svc_mailbox_age_seconds 1\.5$/m,
    /^svc_pool_connections\{pool="main"\} 8$/m,
    /^svc_pool_in_use\{pool="main"\} 8$/m,
    /^svc_pool_waiting\{pool="main"\} 3$/m,
    /^svc_statements_total\{statement="append_accounts"\} 3$/m,
    /^svc_statement_seconds_total\{statement="append_accounts"\} 0\.5$/m,
    /^svc_clock_offset_seconds -2\.5$/m,
    /^svc_archive_failing 1$/m,
    /^svc_backup_age_seconds 7200$/m,
    /^svc_database_numbers_used_ratio 0\.25$/m,
  ])
    t.regex(text, line);
  t.notRegex(text, /^svc_(?:replica_lag_seconds|certificate_days) /m);
});

test('a chain of which no block was ever seen is as old as its wait on this node, not as the epoch', async (t) => {
  const { state, metrics } = node();
  state.headAtMs = null;
  state.nowMs = 61_000;
  t.regex(await metrics.text(), /^svc_head_age_seconds\{chain="eth"\} 60$/m);
});
