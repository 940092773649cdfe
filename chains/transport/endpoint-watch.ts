/**
 * What an operator sees of each endpoint: up or not, what failed, and one log line when that changes, repeated each
 * hour while it lasts. Endpoints go by their place in the configuration (`eth-2`), never by their URL, which may carry
 * a key.
 *
 *   up              the last request was answered, or one alone failed since
 *   down            two requests in a row got no answer, or five in a row were refused for their credential
 *   wrong_network   a node of another chain (G14)
 */
import { type ChainUnavailable, type Endpoint, type NetworkSeen } from '../chain.ts';
import type { CloudMetrics } from '../../protocol/metrics/cloud.ts';
import type { Meter } from '../../protocol/node/meter.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { ReportOutcome } from './failover.ts';
import { EndpointFailure } from './http-endpoint.ts';

const FAILURES_DOWN = 2;
/** A plan may refuse single methods: only so many refusals in a row, with no answer between them, mean the key. */
const REFUSALS_DOWN = 5;
const UNAUTHORIZED = new Set([401, 402, 403]);
/** What lasts is said again after this time: a line of last night is found by nobody. */
const SAID_AGAIN_MS = 3_600_000;
/** Requests that end because this node stops say nothing of the endpoint. */
const OWN_END = /UND_ERR_(?:DESTROYED|CLOSED)$/;

export type EndpointState = 'up' | 'down' | 'wrong_network';
export type ErrorKind = 'timeout' | 'connection' | 'rate_limited' | 'unauthorized' | 'http' | 'too_large' | 'other';

/** Values of `reason` of `svc_endpoint_trouble`. */
export const TROUBLES = [
  'timeout',
  'connection',
  'rate_limited',
  'unauthorized',
  'http',
  'too_large',
  'other',
  'wrong_network',
] as const satisfies readonly (ErrorKind | 'wrong_network')[];
type Trouble = (typeof TROUBLES)[number];

/** The part of a pino logger that is used here. */
interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where figures go. */
type Metrics = Pick<Meter<CloudMetrics>, 'set' | 'add'>;

/** How an endpoint is found, and what an operator does about it. */
export interface Finding {
  readonly state: EndpointState;
  readonly sinceMs: number;
  /** Null while it is up. */
  readonly trouble: Trouble | null;
  /** The last failure in words, without a URL; null while it is up. */
  readonly reason: string | null;
  readonly network: NetworkSeen | null;
  /** The next step; null while it is up. */
  readonly next: string | null;
}

export interface EndpointWatch {
  /** The endpoint, its requests counted. */
  watched<E extends Endpoint>(endpoint: E): E;
  /** How an endpoint is now, by its name; null before its first answer or second failure. */
  findingOf(name: string): Finding | null;
  /** For the transport's reports. */
  onReport(endpoint: Endpoint, outcome: ReportOutcome, network?: NetworkSeen): void;
}

export interface WatchDeps {
  readonly log: Log;
  readonly metrics: Metrics;
  nowMs(): number;
  /** When an endpoint that backs off is asked again, by its name; null where it is asked at each turn. */
  nextLookMs?(name: string): number | null;
  /** Called when an endpoint answers that was down: it may be another node now. */
  onReturn?(name: string): void;
}

/** What kind of failure a reason names. */
export function kindOf({ reason }: Pick<ChainUnavailable, 'reason'>): ErrorKind {
  if (/^no answer within/.test(reason)) return 'timeout';
  if (/^connection failed/.test(reason)) return 'connection';
  if (/^rate limited/.test(reason)) return 'rate_limited';
  if (/^http 40[123]/.test(reason)) return 'unauthorized';
  if (/^http \d/.test(reason)) return 'http';
  return /^answer larger/.test(reason) ? 'too_large' : 'other';
}

/** The setting that holds the endpoints of a chain. */
export const endpointsSettingOf = (chain: Chain): string => `${chain.toUpperCase()}_RPC_URLS`;

/** An endpoint as an operator finds it in the configuration: `entry 2 of ETH_RPC_URLS`. */
const entryOf = (chain: Chain, name: string): string =>
  `entry ${/\d+$/.exec(name)?.[0] ?? '?'} of ${endpointsSettingOf(chain)}`;

const STEPS: Readonly<Record<Trouble, (entry: string, chain: Chain) => string>> = {
  timeout: (entry) =>
    `look whether the node of ${entry} is overloaded or its way slow; until then put another one beside it`,
  connection: (entry) => `start the node of ${entry}, or correct host and port there; it is asked again by itself`,
  rate_limited: (entry) => `take a larger plan for ${entry}, or put another endpoint beside it`,
  unauthorized: (entry) => `renew the key or password in ${entry}, then start this node again`,
  http: (entry) => `look at the log or status page of the node or provider of ${entry}; it is asked again by itself`,
  too_large: (entry) => `look what answers at ${entry}: no node of the chain sends so much`,
  other: (entry) => `look at the log of the node of ${entry}; it is asked again by itself`,
  wrong_network: (entry, chain) => `put a node of ${chain} at ${entry}, then start this node again`,
};

