/**
 * A whole Flock on one machine: embedded PostgreSQL, a cloud node, an edge. Developer mode, the demo, the tests and the
 * benchmarks start it; each part is a process of its own that ends with this one.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newRegistryKey, publicRegistryKey } from '../gateway/cli/registry-sign.ts';
import type { Environment } from '../protocol/slugs.ts';
import { startChild, type Child } from './children.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.ts';
import { EDGE_COMMAND, mintLocalKey } from './local-key.ts';
import { openFleet, type Fleet } from './fleet.ts';
import { forgetNodes, prepareDatabase } from './database.ts';
import { seedDeveloperOrganizations, type DeveloperRecord } from './seed.ts';

const entry = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
export const CLOUD_ENTRY = entry('supervision/main.ts');
export const EDGE_ENTRY = entry('edge/main.ts');

/** The file that each part is started with. */
export interface Entries {
  readonly cloud: string;
  readonly edge: string;
  /** The edge's command line. */
  readonly edgeCommand: string;
}

export const SOURCE_ENTRIES: Entries = { cloud: CLOUD_ENTRY, edge: EDGE_ENTRY, edgeCommand: EDGE_COMMAND };

/** The phrase of developer mode is made anew for each data directory; nobody shares it. */
export interface DeploymentOptions {
  readonly dataDir: string;
  readonly cloudPort: number;
  readonly edgePort: number;
  readonly environment: Environment;
  /** Settings of the cloud node beyond the defaults, e.g. `ETH_RPC_URLS`. */
  readonly cloudEnv?: Readonly<Record<string, string>>;
  readonly edgeEnv?: Readonly<Record<string, string>>;
  /** An existing server, instead of the embedded one: its superuser URL. */
  readonly databaseUrl?: string;
  /** Name of the database on that server. */
  readonly databaseName?: string;
  /** Cloud nodes; one by default. With more of them `cloudPort` is that of the balancer before them. */
  readonly nodes?: number;
  /** How long a node that says nothing keeps its accounts, where there are several. */
  readonly leaseSeconds?: number;
  /** False where a crash of the machine may lose everything: tests. */
  readonly durable?: boolean;
  /** Where the parts were built into other files: tests. */
  readonly entries?: Entries;
  readonly log: (line: string) => void;
}

export interface Deployment {
  readonly cloudUrl: string;
  readonly edgeUrl: string;
  readonly record: DeveloperRecord;
  readonly localApiKey: string;
  /** Superuser's URL of the database, for checkers. */
  readonly databaseUrl: string;
  /** What both parts were started with, for commands beside them. */
  readonly settings: Readonly<Record<'cloud' | 'edge', Readonly<Record<string, string>>>>;
  /** Null with one node. */
  readonly fleet: Fleet | null;
  cloud: Child;
  edge: Child;
  /** Starts a fresh process of a part that has ended, with the same ports and data; further settings on top. */
  restartCloud(env?: Readonly<Record<string, string>>, entry?: string): Promise<Child>;
  /** One more process of the cloud on the same database, on a port of its own; `stop` stops it too. */
  addCloud(env?: Readonly<Record<string, string>>, entry?: string): Promise<{ child: Child; url: string }>;
  restartEdge(env?: Readonly<Record<string, string>>): Promise<Child>;
  /** One more replica of the edge, with its own data directory; resolves when it answers. `stop` stops it too. */
  addReplica(): Promise<Child>;
  stop(): Promise<void>;
}

/** Of several nodes of developer mode. */
const LEASE_SECONDS = 10;

/** A file of the data directory that is made once and kept. */
function keptFile(dataDir: string, name: string, make: () => string): string {
  const path = join(dataDir, name);
  if (!existsSync(path)) writeFileSync(path, make(), { mode: 0o600 });
  return readFileSync(path, 'utf8').trim();
}

/** Two registry keys, so that a version can be signed and published here as well. Treasury K7. */
const registryKeysOf = (dataDir: string): string =>
  [1, 2].map((n) => publicRegistryKey(keptFile(dataDir, `registry-${n}.pem`, newRegistryKey))).join();

/** What the first node is started with on every machine. */
const ownSettings = ({ cloudPort, dataDir }: DeploymentOptions) => ({
  CLOUD_PORT: String(cloudPort),
  DEVELOPER_MODE: 'on',
  NODE_NAME: 'cloud-1',
  MAIL_DIR: join(dataDir, 'mail'),
});

const ownServer = ({ dataDir, durable = true, log }: DeploymentOptions): Promise<EmbeddedPostgres> =>
  startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), durable, log });

async function fleetOf({ nodes = 1, dataDir, cloudPort, leaseSeconds }: DeploymentOptions): Promise<Fleet | null> {
  if (nodes === 1) return null;
  const secret = keptFile(dataDir, 'cluster.secret', () => randomBytes(32).toString('hex'));
  return openFleet(cloudPort, secret, leaseSeconds ?? LEASE_SECONDS);
}

/** The nodes after the first one, together. */
async function addOthers({ addCloud }: Deployment, nodes: number): Promise<void> {
  const names = Array.from({ length: nodes - 1 }, (_, at) => `cloud-${at + 2}`);
  const added = await Promise.allSettled(names.map((name) => addCloud({ NODE_NAME: name })));
  for (const one of added) if (one.status === 'rejected') throw one.reason;
}

