import test from 'ava';
import { LOGIN_IDLE_MS, LOGIN_WHOLE_MS, LOGINS_MAX } from '../../../model/ports/login-store.ts';
import { constraintOf } from '../../../persistence/postgres/sql.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newOrganization, NOW_MS, openStores, type TestOrganization } from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
let ours: TestOrganization;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  ours = await newOrganization(stores);
});
test.after.always(() => database.close());

const BROWSER = { client: 'Browser 1', ip: '192.0.2.1' };
const rowOf = (id: string, userId: string, createdAtMs = NOW_MS) => ({
  ...{ id, userId, method: 'password' as const, ...BROWSER },
  ...{ createdAtMs, endsAtMs: createdAtMs + LOGIN_IDLE_MS },
});
const begin = (family: string, { userId, organizationId } = ours, createdAtMs = NOW_MS) =>
  stores.logins.begin(rowOf(`lgn_${family}`, userId, createdAtMs), { family, hash: `${family}-1` }, organizationId);
const turn = (family: string, from: number, nowMs = NOW_MS, to = from + 1) =>
  stores.logins.turn(
    { family, hash: `${family}-${from}` },
    { hash: `${family}-${to}`, loginId: `lgn_new_${family}`, ...BROWSER },
    nowMs,
  );

test('a refresh token is turned once and not after its time; one that was turned before ends its login', async (t) => {
  const { userId, organizationId } = ours;
  await begin('a');
  const turned = await Promise.all([2, 3, 4].map((to) => turn('a', 1, NOW_MS, to)));
  t.deepEqual(turned.map(({ outcome }) => outcome).sort(), ['late', 'late', 'turned']);
  t.deepEqual(
    turned.find(({ outcome }) => outcome === 'turned'),
    {
      ...{ outcome: 'turned', loginId: 'lgn_a', userId, organizationId },
      ...{ authAtMs: NOW_MS, endsAtMs: NOW_MS + LOGIN_IDLE_MS },
    },
  );
  t.is((await turn('a', 1, NOW_MS + 9_999)).outcome, 'late');
  t.deepEqual(await turn('a', 1, NOW_MS + 10_000), { outcome: 'reused', userId });
  t.is(
    (await turn('a', 2 + turned.findIndex(({ outcome }) => outcome === 'turned'))).outcome,
    'unknown',
    'the whole login',
  );
  t.like((await database.owner`select why from login where id = 'lgn_a'`)[0], { why: 'reused' });
  await begin('b');
  t.is((await turn('b', 1)).outcome, 'turned');
  t.is((await turn('b', 2)).outcome, 'turned');
  t.is((await turn('b', 1)).outcome, 'reused');
  await begin('c');
  t.is((await turn('c', 1, NOW_MS + LOGIN_IDLE_MS)).outcome, 'unknown', 'its time is over');
  await begin('d');
  t.is(await stores.logins.endFamily('d', 'logout', NOW_MS), userId);
  t.is(await stores.logins.endFamily('d', 'logout', NOW_MS), null);
  t.is((await turn('d', 1)).outcome, 'unknown');
  // A reuse against a turn at the same moment: whichever comes first, nothing of the family is left.
  for (let round = 0; round < 10; round += 1) {
    const family = `e${round}`;
    await begin(family);
    await turn(family, 1);
    await turn(family, 2);
    const [, newest] = await Promise.all([turn(family, 1), turn(family, 3)]);
    t.true(['turned', 'unknown'].includes(newest.outcome));
    t.is((await turn(family, 4)).outcome, 'unknown');
  }
  t.is((await database.owner`select from refresh_token where family like 'e%'`).length, 0);
});

test('console A11: a login ends 14 days after its last use and 30 days after it began; a token of an earlier release gets one', async (t) => {
  await begin('whole');
  for (let day = 10, n = 1; day < 30; day += 10, n += 1) {
    const turned = await turn('whole', n, NOW_MS + day * 86_400_000);
    t.is(turned.outcome, 'turned');
    t.is('endsAtMs' in turned && turned.endsAtMs, NOW_MS + Math.min(day * 86_400_000 + LOGIN_IDLE_MS, LOGIN_WHOLE_MS));
  }
  t.is((await turn('whole', 3, NOW_MS + LOGIN_WHOLE_MS)).outcome, 'unknown');
  const { userId, organizationId } = ours;
  await database.owner`
    insert into refresh_token (family, hash, user_id, organization_id, expires_at)
      values ('before', 'before-1', ${userId}, ${organizationId}, ${new Date(NOW_MS + 1_000)})`;
  t.like(await turn('before', 1), { outcome: 'turned', loginId: 'lgn_new_before', authAtMs: NOW_MS });
  t.like(await turn('before', 2, NOW_MS + 5), { outcome: 'turned', loginId: 'lgn_new_before', authAtMs: NOW_MS });
  t.like(await stores.logins.standing(userId, 'lgn_new_before', organizationId, NOW_MS), { open: true, role: 'owner' });
});

