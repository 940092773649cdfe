/** Prometheus metrics of a node. Names: issue 2 point 11; the prefix is the spec's (`svc_event_publication_incomplete`). */
import { Gauge, Histogram, Registry } from 'prom-client';
import type { GaugeReader } from '../ports.ts';

export interface Metrics {
  /** The exposition text; asks the gauge reader once. */
  text(): Promise<string>;
  readonly contentType: string;
  observeRequest(operationId: string, status: number, seconds: number): void;
  /** Entries that one grouped append made durable. */
  observeAppendBatch(entries: number): void;
  /** Time from the event's publication to the recorded answer of its endpoint. */
  observeDelivery(outcome: 'delivered' | 'failed', seconds: number): void;
  /** Time from a block seen to the credit or detection stored. */
  observeBlock(chain: string, seconds: number): void;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

/** One registry, with gauges that are read when somebody asks and histograms that are fed as things happen. */
export function createMetrics(gauges: GaugeReader): Metrics {
  const registers = [new Registry()] as const;
  const gauge = <L extends string>(name: string, help: string, labelNames: L[] = []) => new Gauge<L>({ name, help, labelNames, registers: [...registers] });
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: L[] = []) =>
    new Histogram<L>({ name, help, buckets, labelNames, registers: [...registers] });

  const single = {
    publicationsIncomplete: gauge('svc_event_publication_incomplete', 'Recorded events whose receivers have not all taken them'),
    mailboxDepth: gauge('svc_mailbox_depth', 'Messages that wait in all mailboxes'),
    deadLetters: gauge('svc_dead_letters', 'Messages that nobody handled or nobody waited for'),
    residentAccounts: gauge('svc_resident_accounts', 'Account actors in memory'),
    edgeStreams: gauge('svc_edge_streams', 'Open edge streams'),
  };
  const byChain = {
    blocksUnresolved: gauge('svc_blocks_unresolved', 'Heights whose content is not proven yet', ['chain']),
    headAgeSeconds: gauge('svc_head_age_seconds', 'Time since the newest block of a chain was seen', ['chain']),
    nonceGaps: gauge('svc_nonce_gaps', 'Counter values below the next one that nothing in flight holds', ['chain']),
  };
  const requests = histogram('svc_http_request_seconds', 'Time to answer a request', SECONDS, ['operation', 'status']);
  const appends = histogram('svc_append_batch_size', 'Entries of one grouped append', SIZES);
  const deliveries = histogram('svc_delivery_latency_seconds', 'Time from publication to the recorded answer of an endpoint', SECONDS, ['outcome']);
  const blocks = histogram('svc_block_latency_seconds', 'Time from a block seen to its facts stored', SECONDS, ['chain']);

  return {
    contentType: registers[0].contentType,
    async text() {
      const values = await gauges.read();
      for (const name of Object.keys(single) as (keyof typeof single)[]) single[name].set(values[name]);
      for (const name of Object.keys(byChain) as (keyof typeof byChain)[]) {
        byChain[name].reset();
        for (const [chain, value] of Object.entries(values[name])) byChain[name].set({ chain }, value);
      }
      return registers[0].metrics();
    },
    observeRequest: (operation, status, seconds) => requests.observe({ operation, status: String(status) }, seconds),
    observeAppendBatch: (entries) => appends.observe(entries),
    observeDelivery: (outcome, seconds) => deliveries.observe({ outcome }, seconds),
    observeBlock: (chain, seconds) => blocks.observe({ chain }, seconds),
  };
}
