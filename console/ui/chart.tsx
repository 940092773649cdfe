/** Bars as SVG, each with its table for those who cannot see them. */
import type { JSX } from 'preact';
import { Table } from './table.tsx';

export interface Bar {
  readonly label: string;
  /** Whole numbers; what is shown beside them is text. */
  readonly value: number;
  readonly shown: string;
}

const HEIGHT = 96;
const GAP = 0.22;

export function Bars({ bars, caption, what }: { bars: readonly Bar[]; caption: string; what: string }): JSX.Element {
  const highest = Math.max(1, ...bars.map(({ value }) => value));
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={caption}>
        {bars.map(({ label, value, shown }, at) => {
          const height = Math.round((value * (HEIGHT - 4)) / highest);
          return (
            <rect key={label} x={at + GAP / 2} y={HEIGHT - height} width={1 - GAP} height={Math.max(height, 1)}>
              <title>{`${label}: ${shown}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        <span>{bars[0]?.label}</span>
        <span class="faint">{caption}</span>
        <span>{bars.at(-1)?.label}</span>
      </figcaption>
      <details>
        <summary>As a table</summary>
        <Table
          caption={caption}
          rows={bars}
          keyOf={({ label }) => label}
          columns={[
            { name: 'When', cell: ({ label }) => label },
            { name: what, align: 'right', cell: ({ shown }) => shown },
          ]}
        />
      </details>
    </figure>
  );
}
