import test from 'ava';
import { isRefusal, Refused } from '../../protocol/errors.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import { CHAINS } from '../../protocol/slugs.ts';
import { pushedPool } from '../support/account.ts';
import { enrol, jsonOf, newEvmKey, raw, startTestCloud, testEdge, type TestAccountKey } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

async function sandboxed() {
  const organization = await cloud.organization();
  return { ...organization, edge: await enrol(cloud, organization.sandbox), client: organization.sandbox.client };
}
/** Live accounts have no chain here, so plans are tried where the account alone decides. */
const setPlan = async ({ accountId }: TestAccountKey, change: string) =>
  cloud.database
    .owner`update account set state = jsonb_set(state, '{plan}', (state -> 'plan') || ${change}::text::jsonb), version = version + 1 where account_id = ${accountId}`;

test('§2.3 an address has its fields, is found by id and listed newest first', async (t) => {
  const { client } = await sandboxed();
  const first = await client.must('createAddress', {
    body: { chain: 'eth', userRef: 'u1', tag: 'deposits', label: 'Ada' },
  });
  t.regex(first.id, /^adr_[a-z2-7]{26}$/);
  t.like(first, {
    chain: 'eth',
    derivationPath: "m/44'/60'/0'/0/0",
    environment: 'sandbox',
    userRef: 'u1',
    tag: 'deposits',
    label: 'Ada',
    status: 'active',
  });
  t.regex(first.address, /^0x[0-9a-fA-F]{40}$/);
  t.deepEqual(await client.must('getAddress', { params: { id: first.id } }), first);
  const second = await client.must('createAddress', { body: { chain: 'polygon', userRef: 'u2' } });
  t.like(second, { chain: 'polygon', derivationPath: "m/44'/60'/0'/0/1", tag: null, label: null });
  t.not(second.address, first.address);
  const page = await client.must('listAddresses');
  t.deepEqual(page, { content: [second, first], page: 0, size: 20, totalElements: 2, totalPages: 1, next: null });
  t.deepEqual((await client.must('listAddresses', { query: { size: '1', page: '1' } })).content, [first]);
});

test('§4.2 lists are filtered by chain, userRef, tag and status', async (t) => {
  const { client } = await sandboxed();
  const make = (chain: 'eth' | 'bsc', userRef: string, tag: string) =>
    client.must('createAddress', { body: { chain, userRef, tag } });
  const [a, b, c] = [await make('eth', 'u1', 'x'), await make('bsc', 'u1', 'y'), await make('eth', 'u2', 'x')];
  await client.must('archiveAddress', { params: { id: c.id } });
  const ids = async (query: Record<string, string>) =>
    (await client.must('listAddresses', { query: query as never })).content.map(({ id }) => id);
  t.deepEqual(await ids({ userRef: 'u1' }), [b.id, a.id]);
  t.deepEqual(await ids({ tag: 'x', status: 'active' }), [a.id]);
  t.deepEqual(await ids({ chain: 'bsc' }), [b.id]);
  t.deepEqual(await ids({ status: 'archived' }), [c.id]);
  t.deepEqual(await ids({ userRef: "u1' or '1'='1" }), []);
  t.is(
    (
      await raw(cloud.url, 'GET', '/v1/addresses?status=gone', {
        headers: { 'x-api-key': (await sandboxed()).sandbox.apiKey },
      })
    ).json.error.code,
    'INVALID_INPUT',
  );
});

test('decisions 9: an address is archived and brought back; twice is CONFLICT, a stranger is NOT_FOUND', async (t) => {
  const { client } = await sandboxed();
  const { id } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } });
  t.is((await client.must('archiveAddress', { params: { id } })).status, 'archived');
  t.like(await client.call('archiveAddress', { params: { id } }), { code: 'CONFLICT' });
  t.is((await client.must('unarchiveAddress', { params: { id } })).status, 'active');
  t.like(await client.call('unarchiveAddress', { params: { id } }), { code: 'CONFLICT' });
  const other = await sandboxed();
  for (const operation of ['getAddress', 'archiveAddress', 'unarchiveAddress'] as const)
    t.like(await other.client.call(operation, { params: { id } }), { code: 'NOT_FOUND' }, operation);
});

