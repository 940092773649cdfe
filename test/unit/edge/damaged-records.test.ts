/**
 * What the edge wrote itself and reads as a number, a time or a list (found F13, its kind): damaged in whatever way, it
 * is never compared as what is no number. The edge does not start, and says which record it is.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { shippedRegistry } from '../../../chains/catalogue.ts';
import { openIssuedAddresses } from '../../../edge/answers/issued-addresses.ts';
import { auditCommand } from '../../../edge/cli/audit.ts';
import { AuditKeeper } from '../../../edge/link/audit-keeper.ts';
import { claimSessionId } from '../../../edge/link/session-id.ts';
import { openTokenRegistry } from '../../../edge/link/token-registry.ts';
import { openVouchTime } from '../../../edge/local-keys/vouch-time.ts';
import { openSpendClock } from '../../../edge/spend/clock.ts';
import { keySetOf } from '../../../edge/spend/replica.ts';
import { SpendLedger } from '../../../edge/spend/ledger.ts';
import { StorageFailed } from '../../../edge/storage/failed.ts';
import { checkForms, COLUMN_FORMS } from '../../../edge/storage/record-forms.ts';
import { SCHEMA_VERSIONS } from '../../../edge/storage/schema.ts';
import { openStorage, type Storage } from '../../../edge/storage/storage.ts';
import { startSweeps, stopSweeps, sweepsStoppedAtMs } from '../../../edge/sweeps/stop.ts';
import { newDirectory } from '../../support/edge/disk.ts';

const AMOUNT = '1200000000000000000';
const MS = 1_764_000_000_000;
const GOOD: Readonly<Record<string, SQLInputValue>> = {
  kind: 'signed',
  purpose: 'withdrawal',
  told: 'nothing',
  settled: 'dead',
  outcome: 'open',
  environment: 'live',
  amount: AMOUNT,
  exclusive: '["eth|0x1|nonce:7"]',
  versions: '["aa"]',
  amounts: '["12"]',
  elsewhere: '[]',
  uses: '[]',
  instruction: `{"amount":{"$n":"${AMOUNT}"}}`,
  unsigned: `{"amount":{"$n":"${AMOUNT}"},"feeMax":{"$n":"42"}}`,
  replay_key: 'nonce:17',
  body: '{"at":1}',
  record: '{"covers":[]}',
};
const FLAGS = new Set(['shared', 'built_here', 'handed_out', 'minted_here', 'may_vouch']);
const COUNTS = new Set(['seq', 'tries', 'version', 'output_index', 'counter', 'n']);

const goodOf = (table: string, column: string): SQLInputValue =>
  FLAGS.has(column)
    ? 1
    : column.endsWith('_ms')
      ? MS
      : COUNTS.has(column) && table !== 'spend_versions'
        ? 17
        : (GOOD[column] ?? 'text');

const DAMAGES: Readonly<Record<string, (good: SQLInputValue) => SQLInputValue>> = {
  empty: () => '',
  space: () => ' ',
  text: () => 'damaged',
  NaN: () => 'NaN',
  null: () => null,
  negative: () => -7,
  'negative text': () => '-7',
  'too large': () => 9_007_199_254_740_993n * 2n,
  'too many digits': () => '9'.repeat(90),
  'another base': () => '0x11',
  exponent: () => '1e3',
  fraction: () => 1.5,
  truncated: (good) => String(good).slice(0, -1),
  halved: (good) => String(good).slice(0, String(good).length / 2),
};

/** The row of a table with one value damaged: null where SQLite itself refuses it, and what the check then says. */
function judged(
  database: DatabaseSync,
  table: string,
  damagedColumn: string | null,
  damage: (good: SQLInputValue) => SQLInputValue,
): { readonly kept: unknown; readonly found: StorageFailed | null } | null {
  const columns = Object.keys(COLUMN_FORMS[table]!);
  const values = columns.map((column) => {
    const good = goodOf(table, column);
    return column === damagedColumn ? damage(good) : good;
  });
  database.exec('begin');
  try {
    const insert = `insert into ${table} (${columns.join()}) values (${columns.map(() => '?').join()})`;
    try {
      database.prepare(insert).run(...values);
    } catch (error) {
      if (damagedColumn === null) throw error;
      return null;
    }
    const read = database.prepare(`select ${damagedColumn ?? 1} from ${table}`);
    read.setReadBigInts(true);
    return { kept: Object.values(read.get()!)[0], found: fault(() => checkForms(database)) };
  } finally {
    database.exec('rollback');
  }
}

