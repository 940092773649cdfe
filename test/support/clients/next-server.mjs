/** Runs a handler of Next.js behind `node:http`, as Next.js gives it a request: its file, then nothing else. */
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { POST } from './next.mjs';

const server = createServer(async (incoming, outgoing) => {
  const request = new Request(`http://127.0.0.1${incoming.url}`, {
    method: incoming.method,
    headers: incoming.headers,
    body: Readable.toWeb(incoming),
    duplex: 'half',
  });
  const answer = await POST(request).catch(() => new Response(null, { status: 500 }));
  outgoing.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
});
server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
