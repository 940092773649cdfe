import test from 'ava';
import fc from 'fast-check';
import { base58, base58xrp, createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { entropyToMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { createHash } from 'node:crypto';
import { createGuard, type Secret } from '../../../actors/migration/guard/guard.ts';
import { isSecretName } from '../../../protocol/node/secret-names.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const check = createBase58check(sha256);
const seeded = (n: number, length: number) => sha256(Buffer.from(`guard ${n}`)).subarray(0, length);
const phraseOf = (n: number, length = 16) => entropyToMnemonic(seeded(n, length), wordlist);
const ABANDON = `${'abandon '.repeat(11)}about`;
const master = HDKey.fromMasterSeed(seeded(1, 32));
const SECRETS: Readonly<Record<string, string>> = {
  phrase: phraseOf(1),
  'phrase of 24': phraseOf(2, 32),
  abandon: ABANDON,
  xprv: master.privateExtendedKey,
  wif: check.encode(Buffer.concat([Buffer.from([0x80]), seeded(900003, 32), Buffer.from([1])])),
  hex: seeded(900004, 32).toString('hex'),
  'hex with 0x': `0x${seeded(900005, 32).toString('hex')}`,
  'xrp seed': base58xrp.encode(
    (() => {
      const payload = Buffer.concat([Buffer.from([0x21]), seeded(900006, 16)]);
      return Buffer.concat([payload, sha256(sha256(payload)).subarray(0, 4)]);
    })(),
  ),
  'solana key': base58.encode(Buffer.concat([seeded(900007, 32), seeded(900008, 32)])),
  pem: '-----BEGIN EC PRIVATE KEY-----',
  'base64 of a phrase': Buffer.from(phraseOf(9)).toString('base64'),
  bytes: `[${[...seeded(900010, 32), ...seeded(900011, 32)].join(',')}]`,
};

const XPUBS = Array.from({ length: 50 }, (_, n) => master.deriveChild(n).publicExtendedKey);
const addressOf = (n: number) => `0x${seeded(n, 20).toString('hex')}`;
/** Honest rows in which words, hashes, long references and numbers are what they are in customers' files. */
const TAGS = ['gold', 'silver', 'vip', 'basic', 'member', ''];
const honest = {
  csv: (rows: number) =>
    [
      'address,user_ref,tag,label,tx hash',
      ...Array.from(
        { length: rows },
        (_, n) =>
          `${addressOf(n)},${base58.encode(seeded(n, 32)).padEnd(52, 'x').slice(0, 52)},${TAGS[n % 6]},"order ${n}, index",${sha256(seeded(n, 8)).toString('hex')}`,
      ),
    ].join('\n'),
  json: (rows: number) =>
    Array.from({ length: rows }, (_, n) =>
      JSON.stringify({
        address: addressOf(n),
        index: n,
        tag: TAGS[n % 5],
        label: `member ${n}`,
        txid: sha256(seeded(n, 9)).toString('hex'),
      }),
    ).join('\r\n'),
  keyed: (rows: number) =>
    Array.from(
      { length: rows },
      (_, n) => `chain: eth\nxpub: ${XPUBS[n % 50]}\npath: m/44'/60'/${n}'\nrange: 0-9\n`,
    ).join('\n'),
  list: (rows: number) => Array.from({ length: rows }, (_, n) => addressOf(n)).join('\r'),
};

function judge(text: string | Uint8Array, cuts: readonly number[] = []): { clean: string; secret: Secret | null } {
  const guard = createGuard(),
    bytes = Buffer.from(text as string),
    clean: Buffer[] = [];
  let secret: Secret | null = null;
  const take = (judged: ReturnType<typeof guard.push>): void => {
    if ('clean' in judged) clean.push(judged.clean);
    else secret = judged.secret;
  };
  const places = [0, ...cuts.filter((at) => at < bytes.length), bytes.length];
  for (const [at, to] of places.slice(1).entries()) take(guard.push(bytes.subarray(places[at], to)));
  take(guard.end());
  return { clean: Buffer.concat(clean).toString('utf8'), secret };
}
const every = (size: number, length: number) =>
  Array.from({ length: Math.ceil(length / size) }, (_, n) => (n + 1) * size);

test('migration M-X6, M-U6: honest files of each format come out as they came in: long references, words that are in a list, hashes in their column', (t) => {
  for (const [name, file] of Object.entries(honest)) {
    const text = file(1_500);
    for (const size of [7_919, 65_536]) {
      const { clean, secret } = judge(text, every(size, text.length));
      t.is(secret, null, name);
      t.true(clean === text, `${name} in pieces of ${size}`);
    }
  }
});

test('migration M-U6: every secret in every place of every format is found, at its line, and no part of it comes out', (t) => {
  for (const [name, secret] of Object.entries(SECRETS)) {
    const places: Record<string, [text: string, line: number]> = {
      'a cell': [`address,note\n${addressOf(1)},a\n${addressOf(2)},"${secret}"\n${addressOf(3)},b\n`, 3],
      'the last cell': [`${honest.csv(500)}\n${addressOf(1)},x,,${JSON.stringify(secret)},`, 502],
      'the first line': [`${secret}\n${addressOf(1)}`, 1],
      'a comment': [`# ${secret}\naddress\n${addressOf(1)}\n`, 1],
      'a value': [`{"address":"${addressOf(1)}"}\n{"address":"${addressOf(2)}","note":"${secret}"}`, 2],
      'a value in escapes': [
        `{"note":"${[...secret].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"}`,
        1,
      ],
      'a block': [`chain: eth\nnote: ${secret}\n`, 2],
      'behind a window': [`${honest.csv(1_200)}\n${addressOf(1)},x,,"${secret}",\n${honest.csv(600).slice(40)}`, 1_202],
    };
    for (const [place, [text, line]] of Object.entries(places)) {
      const found = judge(text, every(16_384, text.length));
      t.is(found.secret?.line, line, `${name} in ${place}`);
      t.false(found.clean.includes(secret.slice(0, 12)), `${name} in ${place}`);
    }
  }
});

test('migration M-U6: a secret that is cut by chunks is found wherever it is cut, and no part of it comes out', (t) => {
  const before = `${honest.csv(700)}\n`;
  for (const secret of [SECRETS['xprv']!, SECRETS['phrase']!, SECRETS['hex']!]) {
    const text = `${before}${addressOf(1)},x,,${secret},\n${honest.list(2_000).replaceAll('\r', ',,,,\n')}`;
    for (let at = 0; at < secret.length; at += 9) {
      const { clean, secret: found } = judge(text, [65_536, before.length + 45 + at, before.length + 90_000]);
      t.is(found?.line, 702);
      t.true(text.startsWith(clean) && clean.length <= before.length + 45);
    }
  }
});

test('migration M-X6: a phrase down a column is found: between addresses, numbered, in JSON, in each length; a column of tags is not', (t) => {
  const down = (words: readonly string[], row: (word: string, n: number) => string, rows = 300) => [
    ...Array.from({ length: rows }, (_, n) => row(TAGS[n % 2]!, n)),
    ...words.map((word, n) => row(word, rows + n)),
    ...Array.from({ length: rows }, (_, n) => row(TAGS[n % 3]!, n)),
  ];
  const asRow = (word: string, n: number) => `${addressOf(n)},${word},x`,
    asNumbered = (word: string, n: number) => `${addressOf(n)},"${n}. ${word.toUpperCase()}",x`,
    asJson = (word: string, n: number) => `{"address":"${addressOf(n)}","tag":"${word}"}`;
  for (const length of [16, 20, 24, 28, 32])
    for (const row of [asRow, asNumbered, asJson]) {
      const words = phraseOf(length, length).split(' ');
      const lines = [...(row === asJson ? [] : ['address,tag,label']), ...down(words, row)];
      const { secret, clean } = judge(lines.join('\n'), every(9_000, 200_000));
      t.regex(secret?.rule ?? '', /mnemonic|share/, `${words.length} ${row.name}`);
      t.false(clean.includes(row(words[0]!, 300)), 'its first word was held back');
    }
  const [old, ...rest] = phraseOf(77, 32).split(' ');
  const known = ['address,tag', ...[old, 'x1', ...[old, ...rest]].map((word, n) => `${addressOf(n)},${word}`)];
  t.regex(judge(known.join('\n')).secret?.rule ?? '', /mnemonic|share/, 'one of its words was a tag before');
  for (const rows of [0, 40]) {
    const lines = ['address,tag,label', ...down(ABANDON.split(' '), asRow, rows)];
    t.is(judge(lines.join('\n')).secret?.rule, 'mnemonic', `abandon after ${rows} rows`);
  }
  t.is(
    judge(['address,tag', ...ABANDON.split(' ').map((word, n) => `${addressOf(n)},${word}`)].join('\n')).secret?.rule,
    'mnemonic',
  );
  const tags = ['gold', 'silver', 'bronze', 'member', 'basic', 'region', 'north', 'table'];
  for (let seed = 0; seed < 20; seed += 1) {
    const random = Buffer.concat(Array.from({ length: 60 }, (_, n) => seeded(seed * 100 + n, 32)));
    const lines = ['address,tag,label', ...Array.from(random, (byte, n) => asRow(tags[byte % (2 + (seed % 7))]!, n))];
    t.is(judge(lines.join('\n')).secret, null);
  }
});

test('migration M-U6: names that only secrets have, even over an empty column; 64 hex digits only under a hash', (t) => {
  for (const name of [
    'private key',
    'Private_Key',
    'PrivKey',
    'walletSeed',
    'seed phrase',
    'Mnemonic',
    'WIF',
    'xprv',
    'keystore',
    'Password',
    'PIN',
    'secret-key',
    'encryptedPrivateKey',
    'recovery.phrase',
  ])
    t.true(isSecretName(name), name);
  for (const name of [
    'address',
    'pinned',
    'secretary',
    'shipping',
    'reference',
    'userRef',
    'seedling',
    'key',
    'public key',
    'label',
  ])
    t.false(isSecretName(name), name);
  const rule = (text: string) => judge(text).secret?.rule ?? null;
  t.is(rule(`address;seed phrase\n${addressOf(1)};`), 'secret_name');
  t.is(rule(`{"address":"${addressOf(1)}","privateKey":null}`), 'secret_name');
  t.is(rule('chain: eth\npassword: x\n'), 'secret_name');
  const hash = sha256(seeded(1, 3)).toString('hex');
  for (const [name, expected] of [
    ['tx hash', null],
    ['txid', null],
    ['user_ref_hash', null],
    ['reference', 'hex_64'],
    ['userRef', 'hex_64'],
  ] as const)
    t.is(rule(`address,label,${name}\n${addressOf(1)},"a,\nb",${hash}`), expected, name);
  t.is(rule(`tr(${hash})#abcdefgh`), 'hex_64');
  t.is(rule(`tr(02${hash})#abcdefgh`), null);
});

test('migration M-U6: any bytes are judged without a throw, and what comes out is what came in, in whatever pieces', (t) => {
  const part = fc.constantFrom(
    '\n',
    '\r',
    '\r\n',
    ',',
    '"',
    '\\',
    '{',
    ':',
    'gold',
    'zoo',
    '7',
    'é',
    '\ufffd',
    'a'.repeat(40),
    '{"a":"b"}',
  );
  const file = fc.array(part, { maxLength: 200 }).map((parts) => parts.join(''));
  t.notThrows(() =>
    fc.assert(
      fc.property(file, fc.array(fc.nat(400), { maxLength: 5 }), (text, cuts) => {
        const { clean, secret } = judge(
          text,
          cuts.toSorted((a, b) => a - b),
        );
        return secret === null ? clean === text : text.startsWith(clean);
      }),
      { numRuns: 200 },
    ),
  );
});

/** Linear work takes some 200 ms for a megabyte. */
const CPU_MS_MAX = 10_000;

test('migration M-T5: the guard takes work that grows with the length of hostile files', (t) => {
  const files = {
    'one line': 'a'.repeat(1_000_000),
    'one line of words': 'zebra1 '.repeat(140_000),
    'list words and digits': `zoo ${'1'.repeat(1_000_000)}`,
    lines: '\n'.repeat(1_000_000),
    quotes: '"\n'.repeat(500_000),
    candidates: `${'K'.repeat(52)}\n`.repeat(19_000),
    'long lines': `${'x,'.repeat(16_000)}\n`.repeat(31),
    words: 'address\n' + 'gold\n0\n'.repeat(140_000),
  };
  for (const [name, text] of Object.entries(files)) {
    const before = process.cpuUsage();
    judge(text, every(65_536, text.length));
    const { user, system } = process.cpuUsage(before);
    t.true((user + system) / 1_000 < CPU_MS_MAX, `${name}: ${(user + system) / 1_000} ms`);
  }
});
