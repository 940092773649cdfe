/**
 * The operator's switch: `flock-edge sweeps stop` has every operation of the cloud refused until `sweeps start`, across
 * restarts. Read at each frame, since another process writes it. Treasury E6.
 */
import type { Storage } from '../storage/storage.ts';

const SETTING = 'sweeps_stopped_at_ms';

/** When sweeps were stopped; null while they are not. */
export function sweepsStoppedAtMs(storage: Pick<Storage, 'setting'>): number | null {
  const text = storage.setting(SETTING);
  return text === null || text === '' ? null : Number(text);
}

/** Durable when it returns. */
export function stopSweeps(storage: Pick<Storage, 'setting' | 'setSetting'>, nowMs: number): void {
  if (sweepsStoppedAtMs(storage) === null) storage.setSetting(SETTING, String(nowMs));
}

/** Durable when it returns. */
export function startSweeps(storage: Pick<Storage, 'setSetting'>): void {
  storage.setSetting(SETTING, '');
}
