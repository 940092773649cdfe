import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { HDKey } from '@scure/bip32';
import { derivePublicKey, deriveUncompressedPublicKey, keyNodeOf, parseXpub } from '../../../chains/secp256k1.ts';

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../vectors/${path}`, import.meta.url), 'utf8'));
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

interface Account {
  xpub: string;
  addresses: { relativePath: string; publicKey: string }[];
}
const accounts: Account[] = ['evm-bip44-60', 'tron-bip44-195', 'xrp-bip44-144'].flatMap(
  (name) => read(`derivation/${name}.json`).accounts as Account[],
);

test('BIP-32 every published public key of evm, tron and xrp accounts is derived', (t) => {
  for (const { xpub, addresses } of accounts) {
    for (const { relativePath, publicKey } of addresses) {
      const [change, index] = relativePath.split('/').map(Number);
      t.is(hex(derivePublicKey(xpub, change as 0 | 1, index!)), publicKey, relativePath);
    }
  }
});

test('BIP-32 property: the native child equals that of @scure/bip32, compressed and not', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.constantFrom(0 as const, 1 as const),
        fc.integer({ min: 0, max: 2 ** 31 - 1 }),
        (seed, change, index) => {
          const account = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'");
          const reference = HDKey.fromExtendedKey(account.publicExtendedKey).deriveChild(change).deriveChild(index);
          t.is(hex(derivePublicKey(account.publicExtendedKey, change, index)), hex(reference.publicKey!));
          const uncompressed = deriveUncompressedPublicKey(account.publicExtendedKey, change, index);
          t.is(uncompressed.length, 65);
          t.is(hex(uncompressed.subarray(1, 33)), hex(reference.publicKey!.subarray(1)));
        },
      ),
      { numRuns: 60 },
    ),
  );
});

test('BIP-32 xpubs of the published chains are read back unchanged; ypub and zpub are read as the same key', (t) => {
  for (const { chains } of read('derivation/bip32.json').vectors as { chains: { xpub: string }[] }[]) {
    for (const { xpub } of chains) {
      const parsed = parseXpub(xpub);
      t.true(parsed.ok && parsed.xpub === xpub && parsed.version === 'xpub');
    }
  }
  const btc = read('derivation/btc-bip44-49-84-86.json') as { accounts: Record<string, unknown>[] };
  let read2 = 0;
  for (const account of btc.accounts) {
    for (const [version, text] of Object.entries(account).filter(([name]) => /^[yz]pub$/.test(name))) {
      const parsed = parseXpub(text as string);
      t.true(parsed.ok && parsed.version === version && parsed.xpub === account['xpub']);
      read2++;
    }
  }
  t.true(read2 > 0);
});

test('BIP-32 invalid keys are refused, private ones as key material, and nothing of the text comes back', (t) => {
  for (const { key, reason } of read('derivation/bip32.json').invalid as { key: string; reason: string }[]) {
    const parsed = parseXpub(key);
    t.false(parsed.ok, reason);
    if (parsed.ok) continue;
    t.is(parsed.code, key.startsWith('xprv') ? 'KEY_MATERIAL_REJECTED' : 'INVALID_INPUT', reason);
    t.false(JSON.stringify(parsed).includes(key.slice(4, 20)));
  }
  for (const { chains } of read('derivation/bip32.json').vectors as { chains: { xprv: string }[] }[]) {
    for (const { xprv } of chains) {
      const parsed = parseXpub(xprv);
      t.true(!parsed.ok && parsed.code === 'KEY_MATERIAL_REJECTED');
    }
  }
});

test('BIP-32 property: a changed character of an extended key is noticed', (t) => {
  const { xpub } = accounts[0]!;
  const alphabet = [...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'];
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: xpub.length - 1 }), fc.constantFrom(...alphabet), (at, letter) => {
        fc.pre(xpub[at] !== letter);
        t.false(parseXpub(xpub.slice(0, at) + letter + xpub.slice(at + 1)).ok);
      }),
    ),
  );
});

test('BIP-32 indexes outside the public range and unreadable keys throw', (t) => {
  const { xpub } = accounts[0]!;
  for (const index of [-1, 2 ** 31, 0.5, Number.NaN])
    t.throws(() => derivePublicKey(xpub, 0, index), { instanceOf: RangeError });
  t.throws(() => derivePublicKey('xpub', 0, 0), { instanceOf: RangeError });
});

test('a node of any extended key has the children that BIP-32 gives it, one level after the other', (t) => {
  for (let round = 0; round < 20; round += 1) {
    const root = HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'");
    const node = keyNodeOf(root.publicKey!, root.chainCode!);
    for (const index of [0, 1, 99, 2 ** 31 - 1]) {
      t.deepEqual([...node.publicKeyOf(index)], [...root.deriveChild(index).publicKey!]);
      t.deepEqual([...node.childOf(index).publicKeyOf(7)], [...root.deriveChild(index).deriveChild(7).publicKey!]);
    }
  }
});
