/** Decisions 3: what the edge's disk must not forget is whole, or the edge does not start on it. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { Outbox } from '../../../edge/link/outbox.ts';
import { StorageFailed } from '../../../edge/storage/failed.ts';
import { openStorage } from '../../../edge/storage/storage.ts';
import { newDirectory } from '../../support/edge/disk.ts';

const WRITES = 40;

/** A data directory whose outbox has WRITES writes, closed. */
function filled(): string {
  const dataDir = newDirectory();
  const storage = openStorage(dataDir);
  const outbox = new Outbox(storage, { capacity: WRITES, nowMs: () => 1 });
  outbox.append(
    'attempt',
    Array.from({ length: WRITES }, (_, at) => ({
      subject: `delivery-${at}/1`,
      body: JSON.stringify({ at, text: 'x'.repeat(300) }),
    })),
  );
  storage.close();
  return dataDir;
}

/** How many writes a file still has, or why it does not open. */
function opened(bytes: Buffer): number | string {
  const dataDir = newDirectory();
  writeFileSync(join(dataDir, 'edge.db'), bytes);
  try {
    const storage = openStorage(dataDir);
    try {
      return new Outbox(storage, { capacity: WRITES, nowMs: () => 1 }).list('waiting', 2 * WRITES).length;
    } finally {
      storage.close();
    }
  } catch (error) {
    return error instanceof StorageFailed ? error.reason : String(error);
  }
}

test('a file that was cut, or whose pages had a bit flipped, loses no write in silence: it opens whole or not at all', (t) => {
  const whole = readFileSync(join(filled(), 'edge.db'));
  t.is(opened(whole), WRITES);
  const pageBytes = whole.readUInt16BE(16);
  const seen = new Map<number | string, number>();
  const note = (bytes: Buffer) => {
    const found = opened(bytes);
    seen.set(found, (seen.get(found) ?? 0) + 1);
  };
  // The heads of the pages: kind, count of cells, where they begin, and the first places of cells.
  for (let page = 1; page < whole.length / pageBytes; page += 1) {
    for (const at of [0, 3, 4, 5, 8, 9]) note(flipped(whole, page * pageBytes + at, 1 << (at % 8)));
  }
  for (const share of [3, 7, 11]) note(whole.subarray(0, Math.floor((whole.length * share) / 12)));
  t.deepEqual(
    [...seen.keys()].filter((found) => found !== WRITES && found !== 'damaged'),
    [],
  );
  t.true((seen.get('damaged') ?? 0) > 20);
});

test('what is no database is damaged too, and is left as it is', (t) => {
  const dataDir = newDirectory(),
    file = join(dataDir, 'edge.db');
  copyFileSync(import.meta.filename, file);
  const before = readFileSync(file);
  t.throws(() => openStorage(dataDir), { instanceOf: StorageFailed, message: /damaged/ });
  t.deepEqual(readFileSync(file), before);
});

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const other = Buffer.from(bytes);
  other[at]! ^= bit;
  return other;
}
