/**
 * The dashboards, as Grafana imports them: one variable for the source of data, no `__inputs`, every rate over
 * `$__rate_interval`. Grafana itself does not run here; that the queries name what there is, a test holds. X52.
 */
import { JOBS } from '../prometheus/series.ts';

export interface Panel {
  readonly title: string;
  /** Of Grafana: `s`, `bytes`, `reqps`, `percentunit`, `short`, `d`. */
  readonly unit: string;
  /** Queries, each with what its lines are called. */
  readonly queries: readonly (readonly [query: string, legend: string])[];
  /** Page of docs/runbooks that says what to do. */
  readonly runbook?: string;
}

export interface Dashboard {
  readonly uid: `flock-${string}`;
  readonly title: string;
  readonly panels: readonly Panel[];
}

const panel = (title: string, unit: string, queries: Panel['queries'], runbook?: string): Panel => ({
  title,
  unit,
  queries,
  ...(runbook === undefined ? {} : { runbook }),
});
const rate = (series: string): string => `rate(${series}[$__rate_interval])`;
const quantile = (at: string, metric: string, by = ''): string =>
  `histogram_quantile(${at}, sum by (le${by === '' ? '' : `, ${by}`}) (${rate(`${metric}_bucket`)}))`;

export const DASHBOARDS: readonly Dashboard[] = [
  {
    uid: 'flock-overview',
    title: 'Flock: overview',
    panels: [
      panel('Processes that answer', 'short', [['sum by (job) (up{job=~"flock|flock-edge"})', '{{job}}']], 'down'),
      panel(
        'Requests',
        'reqps',
        [[`sum by (status) (${rate('svc_requests_total')})`, '{{status}}']],
        'api-errors-burn',
      ),
      panel('Refusals', 'reqps', [[`topk(10, sum by (code) (${rate('svc_refusals_total')}))`, '{{code}}']]),
      panel(
        'Time to answer',
        's',
        [
          [quantile('0.5', 'svc_http_request_seconds'), 'median'],
          [quantile('0.99', 'svc_http_request_seconds'), '99 %'],
        ],
        'api-slow-burn',
      ),
      panel('Blocks behind', 'short', [['max by (chain) (svc_blocks_behind)', '{{chain}}']], 'chain-behind'),
      panel('An edge leads', 'short', [['max(svc_edge_leader)', 'leader']], 'leader-missing-burn'),
      panel('Versions', 'short', [
        ['count by (version) (svc_build_info)', 'cloud {{version}}'],
        ['count by (version) (svc_edge_build_info)', 'edge {{version}}'],
      ]),
    ],
  },
  {
    uid: 'flock-chains',
    title: 'Flock: chains',
    panels: [
      panel('Age of the newest block', 's', [['max by (chain) (svc_head_age_seconds)', '{{chain}}']], 'chain-behind'),
      panel('Blocks recorded', 'short', [[`sum by (chain) (${rate('svc_blocks_recorded_total')})`, '{{chain}}']]),
      panel('Transfers recorded', 'short', [[`sum by (chain) (${rate('svc_transfers_recorded_total')})`, '{{chain}}']]),
      panel('Facts matured', 'short', [[`sum by (chain) (${rate('svc_facts_matured_total')})`, '{{chain}}']]),
      panel('Heights that are not proven', 'short', [['max by (chain) (svc_blocks_unresolved)', '{{chain}}']]),
      panel(
        'Blocks that were replaced',
        'short',
        [[`sum by (chain) (${rate('svc_reorg_blocks_total')})`, '{{chain}}']],
        'chain-stopped',
      ),
      panel(
        'Differences of balances',
        'short',
        [['sum by (chain, kind) (svc_discrepancies_total)', '{{chain}} {{kind}}']],
        'discrepancy',
      ),
    ],
  },
  {
    uid: 'flock-webhooks',
    title: 'Flock: webhooks',
    panels: [
      panel(
        'First attempts, from due to recorded',
        's',
        [[quantile('0.99', 'svc_first_attempt_seconds'), '99 %']],
        'first-attempt-burn',
      ),
      panel('Attempts by number', 'short', [
        [`sum by (attempt) (${rate('svc_delivery_attempts_total{attempt=~"1|2|3|4"}')})`, '{{attempt}}'],
      ]),
      panel(
        'What became of deliveries',
        'short',
        [[`sum by (outcome) (${rate('svc_delivery_attempts_total')})`, '{{outcome}}']],
        'dead-letters-rising',
      ),
      panel(
        "Due and in nobody's hands",
        'short',
        [['max(svc_event_publication_incomplete)', 'events']],
        'events-stuck',
      ),
      panel('Attempts of edges', 'short', [
        [`sum by (outcome) (${rate('svc_edge_webhook_attempts_total')})`, '{{outcome}}'],
      ]),
      panel('Receivers answer in', 's', [[quantile('0.99', 'svc_edge_webhook_seconds'), '99 %']]),
    ],
  },
  {
    uid: 'flock-edge',
    title: 'Flock: edges',
    panels: [
      panel(
        'Connected, leading',
        'short',
        [
          ['sum(svc_edge_stream_up)', 'connected'],
          ['sum(svc_edge_leader)', 'leading'],
        ],
        'edge-offline',
      ),
      panel('Writes that wait', 'short', [['svc_edge_outbox_depth', '{{instance}}']], 'edge-outbox-poisoned'),
      panel('Alarms', 'short', [[`sum(${rate('svc_edge_alarms_total')})`, 'alarms']], 'edge-alarm'),
      panel('Deliveries under way', 'short', [['svc_edge_deliveries_in_flight', '{{instance}}']]),
      panel('Memory', 'bytes', [['process_resident_memory_bytes{job="flock-edge"}', '{{instance}}']]),
      panel('Heap', 'bytes', [['nodejs_heap_size_used_bytes{job="flock-edge"}', '{{instance}}']]),
    ],
  },
  {
    uid: 'flock-nodes',
    title: 'Flock: PostgreSQL and nodes',
    panels: [
      panel('The database answers', 'short', [['min(svc_database_up)', 'up']], 'database-down'),
      panel(
        'Statements at work and waiting',
        'short',
        [
          ['sum by (pool) (svc_pool_in_use)', '{{pool}}'],
          ['sum by (pool) (svc_pool_waiting)', '{{pool}} waits'],
        ],
        'statements-wait',
      ),
      panel('Statements, by their time', 'percentunit', [
        [`topk(10, sum by (statement) (${rate('svc_statement_seconds_total')}))`, '{{statement}}'],
      ]),
      panel('Oldest message', 's', [['max by (instance) (svc_mailbox_age_seconds)', '{{instance}}']], 'mailbox-old'),
      panel('Accounts in memory', 'short', [['sum by (instance) (svc_resident_accounts)', '{{instance}}']]),
      panel(
        'Lateness of the event loop',
        's',
        [['nodejs_eventloop_lag_p99_seconds{job="flock"}', '{{instance}}']],
        'event-loop-blocked',
      ),
      panel('Garbage collection', 'percentunit', [
        [`sum by (instance, kind) (${rate('nodejs_gc_duration_seconds_sum')})`, '{{instance}} {{kind}}'],
      ]),
      panel('Memory', 'bytes', [['process_resident_memory_bytes{job="flock"}', '{{instance}}']]),
      panel(
        'Transaction numbers used',
        'percentunit',
        [['max(svc_database_numbers_used_ratio)', 'used']],
        'wraparound',
      ),
      panel('Shards without a node', 'short', [['max(svc_shards_unowned)', 'shards']], 'shard-unowned'),
    ],
  },
  {
    uid: 'flock-treasury',
    title: 'Flock: treasury and payments',
    panels: [
      panel(
        'Withdrawals on their way',
        'short',
        [['max by (chain) (svc_outbound_open)', '{{chain}}']],
        'outbound-stuck',
      ),
      panel(
        'Counter values that nothing holds',
        'short',
        [['max by (chain) (svc_nonce_gaps)', '{{chain}}']],
        'nonce-gap',
      ),
      panel('Signed bytes handed to nodes', 'short', [
        [`sum by (chain, result) (${rate('svc_resubmissions_total')})`, '{{chain}} {{result}}'],
      ]),
      panel(
        'Gas tanks with too little',
        'short',
        [[`sum by (chain) (${rate('svc_gas_tank_low_total')})`, '{{chain}}']],
        'gas-tank-low',
      ),
      panel('Payments and links asked for', 'reqps', [
        [`sum by (operation) (${rate('svc_requests_total{operation=~".*(Payment|Link).*"}')})`, '{{operation}}'],
      ]),
      panel('Facts set aside', 'short', [['max(svc_facts_set_aside)', 'facts']], 'facts-set-aside'),
    ],
  },
];

