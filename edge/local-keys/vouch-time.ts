/**
 * The time by which a key of another replica stops to be good. It is the wall clock's, but a wall clock that is set
 * back while the machine is up prolongs nothing: from the last set on, time passes at least as fast as the machine's
 * own.
 */
import type { VouchTime } from './key-sets.ts';
import { bootMarkOf, type SpendClockPorts } from '../spend/clock.ts';
import { markText } from '../storage/record-forms.ts';
import type { Storage } from '../storage/storage.ts';

const SETTING = 'key_set_time';

/** Throws: StorageFailed when the mark of the process before cannot be read. */
export function openVouchTime(
  storage: Pick<Storage, 'setting' | 'setSetting'>,
  { wallMs, monotonicMs, bootTime }: SpendClockPorts,
): VouchTime {
  let markedMonotonicMs = monotonicMs();
  let floorMs = floorFrom(storage.setting(SETTING));
  return {
    nowMs: () => Math.max(wallMs(), Math.floor(floorMs + monotonicMs() - markedMonotonicMs)),
    mark() {
      const boot = bootTime?.() ?? null;
      markedMonotonicMs = monotonicMs();
      floorMs = wallMs();
      if (boot !== null) storage.setSetting(SETTING, markText([boot.bootId, boot.upMs, floorMs]));
    },
  };

  function floorFrom(mark: string | null): number {
    const kept = mark === null ? null : bootMarkOf(mark, SETTING),
      boot = bootTime?.() ?? null;
    return boot === null || kept === null || boot.bootId !== kept.bootId ? 0 : kept.atMs + boot.upMs - kept.upMs;
  }
}
