/** Why a process cannot listen, in words that name the setting, and a look whether it can. */
import { createServer } from 'node:net';

/** Where a process listens, and the names of the settings that say so. */
export interface ListeningPlace {
  readonly host: string;
  readonly port: number;
  readonly hostSetting: string;
  readonly portSetting: string;
}

/** Null for every other fault. */
export function listenFault(error: unknown, place: ListeningPlace): string | null {
  const { host, port, hostSetting, portSetting } = place;
  switch ((error as { code?: string }).code) {
    case 'EADDRINUSE':
      return `${portSetting}: port ${port} is in use; set ${portSetting} to another one (0: any that is free)`;
    case 'EACCES':
      return `${portSetting}: this user may not open port ${port}; take one above 1023, behind a proxy where clients need this one`;
    case 'EADDRNOTAVAIL':
      return `${hostSetting}: is no address of this machine; 127.0.0.1 serves this machine alone, 0.0.0.0 all of its addresses`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostSetting}: is no address, and no name that resolves${host.includes(':') ? `; the port goes into ${portSetting}` : ''}`;
    default:
      return null;
  }
}

/** Opens the port and gives it back. Answers why it cannot, null where it can. Throws: every other fault. */
export async function listeningProblem(place: ListeningPlace): Promise<string | null> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: place.host, port: place.port }, () => server.close(() => resolve()));
    });
    return null;
  } catch (error) {
    const fault = listenFault(error, place);
    if (fault === null) throw error;
    return fault;
  }
}
