import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { io, type Socket } from 'socket.io-client';
import { createPublisher } from '../../../actors/webhook/publisher.ts';
import { systemClock } from '../../../actors/kernel/timers.ts';
import type { Delivery } from '../../../actors/webhook/ports.ts';
import { createTimers } from '../../../edge/process/timers.ts';
import { EdgeStream, type FrameHandlers } from '../../../edge/link/stream.ts';
import { isOlderVersion } from '../../../gateway/edge-stream/handshake.ts';
import { attachEdgeStream } from '../../../gateway/edge-stream/server.ts';
import { createHandshakeLimit } from '../../../gateway/http/admission.ts';
import { createMemoryRateLimiter, WINDOW_MS } from '../../../gateway/http/rate-limit.ts';
import { createApiKeys, mintApiKey } from '../../../gateway/http/auth/api-keys.ts';
import { createEdgeSignatures } from '../../../gateway/http/auth/edge-signature.ts';
import {
  EDGE_VERSION,
  FRAME_BYTES_TO_CLOUD_MAX,
  STREAM_PATH,
  welcomeFrame,
  type HandshakeAuth,
  type WelcomeFrame,
} from '../../../protocol/frames.ts';
import type { ApiKeyRow } from '../../../model/ports/identity-store.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { signRequest } from '../../../protocol/node/http-signature.ts';
import {
  commands,
  enrolled,
  ORGANIZATION_ID,
  OTHER_IDENTITY,
  pushedKey,
  ses,
  TestAccount,
} from '../../support/account.ts';
import { body, Rooms } from '../../support/edge-rooms.ts';
import { until } from '../../support/until.ts';
import { MemoryDeliveries } from '../../support/delivery-store.ts';

class EdgeIdentity {
  readonly #secret: KeyObject;
  readonly publicKey: string;

