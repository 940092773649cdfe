/**
 * What customers are promised over 30 days, as the part that was bad in a window. An objective burns when its budget of
 * 30 days would be used in two days (5 minutes and an hour), or in five (30 minutes and 6 hours). Ecosystem X53.
 */
import { networkOf } from '../../chains/registry.ts';
import { codesOf } from '../../protocol/route.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { CHAINS, type Chain } from '../../protocol/slugs.ts';

export const WINDOWS = ['5m', '30m', '1h', '6h'] as const;
type Window = (typeof WINDOWS)[number];
/** Times the rate that uses a budget in exactly 30 days. */
export const FAST = 14.4;
export const SLOW = 6;

export interface Objective {
  /** Of its recorded series, `flock:NAME:bad_ratio_WINDOW`. */
  readonly name: string;
  /** Part that may be bad. */
  readonly budget: number;
  readonly labels: readonly string[];
  readonly bad: (window: Window) => string;
}

/** Operations that may wait for a node of a chain, or for what has not happened yet. */
const WAITING = ROUTE_LIST.filter((route) => codesOf(route).includes('CHAIN_UNAVAILABLE'))
  .map(({ operationId }) => operationId)
  .concat('getMetrics')
  .sort()
  .join('|');

/** A chain is late beyond three blocks, or beyond 15 s where its blocks come faster than it can be asked. */
const LATE_MS = 15_000;
export const lateBlocks = (chain: Chain): number => Math.max(3, Math.ceil(LATE_MS / networkOf(chain).blockTimeMs));

/** One expression over all chains: each with a number of its own. */
export function byChain(numberOf: (chain: Chain) => number, query: (chains: string, number: number) => string): string {
  const groups = Map.groupBy(CHAINS, numberOf);
  return [...groups].map(([number, chains]) => query(chains.join('|'), number)).join(' or ');
}

export const OBJECTIVES: readonly Objective[] = [
  {
    name: 'api_errors',
    budget: 0.001,
    labels: [],
    bad: (window) =>
      `clamp_min(sum(rate(svc_requests_total{status=~"5.."}[${window}])) - sum(rate(svc_refusals_total{code="CHAIN_UNAVAILABLE"}[${window}])), 0) / (sum(rate(svc_requests_total[${window}])) > 0)`,
  },
  {
    name: 'api_slow',
    budget: 0.01,
    labels: [],
    bad: (window) =>
      `1 - sum(rate(svc_http_request_seconds_bucket{le="0.3",operation!~"${WAITING}"}[${window}])) / (sum(rate(svc_http_request_seconds_count{operation!~"${WAITING}"}[${window}])) > 0)`,
  },
  {
    name: 'first_attempts_late',
    budget: 0.001,
    labels: [],
    bad: (window) =>
      `1 - sum(rate(svc_first_attempt_seconds_bucket{le="10"}[${window}])) / (sum(rate(svc_first_attempt_seconds_count[${window}])) > 0)`,
  },
  {
    name: 'blocks_late',
    budget: 0.005,
    labels: ['chain'],
    bad: (window) =>
      byChain(
        lateBlocks,
        (chains, blocks) =>
          `avg_over_time((max by (chain) (svc_blocks_behind{chain=~"${chains}"}) > bool ${blocks})[${window}:1m])`,
      ),
  },
  {
    name: 'leader_missing',
    budget: 0.001,
    labels: [],
    bad: (window) => `1 - avg_over_time((max(svc_edge_leader) or 0 * max(up{job="flock-edge"}))[${window}:1m])`,
  },
];

export const recordedName = ({ name }: Objective, window: Window): string => `flock:${name}:bad_ratio_${window}`;

/** Labels of every recorded series, by its name. */
export const RECORDED: ReadonlyMap<string, readonly string[]> = new Map(
  OBJECTIVES.flatMap((objective) =>
    WINDOWS.map((window) => [recordedName(objective, window), objective.labels] as const),
  ),
);

/** Burns: fast or slowly. */
export function burns(objective: Objective): string {
  const over = (window: Window, times: number): string =>
    `${recordedName(objective, window)} > ${Math.round(times * objective.budget * 1_000_000) / 1_000_000}`;
  return `(${over('5m', FAST)} and ${over('1h', FAST)}) or (${over('30m', SLOW)} and ${over('6h', SLOW)})`;
}
