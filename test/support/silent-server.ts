/** A server that takes connections and answers nothing. */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { patiently } from './patience.ts';

export interface SilentServer {
  readonly url: string;
  /** Connections since the start. */
  readonly taken: () => number;
  /** Resolves when nobody is connected. */
  left(): Promise<unknown>;
}

export async function startSilent(t: ExecutionContext): Promise<SilentServer> {
  let taken = 0,
    open = 0;
  const server = createServer((socket) => {
    taken += 1;
    open += 1;
    socket.on('error', () => undefined);
    socket.resume();
    socket.on('close', () => {
      open -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken: () => taken,
    left: () =>
      patiently(
        'nobody is connected',
        async () => open,
        (count) => count === 0,
      ),
  };
}
