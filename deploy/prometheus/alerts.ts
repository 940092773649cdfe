/**
 * The alerts, each with what makes it fire and what does not. `page` wakes somebody: a customer feels it, or money is
 * at risk; a `ticket` waits for the morning. Ecosystem X54, X55.
 */
import { networkOf } from '../../chains/registry.ts';
import type { Chain } from '../../protocol/slugs.ts';
import {
  always,
  BTC,
  cloud,
  edge,
  ETH,
  eth,
  MINUTES,
  ofCloud,
  ofEdge,
  one,
  page,
  rises,
  ticket,
  UP,
  type Alert,
  type Input,
} from './alert.ts';
import { BURN_ALERTS } from './burn-alerts.ts';
import { byChain, lateBlocks } from './objectives.ts';
import { CATALOGUE } from './series.ts';

/** A chain without a new block for this long is away, or its endpoints are. */
const silentSeconds = (chain: Chain): number => Math.max(300, Math.round((20 * networkOf(chain).blockTimeMs) / 1_000));

const ALERTS_OF_SERIES: readonly Alert[] = [
  // What runs.
  {
    name: 'FlockDown',
    expr: 'up{job=~"flock|flock-edge"} == 0',
    for: '1m',
    severity: page,
    summary: '{{ $labels.job }} {{ $labels.instance }} does not answer',
    fires: { [ofCloud('up')]: always(0) },
    labels: cloud,
    silent: UP,
  },
  {
    name: 'FlockScrapeMissing',
    expr: 'absent(up{job="flock"})',
    for: '5m',
    severity: ticket,
    summary: 'Prometheus has no cloud node in the job flock: no other alert can fire',
    fires: { [ofEdge('up')]: always(1) },
    labels: { job: 'flock' },
    silent: UP,
    absent: { job: 'flock' },
  },
  one('FlockDatabaseDown', 'svc_database_up', '== 0', {
    for: '1m',
    severity: page,
    summary: 'No cloud node gets an answer from PostgreSQL',
    bad: 0,
    good: 1,
  }),
  {
    name: 'FlockRedisDown',
    expr: 'min(svc_redis_up) == 0',
    for: '5m',
    severity: ticket,
    summary: 'Redis does not answer a cloud node: rate limits are counted by each node alone',
    fires: { [ofCloud('svc_redis_up')]: always(0) },
    silent: { [ofCloud('svc_redis_up')]: always(1) },
  },
  one('FlockShardUnowned', 'svc_shards_unowned', '> 0', {
    for: '1m',
    severity: page,
    summary: 'Accounts have no node: their requests are answered 503',
    bad: 128,
    good: 0,
  }),
  one('FlockRoleUnserved', 'svc_role_unserved', '== 1', {
    for: '2m',
    severity: page,
    summary: 'No living node has the role {{ $labels.role }}',
    by: 'role',
    label: 'role="publisher"',
    bad: 1,
    good: 0,
  }),
  {
    name: 'FlockClockOff',
    expr: 'abs(svc_clock_offset_seconds) > 2 or abs(svc_edge_clock_offset_seconds) > 5',
    for: '5m',
    severity: page,
    summary: 'The clock of {{ $labels.instance }} is off: signed calls are about to be refused',
    fires: { [ofEdge('svc_edge_clock_offset_seconds')]: always(-9) },
    labels: edge,
    silent: { [ofEdge('svc_edge_clock_offset_seconds')]: always(1), [ofCloud('svc_clock_offset_seconds')]: always(-1) },
  },
  {
    name: 'FlockEventLoopBlocked',
    expr: 'nodejs_eventloop_lag_p99_seconds{job=~"flock|flock-edge"} > 1',
    for: '5m',
    severity: page,
    summary: 'Something blocks the process of {{ $labels.instance }}',
    fires: { [ofCloud('nodejs_eventloop_lag_p99_seconds')]: always(2) },
    labels: cloud,
    silent: { [ofCloud('nodejs_eventloop_lag_p99_seconds')]: always('0.05') },
  },
  {
    name: 'FlockMailboxOld',
    expr: 'svc_mailbox_age_seconds > 10',
    for: '2m',
    severity: ticket,
    summary: 'A command has waited 10 s for its account on {{ $labels.instance }}',
    fires: { [ofCloud('svc_mailbox_age_seconds')]: always(12) },
    labels: cloud,
    silent: { [ofCloud('svc_mailbox_age_seconds')]: always('0.2') },
  },
  {
    name: 'FlockStatementsWait',
    expr: 'svc_pool_waiting > 0',
    for: '5m',
    severity: ticket,
    summary: 'Statements of {{ $labels.instance }} wait for a connection of the pool {{ $labels.pool }}',
    fires: { [ofCloud('svc_pool_waiting', 'pool="main"')]: always(4) },
    labels: { ...cloud, pool: 'main' },
    silent: { [ofCloud('svc_pool_waiting', 'pool="main"')]: always(0) },
  },
  {
    name: 'FlockCertificateEnds',
    expr: 'min(svc_certificate_days) < 14 or min(svc_edge_certificate_days) < 14',
    for: '1h',
    severity: ticket,
    summary: 'The certificate of the cloud ends within two weeks',
    fires: { [ofCloud('svc_certificate_days')]: always(9) },
    silent: { [ofCloud('svc_certificate_days')]: always(40), [ofEdge('svc_edge_certificate_days')]: always(40) },
  },

  // What reaches customers.
  one('FlockEventsStuck', 'svc_event_publication_incomplete', '> 0', {
    for: '5m',
    severity: page,
    summary: 'Events are due and nobody sends them, although their edge is there',
    bad: 3,
    good: 0,
  }),
  rises('FlockDeadLettersRising', 'svc_delivery_attempts_total', {
    severity: ticket,
    summary: 'Webhooks were given up: their receiver failed at every attempt',
    label: 'attempt="4",outcome="dead_lettered"',
    only: '{outcome="dead_lettered"}',
    window: '30m',
  }),
  one('FlockMailStuck', 'svc_mail_unsent', '> 0', {
    for: '30m',
    severity: ticket,
    summary: 'Mail to owners has waited for half an hour',
    bad: 2,
    good: 0,
  }),
  rises('FlockPoolLow', 'svc_refusals_total', {
    severity: ticket,
    summary: 'Addresses or payments are refused because an edge is away, or its pool of addresses is empty',
    label: 'code="EDGE_OFFLINE"',
    only: '{code="EDGE_OFFLINE"}',
    window: '10m',
  }),

  // Chains.
  {
    name: 'FlockChainBehind',
    expr: `(${byChain(lateBlocks, (chains, blocks) => `max by (chain) (svc_blocks_behind{chain=~"${chains}"}) > ${4 * blocks}`)}) or (${byChain(silentSeconds, (chains, seconds) => `max by (chain) (svc_head_age_seconds{chain=~"${chains}"}) > ${seconds}`)}) or max by (chain) (svc_chain_unfollowed) == 1`,
    for: '3m',
    severity: page,
    summary:
      'Deposits of {{ $labels.chain }} are late: it is followed behind its head, its head is old, or nobody follows it',
    fires: { [ofCloud('svc_blocks_behind', ETH)]: always(40), [ofCloud('svc_head_age_seconds', ETH)]: always(3) },
    labels: eth,
    silent: { [ofCloud('svc_blocks_behind', ETH)]: always(1), [ofCloud('svc_head_age_seconds', BTC)]: always(3600) },
  },
  one('FlockChainStopped', 'svc_chain_stopped', '== 1', {
    for: '0m',
    severity: page,
    summary: '{{ $labels.chain }} is stopped until a person has looked',
    by: 'chain',
    label: ETH,
    bad: 1,
    good: 0,
  }),
  {
    name: 'FlockEndpointDown',
    expr: 'min by (chain, endpoint) (svc_endpoint_up) == 0',
    for: '10m',
    severity: ticket,
    summary: 'The endpoint {{ $labels.endpoint }} does not answer or is of another network',
    fires: { [ofCloud('svc_endpoint_up', `${ETH},endpoint="eth-2"`)]: always(0) },
    labels: { chain: 'eth', endpoint: 'eth-2' },
    silent: { [ofCloud('svc_endpoint_up', `${ETH},endpoint="eth-2"`)]: always(1) },
  },
  one('FlockTracesLost', 'svc_traces_lost', '== 1', {
    for: '10m',
    severity: ticket,
    summary: 'The endpoint {{ $labels.endpoint }} traces blocks no more: payments by contracts are found late',
    by: 'chain, endpoint',
    label: `${ETH},endpoint="eth-1"`,
    bad: 1,
    good: 0,
  }),
  one('FlockTokensOff', 'svc_tokens_off', '> 0', {
    for: '10m',
    severity: ticket,
    summary: 'A token of {{ $labels.chain }} is not what the catalogue says, and is not credited',
    by: 'chain',
    label: ETH,
    bad: 1,
    good: 0,
  }),
  one('FlockFactsContradicted', 'svc_facts_contradicted', '> 0', {
    for: '5m',
    severity: page,
    summary: 'Endpoints of {{ $labels.chain }} contradict a recorded movement',
    by: 'chain',
    label: ETH,
    bad: 1,
    good: 0,
  }),
  one('FlockFactsSetAside', 'svc_facts_set_aside', '> 0', {
    for: '5m',
    severity: page,
    summary: 'An account could not take a deposit or a settlement: it is set aside',
    bad: 1,
    good: 0,
  }),
  rises('FlockDiscrepancy', 'svc_discrepancies_total', {
    severity: page,
    summary: 'A balance on {{ $labels.chain }} is not what is recorded ({{ $labels.kind }})',
    by: 'chain, kind',
    label: `${ETH},kind="shortfall"`,
    window: '1h',
  }),

  // What leaves.
  one('FlockNonceGap', 'svc_nonce_gaps', '> 0', {
    for: '10m',
    severity: page,
    summary: 'Withdrawals of {{ $labels.chain }} wait behind a counter value that nothing holds',
    by: 'chain',
    label: ETH,
    bad: 1,
    good: 0,
  }),
  one('FlockOutboundStuck', 'svc_outbound_gaps', '> 0', {
    for: '10m',
    severity: page,
    summary: 'Signed withdrawals of {{ $labels.chain }} cannot land before another one is built',
    by: 'chain',
    label: ETH,
    bad: 1,
    good: 0,
  }),
  rises('FlockGasTankLow', 'svc_gas_tank_low_total', {
    severity: ticket,
    summary: 'Sweeps of {{ $labels.chain }} are left out: a gas tank has too little',
    by: 'chain',
    label: ETH,
    window: '1h',
  }),

  // Edges.
  {
    name: 'FlockEdgeOffline',
    expr: '(max(svc_edge_stream_up) or 0 * max(up{job="flock-edge"})) == 0',
    for: '1m',
    severity: page,
    summary: 'No edge is connected to the cloud: nothing is signed, no webhook leaves',
    fires: { [ofEdge('up')]: always(0) },
    silent: { [ofEdge('up')]: always(1), [ofEdge('svc_edge_stream_up')]: always(1) },
  },
  one('FlockEdgeOutboxPoisoned', 'svc_edge_outbox_poisoned', '== 1', {
    on: 'edge',
    for: '1m',
    severity: page,
    summary: 'A write of an edge to the cloud is refused again and again, and holds up those behind it',
    bad: 1,
    good: 0,
  }),
  rises('FlockEdgeAlarm', 'svc_edge_alarms_total', {
    on: 'edge',
    severity: page,
    summary: 'An edge refused to do what it must not: somebody tried, or the cloud lies',
    window: '15m',
  }),
  one('FlockEdgeAuditBroken', 'svc_edge_audit_log_broken', '== 1', {
    on: 'edge',
    for: '0m',
    severity: page,
    summary: "The cloud's audit log does not go on from what the edge has seen",
    bad: 1,
    good: 0,
  }),
  {
    name: 'FlockEdgeVersionOld',
    expr: 'svc_edge_build_info unless on (version) svc_build_info',
    for: '1h',
    severity: ticket,
    summary: '{{ $labels.instance }} is of another version than every cloud node: {{ $labels.version }}',
    fires: {
      [ofEdge('svc_edge_build_info', 'version="0.9.0"')]: always(1),
      [ofCloud('svc_build_info', 'version="1.0.0"')]: always(1),
    },
    labels: { ...edge, version: '0.9.0' },
    silent: {
      [ofEdge('svc_edge_build_info', 'version="1.0.0"')]: always(1),
      [ofCloud('svc_build_info', 'version="1.0.0"')]: always(1),
    },
  },
  {
    name: 'FlockLeaseFlapping',
    expr: 'sum(changes(svc_edge_leader[30m])) > 6',
    for: '0m',
    severity: ticket,
    summary: 'Replicas of an edge take the lease from each other',
    fires: { [ofEdge('svc_edge_leader')]: Array.from({ length: MINUTES / 2 }, () => '0 1').join(' ') },
    silent: { [ofEdge('svc_edge_leader')]: always(1) },
  },
  {
    name: 'FlockDiskLow',
    expr: 'svc_edge_disk_available_ratio < 0.1',
    for: '10m',
    severity: page,
    summary: 'The disk of {{ $labels.instance }} is nearly full: an edge that cannot write signs nothing',
    fires: { [ofEdge('svc_edge_disk_available_ratio')]: always('0.04') },
    labels: edge,
    silent: { [ofEdge('svc_edge_disk_available_ratio')]: always('0.5') },
  },

  // The database.
  one('FlockPostgresLag', 'svc_replica_lag_seconds', '> 30', {
    for: '5m',
    severity: ticket,
    summary: 'A standby of PostgreSQL is half a minute behind',
    bad: 90,
    good: 1,
  }),
  one('FlockArchiveFailing', 'svc_archive_failing', '== 1', {
    for: '10m',
    severity: page,
    summary: 'PostgreSQL cannot archive its log: the disk fills, and a restore would lose what came since',
    bad: 1,
    good: 0,
  }),
  {
    name: 'FlockBackupOld',
    expr: '(min(svc_backup_age_seconds) > 93600) or (absent(svc_backup_age_seconds) and on () max(svc_database_up) == 1)',
    for: '1h',
    severity: ticket,
    summary: 'The last base copy of the database is older than 26 hours, or there is none',
    fires: { [ofCloud('svc_backup_age_seconds')]: always(200_000), [ofCloud('svc_database_up')]: always(1) },
    silent: { [ofCloud('svc_backup_age_seconds')]: always(3_600), [ofCloud('svc_database_up')]: always(1) },
  },
  one('FlockWraparound', 'svc_database_numbers_used_ratio', '> 0.5', {
    for: '1h',
    severity: ticket,
    summary: 'PostgreSQL has used half of its transaction numbers: vacuum does not keep up',
    bad: 0.7,
    good: 0.1,
  }),
];

