/** The pool over a network that breaks: nothing hangs, nothing is answered with another question's answer. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import test from 'ava';
import { isAway } from '../../../persistence/postgres/away.ts';
import { connectSocket, endpointOf } from '../../../persistence/postgres/connect-socket.ts';
import { applicationFault } from '../../../persistence/postgres/sign-in-fault.ts';
import { openDatabase, sqlstateOf } from '../../../persistence/postgres/sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database.close());

interface Proxy {
  url: string;
  links: Set<Socket>;
  close(): Promise<void>;
}

/** A TCP proxy in front of the server. `wrap` may turn the client's side into something else. */
async function proxy(
  wrap: (client: Socket, relay: (stream: Socket) => void) => void = (client, relay) => relay(client),
): Promise<Proxy> {
  const links = new Set<Socket>();
  const { hostname, port } = new URL(database.url);
  const server: Server = createServer((client) => {
    links.add(client);
    client.on('close', () => links.delete(client));
    client.on('error', () => undefined);
    wrap(client, (stream) => {
      const upstream = connect(Number(port), hostname);
      upstream.on('error', () => client.destroy());
      upstream.on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
      stream.on('error', () => undefined);
      stream.pipe(upstream).pipe(stream);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = new URL(database.url);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    links,
    async close() {
      for (const link of links) link.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

test.serial(
  'connections are reset all the while: every answer belongs to its question, and every question is settled',
  async (t) => {
    const { url, links, close } = await proxy();
    const sql = openDatabase({ url, connections: 3, name: 'behind-proxy' });
    let asked = 0,
      answered = 0,
      broken = 0,
      resets = 0,
      running = true;
    const nemesis = (async () => {
      while (running) {
        await new Promise((resolve) => setImmediate(resolve));
        if (asked < (resets + 1) * 10) continue;
        const [link] = links;
        if (link === undefined) continue;
        link.resetAndDestroy();
        links.delete(link);
        resets += 1;
      }
    })();
    const askers = Array.from({ length: 12 }, async (_, asker) => {
      for (let round = 0; round < 60; round += 1) {
        asked += 1;
        const question = `${asker}/${round}`;
        try {
          const rows = await sql<{ answer: string }[]>`select ${question}::text as answer`;
          t.is(rows[0]?.answer, question);
          answered += 1;
        } catch (error) {
          t.is(sqlstateOf(error), null, 'only the connection fails');
          broken += 1;
        }
      }
    });
    await Promise.all(askers);
    running = false;
    await nemesis;
    await sql.end({ timeout: 5 });
    await close();
    t.log(`${answered} answered, ${broken} broken, ${resets} resets`);
    t.is(answered + broken, 720);
    t.true(resets >= 20 && broken >= 20 && answered >= 100);
  },
);

test.serial('a server that is not there, or does not answer, fails the query and not the slot', async (t) => {
  const closed = createServer();
  await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done));
  const url = new URL(database.url);
  const real = url.port;
  url.port = String((closed.address() as AddressInfo).port);
  await new Promise((done) => closed.close(done));
  const sql = openDatabase({ url: url.href, connections: 1, name: 'nobody' });
  for (let tries = 0; tries < 3; tries += 1) await t.throwsAsync(sql`select 1`, { code: 'ECONNREFUSED' });
  // The same port comes to life: the same pool works.
  const server = createServer((client) => {
    const upstream = connect(Number(real), '127.0.0.1');
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((done) => server.listen(Number(url.port), '127.0.0.1', done));
  const [row] = await sql`select 1 as one`;
  t.is(row!.one, 1);
  await sql.end({ timeout: 5 });
  await new Promise((done) => server.close(done));
});

test.serial(
  'reliability 4.1: a server that is frozen keeps its connections and answers nothing: what was asked is settled, the slot serves again',
  async (t) => {
    const { url, links, close } = await proxy();
    const sql = openDatabase({ url, connections: 1, name: 'frozen', silenceMs: 400 });
    const patient = openDatabase({ url: database.url, connections: 1, name: 'patient' });
    const backend = async () => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid;
    const first = await backend();
    await patient`select pg_sleep(0.8)`;
    t.is(await backend(), first, 'a connection that has nothing to do is no silent one');
    for (const link of links) link.unpipe();
    const questions = await Promise.allSettled(Array.from({ length: 5 }, () => sql`select 1`));
    t.deepEqual([...new Set(questions.map(({ status }) => status))], ['rejected']);
    for (const question of questions)
      t.is(sqlstateOf((question as PromiseRejectedResult).reason), null, 'its outcome is unknown');
    t.not(await backend(), first);
    await sql.end({ timeout: 5 });
    await patient.end({ timeout: 5 });
    await close();
  },
);

test.serial(
  'an answer whose end comes in two pieces is an end: its connection is not taken for a silent one',
  async (t) => {
    const ends = [Buffer.from([0x5a, 0, 0]), Buffer.from([0, 5, 0x49])];
    const server = createServer((peer) => peer.on('data', () => peer.write(ends[0]!)));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const peer = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const socket = await connectSocket({ host: '127.0.0.1', port, sslmode: 'disable' }, 200);
    socket.once('data', () => void peer.then((other) => other.write(ends[1]!)));
    socket.write(Buffer.from([0, 0, 0, 8, 0, 3, 0, 0]));
    await database.sql`select pg_sleep(0.6)`;
    t.false(socket.destroyed);
    socket.destroy();
    await new Promise((done) => server.close(done));
  },
);

test.serial(
  'reliability 4.1: of two questions on one connection the second is owed an answer, too: a server that falls silent between them is given up',
  async (t) => {
    t.timeout(600_000);
    // Sync; ReadyForQuery
    const question = Buffer.from([0x53, 0, 0, 0, 4]),
      ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const ask = async (answers: readonly Buffer[]) => {
      const connected = once(server, 'connection');
      const socket = await connectSocket({ host: '127.0.0.1', port, sslmode: 'disable' }, 200);
      const [peer] = (await connected) as [Socket];
      peer.resume();
      socket.write(Buffer.from([0, 0, 0, 8, 0, 3, 0, 0])); // the startup message has no type
      for (const [index, answer] of answers.entries()) {
        const comes = once(socket, 'data');
        peer.write(answer);
        await comes;
        if (index === 0) socket.write(Buffer.concat([question, question]));
      }
      return socket;
    };
    const silent = await ask([ready, ready]),
      served = await ask([ready, Buffer.concat([ready, ready])]);
    await once(silent, 'close');
    await database.sql`select pg_sleep(0.3)`;
    t.false(served.destroyed);
    served.destroy();
    await new Promise((done) => server.close(done));
  },
);

for (const [name, answer] of [
  ['nobody speaks', () => undefined],
  ['Redis listens', (peer: Socket) => peer.write('-ERR unknown command\r\n')],
  ['a web server listens', (peer: Socket) => peer.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['each connection is ended', (peer: Socket) => peer.end()],
  ['each connection is reset', (peer: Socket) => peer.resetAndDestroy()],
  ['it ends amid the sign-in', (peer: Socket) => peer.end(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]))],
] as const)
  test(`found F76: where ${name} at the address of the database a question fails, and says which setting`, async (t) => {
    const server = createServer((peer) => {
      peer.on('error', () => undefined);
      peer.once('data', () => answer(peer));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const sql = openDatabase({
      url: `postgres://flock_app:x@127.0.0.1:${port}/flock`,
      connections: 1,
      name: 'elsewhere',
      silenceMs: 300,
    });
    const error = await t.throwsAsync(sql`select 1`);
    t.true(isAway(error), 'for a node that runs the database is away');
    t.regex(String(applicationFault(error)), /^DATABASE_URL: .*; check host and port$/);
    await sql.end({ timeout: 0 });
    server.close();
  });

test.serial('TLS: what the URL promises is kept', async (t) => {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) =>
    readFileSync(new URL(`../../vectors/tls/${name}`, import.meta.url)),
  );
  let encrypted = 0;
  const tls = await proxy((client, relay) => {
    client.once('data', (request) => {
      t.is(request.toString('hex'), '0000000804d2162f');
      client.write('S');
      const stream = new TLSSocket(client, { isServer: true, key: key!, cert: cert! });
      stream.on('error', () => client.destroy());
      stream.once('secure', () => {
        encrypted += 1;
      });
      relay(stream);
    });
  });
  const open = (mode: string) => openDatabase({ url: `${tls.url}?sslmode=${mode}`, connections: 1, name: 'tls' });
  const required = open('require');
  t.is((await required`select 1 as one`)[0]!.one, 1);
  t.is(encrypted, 1);
  await required.end({ timeout: 5 });
  const verified = open('verify-full');
  await t.throwsAsync(verified`select 1`, { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  await verified.end({ timeout: 1 });
  await tls.close();

  const refusing = await proxy((client) => client.once('data', () => client.write('N')));
  const insecure = openDatabase({ url: `${refusing.url}?sslmode=require`, connections: 1, name: 'tls' });
  await t.throwsAsync(insecure`select 1`, { message: /does not offer TLS/ });
  await insecure.end({ timeout: 1 });
  await refusing.close();
});

test('an sslmode that promises less than it seems to is refused', (t) => {
  t.deepEqual(endpointOf('postgres://u:p@db.example:6000/x?sslmode=verify-full'), {
    host: 'db.example',
    port: 6000,
    sslmode: 'verify-full',
  });
  t.deepEqual(endpointOf('postgres://u:p@[::1]/x'), { host: '::1', port: 5432, sslmode: 'disable' });
  for (const mode of ['prefer', 'allow', 'verify-ca', 'yes'])
    t.throws(() => endpointOf(`postgres://h/x?sslmode=${mode}`), { instanceOf: RangeError });
});

/** Ends on a connection behind its first rows, each of them longer than what the server keeps back. */
const BEHIND_ROWS = 'x'.repeat(10_000);

test('a statement that fails behind its first rows takes nothing from the next answer of its connection', async (t) => {
  const sql = openDatabase({ url: database.url, connections: 1, name: 'whole-rows' });
  const failing = () => sql`select 1 / (3 - g) as v from generate_series(1, 5) g`;
  const failed = async (question: Promise<unknown>) => sqlstateOf(await question.catch((error: unknown) => error));
  t.is(await failed(failing()), '22012');
  t.deepEqual([...(await sql`select 42 as x`)], [{ x: 42 }] as never);
  // On their way together, twice: the second time both are prepared.
  for (let n = 0; n < 2; n += 1) {
    const [state, rows] = await Promise.all([failed(failing()), sql`select g as x from generate_series(1, 3) g`]);
    t.is(state, '22012');
    t.deepEqual([...rows], [{ x: 1 }, { x: 2 }, { x: 3 }] as never);
  }
  await failed(failing());
  const none = await sql`select 1 as x where false`;
  t.deepEqual([none.length, none.count], [0, 0]);
  await failed(failing());
  const several = await sql.unsafe('select 7 as x; select 8 as x');
  t.deepEqual(
    [several[0], several[1]].map((rows) => [...(rows as unknown as object[])]),
    [[{ x: 7 }], [{ x: 8 }]],
  );
  await sql.end();
});

test('a statement that reaches its time limit, or whose backend ends, behind its first rows takes nothing from the next answer', async (t) => {
  const sql = openDatabase({ url: database.url, connections: 1, name: 'ended-rows', statementTimeoutMs: 500 });
  const slow = () =>
    sql`select ${BEHIND_ROWS}::text as v, case when g = 4 then pg_sleep(60) end from generate_series(1, 5) g`;
  t.is(sqlstateOf(await slow().catch((error: unknown) => error)), '57014');
  t.deepEqual([...(await sql`select 42 as x`)], [{ x: 42 }] as never);
  await sql`select set_config('statement_timeout', '30000', false)`;
  const [{ pid }] = (await sql`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
  const ended = slow().catch((error: unknown) => error);
  const sleeps = async (): Promise<boolean> => {
    const [row] = await database.admin`select wait_event as place from pg_stat_activity where pid = ${pid}`;
    return row?.['place'] === 'PgSleep';
  };
  while (!(await sleeps()));
  await database.admin`select pg_terminate_backend(${pid})`;
  t.true(isAway(await ended));
  // The slot's next connection may still be told the end of the one before it.
  let rows: unknown;
  do rows = await sql`select 43 as x`.catch(() => null);
  while (rows === null);
  t.deepEqual([...(rows as object[])], [{ x: 43 }]);
  await sql.end();
});

test('the connection that migrations keep to themselves has whole rows too', async (t) => {
  const pool = openDatabase({ url: database.url, connections: 1, name: 'reserved-rows', role: null });
  const sql = await pool.reserve();
  await t.throwsAsync(async () => sql`select 1 / (3 - g) as v from generate_series(1, 5) g`);
  t.deepEqual([...(await sql`select 42 as x`)], [{ x: 42 }] as never);
  await t.throwsAsync(async () => sql.unsafe('select 1 / (3 - g) as v from generate_series(1, 5) g'));
  t.deepEqual([...(await sql.unsafe('select 42 as x'))], [{ x: 42 }] as never);
  sql.release();
  await pool.end({ timeout: 5 });
});
