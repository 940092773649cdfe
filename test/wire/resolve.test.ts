/** Adopted addresses that a key source leads to become spendable. Spec §4.8, migration M-K. */
import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import test from 'ava';
import secp256k1 from 'secp256k1';
import { addressOfKey as bitcoinAddress, type ScriptType } from '../../chains/btc/derive.ts';
import { bitcoin } from '../../chains/btc/network.ts';
import { addressOfPublicKey } from '../../chains/evm/derive.ts';
import { addressOfKey as tronAddress } from '../../chains/tron/derive.ts';
import { addressOfKey as rippleAddress } from '../../chains/xrp/derive.ts';
import { parseAddress } from '../../chains/reading.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { environmentOf, type AccountId } from '../../protocol/ids.ts';
import { addressKeyOf } from '../../protocol/node/ids.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { enrol, eventually, startTestCloud } from '../support/gateway.ts';
import { adopt } from '../support/store-rows.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const BASE = "m/44'/60'/0'";
const uncompressed = (key: HDKey, path: string) => secp256k1.publicKeyConvert(key.derive(path).publicKey!, false);

/** The text as an import leaves it. */
async function adopted(accountId: AccountId, chain: Chain, address: string): Promise<void> {
  const parsed = parseAddress(chain, address);
  if (isRefusal(parsed)) throw new Error(address);
  const addressKey = addressKeyOf(environmentOf(accountId), FAMILY_OF[chain], parsed.bytes);
  await adopt(cloud.database, accountId, { chain, family: FAMILY_OF[chain], address, addressKey });
}

async function sourced(keys: (root: HDKey) => object[], chains: Chain[] = ['eth']) {
  const { sandbox } = await cloud.organization();
  const edge = await enrol(cloud, sandbox);
  const root = HDKey.fromMasterSeed(randomBytes(32));
  const fingerprint = randomBytes(8).toString('hex');
  const { id } = await edge.client.must('registerKeySource', {
    body: {
      ...{ fingerprint, label: 'old', kind: 'phrase', keystore: 'file', chains, addresses: [] },
      keys: keys(root) as never,
    },
  });
  return { sandbox, edge, root, fingerprint, id, accountId: sandbox.accountId };
}
/** Resolves, and waits for the end of the pass, which may come after the answer. */
async function passed({ client }: Awaited<ReturnType<typeof sourced>>['sandbox'], id: string) {
  if ((await client.must('resolveKeySource', { params: { id } })).keySourceId !== id) throw new Error('another source');
  const { content } = await eventually(
    'the pass has ended',
    () => client.must('listKeySources'),
    (page) => page.content.find((source) => source.id === id)!.pass?.state === 'done',
  );
  const { pass, traced } = content.find((source) => source.id === id)!;
  return { pass, traced };
}
const evmKey = (root: HDKey) => [{ chain: 'eth', path: BASE, xpub: root.derive(BASE).publicExtendedKey }];

test.serial(
  'migration M-I11, M-K2, M-K3 resolve: what the source leads to is spendable at its origin, the rest stays; again it appends nothing',
  async (t) => {
    const { sandbox, edge, root, fingerprint, id, accountId } = await sourced(evmKey);
    const account = root.derive(BASE);
    const paths = ['0/0', '0/7', '0/9999', '1/3', '12'];
    const known = paths.map((path) => addressOfPublicKey(uncompressed(account, `m/${path}`)));
    const foreign = addressOfPublicKey(uncompressed(HDKey.fromMasterSeed(randomBytes(32)), 'm/0'));
    for (const address of [...known, foreign]) await adopted(accountId, 'eth', address);
    const pathsOf = async () => {
      const { content } = await sandbox.client.must('listAddresses', { query: { chain: 'eth', size: '50' } });
      return new Map(content.map(({ address, derivationPath }) => [address, derivationPath]));
    };
    t.true([...(await pathsOf()).values()].every((path) => path === null));
    const spendable = async () => {
      const { content } = await sandbox.client.must('listAddresses', { query: { chain: 'eth', size: '50' } });
      return content.filter((one) => one.spendable).map(({ address }) => address);
    };
    t.deepEqual(await spendable(), []);
    const build = (from: string) =>
      sandbox.client.call('buildTransaction', { body: { chain: 'eth', from, to: known[1]!, amount: '1' } });
    t.like(await build(known[0]!), { code: 'ADDRESS_WATCH_ONLY', details: { reason: 'no_key' } });
    const traced = [{ chain: 'eth', spendable: 5, watchOnly: 0 }];
    t.deepEqual(await passed(sandbox, id), { pass: { state: 'done', checked: 6, traced: 5 }, traced });
    const found = await pathsOf();
    for (const [at, path] of paths.entries()) t.is(found.get(known[at]!), `[${fingerprint}/44'/60'/0'/${path}]`);
    t.is(found.get(foreign), null);
    t.deepEqual((await spendable()).sort(), [...known].sort());
    t.not(((await build(known[0]!)) as { code?: string }).code, 'ADDRESS_WATCH_ONLY');
    t.like(await build(foreign), { code: 'ADDRESS_WATCH_ONLY', details: { reason: 'no_key' } });

    const rows = () =>
      cloud.database.owner`select * from address_origin where account_id = ${accountId} order by address_id`;
    const before = await rows();
    t.is(before.length, 5);
    t.deepEqual(await passed(sandbox, id), { pass: { state: 'done', checked: 1, traced: 0 }, traced });
    t.deepEqual(await rows(), before);
    await edge.client.must('purgeKeySource', { params: { id } });
    t.like(await build(known[0]!), { code: 'ADDRESS_WATCH_ONLY', details: { reason: 'source_purged' } });
    t.deepEqual(await spendable(), []);
    t.like((await sandbox.client.must('listKeySources')).content[0], {
      traced: [{ chain: 'eth', spendable: 0, watchOnly: 5 }],
    });
    t.like(await sandbox.client.call('resolveKeySource', { params: { id } }), {
      code: 'KEY_SOURCE_PURGED',
      details: { keySourceId: id },
    });
    t.deepEqual(await rows(), before, 'a purge changes no row');
  },
);

