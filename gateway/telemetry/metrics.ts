/** Prometheus metrics of a node: those of the catalogue (protocol/metrics/cloud.ts), fed as things happen or read. */
import { CLOUD_METRICS, type CloudMetrics } from '../../protocol/metrics/cloud.ts';
import { createMeter, type Meter } from '../../protocol/node/meter.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { codesOf } from '../../protocol/route.ts';
import { statusOf, type ErrorCode } from '../../protocol/errors.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { VERSION } from '../../protocol/version.ts';
import type { GaugeReader } from './gauges.ts';

export interface Metrics extends Pick<Meter<CloudMetrics>, 'set' | 'add'> {
  /** The exposition text; asks the gauge reader once. */
  text(): Promise<string>;
  /** `code`: of a refusal. */
  observeRequest(operationId: string, status: number, code: ErrorCode | null, seconds: number): void;
  /** Entries that one grouped append made durable. */
  observeAppendBatch(entries: number): void;
  /** Time from when a delivery was due to its recorded attempt, seconds. */
  observeDelivery(outcome: 'delivered' | 'failed', seconds: number): void;
  /** Time from a block read to its facts stored, seconds. */
  observeBlock(chain: Chain, seconds: number): void;
}

/** The registry of a node that has these chains. */
export function createMetrics(
  reader: GaugeReader,
  chains: readonly Chain[],
  elapsedMs: () => number = () => performance.now(),
): Metrics {
  const meter = createMeter(CLOUD_METRICS, { chain: chains, version: [VERSION] });
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
    observeBlock: (chain, seconds) => meter.observe('svc_block_latency_seconds', { chain }, seconds),
  };
}

const entries = <K extends string>(record: Readonly<Partial<Record<K, number>>>): [K, number][] =>
  Object.entries(record) as [K, number][];
