/** The figures of a node's watchers, kept until somebody asks: gauges by chain, counters by their labels. */
import type { CounterName, GaugeName, Metrics } from './ports.ts';

export interface Figures extends Metrics {
  /** The newest value of a gauge by chain. */
  gauge(name: GaugeName): Record<string, number>;
  /** Every counter as name, labels and sum. */
  counters(): { name: CounterName; labels: Readonly<Record<string, string>>; value: number }[];
  /** All of them in Prometheus' text format, but for the gauges that the node itself reads from the database. */
  exposition(): string;
}

/** Read from the store by the node, so that a node without watchers shows them too. */
const READ_BY_NODE: readonly GaugeName[] = ['svc_head_age_seconds', 'svc_blocks_unresolved'];

/** A label's value with what the format reserves escaped. */
const quoted = (text: string): string => `"${text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`;

function line(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const text = Object.entries(labels).map(([label, of]) => `${label}=${quoted(of)}`).join(',');
  return `${name}${text === '' ? '' : `{${text}}`} ${value}`;
}

/** Figures in memory; chains, jobs and results are few, so the maps are. Block times go on to a histogram of the node's. */
export function createFigures(observeBlock: Metrics['observeBlock'] = () => undefined): Figures {
  const gauges = new Map<GaugeName, Map<string, number>>();
  const sums = new Map<string, { name: CounterName; labels: Readonly<Record<string, string>>; value: number }>();
  return {
    set(name, labels, value) {
      const byChain = gauges.get(name) ?? new Map<string, number>();
      gauges.set(name, byChain.set(labels['chain'] ?? '', value));
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
    exposition() {
      const lines: string[] = [];
      for (const [name, byChain] of gauges) {
        if (READ_BY_NODE.includes(name)) continue;
        lines.push(`# TYPE ${name} gauge`, ...[...byChain].map(([chain, value]) => line(name, { chain }, value)));
      }
      for (const [name, ofName] of Map.groupBy(sums.values(), (sum) => sum.name)) {
        lines.push(`# TYPE ${name} counter`, ...ofName.map(({ labels, value }) => line(name, labels, value)));
      }
      return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
    },
  };
}
