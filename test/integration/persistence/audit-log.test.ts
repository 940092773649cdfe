import test, { type ExecutionContext } from 'ava';
import type { AuditRecord } from '../../../model/rows/audit.ts';
import { constraintOf } from '../../../persistence/postgres/sql.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import { ChainCheck } from '../../../protocol/node/audit-chain.ts';
import { newId } from '../../../protocol/node/ids.ts';
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

const recordOf = (organizationId: string, more: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{
    organizationId,
    actor: { kind: 'user', id: ours.userId },
    via: 'console',
    action: 'mintApiKey',
    target: 'key_1',
  },
  ...{ outcome: 'done', changes: null, ip: '192.0.2.1', client: 'Browser', requestId: 'req_1' },
  ...more,
});

async function problemsOf(organizationId: string) {
  const head = await stores.auditLog.head(organizationId);
  const check = new ChainCheck(organizationId, head === null ? [] : [head]);
  for (const entry of await stores.auditLog.chain(organizationId, 0, 10_000)) check.add(entry);
  check.end();
  return check.problems;
}

async function refused(t: ExecutionContext, constraint: string, attack: () => Promise<unknown>): Promise<void> {
  const error = await attack().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  t.is(constraintOf(error), constraint, String(error));
}

test.serial(
  'console U3: one chain an organization, written by many at once without a gap; the texts say what happened',
  async (t) => {
    const [one, two] = [await newOrganization(stores), await newOrganization(stores)];
    await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        stores.auditLog.record(
          recordOf(one.organizationId, { target: `key_${at}` }),
          recordOf(two.organizationId, { outcome: 'refused', reason: 'not_fresh' }),
        ),
      ),
    );
    for (const { organizationId } of [one, two]) {
      t.is((await stores.auditLog.head(organizationId))?.seq, 30);
      t.deepEqual(await problemsOf(organizationId), []);
    }
    const [entry] = await stores.auditLog.chain(two.organizationId, 29, 5);
    const said = JSON.parse(entry!.text!) as Record<string, unknown>;
    t.like(said, { seq: 30, organization: two.organizationId, outcome: 'refused', reason: 'not_fresh' });
    t.deepEqual(said['actor'], { kind: 'user', id: ours.userId, name: `${ours.userId}@example.com` });
    await stores.auditLog.record(recordOf('org_nobody'));
    t.is(await stores.auditLog.head('org_nobody'), null, 'no log of an organization that is none of ours');
  },
);

test.serial('console U3: the effect and its entry are written together or not at all', async (t) => {
  const { organizationId, live } = await newOrganization(stores);
  const key = (hash: string) => ({
    ...{ id: newId('key', NOW_MS), accountId: live, organizationId, environment: 'live' as const },
    ...{ label: 'x', hash, maskedPrefix: 'flk', createdAtMs: NOW_MS, revokedAtMs: null },
  });
  await stores.identity.insertApiKey(key('first'), undefined, recordOf(organizationId));
  await refused(t, 'api_key_hash_once', () =>
    stores.identity.insertApiKey(key('first'), undefined, recordOf(organizationId)),
  );
  t.is((await stores.auditLog.head(organizationId))?.seq, 1);
  await database.owner`alter table audit_entry add constraint nothing_more check (organization_id <> ${organizationId}) not valid`.catch(
    () =>
      database.owner.unsafe(
        `alter table flock.audit_entry add constraint nothing_more check (organization_id <> '${organizationId}') not valid`,
      ),
  );
  await refused(t, 'nothing_more', () =>
    stores.identity.insertApiKey(key('second'), undefined, recordOf(organizationId)),
  );
  t.deepEqual(
    (await stores.identity.apiKeys(organizationId)).map(({ hash }) => hash),
    ['first'],
  );
  await database.owner`alter table audit_entry drop constraint nothing_more`;
  t.false(await stores.identity.revokeApiKey(organizationId, 'key_none', NOW_MS, recordOf(organizationId)));
  t.is((await stores.auditLog.head(organizationId))?.seq, 1, 'nothing was revoked, nothing is recorded');
});

