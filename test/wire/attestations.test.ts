/** Statements of the edge about addresses of payers, from its phrase to what a payer is answered. payments E4, E5. */
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';
import test from 'ava';
import { createPhraseKeystore } from '../../edge/keystore/phrase-keystore.ts';
import { networkOf } from '../../chains/registry.ts';
import { attestingEdge } from '../support/attesting.ts';
import { eventually, startTestCloud, testEdge } from '../support/gateway.ts';
import { DONATION, FIXED, merchant, payer } from '../support/payments.ts';

const cloud = await startTestCloud({ ETH_RPC_URLS: 'http://127.0.0.1:9', POLYGON_RPC_URLS: 'http://127.0.0.1:9' });
test.after.always(() => cloud.stop());
const pay = payer(cloud);
const DAY_MS = 86_400_000;

async function shop(families?: Parameters<typeof attestingEdge>[2]) {
  const { sandbox } = await cloud.organization();
  const edge = await attestingEdge(cloud, sandbox, families),
    ask = merchant(cloud, sandbox);
  return {
    sandbox,
    edge,
    link: async (body: object) => (await ask('POST', '/v1/payments/links', body)).json.data,
    ahead: async (): Promise<Record<string, number>> =>
      Object.fromEntries(
        (await ask('GET', '/v1/payments/readiness')).json.data.content.map(
          ({ chain, attestationsAhead }: { chain: string; attestationsAhead: number }) => [chain, attestationsAhead],
        ),
      ),
    kept: () =>
      cloud.database.owner<{ index: number }[]>`
        select family, index::int, issued_at from address_attestation where account_id = ${sandbox.accountId}`,
  };
}

interface Shown {
  readonly id: string;
  readonly address: string;
  readonly attestation: Record<'keyFingerprint' | 'issuedAt' | 'validUntil' | 'signature', string> & { v: number };
}
const open = async (slug: string): Promise<Shown> =>
  (await pay('POST', `/v1/checkout/links/${slug}/sessions`, {})).json.data;
const session = async (id: string): Promise<Shown> => (await pay('GET', `/v1/checkout/sessions/${id}`)).json.data;

/** By the words of the reference, not by the program that signs. */
function isGood(publicKey: string, { address, attestation }: Shown, family: string, environment = 'sandbox'): boolean {
  const { issuedAt, validUntil, signature } = attestation;
  const text = `flock-address-attestation-v1\n${environment}\n${family}\n${address}\n${issuedAt}\n${validUntil}`;
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(publicKey, 'hex')]);
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
}

test('payments E4, E5, P23: the edge signs a thousand addresses ahead, and a payer is answered the statement about his', async (t) => {
  const { edge, link, ahead } = await shop(['btc', 'evm', 'tron']);
  t.is((await ahead())['eth'], 0);
  await edge.look();
  t.deepEqual(edge.log, ['attestations_signed']);
  t.like(await ahead(), { btc: 1_000, eth: 1_000, base: 1_000, tron: 1_000 });
  for (const [body, family] of [
    [FIXED, 'evm'],
    [{ ...FIXED, chain: 'btc', asset: 'BTC', amount: '0.01' }, 'btc'],
    [{ ...FIXED, chain: 'tron', asset: 'USDT' }, 'tron'],
  ] as const) {
    const opened = await open((await link(body)).slug);
    t.is(opened.attestation.v, 1);
    t.true(isGood(edge.publicKey, opened, family), family);
    t.false(isGood(edge.publicKey, opened, family, 'live'));
    t.is(
      opened.attestation.keyFingerprint,
      createHash('sha256').update(Buffer.from(edge.publicKey, 'hex')).digest('hex').slice(0, 16),
    );
    t.is(Date.parse(opened.attestation.validUntil) - Date.parse(opened.attestation.issuedAt), 30 * DAY_MS);
    t.deepEqual((await session(opened.id)).attestation, opened.attestation);
  }
  t.like(await ahead(), { btc: 999, eth: 999, tron: 999 });
  const shared = await link({ ...DONATION, addressMode: 'shared' });
  const { data } = (await pay('POST', `/v1/checkout/links/${shared.slug}/donate`, {})).json;
  t.true(isGood(edge.publicKey, data, 'evm'));
});

