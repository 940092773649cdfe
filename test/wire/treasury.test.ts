import test from 'ava';
import { enrol, jsonOf, raw, startTestCloud, type TestAccountKey } from '../support/gateway.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9' });
test.after.always(() => cloud.stop());

const VAULT = '0x52908400098527886E0F7030069857D2E4169EE7';
const create = ({ apiKey }: TestAccountKey, body: unknown, headers: Record<string, string> = {}) =>
  raw(cloud.url, 'POST', '/v1/treasury/wallets', { headers: jsonOf(apiKey, headers), body: JSON.stringify(body) });

test('§2.10, treasury W1: wallets are registered once, listed, and seen by their own account only', async (t) => {
  const { sandbox, live } = await cloud.organization();
  t.is((await create(sandbox, { chain: 'eth', source: 'derived' })).json.error.code, 'CHAIN_NOT_READY');
  await enrol(cloud, sandbox);
  const [first, again] = [
    await create(sandbox, { chain: 'eth', source: 'derived', label: 'home' }, { 'idempotency-key': 'a' }),
    await create(sandbox, { chain: 'eth', source: 'derived', label: 'home' }, { 'idempotency-key': 'a' }),
  ];
  t.is(first.status, 201);
  t.deepEqual(again.json.data, first.json.data);
  t.like(first.json.data, { derivationPath: "m/44'/60'/0'/1/1", source: 'derived', label: 'home', tag: null });
  const external = await create(sandbox, { chain: 'eth', source: 'external', address: VAULT.toLowerCase() });
  t.like(external.json.data, { address: VAULT, derivationPath: null, label: null, allowlisted: null });
  t.deepEqual(external.json.data.warnings, []);
  const listed = await sandbox.client.must('listTreasuryWallets');
  t.deepEqual(listed.content.map(({ address }) => address).sort(), [VAULT, first.json.data.address].sort());
  t.is((await live.client.must('listTreasuryWallets')).totalElements, 0);
  const foreign = await raw(cloud.url, 'GET', `/v1/treasury/wallets/${first.json.data.id}/balances`, {
    headers: jsonOf(live.apiKey),
  });
  t.is(foreign.json.error.code, 'NOT_FOUND');
});

