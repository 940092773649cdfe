/**
 * One cloud node, several edge replicas behind fault proxies, a rough receiver: real processes, real sockets, one disk
 * each.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openDatabase, type Sql } from '../../../persistence/postgres/sql.ts';
import type { Client } from '../../../protocol/client.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { COMPILE_CACHE, startChild } from '../../../developer/children.ts';
import { prepareDatabase } from '../../../developer/database.ts';
import { freePort } from '../../../developer/ports.ts';
import type { Signed } from '../../../chains/chain.ts';
import { networkOf } from '../../../chains/registry.ts';
import { sandboxOf } from '../../../chains/sandbox-networks.ts';
import { seedOf } from '../../../edge/keystore/keys.ts';
import { createPhraseKeystore } from '../../../edge/keystore/phrase-keystore.ts';
import { loadSigner } from '../../../edge/signing/signer-loader.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { createUpstream } from '../../../edge/link/upstream.ts';
import { mintLocalKey } from '../../../developer/local-key.ts';
import { seedDeveloperOrganizations } from '../../../developer/seed.ts';
import { partEntries } from '../built-parts.ts';
import { patientClient, patiently } from '../patience.ts';
import { testServerUrl } from '../postgres.ts';
import { FaultProxy } from './fault-proxy.ts';
import { RoughReceiver } from './rough-receiver.ts';

const run = promisify(execFile);
/** Only ever used here, for money that does not exist. */
export const PHRASES = [
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
  'legal winner thank year wave sausage worth useful legal winner thank yellow',
] as const;

/** One edge process with its disk and its way to the cloud. */
export class Replica {
  readonly name: string;
  readonly proxy: FaultProxy;
  readonly dataDir: string;
  readonly #env: Record<string, string>;
  #child: ChildProcess | null = null;
  #ready = false;
  #exited: Promise<void> = Promise.resolve();
  frozen = false;
  diskLimited = false;
  port = 0;
  output = '';

  constructor(name: string, proxy: FaultProxy, dataDir: string, env: Record<string, string>) {
    this.name = name;
    this.proxy = proxy;
    this.dataDir = dataDir;
    this.#env = { ...env, CLOUD_URL: proxy.url, EDGE_DATA_DIR: dataDir, POD_HINT: name };
  }

