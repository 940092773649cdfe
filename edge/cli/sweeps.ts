/**
 * `npm run -s flock-edge -- sweeps stop | start | status`: the operator's switch over what the cloud may start. Works
 * on the data directory, whether the edge runs or not; a running one reads it at each request. Answers are JSON lines
 * on standard output. Treasury E6.
 */
import { parseArgs } from 'node:util';
import type { Environ } from '../config.ts';
import { openStorage } from '../storage/storage.ts';
import { startSweeps, stopSweeps, sweepsStoppedAtMs } from '../sweeps/stop.ts';
import type { Output } from './local-keys.ts';

const USAGE = `usage: flock-edge sweeps stop
       flock-edge sweeps start
       flock-edge sweeps status
   --data-dir DIR      the edge's data directory (EDGE_DATA_DIR, .data/edge); run it for the directory of each replica`;

const OPTIONS = { 'data-dir': { type: 'string' } } as const;
const VERBS = ['stop', 'start', 'status'] as const;

/** Runs one command; answers the exit code: 0 done, 2 not understood. */
export function sweepsCommand(args: readonly string[], env: Environ, out: Output, err: Output): number {
  const parsed = parse(args);
  if (parsed === null) {
    err.write(`${USAGE}\n`);
    return 2;
  }
  const storage = openStorage(parsed.dataDir ?? (env['EDGE_DATA_DIR'] || '.data/edge'));
  try {
    if (parsed.verb === 'stop') stopSweeps(storage, Date.now());
    if (parsed.verb === 'start') startSweeps(storage);
    const stoppedAtMs = sweepsStoppedAtMs(storage);
    const stoppedAt = stoppedAtMs === null ? null : new Date(stoppedAtMs).toISOString();
    out.write(`${JSON.stringify({ sweeps: stoppedAt === null ? 'allowed' : 'stopped', stoppedAt })}\n`);
    return 0;
  } finally {
    storage.close();
  }
}

function parse(args: readonly string[]): { verb: (typeof VERBS)[number]; dataDir: string | undefined } | null {
  try {
    const { positionals, values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const verb = VERBS.find((known) => known === positionals[0]);
    return verb === undefined || positionals.length > 1 ? null : { verb, dataDir: values['data-dir'] };
  } catch {
    return null;
  }
}
