/**
 * The health of a chain's endpoints. No clock, no chance and no promise here: each method is an input with its instant,
 * monotonic milliseconds. Losing all of it costs a failed request or two.
 *
 * State of an endpoint, in the order in which they are preferred:
 *   healthy         answered last time, head not behind the others
 *   lagging         its head is behind what another endpoint showed; used when no healthy one is left
 *   ahead           one of several that claims a head which the chain cannot have (`chains/possible-height.ts`); asked
 *                   by itself alone, so that it shows when it claims one that can be
 *   backing_off     failed twice or more in a row; not asked until its time has come
 *   wrong_network   another chain's node (G14); not asked until an identity check says `ok`
 *
 *   input           becomes
 *   ok              neither backing off nor of a wrong network; failures count from zero
 *   failed          the first of a row costs nothing but the turn; each further one doubles the pause, with jitter,
 *                   up to a minute. A node's Retry-After is honoured
 *   lagging         lagging; failures count from zero
 *   wrong_network   wrong_network
 *   a head          lagging or not, by the newest reading of each; ahead where the chain cannot be there yet
 */
import { ChainUnavailable, type Transport } from '../chain.ts';
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { highestPossible, supportedClaim, type KnownHead } from '../possible-height.ts';

const RETRY: Backoff = { firstMs: 500, mostMs: 60_000, jitterPercent: 50 };
/** Blocks that heads of healthy nodes may differ by: propagation, and the time between two readings. */
const LAG_BLOCKS_MAX = 3;
/** Failures in a row after which an endpoint is down. */
const FAILURES_DOWN = 2;
/** A claim of a head that cannot be counts for so long; where nobody looks at it alone, it is asked again then. */
const CLAIM_MS = 60_000;

export type EndpointState = 'healthy' | 'lagging' | 'ahead' | 'backing_off' | 'wrong_network';

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

export interface BoardSettings {
  readonly chain: Chain;
  readonly lagBlocksMax?: number | undefined;
  /** Absent: any head can be. */
  readonly blockTimeMs?: number | undefined;
}

/** What was found out of an endpoint, and when. */
export interface Noted {
  readonly nowMs: number;
  /** In [0, 1); asked for a pause alone. */
  readonly random: () => number;
  readonly headHeight?: number | undefined;
  /** A node's Retry-After, milliseconds. */
  readonly askedMs?: number | null;
}

export class EndpointBoard<E> {
  readonly #endpoints: readonly E[];
  readonly #settings: BoardSettings;
  readonly #conditions: ReadonlyMap<E, Condition>;
  /** The highest head that two of several are near, or one that is known on better grounds. */
  #known: KnownHead | null = null;
  #turn = 0;

  constructor(endpoints: readonly E[], settings: BoardSettings) {
    this.#endpoints = endpoints;
    this.#settings = settings;
    this.#conditions = new Map(
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
  }

