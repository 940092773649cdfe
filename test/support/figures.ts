/** The figures of a node's watchers, kept until somebody asks: gauges by chain, counters by their labels. */
import type { Metrics } from '../../chain-watchers/ports.ts';
import type { CloudMetrics } from '../../protocol/metrics/cloud.ts';
import type { NamesOf } from '../../protocol/metrics/metric.ts';

export type GaugeName = NamesOf<CloudMetrics, 'gauge'>;
export type CounterName = NamesOf<CloudMetrics, 'counter'>;

export interface Figures extends Metrics {
  /** The newest value of a gauge by chain. */
  gauge(name: GaugeName): Record<string, number>;
  /** Every counter as name, labels and sum. */
  counters(): { name: CounterName; labels: Readonly<Record<string, string>>; value: number }[];
}

/**
 * Figures in memory; chains, jobs and results are few, so the maps are. Block times go on to a histogram of the node's.
 */
export function createFigures(observeBlock: Metrics['observeBlock'] = () => undefined): Figures {
  const gauges = new Map<GaugeName, Map<string, number>>();
  const sums = new Map<string, { name: CounterName; labels: Readonly<Record<string, string>>; value: number }>();
  return {
    set(name, labels, value) {
      const byChain = gauges.get(name) ?? new Map<string, number>();
      gauges.set(name, byChain.set((labels as Readonly<Record<string, string>>)['chain'] ?? '', value));
    },
    add(name, labels, by = 1) {
      const key = JSON.stringify([name, labels]);
      const sum = sums.get(key) ?? { name, labels, value: 0 };
      sum.value += by;
      sums.set(key, sum);
    },
    observeBlock,
    gauge: (name) => Object.fromEntries(gauges.get(name) ?? []),
    counters: () => [...sums.values()].map((sum) => ({ ...sum })),
  };
}
