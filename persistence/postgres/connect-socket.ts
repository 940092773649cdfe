/**
 * Sockets for the client, made so that a connection dies in one step.
 *
 * `postgres` 3.4.9 handles a socket's `error` and, an event-loop turn later, its `close`. A query that is given to the
 * connection in between is neither sent nor rejected: it stays in the list of those that wait for an answer. It hangs
 * (6 to 12 of 12 callers within 70 resets), and by the client's source it would take the answer of the next query on
 * that connection, which may be another tenant's. So an error of a socket that has served is not emitted; its `close`
 * is, as one without an error, on which the client rejects everything that waits. An error before that is a failed
 * connect and is emitted: it rejects the query that asked for the connection. So is a close before that, after which
 * the client would connect again for ever: something else than PostgreSQL listens there, or nothing that speaks.
 */
import { once } from 'node:events';
import { isIP, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /**
   * `require` encrypts; `verify-full` also checks the certificate against the system's authorities and the host name.
   */
  readonly sslmode: 'disable' | 'require' | 'verify-full';
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A server that takes connections answers the first message of one, also with a thousand others at work. */
const STARTUP_SILENCE_MS = 10_000;
/** Of a connection that ended, or spoke something else, before it was ready for a query. */
export const NO_POSTGRES = 'NO_POSTGRES';
/**
 * What a server may say first: Authentication, ErrorResponse, NegotiateProtocolVersion, NoticeResponse, ReadyForQuery.
 * Source: PostgreSQL manual, Message Flow.
 */
const FIRST_TYPES: ReadonlySet<number> = new Set([0x52, 0x45, 0x76, 0x4e, 0x5a]);
/** length(4) = 8 || code(4) = 80877103. Source: PostgreSQL manual, Message Formats, SSLRequest. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const SSL_ACCEPTED = 'S';

/** Where a URL points. Throws: RangeError for an sslmode that promises less than it seems to. */
export function endpointOf(url: string): Endpoint {
  const { hostname, port, searchParams } = new URL(url);
  const sslmode = searchParams.get('sslmode') ?? 'disable';
  if (sslmode !== 'disable' && sslmode !== 'require' && sslmode !== 'verify-full') {
    throw new RangeError(`sslmode must be disable, require or verify-full, got "${sslmode.slice(0, 20)}"`);
  }
  return {
    host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ''),
    port: port === '' ? 5432 : Number(port),
    sslmode,
  };
}

/**
 * A connected socket, or one that is about to fail with the reason: the client loses a slot when this rejects. It dies
 * when the server says nothing for `silenceMs` to what it was given.
 */
export async function connectSocket(endpoint: Endpoint, silenceMs: number): Promise<Socket> {
  const socket = new Socket();
  const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  try {
    socket.setNoDelay(true);
    socket.connect(endpoint.port, endpoint.host);
    await once(socket, 'connect', { signal });
    const open = endpoint.sslmode === 'disable' ? socket : await encrypted(socket, endpoint, signal);
    const startup = { isOver: false };
    return dyingInSilence(dyingInOneStep(open, startup), startup, silenceMs);
  } catch (error) {
    socket.destroy();
    return failingWith(error as Error);
  }
}

/** A socket that takes what the client writes at first, and then fails with the reason. */
function failingWith(error: Error): Socket {
  const socket = new Socket();
  socket.write = () => true;
  setImmediate(() => socket.destroy(error)); // after the client has attached its listeners
  return socket;
}

async function encrypted(socket: Socket, { host, sslmode }: Endpoint, signal: AbortSignal): Promise<Socket> {
  socket.write(SSL_REQUEST);
  const [answer] = (await once(socket, 'data', { signal })) as [Buffer];
  // Exactly one byte: anything after it was not encrypted and did not come from the server alone.
  if (answer.toString('latin1') !== SSL_ACCEPTED) throw new Error('the server does not offer TLS');
  const secure = connectTls({
    socket,
    servername: isIP(host) === 0 ? host : '',
    host,
    rejectUnauthorized: sslmode === 'verify-full',
  });
  secure.on('error', () => undefined); // one that comes after this has been given up
  await once(secure, 'secureConnect', { signal });
  return secure;
}

