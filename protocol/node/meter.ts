/** The registry of a process: the metrics of a catalogue, and nothing else. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { PROCESS_METRICS } from '../metrics/process.ts';
import type { LabelsOf, LabelValues, Metric, MetricCatalogue, NamesOf } from '../metrics/metric.ts';

/** Series of one metric that exist from the start; more would be noise, and cost at each scrape. */
const SERIES_AT_START_MAX = 600;
/** What a label says of a value that its catalogue does not have: no value from outside makes a series. */
const OTHER = 'other';

export interface Meter<C extends MetricCatalogue> {
  readonly contentType: string;
  set<N extends NamesOf<C, 'gauge'>>(name: N, labels: LabelsOf<C, N>, value: number): void;
  add<N extends NamesOf<C, 'counter'>>(name: N, labels: LabelsOf<C, N>, by?: number): void;
  /** A counter that something else counts: its whole since the start. */
  total<N extends NamesOf<C, 'counter'>>(name: N, labels: LabelsOf<C, N>, value: number): void;
  observe<N extends NamesOf<C, 'histogram'>>(name: N, labels: LabelsOf<C, N>, value: number): void;
  /** The exposition text, with the figures of the process. */
  text(): Promise<string>;
}

/** One for a process, however many nodes a test runs in it: it measures the event loop and the collector. */
let ofProcess: Registry | null = null;
function processRegistry(): Registry {
  if (ofProcess === null) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
    for (const { name } of ofProcess.getMetricsAsArray())
      if (!(name in PROCESS_METRICS)) ofProcess.removeSingleMetric(name);
  }
  return ofProcess;
}

/**
 * Makes every metric of a catalogue. Its series exist from the start, at zero, where the values of all labels are
 * known: `narrowed` says which values of a label there are here (the chains that are live).
 */
export function createMeter<C extends MetricCatalogue>(
  catalogue: C,
  narrowed: Readonly<Record<string, readonly string[]>> = {},
): Meter<C> {
  const registry = new Registry();
  const made = new Map<string, Gauge | Counter | Histogram>();
  for (const [name, metric] of Object.entries(catalogue)) {
    const { kind, help, labels } = metric;
    const base = { name, help: helpOf(help, metric), labelNames: Object.keys(labels), registers: [registry] };
    if (kind === 'gauge') made.set(name, new Gauge(base));
    else if (kind === 'counter') made.set(name, new Counter(base));
    else made.set(name, new Histogram({ ...base, buckets: [...(metric.buckets ?? [])] }));
  }
  for (const [name, { kind, labels, fromFirstValue }] of Object.entries(catalogue)) {
    if (fromFirstValue === true) {
      made.get(name)!.remove({}); // one without labels begins at zero by itself
      continue;
    }
    for (const series of seriesOf(labels, narrowed)) {
      const one = made.get(name)!;
      if (kind === 'gauge') (one as Gauge).set(series, 0);
      else if (kind === 'counter') (one as Counter).inc(series, 0);
      else (one as Histogram).zero(series);
    }
  }
  const known = (name: string, given: object): Record<string, string> => {
    const { labels } = catalogue[name]!;
    return Object.fromEntries(
      Object.entries(given as Record<string, string>).map(([label, value]) => {
        const values = labels[label];
        return [label, values === 'configured' || values?.includes(value) ? value : OTHER];
      }),
    );
  };
  return {
    contentType: registry.contentType,
    set: (name, labels, value) => (made.get(name) as Gauge).set(known(name, labels), value),
    add: (name, labels, by = 1) => (made.get(name) as Counter).inc(known(name, labels), by),
    total(name, labels, value) {
      const counter = made.get(name) as Counter,
        series = known(name, labels);
      counter.remove(series);
      counter.inc(series, value);
    },
    observe: (name, labels, value) => (made.get(name) as Histogram).observe(known(name, labels), value),
    text: async () => `${await registry.metrics()}${await processRegistry().metrics()}`,
  };
}

const helpOf = (help: string, { replacedBy }: Metric): string =>
  replacedBy === undefined ? help : `${help}; it goes with the next minor version`;

/** All combinations of the values of labels; none where the settings alone know one of them, or they are many. */
function seriesOf(
  labels: Metric['labels'],
  narrowed: Readonly<Record<string, readonly string[]>>,
): Record<string, string>[] {
  let series: Record<string, string>[] = [{}];
  for (const [label, all] of Object.entries(labels) as [string, LabelValues][]) {
    const values = narrowed[label] ?? (all === 'configured' ? [] : all);
    if (series.length * values.length > SERIES_AT_START_MAX) return [];
    series = series.flatMap((before) => values.map((value) => ({ ...before, [label]: value })));
  }
  return series;
}
