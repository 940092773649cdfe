/** The people of developer mode, on a real database. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { seedDeveloperOrganizations } from '../../../developer/seed.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { createTestDatabase } from '../../support/postgres.ts';

test('treasury Q6: developer mode has two administrators, and data of before is given the second one', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.close());
  const recordFile = join(newDirectory(), 'seed.json');
  const seed = () => seedDeveloperOrganizations({ databaseUrl: database.url, secretKey: '11'.repeat(32), recordFile });
  const { admin2, ...before } = await seed();
  const admins = async (): Promise<string[]> =>
    (await database.owner`select email from flock.console_user where platform_role = 'admin'`)
      .map(({ email }) => String(email))
      .sort();
  t.deepEqual(await admins(), [before.admin.email, admin2.email].sort());
  t.deepEqual(await seed(), { ...before, admin2 }, 'a second start finds what the first one made');

  // As an earlier release left it: without the second one, in the file and in the database.
  await database.owner`delete from flock.console_user where email = ${admin2.email}`;
  writeFileSync(recordFile, JSON.stringify(before), { mode: 0o600 });
  const again = await seed();
  t.deepEqual({ ...again, admin2: null }, { ...before, admin2: null });
  t.deepEqual(await admins(), [before.admin.email, again.admin2.email].sort());
  t.deepEqual(JSON.parse(readFileSync(recordFile, 'utf8')), JSON.parse(JSON.stringify(again)));
  t.is(statSync(recordFile).mode & 0o077, 0, 'nobody else reads it');
});
