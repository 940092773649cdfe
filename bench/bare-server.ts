/**
 * What P1 is held to: Fastify, one route, one durable single-row INSERT, a log line for each request. Prints its port.
 */
import { writeSync } from 'node:fs';
import Fastify from 'fastify';
import { openDatabase } from '../persistence/postgres/sql.ts';

const CONNECTIONS = 8;
const sql = openDatabase({
  url: process.argv[2]!,
  connections: CONNECTIONS,
  name: 'flock-bench-bare',
  role: null,
  settings: { search_path: 'public' },
});
const app = Fastify({ logger: { level: 'info' } });
let row = 0;
app.post('/v1/addresses', async (request, reply) => {
  const { userRef, tag } = request.body as { userRef: string; tag: string };
  const id = (row += 1),
    address = `0x${id.toString(16).padStart(40, '0')}`;
  await sql`
    insert into bench_row
      values (${String(id)}::text::bigint, 'account', ${address}, 'm/44''/60''/0''/0/0', ${userRef}, ${tag}, now(), 'active')`;
  return reply.code(201).send({ ok: true, data: { id, address, userRef, tag } });
});
await app.listen({ port: 0, host: '127.0.0.1' });
writeSync(2, `${(app.server.address() as { port: number }).port}\n`); // standard output takes the log lines
process.stdin.resume().on('close', () => process.exit(0)); // ends with the process that started it
