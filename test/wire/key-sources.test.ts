import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import test from 'ava';
import { addressOfPublicKey } from '../../chains/evm/derive.ts';
import { addressOfKey as bitcoinAddress } from '../../chains/btc/derive.ts';
import { bitcoin } from '../../chains/btc/network.ts';
import { addressOfKey as rippleAddress } from '../../chains/xrp/derive.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import type { SentOf } from '../../protocol/routes.ts';
import secp256k1 from 'secp256k1';
import {
  enrol,
  eventually,
  jsonOf,
  newEvmKey,
  newSigner,
  raw,
  startTestCloud,
  testEdge,
  type TestEdge,
} from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

type Body = SentOf<'registerKeySource', 'body'>;
const BASE = "m/44'/60'/0'";

/** A fresh phrase as an edge pushes it, without the phrase. */
function newSource(count = 2, more: Partial<Body> = {}): Body & { seed: Buffer } {
  const seed = randomBytes(32);
  const root = HDKey.fromMasterSeed(seed);
  const account = root.derive(BASE);
  const addresses = Array.from({ length: count }, (_, index) => ({
    chain: 'eth' as const,
    index,
    path: `${BASE}/0/${index}`,
    address: addressOfPublicKey(secp256k1.publicKeyConvert(account.derive(`m/0/${index}`).publicKey!, false)),
  }));
  return {
    seed,
    fingerprint: randomBytes(8).toString('hex'),
    label: 'old wallet',
    kind: 'phrase',
    keystore: 'file',
    chains: ['eth', 'base'],
    keys: [{ chain: 'eth', path: BASE, xpub: account.publicExtendedKey }],
    addresses,
    ...more,
  };
}
const bodyOf = ({ seed: _, ...body }: Body & { seed: Buffer }): Body => body;
const register = (edge: TestEdge, body: Body) => edge.client.call('registerKeySource', { body });

async function sandboxEdge() {
  const { sandbox, live, ...rest } = await cloud.organization();
  return { sandbox, live, ...rest, edge: await enrol(cloud, sandbox) };
}
const fund = async (
  client: {
    must: (operation: 'simulateDeposit', sent: { body: SentOf<'simulateDeposit', 'body'> }) => Promise<unknown>;
  },
  address: string,
) =>
  client.must('simulateDeposit', {
    body: { chain: 'eth', address, amount: '1', autoConfirm: true, confirmAfterSeconds: 0 },
  });

test.serial(
  '§4.8, migration M-K1: registration: addresses are derived again, monitored and spendable; what can be signed is listed; no key is shown whole',
  async (t) => {
    const { sandbox, edge } = await sandboxEdge();
    const source = newSource(3);
    const registered = await edge.client.must('registerKeySource', { body: bodyOf(source) });
    t.like(registered, { added: 3, skipped: 0, addresses: 3, status: 'active', basePath: BASE, label: 'old wallet' });
    const listed = await sandbox.client.must('listKeySources');
    t.deepEqual(listed.content[0]!.signing, [
      { chain: 'eth', signs: true, reason: null },
      { chain: 'base', signs: true, reason: null },
    ]);
    t.regex(listed.content[0]!.keys[0]!.xpub!, /^xpub.{4}….{4}$/);
    const addresses = await sandbox.client.must('listAddresses', { query: { chain: 'eth' } });
    t.deepEqual(
      addresses.content.map(({ address, derivationPath }) => [address, derivationPath]).sort(),
      source.addresses.map(({ address, index }) => [address, `[${source.fingerprint}/44'/60'/0'/0/${index}]`]).sort(),
    );
    // An own address begins at index 0 all the same: sources use up none.
    t.is(
      (await sandbox.client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } })).derivationPath,
      "m/44'/60'/0'/0/0",
    );
    const { address } = source.addresses[0]!;
    await fund(sandbox.client, address);
    await eventually(
      'the deposit is confirmed',
      () => sandbox.client.must('listTransactions', { query: { direction: 'in' } }),
      ({ content }) => content[0]?.status === 'confirmed',
    );
    const built = await sandbox.client.must('buildTransaction', {
      body: { chain: 'eth', from: address, to: source.addresses[1]!.address, amount: '1000' },
    });
    t.is(built.unsigned.fromPath, `[${source.fingerprint}/44'/60'/0'/0/0]`);
  },
);

