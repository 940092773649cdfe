/**
 * Plans of the statements that really ran, those inside of SQL functions too: `auto_explain` says each to its session
 * as a notice, with the rows that every node read.
 */
import { openDatabase, openLists, type Sql } from '../../persistence/postgres/sql.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
}

export interface RanStatement {
  readonly text: string;
  /** Rows that scans of tables and indexes looked at. */
  readonly rowsRead: number;
  /** `Seq Scan on table`, for tables that grow. */
  readonly sequentialScans: readonly string[];
  /** Index by index, as read. */
  readonly indexes: readonly string[];
}

/**
 * Tables that stay small whatever is used, and may be read from end to end; every other grows with customers, their
 * use or time (docs/data-model.md, "How tables grow").
 */
const SMALL = new Set([
  'backup_taken',
  'background_job',
  'chain_follower',
  'chain_head',
  'chain_start',
  'cloud_node',
  'cluster',
  'function',
  'function_set',
  'migration',
  'publication_seq_seq', // a sequence is one row
  'registry_signature',
  'registry_token',
  'registry_version',
  'scan_pace',
  'shard',
  'signing_key',
  'statement_number',
]);
/** Those that grow, and of which no fixture has rows enough for a plan to be of use. */
const HARDLY_FILLED = new Set(['registry_proposal', 'sso_connection', 'sso_domain', 'sso_identity', 'token_request']);

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}

function ranOf(notice: string): RanStatement | null {
  const [, json] = /^duration: [0-9.]+ ms {2}plan:\s*(\{[\s\S]*)$/.exec(notice) ?? [];
  if (json === undefined) return null;
  const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode };
  const scans = [...nodesOf(plan)].filter(
    (node) =>
      /Scan/.test(node['Node Type']) && (node['Relation Name'] !== undefined || node['Index Name'] !== undefined),
  );
  return {
    text,
    rowsRead: scans.reduce(
      (sum, node) =>
        sum +
        (node['Actual Loops'] ?? 1) *
          ((node['Actual Rows'] ?? 0) +
            (node['Rows Removed by Filter'] ?? 0) +
            (node['Rows Removed by Index Recheck'] ?? 0)),
      0,
    ),
    sequentialScans: scans.flatMap((node) =>
      node['Node Type'].endsWith('Seq Scan') &&
      node['Relation Name'] !== undefined &&
      !SMALL.has(node['Relation Name']) &&
      !HARDLY_FILLED.has(node['Relation Name'])
        ? [`${node['Node Type']} on ${node['Relation Name']}`]
        : [],
    ),
    indexes: scans.flatMap((node) => node['Index Name'] ?? []),
  };
}

export interface WatchedPools {
  readonly sql: Sql;
  readonly lists: Sql;
  /** What `work` ran, in order. */
  ran<T>(work: () => Promise<T>): Promise<{ answer: T; statements: readonly RanStatement[] }>;
  close(): Promise<void>;
}

/**
 * Pools as a node's, which hear their plans. `superuserUrl` names the database; its setting is the database's own.
 * `asItself`: not in the application's role.
 */
export async function openWatched(
  superuserUrl: string,
  appUrl = superuserUrl,
  settings: Readonly<Record<string, string>> = {},
  asItself = false,
): Promise<WatchedPools> {
  const admin = openDatabase({ url: superuserUrl, connections: 1, name: 'flock-plans', role: null });
  await admin`
    do $$
    declare setting text;
    begin
      foreach setting in array array['session_preload_libraries = ''auto_explain''', 'auto_explain.log_min_duration = 0', 'auto_explain.log_analyze = on',
          'auto_explain.log_timing = off', 'auto_explain.log_nested_statements = on', 'auto_explain.log_format = json', 'auto_explain.log_level = notice'] loop
        execute format('alter database %I set %s', current_database(), setting);
      end loop;
    end $$`;
  await admin.end({ timeout: 5 });
  let heard: RanStatement[] = [];
  const onNotice = (notice: string): void => {
    const ran = ranOf(notice);
    if (ran !== null) heard.push(ran);
  };
  const sql = openDatabase({
    url: appUrl,
    connections: 2,
    name: 'flock-watched',
    onNotice,
    settings,
    ...(asItself ? { role: null } : {}),
  });
  const lists = openLists({ url: appUrl, connections: 2, name: 'flock-watched-lists', onNotice });
  return {
    sql,
    lists,
    async ran(work) {
      heard = [];
      const answer = await work();
      return { answer, statements: heard };
    },
    async close() {
      await Promise.all([sql.end({ timeout: 5 }), lists.end({ timeout: 5 })]);
    },
  };
}
