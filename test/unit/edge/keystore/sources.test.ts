import { spawnSync } from 'node:child_process';
import { HDKey } from '@scure/bip32';
import test from 'ava';
import fc from 'fast-check';
import type { ScriptType } from '../../../../chains/btc/derive.ts';
import { seedOf } from '../../../../edge/keystore/keys.ts';
import { KeystoreError } from '../../../../edge/keystore/keystore-error.ts';
import { checkSource } from '../../../../edge/keystore/source-check.ts';
import { addressesOfSingleKey, addressOf, addressOfSourceKey } from '../../../../edge/keystore/source-address.ts';
import { detectPath, pathsOf } from '../../../../edge/keystore/source-paths.ts';
import { originOf, parseOrigin, SOURCE_FAMILIES, type SourceFamily } from '../../../../edge/keystore/source-record.ts';
import { parseKeySource, parsePhraseSource } from '../../../../edge/keystore/source-secret.ts';
import { addressAt } from '../../../../edge/keystore/phrase-address.ts';
import { coreFilesPossible } from '../../../../edge/process/core-files.ts';
import { OLD_PHRASE } from '../../../support/edge/keystores.ts';

function addressAtPath(seed: Uint8Array, family: SourceFamily, path: string, script: ScriptType | null): string {
  return addressOf(family, HDKey.fromMasterSeed(seed).derive(path).publicKey!, script ?? undefined);
}

