/** Projects of a migration, and files on their way in, over the wire. */
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import test from 'ava';
import { eventually, jsonOf, raw, startTestCloud, type TestAccountKey } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const post = (path: string, { apiKey }: Pick<TestAccountKey, 'apiKey'>, body: object, more = {}) =>
  raw(cloud.url, 'POST', path, { headers: jsonOf(apiKey, more), body: JSON.stringify(body) });
const get = (path: string, { apiKey }: Pick<TestAccountKey, 'apiKey'>) =>
  raw(cloud.url, 'GET', path, { headers: { 'x-api-key': apiKey } });
const CSV = 'address,chain,user ref\n0x52908400098527886E0F7030069857D2E4169EE7,eth,u-1\n';
const digestOf = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

async function opened(key: TestAccountKey, more: object = {}): Promise<{ id: string; put: string }> {
  const { status, json } = await post('/v1/migration/uploads', key, { filename: 'addresses.csv', ...more });
  if (status !== 201) throw new Error(JSON.stringify(json));
  const url = new URL(json.data.uploadUrl);
  return { id: json.data.uploadId, put: `${url.pathname}${url.search}` };
}
const put = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  raw(cloud.url, 'PUT', path, { body, headers });
const complete = (key: TestAccountKey, id: string, body: object = {}) =>
  post(`/v1/migration/uploads/${id}/complete`, key, body);
const chunksOf = async (id: string): Promise<number> =>
  (
    await cloud.database.owner<{ count: number }[]>`select count(*) as count from upload_chunk where upload_id = ${id}`
  )[0]!.count;

test('migration M-O1: §2.12 a project is created once for a key, listed newest first, and nobody else has it', async (t) => {
  const mine = await cloud.organization(),
    { sandbox: other } = await cloud.organization();
  const once = { 'idempotency-key': 'once' };
  const made = await post('/v1/migration/projects', mine.sandbox, { name: 'old wallet' }, once);
  t.is(made.status, 201, JSON.stringify(made.json));
  t.like(made.json.data, { name: 'old wallet', state: 'draft' });
  t.is(
    (await post('/v1/migration/projects', mine.sandbox, { name: 'old wallet' }, once)).json.data.id,
    made.json.data.id,
  );
  await post('/v1/migration/projects', mine.sandbox, { name: 'another' });
  const { json } = await get('/v1/migration/projects', mine.sandbox);
  t.deepEqual(
    json.data.content.map(({ name }: { name: string }) => name),
    ['another', 'old wallet'],
  );
  const capacity = `/v1/migration/projects/${made.json.data.id}/capacity`;
  t.like((await get(capacity, mine.sandbox)).json.data, { band: null, exceeds: false, adopting: 0 });
  t.is((await get(capacity, other)).status, 404);
  t.is((await get(capacity, mine.live)).status, 404);
  t.is((await post('/v1/migration/projects', mine.sandbox, { name: '' })).json.error?.details['field'], 'name');
});

test('migration M-U1, M-U3: a file goes to its URL without a key and is measured; complete repeats its answer', async (t) => {
  const { sandbox, live } = await cloud.organization();
  const { id, put: path } = await opened(sandbox, { bytes: CSV.length, sha256: digestOf(CSV) });
  t.like((await complete(sandbox, id)).json.error, { code: 'IMPORT_NOT_READY', details: { state: 'open' } });
  const answer = await put(path, CSV, { 'content-type': 'text/csv' });
  t.is(answer.status, 200, JSON.stringify(answer.json));
  const measured = { uploadId: id, bytes: CSV.length, sha256: digestOf(CSV), format: 'csv' };
  t.deepEqual(answer.json.data, measured);
  t.is((await complete(live, id)).status, 404, 'the other environment has no such upload');
  t.like((await complete(sandbox, id, { sha256: digestOf('x') })).json.error, {
    code: 'CONFLICT',
    details: { reason: 'digest' },
  });
  t.deepEqual((await complete(sandbox, id)).json.data, measured);
  t.deepEqual((await complete(sandbox, id)).json.data, measured);
  t.is((await put(path, CSV)).json.error?.code, 'CONFLICT', 'what is complete is not replaced');
});

test('migration M-U2, M-U4: a second PUT replaces; one that breaks off leaves nothing', async (t) => {
  const { sandbox } = await cloud.organization();
  const { id, put: path } = await opened(sandbox);
  await put(path, CSV);
  const longer = `${CSV}${'0x52908400098527886E0F7030069857D2E4169EE7,eth,u-2\n'.repeat(20_000)}`;
  t.is((await put(path, longer)).json.data.bytes, longer.length);
  const whole = Math.ceil(longer.length / 262_144);
  t.is(await chunksOf(id), whole);
  const broken = request(`${cloud.url}${path}`, { method: 'PUT', headers: { 'content-length': longer.length } });
  broken.on('error', () => undefined);
  broken.write(longer.slice(0, 600_000));
  await eventually(
    'chunks of a second content',
    () => chunksOf(id),
    (count) => count > whole,
  );
  broken.destroy();
  await eventually(
    'only the first content',
    () => chunksOf(id),
    (count) => count === whole,
  );
  t.is((await complete(sandbox, id)).json.data.sha256, digestOf(longer));
});

