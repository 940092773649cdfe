/**
 * `deploy/kubernetes` runs several nodes as they must be run. Its YAML is read here; what `kubectl kustomize` makes of
 * it is compared where kubectl is installed (Debian: kubernetes-client). No cluster runs it here.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { parse, parseAllDocuments } from 'yaml';
import { DRAIN_DEADLINE_MS } from '../../../supervision/drain.ts';
import { readConfig } from '../../../supervision/config.ts';
import { ROOT } from '../../support/tree.ts';

interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
}
interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef?: object; fieldRef?: object };
}
interface Container {
  image: string;
  command: string[];
  env?: Variable[];
  envFrom?: object[];
  ports?: { name: string; containerPort: number }[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: { preStop: { exec: { command: string[] } } };
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  securityContext: {
    readOnlyRootFilesystem: boolean;
    allowPrivilegeEscalation: boolean;
    capabilities: { drop: string[] };
  };
}
interface Pod {
  automountServiceAccountToken: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext: { runAsNonRoot: boolean; seccompProfile: { type: string } };
  containers: Container[];
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: { template?: { spec: Pod; metadata?: { labels: Record<string, string> } }; [name: string]: unknown };
}

const BASE = `${ROOT}deploy/kubernetes/base`;
const { resources } = parse(readFileSync(`${BASE}/kustomization.yaml`, 'utf8')) as { resources: string[] };
const manifests = resources.map((file) => parse(readFileSync(`${BASE}/${file}`, 'utf8')) as Manifest);
const one = (kind: string): Manifest => manifests.find((manifest) => manifest.kind === kind)!;
const podOf = ({ spec }: Manifest): Pod => spec!.template!.spec;
const WORKLOADS = ['Deployment', 'Job'];

test('every file of the base is a resource of it, each of a kind and version that Kubernetes has', (t) => {
  t.deepEqual(
    readdirSync(BASE)
      .filter((name) => name !== 'kustomization.yaml')
      .sort(),
    resources.toSorted(),
  );
  t.deepEqual(manifests.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`).sort(), [
    'apps/v1 Deployment',
    'batch/v1 Job',
    'networking.k8s.io/v1 NetworkPolicy',
    'policy/v1 PodDisruptionBudget',
    'v1 ConfigMap',
    'v1 Service',
  ]);
});

test('pods run as nobody special, with what they need, and get secrets by reference alone', (t) => {
  for (const kind of WORKLOADS) {
    const pod = podOf(one(kind));
    t.true(pod.securityContext.runAsNonRoot, kind);
    t.is(pod.securityContext.seccompProfile.type, 'RuntimeDefault');
    t.false(pod.automountServiceAccountToken);
    for (const { securityContext, resources: needs, env = [] } of pod.containers) {
      t.like(securityContext, { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
      t.deepEqual(securityContext.capabilities.drop, ['ALL']);
      t.deepEqual(Object.keys(needs.requests).sort(), ['cpu', 'memory']);
      t.truthy(needs.limits['memory']);
      for (const { name, value } of env)
        t.true(value === undefined || !/SECRET|PASSWORD|DATABASE|REDIS|SMTP|RPC/.test(name), name);
    }
  }
  t.false(manifests.some(({ kind }) => kind === 'Secret'));
});

test('a node is asked whether it serves, drained before it is stopped, and gone one at a time', (t) => {
  const deployment = one('Deployment'),
    pod = podOf(deployment),
    [node] = pod.containers;
  t.is(node!.readinessProbe!.httpGet.path, '/health/ready');
  t.is(node!.livenessProbe!.httpGet.path, '/health/live', 'which never asks the database');
  t.is(node!.startupProbe!.httpGet.path, '/health/live');
  const sleepSeconds = Number(node!.lifecycle!.preStop.exec.command[1]);
  t.true(sleepSeconds >= 2 * node!.readinessProbe!.periodSeconds);
  t.true(pod.terminationGracePeriodSeconds! > sleepSeconds + DRAIN_DEADLINE_MS / 1_000);
  t.like(deployment.spec, { strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } });
  const { labels } = deployment.spec!.template!.metadata!;
  t.like(one('PodDisruptionBudget').spec, { maxUnavailable: 1, selector: { matchLabels: labels } });
  t.like(one('Service').spec, { selector: labels, ports: [{ targetPort: 'public' }] });
  const { ingress } = one('NetworkPolicy').spec as { ingress: { ports: { port: string }[]; from?: object[] }[] };
  t.deepEqual(
    ingress.map(({ ports, from }) => [ports.map(({ port }) => port).join(), from]),
    [
      ['public', undefined],
      ['internal', [{ podSelector: { matchLabels: labels } }]],
    ],
  );
});

test('the settings of a node are settings that it reads, with the secrets of its reference', (t) => {
  const { data } = one('ConfigMap'),
    [node] = podOf(one('Deployment')).containers;
  const config = readConfig({
    ...data,
    DATABASE_URL: 'postgres://flock_app:word@postgres/flock',
    SECRET_KEY: 'ab'.repeat(32),
    CLUSTER_SECRET: 'cd'.repeat(32),
    NODE_NAME: 'flock-cloud-1',
    INTERNAL_URL: node!.env!.find(({ name }) => name === 'INTERNAL_URL')!.value!.replace('$(POD_IP)', '10.1.2.3'),
  });
  t.deepEqual(node!.command, ['node', 'supervision/main.ts']);
  t.deepEqual(
    node!.ports!.map(({ containerPort }) => containerPort),
    [config.CLOUD_PORT, config.INTERNAL_PORT],
  );
  t.is(config.INTERNAL_URL, `http://10.1.2.3:${config.INTERNAL_PORT}`);
});

test('kubectl renders the base', (t) => {
  const { status, stdout, stderr, error } = spawnSync('kubectl', ['kustomize', BASE], { encoding: 'utf8' });
  if (error !== undefined) {
    t.log('not run: kubectl is not installed (Debian: apt-get install kubernetes-client)');
    t.is((error as NodeJS.ErrnoException).code, 'ENOENT');
    return;
  }
  t.is(status, 0, stderr);
  const rendered = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
  t.deepEqual(
    rendered.map(({ kind, metadata: { name } }) => `${kind} ${name}`).sort(),
    manifests.map(({ kind, metadata: { name } }) => `${kind} ${name}`).sort(),
  );
  for (const manifest of rendered.filter(({ kind }) => WORKLOADS.includes(kind)))
    for (const { image } of podOf(manifest).containers) t.regex(image, /^registry\.example\/flock:\d/);
});
