/**
 * `npm run -s flock-edge -- sweeps stop | start | status`: the operator's switch over what the cloud may start. Works
 * on the data directory, whether the edge runs or not; a running one reads it at each request. Answers are JSON lines
 * on standard output. Treasury E6.
 */
import type { Environ } from '../config.ts';
import { openStorage } from '../storage/storage.ts';
import { startSweeps, stopSweeps, sweepsStoppedAtMs } from '../sweeps/stop.ts';
import type { Output } from './local-keys.ts';
import { verbOf } from './verb.ts';

const USAGE = `usage: flock-edge sweeps stop
       flock-edge sweeps start
       flock-edge sweeps status
   --data-dir DIR      the edge's data directory (EDGE_DATA_DIR, .data/edge); run it for the directory of each replica`;

const VERBS = ['stop', 'start', 'status'] as const;

/** Runs one command; answers the exit code: 0 done, 2 not understood. */
export function sweepsCommand(args: readonly string[], env: Environ, out: Output, err: Output): number {
  const parsed = verbOf(VERBS, args, env);
  if (parsed === null) {
    err.write(`${USAGE}\n`);
    return 2;
  }
  const storage = openStorage(parsed.dataDir);
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