test('§3.1 without a registered key a chain is CHAIN_NOT_READY; a chain that is not enabled is CHAIN_UNAVAILABLE for good', async (t) => {
  const { sandbox, live } = await cloud.organization();
  t.like(await sandbox.client.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } }), {
    code: 'CHAIN_NOT_READY',
    details: { chain: 'eth', state: 'not_ready' },
  });
  const chains = (await sandbox.client.must('listChains')).content;
  t.deepEqual(
    chains.map(({ chain }) => chain),
    [...CHAINS],
  );
  for (const { chain, enabled } of chains.filter((entry) => !entry.enabled)) {
    t.like(
      await sandbox.client.call('createAddress', { body: { chain, userRef: 'customer-1' } }),
      { code: 'CHAIN_UNAVAILABLE', details: { chain, permanent: true } },
      `${chain} ${enabled}`,
    );
  }
  const ask = { body: { chain: 'eth', userRef: 'customer-1' } } as const;
  t.like(await live.client.call('createAddress', ask), { code: 'CHAIN_NOT_READY' }, 'the earlier of two refusals');
  await enrol(cloud, live);
  t.like(
    await live.client.call('createAddress', ask),
    { code: 'CHAIN_UNAVAILABLE', details: { permanent: true } },
    'no endpoint is configured here',
  );
});

test('§7 an empty pool needs a live edge: EDGE_OFFLINE without one; addresses of the pool are issued until then', async (t) => {
  const { sandbox } = await cloud.organization();
  const edge = testEdge(cloud, sandbox.apiKey);
  const pool = pushedPool('sol', 2);
  t.false(
    isRefusal(
      await edge.client.call('syncEdge', {
        body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId, keys: [], pools: [pool] },
      }),
    ),
  );
  const issued = [
    await sandbox.client.must('createAddress', { body: { chain: 'sol', userRef: 'customer-1' } }),
    await sandbox.client.must('createAddress', { body: { chain: 'sol', userRef: 'customer-1' } }),
  ];
  t.deepEqual(
    issued.map(({ address, derivationPath }) => ({ address, path: derivationPath })),
    pool.addresses.map(({ address, path }) => ({ address, path })),
  );
  const answer = await raw(cloud.url, 'POST', '/v1/addresses', {
    headers: jsonOf(sandbox.apiKey),
    body: '{"chain":"sol","userRef":"u"}',
  });
  t.deepEqual([answer.status, answer.json.error.code], [423, 'EDGE_OFFLINE']);
});

test("§3.8 and §8 NO_SUBSCRIPTION, tier limits and the band are the account's own decision, told with their details", async (t) => {
  const live = await startTestCloud({
    ETH_RPC_URLS: 'http://127.0.0.1:9',
    BSC_RPC_URLS: 'http://127.0.0.1:9',
    POLYGON_RPC_URLS: 'http://127.0.0.1:9',
  });
  try {
    const organized = async (plan: Parameters<typeof live.organization>[0]) => {
      const organization = await live.organization(plan);
      await enrol(live, organization.live);
      return organization.live.client;
    };
    const lapsed = await organized({ subscription: 'lapsed' });
    t.like(await lapsed.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } }), {
      code: 'NO_SUBSCRIPTION',
    });
    const free = await organized({ tier: 'free' });
    for (const chain of ['eth', 'bsc'] as const)
      t.false(isRefusal(await free.call('createAddress', { body: { chain, userRef: 'customer-1' } })), chain);
    t.like(await free.call('createAddress', { body: { chain: 'polygon', userRef: 'customer-1' } }), {
      code: 'TIER_FEATURE_LOCKED',
      details: { feature: 'chains', limit: 2, requiredTier: 'premium' },
    });
    const webhook = () =>
      free.call('createWebhook', { body: { url: 'https://example.com/x', events: ['deposit_confirmed'] } });
    t.false(isRefusal(await webhook()));
    t.like(await webhook(), { code: 'TIER_FEATURE_LOCKED', details: { feature: 'webhooks', limit: 1 } });
  } finally {
    await live.stop();
  }
});

