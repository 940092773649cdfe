/**
 * Several endpoints of one chain as one transport, with health.
 *
 * State of an endpoint, in the order in which they are preferred:
 *   healthy         answered last time, head not behind the others
 *   lagging         its head is behind what another endpoint showed; used when no healthy one is left
 *   ahead           one of several that claims a head which the chain cannot have (`chains/possible-height.ts`); asked
 *                   by itself alone, so that it shows when it claims one that can be
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
import { highestPossible, supportedClaim, type KnownHead } from '../possible-height.ts';
import { EndpointFailure } from './http-endpoint.ts';

const RETRY: Backoff = { firstMs: 500, mostMs: 60_000, jitterPercent: 50 };
/** Blocks that heads of healthy nodes may differ by: propagation, and the time between two readings. */
const LAG_BLOCKS_MAX = 3;
const REASON_CHARACTERS_MAX = 300;
/** Failures in a row after which an endpoint is down. */
const FAILURES_DOWN = 2;
/** A claim of a head that cannot be counts for so long; where nobody looks at it alone, it is asked again then. */
const CLAIM_MS = 60_000;

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
  readonly state: (typeof STATES)[number];
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

interface Condition {
  failures: number;
  failedAtMs: number;
  notBeforeMs: number;
  lagging: boolean;
  wrongNetwork: boolean;
  /** The head in its last report. */
  claimed: number | null;
  claimedAtMs: number;
  /** It could not be when it was claimed: that time has passed since makes it none that can. */
  wasAhead: boolean;
  reports: number;
}

const STATES = ['healthy', 'lagging', 'ahead', 'backing_off', 'wrong_network'] as const;

/** Calls back after a time of the process's own clock; what it returns takes that back. */
export const wallTimer: Hedge['timer'] = (ms, then) => {
  const set = setTimeout(then, ms);
  return () => clearTimeout(set);
};