test.serial(
  '§4.8, migration M-K1: one pushed address that does not derive refuses the whole registration: KEY_SOURCE_MISMATCH with chain and index',
  async (t) => {
    const { sandbox, edge } = await sandboxEdge();
    const source = newSource(4);
    const foreign = newSource(1).addresses[0]!.address;
    const lie = {
      ...bodyOf(source),
      addresses: source.addresses.map((address, at) => (at === 2 ? { ...address, address: foreign } : address)),
    };
    t.like(await register(edge, lie), { code: 'KEY_SOURCE_MISMATCH', details: { chain: 'eth', index: 2 } });
    const moved = {
      ...bodyOf(source),
      addresses: source.addresses.map((address) => ({ ...address, path: `m/44'/60'/1'/0/${address.index}` })),
    };
    t.like(await register(edge, moved), { code: 'KEY_SOURCE_MISMATCH', details: { chain: 'eth', index: 0 } });
    t.is((await sandbox.client.must('listKeySources')).totalElements, 0);
    t.is((await sandbox.client.must('listAddresses')).totalElements, 0);
    // Registered again with another key at the same path.
    await edge.client.must('registerKeySource', { body: bodyOf(source) });
    t.like(await register(edge, { ...bodyOf(newSource(0)), fingerprint: source.fingerprint }), {
      code: 'KEY_SOURCE_MISMATCH',
    });
  },
);

test.serial(
  '§4.8, migration M-K1: registered again nothing changes, more addresses are added, and those of the account are skipped',
  async (t) => {
    const { sandbox, edge } = await sandboxEdge();
    const source = newSource(5);
    const first = await edge.client.must('registerKeySource', {
      body: { ...bodyOf(source), addresses: source.addresses.slice(0, 2) },
    });
    const again = await edge.client.must('registerKeySource', {
      body: { ...bodyOf(source), addresses: source.addresses.slice(0, 2) },
    });
    t.like(again, { id: first.id, added: 0, skipped: 2, addresses: 2 });
    t.like(await edge.client.must('registerKeySource', { body: bodyOf(source) }), {
      id: first.id,
      added: 3,
      skipped: 2,
      addresses: 5,
    });
    t.is((await sandbox.client.must('listAddresses')).totalElements, 5);
  },
);

test.serial(
  '§4.8, migration M-K1: a purge sets its addresses back to watch-only, keeps monitoring and keeps the record; after it KEY_SOURCE_PURGED',
  async (t) => {
    const { sandbox, edge } = await sandboxEdge();
    const source = newSource(1);
    const { id } = await edge.client.must('registerKeySource', { body: bodyOf(source) });
    const { address } = source.addresses[0]!;
    await fund(sandbox.client, address);
    await eventually(
      'funded',
      () => sandbox.client.must('listTransactions', {}),
      ({ content }) => content[0]?.status === 'confirmed',
    );
    t.like(await edge.client.must('purgeKeySource', { params: { id } }), { status: 'purged' });
    const purged = await edge.client.must('purgeKeySource', { params: { id } });
    t.deepEqual(purged.signing[0], { chain: 'eth', signs: false, reason: 'source_purged' });
    t.true(purged.purgedAt !== null && purged.addresses === 1);
    t.like(
      await sandbox.client.call('buildTransaction', {
        body: { chain: 'eth', from: address, to: address, amount: '1' },
      }),
      { code: 'ADDRESS_WATCH_ONLY', details: { reason: 'source_purged' } },
    );
    await fund(sandbox.client, address);
    await eventually(
      'still monitored',
      () => sandbox.client.must('listTransactions', {}),
      ({ content }) => content.filter(({ status }) => status === 'confirmed').length === 2,
    );
    t.like(await register(edge, bodyOf(source)), { code: 'KEY_SOURCE_PURGED', details: { keySourceId: id } });
    t.like(await edge.client.call('purgeKeySource', { params: { id: `ks_${'2'.repeat(26)}` } }), { code: 'NOT_FOUND' });
  },
);

