/**
 * Prometheus metrics of a node. Names: issue 2 point 11; the prefix is the spec's
 * (`svc_event_publication_incomplete`).
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { GaugeReader } from './gauges.ts';

type Labels = Readonly<Record<string, string>>;

export interface Metrics {
  /** The exposition text; asks the gauge reader once. */
  text(): Promise<string>;
  /** A gauge or counter of another room, made when it is first set. A name keeps the labels it began with. */
  set(name: string, labels: Labels, value: number): void;
  add(name: string, labels: Labels, by?: number): void;
  observeRequest(operationId: string, status: number, seconds: number): void;
  /** Entries that one grouped append made durable. */
  observeAppendBatch(entries: number): void;
  /** Time from when a delivery was due to its recorded attempt, seconds. */
  observeDelivery(outcome: 'delivered' | 'failed', seconds: number): void;
  /** Time from a block read to its facts stored, seconds. */
  observeBlock(chain: string, seconds: number): void;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];

/** What a name means; a name that is not here is its own help. */
const HELP: Readonly<Record<string, string>> = {
  svc_head_height: 'Newest block known',
  svc_account_streams: 'Open streams of what happens in accounts (GET /v1/stream)',
  svc_endpoint_up: '1 while an endpoint answers and is of its network; 0: its node, plan or URL needs a look',
  svc_endpoint_trouble: '1 while svc_endpoint_up is 0 for this reason; wrong_network: a node of another network',
  svc_endpoint_alive:
    '1 while the word of an endpoint is waited for; 0: the others decide without it (docs/chains/endpoints.md)',
  svc_endpoint_errors_total: 'Requests that an endpoint did not answer, by kind',
  svc_endpoint_head_age_seconds: 'Time since the head of an endpoint rose',
  svc_blocks_contradicted_total: 'Reads of blocks whose movements endpoints reported differently',
  svc_reads_contradicted_total: 'Balances and inputs of payments that endpoints contradicted each other about',
  svc_blocks_recorded_total: 'Blocks recorded',
  svc_transfers_recorded_total: 'Transfers to watched addresses recorded',
  svc_reorg_blocks_total: 'Blocks that were replaced',
  svc_chain_stopped:
    '1 while a chain is stopped until a person has looked (G17); flock chains rebuild says where it parted',
  svc_outbound_open: 'Withdrawals on their way',
  svc_outbound_gaps:
    'Addresses whose signed withdrawals wait behind a counter value that nobody used; the next build from them takes it',
  svc_reconcile_pass_seconds:
    'Time of the last pass through all balances that look for contract payments without traces',
  svc_reconcile_waiting: 'Addresses whose balance waits to be compared',
  svc_audit_pass_seconds: 'Time of the last pass of the balance audit through all addresses',
  svc_tokens_off: 'Tokens that the chain contradicts and that are not credited',
  svc_traces_lost: '1 while an endpoint that traced blocks does not any more',
  svc_watch_failures_total: 'Jobs of a watcher that ended on a chain failure, by job',
  svc_facts_matured_total: 'Facts that reached their threshold',
  svc_facts_refuted_total: 'Facts whose transaction failed after it was seen to succeed',
  svc_discrepancies_total: 'Differences between balances and recorded facts, by kind',
  svc_wake_failures_total: 'Accounts that could not be woken; their inbox keeps the facts',
  svc_cursor_height: 'Newest block recorded',
  svc_blocks_behind: 'Blocks between cursor and head',
  svc_facts_waiting: 'Facts past their threshold that are not matured yet',
  svc_facts_contradicted: 'Facts whose recorded movement endpoints contradict; an operator should check the endpoints',
  svc_letters_withheld_total:
    'Letters that requests would have caused beyond what a mailbox or an organization gets in an hour',
  svc_reorgs_total: 'Branches that were replaced',
  svc_redis_up: '1 while Redis answers; 0: rate limits are counted by each node alone',
  svc_resubmissions_total: 'Signed bytes handed to a node, by what it said',
};
type MakeGauge = (name: string, help: string, labelNames: string[]) => Gauge;

/** What the nodes together leave undone, each with its label. */
const gaugesOfNodes = (gauge: MakeGauge) => ({
  chainUnfollowed: {
    by: 'chain',
    gauge: gauge('svc_chain_unfollowed', '1 while no node follows a chain: its blocks wait', ['chain']),
  },
  roleUnserved: {
    by: 'role',
    gauge: gauge('svc_role_unserved', '1 while no living node has a role: see its log', ['role']),
  },
  callsRefused: {
    by: 'reason',
    gauge: gauge('svc_node_calls_refused', 'Calls between nodes that were refused since the start', ['reason']),
  },
});