test('treasury W1, W2: each refusal names the field and what to do', async (t) => {
  const { sandbox } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { address } = await sandbox.client.must('createAddress', { body: { chain: 'eth', userRef: 'u1' } });
  await create(sandbox, { chain: 'base', source: 'external', address: VAULT });
  const refused: readonly [object, string, object?][] = [
    [{ chain: 'doge', source: 'derived' }, 'INVALID_CHAIN'],
    [{ chain: 'eth', source: 'derived', address: VAULT }, 'INVALID_INPUT'],
    [{ chain: 'eth', source: 'external' }, 'INVALID_INPUT'],
    [{ chain: 'sol', source: 'derived' }, 'INVALID_INPUT', { reason: 'external_only' }],
    [{ chain: 'xrp', source: 'derived' }, 'CHAIN_NOT_READY'],
    [{ chain: 'eth', source: 'external', address: 'nowhere' }, 'INVALID_ADDRESS'],
    [{ chain: 'eth', source: 'external', address: `0x${'0'.repeat(40)}` }, 'INVALID_ADDRESS'],
    [{ chain: 'eth', source: 'external', address }, 'INVALID_ADDRESS', { reason: 'own_address' }],
    [{ chain: 'base', source: 'external', address }, 'INVALID_ADDRESS', { reason: 'own_address' }],
    [{ chain: 'base', source: 'external', address: VAULT }, 'CONFLICT', { reason: 'wallet_exists' }],
  ];
  for (const [body, code, details] of refused) {
    const answer = await create(sandbox, body);
    t.is(answer.json.error?.code, code, JSON.stringify(body));
    if (details !== undefined) t.like(answer.json.error.details, details, JSON.stringify(body));
  }
  // The tag inside an address is a part of the wallet; an account that is not on the ledger demands none.
  const tagged = await create(sandbox, {
    chain: 'xrp',
    source: 'external',
    address: 'XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHi',
  });
  t.like(tagged.json.data, { address: 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf', tag: '4294967295' });
  const untagged = await create(sandbox, {
    chain: 'xrp',
    source: 'external',
    address: 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf',
  });
  t.is(untagged.status, 201, untagged.text);
});

test('treasury W4: balances are those of the chain, all of them or none', async (t) => {
  const { sandbox, live } = await cloud.organization();
  await enrol(cloud, sandbox);
  const { id, address } = (await create(sandbox, { chain: 'eth', source: 'derived' })).json.data as {
    id: string;
    address: string;
  };
  const { content } = await sandbox.client.must('getTreasuryWalletBalances', { params: { id } });
  t.true(content.length > 1, 'the native coin and each token of the catalogue');
  t.true(content.every((one) => one.address === address && one.amount === '0'));
  t.is(new Set(content.map(({ tokenContract }) => tokenContract)).size, content.length);
  await sandbox.client.must('simulateChainDown', { body: { chain: 'eth', seconds: 60 } });
  const down = await raw(cloud.url, 'GET', `/v1/treasury/wallets/${id}/balances`, { headers: jsonOf(sandbox.apiKey) });
  t.is(down.json.error.code, 'CHAIN_UNAVAILABLE');
  const wallet = await create(live, { chain: 'eth', source: 'external', address: VAULT });
  const unread = await raw(cloud.url, 'GET', `/v1/treasury/wallets/${wallet.json.data.id}/balances`, {
    headers: jsonOf(live.apiKey),
  });
  t.is(unread.json.error.code, 'CHAIN_UNAVAILABLE', 'no node answers');
});

test('treasury W7, W8: a tank is shown with what it still pays for, and without a figure while its chain is silent', async (t) => {
  const { sandbox, live } = await cloud.organization();
  const fund = ({ apiKey }: TestAccountKey, body: unknown, headers: Record<string, string> = {}) =>
    raw(cloud.url, 'POST', '/v1/treasury/funding-wallets', {
      headers: jsonOf(apiKey, headers),
      body: JSON.stringify(body),
    });
  t.is((await fund(sandbox, { chain: 'eth' })).json.error.code, 'CHAIN_NOT_READY');
  await enrol(cloud, sandbox);
  await enrol(cloud, live);
  t.is((await fund(sandbox, { chain: 'eth', address: VAULT })).json.error.code, 'INVALID_INPUT');
  t.is((await fund(sandbox, { chain: 'eth', lowBalance: '0' })).json.error.code, 'INVALID_AMOUNT');
  const made = await fund(sandbox, { chain: 'eth', label: 'gas' }, { 'idempotency-key': 'f' });
  t.is(made.status, 201, made.text);
  t.like(made.json.data, { balance: '0', available: '0', isLow: true, estimatedSweepsRemaining: 0, reason: null });
  t.true(BigInt(made.json.data.lowBalance) > 0n);
  const { content: told } = await sandbox.client.must('listEvents');
  t.is(told.filter(({ event }) => event === 'funding_wallet_low').length, 1, 'W10: it is empty from the start');
  t.is(
    (await fund(sandbox, { chain: 'eth', label: 'gas' }, { 'idempotency-key': 'f' })).json.data.id,
    made.json.data.id,
  );
  t.is((await fund(sandbox, { chain: 'eth' })).json.error.code, 'CONFLICT');
  const { content } = await sandbox.client.must('listFundingWallets');
  t.like(content[0], { id: made.json.data.id, derivationPath: "m/44'/60'/0'/1/0" });
  await sandbox.client.must('simulateChainDown', { body: { chain: 'eth', seconds: 60 } });
  const silent = { balance: null, available: null, isLow: null, estimatedSweepsRemaining: null };
  t.like((await sandbox.client.must('listFundingWallets')).content[0], { ...silent, reason: 'chain_unavailable' });
  const ofLive = await fund(live, { chain: 'eth', lowBalance: '7' });
  t.like(ofLive.json.data, { ...silent, lowBalance: '7', reason: 'chain_unavailable' }, 'no node answers');
});
