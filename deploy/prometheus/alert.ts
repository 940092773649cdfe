/** What an alert is, and the shapes that most of them have. */

/** Series and their values, in the notation of promtool: `1x90` is one for 90 minutes. */
export type Input = Readonly<Record<string, string>>;

export interface Alert {
  readonly name: `Flock${string}`;
  readonly expr: string;
  /** For how long it holds before it fires. */
  readonly for: string;
  readonly severity: 'page' | 'ticket';
  readonly summary: string;
  /** Series that fire it, and the labels that it has then. */
  readonly fires: Input;
  readonly labels?: Readonly<Record<string, string>>;
  /** Series that do not. */
  readonly silent: Input;
  /** Where there is no series at all it fires with these labels; absent: it is silent. */
  readonly absent?: Readonly<Record<string, string>>;
}

/** Longer than the longest `for`; what is looked at over hours has hours of values. */
export const MINUTES = 90;
export const HOURS_MINUTES = 420;
export const always = (value: number | string): string => `${value}x${MINUTES}`;
export const long = (value: number): string => `${value}x${HOURS_MINUTES}`;
const CLOUD = 'job="flock",instance="cloud-1:8080"';
const EDGE = 'job="flock-edge",instance="edge:8081"';
export const ofCloud = (name: string, labels = ''): string => `${name}{${CLOUD}${labels === '' ? '' : `,${labels}`}}`;
export const ofEdge = (name: string, labels = ''): string => `${name}{${EDGE}${labels === '' ? '' : `,${labels}`}}`;
export const BTC = 'chain="btc"';
export const ETH = 'chain="eth"';
export const eth = { chain: 'eth' };
export const cloud = { job: 'flock', instance: 'cloud-1:8080' };
export const edge = { job: 'flock-edge', instance: 'edge:8081' };
export const UP: Input = { [ofCloud('up')]: always(1), [ofEdge('up')]: always(1) };

export const one = (
  name: Alert['name'],
  metric: string,
  holds: string,
  rest: Pick<Alert, 'for' | 'severity' | 'summary'> & {
    on?: 'edge';
    by?: string;
    label?: string;
    bad: number;
    good: number;
  },
): Alert => {
  const { on, by, label = '', bad, good, ...said } = rest;
  const series = on === 'edge' ? ofEdge(metric, label) : ofCloud(metric, label);
  const labels = Object.fromEntries([...label.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key!, value!]));
  return {
    name,
    expr: `max${by === undefined ? '' : ` by (${by})`}(${metric}) ${holds}`,
    ...said,
    fires: { [series]: always(bad) },
    ...(by === undefined ? {} : { labels }),
    silent: { [series]: always(good) },
  };
};

export const rises = (
  name: Alert['name'],
  metric: string,
  rest: Pick<Alert, 'severity' | 'summary'> & {
    on?: 'edge';
    by?: string;
    label?: string;
    only?: string;
    window: string;
  },
): Alert => {
  const { on, by, label = '', only = '', window, ...said } = rest;
  const series = on === 'edge' ? ofEdge(metric, label) : ofCloud(metric, label);
  const labels = Object.fromEntries([...label.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key!, value!]));
  return {
    name,
    expr: `sum${by === undefined ? '' : ` by (${by})`}(increase(${metric}${only}[${window}])) > 0`,
    for: '0m',
    ...said,
    fires: { [series]: `0+1x${MINUTES}` },
    ...(by === undefined ? {} : { labels }),
    silent: { [series]: always(7) },
  };
};

export const page = 'page' as const;
export const ticket = 'ticket' as const;
