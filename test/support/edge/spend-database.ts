/** A database that only the edges of one test know, for their shared spend ledger. */
import type { ExecutionContext } from 'ava';
import { openDatabase } from '../../../persistence/postgres/sql.ts';
import { newDatabaseName, testServerUrl } from '../postgres.ts';

export async function newSpendDatabase(t: ExecutionContext): Promise<string> {
  const server = await testServerUrl();
  const name = newDatabaseName('spend');
  const admin = openDatabase({ url: server, connections: 1, name: 'flock-test', role: null });
  await admin`create database ${admin(name)}`;
  t.teardown(async () => {
    await admin`drop database ${admin(name)} with (force)`;
    await admin.end({ timeout: 5 });
  });
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
