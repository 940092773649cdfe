/** A migration by the edge's address alone: files in and out, and what a cloud may not say in them. */
import { createHash } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { newId } from '../../../protocol/node/ids.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { PHRASE, SECOND, startTestEdge, type TestEdge } from '../../support/edge/edges.ts';
import { startTestCloud } from '../../support/gateway.ts';

const FOREIGN = '0x1111111111111111111111111111111111111111';

async function put(url: string, body: string | ReadableStream<Uint8Array>, headers = {}) {
  const answer = await fetch(url, { method: 'PUT', body, headers, duplex: 'half' } as never);
  return { status: answer.status, json: (await answer.json()) as { data: any; error: any } };
}
const file = async (edge: TestEdge, path: string) => {
  const answer = await fetch(`${edge.url}${path}`, { headers: { 'x-api-key': edge.localKey } });
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
};

test('migration M-U1, M-E1, M-E2, M-K8: who knows the edge alone brings a wallet home, reads what became of it, and goes back', async (t) => {
  const cloud = await startTestCloud();
  t.teardown(() => cloud.stop());
  const { sandbox } = await cloud.organization();
  const edge = await startTestEdge(t, cloud.url, { environment: 'sandbox', env: { API_KEY: sandbox.apiKey } });
  await edge.edge.registered;
  const must = async (method: string, path: string, body?: object) => {
    const { status, data, text } = await edge.ask(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${text}`);
    return data as Record<string, any>;
  };
  const { id: projectId } = await must('POST', '/v1/migration/projects', { name: 'old wallet' });
  const { uploadId, uploadUrl } = await must('POST', '/v1/migration/uploads', { filename: 'old.csv' });
  t.is(new URL(uploadUrl).origin, edge.url, 'in the name of the edge, as the caller knows it');
  const text = `address,chain,user ref\n${SECOND},eth,own\n${FOREIGN},eth,"a, ""b""\nc"\n`;
  const taken = await put(uploadUrl, text);
  t.like(taken.json.data, {
    uploadId,
    bytes: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
    format: 'csv',
  });
  await must('POST', `/v1/migration/uploads/${uploadId}/complete`, { sha256: taken.json.data.sha256 });
  const { id: batchId } = await must('POST', `/v1/migration/projects/${projectId}/imports`, { uploadId });
  const { dryRunId, adoptable } = await must('POST', `/v1/migration/imports/${batchId}/validate`);
  t.is(adoptable, 2);
  t.is((await must('POST', `/v1/migration/imports/${batchId}/commit`, { dryRunId })).state, 'committed');
  t.like(await must('GET', `/v1/migration/projects/${projectId}/observe`), { state: 'observe', addresses: 2 });

  const reconciliation = await file(edge, `/v1/migration/projects/${projectId}/reconciliation`);
  t.is(reconciliation.type, 'text/csv; charset=utf-8');
  t.true(reconciliation.text.includes(`${FOREIGN},eth,,"a, ""b""\nc"`), reconciliation.text);
  t.regex(reconciliation.text, new RegExp(`^${SECOND},eth,`, 'm'));
  t.regex(reconciliation.text, /\n# gap limit of a restored wallet, evm: [0-9]+\n# end, 2 rows\n$/);
  const csv = await file(edge, `/v1/migration/projects/${projectId}/export?format=CSV`);
  t.regex(csv.text, /^address,chain,derivation_path,user_ref,tag,label\n[^]*# end, 2 rows\n$/);
  const jsonl = await file(edge, `/v1/migration/projects/${projectId}/export?format=jsonl`);
  t.is(jsonl.type, 'application/x-ndjson; charset=utf-8');
  t.true(jsonl.text.endsWith('# end, 2 rows\n'));
  t.like(await must('GET', `/v1/migration/projects/${projectId}/export/plan?format=CSV`), { rows: 2, expressible: 2 });
  const keys = await file(edge, `/v1/migration/projects/${projectId}/export?format=KEY_VALUE`);
  t.is(keys.status, 401, 'whole keys are shown to a person who signed in');
  const head = await fetch(`${edge.url}/v1/migration/projects/${projectId}/reconciliation`, {
    method: 'HEAD',
    headers: { 'x-api-key': edge.localKey },
  });
  t.deepEqual([head.status, await head.text()], [200, '']);
  t.is((await file(edge, `/v1/migration/projects/${newId('mig', 1)}/export`)).status, 404);
  t.is((await must('POST', `/v1/migration/imports/${batchId}/rollback`)).state, 'rolled_back');
});

test('migration M-T6, M-U1: the URL is the upload’s own, altered or over it takes no file, through the edge as at the cloud', async (t) => {
  const cloud = await startTestCloud();
  t.teardown(() => cloud.stop());
  const { sandbox } = await cloud.organization();
  const edge = await startTestEdge(t, cloud.url, {
    environment: 'sandbox',
    env: { API_KEY: sandbox.apiKey, EDGE_PUBLIC_URL: 'https://edge.example/' },
  });
  await edge.edge.registered;
  const { uploadUrl } = (await edge.ask('POST', '/v1/migration/uploads', { filename: 'f.csv' })).data as any;
  t.is(new URL(uploadUrl).origin, 'https://edge.example', 'as its operator set it');
  const { pathname, search } = new URL(uploadUrl),
    here = `${edge.url}${pathname}${search}`;
  t.like(await put(here.replace(/signature=./, 'signature=_'), 'address\n'), {
    status: 403,
    json: { error: { code: 'FORBIDDEN' } },
  });
  t.like((await put(`${edge.url}${pathname.replace(/upl_[a-z2-7]+/, newId('upl', 1))}${search}`, 'a\n')).json.error, {
    code: 'NOT_FOUND',
  });
  t.is((await put(here, 'PK\u0003\u0004 zip')).json.error.code, 'UNSUPPORTED_MEDIA_TYPE');
  t.is((await put(here, '--x', { 'content-type': 'multipart/form-data; boundary=x' })).status, 415);
  t.is((await put(here, `address\n${FOREIGN}\n`)).status, 200, 'a second PUT replaces what broke off');
});

async function hostile(t: ExecutionContext) {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const edge = await startTestEdge(t, cloud.url, { env: { EDGE_CHAINS: 'eth' } });
  await edge.edge.registered;
  return { cloud, edge };
}

test('migration M-T1: a phrase or a key in a file leaves no network: what comes before it may, and nothing of it', async (t) => {
  const { cloud, edge } = await hostile(t);
  const path = `/v1/migration/uploads/${newId('upl', 1)}/content?expires=1&signature=a`;
  cloud.on('PUT /v1/migration/uploads/{id}/content', () => ({ code: 'FORBIDDEN' }));
  const rows = Array.from({ length: 4_000 }, (_, at) => `${FOREIGN},customer ${at}\n`).join('');
  for (const secret of [
    PHRASE,
    `xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi`,
  ]) {
    const { status, json } = await put(`${edge.url}${path}`, `address,user ref\n${rows}${FOREIGN},${secret}\n${rows}`);
    t.deepEqual([status, json.error.code], [400, 'KEY_MATERIAL_REJECTED']);
    t.false(cloud.seen.some(({ body }) => body.includes(secret.slice(-40))));
    t.false(JSON.stringify(edge.logged).includes(secret));
  }
  t.like(await put(`${edge.url}${path}`, rows), { status: 403 }, 'an honest file is the cloud’s to judge');
});

test('migration M-T1, M-U1: a cloud that sends the file elsewhere, or measured another one, is not believed', async (t) => {
  const { cloud, edge } = await hostile(t);
  const uploadId = newId('upl', 1),
    deadline = '2026-12-01T00:00:00.000Z',
    path = `/v1/migration/uploads/${uploadId}/content?expires=${Date.parse(deadline)}&signature=a`;
  const opened = { uploadId, uploadUrl: `${cloud.url}${path}`, deadline, maxBytes: 5 };
  const open = async (more: object) => {
    cloud.on('POST /v1/migration/uploads', () => ({ status: 201, data: { ...opened, ...more } }));
    return edge.ask('POST', '/v1/migration/uploads', { filename: 'f.csv' });
  };
  t.is((await open({})).data!['uploadUrl'], `${edge.url}${path}`);
  for (const uploadUrl of [
    `${cloud.url}/v1/addresses`,
    `${cloud.url}${path}&more=1`,
    `${cloud.url}${path.replace(uploadId, newId('upl', 2))}`,
    `javascript:${path}`,
  ])
    t.like((await open({ uploadUrl })).error?.details, { reason: 'false_answer', field: 'uploadUrl' }, uploadUrl);
  t.like((await open({ deadline: '2027-01-01T00:00:00.000Z' })).error?.details, { field: 'deadline' });
  cloud.on('PUT /v1/migration/uploads/{id}/content', () => ({
    data: { uploadId, bytes: 4, sha256: '0'.repeat(63) + '1', format: 'csv' },
  }));
  t.like((await put(`${edge.url}${path}`, 'a\nb\n')).json.error, {
    code: 'INTERNAL_ERROR',
    details: { field: 'sha256' },
  });
});

test('migration M-E1, M-T7: nothing false in a file of addresses is handed on, and what is cut short has no end', async (t) => {
  const { cloud, edge } = await hostile(t);
  const project = newId('mig', 1),
    head =
      'address,chain,derivation_path,user_ref,tag,label,spendable,reason,key_source,batch,recorded_height,deposits_observed,historical_recorded,straddling\n';
  const row = (address: string, path: string) => `${address},eth,${path},,,,false,no_key,,imp_a,0,0,0,0\n`;
  const asked = async (raw: string, kind = 'reconciliation', type = 'text/csv; charset=utf-8') => {
    cloud.on(`GET /v1/migration/projects/{id}/${kind}`, () => ({ status: 200, raw, type }));
    return file(edge, `/v1/migration/projects/${project}/${kind}`).then(
      ({ status, text }) => (status === 200 ? text : `${status} ${JSON.parse(text).error.details.field}`),
      () => 'broken off',
    );
  };
  const own = row(SECOND, "m/44'/60'/0'/0/1"),
    honest = `${head}${own}${row(FOREIGN, '')}# gap limit of a restored wallet, evm: 22\n# end, 2 rows\n`;
  t.is(await asked(honest), honest);
  const alarms = () => edge.logged.filter(({ msg }) => msg === 'answer_false').length;
  const wrong: readonly [text: string, field: string][] = [
    [`${head}${row(FOREIGN, "m/44'/60'/0'/0/1")}# end, 1 rows\n`, 'rows.0.address'],
    [`${head}${row(SECOND, "m/44'/60'/0'/7/1")}# end, 1 rows\n`, 'rows.0.derivationPath'],
    [`${head}${row(SECOND.toLowerCase(), '')}# end, 1 rows\n`, 'rows.0.address'],
    [`${head}${row(FOREIGN, '').replace('eth', 'doge')}# end, 1 rows\n`, 'rows.0.chain'],
    [`${head}${own.trim()},more\n# end, 1 rows\n`, 'rows.0.form'],
    [head.replace('user_ref', 'userRef'), 'header'],
    ['<html>', 'end'],
    [`${head}${own}`, 'end'],
    [`${head}${own}# end, 2 rows\n`, 'rows'],
    [`${head}${own}# end, 1 rows\n${own}`, 'end'],
    [`${head}"${'a'.repeat(70_000)}`, 'form'],
    // What one reader takes for these cells and another for those: each cell is read, and written in one way.
    [`${head}${own.trim()}\r${row(FOREIGN, '')}# end, 1 rows\n`, 'rows.0.form'],
    [`${head}${own.trim()}\rx,""${row(FOREIGN, '')}# end, 1 rows\n`, 'rows.0.form'],
    [`${head}"${FOREIGN},${own.trim()},"z\n# end, 1 rows\n`, 'rows.0.form'],
    [`${head}x"y",${own}# end, 1 rows\n`, 'rows.0.form'],
    [`${head}"${SECOND}"${own.slice(SECOND.length)}# end, 1 rows\n`, 'rows.0.form'],
    [`${head}${own.replace(',,,,', ',=1+1,,,')}# end, 1 rows\n`, 'rows.0.form'],
  ];
  for (const [text, field] of wrong) {
    const before = alarms();
    t.is(await asked(text), `500 ${field}`);
    t.is(alarms(), before + 1, field);
  }
  // Of a file that is longer some rows have left by then: its end has not.
  const many = Array.from({ length: 2_000 }, () => row(FOREIGN, '')).join('');
  t.is(await asked(`${head}${many}# end, 2000 rows\n`), `${head}${many}# end, 2000 rows\n`);
  for (const end of [row(SECOND, "m/44'/60'/0'/0/0"), '', '# end, 2001 rows\n', `# end, 2000 rows\n${own}`])
    t.is(await asked(`${head}${many}${end}`), 'broken off');
  t.is(await asked(honest, 'export'), '500 header', 'another file');
  t.is(await asked('{"address":"x"}', 'export', 'application/json'), '500 content-type');
  const exported = `address,chain,derivation_path,user_ref,tag,label\n${FOREIGN},eth,m/44'/60'/9'/0/1,,,\n# end, 1 rows\n`;
  t.is(await asked(exported, 'export'), exported, 'the path of an export is a claim, traced where it is read again');
});

test('migration M-E1: of a long file that nobody reads on the cloud is asked no more', async (t) => {
  const { cloud, edge } = await hostile(t);
  const path = `/v1/migration/projects/${newId('mig', 1)}/export?format=JSONL`,
    raw = `${JSON.stringify({ address: FOREIGN, chain: 'eth' })}\n`.repeat(200_000);
  cloud.on('GET /v1/migration/projects/{id}/export', () => ({
    status: 200,
    raw,
    type: 'application/x-ndjson; charset=utf-8',
  }));
  const headers = { 'x-api-key': edge.localKey };
  // More of them than the edge has connections to its cloud.
  for (let at = 0; at < 70; at += 1) {
    const left = new AbortController();
    const asked = await fetch(`${edge.url}${path}`, {
      method: at % 2 === 0 ? 'HEAD' : 'GET',
      headers,
      signal: left.signal,
    });
    t.is(asked.status, 200);
    left.abort();
  }
  for (let at = 0; at < 70; at += 1) {
    const asked = await fetch(`${edge.url}${path}`, { method: 'HEAD', headers });
    t.is(asked.status, 200);
  }
});
