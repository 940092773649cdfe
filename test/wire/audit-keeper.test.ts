import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { TransactionSql } from 'postgres';
import { auditCommand } from '../../edge/cli/audit.ts';
import { AuditKeeper, keptAudit } from '../../edge/link/audit-keeper.ts';
import { openStorage } from '../../edge/storage/storage.ts';
import { auditVerify } from '../../gateway/cli/audit-verify.ts';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { newDirectory } from '../support/edge/disk.ts';
import { enrol, raw, startTestCloud, type TestOrganization } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const DAY_MS = 86_400_000;

/** An edge's keeper of a live account, its clock in hand, and what it says. */
async function keeperOf(organization: TestOrganization, environment: 'live' | 'sandbox' = 'live') {
  const edge = await enrol(cloud, organization[environment]);
  const dataDir = newDirectory();
  const storage = openStorage(dataDir);
  const said: string[] = [];
  const clock = { nowMs: Date.now(), held: true };
  const note = (event: string, facts?: object) => {
    const { reason, seq } = (facts ?? {}) as { reason?: string; seq?: number };
    said.push([event, reason, seq].filter((part) => part !== undefined).join(' '));
  };
  const keeper = new AuditKeeper({
    environment: 'live',
    storage,
    upstream: { signed: edge.client },
    lease: { view: () => ({ held: clock.held }) },
    nowMs: () => clock.nowMs,
    log: { info: note, warn: note, alarm: (event, facts) => note(`ALARM ${event}`, facts), fault: note },
  });
  /** What is said by a look a day later. */
  const look = async () => {
    clock.nowMs += DAY_MS;
    said.length = 0;
    await keeper.look();
    return [...said];
  };
  return { keeper, storage, dataDir, look, clock };
}

const tokens = new Map<string, Promise<string>>();
const tokenOf = ({ id, owner }: TestOrganization): Promise<string> => {
  const token = tokens.get(id) ?? cloud.signIn(owner);
  tokens.set(id, token);
  return token;
};
const entriesOf = async (organization: TestOrganization, count: number) => {
  const client = createClient({ baseUrl: cloud.url, bearer: await tokenOf(organization) });
  for (let at = 0; at < count; at += 1)
    await client.must('mintApiKey', { body: { label: `key ${at}`, environment: 'sandbox' } });
  return client;
};

/** The owner of the schema changes the log behind the triggers. */
const tamper = (statement: (sql: TransactionSql) => Promise<unknown>) =>
  cloud.database.owner.begin(async (sql) => {
    for (const table of ['audit_entry', 'audit_head'])
      await sql.unsafe(`alter table flock.${table} disable trigger user`);
    await statement(sql);
    for (const table of ['audit_entry', 'audit_head'])
      await sql.unsafe(`alter table flock.${table} enable trigger user`);
  });

/** Writes the chain anew from an entry on: what somebody does who has the database. */
const rewrite = (id: string, from: number, change: (text: string) => string) =>
  tamper(async (sql) => {
    const rows = await sql<{ seq: number; text: string }[]>`
      select seq, text from flock.audit_entry where organization_id = ${id} and seq >= ${from} order by seq`;
    for (const { seq, text } of rows)
      await sql`
        update flock.audit_entry e set text = ${change(text)},
               hash = sha256(coalesce((select p.hash from flock.audit_entry p
                        where p.organization_id = ${id} and p.seq = ${seq - 1}), sha256(convert_to(${id}::text, 'UTF8')))
                      || convert_to(${change(text)}::text, 'UTF8'))
         where e.organization_id = ${id} and e.seq = ${seq}`;
    await sql`
      update flock.audit_head h set hash = (select e.hash from flock.audit_entry e
        where e.organization_id = h.organization_id and e.seq = h.seq) where h.organization_id = ${id}`;
  });

