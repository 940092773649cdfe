/**
 * How a chain is, from how its endpoints are found: what `GET /v1/chains` shows, and what a refusal says when nothing
 * can be asked.
 *
 *   eth-1 up, eth-2 down         degraded        eth-1 wrong_network                  wrong_network
 *   eth-1 up, eth-2 unknown      ok              eth-1 down, eth-2 wrong_network      unavailable
 *   all unknown                  unknown         eth-1 behind                         unavailable
 */
import { endpointsSettingOf } from '../chains/transport/endpoint-watch.ts';
import type { ChainCondition, EndpointView } from '../model/ports/chain-access.ts';
import type { Chain, ChainStatus } from '../protocol/slugs.ts';

/** A ledger without endpoints, of which no problem is known. */
export const FINE: ChainCondition = {
  status: 'ok',
  reason: null,
  setting: null,
  next: null,
  network: null,
  endpoints: [],
};

/** A chain that this node has no endpoints for. */
export function notConfigured(chain: Chain): ChainCondition {
  const setting = endpointsSettingOf(chain);
  return {
    ...FINE,
    status: 'unavailable',
    reason: `not enabled: ${setting} is not set`,
    setting,
    next: `set ${setting} to nodes of ${chain} and start the cloud node again`,
  };
}

/** A chain without a simulated ledger. */
export const NOT_SIMULATED: ChainCondition = {
  ...FINE,
  status: 'unavailable',
  reason: 'not enabled: the sandbox has no simulated ledger of it',
  next: 'take a chain that GET /v1/chains shows as enabled',
};

/** A simulated ledger that answers nothing up to an instant, because its account asked for that. */
export function simulatedOutage(untilMs: number): ChainCondition {
  const until = new Date(untilMs).toISOString();
  return {
    ...FINE,
    status: 'unavailable',
    reason: `simulated outage until ${until}`,
    next: `ask again after ${until}, or end it: POST /v1/sandbox/simulate-chain-down with 0 seconds`,
  };
}

/** The condition of a live chain; `stopped` is why it waits for a person (G17). */
export function conditionOfChain(
  chain: Chain,
  endpoints: readonly EndpointView[],
  stopped: string | null,
): ChainCondition {
  const bad = endpoints.filter(({ state }) => state !== 'up' && state !== 'unknown'),
    status = stopped === null ? statusOf(endpoints, bad) : 'unavailable';
  if (status === 'ok' || status === 'unknown') return { ...FINE, status, endpoints };
  const said = bad.map((one) => `${one.endpoint}: ${wordsOf(one)}`),
    steps = bad.map(
      ({ endpoint, state, next }) => next ?? `${endpoint} is ${state}: compare its head with an explorer of ${chain}`,
    );
  return {
    status,
    reason: [...(stopped === null ? [] : [stopped]), ...said].join('; '),
    setting: endpointsSettingOf(chain),
    next:
      stopped === null
        ? steps.join('; ')
        : `compare the newest blocks of ${chain} with an explorer, take an endpoint that is wrong out of ${endpointsSettingOf(chain)}, then start the cloud node again`,
    network: bad.find(({ network }) => network !== null)?.network ?? null,
    endpoints,
  };
}

function statusOf(endpoints: readonly EndpointView[], bad: readonly EndpointView[]): ChainStatus {
  if (bad.length < endpoints.length)
    return bad.length > 0 ? 'degraded' : endpoints.every(({ state }) => state === 'unknown') ? 'unknown' : 'ok';
  return bad.every(({ state }) => state === 'wrong_network') ? 'wrong_network' : 'unavailable';
}

function wordsOf({ state, reason, network }: EndpointView): string {
  const words = reason === null ? state : `${state}, ${reason}`;
  return network === null ? words : `${words} (expected ${network.expected}, seen ${network.seen})`;
}
