/** What a doctor reads of the edge's database; it changes nothing in it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { fail, ok, warn, type Finding } from '../../protocol/node/doctor/examine.ts';
import { POISONED_AFTER_TRIES } from '../link/outbox.ts';
import { countedCommits, markedCommits } from '../storage/commit-mark.ts';
import { StorageFailed } from '../storage/failed.ts';
import { SCHEMA_VERSIONS } from '../storage/schema.ts';

const AGE_WARN_MS = 5 * 60_000;
const FULL_WARN = 0.5;

/** Throws: what the library throws. */
function reading<T>(dataDir: string, read: (database: DatabaseSync) => T): T | null {
  const file = join(dataDir, 'edge.db');
  if (!existsSync(file)) return null;
  // Where no edge has left a log beside it, nothing is made there either. Source: sqlite.org, uri: immutable.
  const place = pathToFileURL(file);
  if (!existsSync(`${file}-wal`)) place.searchParams.set('immutable', '1');
  const database = new DatabaseSync(place, { readOnly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/** Its pages, and whether this release wrote it. */
export function journalFinding(dataDir: string): Finding {
  const whole = 'put back a whole copy of EDGE_DATA_DIR';
  try {
    const marked = markedCommits(join(dataDir, 'edge.db')); // before the database, which an edge may write meanwhile
    const found = reading(dataDir, (database) => {
      const { user_version: version } = database.prepare('pragma user_version').get() as { user_version: number };
      return {
        pages: (database.prepare('pragma quick_check(1)').get() as { quick_check: string }).quick_check,
        version,
        isBehind: marked !== null && version === SCHEMA_VERSIONS.length && countedCommits(database) < marked,
      };
    });
    if (found === null) return fail('EDGE_DATA_DIR has no edge.db', 'start the edge once, or correct EDGE_DATA_DIR');
    if (found.pages !== 'ok') return fail('edge.db is damaged', whole);
    if (found.version > SCHEMA_VERSIONS.length)
      return fail('a newer edge wrote it', 'start the release that wrote it, or a later one');
    const older = new StorageFailed('older');
    return found.isBehind ? fail(older.message, older.next) : ok('edge.db is whole');
  } catch (error) {
    if (error instanceof StorageFailed) return fail(error.message, error.next);
    // Source: sqlite.org, result codes: 11 and 26 are of a file that is no database any more.
    const { errcode } = error as { errcode?: number };
    if (errcode === 11 || errcode === 26) return fail('edge.db is damaged', whole);
    throw error;
  }
}

interface Queue {
  readonly depth: number;
  readonly oldestMs: number | null;
  readonly stuck: string | null;
  readonly aside: number;
}

/** What waits for the cloud. `capacity`: EDGE_OUTBOX_CAPACITY. */
export function outboxFinding(dataDir: string, capacity: number, nowMs: number): Finding {
  const queue = reading(dataDir, (database) => queueOf(database));
  if (queue === null) return fail('EDGE_DATA_DIR has no edge.db', 'start the edge once, or correct EDGE_DATA_DIR');
  const { depth, oldestMs, stuck, aside } = queue;
  if (stuck !== null)
    return fail(`the cloud keeps refusing a write: ${stuck}`, 'flock-edge outbox list; then outbox set-aside SEQ');
  const waits = oldestMs === null ? 0 : Math.max(0, nowMs - oldestMs);
  if (waits > AGE_WARN_MS || depth > capacity * FULL_WARN)
    return warn(
      `${depth} writes wait, the oldest for ${Math.round(waits / 1_000)} s`,
      'look at the checks cloud and key; they leave by themselves (EDGE_OUTBOX_CAPACITY)',
    );
  if (aside > 0)
    return warn(`${aside} writes are set aside`, 'when their cause is mended: flock-edge outbox restore SEQ');
  return ok(depth === 0 ? 'empty' : `${depth} writes wait`);
}

function queueOf(database: DatabaseSync): Queue {
  const one = <Row>(sql: string, ...values: number[]): Row | undefined =>
    database.prepare(sql).get(...values) as Row | undefined;
  const all = one<{ depth: number; oldest: number | null }>(
    'select count(*) as depth, min(created_at_ms) as oldest from outbox',
  )!;
  const stuck = one<{ kind: string; code: string | null }>(
    'select kind, last_code as code from outbox where tries >= ? order by seq limit 1',
    POISONED_AFTER_TRIES,
  );
  const { aside } = one<{ aside: number }>('select count(*) as aside from outbox_aside')!;
  return {
    depth: all.depth,
    oldestMs: all.oldest,
    stuck: stuck === undefined ? null : `${stuck.kind} (${stuck.code ?? 'no code'})`,
    aside,
  };
}
