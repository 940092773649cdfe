import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { buildElement } from '../../../gateway/pages/embed/build.ts';
import { keptElements } from '../../../gateway/pages/embed/serve.ts';
import { elementWords } from '../../../gateway/pages/embed/words.ts';
import { isSignedSlowly } from '../../../gateway/pages/embed/element/verify.ts';
import { LANGUAGES } from '../../../gateway/pages/pay/words.ts';

const BYTES_MAX = 25_000;
const guide = readFileSync(new URL('../../../docs/payments.md', import.meta.url), 'utf8');

test('payments E2: the element is what its sources make of it, of at most 25 kB, and the guide names its bytes', async (t) => {
  const script = await buildElement(),
    kept = keptElements();
  const newest = kept.find(({ body }) => body === script);
  t.truthy(newest, 'npm run -s embed:build');
  t.true(gzipSync(script, { level: 9 }).length <= BYTES_MAX);
  t.true(guide.includes(newest!.path) && guide.includes(newest!.integrity), `${newest!.path} ${newest!.integrity}`);
  t.is(await buildElement(), script, 'the same sources, the same bytes');
});

test('payments H15: the element has its texts in every language', (t) => {
  const words = elementWords();
  t.deepEqual(Object.keys(words), Object.keys(LANGUAGES));
  const names = Object.keys(words['en']!);
  for (const [language, texts] of Object.entries(words)) {
    t.deepEqual(Object.keys(texts), names, language);
    t.true(
      Object.values(texts).every((text) => text !== ''),
      language,
    );
  }
  t.is(new Set(Object.values(words).map(({ unverified }) => unverified)).size, Object.keys(LANGUAGES).length);
});

test('payments E2, E6: where a browser has no Ed25519 the element takes what Node.js signed, and nothing that was changed', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = (key: KeyObject) => new Uint8Array(key.export({ format: 'der', type: 'spki' }).subarray(12));
  const [key, other] = [raw(publicKey), raw(generateKeyPairSync('ed25519').publicKey)];
  const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
  for (let length = 0; length < 12; length += 1) {
    const text = new Uint8Array(length * 17).fill(length),
      signature = new Uint8Array(sign(null, text, privateKey));
    t.true(await isSignedSlowly(key, text, signature));
    t.false(await isSignedSlowly(other, text, signature));
    t.false(await isSignedSlowly(key, Uint8Array.of(...text, 0), signature));
    for (const at of [0, 31, 32, 63]) {
      const changed = signature.slice();
      changed[at]! ^= 1;
      t.false(await isSignedSlowly(key, text, changed), `byte ${at}`);
    }
    // The same signature with the order added to its number: RFC 8032 §5.1.7 refuses it.
    let scalar = signature.slice(32).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n) + ORDER;
    const malleated = signature.slice();
    for (let at = 32; at < 64; at += 1, scalar >>= 8n) malleated[at] = Number(scalar & 0xffn);
    t.false(await isSignedSlowly(key, text, malleated));
  }
  const none = new Uint8Array(32),
    one = Uint8Array.of(1, ...new Uint8Array(31));
  for (const small of [none, one])
    t.false(await isSignedSlowly(small, new Uint8Array(3), Uint8Array.of(...one, ...none)), 'a key of small order');
  t.false(await isSignedSlowly(new Uint8Array(32).fill(0xff), new Uint8Array(3), new Uint8Array(64)), 'no point');
});