test('I27 at the cap ADDRESS_LIMIT_EXCEEDED: of ten at the same time only what fits is issued', async (t) => {
  const live = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9' });
  try {
    const { live: account } = await live.organization({ tier: 'premium', band: 'launch' });
    await enrol(live, account);
    // The account as it is after 997 addresses: nothing else of it matters to the cap.
    await live.database
      .owner`update account set state = jsonb_set(state, '{activeAddresses}', '997'), version = version + 1 where account_id = ${account.accountId}`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        account.client.call('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } }),
      ),
    );
    const refused = answers.filter(isRefusal);
    t.is(answers.length - refused.length, 3, JSON.stringify(refused[0]));
    for (const refusal of refused)
      t.like(refusal, { code: 'ADDRESS_LIMIT_EXCEEDED', details: { band: 'launch', limit: 1_000, current: 1_000 } });
  } finally {
    await live.stop();
  }
});

test('decisions 3: sandbox is exempt from subscription and caps', async (t) => {
  const organization = await cloud.organization({ tier: 'free', subscription: 'lapsed' });
  await enrol(cloud, organization.sandbox);
  for (const chain of ['eth', 'bsc', 'polygon'] as const)
    t.false(
      isRefusal(await organization.sandbox.client.call('createAddress', { body: { chain, userRef: 'customer-1' } })),
      chain,
    );
  t.like(await organization.sandbox.client.must('getUsage'), {
    activeAddresses: { current: 1, billed: 1, limit: null },
    settledTransactions: { count: 0, included: null },
    overage: { transactions: 0, amount: '0.000' },
  });
});

test('ADDRESS_CONFLICT: an address that another account has is not given out twice', async (t) => {
  const key = newEvmKey();
  const [one, two] = [await cloud.organization(), await cloud.organization()];
  const sync = async (account: TestAccountKey) => {
    const edge = testEdge(cloud, account.apiKey);
    return edge.client.call('syncEdge', {
      body: { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId, keys: [key], pools: [] },
    });
  };
  t.false(isRefusal(await sync(one.sandbox)));
  t.like(await sync(two.sandbox), { code: 'ADDRESS_CONFLICT' });
});

// ── Idempotency ──────────────────────────────────────────────────────────────────────────────────────────────────

test('decisions 3: fifty parallel requests under one key have one effect and fifty equal answers', async (t) => {
  const { client, sandbox } = await sandboxed();
  const body = JSON.stringify({ chain: 'eth', userRef: 'once' });
  const headers = jsonOf(sandbox.apiKey, { 'idempotency-key': 'k-50' });
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => raw(cloud.url, 'POST', '/v1/addresses', { headers, body })),
  );
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  t.is(new Set(answers.map(({ json }) => JSON.stringify(json.data))).size, 1);
  t.is(new Set(answers.map(({ json }) => json.meta.requestId)).size, 50, 'meta is fresh');
  t.is(answers.filter((answer) => answer.headers.get('idempotent-replayed') === null).length, 1);
  t.is((await client.must('listAddresses')).totalElements, 1);
});

