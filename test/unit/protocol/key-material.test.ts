import test from 'ava';
import fc from 'fast-check';
import { createHash, randomBytes } from 'node:crypto';
import { base58, base58xrp, base32nopad } from '@scure/base';
import { entropyToMnemonic } from '@scure/bip39';
import { wordlist as czech } from '@scure/bip39/wordlists/czech.js';
import { wordlist as english } from '@scure/bip39/wordlists/english.js';
import { wordlist as french } from '@scure/bip39/wordlists/french.js';
import { wordlist as italian } from '@scure/bip39/wordlists/italian.js';
import { wordlist as japanese } from '@scure/bip39/wordlists/japanese.js';
import { wordlist as korean } from '@scure/bip39/wordlists/korean.js';
import { wordlist as portuguese } from '@scure/bip39/wordlists/portuguese.js';
import { wordlist as chineseSimplified } from '@scure/bip39/wordlists/simplified-chinese.js';
import { wordlist as spanish } from '@scure/bip39/wordlists/spanish.js';
import { wordlist as chineseTraditional } from '@scure/bip39/wordlists/traditional-chinese.js';
import { findKeyMaterial, findKeyMaterialInFields } from '../../../protocol/node/key-material.ts';
import { ROUTE_LIST } from '../../../protocol/routes.ts';
import { EVENTS } from '../../../protocol/slugs.ts';
import { vector } from '../../support/vectors.ts';

