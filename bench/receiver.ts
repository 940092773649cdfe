/** A receiver of webhooks in a process of its own: answers 200 to everything and does nothing else. Prints its port. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'content-length': '0' }).end());
});
server.listen(0, '127.0.0.1', () => console.log(String((server.address() as AddressInfo).port)));
process.stdin.resume().on('close', () => process.exit(0)); // ends with the process that started it
