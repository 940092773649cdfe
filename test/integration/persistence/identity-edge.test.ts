import { randomUUID } from 'node:crypto';
import test from 'ava';
import type { ApiKeyRow, KeyOwner } from '../../../model/ports/identity-store.ts';
import type { SessionRow } from '../../../model/ports/edge-store.ts';
import { constraintOf } from '../../../persistence/postgres/sql.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { InstructionRecord } from '../../../protocol/frames.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  newOrganization,
  NOW_MS,
  openStores,
  PLAN,
  withdrawalRow,
  write,
  type TestOrganization,
} from '../../support/store-rows.ts';

/** After what the test of reaping reaps. */
const LATER_MS = NOW_MS + 3_600_000;

let database: TestDatabase;
let stores: Stores;
let ours: TestOrganization;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  ours = await newOrganization(stores);
});
test.after.always(() => database.close());

test('an organization, its two accounts and its owner are made together or not at all', async (t) => {
  const { identity, accounts } = stores;
  t.deepEqual(await identity.organization(ours.organizationId), {
    id: ours.organizationId,
    name: 'Test',
    createdAtMs: NOW_MS,
  });
  const user = (await identity.userById(ours.userId))!;
  t.deepEqual(user.memberships, [
    { userId: ours.userId, organizationId: ours.organizationId, role: 'owner', ssoRequired: null },
  ]);
  for (const [accountId, environment] of [
    [ours.live, 'live'],
    [ours.sandbox, 'sandbox'],
  ] as const) {
    t.like((await accounts.load(accountId))!.state, {
      accountId,
      environment,
      organizationId: ours.organizationId,
      plan: PLAN,
    });
  }
  const id = newId('org', NOW_MS + 1);
  await t.throwsAsync(identity.createOrganization({ id, name: 'Half', createdAtMs: NOW_MS }, 'usr_nobody', PLAN));
  t.is(await identity.organization(id), null);
});

test('users are found by e-mail in any case; memberships can be given and changed', async (t) => {
  const { identity } = stores;
  const id = newId('usr', NOW_MS + 2);
  await identity.insertUser({
    id,
    email: `Ada.${id}@Example.com`,
    passwordHash: 'hash',
    sealedTotpSecret: null,
    totpConfirmed: false,
    platformRole: 'admin',
  });
  const found = await identity.userByEmail(`ADA.${id}@example.COM`.replace(id.toUpperCase(), id));
  t.like(found, { id, email: `ada.${id}@example.com`, platformRole: 'admin', memberships: [] });
  await identity.insertMembership({ userId: id, organizationId: ours.organizationId, role: 'viewer' });
  await identity.insertMembership({ userId: id, organizationId: ours.organizationId, role: 'editor' });
  t.deepEqual(
    (await identity.members(ours.organizationId)).map(({ userId, role }) => [userId, role]).sort(),
    [
      [id, 'editor'],
      [ours.userId, 'owner'],
    ].sort(),
  );
  const again = await identity
    .insertUser({
      id: newId('usr', NOW_MS + 3),
      email: `ada.${id}@example.com`,
      passwordHash: 'x',
      sealedTotpSecret: null,
      totpConfirmed: false,
      platformRole: null,
    })
    .then(
      () => null,
      (error: unknown) => constraintOf(error),
    );
  t.is(again, 'console_user_email_once');
  t.is(await identity.userByEmail('nobody@example.com'), null);
});