const LISTS = {
  english,
  spanish,
  french,
  italian,
  portuguese,
  czech,
  japanese,
  korean,
  chineseSimplified,
  chineseTraditional,
};
const inBody = (value: unknown) =>
  findKeyMaterial(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
const phraseOf = (bytes: number, list = english) =>
  entropyToMnemonic(
    Uint8Array.from({ length: bytes }, (_, at) => (at * 37 + bytes) & 255),
    list,
  );

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const check58 = (coder: typeof base58, payload: Uint8Array) =>
  coder.encode(Buffer.concat([payload, sha256(sha256(payload)).subarray(0, 4)]));
const KEY = Buffer.from('1f'.repeat(32), 'hex');

function stellarSeed(key: Uint8Array): string {
  const payload = Buffer.concat([Buffer.from([0x90]), key]);
  let crc = 0;
  for (const byte of payload) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return base32nopad.encode(Buffer.concat([payload, Buffer.from([crc & 0xff, crc >> 8])]));
}

const XPRV = vector<{ vectors: { chains: { xprv: string; xpub: string }[] }[] }>('derivation/bip32.json').vectors[0]!
  .chains[0]!;

for (const [language, list] of Object.entries(LISTS)) {
  test(`reliability 3.6: a phrase in ${language} is found, however it is written`, (t) => {
    for (const bytes of [16, 20, 24, 28, 32]) {
      const phrase = phraseOf(bytes, list);
      const words = phrase.split(/[\s\u3000]+/);
      const forms = {
        spaces: { note: phrase },
        sentence: { note: `my backup: ${phrase} thanks` },
        commas: { note: words.join(', ') },
        lines: { note: words.join('\n') },
        numbered: { note: words.map((word, at) => `${at + 1}. ${word}`).join('\n') },
        array: { words },
        fields: Object.fromEntries(words.map((word, at) => [`f${at}`, word])),
        upper: { note: phrase.toUpperCase() },
        composed: { note: phrase.normalize('NFC') },
        base64: { note: Buffer.from(phrase).toString('base64') },
      };
      for (const [form, value] of Object.entries(forms)) t.is(inBody(value), 'mnemonic', `${form} ${bytes * 8}`);
      t.is(inBody(phrase), 'mnemonic', 'a body that is no JSON');
      t.is(inBody(`{"note": ${phrase}`), 'mnemonic', 'broken JSON');
    }
  });
}

test('reliability 3.6: words cut to four letters, escapes and missing accents hide nothing', (t) => {
  const words = phraseOf(16).split(' ');
  t.is(inBody({ note: words.map((word) => word.slice(0, 4)).join(' ') }), 'mnemonic');
  t.is(
    inBody(
      `{"note":"${words.map((word) => [...word].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('')).join(' ')}"}`,
    ),
    'mnemonic',
  );
  t.is(inBody({ note: phraseOf(16, french).normalize('NFD').replace(/\p{M}/gu, '') }), 'mnemonic');
  t.is(
    inBody(Object.fromEntries(words.map((word) => [word, 1]))),
    words.length === new Set(words).size ? 'mnemonic' : null,
  );
});

test('reliability 3.6: a value that is nothing but list words is refused whatever its checksum; prose is not', (t) => {
  const words = phraseOf(16).split(' ');
  const wrong = [...words.slice(0, 11), words[11] === 'zoo' ? 'zone' : 'zoo'].join(' ');
  t.is(inBody({ note: wrong }), 'mnemonic');
  t.is(inBody({ words: wrong.split(' ') }), 'mnemonic');
  for (const prose of [
    'Please credit the deposit of our customer as soon as the network has confirmed it, and write to us when it is done.',
    'The quick brown fox jumps over the lazy dog while the other animals sleep under the old tree near the river.',
    'deposits for the shop',
    'abandon ability able about above absent absorb abstract absurd abuse access',
    '客户的充值地址',
    'お客様の入金用アドレスです',
  ])
    t.is(inBody({ label: prose }), null, prose);
});

test('reliability 3.6: private keys of every form are found and public things are not', (t) => {
  const secrets: Record<string, unknown> = {
    extended_private_key: { note: `x ${XPRV.xprv} y` },
    wif: { note: check58(base58, Buffer.concat([Buffer.from([0x80]), KEY, Buffer.from([1])])) },
    stellar_seed: { note: stellarSeed(KEY) },
    xrp_seed: { note: check58(base58xrp as typeof base58, Buffer.concat([Buffer.from([0x21]), KEY.subarray(0, 16)])) },
    secret_key_base58: { note: base58.encode(Buffer.concat([KEY, KEY])) },
    secret_key_bytes: { key: [...Buffer.concat([KEY, KEY])] },
    hex_64: { note: `0x${KEY.toString('hex')}` },
  };
  for (const [rule, value] of Object.entries(secrets)) {
    t.is(inBody(value), rule as never);
    t.is(inBody({ deep: [{ er: value }] }), rule as never, 'nested');
    if (rule !== 'secret_key_bytes')
      t.is(inBody({ note: Buffer.from(JSON.stringify(value)).toString('base64') }), rule as never, 'base64');
  }
  t.is(inBody({ note: check58(base58, Buffer.concat([Buffer.from([0x80]), KEY])) }), 'wif', 'uncompressed');
  t.is(
    inBody({
      note: check58(base58xrp as typeof base58, Buffer.concat([Buffer.from([1, 0xe1, 0x4b]), KEY.subarray(0, 16)])),
    }),
    'xrp_seed',
    'ed25519 seed',
  );
  const innocent = [
    { xpub: XPRV.xpub },
    { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
    { address: '0x52908400098527886E0F7030069857D2E4169EE7' },
    { address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' },
    { address: 'rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe' },
    { address: 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ' },
    { address: '7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv' },
    { signedPayload: randomBytes(400).toString('hex') },
    { signedPayload: randomBytes(300).toString('base64') },
  ];
  for (const value of innocent) t.is(inBody(value), null, JSON.stringify(value).slice(0, 60));
});

test('decisions 2: 64 hex digits may stand in a field of a txid, hash, signature, fingerprint, nonce or digest', (t) => {
  const hex = randomBytes(32).toString('hex');
  for (const field of [
    'txid',
    'txids',
    'blockHash',
    'hash',
    'signature',
    'fingerprint',
    'nonce',
    'digest',
    'bodyHash',
    'previousTxid',
  ]) {
    t.is(inBody({ [field]: hex }), null, field);
    t.is(inBody({ [field]: [hex, `0x${hex}`] }), null, `${field}[]`);
    t.is(findKeyMaterialInFields([{ name: field, text: hex }]), null, `?${field}=`);
  }
  for (const field of ['userRef', 'label', 'tag', 'address', 'key', 'txidLike']) {
    t.is(inBody({ [field]: hex }), 'hex_64', field);
    t.is(inBody({ txid: hex, [field]: hex }), 'hex_64', `beside a txid: ${field}`);
  }
  t.is(inBody({ label: `${hex}ab` }), null, 'longer is something else');
  t.is(findKeyMaterialInFields([{ name: '', text: hex }]), 'hex_64', 'a part of a path');
});

test('bodies of our own paths are no key material, however many entries they have', (t) => {
  const addresses = Array.from({ length: 1_000 }, (_, index) => ({
    index,
    address: base58.encode(randomBytes(32)),
    path: `m/44'/501'/${index}'/0'`,
  }));
  t.is(
    inBody({
      pool: {
        chain: 'sol',
        addresses,
        gasTank: { address: base58.encode(randomBytes(32)), path: "m/44'/501'/0'/1'/0'" },
      },
    }),
    null,
  );
  t.is(inBody({ url: 'https://example.com', events: [...EVENTS] }), null);
  for (const { body, operationId } of ROUTE_LIST) {
    const fields = Object.keys((body as { shape?: object } | undefined)?.shape ?? {});
    t.is(
      inBody(Array.from({ length: 20 }, () => Object.fromEntries(fields.map((field) => [field, 'value'])))),
      null,
      operationId,
    );
  }
});

test('reliability 3.6: a key is found where it is the name of a field, however deep, and behind base64', (t) => {
  const hex = KEY.toString('hex');
  t.is(inBody({ [XPRV.xprv]: 1 }), 'extended_private_key');
  t.is(inBody({ a: { [hex]: {} } }), 'hex_64');
  t.is(inBody({ txid: { [hex]: 'x' } }), 'hex_64', 'what holds a hash is no name of a field');
  t.is(inBody({ [Buffer.from(XPRV.xprv).toString('base64')]: 1 }), 'extended_private_key');
  t.is(inBody({ note: Buffer.from(JSON.stringify({ [XPRV.xprv]: 1 })).toString('base64') }), 'extended_private_key');
});

test('a query, a header and a path are looked through like a body', (t) => {
  t.is(findKeyMaterialInFields([{ name: 'userRef', text: phraseOf(16) }]), 'mnemonic');
  t.is(
    findKeyMaterialInFields(
      phraseOf(16)
        .split(' ')
        .map((text, at) => ({ name: `q${at}`, text })),
    ),
    'mnemonic',
  );
  t.is(findKeyMaterialInFields([{ name: 'label', text: XPRV.xprv }]), 'extended_private_key');
  for (const letter of 'xyztuvXYZTUV')
    t.is(inBody({ note: `${letter}${XPRV.xprv.slice(1)}` }), 'extended_private_key', letter);
  const escaped = [...XPRV.xprv].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('');
  t.is(inBody(`{"note":"${escaped}"}`), 'extended_private_key', 'no run of letters stands in the raw text');
  t.is(
    findKeyMaterialInFields([
      { name: 'page', text: '0' },
      { name: 'userRef', text: 'customer-42' },
    ]),
    null,
  );
});

test('what was found is never in the answer: it is the name of a rule', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (entropy) => {
        const rule = inBody({ note: entropyToMnemonic(entropy, english) });
        return rule === 'mnemonic';
      }),
      { numRuns: 200 },
    ),
  );
});

