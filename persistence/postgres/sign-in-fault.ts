/** Why a database cannot be signed into, in words that name the setting. */

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
      return `${setting}: no server answers there; check host and port`;
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