test.serial(
  '§4.8 btc, tron and xrp register a key and no addresses, and are refused for signing once a source covers them',
  async (t) => {
    const { sandbox, edge } = await sandboxEdge();
    const seed = randomBytes(32),
      root = HDKey.fromMasterSeed(seed);
    const btc = root.derive("m/84'/0'/0'");
    const from = bitcoinAddress(bitcoin.prefixes, btc.derive('m/0/7').publicKey!, 'p2wpkh');
    const single = secp256k1.publicKeyCreate(randomBytes(32));
    const build = (chain: 'btc' | 'xrp', address: string) =>
      sandbox.client.call('buildTransaction', { body: { chain, from: address, to: address, amount: '10000' } });
    t.like(await build('btc', from), { code: 'NOT_FOUND' });
    const body: Body = {
      fingerprint: randomBytes(8).toString('hex'),
      label: 'coins',
      kind: 'phrase',
      keystore: 'file',
      chains: ['btc', 'xrp'],
      addresses: [],
      keys: [
        { chain: 'btc', path: "m/84'/0'/0'", xpub: btc.publicExtendedKey },
        { chain: 'xrp', publicKey: Buffer.from(single).toString('hex') },
      ],
    };
    t.like(
      await register(edge, {
        ...body,
        addresses: [{ chain: 'btc', index: 7, path: "m/84'/0'/0'/0/7", address: from }],
      }),
      { code: 'INVALID_INPUT', details: { chain: 'btc', index: 7 } },
    );
    const registered = await edge.client.must('registerKeySource', { body });
    t.deepEqual(
      registered.signing.map(({ signs, reason }) => [signs, reason]),
      [
        [false, 'family_not_signed'],
        [false, 'family_not_signed'],
      ],
    );
    t.like(await build('btc', from), {
      code: 'ADDRESS_WATCH_ONLY',
      details: { reason: 'family_not_signed', keySourceId: registered.id },
    });
    t.like(await build('xrp', rippleAddress(single)), { code: 'ADDRESS_WATCH_ONLY' });
    t.is((await sandbox.client.must('listAddresses')).totalElements, 0);
  },
);

test.serial(
  '§4.8 keys that are none, of another path, private, of Ed25519 chains or already enrolled are refused',
  async (t) => {
    const { sandbox, edge } = await sandboxEdge();
    const source = newSource(0),
      root = HDKey.fromMasterSeed(source.seed);
    const at = (key: Body['keys'][number]) => register(edge, { ...bodyOf(source), keys: [key] });
    t.like(await at({ chain: 'eth', path: "m/44'/60'/1'", xpub: root.derive(BASE).publicExtendedKey }), {
      code: 'INVALID_INPUT',
    });
    t.like(await at({ chain: 'eth', path: "m/44'/60'", xpub: root.derive(BASE).publicExtendedKey }), {
      code: 'INVALID_INPUT',
    });
    t.like(await at({ chain: 'eth', path: BASE, xpub: root.derive(BASE).privateExtendedKey }), {
      code: 'KEY_MATERIAL_REJECTED',
    });
    t.like(await at({ chain: 'sol', path: BASE, xpub: root.derive(BASE).publicExtendedKey }), {
      code: 'INVALID_INPUT',
    });
    t.like(await at({ chain: 'eth', publicKey: `02${'f'.repeat(64)}` }), { code: 'INVALID_INPUT' });
    t.like(await at({ chain: 'eth', publicKey: `ed${'1'.repeat(64)}` }), { code: 'INVALID_INPUT' });
    t.like(await register(edge, { ...bodyOf(newSource(1)), chains: ['doge' as 'eth'] }), { code: 'INVALID_CHAIN' });
    const enrolled = newEvmKey();
    const other = testEdge(cloud, (await cloud.organization()).sandbox.apiKey);
    await other.client.must('syncEdge', {
      body: { edgeVersion: EDGE_VERSION, sessionId: other.sessionId, keys: [enrolled], pools: [] },
    });
    t.like(
      await register(other, {
        ...bodyOf(newSource(0)),
        keys: [{ chain: 'eth', path: enrolled.accountPath, xpub: enrolled.xpub }],
      }),
      { code: 'CONFLICT', details: { reason: 'enrolled_key' } },
    );
    t.is((await sandbox.client.must('listKeySources')).totalElements, 0);
  },
);