test.serial(
  'console U4: the edge keeps the checkpoint of the log once a day, by its own computation, and nothing while it follows',
  async (t) => {
    const organization = await cloud.organization();
    await entriesOf(organization, 2);
    const { keeper, storage, look, clock } = await keeperOf(organization);
    t.deepEqual(await look(), [`audit_checkpoint_kept ${keptAudit(storage)!.checkpoint.seq}`]);
    const first = keptAudit(storage)!.checkpoint;
    await keeper.look();
    t.is(keptAudit(storage)!.checkpoint.at, first.at, 'not again within the day');
    await entriesOf(organization, 2);
    clock.held = false;
    t.deepEqual(await look(), []);
    clock.held = true;
    t.deepEqual(await look(), [`audit_checkpoint_kept ${keptAudit(storage)!.checkpoint.seq}`]);
    t.true(keptAudit(storage)!.checkpoint.seq > first.seq);
    t.deepEqual(
      await look(),
      [`audit_checkpoint_kept ${keptAudit(storage)!.checkpoint.seq}`],
      'without new entries too',
    );
    t.false(keeper.broken);
  },
);

test.serial(
  'console U4: a chain that does not continue the kept checkpoint is an alarm with its entry, for every way of breaking it; what was kept stays',
  async (t) => {
    const breaks: readonly [string, (id: string, seq: number) => Promise<void>][] = [
      // From the kept entry on, a whole chain.
      ['changed', (id, seq) => rewrite(id, seq, (text) => text.replace('"done"', '"failed"'))],
      [
        'changed',
        (id, seq) =>
          tamper(
            (sql) => sql`
      update flock.audit_entry set text = replace(text, 'key', 'kex') where organization_id = ${id} and seq = ${seq + 1}`,
          ),
      ],
      [
        'missing',
        (id, seq) =>
          tamper(
            (sql) => sql`
      delete from flock.audit_entry where organization_id = ${id} and seq = ${seq + 1}`,
          ),
      ],
      [
        'withheld',
        (id, seq) =>
          tamper(
            (sql) => sql`
      update flock.audit_entry set text = null where organization_id = ${id} and seq = ${seq + 1}`,
          ),
      ],
      [
        'cut',
        (id, seq) =>
          tamper(async (sql) => {
            await sql`delete from flock.audit_entry where organization_id = ${id} and seq >= ${seq}`;
            await sql`update flock.audit_head h set seq = ${seq - 1}, hash = (select e.hash from flock.audit_entry e
        where e.organization_id = h.organization_id and e.seq = ${seq - 1}) where h.organization_id = ${id}`;
          }),
      ],
    ];
    for (const [problem, breakIt] of breaks) {
      const organization = await cloud.organization();
      await entriesOf(organization, 2);
      const { keeper, storage, dataDir, look } = await keeperOf(organization);
      await look();
      const { checkpoint } = keptAudit(storage)!;
      await entriesOf(organization, 2);
      await breakIt(organization.id, checkpoint.seq);
      const seq = problem === 'cut' ? checkpoint.seq : checkpoint.seq + 1;
      t.deepEqual(await look(), [`ALARM audit_log_not_continued ${problem} ${seq}`], problem);
      t.true(keeper.broken);
      t.deepEqual(keptAudit(storage)!.checkpoint, checkpoint, 'what was kept stays');
      t.is((await look()).length, 1, 'it is said again while it lasts');
      let out = '',
        err = '';
      const run = (verb: string) =>
        auditCommand(
          [verb, '--data-dir', dataDir],
          {},
          { write: (text) => (out += text) },
          { write: (text) => (err += text) },
        );
      t.is(run('show'), 0);
      t.deepEqual(JSON.parse(out), checkpoint);
      t.true(err.includes(`${problem} at ${seq}`));
      t.is(run('forget'), 0);
      t.is(run('show'), 1);
      t.deepEqual(await look(), [`audit_checkpoint_kept ${keptAudit(storage)!.checkpoint.seq}`], 'begun anew');
    }
  },
);

test.serial('console U4: a log that was rewritten to its very end, with as many entries, is an alarm', async (t) => {
  const organization = await cloud.organization();
  await entriesOf(organization, 2);
  const { storage, look } = await keeperOf(organization);
  await look();
  const { seq } = keptAudit(storage)!.checkpoint;
  await rewrite(organization.id, 1, (text) => text.replace('key 1', 'key x'));
  t.deepEqual(await look(), [`ALARM audit_log_not_continued rewritten ${seq}`]);
});

