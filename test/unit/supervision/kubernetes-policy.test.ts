/**
 * What every manifest of `deploy/kubernetes` must have, of the cloud and of an edge, and that the settings of all ways
 * to deploy are one set. No cluster runs them here. Ecosystem X63, X68.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { parse, parseAllDocuments } from 'yaml';
import { surfaceNow } from '../../../clients/generate/surface.ts';
import { readConfig as readEdge } from '../../../edge/config.ts';
import { describeApi } from '../../../gateway/pages/openapi.ts';
import { CHAINS } from '../../../protocol/slugs.ts';
import { documentText } from '../../support/documents.ts';
import { filesOf, ROOT } from '../../support/tree.ts';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly { name: string; value?: string }[];
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
  readonly startupProbe?: object;
  readonly lifecycle?: { preStop?: object };
  readonly resources: { requests: Record<string, string>; limits: Record<string, string> };
  readonly securityContext: Record<string, unknown>;
}
interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly topologySpreadConstraints?: readonly object[];
  readonly securityContext: { runAsNonRoot: boolean; runAsUser: number; seccompProfile: { type: string } };
  readonly containers: readonly Container[];
  readonly volumes?: readonly { secret?: { defaultMode: number } }[];
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: { matchLabels?: object };
    readonly podSelector?: { matchLabels: object };
    readonly template?: { readonly metadata?: { labels: object }; readonly spec: Pod };
  };
}

const SETS = ['base', 'edge'] as const;
function manifestsOf(set: string): readonly Manifest[] {
  const folder = `${ROOT}deploy/kubernetes/${set}`;
  const { resources } = parse(readFileSync(`${folder}/kustomization.yaml`, 'utf8')) as { resources: string[] };
  const files = readdirSync(folder).filter((name) => name !== 'kustomization.yaml');
  if (files.toSorted().join() !== resources.toSorted().join()) throw new Error(`${set}: a file is no resource`);
  return resources.map((file) => parse(readFileSync(`${folder}/${file}`, 'utf8')) as Manifest);
}
const served = (manifests: readonly Manifest[]): readonly Manifest[] =>
  manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');

/** Every rule that a set of manifests breaks. */
function faultsOf(manifests: readonly Manifest[]): string[] {
  const faults: string[] = [];
  const must = (holds: unknown, fault: string): void => void (holds ? null : faults.push(fault));
  must(!manifests.some(({ kind }) => kind === 'Secret'), 'a Secret is made');
  for (const { metadata, spec } of manifests.filter(({ spec: one }) => one?.template !== undefined)) {
    const pod = spec.template!.spec;
    must(pod.securityContext.runAsNonRoot && pod.securityContext.runAsUser === 1000, `${metadata.name}: root`);
    must(pod.securityContext.seccompProfile.type === 'RuntimeDefault', `${metadata.name}: seccomp`);
    must(!pod.automountServiceAccountToken, `${metadata.name}: token of the cluster`);
    for (const { secret } of pod.volumes ?? [])
      must(secret === undefined || (secret.defaultMode & 0o007) === 0, `${metadata.name}: others read a secret`);
    for (const { name, resources, securityContext, env = [] } of pod.containers) {
      must(resources.requests['cpu'] && resources.requests['memory'] && resources.limits['memory'], `${name}: limits`);
      must(securityContext['readOnlyRootFilesystem'] === true, `${name}: root may be written`);
      must(securityContext['allowPrivilegeEscalation'] === false, `${name}: privileges`);
      for (const variable of env)
        must(!/SECRET|PASSWORD|DATABASE|API_KEY|MNEMONIC/.test(variable.name) || variable.value === undefined, 'value');
    }
  }
  for (const { metadata, spec } of served(manifests)) {
    const { name } = metadata;
    const pod = spec.template!.spec;
    const labels = JSON.stringify(spec.template!.metadata!.labels);
    const isAbout = (kind: string): boolean =>
      manifests.some(
        (one) =>
          one.kind === kind &&
          [one.spec.podSelector, one.spec.selector].some((by) => JSON.stringify(by?.matchLabels) === labels),
      );
    must(pod.topologySpreadConstraints?.length, `${name}: spread`);
    must(isAbout('PodDisruptionBudget'), `${name}: disruption`);
    must(isAbout('NetworkPolicy'), `${name}: network`);
    for (const { livenessProbe, readinessProbe, startupProbe, lifecycle } of pod.containers) {
      must(livenessProbe && readinessProbe && startupProbe, `${name}: three probes`);
      must(lifecycle?.preStop, `${name}: preStop`);
    }
  }
  return faults;
}

for (const set of SETS)
  test(`ecosystem X63 the manifests of ${set} keep every rule, and one that is taken away is named`, (t) => {
    const manifests = manifestsOf(set);
    t.deepEqual(faultsOf(manifests), []);
    const without = (kind: string) => faultsOf(manifests.filter((one) => one.kind !== kind));
    t.regex(without('NetworkPolicy').join(), /: network/);
    t.regex(without('PodDisruptionBudget').join(), /: disruption/);
    const change = (edit: (pod: any) => void): string => {
      const copy = structuredClone(manifests) as Manifest[];
      edit(served(copy)[0]!.spec.template!.spec);
      return faultsOf(copy).join();
    };
    t.regex(
      change((pod) => (pod.securityContext.runAsNonRoot = false)),
      /: root/,
    );
    t.regex(
      change((pod) => delete pod.containers[0].startupProbe),
      /three probes/,
    );
    t.regex(
      change((pod) => delete pod.containers[0].lifecycle),
      /preStop/,
    );
    t.regex(
      change((pod) => delete pod.containers[0].resources.limits.memory),
      /limits/,
    );
    t.regex(
      change((pod) => delete pod.topologySpreadConstraints),
      /spread/,
    );
    t.regex(
      change((pod) => (pod.containers[0].securityContext = {})),
      /may be written.*privileges/,
    );
  });

