/** One developer mode per data directory: a second one says so instead of fighting over it. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DirectoryLock {
  /** True when the last holder of the directory was killed: parts of it may still be ending. */
  readonly afterKill: boolean;
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
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('developer/');
  } catch {
    return true; // no /proc here: believe the file
  }
}

function notWritable(directory: string, code: string): string {
  const owner = existsSync(directory)
    ? ` It belongs to uid ${statSync(directory).uid}; this is uid ${process.getuid?.() ?? '?'}.`
    : '';
  return `${directory} cannot be written (${code}).${owner}
Remove it, start as its owner, or name another directory:  npm start -- --data-dir DIRECTORY`;
}

/** Throws: Error naming the process that uses the directory, or why it cannot be written. */
export function claimDirectory(directory: string): DirectoryLock {
  const path = join(directory, LOCK);
  let afterKill = false;
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o755 });
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return {
        afterKill,
        empty() {
          for (const name of readdirSync(directory)) {
            if (name !== LOCK) rmSync(join(directory, name), { recursive: true, force: true });
          }
        },
        release() {
          rmSync(path, { force: true });
        },
      };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') throw new Error(notWritable(directory, code));
      if (code !== 'EEXIST' || !existsSync(path)) throw error;
      const pid = Number(readFileSync(path, 'utf8'));
      if (Number.isInteger(pid) && pid > 0 && pid !== process.pid && runsDeveloperMode(pid)) {
        throw new Error(`${directory} is in use by another Flock (process ${pid}).
Stop that one, or start this one with data and ports of its own:
  CLOUD_PORT=8090 EDGE_PORT=8091 npm start -- --data-dir .data-2`);
      }
      rmSync(path, { force: true }); // left behind by a process that was killed
      afterKill = true;
    }
  }
  throw new Error(`${directory} cannot be claimed`);
}
