/** Lists of references by index. Migration M-D10. */
import test from 'ava';
import fc from 'fast-check';
import { readMapping } from '../../../actors/migration/discovery/mapping.ts';
import { isRefusal } from '../../../protocol/errors.ts';

const wrong = (text: string) => {
  const read = readMapping(text);
  return isRefusal(read) ? [read.details['reason'], read.details['line']] : read;
};

test('migration M-D10: header, blank lines, byte order mark, line ends and quotes', (t) => {
  t.deepEqual(readMapping(''), []);
  t.deepEqual(readMapping('\ufeffDerivation_Index,user_ref\r\n\r\n0,a\r\n  \r\n7,"b,""c"""\r9, d \n'), [
    { index: 0, userRef: 'a' },
    { index: 7, userRef: 'b,"c"' },
    { index: 9, userRef: ' d ' },
  ]);
  t.deepEqual(readMapping('3,=1+1'), [{ index: 3, userRef: '=1+1' }]);
  t.deepEqual(readMapping('1,"two\nlines"\n2,b'), [
    { index: 1, userRef: 'two\nlines' },
    { index: 2, userRef: 'b' },
  ]);
});

test('migration M-D10: refused whole, with its line and reason', (t) => {
  t.deepEqual(wrong('derivation_index,user_ref\n0,a\n0,b'), ['duplicate_index', 3]);
  t.deepEqual(wrong('0,a\n0,a'), ['duplicate_index', 2]);
  t.deepEqual(wrong('derivation_index;user_ref\n0;a'), ['columns', 1]);
  t.deepEqual(wrong('0,a,b'), ['columns', 1]);
  t.deepEqual(wrong('5'), ['columns', 1]);
  for (const index of ['01', '-1', '1.0', '0x1', '', ' 1', '2147483648', '1e3'])
    t.deepEqual(wrong(`0,a\n${index},b`), ['bad_index', 2], index);
  t.deepEqual(wrong('2147483647,a'), [{ index: 2_147_483_647, userRef: 'a' }] as never);
  t.deepEqual(wrong('0,'), ['empty_user_ref', 1]);
  t.deepEqual(wrong('0,""'), ['empty_user_ref', 1]);
  t.deepEqual(wrong(`0,${'x'.repeat(256)}`), ['user_ref_length', 1]);
  t.false(isRefusal(readMapping(`0,${'x'.repeat(255)}`)));
  t.deepEqual(wrong('0,a\n1,"open\n2,b'), ['columns', 2]);
  t.deepEqual(wrong('0,"a"b'), ['columns', 1]);
  t.deepEqual(wrong('user_ref,derivation_index\na,0'), ['bad_index', 1]);
  t.deepEqual(wrong('0,a\nderivation_index,user_ref'), ['bad_index', 2]);
});

test('migration M-D10, M-T5: what is written is read, and a hostile megabyte is read at once', (t) => {
  const ref = fc.string({ minLength: 1, maxLength: 60, unit: 'binary' }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(2 ** 31 - 1), { maxLength: 30 }), ref, (indexes, userRef) => {
      const quoted = `"${userRef.replaceAll('"', '""')}"`;
      t.deepEqual(
        readMapping(indexes.map((index) => `${index},${quoted}`).join('\r\n')),
        indexes.map((index) => ({ index, userRef })),
      );
    }),
  );
  for (const piece of ['a,"', '""', '"', ',,', '\r', '0,"\n']) readMapping(piece.repeat(1_000_000 / piece.length));
});
