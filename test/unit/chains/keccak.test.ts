import test from 'ava';
import fc from 'fast-check';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { keccak256, keccak256Hex } from '../../../chains/keccak.ts';

test('Keccak-256 the published digests of the empty text and of "abc"', (t) => {
  t.is(keccak256Hex(new Uint8Array()), 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
  t.is(keccak256Hex(Buffer.from('abc')), '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45');
});

test('Keccak-256 property: any bytes hash as in @noble/hashes, around every block boundary', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        t.deepEqual(keccak256(bytes), keccak_256(bytes));
        t.is(keccak256Hex(bytes), Buffer.from(keccak_256(bytes)).toString('hex'));
      }),
      { numRuns: 300 },
    ),
  );
  for (let length = 130; length < 140; length++) {
    const bytes = new Uint8Array(length).fill(length);
    t.deepEqual(keccak256(bytes), keccak_256(bytes), `${length}`);
  }
});

test('Keccak-256 a digest stays what it was when the next one is computed', (t) => {
  const first = keccak256(Buffer.from('a'));
  const copy = Uint8Array.from(first);
  keccak256(Buffer.from('b'));
  t.deepEqual(first, copy);
});