test('console A12, A13: one login or all others are ended once; what a token is worth follows', async (t) => {
  const who = await newOrganization(stores);
  const { userId, organizationId } = who;
  for (const family of ['x1', 'x2', 'x3']) await begin(family, who);
  await begin('foreign', await newOrganization(stores));
  const { logins } = stores;
  t.deepEqual((await logins.open(userId, NOW_MS)).map(({ id }) => id).sort(), ['lgn_x1', 'lgn_x2', 'lgn_x3']);
  t.is(await logins.end(userId, { id: 'lgn_foreign' }, 'ended', NOW_MS), 0, "another user's");
  const twice = [1, 2].map(() => logins.end(userId, { id: 'lgn_x1' }, 'ended', NOW_MS));
  t.deepEqual((await Promise.all(twice)).sort(), [0, 1]);
  t.is((await turn('x1', 1)).outcome, 'unknown');
  t.is((await logins.standing(userId, 'lgn_x1', organizationId, NOW_MS))?.open, false);
  t.is((await logins.standing(userId, 'lgn_foreign', organizationId, NOW_MS))?.open, false);
  t.is(await logins.end(userId, { but: 'lgn_x2' }, 'ended', NOW_MS), 1);
  t.deepEqual(
    (await logins.open(userId, NOW_MS)).map(({ id }) => id),
    ['lgn_x2'],
  );
  t.like(await logins.standing(userId, 'lgn_x2', organizationId, NOW_MS), { open: true, role: 'owner' });
  t.like(await logins.standing(userId, 'lgn_x2', ours.organizationId, NOW_MS), { open: true, role: null });
  t.is((await logins.standing(userId, 'lgn_x2', organizationId, NOW_MS + LOGIN_IDLE_MS))?.open, false);
  t.is(await logins.standing('usr_nobody', 'lgn_x2', organizationId, NOW_MS), null);
  // An end against a turn: no deadlock, and the login is over.
  for (let round = 0; round < 10; round += 1) {
    const family = `race${round}`;
    await begin(family, who);
    await Promise.all([turn(family, 1), logins.end(userId, { id: `lgn_${family}` }, 'ended', NOW_MS)]);
    t.is((await turn(family, 2)).outcome, 'unknown');
  }
  const again = await database.owner`update login set ended_at = null, why = null where id = 'lgn_x1'`.then(
    () => null,
    (error: unknown) => constraintOf(error),
  );
  t.is(again, 'login_ended_once');
});

test('a user has 100 open logins at most: the least recently used ends', async (t) => {
  const who = await newOrganization(stores);
  await database.owner`
    insert into login (id, user_id, method, client, ip, created_at, seen_at, ends_at)
      select 'lgn_many' || i, ${who.userId}, 'password', '', '', ${new Date(NOW_MS)}, ${new Date(NOW_MS)}::timestamptz + i * interval '1 second',
             ${new Date(NOW_MS + LOGIN_IDLE_MS)} from generate_series(1, ${LOGINS_MAX}) i`;
  await begin('one-more', who, NOW_MS + 1_000_000);
  const open = (await stores.logins.open(who.userId, NOW_MS)).map(({ id }) => id);
  t.is(open.length, LOGINS_MAX);
  t.false(open.includes('lgn_many1'));
  t.is(open[0], 'lgn_one-more');
});

test('console A11: tokens go when their time is over, address and client 30 days after the end', async (t) => {
  for (const [family, ago] of [
    ['old', 31],
    ['ended', 15],
  ] as const)
    await begin(family, ours, NOW_MS - LOGIN_IDLE_MS - ago * 86_400_000);
  t.true((await stores.logins.purge(NOW_MS - 30 * 86_400_000, NOW_MS)) >= 3);
  t.deepEqual(
    (await database.owner`select id from login where id in ('lgn_old', 'lgn_ended')`).map(({ id }) => id),
    ['lgn_ended'],
  );
  t.is((await database.owner`select from refresh_token where family in ('old', 'ended')`).length, 0);
});
