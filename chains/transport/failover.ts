/**
 * Several endpoints of one chain as one transport, with health.
 *
 * State of an endpoint, in the order in which they are preferred:
 *   healthy         answered last time, head not behind the others
 *   lagging         its head is behind what another endpoint showed; used when no healthy one is left
 *   backing off     failed twice or more in a row; not asked until its time has come
 *   wrong network   another chain's node (G14); not asked until an identity check says `ok`
 * A first failure costs nothing but the turn; each further one doubles the wait, with jitter, up to a minute. A node's
 * Retry-After is honoured. Time and randomness are arguments.
 */
import {
  ChainUnavailable,
  MalformedReply,
  type Endpoint,
  type Hedge,
  type NetworkSeen,
  type Transport,
} from '../chain.ts';
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { EndpointFailure } from './http-endpoint.ts';

const RETRY: Backoff = { firstMs: 500, mostMs: 60_000, jitterPercent: 50 };
/** Blocks that heads of healthy nodes may differ by: propagation, and the time between two readings. */
const LAG_BLOCKS_MAX = 3;
const REASON_CHARACTERS_MAX = 300;
/** Failures in a row after which an endpoint is down. */
const FAILURES_DOWN = 2;

export type ReportOutcome = Parameters<Transport['report']>[1];

export interface FailoverOptions {
  readonly chain: Chain;
  readonly endpoints: readonly Endpoint[];
  /** A clock that never steps: a wall clock that is set back would prolong every wait by as much. */
  readonly elapsedMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly lagBlocksMax?: number;
  /**
   * An endpoint that has not answered for so long is not waited for alone: the next one is asked as well, and the first
   * good answer is taken. Absent: each is waited for until it fails. `timer` calls back after a time; what it returns
   * takes that back.
   */
  readonly hedge?: Hedge | undefined;
  /** Called for every report, for metrics and logs. */
  readonly onReport?: (endpoint: Endpoint, outcome: ReportOutcome, network?: NetworkSeen) => void;
  /** Called when an endpoint that traced blocks offers it no more, or again. */
  readonly onTraces?: (endpoint: Endpoint, offered: boolean) => void;
}

export interface EndpointHealth {
  readonly name: string;
  readonly state: 'healthy' | 'lagging' | 'backing_off' | 'wrong_network';
  readonly headHeight: number | null;
  readonly failures: number;
  /** When one that backs off is asked again, milliseconds; null where it is asked at its turn. */
  readonly nextLookMs: number | null;
}

export interface FailoverTransport extends Transport {
  /** What each endpoint's state is now, in the configured order. */
  health(): EndpointHealth[];
}

interface Condition {
  failures: number;
  notBeforeMs: number;
  lagging: boolean;
  wrongNetwork: boolean;
  headHeight: number | null;
  reports: number;
}

const STATES = ['healthy', 'lagging', 'backing_off', 'wrong_network'] as const;

/** Calls back after a time of the process's own clock; what it returns takes that back. */
export const wallTimer: Hedge['timer'] = (ms, then) => {
  const set = setTimeout(then, ms);
  return () => clearTimeout(set);
};

