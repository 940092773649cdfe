/** Metrics of one edge: those of the catalogue (protocol/metrics/edge.ts). Nothing in a label comes from outside. */
import { EDGE_METRICS, type EdgeMetrics } from '../../protocol/metrics/edge.ts';
import type { LabelsOf } from '../../protocol/metrics/metric.ts';
import type { checkValues } from '../../protocol/node/doctor/kept.ts';
import { createMeter, type Meter } from '../../protocol/node/meter.ts';
import { createRefusedScrapes, NOT_LET_IN, type MetricsAccess } from '../../protocol/node/metrics-access.ts';
import { noMetrics } from '../../protocol/unknown-path.ts';
import { VERSION } from '../../protocol/version.ts';
import type { EdgeLog } from '../process/log.ts';
import { BLOCK_REASONS } from '../webhooks/blocked-targets.ts';
import type { Attempt } from '../webhooks/post.ts';
import type { Undeclared } from './declared-codes.ts';
import { refused, type EdgePath } from './exchange.ts';

export interface EdgeGauges {
  readonly outboxDepth: number;
  readonly outboxPoisoned: boolean;
  readonly leader: boolean;
  readonly registered: boolean;
  readonly streamUp: boolean;
  readonly deliveriesInFlight: number;
  readonly alarms: number;
  readonly revocationsUnconfirmed: number;
  readonly webhookTargetsBlocked: number;
  readonly auditBroken: boolean;
  /** Null: nothing is known. */
  readonly clockOffsetSeconds: number | null;
  readonly certificateDays: number | null;
  readonly diskAvailable: number | null;
  /** What the doctor saw, by check. */
  readonly checks: ReturnType<typeof checkValues>;
}

/** Counts of what happens; built before what they count. */
export interface EdgeCounters {
  readonly meter: Meter<EdgeMetrics>;
  noteAttempt(attempt: Attempt): void;
  /** An attempt that was held back: `reason` is the policy's, or a code of the name server. */
  noteBlocked(reason: string): void;
  /** A refusal whose route does not declare its code. */
  noteUndeclared(refusal: Undeclared): void;
}

type Outcome = LabelsOf<EdgeMetrics, 'svc_edge_webhook_attempts_total'>['outcome'];

export function createEdgeCounters(): EdgeCounters {
  const meter = createMeter(EDGE_METRICS, { version: [VERSION] });
  meter.set('svc_edge_build_info', { version: VERSION }, 1);
  return {
    meter,
    noteUndeclared: ({ operationId, by }) =>
      meter.add('svc_edge_undeclared_refusals_total', { operation: operationId, by }),
    noteBlocked: (reason) =>
      meter.add('svc_edge_webhooks_blocked_total', {
        reason: BLOCK_REASONS.find((one) => one === reason) ?? 'no_address',
      }),
    noteAttempt({ outcome, durationMs }) {
      meter.add('svc_edge_webhook_attempts_total', { outcome: outcome satisfies Outcome });
      if (outcome === 'answered') meter.observe('svc_edge_webhook_seconds', {}, durationMs / 1_000);
    },
  };
}

/** `/metrics`: the counters, and gauges that are read when somebody asks who may. */
export function createMetricsPath(
  { meter }: EdgeCounters,
  read: () => EdgeGauges,
  mayScrape: MetricsAccess,
  log: Pick<EdgeLog, 'warn'>,
): EdgePath {
  const refusedScrapes = createRefusedScrapes();
  return async ({ scrape }) => {
    if (!mayScrape(scrape)) {
      const count = refusedScrapes();
      if (count !== null) log.warn(NOT_LET_IN, { count });
      return refused(noMetrics());
    }
    const now = read();
    meter.set('svc_edge_outbox_depth', {}, now.outboxDepth);
    meter.set('svc_edge_outbox_poisoned', {}, Number(now.outboxPoisoned));
    meter.set('svc_edge_leader', {}, Number(now.leader));
    meter.set('svc_edge_registered', {}, Number(now.registered));
    meter.set('svc_edge_stream_up', {}, Number(now.streamUp));
    meter.set('svc_edge_deliveries_in_flight', {}, now.deliveriesInFlight);
    meter.total('svc_edge_alarms_total', {}, now.alarms);
    meter.set('svc_edge_alarms', {}, now.alarms);
    meter.set('svc_edge_revocation_unconfirmed_replicas', {}, now.revocationsUnconfirmed);
    meter.set('svc_edge_webhook_targets_blocked', {}, now.webhookTargetsBlocked);
    meter.set('svc_edge_audit_log_broken', {}, Number(now.auditBroken));
    if (now.clockOffsetSeconds !== null) meter.set('svc_edge_clock_offset_seconds', {}, now.clockOffsetSeconds);
    if (now.certificateDays !== null) meter.set('svc_edge_certificate_days', {}, now.certificateDays);
    if (now.diskAvailable !== null) meter.set('svc_edge_disk_available_ratio', {}, now.diskAvailable);
    for (const [check, value] of now.checks) meter.set('svc_check', { check, side: 'edge' }, value);
    return { kind: 'bare', contentType: meter.contentType, text: await meter.text() };
  };
}
