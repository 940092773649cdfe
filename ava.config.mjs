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

export default {
  files: ['test/**/*.test.ts'],
  extensions: ['ts'],
  environmentVariables: { NODE_COMPILE_CACHE: 'node_modules/.cache/flock' },
  require: ['./test/support/awake.mjs'],
  workerThreads: false,
  concurrency: 3,
  sortTestFiles: (a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1),
  timeout: '10m',
  verbose: false,
};
