/** A server whose longest bodies have minutes: every other body has its own limit. */
import type { IncomingMessage, Server } from 'node:http';

/** A request whose body is not there in time is treated as one that is no request, as Node.js itself does. */
export function limitBody(server: Server, request: IncomingMessage, timeoutMs: number): void {
  if (request.headers['transfer-encoding'] === undefined && Number(request.headers['content-length'] ?? 0) === 0)
    return;
  const clock = setTimeout(() => {
    if (!request.complete) server.emit('clientError', new Error('the body is late'), request.socket);
  }, timeoutMs);
  const stop = (): void => clearTimeout(clock);
  request.once('end', stop).once('close', stop);
}
