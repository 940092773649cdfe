import { sha256 } from '@noble/hashes/sha2.js';
import { base58xrp, createBase58check } from '@scure/base';
import test from 'ava';
import fc from 'fast-check';
import { BITCOIN_ALPHABET, createAddressCoder, RIPPLE_ALPHABET } from '../../../chains/base58.ts';

const bitcoin = createAddressCoder(BITCOIN_ALPHABET);
const ripple = createAddressCoder(RIPPLE_ALPHABET);
const reference = createBase58check(sha256);

test('G6 property: base58 of 25 bytes equals @scure/base in both alphabets, and decodes again', (t) => {
  const hashes = fc.oneof(
    fc.uint8Array({ minLength: 20, maxLength: 20 }),
    fc.nat(20).map((zeros) => new Uint8Array(20).fill(0xff, zeros)),
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.nat(255), hashes, (version, hash) => {
        const payload = Uint8Array.of(version, ...hash);
        const text = bitcoin.encode(version, hash);
        t.is(text, reference.encode(payload));
        t.deepEqual([...bitcoin.payloadOf(text)], [...payload]);
        const checked = Uint8Array.of(...payload, ...sha256(sha256(payload)).subarray(0, 4));
        t.is(ripple.encode(version, hash), base58xrp.encode(checked));
        t.deepEqual([...ripple.payloadOf(ripple.encode(version, hash))], [...payload]);
      }),
      { numRuns: 1_000 },
    ),
  );
  t.is(bitcoin.encode(0, new Uint8Array(20)), '1111111111111111111114oLvT2');
  t.is(ripple.encode(0, new Uint8Array(20)), 'rrrrrrrrrrrrrrrrrrrrrhoLvTp');
});
