/** What one call between two processes costs without any of our code: a bare Fastify server that answers a POST. */
import Fastify from 'fastify';

const server = Fastify();
server.post('/', (request, reply) => reply.send(request.body));
await server.listen({ host: '127.0.0.1', port: 0 });
process.stderr.write(`${(server.server.address() as { port: number }).port}\n`);
process.stdin.resume().on('end', () => process.exit(0));
