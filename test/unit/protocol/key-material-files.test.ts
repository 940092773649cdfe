/**
 * F31: keys as people paste them: PEM files, BIP-38, keystore files, SLIP-39 shares, in every free text, without false
 * alarms.
 */
import test from 'ava';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { base58 } from '@scure/base';
import { findKeyMaterial, findKeyMaterialInFields, type KeyMaterialRule } from '../../../protocol/node/key-material.ts';
import { SHARE_WORDS } from '../../../protocol/share-words.ts';

const inBody = (value: unknown) =>
  findKeyMaterial(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const bip38 = (second: number) => {
  const payload = Buffer.concat([Buffer.from([1, second, second === 0x42 ? 0xe0 : 0x20]), Buffer.alloc(36, 7)]);
  return base58.encode(Buffer.concat([payload, sha256(sha256(payload)).subarray(0, 4)]));
};
/** SLIP-39, test vector 1: valid, 128 bits. */
const SHARE =
  'duckling enlarge academic academic agency result length solution fridge kidney coal piece deal husband erode duke ajar critical decision keyboard';
const KEYSTORE = {
  version: 3,
  id: 'x',
  address: 'ab',
  crypto: {
    cipher: 'aes-128-ctr',
    ciphertext: 'ab'.repeat(32),
    cipherparams: { iv: 'cd'.repeat(16) },
    kdf: 'scrypt',
    kdfparams: { n: 262_144 },
    mac: 'ef'.repeat(32),
  },
};
const EIP2335 = {
  crypto: {
    kdf: { function: 'scrypt', params: {}, message: '' },
    checksum: {},
    cipher: { function: 'aes-128-ctr', params: {}, message: 'ab' },
  },
  path: 'm/12381',
};

const pemOf = (type: 'ec' | 'ed25519' | 'rsa', format: 'pkcs8' | 'sec1' | 'pkcs1', more: object = {}): string => {
  const options = {
    privateKeyEncoding: { type: format, format: 'pem', ...more },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    namedCurve: 'secp256k1',
    modulusLength: 1_024,
  } as never;
  return (generateKeyPairSync as (kind: string, options: never) => { privateKey: string })(type, options).privateKey;
};
const derOf = (kind: 'ec' | 'ed25519', type: 'pkcs8' | 'sec1'): string => {
  const key = kind === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'secp256k1' }) : generateKeyPairSync('ed25519');
  return key.privateKey.export({ type: type as 'pkcs8', format: 'der' }).toString('hex');
};
const jwkOf = (type: 'ed25519' | 'rsa') =>
  generateKeyPairSync(type as 'rsa', { modulusLength: 1_024 }).privateKey.export({ format: 'jwk' });
const body = (pem: string) => pem.split('\n').slice(1, -2).join('');
const EC = pemOf('ec', 'pkcs8'),
  ED = pemOf('ed25519', 'pkcs8'),
  SEC1 = pemOf('ec', 'sec1');

