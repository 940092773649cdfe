/** Requests for tokens: claims, what chains say, what administrators decide. Spec §2.6; treasury Q. */
import test from 'ava';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { enrol, eventually, jsonOf, raw, startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud();
const [ours, theirs] = [await cloud.organization(), await cloud.organization()];
const [admin, member] = [await cloud.person({ admin: true }), await cloud.person({ admin: true })];
await cloud.join(member, ours, 'viewer');
const clientOf = (bearer: string) => createClient({ baseUrl: cloud.url, bearer });
const [asAdmin, asMember, asOwner] = [
  clientOf(await cloud.signIn(admin)),
  clientOf(await cloud.signIn(member)),
  clientOf(await cloud.signIn(ours.owner)),
];
await enrol(cloud, ours.sandbox);
test.after.always(() => cloud.stop());

const { client, apiKey } = ours.sandbox;
let serial = 0;
/** A contract that nobody else of this file asks for. */
const contract = () => `0x70${(++serial).toString(16).padStart(38, '0')}`;
const of = (contractAddress: string, more: object = {}) => ({
  body: { chain: 'eth' as const, contractAddress, symbol: 'TEST', decimals: 6, ...more },
});
async function simulated(more: object = {}): Promise<string> {
  const contractAddress = contract();
  await client.must('simulateToken', of(contractAddress, more));
  return contractAddress;
}
const recordOf = async (id: string) => (await client.must('listTokenRequests')).content.find((one) => one.id === id)!;
const settled = (id: string) =>
  eventually(
    'the contract is read',
    () => recordOf(id),
    ({ onChain, state }) => onChain !== null || state === 'declined',
  );
const refusalOf = async (asked: Promise<unknown>) => {
  const outcome = await asked;
  if (!isRefusal(outcome as never)) throw new Error(`not refused: ${JSON.stringify(outcome)}`);
  const { code, details } = outcome as { code: string; details: { reason?: string } };
  return [code, details.reason];
};

test('spec §2.6, treasury Q1, Q2: a request begins under review; the same contract again is its first record with 200', async (t) => {
  const contractAddress = await simulated();
  const first = await client.ask('requestToken', of(contractAddress));
  t.is(first.status, 201);
  t.like(first.outcome, { chain: 'eth', symbol: 'TEST', decimals: 6, state: 'under_review', monitored: false });
  const again = await client.ask('requestToken', of(contractAddress, { symbol: 'ELSE', decimals: 7 }));
  t.is(again.status, 200);
  t.like(again.outcome, { id: (first.outcome as { id: string }).id, symbol: 'TEST', decimals: 6 });
  const record = await settled((first.outcome as { id: string }).id);
  t.like(record, { state: 'under_review', outcome: null });
  t.like(record.onChain, { symbol: 'TEST', decimals: 6, hazards: [] });
  for (const other of [ours.live, theirs.sandbox])
    t.false((await other.client.must('listTokenRequests')).content.some(({ id }) => id === record.id));
});

test('treasury Q2: a contract of the catalogue is answered as published, with 200', async (t) => {
  const answer = await client.ask('requestToken', of('0xdAC17F958D2ee523a2206206994597C13D831ec7', { symbol: 'USDT' }));
  t.is(answer.status, 200);
  t.like(answer.outcome, { state: 'published', monitored: true, outcome: null });
});

test('treasury Q1: what is no token of a chain, and what is no claim, is refused by name', async (t) => {
  const refused: readonly [object, string][] = [
    [{ chain: 'btc' }, 'TOKEN_NOT_SUPPORTED'],
    [{ chain: 'doge' }, 'INVALID_CHAIN'],
    [{ contractAddress: 'nowhere' }, 'TOKEN_NOT_SUPPORTED'],
    [{ chain: 'polygon', contractAddress: '0x0000000000000000000000000000000000001010' }, 'TOKEN_NOT_SUPPORTED'],
    [{ chain: 'xrp', contractAddress: 'USD' }, 'TOKEN_NOT_SUPPORTED'],
    [{ symbol: '' }, 'INVALID_INPUT'],
    [{ symbol: 'x'.repeat(21) }, 'INVALID_INPUT'],
    [{ symbol: 'A B' }, 'INVALID_INPUT'],
    [{ decimals: 37 }, 'INVALID_INPUT'],
    [{ decimals: -1 }, 'INVALID_INPUT'],
    [{ decimals: '6' }, 'INVALID_INPUT'],
    [{ name: 'more' }, 'INVALID_INPUT'],
  ];
  for (const [more, code] of refused) {
    const { body } = of(contract(), more);
    const answer = await raw(cloud.url, 'POST', '/v1/treasury/token-requests', {
      headers: jsonOf(apiKey),
      body: JSON.stringify(body),
    });
    t.is(answer.json.error?.code, code, JSON.stringify(body));
  }
});

test('treasury Q4: decimals that the contract contradicts, and a contract that is not there, are declined with the outcome', async (t) => {
  const contractAddress = await simulated({ decimals: 18 });
  const wrong = await client.must('requestToken', of(contractAddress, { decimals: 6 }));
  const declined = await settled(wrong.id);
  t.is(declined.state, 'declined');
  t.is(declined.outcome, 'the contract says 18 decimals; the request says 6');
  t.false(declined.monitored);
  const absent = await client.must('requestToken', of(contract()));
  const gone = await settled(absent.id);
  t.like(gone, { state: 'declined', onChain: null });
  t.regex(gone.outcome!, /simulate-token/);
});

test('treasury Q5, Q6, Q8: who decides, what is decided once, and hazards that have to be named', async (t) => {
  const contractAddress = await simulated({ hazards: ['pausable', 'upgradeable'] });
  const { id } = await client.must('requestToken', of(contractAddress));
  await settled(id);
  const accept = (who: typeof asAdmin, acknowledgedHazards: readonly string[], of = id) =>
    who.call('acceptTokenRequest', { params: { id: of }, body: { acknowledgedHazards } as never });
  t.deepEqual(await refusalOf(accept(asOwner, [])), ['FORBIDDEN', undefined]);
  t.deepEqual(await refusalOf(accept(asMember, [])), ['FORBIDDEN', 'own_request']);
  t.deepEqual(await refusalOf(accept(asAdmin, [])), ['CONFLICT', 'hazard']);
  t.deepEqual(await refusalOf(accept(asAdmin, ['pausable'])), ['CONFLICT', 'hazard']);
  t.deepEqual(await refusalOf(accept(asAdmin, [], 'tkr_24pgoiqjq2dgpoqhm7nuhjd5zi')), ['NOT_FOUND', undefined]);
  const accepted = await asAdmin.must('acceptTokenRequest', {
    params: { id },
    body: { acknowledgedHazards: ['upgradeable', 'pausable'] },
  });
  t.like(accepted, {
    state: 'accepted',
    acceptedBy: admin.id,
    requestedBy: 1,
    contractAddress: accepted.contractAddress,
  });
  t.like(await recordOf(id), { state: 'accepted', monitored: false });
  t.deepEqual(await refusalOf(accept(asAdmin, ['upgradeable', 'pausable'])), ['CONFLICT', 'state']);
  const decline = () =>
    asAdmin.call('declineTokenRequest', { params: { id }, body: { reason: 'the issuer is not known to us' } });
  t.like(await decline(), { state: 'declined', outcome: 'the issuer is not known to us' });
  t.deepEqual(await refusalOf(decline()), ['CONFLICT', 'state']);
  t.like(await recordOf(id), { state: 'declined', outcome: 'the issuer is not known to us' });
  const log = await asOwner.must('listAuditLog', { query: { target: id, outcome: 'done' } });
  t.deepEqual(log.content.map(({ action }) => action).sort(), ['acceptTokenRequest', 'declineTokenRequest']);
});

test('treasury Q8: a token that cannot be swept whole is not accepted, whatever is acknowledged', async (t) => {
  const { id } = await client.must('requestToken', of(await simulated({ hazards: ['rebasing'] })));
  await settled(id);
  const asked = asAdmin.call('acceptTokenRequest', { params: { id }, body: { acknowledgedHazards: ['rebasing'] } });
  t.deepEqual(await refusalOf(asked), ['CONFLICT', 'hazard']);
});

test('treasury Q3: requests of several accounts share one review, and a false claim of one declines no other', async (t) => {
  const contractAddress = contract();
  const liar = await ours.live.client.must('requestToken', of(contractAddress, { decimals: 18 }));
  const honest = await theirs.live.client.must('requestToken', of(contractAddress, { decimals: 6 }));
  const reviews = await asAdmin.must('listTokenReviews', { query: { state: 'under_review', size: '200' } });
  const [review] = reviews.content.filter((one) => one.contractAddress.toLowerCase() === contractAddress);
  t.like(review, { id: liar.id, requestedBy: 2, accountId: null });
  t.is(review!.claims.length, 2);
  await cloud.database.owner`
    update flock.token_review set facts = '{"symbol":"T","name":"T","decimals":6,"hazards":[]}', read_at = now()
     where id = ${liar.id}`;
  const seen = async (of: typeof ours.live, id: string) =>
    (await of.client.must('listTokenRequests')).content.find((one) => one.id === id)!;
  t.is((await seen(ours.live, liar.id)).state, 'declined');
  t.is((await seen(theirs.live, honest.id)).state, 'under_review');
});

test('treasury Q1: of many requests for the last free places exactly those get one, and the rest is told why', async (t) => {
  const one = await cloud.organization();
  const ask = () => one.live.client.call('requestToken', of(contract()));
  await Promise.all(Array.from({ length: 95 }, ask));
  const last = await Promise.all(Array.from({ length: 12 }, ask));
  t.is(last.filter((outcome) => !isRefusal(outcome)).length, 5);
  const refused = last.find((outcome) => isRefusal(outcome));
  t.like(refused, { code: 'CONFLICT', details: { reason: 'request_limit', limit: 100 } });
});

test('treasury Q6: one person cannot both accept and publish, and what was published stays', async (t) => {
  const { id } = await client.must('requestToken', of(await simulated()));
  await settled(id);
  await asAdmin.must('acceptTokenRequest', { params: { id }, body: { acknowledgedHazards: [] } });
  const publish = (by: string) =>
    cloud.database
      .owner`update flock.token_review set state = 'published', version = 2, published_by = ${by} where id = ${id}`;
  await t.throwsAsync(async () => publish(admin.id), { message: /token_review_two_people/ });
  await publish(member.id);
  await t.throwsAsync(
    async () => cloud.database.owner`update flock.token_review set state = 'declined', outcome = 'x' where id = ${id}`,
    { message: /token_review_stays_published/ },
  );
});

test('spec §4.5, treasury H1: every ordered pair of deployments is open or closed with a reason', async (t) => {
  const [{ registryVersion, routes }, tokens] = [
    await client.must('listTokenRoutes'),
    (await client.must('listTokens')).content,
  ];
  t.is(registryVersion, 1);
  const pairs = tokens.flatMap(({ symbol, deployments }) =>
    deployments.flatMap(({ chain: from, contractAddress: one }) =>
      deployments
        .filter(({ contractAddress }) => contractAddress !== one)
        .map(({ chain: to }) => `${symbol} ${from} ${to}`),
    ),
  );
  t.deepEqual(routes.map(({ symbol, from, to }) => `${symbol} ${from} ${to}`).sort(), pairs.sort());
  t.true(routes.every(({ status, reason }) => (status === 'open') === (reason === null)));
  t.like(
    routes.find(({ symbol, from, to }) => symbol === 'USDC' && from === 'eth' && to === 'sol'),
    { status: 'closed', reason: 'recipient_checks_missing' },
  );
});

test('treasury Q9: a contract on a simulated ledger is the account\u2019s own, and never one of the catalogue', async (t) => {
  const listed = await client.call('simulateToken', of('0xdAC17F958D2ee523a2206206994597C13D831ec7'));
  t.like(listed, { code: 'CONFLICT', details: { reason: 'published' } });
  const contractAddress = await simulated();
  const foreign = await theirs.sandbox.client.must('requestToken', of(contractAddress));
  const gone = await eventually(
    'the contract is read',
    async () => (await theirs.sandbox.client.must('listTokenRequests')).content.find(({ id }) => id === foreign.id)!,
    ({ state }) => state === 'declined',
  );
  t.regex(gone.outcome!, /no such contract/);
  t.like(await ours.live.client.call('simulateToken', of(contract())), { code: 'SANDBOX_ONLY' });
});

test('decisions §9, treasury W12: an administrator says what a native coin is worth in a token; the later observation is kept', async (t) => {
  const tokenContract = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  const now = Date.now(),
    at = (agoMs: number) => new Date(now - agoMs).toISOString();
  const said = { chain: 'eth' as const, tokenContract, numerator: '3000', denominator: '1000000000000' };
  const set = (more: object, who = asAdmin) =>
    who.call('setTokenRate', { body: { ...said, observedAt: at(60_000), ...more } });
  t.deepEqual(await refusalOf(set({}, asOwner)), ['FORBIDDEN', undefined]);
  const kept = await set({ tokenContract: tokenContract.toLowerCase() });
  t.like(kept, { ...said, observedAt: at(60_000), validUntil: at(60_000 - 86_400_000), setBy: admin.id });
  t.deepEqual(await refusalOf(set({ observedAt: at(120_000) })), ['CONFLICT', 'rate_newer']);
  t.like(await set({ numerator: '2999', observedAt: at(0) }), { numerator: '2999', observedAt: at(0) });
  const { content } = await asAdmin.must('listTokenRates');
  t.like(content, [{ ...said, numerator: '2999', observedAt: at(0), setBy: admin.id }]);
  t.is(content.length, 1);
  t.deepEqual(await refusalOf(set({ observedAt: at(86_400_000) })), ['INVALID_INPUT', 'stale']);
  t.deepEqual(await refusalOf(set({ observedAt: at(-3_600_000) })), ['INVALID_INPUT', 'in_the_future']);
  t.deepEqual(await refusalOf(set({ chain: 'doge' })), ['INVALID_CHAIN', undefined]);
  t.deepEqual(await refusalOf(set({ tokenContract: contract() })), ['TOKEN_NOT_SUPPORTED', undefined]);
  t.deepEqual(await refusalOf(set({ chain: 'bsc' })), ['TOKEN_NOT_ON_CHAIN', undefined]);
  for (const wrong of ['0', '-1', '1.5', '01', 3, null])
    t.is((await refusalOf(set({ numerator: wrong })))[0], 'INVALID_INPUT', String(wrong));
  const older = cloud.database.owner`update flock.token_rate set observed_at = observed_at - interval '1 second'`;
  await t.throwsAsync(async () => older, { message: /token_rate_forward/ });
});
