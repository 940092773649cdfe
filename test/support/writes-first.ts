/** A client that writes its whole request before it reads a byte, as many libraries do. */
import { once } from 'node:events';
import { connect } from 'node:net';

const CHUNK_BYTES = 65_536;

/**
 * The head of the answer to a POST of so many bytes. Throws: when the server resets the connection before it is read.
 */
export async function writeThenRead(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  bytes: number,
): Promise<string> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const broken = new Promise<never>((_resolve, reject) => {
    socket.once('error', reject);
  });
  const written = async (): Promise<void> => {
    const fields = Object.entries({ host, 'content-length': String(bytes), ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    socket.write(`POST ${path} HTTP/1.1\r\n${fields.join('')}\r\n`);
    for (let left = bytes; left > 0; left -= CHUNK_BYTES) {
      if (!socket.write(Buffer.alloc(Math.min(left, CHUNK_BYTES), 'x'))) await once(socket, 'drain');
    }
  };
  try {
    await Promise.race([once(socket, 'connect'), broken]);
    await Promise.race([written(), broken]);
    const [first] = (await Promise.race([once(socket, 'data'), broken])) as [Buffer];
    return first.toString().split('\r\n\r\n')[0]!;
  } finally {
    socket.destroy();
  }
}
