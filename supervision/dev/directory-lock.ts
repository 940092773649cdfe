/** One developer mode per data directory: a second one says so instead of fighting over it. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DirectoryLock {
  /** Removes everything of the directory but the lock. */
  empty(): void;
  release(): void;
}

const LOCK = 'developer.pid';

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** True when the process with that id runs this program: a recycled id of something else does not hold the lock. */
function runsDeveloperMode(pid: number): boolean {
  if (!alive(pid)) return false;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('supervision/dev/');
  } catch {
    return true; // no /proc here: believe the file
  }
}

/** Throws: Error naming the process that uses the directory, or why it cannot be written. */
export function claimDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const path = join(directory, LOCK);
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return {
        empty() {
          for (const name of readdirSync(directory)) {
            if (name !== LOCK) rmSync(join(directory, name), { recursive: true, force: true });
          }
        },
        release() { rmSync(path, { force: true }); },
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const pid = Number(readFileSync(path, 'utf8'));
      if (Number.isInteger(pid) && pid > 0 && pid !== process.pid && runsDeveloperMode(pid)) {
        throw new Error(`${directory} is in use by process ${pid}; stop it, or name another directory with --data-dir`);
      }
      rmSync(path, { force: true }); // left behind by a process that was killed
    }
  }
  throw new Error(`${directory} cannot be claimed`);
}