  constructor() {
    const pair = generateKeyPairSync('ed25519');
    this.#secret = pair.privateKey;
    this.publicKey = Buffer.from(pair.publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('hex');
  }

  headers(url: string, nowMs: number, body = ''): Record<string, string> {
    const signer = { keyId: this.publicKey, sign: (message: Uint8Array) => sign(null, message, this.#secret) };
    return signRequest({ method: 'GET', url, body }, signer, randomBytes(16).toString('hex'), nowMs);
  }
}

/** A cloud node's stream on a real port: real HTTP server, handshake, frames; time is turned by hand. */
class StreamNode {
  readonly node = new Rooms();
  readonly identity = new EdgeIdentity();
  readonly minted = mintApiKey('live');
  /** Called in the middle of each handshake, after the API key was looked up. */
  duringHandshake: () => void = () => undefined;
  /** What a handshake gets before anything of it is stored. */
  handshakes: (accountId: AccountId) => Promise<Refusal | null> = async () => null;
  readonly nonces = new Set<string>();
  revoke: () => void = () => undefined;
  readonly warned: object[] = [];
  /** What is left of a revocation at a node that another one closed the streams of: the row in the database. */
  revokeElsewhere: () => void = () => undefined;
  readonly #http: Server = createServer((_request, response) => void response.end('rest'));
  readonly account: TestAccount;
  readonly #sockets: Socket[] = [];
  #stream: { close(): Promise<void> } | null = null;
  url = '';

  constructor(account?: TestAccount) {
    this.account = account ?? enrolled({}, { publicKey: this.identity.publicKey });
    this.node.add(this.account);
  }

  async start(rooms = this.node.rooms): Promise<this> {
    const { accountId, environment } = this.account.state;
    const row: ApiKeyRow = {
      id: 'key_1',
      accountId,
      organizationId: ORGANIZATION_ID,
      environment,
      label: 'edge',
      hash: this.minted.hash,
      maskedPrefix: '',
      createdAtMs: 0,
      revokedAtMs: null,
    };
    const apiKeys = createApiKeys({ apiKeyByHash: async (hash) => (hash === row.hash ? { ...row } : null) }, () =>
      this.node.clock.nowMs(),
    );
    this.revokeElsewhere = () => {
      row.revokedAtMs = this.node.clock.nowMs();
      rooms.close(accountId, 'UNAUTHORIZED');
    };
    this.revoke = () => {
      // as the gateway does
      row.revokedAtMs = this.node.clock.nowMs();
      apiKeys.forget(row.organizationId);
      rooms.close(accountId, 'UNAUTHORIZED');
    };
    const { nonces } = this;
    const nowMs = () => this.node.clock.nowMs();
    const accounts = { ask: this.node.ask };
    await rooms.start();
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
    this.#stream = attachEdgeStream({
      httpServer: this.#http,
      rooms,
      accounts,
      log: { info: () => {}, warn: (fields) => void this.warned.push(fields) },
      apiKeys,
      handshakes: (id) => this.handshakes(id),
      signatures: createEdgeSignatures({
        accounts,
        nowMs,
        edge: {
          claimNonce: async (keyId, nonce) => {
            this.duringHandshake();
            return nonces.has(`${keyId}/${nonce}`) ? false : Boolean(nonces.add(`${keyId}/${nonce}`));
          },
        },
      }),
    });
    return this;
  }

  auth(more: Partial<HandshakeAuth> = {}, headers: Record<string, string> = {}): HandshakeAuth {
    const signed = this.identity.headers(this.url + STREAM_PATH, this.node.clock.nowMs());
    return {
      headers: { 'x-api-key': this.minted.key, ...signed, ...headers },
      sessionId: ses(),
      edgeVersion: EDGE_VERSION,
      podHint: null,
      ...more,
    };
  }

  /** An edge's socket, welcomed. */
  async edge(auth = this.auth()): Promise<{ socket: Socket; welcome: WelcomeFrame; sessionId: string }> {
    const socket = this.#socket(auth);
    const welcome = await once<unknown>(socket, 'welcome');
    return { socket, welcome: welcomeFrame.parse(welcome), sessionId: auth.sessionId };
  }

  /** Code of a refused handshake. */
  async refused(auth: unknown): Promise<string> {
    const socket = this.#socket(auth);
    const error = await once<Error & { data?: { code?: string } }>(socket, 'connect_error');
    return error.data?.code ?? error.message;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.disconnect();
    await this.#stream?.close();
    await this.node.rooms.stop();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  #socket(auth: unknown): Socket {
    const socket = io(this.url, {
      path: STREAM_PATH,
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
      auth: auth as object,
    });
    this.#sockets.push(socket);
    return socket;
  }
}

const LIMIT_MS = 120_000;

/** The next frame of a name. Rejects: after two minutes. */
function once<T>(socket: Socket, name: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no ${name} in ${LIMIT_MS} ms`)), LIMIT_MS);
    socket.once(name, (value: T) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}

const ask = (socket: Socket, name: string, frame: object): Promise<Record<string, unknown>> =>
  socket.timeout(LIMIT_MS).emitWithAck(name, frame) as Promise<Record<string, unknown>>;

async function started(t: ExecutionContext, account?: TestAccount): Promise<StreamNode> {
  const node = await new StreamNode(account).start();
  t.teardown(() => node.stop());
  return node;
}

test('found F80: handshakes of an account have a window; one that is over it stores nothing and is let in later', async (t) => {
  const node = await started(t);
  let nowMs = 1_000_000;
  const limit = createHandshakeLimit({ rateLimiter: createMemoryRateLimiter(), nowMs: () => nowMs });
  const { accountId } = node.account.state;
  for (let count = 1; count < 3_000; count += 1) t.is(await limit(accountId), null);
  node.handshakes = limit;
  await node.edge();
  t.is(node.nonces.size, 1);
  t.is(await node.refused(node.auth()), 'RATE_LIMIT_EXCEEDED');
  t.is(node.nonces.size, 1);
  t.is(await limit(`${ORGANIZATION_ID}_sandbox`), null, 'another account');
  nowMs += WINDOW_MS;
  await node.edge();
  t.is(node.nonces.size, 2);
});

test('§5.3 a signed handshake with its API key is welcomed; heartbeats are acknowledged with role, epoch and TTL', async (t) => {
  const node = await started(t);
  const { socket, welcome, sessionId } = await node.edge();
  t.like(welcome, { sessionId, role: 'leader', leaseEpoch: 1, localKeys: [] });
  t.deepEqual(await ask(socket, 'heartbeat', { ...body(sessionId), leaseEpoch: 1 }), {
    ok: true,
    role: 'leader',
    leaseEpoch: 1,
    leaseTtlMs: 30_000,
  });
});

test('§5.3 a refused handshake says why: key, skew, signature, nonce, version, form', async (t) => {
  const node = await started(t);
  const {
    url,
    node: { clock },
  } = node;
  t.is(await node.refused(node.auth({}, { 'x-api-key': mintApiKey('live').key })), 'UNAUTHORIZED');
  t.is(await node.refused(node.auth({}, { 'x-api-key': '' })), 'UNAUTHORIZED');
  t.is(
    await node.refused(node.auth({}, node.identity.headers(url + STREAM_PATH, clock.nowMs() - 301_000))),
    'EDGE_SIGNATURE_SKEW',
  );
  t.is(
    await node.refused(node.auth({}, node.identity.headers(`${url}/v1/edge/other`, clock.nowMs()))),
    'EDGE_SIGNATURE_INVALID',
  );
  t.is(
    await node.refused(node.auth({}, node.identity.headers(`http://elsewhere.example${STREAM_PATH}`, clock.nowMs()))),
    'EDGE_SIGNATURE_INVALID',
  );
  t.is(
    await node.refused(node.auth({}, new EdgeIdentity().headers(url + STREAM_PATH, clock.nowMs()))),
    'EDGE_SIGNATURE_INVALID',
  );
  t.is(
    await node.refused(node.auth({}, node.identity.headers(url + STREAM_PATH, clock.nowMs(), 'a body'))),
    'EDGE_SIGNATURE_INVALID',
  );
  t.is(await node.refused(node.auth({ edgeVersion: '0.9.9' })), 'EDGE_VERSION_UNSUPPORTED');
  t.is(await node.refused(node.auth({ sessionId: 'mine' })), 'INVALID_INPUT');
  t.is(await node.refused({}), 'INVALID_INPUT');
  const auth = node.auth();
  await node.edge(auth);
  t.is(await node.refused({ ...auth, sessionId: ses() }), 'EDGE_NONCE_REPLAY');
});

