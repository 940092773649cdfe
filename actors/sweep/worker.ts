/**
 * Open sweep jobs by the clock: each owner of accounts goes on with those of its own, whichever node began them. In a
 * sandbox time goes on with them: a block a second on the ledger of each, so that nobody has to confirm blocks.
 * Treasury S28, S32.
 */
import { environmentOf, type AccountId } from '../../protocol/ids.ts';
import type { SandboxControl } from '../../model/ports/sandbox-control.ts';
import type { OpenJob, SweepStore } from '../../model/ports/sweep-store.ts';
import type { ActorSystem } from '../kernel/index.ts';
import { advanceJob, type WorkParts } from './work.ts';

const LOOK_EVERY_MS = 1_000;
const JOBS_AT_ONCE = 100;

export interface SweeperParts extends WorkParts {
  readonly sweeps: WorkParts['sweeps'] & Pick<SweepStore, 'openJobs'>;
  readonly sandbox: Pick<SandboxControl, 'advance'>;
  /** Whether an account is this node's to look after. */
  readonly isMine: (accountId: AccountId) => boolean;
  readonly log: { warn(facts: object, text: string): void };
}

/** One look at all open jobs of this node's accounts; what fails is tried again with the next. */
export async function lookAtJobs(parts: SweeperParts): Promise<void> {
  const { sweeps, sandbox, isMine, log } = parts;
  for (let behind: OpenJob | null = null; ;) {
    const found: OpenJob[] = await sweeps.openJobs(behind, JOBS_AT_ONCE);
    for (const { accountId, id, chain } of found.filter((job) => isMine(job.accountId))) {
      try {
        if (environmentOf(accountId) === 'sandbox') await sandbox.advance(accountId, chain);
        await advanceJob(parts, accountId, id);
      } catch (error) {
        log.warn({ err: error, accountId, jobId: id }, 'a sweep job could not go on');
      }
    }
    if (found.length < JOBS_AT_ONCE) return;
    behind = found.at(-1)!;
  }
}

/** Starts the looks. */
export function startSweeper(system: Pick<ActorSystem, 'spawnWorker'>, parts: SweeperParts): void {
  system.spawnWorker<'look'>({
    path: 'schedules/sweeps',
    recover: ({ sendSelf }) => void sendSelf('look'),
    receive: async (look, { timers, sendSelf, signal }) => {
      await lookAtJobs(parts);
      if (!signal.aborted) timers.after(LOOK_EVERY_MS, () => sendSelf(look));
    },
  });
}
