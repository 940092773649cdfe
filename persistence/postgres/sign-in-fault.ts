/** Why a database cannot be signed into or worked on, in words that name the setting. */
import { NO_POSTGRES } from './connect-socket.ts';

/** Null for every other fault. `setting` is the name of the setting that holds the address. */
export function signInFault(error: unknown, setting: string): string | null {
  const { code } = error as { code?: string };
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'CONNECT_TIMEOUT':
    case 'ABORT_ERR':
    case 'ECONNRESET':
      return `${setting}: no server answers there; check host and port`;
    case NO_POSTGRES:
      return `${setting}: what listens there is no PostgreSQL server, or ends every connection; check host and port`;
    case '28P01':
    case '28000':
      return `${setting}: the server refuses this user or password`;
    case '3D000':
      return `${setting}: the server has no such database; create it, or correct the name`;
    case '53300':
      return `${setting}: the server takes no more connections; raise max_connections, or lower DATABASE_CONNECTIONS`;
    default:
      return null;
  }
}

/** Why the application cannot work on the database of DATABASE_URL; null for every other fault. */
export function applicationFault(error: unknown): string | null {
  const { code, message = '' } = error as { code?: string; message?: string };
  switch (code) {
    // The session takes the application's role, whichever role signs in.
    case '42501':
      return message.includes('set role')
        ? 'DATABASE_URL: this user may not act as flock_app; sign in as flock_app itself'
        : null;
    case '22023':
      return message.includes('flock_app') ? 'the server has no role flock_app yet; run "npm run -s migrate"' : null;
    // Functions, tables and the schema itself.
    case '42883':
    case '42P01':
    case '3F000':
      return 'DATABASE_URL: the database is not at this version; run "npm run -s migrate"';
    default:
      return signInFault(error, 'DATABASE_URL');
  }
}

/** Why the owner cannot migrate the database of DATABASE_OWNER_URL; null for every other fault. */
export function ownerFault(error: unknown): string | null {
  const { code, message = '' } = error as { code?: string; message?: string };
  // 42501 is what a role may not; what else is of class 42 is a fault of a step.
  return code === '42501'
    ? `DATABASE_OWNER_URL: this role may not migrate (${message}); sign in as the owner of the database, which may create roles the first time`
    : signInFault(error, 'DATABASE_OWNER_URL');
}