/** One registry: gauges that are read when somebody asks, the others fed as things happen. */
export function createMetrics(reader: GaugeReader): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
    new Histogram({ name, help, buckets, labelNames, registers });

  const databaseUp = gauge(
    'svc_database_up',
    '1 while the database answers; 0: figures that it counts stay as they were last read',
  );
  const counted = {
    publicationsIncomplete: gauge(
      'svc_event_publication_incomplete',
      "Recorded events that are due, untried and in nobody's hands, although their edge is there",
    ),
    mailUnsent: gauge('svc_mail_unsent', 'Mail to owners that no transport has taken yet'),
    factsSetAside: gauge('svc_facts_set_aside', 'Facts that their accounts could not take; an operator should look'),
  };
  const ofProcess = {
    mailboxDepth: gauge('svc_mailbox_depth', 'Messages that wait in all mailboxes'),
    deadLetters: gauge('svc_dead_letters', 'Messages that nobody handled or nobody waited for'),
    residentAccounts: gauge('svc_resident_accounts', 'Account actors in memory'),
    edgeStreams: gauge('svc_edge_streams', 'Open edge streams'),
    shardsUnowned: gauge('svc_shards_unowned', 'Shards that no node serves: their accounts are answered 503'),
  };
  const ofNodes = gaugesOfNodes(gauge);
  const readByChain = {
    blocksUnresolved: gauge('svc_blocks_unresolved', 'Heights whose content is not proven yet', ['chain']),
    headAgeSeconds: gauge('svc_head_age_seconds', 'Time since the newest block of a chain was seen', ['chain']),
    nonceGaps: gauge('svc_nonce_gaps', 'Counter values below the next one that nothing in flight holds', ['chain']),
  };
  const requests = histogram('svc_http_request_seconds', 'Time to answer a request', SECONDS, ['operation', 'status']);
  const appends = histogram('svc_append_batch_size', 'Entries of one grouped append', SIZES);
  const deliveries = histogram(
    'svc_delivery_latency_seconds',
    'Time from when a delivery was due to its recorded attempt',
    SECONDS,
    ['outcome'],
  );
  const blocks = histogram('svc_block_latency_seconds', 'Time from a block read to its facts stored', SECONDS, [
    'chain',
  ]);

  const gauges = new Map<string, Gauge>([
    ['svc_blocks_unresolved', readByChain.blocksUnresolved],
    ['svc_head_age_seconds', readByChain.headAgeSeconds],
  ]);
  const counters = new Map<string, Counter>();
  const made = <T>(map: Map<string, T>, name: string, make: () => T): T => {
    const known = map.get(name) ?? make();
    map.set(name, known);
    return known;
  };

  return {
    async text() {
      const { own, stored } = await reader.read();
      databaseUp.set(stored === null ? 0 : 1);
      for (const name of Object.keys(ofProcess) as (keyof typeof ofProcess)[]) ofProcess[name].set(own[name]);
      for (const name of Object.keys(ofNodes) as (keyof typeof ofNodes)[]) {
        const { by, gauge: shown } = ofNodes[name];
        for (const [label, value] of Object.entries(own[name])) shown.set({ [by]: label }, value);
      }
      if (stored === null) return registry.metrics();
      for (const name of Object.keys(counted) as (keyof typeof counted)[]) counted[name].set(stored[name]);
      for (const name of Object.keys(readByChain) as (keyof typeof readByChain)[]) {
        for (const [chain, value] of Object.entries(stored[name])) readByChain[name].set({ chain }, value);
      }
      return registry.metrics();
    },
    set: (name, labels, value) =>
      made(gauges, name, () => gauge(name, HELP[name] ?? name, Object.keys(labels))).set({ ...labels }, value),
    add: (name, labels, by = 1) =>
      made(
        counters,
        name,
        () =>
          new Counter({
            name,
            help: HELP[name] ?? name,
            labelNames: Object.keys(labels),
            registers,
          }),
      ).inc({ ...labels }, by),
    observeRequest: (operation, status, seconds) => requests.observe({ operation, status: String(status) }, seconds),
    observeAppendBatch: (entries) => appends.observe(entries),
    observeDelivery: (outcome, seconds) => deliveries.observe({ outcome }, seconds),
    observeBlock: (chain, seconds) => blocks.observe({ chain }, seconds),
  };
}