/** What opening says: null where it opens. */
function fault(open: () => unknown): StorageFailed | null {
  try {
    open();
    return null;
  } catch (error) {
    if (error instanceof StorageFailed) return error;
    throw error;
  }
}

/** By rules of its own: what the edge would compute with is a number, or a list that can be read. */
function isSound(table: string, column: string, kept: unknown): boolean {
  if (FLAGS.has(column)) return kept === 0 || kept === 1;
  if (column.endsWith('_ms') || (COUNTS.has(column) && table !== 'spend_versions'))
    return (
      kept === null ||
      (typeof kept === 'bigint'
        ? kept >= 0n
        : Number.isInteger(kept) && (kept as number) >= (column === 'vouched_until_ms' ? -1 : 0))
    );
  if (kept === null) return true;
  if (column === 'amount') return /^[0-9]+$/.test(String(kept));
  if (column === 'replay_key') return !/^(?:nonce|sequence):(?![0-9]+$)/.test(String(kept));
  return typeof JSON.parse(String(kept)) === 'object';
}

test('found F13: every column of the data directory has a form or is free text', (t) => {
  const dataDir = newDirectory();
  openStorage(dataDir).close();
  const database = new DatabaseSync(join(dataDir, 'edge.db'));
  const tables = database
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' and name <> 'settings' order by name",
    )
    .all() as { name: string }[];
  const columns = Object.fromEntries(
    tables.map(({ name }) => [
      name,
      (database.prepare(`pragma table_info(${name})`).all() as { name: string }[]).map((column) => column.name).sort(),
    ]),
  );
  database.close();
  t.deepEqual(
    Object.fromEntries(
      Object.entries(COLUMN_FORMS)
        .map(([name, forms]) => [name, Object.keys(forms).sort()])
        .sort(),
    ),
    columns,
  );
});

test('found F13: a row whose number, time or list is damaged is found, by its table and column', (t) => {
  const database = new DatabaseSync(':memory:');
  for (const sql of SCHEMA_VERSIONS) database.exec(sql);
  database.exec('pragma foreign_keys = off');
  let refused = 0;
  for (const [table, forms] of Object.entries(COLUMN_FORMS)) {
    t.is(judged(database, table, null, (good) => good)!.found, null, table);
    for (const [column, form] of Object.entries(forms)) {
      if (form === null) continue;
      for (const [name, damage] of Object.entries(DAMAGES)) {
        const outcome = judged(database, table, column, damage);
        if (outcome === null) continue;
        const { kept, found } = outcome;
        if (found === null)
          t.true(
            isSound(table, column, FLAGS.has(column) ? Number(kept) : kept),
            `${table}.${column} ${name}: ${String(kept)}`,
          );
        else t.is(found.record, `${table}.${column}`, name);
        refused += found === null ? 0 : 1;
      }
    }
  }
  database.close();
  t.true(refused > 150, String(refused));
});

/** Every text that is a mark cut short, or with one of its characters changed or doubled. */
function damagedTexts(whole: string): string[] {
  const texts = [
    '',
    ' ',
    'NaN',
    'null',
    '-1',
    'x y z',
    `${whole} `,
    ` ${whole}`,
    whole.replaceAll(' ', '  '),
    whole.toUpperCase() + 'G',
  ];
  for (let at = 0; at < whole.length; at += 1) {
    texts.push(
      whole.slice(0, at),
      whole.slice(at + 1),
      whole.slice(0, at) + (whole[at] === '7' ? '8' : '7') + whole.slice(at + 1),
    );
    texts.push(whole.slice(0, at) + '-' + whole.slice(at + 1));
  }
  return [...new Set(texts)].filter((each) => each !== whole);
}

