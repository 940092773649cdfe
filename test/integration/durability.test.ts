import { spawn } from 'node:child_process';
import test from 'ava';
import { durabilityProblem, readDurability, type Durability } from '../../persistence/postgres/durability.ts';
import { CLOUD_ENTRY } from '../../developer/deployment.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database.close());

const GOOD: Durability = {
  fsync: 'on',
  fullPageWrites: 'on',
  synchronousCommit: 'on',
  synchronousStandbyNames: '',
  standbys: 0,
};

const CASES: readonly (readonly [string, Partial<Durability>, RegExp | null])[] = [
  ['one server', {}, null],
  ['one server, local commits', { synchronousCommit: 'local' }, null],
  ['fsync off', { fsync: 'off' }, /set fsync/],
  ['torn pages', { fullPageWrites: 'off' }, /set full_page_writes/],
  ['commits that do not wait for the disk', { synchronousCommit: 'off' }, /set synchronous_commit/],
  ['a standby, asynchronous', { standbys: 1 }, /1 standby and no synchronous one.*set synchronous_standby_names/],
  ['two standbys, asynchronous', { standbys: 2 }, /2 standbys and no/],
  ['names of white space', { standbys: 1, synchronousStandbyNames: '  ' }, /set synchronous_standby_names/],
  ['a synchronous standby', { standbys: 1, synchronousStandbyNames: 'ANY 1 (a, b)' }, null],
  [
    'a synchronous standby that commits wait to apply',
    { standbys: 1, synchronousStandbyNames: '*', synchronousCommit: 'remote_apply' },
    null,
  ],
  [
    'a synchronous standby, local commits',
    { standbys: 1, synchronousStandbyNames: 'a', synchronousCommit: 'local' },
    /is local/,
  ],
];

for (const [name, settings, expected] of CASES) {
  test(`found F62: ${name}`, (t) => {
    const problem = durabilityProblem({ ...GOOD, ...settings });
    if (expected === null) t.is(problem, null);
    else t.regex(problem ?? '', expected);
  });
}

/** Starts a node on the database and answers how it ended, or that it served. */
async function start(url: string, durability: string): Promise<{ code: number | null; words: string }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CLOUD_ENTRY], {
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: url,
      SECRET_KEY: '11'.repeat(32),
      CLOUD_PORT: '0',
      DATABASE_DURABILITY: durability,
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let words = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => {
      words += chunk.toString();
    });
  child.on('message', () => child.kill('SIGTERM'));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, words };
}

test.serial(
  'found F62: a node that requires it does not start where acknowledged commits may be lost, and names the setting',
  async (t) => {
    t.timeout(600_000);
    const before = await readDurability(database.sql);
    const slot = `standby_${process.pid}`;
    await database.admin`select pg_create_physical_replication_slot(${slot}, true)`;
    try {
      const now = await readDurability(database.sql);
      t.is(now.standbys, before.standbys + 1, "the application's role sees that there is a standby");
      const problem = durabilityProblem(now);
      t.not(problem, null);
      const refused = await start(database.url, 'required');
      t.is(refused.code, 78);
      t.true(refused.words.includes(`DATABASE_DURABILITY is required: ${problem}`), refused.words);
      const told = await start(database.url, 'checked');
      t.is(told.code, 0);
      t.true(told.words.includes('the database may forget what it acknowledged'), told.words);
    } finally {
      await database.admin`select pg_drop_replication_slot(${slot})`;
    }
  },
);
