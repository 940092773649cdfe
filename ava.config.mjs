import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';

/**
 * The longest files begin first, so that none of them runs alone in the end. By what they took; where a file is not
 * named, its folder says how long it may be.
 */
const LONGEST = [
  'scenario/kill-points',
  'scenario/ten-chains',
  'scenario/replicas',
  'scenario/chaos',
  'scenario/cluster-seeds',
  'scenario/backend-kills',
  'scenario/pool-storm',
  'scenario/thousand-payments',
  'scenario/records',
  'scenario/superseded',
  'scenario/database-away',
  'scenario/hot-wallet',
  'scenario/ledger-accounts',
  'scenario/stuck',
  'integration/startup/developer-mode',
  'simulation/story',
  'integration/persistence/plans',
  'integration/persistence/backlogs',
].map((name) => `/test/${name}.test.ts`);
const FOLDERS = ['/test/scenario/', '/test/simulation/', '/test/integration/', '/test/wire/'];

/** Its place in the list, then that of its folder, then everything else. */
function rankOf(path) {
  const at = LONGEST.findIndex((end) => path.endsWith(end));
  if (at >= 0) return at;
  const folder = FOLDERS.findIndex((part) => path.includes(part));
  return LONGEST.length + (folder >= 0 ? folder : FOLDERS.length);
}

/** Bytes that must be free, there and in memory, for a run to keep its databases and disks in memory. */
const ROOM = 6 * 2 ** 30;
const MEMORY = '/dev/shm';

/**
 * Where what lasts no longer than the run lies: in memory where there is plenty and programs may run from it, since a
 * file system on disk takes a second of each of some 300 databases to make their thousand files; else where it always
 * does.
 */
function temporaryFolder() {
  if (process.env.TMPDIR !== undefined) return {};
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    const [, , , options = ''] = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, folder]) => folder === MEMORY);
    const available = Number(/^MemAvailable: +([0-9]+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))[1]) * 1_024;
    if (options.split(',').includes('noexec') || Math.min(bavail * bsize, available) < ROOM) return {};
    return { TMPDIR: MEMORY };
  } catch {
    return {};
  }
}

export default {
  files: ['test/**/*.test.ts'],
  extensions: ['ts'],
  environmentVariables: { NODE_COMPILE_CACHE: 'node_modules/.cache/flock', ...temporaryFolder() },
  require: ['./test/support/awake.mjs', './test/support/property-seed.mjs'],
  workerThreads: false,
  concurrency: 3,
  sortTestFiles: (a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1),
  timeout: '10m',
  verbose: false,
};
