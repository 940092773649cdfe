/** The alerts of the objectives: pages, when a budget of 30 days is being used up. Ecosystem X53. */
import { BTC, HOURS_MINUTES, long, ofCloud, ofEdge, page, type Alert, type Input } from './alert.ts';
import { burns, OBJECTIVES } from './objectives.ts';

const BURN_TEXT: Readonly<
  Record<string, { name: Alert['name']; summary: string; fires: Input; silent: Input; labels?: Alert['labels'] }>
> = {
  api_errors: {
    name: 'FlockApiErrorsBurn',
    summary: 'More requests fail than 99.9 % of 30 days allow',
    fires: {
      [ofCloud('svc_requests_total', 'operation="createAddress",status="500"')]: `0+5x${HOURS_MINUTES}`,
      [ofCloud('svc_requests_total', 'operation="createAddress",status="201"')]: `0+95x${HOURS_MINUTES}`,
      [ofCloud('svc_refusals_total', 'code="CHAIN_UNAVAILABLE"')]: long(0),
    },
    silent: {
      [ofCloud('svc_requests_total', 'operation="createAddress",status="503"')]: `0+5x${HOURS_MINUTES}`,
      [ofCloud('svc_requests_total', 'operation="createAddress",status="201"')]: `0+95x${HOURS_MINUTES}`,
      [ofCloud('svc_refusals_total', 'code="CHAIN_UNAVAILABLE"')]: `0+5x${HOURS_MINUTES}`,
    },
  },
  api_slow: {
    name: 'FlockApiSlowBurn',
    summary: 'More requests take 300 ms than 99 % of 30 days allow',
    fires: {
      [ofCloud('svc_http_request_seconds_bucket', 'operation="listAddresses",le="0.3"')]: `0+70x${HOURS_MINUTES}`,
      [ofCloud('svc_http_request_seconds_count', 'operation="listAddresses"')]: `0+100x${HOURS_MINUTES}`,
    },
    silent: {
      [ofCloud('svc_http_request_seconds_bucket', 'operation="listAddresses",le="0.3"')]: `0+100x${HOURS_MINUTES}`,
      [ofCloud('svc_http_request_seconds_count', 'operation="listAddresses"')]: `0+100x${HOURS_MINUTES}`,
      [ofCloud('svc_http_request_seconds_bucket', 'operation="buildTransaction",le="0.3"')]: long(0),
      [ofCloud('svc_http_request_seconds_count', 'operation="buildTransaction"')]: `0+50x${HOURS_MINUTES}`,
    },
  },
  first_attempts_late: {
    name: 'FlockFirstAttemptBurn',
    summary: 'More webhooks leave 10 s late than 99.9 % of 30 days allow, although their edge is there',
    fires: {
      [ofCloud('svc_first_attempt_seconds_bucket', 'le="10"')]: `0+90x${HOURS_MINUTES}`,
      [ofCloud('svc_first_attempt_seconds_count')]: `0+100x${HOURS_MINUTES}`,
    },
    silent: {
      [ofCloud('svc_first_attempt_seconds_bucket', 'le="10"')]: `0+100x${HOURS_MINUTES}`,
      [ofCloud('svc_first_attempt_seconds_count')]: `0+100x${HOURS_MINUTES}`,
    },
  },
  blocks_late: {
    name: 'FlockBlocksLateBurn',
    summary: 'Blocks of {{ $labels.chain }} are read later than 99.5 % of 30 days allow',
    fires: { [ofCloud('svc_blocks_behind', BTC)]: long(9) },
    silent: { [ofCloud('svc_blocks_behind', BTC)]: long(2), [ofCloud('svc_blocks_behind', 'chain="sol"')]: long(9) },
    labels: { chain: 'btc' },
  },
  leader_missing: {
    name: 'FlockLeaderMissingBurn',
    summary: 'No edge led for longer than 99.9 % of 30 days allow',
    fires: { [ofEdge('svc_edge_leader')]: long(0), [ofEdge('up')]: long(1) },
    silent: { [ofEdge('svc_edge_leader')]: long(1), [ofEdge('up')]: long(1) },
  },
};

export const BURN_ALERTS: readonly Alert[] = OBJECTIVES.map((objective): Alert => {
  const { name, summary, fires, silent, labels } = BURN_TEXT[objective.name]!;
  return {
    name,
    expr: burns(objective),
    for: '2m',
    severity: page,
    summary,
    fires,
    silent,
    ...(labels === undefined ? {} : { labels }),
  };
});