/** A transport over these endpoints. Throws: TypeError without any. */
export function createFailoverTransport(options: FailoverOptions): FailoverTransport {
  const { chain, endpoints, elapsedMs, random, onReport, hedge } = options;
  if (endpoints.length === 0) throw new TypeError(`${chain}: no endpoints`);
  const conditions = new Map<Endpoint, Condition>(
    endpoints.map((endpoint) => [
      endpoint,
      {
        failures: 0,
        failedAtMs: Number.NEGATIVE_INFINITY,
        notBeforeMs: 0,
        lagging: false,
        wrongNetwork: false,
        claimed: null,
        claimedAtMs: 0,
        wasAhead: false,
        reports: 0,
      },
    ]),
  );
  const conditionOf = (endpoint: Endpoint) => conditions.get(endpoint)!;
  const heads = headsOf([...conditions.values()], options);
  let turn = 0;

  const stateOf = (endpoint: Endpoint): (typeof STATES)[number] => {
    const condition = conditionOf(endpoint),
      nowMs = elapsedMs();
    if (condition.wrongNetwork) return 'wrong_network';
    if (nowMs < condition.notBeforeMs) return 'backing_off';
    if (heads.isAhead(condition, nowMs)) return 'ahead';
    return condition.lagging ? 'lagging' : 'healthy';
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
      rotated.find((one) => stateOf(one) === 'healthy' || stateOf(one) === 'lagging') ??
      (not.length > 0 && rotated.length === 1 ? rotated.find((one) => stateOf(one) === 'ahead') : undefined);
    if (best === undefined) {
      throw new ChainUnavailable(chain, `no endpoint to ask: ${rotated.map(stateOf).join(', ') || 'none left'}`);
    }
    return best;
  };

  /** What another one than it is asked for is no reason to believe an endpoint that claims what cannot be. */
  const pickBelieved: Transport['pick'] = (not) => {
    const picked = pick(not);
    if (stateOf(picked) === 'ahead') throw new ChainUnavailable(chain, 'no endpoint to ask: ahead');
    return picked;
  };

  const backOff = (condition: Condition, askedMs: number | null) => {
    condition.failures++;
    condition.failedAtMs = elapsedMs();
    const waitMs = condition.failures === 1 ? 0 : backoffMs(condition.failures - 2, RETRY, random());
    condition.notBeforeMs = elapsedMs() + Math.max(waitMs, askedMs ?? 0);
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
    if (headHeight !== undefined) heads.note(condition, headHeight);
    if (outcome === 'lagging') condition.lagging = true;
    onReport?.(endpoint, outcome, network);
  };

  const counted = new WeakSet<EndpointFailure>();
  const failed: FailoverTransport['failed'] = (endpoint, failure, beganMs) => {
    if (counted.has(failure)) return;
    counted.add(failure);
    const { failedAtMs } = conditionOf(endpoint);
    if (beganMs >= failedAtMs) note(endpoint, 'failed', undefined, failure.retryAfterMs);
  };

  const attempt: Transport['attempt'] = (read) =>
    attemptAll({ chain, count: endpoints.length, pick: pickBelieved, hedge }, read, (endpoint) => {
      const reportsBefore = conditionOf(endpoint).reports,
        beganMs = elapsedMs();
      const hasReported = () => conditionOf(endpoint).reports > reportsBefore;
      return (error) => {
        // A node that answered and proved nothing (no such block yet, pruned state) is not a node that fails.
        if (error === null) {
          if (!hasReported()) note(endpoint, 'ok');
        } else if (error instanceof EndpointFailure) failed(endpoint, error, beganMs);
        else if (error instanceof MalformedReply && !hasReported()) note(endpoint, 'failed');
      };
    });

  return {
    endpoints,
    hedge,
    pick,
    attempt,
    headMax: heads.max,
    elapsedMs,
    failed,
    pauseMs: (endpoint) => Math.max(0, conditionOf(endpoint).notBeforeMs - elapsedMs()),
    knowHead: heads.know,
    report: (endpoint, outcome, headHeight, network) => note(endpoint, outcome, headHeight, null, network),
    reportTraces: (endpoint, offered) => options.onTraces?.(endpoint, offered),
    health: () =>
      endpoints.map((endpoint) => {
        const { failures, notBeforeMs } = conditionOf(endpoint),
          headHeight = heads.believed(conditionOf(endpoint));
        const nextLookMs = elapsedMs() < notBeforeMs ? notBeforeMs : null;
        return { name: endpoint.name, state: stateOf(endpoint), headHeight, failures, nextLookMs };
      }),
  };
}

/**
 * Heads as the endpoints claim them. What measures them is the highest one that two of several are near, or one that is
 * known on better grounds: a claim alone, however slowly it rises, measures nothing.
 */
function headsOf(
  conditions: readonly Condition[],
  { elapsedMs, blockTimeMs, lagBlocksMax = LAG_BLOCKS_MAX }: FailoverOptions,
) {
  let known: KnownHead | null = null;
  const max = (): number =>
    blockTimeMs === undefined || conditions.length === 1
      ? Number.MAX_SAFE_INTEGER
      : highestPossible(known, elapsedMs(), { blockTimeMs });
  const believed = ({ claimed, wasAhead }: Condition): number | null =>
    claimed === null || wasAhead || claimed > max() ? null : claimed;
  return {
    max,
    believed,
    isAhead: (condition: Condition, nowMs: number): boolean =>
      condition.claimed !== null && nowMs - condition.claimedAtMs < CLAIM_MS && believed(condition) === null,
    know(before: KnownHead): void {
      if (known === null || before.height > known.height) known = before;
    },
    note(condition: Condition, height: number): void {
      condition.claimed = height;
      condition.claimedAtMs = elapsedMs();
      const claims = conditions.flatMap(({ claimed }) => claimed ?? []),
        supported = supportedClaim(claims);
      const allLower = known !== null && claims.length === conditions.length && Math.max(...claims) < known.height;
      if (supported !== null && (known === null || supported > known.height || allLower))
        known = { height: supported, sinceMs: elapsedMs() };
      condition.wasAhead = height > max();
      // Each endpoint's newest reading, so that a rollback which all of them show leaves none of them lagging.
      const best = Math.max(0, ...conditions.flatMap((one) => believed(one) ?? []));
      condition.lagging = height + lagBlocksMax < best;
    },
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
