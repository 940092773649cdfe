/**
 * What an operator sees of each endpoint: up or not, what failed, and one log line when that changes. Endpoints go by
 * their place in the configuration (`eth-2`), never by their URL, which may carry a key.
 *
 *   up              the last request was answered, or one alone failed since
 *   down            two requests in a row got no answer
 *   wrong_network   a node of another chain (G14)
 */
import { ChainUnavailable, type Endpoint } from '../chain.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { ReportOutcome } from './failover.ts';
import { EndpointFailure } from './http-endpoint.ts';

const FAILURES_DOWN = 2;
/** Requests that end because this node stops say nothing of the endpoint. */
const OWN_END = /UND_ERR_(?:DESTROYED|CLOSED)$/;

export type EndpointState = 'up' | 'down' | 'wrong_network';
export type ErrorKind = 'timeout' | 'connection' | 'rate_limited' | 'http' | 'too_large' | 'other';

/** The part of a pino logger that is used here. */
interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where figures go. */
interface Metrics {
  set(name: 'svc_endpoint_up', labels: Readonly<Record<string, string>>, value: number): void;
  add(name: 'svc_endpoint_errors_total', labels: Readonly<Record<string, string>>, by?: number): void;
}

export interface EndpointWatch {
  /** The endpoint, its requests counted. */
  watched<E extends Endpoint>(endpoint: E): E;
  /** How an endpoint is now, by its name; null before its first answer or second failure. */
  stateOf(name: string): EndpointState | null;
  /** For the transport's reports. */
  onReport(endpoint: Endpoint, outcome: ReportOutcome): void;
}

/** What kind of failure a reason names. */
export function kindOf({ reason }: Pick<ChainUnavailable, 'reason'>): ErrorKind {
  if (/^no answer within/.test(reason)) return 'timeout';
  if (/^connection failed/.test(reason)) return 'connection';
  if (/^rate limited/.test(reason)) return 'rate_limited';
  if (/^http \d/.test(reason)) return 'http';
  return /^answer larger/.test(reason) ? 'too_large' : 'other';
}

/** A watch over the endpoints of one chain. */
export function createEndpointWatch(chain: Chain, { log, metrics }: { log: Log; metrics: Metrics }): EndpointWatch {
  const states = new Map<string, EndpointState>(),
    failures = new Map<string, number>();

  const become = (name: string, state: EndpointState, why: string | null): void => {
    const before = states.get(name);
    if (before === state) return;
    states.set(name, state);
    metrics.set('svc_endpoint_up', { chain, endpoint: name }, state === 'up' ? 1 : 0);
    if (state === 'up' && before !== undefined)
      log.info({ chain, endpoint: name }, 'an endpoint of the chain answers again');
    if (state === 'down')
      log.error(
        { chain, endpoint: name, reason: why },
        'an endpoint of the chain does not answer: check its node or plan',
      );
    if (state === 'wrong_network')
      log.error(
        { chain, endpoint: name },
        'an endpoint is of another network and is not asked: check its URL in the configuration',
      );
  };
  const answered = (name: string): void => {
    failures.set(name, 0);
    if (states.get(name) !== 'wrong_network') become(name, 'up', null);
  };
  const failed = (name: string, error: EndpointFailure): void => {
    if (OWN_END.test(error.reason)) return;
    metrics.add('svc_endpoint_errors_total', { chain, endpoint: name, kind: kindOf(error) });
    failures.set(name, (failures.get(name) ?? 0) + 1);
    if (failures.get(name)! >= FAILURES_DOWN && states.get(name) !== 'wrong_network')
      become(name, 'down', error.reason);
  };
  return {
    watched: (endpoint) => ({
      ...endpoint,
      async request(call) {
        try {
          const reply = await endpoint.request(call);
          answered(endpoint.name);
          return reply;
        } catch (error) {
          if (error instanceof EndpointFailure) failed(endpoint.name, error);
          throw error;
        }
      },
    }),
    stateOf: (name) => states.get(name) ?? null,
    onReport({ name }, outcome) {
      if (outcome === 'wrong_network') become(name, 'wrong_network', null);
      else if (outcome === 'ok' && states.get(name) === 'wrong_network') become(name, 'up', null);
    },
  };
}
