/** Ordered drain of a process: stop taking in, finish, close; within a deadline, or without what does not finish. */
import type { Logger } from 'pino';

export interface DrainStep {
  readonly name: string;
  /** Milliseconds this step may take. */
  readonly limitMs: number;
  stop(): Promise<unknown>;
}

/** Exit within 10 s of SIGTERM is the contract (issue of the first version). */
export const DRAIN_DEADLINE_MS = 9_000;
/** What all steps together may take, so that the last one has ended before the process is ended by its deadline. */
export const DRAIN_STEPS_MS = 8_500;
/** What a step gets when those before it took all the time. */
const LATE_STEP_MS = 5;

/**
 * Runs the steps one after another; a step that fails or takes too long is logged and left behind. Limit: `totalMs`.
 */
export async function drain(steps: readonly DrainStep[], log: Logger, totalMs = DRAIN_STEPS_MS): Promise<void> {
  const endsAt = performance.now() + totalMs;
  for (const { name, limitMs: ownMs, stop } of steps) {
    const limitMs = Math.ceil(Math.max(LATE_STEP_MS, Math.min(ownMs, endsAt - performance.now())));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), limitMs);
    });
    try {
      const outcome = await Promise.race([stop(), late]);
      if (outcome === 'late') log.error({ step: name, limitMs }, 'drain step did not finish in time');
    } catch (error) {
      log.error({ step: name, err: error }, 'drain step failed');
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Ends a process that does not serve yet when the process that started it is gone: there is nothing to drain. The
 * answer takes that back, once `stopOnSignals` has taken over.
 */
export function exitWithParent(): () => void {
  const leave = (): never => process.exit(1);
  if (process.connected === false) leave(); // it was gone before the first line ran
  process.on('disconnect', leave);
  return () => {
    process.off('disconnect', leave);
  };
}

/**
 * Calls `stop` once: on SIGTERM, on SIGINT, and when the channel to the process that started this one closes, so that a
 * killed parent leaves no orphan. Exits with 0 after it, with 1 when it takes longer than the deadline.
 */
export function stopOnSignals(stop: () => Promise<void>, log: Logger, deadlineMs = DRAIN_DEADLINE_MS): void {
  let stopping = false;
  const begin = (cause: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ cause }, 'stopping');
    setTimeout(() => {
      log.fatal({ deadlineMs }, 'drain exceeded its deadline');
      process.exit(1);
    }, deadlineMs).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.fatal({ err: error }, 'drain failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => begin('SIGTERM'));
  process.on('SIGINT', () => begin('SIGINT'));
  if (process.channel !== undefined) process.on('disconnect', () => begin('parent is gone'));
}
