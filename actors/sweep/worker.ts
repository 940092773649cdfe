/**
 * Sweeps by the clock: each owner of accounts fires the policies of its own that are due, and goes on with their open
 * jobs, whichever node began them. Two workers, so that a chain that answers slowly holds up no job that is under way.
 * In a sandbox time goes on with its jobs: a block a second on the ledger of each, so that nobody has to confirm
 * blocks. Treasury S5, S11, S28, S32.
 */
import { ChainUnavailable } from '../../chains/chain.ts';
import { environmentOf, type AccountId } from '../../protocol/ids.ts';
import type { SandboxControl } from '../../model/ports/sandbox-control.ts';
import type { DuePolicy, OpenJob, SweepStore } from '../../model/ports/sweep-store.ts';
import type { ActorSystem } from '../kernel/index.ts';
import { firePolicy, type FireParts } from './fire.ts';
import { advanceJob, type WorkParts } from './work.ts';

const LOOK_EVERY_MS = 1_000;
/** Jobs, and policies, of one page. */
const AT_ONCE = 100;
/** Jobs of a chain in a row that it does not answer, in one look. */
const FAILURES_MAX = 3;
/** Accounts whose firings are planned together: one with a slow chain does not hold up all others. */
const ACCOUNTS_AT_ONCE = 8;

interface OfOwner {
  /** Whether an account is this node's to look after. */
  readonly isMine: (accountId: AccountId) => boolean;
  readonly log: { warn(facts: object, text: string): void };
}

export interface JobsParts extends OfOwner, WorkParts {
  readonly sweeps: WorkParts['sweeps'] & Pick<SweepStore, 'openJobs'>;
  readonly sandbox: Pick<SandboxControl, 'advance'>;
}

export interface PoliciesParts extends OfOwner, FireParts {
  readonly sweeps: FireParts['sweeps'] & Pick<SweepStore, 'duePolicies'>;
  /** SWEEP_DEBOUNCE: firings of a threshold within it are one. */
  readonly debounceMs: number;
}

/**
 * One look at all open jobs of this node's accounts, those of each chain beside those of the others; what fails is
 * tried again with the next.
 */
export async function lookAtJobs(parts: JobsParts): Promise<void> {
  const { sweeps, isMine } = parts,
    failures = new Map<string, number>();
  for (let behind: OpenJob | null = null; ;) {
    const found: OpenJob[] = await sweeps.openJobs(behind, AT_ONCE);
    const chains = Map.groupBy(
      found.filter((job) => isMine(job.accountId)),
      ({ accountId, chain }) => `${environmentOf(accountId)} ${chain}`,
    );
    await Promise.all([...chains].map(([chain, jobs]) => goOn(parts, failures, chain, jobs)));
    if (found.length < AT_ONCE) return;
    behind = found.at(-1)!;
  }
}

/** Jobs of one chain, one after another, until so many in a row found it away: the others would wait for it as long. */
async function goOn(
  parts: JobsParts,
  failures: Map<string, number>,
  chain: string,
  jobs: readonly OpenJob[],
): Promise<void> {
  for (const job of jobs) {
    const { accountId, id } = job;
    if ((failures.get(chain) ?? 0) >= FAILURES_MAX) return;
    try {
      if (environmentOf(accountId) === 'sandbox') await parts.sandbox.advance(accountId, job.chain);
      await advanceJob(parts, accountId, id);
      failures.delete(chain);
    } catch (error) {
      parts.log.warn({ err: error, accountId, jobId: id }, 'a sweep job could not go on');
      if (error instanceof ChainUnavailable) failures.set(chain, (failures.get(chain) ?? 0) + 1);
    }
  }
}

/** One look at the policies of this node's accounts that fire now; what fails is tried again with the next. */
export async function lookAtPolicies(parts: PoliciesParts): Promise<void> {
  const { sweeps, debounceMs, isMine } = parts,
    atMs = parts.nowMs();
  for (let behind: DuePolicy | null = null; ;) {
    const found: DuePolicy[] = await sweeps.duePolicies(atMs, debounceMs, behind, AT_ONCE);
    const accounts = [
      ...Map.groupBy(
        found.filter(({ accountId }) => isMine(accountId)),
        (due) => due.accountId,
      ).values(),
    ];
    for (let at = 0; at < accounts.length; at += ACCOUNTS_AT_ONCE)
      await Promise.all(accounts.slice(at, at + ACCOUNTS_AT_ONCE).map((due) => fireEach(parts, due)));
    if (found.length < AT_ONCE) return;
    behind = found.at(-1)!;
  }
}

/** The due policies of one account, one after another; one that fails waits like one whose chain is away. */
async function fireEach(parts: PoliciesParts, due: readonly DuePolicy[]): Promise<void> {
  for (const one of due) {
    const { accountId, id } = one;
    try {
      await firePolicy(parts, one);
    } catch (error) {
      parts.log.warn({ err: error, accountId, policyId: id }, 'a sweep policy could not be fired');
      await parts.accounts.ask(accountId, { type: 'defer_sweep_policy', id, reason: 'INTERNAL_ERROR' });
    }
  }
}

/** Starts the looks. */
export function startSweeper(system: Pick<ActorSystem, 'spawnWorker'>, parts: JobsParts & PoliciesParts): void {
  for (const [path, look] of [
    ['schedules/sweeps', lookAtJobs],
    ['schedules/sweep-policies', lookAtPolicies],
  ] as const) {
    system.spawnWorker<'look'>({
      path,
      recover: ({ sendSelf }) => void sendSelf('look'),
      receive: async (message, { timers, sendSelf, signal }) => {
        await look(parts);
        if (!signal.aborted) timers.after(LOOK_EVERY_MS, () => sendSelf(message));
      },
    });
  }
}
