/**
 * The connection pool to PostgreSQL. Every write is ONE statement: `begin` of this client is not safe for money (when a
 * backend dies, the next statement of a callback runs on another connection outside of any transaction), so nothing
 * outside the migrations may use it; test/tidy/words.test.ts holds that.
 */
import postgres from 'postgres';

/** Rows as TypeScript sees them: numeric → bigint, int8 → number, timestamptz → epoch milliseconds, columns in camelCase. */
export type Sql = postgres.Sql<{ numeric: bigint; int8: number; timestamptz: number }>;
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

export interface DatabaseOptions {
  readonly url: string;
  /** Limit of connections of this pool. */
  readonly connections: number;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** Role of the session. `flock_app` may write money only through the posting functions. */
  readonly role?: 'flock_app' | 'flock_owner' | null;
}

/** Reliability 1.3. Milliseconds. */
const STATEMENT_TIMEOUT_MS = 10_000;
const LOCK_TIMEOUT_MS = 3_000;
const IDLE_IN_TRANSACTION_MS = 5_000;
const TCP_USER_TIMEOUT_MS = 10_000;
const CONNECTION_CHECK_MS = 2_000;
const CONNECT_TIMEOUT_S = 5;
const IDLE_TIMEOUT_S = 300;

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} does not fit a safe integer`);
  return value;
}

/** A pool as the application role; it connects when it is first used and reconnects by itself. */
export function openDatabase({ url, connections, name, role = 'flock_app' }: DatabaseOptions): Sql {
  const setRole = role === null || new URL(url).username === role ? {} : { role };
  return postgres(url, {
    max: connections,
    connect_timeout: CONNECT_TIMEOUT_S,
    idle_timeout: IDLE_TIMEOUT_S,
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 1),
    onnotice: () => undefined,
    transform: { column: { from: postgres.toCamel } },
    connection: {
      application_name: name,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      tcp_user_timeout: TCP_USER_TIMEOUT_MS,
      client_connection_check_interval: CONNECTION_CHECK_MS,
      TimeZone: 'UTC',
      search_path: 'flock',
      ...setRole,
    } as postgres.Options<Record<string, postgres.PostgresType>>['connection'] & object,
    types: {
      numeric: { to: 1700, from: [1700], serialize: (value: bigint) => value.toString(), parse: (text: string) => BigInt(text) },
      int8: { to: 20, from: [20], serialize: (value: number | bigint) => value.toString(), parse: safeInteger },
      timestamptz: {
        to: 1184, from: [1184],
        serialize: (value: number) => new Date(value).toISOString(),
        parse: (text: string) => Date.parse(text),
      },
    },
  }) as unknown as Sql;
}

/** SQLSTATE of an error of the server, null for one of the connection (then the outcome of a write is unknown). */
export function sqlstateOf(error: unknown): string | null {
  const code = error instanceof Error && error.name === 'PostgresError' ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** Name of the violated constraint, as the schema and the triggers give it; null when the error has none. */
export function constraintOf(error: unknown): string | null {
  const name = error instanceof Error ? (error as { constraint_name?: unknown }).constraint_name : undefined;
  // A partition reports its own index; the constraint that was declared is the whole table's.
  return typeof name === 'string' ? name.replace(/^address_registry_[0-9a-f]_pkey$/, 'address_registry_key') : null;
}
