/** Imports with addresses that another account claims, and what administrators decide. Migration M-I7. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { factsOf, networkOf } from '../../chains/registry.ts';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { eventually, jsonOf, raw, startTestCloud, type TestAccountKey } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

type Key = Pick<TestAccountKey, 'apiKey'>;
type Json = Record<string, any>;
const post = (path: string, { apiKey }: Key, body: object = {}, more = {}) =>
  raw(cloud.url, 'POST', path, { headers: jsonOf(apiKey, more), body: JSON.stringify(body) });
const get = (path: string, { apiKey }: Key) => raw(cloud.url, 'GET', path, { headers: { 'x-api-key': apiKey } });
const ok = async (answer: Promise<{ status: number; json: Json }>): Promise<Json> => {
  const { status, json } = await answer;
  if (status >= 300) throw new Error(JSON.stringify(json.error));
  return json.data;
};

/** Addresses that nobody has used. */
function addresses(count: number): string[] {
  return Array.from({ length: count }, () => {
    const read = factsOf('eth').parseAddress(networkOf('eth'), `0x${randomBytes(20).toString('hex')}`);
    if (isRefusal(read)) throw new Error('no address');
    return read.canonical;
  });
}
const csvOf = (list: readonly string[]): string =>
  `address,chain,user ref\n${list.map((address, at) => `${address},eth,u-${at}\n`).join('')}`;

async function project(key: Key): Promise<string> {
  return (await ok(post('/v1/migration/projects', key, { name: 'old wallet' }))).id;
}
async function batch(key: Key, projectId: string, text: string): Promise<string> {
  const { uploadId, uploadUrl } = await ok(post('/v1/migration/uploads', key, { filename: 'f.csv' }));
  const { pathname, search } = new URL(uploadUrl);
  await ok(raw(cloud.url, 'PUT', `${pathname}${search}`, { body: text, headers: {} }));
  await ok(post(`/v1/migration/uploads/${uploadId}/complete`, key));
  return (await ok(post(`/v1/migration/projects/${projectId}/imports`, key, { uploadId }))).id;
}
const validate = (key: Key, id: string) => ok(post(`/v1/migration/imports/${id}/validate`, key));
const commit = (key: Key, id: string, dryRunId: string, more = {}) =>
  post(`/v1/migration/imports/${id}/commit`, key, { dryRunId, ...more });
async function adopted(key: Key, list: readonly string[]): Promise<{ projectId: string; id: string }> {
  const projectId = await project(key),
    id = await batch(key, projectId, csvOf(list));
  const { dryRunId } = await validate(key, id);
  const { state } = await ok(commit(key, id, dryRunId) as never);
  if (state !== 'committed') throw new Error(state);
  return { projectId, id };
}

const staffOf = async () =>
  createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(await cloud.person({ admin: true })) });

/** A batch of which another account has `claimed`. */
async function inConflict(own: readonly string[], claimed: readonly string[]) {
  const { sandbox } = await cloud.organization(),
    { sandbox: other } = await cloud.organization();
  const theirs = await adopted(other, claimed);
  const id = await batch(sandbox, await project(sandbox), csvOf([...own, ...claimed]));
  const report = await validate(sandbox, id);
  const { review } = await ok(get(`/v1/migration/imports/${id}`, sandbox));
  return { sandbox, other, theirs, id, report, review, reviewId: review.reviewId as string };
}

test('migration M-I7: an administrator sees both sides of a conflict and lets the batch go on without the claimed rows', async (t) => {
  const own = addresses(3),
    claimed = addresses(2);
  const { sandbox, other, theirs, id, report, review, reviewId } = await inConflict(own, claimed);
  t.like(report, { state: 'conflict', conflicts: 2 });
  t.like(review, { state: 'open' });
  const refused = (await commit(sandbox, id, report['dryRunId'])).json.error;
  t.like(refused, { code: 'ADDRESS_CONFLICT', details: { count: 2, reviewId } });
  t.like((await post(`/v1/migration/imports/${id}/validate`, sandbox)).json.error, {
    code: 'IMPORT_NOT_READY',
    details: { state: 'conflict' },
  });

  const staff = await staffOf();
  const { content } = await staff.must('listImportConflicts', { query: { size: '200' } });
  t.like(
    content.find((one) => one.reviewId === reviewId)!,
    { state: 'open', batchId: id, conflicts: 2, adoptable: 3 },
  );
  const first = await staff.must('getImportConflict', { params: { reviewId }, query: { size: '1' } });
  const rest = await staff.must('getImportConflict', {
    params: { reviewId },
    query: { size: '1', after: first.next! },
  });
  t.is(rest.next, null);
  t.like(
    [...first.claims, ...rest.claims],
    [
      { line: 5, address: claimed[0]!, claimedBy: other.accountId, adoptedBy: theirs.id, isUsed: false },
      { line: 6, address: claimed[1]!, claimedBy: other.accountId, adoptedBy: theirs.id, isUsed: false },
    ],
  );

  const resolve = (decision: 'drop_rows' | 'refuse') =>
    staff.call('resolveImportConflict', { params: { reviewId }, body: { decision } });
  t.like(await resolve('drop_rows'), { state: 'dropped', reviewId });
  t.like(await resolve('refuse'), { code: 'CONFLICT', details: { reason: 'state', status: 'dropped' } });
  const { state, review: decided } = await ok(get(`/v1/migration/imports/${id}`, sandbox));
  t.deepEqual([state, decided], ['created', { reviewId, state: 'dropped' }]);
  const again = await validate(sandbox, id);
  t.like(again, { state: 'valid', adoptable: 3, skipped: 2, conflicts: 0 });
  t.like(again['byPhase'].uniqueness, { state: 'passed', codes: { dropped_by_review: 2 } });
  t.deepEqual(
    again['issues'].filter(({ code }: Json) => code === 'dropped_by_review'),
    [],
    'a number and no line',
  );
  t.is((await ok(commit(sandbox, id, again['dryRunId']) as never))['state'], 'committed');
  t.is((await ok(get('/v1/addresses', sandbox)))['totalElements'], 3);
  t.is((await ok(get('/v1/addresses', other)))['totalElements'], 2, 'who had them has them');
});

