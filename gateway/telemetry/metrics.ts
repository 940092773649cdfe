/** Prometheus metrics of a node: those of the catalogue (protocol/metrics/cloud.ts), fed as things happen or read. */
import { CLOUD_METRICS, type CloudMetrics } from '../../protocol/metrics/cloud.ts';
import { createMeter, type Meter } from '../../protocol/node/meter.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { codesOf } from '../../protocol/route.ts';
import { statusOf, type ErrorCode } from '../../protocol/errors.ts';
import type { Chain, DeliveryStatus } from '../../protocol/slugs.ts';
import { VERSION } from '../../protocol/version.ts';
import type { GaugeReader, OwnFigures, StoredFigures } from './gauges.ts';

export interface Metrics extends Pick<Meter<CloudMetrics>, 'set' | 'add'> {
  /** The exposition text; asks the gauge reader once. */
  text(): Promise<string>;
  /** `code`: of a refusal. */
  observeRequest(operationId: string, status: number, code: ErrorCode | null, seconds: number): void;
  /** Entries that one grouped append made durable. */
  observeAppendBatch(entries: number): void;
  /** Time from when a delivery was due to its recorded attempt, seconds. */
  observeDelivery(outcome: 'delivered' | 'failed', seconds: number): void;
  /** An attempt of a delivery, from one. `lateSeconds`: since it was due, where that is known. */
  observeAttempt(attempt: number, status: DeliveryStatus, lateSeconds: number | null): void;
  /** Time from a block read to its facts stored, seconds. */
  observeBlock(chain: Chain, seconds: number): void;
}

/** Names that the node gives: its pools, and the statements that it counts. */
export interface MetricNames {
  readonly pool?: readonly string[];
  readonly statement?: readonly string[];
}

const OUTCOMES = ['delivered', 'failed', 'dead_lettered'] as const;

/** The registry of a node that has these chains. */
export function createMetrics(
  reader: GaugeReader,
  chains: readonly Chain[],
  names: MetricNames = {},
  elapsedMs: () => number = () => performance.now(),
): Metrics {
  const meter = createMeter(CLOUD_METRICS, { chain: chains, version: [VERSION], ...names });
  meter.set('svc_build_info', { version: VERSION }, 1);
  for (const route of ROUTE_LIST) {
    for (const status of new Set([route.status, ...codesOf(route).map(statusOf)]))
      meter.add('svc_requests_total', { operation: route.operationId, status: String(status) }, 0);
  }
  let countedAtMs = elapsedMs();
  return {
    set: meter.set,
    add: meter.add,
    async text() {
      const { own, stored } = await reader.read();
      meter.set('svc_database_up', {}, stored === null ? 0 : 1);
      meter.set('svc_mailbox_depth', {}, own.mailboxDepth);
      meter.set('svc_mailbox_age_seconds', {}, own.mailboxAgeSeconds);
      if (own.certificateDays !== null) meter.set('svc_certificate_days', {}, own.certificateDays);
      for (const [check, value] of own.checks) meter.set('svc_check', { check, side: 'cloud' }, value);
      setPools(meter, own);
      meter.set('svc_resident_accounts', {}, own.residentAccounts);
      meter.set('svc_edge_streams', {}, own.edgeStreams);
      meter.set('svc_shards_unowned', {}, own.shardsUnowned);
      meter.total('svc_dead_letters_total', {}, own.deadLetters);
      meter.set('svc_dead_letters', {}, own.deadLetters);
      for (const [chain, value] of entries(own.chainUnfollowed)) meter.set('svc_chain_unfollowed', { chain }, value);
      for (const [role, value] of entries(own.roleUnserved)) meter.set('svc_role_unserved', { role }, value);
      for (const [reason, value] of entries(own.callsRefused)) {
        meter.total('svc_node_calls_refused_total', { reason }, value);
        meter.set('svc_node_calls_refused', { reason }, value);
      }
      if (stored !== null) {
        countedAtMs = elapsedMs();
        setDatabase(meter, stored);
        meter.set('svc_event_publication_incomplete', {}, stored.publicationsIncomplete);
        meter.set('svc_mail_unsent', {}, stored.mailUnsent);
        meter.set('svc_facts_set_aside', {}, stored.factsSetAside);
        for (const [chain, value] of entries(stored.blocksUnresolved))
          meter.set('svc_blocks_unresolved', { chain }, value);
        for (const [chain, value] of entries(stored.headAgeSeconds))
          meter.set('svc_head_age_seconds', { chain }, value);
        for (const [chain, value] of entries(stored.nonceGaps)) meter.set('svc_nonce_gaps', { chain }, value);
      }
      meter.set('svc_gauges_age_seconds', {}, (elapsedMs() - countedAtMs) / 1_000);
      return meter.text();
    },
    observeRequest(operation, status, code, seconds) {
      meter.add('svc_requests_total', { operation, status: String(status) });
      if (code !== null) meter.add('svc_refusals_total', { code });
      meter.observe('svc_http_request_seconds', { operation }, seconds);
    },
    observeAppendBatch: (size) => meter.observe('svc_append_batch_size', {}, size),
    observeDelivery: (outcome, seconds) => meter.observe('svc_delivery_latency_seconds', { outcome }, seconds),
    observeAttempt(attempt, status, lateSeconds) {
      const outcome = OUTCOMES.find((one) => one === status) ?? 'failed';
      meter.add('svc_delivery_attempts_total', { attempt: String(attempt), outcome });
      if (attempt === 1 && lateSeconds !== null) meter.observe('svc_first_attempt_seconds', {}, lateSeconds);
    },
    observeBlock: (chain, seconds) => meter.observe('svc_block_latency_seconds', { chain }, seconds),
  };
}

const entries = <K extends string>(record: Readonly<Partial<Record<K, number>>>): [K, number][] =>
  Object.entries(record) as [K, number][];

function setPools(meter: Meter<CloudMetrics>, { pools, statements }: OwnFigures): void {
  for (const [pool, { connections, underWay }] of pools) {
    meter.set('svc_pool_connections', { pool }, connections);
    meter.set('svc_pool_in_use', { pool }, Math.min(underWay, connections));
    meter.set('svc_pool_waiting', { pool }, Math.max(0, underWay - connections));
  }
  for (const [statement, { count, seconds }] of statements) {
    meter.total('svc_statements_total', { statement }, count);
    meter.total('svc_statement_seconds_total', { statement }, seconds);
  }
}

/** What there is none of has no series: zero would say that it is well. */
function setDatabase(meter: Meter<CloudMetrics>, { clockOffsetSeconds, database }: StoredFigures): void {
  const { archiveFailing, replicaLagSeconds, numbersUsed, backupAgeSeconds } = database;
  meter.set('svc_clock_offset_seconds', {}, clockOffsetSeconds);
  meter.set('svc_database_numbers_used_ratio', {}, numbersUsed);
  if (archiveFailing !== null) meter.set('svc_archive_failing', {}, Number(archiveFailing));
  if (replicaLagSeconds !== null) meter.set('svc_replica_lag_seconds', {}, replicaLagSeconds);
  if (backupAgeSeconds !== null) meter.set('svc_backup_age_seconds', {}, backupAgeSeconds);
}