/** Series that rest on nothing but a running process: one that is missing was renamed, or is scraped by nobody. */
function alwaysThere(alerts: readonly Alert[], kind: 'svc' | 'svc_edge'): string[] {
  const names = new Set(alerts.flatMap(({ expr }) => [...expr.matchAll(/\bsvc_\w+/g)].map(([name]) => name)));
  return [...names]
    .filter((name) => name.startsWith('svc_edge_') === (kind === 'svc_edge'))
    .filter((name) => {
      const metric = CATALOGUE[name];
      return (
        metric !== undefined &&
        metric.fromFirstValue !== true &&
        Object.keys(metric.labels).every((label) => label === 'code')
      );
    })
    .sort();
}

function metricAbsent(alerts: readonly Alert[]): Alert {
  const missing = (job: string, names: readonly string[]): string =>
    `(${names.map((name) => `label_replace(absent(${name}), "metric", "${name}", "", "")`).join(' or ')}) and on () max(up{job="${job}"}) == 1`;
  const [ofNodes, ofEdges] = [alwaysThere(alerts, 'svc'), alwaysThere(alerts, 'svc_edge')];
  const there = (names: readonly string[], series: (name: string, labels?: string) => string): Input =>
    Object.fromEntries(names.map((name) => [series(name), always(1)]));
  const all = { ...UP, ...there(ofNodes, ofCloud), ...there(ofEdges, ofEdge) };
  const { [ofEdge('svc_edge_alarms_total')]: _left, ...without } = all;
  return {
    name: 'FlockMetricAbsent',
    expr: `(${missing('flock', ofNodes)}) or (${missing('flock-edge', ofEdges)})`,
    for: '10m',
    severity: ticket,
    summary: 'A process answers without {{ $labels.metric }}: an alert that rests on it cannot fire',
    fires: without,
    labels: { metric: 'svc_edge_alarms_total' },
    silent: all,
  };
}

export const ALERTS: readonly Alert[] = [...BURN_ALERTS, ...ALERTS_OF_SERIES, metricAbsent(ALERTS_OF_SERIES)];
