/**
 * A cloud that speaks the real wire (HTTP, signatures, Socket.IO frames) and can be told to lie in every answer. It is
 * honest by default only so far that an edge registers and leads. It verifies each signature that it gets.
 */
import type { AddressInfo, Socket as NetSocket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { Server, type Socket } from 'socket.io';
import { fail, succeed } from '../../../protocol/envelope.ts';
import { refuse, statusOf, type ErrorCode } from '../../../protocol/errors.ts';
import {
  attemptsFrame,
  handshakeAuth,
  heartbeatFrame,
  instructionsFrame,
  keySetFrame,
  localKeysFrame,
  releaseFrame,
  signedBody,
  STREAM_PATH,
  syncBody,
  type Acknowledgement,
  type AttemptsFrame,
  type InstructionRecord,
  type KeySetRecord,
  type LocalKeyRecord,
  type SyncBody,
} from '../../../protocol/frames.ts';
import { isDigestOf, isSignatureOf, parseSignature } from '../../../protocol/node/http-signature.ts';
import type { Delivery } from '../../../edge/webhooks/post.ts';
import { freePort } from '../../../developer/ports.ts';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly signed: boolean;
}
/** `data` is a success; `code` a refusal; `raw` leaves as it stands. */
export type Told =
  | { readonly data: unknown; readonly status?: number; readonly headers?: Readonly<Record<string, string | string[]>> }
  | { readonly code: ErrorCode; readonly details?: Record<string, unknown> }
  | { readonly raw: string; readonly status: number; readonly type?: string };
/** Where the connection ends: of the answer nothing, a part, or all of it has left. */
export const CUTS = ['before_headers', 'in_headers', 'in_body', 'after_body'] as const;
export type Cut = (typeof CUTS)[number];
type Teller = (seen: Seen) => Told | Promise<Told>;

const META = { requestId: 'req_22222222222222222222222222', timestamp: '2026-01-01T00:00:00.000Z' };

export class HostileCloud {
  readonly seen: Seen[] = [];
  readonly syncs: SyncBody[] = [];
  /** Bodies of POST /v1/edge/transactions/{id}/signed. */
  readonly submitted: { id: string; signedPayload: string; txid: string; leaseEpoch: number }[] = [];
  readonly attempts: AttemptsFrame['attempts'][number][] = [];
  readonly attemptFrames: AttemptsFrame[] = [];
  readonly localKeys: LocalKeyRecord[] = [];
  readonly keySets: KeySetRecord[] = [];
  /** Whether a welcome says that sets are carried. */
  carriesSets = true;
  readonly instructions: InstructionRecord[] = [];
  /** Epochs that a leader gave up. */
  readonly released: number[] = [];
  readonly heartbeats: number[] = [];
  /** Sessions of the handshakes that were let in. */
  readonly sessions: string[] = [];
  badSignatures = 0;
  enrolled = false;
  role: 'leader' | 'follower' = 'leader';
  leaseEpoch = 1;
  leaseTtlMs = 30_000;
  /** Records that a welcome carries. */
  welcomeKeys: LocalKeyRecord[] = [];
  refuseHandshake: ErrorCode | null = null;
  /** Where the connection of a request ends, once it was heard and before its answer left whole; null for none. */
  cut: (seen: Seen) => Cut | null = () => null;
  /** Answers an `attempts` frame; null answers nothing at all. */
  onAttempts: (frame: AttemptsFrame) => Acknowledgement | null = () => ({ ok: true });
  readonly #tellers = new Map<string, Teller>();
  readonly #http: FastifyInstance;
  #io: Server | null = null;
  #port = 0;