interface Standing extends Finding {
  saidAtMs: number;
}

/** A watch over the endpoints of one chain. */
export function createEndpointWatch(chain: Chain, deps: WatchDeps): EndpointWatch {
  const { log, metrics, nowMs } = deps;
  const standings = new Map<string, Standing>(),
    failures = new Map<string, number>(),
    refusals = new Map<string, number>();

  const say = (name: string, standing: Standing): void => {
    standing.saidAtMs = nowMs();
    const next = deps.nextLookMs?.(name) ?? null;
    log.error(
      {
        chain,
        endpoint: name,
        kind: standing.trouble,
        reason: standing.reason,
        ...(standing.network ?? {}),
        setting: endpointsSettingOf(chain),
        next: standing.next,
        seconds: Math.floor((nowMs() - standing.sinceMs) / 1_000),
        ...(next === null ? {} : { nextLookAt: new Date(next).toISOString() }),
      },
      standing.state === 'down'
        ? 'an endpoint of the chain does not answer'
        : 'an endpoint of the chain is of another network and is not asked',
    );
  };
  const become = (
    name: string,
    state: EndpointState,
    trouble: Trouble | null = null,
    reason: string | null = null,
    network: NetworkSeen | null = null,
  ): void => {
    const before = standings.get(name),
      isSame = before?.state === state;
    if (isSame && state === 'up') return;
    const standing: Standing = {
      state,
      sinceMs: isSame ? before.sinceMs : nowMs(),
      trouble,
      reason,
      network: network ?? (isSame ? before.network : null),
      next: trouble === null ? null : STEPS[trouble](entryOf(chain, name), chain),
      saidAtMs: isSame ? before.saidAtMs : -Infinity,
    };
    standings.set(name, standing);
    metrics.set('svc_endpoint_up', { chain, endpoint: name }, state === 'up' ? 1 : 0);
    if (before?.trouble != null && before.trouble !== trouble)
      metrics.set('svc_endpoint_trouble', { chain, endpoint: name, reason: before.trouble }, 0);
    if (trouble !== null) metrics.set('svc_endpoint_trouble', { chain, endpoint: name, reason: trouble }, 1);
    if (state !== 'up') {
      if (nowMs() - standing.saidAtMs >= SAID_AGAIN_MS) say(name, standing);
    } else if (before !== undefined) {
      log.info({ chain, endpoint: name }, 'an endpoint of the chain answers again');
      if (before.state === 'down') deps.onReturn?.(name);
    }
  };
  const isForeign = (name: string): boolean => standings.get(name)?.state === 'wrong_network';

  const answered = (name: string): void => {
    failures.set(name, 0);
    refusals.set(name, 0);
    if (!isForeign(name)) become(name, 'up');
  };
  const failed = (name: string, error: EndpointFailure): void => {
    if (OWN_END.test(error.reason)) return;
    metrics.add('svc_endpoint_errors_total', { chain, endpoint: name, kind: kindOf(error) });
    failures.set(name, (failures.get(name) ?? 0) + 1);
    if (failures.get(name)! >= FAILURES_DOWN && !isForeign(name)) become(name, 'down', kindOf(error), error.reason);
  };
  const refused = (name: string, status: number): void => {
    metrics.add('svc_endpoint_errors_total', { chain, endpoint: name, kind: 'unauthorized' });
    refusals.set(name, (refusals.get(name) ?? 0) + 1);
    if (refusals.get(name)! >= REFUSALS_DOWN && !isForeign(name))
      become(name, 'down', 'unauthorized', `http ${status}`);
  };
  return {
    watched: (endpoint) => ({
      ...endpoint,
      async request(call) {
        try {
          const reply = await endpoint.request(call);
          if (UNAUTHORIZED.has(reply.status)) refused(endpoint.name, reply.status);
          else answered(endpoint.name);
          return reply;
        } catch (error) {
          if (error instanceof EndpointFailure) failed(endpoint.name, error);
          throw error;
        }
      },
    }),
    findingOf: (name) => standings.get(name) ?? null,
    onReport({ name }, outcome, network) {
      if (outcome === 'wrong_network') become(name, 'wrong_network', 'wrong_network', 'is of another network', network);
      else if (outcome === 'ok' && isForeign(name)) become(name, 'up');
    },
  };
}