test('API keys are found by their hash, listed and revoked once, within their organization', async (t) => {
  const { identity } = stores;
  const row = {
    id: newId('key', NOW_MS),
    accountId: ours.sandbox,
    organizationId: ours.organizationId,
    environment: 'sandbox' as const,
    label: 'ci',
    hash: 'aa',
    maskedPrefix: 'flk_test_ab…',
    createdAtMs: NOW_MS,
    revokedAtMs: null,
    role: 'viewer' as const,
    expiresAtMs: NOW_MS + 60_000,
  };
  await identity.insertApiKey(row);
  t.deepEqual(await identity.apiKeyByHash('aa'), row);
  t.is(await identity.apiKeyByHash('ab'), null);
  t.false(await identity.revokeApiKey('org_other', row.id, NOW_MS));
  t.true(await identity.revokeApiKey(ours.organizationId, row.id, NOW_MS + 5));
  t.false(await identity.revokeApiKey(ours.organizationId, row.id, NOW_MS + 6));
  t.deepEqual(await identity.apiKeys(ours.organizationId), [{ ...row, revokedAtMs: NOW_MS + 5 }]);
});

test('I23 of several under one Idempotency-Key one writes, with its answer, also from several nodes at once', async (t) => {
  const { identity, read } = stores;
  const theirs = await newOrganization(stores);
  const answer = (owner: KeyOwner, status: number) => ({
    owner,
    key: 'k',
    method: 'POST',
    path: '/v1/made',
    bodyHash: 'h',
    status,
    body: { sealed: 's' },
  });
  const keys = Array.from({ length: 5 }, (_, at): ApiKeyRow => ({
    id: newId('key', NOW_MS),
    accountId: theirs.live,
    organizationId: theirs.organizationId,
    environment: 'live',
    label: 'race',
    hash: `race-${at}`,
    maskedPrefix: 'flk_live_…',
    createdAtMs: NOW_MS,
    revokedAtMs: null,
  }));
  const inserted = await Promise.all(keys.map((row, at) => identity.insertApiKey(row, answer(theirs.live, 200 + at))));
  t.is(inserted.filter(Boolean).length, 1);
  t.deepEqual(
    (await identity.apiKeys(theirs.organizationId)).map(({ id }) => id),
    [keys[inserted.indexOf(true)]!.id],
  );
  t.is((await read.idempotent(theirs.live, 'POST', '/v1/made', 'k'))?.status, 200 + inserted.indexOf(true));
  const organizations = Array.from({ length: 3 }, () => ({
    id: newId('org', NOW_MS),
    name: 'Race',
    createdAtMs: NOW_MS,
  }));
  const made = await Promise.all(
    organizations.map((row) =>
      identity.createOrganization(row, theirs.userId, PLAN, answer(`user:${theirs.userId}`, 201)),
    ),
  );
  t.is(made.filter(Boolean).length, 1);
  t.is(
    (await Promise.all(organizations.map(({ id }) => identity.organization(id)))).filter((row) => row !== null).length,
    1,
  );
});

const letterAt = (nowMs: number) => ({ letterId: randomUUID(), nowMs });
test('decisions 2: five wrong codes lock the factor for 15 minutes; a right one forgets the failures', async (t) => {
  const { identity } = stores;
  const { userId } = await newOrganization(stores);
  await identity.enrolTotp(userId, 'sealed');
  t.true(await identity.confirmTotp(userId, 'sealed', letterAt(NOW_MS)));
  t.like(await identity.userById(userId), { sealedTotpSecret: 'sealed', totpConfirmed: true, pendingTotpSecret: null });
  for (let tries = 0; tries < 4; tries += 1)
    t.is((await identity.noteTotpFailure(userId, letterAt(NOW_MS))).lockedUntilMs, null);
  t.true(await identity.spendTotpStep(userId, 10, NOW_MS));
  for (let tries = 0; tries < 4; tries += 1) await identity.noteTotpFailure(userId, letterAt(NOW_MS));
  t.is(await identity.totpLockedUntil(userId), null);
  t.deepEqual(await identity.noteTotpFailure(userId, letterAt(NOW_MS)), { lockedUntilMs: NOW_MS + 900_000 });
  t.is(await identity.totpLockedUntil(userId), NOW_MS + 900_000);
  t.false(
    await identity.spendTotpStep(userId, 11, NOW_MS + 899_999),
    'a right code that was looked at before the lock comes after it',
  );
  t.true(await identity.spendTotpStep(userId, 11, NOW_MS + 900_000));
});

