/**
 * Errors that say that the database does not serve: it is away, full, frozen, restarting or read-only. A caller is
 * asked to come again; nothing is wrong with what it asked.
 */
import type { STORE_AWAY } from '../../model/entity.ts';
import { NO_POSTGRES } from './connect-socket.ts';
import { sqlstateOf } from './sql.ts';

/** The database does not serve at this moment; the outcome of a write is unknown. */
export class DatabaseAway extends Error {
  readonly code: typeof STORE_AWAY = 'store_away';
  constructor(cause: unknown) {
    super(`the database does not serve: ${reasonOf(cause)}`, { cause });
    this.name = 'DatabaseAway';
  }
}

/**
 * 08 connection, 28 and 3D a sign-in that is refused, 40 and 55P03 another's lock or turn for too long, 53 no space,
 * memory or connections, 55000 a database that is closed, 57 ended by an operator or by its time limit, 58 files of the
 * server, 25006 a standby. Source: PostgreSQL manual, Appendix A.
 */
const AWAY = /^(?:08|28|3D|40|53|57|58)|^(?:25006|55000|55P03)$/;
/** What an operator does about it. */
const NEXT: readonly (readonly [codes: RegExp, next: string])[] = [
  [/^53100$/, 'its disk is full: free space or enlarge it; nodes go on by themselves'],
  [/^53200$/, 'it has no memory left: lower its load or give it more'],
  [/^53300$/, 'it takes no more connections: raise max_connections, or lower DATABASE_CONNECTIONS'],
  [/^53/, 'it lacks a resource: see its own log'],
  [/^25006$/, 'it is a standby, or read-only: DATABASE_URL must lead to the primary'],
  [/^28/, 'it refuses the user or password of DATABASE_URL'],
  [/^3D000$/, 'it has no such database: see DATABASE_URL'],
  [/^57P0[123]$/, 'it is being stopped or started: nodes go on by themselves'],
  [/^58/, 'it cannot use its own files: see its log and its disk'],
  [/^(?:E|CONNECT|ABORT)/, 'nothing answers at the host and port of DATABASE_URL'],
];
/** Of the client and of the socket. */
const UNREACHABLE = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ABORT_ERR',
  NO_POSTGRES,
]);

/** Whether an error means that the database does not serve. */
export function isAway(error: unknown): boolean {
  if (error instanceof DatabaseAway) return true;
  const sqlstate = sqlstateOf(error);
  if (sqlstate !== null) return AWAY.test(sqlstate);
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && UNREACHABLE.has(code);
}

export const awayOf = (error: unknown): DatabaseAway =>
  error instanceof DatabaseAway ? error : new DatabaseAway(error);

/** Throws the error, as DatabaseAway where it is one. */
export function rethrowAway(error: unknown): never {
  throw isAway(error) ? awayOf(error) : error;
}

function reasonOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== 'string') return String(message ?? error);
  const next = NEXT.find(([codes]) => codes.test(code))?.[1];
  return next === undefined ? code : `${code} (${next})`;
}
