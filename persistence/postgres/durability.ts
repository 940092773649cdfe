/**
 * Whether a commit that was acknowledged survives the loss of the server. With a standby that commits do not wait for,
 * a fail-over forgets the newest ones: addresses that were given out are given out again, to others.
 */
import type { Sql } from './sql.ts';

export interface Durability {
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
  readonly synchronousStandbyNames: string;
  /** Standbys that stream now, and replication slots of ones that may. */
  readonly standbys: number;
}

/** Settings of the server as a session of this role has them. The number of senders is visible to every role. */
export async function readDurability(sql: Sql): Promise<Durability> {
  const [row] = await sql<Durability[]>`
    select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
           current_setting('synchronous_commit') as synchronous_commit, current_setting('synchronous_standby_names') as synchronous_standby_names,
           greatest((select count(*) from pg_stat_replication), (select count(*) from pg_replication_slots where slot_type = 'physical'))::int as standbys`;
  return { ...row! };
}

/** What is wrong, with the setting that mends it; null when an acknowledged commit survives. */
export function durabilityProblem({
  fsync,
  fullPageWrites,
  synchronousCommit,
  synchronousStandbyNames,
  standbys,
}: Durability): string | null {
  if (fsync !== 'on')
    return 'fsync is off: a crash of the machine loses or tears what was acknowledged; set fsync = on';
  if (fullPageWrites !== 'on')
    return 'full_page_writes is off: a crash of the machine tears pages; set full_page_writes = on';
  if (synchronousCommit === 'off')
    return 'synchronous_commit is off: a crash loses what was acknowledged; set synchronous_commit = on';
  if (standbys === 0) return null;
  if (synchronousStandbyNames.trim() === '') {
    return `${standbys} standby${standbys === 1 ? '' : 's'} and no synchronous one: a fail-over loses what was acknowledged; set synchronous_standby_names, such as 'ANY 1 (a, b)'`;
  }
  return synchronousCommit === 'local'
    ? 'synchronous_commit is local: commits do not wait for the synchronous standby; set synchronous_commit = on'
    : null;
}