test('console A20: a secret that is being enrolled leaves the confirmed one; the newest of them is confirmed', async (t) => {
  const { identity } = stores;
  const { userId } = await newOrganization(stores);
  await identity.enrolTotp(userId, 'first');
  t.like(await identity.userById(userId), { totpConfirmed: false, pendingTotpSecret: 'first' });
  t.true(await identity.confirmTotp(userId, 'first', letterAt(NOW_MS)));
  await identity.enrolTotp(userId, 'second');
  await identity.enrolTotp(userId, 'third');
  t.like(await identity.userById(userId), {
    sealedTotpSecret: 'first',
    totpConfirmed: true,
    pendingTotpSecret: 'third',
  });
  t.false(await identity.confirmTotp(userId, 'second', letterAt(NOW_MS)));
  t.true(await identity.confirmTotp(userId, 'third', letterAt(NOW_MS)));
  t.false(await identity.confirmTotp(userId, 'third', letterAt(NOW_MS)));
  t.like(await identity.userById(userId), { sealedTotpSecret: 'third', totpConfirmed: true, pendingTotpSecret: null });
});

test('signing keys come newest first', async (t) => {
  const { identity } = stores;
  await identity.insertSigningKey({ kid: 'k1', sealedPrivateJwk: 's', publicJwk: { kty: 'OKP' }, createdAtMs: NOW_MS });
  await identity.insertSigningKey({
    kid: 'k2',
    sealedPrivateJwk: 's',
    publicJwk: { kty: 'OKP' },
    createdAtMs: NOW_MS + 1,
  });
  t.deepEqual(
    (await identity.signingKeys()).map(({ kid, publicJwk }) => [kid, publicJwk]),
    [
      ['k2', { kty: 'OKP' }],
      ['k1', { kty: 'OKP' }],
    ],
  );
});

test('spec §5.3: a nonce is accepted once, however many ask at the same moment', async (t) => {
  const { edge } = stores;
  const claims = await Promise.all(Array.from({ length: 20 }, () => edge.claimNonce('key', 'n1', NOW_MS + 660_000)));
  t.is(claims.filter(Boolean).length, 1);
  t.true(await edge.claimNonce('other', 'n1', NOW_MS));
  t.is(await edge.purgeNonces(NOW_MS + 1), 1);
  t.false(await edge.claimNonce('key', 'n1', NOW_MS));
});

test('found F56: a node whose clock is ahead purges no nonce and no assertion that is still good, so that neither comes twice', async (t) => {
  const { edge, sso } = stores,
    { organizationId } = await newOrganization(stores),
    goodUntilMs = Date.now() + 660_000,
    aheadMs = goodUntilMs + 3_600_000;
  const connection = { id: newId('sso', NOW_MS), organizationId, issuer: 'https://x.example', clientId: 'x' };
  const terms = { sealedSecret: null, saml: null, jitRole: 'viewer' as const, createdAtMs: NOW_MS };
  await sso.putConnection({ ...connection, ...terms }, NOW_MS);
  for (const isFirst of [true, false]) {
    t.is(await edge.claimNonce('ahead', 'n1', goodUntilMs), isFirst);
    t.is(await sso.spendAssertion(connection.id, 'a'.repeat(64), goodUntilMs), isFirst);
    await stores.purgeOnce(aheadMs);
  }
});

