/**
 * The version after one, with what administrators change of it: flags of its deployments, names, and which routes of a
 * bridge are open. No contract, decimals or kind can be said here, so that none changes. Treasury K8, K9, H1.
 */
import { isRefusal, refuse, type Refusal } from '../protocol/errors.ts';
import type { Chain } from '../protocol/slugs.ts';
import {
  checkSuccession,
  findDeployment,
  parseRegistry,
  registryText,
  type CatalogueEntry,
  type Deployment,
  type Registry,
} from './catalogue.ts';
import { withHazards } from './next-registry.ts';
import { factsOf, networkOf } from './registry.ts';
import { isPinned, isSameWay, routesOf, type BridgeRoute } from './routes.ts';

type Flag = 'monitored' | 'deprecated' | 'bridgeable' | 'sweepable' | 'source';

/** What is left out stays as it is; symbol and name are of the token, on all its chains. */
export type DeploymentChange = {
  readonly chain: Chain;
  readonly contract: string;
  readonly hazards?: NonNullable<Deployment['hazards']> | undefined;
  readonly symbol?: string | undefined;
  readonly name?: string | undefined;
} & { readonly [F in Flag]?: Deployment[F] | undefined };

export interface RouteChange extends Pick<BridgeRoute, 'symbol' | 'from' | 'to'> {
  readonly status: 'open' | 'closed';
}

export interface RegistryChange {
  readonly deployments: readonly DeploymentChange[];
  readonly routes: readonly RouteChange[];
}

const unfit = (field: string, reason: string, next: string, more: Record<string, unknown> = {}): Refusal =>
  refuse('INVALID_INPUT', { field, reason, ...more }, next);

/**
 * `current` with a change, as the version after it: what edges take as its successor. Refuses: TOKEN_NOT_SUPPORTED,
 * TOKEN_NOT_ON_CHAIN, CONFLICT `symbol_taken`, and INVALID_INPUT with the field of the change.
 */
export function changedRegistry(
  current: Registry,
  { deployments, routes }: RegistryChange,
  as: Pick<Registry, 'version' | 'publishedAt'>,
): Registry | Refusal {
  let { tokens } = current;
  const said = new Set<string>();
  for (const [n, change] of deployments.entries()) {
    const field = `deployments.${n}`,
      found = listed(current, change);
    if (isRefusal(found)) return found;
    const key = `${found.chain} ${found.contract}`;
    if (said.has(key)) return twice(field);
    said.add(key);
    const changed = changedTokens(tokens, found, change, field);
    if (isRefusal(changed)) return changed;
    tokens = changed;
  }
  const ways = changedRoutes(current.routes, tokens, routes);
  if (isRefusal(ways)) return ways;
  if (registryText({ ...current, tokens, routes: ways }) === registryText(current))
    return unfit('deployments', 'no_change', 'the version in force is so already: say what it should have otherwise');
  return lawfulSuccessor(current, { ...current, ...as, tokens, routes: ways });
}

/** What both cloud and edges would take after `current`. Refuses: INVALID_INPUT. */
export function lawfulSuccessor(current: Registry, next: Registry): Registry | Refusal {
  const parsed = parseRegistry(next);
  if (isRefusal(parsed)) return unfit('deployments', 'registry_broken', String(parsed.details['reason']));
  const unlawful = checkSuccession(current, parsed);
  if (unlawful !== null)
    return unfit('deployments', String(unlawful.details['reason']), 'a published contract stays as it is');
  const possible = routesOf(parsed.tokens);
  const stray = parsed.routes.find((route) => !isPinned(route) || !possible.some((one) => isSameWay(one, route)));
  return stray === undefined
    ? parsed
    : notPinned('routes', stray, 'close it, or leave both of its deployments as a bridge needs them');
}

function listed(current: Registry, { chain, contract }: DeploymentChange): Deployment | Refusal {
  const parsed = factsOf(chain).parseToken(networkOf(chain), contract);
  return isRefusal(parsed) ? parsed : findDeployment(chain, parsed, current);
}

function changedTokens(
  tokens: Registry['tokens'],
  found: Deployment,
  change: DeploymentChange,
  field: string,
): Registry['tokens'] | Refusal {
  const { chain, contract, kind } = found,
    { symbol, name } = change;
  const entry = tokens.find(({ deployments }) => deployments.some((one) => isOne(one, found)))!;
  if (change.bridgeable === true && kind !== 'native')
    return unfit(`${field}.bridgeable`, 'not_redeemable', 'only what its issuer redeems on this chain is bridged', {
      chain,
      tokenContract: contract,
    });
  if (symbol !== undefined && tokens.some((one) => one !== entry && one.symbol === symbol))
    return refuse(
      'CONFLICT',
      { reason: 'symbol_taken', chain, tokenContract: contract, value: symbol },
      `another token is called ${symbol}: say another symbol`,
    );
  const renamed: CatalogueEntry = {
    ...entry,
    symbol: symbol ?? entry.symbol,
    name: name ?? entry.name,
    deployments: entry.deployments.map((one) => (isOne(one, found) ? changedDeployment(one, change) : one)),
  };
  return tokens.map((one) => (one === entry ? renamed : one));
}

const isOne = (a: Deployment, b: Deployment): boolean => a.chain === b.chain && a.contract === b.contract;

function changedDeployment(one: Deployment, change: DeploymentChange): Deployment {
  const { monitored, deprecated, bridgeable, sweepable, source, hazards } = change;
  const flagged: Deployment = {
    ...one,
    monitored: monitored ?? one.monitored,
    deprecated: deprecated ?? one.deprecated,
    bridgeable: bridgeable ?? one.bridgeable,
    sweepable: sweepable ?? one.sweepable,
    source: source ?? one.source,
  };
  return hazards === undefined ? flagged : withHazards(flagged, [...new Set(hazards)]);
}

function changedRoutes(
  current: Registry['routes'],
  tokens: Registry['tokens'],
  changes: readonly RouteChange[],
): Registry['routes'] | Refusal {
  const possible = routesOf(tokens);
  let routes = current;
  for (const [n, change] of changes.entries()) {
    const field = `routes.${n}`;
    if (changes.slice(0, n).some((one) => isSameWay(one, change))) return twice(field);
    const others = routes.filter((one) => !isSameWay(one, change));
    const opened = change.status === 'closed' ? null : possible.find((one) => isSameWay(one, change));
    if (opened === undefined) return notPinned(field, change, NEEDED);
    routes = opened === null ? others : [...others, opened];
  }
  return routes;
}
const NEEDED =
  'edges of this release check CCTP v2 for USDC between eth, avax, base and polygon, of deployments that are monitored, ' +
  'bridgeable and not deprecated';

const notPinned = (field: string, { symbol, from, to }: Pick<BridgeRoute, 'symbol' | 'from' | 'to'>, next: string) =>
  unfit(field, 'route_not_pinned', `${symbol} ${from} to ${to}: ${next}`, { symbol });

const twice = (field: string): Refusal => unfit(field, 'said_twice', 'say each deployment and each route once');
