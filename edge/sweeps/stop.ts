/**
 * The operator's switch: `flock-edge sweeps stop` has every operation of the cloud refused until `sweeps start`, across
 * restarts. Read at each frame, since another process writes it. Treasury E6.
 */
import { StorageFailed } from '../storage/failed.ts';
import { markNumber } from '../storage/record-forms.ts';
import type { Storage } from '../storage/storage.ts';

const SETTING = 'sweeps_stopped_at_ms';

/** When sweeps were stopped; null while they are not. 0 where the record is damaged: then they are stopped. */
export function sweepsStoppedAtMs(storage: Pick<Storage, 'setting'>): number | null {
  const text = storage.setting(SETTING);
  if (text === null) return null;
  try {
    return markNumber(text, SETTING);
  } catch (error) {
    if (!(error instanceof StorageFailed)) throw error;
    return 0;
  }
}

/** Durable when it returns. */
export function stopSweeps(storage: Pick<Storage, 'setting' | 'setSetting'>, nowMs: number): void {
  if (sweepsStoppedAtMs(storage) === null) storage.setSetting(SETTING, String(nowMs));
}

/** Durable when it returns. */
export function startSweeps(storage: Pick<Storage, 'setSetting'>): void {
  storage.setSetting(SETTING, null);
}
