/** Decisions 3: what the edge's disk must not forget is whole, or the edge does not start on it. */
import { copyFileSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { Outbox } from '../../../edge/link/outbox.ts';
import { StorageFailed } from '../../../edge/storage/failed.ts';
import { SignatureJournal } from '../../../edge/signing/signature-journal.ts';
import { openStorage, type Storage } from '../../../edge/storage/storage.ts';
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

const LOGGED = 6;
const FILES = ['edge.db', 'edge.db-wal', 'edge.db.mark'] as const;
type Files = Readonly<Record<(typeof FILES)[number], Buffer | null>>;

/** What a kill leaves of a directory: nothing was closed. */
const killed = (dataDir: string): Files => ({
  'edge.db': readFileSync(join(dataDir, 'edge.db')),
  'edge.db-wal': readFileSync(join(dataDir, 'edge.db-wal')),
  'edge.db.mark': readFileSync(join(dataDir, 'edge.db.mark')),
});

/** What `read` finds in a directory of these files, or why it does not open. */
function openedFiles<T>(files: Files, read: (storage: Storage) => T): T | string {
  const dataDir = newDirectory();
  try {
    for (const name of FILES) if (files[name] !== null) writeFileSync(join(dataDir, name), files[name]);
    const storage = openStorage(dataDir);
    try {
      return read(storage);
    } finally {
      storage.close();
    }
  } catch (error) {
    if (error instanceof StorageFailed) return error.reason;
    throw error;
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

const spend = (storage: Storage, subject: string) =>
  storage.run(
    "insert into spend (subject, chain, purpose, amount, counted_at_ms) values (?, 'eth', 'cloud', '5', 1)",
    subject,
  );
const spends = (storage: Storage) => storage.one<{ n: number }>('select count(*) as n from spend')!.n;

test('found F13: a log that is damaged, cut, left out or of another time takes back no write in silence', (t) => {
  const dataDir = newDirectory();
  const storage = openStorage(dataDir);
  spend(storage, 'first');
  const before = killed(dataDir);
  for (let at = 1; at < LOGGED; at += 1) spend(storage, `spend-${at}`);
  const whole = killed(dataDir);
  storage.close();
  const log = whole['edge.db-wal']!;
  t.is(openedFiles(whole, spends), LOGGED);
  const damages: Files[] = [
    { ...whole, 'edge.db-wal': null },
    { ...whole, 'edge.db-wal': Buffer.alloc(0) },
    { ...before, 'edge.db.mark': whole['edge.db.mark'] },
  ];
  const FRAME = 24 + log.readUInt32BE(8);
  for (let frame = 32; frame < log.length; frame += FRAME) {
    for (const at of [0, 8, 16, 24 + (frame % 4_096)])
      damages.push({ ...whole, 'edge.db-wal': flipped(log, frame + at, 1 << (at % 8)) });
    if (frame > 32) damages.push({ ...whole, 'edge.db-wal': log.subarray(0, frame + (frame % FRAME)) });
  }
  const found = new Map<number | string, number>();
  for (const files of damages) {
    const seen = openedFiles(files, spends);
    found.set(seen, (found.get(seen) ?? 0) + 1);
  }
  t.deepEqual(
    [...found.keys()].filter((seen) => seen !== LOGGED && seen !== 'older' && seen !== 'damaged'),
    [],
  );
  t.true((found.get('older') ?? 0) > 20);
  // a tail that stands twice, an older directory that is whole, and one whose mark is gone
  t.is(openedFiles({ ...whole, 'edge.db-wal': Buffer.concat([log, log.subarray(-FRAME)]) }, spends), LOGGED);
  t.is(openedFiles(before, spends), 1);
  t.is(openedFiles({ ...whole, 'edge.db.mark': null }, spends), LOGGED);
});

test('found F13: a damaged mark is named, and one that nobody wrote is none', (t) => {
  const dataDir = newDirectory();
  const storage = openStorage(dataDir);
  spend(storage, 'first');
  const whole = killed(dataDir),
    mark = whole['edge.db.mark']!;
  storage.close();
  t.is(mark.length, 64);
  for (let at = 0; at < mark.toString().trimEnd().length; at += 1)
    t.is(openedFiles({ ...whole, 'edge.db.mark': flipped(mark, at, 1) }, spends), 'damaged', String(at));
  t.is(openedFiles({ ...whole, 'edge.db.mark': Buffer.alloc(0) }, spends), 1);
  t.is(openedFiles(whole, spends), 1);
});

test('found F13: two names of one file would have two logs: it is not opened', (t) => {
  const dataDir = filled(),
    other = newDirectory();
  linkSync(join(dataDir, 'edge.db'), join(other, 'edge.db'));
  for (const directory of [dataDir, other])
    t.is(t.throws(() => openStorage(directory), { instanceOf: StorageFailed }).reason, 'linked');
  rmSync(join(other, 'edge.db'));
  openStorage(dataDir).close();
});

test('found F13: a write that changes nothing is not counted, and one that is undone neither', (t) => {
  const storage = openStorage(newDirectory());
  const count = () => storage.one<{ n: number }>('select n from commits')!.n,
    before = count();
  storage.run("update spend set amount = '7'");
  t.throws(() =>
    storage.transaction(() => {
      spend(storage, 'undone');
      throw new Error('undone');
    }),
  );
  storage.transactionSoon(() => spend(storage, 'soon'));
  t.is(count(), before);
  spend(storage, 'kept');
  storage.transaction(() => ['a', 'b'].forEach((subject) => spend(storage, subject)));
  t.is(count(), before + 2);
  t.is(spends(storage), 4);
  storage.close();
});

const TXID = 'ab'.repeat(32),
  COIN = `${TXID}:1`;
/** What is compared or computed with; of other texts a changed one is equal to nothing. */
const COMPARED = `select json_array(
  (select json_group_array(json_array(amount, counted_at_ms, dead_wall_ms, dead_ledger_ms, told, settled)) from spend),
  (select json_group_array(json_array(recorded_at_ms, broadcast_at_ms, built_here, handed_out)) from instructions),
  (select json_group_array(replay_key) from replay_keys),
  (select json_group_array(json_array(expires_at_ms, revoked_at_ms, minted_here, may_vouch)) from local_keys)) as compared`;

test('found F13: a flipped bit of a record makes no other number, time, mark or coin of it', (t) => {
  const dataDir = newDirectory();
  const storage = openStorage(dataDir);
  storage.run(
    `insert into spend (subject, chain, purpose, amount, counted_at_ms, transaction_id, sender, dead_wall_ms, dead_ledger_ms)
    values ('subject-of-spend', 'eth', 'withdrawal', '7000000000', 1764000000000, 'txn_spend', '0x1', 1764000000001, 1764000000002)`,
  );
  storage.run(
    `insert into instructions (transaction_id, instruction, unsigned, recorded_at_ms, broadcast_at_ms, built_here, handed_out)
    values ('txn_instruction', '{"amount":"all"}', '{"amount":{"$n":"7"},"feeMax":{"$n":"1"}}', 1764000000003, 1764000000004, 0, 1)`,
  );
  storage.run(
    `insert into local_keys (id, environment, hash, label, prefix, created_at_ms, revoked_at_ms, expires_at_ms)
    values ('key_local', 'live', 'hash-of-key', 'label', 'prefix', 1, 1764000000005, 1764000000006)`,
  );
  storage.transaction(() =>
    new SignatureJournal(storage, () => 1).write({
      instruction: { id: 'txn_signed' },
      unsigned: {
        chain: 'btc',
        from: 'bc1sender',
        payload: 'payload-of-btc',
        amount: 5n,
        replayKey: { kind: 'outpoints', value: [COIN] },
      },
    } as never),
  );
  const good = storage.one(COMPARED);
  storage.close();
  const whole = readFileSync(join(dataDir, 'edge.db')),
    text = whole.toString('latin1');
  const damages = new Set<number>();
  for (const mark of ['subject-of-spend', 'txn_instruction', 'key_local', COIN]) {
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
      for (let near = at - 30; near < at + mark.length + 90; near += 1) damages.add(near);
  }
  let refused = 0;
  for (const at of damages) {
    const files = { 'edge.db': flipped(whole, at, 1 << (at % 8)), 'edge.db-wal': null, 'edge.db.mark': null };
    const found = openedFiles(files, (opened) => opened.one(COMPARED));
    if (typeof found === 'string') refused += 1;
    else t.deepEqual(found, good, `byte ${at}: ${JSON.stringify(text.slice(at - 8, at + 8))}`);
  }
  t.true(refused > 200, `${refused} of ${damages.size}`);
});

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const other = Buffer.from(bytes);
  other[at]! ^= bit;
  return other;
}

test('a place where no data directory can be is refused by name, and nothing waits for ever', (t) => {
  const taken = join(newDirectory(), 'taken');
  writeFileSync(taken, '');
  const occupied = newDirectory();
  mkdirSync(join(occupied, 'edge.db'));
  for (const dataDir of [taken, join(taken, 'below'), occupied, '/proc/flock-edge']) {
    const { reason, next } = t.throws(() => openStorage(dataDir), { instanceOf: StorageFailed })!;
    t.is(reason, 'not_opened', dataDir);
    t.regex(next, /name a directory/);
  }
  const deep = join(newDirectory(), 'a', 'b');
  openStorage(deep).close();
  t.is(statSync(join(deep, '..')).mode & 0o777, 0o700);
});