test('found: a frame of an edge has at most 2 MiB: a larger one closes its stream alone, with a line that names the limit; the edge reads why', async (t) => {
  const node = await started(t);
  const [one, other] = [await node.edge(), await node.edge()];
  const frame = (bytes: number) => ({ records: [], more: 'x'.repeat(bytes) });
  const within = await ask(one.socket, 'local_keys', frame(FRAME_BYTES_TO_CLOUD_MAX - 100));
  t.deepEqual(within, { ok: true });
  const downs: string[] = [],
    timers = createTimers();
  const stream = new EdgeStream({
    cloudUrl: node.url,
    auth: () => node.auth(),
    timers,
    monotonicMs: () => 0,
    handlers: { welcome: () => undefined } as Partial<FrameHandlers> as FrameHandlers,
    onUp: () => downs.push('up'),
    onDown: () => downs.push('down'),
    onTooLarge: (whose) => downs.push(whose),
    onRefused: (code) => downs.push(code),
    onMalformed: (name) => downs.push(name),
    onFault: (error) => downs.push(String(error)),
  });
  t.teardown(() => {
    stream.stop();
    timers.stop();
  });
  stream.start();
  await until('the stream is up', () => stream.up);
  t.is(await stream.report('local_keys', frame(FRAME_BYTES_TO_CLOUD_MAX)), null);
  await until('it is closed', () => downs.includes('down'));
  await until('the cloud says so', () => node.warned.length > 0);
  t.deepEqual(downs.slice(0, 3), ['up', 'sent', 'down']);
  t.like(node.warned[0], { code: 'PAYLOAD_TOO_LARGE', limitBytes: FRAME_BYTES_TO_CLOUD_MAX });
  t.like(await ask(other.socket, 'heartbeat', { ...body(other.sessionId), leaseEpoch: 0 }), { role: 'follower' });
  t.true(one.socket.connected && other.socket.connected);
});