const SECRETS: readonly (readonly [rule: KeyMaterialRule, what: string, text: string])[] = [
  ['pem', 'PKCS #8', EC],
  ['pem', 'SEC 1', SEC1],
  ['pem', 'Ed25519', ED],
  ['pem', 'RSA', pemOf('rsa', 'pkcs1')],
  ['pem', 'encrypted', pemOf('ec', 'pkcs8', { cipher: 'aes-256-cbc', passphrase: 'x' })],
  ['pem', 'OpenSSH', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----'],
  ['pem', 'OpenPGP', '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ\n'],
  ['pem', 'on one line', EC.replaceAll('\n', ' ')],
  ['pem', 'lower case', '-----begin private key-----\nmc4c'],
  ['pem', 'without armour', body(EC)],
  ['pem', 'Ed25519 without armour', body(ED)],
  ['pem', 'SEC 1 without armour', body(SEC1)],
  ...(['pkcs8', 'sec1'] as const).map((type) => ['pem', `${type} in hex`, derOf('ec', type)] as const),
  ['pem', 'Ed25519 in hex', derOf('ed25519', 'pkcs8').toUpperCase()],
  ['pem', 'PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\nAAAAIDfq'],
  ['pem', 'age', `AGE-SECRET-KEY-1${'GFPYYSJZ'.repeat(7)}QQ`],
  ['share', 'codex32', 'ms10testsxxxxxxxxxxxxxxxxxxxxxxxxxx4nzvca9cmczlw'],
  ['share', 'codex32, a share of 256 bits, upper case', `MS12NAMEA${'QPZRY9X8GF2TVDW0'.repeat(4)}C`],
  ['bip38', 'not multiplied', bip38(0x42)],
  ['bip38', 'multiplied', bip38(0x43)],
  ['keystore', 'as text', JSON.stringify(KEYSTORE)],
  ['keystore', 'as escaped text', JSON.stringify(JSON.stringify(KEYSTORE))],
  ['keystore', 'EIP-2335', JSON.stringify(EIP2335)],
  ['jwk', 'Ed25519', JSON.stringify(jwkOf('ed25519'))],
  ['jwk', 'RSA, as escaped text', JSON.stringify(JSON.stringify(jwkOf('rsa')))],
  ['secret_key_bytes', 'a file of solana-keygen as text', JSON.stringify([...randomBytes(64)])],
  ['share', 'a share', SHARE],
  ['share', 'in upper case', SHARE.toUpperCase()],
  [
    'share',
    'cut to four letters',
    SHARE.split(' ')
      .map((word) => word.slice(0, 4))
      .join(' '),
  ],
  [
    'share',
    'numbered',
    SHARE.split(' ')
      .map((word, i) => `${i + 1}. ${word}`)
      .join('\n'),
  ],
  ['share', 'in a sentence', `my share: ${SHARE} thanks`],
  ['share', 'with a word mistyped', SHARE.replace('keyboard', 'zero')],
];

test('found F31: a bare key in base64 is found wherever its bytes put a + or a /', (t) => {
  t.is(inBody({ label: 'MC4CAQAwBQYDK2VwBCIEIL/YtMwZTbOlSWgoRFoQ67KJrl/ka4m+kcJ3SocyUw5V' }), 'pem');
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.constantFrom('label', 'note', 'x'),
      (seed, field) => {
        const bare = Buffer.concat([prefix, seed]).toString('base64');
        t.is(inBody({ [field]: bare }), 'pem', bare);
        t.is(inBody({ [field]: Buffer.from(bare).toString('base64') }), 'pem', 'in base64 again');
      },
    ),
    { numRuns: 500 },
  );
});

test('found F31: PEM, BIP-38, keystore files and SLIP-39 shares are found in every free text: fields, names, nesting, queries, paths, base64', (t) => {
  for (const [rule, what, text] of SECRETS) {
    for (const field of ['label', 'userRef', 'tag', 'note', 'description', 'x'])
      t.is(inBody({ [field]: text }), rule, `${what} as ${field}`);
    t.is(inBody({ a: [{ b: [text] }] }), rule, `${what} nested`);
    t.is(inBody({ note: `please keep this: ${text} .` }), rule, `${what} in a sentence`);
    t.is(findKeyMaterialInFields([{ name: 'label', text }]), rule, `${what} in a query`);
    t.is(findKeyMaterialInFields([{ name: '', text }]), rule, `${what} in a path`);
    if (text.length > 30) t.is(inBody({ note: Buffer.from(text).toString('base64') }), rule, `${what} in base64`);
    t.is(inBody(text), rule, `${what} as a body`);
  }
  t.is(inBody(KEYSTORE), 'keystore', 'a keystore file as the body');
  t.is(inBody({ wallet: { Crypto: KEYSTORE.crypto } }), 'keystore');
  t.is(inBody({ words: SHARE.split(' ') }), 'share', 'one word an entry');
  t.is(inBody(Object.fromEntries(SHARE.split(' ').map((word, i) => [`w${i}`, word]))), 'share', 'one word a field');
});

