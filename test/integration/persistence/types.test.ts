import test from 'ava';
import fc from 'fast-check';
import { arrayOf, arrayText } from '../../../persistence/postgres/array-text.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database.close());

/** What PostgreSQL's text can hold: anything but NUL and lone surrogates. */
const text = fc
  .string({ unit: 'binary', maxLength: 12 })
  .filter((value) => !value.includes('\u0000') && value.isWellFormed());
const hard = fc.constantFrom('', ' ', 'NULL', 'null', '{}', ',', '"', '\\', '\\"', "'", 'a"b\\c', '\n', '{1,2}');

test('arrays go to the server and come back as they were', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(text, hard, fc.constant(null)), { maxLength: 8 }), async (values) => {
      const [row] = await database.sql`select ${values}::text[] as back, cardinality(${values}::text[]) as size`;
      t.deepEqual([row!.back, row!.size], [values, values.length]);
    }),
    { numRuns: 200 },
  );
});

test('the text of an array is read as it was written', (t) => {
  fc.assert(
    fc.property(fc.array(fc.oneof(text, hard, fc.constant(null))), (values) =>
      t.deepEqual(arrayOf(arrayText(values)), values),
    ),
  );
  t.deepEqual(arrayOf('{a,b c,"d,e",NULL,"NULL"}'), ['a', 'b c', 'd,e', null, 'NULL']);
});

test('amounts, counts and instants keep their value', async (t) => {
  const amounts = fc.bigInt({ min: -(10n ** 78n) + 1n, max: 10n ** 78n - 1n });
  await fc.assert(
    fc.asyncProperty(amounts, fc.integer({ min: 0, max: 4_102_444_800_000 }), async (amount, ms) => {
      const [row] =
        await database.sql`select ${amount.toString()}::amount as amount, ${ms}::timestamptz as at, ${ms}::bigint as count`;
      t.deepEqual([row!.amount, row!.at, row!.count], [amount, ms, ms]);
    }),
    { numRuns: 100 },
  );
  await t.throwsAsync(database.sql`select 9007199254740993::bigint as unsafe`, { instanceOf: RangeError });
  const [keys] =
    await database.sql`select ${['0a000000-0000-0000-0000-000000000001']}::uuid[] = array['0a000000-0000-0000-0000-000000000001'::uuid] as same, ${[1, 2]}::int[] = array[1, 2] as numbers`;
  t.deepEqual({ ...keys }, { same: true, numbers: true });
});
