/** Claims of work that one node does for all of them. */
import type { JobClaim, JobStore } from '../../model/ports/job-store.ts';
import type { Sql } from './sql.ts';

export function createJobStore(sql: Sql): JobStore {
  const end = async (job: string, node: string, { periodMs }: JobClaim, pauseSeconds: number | null): Promise<void> => {
    await sql`select end_job(${job}, ${node}, ${periodMs}::timestamptz, ${pauseSeconds}::int)`;
  };
  return {
    async claim(job, node, everySeconds, claimSeconds) {
      const [row] = await sql<{ periodAt: number; tried: number }[]>`
        select * from claim_job(${job}, ${node}, ${everySeconds}, ${claimSeconds})`;
      return row === undefined ? null : { periodMs: row.periodAt, attempt: row.tried };
    },
    async renew(job, node, claimSeconds) {
      const [row] = await sql<{ kept: boolean }[]>`select renew_job(${job}, ${node}, ${claimSeconds}) as kept`;
      return row!.kept;
    },
    finish: (job, node, claim) => end(job, node, claim, null),
    postpone: end,
  };
}
