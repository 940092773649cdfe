import test from 'ava';
import { newId, newUuid } from '../../protocol/node/ids.ts';
import { enrol, jsonOf, raw, startTestCloud, type TestAccountKey } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const POLICIES = '/v1/treasury/bridges/policies',
  TRANSFERS = '/v1/treasury/bridges/transfers';
const send = (method: string, path: string, { apiKey }: TestAccountKey, body: unknown = {}) =>
  raw(cloud.url, method, path, {
    headers: jsonOf(apiKey),
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  });

async function bodyOf(account: TestAccountKey) {
  await enrol(cloud, account);
  const [source, destination] = await Promise.all(
    (['eth', 'base'] as const).map((chain) =>
      account.client.must('createTreasuryWallet', { body: { chain, source: 'derived' } }),
    ),
  );
  return {
    fromChain: 'eth',
    toChain: 'base',
    token: 'USDC',
    sourceWalletId: source!.id,
    destinationWalletId: destination!.id,
    maxSingleTransfer: '1000',
    maxInFlightValue: '3000',
    maxInFlightCount: 3,
    enabled: true,
  };
}

test('treasury H1, H2: a policy of a way that is closed is TOKEN_NOT_BRIDGEABLE with the reason', async (t) => {
  const { sandbox } = await cloud.organization(),
    body = await bodyOf(sandbox);
  const refused = async (more: object) => (await send('POST', POLICIES, sandbox, { ...body, ...more })).json.error;
  t.like(await refused({}), { code: 'TOKEN_NOT_BRIDGEABLE', details: { chain: 'eth', reason: 'not_offered' } });
  t.like(await refused({ toChain: 'sol' }), { details: { reason: 'recipient_checks_missing' } });
  t.like(await refused({ toChain: 'bsc' }), { details: { reason: 'not_bridgeable' } });
  t.like(await refused({ toChain: 'btc' }), { details: { reason: 'not_on_both_chains' } });
  t.like(await refused({ token: '0x00000000000000000000000000000000DeaDBeef' }), { code: 'TOKEN_NOT_SUPPORTED' });
  t.like(await refused({ fromChain: 'doge' }), { code: 'INVALID_CHAIN' });
  t.like(await refused({ maxInFlightCount: 101 }), { code: 'INVALID_INPUT', details: { field: 'maxInFlightCount' } });
  t.like(await refused({ maxSingleTransfer: '-1' }), { code: 'INVALID_AMOUNT' });
  t.is((await send('GET', POLICIES, sandbox)).json.data.totalElements, 0);
});

test('treasury H2, H3: policies and transfers that an account has not are NOT_FOUND', async (t) => {
  const { sandbox } = await cloud.organization(),
    body = await bodyOf(sandbox);
  const policyId = newUuid(Date.now()),
    id = newId('brt', Date.now());
  for (const [method, path, sent] of [
    ['GET', `${POLICIES}/${policyId}`, {}],
    ['DELETE', `${POLICIES}/${policyId}`, {}],
    ['POST', TRANSFERS, { policyId, amount: '1' }],
    ['GET', `${TRANSFERS}/${id}`, {}],
    ['POST', `${TRANSFERS}/${id}/retry`, {}],
  ] as const) {
    const answer = await send(method, path, sandbox, sent);
    t.is(answer.json.error?.code, 'NOT_FOUND', `${method} ${path} ${answer.text}`);
  }
  t.like((await send('PUT', `${POLICIES}/${policyId}`, sandbox, body)).json.error, { code: 'TOKEN_NOT_BRIDGEABLE' });
  t.is((await send('GET', TRANSFERS, sandbox)).json.data.totalElements, 0);
});
