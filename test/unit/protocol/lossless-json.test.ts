import test from 'ava';
import fc from 'fast-check';
import { countOf, decimalTextOf, integerOf, parseLossless } from '../../../protocol/lossless-json.ts';

test('G4 a number that a double would change keeps its text', (t) => {
  t.deepEqual(parseLossless('{"a":9007199254740993,"b":0.05013719,"c":[1e3,-12345678901234567890],"d":42}'), {
    a: '9007199254740993',
    b: '0.05013719',
    c: ['1e3', '-12345678901234567890'],
    d: 42,
  });
  t.is(parseLossless('0.1'), '0.1');
  t.is(parseLossless(' -7 '), -7);
  t.is(parseLossless('999999999999999'), 999_999_999_999_999);
  t.is(parseLossless('1000000000000000'), '1000000000000000');
});

test('G4 what looks like a number inside a string is left alone', (t) => {
  const value = { memo: 'x:1.5,"y":2.5,', back: 'a\\', quote: '":1.25,"', n: ['[1.5]', '\\"1.5,'] };
  t.deepEqual(parseLossless(JSON.stringify(value)), value);
});

test('G4 property: any JSON value without lossy numbers comes back as it was', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const plain = JSON.parse(
          JSON.stringify(value, (_key, inner: unknown) =>
            typeof inner === 'number' && (!Number.isInteger(inner) || Math.abs(inner) >= 1e15) ? null : inner,
          ),
        ) as unknown;
        t.deepEqual(parseLossless(JSON.stringify(plain)), plain);
        t.deepEqual(parseLossless(JSON.stringify(plain, null, 2)), plain);
      }),
    ),
  );
});

test('G4 property: every integer and every decimal text is read exactly', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }), fc.nat(), (integer, fraction) => {
        const read = parseLossless(`{"i":${integer},"d":${integer}.${fraction}}`) as { i: unknown; d: unknown };
        t.is(integerOf(read.i), integer);
        t.is(decimalTextOf(read.d), `${integer}.${fraction}`);
      }),
    ),
  );
});

test('G4 a malformed number stays malformed, and the error does not quote the text', (t) => {
  for (const text of [
    '{"a":1.5.5}',
    '{"a":01.5}',
    '{"a":1.}',
    '{"a":+1.5}',
    '[1.5',
    '{"a":"open',
    '1.5e',
    '',
    'secret words',
  ]) {
    const error = t.throws(() => parseLossless(text), { instanceOf: SyntaxError }, text);
    t.is(error?.message, 'not valid JSON');
  }
});

test('G4 amounts are refused where the value is no number', (t) => {
  for (const value of ['', '0x10', '1.5', ' 1', '01', 'NaN', null, undefined, {}, true, 1.5, '9'.repeat(401)]) {
    t.is(integerOf(value), null);
  }
  t.is(decimalTextOf('1.'), null);
  t.is(decimalTextOf(0.1), null);
  t.is(countOf(-1), null);
  t.is(countOf('9007199254740992'), null);
  t.is(countOf('7'), 7);
});
