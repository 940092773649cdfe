/**
 * The doors of Node.js into a process that holds a seed. Who may signal it, or set one variable of its start, would
 * otherwise read its memory: an inspector without authentication, a heap snapshot, a report, a log of each header.
 *
 * Imported before anything else: from its first line on SIGUSR1 opens nothing. Before that line the flag
 * `--disable-sigusr1` of every start command does.
 */
import inspector from 'node:inspector';

process.on('SIGUSR1', () => undefined);
if (process.report !== undefined) {
  process.report.reportOnSignal = false;
  process.report.reportOnFatalError = false;
  process.report.reportOnUncaughtException = false;
}

/** Options of Node.js that write or show what is in memory, or whom a connection is to. */
const OPENING = [
  '--inspect',
  '--debug',
  '--heapsnapshot',
  '--heap-prof',
  '--heap-snapshot',
  '--report-',
  '--experimental-report',
  '--cpu-prof',
  '--abort-on-uncaught-exception',
  '--tls-keylog',
  '--trace-tls',
  '--expose-internals',
  '--experimental-network-inspection',
  '--experimental-storage-inspection',
  '--experimental-worker-inspection',
  '--experimental-inspector',
  '--trace-event',
  // A file of options: no argument says what it opens.
  '--experimental-config-file',
  '--experimental-default-config-file',
] as const;
/** Of these nothing may be set at all. */
const VARIABLES = [
  'NODE_DEBUG',
  'NODE_DEBUG_NATIVE',
  'SSLKEYLOGFILE',
  'NODE_V8_COVERAGE',
  'NODE_REDIRECT_WARNINGS',
] as const;

/**
 * A problem for each door that a start leaves open, by option or variable; no value is in it. `isListening`: whether an
 * inspector is open already, whatever way led to it.
 */
export function openDoors(
  execArgv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  isListening = inspector.url() !== undefined,
): string[] {
  const opens = (option: string) => OPENING.find((door) => option.replaceAll('_', '-').startsWith(door));
  const byArgument = execArgv
    .filter((option) => opens(option) !== undefined)
    .map((option) => `${option.split('=')[0]!}: start the edge without it: it shows what is in the edge's memory`);
  // Node removes quotes, and within them each backslash.
  const byOptions = (env['NODE_OPTIONS'] ?? '')
    .replaceAll(/["'\\]/g, '')
    .split(/\s+/)
    .filter((option) => opens(option) !== undefined)
    .map((option) => `NODE_OPTIONS: take ${option.split('=')[0]!} out: it shows what is in the edge's memory`);
  const byVariable = VARIABLES.filter((name) => (env[name] ?? '') !== '').map(
    (name) => `${name}: unset it: it writes what is in the edge's memory or on its connections`,
  );
  const unverified =
    env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0'
      ? ['NODE_TLS_REJECT_UNAUTHORIZED: unset it: with 0 anybody on the way is taken for the cloud']
      : [];
  const named = [...byArgument, ...byOptions];
  const unnamed =
    isListening && named.length === 0
      ? ['inspector: it listens already: look for what opens it in the start command, and start the edge without it']
      : [];
  return [...named, ...unnamed, ...byVariable, ...unverified];
}