  stateOf(endpoint: E, nowMs: number): EndpointState {
    const condition = this.#of(endpoint);
    if (condition.wrongNetwork) return 'wrong_network';
    if (nowMs < condition.notBeforeMs) return 'backing_off';
    if (this.#isAhead(condition, nowMs)) return 'ahead';
    return condition.lagging ? 'lagging' : 'healthy';
  }

  /** The endpoint to ask now, another one first at each call. Throws: ChainUnavailable. */
  pick(not: readonly E[] = [], nowMs: number): E {
    const endpoints = this.#endpoints;
    const rotated = endpoints
      .map((_, i) => endpoints[(this.#turn + i) % endpoints.length]!)
      .filter((one) => !not.includes(one));
    this.#turn = (this.#turn + 1) % endpoints.length;
    const stateOf = (one: E) => this.stateOf(one, nowMs);
    // One that was down is not tried out by who needs an answer now: a look at it alone finds it well again
    // (one-endpoint.ts).
    const isDown = (one: E) => this.#of(one).failures >= FAILURES_DOWN;
    const best =
      rotated.find((one) => stateOf(one) === 'healthy' && !isDown(one)) ??
      rotated.find((one) => stateOf(one) === 'lagging' && !isDown(one)) ??
      rotated.find((one) => stateOf(one) === 'healthy' || stateOf(one) === 'lagging') ??
      (not.length > 0 && rotated.length === 1 ? rotated.find((one) => stateOf(one) === 'ahead') : undefined);
    if (best === undefined) {
      const states = rotated.map(stateOf).join(', ');
      throw new ChainUnavailable(this.#settings.chain, `no endpoint to ask: ${states || 'none left'}`);
    }
    return best;
  }

  /**
   * As `pick`, but for one that is ahead: that nobody else is left is no reason to believe one that claims what cannot
   * be. Throws: ChainUnavailable.
   */
  pickBelieved(not: readonly E[] | undefined, nowMs: number): E {
    const picked = this.pick(not, nowMs);
    if (this.stateOf(picked, nowMs) === 'ahead')
      throw new ChainUnavailable(this.#settings.chain, 'no endpoint to ask: ahead');
    return picked;
  }

  note(
    endpoint: E,
    outcome: Parameters<Transport['report']>[1],
    { nowMs, random, headHeight, askedMs = null }: Noted,
  ): void {
    const condition = this.#of(endpoint);
    condition.reports++;
    if (outcome === 'failed') {
      condition.failures++;
      condition.failedAtMs = nowMs;
      const waitMs = condition.failures === 1 ? 0 : backoffMs(condition.failures - 2, RETRY, random());
      condition.notBeforeMs = nowMs + Math.max(waitMs, askedMs ?? 0);
    } else condition.failures = 0;
    if (outcome === 'ok') Object.assign(condition, { notBeforeMs: 0, wrongNetwork: false });
    if (outcome === 'wrong_network') condition.wrongNetwork = true;
    if (headHeight !== undefined) this.#noteHead(condition, headHeight, nowMs);
    if (outcome === 'lagging') condition.lagging = true;
  }

  /** A head that is believed on better grounds than a claim: what heads are measured by from now. */
  knowHead(before: KnownHead): void {
    if (this.#known === null || before.height > this.#known.height) this.#known = before;
  }

  /** The highest head that the chain can have now. */
  headMax(nowMs: number): number {
    const { blockTimeMs } = this.#settings;
    return blockTimeMs === undefined || this.#conditions.size === 1
      ? Number.MAX_SAFE_INTEGER
      : highestPossible(this.#known, nowMs, { blockTimeMs });
  }

  healthOf(
    endpoint: E,
    nowMs: number,
  ): {
    readonly state: EndpointState;
    readonly headHeight: number | null;
    readonly failures: number;
    readonly nextLookMs: number | null;
  } {
    const condition = this.#of(endpoint),
      { failures, notBeforeMs } = condition;
    return {
      state: this.stateOf(endpoint, nowMs),
      headHeight: this.#believed(condition, nowMs),
      failures,
      nextLookMs: nowMs < notBeforeMs ? notBeforeMs : null,
    };
  }

  /** How often something was noted of it. */
  reports(endpoint: E): number {
    return this.#of(endpoint).reports;
  }

  failedAtMs(endpoint: E): number {
    return this.#of(endpoint).failedAtMs;
  }

  notBeforeMs(endpoint: E): number {
    return this.#of(endpoint).notBeforeMs;
  }

  #of(endpoint: E): Condition {
    return this.#conditions.get(endpoint)!;
  }

  #believed({ claimed, wasAhead }: Condition, nowMs: number): number | null {
    return claimed === null || wasAhead || claimed > this.headMax(nowMs) ? null : claimed;
  }

  #isAhead(condition: Condition, nowMs: number): boolean {
    return (
      condition.claimed !== null &&
      nowMs - condition.claimedAtMs < CLAIM_MS &&
      this.#believed(condition, nowMs) === null
    );
  }

  /** A claim alone, however slowly it rises, measures nothing: two of several must be near it. */
  #noteHead(condition: Condition, height: number, nowMs: number): void {
    const all = [...this.#conditions.values()],
      { lagBlocksMax = LAG_BLOCKS_MAX } = this.#settings;
    condition.claimed = height;
    condition.claimedAtMs = nowMs;
    const claims = all.flatMap(({ claimed }) => claimed ?? []),
      supported = supportedClaim(claims),
      known = this.#known;
    const allLower = known !== null && claims.length === all.length && Math.max(...claims) < known.height;
    if (supported !== null && (known === null || supported > known.height || allLower))
      this.#known = { height: supported, sinceMs: nowMs };
    condition.wasAhead = height > this.headMax(nowMs);
    // Each endpoint's newest reading, so that a rollback which all of them show leaves none of them lagging.
    const best = Math.max(0, ...all.flatMap((one) => this.#believed(one, nowMs) ?? []));
    condition.lagging = height + lagBlocksMax < best;
  }
}
