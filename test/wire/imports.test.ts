/** Imports over the wire, from file to cutover and back. */
import { randomBytes, randomUUID } from 'node:crypto';
import test from 'ava';
import { factsOf, networkOf } from '../../chains/registry.ts';
import { createWatchStore } from '../../persistence/postgres/watch-store.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import { newId } from '../../protocol/node/ids.ts';
import { createImportStore } from '../../persistence/postgres/import-store.ts';
import {
  eventually,
  codeOf,
  jsonOf,
  newEvmKey,
  raw,
  startTestCloud,
  testEdge,
  type TestAccountKey,
} from '../support/gateway.ts';

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
const observe = (key: Key, id: string) => ok(get(`/v1/migration/projects/${id}/observe`, key));
async function adopted(key: Key, list: readonly string[]): Promise<{ projectId: string; id: string }> {
  const projectId = await project(key),
    id = await batch(key, projectId, csvOf(list));
  const { dryRunId } = await validate(key, id);
  const { state } = await ok(commit(key, id, dryRunId) as never);
  if (state !== 'committed') throw new Error(state);
  return { projectId, id };
}
const deposit = (key: Key, address: string, more = {}) =>
  ok(
    post('/v1/sandbox/simulate-deposit', key, {
      chain: 'eth',
      address,
      amount: '1',
      autoConfirm: true,
      ...more,
    }) as never,
  );
const eventsOf = async (accountId: string): Promise<string[]> =>
  (
    await cloud.database.owner<{ event: string }[]>`
      select event from publication where account_id = ${accountId} order by seq`
  ).map(({ event }) => event);

test('migration M-I1, M-I2, M-I3, M-I4, M-I9: a file is validated in seven phases, each run with a dry run of its own', async (t) => {
  const { sandbox } = await cloud.organization();
  const [first, second] = addresses(2) as [string, string];
  const id = await batch(
    sandbox,
    await project(sandbox),
    `${csvOf([first, second])}${first},eth,u-0\n${first.toLowerCase()},bsc,\n`,
  );
  t.is((await get(`/v1/migration/imports/${id}/dry-run`, sandbox)).json.error?.code, 'IMPORT_NOT_READY');
  t.like((await commit(sandbox, id, 'dry_x')).json.error, { code: 'IMPORT_NOT_READY', details: { state: 'created' } });
  const report = await validate(sandbox, id);
  t.like(report, { state: 'valid', rows: 4, adoptable: 2, skipped: 2, spendable: 0, watchOnly: 2, conflicts: 0 });
  t.deepEqual(Object.keys(report['byPhase']), [
    'parse',
    'schema',
    'chain_format',
    'derivation',
    'uniqueness',
    'spendability',
    'projection',
  ]);
  t.deepEqual(report['byPhase'].uniqueness, {
    state: 'passed',
    rows: 4,
    passed: 2,
    skipped: 2,
    warnings: 0,
    errors: 0,
    codes: { duplicate: 1, same_address_other_network: 1 },
  });
  t.like(report['byPhase'].spendability, { rows: 2, codes: { no_key: 2 } });
  for (const { rows, passed, skipped, errors } of Object.values(report['byPhase'] as Json))
    t.is(rows, passed + skipped + errors);
  const again = await validate(sandbox, id);
  t.not(again['dryRunId'], report['dryRunId']);
  t.like((await commit(sandbox, id, report['dryRunId'])).json.error, {
    code: 'DRY_RUN_STALE',
    details: { current: again['dryRunId'] },
  });
  t.is((await get(`/v1/migration/imports/${id}/dry-run`, sandbox)).json.data.dryRunId, again['dryRunId']);
  const issues = await ok(get(`/v1/migration/imports/${id}/issues?size=3`, sandbox));
  t.is(issues['content'].length, 3);
  const { sandbox: other } = await cloud.organization();
  t.is((await get(`/v1/migration/imports/${id}/dry-run`, other)).status, 404);
});

