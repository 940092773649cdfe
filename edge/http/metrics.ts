/** Prometheus metrics of one edge. Names begin with `svc_edge_`; nothing in a label comes from outside. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { BLOCK_REASONS } from '../webhooks/blocked-targets.ts';
import type { Attempt } from '../webhooks/post.ts';
import type { Undeclared } from './declared-codes.ts';
import type { EdgePath } from './exchange.ts';

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
}

/** Counts of what happens; built before what they count. */
export interface EdgeCounters {
  readonly registry: Registry;
  noteAttempt(attempt: Attempt): void;
  /** An attempt that was held back: `reason` is the policy's, or a code of the name server. */
  noteBlocked(reason: string): void;
  /** A refusal whose route does not declare its code. */
  noteUndeclared(refusal: Undeclared): void;
}

export function createEdgeCounters(): EdgeCounters {
  const registry = new Registry();
  const attempts = new Counter({
    name: 'svc_edge_webhook_attempts_total',
    help: 'webhook attempts by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'svc_edge_webhook_seconds',
    help: 'time to the answer of a webhook receiver',
    registers: [registry],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  });
  const blocked = new Counter({
    name: 'svc_edge_webhooks_blocked_total',
    help: 'webhook attempts that were held back here, by reason (docs/webhooks.md)',
    labelNames: ['reason'],
    registers: [registry],
  });
  const undeclared = new Counter({
    name: 'svc_edge_undeclared_refusals_total',
    help: 'refusals with a code that the description of their route does not name, by route and by who refused',
    labelNames: ['operation', 'by'],
    registers: [registry],
  });
  return {
    registry,
    noteUndeclared: ({ operationId, by }) => undeclared.inc({ operation: operationId, by }),
    noteBlocked: (reason) => blocked.inc({ reason: BLOCK_REASONS.find((one) => one === reason) ?? 'no_address' }),
    noteAttempt({ outcome, durationMs }) {
      attempts.inc({ outcome });
      if (outcome === 'answered') seconds.observe(durationMs / 1_000);
    },
  };
}

/** `/metrics`: the counters, and gauges that are read when somebody asks. */
export function createMetricsPath({ registry }: EdgeCounters, read: () => EdgeGauges): EdgePath {
  const gauge = (name: string, help: string, value: (gauges: EdgeGauges) => number) =>
    new Gauge({
      name: `svc_edge_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(value(read()));
      },
    });
  gauge('outbox_depth', 'writes to the cloud that wait', ({ outboxDepth }) => outboxDepth);
  gauge('outbox_poisoned', '1 when a write keeps being refused and holds its lane', ({ outboxPoisoned }) =>
    Number(outboxPoisoned),
  );
  gauge('leader', '1 when this replica holds the lease', ({ leader }) => Number(leader));
  gauge('registered', '1 when the cloud confirmed the registration', ({ registered }) => Number(registered));
  gauge('stream_up', '1 when the stream to the cloud is open', ({ streamUp }) => Number(streamUp));
  gauge('deliveries_in_flight', 'webhook deliveries that wait or run', ({ deliveriesInFlight }) => deliveriesInFlight);
  gauge('alarms', 'refused attempts to make this edge do what it must not, since the start', ({ alarms }) => alarms);
  gauge(
    'revocation_unconfirmed_replicas',
    'replicas that have not stated every revocation of a local key that this one knows',
    ({ revocationsUnconfirmed }) => revocationsUnconfirmed,
  );
  gauge(
    'webhook_targets_blocked',
    'hosts and ports of webhooks that the policy or the name server of this edge keeps it from; the status page names them',
    ({ webhookTargetsBlocked }) => webhookTargetsBlocked,
  );
  gauge('audit_log_broken', "1 when the cloud's audit log does not continue the kept checkpoint", ({ auditBroken }) =>
    Number(auditBroken),
  );
  return async () => ({ kind: 'bare', contentType: registry.contentType, text: await registry.metrics() });
}