test('64 bytes in base58 are a key alone, in a sentence and at the end of a path, and not between the signs of a signed document', (t) => {
  const key = base58.encode(Buffer.concat([KEY, KEY]));
  const found = (note: string) => findKeyMaterial(Buffer.from(JSON.stringify({ note })));
  for (const text of [key, `my key: ${key}.`, `https://wallet.example/import/${key}`, `a/b+${key}`])
    t.is(found(text), 'secret_key_base58', text);
  const blob = (length: number) => 'TUlJQ+'.repeat(length / 6);
  t.is(found(`${blob(600)}${key}/${blob(600)}`), null);
  t.is(found(`<X509Certificate>${key}+${blob(600)}</X509Certificate>`), null);
  t.is(found(`${blob(600)} ${key}`), 'secret_key_base58', 'beside one');
});

test('hostile bodies of a megabyte are read in linear time', (t) => {
  const hostile: ((size: number) => string)[] = [
    (size) => `"${'\\"'.repeat(size / 2)}`,
    (size) => '"'.repeat(size),
    (size) => '['.repeat(size),
    (size) => `{"a":"${'x'.repeat(size)}"}`,
    (size) => `"${'a '.repeat(size / 2)}"`,
    (size) => `{"a":[${'1,'.repeat(size / 2)}1]}`,
    (size) => 'zoo '.repeat(size / 4),
    (size) => 'A'.repeat(size),
    (size) => `"${'\\u0061'.repeat(size / 6)}"`,
    (size) => '1'.repeat(size),
  ];
  // Own CPU, since others use the machine; what grows with the square of the size is 64 times as dear here.
  const costOf = (text: string): number => {
    const bytes = Buffer.from(text),
      begun = process.cpuUsage();
    findKeyMaterial(bytes);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1_000;
  };
  for (const of of hostile) {
    const small = costOf(of(125_000)),
      large = costOf(of(1_000_000));
    t.true(large < 32 * small + 200, `${of(20)}: ${Math.round(small)} ms of 125 kB, ${Math.round(large)} of 1 MB`);
  }
});

test('a body that is nothing but shapes of keys is refused, not decoded one by one: one tenant kept the node busy for seconds', (t) => {
  const shapes = {
    xrp_seed: `s${'n'.repeat(28)}`,
    stellar_seed: `S${'A'.repeat(55)}`,
    wif: `5${'K'.repeat(50)}`,
    secret_key_base58: '0'.repeat(87),
  } as const;
  for (const [rule, shape] of Object.entries(shapes) as [keyof typeof shapes, string][]) {
    t.is(inBody({ note: Array.from({ length: 900 }, () => shape) }), null, 'none of them is a key');
    t.is(inBody({ note: Array.from({ length: 1_001 }, () => shape) }), rule);
    t.is(inBody({ note: `${shape} `.repeat(1_001) }), rule);
    t.is(inBody({ note: Buffer.from(`${shape} `.repeat(1_001)).toString('base64') }), rule);
  }
});

test('any bytes are read without a fault', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        findKeyMaterial(bytes);
      }),
      { numRuns: 300 },
    ),
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.json(), (text) => {
        findKeyMaterial(Buffer.from(text));
      }),
      { numRuns: 200 },
    ),
  );
});

test('reliability 3.6: a pool of addresses is no phrase, though its field names are list words', (t) => {
  const addresses = Array.from({ length: 1_000 }, (_, index) => ({
    index,
    address: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
    path: `m/44'/501'/${index}'/0'`,
  }));
  t.is(findKeyMaterial(Buffer.from(JSON.stringify({ chain: 'sol', addresses }))), null);
  const phrase = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'.split(
    ' ',
  );
  t.is(findKeyMaterial(Buffer.from(JSON.stringify({ words: phrase }))), 'mnemonic');
});
