/** What P22c is held to: a bare Fastify server whose one answer is the bytes of a page. Prints its port. */
import { readFileSync } from 'node:fs';
import Fastify from 'fastify';

const bytes = readFileSync(process.argv[2]!);
const server = Fastify();
server.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(bytes));
await server.listen({ host: '127.0.0.1', port: 0 });
process.stderr.write(`${(server.server.address() as { port: number }).port}\n`);
process.stdin.resume().on('end', () => process.exit(0));
