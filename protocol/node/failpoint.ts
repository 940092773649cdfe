/**
 * Named places in the code where a test may list or kill: the fault tests record which places a story passes, then run
 * it again with the process killed at each of them. Inactive unless the environment asks:
 *
 *   FLOCK_FAILPOINTS=record:FILE     appends the name of each place, one a line, as it is passed
 *   FLOCK_FAILPOINTS=kill:NAME:K     SIGKILL of this process when NAME is passed for the K-th time, K from one
 *   FLOCK_FAILPOINTS=hold:DIRECTORY  pauses at each failpoint passed for the first time, so that the test may
 *                                    do harm there: it writes the file NAME and goes on when NAME.done exists
 */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HELD_LOOK_MS = 2;
/** A test that forgot about a place must not stop the process for good. */
const HELD_MS_MAX = 30_000;

const active = hookOf(process.env.FLOCK_FAILPOINTS ?? '');

function hookOf(setting: string): ((name: string) => void) | null {
  if (setting.startsWith('record:')) {
    const file = setting.slice('record:'.length);
    return (name) => appendFileSync(file, `${name}\n`);
  }
  if (setting.startsWith('hold:')) return holdingIn(setting.slice('hold:'.length));
  const kill = /^kill:([a-z0-9_.]+):([1-9][0-9]{0,8})$/.exec(setting);
  if (kill !== null) {
    let left = Number(kill[2]);
    return (name) => {
      if (name === kill[1] && --left === 0) process.kill(process.pid, 'SIGKILL');
    };
  }
  if (setting !== '')
    throw new Error(
      `FLOCK_FAILPOINTS must be record:FILE, kill:NAME:K or hold:DIRECTORY, got "${setting.slice(0, 60)}"`,
    );
  return null;
}

/** Blocks the whole process, sockets and timers too: only the injected harm happens meanwhile. */
function holdingIn(directory: string): (name: string) => void {
  const passed = new Set<string>();
  const still = new Int32Array(new SharedArrayBuffer(4));
  return (name) => {
    if (passed.has(name)) return;
    passed.add(name);
    const file = join(directory, name),
      done = `${file}.done`;
    if (existsSync(done)) return; // an earlier process paused here
    writeFileSync(file, '');
    for (let waitedMs = 0; !existsSync(done) && waitedMs < HELD_MS_MAX; waitedMs += HELD_LOOK_MS) {
      Atomics.wait(still, 0, 0, HELD_LOOK_MS);
    }
  };
}

/** Passes a named place, e.g. `append.before`. Costs one comparison when no test asked. */
export function failpoint(name: string): void {
  if (active !== null) active(name);
}
