/** When a page reads again: every quarter of a minute while somebody looks at it. Console C15. */
import { signal } from '@preact/signals';

const EVERY_MS = 15_000;
/** Rises whenever what is on the screen may be old. */
export const pulse = signal(0);
export const isOnline = signal(navigator.onLine);
/** The time that ages are shown by; it moves with the pulse. */
export const nowMs = signal(Date.now());

/** Beats from now on; a tab that comes back into sight beats at once. */
export function startPulse(): void {
  const beat = (): void => {
    if (document.visibilityState !== 'visible') return;
    nowMs.value = Date.now();
    pulse.value += 1;
  };
  setInterval(beat, EVERY_MS);
  document.addEventListener('visibilitychange', beat);
  window.addEventListener('online', () => {
    isOnline.value = true;
    beat();
  });
  window.addEventListener('offline', () => {
    isOnline.value = false;
  });
}
