/**
 * A whole cloud node for wire tests: real PostgreSQL, actors, chains and REST in this process, spoken to over HTTP
 * only. Organizations, users and keys are put into the store, as an operator's commands do.
 */
import { createPrivateKey, createPublicKey, randomBytes, sign } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { hash } from '@node-rs/argon2';
import { generateSync } from 'otplib';
import type { Plan } from '../../model/account/plan.ts';
import { initialAccount } from '../../model/account/state.ts';
import { mintApiKey } from '../../gateway/http/auth/api-keys.ts';
import { totpContext } from '../../gateway/http/auth/totp.ts';
import { UNDOCUMENTED } from '../../gateway/http/answers.ts';
import { createLog } from '../../gateway/telemetry/log.ts';
import { createIdentityStore } from '../../persistence/postgres/identity.ts';
import type { IdentityStore } from '../../model/ports/identity-store.ts';
import { createClient, type Client } from '../../protocol/client.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import { signRequest, type Signer } from '../../protocol/node/http-signature.ts';
import { accountIdOf, type AccountId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import type { Environment, OrgRole } from '../../protocol/slugs.ts';
import { readConfig } from '../../supervision/config.ts';
import { startCloudNode, type CloudNode } from '../../supervision/node.ts';
import { createSecretBox, parseSealKey } from '../../persistence/secret-box.ts';
import { patientFetch } from './patience.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

/** A hash says what it cost; these need not withstand anybody. */
const CHEAP = { memoryCost: 64, timeCost: 1 };

export const ULTIMATE: Plan = { tier: 'ultimate', band: 'launch', subscription: 'active', paymentsActive: true };

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly totpSecret: string;
}
export interface TestAccountKey {
  readonly accountId: AccountId;
  readonly apiKey: string;
  readonly client: Client;
}
export interface TestOrganization {
  readonly id: string;
  readonly owner: Person;
  readonly live: TestAccountKey;
  readonly sandbox: TestAccountKey;
}

export interface TestCloud {
  readonly url: string;
  readonly database: TestDatabase;
  readonly identity: IdentityStore;
  /** What the node seals with. */
  readonly sealKey: Buffer;
  /** Lines of the node's log. */
  readonly lines: string[];
  organization(plan?: Partial<Plan>): Promise<TestOrganization>;
  person(options?: { admin?: boolean; totp?: boolean }): Promise<Person>;
  join(person: Person, organization: TestOrganization, role: OrgRole): Promise<void>;
  /** A bearer of a sign-in over the wire. */
  signIn(person: Person, options?: { organizationId?: string }): Promise<string>;
  /** One more node of the same database, with settings of its own beside those of the first. */
  another(name: string, env?: Readonly<Record<string, string>>): Promise<CloudNode>;
  stop(): Promise<void>;
}

/** A code of a person's authenticator; each step's code is taken once, so tests ask for different steps. */
export function codeOf({ totpSecret }: Pick<Person, 'totpSecret'>, stepsFromNow = 0, nowMs = Date.now()): string {
  return generateSync({ secret: totpSecret, epoch: (Math.floor(nowMs / 30_000) + stepsFromNow) * 30 });
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** An endpoint that no node serves, for a chain that is only switched on. */
const UNREACHABLE = 'http://127.0.0.1:9';

/** This process is the node, the edge and the test at once: a heartbeat of it may be late. */
const BEAT_LIMIT_MS = 60_000;

/** Starts a node. `env` are further settings, e.g. `ETH_RPC_URLS`; `server` as createTestDatabase has it. */
export async function startTestCloud(
  env: Readonly<Record<string, string>> = {},
  { server }: { server?: string } = {},
): Promise<TestCloud> {
  const database = await createTestDatabase({ server });
  const secretKey = randomBytes(32).toString('hex');
  const secrets = createSecretBox([parseSealKey(secretKey)]);
  const identity = createIdentityStore(database.sql, initialAccount);
  const lines: string[] = [];
  const log = createLog('debug', 'test', {
    write: (line: string) => {
      lines.push(line);
    },
  });
  // A chain at the discard port is never reached; it begins at a height of its own, so that its addresses may be
  // issued.
  const begun = Object.entries(env).flatMap(([name, value]) =>
    value === UNREACHABLE ? [[name.replace('RPC_URLS', 'START_HEIGHT'), '0']] : [],
  );
  const start = (more: Readonly<Record<string, string>>) =>
    startCloudNode(
      readConfig({
        DATABASE_URL: database.url,
        DATABASE_CONNECTIONS: '6',
        SECRET_KEY: secretKey,
        CLOUD_PORT: '0',
        NODE_NAME: `test-${process.pid}`,
        ...Object.fromEntries(begun),
        ...env,
        ...more,
      }),
      log,
      { beatLimitMs: BEAT_LIMIT_MS },
    );
  const node = await start({});
  const { url } = node;

  const person: TestCloud['person'] = async ({ admin = false, totp = true } = {}) => {
    const id = newId('usr', Date.now());
    const made = {
      id,
      email: `${id}@example.com`,
      password: randomBytes(9).toString('base64url'),
      totpSecret: [...randomBytes(32)].map((byte) => BASE32[byte & 31]).join(''),
    };
    await identity.insertUser({
      id,
      email: made.email,
      passwordHash: await hash(made.password, CHEAP),
      platformRole: admin ? 'admin' : null,
      sealedTotpSecret: totp ? secrets.seal(made.totpSecret, totpContext(id)) : null,
      totpConfirmed: totp,
    });
    return made;
  };

  const keyOf = async (organizationId: string, environment: Environment): Promise<TestAccountKey> => {
    const { key, hash, maskedPrefix } = mintApiKey(environment);
    const accountId = accountIdOf(organizationId, environment);
    await identity.insertApiKey({
      id: newId('key', Date.now()),
      accountId,
      organizationId,
      environment,
      label: 'test',
      hash,
      maskedPrefix,
      createdAtMs: Date.now(),
      revokedAtMs: null,
    });
    return { accountId, apiKey: key, client: createClient({ baseUrl: url, apiKey: key }) };
  };

  return {
    url,
    database,
    identity,
    lines,
    person,
    sealKey: parseSealKey(secretKey),
    another: (name, more = {}) => start({ ...more, NODE_NAME: name }),
    async organization(plan = {}) {
      const owner = await person();
      const id = newId('org', Date.now());
      await identity.createOrganization({ id, name: `Organization ${id}`, createdAtMs: Date.now() }, owner.id, {
        ...ULTIMATE,
        ...plan,
      });
      return { id, owner, live: await keyOf(id, 'live'), sandbox: await keyOf(id, 'sandbox') };
    },
    join: (who, { id }, role) => identity.insertMembership({ userId: who.id, organizationId: id, role }),
    async signIn(who, { organizationId } = {}) {
      const body = {
        email: who.email,
        password: who.password,
        totp: codeOf(who, 0),
        ...(organizationId === undefined ? {} : { organizationId }),
      };
      return (await createClient({ baseUrl: url }).must('login', { body })).accessToken;
    },
    async stop() {
      await node.stop();
      await database.close();
      const unnamed = lines.filter((line) => line.includes(UNDOCUMENTED));
      if (unnamed.length > 0)
        throw new Error(`refusals that the API description does not name:\n${unnamed.join('\n')}`);
    },
  };
}

// ── Edges ────────────────────────────────────────────────────────────────────────────────────────────────────────

const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface TestEdge {
  readonly signer: Signer;
  readonly client: Client;
  readonly sessionId: string;
  /** Headers of a signature over a request. */
  sign(
    request: { method: string; url: string; body?: string },
    options?: { nonce?: string; nowMs?: number },
  ): Record<string, string>;
  /** Registers a fresh EVM key; what `sync` answers. */
  sync(): ReturnType<Client['call']>;
}

/** An Ed25519 identity from 32 random bytes. */
export function newSigner(seed: Uint8Array = randomBytes(32)): Signer {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, seed]), format: 'der', type: 'pkcs8' });
  const keyId = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(12).toString('hex');
  return { keyId, sign: (message) => sign(null, message, key) };
}

