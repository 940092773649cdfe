/**
 * The time of the spend ledger. A clock that is set back or forward must not free budget, so the wall clock is read
 * once, for a new ledger. From then on time advances by the monotonic clock while a process lives, and between two
 * processes by how long the machine was up. Time that cannot be measured so does not count: from the last mark to a
 * boot of the machine, and while it was off. That makes the window longer, never shorter.
 */
import { readFileSync } from 'node:fs';
import { StorageFailed } from '../storage/failed.ts';
import { markFields, markNumber, markText } from '../storage/record-forms.ts';
import { type Storage } from '../storage/storage.ts';

/** Pause between two marks, milliseconds: a boot of the machine loses at most this much time. */
export const SPEND_MARK_MS = 60_000;

export interface SpendClock {
  /** Milliseconds; the zero is that of the wall clock when the ledger began. */
  nowMs(): number;
  /** Stores the time for the next process. Throws: StorageFailed. */
  mark(): void;
}

/** A boot of this machine and its uptime, a time that nobody can set. */
export interface BootTime {
  readonly bootId: string;
  readonly upMs: number;
}

export interface SpendClockPorts {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
  /** Absent or null where it cannot be read; then no time counts between two processes. */
  readonly bootTime?: () => BootTime | null;
}

/** As the kernel reports it; null on other systems. Source: proc(5), random(4). */
export function readBootTime(): BootTime | null {
  try {
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const upMs = Math.floor(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1_000);
    return bootId !== '' && Number.isSafeInteger(upMs) ? { bootId, upMs } : null;
  } catch {
    return null;
  }
}

const SETTING = 'spend_clock';
const NO_BOOT: BootTime = { bootId: '-', upMs: 0 };

interface Mark extends BootTime {
  readonly ledgerMs: number;
}

/** Of an edge of before: boot, uptime and time, without a sum. */
export const FORMER_BOOT_MARK = /^(?:-|[0-9a-f-]{36}) [0-9]{1,16} [0-9]{1,16}$/;

/** A time beside the boot at which it was marked. Throws: StorageFailed for a damaged one. */
export function bootMarkOf(mark: string, setting: string): BootTime & { readonly atMs: number } {
  const [bootId, upMs, atMs] = markFields(mark, setting, 3, FORMER_BOOT_MARK);
  return { bootId: bootId!, upMs: markNumber(upMs!, setting), atMs: markNumber(atMs!, setting) };
}

function markOf(storage: Pick<Storage, 'setting'>): Mark | null {
  const kept = storage.setting(SETTING);
  if (kept === null) return null;
  const { bootId, upMs, atMs } = bootMarkOf(kept, SETTING);
  return { bootId, upMs, ledgerMs: atMs };
}

/**
 * The clock of a ledger in this file. `newestEntryMs` is the instant of its newest entry, 0 without one. Throws:
 * StorageFailed when the time that it keeps cannot be read.
 */
export function openSpendClock(
  storage: Pick<Storage, 'setting' | 'setSetting' | 'transaction'>,
  newestEntryMs: number,
  { wallMs, monotonicMs, bootTime }: SpendClockPorts,
): SpendClock {
  const startedAtMonotonicMs = monotonicMs();
  const startedAtMs = Math.max(newestEntryMs, beginning());
  const clock: SpendClock = {
    nowMs: () => Math.ceil(startedAtMs + (monotonicMs() - startedAtMonotonicMs)),
    mark: () =>
      storage.transaction(() => {
        const { bootId, upMs } = bootTime?.() ?? NO_BOOT;
        const ledgerMs = clock.nowMs();
        // Replicas may share the file, and another one may be ahead.
        if ((markOf(storage)?.ledgerMs ?? 0) <= ledgerMs)
          storage.setSetting(SETTING, markText([bootId, upMs, ledgerMs]));
      }),
  };
  markIfPossible(clock);
  return clock;

  function beginning(): number {
    const mark = markOf(storage);
    if (mark === null) return newestEntryMs > 0 ? newestEntryMs : wallMs();
    const boot = bootTime?.() ?? NO_BOOT;
    const up = boot.bootId === mark.bootId ? Math.max(0, boot.upMs - mark.upMs) : 0;
    return mark.ledgerMs + up;
  }
}

/** On a full disk the previous mark remains, and less time counts. */
export function markIfPossible(clock: Pick<SpendClock, 'mark'>): void {
  try {
    clock.mark();
  } catch (error) {
    if (!(error instanceof StorageFailed)) throw error;
  }
}
