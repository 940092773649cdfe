/**
 * What a query may name: the metrics of both catalogues and of Node, with their labels, and the series that our own
 * rules record. A query that names anything else would never fire, and nobody would hear of it.
 */
import { CLOUD_METRICS } from '../../protocol/metrics/cloud.ts';
import { EDGE_METRICS } from '../../protocol/metrics/edge.ts';
import type { MetricCatalogue } from '../../protocol/metrics/metric.ts';
import { PROCESS_METRICS } from '../../protocol/metrics/process.ts';

export const CATALOGUE: MetricCatalogue = { ...CLOUD_METRICS, ...EDGE_METRICS };
/** Jobs of docs/metrics.md: cloud nodes, and edges. */
export const JOBS = ['flock', 'flock-edge'] as const;

/** Labels of a scrape, and of what Prometheus makes of it. */
const OF_SCRAPE = ['job', 'instance'];
/** What prom-client adds to metrics of Node. */
const OF_NODE = ['type', 'space', 'kind', 'version', 'major', 'minor', 'patch'];

interface Named {
  readonly labels: Readonly<Record<string, readonly string[] | 'configured'>>;
}

/** A series by the name that a query has for it; null: there is none. `recorded`: labels of series of our rules. */
function named(name: string, recorded: ReadonlyMap<string, readonly string[]>): Named | null {
  if (name === 'up') return { labels: {} };
  if (name in PROCESS_METRICS || name.replace(/_(?:sum|count)$/, '') in PROCESS_METRICS)
    return { labels: Object.fromEntries(OF_NODE.map((label) => [label, 'configured'])) };
  const ofRule = recorded.get(name);
  if (ofRule !== undefined) return { labels: Object.fromEntries(ofRule.map((label) => [label, 'configured'])) };
  const [, base, part] = /^(.*?)(_bucket|_sum|_count)?$/.exec(name)!;
  const metric = CATALOGUE[name] ?? CATALOGUE[base!];
  if (metric === undefined || (metric.kind === 'histogram') !== (part !== undefined)) return null;
  return { labels: { ...metric.labels, ...(part === '_bucket' ? { le: metric.buckets!.map(String) } : {}) } };
}

const SELECTOR = /(?<![\w:$"])((?:svc|nodejs|process|flock)[\w:]*|up)\b\s*(?:\{([^}]*)\})?(?!\s*\()/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;
const GROUPING = /\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;

/** What is wrong with the names and labels of a query, a sentence each. */
export function faultsOf(query: string, recorded: ReadonlyMap<string, readonly string[]> = new Map()): string[] {
  const faults: string[] = [];
  const known = new Set(OF_SCRAPE);
  let count = 0;
  for (const [, name, matchers = ''] of query.matchAll(SELECTOR)) {
    count += 1;
    const series = named(name!, recorded);
    if (series === null) {
      faults.push(`${name} is in no catalogue`);
      continue;
    }
    for (const label of [...Object.keys(series.labels), 'le']) known.add(label);
    for (const [, label, operator, value] of matchers.matchAll(MATCHER)) {
      if (OF_SCRAPE.includes(label!)) {
        if (label === 'job' && operator === '=' && !JOBS.some((job) => job === value))
          faults.push(`${name}: there is no job ${value}`);
        continue;
      }
      const values = series.labels[label!];
      if (values === undefined) faults.push(`${name} has no label ${label}`);
      else if (values !== 'configured' && !value!.startsWith('$') && !matches(values, operator!, value!))
        faults.push(`${name}: ${label} is never ${value}`);
    }
  }
  if (count === 0) faults.push('it asks for no series');
  for (const [, labels] of query.matchAll(GROUPING))
    for (const label of labels!.split(',').map((each) => each.trim()))
      if (label !== '' && !known.has(label)) faults.push(`no series of it has the label ${label}`);
  return faults;
}

/** Whether a matcher names values that there are: each of an alternative, and one at least of a pattern. */
function matches(values: readonly string[], operator: string, value: string): boolean {
  if (operator === '=' || operator === '!=') return values.includes(value);
  const alternatives = /^[\w|-]+$/.test(value) ? value.split('|') : [value];
  return alternatives.every((one) => values.some((each) => new RegExp(`^(?:${one})$`).test(each)));
}
