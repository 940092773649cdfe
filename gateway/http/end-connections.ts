/** The end of a server's connections, at which no request is lost. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/** Connections that a stop finds open have this long for a last request, which ends them. */
const LAST_REQUEST_MS = 1_000;

/**
 * Takes no further connection; the open ones end with their next answer. Choice: not in the order of `server.close()`,
 * which closes at once what is idle, also where a request is on its way to it, and not by ending them while new ones
 * are taken, since one that is on its way when nobody listens any more is reset. Before idle ones are closed what has
 * arrived is read: where the process was late its timer comes first, and would reset a request that waits to be read.
 */
export async function endConnections(server: Server, lastRequestMs = LAST_REQUEST_MS): Promise<void> {
  const closed = once(server, 'close');
  NetServer.prototype.close.call(server);
  await Promise.race([closed, delay(lastRequestMs, null, { ref: false })]);
  // One turn to read, one more where the first was the rest of a turn.
  await nextTurn();
  await nextTurn();
  server.closeIdleConnections();
  await closed;
}
