/** Which path leads from an extended public key to an address. Spec §4.8, migration M-P. */
import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { createBase58check } from '@scure/base';
import { sha256 } from '@noble/hashes/sha2.js';
import test from 'ava';
import secp256k1 from 'secp256k1';
import { addressOfKey as bitcoinAddress, type ScriptType } from '../../chains/btc/derive.ts';
import { bitcoin } from '../../chains/btc/network.ts';
import { addressOfPublicKey } from '../../chains/evm/derive.ts';
import { addressOfKey as tronAddress } from '../../chains/tron/derive.ts';
import { addressOfKey as rippleAddress } from '../../chains/xrp/derive.ts';
import { WALLET_PATHS } from '../../chains/wallet-paths.ts';
import type { SentOf } from '../../protocol/routes.ts';
import type { Chain, Family } from '../../protocol/slugs.ts';
import { startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());
let sandbox: Awaited<ReturnType<typeof cloud.organization>>['sandbox'];
test.before(async () => void ({ sandbox } = await cloud.organization()));

type Body = SentOf<'detectPath', 'body'>;
const detect = (body: Body) => sandbox.client.must('detectPath', { body });
const refused = (body: Body) => sandbox.client.call('detectPath', { body });
const CHAIN_OF = { evm: 'eth', btc: 'btc', tron: 'tron', xrp: 'xrp' } as const satisfies Partial<Record<Family, Chain>>;

const root = HDKey.fromMasterSeed(randomBytes(32));
const BASE = "m/44'/60'/0'";
const xpub = root.derive(BASE).publicExtendedKey;
const evmAt = (path: string, from = root) => addressOf('evm', from.derive(path).publicKey!, null);

function addressOf(family: Family, publicKey: Uint8Array, script: ScriptType | null): string {
  const uncompressed = secp256k1.publicKeyConvert(publicKey, false);
  if (family === 'evm') return addressOfPublicKey(uncompressed);
  if (family === 'tron') return tronAddress(uncompressed);
  return family === 'xrp' ? rippleAddress(publicKey) : bitcoinAddress(bitcoin.prefixes, publicKey, script!);
}

test.serial(
  'migration M-P3, M-P5 what is below the key is proven, what is above it is guessed and marked so',
  async (t) => {
    const { candidates, indexesTried, shapesTried, hints } = await detect({
      chain: 'eth',
      xpub,
      knownAddress: evmAt(`${BASE}/0/7`),
    });
    t.deepEqual([indexesTried, shapesTried, hints], [100, ['0/i', '1/i', 'i', 'key'], []]);
    t.is(candidates.length, 1);
    t.like(candidates[0], {
      belowKey: '0/7',
      template: `${BASE}/0/i`,
      path: `${BASE}/0/7`,
      guessed: ['purpose', 'coin'],
      script: null,
      standard: true,
      confirmed: false,
    });
    t.true(candidates[0]!.wallets.includes('MetaMask'));
    const old = await detect({ chain: 'base', xpub, knownAddress: evmAt(`${BASE}/3`).toLowerCase() });
    t.like(old.candidates[0], { belowKey: '3', template: `${BASE}/i`, path: `${BASE}/3`, standard: false });
    const branch = root.derive(`${BASE}/0`).publicExtendedKey;
    const deep = await detect({ chain: 'eth', xpub: branch, knownAddress: evmAt(`${BASE}/0/5`) });
    t.like(deep.candidates[0], { belowKey: '5', template: 'M/i', path: 'M/5', guessed: ['all'], standard: false });
    const self = await detect({ chain: 'eth', xpub, knownAddress: evmAt(BASE) });
    t.like(self.candidates[0], { belowKey: '', template: "m/44'/60'/i'", path: BASE });
    const master = await detect({ chain: 'eth', xpub: root.publicExtendedKey, knownAddress: evmAt('m/44/60/99/0/4') });
    t.like(master.candidates[0], { belowKey: '44/60/99/0/4', template: 'm/44/60/99/0/i', guessed: [] });
    t.deepEqual(master.shapesTried, ['0/i', '1/i', 'i', 'key', '44/coin/v/0/i']);
  },
);