test('ecosystem X63 the schema is brought forward before the nodes, and kubectl renders one node, three and an edge', (t) => {
  const kinds = manifestsOf('base').map(({ kind }) => kind);
  t.true(kinds.indexOf('Job') < kinds.indexOf('Deployment'));
  for (const [set, replicas] of [
    ['base', 3],
    ['small', 1],
    ['edge', 2],
  ] as const) {
    const { status, stdout, stderr, error } = spawnSync('kubectl', ['kustomize', `${ROOT}deploy/kubernetes/${set}`], {
      encoding: 'utf8',
    });
    if (error !== undefined) {
      t.log('not run: kubectl is not installed (Debian: apt-get install kubernetes-client)');
      t.is((error as NodeJS.ErrnoException).code, 'ENOENT');
      return;
    }
    t.is(status, 0, stderr);
    const rendered = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
    t.is(served(rendered)[0]!.spec.replicas, replicas);
  }
});

test('ecosystem X63 the settings of the edge are settings that it reads, with the secrets of its references', (t) => {
  const { data } = manifestsOf('edge').find(({ kind }) => kind === 'ConfigMap')!;
  const { MNEMONIC_FILE: _, ...plain } = data!;
  const phrase = `${'abandon '.repeat(11)}about`;
  const { config } = readEdge({ ...plain, API_KEY: `flk_live_${'k'.repeat(32)}`, MNEMONIC: phrase }, () => true);
  t.is(config.port, 8081);
  t.is(config.dataDir, '/data');
});

/** Names that stand for a setting each: those of chains once for each chain. */
const SETTINGS = new Set(
  surfaceNow().settings.flatMap((name) =>
    name.includes('<CHAIN>') ? CHAINS.map((chain) => name.replace('<CHAIN>', chain.toUpperCase())) : [name],
  ),
);
/** Of Node.js, of shells and of sentences, not ours. */
const FOREIGN = new Set([
  ...['NODE_USE_ENV_PROXY', 'NO_PROXY', 'HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'EAI_AGAIN'],
  ...['POD_IP', 'WEBHOOK_ID'],
]);

test('ecosystem X68 the settings of documents, compose, manifests, units and doctor are one set', (t) => {
  const compose = parse(readFileSync(`${ROOT}compose.yaml`, 'utf8'), { merge: true }) as {
    services: Record<string, { build?: object; environment?: Record<string, string> }>;
  };
  const own = Object.values(compose.services).filter(({ build }) => build !== undefined);
  t.true(own.length >= 6);
  const named = new Map<string, Iterable<string>>([
    ['compose.yaml', own.flatMap(({ environment = {} }) => Object.keys(environment))],
    ...SETS.flatMap((set) => [
      [
        `deploy/kubernetes/${set}`,
        manifestsOf(set).flatMap(({ data = {}, spec }) => [
          ...Object.keys(data),
          ...(spec?.template?.spec.containers ?? []).flatMap(({ env = [] }) => env.map(({ name }) => name)),
        ]),
      ] as const,
    ]),
    ...filesOf(['deploy/systemd'], '.service').map(
      ({ path, text }) =>
        [
          path,
          [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, all]) => all!.match(/\b[A-Z][A-Z_]+(?==)/g) ?? []),
        ] as const,
    ),
    ...filesOf(['gateway/cli/operator', 'edge/doctor', 'protocol/node/doctor', 'clients/cli'], '.ts')
      .filter(({ path }) => path.includes('doctor'))
      .map(
        ({ path, text }) =>
          [
            path,
            [...text.matchAll(/'[^'\n]*'|`[^`]*`/g)].flatMap(
              ([quoted]) => quoted.match(/(?<!\{)\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [],
            ),
          ] as const,
      ),
  ]);
  const unknown = [...named].flatMap(([where, names]) =>
    [...names].filter((name) => !SETTINGS.has(name) && !FOREIGN.has(name)).map((name) => `${where}: ${name}`),
  );
  t.deepEqual(unknown, []);
  for (const [where, needs] of [
    ['compose.yaml', ['DATABASE_URL', 'SECRET_KEY', 'CLUSTER_SECRET', 'API_KEY', 'CLOUD_URL', 'MNEMONIC_FILE']],
    ['deploy/kubernetes/edge', ['CLOUD_URL', 'MNEMONIC_FILE', 'EDGE_DATA_DIR']],
    ['deploy/systemd/flock-edge.service', ['MNEMONIC_FILE', 'EDGE_DATA_DIR']],
  ] as const)
    for (const name of needs) t.true([...named.get(where)!].includes(name), `${where}: ${name}`);
});

test('ecosystem X19 the page of other languages names generators with versions, and what of the description they miss is there', (t) => {
  const text = documentText('guides/other-languages.md');
  for (const generator of ['OpenAPI Generator 7', 'Kiota 1', 'NSwag 14', 'progenitor 0'])
    t.true(text.includes(generator));
  t.regex(text, /not tried here/);
  const all = JSON.stringify(describeApi('https://cloud.example'));
  for (const shape of [/"openapi":"3\.1\./, /"type":\["\w+","null"\]/, /\{"type":"null"\}/, /"(?:anyOf|oneOf)":/])
    t.regex(all, shape);
});
