/** Metrics of a cloud node. docs/metrics.md is made of this list; `protocol/node/meter.ts` of it makes the registry. */
import { ERRORS, type ErrorCode } from '../errors.ts';
import { ROUTE_LIST } from '../routes.ts';
import { CHAINS } from '../slugs.ts';
import { CHECK_HELP, REQUEST_SECONDS, SECONDS, SIZES, type MetricCatalogue } from './metric.ts';

const chain = CHAINS;
/** `none`: a path that no route serves. */
const operation: readonly string[] = [...ROUTE_LIST.map(({ operationId }) => operationId), 'none'];
/** What the table of errors has, and the successes; anything else is `other`. */
const status: readonly string[] = [
  ...new Set(['200', '201', '202', '204', '303', '304', ...Object.values(ERRORS).map(([code]) => String(code))]),
  'other',
];
const code = Object.keys(ERRORS) as readonly ErrorCode[];
const endpoint = 'configured';
const CALL_REASONS = ['malformed', 'protocol', 'secret', 'receiver', 'clock', 'replayed'] as const;

/** Kinds of failure of an endpoint. */
const ERROR_KINDS = ['timeout', 'connection', 'rate_limited', 'unauthorized', 'http', 'too_large', 'other'] as const;

const gauge = <const R extends 'on call' | 'operator' | 'capacity' | 'support'>(reader: R) => ({
  kind: 'gauge' as const,
  reader,
  since: '1.0.0',
});
const counter = <const R extends 'on call' | 'operator' | 'capacity' | 'support'>(reader: R) => ({
  kind: 'counter' as const,
  reader,
  since: '1.0.0',
});
const ALONE = {} as const;
const pool = ['main', 'lists', 'background'] as const;
/** The longest ladder that can be set has so many (`WEBHOOK_LADDER_SECONDS`). */
const ATTEMPTS: readonly string[] = Array.from({ length: 21 }, (_, at) => String(at + 1));

