import test from 'ava';
import { DOMAINS_MAX } from '../../../model/ports/sso-store.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newOrganization, openStores } from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

const codes = (letter: string): string[] => Array.from({ length: 10 }, (_, at) => `${letter}${at}`.padEnd(64, '0'));

test('console A23: of two sets of recovery codes that are made at once one is good', async (t) => {
  const { userId } = await newOrganization(stores);
  await database.owner`update console_user set totp_confirmed = true, sealed_totp_secret = 'x' where id = ${userId}`;
  for (let round = 0; round < 5; round += 1) {
    const made = await Promise.all(
      ['a', 'b', 'c'].map((letter) =>
        stores.factors.replaceRecoveryCodes(userId, codes(letter), {
          letterId: `l${round}${letter}`,
          nowMs: Date.now(),
        }),
      ),
    );
    t.deepEqual(made, [true, true, true]);
    const left = await database.owner<{ hash: string }[]>`select hash from recovery_code where user_id = ${userId}`;
    t.is(left.length, 10);
    t.is(new Set(left.map(({ hash }) => hash[0])).size, 1, 'of one set');
  }
});

test('console A36: of twenty for the last place of an organization’s domains one has it', async (t) => {
  const { organizationId } = await newOrganization(stores);
  const add = (at: number) =>
    stores.sso.addDomain({
      ...{ id: `dmn_${organizationId}${at}`, organizationId, domain: `d${at}.${organizationId}.example`, token: 'x' },
      ...{ verifiedAtMs: null, createdAtMs: Date.now() },
    });
  for (let at = 1; at < DOMAINS_MAX; at += 1) t.is(await add(at), 'done');
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, at) => add(100 + at)));
  t.is(outcomes.filter((outcome) => outcome === 'done').length, 1);
  t.is(outcomes.filter((outcome) => outcome === 'limit').length, 19);
});

test('console A45: a session that begins while the consent is taken back ends with it, and stays ended when it is given again', async (t) => {
  const { organizationId, userId } = await newOrganization(stores);
  await database.owner`update console_user set platform_role = 'admin' where id = ${userId}`;
  const [at, until] = [Date.now(), Date.now() + 3_600_000];
  await stores.support.allowAccess(organizationId, until, at);
  let taking: Promise<void> = Promise.resolve();
  await database.admin.begin(async (tx) => {
    await tx`select from flock.support_access where organization_id = ${organizationId} for update`;
    taking = stores.support.allowAccess(organizationId, null, at);
    for (let waits = 0; waits === 0;)
      waits = (
        await database.admin`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%support_access%'`
      ).length;
    await tx`
      insert into flock.support_session (id, organization_id, environment, admin_id, reason, created_at, ends_at)
        values ('sup_race', ${organizationId}, 'live', ${userId}, 'x', now(), now() + interval '30 minutes')`;
  });
  await taking;
  await stores.support.allowAccess(organizationId, until, at);
  t.is(await stores.support.standing('sup_race', Date.now()), null);
});
