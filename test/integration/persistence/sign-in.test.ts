/** What somebody reads who gave a database's address wrongly: the setting, and what to do. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { awayOf } from '../../../persistence/postgres/away.ts';
import { applicationFault, ownerFault, signInFault } from '../../../persistence/postgres/sign-in-fault.ts';
import { createTestDatabase } from '../../support/postgres.ts';

const SEAL = { SECRET_KEY: '11'.repeat(32), CLOUD_PORT: '0' };

/** A command's exit code and what it says on standard error. */
function run(file: string, env: Record<string, string>): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', file],
      { env: { PATH: process.env.PATH, ...env } },
      (_error, _out, said) => resolve({ code: child.exitCode ?? -1, said: said.trim() }),
    );
  });
}
const migrating = (env: Record<string, string>) => run('persistence/postgres/migrate.ts', env);
const cloud = (env: Record<string, string>) => run('supervision/main.ts', { ...SEAL, ...env });

test('found F76: migrate and the cloud name the setting of the database and the next step', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.close());
  const stranger = `stranger_${randomBytes(6).toString('hex')}`;
  await database.admin.unsafe(`create role ${stranger} login password 'word'`);
  t.teardown(() => database.admin.unsafe(`drop role ${stranger}`));
  const missing = new URL(database.url),
    other = new URL(database.url),
    closed = new URL(database.url);
  missing.pathname = `/${stranger}`;
  closed.port = '9';
  Object.assign(other, { username: stranger, password: 'word' });
  const [scheme, absent, gone, done, unlike, away] = await Promise.all([
    migrating({ DATABASE_OWNER_URL: 'mysql://owner@host/flock' }),
    migrating({ DATABASE_OWNER_URL: missing.href }),
    migrating({ DATABASE_OWNER_URL: closed.href }),
    migrating({ DATABASE_OWNER_URL: database.url }),
    cloud({ DATABASE_URL: other.href }),
    cloud({ DATABASE_URL: closed.href }),
  ]);
  t.deepEqual(scheme, {
    code: 78,
    said: 'migrate: DATABASE_OWNER_URL is needed: postgres://OWNER:PASSWORD@HOST/DATABASE, a role that may create schemas and roles',
  });
  t.deepEqual(absent, {
    code: 1,
    said: 'migrate: DATABASE_OWNER_URL: the server has no such database; create it, or correct the name',
  });
  t.deepEqual(gone, { code: 1, said: 'migrate: DATABASE_OWNER_URL: no server answers there; check host and port' });
  t.is(done.code, 0);
  t.regex(done.said, /^DATABASE_APP_PASSWORD is not set: the password of flock_app is left as it is/);
  t.deepEqual(unlike, {
    code: 1,
    said: 'the cloud node does not start: DATABASE_URL: this user may not act as flock_app; sign in as flock_app itself',
  });
  t.deepEqual(away, {
    code: 1,
    said: 'the cloud node does not start: DATABASE_URL: no server answers there; check host and port',
  });
});

test('found F76: each way that a sign-in fails names the setting, and no other fault is called one', (t) => {
  for (const code of [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'CONNECT_TIMEOUT',
    '28P01',
    '28000',
    '3D000',
    '53300',
  ]) {
    t.regex(signInFault({ code }, 'NAME') ?? '', /^NAME: the server|^NAME: no server/, code);
  }
  for (const fault of [{ code: '42P01' }, { code: 'XX000' }, new Error('something'), {}])
    t.is(signInFault(fault, 'NAME'), null);
});

test('what the application or the owner may not, or does not find, names the setting and the next step', (t) => {
  t.regex(
    applicationFault({ code: '42P01', message: 'relation "organization" does not exist' })!,
    /^DATABASE_URL: .*npm run -s migrate/,
  );
  t.regex(
    applicationFault({ code: '42501', message: 'permission denied to set role "flock_app"' })!,
    /^DATABASE_URL: .*sign in as flock_app/,
  );
  t.regex(applicationFault({ code: '22023', message: 'role "flock_app" does not exist' })!, /npm run -s migrate/);
  t.regex(applicationFault({ code: '28P01' })!, /^DATABASE_URL: the server refuses this user or password/);
  t.regex(
    ownerFault({ code: '42501', message: 'must have admin option on role "flock_owner"' })!,
    /^DATABASE_OWNER_URL: .*flock_owner.*sign in as the owner/,
  );
  t.regex(ownerFault({ code: '3D000' })!, /^DATABASE_OWNER_URL: /);
  for (const fault of [new Error('other'), { code: '42501', message: 'permission denied for table account' }])
    t.is(applicationFault(fault), null);
  t.is(ownerFault({ code: '42601' }), null);
});

test('found F76: each reason for which a database does not serve is said with its next step', (t) => {
  for (const code of ['53100', '53200', '53300', '53400', '25006', '28P01', '3D000', '57P01', '58030', 'ECONNREFUSED'])
    t.regex(awayOf(Object.assign(new Error('CANARY'), { code })).message, new RegExp(`: ${code} \\(.{20,}\\)$`));
  t.regex(awayOf(Object.assign(new Error('CANARY'), { code: '40001' })).message, /: 40001$/);
});