test('found F31: a share with one word mistyped is found inside of prose too: into another word, into none, cut, doubled, with a digit in it', (t) => {
  const words = SHARE.split(' '),
    longer =
      'theory painting academic academic armed sweater year military elder discuss acne wildlife boring employer fused large satoshi bundle carbon diagnose anatomy hamster leaves tracks paces beyond phantom capital marvel lips brave detect luck';
  t.is(inBody({ note: `keep ${longer} safe` }), 'share', 'test vector of 256 bits');
  const places = fc.nat(words.length - 1),
    slips = fc.oneof(
      fc.constantFrom(...SHARE_WORDS),
      fc.constantFrom('keybaord', 'zzzz', 'x', 'the', 'a', 'academically', 'pieces', 'k3yb0ard', 'hus6and'),
      fc.stringMatching(/^[a-z]{1,12}$/),
    );
  const prose = fc.constantFrom(
    ['', ''],
    ['my backup is ', ''],
    ['please keep this: ', ' .'],
    ['the academic market said ', ' and then the critical fiction'],
    ['a b c ', ' one two'],
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(
        places,
        slips,
        prose,
        (place, slip, [before, after]) =>
          inBody({ note: `${before}${words.with(place, slip).join(' ')}${after}` }) === 'share',
      ),
      { numRuns: 400 },
    ),
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.nat(32),
        slips,
        (place, slip) => inBody({ note: `is ${longer.split(' ').with(place, slip).join(' ')} it` }) === 'share',
      ),
      { numRuns: 200 },
    ),
  );
});

test('F31 nineteen words of the list and one of none are no share', (t) => {
  const word = fc.constantFrom(...SHARE_WORDS);
  let alarms = 0;
  fc.assert(
    fc.property(fc.array(word, { minLength: 19, maxLength: 19 }), fc.nat(19), (words, at) => {
      alarms += inBody({ note: `about ${words.toSpliced(at, 0, 'the').join(' ')} of` }) === 'share' ? 1 : 0;
    }),
    { numRuns: 300, seed: 31 },
  );
  t.is(alarms, 0);
});

test('F31 ordinary labels raise no alarm', (t) => {
  for (const label of [
    'Customer 4711',
    'crypto deposits',
    'crypto: main wallet',
    'private key ceremony on Monday',
    'The private key is kept in the safe',
    'kdf team',
    'cipher street 5',
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----\nMFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAE\n-----END PUBLIC KEY-----',
    `6P${'a'.repeat(56)}`,
    SHARE.split(' ').slice(0, 12).join(' '),
    'ordinary people like music and fiction; they enjoy holiday travel, pizza and a walk in the wild',
    `${bip38(0x42).slice(0, -1)}2`,
    'academic '.repeat(10).trim(),
  ])
    t.is(inBody({ label }), null, label);
  const word = fc.constantFrom(
    'invoice',
    'for',
    'the',
    'customer',
    'order',
    'wallet',
    'of',
    'shop',
    'Berlin',
    'crypto',
    'deposit',
    'key',
    'private',
    'account',
    'main',
    '2026',
    '#17',
    'and',
    'USDC',
    'academic',
    'market',
    'fiction',
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), (words) => inBody({ label: words.join(' ') }) === null),
      { numRuns: 500 },
    ),
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (label) => {
        const rule = inBody({ label });
        return rule === null || !['pem', 'bip38', 'keystore', 'share'].includes(rule);
      }),
      { numRuns: 500 },
    ),
  );
  for (let i = 0; i < 50; i += 1) t.is(inBody({ label: randomBytes(30).toString('base64') }), null);
});

test('F31 the list of shares has 1,024 words whose first four letters are unique', (t) => {
  t.is(SHARE_WORDS.length, 1_024);
  t.is(new Set(SHARE_WORDS.map((one) => one.slice(0, 4))).size, 1_024);
  t.deepEqual(SHARE_WORDS.toSorted(), [...SHARE_WORDS]);
});
