/** Payment links over the wire: fields, states, refusals. payments part 3. */
import test from 'ava';
import { enrol, raw, startTestCloud, type RawAnswer } from '../support/gateway.ts';
import { DONATION, FIXED, merchant } from '../support/payments.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9' });
test.after.always(() => cloud.stop());

const LINKS = '/v1/payments/links';
const refusedAs = ({ json }: RawAnswer): string => json.error?.code ?? 'none';

async function shop() {
  const { sandbox, live, ...organization } = await cloud.organization();
  await enrol(cloud, sandbox);
  return { ...organization, sandbox, live, ask: merchant(cloud, sandbox), other: merchant(cloud, live) };
}

test('§2.11, payments P2, P5, P7, P8: a link is created with every field, read, listed and found by its slug', async (t) => {
  const { ask, other } = await shop();
  const body = {
    ...FIXED,
    amount: '25.50',
    metadata: { zeta: 1, alpha: [{ b: 'x' }] },
    successUrl: 'http://localhost:1/ok',
  };
  const made = await ask('POST', LINKS, body, { 'idempotency-key': 'one' });
  t.is(made.status, 201, made.text);
  const { data } = made.json;
  t.like(data, {
    mode: 'fixed',
    addressMode: 'per_payer',
    chain: 'eth',
    asset: 'USDC',
    decimals: 6,
    amount: '25.5',
    status: 'active',
    closedReason: null,
    monitorUntil: null,
    amountRaised: '0',
    paymentCount: 0,
    uses: 0,
    address: null,
    derivationPath: null,
    metadata: body.metadata,
  });
  t.regex(data.slug, /^[a-z2-7]{16}$/);
  t.true(data.url.endsWith(`/pay/${data.slug}`));
  t.true(made.text.includes('"metadata":{"zeta":1,"alpha"'), 'keys in the order given');
  t.deepEqual((await ask('POST', LINKS, body, { 'idempotency-key': 'one' })).json.data, data);
  t.is(refusedAs(await ask('POST', LINKS, FIXED, { 'idempotency-key': 'one' })), 'IDEMPOTENCY_CONFLICT');
  t.deepEqual((await ask('GET', `${LINKS}/${data.id}`)).json.data, data);
  const second = (await ask('POST', LINKS, DONATION)).json.data;
  const list = async (query: string) => (await ask('GET', `${LINKS}?${query}`)).json.data;
  t.deepEqual(
    (await list('')).content.map((one: { id: string }) => one.id),
    [second.id, data.id],
  );
  t.is((await list('')).totalElements, 2);
  t.deepEqual((await list('mode=donation')).content, [second]);
  t.deepEqual((await list(`slug=${data.slug}`)).content, [data]);
  t.deepEqual((await list(`slug=${data.slug}&status=closed`)).content, []);
  t.deepEqual((await list('chain=btc')).content, []);
  const first = await list('size=1');
  t.deepEqual((await list(`size=1&after=${first.next}`)).content, [data]);
  t.is(refusedAs(await other('GET', `${LINKS}/${data.id}`)), 'NOT_FOUND', 'of another account');
  for (const action of ['pause', 'resume', 'close'])
    t.is(refusedAs(await other('POST', `${LINKS}/${data.id}/${action}`)), 'NOT_FOUND', action);
  t.is(refusedAs(await other('PATCH', `${LINKS}/${data.id}`, { title: 'x' })), 'NOT_FOUND');
});

