/**
 * The connection pool to PostgreSQL. Every write is ONE statement: `begin` of this client is not safe for money (when a
 * backend dies, the next statement of a callback runs on another connection outside of any transaction), so nothing
 * outside the migrations may use it; test/tidy/words.test.ts holds that.
 */
import postgres from 'postgres';
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';
import { withWholeRows } from '../../protocol/node/whole-rows.ts';
import { arrayOf, arrayText } from './array-text.ts';
import { connectSocket, endpointOf } from './connect-socket.ts';

/**
 * Rows as TypeScript sees them: numeric → bigint, int8 → number, timestamptz → epoch milliseconds, columns in
 * camelCase.
 */
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
  /**
   * A server that is silent for this long is given up, milliseconds. Only the application's: a migration may take its
   * time.
   */
  readonly silenceMs?: number;
  /** Limit of a statement, milliseconds. */
  readonly statementTimeoutMs?: number;
  /** Further settings of the session. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Sees each statement of the pool. */
  readonly watch?: (client: Sql) => Sql;
  /** Called with the notices that the server sends beside its answers. */
  readonly onNotice?: (message: string) => void;
}

/** Milliseconds. */
const STATEMENT_TIMEOUT_MS = 10_000;
const LOCK_TIMEOUT_MS = 3_000;
const IDLE_IN_TRANSACTION_MS = 5_000;
const TCP_USER_TIMEOUT_MS = 10_000;
const CONNECTION_CHECK_MS = 2_000;
const CONNECT_TIMEOUT_S = 5;
const RECONNECT: Backoff = { firstMs: 50, mostMs: 1_000 };
const IDLE_TIMEOUT_S = 300;
/** The server ends a statement after STATEMENT_TIMEOUT_MS and says so; one that does not is not there. */
const SILENCE_MS = STATEMENT_TIMEOUT_MS + 5_000;
/** For those who set their own limits. The longest that a timer takes is 24 days. */
const SILENCE_OF_OWNERS_MS = 86_400_000;

/**
 * Every query of a node is a point read, a short list or a set of keys, and has its index. Plans are made while tables
 * are small and are kept by the session: one that scans or hashes a small table would stay when the table has grown,
 * until statistics are next taken. So a session has no such plans to choose from.
 */
const INDEXES_ONLY = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', jit: 'off' };

/** A list reads some hundred index entries. One that takes longer is ended, and its caller asked to retry. */
export const LIST_TIMEOUT_MS = 2_000;

/**
 * A list has one plan, whatever its values are: the ranges of its indexes, merged. A bitmap would read a range to its
 * end, and a sort all of it; a plan of its own for each set of values is made for the values that most rows have.
 */
const RANGES_ONLY = { enable_bitmapscan: 'off', enable_sort: 'off', plan_cache_mode: 'force_generic_plan' };

/**
 * Makes the first message of a connection longer than 1,024 bytes. When a backend dies between a query and the write
 * that it scheduled, this client keeps the unsent bytes and believes for ever that a write is on its way; the slot then
 * times out on every use. A message of this size is written at once and takes the old bytes with it: the server drops
 * that connection, the next one is clean. test/integration/persistence/races.test.ts kills backends to show it.
 */
const LONG_STARTUP = { 'flock.padding': 'x'.repeat(1_024) };

/** Object ids of text[], uuid[] and integer[]. Source: pg_type. */
const TEXTS = 1009;
const UUIDS = 2951;
const INTEGERS = 1007;

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} does not fit a safe integer`);
  return value;
}

/** A pool as the application role; it connects when it is first used and reconnects by itself. */
export function openDatabase({
  url,
  connections,
  name,
  role = 'flock_app',
  silenceMs = role === 'flock_app' ? SILENCE_MS : SILENCE_OF_OWNERS_MS,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  settings = {},
  watch = (client) => client,
  onNotice,
}: DatabaseOptions): Sql {
  const setRole = role === null || new URL(url).username === role ? {} : { role };
  const endpoint = endpointOf(url);
  // The socket is ours, encrypted already where it has to be: the client must not do that again.
  const plain = new URL(url);
  plain.searchParams.delete('sslmode');
  const client = postgres(plain.href, {
    ssl: false,
    socket: () => connectSocket(endpoint, silenceMs),
    max: connections,
    connect_timeout: CONNECT_TIMEOUT_S,
    idle_timeout: IDLE_TIMEOUT_S,
    backoff: (attempt: number) => backoffMs(attempt, RECONNECT) / 1_000,
    onnotice: (notice) => onNotice?.(notice.message ?? ''),
    // A node's pool knows its array types (array-text.ts). Without the query for them this client cannot reserve a
    // connection, which only the migrations do.
    fetch_types: role !== 'flock_app',
    transform: { column: { from: postgres.toCamel } },
    connection: {
      application_name: name,
      statement_timeout: statementTimeoutMs,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      tcp_user_timeout: TCP_USER_TIMEOUT_MS,
      client_connection_check_interval: CONNECTION_CHECK_MS,
      TimeZone: 'UTC',
      search_path: 'flock',
      ...LONG_STARTUP,
      ...(role === 'flock_app' ? INDEXES_ONLY : {}),
      ...settings,
      ...setRole,
    } as postgres.Options<Record<string, postgres.PostgresType>>['connection'] & object,
    types: {
      numeric: {
        to: 1700,
        from: [1700],
        serialize: (value: bigint) => value.toString(),
        parse: (text: string) => BigInt(text),
      },
      int8: { to: 20, from: [20], serialize: (value: number | bigint) => value.toString(), parse: safeInteger },
      timestamptz: {
        to: 1184,
        from: [1184],
        serialize: (value: number) => new Date(value).toISOString(),
        parse: (text: string) => Date.parse(text),
      },
      texts: { to: TEXTS, from: [TEXTS], serialize: arrayText, parse: arrayOf },
      keys: { to: UUIDS, from: [], serialize: arrayText, parse: arrayOf },
      integers: { to: INTEGERS, from: [], serialize: arrayText, parse: arrayOf },
    },
  } as postgres.Options<Record<string, postgres.PostgresType>>);
  return watch(withWholeRows(client) as unknown as Sql);
}

/** The pool of the lists, as the application role. */
export function openLists({
  timeoutMs = LIST_TIMEOUT_MS,
  ...options
}: Pick<DatabaseOptions, 'url' | 'connections' | 'name' | 'watch' | 'onNotice'> & { timeoutMs?: number }): Sql {
  return openDatabase({ ...options, statementTimeoutMs: timeoutMs, settings: RANGES_ONLY });
}

/** SQLSTATE of an error of the server, null for one of the connection (then the outcome of a write is unknown). */
export function sqlstateOf(error: unknown): string | null {
  const code =
    error instanceof Error && error.name === 'PostgresError' ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** Name of the violated constraint, as the schema and the triggers give it; null when the error has none. */
export function constraintOf(error: unknown): string | null {
  const name = error instanceof Error ? (error as { constraint_name?: unknown }).constraint_name : undefined;
  // A partition reports its own index; the constraint that was declared is the whole table's.
  return typeof name === 'string' ? name.replace(/^address_registry_[0-9a-f]_pkey$/, 'address_registry_key') : null;
}

/** How many rows a statement wrote: none where its trigger found that another one took the last place. */
export async function writtenWithin(
  limit: string,
  statement: PromiseLike<{ readonly count: number }>,
): Promise<number> {
  try {
    return (await statement).count;
  } catch (error) {
    if (constraintOf(error) === limit) return 0;
    throw error;
  }
}