const BOOT = { bootId: '0c1f6a52-4f3f-4f5e-9a6e-3a4b5c6d7e8f', upMs: 5_000_000 };
const ports = { wallMs: () => MS, monotonicMs: () => 0, bootTime: () => BOOT };

const MARKS: readonly { name: string; write: (storage: Storage) => void; open: (storage: Storage) => unknown }[] = [
  {
    name: 'spend_clock',
    write: (storage) => openSpendClock(storage, 0, ports),
    open: (storage) => openSpendClock(storage, 0, ports),
  },
  {
    name: 'key_set_time',
    write: (storage) => openVouchTime(storage, ports).mark(),
    open: (storage) => openVouchTime(storage, ports),
  },
  {
    name: 'registry',
    write: (storage) => openTokenRegistry({ storage, keys: new Set(), log: undefined as never }),
    open: (storage) => openTokenRegistry({ storage, keys: new Set(), log: undefined as never }),
  },
];

for (const { name, write, open } of MARKS) {
  test(`found F13: the mark ${name} is read whole or stops the start`, (t) => {
    const storage = openStorage(newDirectory());
    write(storage);
    const whole = storage.setting(name)!;
    t.is(
      fault(() => open(storage)),
      null,
    );
    for (const text of damagedTexts(whole)) {
      storage.setSetting(name, text);
      t.is(fault(() => open(storage))?.record, name, JSON.stringify(text));
    }
    storage.close();
  });
}

test('found F13: marks of an edge of before are read as they were written', (t) => {
  const storage = openStorage(newDirectory());
  storage.setSetting('spend_clock', `${BOOT.bootId} 4000000 ${MS}`);
  t.is(openSpendClock(storage, 0, ports).nowMs(), MS + 1_000_000);
  storage.setSetting('key_set_time', `${BOOT.bootId} 4000000 ${MS + 7}`);
  t.is(openVouchTime(storage, ports).nowMs(), MS + 1_000_007);
  storage.setSetting('registry', `${shippedRegistry.version + 1} ${'a'.repeat(64)}`);
  t.regex(String(openTokenRegistry({ storage, keys: new Set(), log: undefined as never })), /has seen version/);
  storage.close();
});

test('found F13: a damaged stop of the sweeps is a stop, until they are started again', (t) => {
  const storage = openStorage(newDirectory());
  stopSweeps(storage, MS);
  for (const text of damagedTexts(storage.setting('sweeps_stopped_at_ms')!)) {
    storage.setSetting('sweeps_stopped_at_ms', text);
    const stopped = sweepsStoppedAtMs(storage);
    t.true(stopped !== null && stopped >= 0, JSON.stringify(text)); // NaN is not above zero
  }
  startSweeps(storage);
  t.is(sweepsStoppedAtMs(storage), null);
  storage.close();
});

test('found F13: a spend that is damaged while the edge runs is refused, and never counted as nothing', (t) => {
  for (const text of ['', 'NaN', '-5', '0x10', ' 5', '1.5']) {
    const storage = openStorage(newDirectory());
    const ledger = new SpendLedger(
      storage,
      {
        spendWindowMs: 1_000,
        spendCaps: new Map([['eth', 10n]]),
        withdrawalCaps: new Map(),
        tokenCaps: new Map(),
      } as never,
      {
        nowMs: () => MS,
        mark: () => undefined,
      },
    );
    t.is(ledger.count({ subject: 'a', chain: 'eth', purpose: 'cloud', amount: 9n }), null);
    storage.run('update spend set amount = ?', text);
    const found = fault(() => ledger.count({ subject: 'b', chain: 'eth', purpose: 'cloud', amount: 9n }));
    t.is(found?.record, 'spend.amount', text);
    storage.close();
  }
});