test.serial(
  'migration M-K2 purge and back: a source that leads there again adds an origin, and the newest counts',
  async (t) => {
    const { sandbox, edge, root, id, accountId } = await sourced(evmKey);
    const address = addressOfPublicKey(uncompressed(root.derive(BASE), 'm/0/4'));
    await adopted(accountId, 'eth', address);
    t.like(await sandbox.client.must('resolveKeySource', { params: { id } }), { traced: 1, spendable: 1 });
    const again = await edge.client.must('registerKeySource', {
      body: {
        ...{
          fingerprint: 'b'.repeat(16),
          label: 'again',
          kind: 'phrase',
          keystore: 'file',
          chains: ['eth'],
          addresses: [],
        },
        keys: evmKey(root) as never,
      },
    });
    // One key twice: the older source has it.
    t.like(await sandbox.client.must('resolveKeySource', { params: { id: again.id } }), {
      checked: 0,
      traced: 0,
      spendable: 0,
    });
    await edge.client.must('purgeKeySource', { params: { id } });
    t.like(await sandbox.client.must('resolveKeySource', { params: { id: again.id } }), {
      traced: 1,
      spendable: 1,
      watchOnly: [],
    });
    const { content } = await sandbox.client.must('listAddresses', { query: { chain: 'eth' } });
    t.is(content[0]!.derivationPath, `[${'b'.repeat(16)}/44'/60'/0'/0/4]`);
  },
);

test.serial('migration M-K4 btc, tron, xrp: the origin is written, the address stays watch-only', async (t) => {
  const coin = { btc: "m/84'/0'/0'", tron: "m/44'/195'/0'", xrp: "m/44'/144'/0'" } as const;
  const { sandbox, root, id, accountId } = await sourced(
    (phrase) =>
      Object.entries(coin).map(([chain, path]) => ({ chain, path, xpub: phrase.derive(path).publicExtendedKey })),
    ['btc', 'tron', 'xrp'],
  );
  const at = (path: string) => root.derive(path).publicKey!;
  const scripts: ScriptType[] = ['p2wpkh', 'p2tr', 'p2pkh', 'p2sh-p2wpkh'];
  const texts: [Chain, string][] = [
    ...scripts.map((script, index): [Chain, string] => [
      'btc',
      bitcoinAddress(bitcoin.prefixes, at(`${coin.btc}/0/${index}`), script),
    ]),
    ['tron', tronAddress(uncompressed(root, `${coin.tron}/0/1`))],
    ['xrp', rippleAddress(at(`${coin.xrp}/0/2`))],
  ];
  for (const [chain, address] of texts) await adopted(accountId, chain, address);
  const { traced } = await passed(sandbox, id);
  t.deepEqual(
    traced.toSorted((a, b) => (a.chain < b.chain ? -1 : 1)),
    [
      { chain: 'btc', spendable: 0, watchOnly: 4 },
      { chain: 'tron', spendable: 0, watchOnly: 1 },
      { chain: 'xrp', spendable: 0, watchOnly: 1 },
    ],
  );
  t.like(await sandbox.client.must('resolveKeySource', { params: { id } }), {
    ...{ state: 'done', checked: 0, traced: 0, spendable: 0 },
    watchOnly: [{ reason: 'family_not_signed', count: 6 }],
  });
  for (const [chain, from] of texts)
    t.like(await sandbox.client.call('buildTransaction', { body: { chain, from, to: from, amount: '10000' } }), {
      code: 'ADDRESS_WATCH_ONLY',
      details: { reason: 'family_not_signed' },
    });
});

test.serial('migration M-K3 a foreign source is not found, and no row of another account is touched', async (t) => {
  const ours = await sourced(evmKey);
  const theirs = await cloud.organization();
  t.like(await theirs.sandbox.client.call('resolveKeySource', { params: { id: ours.id } }), { code: 'NOT_FOUND' });
  const address = addressOfPublicKey(uncompressed(ours.root.derive(BASE), 'm/0/0'));
  await adopted(theirs.sandbox.accountId, 'eth', address);
  t.like(await ours.sandbox.client.must('resolveKeySource', { params: { id: ours.id } }), {
    checked: 0,
    traced: 0,
    watchOnly: [],
  });
  t.is(
    (await cloud.database.owner`select * from address_origin where account_id = ${theirs.sandbox.accountId}`).length,
    0,
  );
});

test.serial('migration M-K3 two calls at once are one pass; a sandbox reset forgets origins', async (t) => {
  const { sandbox, root, id, accountId } = await sourced(evmKey);
  await adopted(accountId, 'eth', addressOfPublicKey(uncompressed(root.derive(BASE), 'm/0/1')));
  const replies = await Promise.all([1, 2, 3].map(() => sandbox.client.must('resolveKeySource', { params: { id } })));
  t.true(replies.every(({ traced }) => traced <= 1));
  t.is((await cloud.database.owner`select * from address_origin where account_id = ${accountId}`).length, 1);
  await sandbox.client.must('resetSandbox', {});
  t.is((await cloud.database.owner`select * from address_origin where account_id = ${accountId}`).length, 0);
});
