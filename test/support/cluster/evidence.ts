/** What a cluster looked like when a story of it failed: for whoever reads the failure afterwards. */
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { told, type Operation } from './recorder.ts';
import type { TestCluster } from './cluster.ts';
import { withTaggedBigints } from '../../../protocol/bigint-json.ts';

const ROWS = 40;

/**
 * Nodes, owners, facts, deliveries and statements of the database, the history, and every log, in a folder of their
 * own. Answers the folder; never throws.
 */
export async function keepEvidence(
  { sql, nodes, fleets, folder }: TestCluster,
  { seed, problems, history }: { seed: number; problems: readonly string[]; history: readonly Operation[] },
): Promise<string> {
  const kept = mkdtempSync(join(tmpdir(), `flock-cluster-seed-${seed}-`));
  const rows = async (what: string, read: () => PromiseLike<readonly object[]>): Promise<string> => {
    const found = await Promise.resolve(read()).catch((error: unknown) => [{ unread: String(error) }]);
    return `-- ${what}\n${found.map((row) => JSON.stringify(withTaggedBigints(row))).join('\n')}`;
  };
  const state = [
    `-- problems\n${problems.join('\n')}`,
    await rows(
      'nodes',
      () => sql`
      select n.*, clock_timestamp() - n.seen_at as silent,
             (select count(*)::int from flock.shard s where s.owner = n.id) as shards
        from flock.cloud_node n order by n.seen_at desc limit ${ROWS}`,
    ),
    await rows('chains', () => sql`select * from flock.chain_follower`),
    await rows(
      'accounts',
      () => sql`
      select a.account_id, a.owner_epoch::text, a.version::text, s.id as shard, s.owner, s.epoch::text, a.state -> 'lease' as lease
        from flock.account a join flock.shard s on s.id = a.shard_id
       where a.account_id = any (${fleets.map(({ accountId }) => accountId)}::text[])`,
    ),
    await rows('inbox', () => sql`select * from flock.inbox limit ${ROWS}`),
    await rows(
      'deliveries not delivered',
      () => sql`
      select id, account_id, event, seq::int, status, attempts, next_attempt_at, claimed_until, order_key, clock_timestamp() as now
        from flock.delivery where status <> 'delivered' order by created_at limit ${ROWS}`,
    ),
    await rows(
      'facts not matured',
      () => sql`
      select ledger, status, height, matures_at, transfer from flock.fact where status <> 'matured' limit ${ROWS}`,
    ),
    await rows(
      'statements',
      () => sql`
      select pid, application_name, state, wait_event_type, wait_event, now() - query_start as since, left(query, 100) as query
        from pg_stat_activity where datname = current_database()`,
    ),
    `-- processes\n${nodes.map(({ name, up, frozen, url }) => `${name} ${up ? 'up' : 'down'}${frozen ? ', frozen' : ''} ${url}`).join('\n')}`,
    `-- history\n${history.map((one) => `${one.subject} ${told(one)}`).join('\n')}`,
  ];
  writeFileSync(join(kept, 'state.txt'), state.join('\n\n'));
  for (const { name } of nodes) cpSync(join(folder, `${name}.log`), join(kept, `${name}.log`), { force: true });
  for (const [at, { replicas }] of fleets.entries())
    for (const { name, output } of replicas) writeFileSync(join(kept, `edge-${at}-${name}.log`), output);
  return kept;
}