test('sessions are saved, ended and reaped; the open ones are found after a restart', async (t) => {
  const { edge } = stores;
  const row: SessionRow = {
    id: newId('ses', NOW_MS),
    accountId: ours.live,
    role: 'leader',
    edgeVersion: '1.0.0',
    liveness: 'live',
    leaseEpoch: 3,
    outboxMode: 'durable',
    outboxDepth: 0,
    outboxPoisoned: false,
    podHint: null,
    lastHeartbeatAtMs: NOW_MS,
    startedAtMs: NOW_MS,
    endedAtMs: null,
  };
  const follower: SessionRow = {
    ...row,
    id: newId('ses', NOW_MS + 1),
    role: 'follower',
    startedAtMs: NOW_MS + 1,
    podHint: 'pod-2',
  };
  const treasury = { registryVersion: 3, windowSeconds: 60, caps: [{ chain: 'eth', cap: '9', spent: '4' }] } as const;
  await edge.saveSessions([{ ...row, treasury: { ...treasury, caps: [...treasury.caps] } }, follower]);
  await edge.saveSessions([{ ...row, endedAtMs: NOW_MS + 9, liveness: 'down', outboxDepth: 4 }]);
  await edge.saveSessions([]);
  t.deepEqual(await edge.sessions(ours.live), [
    follower,
    { ...row, endedAtMs: NOW_MS + 9, liveness: 'down', outboxDepth: 4, treasury },
  ] as SessionRow[]);
  t.deepEqual(await edge.openSessions(), [follower]);
  await database.owner`
    insert into edge_session (id, account_id, role, edge_version, liveness, lease_epoch, outbox_mode, outbox_depth, outbox_poisoned,
                              last_heartbeat_at, started_at)
      select 'ses_' || n, ${ours.live}, 'follower', '1', 'live', 1, 'normal', 0, false, now(), ${NOW_MS}::timestamptz + n / 7 * interval '1 microsecond'
        from generate_series(1, 2500) n`;
  const open = (await edge.openSessions()).map(({ id }) => id).filter((id) => /^ses_[0-9]+$/.test(id));
  t.deepEqual([open.length, new Set(open).size], [2_500, 2_500], 'found F63: page by page, each once');
  await database.owner`delete from edge_session where id ~ '^ses_[0-9]+$'`;
  t.is(await edge.reapSessions(NOW_MS + 9), 0);
  t.is(await edge.reapSessions(NOW_MS + 10), 1);
});

test('§5.6 sessions of two accounts under one id: what an edge calls itself keeps nobody else from being saved', async (t) => {
  const { edge } = stores;
  const [other, third] = [await newOrganization(stores), await newOrganization(stores)];
  const row = (accountId: AccountId, id: string): SessionRow => ({
    id,
    accountId,
    role: 'leader',
    edgeVersion: '1.0.0',
    liveness: 'live',
    leaseEpoch: 3,
    outboxMode: 'durable',
    outboxDepth: 0,
    outboxPoisoned: false,
    podHint: null,
    lastHeartbeatAtMs: NOW_MS,
    startedAtMs: NOW_MS,
    endedAtMs: null,
  });
  const [same, own] = [newId('ses', NOW_MS + 50), newId('ses', NOW_MS + 51)];
  await edge.saveSessions([row(other.live, same), row(other.sandbox, same), row(third.live, own)]);
  for (const [accountId, id] of [
    [other.live, same],
    [other.sandbox, same],
    [third.live, own],
  ] as const) {
    t.deepEqual(
      (await edge.sessions(accountId)).map((session) => session.id),
      [id],
    );
  }
});

