/** npm passes Ctrl-C and SIGTERM on, but a killed npm passes nothing on: its child looks for itself. */

const LOOK_MS = 500;

/** Calls back once when npm started this process and is gone. A start without npm is left alone: `nohup` stays. */
export function whenNpmIsGone(leave: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    leave();
  }, LOOK_MS);
  timer.unref();
}
