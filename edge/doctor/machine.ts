/** What a doctor sees of the machine and of the data directory. It reads what the system says; it asks nobody. */
import { lstatSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { fail, ok, unknown, warn, type Finding } from '../../protocol/node/doctor/examine.ts';
import type { Environment } from '../../protocol/slugs.ts';
import { CORE_WARNING, coreFilesPossible } from '../process/core-files.ts';

/** Texts of the system; null where it has none. */
export interface Machine {
  /** /proc/self/limits. */
  readonly limits: string | null;
  /** /proc/swaps. */
  readonly swaps: string | null;
  /** /proc/locks. */
  readonly locks: string | null;
}

const textOf = (path: string): string | null => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
};

export const thisMachine = (): Machine => ({
  limits: textOf('/proc/self/limits'),
  swaps: textOf('/proc/swaps'),
  locks: textOf('/proc/locks'),
});

const OTHERS_READ = 0o077;
const OTHERS_WRITE = 0o022;
const ROOM_WARN = 0.1;
const ROOM_FAIL = 0.02;
/** Below this the webhooks of a busy edge and its own connections do not fit. */
const FILES_MIN = 1_024;

/** The directory and all files in it. */
export function filesFinding(dataDir: string): Finding {
  const uid = process.getuid?.();
  if (uid === undefined) return unknown('this system has no modes of files', 'look by hand who may read the directory');
  const remedy = `chmod 700 EDGE_DATA_DIR, chmod 600 the files in it`;
  const directory = lstatSync(dataDir, { throwIfNoEntry: false });
  if (directory === undefined)
    return fail('EDGE_DATA_DIR is not there', 'start the edge once, or correct EDGE_DATA_DIR');
  if (!directory.isDirectory()) return fail('EDGE_DATA_DIR is no directory', 'correct EDGE_DATA_DIR');
  const names = readdirSync(dataDir).filter((name) => lstatSync(join(dataDir, name)).isFile());
  const stats = names.map((name) => ({ name, ...modeOf(join(dataDir, name)) }));
  const foreign = [{ name: 'the directory', uid: directory.uid, mode: directory.mode & 0o777 }, ...stats].find(
    (one) => one.uid !== uid,
  );
  if (foreign !== undefined)
    return fail(
      `${foreign.name} belongs to user ${foreign.uid}, this is user ${uid}`,
      'chown it to the user of the edge',
    );
  if ((directory.mode & OTHERS_WRITE) !== 0)
    return fail(`others may write into the directory (${octal(directory.mode)})`, remedy);
  const open = stats.filter(({ mode }) => (mode & OTHERS_READ) !== 0);
  if (open.length > 0)
    return fail(`others may read ${open.length} of its files: ${open[0]!.name} (${octal(open[0]!.mode)})`, remedy);
  if ((directory.mode & OTHERS_READ) !== 0)
    return warn(`others may look into the directory (${octal(directory.mode)})`, remedy);
  return ok(`its owner's alone, ${names.length} files`);
}

const octal = (mode: number): string => (mode & 0o777).toString(8);

function modeOf(path: string): { uid: number; mode: number } {
  const { uid, mode } = lstatSync(path);
  return { uid, mode: mode & 0o777 };
}

/** `room`: the part of the disk that may still be filled; asked where it is not given. */
export function diskFinding(dataDir: string, room = roomOf(dataDir)): Finding {
  const seen = `${Math.floor(room * 100)} % of the disk are free`;
  if (room < ROOM_FAIL) return fail(seen, 'free space: an edge that cannot write signs nothing');
  return room < ROOM_WARN ? warn(seen, 'free space before it is full') : ok(seen);
}

function roomOf(dataDir: string): number {
  const { bavail, blocks } = statfsSync(dataDir);
  return blocks === 0 ? 1 : bavail / blocks;
}

export function coreFinding({ limits }: Machine): Finding {
  if (limits === null)
    return unknown('this system does not say whether it writes core files', 'start it with ulimit -c 0');
  return coreFilesPossible(limits)
    ? warn(CORE_WARNING, 'ulimit -c 0, or LimitCORE=0 of its unit')
    : ok('a crash leaves no memory behind');
}

/** A line for each area of swap, behind the heading. */
export function swapFinding({ swaps }: Machine, environment: Environment): Finding {
  if (swaps === null) return unknown('this system does not say whether it swaps', 'look by hand: swapon --show');
  const areas = swaps.trim().split('\n').length - 1;
  if (areas <= 0) return ok('there is none');
  return environment === 'sandbox'
    ? ok('memory may be written to swap; in the sandbox no money hangs on it')
    : warn('memory, and a seed in it, may be written to swap', 'swapoff -a, or an encrypted swap area');
}

export function fileLimitFinding({ limits }: Machine): Finding {
  const soft = /^Max open files +(\S+)/m.exec(limits ?? '')?.[1];
  if (soft === undefined) return unknown('this system does not say how many files may be open', 'look at ulimit -n');
  const isEnough = soft === 'unlimited' || Number(soft) >= FILES_MIN;
  return isEnough
    ? ok(`${soft} files may be open`)
    : warn(`only ${soft} files may be open`, `ulimit -n ${FILES_MIN}, or LimitNOFILE of its unit`);
}

/**
 * Processes that have the directory's database open hold a lock on its index in memory.
 * Source: sqlite.org, walformat: byte 128 of the -shm file.
 */
export function processesFinding({ locks }: Machine, dataDir: string, own = process.pid): Finding {
  if (locks === null) return unknown('this system lists no locks', 'look by hand: one process, one EDGE_DATA_DIR');
  const index = lstatSync(join(dataDir, 'edge.db-shm'), { throwIfNoEntry: false });
  if (index === undefined) return ok('no edge runs on it');
  const rows = [...locks.matchAll(/POSIX +ADVISORY +READ +(-?\d+) \S+:(\d+) 128 128/g)];
  const holders = new Set(rows.filter(([, , inode]) => Number(inode) === index.ino).map(([, pid]) => Number(pid)));
  holders.delete(own);
  if (holders.size <= 1) return ok(holders.size === 0 ? 'no edge runs on it' : 'one process runs on it');
  return fail(
    `${holders.size} processes have it open: ${[...holders].join(', ')}`,
    'end all but one: each replica has an EDGE_DATA_DIR of its own',
  );
}