test('found F13: what is damaged beside the database: session, issued addresses, a key set of another replica', (t) => {
  const dataDir = newDirectory();
  claimSessionId(dataDir, () => 'ses_first'); // as after a kill: it is not ended
  const copy = newDirectory();
  const session = new DatabaseSync(join(copy, 'session.sqlite'));
  session.exec("create table session (id text not null); insert into session values ('')");
  session.close();
  t.is(claimSessionId(copy, () => 'ses_fresh').sessionId, 'ses_fresh');

  const issued = openIssuedAddresses({ directory: dataDir, owner: 'live a', gap: 10 });
  const database = new DatabaseSync(join(dataDir, 'issued.db'));
  database.exec("insert into issued values (1, 'evm', 9000000000, 1, null, null)");
  database.close();
  return t
    .throwsAsync(
      async () =>
        issued.record({ chain: 'eth', position: 3, address: '0x', addressId: 'adr_a', userRef: 'u', tag: null }),
      { instanceOf: StorageFailed, message: /issued\.position/ },
    )
    .then(() => t.is(keySetOf('{"covers":'), null));
});

test('found F76: a command on a damaged directory says which record it is and what to do, without a stack', (t) => {
  const dataDir = newDirectory();
  const storage = openStorage(dataDir);
  storage.run(
    "insert into spend (subject, chain, purpose, amount, counted_at_ms) values ('a', 'eth', 'cloud', 'NaN', 1)",
  );
  storage.close();
  const command = fileURLToPath(new URL('../../../edge/cli/flock-edge.ts', import.meta.url));
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--disable-sigusr1', command, 'sweeps', 'status', '--data-dir', dataDir],
    {
      encoding: 'utf8',
    },
  );
  t.is(status, 1);
  t.regex(stderr, /^EDGE_DATA_DIR: .*spend\.amount cannot be read.*Next: stop the edge and put back a whole copy/m);
  t.notRegex(stderr, /\n\s+at /);
});

test('console U4, found F13: a damaged checkpoint of the audit log is not taken for none: no later log is believed in its place', async (t) => {
  const said: string[] = [];
  const note = (event: string) => void said.push(event);
  const of = (storage: Storage) =>
    new AuditKeeper({
      environment: 'live',
      storage,
      upstream: { signed: { call: () => t.fail('nobody is asked') as never } },
      lease: { view: () => ({ held: true }) },
      nowMs: () => MS,
      log: { info: note, warn: note, alarm: note, fault: note },
    });
  const checkpoint = { organization: 'org_a', seq: 7, hash: 'h', at: 'now', kid: 'k', signature: 's' };
  const good = { checkpoint, keptAtMs: MS, walked: { seq: 7, hash: 'h' }, problem: null };
  const texts = [
    JSON.stringify(good).slice(0, -9),
    'null',
    '[]',
    JSON.stringify({ ...good, checkpoint: { ...checkpoint, seq: '7' } }),
    JSON.stringify({ ...good, keptAtMs: null }),
    JSON.stringify({ ...good, walked: null }),
    JSON.stringify({ ...good, problem: undefined }),
  ];
  for (const text of texts) {
    const dataDir = newDirectory();
    const storage = openStorage(dataDir);
    storage.setSetting('audit_checkpoint', JSON.stringify(good));
    const keeper = of(storage);
    t.false(keeper.broken);
    storage.setSetting('audit_checkpoint', text);
    t.throws(() => of(storage), { instanceOf: StorageFailed, message: /audit_checkpoint/ }, text);
    t.true(keeper.broken, 'damaged while it runs');
    said.length = 0;
    await keeper.look();
    t.deepEqual(said, ['audit_fault'], text);
    t.is(storage.setting('audit_checkpoint'), text, 'it is not written over');
    storage.close();
    const out = { write: () => true };
    t.is(auditCommand(['forget', '--data-dir', dataDir], {}, out, out), 0, 'where it is to begin anew');
    const again = openStorage(dataDir);
    t.false(of(again).broken);
    again.close();
  }
});