test('decisions 3: another body under the key is IDEMPOTENCY_CONFLICT; another path, method or account is another key', async (t) => {
  const { client, sandbox } = await sandboxed();
  const other = await sandboxed();
  const first = await client.must('createAddress', {
    body: { chain: 'eth', userRef: 'customer-1' },
    idempotencyKey: 'k',
  });
  t.like(await client.call('createAddress', { body: { chain: 'bsc', userRef: 'customer-1' }, idempotencyKey: 'k' }), {
    code: 'IDEMPOTENCY_CONFLICT',
  });
  t.deepEqual(
    await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' }, idempotencyKey: 'k' }),
    first,
  );
  t.not(
    (await other.client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' }, idempotencyKey: 'k' }))
      .id,
    first.id,
  );
  t.is((await client.must('archiveAddress', { params: { id: first.id }, idempotencyKey: 'k' })).status, 'archived');
  t.is(
    (await client.must('archiveAddress', { params: { id: first.id }, idempotencyKey: 'k' })).status,
    'archived',
    'again, not CONFLICT',
  );
  t.is((await client.must('unarchiveAddress', { params: { id: first.id }, idempotencyKey: 'k' })).status, 'active');
  for (const path of ['/v1/%61ddresses', '/%761/addresses']) {
    const again = await raw(cloud.url, 'POST', path, {
      headers: jsonOf(sandbox.apiKey, { 'idempotency-key': 'k' }),
      body: '{"chain":"eth","userRef":"customer-1"}',
    });
    t.is(again.json.data?.id, first.id, `found: ${path} is the same path`);
  }
  for (const [key, status] of [
    ['x'.repeat(255), 201],
    ['x'.repeat(256), 400],
    ['', 400],
  ] as const) {
    const answer = await raw(cloud.url, 'POST', '/v1/addresses', {
      headers: jsonOf(sandbox.apiKey, { 'idempotency-key': key }),
      body: '{"chain":"eth","userRef":"u"}',
    });
    t.is(answer.status, status, `${key.length} characters`);
  }
});

test('decisions 3: the first refusal is given again too; one of the moment is not kept', async (t) => {
  const { sandbox } = await cloud.organization();
  const create = () =>
    raw(cloud.url, 'POST', '/v1/addresses', {
      headers: jsonOf(sandbox.apiKey, { 'idempotency-key': 'early' }),
      body: '{"chain":"eth","userRef":"u"}',
    });
  t.is((await create()).json.error.code, 'CHAIN_NOT_READY');
  await enrol(cloud, sandbox);
  const again = await create();
  t.deepEqual([again.json.error.code, again.headers.get('idempotent-replayed')], ['CHAIN_NOT_READY', 'true']);
  t.false(
    isRefusal(
      await sandbox.client.call('createAddress', {
        body: { chain: 'eth', userRef: 'customer-1' },
        idempotencyKey: 'later',
      }),
    ),
  );
  const down = (seconds: number) => sandbox.client.must('simulateChainDown', { body: { chain: 'eth', seconds } });
  const { address } = (await sandbox.client.must('listAddresses')).content[0]!;
  await down(600);
  const build = () =>
    sandbox.client.call('buildTransaction', {
      body: { chain: 'eth', from: address, to: '0x52908400098527886E0F7030069857D2E4169EE7', amount: '1' },
      idempotencyKey: 'moment',
    });
  t.like(await build(), { code: 'CHAIN_UNAVAILABLE' });
  await down(0);
  t.like(await build(), { code: 'INSUFFICIENT_FUNDS' }, 'the same key is tried anew');
});

test('I23 an answer outlives the process that gave it', async (t) => {
  const { sandbox, client } = await sandboxed();
  const first = await client.must('createAddress', {
    body: { chain: 'eth', userRef: 'kept' },
    idempotencyKey: 'restart',
  });
  await setPlan(sandbox, '{"band":"growth"}'); // the actor's memory is stale now: it throws itself away and reads again
  const second = await client.ask('createAddress', {
    body: { chain: 'eth', userRef: 'kept' },
    idempotencyKey: 'restart',
  });
  t.true(second.replayed);
  t.deepEqual(second.outcome, first);
  await t.throwsAsync(async () => client.must('getAddress', { params: { id: 'adr_22222222222222222222222222' } }), {
    instanceOf: Refused,
  });
});