test('payments E5: it is topped up below two hundred, renewed before it ends, and what was lent without one gets it', async (t) => {
  const { edge, link, ahead, kept, sandbox } = await shop();
  const before = await open((await link(FIXED)).slug);
  t.is(before.attestation as object | null, null);
  await edge.look();
  t.true(isGood(edge.publicKey, await session(before.id), 'evm'), 'opened before the edge signed anything');
  const count = (await kept()).length;
  await edge.look();
  t.is((await kept()).length, count, 'nothing is signed twice');
  await cloud.database.owner`
    delete from address_attestation where account_id = ${sandbox.accountId} and family = 'evm' and index > 199`;
  await edge.look();
  t.is((await ahead())['eth'], 1_000, 'fewer than two hundred were left');
  // As signed 24 days ago: six days are left.
  await cloud.database.owner`update address_attestation set issued_at = issued_at - interval '24 days',
    valid_until = valid_until - interval '24 days' where account_id = ${sandbox.accountId}`;
  const old = await session(before.id);
  await edge.look();
  const renewed = await session(before.id);
  t.true(Date.parse(renewed.attestation.issuedAt) > Date.parse(old.attestation.issuedAt) + 23 * DAY_MS);
  t.true(isGood(edge.publicKey, renewed, 'evm'));
  await cloud.database.owner`update address_attestation set issued_at = now() - interval '30 days 1 second',
    valid_until = now() - interval '1 second' where account_id = ${sandbox.accountId}`;
  t.is((await session(before.id)).attestation as object | null, null, 'none that ended is shown');
});

test('payments E5: the address of a payment that asks for its rest is renewed too', async (t) => {
  const { edge, link, sandbox } = await shop();
  const { id, address } = await open((await link(FIXED)).slug);
  await edge.look();
  const tokenContract = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  await sandbox.client.must('simulateDeposit', { body: { address, chain: 'eth', amount: '10', tokenContract } });
  const inPart = () =>
    cloud.database.owner`select from payment where account_id = ${sandbox.accountId} and id = ${id}
      and status = 'underpaid'`;
  await eventually('it is paid in part', inPart, ({ length }) => length === 1);
  await cloud.database.owner`update address_attestation set issued_at = issued_at - interval '24 days',
    valid_until = valid_until - interval '24 days' where account_id = ${sandbox.accountId}`;
  const old = await session(id);
  await edge.look();
  const renewed = await session(id);
  t.true(Date.parse(renewed.attestation.issuedAt) > Date.parse(old.attestation.issuedAt) + 23 * DAY_MS);
  t.true(isGood(edge.publicKey, renewed, 'evm'));
});

test('payments E5: the cloud keeps what verifies against the pinned identity and its own derivation, and nothing else', async (t) => {
  const { edge, kept } = await shop();
  const { keystore, client } = edge,
    other = createPhraseKeystore(randomBytes(64)),
    { derivation } = (await import('../../chains/registry.ts')).factsOf('eth');
  if (derivation.kind !== 'xpub') throw new Error('eth has an extended key');
  const at = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  const now = Date.now();
  const statement = (
    {
      index = 7,
      by = keystore,
      environment = 'sandbox',
      family = 'evm',
      of = keystore,
      from = now,
      until = now + 30 * DAY_MS,
    } = {},
    shift = 0,
  ) => {
    const { address } = derivation.deriveAddress(networkOf('eth'), of.accountXpub('evm')!, 0, index);
    const dates = { issuedAt: at(from), validUntil: at(until) };
    const text = `flock-address-attestation-v1\n${environment}\n${family}\n${address}\n${dates.issuedAt}\n${dates.validUntil}`;
    const signature = by.identity.sign(Buffer.from(text)).toString('base64url');
    return { family: 'evm' as const, ...dates, statements: [{ index: index + shift, signature }] };
  };
  const push = (batch: ReturnType<typeof statement>) =>
    client.call('pushAttestations', { body: { batch, renew: false } });
  const DATES = { field: 'batch.validUntil' },
    SIGNED = { field: 'batch.statements' };
  for (const [name, batch, details] of [
    ['of another identity', statement({ by: other }), SIGNED],
    ['of an address that the key does not have', statement({ of: other }), SIGNED],
    ['of another index', statement({}, 1), SIGNED],
    ['of the other environment', statement({ environment: 'live' }), SIGNED],
    ['of another family', statement({ family: 'tron' }), SIGNED],
    ['further ahead than anybody asked', statement({ index: 2_000 }), SIGNED],
    ['good for longer than 31 days', statement({ until: now + 32 * DAY_MS }), DATES],
    ['that ended', statement({ from: now - 2 * DAY_MS, until: now - DAY_MS }), DATES],
    ['that ends before it begins', statement({ from: now + DAY_MS / 2, until: now + DAY_MS / 4 }), DATES],
    ['of the day after tomorrow', statement({ from: now + 2 * DAY_MS }), DATES],
  ] as const)
    t.like(await push(batch), { ok: false, code: 'INVALID_INPUT', details }, name);
  t.is((await kept()).length, 0);
  t.is(((await push(statement())) as { code?: string }).code, undefined);
  t.deepEqual(
    (await kept()).map(({ index }) => index),
    [7],
  );
  const stranger = testEdge(cloud, 'flk_test_nobody');
  t.like(await stranger.client.call('pushAttestations', { body: { batch: null, renew: true } }), { ok: false });
});

test('payments E5: of the edge of an account that takes no payments nothing is asked', async (t) => {
  const { sandbox } = await cloud.organization({ paymentsActive: false });
  const { client } = await attestingEdge(cloud, sandbox);
  t.deepEqual(await client.must('pushAttestations', { body: { batch: null, renew: true } }), { wanted: [] });
});