  constructor() {
    this.#http = Fastify({ forceCloseConnections: true, bodyLimit: 8 * 1_024 * 1_024 });
    this.#http.removeAllContentTypeParsers();
    this.#http.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
    this.#http.all('/*', async (request, reply) => {
      const seen = this.#look(request);
      const told = await this.#tell(seen),
        cut = this.cut(seen);
      if (cut !== null) {
        reply.hijack();
        return cutShort(request.raw.socket, cut, told);
      }
      if ('raw' in told)
        return reply
          .code(told.status)
          .type(told.type ?? 'application/json')
          .send(told.raw);
      if ('code' in told) return reply.code(statusOf(told.code)).send(fail(refuse(told.code, told.details), META));
      return reply
        .code(told.status ?? 200)
        .headers({ 'content-type': 'application/json; charset=utf-8', 'x-request-id': META.requestId, ...told.headers })
        .send(JSON.stringify(succeed(told.data, META)));
    });
  }

  static async start(port = 0): Promise<HostileCloud> {
    const cloud = new HostileCloud();
    await cloud.listen(port);
    return cloud;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  /** What is told on `METHOD /path`; `{…}` stands for one segment. */
  on(route: string, teller: Teller): void {
    this.#tellers.set(route, teller);
  }

  countOf(route: string): number {
    return this.seen.filter((seen) => matches(route, seen)).length;
  }

  async listen(port: number): Promise<void> {
    // One that goes comes back where it was.
    await this.#http.listen({ host: '127.0.0.1', port: port === 0 ? await freePort() : port });
    this.#port = (this.#http.server.address() as AddressInfo).port;
    this.#io = new Server(this.#http.server, { path: STREAM_PATH, transports: ['websocket'] });
    this.#io.use((socket, next) => {
      const code = this.#admit(socket);
      next(code === null ? undefined : Object.assign(new Error(code), { data: { code, message: '', details: {} } }));
    });
    this.#io.on('connection', (socket) => this.#serve(socket));
  }

  /** Sends deliveries to every stream; the acknowledgement of the first. */
  async deliver(deliveries: Delivery[], leaseEpoch = this.leaseEpoch): Promise<Acknowledgement> {
    return this.#ask('deliver', { leaseEpoch, deliveries });
  }

  async sign(
    transactionId: string,
    leaseEpoch = this.leaseEpoch,
    record: InstructionRecord | null = null,
  ): Promise<Acknowledgement> {
    return this.#ask('sign', { leaseEpoch, transactionId, record });
  }

  async #ask(frame: string, body: object): Promise<Acknowledgement> {
    const socket = this.#socket();
    let forget: () => void = () => undefined;
    const gone = new Promise<never>((_resolve, reject) => {
      const left = () => reject(new Error('the edge is gone'));
      socket.once('disconnect', left);
      forget = () => socket.off('disconnect', left);
    });
    return (await Promise.race([socket.timeout(30_000).emitWithAck(frame, body), gone]).finally(
      forget,
    )) as Acknowledgement;
  }

  push(frame: string, body: unknown): void {
    this.#io?.emit(frame, body);
  }

  get streams(): number {
    return this.#io?.sockets.sockets.size ?? 0;
  }

  dropStreams(): void {
    this.#io?.disconnectSockets(true);
  }

  async close(): Promise<void> {
    this.#io?.disconnectSockets(true);
    await this.#http.close();
  }

  #socket(): Socket {
    const [socket] = [...this.#io!.sockets.sockets.values()];
    if (socket === undefined) throw new Error('no edge is connected');
    return socket;
  }

  #look(request: FastifyRequest): Seen {
    const body = typeof request.body === 'string' ? request.body : '';
    const [path, query] = request.raw.url!.split('?') as [string, string | undefined];
    const { 'signature-input': input, signature, 'content-digest': digest, host } = request.headers;
    let signed = false;
    if (typeof input === 'string' && typeof signature === 'string' && typeof digest === 'string') {
      const parsed = parseSignature(input, signature);
      signed =
        parsed !== null &&
        isDigestOf(digest, Buffer.from(body)) &&
        isSignatureOf(parsed, {
          method: request.method,
          authority: host!,
          path,
          query: query === undefined ? '?' : `?${query}`,
          contentDigest: digest,
        });
      if (!signed) this.badSignatures += 1;
    }
    const seen = { method: request.method, path: request.raw.url!, headers: request.headers, body, signed };
    this.seen.push(seen);
    return seen;
  }

  async #tell(seen: Seen): Promise<Told> {
    for (const [route, teller] of this.#tellers) if (matches(route, seen)) return teller(seen);
    if (seen.method === 'POST' && seen.path === '/v1/edge/sync') {
      if (this.enrolled) return { code: 'ALREADY_ENROLLED' };
      this.syncs.push(syncBody.parse(JSON.parse(seen.body)));
      this.enrolled = true;
      return { data: { outcome: 'enrolled', readiness: [] } };
    }
    if (seen.path === '/v1/edge/resume')
      return this.enrolled ? { data: { readiness: [] } } : { code: 'RESYNC_REQUIRED' };
    if (seen.path === '/v1/edge/resync') return { data: { readiness: [] } };
    if (seen.path === '/v1/edge/heartbeat') {
      return { data: { role: this.role, leaseEpoch: this.leaseEpoch, leaseTtlMs: this.leaseTtlMs, serverTimeMs: 0 } };
    }
    const submission = /^\/v1\/edge\/transactions\/([^/]+)\/signed$/.exec(seen.path);
    if (submission !== null) {
      const { signedPayload, txid, leaseEpoch } = signedBody.parse(JSON.parse(seen.body));
      this.submitted.push({ id: submission[1]!, signedPayload, txid, leaseEpoch });
      return { data: { id: submission[1]!, status: 'broadcast', txid }, status: 201 };
    }
    const asked = /^\/v1\/transactions\/([^/]+)\/broadcast$/.exec(seen.path);
    if (asked !== null && this.streams > 0) {
      const { ok, code, details } = await this.sign(
        asked[1]!,
        this.leaseEpoch,
        this.instructions.findLast(({ transactionId }) => transactionId === asked[1]) ?? null,
      );
      return ok
        ? { data: { id: asked[1]!, status: 'broadcast' } }
        : { code: code as ErrorCode, ...(details === undefined ? {} : { details }) };
    }
    return { code: 'NOT_FOUND' };
  }

  #admit(socket: Socket): string | null {
    if (this.refuseHandshake !== null) return this.refuseHandshake;
    const auth = handshakeAuth.safeParse(socket.handshake.auth);
    if (!auth.success) return 'INVALID_INPUT';
    const { headers, sessionId } = auth.data;
    const signature = parseSignature(headers['signature-input'] ?? '', headers['signature'] ?? '');
    const verified =
      signature !== null &&
      isSignatureOf(signature, {
        method: 'GET',
        authority: socket.handshake.headers.host!,
        path: STREAM_PATH,
        query: '?',
        contentDigest: headers['content-digest'] ?? '',
      });
    if (!verified) this.badSignatures += 1;
    this.sessions.push(sessionId);
    return verified ? null : 'EDGE_SIGNATURE_INVALID';
  }

  #serve(socket: Socket): void {
    socket.on('heartbeat', (raw: unknown, acknowledge: (reply: object) => void) => {
      this.heartbeats.push(heartbeatFrame.parse(raw).leaseEpoch);
      acknowledge({ ok: true, role: this.role, leaseEpoch: this.leaseEpoch, leaseTtlMs: this.leaseTtlMs });
    });
    socket.on('attempts', (raw: unknown, acknowledge: (reply: Acknowledgement) => void) => {
      const frame = attemptsFrame.parse(raw);
      const answer = this.onAttempts(frame);
      if (answer === null) return;
      if (answer.ok) {
        this.attemptFrames.push(frame);
        this.attempts.push(...frame.attempts);
      }
      acknowledge(answer);
    });
    socket.on('local_keys', (raw: unknown, acknowledge: (reply: Acknowledgement) => void) => {
      this.localKeys.push(...localKeysFrame.parse(raw).records);
      acknowledge({ ok: true });
    });
    socket.on('key_set', (raw: unknown, acknowledge: (reply: Acknowledgement) => void) => {
      this.keySets.push(keySetFrame.parse(raw).set);
      acknowledge({ ok: true });
    });
    socket.on('instructions', (raw: unknown, acknowledge: (reply: Acknowledgement) => void) => {
      this.instructions.push(...instructionsFrame.parse(raw).records);
      acknowledge({ ok: true });
    });
    socket.on('release', (raw: unknown, acknowledge: (reply: Acknowledgement) => void) => {
      this.released.push(releaseFrame.parse(raw).leaseEpoch);
      acknowledge({ ok: true });
    });
    const sessionId = String((socket.handshake.auth as { sessionId?: unknown }).sessionId);
    socket.emit('welcome', {
      sessionId,
      role: this.role,
      leaseEpoch: this.leaseEpoch,
      leaseTtlMs: this.leaseTtlMs,
      heartbeatMs: 30_000,
      serverTimeMs: Date.now(),
      localKeys: this.welcomeKeys,
      ...(this.carriesSets ? { keySets: true } : {}),
    });
  }
}

function cutShort(socket: NetSocket, cut: Cut, told: Told): void {
  const status = 'raw' in told ? told.status : 'code' in told ? statusOf(told.code) : (told.status ?? 200);
  const body =
    'raw' in told
      ? told.raw
      : JSON.stringify('code' in told ? fail(refuse(told.code, told.details), META) : succeed(told.data, META));
  const head = `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  const sent = {
    before_headers: '',
    in_headers: head.slice(0, head.length / 2),
    in_body: head + body.slice(0, body.length / 2),
    after_body: head + body,
  }[cut];
  if (sent === '') return void socket.destroy();
  socket.write(sent, () => socket.destroySoon());
}

function matches(route: string, { method, path }: Pick<Seen, 'method' | 'path'>): boolean {
  const [wantedMethod, wantedPath] = route.split(' ') as [string, string];
  const pattern = new RegExp(`^${wantedPath.replace(/\{[^}]*\}/g, '[^/]+')}$`);
  return method === wantedMethod && pattern.test(path.split('?')[0]!);
}