test('found F53: keys and sessions of years make no longer list than those of a day: what works is always in it', async (t) => {
  const { identity, edge } = stores,
    { live, organizationId } = await newOrganization(stores);
  const row: ApiKeyRow = {
    id: newId('key', NOW_MS),
    accountId: live,
    organizationId,
    environment: 'live',
    label: 'oldest',
    hash: `oldest-${organizationId}`,
    maskedPrefix: 'flk_live_…',
    createdAtMs: NOW_MS,
    revokedAtMs: null,
  };
  t.true(await identity.insertApiKey(row));
  await database.admin`
    insert into flock.api_key (id, account_id, organization_id, environment, label, hash, masked_prefix, created_at, revoked_at)
      select 'key_' || ${organizationId} || i, ${live}, ${organizationId}, 'live', 'old ' || i, ${organizationId} || i, 'flk_live_…',
             ${NOW_MS}::timestamptz + i * interval '1 hour', now() from generate_series(1, 500) i`;
  const keys = await identity.apiKeys(organizationId);
  t.deepEqual([keys.length, keys[0]!.label, keys.at(-1)!.label], [201, 'old 500', 'oldest']);
  const session = (n: number, endedAtMs: number | null) => ({
    id: newId('ses', NOW_MS + n),
    accountId: live,
    role: 'follower' as const,
    edgeVersion: '1.0.0',
    liveness: 'live' as const,
    leaseEpoch: 1,
    outboxMode: 'durable' as const,
    outboxDepth: 0,
    outboxPoisoned: false,
    podHint: null,
    lastHeartbeatAtMs: NOW_MS,
    startedAtMs: NOW_MS + n,
    endedAtMs,
  });
  const oldest = session(0, null);
  await edge.saveSessions([oldest, ...Array.from({ length: 500 }, (_, n) => session(n + 1, NOW_MS + 10_000 + n))]);
  const sessions = await edge.sessions(live);
  t.deepEqual([sessions.length, sessions.at(-1)!.id], [201, oldest.id]);
});

test('spec §5.2: a local key that was revoked stays revoked, whatever record of it comes later', async (t) => {
  const { edge } = stores;
  const record = {
    id: newId('ek', NOW_MS),
    environment: 'live' as const,
    hash: 'a'.repeat(64),
    label: 'app',
    prefix: 'loc_live_ab…',
    createdAtMs: NOW_MS,
    revokedAtMs: null as number | null,
    signature: 'b'.repeat(128),
  };
  await edge.saveLocalKeys(ours.live, [record]);
  // another key under its id
  await edge.saveLocalKeys(ours.live, [{ ...record, hash: 'c'.repeat(64), revokedAtMs: NOW_MS }]);
  t.deepEqual(await edge.localKeys(ours.live), [record]);
  await edge.saveLocalKeys(ours.live, [{ ...record, revokedAtMs: NOW_MS + 5 }]);
  await edge.saveLocalKeys(ours.live, [record]);
  t.deepEqual(await edge.localKeys(ours.live), [{ ...record, revokedAtMs: NOW_MS + 5 }]);
  const error = await database.sql`update local_key set revoked_at = null where id = ${record.id}`.then(
    () => null,
    (reason: unknown) => reason,
  );
  t.is(constraintOf(error), 'local_key_stays_revoked');
  t.deepEqual(await edge.localKeys(ours.sandbox), []);
});

test('an account has 10,000 records of local keys at most, revoked ones counted; a revocation always gets through', async (t) => {
  const { edge } = stores;
  const { live } = await newOrganization(stores),
    other = await newOrganization(stores);
  await database.owner`
    insert into local_key (account_id, id, environment, hash, label, prefix, created_at, revoked_at, signature)
      select ${live}, 'ek_' || lpad(n::text, 26, '0'), 'live', 'h', 'app', 'loc_live_…', now(), case when n % 2 = 0 then now() end, 's'
        from generate_series(1, 9999) n`;
  const record = (at: number) => ({
    id: newId('ek', NOW_MS + at),
    environment: 'live' as const,
    hash: 'a'.repeat(64),
    label: 'app',
    prefix: 'loc_live_ab…',
    createdAtMs: NOW_MS + at,
    revokedAtMs: null as number | null,
    signature: 'b'.repeat(128),
  });
  const [first, second, third] = [record(1), record(2), record(3)];
  t.deepEqual(
    await edge.saveLocalKeys(live, [third, first, second, first]),
    [second.id, third.id],
    'the oldest of a frame come first',
  );
  t.deepEqual(await edge.saveLocalKeys(live, [{ ...first, revokedAtMs: NOW_MS + 9 }, third]), [third.id]);
  const kept = await edge.localKeys(live);
  t.is(kept.length, 10_000);
  t.is(kept.find(({ id }) => id === first.id)!.revokedAtMs, NOW_MS + 9);
  t.deepEqual(await edge.saveLocalKeys(other.live, [third]), [], 'another account is not touched');
});

