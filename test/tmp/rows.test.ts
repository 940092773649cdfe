import test from 'ava';
import { openDatabase } from '../../persistence/postgres/sql.ts';
import { createTestDatabase } from '../support/postgres.ts';
test('rows after an error in the middle', async (t) => {
  const database = await createTestDatabase();
  const sql = openDatabase({ url: database.url, connections: 1, name: 'x' });
  const bad = await sql`select 1 / (3 - g) as v from generate_series(1, 5) g`.catch((e: unknown) => String(e));
  t.log(bad);
  const rows = await sql`select 42 as x`;
  t.log(rows.length, rows[0], rows);
  t.deepEqual([...rows], [{ x: 42 }] as never);
  await sql.end();
  await database.close();
});