test('payments P1: every field refuses what it does not take, by its code', async (t) => {
  const { ask } = await shop();
  const of = (more: object) => ({ ...FIXED, ...more }),
    given = (more: object) => ({ ...DONATION, ...more });
  const refused: readonly [object, string][] = [
    [of({ mode: 'gift' }), 'INVALID_INPUT'],
    [of({ mode: undefined }), 'INVALID_INPUT'],
    [of({ surprise: 1 }), 'INVALID_INPUT'],
    [of({ chain: 'doge' }), 'INVALID_CHAIN'],
    [of({ chain: 'sol' }), 'INVALID_CHAIN'],
    [of({ chain: 'xlm' }), 'INVALID_CHAIN'],
    [of({ chain: 'ETH' }), 'INVALID_CHAIN'],
    [of({ asset: undefined }), 'INVALID_INPUT'],
    [of({ asset: 'usdc' }), 'TOKEN_NOT_SUPPORTED'],
    [of({ asset: 'DOGE' }), 'TOKEN_NOT_SUPPORTED'],
    [of({ asset: `0x${'1'.repeat(40)}` }), 'TOKEN_NOT_SUPPORTED'],
    [of({ asset: 'BTC' }), 'TOKEN_NOT_ON_CHAIN'],
    [of({ asset: 'DAI.e' }), 'TOKEN_NOT_ON_CHAIN'],
    [of({ amount: undefined }), 'INVALID_INPUT'],
    [of({ amount: 25 }), 'INVALID_INPUT'],
    [of({ amount: '0' }), 'INVALID_AMOUNT'],
    [of({ amount: '1e2' }), 'INVALID_AMOUNT'],
    [of({ amount: '-1' }), 'INVALID_AMOUNT'],
    [of({ amount: '25.0000001' }), 'INVALID_AMOUNT'],
    [of({ amount: String(2n ** 128n) }), 'INVALID_AMOUNT'],
    [of({ amount: '9.99' }), 'INVALID_AMOUNT'],
    [given({ amount: '5' }), 'INVALID_INPUT'],
    [given({ thresholdAmount: null }), 'INVALID_INPUT'],
    [given({ thresholdAmount: 'ten' }), 'INVALID_AMOUNT'],
    [given({ minAmount: '3', maxAmount: '2' }), 'INVALID_AMOUNT'],
    [of({ minAmount: '3' }), 'INVALID_INPUT'],
    [of({ addressMode: 'shared' }), 'INVALID_INPUT'],
    [of({ addressMode: 'mine' }), 'INVALID_INPUT'],
    [of({ closesAt: '2020-01-01T00:00:00Z' }), 'INVALID_INPUT'],
    [of({ closesAt: 'tomorrow' }), 'INVALID_INPUT'],
    [of({ closesAt: '2099-01-01T00:00:00Z' }), 'INVALID_INPUT'],
    [given({ maxUses: 0 }), 'INVALID_INPUT'],
    [given({ maxUses: 1_000_001 }), 'INVALID_INPUT'],
    [given({ maxUses: 1.5 }), 'INVALID_INPUT'],
    [given({ slug: 'Upper' }), 'INVALID_INPUT'],
    [given({ slug: 'a--b' }), 'INVALID_INPUT'],
    [given({ slug: 'a.b' }), 'INVALID_INPUT'],
    [given({ slug: 'ab' }), 'INVALID_INPUT'],
    [given({ slug: 'checkout' }), 'INVALID_INPUT'],
    [of({ title: 'x'.repeat(121) }), 'INVALID_INPUT'],
    [of({ title: 'a\nb' }), 'INVALID_INPUT'],
    [of({ title: 7 }), 'INVALID_INPUT'],
    [of({ description: 'x'.repeat(1_001) }), 'INVALID_INPUT'],
    [of({ description: 'a\u0007' }), 'INVALID_INPUT'],
    [of({ collectEmail: 'yes' }), 'INVALID_INPUT'],
    [of({ successUrl: 'javascript:alert(1)' }), 'INVALID_INPUT'],
    [of({ successUrl: 'https://ada:secret@shop.example/' }), 'INVALID_INPUT'],
    [of({ successUrl: '/thanks' }), 'INVALID_INPUT'],
    [of({ metadata: 'text' }), 'INVALID_INPUT'],
    [of({ metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, n])) }), 'INVALID_INPUT'],
    [of({ metadata: { a: { b: { c: { d: { e: {} } } } } } }), 'INVALID_INPUT'],
    [of({ metadata: { long: 'x'.repeat(4_097) } }), 'INVALID_INPUT'],
    [
      of({ title: 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about' }),
      'KEY_MATERIAL_REJECTED',
    ],
  ];
  for (const [body, code] of refused) {
    const answer = await ask('POST', LINKS, body);
    t.is(refusedAs(answer), code, `${JSON.stringify(body).slice(0, 200)} ${answer.text.slice(0, 300)}`);
  }
  for (const body of [
    of({ amount: '10', slug: 'NOT A SLUG', title: 'é', description: 'a\nb', metadata: {} }),
    given({ minAmount: '1', maxAmount: '2', maxUses: 1_000_000, closesAt: '2027-06-01T00:00:00+02:00' }),
    of({ asset: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', title: null, amount: '10.000001' }),
  ])
    t.is((await ask('POST', LINKS, body)).status, 201, JSON.stringify(body));
  t.is((await ask('GET', LINKS)).json.data.totalElements, 3, 'what was refused is not there');
});

test('payments P21: what is not worth sweeping is refused, and a cheaper chain named', async (t) => {
  const { ask } = await shop();
  const token = await ask('POST', LINKS, { ...FIXED, amount: '9.999999' });
  t.like(token.json.error.details, { reason: 'below_economic_minimum', chain: 'eth', asset: 'USDC', minimum: '10' });
  t.true(token.json.error.details['cheaper'].some((one: { chain: string }) => one.chain === 'polygon'));
  const native = await ask('POST', LINKS, { ...FIXED, asset: 'ETH', amount: '0.000000000000000001' });
  t.is(refusedAs(native), 'INVALID_AMOUNT');
  t.like(native.json.error.details, { reason: 'below_economic_minimum', asset: 'ETH' });
  t.regex(native.json.error.message, /cheaper: POL on polygon/);
  const { minimum } = native.json.error.details as { minimum: string };
  t.is((await ask('POST', LINKS, { ...FIXED, asset: 'ETH', amount: minimum })).status, 201);
});

test('payments P1, P10: who may not create is refused by name, in the order of the table', async (t) => {
  const { ask, other, sandbox, owner } = await shop();
  t.is(refusedAs(await other('POST', LINKS, FIXED)), 'CHAIN_NOT_READY', 'no key of the live account');
  t.is(refusedAs(await ask('POST', LINKS, { ...FIXED, chain: 'btc', asset: 'BTC' })), 'CHAIN_NOT_READY');
  const inactive = await cloud.organization({ paymentsActive: false });
  await enrol(cloud, inactive.sandbox);
  t.is(refusedAs(await merchant(cloud, inactive.sandbox)('POST', LINKS, FIXED)), 'MERCHANT_NOT_ACTIVE');
  const viewer = await cloud.person();
  await cloud.join(viewer, { id: (await sandbox.accountId).replace('_sandbox', '') } as never, 'viewer');
  const bearer = { authorization: `Bearer ${await cloud.signIn(viewer)}`, 'x-environment': 'sandbox' };
  const asViewer = (method: string, path: string, body?: unknown) =>
    raw(cloud.url, method, path, {
      headers: { ...bearer, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  t.is(refusedAs(await asViewer('POST', LINKS, FIXED)), 'FORBIDDEN');
  t.is((await asViewer('GET', LINKS)).status, 200);
  t.truthy(owner);
  await sandbox.client.must('simulateChainDown', { body: { chain: 'eth', seconds: 60 } });
  t.is(refusedAs(await ask('POST', LINKS, FIXED)), 'CHAIN_UNAVAILABLE', 'a silent chain refuses new links');
});

test('payments P10, M11: a link is paused, resumed and closed, and told so; anything else is CONFLICT', async (t) => {
  const { ask, sandbox } = await shop();
  const { id } = (await ask('POST', LINKS, DONATION)).json.data;
  const to = (action: string) => ask('POST', `${LINKS}/${id}/${action}`);
  t.is(refusedAs(await to('resume')), 'CONFLICT');
  t.is((await to('pause')).json.data.status, 'paused');
  const twice = await to('pause');
  t.like(twice.json.error, { code: 'CONFLICT', details: { status: 'paused', closedReason: null } });
  t.is((await to('resume')).json.data.status, 'active');
  const closed = (await to('close')).json.data;
  t.like(closed, { status: 'closed', closedReason: 'manual' });
  t.is(Date.parse(closed.monitorUntil) - Date.parse(closed.closedAt), 30 * 86_400_000);
  for (const action of ['pause', 'resume', 'close'])
    t.like((await to(action)).json.error, { code: 'CONFLICT', details: { status: 'closed', closedReason: 'manual' } });
  const told = await cloud.database.owner<{ event: string; body: string }[]>`
    select event, body from publication where account_id = ${sandbox.accountId} order by created_at, event desc`;
  t.deepEqual(told.map(({ event }) => event).sort(), ['payment_link_closed', 'payment_link_created']);
  t.like(JSON.parse(told.find(({ event }) => event === 'payment_link_closed')!.body), {
    environment: 'sandbox',
    data: { linkId: id, closedReason: 'manual', amountRaised: '0', paymentCount: 0 },
  });
});

test('payments P3, P4: PATCH takes ten fields, by the rules of the merged link; a closed link takes four', async (t) => {
  const { ask } = await shop();
  const link = (await ask('POST', LINKS, { ...DONATION, slug: `kept-${Date.now()}` })).json.data;
  const patch = (body: unknown, headers = {}) => ask('PATCH', `${LINKS}/${link.id}`, body, headers);
  for (const field of ['id', 'slug', 'mode', 'addressMode', 'chain', 'asset', 'amount']) {
    const answer = await patch({ [field]: link[field] ?? '1' });
    t.is(refusedAs(answer), 'INVALID_INPUT', field);
    t.is(answer.json.error.details['field'], field);
  }
  const change = {
    title: 'New',
    description: 'Text',
    successUrl: 'https://shop.example/ok',
    collectEmail: true,
    minAmount: '1',
    maxAmount: '2.50',
    thresholdAmount: '7',
    closesAt: '2027-06-01T00:00:00.000Z',
    maxUses: 9,
    metadata: { order: 2 },
  };
  const patched = await patch(change, { 'idempotency-key': 'p' });
  t.like(patched.json.data, { ...change, maxAmount: '2.5' });
  t.deepEqual((await patch(change, { 'idempotency-key': 'p' })).json.data, patched.json.data);
  t.is(refusedAs(await patch({ minAmount: '3' })), 'INVALID_AMOUNT', 'above the maximum that it has');
  t.is(refusedAs(await patch({ thresholdAmount: null, closesAt: null })), 'INVALID_INPUT');
  t.is((await patch({ thresholdAmount: null })).json.data.thresholdAmount, null);
  t.is(refusedAs(await patch({ closesAt: '2020-01-01T00:00:00Z' })), 'INVALID_INPUT');
  t.is(refusedAs(await patch({ maxAmount: 3 })), 'INVALID_INPUT');
  const fixed = (await ask('POST', LINKS, FIXED)).json.data;
  t.is(refusedAs(await ask('PATCH', `${LINKS}/${fixed.id}`, { thresholdAmount: '3' })), 'INVALID_INPUT');
  await ask('POST', `${LINKS}/${link.id}/close`);
  t.is(refusedAs(await patch({ maxUses: 3 })), 'CONFLICT');
  t.like((await patch({ title: 'Over', metadata: { a: 1 } })).json.data, { title: 'Over', status: 'closed' });
});

test('payments P6: a slug is taken once, whoever has it, also after a reset of the sandbox', async (t) => {
  const [one, two] = [await shop(), await shop()];
  const slug = `help-${one.id.slice(-8)}`;
  t.is((await one.ask('POST', LINKS, { ...DONATION, slug })).json.data.slug, slug);
  for (const { ask } of [one, two])
    t.like((await ask('POST', LINKS, { ...DONATION, slug })).json.error, {
      code: 'CONFLICT',
      details: { field: 'slug', reason: 'taken' },
    });
  await one.sandbox.client.must('resetSandbox');
  t.is((await one.ask('GET', LINKS)).json.data.totalElements, 0);
  t.is(refusedAs(await one.ask('POST', LINKS, { ...DONATION, slug })), 'CONFLICT');
});

test('payments M3, S4, S16: a shared link has an address of its own, which counts for nothing until it receives', async (t) => {
  const { ask, sandbox } = await shop();
  const before = (await sandbox.client.must('createAddress', { body: { chain: 'eth', userRef: 'u' } })).derivationPath;
  const made = await ask('POST', LINKS, { ...DONATION, addressMode: 'shared' });
  t.is(made.status, 201, made.text);
  const { address, derivationPath, id } = made.json.data;
  t.deepEqual([before, derivationPath], ["m/44'/60'/0'/0/0", "m/44'/60'/0'/0/1"]);
  const { content } = await sandbox.client.must('listAddresses', { query: { tag: 'checkout' } });
  t.like(content[0], { address, userRef: null, label: id, status: 'active' });
  const active = async () =>
    (
      await cloud.database.owner<{ n: number }[]>`
        select (state ->> 'activeAddresses')::int as n from account where account_id = ${sandbox.accountId}`
    )[0]!.n;
  t.is(await active(), 1);
  const archived = await ask('POST', `/v1/addresses/${content[0]!.id}/archive`);
  t.like(archived.json.error, { code: 'CONFLICT', details: { reason: 'checkout_address' } });
});

test('payments P24: settings are read and replaced by the owner; without a name nobody is active', async (t) => {
  const { owner, id } = await cloud.organization({ paymentsActive: false });
  const token = await cloud.signIn(owner, { organizationId: id });
  const ask = (method: string, body?: unknown, environment = 'sandbox') =>
    raw(cloud.url, method, '/v1/settings/payments', {
      headers: {
        authorization: `Bearer ${token}`,
        'x-environment': environment,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  t.like((await ask('GET')).json.data, {
    active: false,
    displayName: null,
    toleranceBps: 0,
    timeZone: 'UTC',
    origins: [],
  });
  t.like((await ask('PUT', { active: true })).json.error, { code: 'INVALID_INPUT', details: { field: 'displayName' } });
  const settings = {
    active: true,
    displayName: 'Ada & Co',
    supportEmail: 'help@shop.example',
    origins: ['https://shop.example', 'http://localhost:3000'],
    toleranceBps: 100,
    timeZone: 'Europe/Berlin',
    invoice: { name: 'Ada GmbH', address: 'Street 1\nTown' },
  };
  const put = await ask('PUT', settings);
  t.like(
    put.json.data,
    { ...settings, invoice: { name: 'Ada GmbH', address: 'Street 1\nTown', taxId: null } },
    put.text,
  );
  t.deepEqual((await ask('GET')).json.data, put.json.data);
  for (const wrong of [
    { toleranceBps: 501 },
    { timeZone: 'Mars/Base' },
    { origins: ['https://shop.example/path'] },
    { origins: ['http://shop.example'] },
    { supportEmail: 'a@b' },
    { supportUrl: 'javascript:1' },
  ])
    t.is(refusedAs(await ask('PUT', { ...settings, ...wrong })), 'INVALID_INPUT', JSON.stringify(wrong));
  const live = await ask('PUT', { ...settings, origins: ['https://shop.example'] }, 'live');
  t.true(['TOTP_REQUIRED', 'none'].includes(refusedAs(live)), 'a fresh second factor, or the one of the sign-in');
  t.is(refusedAs(await ask('PUT', settings, 'live')), 'INVALID_INPUT', 'https alone in live');
});