test.serial(
  'console U3 (faults 19): an entry is changed, deleted or inserted by nobody, the owner of the schema included',
  async (t) => {
    const { organizationId } = await newOrganization(stores);
    for (const _ of [1, 2, 3]) await stores.auditLog.record(recordOf(organizationId));
    const { owner, sql } = database;
    await refused(
      t,
      'audit_entry_append_only',
      () =>
        owner`update audit_entry set text = replace(text, 'done', 'failed') where organization_id = ${organizationId} and seq = 2`,
    );
    await refused(
      t,
      'audit_entry_append_only',
      () => owner`update audit_entry set text = null where organization_id = ${organizationId} and seq = 2`,
    );
    await refused(
      t,
      'audit_entry_append_only',
      () => owner`update audit_entry set hash = sha256('x') where organization_id = ${organizationId} and seq = 3`,
    );
    await refused(
      t,
      'audit_entry_kept',
      () => owner`delete from audit_entry where organization_id = ${organizationId}`,
    );
    await refused(t, 'audit_entry_kept', () => owner`truncate audit_entry`);
    await refused(
      t,
      'audit_head_rises',
      () => owner`update audit_head set seq = 1 where organization_id = ${organizationId}`,
    );
    await refused(t, 'audit_head_kept', () => owner`delete from audit_head where organization_id = ${organizationId}`);
    const text = (seq: number) =>
      JSON.stringify({ seq, organization: organizationId, at: 1, action: 'x', outcome: 'done' });
    for (const seq of [4, 5])
      await refused(
        t,
        'audit_entry_extends_chain',
        () => owner`
      insert into audit_entry (organization_id, seq, hash, text) values (${organizationId}, ${seq}, sha256('x'), ${text(seq)})`,
      );
    for (const attack of [
      () => sql`update audit_entry set text = null where organization_id = ${organizationId}`,
      () => sql`delete from audit_entry`,
      () =>
        sql`insert into audit_entry (organization_id, seq, hash, text) values (${organizationId}, 4, sha256('x'), 'x')`,
      () => sql`update audit_head set seq = 9`,
    ])
      await t.throwsAsync(attack(), { message: /permission denied/ });
    t.deepEqual([...(await sql`select seq from audit_entry`)], [], 'without its tenant the application sees none');
    t.deepEqual(await problemsOf(organizationId), []);
  },
);

test.serial(
  'console U6: entries are listed newest first by actor, action, target, outcome and time, alone and together',
  async (t) => {
    const { organizationId } = await newOrganization(stores);
    const all = Array.from({ length: 40 }, (_, at) =>
      recordOf(organizationId, {
        actor: { kind: 'user', id: `usr_${at % 4}` },
        action: at % 2 === 0 ? 'mintApiKey' : 'revokeApiKey',
        target: `key_${at % 5}`,
        outcome: at % 3 === 0 ? 'refused' : 'done',
      }),
    );
    await stores.auditLog.record(...all);
    const expected = (fits: (record: AuditRecord) => boolean) =>
      all
        .map((record, at) => (fits(record) ? at + 1 : 0))
        .filter((seq) => seq > 0)
        .toReversed();
    const walked = async (filter: Parameters<typeof stores.auditLog.page>[1]) => {
      const seqs: number[] = [];
      for (let below: number | null = null; ;) {
        const page = await stores.auditLog.page(organizationId, filter, { below, size: 3 });
        seqs.push(...page.rows.map(({ seq }) => seq));
        if (page.below === null) return seqs;
        below = page.below;
      }
    };
    t.deepEqual(
      await walked({}),
      expected(() => true),
    );
    t.deepEqual(
      await walked({ actor: 'usr_1' }),
      expected(({ actor }) => actor.id === 'usr_1'),
    );
    t.deepEqual(
      await walked({ actor: 'usr_2', action: 'mintApiKey', target: 'key_0', outcome: 'done' }),
      expected(
        (one) =>
          one.actor.id === 'usr_2' && one.action === 'mintApiKey' && one.target === 'key_0' && one.outcome === 'done',
      ),
    );
    t.deepEqual(await walked({ action: 'login' }), []);
    const [{ at }] = await database.owner<
      [{ at: number }]
    >`select at_ms as at from audit_entry where organization_id = ${organizationId} and seq = 1`;
    t.deepEqual(await walked({ fromMs: at + 3_600_000 }), []);
    t.deepEqual(await walked({ toMs: at }), []);
    t.is((await walked({ fromMs: at, toMs: at + 3_600_000, outcome: 'refused' })).length, 14);
  },
);

test.serial(
  'console U5: texts go by the tier of the plan, numbers and hashes stay; a smaller plan begins 30 days later',
  async (t) => {
    const { organizationId, live } = await newOrganization(stores);
    const days = { free: 7, premium: 90, ultimate: null };
    const { owner } = database;
    const tier = (name: string) => owner`
    update account set state = jsonb_set(state, '{plan,tier}', to_jsonb(${name}::text)) where account_id = ${live}`;
    const kept = async () => (await stores.auditLog.page(organizationId, {}, { below: null, size: 50 })).rows.length;
    await tier('ultimate');
    for (const _ of [1, 2, 3]) await stores.auditLog.record(recordOf(organizationId));
    await stores.auditLog.trim(days);
    await tier('free');
    // A log of earlier: entries of 8 days ago, and a head that says nothing of them.
    await owner.unsafe(`alter table flock.audit_entry disable trigger user`);
    await owner`update audit_entry set text = regexp_replace(text, '"at": [0-9]+', '"at": 1000') where organization_id = ${organizationId} and seq < 3`;
    await owner.unsafe(`alter table flock.audit_entry enable trigger user`);
    await stores.auditLog.trim(days);
    t.is(await kept(), 3, 'the days of grace begin');
    await owner`update audit_head set shorter_since = shorter_since - interval '31 days' where organization_id = ${organizationId}`;
    t.true((await stores.auditLog.trim(days)) >= 2);
    t.is(await kept(), 1);
    t.is((await stores.auditLog.chain(organizationId, 0, 10)).length, 3);
    t.deepEqual(await problemsOf(organizationId), []);
    t.is(await stores.auditLog.trim(days), 0);
  },
);
