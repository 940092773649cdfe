/**
 * Several endpoints of one chain as one transport. Which of them is asked is decided by board.ts, which has the table
 * of their states; here are the clock, the requests, and what is asked beside an endpoint that is late.
 */
import {
  ChainUnavailable,
  MalformedReply,
  type Endpoint,
  type Hedge,
  type NetworkSeen,
  type Transport,
} from '../chain.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { KnownHead } from '../possible-height.ts';
import { EndpointBoard, type EndpointState } from './board.ts';
import { EndpointFailure } from './http-endpoint.ts';

const REASON_CHARACTERS_MAX = 300;

export type ReportOutcome = Parameters<Transport['report']>[1];

export interface FailoverOptions {
  readonly chain: Chain;
  readonly endpoints: readonly Endpoint[];
  /** A clock that never steps: a wall clock that is set back would prolong every wait by as much. */
  readonly elapsedMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly lagBlocksMax?: number;
  /** What the chain mines a block in, for heads that cannot be; absent: any head can be. */
  readonly blockTimeMs?: number;
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
  readonly state: EndpointState;
  /** As it last reported it; null before that, and where it cannot be. */
  readonly headHeight: number | null;
  readonly failures: number;
  /** When one that backs off is asked again, milliseconds; null where it is asked at its turn. */
  readonly nextLookMs: number | null;
}

export interface FailoverTransport extends Transport {
  /** What each endpoint's state is now, in the configured order. */
  health(): EndpointHealth[];
  headMax(): number;
  elapsedMs(): number;
  /** For how long an endpoint is still left alone, milliseconds; 0 where it may be asked. */
  pauseMs(endpoint: Endpoint): number;
  /**
   * A request that began then failed. A failure counts once, also where two report it; one that began before the last
   * failure is of the same outage, and prolongs no pause.
   */
  failed(endpoint: Endpoint, failure: EndpointFailure, beganMs: number): void;
  /** A head that is believed on better grounds than a claim, by the same clock: what heads are measured by from now. */
  knowHead(known: KnownHead): void;
}

/** Calls back after a time of the process's own clock; what it returns takes that back. */
export const wallTimer: Hedge['timer'] = (ms, then) => {
  const set = setTimeout(then, ms);
  return () => clearTimeout(set);
};

/** A transport over these endpoints. Throws: TypeError without any. */
export function createFailoverTransport(options: FailoverOptions): FailoverTransport {
  const { chain, endpoints, elapsedMs, random, onReport, hedge, lagBlocksMax, blockTimeMs } = options;
  if (endpoints.length === 0) throw new TypeError(`${chain}: no endpoints`);
  const board = new EndpointBoard(endpoints, { chain, lagBlocksMax, blockTimeMs });

  const note = (
    endpoint: Endpoint,
    outcome: ReportOutcome,
    headHeight?: number,
    askedMs: number | null = null,
    network?: NetworkSeen,
  ) => {
    board.note(endpoint, outcome, { headHeight, askedMs, nowMs: elapsedMs(), random });
    onReport?.(endpoint, outcome, network);
  };

  const counted = new WeakSet<EndpointFailure>();
  const failed: FailoverTransport['failed'] = (endpoint, failure, beganMs) => {
    if (counted.has(failure)) return;
    counted.add(failure);
    if (beganMs >= board.failedAtMs(endpoint)) note(endpoint, 'failed', undefined, failure.retryAfterMs);
  };

  const attempt: Transport['attempt'] = (read) =>
    attemptAll(
      { chain, count: endpoints.length, pick: (not) => board.pickBelieved(not, elapsedMs()), hedge },
      read,
      (endpoint) => {
        const reportsBefore = board.reports(endpoint),
          beganMs = elapsedMs();
        const hasReported = () => board.reports(endpoint) > reportsBefore;
        return (error) => {
          // A node that answered and proved nothing (no such block yet, pruned state) is not a node that fails.
          if (error === null) {
            if (!hasReported()) note(endpoint, 'ok');
          } else if (error instanceof EndpointFailure) failed(endpoint, error, beganMs);
          else if (error instanceof MalformedReply && !hasReported()) note(endpoint, 'failed');
        };
      },
    );

  return {
    endpoints,
    hedge,
    pick: (not) => board.pick(not, elapsedMs()),
    attempt,
    headMax: () => board.headMax(elapsedMs()),
    elapsedMs,
    failed,
    pauseMs: (endpoint) => Math.max(0, board.notBeforeMs(endpoint) - elapsedMs()),
    knowHead: (known) => board.knowHead(known),
    report: (endpoint, outcome, headHeight, network) => note(endpoint, outcome, headHeight, null, network),
    reportTraces: (endpoint, offered) => options.onTraces?.(endpoint, offered),
    health: () => endpoints.map((endpoint) => ({ name: endpoint.name, ...board.healthOf(endpoint, elapsedMs()) })),
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
