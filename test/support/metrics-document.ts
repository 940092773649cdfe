/** `npm run -s docs:metrics`: writes docs/metrics.md from the catalogues that the processes make their metrics of. */
import { writeFileSync } from 'node:fs';
import { CLOUD_METRICS } from '../../protocol/metrics/cloud.ts';
import { EDGE_METRICS } from '../../protocol/metrics/edge.ts';
import type { LabelValues, Metric, MetricCatalogue } from '../../protocol/metrics/metric.ts';
import { PROCESS_METRICS } from '../../protocol/metrics/process.ts';
import { CHAINS } from '../../protocol/slugs.ts';

const DOCUMENT = new URL('../../docs/metrics.md', import.meta.url);
/** Longer sets are named by what they are. */
const NAMED_MAX = 11;

function valuesOf(label: string, values: LabelValues): string {
  if (values === 'configured') return label;
  if (values === CHAINS) return 'chain';
  return values.length > NAMED_MAX ? label : `${label} (${values.join(', ')})`;
}

const labelsOf = ({ labels }: Metric): string =>
  Object.entries(labels)
    .map(([label, values]) => valuesOf(label, values))
    .join('; ') || '–';

const row = ([name, metric]: [string, Metric]): string =>
  `| \`${name}\` | ${metric.kind} | ${labelsOf(metric)} | ${metric.help}${metric.replacedBy === undefined ? '' : `; read \`${metric.replacedBy}\`, this one goes with the next minor version`} | ${metric.reader} | ${metric.since} |`;

const table = (catalogue: MetricCatalogue): string =>
  [
    '| name | kind | labels | meaning | who looks | since |',
    '|---|---|---|---|---|---|',
    ...Object.entries(catalogue).map(row),
  ].join('\n');

/** The whole document. */
export function metricsDocument(): string {
  return `# Metrics

Made of the catalogues in \`protocol/metrics/\` by \`npm run -s docs:metrics\`; a test holds them together. A name, a label or a value
that is not in a catalogue does not compile, and one that arrives at run time is counted as \`other\`.

\`GET /metrics\` of each process, in Prometheus' text format. It answers peers in \`METRICS_ALLOW\` (this machine, unless set) and
whoever shows the token of \`METRICS_TOKEN_FILE\` as \`Authorization: Bearer …\`; what came through a proxy needs the token, and
everybody else gets 404. A proxy shows itself by \`X-Forwarded-For\`, \`Forwarded\` or \`Via\`: one on this machine that adds none of them
is taken for this machine, and has to keep \`/metrics\` to itself. While the database is away it says the last values, and \`svc_gauges_age_seconds\` how old they are.

\`\`\`yaml
scrape_configs:
  - job_name: flock
    authorization: { credentials_file: /etc/prometheus/flock-token }
    static_configs: [{ targets: ['cloud-1:8080', 'cloud-2:8080'] }]
  - job_name: flock-edge
    authorization: { credentials_file: /etc/prometheus/edge-token }
    static_configs: [{ targets: ['edge:8081'] }]
\`\`\`

Rules for these two jobs are in \`deploy/prometheus/\`: objectives of 30 days and alerts, each with its page in
[runbooks](runbooks/README.md). Other names of jobs need other rules. \`promtool test rules\` runs their tests.

- Series exist from the start, at zero, where the values of all their labels are known (\`svc_redis_up\` and heights: from their first value); those of \`chain\` are the chains that are
  configured. \`endpoint\` is the place in the setting (\`eth-2\`: entry 2 of \`ETH_RPC_URLS\`), never a URL.
- No label holds an account, address, \`userRef\`, id, URL or host. \`operation\` is an operation id of the API description, \`code\` a
  code of [errors.md](errors.md).
- Units are seconds and bytes; counters end in \`_total\` and begin again at zero with the process.
- *Who looks*: \`on call\`, who is woken by it; \`operator\`, who runs the deployment; \`capacity\`, who plans its size; \`support\`, who
  answers customers.

## Cloud node

${table(CLOUD_METRICS)}

## Edge

${table(EDGE_METRICS)}

## Either process

Under the names that Prometheus clients of Node use, with labels of Node (type of a handle, space of the heap, kind of a collection).

| name | meaning |
|---|---|
${Object.entries(PROCESS_METRICS)
  .map(([name, help]) => `| \`${name}\` | ${help} |`)
  .join('\n')}
`;
}

if (import.meta.main) writeFileSync(DOCUMENT, metricsDocument());
