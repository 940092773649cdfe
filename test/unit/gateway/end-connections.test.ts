/** What a stop does to connections that are open: issue 10 point 7, no request is lost. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import test from 'ava';
import { endConnections } from '../../../gateway/http/end-connections.ts';

const LAST_REQUEST_MS = 100;
const REQUEST = 'GET / HTTP/1.1\r\nhost: node\r\n\r\n';

test('issue 10.7: a request that arrived before idle connections are closed is answered, also where the process is too late to have read it', async (t) => {
  const server = createServer((_, response) => response.end('answered'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let heard = '';
  socket.setEncoding('utf8').on('data', (text: string) => (heard += text));
  const answers = () => heard.split('answered').length - 1;
  socket.write(REQUEST);
  while (answers() < 1) await once(socket, 'data');
  const ended = endConnections(server, LAST_REQUEST_MS);
  // The process does not run from before the end of the last request's time to behind it, with a request to be read: in
  // this phase of the event loop, because timers come next, and reading after them.
  setTimeout(() => {
    setImmediate(() => {
      socket.write(REQUEST);
      const from = performance.now();
      while (performance.now() - from < 2 * LAST_REQUEST_MS);
    });
  }, LAST_REQUEST_MS / 2);
  const outcome = await Promise.race([
    once(socket, 'close').then(() => 'closed'),
    once(socket, 'error').then(([error]) => String(error)),
    (async () => {
      while (answers() < 2) await once(socket, 'data');
      return 'answered';
    })(),
  ]);
  t.is(outcome, 'answered');
  socket.destroy();
  await ended;
});