export const CLOUD_METRICS = {
  // The process and what it rests on.
  svc_build_info: {
    ...gauge('operator'),
    help: 'Always 1; its label is the version of the software',
    labels: { version: 'configured' },
  },
  svc_check: { ...gauge('operator'), help: CHECK_HELP, labels: { check: 'configured', side: ['cloud'] } },
  svc_database_up: {
    ...gauge('on call'),
    help: '1 while the database answers; 0: figures that it counts stay as they were last read',
    labels: ALONE,
  },
  svc_gauges_age_seconds: {
    ...gauge('operator'),
    help: 'Time since the figures that the database counts were last read',
    labels: ALONE,
  },
  svc_redis_up: {
    ...gauge('on call'),
    help: '1 while Redis answers; 0: rate limits are counted by each node alone; none without REDIS_URL',
    fromFirstValue: true,
    labels: ALONE,
  },
  svc_mailbox_depth: { ...gauge('capacity'), help: 'Messages that wait in all mailboxes', labels: ALONE },
  svc_mailbox_age_seconds: {
    ...gauge('operator'),
    help: 'How long the message that waits longest in a mailbox has waited',
    labels: ALONE,
  },
  svc_resident_accounts: { ...gauge('capacity'), help: 'Account actors in memory', labels: ALONE },
  svc_edge_streams: { ...gauge('operator'), help: 'Open edge streams', labels: ALONE },
  svc_account_streams: {
    ...gauge('capacity'),
    help: 'Open streams of what happens in accounts (GET /v1/stream)',
    labels: ALONE,
  },
  svc_checkout_streams: { ...gauge('capacity'), help: 'Open pages of payers that are sent each change', labels: ALONE },
  svc_dead_letters_total: {
    ...counter('operator'),
    help: 'Messages that nobody handled or nobody waited for',
    labels: ALONE,
  },
  svc_dead_letters: {
    ...gauge('operator'),
    help: 'The count of svc_dead_letters_total under its former name',
    labels: ALONE,
    replacedBy: 'svc_dead_letters_total',
  },

  // The database and this machine.
  svc_pool_connections: {
    ...gauge('capacity'),
    help: 'Limit of connections to the database, by pool',
    labels: { pool },
  },
  svc_pool_in_use: { ...gauge('capacity'), help: 'Statements at work, by pool', labels: { pool } },
  svc_pool_waiting: {
    ...gauge('operator'),
    help: 'Statements that wait behind others for a connection, by pool',
    labels: { pool },
  },
  svc_statements_total: {
    ...counter('capacity'),
    help: 'Statements that ended, by the SQL function that they call; other: those of none',
    labels: { statement: 'configured' },
  },
  svc_statement_seconds_total: {
    ...counter('capacity'),
    help: 'Time of the statements of svc_statements_total, with their wait for a connection',
    labels: { statement: 'configured' },
  },
  svc_clock_offset_seconds: {
    ...gauge('on call'),
    help: "This machine's clock less the database's",
    fromFirstValue: true,
    labels: ALONE,
  },
  svc_certificate_days: {
    ...gauge('on call'),
    help: 'Days until the certificate at PUBLIC_URL ends, as this node sees it; none where it is no https',
    fromFirstValue: true,
    labels: ALONE,
  },
  svc_database_numbers_used_ratio: {
    ...gauge('on call'),
    help: 'Part of the transaction numbers that is used before PostgreSQL stops to write (wraparound)',
    fromFirstValue: true,
    labels: ALONE,
  },
  svc_archive_failing: {
    ...gauge('on call'),
    help: '1 while the newest segment of the log could not be archived; none without archive_mode',
    fromFirstValue: true,
    labels: ALONE,
  },
  svc_replica_lag_seconds: {
    ...gauge('on call'),
    help: 'How far the slowest standby is behind; none without one, or where flock_owner has no pg_monitor',
    fromFirstValue: true,
    labels: ALONE,
  },
  svc_backup_age_seconds: {
    ...gauge('on call'),
    help: 'Time since the last base copy that is whole began; none before the first',
    fromFirstValue: true,
    labels: ALONE,
  },

  // Requests.
  svc_requests_total: {
    ...counter('operator'),
    help: 'Requests that were answered, by operation and status',
    labels: { operation, status },
  },
  svc_refusals_total: { ...counter('support'), help: 'Requests that were refused, by code', labels: { code } },
  svc_http_request_seconds: {
    kind: 'histogram',
    reader: 'operator',
    since: '1.0.0',
    help: 'Time to answer a request',
    labels: { operation },
    buckets: REQUEST_SECONDS,
  },

  // What accounts decide, and what leaves.
  svc_append_batch_size: {
    kind: 'histogram',
    reader: 'capacity',
    since: '1.0.0',
    help: 'Entries of one grouped append',
    labels: ALONE,
    buckets: SIZES,
  },
  svc_event_publication_incomplete: {
    ...gauge('on call'),
    help: "Recorded events that are due, untried and in nobody's hands, although their edge is there",
    labels: ALONE,
  },
  svc_delivery_latency_seconds: {
    kind: 'histogram',
    reader: 'on call',
    since: '1.0.0',
    help: 'Time from when a delivery was due to its recorded attempt',
    labels: { outcome: ['delivered', 'failed'] },
    buckets: SECONDS,
  },
  svc_first_attempt_seconds: {
    kind: 'histogram',
    reader: 'on call',
    since: '1.0.0',
    help: 'Time from when a delivery was due to its first recorded attempt, whatever came of it; its leader was there',
    labels: ALONE,
    buckets: SECONDS,
  },
  svc_delivery_attempts_total: {
    ...counter('support'),
    help: 'Recorded attempts of deliveries, by their number and what became of the delivery',
    labels: { attempt: ATTEMPTS, outcome: ['delivered', 'failed', 'dead_lettered'] as const },
  },
  svc_mail_unsent: { ...gauge('on call'), help: 'Mail to owners that no transport has taken yet', labels: ALONE },
  svc_mail_given_up_total: {
    ...counter('support'),
    help: 'Mail whose mailbox was refused for good (5xx of RCPT TO) at four tries or more: it is not sent any more',
    labels: ALONE,
  },
  svc_letters_withheld_total: {
    ...counter('operator'),
    help: 'Letters that requests would have caused beyond what a mailbox or an organization gets in an hour',
    labels: ALONE,
  },
  svc_facts_set_aside: {
    ...gauge('on call'),
    help: 'Facts that their accounts could not take; an operator should look',
    labels: ALONE,
  },
  svc_wake_failures_total: {
    ...counter('operator'),
    help: 'Accounts that could not be woken; their inbox keeps the facts',
    labels: ALONE,
  },

  // Several nodes.
  svc_shards_unowned: {
    ...gauge('on call'),
    help: 'Shards that no node serves: their accounts are answered 503',
    labels: ALONE,
  },
  svc_chain_unfollowed: {
    ...gauge('on call'),
    help: '1 while no node follows a chain: its blocks wait',
    labels: { chain },
  },
  svc_role_unserved: {
    ...gauge('on call'),
    help: '1 while no living node has a role: see its log',
    labels: { role: ['gateway', 'watchers', 'publisher', 'schedules'] },
  },
  svc_node_calls_refused_total: {
    ...counter('operator'),
    help: 'Calls between nodes that were refused, by reason',
    labels: { reason: CALL_REASONS },
  },
  svc_node_calls_refused: {
    ...gauge('operator'),
    help: 'The count of svc_node_calls_refused_total under its former name',
    labels: { reason: CALL_REASONS },
    replacedBy: 'svc_node_calls_refused_total',
  },

  // Chains: endpoints.
  svc_endpoint_up: {
    ...gauge('on call'),
    help: '1 while an endpoint answers and is of its network; 0: its node, plan or URL needs a look',
    labels: { chain, endpoint },
  },
  svc_endpoint_trouble: {
    ...gauge('operator'),
    help: '1 while svc_endpoint_up is 0 for this reason; wrong_network: a node of another network',
    labels: { chain, endpoint, reason: [...ERROR_KINDS, 'wrong_network'] as const },
  },
  svc_endpoint_alive: {
    ...gauge('operator'),
    help: '1 while the word of an endpoint is waited for; 0: the others decide without it (docs/chains/endpoints.md)',
    labels: { chain, endpoint },
  },
  svc_endpoint_errors_total: {
    ...counter('operator'),
    help: 'Requests that an endpoint did not answer, by kind',
    labels: { chain, endpoint, kind: ERROR_KINDS },
  },
  svc_endpoint_head_age_seconds: {
    ...gauge('operator'),
    help: 'Time since the head of an endpoint rose',
    labels: { chain, endpoint },
  },
  svc_traces_lost: {
    ...gauge('on call'),
    help: '1 while an endpoint that traced blocks does not any more',
    labels: { chain, endpoint },
  },
  svc_tokens_off: {
    ...gauge('on call'),
    help: 'Tokens that the chain contradicts and that are not credited',
    labels: { chain },
  },

  // Chains: blocks and facts.
  svc_head_height: { ...gauge('operator'), help: 'Newest block known', fromFirstValue: true, labels: { chain } },
  svc_head_age_seconds: {
    ...gauge('on call'),
    help: 'Time since the newest block of a chain was seen',
    labels: { chain },
  },
  svc_cursor_height: { ...gauge('operator'), help: 'Newest block recorded', fromFirstValue: true, labels: { chain } },
  svc_blocks_behind: { ...gauge('on call'), help: 'Blocks between cursor and head', labels: { chain } },
  svc_blocks_unresolved: {
    ...gauge('on call'),
    help: 'Heights whose content is not proven yet',
    labels: { chain },
  },
  svc_block_latency_seconds: {
    kind: 'histogram',
    reader: 'operator',
    since: '1.0.0',
    help: 'Time from a block read to its facts stored',
    labels: { chain },
    buckets: SECONDS,
  },
  svc_blocks_recorded_total: { ...counter('capacity'), help: 'Blocks recorded', labels: { chain } },
  svc_transfers_recorded_total: {
    ...counter('capacity'),
    help: 'Transfers to watched addresses recorded',
    labels: { chain },
  },
  svc_blocks_contradicted_total: {
    ...counter('operator'),
    help: 'Reads of blocks whose movements endpoints reported differently',
    labels: { chain },
  },
  svc_reads_contradicted_total: {
    ...counter('operator'),
    help: 'Balances and inputs of payments that endpoints contradicted each other about',
    labels: { chain },
  },
  svc_reorgs_total: { ...counter('operator'), help: 'Branches that were replaced', labels: { chain } },
  svc_reorg_blocks_total: { ...counter('operator'), help: 'Blocks that were replaced', labels: { chain } },
  svc_chain_stopped: {
    ...gauge('on call'),
    help: '1 while a chain is stopped until a person has looked (G17); flock chains rebuild says where it parted',
    labels: { chain },
  },
  svc_watch_failures_total: {
    ...counter('operator'),
    help: 'Jobs of a watcher that ended on a chain failure, by job',
    labels: {
      chain,
      job: ['follow', 'unresolved', 'mature', 'rematch', 'adopted', 'outbound', 'reconcile'] as const,
    },
  },
  svc_facts_waiting: {
    ...gauge('operator'),
    help: 'Facts past their threshold that are not matured yet',
    labels: { chain },
  },
  svc_facts_contradicted: {
    ...gauge('on call'),
    help: 'Facts whose recorded movement endpoints contradict; an operator should check the endpoints',
    labels: { chain },
  },
  svc_facts_matured_total: {
    ...counter('capacity'),
    help: 'Facts that reached their threshold',
    labels: { chain },
  },
  svc_facts_refuted_total: {
    ...counter('operator'),
    help: 'Facts whose transaction failed after it was seen to succeed',
    labels: { chain },
  },

  // Chains: what leaves, and the audit.
  svc_outbound_open: { ...gauge('operator'), help: 'Withdrawals on their way', labels: { chain } },
  svc_outbound_gaps: {
    ...gauge('on call'),
    help: 'Addresses whose signed withdrawals wait behind a counter value that nobody used; the next build from them takes it',
    labels: { chain },
  },
  svc_nonce_gaps: {
    ...gauge('on call'),
    help: 'Counter values below the next one that nothing in flight holds',
    labels: { chain },
  },
  svc_resubmissions_total: {
    ...counter('operator'),
    help: 'Signed bytes handed to a node, by what it said',
    labels: { chain, result: ['accepted', 'already_known', 'rejected_final', 'unknown'] as const },
  },
  svc_reconcile_pass_seconds: {
    ...gauge('operator'),
    help: 'Time of the last pass through all balances that look for contract payments without traces',
    labels: { chain },
  },
  svc_reconcile_waiting: {
    ...gauge('operator'),
    help: 'Addresses whose balance waits to be compared',
    labels: { chain },
  },
  svc_audit_pass_seconds: {
    ...gauge('operator'),
    help: 'Time of the last pass of the balance audit through all addresses',
    labels: { chain },
  },
  svc_gas_tank_low_total: {
    ...counter('on call'),
    help: 'Sweeps of live accounts, or firings of a policy, that left something out because a gas tank had too little',
    labels: { chain },
  },
  svc_sweep_leftover_total: {
    ...counter('operator'),
    help: 'Gas that fundings of live accounts left on addresses that were not swept, in the smallest native unit',
    labels: { chain },
  },
  svc_discrepancies_total: {
    ...counter('on call'),
    help: 'Differences between balances and recorded facts, by kind',
    labels: { chain, kind: ['unattributed', 'shortfall'] as const },
  },
} as const satisfies MetricCatalogue;

export type CloudMetrics = typeof CLOUD_METRICS;