test('migration M-I7: a batch that is refused stays a conflict, and one whose claim came at the commit is reviewed too', async (t) => {
  const { sandbox, id, report, reviewId } = await inConflict(addresses(1), addresses(1));
  const staff = await staffOf();
  const resolve = (of: string) =>
    staff.call('resolveImportConflict', { params: { reviewId: of }, body: { decision: 'refuse' } });
  t.like(await resolve(reviewId), { state: 'refused' });
  t.like((await commit(sandbox, id, report['dryRunId'])).json.error, { code: 'ADDRESS_CONFLICT' });
  t.like((await post(`/v1/migration/imports/${id}/validate`, sandbox)).json.error, { code: 'IMPORT_NOT_READY' });
  t.like(await resolve(`rvw_${'a'.repeat(26)}`), { code: 'NOT_FOUND' });
  t.like(await staff.call('getImportConflict', { params: { reviewId: `rvw_${'a'.repeat(26)}` } }), {
    code: 'NOT_FOUND',
  });
  const wrong = await staff.call('resolveImportConflict', {
    params: { reviewId },
    body: { decision: 'transfer' as never },
  });
  t.like(wrong, { code: 'INVALID_INPUT' });

  const { sandbox: other } = await cloud.organization();
  const [late] = addresses(1) as [string];
  const second = await batch(sandbox, await project(sandbox), csvOf([late]));
  const { dryRunId } = await validate(sandbox, second);
  await adopted(other, [late]);
  const { json } = await commit(sandbox, second, dryRunId);
  t.like(json.error?.details, { count: 1, reviewId: `rvw${second.slice(3)}` });
  const seen = await staff.must('getImportConflict', { params: { reviewId: `rvw${second.slice(3)}` } });
  t.like(seen, { state: 'open', conflicts: 1, claims: [{ address: late, claimedBy: other.accountId }] });
});

test('migration M-S2, M-I7: what a lever of the sandbox put back has no review, and another claim opens one again', async (t) => {
  const { sandbox } = await cloud.organization();
  const projectId = await project(sandbox),
    id = await batch(sandbox, projectId, csvOf(addresses(2)));
  await validate(sandbox, id);
  const lever = (body: object) =>
    ok(post(`/v1/sandbox/migration/projects/${projectId}/simulate-conflict`, sandbox, body) as never);
  const reviewOf = async () => (await ok(get(`/v1/migration/imports/${id}`, sandbox)))['review'] as Json | null;
  await lever({});
  t.is((await validate(sandbox, id))['state'], 'conflict');
  const review = (await reviewOf())!;
  t.is(review['state'], 'open');
  const staff = await staffOf();
  const { claims } = await staff.must('getImportConflict', { params: { reviewId: review['reviewId'] } });
  t.like(claims, [{ claimedBy: null, claimedAt: null, adoptedBy: null, isUsed: false }]);
  await lever({ clear: true });
  t.is(await reviewOf(), null);
  await validate(sandbox, id);
  await lever({});
  await validate(sandbox, id);
  t.is((await reviewOf())!['state'], 'open');
});

test('migration M-I7, M-T3: after three conflicts of a live account the next import waits until they are decided on', async (t) => {
  const { live } = await cloud.organization({ tier: 'premium', band: 'launch' });
  const projectId = await project(live);
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) ids.push(await batch(live, projectId, csvOf(addresses(1))));
  const [next, ...met] = ids as [string, ...string[]];
  const asked = () => post(`/v1/migration/imports/${next}/validate`, live);
  for (const id of met) {
    t.is((await asked()).status, 200, `after ${met.indexOf(id)}`);
    await cloud.database.owner`
      insert into flock.import_review (account_id, batch_id, id, conflicts)
        values (${live.accountId}, ${id}, ${`rvw${id.slice(3)}`}, 1)`;
  }
  const { json } = await asked();
  t.like(json.error, { code: 'CONFLICT', details: { reason: 'review_waits' } });
  t.true(json.error?.message.includes(`rvw${met[0]!.slice(3)}`));
  await cloud.database.owner`
    update flock.import_review set state = 'refused', decided_at = now(), decided_by = 'usr_x'
     where account_id = ${live.accountId}`;
  t.is((await asked()).status, 200);
});