test.serial(
  'console U4, U5: texts that are past their time prove nothing and are no alarm; a long way goes on with the next look',
  async (t) => {
    const organization = await cloud.organization();
    await entriesOf(organization, 1);
    const { storage, look, clock } = await keeperOf(organization);
    await look();
    await entriesOf(organization, 3);
    await cloud.database.owner`
    select flock.record_audit((select jsonb_agg(jsonb_build_object('organizationId', ${organization.id}::text,
      'actor', '{"kind":"system","id":null}'::jsonb, 'via', 'job', 'action', 'x', 'target', repeat('y', 4000),
      'outcome', 'done', 'changes', null)) from generate_series(1, 1000)))`;
    await tamper(
      (sql) => sql`
    update flock.audit_entry set text = null where organization_id = ${organization.id} and seq < 6`,
    );
    clock.nowMs += 8 * DAY_MS;
    const before = keptAudit(storage)!.walked.seq;
    t.deepEqual(await look(), []);
    t.true(keptAudit(storage)!.walked.seq > before, 'as far as one look reads');
    const last = await look();
    t.deepEqual(last, [`audit_checkpoint_kept ${keptAudit(storage)!.checkpoint.seq}`]);
  },
);

test.serial('console U4: a cloud that withholds the log for three days is an alarm, once', async (t) => {
  const organization = await cloud.organization();
  await entriesOf(organization, 1);
  const { look } = await keeperOf(organization, 'sandbox');
  const refused = 'audit_checkpoint_refused';
  t.deepEqual(await look(), [refused]);
  t.deepEqual(await look(), [refused]);
  t.deepEqual(await look(), [refused, 'ALARM audit_checkpoint_withheld']);
  t.deepEqual(await look(), [refused]);
});

test.serial('console U4: a sandbox edge is told nothing of the log, which holds what people did in live', async (t) => {
  const organization = await cloud.organization();
  const edge = await enrol(cloud, organization.sandbox);
  const answer = await edge.client.call('continueAuditLog', { body: { behind: 0 } });
  t.like(answer, {
    code: 'FORBIDDEN',
    details: { reason: 'only edges of the live environment read the audit log' },
  });
});

test.serial(
  'console U4, U6: `flock audit verify` names where an export does not continue the checkpoint that the edge kept',
  async (t) => {
    const organization = await cloud.organization({ tier: 'ultimate' });
    const client = await entriesOf(organization, 2);
    const { dataDir, storage, look } = await keeperOf(organization);
    await look();
    const { seq } = keptAudit(storage)!.checkpoint;
    let kept = '';
    auditCommand(['show', '--data-dir', dataDir], {}, { write: (text) => (kept += text) }, { write: () => true });
    const directory = newDirectory();
    const at = (name: string) => join(directory, name);
    writeFileSync(at('kept.json'), kept);
    const keys = await client.must('getJwks');
    writeFileSync(at('jwks.json'), JSON.stringify(keys));
    const bearer = await tokenOf(organization);
    const take = async (name: string) => {
      const { text, status } = await raw(cloud.url, 'GET', '/v1/settings/audit-log/export?format=jsonl', {
        headers: { authorization: `Bearer ${bearer}` },
      });
      t.is(status, 200, text);
      writeFileSync(at(name), text);
    };
    const verify = async (name: string) => {
      let out = '';
      const args = ['--file', at(name), '--jwks', at('jwks.json'), '--checkpoint', at('kept.json')];
      const code = await auditVerify(args, { write: (text) => (out += text) }, { write: () => true });
      return { code, ...(JSON.parse(out) as { problems: unknown; signed: boolean }) };
    };
    await take('good.jsonl');
    t.like(await verify('good.jsonl'), { code: 0, signed: true, problems: [] });
    const lines = readFileSync(at('good.jsonl'), 'utf8').trimEnd().split('\n');
    for (const [problem, changed] of [
      ['changed', lines.with(2, lines[2]!.replace('console', 'cansole'))],
      ['missing', lines.toSpliced(2, 1)],
    ] as const) {
      writeFileSync(at('changed.jsonl'), changed.join('\n'));
      t.like(await verify('changed.jsonl'), { code: 1, problems: [{ seq: 2, problem }] });
    }
    await rewrite(organization.id, 1, (text) => text.replace('key 1', 'key x'));
    await take('rewritten.jsonl');
    t.like(await verify('rewritten.jsonl'), { code: 1, signed: true, problems: [{ seq, problem: 'rewritten' }] });
    t.false(isRefusal(await client.call('verifyAuditLog', { body: {} })));
  },
);