test.serial(
  '§4.8 who may register: the pinned identity with its signature, an enrolled edge, no rotation that waits',
  async (t) => {
    const { sandbox, edge } = await sandboxEdge();
    const body = bodyOf(newSource(1));
    t.is(
      (
        await raw(cloud.url, 'POST', '/v1/migration/key-sources', {
          headers: jsonOf(sandbox.apiKey),
          body: JSON.stringify(body),
        })
      ).json.error.code,
      'EDGE_SIGNATURE_INVALID',
    );
    const foreign = testEdge(cloud, sandbox.apiKey, newSigner());
    t.like(await register(foreign, body), { code: 'EDGE_SIGNATURE_INVALID' });
    t.like(await foreign.client.call('purgeKeySource', { params: { id: `ks_${'2'.repeat(26)}` } }), {
      code: 'EDGE_SIGNATURE_INVALID',
    });
    const fresh = testEdge(cloud, (await cloud.organization()).sandbox.apiKey);
    t.like(await register(fresh, body), { code: 'RESYNC_REQUIRED' });
    // Another identity on sync: nothing is registered until the owner has decided.
    await foreign.sync();
    t.like(await register(edge, body), { code: 'IDENTITY_ROTATION_PENDING' });
    t.like(await edge.client.call('purgeKeySource', { params: { id: `ks_${'2'.repeat(26)}` } }), {
      code: 'IDENTITY_ROTATION_PENDING',
    });
  },
);

test.serial(
  '§4.8 limits of the plan hold for a registration (subscription, tier, band, module); an address of another account is ADDRESS_CONFLICT',
  async (t) => {
    const open = async (plan: Parameters<typeof cloud.organization>[0]) => {
      const { live } = await cloud.organization(plan);
      return enrol(cloud, live);
    };
    t.like(await register(await open({ subscription: 'lapsed' }), bodyOf(newSource(1))), { code: 'NO_SUBSCRIPTION' });
    const free = await open({ tier: 'free' });
    t.like(await register(free, bodyOf(newSource(101))), {
      code: 'TIER_FEATURE_LOCKED',
      details: { feature: 'addresses' },
    });
    t.like(await register(free, { ...bodyOf(newSource(1)), keystore: 'pkcs11' }), {
      code: 'TIER_FEATURE_LOCKED',
      details: { feature: 'hsmKeystore', requiredTier: 'ultimate' },
    });
    // One address short of the band's thousand, before the account is first read.
    const { live } = await cloud.organization({ tier: 'premium', band: 'launch' });
    await cloud.database
      .owner`update account set state = jsonb_set(state, '{activeAddresses}', '999'), version = version + 1 where account_id = ${live.accountId}`;
    const launch = await enrol(cloud, live);
    const source = newSource(3);
    t.like(await register(launch, bodyOf(source)), {
      code: 'ADDRESS_LIMIT_EXCEEDED',
      details: { limit: 1_000, current: 1_001 },
    });
    const part = (from: number, to: number) => ({ ...bodyOf(source), addresses: source.addresses.slice(from, to) });
    t.false(isRefusal(await register(launch, part(0, 1))));
    t.like(await register(launch, part(1, 2)), { code: 'ADDRESS_LIMIT_EXCEEDED', details: { current: 1_000 } });
    t.like(await register(await open({}), part(0, 1)), { code: 'ADDRESS_CONFLICT' });
  },
);
