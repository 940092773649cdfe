/**
 * Named places in the code where a test may list or kill: the fault tests record which places a story passes, then run
 * it again with the process killed at each of them. Inactive unless the environment asks:
 *
 *   FLOCK_FAILPOINTS=record:FILE      appends the name of each place, one a line, as it is passed
 *   FLOCK_FAILPOINTS=kill:NAME:K      SIGKILL of this process when NAME is passed for the K-th time, K from one
 */
import { appendFileSync } from 'node:fs';

const active = hookOf(process.env.FLOCK_FAILPOINTS ?? '');

function hookOf(setting: string): ((name: string) => void) | null {
  if (setting.startsWith('record:')) {
    const file = setting.slice('record:'.length);
    return (name) => appendFileSync(file, `${name}\n`);
  }
  const kill = /^kill:([a-z0-9_.]+):([1-9][0-9]{0,8})$/.exec(setting);
  if (kill !== null) {
    let left = Number(kill[2]);
    return (name) => {
      if (name === kill[1] && --left === 0) process.kill(process.pid, 'SIGKILL');
    };
  }
  if (setting !== '') throw new Error(`FLOCK_FAILPOINTS must be record:FILE or kill:NAME:K, got "${setting.slice(0, 60)}"`);
  return null;
}

/** Passes a named place, e.g. `append.before`. Costs one comparison when no test asked. */
export function failpoint(name: string): void {
  if (active !== null) active(name);
}
