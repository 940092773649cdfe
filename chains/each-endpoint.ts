/**
 * What is said to several endpoints of one chain, none of which is waited for alone: after the transport's hedge the
 * next one is asked as well.
 */
import type { Chain } from '../protocol/slugs.ts';
import { ChainUnavailable, MalformedReply, type BroadcastResult, type Endpoint, type Transport } from './chain.ts';

export interface Verdicts<V> {
  /** The first verdict that the bytes were taken; the endpoints that had not answered by then are not waited for. */
  readonly taken: V | null;
  /** What the others say, when none took them. */
  readonly others: readonly { readonly endpoint: Endpoint; readonly verdict: V }[];
  /** Endpoints that gave no answer or an unusable one, each with its reason. */
  readonly silent: ReadonlyMap<Endpoint, string>;
  /** Those of them that were not waited for alone. */
  readonly late: ReadonlySet<Endpoint>;
  /** False when every endpoint is backing off. */
  readonly asked: boolean;
}

export interface Submitting<V> {
  submit(endpoint: Endpoint): Promise<V>;
  isTaken(verdict: V): boolean;
  /** Endpoints that are asked after the others. */
  isLast?(endpoint: Endpoint): boolean;
}

/**
 * Submits to one endpoint after another until one takes the bytes. Throws: MalformedReply when none took them and one
 * answered what it must not; whatever `submit` throws that is no failure of a node.
 */
export function submitToEach<V>(
  transport: Transport,
  { submit, isTaken, isLast = () => false }: Submitting<V>,
): Promise<Verdicts<V>> {
  const asked: Endpoint[] = [],
    others: { endpoint: Endpoint; verdict: V }[] = [],
    silent = new Map<Endpoint, string>(),
    late = new Set<Endpoint>();
  return new Promise((resolve, reject) => {
    let malformed: MalformedReply | null = null,
      running = 0,
      isDone = false;
    const done = (taken: V | null): void => {
      if (isDone) return;
      isDone = true;
      if (taken === null && malformed !== null) reject(malformed);
      else resolve({ taken, others, silent, late, asked: asked.length > 0 });
    };
    const next = (): void => {
      const endpoint = isDone ? null : following(transport, asked, isLast);
      if (endpoint === null) return running === 0 ? done(null) : undefined;
      asked.push(endpoint);
      running += 1;
      let isLate = false;
      const stop = transport.hedge?.timer(transport.hedge.ms, () => {
        isLate = true;
        next();
      });
      const over = (): void => {
        stop?.();
        running -= 1;
        if (!isLate) next();
        else if (running === 0) next(); // all were asked
      };
      submit(endpoint)
        .then((verdict) => {
          if (isTaken(verdict)) {
            stop?.();
            return done(verdict);
          }
          others.push({ endpoint, verdict });
          over();
        })
        .catch((error: unknown) => {
          if (error instanceof MalformedReply) malformed = error;
          else if (!(error instanceof ChainUnavailable)) {
            stop?.();
            isDone = true;
            return reject(error as Error);
          }
          silent.set(endpoint, error instanceof ChainUnavailable ? error.reason : error.message);
          if (isLate) late.add(endpoint);
          over();
        });
    };
    next();
  });
}

function following(
  transport: Transport,
  asked: readonly Endpoint[],
  isLast: (endpoint: Endpoint) => boolean,
): Endpoint | null {
  for (const not of [[...asked, ...transport.endpoints.filter(isLast)], asked]) {
    try {
      return transport.pick(not);
    } catch {
      /* what is left may not be asked now */
    }
  }
  return null;
}

/** True as soon as one endpoint has it. One that cannot say is not a no; one that was late is not waited for again. */
export async function oneHas<V>(
  transport: Transport,
  { late }: Pick<Verdicts<V>, 'late'>,
  has: (endpoint: Endpoint) => Promise<boolean>,
): Promise<boolean> {
  try {
    return await Promise.any(
      transport.endpoints
        .filter((endpoint) => !late.has(endpoint))
        .map(async (endpoint) => (await has(endpoint)) || Promise.reject(new Error('not there'))),
    );
  } catch {
    return false;
  }
}

/** The result when nothing is proven: submit the same bytes again (G26). */
export function notProven(reasons: readonly string[], otherwise: string): BroadcastResult {
  return { kind: 'unknown', reason: reasons.join('; ') || otherwise };
}

/** Each silence, and each verdict that `doubtOf` gives a reason for, after the endpoint's name. */
export function doubtsIn<V>({ others, silent }: Verdicts<V>, doubtOf: (verdict: V) => string | null): string[] {
  const doubts = others.flatMap(({ endpoint, verdict }) => {
    const doubt = doubtOf(verdict);
    return doubt === null ? [] : [`${endpoint.name}: ${doubt}`];
  });
  return [...[...silent].map(([{ name }, reason]) => `${name}: ${reason}`), ...doubts];
}

/**
 * G14: every endpoint must be of this network; `check` reports and throws where one is not. Resolves when one is and
 * the others answered, or had the hedge's time to. Throws: ChainUnavailable when none is.
 */
export function identifyEach(
  chain: Chain,
  transport: Transport,
  check: (endpoint: Endpoint) => Promise<void>,
): Promise<void> {
  const { endpoints, hedge } = transport;
  return new Promise((resolve, reject) => {
    const reasons: string[] = [];
    let isLate = false,
      passed = 0,
      settled = 0;
    const stop = hedge?.timer(hedge.ms, () => {
      isLate = true;
      look();
    });
    const look = (): void => {
      if (passed > 0 && (isLate || settled === endpoints.length)) {
        stop?.();
        resolve();
      } else if (settled === endpoints.length) {
        stop?.();
        reject(new ChainUnavailable(chain, `identity: ${reasons.join('; ')}`));
      }
    };
    for (const endpoint of endpoints) {
      check(endpoint)
        .then(
          () => {
            passed += 1;
          },
          (error: unknown) => {
            reasons.push((error as Error).message);
          },
        )
        .finally(() => {
          settled += 1;
          look();
        });
    }
  });
}
