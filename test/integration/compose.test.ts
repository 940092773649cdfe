/** compose.yaml is the production shape; no Docker engine is needed to hold it to the code that it starts. */
import { spawn } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { parse } from 'yaml';
import { CHAINS } from '../../protocol/slugs.ts';
import { ROOT } from '../support/tree.ts';
import { readConfig as readEdgeConfig } from '../../edge/config.ts';
import { isMnemonic } from '../../edge/keystore/keys.ts';
import { readConfig } from '../../supervision/config.ts';
import { API_KEYS, PHRASE } from '../support/edge/edges.ts';

interface Service {
  image?: string;
  profiles?: string[];
  volumes?: string[];
  ports?: string[];
  command?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  networks?: Record<string, { ipv4_address?: string; aliases?: string[] }>;
  healthcheck?: { test: string[] };
}
const NODES = ['cloud-1', 'cloud-2'];
const image = readFileSync(`${ROOT}deploy/image/Dockerfile`, 'utf8');
const compose = parse(readFileSync(`${ROOT}compose.yaml`, 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
  secrets: Record<string, unknown>;
  configs: Record<string, { content: string }>;
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>;
};

test('issue 2.11: compose.yaml has PostgreSQL, Redis, two cloud nodes behind a proxy, an edge and two more replicas of it', (t) => {
  t.deepEqual(Object.keys(compose.services).sort(), [
    'cloud',
    'cloud-1',
    'cloud-2',
    'edge',
    'edge-2',
    'edge-3',
    'migrate',
    'postgres',
    'redis',
  ]);
  for (const node of NODES) t.deepEqual(compose.services[node]!.command, ['node', 'supervision/main.ts']);
  t.deepEqual(compose.services['edge']!.command, ['node', '--disable-sigusr1', 'edge/main.ts']);
});

test('issue 2.11: the settings that compose.yaml gives a cloud node are the ones it reads', (t) => {
  const filled = Object.fromEntries(
    Object.entries(compose.services['cloud-1']!.environment ?? {}).map(([name, value]) => [
      name,
      value
        .replace(/\$\{(?:SECRET_KEY|CLUSTER_SECRET)[^}]*\}/, 'ab'.repeat(32))
        .replace(/\$\{POSTGRES_PASSWORD[^}]*\}/, 'word')
        .replace(/\$\{[A-Z_]+:-([^}]*)\}/g, '$1'),
    ]),
  );
  const config = readConfig(filled);
  t.is(config.CLOUD_PORT, 8_080);
  t.is(config.HOST, '0.0.0.0');
  t.true(
    config.PUBLIC_AUTHORITIES.includes(new URL(compose.services['edge']!.environment!['CLOUD_URL']!).host),
    'the name under which its edges ask',
  );
  t.is(
    new URL(config.DATABASE_URL).username,
    'flock_app',
    'the node signs in as the role without rights on money tables',
  );
});

test('spec §1.3: only the edge of compose.yaml gets the phrase', (t) => {
  for (const [name, service] of Object.entries(compose.services)) {
    t.is(JSON.stringify(service).includes('phrase'), /^edge(-[23])?$/.test(name), name);
  }
});

test('spec §1.3: what the image copies holds no phrase and no data of this machine, and replaces no installed package', (t) => {
  const { secrets } = compose as unknown as { secrets: { phrase: { file: string } } };
  t.true(image.includes('COPY . .'));
  const left = readFileSync(`${ROOT}.dockerignore`, 'utf8').split('\n');
  for (const name of [secrets.phrase.file.replace('./', ''), '.data*', '.git', '.env', 'node_modules'])
    t.true(left.includes(name), name);
});

test('issue 2.11: a chain goes live in compose.yaml by its setting, whichever of the ten it is', (t) => {
  const { environment } = compose.services['cloud-1']!;
  for (const chain of CHAINS)
    t.is(environment![`${chain.toUpperCase()}_RPC_URLS`], `\${${chain.toUpperCase()}_RPC_URLS:-}`);
});

test('issue 4.1: the image gives the directory of a data volume to the user that it runs as', (t) => {
  const made = image.indexOf('mkdir /data && chown node:node /data');
  t.is(compose.services['edge']!.environment!['EDGE_DATA_DIR'], '/data');
  t.true(made > 0 && made < image.indexOf('USER node'));
});

test('found F13: an edge of compose.yaml starts with a live key: its way to the cloud is said to be its own', (t) => {
  const { CLOUD_URL, EDGE_PLAIN_HTTP } = compose.services['edge']!.environment!;
  const { config } = readEdgeConfig(
    { API_KEY: API_KEYS.live, MNEMONIC: PHRASE, CLOUD_URL, EDGE_PLAIN_HTTP },
    isMnemonic,
  );
  t.is(config.cloudUrl, 'http://cloud:8080');
});

test('issue 4: three replicas of one edge: the same settings, each its own disk and port, two of them only on demand', (t) => {
  const replicas = ['edge', 'edge-2', 'edge-3'].map((name) => compose.services[name]!);
  for (const replica of replicas) t.deepEqual(replica.environment, replicas[0]!.environment);
  t.is(new Set(replicas.map(({ volumes }) => String(volumes))).size, 3);
  t.deepEqual(
    replicas.map(({ ports }) => String(ports)),
    ['127.0.0.1:8081:8081', '127.0.0.1:8082:8081', '127.0.0.1:8083:8081'],
  );
  t.deepEqual(
    replicas.map(({ profiles }) => profiles ?? []),
    [[], ['replicas'], ['replicas']],
  );
});

