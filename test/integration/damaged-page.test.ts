/** A page of the database that the disk gave back with other bytes: an error, and no answer that rests on it. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { sqlstateOf } from '../../persistence/postgres/sql.ts';
import { patiently } from '../support/patience.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { PostgresServers } from '../support/postgres-pair.ts';
import { addressRow, appendOf, newOrganization, openStores, write } from '../support/store-rows.ts';

/** Of a page; rows fill it from its end. */
const [PAGE_BYTES, FROM_ITS_END] = [8_192, 40];
/** `data_corrupted`. */
const DAMAGED = 'XX001';

test('4.1 row 32: one byte of a page is another one: what rests on it is refused as damaged, nothing is written over it, other tables serve', async (t) => {
  t.timeout(600_000);
  const servers = new PostgresServers();
  t.teardown(() => servers.close());
  const server = await servers.primary();
  const database = await createTestDatabase({ server: server.url });
  t.teardown(() => database.close());
  const stores = await openStores(database);
  const { live } = await newOrganization(stores);
  await write(stores, live, [{ table: 'address', row: addressRow(live) }]);
  const append = await appendOf(stores, live, [], [{ type: 'sandbox_reset' }]);
  const [at] = await database.admin<{ path: string }[]>`select pg_relation_filepath('flock.account') as path`;
  await database.admin`checkpoint`;
  await server.kill();

  const file = openSync(join(server.directory, at!.path), 'r+');
  const byte = Buffer.alloc(1),
    place = PAGE_BYTES - FROM_ITS_END;
  readSync(file, byte, 0, 1, place);
  byte[0]! ^= 0x01;
  writeSync(file, byte, 0, 1, place);
  closeSync(file);
  await server.start();

  const codeOf = (work: () => Promise<unknown>) =>
    patiently(
      'an answer of the server',
      async () => {
        try {
          await work();
          return 'taken';
        } catch (error) {
          return sqlstateOf(error);
        }
      },
      // Connections of before the crash end first.
      (code) => code === DAMAGED || code === 'taken',
    );
  t.is(await codeOf(() => stores.accounts.load(live)), DAMAGED);
  t.is(await codeOf(() => stores.accounts.append(append)), DAMAGED);
  t.is(await codeOf(() => stores.accounts.load(live)), DAMAGED, 'it stays so until a person restores it');
  t.is(await codeOf(() => database.owner`select count(*) from address_registry`), 'taken');
});
