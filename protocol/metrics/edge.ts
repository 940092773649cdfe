/** Metrics of an edge. docs/metrics.md is made of this list; `protocol/node/meter.ts` of it makes the registry. */
import { ROUTE_LIST } from '../routes.ts';
import { CHECK_HELP, type MetricCatalogue } from './metric.ts';

const operation: readonly string[] = ROUTE_LIST.map(({ operationId }) => operationId);
const ALONE = {} as const;
const onCall = { kind: 'gauge', reader: 'on call', since: '1.0.0', labels: ALONE } as const;
const operator = { kind: 'gauge', reader: 'operator', since: '1.0.0', labels: ALONE } as const;

/** Why an attempt was held back: the policy's words, and `no_address` for what the name server says. */
const BLOCKED = [
  'not_a_url',
  'scheme',
  'credentials',
  'plain_http',
  'not_listed',
  'path_not_listed',
  'own_listener',
  'loopback',
  'private',
  'forbidden',
  'no_address',
] as const;

export const EDGE_METRICS = {
  svc_edge_build_info: {
    ...operator,
    help: 'Always 1; its label is the version of the software',
    labels: { version: 'configured' },
  },
  svc_check: { ...operator, help: CHECK_HELP, labels: { check: 'configured', side: ['edge'] } },
  svc_edge_registered: { ...onCall, help: '1 when the cloud confirmed the registration' },
  svc_edge_stream_up: { ...onCall, help: '1 when the stream to the cloud is open' },
  svc_edge_leader: { ...onCall, help: '1 when this replica holds the lease' },
  svc_edge_clock_offset_seconds: {
    ...onCall,
    help: "This machine's clock less the cloud's, as its answers say, to the second",
    fromFirstValue: true,
  },
  svc_edge_certificate_days: {
    ...onCall,
    help: 'Days until the certificate of the cloud ends; none where CLOUD_URL is no https',
    fromFirstValue: true,
  },
  svc_edge_disk_available_ratio: {
    ...onCall,
    help: 'Part of the disk of EDGE_DATA_DIR that is free',
    fromFirstValue: true,
  },
  svc_edge_outbox_depth: { ...onCall, help: 'Writes to the cloud that wait' },
  svc_edge_outbox_poisoned: { ...onCall, help: '1 when a write keeps being refused and holds its lane' },
  svc_edge_alarms_total: {
    kind: 'counter',
    reader: 'on call',
    since: '1.0.0',
    help: 'Refused attempts to make this edge do what it must not; its log says which',
    labels: ALONE,
  },
  svc_edge_alarms: {
    ...onCall,
    help: 'The count of svc_edge_alarms_total under its former name',
    replacedBy: 'svc_edge_alarms_total',
  },
  svc_edge_revocation_unconfirmed_replicas: {
    ...operator,
    help: 'Replicas that have not stated every revocation of a local key that this one knows',
  },
  svc_edge_deliveries_in_flight: { ...operator, help: 'Webhook deliveries that wait or run' },
  svc_edge_webhook_attempts_total: {
    kind: 'counter',
    reader: 'operator',
    since: '1.0.0',
    help: 'Webhook attempts by outcome; refused and unverified: held back here',
    labels: { outcome: ['answered', 'failed', 'timeout', 'refused', 'unverified'] },
  },
  svc_edge_webhook_seconds: {
    kind: 'histogram',
    reader: 'operator',
    since: '1.0.0',
    help: 'Time to the answer of a webhook receiver',
    labels: ALONE,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  },
  svc_edge_webhooks_blocked_total: {
    kind: 'counter',
    reader: 'operator',
    since: '1.0.0',
    help: 'Webhook attempts that were held back here, by reason (docs/webhooks.md)',
    labels: { reason: BLOCKED },
  },
  svc_edge_webhook_targets_blocked: {
    ...operator,
    help: 'Hosts and ports of webhooks that the policy or the name server of this edge keeps it from; the status page names them',
  },
  svc_edge_audit_log_broken: {
    ...onCall,
    help: "1 when the cloud's audit log does not continue the kept checkpoint",
  },
  svc_edge_undeclared_refusals_total: {
    kind: 'counter',
    reader: 'support',
    since: '1.0.0',
    help: 'Refusals with a code that the description of their route does not name, by route and by who refused',
    labels: { operation, by: ['edge', 'cloud'] },
  },
} as const satisfies MetricCatalogue;

export type EdgeMetrics = typeof EDGE_METRICS;
