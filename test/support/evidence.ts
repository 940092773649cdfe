/** What a company looked like when one of its stories did not go on: for whoever reads the failure afterwards. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Company } from './company.ts';
import { withTaggedBigints } from '../../protocol/bigint-json.ts';

const LINES = 60;
const ROWS = 20;

/** Deliveries that wait, inbox and statements of the database, and the ends of both logs. Never throws. */
export async function evidenceOf({ sql, dataDir }: Company): Promise<string> {
  const rows = async (what: string, read: () => PromiseLike<readonly object[]>): Promise<string> => {
    const found = await Promise.resolve(read()).catch((error: unknown) => [{ unread: String(error) }]);
    return `-- ${what}\n${found.map((row) => JSON.stringify(withTaggedBigints(row))).join('\n')}`;
  };
  const end = (name: string): string => {
    const file = join(dataDir, name);
    return `-- ${name}\n${existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(-LINES).join('\n') : 'none'}`;
  };
  return [
    await rows(
      'deliveries not delivered',
      () => sql`select id, event, seq::int, status, attempts, next_attempt_at, claimed_until, order_key
        from flock.delivery where status <> 'delivered' order by created_at desc limit ${ROWS}`,
    ),
    await rows('newest deposits', () => sql`select * from flock.deposit order by created_at desc limit 3`),
    await rows(
      'facts not matured',
      () => sql`select status, height, matures_at, transfer from flock.fact where status <> 'matured' limit ${ROWS}`,
    ),
    await rows('chains', () => sql`select * from flock.chain_cursor`),
    await rows('inbox', () => sql`select * from flock.inbox limit ${ROWS}`),
    await rows(
      'statements',
      () => sql`select pid, application_name, state, wait_event_type, wait_event, now() - query_start as since,
          left(query, 100) as query from pg_stat_activity where datname = current_database()`,
    ),
    end('edge.log'),
    end('cloud.log'),
  ].join('\n');
}