test('migration M-I7: conflicts are listed by state, page by page, and by nobody but administrators', async (t) => {
  const staff = await staffOf();
  const made = [await inConflict(addresses(1), addresses(1)), await inConflict(addresses(1), addresses(1))];
  const ids = made.map(({ reviewId }) => reviewId);
  const found: string[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: ReplyOf<'listImportConflicts'> = await staff.must('listImportConflicts', {
      query: { size: '1', ...(after === '' ? {} : { after }) },
    });
    found.push(...page.content.map(({ reviewId }) => reviewId));
    after = page.next;
  }
  t.deepEqual(
    found.filter((id) => ids.includes(id)),
    ids,
  );
  await staff.must('resolveImportConflict', { params: { reviewId: ids[0]! }, body: { decision: 'refuse' } });
  const { content } = await staff.must('listImportConflicts', { query: { state: 'refused', size: '200' } });
  t.true(content.some(({ reviewId }) => reviewId === ids[0]));
  const log = await cloud.database.owner<{ action: string }[]>`
    select action from flock.audit_entry where target = ${ids[0]!}`;
  t.deepEqual(
    log.map(({ action }) => action),
    ['resolveImportConflict'],
  );
  const { client } = made[0]!.sandbox as TestAccountKey;
  t.like(await client.call('listImportConflicts' as never), { code: 'UNAUTHORIZED' });
});

test('migration M-I7: what was dropped stays shown, and a claim that is lost in the fill after that has a review that shows it', async (t) => {
  const own = addresses(8),
    claimed = addresses(2);
  const { sandbox, other, id, reviewId } = await inConflict(own, claimed);
  const staff = await staffOf();
  const review = async () => staff.must('getImportConflict', { params: { reviewId } });
  await staff.must('resolveImportConflict', { params: { reviewId }, body: { decision: 'drop_rows' } });
  await validate(sandbox, id);
  const claimsOf = async () => (await review()).claims.map(({ address }) => address);
  t.deepEqual(await claimsOf(), claimed);
  const { owner } = cloud.database;
  await owner`update import_batch set state = 'committing', heights = '{"eth": 0}', worked_until = now() + interval '1 hour' where id = ${id}`;
  await owner`select fill_import(${sandbox.accountId}, ${id}, 5)`;
  await adopted(other, [own[7]!]);
  await owner`update import_batch set worked_until = now() where id = ${id}`;
  await eventually(
    'the batch waits for a person',
    () => ok(get(`/v1/migration/imports/${id}`, sandbox)),
    ({ state }) => state === 'conflict',
  );
  t.like(await review(), { state: 'open', conflicts: 3 });
  t.deepEqual(await claimsOf(), [own[7]!, ...claimed]);
});

test('migration M-T3: imports that are checked at once tell no more of other tenants than three one after the other', async (t) => {
  const { live: other } = await cloud.organization({ tier: 'premium', band: 'launch' });
  const { live } = await cloud.organization({ tier: 'premium', band: 'launch' });
  const list = addresses(8);
  await adopted(other, list);
  const projectId = await project(live);
  const ids: string[] = [];
  for (const address of list) ids.push(await batch(live, projectId, csvOf([address])));
  const answers = await Promise.all(ids.map((id) => post(`/v1/migration/imports/${id}/validate`, live)));
  const told = answers.filter(({ status }) => status === 200);
  t.is(told.length, 3);
  for (const { json, status } of answers)
    if (status !== 200) t.like(json.error, { code: 'CONFLICT', details: { reason: 'review_waits' } });
  const again = await post(`/v1/migration/imports/${ids.at(-1)!}/validate`, live);
  t.like(again.json.error, { code: again.json.error.details?.state === 'conflict' ? 'IMPORT_NOT_READY' : 'CONFLICT' });
});

test('migration M-I7: a decision is not there without its entry of the audit log, and the other way round', async (t) => {
  const { id, reviewId } = await inConflict(addresses(1), addresses(1));
  const staff = await staffOf(),
    { owner } = cloud.database;
  await owner.unsafe(`
    create trigger no_entry before insert on flock.audit_entry for each row
      when (new.text like '%${reviewId}%') execute function flock.refuse('no_entry')`);
  const refused = await staff.call('resolveImportConflict', { params: { reviewId }, body: { decision: 'drop_rows' } });
  t.true('code' in refused);
  t.is((await staff.must('getImportConflict', { params: { reviewId } })).state, 'open');
  t.is((await owner`select state from flock.import_batch where id = ${id}`)[0]!['state'], 'conflict');
  await owner`drop trigger no_entry on flock.audit_entry`;
  await staff.must('resolveImportConflict', { params: { reviewId }, body: { decision: 'drop_rows' } });
  t.is((await owner`select from flock.audit_entry where target = ${reviewId}`).length, 1);
});