test.serial('migration M-P6 a second address decides, row by row', async (t) => {
  const first = evmAt(`${BASE}/0/0`);
  const asked = async (more: Partial<Body>, script: Chain = 'eth') => {
    const { candidates, hints } = await detect({ chain: script, xpub, knownAddress: first, ...more });
    return [candidates.map(({ template, path, confirmed }) => [template, path, confirmed]), hints];
  };
  const each = "m/44'/60'/i'/0/0";
  t.deepEqual(await asked({}), [
    [
      [`${BASE}/0/i`, `${BASE}/0/0`, false],
      [each, `${BASE}/0/0`, false],
    ],
    [],
  ]);
  t.deepEqual(await asked({ secondAddress: evmAt(`${BASE}/0/1`) }), [[[`${BASE}/0/i`, `${BASE}/0/0`, true]], []]);
  t.deepEqual(await asked({ secondAddress: evmAt("m/44'/60'/1'/0/0") }), [[[each, `${BASE}/0/0`, false]], []]);
  t.deepEqual(await asked({ knownAddress: evmAt(`${BASE}/8`), secondAddress: evmAt(`${BASE}/9`) }), [
    [[`${BASE}/i`, `${BASE}/8`, true]],
    [],
  ]);
  t.deepEqual(await asked({ knownAddress: evmAt(`${BASE}/0/3`), secondAddress: evmAt(`${BASE}/1/4`) }), [
    [
      [`${BASE}/0/i`, `${BASE}/0/3`, true],
      [`${BASE}/1/i`, `${BASE}/1/4`, true],
    ],
    ['two_branches'],
  ]);
  t.deepEqual(await asked({ knownAddress: evmAt(`${BASE}/0/3`), secondAddress: evmAt("m/44'/60'/7'/0/0") }), [
    [[`${BASE}/0/i`, `${BASE}/0/3`, false]],
    ['second_not_found'],
  ]);
});

test.serial('migration M-P7 nothing is found: which reasons are left', async (t) => {
  t.like(await detect({ chain: 'eth', xpub, knownAddress: evmAt("m/44'/60'/9'/0/0") }), {
    candidates: [],
    indexesTried: 100,
    hints: ['another_account', 'hardened_index', 'beyond_indexes', 'ask_the_edge'],
  });
  t.deepEqual((await detect({ chain: 'eth', xpub, knownAddress: evmAt(`${BASE}/0/100`) })).candidates, []);
  const btc = root.derive("m/84'/0'/0'").publicExtendedKey;
  for (const knownAddress of [
    'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
    '3P14159f73E4gFr7JterCCQh9QjiTjiZrG',
  ])
    t.true((await detect({ chain: 'btc', xpub: btc, knownAddress })).hints.includes('multisig'));
});

test.serial('migration M-P2, M-P4 the script is that of the address, whatever version the key has', async (t) => {
  for (const [script, account] of [
    ['p2pkh', "m/44'/0'/2'"],
    ['p2sh-p2wpkh', "m/49'/0'/2'"],
    ['p2wpkh', "m/84'/0'/2'"],
    ['p2tr', "m/86'/0'/2'"],
  ] as const) {
    const key = root.derive(account);
    const knownAddress = bitcoinAddress(bitcoin.prefixes, key.derive('m/1/4').publicKey!, script);
    for (const version of [0x0488b21e, 0x049d7cb2, 0x04b24746]) {
      const { candidates } = await detect({
        chain: 'btc',
        xpub: `\n ${withVersion(key.publicExtendedKey, version)}\r\n`,
        knownAddress,
      });
      t.is(candidates.length, 1);
      t.like(candidates[0], { template: `${account}/1/i`, path: `${account}/1/4`, script, belowKey: '1/4' });
      const hinted = { 0x049d7cb2: 'p2sh-p2wpkh', 0x04b24746: 'p2wpkh' }[version];
      t.is(candidates[0]!.standard, hinted === undefined || hinted === script, `${script} ${version.toString(16)}`);
    }
  }
});

const check = createBase58check(sha256);
function withVersion(text: string, version: number): string {
  const bytes = check.decode(text);
  new DataView(bytes.buffer).setUint32(0, version);
  return check.encode(bytes);
}