test('found F11: of each replica the newest key set that no other one contains is kept, and so many of an account', async (t) => {
  const { edge } = stores;
  const { live } = await newOrganization(stores),
    other = await newOrganization(stores);
  const name = (at: number) => `rep_${at.toString().padStart(26, 'a')}`;
  const set = (at: number, version: number, covers: [number, number][] = []) => ({
    environment: 'live' as const,
    replica: name(at),
    version,
    issuedAtMs: NOW_MS,
    validUntilMs: NOW_MS + 1,
    keys: '[]',
    signature: 'b'.repeat(128),
    covers: covers.map(([replica, of]) => ({ replica: name(replica), version: of })),
  });
  const [one, two, both] = [set(1, 1), set(2, 1), set(1, 2, [[2, 1]])];
  t.deepEqual(
    [await edge.saveKeySet(live, one), await edge.saveKeySet(live, two), await edge.saveKeySet(live, one)],
    ['kept', 'kept', 'known'],
  );
  t.deepEqual(await edge.keySets(live), [one, two]);
  t.is(await edge.saveKeySet(live, both), 'kept');
  t.deepEqual(await edge.keySets(live), [both]);
  t.deepEqual(
    [await edge.saveKeySet(live, two), await edge.saveKeySet(live, one)],
    ['known', 'known'],
    'what another one contains does not come back',
  );
  const later = set(2, 3, [[1, 1]]);
  t.is(await edge.saveKeySet(live, later), 'kept');
  t.deepEqual(await edge.keySets(live), [both, later], 'it does not contain the newest of the first');
  for (let at = 3; at <= 64; at += 1) await edge.saveKeySet(live, set(at, 1));
  t.is(await edge.saveKeySet(live, set(65, 1)), 'no_room');
  t.is(await edge.saveKeySet(live, set(3, 2)), 'kept', 'a replica that is known goes on');
  t.deepEqual([await edge.keySets(other.live), (await edge.keySets(live)).length], [[], 64]);
});

test('the newest record of an instruction is kept, per account, until nobody touched it for long', async (t) => {
  const { edge } = stores;
  const record = recordOf(await builtTransaction(ours.live), { instruction: '{"a":"ü\\u0000"}', askedAtMs: NOW_MS });
  const newer = { ...record, unsigned: '{"fee":"2"}', askedAtMs: NOW_MS + 5 };
  t.deepEqual(await edge.saveInstructions(ours.live, [newer, record]), []);
  await edge.saveInstructions(ours.live, [record]);
  await edge.saveInstructions(ours.live, []);
  t.deepEqual(await edge.instruction(ours.live, record.transactionId), newer);
  t.is(await edge.instruction(ours.sandbox, record.transactionId), null);
  t.is(await edge.reapInstructions(NOW_MS + 5), 0);
  t.is(await edge.reapInstructions(NOW_MS + 6), 1);
  t.is(await edge.instruction(ours.live, record.transactionId), null);
});

test('a record of a transaction that this account did not build is not kept', async (t) => {
  const { edge } = stores;
  const record = recordOf(await builtTransaction(ours.live)),
    invented = recordOf(newId('txn', NOW_MS));
  t.deepEqual(await edge.saveInstructions(ours.live, [record, invented]), [
    { transactionId: invented.transactionId, reason: 'unknown' },
  ]);
  t.deepEqual(await edge.saveInstructions(ours.sandbox, [record]), [
    { transactionId: record.transactionId, reason: 'unknown' },
  ]);
  t.deepEqual(await edge.instruction(ours.live, record.transactionId), record);
  t.is(await edge.instruction(ours.live, invented.transactionId), null);
  t.is(await edge.instruction(ours.sandbox, record.transactionId), null);
});