/** Whether a connection was ever ready for a query. */
interface Startup {
  isOver: boolean;
}

function dyingInOneStep<S extends Socket>(socket: S, startup: Startup): S {
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...values: unknown[]) => boolean;
  let hasSpoken = false,
    hasFailed = false;
  socket.emit = ((event: string | symbol, ...values: unknown[]): boolean => {
    if (event === 'data' && !hasSpoken) {
      hasSpoken = true;
      if (!FIRST_TYPES.has((values[0] as Buffer)[0]!))
        return socket.destroy(noPostgres('it speaks something else')).destroyed;
    }
    if (event === 'error') {
      if (startup.isOver) return true;
      hasFailed = true;
    }
    if (event !== 'close' || (hasFailed && !startup.isOver)) return emit(event, ...values);
    if (startup.isOver) return emit('close', false);
    emit('error', noPostgres('the connection ended before it was ready'));
    return emit('close', true);
  }) as S['emit'];
  return socket;
}

const noPostgres = (why: string): Error =>
  Object.assign(new Error(`no PostgreSQL server answers there: ${why}`), { code: NO_POSTGRES });

/**
 * Types of messages: Sync and Query are each answered by one ReadyForQuery. Source: PostgreSQL manual, Message Formats.
 */
const SYNC = 0x53,
  QUERY = 0x51,
  READY = 0x5a;
const HEADER_BYTES = 5,
  LENGTH_BYTES = 4;
const NO_BYTES: Buffer = Buffer.alloc(0);

/**
 * A server that is frozen, or gone without a word (a failover, a cut network), leaves its connections open: what was
 * asked would wait for minutes, and a worker with it. A server that works ends each statement in its own time limit.
 */
function dyingInSilence<S extends Socket>(socket: S, startup: Startup, silenceMs: number): S {
  let timer: NodeJS.Timeout | undefined;
  let owed = 1; // the startup message, which has no type, is answered like a question
  const answer = createMessages(),
    question = createMessages();
  const disarm = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const arm = () => {
    const ms = startup.isOver ? silenceMs : Math.min(silenceMs, STARTUP_SILENCE_MS);
    timer ??= setTimeout(() => socket.destroy(), ms).unref();
  };
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  socket.write = ((...given: unknown[]): boolean => {
    const bytes = given[0] as Buffer;
    if (bytes[0] !== 0)
      question.read(bytes, (type) => {
        if (type === SYNC || type === QUERY) owed += 1;
      });
    arm();
    return write(...given);
  }) as S['write'];
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...values: unknown[]) => boolean;
  socket.emit = ((event: string | symbol, ...values: unknown[]): boolean => {
    if (event === 'data' || event === 'close') disarm();
    if (event === 'data') {
      answer.read(values[0] as Buffer, (type) => {
        if (type !== READY) return;
        startup.isOver = true;
        owed = Math.max(0, owed - 1);
      });
      if (owed > 0 || !answer.endsWith(READY)) arm();
    }
    return emit(event, ...values);
  }) as S['emit'];
  return socket;
}

/** Separates messages of `type(1) length(4) …`, however they are cut into pieces. */
function createMessages() {
  let head = NO_BYTES; // of a header that came in pieces
  let left = 0; // bytes of the message that has begun
  let last = 0;
  return {
    read(bytes: Buffer, each: (type: number) => void): void {
      let at = Math.min(left, bytes.length);
      left -= at;
      while (at < bytes.length) {
        const taken = bytes.subarray(at, at + HEADER_BYTES - head.length);
        head = head.length === 0 ? taken : Buffer.concat([head, taken]);
        at += taken.length;
        if (head.length < HEADER_BYTES) {
          head = Buffer.from(head); // the piece is not ours to keep
          return;
        }
        last = head[0]!;
        const body = Math.max(0, head.readUInt32BE(1) - LENGTH_BYTES),
          here = Math.min(body, bytes.length - at);
        head = NO_BYTES;
        at += here;
        left = body - here;
        each(last);
      }
    },
    /** Whether the last message is whole, and of this type. */
    endsWith: (type: number): boolean => last === type && left === 0 && head.length === 0,
  };
}
