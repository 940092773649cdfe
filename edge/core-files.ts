/**
 * Whether a crash of this process would leave its memory in a file. Node can neither lower its own limit nor mark itself
 * as not dumpable, so whoever starts it has to: `ulimit -c 0`, or `--ulimit core=0` of a container.
 */
import { readFileSync } from 'node:fs';

export const CORE_WARNING = 'a crash would write the memory of this process to a core file: start it with `ulimit -c 0`';

/** True when the soft limit of core files is above zero; false where the system does not tell. Source: proc(5), /proc/self/limits. */
export function coreFilesPossible(limits: string | null = ownLimits()): boolean {
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