test('an account leaves only so many large records with the cloud; small ones and newer versions of the kept ones go on', async (t) => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.push(await builtTransaction(ours.sandbox));
  const save = async (id: string, size: number, askedAtMs: number) =>
    (
      await database.sql<{ reason: string }[]>`
    select reason from save_instructions(${ours.sandbox}, ${JSON.stringify([
      {
        id,
        asked_at: new Date(askedAtMs).toISOString(),
        record: JSON.stringify(recordOf(id, { unsigned: 'x'.repeat(size), askedAtMs })),
      },
    ])}::text::jsonb, 2)`
    ).map(({ reason }) => reason);
  t.deepEqual(await save(ids[0]!, 70_000, LATER_MS), []);
  t.deepEqual(await save(ids[1]!, 70_000, LATER_MS), []);
  t.deepEqual(await save(ids[2]!, 70_000, LATER_MS), ['quota']);
  t.deepEqual(await save(ids[2]!, 1_000, LATER_MS), []);
  t.deepEqual(await save(ids[2]!, 70_000, LATER_MS + 1), ['quota'], 'nor may a small one grow');
  t.deepEqual(await save(ids[0]!, 80_000, LATER_MS + 1), []);
  t.is((await stores.edge.instruction(ours.sandbox, ids[0]!))!.unsigned.length, 80_000);
});

/** A transaction that an account built. */
async function builtTransaction(accountId: AccountId): Promise<string> {
  const address = addressRow(accountId),
    row = withdrawalRow(address);
  await write(stores, accountId, [
    { table: 'address', row: address },
    { table: 'withdrawal', row },
  ]);
  return row.id;
}

function recordOf(transactionId: string, more: Partial<InstructionRecord> = {}): InstructionRecord {
  return {
    transactionId,
    environment: 'live',
    instruction: '{}',
    unsigned: '{}',
    askedAtMs: LATER_MS,
    broadcastAtMs: null,
    broadcastUnsigned: null,
    signature: 'b'.repeat(128),
    ...more,
  };
}

test('console A32: owners get a letter 7 days and a day before a key in use ends, once each; none of a key that is unused, revoked or ends later', async (t) => {
  const { organizationId, userId, live } = await newOrganization(stores);
  const { identity, people } = stores;
  const DAY_MS = 86_400_000;
  const start = NOW_MS + 1_000 * DAY_MS;
  const key = async (endsInDays: number, { used = true, revoked = false } = {}) => {
    const id = newId('key', NOW_MS);
    const row = { id, accountId: live, organizationId, environment: 'live' as const };
    const terms = { label: id, hash: id, maskedPrefix: 'flk_live_x', createdAtMs: NOW_MS, revokedAtMs: null };
    await identity.insertApiKey({ ...row, ...terms, expiresAtMs: start + endsInDays * DAY_MS });
    if (used) await identity.noteKeyUse(id, NOW_MS);
    if (revoked) await identity.revokeApiKey(organizationId, id, NOW_MS);
    return id;
  };
  const [ending] = [await key(10), await key(10, { used: false }), await key(10, { revoked: true }), await key(400)];
  const letters = async (days: number) => {
    await Promise.all([1, 2].map(() => people.writeKeyLetters(start + days * DAY_MS)));
    const rows = await database.owner<{ id: string; userId: string }[]>`
      select id, user_id as "userId" from letter where organization_id = ${organizationId} and kind = 'key_ends' order by id`;
    return rows.map(({ id }) => id);
  };
  const of = (days: number) => `key_ends|${ending}|${days}|${userId}`;
  t.deepEqual(await letters(2.9), []);
  t.deepEqual(await letters(3), [of(7)]);
  t.deepEqual(await letters(8), [of(7)]);
  t.deepEqual(await letters(9), [of(1), of(7)]);
  t.deepEqual(await letters(9.9), [of(1), of(7)]);
  t.deepEqual(await letters(10), [of(1), of(7)], 'it has ended');
});
