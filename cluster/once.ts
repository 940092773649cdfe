/**
 * Work that must happen once over all nodes: each node tries the claim, one has it and renews it while it works. A
 * node that dies leaves it to the next try after CLAIM_SECONDS, so that work may be done twice and never not at all:
 * doing it again changes nothing. docs/jobs.md.
 *
 *   waiting --claimed, by the database's clock--> at work --done-----------------> done for this period
 *                                                         --failed---------------> waiting, after a pause
 *                                                         --not renewed in time--> anybody's (the work is aborted)
 */
import type { Clock, TimerHandle } from '../actors/kernel/timers.ts';
import type { JobStore } from '../model/ports/job-store.ts';

/** How long a claim outlives its node. */
const CLAIM_SECONDS = 60;
const RENEW_MS = 20_000;
/** Pauses after failures; the last one is repeated. */
const PAUSES_SECONDS = [60, 300, 900, 3_600];

export interface OnceDeps {
  readonly jobs: JobStore;
  readonly nodeId: string;
  readonly clock: Pick<Clock, 'setTimer' | 'clearTimer'>;
  readonly log: Record<'debug' | 'warn', (fields: object, message: string) => void>;
}

export interface Run {
  /** Start of the period, epoch milliseconds of the database's clock. */
  readonly periodMs: number;
  /** Aborted when the claim is lost or the node stops: what has not begun is left to the next claim. */
  readonly signal: AbortSignal;
}

/** Does the work of this period if it is this node's to do. Answers whether it was done here. */
export async function once(
  { jobs, nodeId, clock, log }: OnceDeps,
  { job, everySeconds }: { readonly job: string; readonly everySeconds: number },
  work: (run: Run) => Promise<void>,
  stopping: AbortSignal = new AbortController().signal,
): Promise<boolean> {
  const claim = await jobs.claim(job, nodeId, everySeconds, CLAIM_SECONDS);
  if (claim === null) return false;
  const lost = new AbortController();
  const renewing = repeat(clock, async () => {
    try {
      if (!(await jobs.renew(job, nodeId, CLAIM_SECONDS))) lost.abort();
    } catch (error) {
      log.warn({ err: error, job }, 'the claim of a job could not be renewed; it is tried again');
    }
  });
  const signal = AbortSignal.any([lost.signal, stopping]);
  try {
    await work({ periodMs: claim.periodMs, signal });
    if (!signal.aborted) await jobs.finish(job, nodeId, claim);
    else if (!lost.signal.aborted) await jobs.postpone(job, nodeId, claim, 0);
  } catch (error) {
    const pauseSeconds = PAUSES_SECONDS[Math.min(claim.attempt, PAUSES_SECONDS.length) - 1]!;
    log.warn({ err: error, job, attempt: claim.attempt, seconds: pauseSeconds }, 'a job failed; a node tries it again');
    await jobs.postpone(job, nodeId, claim, pauseSeconds);
    return false;
  } finally {
    renewing.stop();
  }
  if (signal.aborted) return false;
  log.debug({ job, period: new Date(claim.periodMs).toISOString() }, 'a job is done');
  return true;
}

function repeat(clock: OnceDeps['clock'], work: () => Promise<void>): { stop(): void } {
  let isStopped = false,
    timer: TimerHandle = null;
  const arm = (): void => {
    timer = clock.setTimer(RENEW_MS, () => {
      void work().finally(() => {
        if (!isStopped) arm();
      });
    });
  };
  arm();
  return {
    stop() {
      isStopped = true;
      clock.clearTimer(timer);
    },
  };
}
