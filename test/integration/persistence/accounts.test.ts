import test from 'ava';
import { createTestDatabase } from '../../support/postgres.ts';
import { createOwnership } from '../../../persistence/postgres/account-store.ts';

const database = await createTestDatabase();
test.after.always(() => database.close());

test('I17 claiming a shard mints an epoch that was never used', async (t) => {
  const ownership = createOwnership(database.sql);
  t.deepEqual(await ownership.claimShards('a', [7, 3]), new Map([[3, 1], [7, 1]]));
  t.deepEqual(await ownership.claimShards('b', [7]), new Map([[7, 2]]));
});