test('migration M-I4, M-I5: A10 what is wrong with a row is named by phase, code and line', async (t) => {
  const { sandbox } = await cloud.organization();
  const [good, wrongCase] = addresses(2) as [string, string];
  const flipped = wrongCase.replace(/[a-fA-F]/, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  const text = [
    'address,chain,user ref',
    `${good},eth,u`,
    `${flipped},eth,u`,
    ',eth,u',
    `${good},doge,u`,
    `${good},usdt,u`,
    '0x0000000000000000000000000000000000000000,eth,u',
    'nothing,eth,u',
    `${good},eth,1.2E+11`,
    `${good},eth,other`,
  ].join('\n');
  const id = await batch(sandbox, await project(sandbox), `${text}\n`);
  const report = await validate(sandbox, id);
  t.is(report['state'], 'invalid');
  t.like(report['byPhase'].schema.codes, {
    missing_address: 1,
    INVALID_CHAIN: 1,
    chain_ambiguous: 1,
    user_ref_rounded: 1,
  });
  t.like(report['byPhase'].chain_format.codes, { INVALID_ADDRESS: 2, eip55_case: 1 });
  t.like(report['byPhase'].uniqueness, { state: 'failed', codes: { duplicate_differs: 1 } });
  t.like(
    (report['issues'] as Json[]).find(({ code }) => code === 'missing_address'),
    { phase: 'schema', severity: 'error', line: 4, field: 'address' },
  );
  t.like((await commit(sandbox, id, report['dryRunId'])).json.error, {
    code: 'IMPORT_NOT_READY',
    details: { state: 'invalid' },
  });
});

test('migration M-I11, M-I13, M-I14, M-O1, M-O2, M-O3: observed deposits are recorded and told to nobody; withdrawals are refused', async (t) => {
  const { sandbox } = await cloud.organization();
  const list = addresses(3);
  await deposit(sandbox, list[0]!).catch(() => null);
  const { projectId, id } = await adopted(sandbox, list);
  const listed = await ok(get('/v1/addresses', sandbox));
  t.is(listed['totalElements'], 3);
  t.like(listed['content'][0], { projectId, batchId: id, mode: 'observe', derivationPath: null, status: 'active' });
  t.false(listed['content'][0].spendable, 'nobody has its key');
  t.is((await ok(get(`/v1/addresses?userRef=u-1`, sandbox)))['content'][0].address, list[1]);
  t.is((await get('/v1/migration/projects', sandbox)).json.data.content[0].state, 'observe');
  await deposit(sandbox, list[0]!);
  const observed = await observe(sandbox, projectId);
  t.like(observed, { state: 'observe', addresses: 3, depositsObserved: 1, historicalRecorded: 0, caughtUp: true });
  t.deepEqual(await eventsOf(sandbox.accountId), []);
  t.is((await ok(get('/v1/transactions', sandbox)))['totalElements'], 1);
  const build = await post('/v1/transactions/unsigned', sandbox, {
    chain: 'eth',
    from: list[0],
    to: list[1],
    amount: '1',
  });
  t.like(build.json.error, { code: 'ADDRESS_IN_OBSERVE_MODE', details: { projectId } });
});

test('migration M-O4, M-O5, M-O6, M-I1: A16 the cutover announces what comes after it and nothing from before; back again at once', async (t) => {
  const mine = await cloud.organization();
  const { sandbox } = mine;
  const [address] = addresses(1) as [string];
  const { projectId } = await adopted(sandbox, [address]);
  await deposit(sandbox, address);
  const straddling = await deposit(sandbox, address, { autoConfirm: false });
  const token = await cloud.signIn(mine.owner);
  const cut = (to: string, body: object = {}) =>
    raw(cloud.url, 'POST', `/v1/migration/projects/${projectId}/${to}`, {
      headers: { authorization: `Bearer ${token}`, 'x-environment': 'sandbox', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  t.is((await post(`/v1/migration/projects/${projectId}/activate`, sandbox)).status, 401);
  const active = await cut('activate', { totp: codeOf(mine.owner, 1) });
  t.is(active.status, 200, JSON.stringify(active.json));
  t.is(active.json.data.state, 'active');
  t.is((await cut('activate')).json.data.state, 'active', 'again it answers the same');
  t.deepEqual(await eventsOf(sandbox.accountId), []);
  await ok(
    post('/v1/sandbox/simulate-confirmation', sandbox, {
      chain: 'eth',
      txid: straddling['txid'],
      confirmations: 12,
    }) as never,
  );
  t.deepEqual(await eventsOf(sandbox.accountId), [], 'what was seen before is silent to its end');
  await deposit(sandbox, address);
  t.deepEqual(await eventsOf(sandbox.accountId), ['deposit_detected', 'deposit_confirmed']);
  const build = await post('/v1/transactions/unsigned', sandbox, {
    chain: 'eth',
    from: address,
    to: address,
    amount: '1',
  });
  t.is(build.json.error?.code, 'ADDRESS_WATCH_ONLY');
  const late = await batch(sandbox, projectId, csvOf(addresses(1)));
  const { dryRunId } = await validate(sandbox, late);
  t.like((await commit(sandbox, late, dryRunId)).json.error, {
    code: 'IMPORT_NOT_READY',
    details: { reason: 'project_active' },
  });
  t.is((await cut('deactivate')).json.data.state, 'observe');
  t.is((await cut('deactivate')).json.data.state, 'observe');
  await deposit(sandbox, address);
  t.deepEqual(await eventsOf(sandbox.accountId), ['deposit_detected', 'deposit_confirmed']);
  t.like(await observe(sandbox, projectId), { depositsObserved: 3 });
});

test('migration M-R1, M-R2, M-R3: A17 a batch is taken back within 72 hours and before any transaction; its addresses are free again', async (t) => {
  const { sandbox } = await cloud.organization();
  const list = addresses(2);
  const { projectId, id } = await adopted(sandbox, list);
  const back = () => post(`/v1/migration/imports/${id}/rollback`, sandbox);
  await cloud.database.owner`update import_batch set committed_at = now() - interval '73 hours' where id = ${id}`;
  t.like((await back()).json.error, { code: 'ROLLBACK_WINDOW_CLOSED', details: { reason: 'age' } });
  await cloud.database.owner`update import_batch set committed_at = now() where id = ${id}`;
  t.is((await back()).json.data.state, 'rolled_back');
  t.is((await ok(get('/v1/addresses', sandbox)))['totalElements'], 0);
  t.like((await back()).json.error, { code: 'IMPORT_NOT_READY', details: { state: 'rolled_back' } });
  t.is(
    (await post('/v1/sandbox/simulate-deposit', sandbox, { chain: 'eth', address: list[0], amount: '1' })).status,
    404,
  );
  // Somebody else takes one of them meanwhile: the whole batch waits for a person.
  const { sandbox: other } = await cloud.organization();
  await adopted(other, [list[0]!]);
  t.like(await validate(sandbox, id), { state: 'conflict', conflicts: 1 });
  const again = await adopted(sandbox, [list[1]!]);
  await deposit(sandbox, list[1]!);
  t.like((await post(`/v1/migration/imports/${again.id}/rollback`, sandbox)).json.error, {
    code: 'ROLLBACK_WINDOW_CLOSED',
    details: { reason: 'transaction' },
  });
  t.like(await observe(sandbox, projectId), { addresses: 0 });
});

test('migration M-I7, M-I10: A12 an address that another account claims stops the whole batch: a number and no line', async (t) => {
  const { sandbox } = await cloud.organization(),
    { sandbox: other } = await cloud.organization();
  const [shared, own] = addresses(2) as [string, string];
  await adopted(other, [shared]);
  const id = await batch(sandbox, await project(sandbox), csvOf([own, shared]));
  const report = await validate(sandbox, id);
  t.like(report, { state: 'conflict', conflicts: 1 });
  t.like(report['byPhase'].uniqueness, { state: 'failed', codes: { ADDRESS_CONFLICT: 1 } });
  t.false(JSON.stringify(report['issues']).includes('ADDRESS_CONFLICT'));
  const { status, json } = await commit(sandbox, id, report['dryRunId']);
  t.deepEqual([status, json.error?.code, json.error?.details['count']], [409, 'ADDRESS_CONFLICT', 1]);
  t.is((await ok(get('/v1/addresses', sandbox)))['totalElements'], 0);
  // One that is claimed between validation and commit.
  const [next] = addresses(1) as [string];
  const late = await batch(sandbox, await project(sandbox), csvOf([next]));
  const { dryRunId } = await validate(sandbox, late);
  await adopted(other, [next]);
  t.is((await commit(sandbox, late, dryRunId)).json.error?.code, 'ADDRESS_CONFLICT');
  t.is((await get(`/v1/migration/imports/${late}`, sandbox)).json.data.state, 'conflict');
});

test('migration M-I12: A14 a chain without a height refuses the commit, and the same dry run commits when it is back', async (t) => {
  const { sandbox } = await cloud.organization();
  const id = await batch(sandbox, await project(sandbox), csvOf(addresses(2)));
  const { dryRunId } = await validate(sandbox, id);
  await ok(post('/v1/sandbox/simulate-chain-down', sandbox, { chain: 'polygon', seconds: 60 }) as never);
  const down = await commit(sandbox, id, dryRunId);
  t.like(down.json.error, { code: 'CHAIN_UNAVAILABLE', details: { chain: 'polygon' } });
  t.is((await get(`/v1/migration/imports/${id}`, sandbox)).json.data.state, 'valid');
  t.is((await ok(get('/v1/addresses', sandbox)))['totalElements'], 0);
  await ok(post('/v1/sandbox/simulate-chain-down', sandbox, { chain: 'polygon', seconds: 0 }) as never);
  const { json } = await commit(sandbox, id, dryRunId);
  t.is(json.data?.state, 'committed', JSON.stringify(json.error));
  t.deepEqual(Object.keys(json.data.heights).sort(), ['avax', 'base', 'bsc', 'eth', 'polygon']);
});

test('migration M-I8, M-I9, M-T8: A19 a live account passes its band only with an owner who accepts it; Free imports nothing', async (t) => {
  const mine = await cloud.organization({ tier: 'premium', band: 'launch' });
  const { live } = mine;
  const id = await batch(live, await project(live), csvOf(addresses(1_001)));
  const report = await validate(live, id);
  t.like(report, { state: 'valid', adoptable: 1_001 });
  t.like(report['projection'], { exceeds: true, requiredBand: 'growth', projected: 1_001 });
  t.like((await commit(live, id, report['dryRunId'])).json.error, {
    code: 'ADDRESS_LIMIT_EXCEEDED',
    details: { band: 'launch', limit: 1_000, current: 0, projected: 1_001, requiredBand: 'growth' },
  });
  t.is((await commit(live, id, report['dryRunId'], { acceptBillingChange: true })).json.error?.code, 'FORBIDDEN');
  const free = await cloud.organization({ tier: 'free' });
  const none = await batch(free.live, await project(free.live), csvOf(addresses(1)));
  const { dryRunId } = await validate(free.live, none);
  t.is((await commit(free.live, none, dryRunId)).json.error?.code, 'TIER_FEATURE_LOCKED');
});

test('migration M-E1, M-E4, payments S18: reconciliation names each address once, with its counts, what a restored wallet needs, and where it ends', async (t) => {
  const { sandbox } = await cloud.organization();
  const list = addresses(2);
  const { projectId, id } = await adopted(sandbox, list);
  await deposit(sandbox, list[0]!);
  const answer = await fetch(`${cloud.url}/v1/migration/projects/${projectId}/reconciliation`, {
    headers: { 'x-api-key': sandbox.apiKey },
  });
  t.is(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
  const [head, ...lines] = (await answer.text()).trim().split('\n'),
    [needed, end] = lines.splice(-2);
  t.is(needed, '# gap limit of a restored wallet, evm: 20', 'adopted ones are of no index of this phrase');
  t.is(
    head,
    'address,chain,derivation_path,user_ref,tag,label,spendable,reason,key_source,batch,recorded_height,deposits_observed,historical_recorded,straddling',
  );
  t.deepEqual(
    lines.sort(),
    [`${list[0]},eth,,u-0,,,false,no_key,,${id},0,1,0,0`, `${list[1]},eth,,u-1,,,false,no_key,,${id},0,0,0,0`].sort(),
  );
  t.is(end, '# end, 2 rows');
});

test('migration M-E2, M-E3, M-E4: A18 an export is imported again as it was; what a format cannot say is refused by its plan', async (t) => {
  const { sandbox } = await cloud.organization(),
    { sandbox: other } = await cloud.organization();
  const list = addresses(2);
  const { projectId, id } = await adopted(sandbox, list);
  await ok(post(`/v1/migration/imports/${id}/rollback`, sandbox));
  const text = `address,chain,user ref,tag,label\n${list[0]},eth,'=1+1,"a ""b"", c",-12\n${list[1]},eth,,,\n`;
  const mine = await batch(sandbox, projectId, text);
  const { dryRunId } = await validate(sandbox, mine);
  await ok(commit(sandbox, mine, dryRunId) as never);
  const exported = (query = '', key = sandbox) =>
    fetch(`${cloud.url}/v1/migration/projects/${projectId}/export${query}`, { headers: { 'x-api-key': key.apiKey } });
  const answer = await exported();
  t.is(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
  const csv = await answer.text();
  t.deepEqual(
    csv.trim().split('\n').toSorted(),
    [
      'address,chain,derivation_path,user_ref,tag,label',
      `${list[0]},eth,,'=1+1,"a ""b"", c",'-12`,
      `${list[1]},eth,,,,`,
      '# end, 2 rows',
    ].toSorted(),
  );
  const lines = await exported('?format=jsonl');
  t.is(lines.headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
  const jsonl = await lines.text();
  t.true(jsonl.includes(`{"address":"${list[1]}","chain":"eth"}\n`));
  const plan = async (format: string) =>
    ok(get(`/v1/migration/projects/${projectId}/export/plan?format=${format}`, sandbox));
  const all = { projectId, rows: 2, expressible: 2, inexpressible: [], loses: [] };
  t.deepEqual(await plan('Csv'), { ...all, format: 'CSV', bytes: Buffer.byteLength(csv) });
  t.deepEqual(await plan('jsonl'), { ...all, format: 'JSONL', bytes: Buffer.byteLength(jsonl) });
  t.is((await exported('?format=xlsx')).status, 400);
  t.is((await exported('', other)).status, 404);
  t.is((await get(`/v1/migration/projects/${projectId}/export/plan`, other)).status, 404);
  // Another account reads the files as they are, and exports the same.
  await ok(post(`/v1/migration/imports/${mine}/rollback`, sandbox));
  for (const file of [csv, jsonl]) {
    const there = await project(other),
      again = await batch(other, there, file);
    const report = await validate(other, again);
    t.like(report, { state: 'valid', rows: 2, adoptable: 2 });
    await ok(commit(other, again, report['dryRunId']) as never);
    const copy = await fetch(`${cloud.url}/v1/migration/projects/${there}/export`, {
      headers: { 'x-api-key': other.apiKey },
    });
    t.deepEqual((await copy.text()).split('\n').toSorted(), csv.split('\n').toSorted());
    await ok(post(`/v1/migration/imports/${again}/rollback`, other));
  }
});

test('migration M-E2, M-K8: descriptors and key-value blocks show whole keys: to an owner in person alone, and only where they say all', async (t) => {
  const mine = await cloud.organization(),
    { sandbox } = mine,
    edge = testEdge(cloud, sandbox.apiKey),
    key = newEvmKey();
  const { xpub, accountPath } = key;
  await edge.client.must('syncEdge', {
    body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId, keys: [key], pools: [] },
  });
  const rows = [9, 2, 1].map((index) => {
    const { derivation } = factsOf('eth');
    if (derivation.kind !== 'xpub') throw new Error('no extended key');
    return `${derivation.deriveAddress(networkOf('eth'), xpub, 0, index).address},eth,u-${index},${accountPath}/0/${index}\n`;
  });
  const projectId = await project(sandbox);
  async function adopt(text: string): Promise<string> {
    const id = await batch(sandbox, projectId, text);
    const { dryRunId } = await validate(sandbox, id);
    await ok(commit(sandbox, id, dryRunId) as never);
    return id;
  }
  await adopt(`address,chain,user ref,path\n${rows.join('')}`);
  const path = `/v1/migration/projects/${projectId}/export`;
  const asked = (format: string, token: string | null) =>
    fetch(`${cloud.url}${path}?format=${format}`, {
      headers:
        token === null
          ? { 'x-api-key': sandbox.apiKey }
          : { authorization: `Bearer ${token}`, 'x-environment': 'sandbox' },
    });
  const refusal = async (answer: Response) => ((await answer.json()) as Json)['error'] as Json;
  const [editor, unproven] = await Promise.all(
    [
      { role: 'editor' as const, totp: true },
      { role: 'owner' as const, totp: false },
    ].map(async ({ role, totp }) => {
      const person = await cloud.person({ totp });
      await cloud.join(person, mine, role);
      return cloud.signIn(person, { organizationId: mine.id });
    }),
  );
  t.is((await refusal(await asked('KEY_VALUE', null))).code, 'UNAUTHORIZED');
  t.like(await refusal(await asked('KEY_VALUE', editor!)), { code: 'FORBIDDEN', details: { needs: 'owner' } });
  t.is((await refusal(await asked('KEY_VALUE', unproven!))).code, 'TOTP_REQUIRED');
  const fresh = await cloud.signIn(mine.owner);
  const plan = (format: string) => ok(get(`${path}/plan?format=${format}`, sandbox));
  t.like(await plan('DESCRIPTORS'), { rows: 3, expressible: 0, inexpressible: [{ reason: 'chain', count: 3 }] });
  t.like(await refusal(await asked('DESCRIPTORS', fresh)), {
    code: 'CONFLICT',
    details: { reason: 'not_expressible', inexpressible: [{ reason: 'chain', count: 3 }] },
  });
  const answer = await asked('key_value', fresh);
  t.is(answer.status, 200);
  const text = await answer.text();
  const block = (range: string) => `chain: eth\nxpub: ${xpub}\npath: ${accountPath}\nrange: ${range}\nbranch: 0\n\n`;
  t.is(text, `${block('1-2')}${block('9-9')}# end, 3 rows\n`);
  t.deepEqual(await plan('KEY_VALUE'), {
    projectId,
    format: 'KEY_VALUE',
    rows: 3,
    expressible: 3,
    inexpressible: [],
    loses: ['user_ref'],
    bytes: Buffer.byteLength(text),
  });
  const { derivationPath } = await ok(post('/v1/addresses', sandbox, { chain: 'eth', userRef: 'new' }));
  t.is(derivationPath, `${accountPath}/0/10`, 'the next index is above the highest that was adopted');
  // One address that nobody has derived, and the file could not say all.
  await adopt(csvOf(addresses(1)));
  t.like(await refusal(await asked('KEY_VALUE', fresh)), {
    code: 'CONFLICT',
    details: { reason: 'not_expressible', inexpressible: [{ reason: 'untraced', count: 1 }] },
  });
  const noted = await cloud.database.owner`
    select text::jsonb -> 'changes' as changes from audit_entry where action = 'exportProject' and target = ${projectId}`;
  t.deepEqual([...noted], [{ changes: { format: [null, 'KEY_VALUE'] } }]);
});

test('migration M-I13, M-I14, M-I15: A13 a commit that its node left is taken up from where it was; nothing is visible before its end', async (t) => {
  const { sandbox } = await cloud.organization();
  const list = addresses(12);
  const projectId = await project(sandbox),
    id = await batch(sandbox, projectId, csvOf(list));
  await validate(sandbox, id);
  // What a node leaves that is killed behind its reservation, in the middle of the fill.
  const { owner } = cloud.database;
  await owner`update import_batch set state = 'committing', heights = '{"eth": 0}', worked_until = now() + interval '1 hour' where id = ${id}`;
  t.is((await owner`select fill_import(${sandbox.accountId}, ${id}, 5) as outcome`)[0]!['outcome'], 'filling');
  t.is((await owner`select count(*) as count from address where batch_id = ${id}`)[0]!['count'], 5);
  t.is((await ok(get('/v1/addresses', sandbox)))['totalElements'], 0);
  t.is((await ok(get('/v1/addresses?chain=eth', sandbox)))['content'].length, 0);
  t.like((await post(`/v1/migration/imports/${id}/validate`, sandbox)).json.error, {
    code: 'IMPORT_NOT_READY',
    details: { state: 'committing' },
  });
  await owner`update import_batch set worked_until = now() where id = ${id}`;
  await eventually(
    'the batch is open and read again',
    () => observe(sandbox, projectId),
    ({ caughtUp, addresses: count }) => caughtUp === true && count === 12,
  );
  t.is((await ok(get('/v1/addresses', sandbox)))['totalElements'], 12);
  t.is((await owner`select count(distinct address_key) as count from address where batch_id = ${id}`)[0]!['count'], 12);
});

test('migration M-I13: a claim that is lost in the fill undoes the batch, which nobody has seen', async (t) => {
  const { sandbox } = await cloud.organization(),
    { sandbox: other } = await cloud.organization();
  const list = addresses(8);
  const id = await batch(sandbox, await project(sandbox), csvOf(list));
  await validate(sandbox, id);
  const { owner } = cloud.database;
  await owner`update import_batch set state = 'committing', heights = '{"eth": 0}', worked_until = now() + interval '1 hour' where id = ${id}`;
  await owner`select fill_import(${sandbox.accountId}, ${id}, 5)`;
  await adopted(other, [list[7]!]);
  await owner`update import_batch set worked_until = now() where id = ${id}`;
  await eventually(
    'the batch waits for a person',
    () => ok(get(`/v1/migration/imports/${id}`, sandbox)),
    ({ state }) => state === 'conflict',
  );
  t.is((await ok(get('/v1/addresses', sandbox)))['totalElements'], 0);
  t.is(
    (await owner`select count(*) as count from address_registry where account_id = ${sandbox.accountId}`)[0]!['count'],
    0,
  );
  await adopted(other, list.slice(0, 7));
});

const activity = (key: Key, id: string, body: object) =>
  post(`/v1/sandbox/migration/projects/${id}/simulate-activity`, key, body);
const claim = (key: Key, id: string, body: object = {}) =>
  post(`/v1/sandbox/migration/projects/${id}/simulate-conflict`, key, body);

test('migration M-S1, M-I15: activity: what is in the recorded block is historical and silent, what comes later is observed, then announced', async (t) => {
  const { sandbox, live } = await cloud.organization();
  const list = addresses(3);
  const draft = await project(sandbox);
  t.is((await activity(sandbox, draft, { addresses: 1, livePerAddress: 1 })).json.error.code, 'IMPORT_NOT_READY');
  const { projectId } = await adopted(sandbox, list);
  const done = await ok(activity(sandbox, projectId, { addresses: 2, historicalPerAddress: 2, livePerAddress: 1 }));
  t.like(done, { addresses: 2, historical: 4, live: 2 });
  t.is(new Set(done['txids']).size, 6);
  t.like(await observe(sandbox, projectId), { historicalRecorded: 4, depositsObserved: 2, caughtUp: true });
  t.deepEqual(await eventsOf(sandbox.accountId), []);
  // Again: what was recorded stays recorded once.
  await ok(activity(sandbox, projectId, { addresses: [list[2]], historicalPerAddress: 1 }));
  t.like(await observe(sandbox, projectId), { historicalRecorded: 5, depositsObserved: 2 });
  const code = async (body: object, key: Key = sandbox) => (await activity(key, projectId, body)).json.error.code;
  t.is(await code({ addresses: 1 }), 'INVALID_INPUT');
  t.is(await code({ addresses: 1, livePerAddress: 0, historicalPerAddress: 0 }), 'INVALID_INPUT');
  t.is(await code({ addresses: 1_001, livePerAddress: 1 }), 'INVALID_INPUT');
  t.is(await code({ addresses: [addresses(1)[0]], livePerAddress: 1 }), 'NOT_FOUND');
  t.is(await code({ addresses: 1, livePerAddress: 1 }, live), 'SANDBOX_ONLY');
});

test('migration M-S1, M-I15: blocks that are set back while they are read again are read once more', async (t) => {
  const { sandbox } = await cloud.organization();
  const { id } = await adopted(sandbox, addresses(1));
  const { owner, sql } = cloud.database,
    watch = createWatchStore(sql);
  // Of a ledger that nobody follows here.
  await owner`
    insert into import_catch_up (ledger, account_id, batch_id, chain, next_height)
      values ('base', ${sandbox.accountId}, ${id}, 'base', 0)`;
  const setTo = (height: number) =>
    owner`update import_catch_up set next_height = ${height}, done_at = null where ledger = 'base'`;
  await setTo(9_000);
  const [one] = await watch.adoptedBehind('base', 1);
  await setTo(8_000);
  await watch.noteAdopted('base', { ...one!, readFrom: 9_000, nextHeight: 9_001, isDone: true });
  t.like((await watch.adoptedBehind('base', 1))[0], { nextHeight: 8_000 }, 'what was added there is not read yet');
});

test('migration M-S2, M-I7: a simulated claim stops validation and commit, and is cleared: the batch is created again', async (t) => {
  const { sandbox, live } = await cloud.organization();
  const list = addresses(3),
    projectId = await project(sandbox);
  const id = await batch(sandbox, projectId, csvOf(list));
  t.is((await claim(sandbox, projectId)).json.error.code, 'IMPORT_NOT_READY');
  const before = await validate(sandbox, id);
  t.like(await ok(claim(sandbox, projectId)), { address: list[0], batchId: id });
  const { error } = (await commit(sandbox, id, before['dryRunId'])).json;
  t.like(error, { code: 'ADDRESS_CONFLICT', details: { count: 1 } });
  t.false(JSON.stringify(error).includes(list[0]!));
  t.like(await ok(claim(sandbox, projectId, { clear: true })), { address: null, batchId: id });
  t.is((await ok(get(`/v1/migration/imports/${id}`, sandbox))).state, 'created');
  await ok(claim(sandbox, projectId, { address: list[2] }));
  t.like(await validate(sandbox, id), { state: 'conflict', conflicts: 1, adoptable: 2 });
  await ok(claim(sandbox, projectId, { clear: true }));
  const { dryRunId } = await validate(sandbox, id);
  t.is((await ok(commit(sandbox, id, dryRunId))).state, 'committed');
  t.is((await claim(sandbox, projectId, { address: '0xnone' })).json.error.code, 'NOT_FOUND');
  t.is((await claim(live, projectId)).json.error.code, 'SANDBOX_ONLY');
});

test('migration M-S2, M-S3: a reset takes a simulated claim away, with projects and batches', async (t) => {
  const { sandbox } = await cloud.organization();
  const list = addresses(2),
    projectId = await project(sandbox);
  const id = await batch(sandbox, projectId, csvOf(list));
  await validate(sandbox, id);
  await ok(claim(sandbox, projectId));
  await ok(raw(cloud.url, 'DELETE', '/v1/sandbox/reset', { headers: { 'x-api-key': sandbox.apiKey } }));
  const again = await project(sandbox),
    second = await batch(sandbox, again, csvOf(list));
  t.like(await validate(sandbox, second), { state: 'valid', conflicts: 0 });
});

test('migration M-I16: rows that were validated 90 days ago and not committed go; the next validation reads the file again', async (t) => {
  const { sandbox } = await cloud.organization();
  const [old, young, waiting] = (await Promise.all(
    [0, 1, 2].map(async () => batch(sandbox, await project(sandbox), csvOf(addresses(3)))),
  )) as [string, string, string];
  const reports = await Promise.all([old, young, waiting].map((id) => validate(sandbox, id)));
  await cloud.database.owner`
    update flock.import_batch set dry_run_at = now() - interval '91 days' where id = any (${[old, waiting]})`;
  await cloud.database.owner`update flock.import_batch set state = 'conflict' where id = ${waiting}`;
  const imports = createImportStore(cloud.database.sql);
  await imports.forgetStaged(Date.now());
  const rowsOf = async (id: string) =>
    (await cloud.database.owner`select from flock.import_row where batch_id = ${id}`).length;
  t.deepEqual(await Promise.all([old, young, waiting].map(rowsOf)), [0, 3, 3]);
  t.is(await imports.forgetStaged(Date.now()), 0, 'nothing is looked at twice');
  const { json } = await commit(sandbox, old, reports[0]!['dryRunId']);
  t.is(json.error?.code, 'DRY_RUN_STALE', 'a batch without rows is not committed');
  const again = await validate(sandbox, old);
  t.like(again, { state: 'valid', adoptable: 3 });
  t.is((await ok(commit(sandbox, old, again['dryRunId']) as never))['state'], 'committed');
});

test('migration M-I3, M-I13: who was taken for dead while it read a file writes nothing any more: no row, no end, and erases nothing', async (t) => {
  const { sandbox } = await cloud.organization();
  const list = addresses(3);
  const id = await batch(sandbox, await project(sandbox), csvOf(list));
  const report = await validate(sandbox, id);
  const { owner, sql } = cloud.database,
    imports = createImportStore(sql),
    accountId = sandbox.accountId as never;
  const rowsOf = async () => (await owner`select n from flock.import_row where batch_id = ${id} order by n`).length;
  await owner`
    update import_batch set state = 'validating', worked_until = now() + interval '1 hour' where id = ${id}`;
  const run = report['dryRunId'] as string;
  const first = (await imports.beginAttempt(accountId, id, run))!;
  t.is(await rowsOf(), 0);
  const row = (n: number) => ({
    ...{ n, line: n, chain: 'eth' as const, family: 'evm' as const, address: list[n - 1]!, derivationPath: '[]' },
    ...{ addressKey: randomUUID(), userRef: null, tag: null, label: null, addressId: newId('adr', Date.now()) },
  });
  t.true(await imports.stage(accountId, id, first, { rows: [row(1)], issues: [] }));
  const second = (await imports.beginAttempt(accountId, id, run))!;
  t.is(second, first + 1);
  t.is(await rowsOf(), 0, 'the newer one begins anew');
  t.true(await imports.stage(accountId, id, second, { rows: [row(1), row(2)], issues: [] }));
  t.false(await imports.stage(accountId, id, first, { rows: [row(3)], issues: [] }), 'silent for too long');
  t.false(await imports.moveBatch(accountId, id, ['validating'], { state: 'valid', adopting: 3, run, attempt: first }));
  t.is(await rowsOf(), 2);
  t.true(await imports.moveBatch(accountId, id, ['validating'], { state: 'valid', adopting: 2, run, attempt: second }));
  // Its run is over: who comes now finds rows that may be at a commit.
  t.is(await imports.beginAttempt(accountId, id, run), null);
  t.is(await imports.beginAttempt(accountId, id, 'dry_older'), null);
  t.is(await rowsOf(), 2);
});

test('migration M-O5: no cutover while a batch is at its commit; networks that were enabled since get a height too', async (t) => {
  const mine = await cloud.organization();
  const { sandbox } = mine,
    { owner } = cloud.database;
  const { projectId, id } = await adopted(sandbox, addresses(1));
  const second = await batch(sandbox, projectId, csvOf(addresses(2)));
  await validate(sandbox, second);
  const setTo = (state: string) => owner`
    update import_batch set state = ${state}, heights = '{"eth": 0}', worked_until = now() + interval '1 hour'
     where id = ${second}`;
  await setTo('committing');
  const token = await cloud.signIn(mine.owner);
  const cut = (body: object = {}) =>
    raw(cloud.url, 'POST', `/v1/migration/projects/${projectId}/activate`, {
      headers: { authorization: `Bearer ${token}`, 'x-environment': 'sandbox', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  t.like((await cut({ totp: codeOf(mine.owner, 1) })).json.error, { code: 'IMPORT_NOT_READY' });
  t.is((await get('/v1/migration/projects', sandbox)).json.data.content[0].state, 'observe');
  await owner`update import_batch set worked_until = now() where id = ${second}`;
  await eventually(
    'the second batch is open',
    () => observe(sandbox, projectId),
    ({ addresses: count, caughtUp }) => count === 3 && caughtUp === true,
  );
  await owner`update import_batch set heights = heights - 'base' where id = ${id}`;
  await owner`delete from import_catch_up where chain = 'base' and batch_id = ${id}`;
  t.is((await cut()).status, 200);
  const [kept] = await owner<{ activated: Json }[]>`select activated from migration_project where id = ${projectId}`;
  t.true('base' in kept!.activated);
  const log = await owner`select from flock.audit_entry where target = ${projectId} and action = 'activateProject'`;
  t.is(log.length, 1, 'written with the cutover');
});

test('migration M-R1, M-R2, found F56: a withdrawal whose counter is bound closes the way back, whatever the clocks of nodes say; one that is only built does not', async (t) => {
  const { sandbox } = await cloud.organization(),
    { owner } = cloud.database;
  const list = addresses(1),
    { id } = await adopted(sandbox, list);
  const built = newId('txn', Date.now());
  await owner`
    insert into flock.withdrawal (account_id, id, ledger, chain, from_address, to_address, amount, decimals, token_symbol,
        status, unsigned, versions, created_at, updated_at)
      values (${sandbox.accountId}, ${built}, ${`eth@${sandbox.accountId}`}, 'eth', ${list[0]!}, ${list[0]!}, 1, 18, 'ETH',
        'built', '{"boundAtMs": 1}', '[]', now() + interval '1 second', now() + interval '1 second')`;
  const back = () => post(`/v1/migration/imports/${id}/rollback`, sandbox);
  t.like((await back()).json.error, { code: 'ROLLBACK_WINDOW_CLOSED', details: { reason: 'transaction' } });
  // Found F56: the clock of the node that opened the batch was ahead of that of the one that built.
  await owner`update import_batch set committed_at = committed_at + interval '4 minutes' where id = ${id}`;
  t.like((await back()).json.error, { code: 'ROLLBACK_WINDOW_CLOSED', details: { reason: 'transaction' } });
  await owner`update flock.withdrawal set unsigned = '{}' where id = ${built}`;
  t.is((await back()).json.data?.state, 'rolled_back');
});

test('migration M-I6, M-U9: without a chain the address says it where one only can be meant; one address with two memos is no two customers', async (t) => {
  const { sandbox } = await cloud.organization();
  const [evm] = addresses(1) as [string],
    xrp = 'rNAB7uPziNwZAkdzyeo6xRA9pKTsJxZ6td';
  const lines = [evm, 'bc1qmxrw6qdh5g3ztfcwm0et5l8mvws4eva24kmp8m', 'TLrpNTBuCpGMrB9TyVwgEhNVRhtWEQPHh4'];
  const text = `address,memo\n${lines.map((line) => `${line},\n`).join('')}${xrp},7\n`;
  const projectId = await project(sandbox),
    id = await batch(sandbox, projectId, text);
  t.like(await validate(sandbox, id), { state: 'valid', adoptable: 4 });
  const chains = await cloud.database.owner<{ chain: string }[]>`
    select chain from flock.import_row where batch_id = ${id} order by n`;
  t.deepEqual(
    chains.map(({ chain }) => chain),
    ['eth', 'btc', 'tron', 'xrp'],
  );
  const shared = await batch(sandbox, projectId, `address,memo\n${xrp},7\n${xrp},7\n${xrp},8\nnobody,\n`);
  const report = await validate(sandbox, shared);
  t.is(report['state'], 'invalid');
  t.like(report['byPhase'].chain_format.codes, { shared_address_with_tag: 1 });
  t.like(report['byPhase'].schema.codes, { missing_chain: 1 });
  t.like(
    (report['issues'] as Json[]).find(({ code }) => code === 'shared_address_with_tag'),
    { line: 4, field: 'memo' },
  );
  // Batches are listed, newest first, page by page; nobody else's project is.
  const list = (query: string) => ok(get(`/v1/migration/projects/${projectId}/imports${query}`, sandbox));
  const first = await list('?size=1');
  t.is(first['content'][0].id, shared);
  const rest = await list(`?size=1&after=${String(first['next'])}`);
  t.deepEqual([rest['content'][0].id, rest['next']], [id, null]);
});