test('issue 4.8 single keys in the form of their chain give the published addresses', (t) => {
  const first = (family: SourceFamily, text: string) => addressesOfSingleKey(parseKeySource(family, text).keys[0]!);
  // Private key 1, and the keys of the ledgers' own documents.
  const one = '0'.repeat(63) + '1';
  t.deepEqual(first('evm', one), ['0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf']);
  t.deepEqual(first('evm', `0x${one}`), ['0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf']);
  t.deepEqual(first('tron', one), ['TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC']);
  const btc = first('btc', 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn');
  t.true(btc.includes('1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH'));
  t.true(btc.includes('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'));
  t.is(btc.length, 4);
  t.deepEqual(first('btc', '5HpHagT65TZzG1PH3CSu63k8DbpvD8s5ip4nEB3kEsreAnchuDf'), [
    '1EHNa6Q4Jz2uvNExL497mE43ikXhwF6kZm',
  ]);
  t.deepEqual(first('xrp', 'snoPBrXtMeMyMHUVTgbuqAfg1SUTb'), ['rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh']);
  t.deepEqual(first('xrp', 'sEdSKaCy2JT7JaM7v95H9SxkhP9wS2r'), ['rLUEXYuLiQptky37CqLcm9USQpPiz5rkpD']);
});

test('issue 4.8 what is not exactly of the named kind is KEY_NOT_UNDERSTOOD, and nothing of it is repeated', (t) => {
  const wrong: [SourceFamily, string][] = [
    ['evm', '0'.repeat(64)],
    ['evm', 'f'.repeat(64)],
    ['evm', '11'.repeat(31)],
    ['evm', `0X${'11'.repeat(32)}`],
    ['evm', OLD_PHRASE],
    ['btc', '11'.repeat(32)],
    ['btc', 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWm'],
    ['btc', 'cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA'],
    ['xrp', 'snoPBrXtMeMyMHUVTgbuqAfg1SUTc'],
    ['xrp', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
    ['tron', ''],
  ];
  for (const [family, text] of wrong) {
    const error = t.throws(() => parseKeySource(family, text), { instanceOf: KeystoreError }, `${family} ${text}`);
    t.is(error.code, 'KEY_NOT_UNDERSTOOD');
    if (text !== '') t.false(error.message.includes(text));
  }
  const error = t.throws(() => parsePhraseSource(OLD_PHRASE.replace('yellow', 'winner'), ''), {
    instanceOf: KeystoreError,
  });
  t.notRegex(error.message, /winner/);
});

test('issue 4.8 a phrase is found whatever its case and spaces; its passphrase makes another source', (t) => {
  const plain = parsePhraseSource(OLD_PHRASE, '');
  t.is(parsePhraseSource(`  ${OLD_PHRASE.toUpperCase().replaceAll(' ', '\n ')} `, '').fingerprint, plain.fingerprint);
  t.not(parsePhraseSource(OLD_PHRASE, 'TREZOR').fingerprint, plain.fingerprint);
  t.deepEqual(new Set(plain.keys.map(({ family }) => family)), new Set(SOURCE_FAMILIES));
});

const TWELVE = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';

test('migration M-P8 path detection finds each path of the catalogue that a phrase leads to, and no path for a foreign address', (t) => {
  const seed = seedOf(OLD_PHRASE, '');
  for (const family of SOURCE_FAMILIES) {
    for (const { template, script } of pathsOf(family)) {
      const at = template.replace('a', '1').replace('i', '2').replace('v', '3').replace('c', '0').replace('k', '1');
      const address = addressAtPath(seed, family, at, script);
      const found = detectPath(seed, family, address, 3);
      t.is(found === null ? null : addressAtPath(seed, family, found.path, script), address, at);
      // A path that is in the catalogue twice is found as the first of them.
      if (found!.path !== at) t.true(template.startsWith("m/44'/60'/1'/"), `${at} ${found!.path}`);
    }
  }
  t.is(detectPath(seed, 'evm', '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf', 3), null);
  t.is(detectPath(seed, 'evm', addressAt(seed, 'eth', "m/44'/60'/0'/0/9"), 9), null);
});

test('migration M-P8 the published vectors of the catalogue', (t) => {
  const seed = seedOf(TWELVE, '');
  const vectors: [SourceFamily, string, string][] = [
    ['evm', "m/44'/60'/1'/0/0", '0x78839F6054d7ed13918bAe0473BA31b1Ca9D7265'],
    ['evm', "m/44'/60'/0'/0", '0xB8Fd42000d00202DCbCF5e18d6640d656345FD6A'],
    ['evm', "m/0'/0'/0'/0", '0x339Bc745c15D75126ABA96243eA35271A5f568Bf'],
    ['evm', 'm/44/60/1/0/0', '0x45e8FF695F49cF8A428Cabc3083f90Df98ab2Af3'],
    ['evm', 'm', '0xa8E070649A1D98651D281FdD428BD3EeC0d279e0'],
    ['tron', "m/44'/195'/1'/0/0", 'TLrpNTBuCpGMrB9TyVwgEhNVRhtWEQPHh4'],
    ['xrp', "m/44'/144'/1'/0/0", 'rNAB7uPziNwZAkdzyeo6xRA9pKTsJxZ6td'],
    ['btc', "m/44'/0'/0'/0/0", 'bc1qmxrw6qdh5g3ztfcwm0et5l8mvws4eva24kmp8m'],
    ['btc', "m/44'/0'/0'/0/0", '3HkzTaFbEMWeJPLyNCNhPyGfZsVLDwdD3G'],
    ['btc', "m/0'/0/0", 'bc1qgv52mt89gpev6p56huggl970sppqkgftxakv7f'],
    ['btc', 'm/0/0', '13iX7DteNj1gV7zhe4t6o9FX9CArR5wZxz'],
    ['btc', 'm/44/0/0/0/0', 'bc1qld7ss4fmjtsm5grdc3kaj7hm5wq0779e0f654l'],
  ];
  for (const [family, path, address] of vectors) t.is(detectPath(seed, family, address, 3)?.path, path, address);
});

test("issue 4.8 the signing check proves keys and addresses, and fails for a record that is another secret's", (t) => {
  const { keys, secret } = parsePhraseSource(OLD_PHRASE, '');
  const path = "m/44'/60'/0'/0/3";
  const addresses = [{ chain: 'eth' as const, path, address: addressOfSourceKey(keys[0]!, path)! }];
  t.deepEqual(checkSource({ keys, addresses }, secret), { keys: 7, addresses: 1, failed: [] });
  const other = parsePhraseSource(OLD_PHRASE, 'TREZOR').secret;
  t.like(checkSource({ keys, addresses }, other), { keys: 0, addresses: 0 });
  t.deepEqual(checkSource({ keys, addresses: [{ ...addresses[0]!, path: "m/44'/60'/0'/0/4" }] }, secret).failed, [
    addresses[0]!.address,
  ]);
  for (const [family, text] of [
    ['evm', '22'.repeat(32)],
    ['btc', 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn'],
    ['xrp', 'sEdSKaCy2JT7JaM7v95H9SxkhP9wS2r'],
  ] as const) {
    const single = parseKeySource(family, text);
    t.deepEqual(checkSource({ keys: single.keys, addresses: [] }, single.secret), {
      keys: 1,
      addresses: 0,
      failed: [],
    });
    t.deepEqual(checkSource({ keys: single.keys, addresses: [] }, Buffer.alloc(32, 9)).failed, ['key']);
  }
});

test('§4.8 an origin is read back as it was written; a path of the own phrase is none', (t) => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[0-9a-f]{16}$/),
      fc.option(fc.array(fc.tuple(fc.nat(2 ** 31 - 1), fc.boolean()), { minLength: 1, maxLength: 6 })),
      (fingerprint, steps) => {
        const path =
          steps === null ? null : ['m', ...steps.map(([step, hardened]) => `${step}${hardened ? "'" : ''}`)].join('/');
        const read = parseOrigin(originOf(fingerprint, path));
        return read?.fingerprint === fingerprint && read.path === path;
      },
    ),
  );
  for (const text of [
    "m/44'/60'/0'/0/0",
    '',
    '[]',
    '[xyz]',
    `[${'a'.repeat(16)}`,
    `[${'a'.repeat(16)}]/0`,
    `[${'A'.repeat(16)}]`,
  ])
    t.is(parseOrigin(text), null, text);
});

test('issue 4.8 a process marks itself as not dumpable: no core file, no look into its memory or first environment', (t) => {
  const script = `
    import koffi from 'koffi';
    import { coreFilesPossible, forbidDumps } from './edge/process/core-files.ts';
    const dumpable = koffi.load(null).func('int prctl(int option, ulong value, ulong none2, ulong none3, ulong none4)');
    console.log(JSON.stringify([dumpable(3, 0, 0, 0, 0), await forbidDumps(), dumpable(3, 0, 0, 0, 0), coreFilesPossible()]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  t.is(stdout.trim(), '[1,true,0,false]', stderr);
});

test('issue 4.8 a process that may write core files is told', (t) => {
  const limits = (soft: string) =>
    `Limit                     Soft Limit           Hard Limit           Units     \nMax stack size            8388608              unlimited            bytes     \nMax core file size        ${soft}            unlimited            bytes     \n`;
  t.deepEqual(
    ['0', 'unlimited', '1024'].map((soft) => coreFilesPossible(limits(soft))),
    [false, true, true],
  );
  t.false(coreFilesPossible(null));
});
