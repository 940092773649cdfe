/**
 * The time of the spend ledger. A wall clock that is set back or forth must not free budget, so time only advances by
 * the monotonic clock while the process lives. A new process goes on by the time that the machine has been up since the
 * ledger's first process of this boot; only after a boot does it begin at the later of the wall clock and the newest
 * entry. What remains: a wall clock that is moved ahead over a boot, or where the boot cannot be read, looks like a pause.
 */
import { readFileSync } from 'node:fs';
import type { Storage } from './storage/storage.ts';

export interface SpendClock { nowMs(): number }

/** A boot of this machine, and for how long it has been up: the time that nobody can set. */
export interface BootTime { readonly bootId: string; readonly upMs: number }

export interface SpendClockPorts {
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
  /** Absent where the wall clock is to be believed at each start. */
  readonly bootTime?: () => BootTime | null;
}

/** The kernel's own words; null on a system that has none. Source: proc(5), random(4). */
export function readBootTime(): BootTime | null {
  try {
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const upMs = Math.floor(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1_000);
    return bootId !== '' && Number.isSafeInteger(upMs) ? { bootId, upMs } : null;
  } catch {
    return null;
  }
}

/** `newestEntryMs` is the instant of the ledger's newest entry, 0 without one. */
export function createSpendClock(newestEntryMs: number, wallMs: () => number, monotonicMs: () => number): SpendClock {
  const startedAtMs = Math.max(wallMs(), newestEntryMs);
  const startedAtMonotonicMs = monotonicMs();
  return { nowMs: () => Math.ceil(startedAtMs + (monotonicMs() - startedAtMonotonicMs)) };
}

const SETTING = 'spend_clock';

/** The clock of a ledger in this file, which keeps when its first process of a boot began. Throws: StorageFailed. */
export function openSpendClock(
  storage: Pick<Storage, 'setting' | 'setSetting'>, newestEntryMs: number, { wallMs, monotonicMs, bootTime }: SpendClockPorts,
): SpendClock {
  const boot = bootTime?.() ?? null;
  if (boot === null) return createSpendClock(newestEntryMs, wallMs, monotonicMs);
  const [bootId, upMs, ledgerMs] = storage.setting(SETTING)?.split(' ') ?? [];
  if (bootId === boot.bootId && Number(upMs) <= boot.upMs) {
    return createSpendClock(newestEntryMs, () => Number(ledgerMs) + (boot.upMs - Number(upMs)), monotonicMs);
  }
  const clock = createSpendClock(newestEntryMs, wallMs, monotonicMs);
  storage.setSetting(SETTING, `${boot.bootId} ${boot.upMs} ${clock.nowMs()}`);
  return clock;
}
