/**
 * What a metric is: a catalogue has each name once, with its labels and all their values, so that a name or a value
 * that is not in it does not compile. Labels never hold what comes from outside or grows: no account, address,
 * `userRef`, URL or id. Prometheus naming: base units, `_total` for counters.
 */

/** All values of a label, or `configured`: names that the settings give (`eth-1`), so many as there are settings. */
export type LabelValues = readonly string[] | 'configured';

/** Who looks at a metric: who is woken by it, who runs the deployment, who plans its size, who answers customers. */
export type Reader = 'on call' | 'operator' | 'capacity' | 'support';

export interface Metric {
  readonly kind: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  readonly reader: Reader;
  /** Version that has it first. */
  readonly since: string;
  /** Upper bounds; of a histogram alone. */
  readonly buckets?: readonly number[];
  /** There is no series before the first value: zero would say that something is broken which is not there. */
  readonly fromFirstValue?: true;
  /** The name that took its place: this one goes with the next minor version. */
  readonly replacedBy?: string;
}

export type MetricCatalogue = Readonly<Record<string, Metric>>;

/** Names of a kind. */
export type NamesOf<C extends MetricCatalogue, K extends Metric['kind']> = {
  [N in keyof C]: C[N]['kind'] extends K ? N : never;
}[keyof C] &
  string;

/** The labels of a metric with a value each. */
export type LabelsOf<C extends MetricCatalogue, N extends keyof C> = {
  readonly [L in keyof C[N]['labels']]: C[N]['labels'][L] extends readonly (infer V extends string)[] ? V : string;
};

export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
/** Of what there is one series for each operation: as few as its objectives need. */
export const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.3, 1, 3, 10, 30] as const;
export const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024] as const;

/** Of `svc_check`, which both processes have. */
export const CHECK_HELP =
  'What the doctor of this process saw: 0 not known, 1 ok, 2 a warning, 3 a failure; looked at every five minutes at most';
