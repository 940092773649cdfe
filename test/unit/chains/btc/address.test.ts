import { schnorr } from '@noble/curves/secp256k1.js';
import { bech32, bech32m } from '@scure/base';
import test from 'ava';
import fc from 'fast-check';
import { checkDestination, parseAddress, parseToken } from '../../../../chains/btc/address.ts';
import { deriveAddress, SCRIPT_TYPES, taprootKey } from '../../../../chains/btc/derive.ts';
import { bitcoin, litecoinRegtest } from '../../../../chains/btc/network.ts';
import { addressOf, outputOf, scriptOf, type Output, type ScriptKind } from '../../../../chains/btc/script.ts';
import { vector } from '../../../support/vectors.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const output = fc.constantFrom<ScriptKind>('p2pkh', 'p2sh', 'p2wpkh', 'p2wsh', 'p2tr').chain((kind) =>
  fc
    .uint8Array({
      minLength: kind === 'p2wsh' || kind === 'p2tr' ? 32 : 20,
      maxLength: kind === 'p2wsh' || kind === 'p2tr' ? 32 : 20,
    })
    .map((program): Output => ({ kind, program })),
);

test('BIP-341 property: the native output key is that of @noble/curves, with a tree and without', (t) => {
  const { lift_x, pointToBytes, taggedHash } = schnorr.utils;
  const number = (bytes: Uint8Array) => BigInt(`0x${hex(bytes)}`);
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.constantFrom(0, 32), (secret, length) => {
        const internal = schnorr.getPublicKey(Uint8Array.from([1, ...secret.subarray(1)]));
        const root = secret.subarray(0, length);
        const tweak = schnorr.Point.BASE.multiply(number(taggedHash('TapTweak', internal, root)));
        t.is(hex(taprootKey(internal, root)), hex(pointToBytes(lift_x(number(internal)).add(tweak))));
      }),
      { numRuns: 50 },
    ),
  );
  t.throws(() => taprootKey(new Uint8Array(32).fill(0xff)));
});

test('G6 property: script → address → script, on both networks, and never on the other one', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(output, fc.constantFrom(bitcoin, litecoinRegtest), (paid, network) => {
        const script = scriptOf(paid);
        t.deepEqual(
          { ...outputOf(script)!, program: hex(outputOf(script)!.program) },
          { kind: paid.kind, program: hex(paid.program) },
        );
        const text = addressOf(network.prefixes, paid);
        const parsed = parseAddress(network, text);
        if (!parsed.ok) return t.fail(text);
        t.deepEqual(
          [parsed.canonical, parsed.kind, hex(parsed.bytes), parsed.tag],
          [text, paid.kind, hex(script), null],
        );
        t.false(parseAddress(network === bitcoin ? litecoinRegtest : bitcoin, text).ok);
      }),
    ),
  );
});

test('4.1 property: an address with a changed character is refused', (t) => {
  const letters = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ';
  t.notThrows(() =>
    fc.assert(
      fc.property(output, fc.nat(100), fc.nat(letters.length - 1), (paid, at, letter) => {
        const text = addressOf(bitcoin.prefixes, paid);
        const place = at % text.length;
        fc.pre(text[place]!.toLowerCase() !== letters[letter]!.toLowerCase());
        t.false(parseAddress(bitcoin, text.slice(0, place) + letters[letter] + text.slice(place + 1)).ok);
      }),
    ),
  );
});

test('4.1-2 the scripts of the address vectors; upper case is stored in lower case', (t) => {
  const { cases, segwit } = vector<{
    cases: { address: string; valid: boolean; scriptPubKey: string }[];
    segwit: { address: string; scriptPubKey: string }[];
  }>('addresses/btc.json');
  for (const { address, scriptPubKey } of cases.filter(({ valid }) => valid)) {
    const parsed = parseAddress(bitcoin, address);
    t.true(parsed.ok && hex(parsed.bytes) === scriptPubKey, address);
  }
  for (const { address, scriptPubKey } of segwit.filter(
    (one) => /^bc1[pq]/i.test(one.address) && one.scriptPubKey.length > 40,
  )) {
    const parsed = parseAddress(bitcoin, address);
    t.true(parsed.ok && hex(parsed.bytes) === scriptPubKey && parsed.canonical === address.toLowerCase(), address);
  }
});

test('4.1-3 4.1-4 the lists of chains.md: wrong checksum kinds, lengths and versions above 1', (t) => {
  const refused = [
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh',
    'bc1pw5dgrnzv',
    'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf',
    'BC1SW50QGDZ25J',
    'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs',
    'bc1pfeessrawgf',
    'bc1',
    'bc1q',
    ' bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    '1'.repeat(200),
  ];
  for (const text of refused) {
    const parsed = parseAddress(bitcoin, text);
    t.false(parsed.ok, text);
    if (!parsed.ok) t.deepEqual([parsed.code, typeof parsed.details['reason']], ['INVALID_ADDRESS', 'string']);
  }
  const taken = parseAddress(bitcoin, 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0');
  t.true(taken.ok && hex(taken.bytes) === '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798');
});

test('BIP-173 BIP-350 strings: both codes accept and refuse what the standards do', (t) => {
  const strings = vector<{
    bech32Valid: string[];
    bech32Invalid: { string: string }[];
    bech32mValid: string[];
    bech32mInvalid: { string: string }[];
  }>('addresses/btc-bech32-strings.json');
  for (const text of strings.bech32Valid) t.truthy(bech32.decodeUnsafe(text, 90), text);
  for (const text of strings.bech32mValid) t.truthy(bech32m.decodeUnsafe(text, 90), text);
  for (const { string } of strings.bech32Invalid) t.is(bech32.decodeUnsafe(string, 90), undefined, string);
  for (const { string } of strings.bech32mInvalid) t.is(bech32m.decodeUnsafe(string, 90), undefined, string);
});

test('4.1 gas tank, treasury and the four script types of one phrase', (t) => {
  const xpub =
    'xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V';
  t.deepEqual(deriveAddress(bitcoin, xpub, 1, 0), {
    address: 'bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el',
    path: "m/84'/0'/0'/1/0",
  });
  t.deepEqual(deriveAddress(bitcoin, xpub, 1, 1), {
    address: 'bc1qggnasd834t54yulsep6fta8lpjekv4zj6gv5rf',
    path: "m/84'/0'/0'/1/1",
  });
  t.deepEqual(
    SCRIPT_TYPES.map((script) => deriveAddress(bitcoin, xpub, 0, 0, script).path.slice(0, 5)),
    ["m/44'", "m/49'", "m/84'", "m/86'"],
  );
  t.regex(deriveAddress(litecoinRegtest, xpub, 0, 0).address, /^rltc1q/);
  t.throws(() => deriveAddress(bitcoin, 'xpub', 0, 0), { instanceOf: RangeError });
});

test('part 11 no token lives on this chain, and every address may be paid', (t) => {
  t.is(parseToken(bitcoin, 'anything').code, 'TOKEN_NOT_SUPPORTED');
  const parsed = parseAddress(bitcoin, '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2');
  t.is(parsed.ok ? checkDestination(bitcoin, parsed, new Map()) : parsed, null);
});