  /** It runs, and said that it is ready. */
  get up(): boolean {
    return this.#child !== null && this.#ready;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    // Kept, so that it comes back where it was.
    if (this.port === 0) this.port = await freePort();
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', (await partEntries()).edge], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...this.#env,
        EDGE_PORT: String(this.port),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    this.#ready = false;
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-20_000)));
    this.#exited = new Promise((resolve) =>
      child.once('exit', () => {
        if (this.#child === child) this.#child = null;
        resolve();
      }),
    );
    await new Promise<void>((resolve, reject) => {
      child.once('message', (message: { port: number }) => {
        this.port = message.port;
        this.#ready = true;
        resolve();
      });
      void this.#exited.then(() =>
        reject(new Error(`${this.name} ended before it was ready:\n${this.output.slice(-1_500)}`)),
      );
    });
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (this.frozen) this.thaw();
    this.#child?.kill(signal);
    await this.#exited;
    this.diskLimited = false;
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP');
    this.frozen = true;
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
    this.frozen = false;
  }

  /** No file of the process grows any more, or it may again: the soft limit of a running process. */
  async limitDisk(limited: boolean): Promise<void> {
    if (this.#child?.pid === undefined) return;
    const soft = limited ? String(statSync(join(this.dataDir, 'edge.db')).size) : 'unlimited';
    await run('prlimit', ['--pid', String(this.#child.pid), `--fsize=${soft}:unlimited`]);
    this.diskLimited = limited;
  }

  /** A gauge or counter of its metrics; null when it does not answer. */
  async metric(name: string): Promise<number | null> {
    if (!this.up || this.frozen) return null;
    try {
      const text = await (await fetch(`${this.url}/metrics`, { signal: AbortSignal.timeout(2_000) })).text();
      return text
        .split('\n')
        .filter((line) => line.startsWith(name))
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    } catch {
      return null;
    }
  }
}

export interface Fleet {
  readonly replicas: readonly Replica[];
  readonly receiver: RoughReceiver;
  readonly accountId: string;
  readonly localKey: string;
  /** As the superuser, for checkers. */
  readonly sql: Sql;
  /** At the cloud, with the account's API key. */
  readonly atCloud: Client;
  at(replica: Replica): Client;
  /** At the cloud as the edge itself, with its key and the signature of its identity. */
  readonly asEdge: Client;
  /** Signs as the edge would: for what only a replica that believes in an old lease submits. */
  signed(built: ReplyOf<'buildTransaction'>): Promise<Signed>;
}

export interface CloudHost {
  readonly url: string;
  readonly fleets: readonly Fleet[];
  killCloud(): Promise<void>;
  startCloud(): Promise<void>;
  close(): Promise<void>;
}

/** A cloud node with a fleet for the sandbox account of one or of both organizations of developer mode. */
export async function startFleets({
  sizes,
  cloudEnv,
  edgeEnv = {},
  random,
}: {
  sizes: readonly number[];
  cloudEnv: Record<string, string>;
  edgeEnv?: Record<string, string>;
  random: () => number;
}): Promise<CloudHost> {
  const folder = mkdtempSync(join(tmpdir(), 'flock-fleet-'));
  const closing: (() => Promise<unknown> | unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    const secretKey = randomBytes(32).toString('hex');
    const { appUrl: databaseUrl, superuserUrl } = await prepareDatabase(
      await testServerUrl(),
      `fleet_${process.pid}_${randomBytes(4).toString('hex')}`,
    );
    const record = await seedDeveloperOrganizations({ databaseUrl, secretKey, recordFile: join(folder, 'seed.json') });
    const env = {
      DATABASE_URL: databaseUrl,
      SECRET_KEY: secretKey,
      DEVELOPER_MODE: 'on',
      NODE_NAME: 'cloud-1',
      WEBHOOK_LADDER_SECONDS: '0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1',
      ...cloudEnv,
    };
    const { cloud: entry } = await partEntries();
    const first = startChild(
      'cloud',
      entry,
      { ...env, CLOUD_PORT: String(await freePort()) },
      join(folder, 'cloud.log'),
    );
    const holder = { cloud: first };
    closing.push(() => holder.cloud.stop());
    const { port } = await first.ready;
    const cloudUrl = `http://127.0.0.1:${port}`;
    const startCloud = async () => {
      holder.cloud = startChild('cloud', entry, { ...env, CLOUD_PORT: String(port) }, join(folder, 'cloud.log'));
      await holder.cloud.ready;
    };
    const sql = openDatabase({ url: superuserUrl, connections: 2, name: 'flock-books', role: null });
    closing.push(() => sql.end({ timeout: 5 }));
    const accounts = [
      { organizationId: record.organizationId, apiKey: record.sandbox.cloudApiKey },
      { organizationId: record.other.organizationId, apiKey: record.other.sandbox.cloudApiKey },
    ];
    const fleets = await Promise.all(
      sizes.map((size, index) =>
        openFleet({
          folder: join(folder, `fleet-${index}`),
          phrase: PHRASES[index]!,
          ...accounts[index]!,
          size,
          cloudUrls: [cloudUrl],
          sql,
          edgeEnv,
          random,
          closing,
        }),
      ),
    );
    return {
      url: cloudUrl,
      fleets,
      close,
      startCloud,
      async killCloud() {
        holder.cloud.kill('SIGKILL');
        await holder.cloud.exited;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export interface Opening {
  folder: string;
  phrase: string;
  organizationId: string;
  apiKey: string;
  size: number;
  /** Replicas take turns. */
  cloudUrls: readonly string[];
  sql: Sql;
  edgeEnv: Record<string, string>;
  random: () => number;
  closing: (() => Promise<unknown> | unknown)[];
}

/** The replicas of one account, each behind a proxy of its own, and their receiver; ready for an address. */
export async function openFleet({
  folder,
  phrase,
  organizationId,
  apiKey,
  size,
  cloudUrls,
  sql,
  edgeEnv,
  random,
  closing,
}: Opening): Promise<Fleet> {
  const cloudUrl = cloudUrls[0]!;
  mkdirSync(folder, { recursive: true });
  const receiver = await RoughReceiver.start(random);
  closing.push(() => receiver.close());
  writeFileSync(join(folder, 'phrase'), phrase, { mode: 0o600 });
  const env = {
    API_KEY: apiKey,
    MNEMONIC_FILE: join(folder, 'phrase'),
    EDGE_CHAINS: 'eth',
    EDGE_WEBHOOK_ALLOWLIST: `127.0.0.1:${receiver.port}`,
    ...edgeEnv,
  };
  const replicas = await Promise.all(
    Array.from({ length: size }, async (_, index) => {
      const proxy = await FaultProxy.start(cloudUrls[index % cloudUrls.length]!);
      closing.push(() => proxy.close());
      return new Replica(`edge-${index}`, proxy, join(folder, `edge-${index}`), env);
    }),
  );
  // Minted at one replica: the others have it from the cloud, within a heartbeat.
  const localKey = await mintLocalKey(
    { ...env, CLOUD_URL: cloudUrl, EDGE_DATA_DIR: replicas[0]!.dataDir },
    join(folder, 'local-key'),
    (await partEntries()).edgeCommand,
  );
  closing.push(() => Promise.all(replicas.map((replica) => replica.kill('SIGKILL'))));
  for (const replica of replicas) await replica.start();
  const at = (replica: Replica) => patientClient({ baseUrl: replica.url, apiKey: localKey, timeoutMs: 15_000 });
  const atCloud = patientClient({ baseUrl: cloudUrl, apiKey, timeoutMs: 15_000 });
  await patiently(
    'readiness',
    () => atCloud.call('getEdgeReadiness'),
    (view) => !isRefusal(view) && view.content.some((row) => row.chain === 'eth' && row.state === 'ready'),
  );
  const { secret } = await atCloud.must('createWebhook', {
    body: { url: receiver.url, events: ['deposit_detected', 'deposit_confirmed'] },
  });
  receiver.setSecret(secret);
  const keystore = createPhraseKeystore(seedOf(phrase, ''));
  const upstream = createUpstream({ cloudUrl, apiKey, identity: keystore.identity, nowMs: Date.now });
  const signed = async ({ unsigned }: ReplyOf<'buildTransaction'>): Promise<Signed> => {
    const signer = await loadSigner('eth');
    return keystore.withKey('eth', unsigned.fromPath, (key) =>
      signer!.sign(
        sandboxOf(networkOf('eth')),
        { ...unsigned, amount: BigInt(unsigned.amount), feeMax: BigInt(unsigned.feeMax) },
        key,
      ),
    );
  };
  closing.push(() => upstream.close());
  return {
    asEdge: upstream.signed,
    signed,
    replicas,
    receiver,
    localKey,
    sql,
    atCloud,
    at,
    accountId: `${organizationId}_sandbox`,
  };
}
