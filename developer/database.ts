/** The database of developer mode inside of a server: made when missing, brought to this version. */
import { migrate } from '../persistence/postgres/migrate.ts';
import { openDatabase } from '../persistence/postgres/sql.ts';

const DATABASE = 'flock';
/** A database is made in the time that the machine needs. */
const PREPARING = { connections: 1, name: 'flock-prepare', role: null, statementTimeoutMs: 0 };

/** URL of the same server with another user, password and database. */
function urlWith(url: string, parts: { username?: string; password?: string; database: string }): string {
  const next = new URL(url);
  if (parts.username !== undefined) next.username = parts.username;
  if (parts.password !== undefined) next.password = encodeURIComponent(parts.password);
  next.pathname = `/${parts.database}`;
  return next.href;
}

/**
 * Makes the database, migrates it and answers two URLs: of the application role, and of the superuser for checkers.
 * The application role signs in with the superuser's password: both belong to this machine's own cluster.
 */
export async function prepareDatabase(
  superuserUrl: string,
  name = DATABASE,
): Promise<{ appUrl: string; superuserUrl: string }> {
  const server = openDatabase({ url: superuserUrl, ...PREPARING });
  try {
    const known = await server`select 1 from pg_database where datname = ${name}`;
    if (known.length === 0) await server`create database ${server(name)} encoding 'UTF8' template template0`;
  } finally {
    await server.end({ timeout: 5 });
  }
  const ownUrl = urlWith(superuserUrl, { database: name });
  const appPassword = decodeURIComponent(new URL(superuserUrl).password);
  await migrate({ url: ownUrl, ...(appPassword === '' ? {} : { appPassword }) });
  return {
    appUrl: urlWith(superuserUrl, { username: 'flock_app', password: appPassword, database: name }),
    superuserUrl: ownUrl,
  };
}

/**
 * Forgets the nodes of before, on a server that this deployment alone has: they ended with it, and those that were
 * killed are not waited for.
 */
export async function forgetNodes(superuserUrl: string): Promise<void> {
  const sql = openDatabase({ url: superuserUrl, ...PREPARING });
  try {
    await sql`delete from flock.cloud_node`;
  } finally {
    await sql.end({ timeout: 5 });
  }
}
