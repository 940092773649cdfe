import test from 'ava';
import { createMetrics } from '../../../gateway/telemetry/metrics.ts';
import { createGaugeReader, type GaugeParts } from '../../../gateway/telemetry/gauge-reader.ts';

/** A node whose database answers, is known to be away, or hangs. */
function node() {
  const state = { away: false, asked: 0, elapsedMs: 0, answer: (): Promise<number> => Promise.resolve(3) };
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
      operators: { counterGaps: async () => ({ eth: 2 }) },
      watch: { coverage: async () => ({ unresolved: [], unresolvedCount: 0, headAtMs: 0 }) },
    },
    system: { counts: () => ({ waiting: 7, residents: 5, deadLetters: {} }) },
    liveChains: () => ['eth'],
    streamCount: () => 4,
    shares: () => ({
      shardsUnowned: 6,
      chainUnfollowed: { eth: 1 },
      roleUnserved: { publisher: 1 },
      callsRefused: { secret: 2 },
    }),
    isAway: () => state.away,
    nowMs: () => 1_000,
  };
  return {
    state,
    metrics: createMetrics(createGaugeReader(parts as unknown as GaugeParts), ['eth'], () => state.elapsedMs),
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
