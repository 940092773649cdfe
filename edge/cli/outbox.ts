/**
 * `npm run -s flock-edge -- outbox list | set-aside SEQ | restore SEQ`: looks at the queue to the cloud, takes a write
 * that holds it out of the way, puts it back. Works on the data directory, whether the edge runs or not; a running one
 * goes on with what is behind within 15 s. Nothing is ever deleted. Answers are JSON lines on standard output.
 */
import { parseArgs } from 'node:util';
import type { Environ } from '../config.ts';
import { Outbox, type ListedWrite } from '../link/outbox.ts';
import { openStorage } from '../storage/storage.ts';
import type { Output } from './local-keys.ts';
import { dataDirOf } from './verb.ts';

const USAGE = `usage: flock-edge outbox list
       flock-edge outbox set-aside SEQ
       flock-edge outbox restore SEQ
   --data-dir DIR      the edge's data directory (EDGE_DATA_DIR, .data/edge)`;

const OPTIONS = { 'data-dir': { type: 'string' } } as const;
const LISTED_MAX = 1_000;

/** Runs one command; answers the exit code: 0 done, 1 refused, 2 not understood. */
export function outboxCommand(args: readonly string[], env: Environ, out: Output, err: Output): number {
  const parsed = parse(args);
  if (parsed === null) {
    err.write(`${USAGE}\n`);
    return 2;
  }
  const storage = openStorage(dataDirOf(parsed.dataDir, env));
  try {
    const outbox = new Outbox(storage, { capacity: Number.MAX_SAFE_INTEGER, nowMs: Date.now });
    if (parsed.verb === 'list') {
      for (const state of ['waiting', 'aside'] as const) {
        for (const write of outbox.list(state, LISTED_MAX)) out.write(`${JSON.stringify(viewOf(write, state))}\n`);
      }
      return 0;
    }
    const done = parsed.verb === 'set-aside' ? outbox.setAside(parsed.seq) : outbox.restore(parsed.seq);
    if (!done) {
      err.write(parsed.verb === 'set-aside' ? 'no such write waits\n' : 'no such write is set aside\n');
      return 1;
    }
    const { poisonedBy, ...report } = outbox.report();
    out.write(
      `${JSON.stringify({ seq: parsed.seq, state: parsed.verb === 'set-aside' ? 'aside' : 'waiting', ...report })}\n`,
    );
    return 0;
  } finally {
    storage.close();
  }
}

type Parsed = { verb: 'list' | 'set-aside' | 'restore'; seq: number; dataDir: string | undefined };

function parse(args: readonly string[]): Parsed | null {
  try {
    const {
      positionals: [verb, seq, ...rest],
      values,
    } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const dataDir = values['data-dir'];
    if (rest.length > 0) return null;
    if (verb === 'list') return seq === undefined ? { verb, seq: 0, dataDir } : null;
    if (verb !== 'set-aside' && verb !== 'restore') return null;
    return /^[1-9][0-9]{0,14}$/.test(seq ?? '') ? { verb, seq: Number(seq), dataDir } : null;
  } catch {
    return null;
  }
}

function viewOf({ createdAtMs, ...write }: ListedWrite, state: 'waiting' | 'aside'): object {
  return { ...write, state, createdAt: new Date(createdAtMs).toISOString() };
}
