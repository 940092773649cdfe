/**
 * Whether a crash of this process would leave its memory in a file. Where the C library can be called the process is
 * marked as not dumpable: then there is no core file, and no other process of its user reads its memory or its first
 * environment under /proc. Elsewhere its operator has to see to that: `ulimit -c 0`, or `--ulimit core=0` of a
 * container.
 */
import { readFileSync } from 'node:fs';

export const CORE_WARNING =
  'a crash would write the memory of this process to a core file: start it with `ulimit -c 0`';

/** Source: prctl(2). */
const PR_SET_DUMPABLE = 4;

let isMarked = false;

/** Marks this process as not dumpable, for its whole life; false where that cannot be done. */
export async function forbidDumps(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  try {
    const { default: ffi } = await import('koffi');
    const prctl = ffi.load(null).func('int prctl(int option, ulong value, ulong none2, ulong none3, ulong none4)');
    isMarked = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) === 0;
  } catch {
    isMarked = false; // No binary of the library for this machine: the warning stays.
  }
  return isMarked;
}

/**
 * True when the soft limit of core files is above zero and this process is dumpable; false where the system does not
 * say. Source: proc(5), /proc/self/limits.
 */
export function coreFilesPossible(limits: string | null = ownLimits()): boolean {
  if (isMarked) return false;
  const soft = /^Max core file size +(\S+)/m.exec(limits ?? '')?.[1];
  return soft !== undefined && soft !== '0';
}

function ownLimits(): string | null {
  try {
    return readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return null;
  }
}
