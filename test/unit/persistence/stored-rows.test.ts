/** Rows that an append stores as they are: fields become columns by one rule. */
import test from 'ava';
import fc from 'fast-check';
import { storedRow } from '../../../persistence/postgres/append/rows.ts';

test('a stored row has a column for each field: bigints as decimal text, what ends in Ms as an instant', (t) => {
  const { table, row, identity } = storedRow({
    table: 'notes',
    row: { userRef: 'x', amount: 10n ** 20n, createdAtMs: 0, endedAtMs: null, words: ['a'], isOpen: true, n: 1 },
    key: 'k',
  });
  t.deepEqual([table, identity], ['notes', 'k']);
  t.deepEqual(row, {
    user_ref: 'x',
    amount: '100000000000000000000',
    created_at: '1970-01-01T00:00:00.000Z',
    ended_at: null,
    words: ['a'],
    is_open: true,
    n: 1,
  });
  t.throws(() => storedRow({ table: 'notes', row: { atMs: Number.NaN }, key: '' }), { instanceOf: RangeError });
});

test('property: no two fields of a stored row share a column, and each is written as JSON', (t) => {
  const field = fc.stringMatching(/^[a-z]{1,5}([A-Z][a-z]{1,4}){0,2}$/).filter((name) => !name.endsWith('Ms'));
  fc.assert(
    fc.property(fc.dictionary(field, fc.oneof(fc.bigInt(), fc.string(), fc.boolean(), fc.constant(null))), (row) => {
      const stored = storedRow({ table: 'notes', row, key: '' });
      t.is(Object.keys(stored.row).length, Object.keys(row).length);
      t.notThrows(() => JSON.stringify(stored.row));
    }),
  );
});