const SOURCE = { type: 'prometheus', uid: '${datasource}' };
const [WIDTH, HEIGHT, COLUMNS] = [12, 8, 2];

/** The file of a dashboard. */
export function dashboardFile({ uid, title, panels }: Dashboard): string {
  return `${JSON.stringify(
    {
      uid,
      title,
      tags: [...JOBS.slice(0, 1)],
      schemaVersion: 38,
      editable: true,
      refresh: '30s',
      time: { from: 'now-6h', to: 'now' },
      templating: {
        list: [{ name: 'datasource', label: 'Source', type: 'datasource', query: 'prometheus', hide: 0 }],
      },
      panels: panels.map((one, at) => ({
        id: at + 1,
        type: 'timeseries',
        title: one.title,
        datasource: SOURCE,
        gridPos: { x: (at % COLUMNS) * WIDTH, y: Math.floor(at / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
        fieldConfig: { defaults: { unit: one.unit, min: 0 }, overrides: [] },
        ...(one.runbook === undefined ? {} : { description: `What to do: docs/runbooks/${one.runbook}.md` }),
        targets: one.queries.map(([expr, legendFormat], index) => ({
          refId: String.fromCharCode(65 + index),
          datasource: SOURCE,
          expr,
          legendFormat,
        })),
      })),
    },
    null,
    2,
  )}\n`;
}
