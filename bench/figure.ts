import { readdirSync, readFileSync } from 'node:fs';

/** One row of the table: what Flock does, what the same real parts do without any of our code, and the ratio. */
export interface Figure {
  readonly id: string;
  readonly what: string;
  readonly ours: number;
  readonly limit: number;
  readonly unit: string;
  /** `higher`: ours ÷ limit must reach the goal. `lower`: ours ÷ limit, or ours itself, must stay below it. */
  readonly better: 'higher' | 'lower';
  readonly goal: number;
  readonly note: string;
}

/** ours ÷ limit. */
export function ratioOf({ ours, limit }: Figure): number {
  return ours / limit;
}

export function goalMet(figure: Figure): boolean {
  return figure.better === 'higher' ? ratioOf(figure) >= figure.goal : ratioOf(figure) <= figure.goal;
}

/** The value below which a share of the samples lies; nearest rank. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);

/** Calls per second of `call` with `inFlight` at once for a time. Milliseconds. */
export async function rate(
  call: (n: number) => Promise<unknown>,
  inFlight: number,
  durationMs: number,
): Promise<{ perSecond: number; latenciesMs: number[] }> {
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const at = performance.now();
      await call(next++);
      latenciesMs.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return { perSecond: (latenciesMs.length * 1_000) / (performance.now() - startedAt), latenciesMs };
}

/** A number of calls with `inFlight` at once. Milliseconds. */
export async function calls(
  call: (n: number) => Promise<unknown>,
  inFlight: number,
  count: number,
): Promise<{ perSecond: number; latenciesMs: number[] }> {
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < count) {
        const at = performance.now();
        await call(next++);
        latenciesMs.push(performance.now() - at);
      }
    }),
  );
  return { perSecond: (latenciesMs.length * 1_000) / (performance.now() - startedAt), latenciesMs };
}

/** Process id of the server on this machine that a backend belongs to. */
export function serverPidOf(backendPid: number): number {
  const stat = readFileSync(`/proc/${backendPid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** /proc counts in hundredths of a second. */
const TICK_MS = 10;

/**
 * CPU that a process and its children took so far, milliseconds: a server with its backends. Children that ended count
 * with their parent.
 */
export function backendsCpuMs(serverPid: number): number {
  let ticks = 0;
  for (const pid of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(pid) === serverPid) ticks += Number(fields[13]) + Number(fields[14]);
      if (Number(pid) === serverPid || Number(fields[1]) === serverPid)
        ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      /* it ended meanwhile, and counts with its parent from now on */
    }
  }
  return ticks * TICK_MS;
}
