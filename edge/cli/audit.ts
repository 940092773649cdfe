/**
 * `npm run -s flock-edge -- audit show | forget`: the checkpoint of the organization's audit log that this edge keeps.
 * Works on the data directory, whether the edge runs or not. Answers are JSON lines on standard output. Console U4.
 */
import type { Environ } from '../config.ts';
import { forgetAudit, keptAudit } from '../link/audit-keeper.ts';
import { openStorage } from '../storage/storage.ts';
import type { Output } from './local-keys.ts';
import { verbOf } from './verb.ts';

const USAGE = `usage: flock-edge audit show      the kept checkpoint, as flock audit verify --checkpoint takes it
       flock-edge audit forget    where the cloud's log began anew with your knowledge: the next checkpoint is taken
   --data-dir DIR      the edge's data directory (EDGE_DATA_DIR, .data/edge); run it for the directory of each replica`;

const VERBS = ['show', 'forget'] as const;

/** Runs one command; answers the exit code: 0 done, 1 nothing is kept, 2 not understood. */
export function auditCommand(args: readonly string[], env: Environ, out: Output, err: Output): number {
  const parsed = verbOf(VERBS, args, env);
  if (parsed === null) {
    err.write(`${USAGE}\n`);
    return 2;
  }
  const storage = openStorage(parsed.dataDir);
  try {
    if (parsed.verb === 'forget') forgetAudit(storage);
    const kept = keptAudit(storage);
    if (kept === null) {
      err.write('no checkpoint is kept: the leader of a live account keeps one within an hour of its start\n');
      return parsed.verb === 'show' ? 1 : 0;
    }
    out.write(`${JSON.stringify(kept.checkpoint)}\n`);
    if (kept.problem !== null)
      err.write(`the log of the cloud does not continue it: ${kept.problem.problem} at ${kept.problem.seq}\n`);
    return 0;
  } finally {
    storage.close();
  }
}