test('§5.2 a key that is revoked while a stream is coming up carries none; streams that were up are closed', async (t) => {
  const node = await started(t);
  const { socket } = await node.edge();
  const closed = once<{ code: string }>(socket, 'closing');
  node.duringHandshake = () => node.revoke();
  t.is(await node.refused(node.auth()), 'UNAUTHORIZED');
  t.is((await closed).code, 'UNAUTHORIZED');
  t.is(node.node.rooms.streamCount, 0);
});

test('§5.2 a key that was revoked at another node a moment ago carries no stream here, although it is remembered', async (t) => {
  const node = await started(t);
  const { socket } = await node.edge();
  const closed = once<{ code: string }>(socket, 'closing');
  node.revokeElsewhere();
  t.is((await closed).code, 'UNAUTHORIZED');
  t.is(await node.refused(node.auth()), 'UNAUTHORIZED', 'the edge comes back at once');
  t.is(node.node.rooms.streamCount, 0);
});

test('§9.4 versions are compared number by number', (t) => {
  const older = (version: string) => isOlderVersion(version, '1.10.0');
  t.deepEqual(['1.9.9', '0.99.0', '1.10', 'latest', ''].map(older), [true, true, true, true, true]);
  t.deepEqual(['1.10.0', '1.10.1-rc.1', '2.0.0', '1.11.0'].map(older), [false, false, false, false]);
});

test('§3.7, §5.7 an edge without enrolment is RESYNC_REQUIRED, one that awaits the owner IDENTITY_ROTATION_PENDING', async (t) => {
  const unknown = await started(t, new TestAccount());
  t.is(await unknown.refused(unknown.auth()), 'RESYNC_REQUIRED');
  const rotating = await started(t);
  rotating.account.accept(commands.enrol({ publicKey: OTHER_IDENTITY, keys: [pushedKey('evm', 1)] }));
  t.is(await rotating.refused(rotating.auth()), 'IDENTITY_ROTATION_PENDING');
});

test('a frame that is not in form is INVALID_INPUT, and the stream stays', async (t) => {
  const node = await started(t);
  const { socket, sessionId } = await node.edge();
  for (const name of ['heartbeat', 'attempts', 'local_keys'])
    t.deepEqual(await ask(socket, name, { nonsense: true }), { ok: false, code: 'INVALID_INPUT' });
  t.true((await ask(socket, 'heartbeat', { ...body(sessionId), leaseEpoch: 1 })).ok as boolean);
});

test('an instant that no date can name, and a number that no column holds, are INVALID_INPUT, and no unavailable cloud', async (t) => {
  const node = await started(t);
  const { socket, sessionId } = await node.edge();
  const key = {
    id: `ek_${'a'.repeat(26)}`,
    environment: 'live',
    hash: '0'.repeat(64),
    label: 'x',
    prefix: 'loc_live_x',
    createdAtMs: 1,
    revokedAtMs: null,
    signature: '0'.repeat(128),
  };
  const instruction = {
    transactionId: `txn_${'a'.repeat(26)}`,
    environment: 'live',
    instruction: '{}',
    unsigned: '{}',
    askedAtMs: 1,
    signature: '0'.repeat(128),
  };
  const attempt = {
    deliveryId: 'dlv_1',
    attempt: 1,
    statusCode: 200,
    durationMs: 1,
    retryAfterSeconds: null,
    outcome: 'answered',
  };
  const attempts = (more: object) => ({ sessionId, leaseEpoch: 1, attempts: [{ ...attempt, ...more }] });
  for (const far of [8_640_000_000_000_001, 253_402_300_800_000, Number.MAX_SAFE_INTEGER, -1]) {
    for (const [name, frame] of [
      ['local_keys', { records: [{ ...key, createdAtMs: far }] }],
      ['local_keys', { records: [{ ...key, revokedAtMs: far }] }],
      ['instructions', { records: [{ ...instruction, askedAtMs: far }] }],
      ['attempts', attempts({ durationMs: far })],
      ['attempts', attempts({ statusCode: far })],
      ['attempts', attempts({ attempt: far })],
    ] as const)
      t.deepEqual(
        await ask(socket, name, frame),
        { ok: false, code: 'INVALID_INPUT' },
        `${name} ${JSON.stringify(frame)}`,
      );
  }
  t.true((await ask(socket, 'attempts', attempts({}))).ok as boolean);
  t.true(socket.connected);
});