/** Starts everything and waits until both answer. Throws: Error that names the part and what to do. */
export async function startDeployment(options: DeploymentOptions): Promise<Deployment> {
  const { dataDir, environment, entries = SOURCE_ENTRIES } = options;
  mkdirSync(join(dataDir, 'edge'), { recursive: true, mode: 0o700 });
  const postgres = options.databaseUrl === undefined ? await ownServer(options) : null;
  let fleet: Fleet | null = null;
  const started: Child[] = [];
  try {
    const secretKey = keptFile(dataDir, 'secret.key', () => randomBytes(32).toString('hex'));
    const serverUrl = postgres?.url ?? options.databaseUrl!;
    const { appUrl: databaseUrl, superuserUrl: checkerUrl } = await prepareDatabase(serverUrl, options.databaseName);
    if (postgres !== null) await forgetNodes(checkerUrl);
    const record = await seedDeveloperOrganizations({ databaseUrl, secretKey, recordFile: join(dataDir, 'seed.json') });
    fleet = await fleetOf(options);
    const registryKeys = registryKeysOf(dataDir);
    const cloudEnv = {
      ...ownSettings(options),
      DATABASE_URL: databaseUrl,
      SECRET_KEY: secretKey,
      REGISTRY_KEYS: registryKeys,
      ...options.cloudEnv,
      ...fleet?.env,
    };
    const cloud = startChild('cloud', entries.cloud, cloudEnv, join(dataDir, 'cloud.log'));
    started.push(cloud);
    const edgeSettings = {
      API_KEY: environment === 'live' ? record.live.cloudApiKey : record.sandbox.cloudApiKey,
      EDGE_PORT: String(options.edgePort),
      EDGE_DATA_DIR: join(dataDir, 'edge'),
      MNEMONIC_FILE: (await developerPhrase(dataDir, environment)).phraseFile,
      EDGE_REGISTRY_KEYS: registryKeys,
      ...options.edgeEnv,
    };
    const keyFile = join(dataDir, `local-key.${environment}`);
    // Minting contacts nobody: it goes on while the cloud node starts, whose port may not be known yet.
    const [{ port: cloudPort }, localApiKey] = await Promise.all([
      cloud.ready,
      mintLocalKey({ ...edgeSettings, CLOUD_URL: 'http://127.0.0.1' }, keyFile, entries.edgeCommand),
    ]);
    fleet?.join('cloud-1', cloud, cloudPort);
    const cloudUrl = fleet?.url ?? `http://127.0.0.1:${cloudPort}`;
    const edgeEnv = { ...edgeSettings, CLOUD_URL: cloudUrl };
    const edge = startChild('edge', entries.edge, edgeEnv, join(dataDir, 'edge.log'));
    started.push(edge);
    const edgePort = (await edge.ready).port;
    const [replicas, others]: [Child[], Child[]] = [[], []];
    const deployment: Deployment = {
      cloudUrl,
      edgeUrl: `http://127.0.0.1:${edgePort}`,
      record,
      localApiKey,
      databaseUrl: checkerUrl,
      settings: { cloud: cloudEnv, edge: edgeEnv },
      fleet,
      cloud,
      edge,
      async restartCloud(env = {}, entry = entries.cloud) {
        const settings = { ...cloudEnv, CLOUD_PORT: String(cloudPort), ...env };
        deployment.cloud = startChild('cloud', entry, settings, join(dataDir, 'cloud.log'));
        await deployment.cloud.ready;
        return deployment.cloud;
      },
      async addCloud(env = {}, entry = entries.cloud) {
        const settings = { ...cloudEnv, CLOUD_PORT: '0', ...env };
        const name = settings.NODE_NAME === 'cloud-1' ? 'cloud-2' : settings.NODE_NAME;
        const child = startChild(name, entry, settings, join(dataDir, `${name}.log`));
        others.push(child);
        const { port } = await child.ready;
        fleet?.join(name, child, port);
        return { child, url: `http://127.0.0.1:${port}` };
      },
      async restartEdge(env = {}) {
        deployment.edge = startChild(
          'edge',
          entries.edge,
          { ...edgeEnv, EDGE_PORT: String(edgePort), ...env },
          join(dataDir, 'edge.log'),
        );
        await deployment.edge.ready;
        return deployment.edge;
      },
      async addReplica() {
        const name = `edge-${replicas.length + 2}`,
          directory = join(dataDir, name);
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        const env = { ...edgeEnv, EDGE_PORT: '0', EDGE_DATA_DIR: directory };
        const replica = startChild('edge', entries.edge, env, join(dataDir, `${name}.log`));
        replicas.push(replica);
        await replica.ready;
        return replica;
      },
      async stop() {
        await Promise.all(replicas.map((replica) => replica.stop()));
        await deployment.edge.stop();
        await Promise.all([deployment.cloud, ...others].map((child) => child.stop()));
        await fleet?.stop();
        await postgres?.stop();
      },
    };
    await addOthers(deployment, options.nodes ?? 1).finally(() => started.push(...others));
    return deployment;
  } catch (error) {
    await Promise.all(started.map((child) => child.stop()));
    await fleet?.stop();
    await postgres?.stop();
    throw error;
  }
}

/** The developer's recovery phrase: 24 words, made once per data directory and environment, readable by its owner. */
async function developerPhrase(dataDir: string, environment: Environment): Promise<{ phraseFile: string }> {
  const phraseFile = join(dataDir, `phrase.${environment}`);
  if (!existsSync(phraseFile)) {
    const [{ generateMnemonic }, { wordlist }] = await Promise.all([
      import('@scure/bip39'),
      import('@scure/bip39/wordlists/english.js'),
    ]);
    writeFileSync(phraseFile, `${generateMnemonic(wordlist, 256)}\n`, { mode: 0o600 });
  }
  return { phraseFile };
}