/** Extended public key of a fresh account; another one each time, since an address belongs to one account for ever. */
export function newEvmKey(): { family: 'evm'; xpub: string; accountPath: string } {
  const accountPath = "m/44'/60'/0'";
  return {
    family: 'evm',
    accountPath,
    xpub: HDKey.fromMasterSeed(randomBytes(32)).derive(accountPath).publicExtendedKey,
  };
}

/** An edge of an account, as far as signed requests go. */
export function testEdge(cloud: Pick<TestCloud, 'url'>, apiKey: string, signer: Signer = newSigner()): TestEdge {
  const sign: TestEdge['sign'] = (
    request,
    { nonce = randomBytes(16).toString('base64url'), nowMs = Date.now() } = {},
  ) => signRequest(request, signer, nonce, nowMs);
  const client = createClient({ baseUrl: cloud.url, apiKey, sign });
  const sessionId = newId('ses', Date.now());
  return {
    signer,
    client,
    sessionId,
    sign,
    sync: () =>
      client.call('syncEdge', { body: { edgeVersion: EDGE_VERSION, sessionId, keys: [newEvmKey()], pools: [] } }),
  };
}

/** An account whose edge has registered an EVM key, so that addresses can be issued. */
export async function enrol(cloud: TestCloud, key: TestAccountKey): Promise<TestEdge> {
  const edge = testEdge(cloud, key.apiKey);
  const answer = await edge.sync();
  if ('ok' in (answer as object)) throw new Error(`sync was refused: ${JSON.stringify(answer)}`);
  return edge;
}

// ── Raw requests ─────────────────────────────────────────────────────────────────────────────────────────────────

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // The tests look into answers that are wrong on purpose.
  readonly json: {
    success: boolean;
    data: any;
    error: { code: string; message: string; details: Record<string, any> };
    meta: { requestId: string; timestamp: string };
  };
}

async function firstOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

/** One request as it is, also one that the typed client would not make; again while the database is late. */
export async function raw(
  url: string,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string | Uint8Array } = {},
): Promise<RawAnswer> {
  const init: RequestInit = { method, headers, redirect: 'manual' };
  if (body !== undefined) init.body = body as NonNullable<RequestInit['body']>;
  const response = await patientFetch(`${url}${path}`, init);
  // A stream has no end: its first words are the answer.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? await firstOf(response.body!) : await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** Headers of a JSON body under an API key. */
export const jsonOf = (apiKey: string, more: Record<string, string> = {}): Record<string, string> => ({
  'x-api-key': apiKey,
  'content-type': 'application/json',
  ...more,
});

const PATIENCE_MS = 300_000;
/** From one look to the next it grows: what takes long on a busy machine does not use a band's requests up. */
const [PAUSE_MS, PAUSE_MS_MAX] = [10, 250];

/** Asks until the answer is good. Throws: with its name and the last answer, after a minute. */
export async function eventually<T>(what: string, ask: () => Promise<T>, good: (answer: T) => boolean): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * 1.2)) {
    const last = await ask();
    if (good(last)) return last;
    if (performance.now() > deadline)
      throw new Error(`${what}: not within ${PATIENCE_MS} ms; last ${JSON.stringify(last)?.slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
