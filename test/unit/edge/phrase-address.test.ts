import test from 'ava';
import fc from 'fast-check';
import { CHAINS, FAMILY_OF } from '../../../protocol/slugs.ts';
import { factsOf, networkOf } from '../../../chains/registry.ts';
import { accountXpub, curveOf, derivePrivateKey, seedOf } from '../../../edge/keystore/keys.ts';
import { addressAt, canonicalPath, isHardened, scriptOfPath } from '../../../edge/keystore/phrase-address.ts';
import { vector } from '../../support/vectors.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('BIP-39 seeds of the vectors', (t) => {
  const { vectors } = vector<{ vectors: { mnemonic: string; passphrase: string; seed: string }[] }>(
    'derivation/bip39-english.json',
  );
  for (const { mnemonic, passphrase, seed } of vectors) t.is(hex(seedOf(mnemonic, passphrase)), seed);
});

test('BIP-32 extended public keys of the vectors', (t) => {
  const { vectors } = vector<{ vectors: { seed: string; chains: { path: string; xpub: string }[] }[] }>(
    'derivation/bip32.json',
  );
  for (const { seed, chains } of vectors) {
    for (const { path, xpub } of chains)
      t.is(accountXpub(Buffer.from(seed, 'hex'), canonicalPath(path.replaceAll('H', "'"))!), xpub, path);
  }
});

test('SLIP-0010 private keys of the vectors', (t) => {
  const { vectors } = vector<{ vectors: { seed: string; chains: { path: string; privateKey: string }[] }[] }>(
    'derivation/slip10-ed25519.json',
  );
  for (const { seed, chains } of vectors) {
    for (const { path, privateKey } of chains.filter(({ path: text }) => text !== 'm')) {
      t.is(hex(derivePrivateKey(Buffer.from(seed, 'hex'), 'ed25519', path)), privateKey, path);
    }
  }
});

test('1.6-2 property: what the edge derives from the seed is what the cloud derives from the xpub', (t) => {
  const chains = CHAINS.filter((chain) => curveOf(chain) === 'secp256k1');
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 16, maxLength: 64 }),
        fc.constantFrom(...chains),
        fc.constantFrom(0, 1),
        fc.nat(2 ** 31 - 1),
        (seed, chain, change, index) => {
          const { derivation } = factsOf(chain);
          if (derivation.kind !== 'xpub') return t.fail();
          const network = networkOf(chain);
          const { address, path } = derivation.deriveAddress(
            network,
            accountXpub(seed, network.accountPath),
            change as 0 | 1,
            index,
          );
          t.is(path, `${network.accountPath}/${change}/${index}`);
          t.is(addressAt(seed, chain, path), address);
          const parsed = factsOf(chain).parseAddress(network, address);
          t.true(parsed.ok && parsed.canonical === address);
        },
      ),
      { numRuns: 40 },
    ),
  );
});

test('7.1 9.1 the paths of pools and gas tanks give addresses of their chain, each another one', (t) => {
  const seed = Buffer.alloc(64, 7);
  for (const chain of CHAINS.filter((slug) => curveOf(slug) === 'ed25519')) {
    const { derivation, parseAddress } = factsOf(chain);
    if (derivation.kind !== 'pool') return t.fail();
    const paths = [0, 1, 2, 2 ** 31 - 1].map((index) => derivation.depositPath(index)).concat(derivation.gasTankPath);
    const addresses = paths.map((path) => addressAt(seed, chain, path));
    t.is(new Set(addresses).size, paths.length);
    for (const address of addresses) t.true(parseAddress(networkOf(chain), address).ok, FAMILY_OF[chain]);
    for (const index of [-1, 2 ** 31, 0.5, NaN])
      t.throws(() => derivation.depositPath(index), { instanceOf: RangeError });
  }
});

test('BIP-32 paths have one spelling', (t) => {
  const cases: [string, string | null][] = [
    ['m', 'm'],
    ["m/44'/0'/0'/0/5", "m/44'/0'/0'/0/5"],
    ['m/44h/0h/0h', "m/44'/0'/0'"],
    ["m/007'", "m/7'"],
    ['m/2147483647', 'm/2147483647'],
    ['m/2147483648', null],
    ['m/', null],
    ['', null],
    ['M/0', null],
    ['m/44H', null],
    ['m/-1', null],
    ['m/0x1', null],
    ['m/1/ 2', null],
    ['m//1', null],
    ["m/1''", null],
    ["44'/0'", null],
    [`m${'/1'.repeat(256)}`, null],
    ['m/12345678901', null],
  ];
  for (const [text, canonical] of cases) t.is(canonicalPath(text), canonical, text);
  t.deepEqual([isHardened("m/44'/501'"), isHardened("m/44'/501"), isHardened('m')], [true, false, false]);
  t.deepEqual(["m/44'/0'/0'", "m/49'/0'/0'", "m/84'/0'/0'", "m/86'/0'/0'", 'm/0/1'].map(scriptOfPath), [
    'p2pkh',
    'p2sh-p2wpkh',
    'p2wpkh',
    'p2tr',
    'p2wpkh',
  ]);
});