test.serial(
  'migration M-P8 each path of the catalogue that a public key tests is found, and its wallets are named',
  async (t) => {
    const seed = mnemonicToSeedSync(`${'abandon '.repeat(11)}about`);
    const wallet = HDKey.fromMasterSeed(seed);
    let tested = 0;
    for (const { id, family, template, script, key, wallets } of WALLET_PATHS) {
      if (key === 'descriptor' || key === 'none' || key === 'list' || !template.startsWith('m')) continue;
      const at = template.replace('a', '1').replace('i', key === 'each' || key === 'self' ? '1' : '7');
      const path = at.replace('v', '3').replace('c', '0').replace('k', '4').replace('/0/7', '/0/4');
      const depth = typeof key === 'number' ? key : key === 'each' ? 3 : path.split('/').length - 1;
      const keyPath = path
        .split('/')
        .slice(0, depth + 1)
        .join('/');
      const address = addressOf(family, wallet.derive(path).publicKey!, script);
      const { candidates } = await detect({
        chain: CHAIN_OF[family as keyof typeof CHAIN_OF],
        xpub: wallet.derive(keyPath).publicExtendedKey,
        knownAddress: address,
      });
      const found = candidates.filter((candidate) => wallets.every((name) => candidate.wallets.includes(name)));
      t.is(found.length, 1, `${id} ${template}`);
      t.is(found[0]!.belowKey, path.slice(keyPath.length + 1), `${id} ${template}`);
      tested += 1;
    }
    t.is(tested, 48);
  },
);

test.serial('migration M-P1 what is refused, and that nothing is kept', async (t) => {
  const knownAddress = evmAt(`${BASE}/0/0`);
  const key = root.derive(BASE);
  for (const text of [
    key.privateExtendedKey,
    ` ${key.privateExtendedKey}`,
    withVersion(key.privateExtendedKey, 0x04b2430c),
  ])
    t.like(await refused({ chain: 'eth', xpub: text, knownAddress }), { code: 'KEY_MATERIAL_REJECTED' });
  t.like(await refused({ chain: 'eth', xpub, knownAddress: randomBytes(32).toString('hex') }), {
    code: 'KEY_MATERIAL_REJECTED',
  });
  for (const [version, reason] of [
    [0x0295b43f, 'multisig_key'],
    [0x02aa7ed3, 'multisig_key'],
    [0x043587cf, 'test_network'],
    [0x044a5262, 'test_network'],
    [0x045f1cf6, 'test_network'],
  ] as const)
    t.like(
      await refused({
        chain: 'btc',
        xpub: withVersion(xpub, version),
        knownAddress: '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH',
      }),
      {
        code: 'INVALID_INPUT',
        details: { field: 'xpub', reason },
      },
    );
  t.like(await refused({ chain: 'eth', xpub: xpub.slice(0, -1), knownAddress }), {
    code: 'INVALID_INPUT',
    details: { field: 'xpub' },
  });
  for (const field of ['knownAddress', 'secondAddress'] as const)
    t.like(await refused({ chain: 'eth', xpub, knownAddress, [field]: 'x' }), {
      code: 'INVALID_ADDRESS',
      details: { field },
    });
  t.like(await refused({ chain: 'eth', xpub, knownAddress, secondAddress: knownAddress.toLowerCase() }), {
    code: 'INVALID_INPUT',
    details: { field: 'secondAddress' },
  });
  for (const chain of ['sol', 'xlm'] as const)
    t.like(await refused({ chain, xpub, knownAddress }), {
      code: 'INVALID_CHAIN',
      details: { reason: 'no_extended_keys' },
    });
  t.like(await refused({ chain: 'doge' as 'eth', xpub, knownAddress }), { code: 'INVALID_CHAIN' });
  const kept = await cloud.database.owner`select * from idempotency where path like '%detect-path'`;
  t.is(kept.length, 0);
  t.is((await sandbox.client.must('listKeySources')).totalElements, 0);
});

test.serial('migration M-X9 no search holds up the event loop, whatever the key and the script', async (t) => {
  const btc = root.publicExtendedKey;
  const knownAddress = bitcoinAddress(bitcoin.prefixes, secp256k1.publicKeyCreate(randomBytes(32)), 'p2tr');
  await detect({ chain: 'btc', xpub: btc, knownAddress });
  const before = performance.eventLoopUtilization();
  let turns = 0;
  const count = setInterval(() => (turns += 1), 1);
  const startedAt = performance.now();
  const { candidates } = await detect({ chain: 'btc', xpub: btc, knownAddress });
  const tookMs = performance.now() - startedAt;
  clearInterval(count);
  t.deepEqual(candidates, []);
  const { active } = performance.eventLoopUtilization(before);
  t.log(`${Math.round(tookMs)} ms, of which the loop was busy ${Math.round(active)}`);
  t.true(turns > tookMs / 20, `${turns} turns in ${tookMs} ms`);
});