/** A transport over these endpoints. Throws: TypeError without any. */
export function createFailoverTransport(options: FailoverOptions): FailoverTransport {
  const { chain, endpoints, elapsedMs, random, lagBlocksMax = LAG_BLOCKS_MAX, onReport, hedge } = options;
  if (endpoints.length === 0) throw new TypeError(`${chain}: no endpoints`);
  const conditions = new Map<Endpoint, Condition>(
    endpoints.map((endpoint) => [
      endpoint,
      {
        failures: 0,
        notBeforeMs: 0,
        lagging: false,
        wrongNetwork: false,
        headHeight: null,
        reports: 0,
      },
    ]),
  );
  const conditionOf = (endpoint: Endpoint) => conditions.get(endpoint)!;
  let turn = 0;

  const stateOf = (endpoint: Endpoint): (typeof STATES)[number] => {
    const { wrongNetwork, notBeforeMs, lagging } = conditionOf(endpoint);
    return wrongNetwork ? 'wrong_network' : elapsedMs() < notBeforeMs ? 'backing_off' : lagging ? 'lagging' : 'healthy';
  };

  const pick: Transport['pick'] = (not = []) => {
    const rotated = endpoints
      .map((_, i) => endpoints[(turn + i) % endpoints.length]!)
      .filter((one) => !not.includes(one));
    turn = (turn + 1) % endpoints.length;
    // One that was down is not tried out by who needs an answer now: a look at it alone finds it well again
    // (one-endpoint.ts).
    const isDown = (one: Endpoint) => conditionOf(one).failures >= FAILURES_DOWN;
    const best =
      rotated.find((one) => stateOf(one) === 'healthy' && !isDown(one)) ??
      rotated.find((one) => stateOf(one) === 'lagging' && !isDown(one)) ??
      rotated.find((one) => stateOf(one) === 'healthy' || stateOf(one) === 'lagging');
    if (best === undefined) {
      throw new ChainUnavailable(chain, `no endpoint to ask: ${rotated.map(stateOf).join(', ') || 'none left'}`);
    }
    return best;
  };

  const backOff = (condition: Condition, askedMs: number | null) => {
    condition.failures++;
    const waitMs = condition.failures === 1 ? 0 : backoffMs(condition.failures - 2, RETRY, random());
    condition.notBeforeMs = elapsedMs() + Math.max(waitMs, askedMs ?? 0);
  };

  const noteHead = (condition: Condition, headHeight: number) => {
    condition.headHeight = headHeight;
    // Each endpoint's newest reading, so that a rollback which all of them show leaves none of them lagging.
    const best = Math.max(...[...conditions.values()].map((one) => one.headHeight ?? 0));
    condition.lagging = headHeight + lagBlocksMax < best;
  };

  const note = (
    endpoint: Endpoint,
    outcome: ReportOutcome,
    headHeight?: number,
    askedMs: number | null = null,
    network?: NetworkSeen,
  ) => {
    const condition = conditionOf(endpoint);
    condition.reports++;
    if (outcome === 'failed') backOff(condition, askedMs);
    else condition.failures = 0;
    if (outcome === 'ok') Object.assign(condition, { notBeforeMs: 0, wrongNetwork: false });
    if (outcome === 'wrong_network') condition.wrongNetwork = true;
    if (headHeight !== undefined) noteHead(condition, headHeight);
    if (outcome === 'lagging') condition.lagging = true;
    onReport?.(endpoint, outcome, network);
  };

  const attempt: Transport['attempt'] = (read) =>
    attemptAll({ chain, count: endpoints.length, pick, hedge }, read, (endpoint) => {
      const reportsBefore = conditionOf(endpoint).reports;
      const hasReported = () => conditionOf(endpoint).reports > reportsBefore;
      return (error) => {
        // A node that answered and proved nothing (no such block yet, pruned state) is not a node that fails.
        if (error === null) {
          if (!hasReported()) note(endpoint, 'ok');
        } else if (error instanceof EndpointFailure) note(endpoint, 'failed', undefined, error.retryAfterMs);
        else if (error instanceof MalformedReply && !hasReported()) note(endpoint, 'failed');
      };
    });

  return {
    endpoints,
    hedge,
    pick,
    attempt,
    report: (endpoint, outcome, headHeight, network) => note(endpoint, outcome, headHeight, null, network),
    reportTraces: (endpoint, offered) => options.onTraces?.(endpoint, offered),
    health: () =>
      endpoints.map((endpoint) => {
        const { headHeight, failures, notBeforeMs } = conditionOf(endpoint);
        const nextLookMs = elapsedMs() < notBeforeMs ? notBeforeMs : null;
        return { name: endpoint.name, state: stateOf(endpoint), headHeight, failures, nextLookMs };
      }),
  };
}

interface Attempting extends Pick<FailoverOptions, 'chain' | 'hedge'> {
  readonly count: number;
  readonly pick: Transport['pick'];
}

/**
 * Asks one endpoint after another, or the next one as well where one is late. `begin` notes who is asked; what it
 * returns, what came of it.
 */
function attemptAll<T>(
  { chain, hedge, count, pick }: Attempting,
  read: (endpoint: Endpoint) => Promise<T>,
  begin: (endpoint: Endpoint) => (error: unknown) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const tried: Endpoint[] = [],
      reasons: string[] = [];
    let malformed: MalformedReply | null = null,
      running = 0,
      isDone = false;
    const end = () => {
      if (isDone || running > 0) return;
      isDone = true;
      if (malformed !== null && reasons.length === 1) return reject(malformed);
      const said = reasons.join('; ').slice(0, REASON_CHARACTERS_MAX);
      reject(new ChainUnavailable(chain, said || 'every endpoint is backing off'));
    };
    const next = (): void => {
      if (isDone) return;
      let endpoint: Endpoint;
      try {
        if (tried.length >= count) return end();
        endpoint = pick(tried);
      } catch {
        return end();
      } // what is left may not be asked now
      tried.push(endpoint);
      running += 1;
      const came = begin(endpoint);
      let isLate = false;
      const stop = hedge?.timer(hedge.ms, () => {
        isLate = true;
        next();
      });
      read(endpoint)
        .then((answer) => {
          stop?.();
          running -= 1;
          came(null);
          isDone = true;
          resolve(answer);
        })
        .catch((error: unknown) => {
          stop?.();
          running -= 1;
          if (!(error instanceof MalformedReply || error instanceof ChainUnavailable)) {
            isDone = true;
            return reject(error as Error);
          }
          came(error);
          if (error instanceof MalformedReply) malformed = error;
          reasons.push(`${endpoint.name}: ${error instanceof ChainUnavailable ? error.reason : error.message}`);
          if (isLate) end();
          else next();
        });
    };
    next();
  });
}