test('issue 10.9: two nodes of one cluster, each asked for its health; the proxy alone is believed who asks, and passes streams on', (t) => {
  const [first, second] = NODES.map((name) => compose.services[name]!),
    proxy = compose.services['cloud']!;
  const own = ['NODE_NAME', 'INTERNAL_URL'];
  const shared = (service: Service) => Object.entries(service.environment!).filter(([name]) => !own.includes(name));
  t.deepEqual(shared(first!), shared(second!));
  for (const [at, { environment, ports, healthcheck }] of [first!, second!].entries()) {
    t.is(environment!['NODE_NAME'], NODES[at]);
    t.is(environment!['INTERNAL_URL'], `http://node-${at + 1}:8090`);
    t.is(ports, undefined, 'neither port of a node is published');
    t.regex(healthcheck!.test.join(' '), /health\/ready/);
    t.is(proxy.depends_on![NODES[at]!]!.condition, 'service_healthy');
  }
  const { ipv4_address: address } = proxy.networks!['nodes']!;
  t.is(first!.environment!['TRUSTED_PROXIES'], address);
  t.is(compose.networks['nodes']!.ipam.config[0]!.subnet, address!.replace(/\d+$/, '0/24'));
  const { content } = compose.configs['proxy']!;
  for (const [at, { networks }] of [first!, second!].entries()) {
    // A name of that network alone: by another one the proxy would come from another address.
    t.deepEqual(networks as object, { default: {}, nodes: { aliases: [`node-${at + 1}`] } });
    t.true(content.includes(`server node-${at + 1}:8080 `));
  }
  for (const [header, value] of [
    ['Host', '$$http_host'],
    ['Upgrade', '$$http_upgrade'],
    ['Connection', '$$connection_of'],
    ['X-Forwarded-For', '$$remote_addr'],
  ])
    t.true(content.includes(`proxy_set_header ${header} ${value};`), header);
  t.false(/(?<!\$)(?:\$\$)*\$(?!\$)/.test(content), 'a single $ is a setting of compose');
  t.regex(content, /proxy_next_upstream error;/);
});

test('ecosystem X62 no port of compose.yaml is open to other machines, and no service but the proxy and the edges has one', (t) => {
  const published = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
    ports.map((port) => [name, port]),
  );
  t.deepEqual(
    published.map(([name]) => name),
    ['cloud', 'edge', 'edge-2', 'edge-3'],
  );
  for (const [name, port] of published) t.regex(port!, /^127\.0\.0\.1:\d+:\d+$/, name);
});

test('ecosystem X60 nothing of compose.yaml runs npm, and what runs our image writes to its volumes alone', (t) => {
  const ours = Object.entries(compose.services).filter(([, { image: other }]) => other === undefined);
  t.deepEqual(ours.map(([name]) => name).sort(), ['cloud-1', 'cloud-2', 'edge', 'edge-2', 'edge-3', 'migrate']);
  for (const [name, service] of ours) {
    t.is(service.command![0], 'node', name);
    t.like(service, { read_only: true, build: { dockerfile: 'deploy/image/Dockerfile' } }, name);
  }
});

test('ecosystem X60 the image has the rooms that run in production and no other: every program starts from them alone', async (t) => {
  const last = image.slice(image.lastIndexOf('\nFROM '));
  const rooms = [...last.matchAll(/^COPY ([a-z/.-]+) \1$/gm)].map(([, room]) => room!);
  t.false(/COPY \. /.test(last));
  for (const room of ['test', 'bench', 'developer', 'docs']) t.false(rooms.includes(room), room);
  t.regex(last, /^RUN rm -rf \/usr\/local\/lib\/node_modules/m, 'no npm');
  const app = mkdtempSync(join(tmpdir(), 'flock-image-'));
  t.teardown(() => rmSync(app, { recursive: true, force: true }));
  for (const room of rooms) cpSync(join(ROOT, room), join(app, room), { recursive: true });
  copyFileSync(join(ROOT, 'package.json'), join(app, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(app, 'node_modules'));
  const programs: [file: string, args: string[], code: number, said: RegExp][] = [
    ['supervision/main.ts', [], 78, /DATABASE_URL/],
    ['edge/main.ts', [], 78, /API_KEY/],
    ['persistence/postgres/migrate.ts', [], 78, /DATABASE_OWNER_URL/],
    ['gateway/cli/flock.ts', ['--version'], 0, /^flock \d/],
    ['edge/cli/flock-edge.ts', ['--version'], 0, /^flock-edge \d/],
  ];
  await Promise.all(
    programs.map(async ([file, args, code, said]) => {
      const child = spawn(process.execPath, ['--disable-sigusr1', file, ...args], {
        cwd: app,
        env: { PATH: process.env['PATH'] },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
      const ended = await new Promise<number | null>((resolve) => child.once('close', resolve));
      t.regex(text, said, `${file}: ${text}`);
      t.notRegex(text, /ERR_MODULE_NOT_FOUND|Cannot find/, file);
      t.is(ended, code, `${file}: ${text}`);
    }),
  );
});