test("decisions 3: the leader's connection breaks; after the grace time the follower is told that it leads", async (t) => {
  const node = await started(t);
  const leader = await node.edge(),
    follower = await node.edge();
  t.is(follower.welcome.role, 'follower');
  leader.socket.io.engine.close();
  await waitFor(() => node.node.rooms.leaders().size === 0);
  const promoted = once<{ role: string; leaseEpoch: number }>(follower.socket, 'lease');
  node.node.clock.advance(11_000);
  t.like(await promoted, { role: 'leader', leaseEpoch: 2 });
  t.true((await ask(follower.socket, 'heartbeat', { ...body(follower.sessionId), leaseEpoch: 2 })).ok as boolean);
});

test('§7 an old leader that wakes up: LEASE_EPOCH_STALE, and its stream is closed', async (t) => {
  const node = await started(t);
  const old = await node.edge(),
    follower = await node.edge();
  node.node.clock.advance(29_000);
  await ask(follower.socket, 'heartbeat', { ...body(follower.sessionId), leaseEpoch: 1 });
  const promoted = once(follower.socket, 'lease');
  node.node.clock.advance(2_000);
  await promoted;
  const closed = once<string>(old.socket, 'disconnect');
  t.like(await ask(old.socket, 'attempts', { sessionId: old.sessionId, leaseEpoch: 1, attempts: [] }), {
    ok: false,
    code: 'LEASE_EPOCH_STALE',
  });
  t.is(await closed, 'io server disconnect');
});

test('a node that stops says so on every stream; the rest of the HTTP server is untouched', async (t) => {
  const node = await started(t);
  const { socket } = await node.edge();
  t.is(await (await fetch(`${node.url}/v1/anything`)).text(), 'rest');
  t.is((await fetch(`${node.url}${STREAM_PATH}/?EIO=4&transport=polling`)).status, 400);
  const closing = once<{ code: string }>(socket, 'closing');
  await node.node.rooms.stop();
  t.deepEqual(await closing, { code: 'SERVICE_UNAVAILABLE' });
});

test('P3 publication to recorded attempt over a real stream: every delivery once, in frames', async (t) => {
  const node = new StreamNode();
  const store = new MemoryDeliveries();
  const publisher = createPublisher({
    node: 'node-a',
    store,
    streams: node.node.rooms,
    clock: systemClock,
    random: () => 0,
    log: { warn: () => {} },
    secrets: { open: () => `whsec_${Buffer.alloc(24).toString('base64')}` },
  });
  node.node.publisher = publisher;
  await node.start();
  publisher.start();
  t.teardown(async () => {
    await publisher.stop();
    await node.stop();
  });
  const { socket, sessionId } = await node.edge();
  const { accountId } = node.account.state;
  for (let count = 0; count < 2_000; count += 1) store.add(accountId, { webhookId: `hook-${count % 8}` });
  const reports: Promise<Record<string, unknown>>[] = [];
  socket.on(
    'deliver',
    (frame: { leaseEpoch: number; deliveries: Delivery[] }, acknowledge: (answer: object) => void) => {
      acknowledge({ ok: true });
      const attempts = frame.deliveries.map(({ deliveryId, attempt }) => ({
        deliveryId,
        attempt,
        statusCode: 200,
        durationMs: 1,
        retryAfterSeconds: null,
        outcome: 'answered',
      }));
      reports.push(ask(socket, 'attempts', { sessionId, leaseEpoch: frame.leaseEpoch, attempts }));
    },
  );
  publisher.ring(accountId);
  await waitFor(() => store.recorded.length === 2_000);
  t.is(new Set(store.recorded.map(({ deliveryId }) => deliveryId)).size, 2_000);
  t.true((await Promise.all(reports)).every(({ ok }) => ok === true));
  t.true(reports.length < 100, `${reports.length} frames`);
});

/** Polls a condition of the other side. Rejects: after five seconds. */
async function waitFor(holds: () => boolean): Promise<void> {
  const untilMs = Date.now() + LIMIT_MS;
  while (!holds()) {
    if (Date.now() > untilMs) throw new Error('waited in vain');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