test('migration M-U2, M-U5, M-X5, M-T4: A7 what is no text, other media, altered and expired URLs, one byte too many', async (t) => {
  const { sandbox } = await cloud.organization();
  const { id, put: path } = await opened(sandbox);
  const refusal = async (body: string | Buffer, headers = {}, to = path) => {
    const { status, json } = await put(to, body, headers);
    return [status, json.error?.code, json.error?.details['found']];
  };
  t.deepEqual(await refusal(Buffer.from('504b0304140000000000', 'hex')), [415, 'UNSUPPORTED_MEDIA_TYPE', 'zip']);
  t.deepEqual(await refusal(Buffer.from('1f8b', 'hex')), [415, 'UNSUPPORTED_MEDIA_TYPE', 'gzip']);
  t.deepEqual(await refusal(CSV, { 'content-type': 'multipart/form-data; boundary=x' }), [
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    'multipart',
  ]);
  t.deepEqual(await refusal(CSV, { 'content-encoding': 'gzip' }), [415, 'UNSUPPORTED_MEDIA_TYPE', 'gzip']);
  t.deepEqual(await refusal(CSV, {}, path.replace(/expires=(.)/, 'expires=9$1')), [403, 'FORBIDDEN', undefined]);
  t.deepEqual(await refusal(CSV, {}, path.replace(/signature=./, 'signature=')), [403, 'FORBIDDEN', undefined]);
  t.deepEqual(await refusal(CSV, {}, path.replace(/\?.*/, '')), [403, 'FORBIDDEN', undefined]);
  t.is((await put(path.replace(/upl_[a-z2-7]{4}/, 'upl_2222'), CSV)).status, 404);
  t.is(await chunksOf(id), 0);
  // The ceiling is the row's: a small one stands for 256 MiB.
  await cloud.database.owner`update upload set max_bytes = 100 where id = ${id}`;
  t.is((await put(path, CSV)).status, 403, 'the ceiling is signed');
  const { json } = await post('/v1/migration/uploads', sandbox, { filename: 'f', bytes: 268_435_457 });
  t.like(json.error, { code: 'IMPORT_TOO_LARGE', details: { maxBytes: 268_435_456 } });
  await cloud.database.owner`update upload set max_bytes = 268435456, deadline = now() where id = ${id}`;
  t.is((await put(path, CSV)).status, 403);
});

test('migration M-U2, M-X5: A7 the ceiling holds declared and measured', async (t) => {
  const { sandbox } = await cloud.organization();
  const { put: path } = await opened(sandbox);
  const declared = await new Promise<number>((resolve, reject) => {
    const sent = request(`${cloud.url}${path}`, { method: 'PUT', headers: { 'content-length': 268_435_457 } });
    sent.on('response', ({ statusCode }) => {
      resolve(statusCode!);
      sent.destroy();
    });
    sent.on('error', reject);
    sent.flushHeaders();
  });
  t.is(declared, 422);
});

test('migration M-U6: A8 M-T1 a secret stops the file: nothing of it is kept, and the upload takes no other', async (t) => {
  const { sandbox } = await cloud.organization();
  const { id, put: path } = await opened(sandbox);
  const honest = '0x52908400098527886E0F7030069857D2E4169EE7,eth,u-2\n'.repeat(20_000);
  const secret = `${CSV}${honest}L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1,eth,u\n`;
  const { status, json } = await put(path, secret);
  t.deepEqual([status, json.error?.code], [400, 'KEY_MATERIAL_REJECTED']);
  t.is(json.error?.details['line'], 20_003);
  t.is(await chunksOf(id), 0);
  t.is((await put(path, CSV)).json.error?.code, 'CONFLICT');
  t.like((await complete(sandbox, id)).json.error, { code: 'IMPORT_NOT_READY', details: { state: 'rejected' } });
  t.false(cloud.lines.join('').includes('L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1'));
});

test('migration M-U2: four uploads are open at once; a reset of the sandbox takes all of them', async (t) => {
  const { sandbox } = await cloud.organization();
  for (let count = 0; count < 4; count += 1) await opened(sandbox);
  const { json } = await post('/v1/migration/uploads', sandbox, { filename: 'f' });
  t.like(json.error, { code: 'CONFLICT', details: { reason: 'too_many_open_uploads', limit: 4 } });
  await raw(cloud.url, 'DELETE', '/v1/sandbox/reset', { headers: { 'x-api-key': sandbox.apiKey } });
  await opened(sandbox);
  t.pass();
});
